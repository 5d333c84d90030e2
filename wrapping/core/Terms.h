// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_wrapping_Terms_h
#define CudaFilters_wrapping_Terms_h

// Reads the parameters of Gaussian filters of arrays.

#include "ArrayFilter.h"
#include "Interpreter.h"

#include <cstring>
#include <utility>

namespace cudafilters
{
/** Reads a tuple of (factor, ((sigma in pixels, order, mode), ...)), with a pass for each axis of an item. */
inline std::vector<ArrayTerm>
ReadTerms(PyObject * tuple)
{
  std::vector<ArrayTerm> terms;
  ForEachItem(tuple, [&](PyObject * item) {
    ArrayTerm  term;
    size_t     axis = 0;
    PyObject * passes;
    ParseTuple(item, "dO", &term.Factor, &passes);
    ForEachItem(passes, [&](PyObject * pass) {
      double       sigma;
      unsigned int order;
      const char * mode;
      ParseTuple(pass, "dIs", &sigma, &order, &mode);
      if (sigma != 0.0)
      {
        term.Passes.push_back({ axis, sigma, order, itk::CudaBoundaryModeFromString(mode) });
      }
      ++axis;
    });
    terms.push_back(std::move(term));
  });
  return terms;
}

/** Reads components, sum or length. */
inline ArrayOutput
ReadOutput(const char * name)
{
  return std::strcmp(name, "sum") == 0      ? ArrayOutput::Sum
         : std::strcmp(name, "length") == 0 ? ArrayOutput::Length
                                            : ArrayOutput::Components;
}
} // namespace cudafilters

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_wrapping_ArrayFilter_h
#define CudaFilters_wrapping_ArrayFilter_h

// Gaussian filters of arrays in host memory, of any number of axes. They run on the host, or on a GPU.

#include "HostArray.h"

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailOperation.h"
#include "itkCudaFiltersEnums.h"

#include <cstddef>
#include <vector>

namespace cudafilters
{
/** A pass of the recursive filter along an axis, which is counted among the axes of an item. Sigma is in pixels. */
struct LinePass
{
  size_t                              Axis;
  double                              Sigma;
  unsigned int                        Order;
  itk::CudaFiltersEnums::BoundaryMode Mode;

  bool
  operator==(const LinePass & other) const
  {
    return Axis == other.Axis && Sigma == other.Sigma && Order == other.Order && Mode == other.Mode;
  }
};

/** Passes that run one after the other, and the factor of their result. */
struct ArrayTerm
{
  double                Factor{ 1.0 };
  std::vector<LinePass> Passes;
};

/** How the results of the terms make the output. */
enum class ArrayOutput
{
  Components, // result i is component i, along the last axis of the output
  Sum,        // their sum
  Length      // the square root of the sum of their squares, also where squares overflow or underflow
};

/** The parameters of a filter. */
struct ArrayFilter
{
  std::vector<ArrayTerm>               Terms; // each with passes along the same axes in the same order
  ArrayOutput                          Output{ ArrayOutput::Components };
  double                               BoundaryValue{ 0.0 }; // in the mode Constant
  itk::CudaFiltersEnums::Approximation Approximation{ itk::CudaFiltersEnums::Approximation::Accurate };
  itk::CudaFiltersEnums::Backend       Backend{ itk::CudaFiltersEnums::Backend::Automatic };
  int                                  DeviceIndex{ -1 }; // -1: the configuration's
  itk::CudaFiltersEnums::Streaming     Streaming{ itk::CudaFiltersEnums::Streaming::Automatic };
  size_t                               DeviceMemoryLimit{ 0 }; // bytes; 0: the configuration's
  itk::CudaDetail::CudaFilterBackend * Ran{ nullptr };         // receives where it ran, if it is given
  size_t NumberOfItemAxes{ 0 }; // the last axes of an array form an item, and the others a batch of items
  bool   KeepsNaN{ false };     // pixels that are NaN or infinite do not count, and become NaN
  double MinimumWeight{ 0.0 };  // above 0: the only term can smooth over valid pixels; NaN where the weight is below
};

/** The order in which the passes of terms run. Terms that begin with the same passes share them. Images are numbered:
 * image 0 is the input, image i + 1 the result of term i, and the others are intermediate. */
class TermPlan
{
public:
  struct Step
  {
    LinePass Pass;
    size_t   Source;
    size_t   Destination;
  };

  /** \param overwrites whether the last pass that reads an intermediate image may write to it */
  TermPlan(const std::vector<ArrayTerm> & terms, bool overwrites);

  const std::vector<Step> &
  GetSteps() const
  {
    return m_Steps;
  }

  size_t
  GetNumberOfImages() const
  {
    return m_NumberOfImages;
  }

private:
  void
  Plan(size_t level, size_t source, std::vector<size_t> terms);
  size_t
  TakeImage();

  const std::vector<ArrayTerm> & m_Terms;
  const bool                     m_Overwrites;
  size_t                         m_NumberOfImages;
  std::vector<size_t>            m_Free; // intermediate images that no later pass reads
  std::vector<Step>              m_Steps;
};

/** Returns whether an array has elements that are NaN or infinite. */
bool
HoldsNonFinite(const HostArray & array, itk::MultiThreaderBase * threader);

/** Returns a pass along an axis of an array of adjacent pixels in the memory of a GPU. */
itk::CudaDetail::CudaArrayPass
MakeArrayPass(const std::vector<size_t> & shape, const LinePass & pass, const ArrayFilter & filter);

/** Returns the filter's terms for such an array. Its last axes are those of an item. */
itk::CudaDetail::CudaArrayTerms
MakeArrayTerms(const ArrayFilter & filter, const std::vector<size_t> & shape);

/** Queues masked passes over consecutive items of such an array one by one, because each has its own reference value.
 */
void
QueueMaskedItems(const std::vector<itk::CudaDetail::CudaArrayPass> & passes,
                 itk::CudaDetail::CudaArrayMask                      mask,
                 itk::CudaDetail::CudaArrayMemory                    memory,
                 void *                                              output,
                 size_t                                              items);

/** Runs the filter over all pixels of an array. Pixels are computed in float, or in double if either type is double,
 * int or unsigned int. The result of a line depends, bit for bit, only on the line and on whether there are pixels
 * along the axes behind its own. For integer outputs, results are truncated toward zero and clamped to the type's
 * range, and NaN becomes 0.
 *
 * \param output other memory than the input's; it has the input's shape, and for components one more axis
 * \return false if KeepsNaN is set and there are such pixels, unless MinimumWeight is above 0; the output is then
 * undefined
 * \exception ExceptionObject, CudaError, or any exception that `progress` throws */
bool
RunOnAll(const ArrayFilter &                           filter,
         const HostArray &                             input,
         const HostArray &                             output,
         const itk::CudaDetail::CudaProgressFunction & progress);

/** Smooths each item of an array over its valid pixels: the quotient G(m x) / G(m) for the mask m. A
 * reference value is subtracted before: the first pixel that counts and is finite or, in the mode Constant,
 * BoundaryValue. An item whose pixels all count has the result of RunOnAll(), bit for bit. Valid pixels that do not
 * count because of KeepsNaN become NaN.
 *
 * \param valid bytes of the input's shape, 0 for pixels that are not valid; nullptr: all are valid
 * \exception ExceptionObject, CudaError, or any exception that `progress` throws */
void
RunOnValid(const ArrayFilter &                           filter,
           const HostArray &                             input,
           const HostArray *                             valid,
           const HostArray &                             output,
           const itk::CudaDetail::CudaProgressFunction & progress);
} // namespace cudafilters

#endif

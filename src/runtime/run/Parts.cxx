// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/Parts.h"

#include "runtime/image/Math.h"

#include <algorithm>

// Chooses the size of the parts of an image, and runs them.

namespace itk::cuda
{
size_t
GetPlanesOfPart(const PartRun & run, size_t bytes)
{
  const size_t units = DivideUp(run.Length, run.Unit);
  const auto   fits = [&](size_t number) { return run.GetBytes(std::min(number * run.Unit, run.Length)) <= bytes; };
  if (units <= 1 || fits(units))
  {
    return run.Length;
  }
  size_t most = 1;
  for (size_t tooMany = units; tooMany - most > 1;)
  {
    const size_t number = most + (tooMany - most) / 2;
    (fits(number) ? most : tooMany) = number;
  }
  return DivideUp(units, DivideUp(units, most)) * run.Unit;
}

void
RunParts(const PartRun & run, size_t planes, const CudaProgressFunction & progress)
{
  for (size_t first = 0; first < run.Length; first += planes)
  {
    const size_t count = std::min(planes, run.Length - first);
    run.Run(first, count, [&](float done) {
      if (progress)
      {
        progress((static_cast<float>(first) + done * static_cast<float>(count)) / static_cast<float>(run.Length));
      }
    });
  }
}
} // namespace itk::cuda

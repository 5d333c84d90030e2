// SPDX-License-Identifier: Apache-2.0
#include "gaussian/slabs/PlanParts.h"

#include "gaussian/Core.h"
#include "itkMacro.h"

#include <algorithm>

// Divides a plan into passes across slabs and passes within planes.

namespace itk::cuda::gaussian
{
bool
IsReadWithin(const CudaGaussianPlan & within, unsigned int image)
{
  return std::any_of(within.Passes.begin(), within.Passes.end(), [&](const CudaGaussianLinePass & pass) {
    return pass.Source == image;
  });
}

namespace
{
PlanParts
DividePasses(const CudaGaussianPlan & plan, const CudaGaussianSlabShape & shape)
{
  PlanParts parts;
  parts.Within = plan;
  parts.Within.Passes.clear();
  parts.Raw = plan.NumberOfImages;
  unsigned int              images = plan.NumberOfImages + 1;
  std::vector<unsigned int> current(plan.NumberOfImages); // current number of each image of the plan
  for (unsigned int image = 0; image < plan.NumberOfImages; ++image)
  {
    current[image] = image == 0 ? parts.Raw : image;
  }
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    CudaGaussianLinePass part = pass;
    part.Source = current[pass.Source];
    if (IsSlabPass(pass, shape))
    {
      part.Source = 0;
      std::vector<AcrossResult> results;
      for (size_t r = 0; r < pass.Results.size(); ++r)
      {
        part.Results[r].Destination = static_cast<unsigned int>(1 + r);
        current[pass.Results[r].Destination] = images;
        results.push_back({ images++, AcrossPlace::Buffer, 0 });
      }
      parts.Across.push_back(part);
      parts.Results.push_back(results);
      continue;
    }
    for (const CudaGaussianPassResult & result : pass.Results)
    {
      if (ReadsDestination(result.Combine) && current[result.Destination] != result.Destination)
      {
        itkGenericExceptionMacro(
          "A pass within planes combines with a result across slabs; it must store its own first");
      }
      current[result.Destination] = result.Destination;
    }
    parts.Within.Passes.push_back(part);
  }
  parts.Within.NumberOfImages = images;
  for (unsigned int & image : parts.Within.Results)
  {
    image = current[image];
  }
  return parts;
}
} // namespace

PlanParts
CutPlan(const CudaGaussianPlan & plan, const CudaGaussianSlabShape & shape)
{
  PlanParts    parts = DividePasses(plan, shape);
  const auto & results = parts.Within.Results;
  const bool   isAlone = parts.Across.size() == 1 && parts.Across.front().Results.size() == 1;
  for (auto & ofPass : parts.Results)
  {
    for (AcrossResult & result : ofPass)
    {
      const auto found = std::find(results.begin(), results.end(), result.Image);
      if (found != results.end())
      {
        result.Place = AcrossPlace::Output;
        result.Index = found - results.begin();
      }
      else if (isAlone && !IsReadWithin(parts.Within, parts.Raw))
      {
        result.Place = AcrossPlace::Source;
      }
      else
      {
        result.Index = parts.Buffers++;
      }
    }
  }
  for (unsigned int image = 0; image < parts.Raw; ++image)
  {
    const bool isWritten =
      std::any_of(parts.Within.Passes.begin(), parts.Within.Passes.end(), [&](const CudaGaussianLinePass & pass) {
        return std::any_of(pass.Results.begin(), pass.Results.end(), [&](const CudaGaussianPassResult & result) {
          return result.Destination == image;
        });
      });
    if (isWritten && std::find(results.begin(), results.end(), image) == results.end())
    {
      parts.Intermediates.push_back(image);
    }
  }
  return parts;
}
} // namespace itk::cuda::gaussian

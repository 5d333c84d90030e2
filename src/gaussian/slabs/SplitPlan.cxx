// SPDX-License-Identifier: Apache-2.0
#include "gaussian/slabs/SplitPlan.h"

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
/** Returns whether the plan has one pass across slabs, whose only result is an image that the plan returns. Passes
 * within planes can then change this result in its place. */
bool
HasSingleResultInOutput(const CudaGaussianPlan & plan, const CudaGaussianSlabShape & shape)
{
  const auto isAcross = [&](const CudaGaussianLinePass & pass) { return IsSlabPass(pass, shape); };
  const auto first = std::find_if(plan.Passes.begin(), plan.Passes.end(), isAcross);
  return std::count_if(plan.Passes.begin(), plan.Passes.end(), isAcross) == 1 && first->Results.size() == 1 &&
         std::count(plan.Results.begin(), plan.Results.end(), first->Results.front().Destination) == 1;
}

SplitPlan
DividePasses(const CudaGaussianPlan & plan, const CudaGaussianSlabShape & shape, bool keepsSource)
{
  const bool keepsNumber = keepsSource && HasSingleResultInOutput(plan, shape);
  SplitPlan  splitPlan;
  splitPlan.Within = plan;
  splitPlan.Within.Passes.clear();
  splitPlan.Unfiltered = plan.NumberOfImages;
  unsigned int              images = plan.NumberOfImages + 1;
  std::vector<unsigned int> current(plan.NumberOfImages); // current number of each image of the plan
  for (unsigned int image = 0; image < plan.NumberOfImages; ++image)
  {
    current[image] = image == 0 ? splitPlan.Unfiltered : image;
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
        const unsigned int destination = pass.Results[r].Destination;
        current[destination] = keepsNumber ? destination : images++;
        results.push_back({ current[destination], AcrossStorage::Buffer, 0 });
      }
      splitPlan.Across.push_back(part);
      splitPlan.Results.push_back(results);
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
    splitPlan.Within.Passes.push_back(part);
  }
  splitPlan.Within.NumberOfImages = images;
  for (unsigned int & image : splitPlan.Within.Results)
  {
    image = current[image];
  }
  return splitPlan;
}
} // namespace

SplitPlan
MakeSplitPlan(const CudaGaussianPlan & plan, const CudaGaussianSlabShape & shape, bool keepsSource)
{
  SplitPlan    splitPlan = DividePasses(plan, shape, keepsSource);
  const auto & results = splitPlan.Within.Results;
  const bool   isAlone = splitPlan.Across.size() == 1 && splitPlan.Across.front().Results.size() == 1;
  for (auto & ofPass : splitPlan.Results)
  {
    for (AcrossResult & result : ofPass)
    {
      const auto found = std::find(results.begin(), results.end(), result.Image);
      if (found != results.end())
      {
        result.Storage = AcrossStorage::Output;
        result.Index = found - results.begin();
      }
      else if (isAlone && !keepsSource && !IsReadWithin(splitPlan.Within, splitPlan.Unfiltered))
      {
        result.Storage = AcrossStorage::Source;
      }
      else
      {
        result.Index = splitPlan.Buffers++;
      }
    }
  }
  for (unsigned int image = 0; image < splitPlan.Unfiltered; ++image)
  {
    const bool isWritten = std::any_of(
      splitPlan.Within.Passes.begin(), splitPlan.Within.Passes.end(), [&](const CudaGaussianLinePass & pass) {
        return std::any_of(pass.Results.begin(), pass.Results.end(), [&](const CudaGaussianPassResult & result) {
          return result.Destination == image;
        });
      });
    if (isWritten && std::find(results.begin(), results.end(), image) == results.end())
    {
      splitPlan.Intermediates.push_back(image);
    }
  }
  return splitPlan;
}
} // namespace itk::cuda::gaussian

// SPDX-License-Identifier: Apache-2.0

// Partitions of any images, masks and initial labels: labels without gaps, connected regions, counts and areas that are
// those of the pixels, rings that are simple, and merges that keep all of this.

#include "itkCudaDetailRegionPartitionEngine.h"
#include "itkCudaFuzzRegions.h"
#include "itkCudaRegionPartition.h"

#include <set>

namespace itk::cuda::test
{
namespace
{
using namespace itk::CudaDetail;

/** Returns the number of parts of the image that are connected through their sides and have one label that is not 0. */
size_t
CountParts(const FuzzImage & labels)
{
  const size_t        width = labels.View.Size[0];
  const size_t        pixels = width * labels.View.Size[1];
  std::vector<bool>   isDone(pixels, false);
  std::vector<size_t> stack;
  size_t              parts = 0;
  for (size_t seed = 0; seed < pixels; ++seed)
  {
    if (isDone[seed] || labels.Get(seed) == 0.0)
    {
      continue;
    }
    ++parts;
    isDone[seed] = true;
    stack.push_back(seed);
    while (!stack.empty())
    {
      const size_t pixel = stack.back();
      stack.pop_back();
      const auto visit = [&](bool exists, size_t other) {
        if (exists && !isDone[other] && labels.Get(other) == labels.Get(pixel))
        {
          isDone[other] = true;
          stack.push_back(other);
        }
      };
      visit(pixel % width > 0, pixel - 1);
      visit(pixel % width + 1 < width, pixel + 1);
      visit(pixel >= width, pixel - width);
      visit(pixel + width < pixels, pixel + width);
    }
  }
  return parts;
}

void
CheckLabels(const FuzzScene & scene, const FuzzImage & labels, const std::vector<CudaPartitionRegion> & regions)
{
  std::vector<uint64_t> counts(regions.size() + 1);
  for (size_t i = 0; i < scene.GetWidth() * scene.GetHeight(); ++i)
  {
    const auto label = static_cast<size_t>(labels.Get(i));
    FuzzRequire(label <= regions.size(), "a label beyond the table");
    FuzzRequire((label != 0) == scene.IsValid(i), "a valid pixel without a region");
    ++counts[label];
  }
  for (size_t i = 0; i < regions.size(); ++i)
  {
    FuzzRequire(regions[i].NumberOfPixels == counts[i + 1],
                "region " + std::to_string(i + 1) + " has " + std::to_string(counts[i + 1]) + " pixels, not " +
                  std::to_string(regions[i].NumberOfPixels));
  }
}

/** Requires that the rings of all regions are simple and cover the image once. */
void
CheckMap(const FuzzScene & scene, const CudaRegionPartition & partition)
{
  int64_t whole = 0;
  for (uint32_t number = 1; number <= partition.GetNumberOfRegions(); ++number)
  {
    int64_t area = 0;
    for (const auto & ring : partition.GetRings(number))
    {
      FuzzRequire(FuzzIsSimple(ring), "a ring of region " + std::to_string(number) + " crosses itself");
      FuzzRequire(CudaRegionPartition::IsOuterRing(ring) == (FuzzTwiceArea(ring) > 0), "a ring of the wrong sense");
      area += FuzzTwiceArea(ring);
    }
    FuzzRequire(0.5 * static_cast<double>(area) == partition.GetRegion(number).Area,
                "the area of region " + std::to_string(number) + " is not that of its rings");
    whole += area;
    for (const uint32_t other : partition.GetRegion(number).Neighbors)
    {
      FuzzRequire(other != number && other <= partition.GetNumberOfRegions(), "a neighbour that does not exist");
    }
  }
  FuzzRequire(whole == 2 * static_cast<int64_t>(scene.GetWidth() * scene.GetHeight()), "regions overlap or leave gaps");
}
} // namespace

void
FuzzPartition(FuzzInput & input)
{
  const FuzzScene               scene(input, 24);
  CudaRegionPartitionParameters parameters;
  FuzzLaw(input, parameters);
  if (input.Integer(0, 7) == 7)
  {
    parameters.NumberOfLooks = input.Hostile();
  }
  parameters.SegmentCost = input.Parameter(0.1, 30.0);
  parameters.BlockSize = static_cast<unsigned int>(input.Integer(0, 9));
  parameters.MinimumNumberOfPixels = input.Integer(0, 12);
  parameters.MaximumNumberOfIterations = static_cast<unsigned int>(input.Integer(0, 6));
  parameters.AllowMerging = input.Flag();
  parameters.LabelsOnly = input.Integer(0, 3) == 3;
  FuzzImage                initialLabels(scene.Image.View.Size, 1, CudaComponentType::UInt);
  CudaRegionPartitionInput image;
  image.Image = scene.Image.View;
  image.ValidMask = scene.GetMask();
  if (input.Flag())
  {
    initialLabels.Fill(input, input.Flag());
    image.InitialLabels = &initialLabels.View;
  }
  FuzzImage labels(scene.Image.View.Size, 1, input.Choose({ CudaComponentType::UInt, CudaComponentType::UShort }));
  CudaRegionPartitionResult result;
  if (!FuzzAccepts([&] { VerifyCudaRegionPartitionParameters(parameters); }) ||
      !FuzzAccepts([&] { result = CudaRegionPartitionOnHost(image, parameters, labels.View, 1, {}); }))
  {
    return;
  }
  CheckLabels(scene, labels, result.Regions);
  FuzzRequire(std::isfinite(result.Description), "the description is not finite");
  // Through the pixels of a mask, too, which have no label.
  if (parameters.LabelsOnly && scene.GetMask() == nullptr)
  {
    FuzzRequire(CountParts(labels) == result.Regions.size(), "a region is not connected");
  }
  if (input.Integer(0, 7) == 7)
  {
    FuzzImage  otherLabels(labels);
    const auto other = CudaRegionPartitionOnHost(image, parameters, otherLabels.View, 2, {});
    FuzzRequire(otherLabels == labels && other.Description == result.Description, "two threads give another partition");
  }

  const auto geometry = CudaRegionPartition::GeometryType::New();
  geometry->SetRegions(CudaRegionPartition::GeometryType::SizeType{ { scene.GetWidth(), scene.GetHeight() } });
  const auto partition = CudaRegionPartition::New();
  partition->SetResult(result, geometry);
  if (!parameters.LabelsOnly)
  {
    CheckMap(scene, *partition);
  }
  const size_t                 number = input.Integer(0, result.Regions.size() + 1);
  CudaRegionPartition::Pointer merged;
  if (!FuzzAccepts([&] { merged = partition->GetMergedTo(number); }))
  {
    FuzzRequire(number == 0, "merging is refused");
    return;
  }
  const auto numbers = partition->GetRegionsAfterMergesTo(number);
  FuzzRequire(numbers.size() == result.Regions.size() + 1 && numbers[0] == 0, "a table of another length");
  const std::set<uint32_t> distinct(numbers.begin() + 1, numbers.end());
  FuzzRequire(merged->GetNumberOfRegions() == distinct.size(), "merged regions have another number");
  FuzzImage             mergedLabels(labels);
  std::vector<uint32_t> newNumbers(result.Regions.size() + 1);
  uint32_t              next = 0;
  for (const uint32_t first : distinct)
  {
    newNumbers[first] = ++next;
  }
  VisitComponentType(labels.View.ComponentType, [&](auto zero) {
    using T = decltype(zero);
    auto * const pixels = static_cast<T *>(mergedLabels.View.Data);
    for (size_t i = 0; i < scene.GetWidth() * scene.GetHeight(); ++i)
    {
      pixels[i] = static_cast<T>(newNumbers[numbers[static_cast<size_t>(labels.Get(i))]]);
    }
  });
  CheckLabels(scene, mergedLabels, merged->GetRegions());
  if (!parameters.LabelsOnly)
  {
    CheckMap(scene, *merged);
  }
  const double change = input.Hostile();
  FuzzRequire(partition->GetMerged(change)->GetNumberOfRegions() <= result.Regions.size(), "merging makes regions");
}
} // namespace itk::cuda::test

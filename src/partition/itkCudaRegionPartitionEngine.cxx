// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionPartitionEngine.h"

#include "itkCudaDetailNames.h"
#include "itkCudaPartitionComponents.h"
#include "itkCudaPartitionEstimates.h"
#include "itkCudaPartitionLabelMaker.h"
#include "itkCudaPartitionProgress.h"
#include "itkCudaPartitionScene.h"
#include "itkCudaPartitionTable.h"
#include "itkCudaPartitionTree.h"
#include "itkCudaPartitionWork.h"
#include "itkCudaRegionChecks.h"
#include "itkCudaRegionTables.h"
#include "itkMacro.h"

#include <cmath>
#include <limits>

namespace itk
{
namespace cuda::partition
{
namespace
{
constexpr unsigned int LargestBlockSize = 64;
constexpr unsigned int LargestNumberOfIterations = 1000000;

bool
KnowsLooks(NoiseLaw law)
{
  return region::GetTraits(law).Parameter == region::LawParameter::NumberOfLooks;
}

void
CheckLabels(const CudaImageView & labels, const CudaImageView & image)
{
  const bool isType =
    labels.ComponentType == CudaComponentType::UInt || labels.ComponentType == CudaComponentType::UShort;
  if (labels.Data == nullptr || labels.Size != image.Size || !isType || labels.NumberOfComponents != 1)
  {
    itkGenericExceptionMacro("The label image has "
                             << labels.Size[0] << " x " << labels.Size[1] << " pixels; it must have " << image.Size[0]
                             << " x " << image.Size[1] << " of unsigned int or unsigned short, as the image");
  }
}

void
CheckInput(const CudaRegionPartitionInput & input, const CudaImageView & labels)
{
  region::CheckImage(input.Image, input.ValidMask);
  if (input.InitialLabels != nullptr)
  {
    region::CheckSize(*input.InitialLabels,
                      CudaComponentType::UInt,
                      input.Image.Size[0],
                      input.Image.Size[1],
                      "The image of initial labels");
  }
  CheckLabels(labels, input.Image);
}

/** The image and what the law makes of it. */
region::Samples
MakeSamples(const CudaRegionPartitionInput &      input,
            const CudaRegionPartitionParameters & parameters,
            const region::Threads &               threads)
{
  CudaRegionSnakeInput image;
  image.Image = input.Image;
  image.FirstIndex = input.FirstIndex;
  image.ValidMask = input.ValidMask;
  CudaRegionSnakeParameters law;
  law.NoiseLaw = parameters.NoiseLaw;
  law.ForegroundThreshold = parameters.ForegroundThreshold;
  region::Samples samples(image, law, threads);
  if (samples.NumberOfValidPixels == 0)
  {
    itkGenericExceptionMacro("The image has 0 valid pixels of " << input.Image.GetNumberOfPixels()
                                                                << "; a region needs at least 1");
  }
  return samples;
}

Model
MakeModel(const CudaRegionPartitionParameters & parameters,
          const region::SamplesDescription &    samples,
          const Scene &                         scene,
          const Work &                          work)
{
  const NoiseLaw law = parameters.NoiseLaw.value();
  Model          model;
  model.Law = { law, 1.0, static_cast<int64_t>(samples.NumberOfValidPixels) };
  if (KnowsLooks(law))
  {
    model.Law.NumberOfLooks =
      parameters.NumberOfLooks > 0.0 ? parameters.NumberOfLooks : EstimateNumberOfLooks(scene, law, work);
  }
  model.KnownVariance = law == NoiseLaw::GaussianCommonVariance ? EstimateKnownVariance(scene, work) : 1.0;
  model.LogNumberOfPixels = region::Log(static_cast<double>(samples.Width) * static_cast<double>(samples.Height));
  model.SegmentCost = parameters.SegmentCost;
  return model;
}

template <typename TLabel>
void
WriteLabels(const LabelMap & map, const Scene & scene, const Work & work, const CudaImageView & labels)
{
  constexpr size_t rowsPerPiece = 16;
  constexpr size_t largest = std::numeric_limits<TLabel>::max();
  if (map.Regions.size() - 1 > largest)
  {
    itkGenericExceptionMacro("The partition has " << map.Regions.size() - 1 << " regions; labels of "
                                                  << 8 * sizeof(TLabel) << " bits tell " << largest
                                                  << " apart. Labels of unsigned int would do");
  }
  work.For(static_cast<size_t>(map.Height), rowsPerPiece, [&](size_t y) {
    const uint32_t * in = map.Labels.data() + y * static_cast<size_t>(map.Width);
    TLabel *         out = static_cast<TLabel *>(labels.Data) + y * labels.Stride[1];
    for (int32_t x = 0; x < map.Width; ++x)
    {
      out[x] = scene.IsValid(x, static_cast<int32_t>(y)) ? static_cast<TLabel>(in[x]) : TLabel{ 0 };
    }
  });
}

void
WriteLabelImage(const LabelMap & map, const Scene & scene, const Work & work, const CudaImageView & labels)
{
  labels.ComponentType == CudaComponentType::UShort ? WriteLabels<uint16_t>(map, scene, work, labels)
                                                    : WriteLabels<uint32_t>(map, scene, work, labels);
}

/** Fills the result with the regions of a map of labels. Boundaries cost what they do while labels merge. */
void
DescribeLabels(const LabelMap &                   map,
               const Model &                      model,
               const Scene &                      scene,
               const region::SamplesDescription & samples,
               const Work &                       work,
               CudaRegionPartitionResult &        result)
{
  const std::vector<RegionLinks> links = LinkRegions(scene, map, work);
  const std::vector<Boundary>    boundaries = MakeBoundaries(links);
  result.Regions = MakeTable(model, map, links, samples, work);
  result.Merges = MakeMergeTree(model, map.Regions, boundaries);
  result.Description = 0.0;
  for (const CudaPartitionRegion & row : result.Regions)
  {
    result.Description += row.Description;
  }
  for (const Boundary & boundary : boundaries)
  {
    result.Description += boundary.Cost;
  }
}

CudaRegionPartitionResult
RunOnHost(const CudaRegionPartitionInput &      input,
          const CudaRegionPartitionParameters & parameters,
          const CudaImageView &                 labels,
          const region::Threads &               threads,
          const CudaRegionPartitionObserver &   observer)
{
  Progress              progress(observer.Progress);
  const region::Samples samples = MakeSamples(input, parameters, threads);
  const region::RowSums sums(samples, region::UsesSquares(parameters.NoiseLaw.value()), 0, threads);
  const region::Tables  tables(sums, sums.GetWhole(), 0, threads);
  const Scene           scene(tables.GetLevel(0), samples);
  const Work            work(threads);
  const Model           model = MakeModel(parameters, samples, scene, work);

  LabelOutcome outcome;
  if (input.InitialLabels != nullptr)
  {
    outcome.Map = MakeLabelMapOf(*input.InitialLabels, scene, model, work);
    outcome.Finished = progress(1.0f);
  }
  else
  {
    outcome = MakeLabelMap(
      scene, model, static_cast<int32_t>(parameters.BlockSize), work, [&](float share) { return progress(share); });
  }
  CudaRegionPartitionResult result;
  result.NumberOfLooks = model.Law.NumberOfLooks;
  result.Stop = outcome.Finished ? CudaRegionPartitionStop::LabelsOnly : CudaRegionPartitionStop::Aborted;
  WriteLabelImage(outcome.Map, scene, work, labels);
  DescribeLabels(outcome.Map, model, scene, samples, work, result);
  result.DescriptionOfOneRegion =
    model.Describe(sums.GetTotal()) + DescriptionOffset(model, sums.GetTotal().Count, samples.Step);
  return result;
}
} // namespace
} // namespace cuda::partition

namespace CudaDetail
{
void
VerifyCudaRegionPartitionParameters(const CudaRegionPartitionParameters & parameters)
{
  using namespace cuda::region;
  using namespace cuda::partition;
  CheckNoiseLaw(parameters.NoiseLaw);
  Require(std::isfinite(parameters.NumberOfLooks) && parameters.NumberOfLooks >= 0.0,
          "NumberOfLooks",
          parameters.NumberOfLooks,
          "a number above 0, or 0 for an estimate");
  CheckForegroundThreshold(parameters.ForegroundThreshold);
  Require(std::isfinite(parameters.SegmentCost) && parameters.SegmentCost >= 0.0,
          "SegmentCost",
          parameters.SegmentCost,
          "0 or more nats");
  Require(parameters.BlockSize >= 1 && parameters.BlockSize <= LargestBlockSize &&
            (parameters.BlockSize & (parameters.BlockSize - 1)) == 0,
          "BlockSize",
          parameters.BlockSize,
          "1, 2, 4, 8, 16, 32 or 64");
  Require(
    parameters.MinimumNumberOfPixels >= 1, "MinimumNumberOfPixels", parameters.MinimumNumberOfPixels, "1 or more");
  Require(parameters.MaximumNumberOfIterations >= 1 &&
            parameters.MaximumNumberOfIterations <= LargestNumberOfIterations,
          "MaximumNumberOfIterations",
          parameters.MaximumNumberOfIterations,
          Between(1, LargestNumberOfIterations));
}

CudaRegionPartitionResult
CudaRegionPartitionOnHost(const CudaRegionPartitionInput &      input,
                          const CudaRegionPartitionParameters & parameters,
                          const CudaImageView &                 labels,
                          unsigned int                          numberOfThreads,
                          const CudaRegionPartitionObserver &   observer)
{
  VerifyCudaRegionPartitionParameters(parameters);
  cuda::partition::CheckInput(input, labels);
  return cuda::partition::RunOnHost(input, parameters, labels, cuda::region::Threads(numberOfThreads), observer);
}
} // namespace CudaDetail
} // end namespace itk

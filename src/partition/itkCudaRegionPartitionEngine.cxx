// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionPartitionEngine.h"

#include "itkCudaDetailNames.h"
#include "itkCudaPartitionComponents.h"
#include "itkCudaPartitionEstimates.h"
#include "itkCudaPartitionLabelMaker.h"
#include "itkCudaPartitionMap.h"
#include "itkCudaPartitionProgress.h"
#include "itkCudaPartitionRun.h"
#include "itkCudaPartitionScene.h"
#include "itkCudaPartitionSummary.h"
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
WriteLabels(const std::vector<uint32_t> & regions,
            size_t                        numberOfRegions,
            const Scene &                 scene,
            const Work &                  work,
            const CudaImageView &         labels)
{
  constexpr size_t rowsPerPiece = 16;
  constexpr size_t largest = std::numeric_limits<TLabel>::max();
  if (numberOfRegions > largest)
  {
    itkGenericExceptionMacro("The partition has " << numberOfRegions << " regions; labels of " << 8 * sizeof(TLabel)
                                                  << " bits tell " << largest
                                                  << " apart. Labels of unsigned int would do");
  }
  const size_t width = labels.Size[0];
  work.For(labels.Size[1], rowsPerPiece, [&](size_t y) {
    const uint32_t * in = regions.data() + y * width;
    TLabel *         out = static_cast<TLabel *>(labels.Data) + y * labels.Stride[1];
    for (size_t x = 0; x < width; ++x)
    {
      const bool isValid = scene.IsValid(static_cast<int32_t>(x), static_cast<int32_t>(y));
      out[x] = isValid ? static_cast<TLabel>(in[x]) : TLabel{ 0 };
    }
  });
}

/** One run, from the labels to the result. */
class Run
{
public:
  Run(const CudaRegionPartitionInput &      input,
      const CudaRegionPartitionParameters & parameters,
      const CudaImageView &                 labels,
      const region::Threads &               threads,
      const CudaRegionPartitionObserver &   observer,
      const LabelFunction &                 makeLabels)
    : m_Input(input)
    , m_Parameters(parameters)
    , m_LabelImage(labels)
    , m_Observer(observer)
    , m_MakeLabels(makeLabels)
    , m_Progress(observer.Progress)
    , m_Samples(MakeSamples(input, parameters, threads))
    , m_Sums(m_Samples, region::UsesSquares(parameters.NoiseLaw.value()), 0, threads)
    , m_Tables(m_Sums, m_Sums.GetWhole(), 0, threads)
    , m_Scene(m_Tables.GetLevel(0), m_Samples)
    , m_Work(threads)
    , m_Model(MakeModel(parameters, m_Samples, m_Scene, m_Work))
  {}

  CudaRegionPartitionResult
  Make()
  {
    m_Result.NumberOfLooks = m_Model.Law.NumberOfLooks;
    m_Result.DescriptionOfOneRegion = m_Model.Describe(m_Sums.GetTotal()) + this->GetOffset();
    const LabelOutcome outcome = this->MakeLabels();
    m_Result.Stop = outcome.Finished ? CudaRegionPartitionStop::LabelsOnly : CudaRegionPartitionStop::Aborted;
    if (outcome.Finished && m_Parameters.LabelsOnly)
    {
      this->DescribeLabels(outcome.Map);
    }
    else if (outcome.Finished)
    {
      this->MakePolygons(outcome.Map, outcome.Gains.get());
    }
    return std::move(m_Result);
  }

private:
  // Shares of the work that labels take, if polygons follow.
  static constexpr float ShareOfLabels = 0.4f;

  const CudaRegionPartitionInput &      m_Input;
  const CudaRegionPartitionParameters & m_Parameters;
  const CudaImageView &                 m_LabelImage;
  const CudaRegionPartitionObserver &   m_Observer;
  const LabelFunction &                 m_MakeLabels;
  Progress                              m_Progress;
  const region::Samples                 m_Samples;
  const region::RowSums                 m_Sums;
  const region::Tables                  m_Tables;
  const Scene                           m_Scene;
  const Work                            m_Work;
  const Model                           m_Model;
  CudaRegionPartitionResult             m_Result;

  /** What descriptions have to be increased by, as samples have a unit of their own. */
  double
  GetOffset() const
  {
    return DescriptionOffset(m_Model, m_Sums.GetTotal().Count, m_Samples.Step);
  }

  LabelOutcome
  MakeLabels()
  {
    const float            share = m_Parameters.LabelsOnly ? 1.0f : ShareOfLabels;
    const ProgressFunction progress = [this, share](float done) { return m_Progress(share * done); };
    return m_MakeLabels({ m_Samples,
                          m_Scene,
                          m_Model,
                          m_Work,
                          m_Input.InitialLabels,
                          static_cast<int32_t>(m_Parameters.BlockSize),
                          progress });
  }

  void
  MakePolygons(const LabelMap & labels, const Evaluator * gains)
  {
    const region::Threads & threads = m_Work.GetThreads();
    PlanarMap               map(labels, m_Tables.GetLevel(0), m_Model, m_Parameters.MinimumNumberOfPixels, threads);
    // Nobody knows how many iterations there will be; few take more than six.
    float              done = 0.0f;
    RefinementSchedule schedule;
    schedule.MaximumNumberOfIterations = m_Parameters.MaximumNumberOfIterations;
    schedule.AllowMerging = m_Parameters.AllowMerging;
    schedule.Gains = gains;
    schedule.GoOn = [&] { return m_Progress(ShareOfLabels + (1.0f - ShareOfLabels) * done); };
    schedule.AfterIteration = [&](unsigned int number) {
      done = static_cast<float>(number) / (static_cast<float>(number) + 1.0f);
      if (m_Observer.Iteration)
      {
        m_Observer.Iteration(number, map.GetCounts().Regions, map.GetDescription() + this->GetOffset());
      }
    };
    m_Result.Stop = map.Refine(schedule);
    if (m_Result.Stop != CudaRegionPartitionStop::Aborted)
    {
      m_Result.NumberOfIterations = map.GetNumberOfIterations();
      m_Result.Description = map.GetDescription() + this->GetOffset();
      this->DescribePolygons(SummarizeMap(map.GetData(), threads));
    }
  }

  void
  DescribePolygons(MapSummary && summary)
  {
    std::vector<Moments> sums(1);
    for (RegionSummary & region : summary.Regions)
    {
      CudaPartitionRegion row = MakeTableRow(m_Model, region.Sums, m_Samples);
      row.Area = 0.5 * static_cast<double>(region.DoubledArea);
      row.Perimeter = region.Perimeter;
      row.BoundingBox = { { region.Box.MinimumX, region.Box.MinimumY, region.Box.MaximumX, region.Box.MaximumY } };
      row.Neighbors = std::move(region.Neighbors);
      m_Result.Regions.push_back(std::move(row));
      sums.push_back(region.Sums);
    }
    std::vector<Boundary> boundaries;
    for (const Adjacency & adjacency : summary.Adjacencies)
    {
      boundaries.push_back(
        { adjacency.First, adjacency.Second, m_Model.SegmentCost * static_cast<double>(adjacency.NumberOfSegments) });
    }
    m_Result.Merges = MakeMergeTree(m_Model, std::move(sums), boundaries);
    m_Result.Nodes = std::move(summary.Nodes);
    m_Result.Edges = std::move(summary.Edges);
    this->WriteLabelImage(summary.Labels);
  }

  /** Without polygons, boundaries cost what they do while labels merge. */
  void
  DescribeLabels(const LabelMap & map)
  {
    const std::vector<RegionLinks> links = LinkRegions(m_Scene, map, m_Work);
    const std::vector<Boundary>    boundaries = MakeBoundaries(links);
    m_Result.Regions = MakeTable(m_Model, map, links, m_Samples, m_Work);
    m_Result.Merges = MakeMergeTree(m_Model, map.Regions, boundaries);
    m_Result.Description = 0.0;
    for (const CudaPartitionRegion & row : m_Result.Regions)
    {
      m_Result.Description += row.Description;
    }
    for (const Boundary & boundary : boundaries)
    {
      m_Result.Description += boundary.Cost;
    }
    this->WriteLabelImage(map.Labels);
  }

  void
  WriteLabelImage(const std::vector<uint32_t> & regions) const
  {
    const auto write =
      m_LabelImage.ComponentType == CudaComponentType::UShort ? WriteLabels<uint16_t> : WriteLabels<uint32_t>;
    write(regions, m_Result.Regions.size(), m_Scene, m_Work, m_LabelImage);
  }
};
} // namespace

LabelOutcome
MakeLabelsOnHost(const LabelRequest & request)
{
  if (request.InitialLabels != nullptr)
  {
    const bool goesOn = request.Progress(0.0f);
    return { MakeLabelMapOf(*request.InitialLabels, request.Image, request.Law, request.Loops), goesOn };
  }
  return MakeLabelMap(request.Image, request.Law, request.BlockSize, request.Loops, request.Progress);
}

CudaRegionPartitionResult
RunPartition(const CudaRegionPartitionInput &      input,
             const CudaRegionPartitionParameters & parameters,
             const CudaImageView &                 labels,
             unsigned int                          numberOfThreads,
             const CudaRegionPartitionObserver &   observer,
             const LabelFunction &                 makeLabels)
{
  VerifyCudaRegionPartitionParameters(parameters);
  CheckInput(input, labels);
  const region::Threads threads(numberOfThreads);
  return Run(input, parameters, labels, threads, observer, makeLabels).Make();
}
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
  return cuda::partition::RunPartition(
    input, parameters, labels, numberOfThreads, observer, cuda::partition::MakeLabelsOnHost);
}
} // namespace CudaDetail
} // end namespace itk

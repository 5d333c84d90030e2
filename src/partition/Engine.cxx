// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionPartitionEngine.h"

#include "runtime/DetailNames.h"
#include "partition/labels/Components.h"
#include "partition/labels/Estimates.h"
#include "partition/labels/LabelMaker.h"
#include "partition/map/Map.h"
#include "partition/Run.h"
#include "partition/Scene.h"
#include "partition/result/Result.h"
#include "partition/refine/Work.h"
#include "region/Checks.h"
#include "region/Tables.h"
#include "itkMacro.h"

#include <cmath>
#include <future>
#include <limits>
#include <optional>
#include <utility>

// Runs a partition from the image to its result: labels, planar map, refinement, then rings, table and merge tree. The
// class Run has this order. The stages are those of the host here, and those of a device in partition/DeviceStages.cu.

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

Model
MakeModel(const CudaRegionPartitionParameters & parameters, const Stages & stages)
{
  const region::SamplesDescription & samples = stages.GetSamples();
  const NoiseLaw                     law = parameters.NoiseLaw.value();
  Model                              model;
  model.Law = { law, 1.0, static_cast<int64_t>(samples.NumberOfValidPixels) };
  if (KnowsLooks(law))
  {
    model.Law.NumberOfLooks = parameters.NumberOfLooks > 0.0 ? parameters.NumberOfLooks : stages.EstimateLooks(law);
  }
  model.KnownVariance = law == NoiseLaw::GaussianCommonVariance ? stages.EstimateVariance() : 1.0;
  model.LogNumberOfPixels = region::Log(static_cast<double>(samples.Width) * static_cast<double>(samples.Height));
  model.SegmentCost = parameters.SegmentCost;
  return model;
}

void
CheckValidPixels(const region::SamplesDescription & samples)
{
  if (samples.NumberOfValidPixels == 0)
  {
    itkGenericExceptionMacro("The image has 0 valid pixels of "
                             << static_cast<size_t>(samples.Width) * static_cast<size_t>(samples.Height)
                             << "; a region needs at least 1");
  }
}

/** One run, from the labels to the result. */
class Run
{
public:
  Run(Stages &                              stages,
      const CudaRegionPartitionParameters & parameters,
      CudaComponentType                     labelType,
      unsigned int                          numberOfThreads,
      const CudaRegionPartitionObserver &   observer)
    : m_Stages(stages)
    , m_Parameters(parameters)
    , m_LabelType(labelType)
    , m_NumberOfThreads(numberOfThreads)
    , m_Observer(observer)
    , m_Progress(observer.Progress)
    , m_Model(MakeModel(parameters, stages))
  {}

  CudaRegionPartitionResult
  Make()
  {
    m_Result.NumberOfLooks = m_Model.Law.NumberOfLooks;
    m_Result.DescriptionOfOneRegion = m_Model.Describe(m_Stages.GetTotal()) + this->GetOffset();
    const bool isFinished = this->MakeLabels();
    m_Result.Stop = isFinished ? CudaRegionPartitionStop::LabelsOnly : CudaRegionPartitionStop::Aborted;
    if (isFinished && m_Parameters.LabelsOnly)
    {
      this->DescribeLabels(m_Stages.SummarizeLabels());
      m_Stages.WriteLabels();
    }
    else if (isFinished)
    {
      this->MakePolygons();
    }
    return std::move(m_Result);
  }

private:
  // Fraction of the progress that labels take if polygons follow.
  static constexpr float ShareOfLabels = 0.4f;

  Stages &                              m_Stages;
  const CudaRegionPartitionParameters & m_Parameters;
  const CudaComponentType               m_LabelType;
  const unsigned int                    m_NumberOfThreads;
  const CudaRegionPartitionObserver &   m_Observer;
  Progress                              m_Progress;
  const Model                           m_Model;
  CudaRegionPartitionResult             m_Result;

  /** Returns the constant to add to descriptions because samples have their own unit. */
  double
  GetOffset() const
  {
    return DescriptionOffset(m_Model, m_Stages.GetTotal().Count, m_Stages.GetSamples().Step);
  }

  bool
  MakeLabels()
  {
    const float share = m_Parameters.LabelsOnly ? 1.0f : ShareOfLabels;
    return m_Stages.MakeLabels(m_Model, [this, share](float done) { return m_Progress(share * done); });
  }

  void
  MakePolygons()
  {
    // The number of iterations is not known; few runs take more than six.
    float              done = 0.0f;
    RefinementSchedule schedule;
    schedule.MaximumNumberOfIterations = m_Parameters.MaximumNumberOfIterations;
    schedule.AllowMerging = m_Parameters.AllowMerging;
    schedule.GoOn = [&] { return m_Progress(ShareOfLabels + (1.0f - ShareOfLabels) * done); };
    schedule.AfterIteration = [&](unsigned int number) {
      done = static_cast<float>(number) / (static_cast<float>(number) + 1.0f);
      if (m_Observer.Iteration)
      {
        m_Observer.Iteration(number, m_Stages.GetNumberOfRegions(), m_Stages.GetDescription() + this->GetOffset());
      }
    };
    m_Result.Stop = m_Stages.Refine(m_Model, m_Parameters.MinimumNumberOfPixels, schedule);
    if (m_Result.Stop != CudaRegionPartitionStop::Aborted)
    {
      m_Result.NumberOfIterations = m_Stages.GetNumberOfIterations();
      m_Result.Description = m_Stages.GetDescription() + this->GetOffset();
      this->DescribePolygons(m_Stages.GetFinalMap());
    }
  }

  /** Makes the results of the polygons. The merge tree has its own thread if there are many regions, because it then
   * takes longer than everything else. */
  void
  DescribePolygons(const FinalMap & found)
  {
    constexpr size_t      leastRegions = 256; // with fewer regions, starting a thread takes longer than the tree
    const NumberedRegions regions = NumberRegions(found.Map, found.FirstPixels);
    const size_t          number = regions.Sums.size() - 1;
    const bool            hasOwnThread = m_NumberOfThreads > 1 && number >= leastRegions;
    this->CheckLargestLabel(number);
    const std::vector<Adjacency> adjacencies = ListAdjacencies(found.Map, regions.Numbers);
    auto tree = std::async(hasOwnThread ? std::launch::async | std::launch::deferred : std::launch::deferred,
                           [&] { return this->MakeTree(regions.Sums, adjacencies); });
    m_Stages.WritePolygons(regions.Numbers);
    this->TakeSummary(SummarizeMap(found.Map, regions, adjacencies));
    m_Result.Merges = tree.get();
  }

  std::vector<CudaPartitionMerge>
  MakeTree(const std::vector<Moments> & sums, const std::vector<Adjacency> & adjacencies) const
  {
    std::vector<Boundary> boundaries;
    boundaries.reserve(adjacencies.size());
    for (const Adjacency & adjacency : adjacencies)
    {
      boundaries.push_back(
        { adjacency.First, adjacency.Second, m_Model.SegmentCost * static_cast<double>(adjacency.NumberOfSegments) });
    }
    return MakeMergeTree(m_Model, sums, boundaries);
  }

  void
  TakeSummary(MapSummary && summary)
  {
    for (RegionSummary & region : summary.Regions)
    {
      CudaPartitionRegion row = MakeTableRow(m_Model, region.Sums, m_Stages.GetSamples());
      row.Area = 0.5 * static_cast<double>(region.DoubledArea);
      row.Perimeter = region.Perimeter;
      row.BoundingBox = { { region.Box.MinimumX, region.Box.MinimumY, region.Box.MaximumX, region.Box.MaximumY } };
      row.Neighbors = std::move(region.Neighbors);
      m_Result.Regions.push_back(std::move(row));
    }
    m_Result.Nodes = std::move(summary.Nodes);
    m_Result.Edges = std::move(summary.Edges);
  }

  /** Makes the results of the label map. Without polygons, boundaries cost as much as they do while labels merge. */
  void
  DescribeLabels(const LabelSummary & labels)
  {
    this->CheckLargestLabel(labels.Links.size());
    const std::vector<Boundary> boundaries = MakeBoundaries(labels.Links);
    m_Result.Regions = MakeTable(m_Model, labels, m_Stages.GetSamples());
    m_Result.Merges = MakeMergeTree(m_Model, labels.Sums, boundaries);
    m_Result.Description = 0.0;
    for (const CudaPartitionRegion & row : m_Result.Regions)
    {
      m_Result.Description += row.Description;
    }
    for (const Boundary & boundary : boundaries)
    {
      m_Result.Description += boundary.Cost;
    }
  }

  void
  CheckLargestLabel(size_t numberOfRegions) const
  {
    const size_t largest = m_LabelType == CudaComponentType::UShort ? std::numeric_limits<uint16_t>::max()
                                                                    : std::numeric_limits<uint32_t>::max();
    if (numberOfRegions > largest)
    {
      itkGenericExceptionMacro("The partition has " << numberOfRegions << " regions; labels of "
                                                    << 8 * CudaComponentSize(m_LabelType) << " bits tell " << largest
                                                    << " apart. Labels of unsigned int would do");
    }
  }
};

/** The stages on host threads. */
class HostStages : public Stages
{
public:
  HostStages(const CudaRegionPartitionInput &      input,
             const CudaRegionPartitionParameters & parameters,
             const CudaImageView &                 labels,
             const region::Threads &               threads)
    : m_Input(input)
    , m_BlockSize(static_cast<int32_t>(parameters.BlockSize))
    , m_LabelImage(labels)
    , m_Samples(MakeSamples(input, parameters, threads))
    , m_Sums(m_Samples, region::UsesSquares(parameters.NoiseLaw.value()), 0, threads)
    , m_Tables(m_Sums, m_Sums.GetWhole(), 0, threads)
    , m_Scene(m_Tables.GetLevel(0), m_Samples)
    , m_Work(threads)
  {}

  const region::SamplesDescription &
  GetSamples() const override
  {
    return m_Samples;
  }
  Moments
  GetTotal() const override
  {
    return m_Sums.GetTotal();
  }
  double
  EstimateLooks(NoiseLaw law) const override
  {
    return EstimateNumberOfLooks(m_Scene, law, m_Work);
  }
  double
  EstimateVariance() const override
  {
    return EstimateKnownVariance(m_Scene, m_Work);
  }

  bool
  MakeLabels(const Model & model, const std::function<bool(float)> & progress) override
  {
    if (m_Input.InitialLabels != nullptr)
    {
      const bool goesOn = progress(0.0f);
      m_Labels = MakeLabelMapOf(*m_Input.InitialLabels, m_Scene, model, m_Work);
      return goesOn;
    }
    LabelOutcome outcome = MakeLabelMap(m_Scene, model, m_BlockSize, m_Work, progress);
    m_Labels = std::move(outcome.Map);
    return outcome.Finished;
  }
  LabelSummary
  SummarizeLabels() override
  {
    return partition::SummarizeLabels(m_Scene, m_Labels, m_Work);
  }
  void
  WriteLabels() override
  {
    this->WriteNumbers(m_Labels.Labels, [](uint32_t label) { return label; });
  }

  CudaRegionPartitionStop
  Refine(const Model & model, uint64_t minimumNumberOfPixels, const RefinementSchedule & schedule) override
  {
    m_Map.emplace(m_Labels, m_Tables.GetLevel(0), model, minimumNumberOfPixels, m_Work.GetThreads());
    m_Raster = std::move(m_Labels.Labels); // reuses its memory
    m_Labels = {};
    return m_Map->Refine(schedule);
  }
  uint32_t
  GetNumberOfIterations() const override
  {
    return m_Map->GetNumberOfIterations();
  }
  double
  GetDescription() const override
  {
    return m_Map->GetDescription();
  }
  size_t
  GetNumberOfRegions() const override
  {
    return m_Map->GetCounts().Regions;
  }
  FinalMap
  GetFinalMap() override
  {
    const MapData & map = m_Map->GetData();
    m_Raster = RasterizeMap(map, m_Work.GetThreads(), std::move(m_Raster));
    return { map, FindFirstPixels(m_Raster, map.Regions.size(), m_Work.GetThreads()) };
  }
  void
  WritePolygons(const std::vector<uint32_t> & numbers) override
  {
    this->WriteNumbers(m_Raster, [&numbers](uint32_t region) { return numbers[region]; });
  }

private:
  const CudaRegionPartitionInput & m_Input;
  const int32_t                    m_BlockSize;
  const CudaImageView &            m_LabelImage;
  const region::Samples            m_Samples;
  const region::RowSums            m_Sums;
  const region::Tables             m_Tables;
  const Scene                      m_Scene;
  const Work                       m_Work;
  LabelMap                         m_Labels;
  std::optional<PlanarMap>         m_Map;
  std::vector<uint32_t>            m_Raster; // the map's region of each pixel

  static region::Samples
  MakeSamples(const CudaRegionPartitionInput &      input,
              const CudaRegionPartitionParameters & parameters,
              const region::Threads &               threads)
  {
    CudaRegionSnakeInput image;
    image.Image = input.Image;
    image.FirstIndex = input.FirstIndex;
    image.ValidMask = input.ValidMask;
    return region::Samples(image, GetLawOfSamples(parameters), threads);
  }

  template <typename TFunction>
  void
  WriteNumbers(const std::vector<uint32_t> & labels, const TFunction & numberOf) const
  {
    m_LabelImage.ComponentType == CudaComponentType::UShort ? this->WriteNumbersOf<uint16_t>(labels, numberOf)
                                                            : this->WriteNumbersOf<uint32_t>(labels, numberOf);
  }
  template <typename TLabel, typename TFunction>
  void
  WriteNumbersOf(const std::vector<uint32_t> & labels, const TFunction & numberOf) const
  {
    constexpr size_t rowsPerPiece = 16;
    const size_t     width = m_LabelImage.Size[0];
    m_Work.ParallelFor(m_LabelImage.Size[1], rowsPerPiece, [&](size_t y) {
      const uint32_t * in = labels.data() + y * width;
      TLabel *         out = static_cast<TLabel *>(m_LabelImage.Data) + y * m_LabelImage.Stride[1];
      for (size_t x = 0; x < width; ++x)
      {
        const bool isValid = m_Scene.IsValid(static_cast<int32_t>(x), static_cast<int32_t>(y));
        out[x] = isValid ? static_cast<TLabel>(numberOf(in[x])) : TLabel{ 0 };
      }
    });
  }
};
} // namespace

CudaRegionSnakeParameters
GetLawOfSamples(const CudaRegionPartitionParameters & parameters)
{
  CudaRegionSnakeParameters law;
  law.NoiseLaw = parameters.NoiseLaw;
  law.ForegroundThreshold = parameters.ForegroundThreshold;
  return law;
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
CheckInput(const CudaRegionPartitionInput & input)
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
}

CudaRegionPartitionResult
RunStages(Stages &                              stages,
          const CudaRegionPartitionParameters & parameters,
          CudaComponentType                     labelType,
          unsigned int                          numberOfThreads,
          const CudaRegionPartitionObserver &   observer)
{
  CheckValidPixels(stages.GetSamples());
  return Run(stages, parameters, labelType, numberOfThreads, observer).Make();
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
  using namespace cuda::partition;
  VerifyCudaRegionPartitionParameters(parameters);
  CheckInput(input);
  CheckLabels(labels, input.Image);
  const cuda::region::Threads threads(numberOfThreads);
  HostStages                  stages(input, parameters, labels, threads);
  return RunStages(stages, parameters, labels.ComponentType, numberOfThreads, observer);
}
} // namespace CudaDetail
} // end namespace itk

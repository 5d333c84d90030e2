// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_Partition_h
#define CudaFilters_partition_Partition_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionPartitionEngine.h"
#include "partition/labels/Estimates.h"
#include "partition/labels/LabelSearch.h"
#include "partition/refine/MapRefinement.h"
#include "partition/Model.h"
#include "partition/result/LabelSummary.h"
#include "partition/result/Result.h"
#include "partition/Tuning.h"
#include "region/Checks.h"
#include "region/Samples.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <utility>
#include <vector>

namespace itk::cuda::partition
{
/** Forwards the completed fraction to an observer, about ten times a second, and remembers whether it requested to
 * stop. */
class Progress
{
public:
  explicit Progress(std::function<bool(float)> observer)
    : m_Observer(std::move(observer))
  {}

  /** Returns whether to continue. */
  bool
  operator()(float share)
  {
    const Clock::time_point time = Clock::now();
    if (m_GoesOn && m_Observer && time >= m_Next)
    {
      m_GoesOn = m_Observer(share);
      m_Next = Clock::now() + std::chrono::milliseconds(100);
    }
    return m_GoesOn;
  }

private:
  using Clock = std::chrono::steady_clock;

  const std::function<bool(float)> m_Observer;
  Clock::time_point                m_Next{ Clock::now() };
  bool                             m_GoesOn{ true };
};

/** What a caller asks of a partition, in addition to the image. The struct owns nothing. */
struct PartitionRequest
{
  const CudaRegionPartitionParameters & Parameters;
  const CudaImageView *                 InitialLabels; // in host memory; may be null
  CudaComponentType                     LabelType;     // UInt or UShort
  unsigned int                          NumberOfThreads;
  const CudaRegionPartitionObserver &   Observer;
};

/** \class Partition
 * \brief Runs a partition from the sums of an image to its result: labels, planar map, refinement, then rings, table
 * and merge tree.
 *
 * The executor holds the image (executor/Executor.h says what it must offer). The results of all executors
 * are bit-identical.
 */
template <typename TExecutor>
class Partition
{
public:
  /** \param total sums of all valid pixels */
  Partition(const TExecutor &                  executor,
            const region::SamplesDescription & samples,
            const Moments &                    total,
            const PartitionRequest &           request)
    : m_Executor(executor)
    , m_Samples(samples)
    , m_Total(total)
    , m_Parameters(request.Parameters)
    , m_Request(request)
    , m_Progress(request.Observer.Progress)
    , m_Model(this->MakeModel())
  {}

  /** Returns the result, and writes the label image, unless the observer stops the run.
   * \param writeLabels calls the function that it gets once, with a pointer to uint16_t or uint32_t in executor memory
   * and the stride of its rows
   * \exception ExceptionObject as CudaRegionPartitionOnHost()
   */
  template <typename TWriteLabels>
  CudaRegionPartitionResult
  Run(const TWriteLabels & writeLabels)
  {
    m_Result.NumberOfLooks = m_Model.Law.NumberOfLooks;
    m_Result.DescriptionOfOneRegion = m_Model.Describe(m_Total) + this->GetOffset();
    LabelSearch<TExecutor> labels(m_Executor, m_Model, m_Samples.Width, m_Samples.Height);
    if (!this->FindLabels(labels))
    {
      m_Result.Stop = CudaRegionPartitionStop::Aborted;
    }
    else if (m_Parameters.LabelsOnly)
    {
      m_Result.Stop = CudaRegionPartitionStop::LabelsOnly;
      this->DescribeLabels(labels);
      writeLabels([&](auto * out, size_t stride) { labels.Write(out, stride); });
    }
    else
    {
      MapRefinement<TExecutor> map(
        m_Executor, m_Model, m_Parameters.MinimumNumberOfPixels, m_Samples.Width, m_Samples.Height);
      const size_t regions = labels.GetNumberOfRegions();
      map.StartFrom(labels.TakeLabels(), labels.TakeRegionSums(), regions);
      this->RefineMap(map);
      if (m_Result.Stop != CudaRegionPartitionStop::Aborted)
      {
        this->DescribePolygons(map, writeLabels);
      }
    }
    return std::move(m_Result);
  }

private:
  // Fraction of the progress that labels take if polygons follow.
  static constexpr float ShareOfLabels = 0.4f;

  const TExecutor &                     m_Executor;
  const region::SamplesDescription &    m_Samples;
  const Moments                         m_Total;
  const CudaRegionPartitionParameters & m_Parameters;
  const PartitionRequest &              m_Request;
  Progress                              m_Progress;
  const DescriptionModel                m_Model;
  CudaRegionPartitionResult             m_Result;

  DescriptionModel
  MakeModel() const
  {
    const NoiseLaw   law = m_Parameters.NoiseLaw.value();
    DescriptionModel model;
    model.Law = { law, 1.0, static_cast<int64_t>(m_Samples.NumberOfValidPixels) };
    if (region::GetTraits(law).Parameter == region::LawParameter::NumberOfLooks)
    {
      model.Law.NumberOfLooks = m_Parameters.NumberOfLooks > 0.0
                                  ? m_Parameters.NumberOfLooks
                                  : EstimateNumberOfLooks(m_Executor, m_Samples.Width, m_Samples.Height, law);
    }
    if (law == NoiseLaw::GaussianCommonVariance)
    {
      model.KnownVariance = EstimateKnownVariance(m_Executor, m_Samples.Width, m_Samples.Height);
    }
    model.LogNumberOfPixels = region::Log(static_cast<double>(m_Samples.Width) * static_cast<double>(m_Samples.Height));
    model.SegmentCost = m_Parameters.SegmentCost;
    return model;
  }

  /** Returns the constant to add to descriptions because samples have their own unit. */
  double
  GetOffset() const
  {
    return DescriptionOffset(m_Model, m_Total.Count, m_Samples.Step);
  }

  bool
  FindLabels(LabelSearch<TExecutor> & labels)
  {
    if (m_Request.InitialLabels != nullptr)
    {
      const bool goesOn = m_Progress(0.0f);
      labels.StartFrom(m_Executor.UploadImage(*m_Request.InitialLabels));
      return goesOn;
    }
    const float share = m_Parameters.LabelsOnly ? 1.0f : ShareOfLabels;
    return labels.Search(static_cast<int32_t>(m_Parameters.BlockSize),
                         [this, share](float done) { return m_Progress(share * done); });
  }

  void
  DescribeLabels(const LabelSearch<TExecutor> & labels)
  {
    region::CheckLargestLabel("The partition", labels.GetNumberOfRegions(), "regions", m_Request.LabelType);
    LabelSummary                summary = SummarizeLabels(m_Executor,
                                           labels.GetPixels(),
                                           labels.GetNumberOfPixels(),
                                           labels.GetRegions().Get(),
                                           labels.GetNumberOfRegions());
    const std::vector<Boundary> boundaries = MakeBoundaries(MergeGainPerLength, summary.Adjacencies);
    m_Result.Regions = MakeTable(m_Model, std::move(summary.Regions), m_Samples);
    m_Result.Merges = MakeMergeTree(m_Model, summary.Sums, boundaries);
    m_Result.Description = DescribeTable(m_Result.Regions, boundaries);
  }

  void
  RefineMap(MapRefinement<TExecutor> & map)
  {
    // The number of iterations is not known; few runs take more than six.
    float              done = 0.0f;
    RefinementSchedule schedule;
    schedule.MaximumNumberOfIterations = m_Parameters.MaximumNumberOfIterations;
    schedule.AllowMerging = m_Parameters.AllowMerging;
    schedule.GoOn = [&] { return m_Progress(ShareOfLabels + (1.0f - ShareOfLabels) * done); };
    schedule.AfterIteration = [&](unsigned int number) {
      done = static_cast<float>(number) / (static_cast<float>(number) + 1.0f);
      if (m_Request.Observer.Iteration)
      {
        m_Request.Observer.Iteration(number, map.GetNumberOfRegions(), map.GetDescription() + this->GetOffset());
      }
    };
    m_Result.Stop = map.Refine(schedule);
  }

  /** Makes the results of the polygons. The merge tree has its own thread if there are many regions, because it then
   * takes longer than everything else. */
  template <typename TWriteLabels>
  void
  DescribePolygons(const MapRefinement<TExecutor> & refinement, const TWriteLabels & writeLabels)
  {
    constexpr size_t minimumRegions = 256; // with fewer, starting a thread takes longer than the tree
    m_Result.NumberOfIterations = refinement.GetNumberOfIterations();
    m_Result.Description = refinement.GetDescription() + this->GetOffset();
    const MapRaster<TExecutor>   raster(refinement.GetMap());
    const MapData                map = refinement.Download();
    const NumberedRegions        regions = NumberRegions(map, raster.FindFirstPixels());
    const size_t                 number = regions.Sums.size() - 1;
    const bool                   hasOwnThread = m_Request.NumberOfThreads > 1 && number >= minimumRegions;
    const std::vector<Adjacency> adjacencies = ListAdjacencies(map, regions.Numbers);
    region::CheckLargestLabel("The partition", number, "regions", m_Request.LabelType);
    auto tree = std::async(hasOwnThread ? std::launch::async | std::launch::deferred : std::launch::deferred, [&] {
      return MakeMergeTree(m_Model, regions.Sums, MakeBoundaries(m_Model.SegmentCost, adjacencies));
    });
    const auto numbers = m_Executor.Upload(regions.Numbers.data(), regions.Numbers.size());
    writeLabels([&](auto * out, size_t stride) { raster.Write(numbers.Get(), out, stride); });
    MapSummary summary = SummarizeMap(map, regions, adjacencies);
    m_Result.Regions = MakeTable(m_Model, std::move(summary.Regions), m_Samples);
    m_Result.Nodes = std::move(summary.Nodes);
    m_Result.Edges = std::move(summary.Edges);
    m_Result.Merges = tree.get();
  }
};

/** \exception ExceptionObject if the image, its mask or its initial labels are not valid */
void
CheckInput(const CudaRegionPartitionInput & input);
} // namespace itk::cuda::partition

#endif

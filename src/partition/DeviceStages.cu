// SPDX-License-Identifier: Apache-2.0
#include "partition/DeviceStages.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "partition/labels/DeviceLabels.h"
#include "partition/labels/EstimateFunctors.h"
#include "partition/labels/Estimates.h"
#include "partition/map/MapSearch.h"
#include "partition/executor/DeviceExecutor.cuh"
#include "partition/executor/ArrayMemory.h"
#include "partition/map/ShapeFunctors.h"
#include "partition/executor/ConcurrentRuns.h"
#include "runtime/device/Stream.h"
#include "runtime/transfer/Transfer.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace itk::cuda::partition
{
namespace
{
/** Maximum number of chain vertices whose chord costs are in memory at a time; enough to occupy all threads of a
 * device. */
constexpr size_t LargestPart = size_t{ 1 } << 20;

/** Region number of a pixel if the final numbers are the labels themselves. */
struct LabelOfPixel
{
  PixelLabels Pixels;

  __device__ uint32_t
  operator()(size_t pixel) const
  {
    return Pixels.Labels[pixel];
  }
};

class DeviceStages : public Stages
{
public:
  DeviceStages(std::unique_ptr<const region::DeviceSums> sums,
               const CudaRegionPartitionParameters &     parameters,
               const CudaImageView *                     initialLabels,
               LabelWriter                               writeLabels)
    : m_Sums(std::move(sums))
    , m_Squares(region::UsesSquares(parameters.NoiseLaw.value()))
    , m_BlockSize(static_cast<int32_t>(parameters.BlockSize))
    , m_InitialLabels(initialLabels)
    , m_WriteLabels(std::move(writeLabels))
    , m_Stream(m_Sums->GetDevice())
    , m_Share(m_Sums->GetDevice())
  {
    const size_t bytes = GetSearchBytes(static_cast<size_t>(this->GetSamples().Width),
                                        static_cast<size_t>(this->GetSamples().Height),
                                        parameters,
                                        initialLabels != nullptr);
    m_Executor.emplace(*m_Sums, m_Squares, GetHeapBytes(bytes), m_Stream);
  }
  ~DeviceStages() override
  {
    const DeviceGuard guard(m_Sums->GetDevice(), std::nothrow);
    m_Raster.reset();
    m_Search.reset();
    m_Labels = {};
    m_Executor.reset();
  }

  const region::SamplesDescription &
  GetSamples() const override
  {
    return m_Sums->GetDescription();
  }
  Moments
  GetTotal() const override
  {
    Moments total = m_Sums->GetTotal();
    total.SumOfSquares = m_Squares ? total.SumOfSquares : 0;
    return total;
  }
  double
  EstimateLooks(NoiseLaw law) const override
  {
    return CombineLooks(this->Estimate(
      EstimateGrid::OfLooks(this->GetSamples().Width, this->GetSamples().Height), true, law == NoiseLaw::Rayleigh));
  }
  double
  EstimateVariance() const override
  {
    return CombineVariances(
      this->Estimate(EstimateGrid::OfVariances(this->GetSamples().Width, this->GetSamples().Height), false, false));
  }

  bool
  MakeLabels(const Model & model, const std::function<bool(float)> & progress) override
  {
    const DeviceGuard guard(m_Sums->GetDevice());
    if (m_InitialLabels != nullptr)
    {
      const bool goesOn = progress(0.0f);
      m_Labels = MakeLabelMapOfOnDevice(this->UploadLabels(), *m_Sums, model, *m_Executor);
      return goesOn;
    }
    m_Labels = MakeLabelMapOnDevice(*m_Sums, model, m_BlockSize, progress, *m_Executor);
    return m_Labels.Finished;
  }
  LabelSummary
  SummarizeLabels() override
  {
    const DeviceGuard    guard(m_Sums->GetDevice());
    std::vector<Moments> sums(m_Labels.NumberOfRegions + 1);
    m_Executor->Download(static_cast<const Moments *>(m_Labels.Regions.GetPointer()), sums.size(), sums.data());
    return partition::SummarizeLabels(*m_Executor, this->GetPixels(), this->GetNumberOfPixels(), std::move(sums));
  }
  void
  WriteLabels() override
  {
    const DeviceGuard guard(m_Sums->GetDevice());
    this->Write([this](auto * labels, size_t stride) {
      using LabelType = std::remove_pointer_t<decltype(labels)>;
      m_Executor->VisitScene([&](const auto & scene) {
        m_Executor->ParallelFor(this->GetNumberOfPixels(),
                                functors::WriteLabels<std::decay_t<decltype(scene)>, LabelOfPixel, LabelType>{
                                  scene, { this->GetPixels() }, this->GetSamples().Width, nullptr, labels, stride });
      });
    });
  }

  CudaRegionPartitionStop
  Refine(const Model & model, uint64_t minimumNumberOfPixels, const RefinementSchedule & schedule) override
  {
    const DeviceGuard guard(m_Sums->GetDevice());
    const auto &      samples = this->GetSamples();
    m_Search.emplace(*m_Executor, model, minimumNumberOfPixels, samples.Width, samples.Height, LargestPart);
    m_Search->StartFrom(DeviceExecutor::Array<uint32_t>(std::move(m_Labels.Labels)),
                        DeviceExecutor::Array<Moments>(std::move(m_Labels.Regions)),
                        m_Labels.NumberOfRegions);
    return m_Search->Refine(schedule);
  }
  uint32_t
  GetNumberOfIterations() const override
  {
    return m_Search->GetNumberOfIterations();
  }
  double
  GetDescription() const override
  {
    return m_Search->GetDescription();
  }
  size_t
  GetNumberOfRegions() const override
  {
    return m_Search->GetNumberOfRegions();
  }
  FinalMap
  GetFinalMap() override
  {
    const DeviceGuard guard(m_Sums->GetDevice());
    m_Raster.emplace(m_Search->GetMap());
    m_Map = m_Search->Download();
    std::vector<uint32_t> pixels(m_Map.Regions.size());
    m_Executor->Download(m_Raster->FindFirstPixels().Get(), pixels.size(), pixels.data());
    std::vector<uint64_t> firstPixels(pixels.size());
    std::transform(pixels.begin(), pixels.end(), firstPixels.begin(), [](uint32_t pixel) {
      return pixel == ~uint32_t{ 0 } ? NoPixel : pixel;
    });
    return { m_Map, std::move(firstPixels) };
  }
  void
  WritePolygons(const std::vector<uint32_t> & numbers) override
  {
    const DeviceGuard guard(m_Sums->GetDevice());
    const auto        onDevice = m_Executor->Upload(numbers.data(), numbers.size());
    this->Write([&](auto * labels, size_t stride) { m_Raster->Write(onDevice.Get(), labels, stride); });
  }

private:
  const std::unique_ptr<const region::DeviceSums> m_Sums;
  const bool                                      m_Squares;
  const int32_t                                   m_BlockSize;
  const CudaImageView * const                     m_InitialLabels;
  const LabelWriter                               m_WriteLabels;
  const StreamLease                               m_Stream; // its destructor waits for all work that reads the sums
  const ConcurrentRuns                            m_Share;
  std::optional<DeviceExecutor>                   m_Executor;
  DeviceLabelMap                                  m_Labels;
  std::optional<MapSearch<DeviceExecutor>>        m_Search;
  std::optional<MapRaster<DeviceExecutor>>        m_Raster;
  MapData                                         m_Map; // the final map

  size_t
  GetNumberOfPixels() const
  {
    return static_cast<size_t>(this->GetSamples().Width) * static_cast<size_t>(this->GetSamples().Height);
  }
  PixelLabels
  GetPixels() const
  {
    return { { this->GetSamples().Width }, static_cast<const uint32_t *>(m_Labels.Labels.GetPointer()) };
  }

  /** Returns the estimates of all windows or blocks that have one. */
  std::vector<double>
  Estimate(const EstimateGrid & grid, bool looks, bool squares) const
  {
    const DeviceGuard   guard(m_Sums->GetDevice());
    std::vector<double> estimates(static_cast<size_t>(grid.Columns) * static_cast<size_t>(grid.Rows));
    if (!estimates.empty())
    {
      const auto onDevice = m_Executor->Allocate<double>(estimates.size());
      m_Executor->VisitScene([&](const auto & scene) {
        m_Executor->ParallelFor(
          estimates.size(),
          functors::EstimatePlaces<std::decay_t<decltype(scene)>>{ scene, grid, looks, squares, onDevice.Get() });
      });
      m_Executor->Download(onDevice.Get(), estimates.size(), estimates.data());
      estimates.erase(std::remove(estimates.begin(), estimates.end(), NoEstimate), estimates.end());
    }
    return estimates;
  }

  /** Uploads the initial labels, row by row. */
  ArrayMemory
  UploadLabels() const
  {
    const size_t width = m_InitialLabels->Size[0];
    const size_t height = m_InitialLabels->Size[1];
    auto         labels = m_Executor->Allocate<uint32_t>(width * height);
    DeviceView   view;
    view.Data = labels.Get();
    view.ComponentType = CudaComponentType::UInt;
    view.Size = { { width, height, 1, 1, 1 } };
    view.Stride = { { 1, width, width * height, width * height, width * height } };
    UploadRows(*m_InitialLabels, view, m_Stream, {});
    return labels.TakeMemory();
  }

  template <typename TFunction>
  void
  Write(const TFunction & function) const
  {
    m_WriteLabels(m_Stream, [&](const DeviceView & labels) {
      if (labels.ComponentType == CudaComponentType::UShort)
      {
        function(static_cast<uint16_t *>(labels.Data), labels.Stride[1]);
      }
      else
      {
        function(static_cast<uint32_t *>(labels.Data), labels.Stride[1]);
      }
    });
  }
};
} // namespace

std::unique_ptr<Stages>
MakeDeviceStages(std::unique_ptr<const region::DeviceSums> sums,
                 const CudaRegionPartitionParameters &     parameters,
                 const CudaImageView *                     initialLabels,
                 LabelWriter                               writeLabels)
{
  const DeviceGuard guard(sums->GetDevice());
  return std::make_unique<DeviceStages>(std::move(sums), parameters, initialLabels, std::move(writeLabels));
}

size_t
GetSearchBytes(size_t width, size_t height, const CudaRegionPartitionParameters & parameters, bool hasInitialLabels)
{
  // Few label maps have nodes at more than 1/16 of the pixel corners.
  constexpr size_t pixelsOfANode = 16;
  // The block size of given labels is unknown.
  constexpr size_t largestBlock = 64;
  const size_t     pixels = width * height;
  return std::max(GetLabelSearchBytes(width, height, hasInitialLabels ? largestBlock : parameters.BlockSize),
                  parameters.LabelsOnly ? 0 : GetMapSearchBytes(pixels / pixelsOfANode, pixels, LargestPart));
}
} // namespace itk::cuda::partition

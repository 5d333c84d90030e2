// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_Run_h
#define CudaFilters_partition_Run_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionPartitionEngine.h"
#include "partition/Model.h"
#include "partition/refine/Schedule.h"
#include "partition/result/Result.h"
#include "region/Samples.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/** The refined map, and the first pixel of each of its regions. */
struct FinalMap
{
  const MapData &       Map; // valid as long as the stages exist
  std::vector<uint64_t> FirstPixels;
};

/** \class Stages
 * \brief The stages of a run on its image, on the host or on a device. The results of both are bit-identical.
 */
class Stages
{
public:
  virtual ~Stages() = default;

  virtual const region::SamplesDescription &
  GetSamples() const = 0;
  /** Returns the sums of all valid pixels. */
  virtual Moments
  GetTotal() const = 0;
  virtual double
  EstimateLooks(NoiseLaw law) const = 0;
  virtual double
  EstimateVariance() const = 0;

  /** Makes the label map. Returns false if `progress` returned false. */
  virtual bool
  MakeLabels(const Model & model, const std::function<bool(float)> & progress) = 0;

  // For the label map, if no polygons follow.
  virtual LabelSummary
  SummarizeLabels() = 0;
  /** Writes the label image. */
  virtual void
  WriteLabels() = 0;

  // For polygons.
  /** Builds the map of the label map, and lowers its description. */
  virtual CudaRegionPartitionStop
  Refine(const Model & model, uint64_t minimumNumberOfPixels, const RefinementSchedule & schedule) = 0;
  virtual uint32_t
  GetNumberOfIterations() const = 0;
  /** Returns the description of the map after the last iteration; may be called from the schedule's observer. */
  virtual double
  GetDescription() const = 0;
  virtual size_t
  GetNumberOfRegions() const = 0;
  virtual FinalMap
  GetFinalMap() = 0;
  /** Writes the label image. \param numbers final numbers of the map's regions */
  virtual void
  WritePolygons(const std::vector<uint32_t> & numbers) = 0;
};

/** Returns the settings of the noise law on which the samples depend. */
CudaRegionSnakeParameters
GetLawOfSamples(const CudaRegionPartitionParameters & parameters);

/** \exception ExceptionObject if the labels are not an image of UInt or UShort of the image's size */
void
CheckLabels(const CudaImageView & labels, const CudaImageView & image);
/** \exception ExceptionObject if the image, its mask or its initial labels are not valid */
void
CheckInput(const CudaRegionPartitionInput & input);

/** Runs all stages.
 * \param labelType of the label image
 * \param numberOfThreads with 1, the merge tree is built on the calling thread (also done for fewer than 256 regions)
 * \exception ExceptionObject as CudaRegionPartitionOnHost()
 */
CudaRegionPartitionResult
RunStages(Stages &                              stages,
          const CudaRegionPartitionParameters & parameters,
          CudaComponentType                     labelType,
          unsigned int                          numberOfThreads,
          const CudaRegionPartitionObserver &   observer);
} // namespace itk::cuda::partition

#endif

// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailRegionSnakeEngine_h
#define itkCudaDetailRegionSnakeEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaRegionSnakeTypes.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDeviceImageView.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace itk::CudaDetail
{
/** Columns where the rows y = 0 to height - 1 enter and leave the polygon. The crossings of row y are Columns[First[y]]
 * to Columns[First[y + 1] - 1]. They ascend, and their number is even. */
struct CudaSnakeRowSpans
{
  std::vector<size_t>  First;
  std::vector<int32_t> Columns;
};

/** \exception ExceptionObject if a vertex lies outside the rows, which have corners 0 to height */
CudaFilters_EXPORT void
RequireCudaSnakeRows(const CudaSnakePolygon & polygon, int32_t height);

/** Row spans of a polygon; exact.
 * \exception ExceptionObject as RequireCudaSnakeRows() */
CudaFilters_EXPORT CudaSnakeRowSpans
ComputeCudaSnakeRowSpans(const CudaSnakePolygon & polygon, int32_t height);

/** Whether two edges of the polygon meet at the node they share only. It takes the time of sorting the nodes. */
CudaFilters_EXPORT bool
CudaSnakePolygonIsSimple(const CudaSnakePolygon & polygon);

/** All parameters of the snake; see CudaRegionSnakeImageFilter for their meaning. */
struct CudaRegionSnakeParameters
{
  std::optional<CudaFiltersEnums::NoiseLaw> NoiseLaw; // has to be set
  CudaFiltersEnums::Schedule                Schedule{ CudaFiltersEnums::Schedule::CoarseToFine };
  CudaFiltersEnums::Start                   Start{ CudaFiltersEnums::Start::Automatic };
  double                                    NumberOfLooks{ 1.0 };
  // Bernoulli: pixels above it are 1; NaN: the image holds 0 and one other value
  double   ForegroundThreshold{ std::numeric_limits<double>::quiet_NaN() };
  unsigned MaximumStep{ 32 };
  double   MinimumEdgeLength{ 32.0 };
  double   MinimumGain{ 1e-6 };
  bool     UseDescriptionLength{ true };
  unsigned MaximumNumberOfNodes{ 4096 };
  unsigned MaximumNumberOfIterations{ 10000 };
  uint64_t MinimumRegionSize{ 16 };
};

/** The image to segment, and optionally where to look and where to start. The struct owns nothing. */
struct CudaRegionSnakeInput
{
  CudaImageView            Image;                   // UChar, UShort, Short or Float; two axes, one component
  std::array<int64_t, 2>   FirstIndex{ { 0, 0 } };  // index of the first pixel, for messages
  const CudaImageView *    ValidMask{ nullptr };    // UChar of the image's size: pixels that are not 0 are valid
  const CudaSnakePolygon * StartPolygon{ nullptr }; // at most one of the two starts
  const CudaImageView *    StartMask{ nullptr };    // UChar of the image's size: the start is where it is not 0
};

/** The polygon of a level and its sums, as an observer sees them. */
struct CudaRegionSnakeState
{
  const CudaRegionSnakeStep & Step;
  const CudaSnakePolygon &    Polygon; // corners of the level's cells
  uint64_t                    Sum;
  uint64_t                    SumOfSquares;
};

/** Called from the thread that runs the engine. No call changes the result. */
struct CudaRegionSnakeObserver
{
  /** Called after every entry of the record. Attach it only if needed: it copies the polygon to the host each time. */
  std::function<void(const CudaRegionSnakeState &)> Step;
  /** Called with the share of the work done, about ten times a second and at each new level (ReportsLevels). Returns
   * whether to go on. */
  std::function<bool(float)> Progress;
  /** Whether Progress is called at new levels too. On the device each such call is a launch of its own. */
  bool ReportsLevels{ true };
};

/** \exception ExceptionObject that names a parameter out of range, its value and what would be right. */
CudaFilters_EXPORT void
VerifyCudaRegionSnakeParameters(const CudaRegionSnakeParameters & parameters);

/** Segments the image on the host by at most `numberOfThreads` threads. The result does not depend on the number of
 * threads.
 * \exception ExceptionObject that says why the input cannot be segmented, and what would be right. */
CudaFilters_EXPORT CudaRegionSnakeResult
CudaRegionSnakeOnHost(const CudaRegionSnakeInput &      input,
                      const CudaRegionSnakeParameters & parameters,
                      unsigned int                      numberOfThreads,
                      const CudaRegionSnakeObserver &   observer);

/** Why the device cannot do it, in words; nullptr if it can. */
CudaFilters_EXPORT const char *
CudaRegionSnakeUnsupportedReason(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters);

/** Device memory in bytes that CudaRegionSnakeOnDevice() needs. */
CudaFilters_EXPORT size_t
CudaRegionSnakeWorkingSet(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters);

/** As CudaRegionSnakeOnHost(), with the same result bit for bit, on a device. `numberOfThreads` check and convert the
 * input. \exception CudaError */
CudaFilters_EXPORT CudaRegionSnakeResult
CudaRegionSnakeOnDevice(const CudaRegionSnakeInput &      input,
                        const CudaRegionSnakeParameters & parameters,
                        int                               deviceIndex,
                        unsigned int                      numberOfThreads,
                        const CudaRegionSnakeObserver &   observer);

/** As CudaRegionSnakeOnDevice(), of an image in device memory, where it lies. The image is read after all work that
 * wrote it, and no more when this returns. `input.Image` is not looked at; masks are in host memory.
 * SecondsOfSums is the time of the samples and sums.
 * \exception ExceptionObject as CudaRegionSnakeOnHost() \exception CudaError */
CudaFilters_EXPORT CudaRegionSnakeResult
CudaRegionSnakeOfDeviceImage(const CudaDeviceImageView &       image,
                             const CudaRegionSnakeInput &      input,
                             const CudaRegionSnakeParameters & parameters,
                             const CudaRegionSnakeObserver &   observer);

/** Queues a label image on the calling thread's stream: `inside` in the polygon, `outside` elsewhere.
 * \param polygon in the image's rows; may be empty \param labels of UChar or UShort
 * \exception ExceptionObject for other images, or labels that their type does not hold \exception CudaError */
CudaFilters_EXPORT void
CudaQueueRegionSnakeLabels(const CudaSnakePolygon &    polygon,
                           uint32_t                    inside,
                           uint32_t                    outside,
                           const CudaDeviceImageView & labels);
} // end namespace itk::CudaDetail

#endif

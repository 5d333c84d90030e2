// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailRegionSnakeEngine_h
#define itkCudaDetailRegionSnakeEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaRegionSnakeTypes.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDeviceImageView.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace itk::CudaDetail
{
/** The columns where the rows y = 0 to height - 1 enter and leave the polygon. The crossings of row y are
 * Columns[First[y]] to Columns[First[y + 1] - 1], in ascending order. Their number is even. */
struct CudaSnakeRowSpans
{
  std::vector<size_t>  First;
  std::vector<int32_t> Columns;
};

/** Checks that the polygon lies in the rows. \exception ExceptionObject if a vertex lies outside of the rows, which
 * have corners 0 to height */
CudaFilters_EXPORT void
RequireCudaSnakeRows(const CudaSnakePolygon & polygon, int32_t height);

/** Returns the exact row spans of a polygon.
 * \exception ExceptionObject as RequireCudaSnakeRows() */
CudaFilters_EXPORT CudaSnakeRowSpans
ComputeCudaSnakeRowSpans(const CudaSnakePolygon & polygon, int32_t height);

/** Returns whether the polygon is simple, which means that two edges meet only at a node that they share. The test
 * takes as long as sorting the nodes. */
CudaFilters_EXPORT bool
CudaSnakePolygonIsSimple(const CudaSnakePolygon & polygon);

/** All parameters of the snake; see CudaRegionSnakeImageFilter for their meaning. */
struct CudaRegionSnakeParameters
{
  std::optional<CudaFiltersEnums::NoiseLaw> NoiseLaw; // must be set
  CudaFiltersEnums::Schedule                Schedule{ CudaFiltersEnums::Schedule::CoarseToFine };
  CudaFiltersEnums::Start                   Start{ CudaFiltersEnums::Start::Automatic };
  double                                    NumberOfLooks{ 1.0 };
  // Threshold of the Bernoulli law: pixels above it count as 1. NaN: the image holds 0 and one other value.
  double   ForegroundThreshold{ std::numeric_limits<double>::quiet_NaN() };
  unsigned MaximumStep{ 32 };
  double   MinimumEdgeLength{ 32.0 };
  double   MinimumGain{ 1e-6 };
  bool     UseDescriptionLength{ true };
  unsigned MaximumNumberOfNodes{ 4096 };
  unsigned MaximumNumberOfIterations{ 10000 };
  uint64_t MinimumRegionSize{ 16 };
};

/** The image to segment, with an optional mask and start. The struct owns nothing. */
struct CudaRegionSnakeInput
{
  CudaImageView            Image;                   // UChar, UShort, Short or Float; two axes, one component
  std::array<int64_t, 2>   FirstIndex{ { 0, 0 } };  // index of the first pixel, for messages
  const CudaImageView *    ValidMask{ nullptr };    // UChar of the image's size: pixels that are not 0 are valid
  const CudaSnakePolygon * StartPolygon{ nullptr }; // at most one of the two starts may be given
  // UChar of the image's size: the start is the area where it is not 0
  const CudaImageView * StartMask{ nullptr };
  // Devices that sum bands of the image in turn, if samples and sums shall lie in page-locked host memory, because they
  // are larger than the device's memory; nullptr: they lie on the device
  const std::vector<int> * DevicesOfBands{ nullptr };
};

/** The state of the polygon that an observer receives. */
struct CudaRegionSnakeState
{
  const CudaRegionSnakeStep & Step;
  const CudaSnakePolygon &    Polygon; // in corners of the level's cells
  uint64_t                    Sum;
  uint64_t                    SumOfSquares; // modulo 2^64
};

/** Functions that are called from the thread that runs the engine. They do not change the result. */
struct CudaRegionSnakeObserver
{
  /** Called after every entry of the record. Set it only if needed, because it makes the engine copy the polygon to the
   * host each time. */
  std::function<void(const CudaRegionSnakeState &)> Step;
  /** Called with the share of the work done, about ten times a second and, with ReportsLevels, at each new level.
   * Returns whether to continue. */
  std::function<bool(float)> Progress;
  /** Whether Progress is called at new levels too. On the device, each such call needs a separate launch. */
  bool ReportsLevels{ true };
};

/** Checks the parameters. \exception ExceptionObject that names a parameter out of range, its value and the valid
 * values */
CudaFilters_EXPORT void
VerifyCudaRegionSnakeParameters(const CudaRegionSnakeParameters & parameters);

/** Segments the image on the host, on at most `numberOfThreads` threads. The result does not depend on the number of
 * threads.
 * \exception ExceptionObject that says why the input cannot be segmented, and what input would be valid */
CudaFilters_EXPORT CudaRegionSnakeResult
CudaRegionSnakeOnHost(const CudaRegionSnakeInput &      input,
                      const CudaRegionSnakeParameters & parameters,
                      unsigned int                      numberOfThreads,
                      const CudaRegionSnakeObserver &   observer);

/** Returns why the device cannot segment the image, in words; nullptr if it can. */
CudaFilters_EXPORT const char *
CudaRegionSnakeUnsupportedReason(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters);

/** Returns the number of bytes of device memory that CudaRegionSnakeOnDevice() needs. */
CudaFilters_EXPORT size_t
CudaRegionSnakeWorkingSet(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters);

/** Segments the image on a device, with a result that is bit-identical to CudaRegionSnakeOnHost(). `numberOfThreads`
 * threads check and convert the input. \exception CudaError */
CudaFilters_EXPORT CudaRegionSnakeResult
CudaRegionSnakeOnDevice(const CudaRegionSnakeInput &      input,
                        const CudaRegionSnakeParameters & parameters,
                        int                               deviceIndex,
                        unsigned int                      numberOfThreads,
                        const CudaRegionSnakeObserver &   observer);

/** Segments an image in device memory on its device, as CudaRegionSnakeOnDevice() does. The image is read after all
 * work that wrote it, and all reads have ended on return. `input.Image` is ignored; masks are in host memory.
 * SecondsOfSums includes the time of the samples.
 * \exception ExceptionObject as CudaRegionSnakeOnHost() \exception CudaError */
CudaFilters_EXPORT CudaRegionSnakeResult
CudaRegionSnakeOfDeviceImage(const CudaDeviceImageView &       image,
                             const CudaRegionSnakeInput &      input,
                             const CudaRegionSnakeParameters & parameters,
                             const CudaRegionSnakeObserver &   observer);

/** A run on a prepared image. */
struct CudaPreparedSnakeRun
{
  CudaRegionSnakeParameters Parameters; // the law, the looks and the threshold are those of the image
  CudaSnakePoint            WindowCorner{ 0, 0 };
  CudaSnakePoint            WindowSize{ 0, 0 };      // zeros: the whole image
  const CudaSnakePolygon *  StartPolygon{ nullptr }; // in corners of the image's pixels; nullptr: Parameters.Start
  bool                      StartsOnPixels{ false }; // skip the coarse levels, because the start is near the target
  CudaRegionSnakeObserver   Observer;
};

/** \class CudaPreparedSnakeImage
 * \brief An image whose samples and sums are made, in the memory of the host or of a device, for any number of runs.
 * Any thread may make it, use it and destroy it. */
class CudaFilters_EXPORT CudaPreparedSnakeImage
{
public:
  virtual ~CudaPreparedSnakeImage() = default;

  CudaPreparedSnakeImage(const CudaPreparedSnakeImage &) = delete;
  CudaPreparedSnakeImage &
  operator=(const CudaPreparedSnakeImage &) = delete;

  /** Runs the snake, and waits for the result, whose polygon is in corners of the image's pixels.
   * \exception ExceptionObject as CudaRegionSnakeOnHost() \exception CudaError */
  virtual CudaRegionSnakeResult
  Run(const CudaPreparedSnakeRun & run) const = 0;

protected:
  CudaPreparedSnakeImage() = default;
};

/** Prepares an image on the host. Integers without a mask may be used in place: they must not change, and must outlive
 * the result. A start in `input` is ignored. \exception ExceptionObject as CudaRegionSnakeOnHost() */
CudaFilters_EXPORT std::unique_ptr<CudaPreparedSnakeImage>
                   CudaPrepareSnakeImageOnHost(const CudaRegionSnakeInput &      input,
                                               const CudaRegionSnakeParameters & parameters,
                                               unsigned int                      numberOfThreads);

/** Prepares an image on a device, which does not use `input` later. \exception CudaError */
CudaFilters_EXPORT std::unique_ptr<CudaPreparedSnakeImage>
                   CudaPrepareSnakeImageOnDevice(const CudaRegionSnakeInput &      input,
                                                 const CudaRegionSnakeParameters & parameters,
                                                 int                               deviceIndex,
                                                 unsigned int                      numberOfThreads);

/** The starts of several searches in one image: polygons, or the areas of the labels of an image. */
struct CudaRegionSnakeStarts
{
  std::vector<CudaSnakePolygon> Polygons;          // in corners of the image's pixels
  const CudaImageView *         Labels{ nullptr }; // UInt, of the image's size; polygons must then not be given
  // The window of a search is the bounding box of its start, and Margin pixels around it as far as the image
  // reaches. 0: the longer side of the box, at least 16.
  uint32_t Margin{ 0 };
};

/** The results of several searches. */
struct CudaRegionSnakeBatch
{
  std::vector<CudaRegionSnakeRegion> Regions; // in the order of the polygons, or of ascending labels
  bool                               IsAborted{ false };
};

/** Segments the windows of the starts on the host. The image is converted and summed once. Each result is bit-identical
 * to that of a run on the window alone with the image's grid of samples (SnakeRun). A start without enough valid pixels
 * in it or in the rest of its window has RegionTooSmall for its result, and no polygon. `input` has no start. */
CudaFilters_EXPORT CudaRegionSnakeBatch
CudaRegionSnakeBatchOnHost(const CudaRegionSnakeInput &      input,
                           const CudaRegionSnakeStarts &     starts,
                           const CudaRegionSnakeParameters & parameters,
                           unsigned int                      numberOfThreads,
                           const CudaRegionSnakeObserver &   observer);

/** Returns the number of bytes of device memory that CudaRegionSnakeBatchOnDevice() needs. */
CudaFilters_EXPORT size_t
CudaRegionSnakeBatchWorkingSet(const CudaRegionSnakeInput &      input,
                               const CudaRegionSnakeParameters & parameters,
                               unsigned int                      numberOfThreads);

/** Segments the windows of the starts on a device, as CudaRegionSnakeBatchOnHost() does on the host. The threads
 * launch the searches concurrently. \exception CudaError */
CudaFilters_EXPORT CudaRegionSnakeBatch
CudaRegionSnakeBatchOnDevice(const CudaRegionSnakeInput &      input,
                             const CudaRegionSnakeStarts &     starts,
                             const CudaRegionSnakeParameters & parameters,
                             int                               deviceIndex,
                             unsigned int                      numberOfThreads,
                             const CudaRegionSnakeObserver &   observer);

/** Segments the windows of the starts in an image in device memory; see CudaRegionSnakeOfDeviceImage(). */
CudaFilters_EXPORT CudaRegionSnakeBatch
CudaRegionSnakeBatchOfDeviceImage(const CudaDeviceImageView &       image,
                                  const CudaRegionSnakeInput &      input,
                                  const CudaRegionSnakeStarts &     starts,
                                  const CudaRegionSnakeParameters & parameters,
                                  unsigned int                      numberOfThreads,
                                  const CudaRegionSnakeObserver &   observer);

/** Writes the label image of UChar, UShort or UInt: i + 1 in region i if its boundary is significant, and 0 elsewhere.
 * The lower label wins where regions overlap. Sets the regions' numbers of hidden pixels, and returns the pairs of
 * overlapping regions in ascending order. \exception ExceptionObject if the pixel type cannot hold the labels */
CudaFilters_EXPORT std::vector<CudaRegionSnakeOverlap>
                   CudaWriteRegionSnakeLabels(std::vector<CudaRegionSnakeRegion> & regions,
                                              const CudaImageView &                labels,
                                              unsigned int                         numberOfThreads);

/** Queues the writing of a label image on the calling thread's stream: `inside` in the polygon, `outside` elsewhere.
 * \param polygon in the image's rows; may be empty
 * \param labels of UChar or UShort
 * \exception ExceptionObject if the image is of another type, or its type cannot hold the labels
 * \exception CudaError */
CudaFilters_EXPORT void
CudaQueueRegionSnakeLabels(const CudaSnakePolygon &    polygon,
                           uint32_t                    inside,
                           uint32_t                    outside,
                           const CudaDeviceImageView & labels);

/** Writes the label image of a polygon: `Inside` between the columns of its row spans, `Outside` elsewhere. */
template <typename TPixel>
struct CudaSnakeLabels
{
  const CudaSnakeRowSpans & Spans;
  size_t                    Width; // pixels of a row; rows are adjacent
  TPixel                    Inside;
  TPixel                    Outside;

  /** Writes the rows firstRow to endRow - 1 of the image that begins at `pixels`. A run of `Outside` may continue
   * across the ends of rows. */
  void
  WriteRows(TPixel * pixels, size_t firstRow, size_t endRow) const
  {
    TPixel * written = pixels + firstRow * Width;
    for (size_t y = firstRow; y < endRow; ++y)
    {
      TPixel * const row = pixels + y * Width;
      for (size_t i = Spans.First[y]; i < Spans.First[y + 1]; i += 2)
      {
        TPixel * const enter = row + Spans.Columns[i];
        TPixel * const leave = row + Spans.Columns[i + 1];
        std::fill(written, enter, Outside);
        std::fill(enter, leave, Inside);
        written = leave;
      }
    }
    std::fill(written, pixels + endRow * Width, Outside);
  }

  /** Writes all rows on the threads of `threader`. */
  void
  Write(TPixel * pixels, MultiThreaderBase & threader) const
  {
    const size_t rows = Spans.First.size() - 1;
    // Cut the rows into several pieces for each thread, because some threads begin late.
    const size_t pieces = std::min(rows, size_t{ 4 } * threader.GetNumberOfWorkUnits());
    threader.ParallelizeArray(
      0,
      pieces,
      [&](SizeValueType piece) { this->WriteRows(pixels, rows * piece / pieces, rows * (piece + 1) / pieces); },
      nullptr);
  }
};
} // end namespace itk::CudaDetail

#endif

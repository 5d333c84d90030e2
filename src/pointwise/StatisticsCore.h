// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_pointwise_StatisticsCore_h
#define CudaFilters_pointwise_StatisticsCore_h

#include "itkCudaDetailStatisticsEngine.h"
#include "runtime/HostDevice.h"

#include <cstddef>

// Minimum, maximum, sums and bins of an image's pixels, with the same bits on the host and on the device. The pixels
// are numbered along x, then y, z, t. Chunks of them are divided among lanes; a lane adds its pixels in their order,
// and lanes are added in pairs. The chunks are added in the same way.

namespace itk::cuda::pointwise
{
constexpr unsigned int StatisticsLanes = 256;
constexpr unsigned int PixelsOfLane = 64;
constexpr size_t       PixelsOfChunk = size_t{ StatisticsLanes } * PixelsOfLane;

/** \struct Moments
 * \brief Of some pixels: the least and the greatest, and the sums of their differences from a shift and of the squares.
 */
struct Moments
{
  double Minimum;
  double Maximum;
  double Sum;
  double Squares;

  /** Of no pixels. `infinity` is that of double, which device code is given. */
  ITK_CUDA_HOST_DEVICE void
  Clear(double infinity)
  {
    Minimum = infinity;
    Maximum = -infinity;
    Sum = 0.0;
    Squares = 0.0;
  }

  ITK_CUDA_HOST_DEVICE void
  Add(double value, double shift)
  {
    const double difference = value - shift;
    Minimum = value < Minimum ? value : Minimum;
    Maximum = value > Maximum ? value : Maximum;
    Sum += difference;
    Squares += difference * difference;
  }

  ITK_CUDA_HOST_DEVICE void
  Merge(const Moments & other)
  {
    Minimum = other.Minimum < Minimum ? other.Minimum : Minimum;
    Maximum = other.Maximum > Maximum ? other.Maximum : Maximum;
    Sum += other.Sum;
    Squares += other.Squares;
  }
};

/** \struct HistogramRule
 * \brief The bin of a value.
 */
struct HistogramRule
{
  unsigned int Number;
  double       Lower;
  double       Upper;
  double       BinsPerUnit;

  explicit HistogramRule(const CudaHistogramBins & bins)
    : Number(static_cast<unsigned int>(bins.Number))
    , Lower(bins.Lower)
    , Upper(bins.Upper)
    , BinsPerUnit(static_cast<double>(bins.Number) / (bins.Upper - bins.Lower))
  {}

  /** Number if the value has none. */
  ITK_CUDA_HOST_DEVICE unsigned int
  GetBin(double value) const
  {
    if (!(value >= Lower && value <= Upper))
    {
      return Number;
    }
    const auto bin = static_cast<unsigned int>((value - Lower) * BinsPerUnit);
    return bin < Number ? bin : Number - 1;
  }
};

/** \exception ExceptionObject that names what is out of range */
void
VerifyStatistics(size_t numberOfPixels, size_t components, const CudaHistogramBins & bins);

/** What differences are taken from: the first pixel, or 0 if it is not finite. */
ITK_CUDA_HOST_DEVICE inline double
GetShift(double firstPixel)
{
  return firstPixel - firstPixel == 0.0 ? firstPixel : 0.0;
}

/** The statistics, without a histogram, of all pixels' moments about `shift`. */
CudaImageStatistics
MakeStatistics(const Moments & all, size_t numberOfPixels, double shift);
} // namespace itk::cuda::pointwise

#endif

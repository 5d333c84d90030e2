// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_pointwise_StatisticsCore_h
#define CudaFilters_pointwise_StatisticsCore_h

#include "itkCudaDetailStatisticsEngine.h"
#include "runtime/HostDevice.h"

#include <cstddef>

// Minimum, maximum, sums and histogram of an image's pixels, with bit-identical results on the host and on the device.
// For this the order of the additions is fixed. Pixels are numbered along x, then y, z, t, and divided into chunks. The
// pixels of a chunk are distributed over lanes. A lane adds its pixels in their order, and the lanes are added in a
// pairwise tree. The chunks are added in the same way.

namespace itk::cuda::pointwise
{
constexpr unsigned int StatisticsLanes = 256;
constexpr unsigned int PixelsOfLane = 64;
constexpr size_t       PixelsOfChunk = size_t{ StatisticsLanes } * PixelsOfLane;

/** \struct PartialStatistics
 * \brief The minimum and the maximum of some pixels, the sum of their differences from a shift, and the sum of the
 * squared differences.
 */
struct PartialStatistics
{
  double Minimum;
  double Maximum;
  double Sum;
  double Squares;

  /** Sets the statistics of no pixels. `infinity` must be the infinity of double. Kernels get it as an argument. */
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
  Merge(const PartialStatistics & other)
  {
    Minimum = other.Minimum < Minimum ? other.Minimum : Minimum;
    Maximum = other.Maximum > Maximum ? other.Maximum : Maximum;
    Sum += other.Sum;
    Squares += other.Squares;
  }
};

/** \struct HistogramRule
 * \brief Maps values to the bins of a histogram.
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

  /** Returns the bin of a value, or Number if the value is outside the bins. */
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

/** Checks the arguments of statistics. \exception ExceptionObject naming the argument that is out of range */
void
VerifyStatistics(size_t numberOfPixels, size_t components, const CudaHistogramBins & bins);

/** Returns the shift that is subtracted from all pixels: the first pixel, or 0 if it is not finite. */
ITK_CUDA_HOST_DEVICE inline double
GetShift(double firstPixel)
{
  return firstPixel - firstPixel == 0.0 ? firstPixel : 0.0;
}

/** Returns the statistics, without a histogram, for the sums of all pixels about `shift`. */
CudaImageStatistics
MakeStatistics(const PartialStatistics & all, size_t numberOfPixels, double shift);
} // namespace itk::cuda::pointwise

#endif

// SPDX-License-Identifier: Apache-2.0
#include "runtime/DetailNames.h"
#include "runtime/image/HostLines.h"
#include "pointwise/StatisticsCore.h"
#include "itkMacro.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

// Computes the statistics of an image on ITK's threads, with the order of additions of pointwise/StatisticsCore.h.

namespace itk::cuda::pointwise
{
void
VerifyStatistics(size_t numberOfPixels, size_t components, const CudaHistogramBins & bins)
{
  if (numberOfPixels == 0)
  {
    itkGenericExceptionMacro("The image has no pixels; statistics need at least one");
  }
  if (components != 1)
  {
    itkGenericExceptionMacro("The image has " << components << " components to a pixel; it must have one");
  }
  if (bins.Number > CudaHistogramBins::MaximumNumber)
  {
    itkGenericExceptionMacro("The number of bins is " << bins.Number << "; it must be at most "
                                                      << CudaHistogramBins::MaximumNumber);
  }
  if (bins.Number > 0 && !(bins.Lower < bins.Upper && std::isfinite(bins.Upper - bins.Lower)))
  {
    itkGenericExceptionMacro("The bins go from " << bins.Lower << " to " << bins.Upper
                                                 << "; both must be finite, and the first below the second");
  }
}

CudaImageStatistics
MakeStatistics(const PartialStatistics & all, size_t numberOfPixels, double shift)
{
  const auto          count = static_cast<double>(numberOfPixels);
  const double        mean = all.Sum / count;
  const bool          isNaN = all.Minimum > all.Maximum;
  CudaImageStatistics statistics;
  statistics.NumberOfPixels = numberOfPixels;
  statistics.Minimum = isNaN ? std::numeric_limits<double>::quiet_NaN() : all.Minimum;
  statistics.Maximum = isNaN ? std::numeric_limits<double>::quiet_NaN() : all.Maximum;
  statistics.Sum = shift * count + all.Sum;
  statistics.Mean = shift + mean;
  // Rounding may make the difference negative.
  const double squares = all.Squares - all.Sum * mean;
  statistics.Variance = numberOfPixels == 1 ? all.Squares : (squares < 0.0 ? 0.0 : squares) / (count - 1.0);
  return statistics;
}

namespace
{
/** Access to the pixels of a view by their number. */
template <typename T>
class NumberedPixels
{
public:
  explicit NumberedPixels(const CudaImageView & view)
    : m_View(view)
  {}

  /** Calls function(index, value) for the pixels first to last - 1, with indices from 0 on. */
  template <typename TFunction>
  void
  ForEach(size_t first, size_t last, const TFunction & function) const
  {
    const size_t width = m_View.Size[0];
    for (size_t i = first; i < last;)
    {
      const size_t row = i / width;
      const size_t end = std::min(last, (row + 1) * width);
      const T *    pixel = static_cast<const T *>(m_View.Data) + GetRow(m_View, row)[i - row * width];
      for (; i < end; ++i, pixel += m_View.Stride[0])
      {
        function(i - first, static_cast<double>(*pixel));
      }
    }
  }

private:
  const CudaImageView & m_View;
};

/** The statistics of the lanes, which are added in a fixed order. */
class Lanes
{
public:
  Lanes()
  {
    for (PartialStatistics & lane : m_Lanes)
    {
      lane.Clear(std::numeric_limits<double>::infinity());
    }
  }

  /** Returns the lane of the pixel or chunk with this number. */
  PartialStatistics &
  Get(size_t number)
  {
    return m_Lanes[number % StatisticsLanes];
  }

  /** Returns the sum of all lanes. The lanes are overwritten. */
  const PartialStatistics &
  AddUp()
  {
    for (unsigned int half = StatisticsLanes / 2; half > 0; half /= 2)
    {
      for (unsigned int lane = 0; lane < half; ++lane)
      {
        m_Lanes[lane].Merge(m_Lanes[lane + half]);
      }
    }
    return m_Lanes.front();
  }

private:
  std::array<PartialStatistics, StatisticsLanes> m_Lanes;
};

template <typename T>
PartialStatistics
AddChunk(const CudaImageView &   image,
         size_t                  chunk,
         double                  shift,
         const HistogramRule &   rule,
         std::vector<uint64_t> & histogram)
{
  Lanes        lanes;
  const size_t first = chunk * PixelsOfChunk;
  const size_t last = std::min(first + PixelsOfChunk, image.GetNumberOfPixels());
  NumberedPixels<T>(image).ForEach(first, last, [&](size_t i, double value) {
    lanes.Get(i).Add(value, shift);
    const unsigned int bin = rule.GetBin(value);
    if (bin < rule.Number)
    {
      ++histogram[bin];
    }
  });
  return lanes.AddUp();
}

template <typename T>
CudaImageStatistics
ComputeStatistics(const CudaImageView & image, const CudaHistogramBins & bins, MultiThreaderBase * threader)
{
  const size_t                   count = image.GetNumberOfPixels();
  const double                   shift = GetShift(static_cast<double>(*static_cast<const T *>(image.Data)));
  const HistogramRule            rule(bins);
  std::vector<PartialStatistics> chunks((count + PixelsOfChunk - 1) / PixelsOfChunk);
  std::vector<uint64_t>          histogram(bins.Number);
  std::mutex                     mutex;
  threader->ParallelizeArray(
    0,
    chunks.size(),
    [&](SizeValueType chunk) {
      std::vector<uint64_t> ofChunk(bins.Number);
      chunks[chunk] = AddChunk<T>(image, chunk, shift, rule, ofChunk);
      const std::lock_guard<std::mutex> lock(mutex);
      std::transform(ofChunk.begin(), ofChunk.end(), histogram.begin(), histogram.begin(), std::plus<>());
    },
    nullptr);
  Lanes lanes;
  for (size_t chunk = 0; chunk < chunks.size(); ++chunk)
  {
    lanes.Get(chunk).Merge(chunks[chunk]);
  }
  CudaImageStatistics statistics = MakeStatistics(lanes.AddUp(), count, shift);
  statistics.Histogram = std::move(histogram);
  return statistics;
}
} // namespace
} // namespace itk::cuda::pointwise

namespace itk::CudaDetail
{
CudaImageStatistics
CudaComputeStatisticsOnHost(const CudaImageView & image, const CudaHistogramBins & bins, MultiThreaderBase * threader)
{
  using namespace cuda;
  pointwise::VerifyStatistics(image.GetNumberOfPixels(), image.NumberOfComponents, bins);
  CudaImageStatistics statistics;
  VisitComponentType(image.ComponentType, [&](auto zero) {
    statistics = pointwise::ComputeStatistics<decltype(zero)>(image, bins, threader);
  });
  return statistics;
}
} // end namespace itk::CudaDetail

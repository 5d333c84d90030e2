// SPDX-License-Identifier: Apache-2.0
#include "region/Samples.h"

#include "region/SampleMaker.h"
#include "region/Sums.h"
#include "region/Threads.h"

#include <mutex>

// Makes the samples of an image in host memory on ITK's threads. SampleMaker decides how.

namespace itk::cuda::region
{
namespace
{
constexpr size_t RowsPerPiece = 16;

/** The source of SampleMaker for an image in host memory. The work is done by ITK's threads. */
template <typename TPixel>
class HostSource
{
public:
  using PixelType = TPixel;

  HostSource(const PixelRows<TPixel> & rows, Samples & samples, ScratchMemory & storage, const Threads & threads)
    : m_Rows(rows)
    , m_Samples(samples)
    , m_Storage(storage)
    , m_Threads(threads)
  {}

  template <typename TAllowed>
  ValueSurvey
  Survey(const TAllowed & isAllowed) const
  {
    ValueSurvey result;
    std::mutex  mutex;
    m_Threads.ForRanges(m_Rows.Height, RowsPerPiece, [&](size_t begin, size_t end) {
      ValueSurvey survey;
      for (size_t y = begin; y < end; ++y)
      {
        SurveyRow(m_Rows, y, 0, 1, isAllowed, survey);
      }
      const std::lock_guard<std::mutex> lock(mutex);
      result.Merge(survey);
    });
    return result;
  }

  /** Converts the valid values to samples with `function`. The samples of invalid pixels are 0. */
  template <typename TFunction>
  void
  Copy(const TFunction & function)
  {
    using SampleType = typename TFunction::SampleType;
    m_Storage = ScratchMemory(m_Rows.Width * m_Rows.Height * sizeof(SampleType));
    auto * const samples = static_cast<SampleType *>(m_Storage.GetPointer());
    m_Threads.ForRanges(m_Rows.Height, RowsPerPiece, [&](size_t begin, size_t end) {
      for (size_t y = begin; y < end; ++y)
      {
        const TPixel * row = m_Rows.GetRow(y);
        SampleType *   out = samples + y * m_Rows.Width;
        for (size_t x = 0; x < m_Rows.Width; ++x)
        {
          out[x] = m_Rows.IsValid(x, y) ? function(row[x]) : SampleType{ 0 };
        }
      }
    });
    m_Samples.Data = samples;
    m_Samples.RowStride = static_cast<ptrdiff_t>(m_Rows.Width);
  }

  bool
  UseInPlace()
  {
    if (m_Rows.ValidBits)
    {
      return false;
    }
    m_Samples.Data = m_Rows.Image;
    m_Samples.RowStride = static_cast<ptrdiff_t>(m_Rows.RowStride);
    return true;
  }

private:
  const PixelRows<TPixel> m_Rows;
  Samples &               m_Samples;
  ScratchMemory &         m_Storage;
  const Threads &         m_Threads;
};

void
MakeValidBits(const CudaImageView & mask, Samples & samples, const Threads & threads)
{
  const size_t words = samples.GetMaskWordsPerRow();
  const size_t width = mask.Size[0];
  const size_t height = mask.Size[1];
  samples.ValidBits.reset(new uint16_t[words * height]);
  std::mutex mutex;
  size_t     valid = 0;
  threads.ForRanges(height, RowsPerPiece, [&](size_t begin, size_t end) {
    size_t count = 0;
    for (size_t y = begin; y < end; ++y)
    {
      const auto * row = static_cast<const uint8_t *>(mask.Data) + y * mask.Stride[1];
      for (size_t word = 0; word < words; ++word)
      {
        const uint16_t bits = MakeMaskWord(row, word * 16, width);
        samples.ValidBits[y * words + word] = bits;
        count += static_cast<size_t>(CountBits(bits));
      }
    }
    const std::lock_guard<std::mutex> lock(mutex);
    valid += count;
  });
  samples.NumberOfValidPixels = valid;
}
} // namespace

Samples::Samples(const CudaRegionSnakeInput &      input,
                 const CudaRegionSnakeParameters & parameters,
                 const Threads &                   threads)
  : SamplesDescription(DescribeImage(input.Image.Size[0], input.Image.Size[1]))
{
  if (input.ValidMask != nullptr)
  {
    MakeValidBits(*input.ValidMask, *this, threads);
  }
  VisitPixelType(input.Image.ComponentType, [&](auto pixel) {
    using PixelType = decltype(pixel);
    HostSource<PixelType> source({ static_cast<const PixelType *>(input.Image.Data),
                                   input.Image.Stride[1],
                                   ValidBits.get(),
                                   this->GetMaskWordsPerRow(),
                                   input.Image.Size[0],
                                   input.Image.Size[1] },
                                 *this,
                                 m_Storage,
                                 threads);
    SampleMaker<HostSource<PixelType>>(*this, source, input.FirstIndex, parameters).Make();
  });
}
} // namespace itk::cuda::region

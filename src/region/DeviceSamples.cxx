// SPDX-License-Identifier: Apache-2.0
#include "region/DeviceSamples.h"

#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "region/SampleMaker.h"
#include "region/Sums.h"
#include "runtime/image/Math.h"

// Makes the samples of an image in device memory. SampleMaker decides how, and the kernels are in DeviceSamples.cu.

namespace itk::cuda::region
{
namespace
{
/** The source of SampleMaker for an image in device memory. */
template <typename TPixel>
class DeviceSource
{
public:
  using PixelType = TPixel;

  DeviceSource(const PixelRows<TPixel> & rows, DeviceSamples & samples, const Context & context)
    : m_Rows(rows)
    , m_Samples(samples)
    , m_Context(context)
  {}

  template <typename TAllowed>
  ValueSurvey
  Survey(const TAllowed & isAllowed) const
  {
    return SurveyOnDevice(m_Rows, isAllowed, m_Context);
  }

  template <typename TFunction>
  void
  Copy(const TFunction & function)
  {
    using SampleType = typename TFunction::SampleType;
    const size_t pitch = DeviceSamples::GetPitch(m_Rows.Width);
    m_Samples.DataMemory = DeviceBuffer(pitch * m_Rows.Height * sizeof(SampleType), m_Context);
    auto * const samples = static_cast<SampleType *>(m_Samples.DataMemory.GetPointer());
    ConvertOnDevice(m_Rows, function, samples, pitch, m_Context);
    m_Samples.Data = samples;
    m_Samples.RowStride = static_cast<ptrdiff_t>(pitch);
  }

  bool
  UseInPlace()
  {
    constexpr size_t vector = 8; // samples that kernels load at once, also at the end of a row
    constexpr size_t alignment = sizeof(TPixel) == 1 ? vector : 16;
    const bool       aligned =
      reinterpret_cast<uintptr_t>(m_Rows.Image) % alignment == 0 && m_Rows.RowStride * sizeof(TPixel) % alignment == 0;
    if (m_Rows.ValidBits || !aligned || m_Rows.RowStride < RoundUp(m_Rows.Width, vector))
    {
      return false;
    }
    m_Samples.Data = m_Rows.Image;
    m_Samples.RowStride = static_cast<ptrdiff_t>(m_Rows.RowStride);
    return true;
  }

private:
  const PixelRows<TPixel> m_Rows;
  DeviceSamples &         m_Samples;
  const Context           m_Context;
};
} // namespace

DeviceSamples::DeviceSamples(const DeviceImageInput &          input,
                             const CudaRegionSnakeParameters & parameters,
                             const Context &                   context)
  : SamplesDescription(DescribeImage(input.Image.Size[0], input.Image.Size[1]))
{
  // A stream of the module, which exists as long as the memory that is allocated on it. The caller may destroy the
  // context's stream earlier.
  const StreamLease stream(context.GetDevice());
  Event             ready;
  ready.Record(context);
  ready.MakeWait(stream);
  if (input.ValidMask != nullptr)
  {
    const size_t words = this->GetMaskWordsPerRow();
    BitsMemory = DeviceBuffer(words * input.Image.Size[1] * sizeof(uint16_t), stream);
    auto * const bits = static_cast<uint16_t *>(BitsMemory.GetPointer());
    NumberOfValidPixels = MakeValidBitsOnDevice(*input.ValidMask, bits, words, stream);
    ValidBits = bits;
  }
  VisitPixelType(input.Image.ComponentType, [&](auto pixel) {
    using PixelType = decltype(pixel);
    DeviceSource<PixelType> source({ static_cast<const PixelType *>(input.Image.Data),
                                     input.Image.Stride[1],
                                     ValidBits,
                                     this->GetMaskWordsPerRow(),
                                     input.Image.Size[0],
                                     input.Image.Size[1] },
                                   *this,
                                   stream);
    SampleMaker<DeviceSource<PixelType>>(*this, source, input.FirstIndex, parameters).Make();
  });
  stream.Synchronize();
}

size_t
DeviceSamples::GetPitch(size_t width)
{
  return RoundUp(width, CheckpointSpacing);
}
} // namespace itk::cuda::region

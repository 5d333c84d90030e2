// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFakeDeviceMemory_h
#define itkCudaFakeDeviceMemory_h

#include "itkCudaDeviceImage.h"
#include "runtime/image/Views.h"

#include <memory>

namespace itk::cuda::test
{
/** Imitates the memory of a device that no machine has, so that images can be tested without a GPU. */
class FakeDeviceMemory : public CudaDeviceImageMemory
{
public:
  static constexpr int Device = 4711;

  explicit FakeDeviceMemory(size_t bytes)
    : CudaDeviceImageMemory(new unsigned char[bytes], bytes, Device)
  {}
  ~FakeDeviceMemory() override { delete[] static_cast<unsigned char *>(this->GetPointer()); }

  bool
  IsPrivate() const override
  {
    return true;
  }
  void
  Wait(StreamType) const override
  {}
  void
  WaitToWrite(StreamType) const override
  {}
  void
  MarkRead(StreamType) const noexcept override
  {}
  void
  MarkWritten(StreamType) noexcept override
  {}
  void
  Publish(StreamType) override
  {}
  void
  Synchronize() const override
  {
    ++Waits;
  }

  mutable int Waits{ 0 };
};

/** Returns a view of the image's buffered region in fake memory, with rows `pitch` elements apart. */
template <typename TImage>
CudaDeviceImageView
MakeFakeView(const TImage * image, size_t pitch)
{
  CudaDeviceImageView view;
  view.ComponentType = TImage::DeviceComponentType;
  view.Size.back() = image->GetNumberOfComponentsPerPixel();
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    view.Size[d] = image->GetBufferedRegion().GetSize(d);
  }
  view.Stride[1] = pitch;
  view = PackFrom(view, 2);
  const size_t elements = view.Size.back() * view.Stride.back();
  view.Memory = std::make_shared<FakeDeviceMemory>(elements * CudaComponentSize(view.ComponentType));
  return view;
}
} // namespace itk::cuda::test

#endif

// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailDeviceImageView.h"
#include "itkCudaDetailArrayDevice.h"

#include "itkCudaCall.h"
#include "itkCudaDeviceGuard.h"
#include "itkCudaDeviceProperties.h"
#include "itkCudaDeviceView.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaThreadStream.h"

namespace itk::CudaDetail
{
CudaDeviceImageView
CudaAllocateDeviceImage(const std::array<size_t, CudaDeviceImageView::NumberOfAxes> & size,
                        CudaComponentType                                             type,
                        int                                                           device,
                        bool                                                          initialize)
{
  CudaDeviceImageView image;
  image.Memory = CudaDeviceImageMemory::Allocate(cuda::DeviceImage::GetNumberOfBytes(size, type), device);
  image.ComponentType = type;
  image.Size = size;
  image.Stride[1] = cuda::DeviceImage::GetRowPitch(size[0], type) / CudaComponentSize(type);
  for (unsigned int axis = 2; axis < CudaDeviceImageView::NumberOfAxes; ++axis)
  {
    image.Stride[axis] = image.Stride[axis - 1] * size[axis - 1];
  }

  const cuda::Context home = cuda::GetThreadContext(device); // where the memory was allocated
  if (!initialize)
  {
    ClearPadding({ image.GetPointer(), type, image.Size, image.Stride }, home);
  }
  else if (image.Memory->GetSize() > 0)
  {
    const cuda::DeviceGuard guard(device);
    ITK_CUDA_CALL(cudaMemsetAsync(image.GetPointer(), 0, image.Memory->GetSize(), home.GetStream()));
  }
  return image;
}

int
CudaFindDeviceOfMemory(const void * data)
{
  if (!cuda::FindUsedDevice())
  {
    cuda::RequireUsableDevice(CudaFiltersConfiguration::GetDeviceIndex()); // throws with the reason
  }
  cudaPointerAttributes attributes{};
  ITK_CUDA_CALL(cudaPointerGetAttributes(&attributes, data));
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
  {
    cuda::ThrowNotUsable("the memory of the array is none of a GPU", __FILE__, __LINE__);
  }
  return attributes.device;
}
} // end namespace itk::CudaDetail

// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeDeviceImage_h
#define itkCudaSnakeDeviceImage_h

#include "CudaFiltersExport.h"
#include "itkCudaContext.h"
#include "itkCudaRegionDeviceSums.h"
#include "itkCudaSnakeImage.h"

namespace itk::cuda::snake
{
/** \class DeviceSnakeImage
 * \brief A SnakeImage on a device.
 *
 * It belongs to no thread, context or stream. Any threads may run on it, and any thread may destroy it.
 */
class CudaFilters_EXPORT DeviceSnakeImage : public SnakeImage
{
public:
  /** Made of an image and a mask in host memory, which are not needed after it has returned. The sums of rows that have
   * arrived are made while other rows are uploaded. `threads` check and convert the image. \param parameters NoiseLaw,
   * NumberOfLooks, ForegroundThreshold; and Schedule: whole images are best run with it \exception ExceptionObject as
   * MakeSamples() \exception CudaError */
  DeviceSnakeImage(const CudaRegionSnakeInput &      input,
                   const CudaRegionSnakeParameters & parameters,
                   const Threads &                   threads,
                   int                               device);

  /** Made of samples in host memory. \exception CudaError */
  DeviceSnakeImage(const Samples & samples, const CudaRegionSnakeParameters & parameters, int device);

  /** Made of an image and a mask in device memory, on the device. Samples, sums and exceptions are the same as from
   * host memory, bit for bit. The image and the mask are read after all work queued on the context's stream, and the
   * constructor returns when that is done. An image that is used in place (DeviceSamples, IsInPlace()) must not change
   * as long as this object lives. \exception ExceptionObject as MakeSamples() \exception CudaError */
  DeviceSnakeImage(const DeviceImageInput &          input,
                   const CudaRegionSnakeParameters & parameters,
                   const Context &                   context);

  /** Whether runs read the image in device memory that this one was made of. */
  bool
  IsInPlace() const
  {
    return m_InPlace;
  }

  const DeviceSums &
  GetSums() const
  {
    return m_Sums;
  }

private:
  DeviceSnakeImage(DeviceSamples && samples, const CudaRegionSnakeParameters & parameters, int device);

  const bool       m_InPlace{ false };
  const DeviceSums m_Sums;
};
} // namespace itk::cuda::snake

#endif

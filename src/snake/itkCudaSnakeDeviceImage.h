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
 * It belongs to no thread, context or stream: runs may be under way on streams of any threads, and whoever destroys it
 * may be another one.
 */
class CudaFilters_EXPORT DeviceSnakeImage : public SnakeImage
{
public:
  /** Of an image and a mask in host memory, neither of which is needed any more when it returns. The sums of the rows
   * that have arrived are made while others are uploaded. `threads` check and convert the image. \param parameters
   * NoiseLaw, NumberOfLooks, ForegroundThreshold; and Schedule: whole images are best run with it \exception
   * ExceptionObject as MakeSamples() \exception CudaError */
  DeviceSnakeImage(const CudaRegionSnakeInput &      input,
                   const CudaRegionSnakeParameters & parameters,
                   const Threads &                   threads,
                   int                               device);

  /** Of samples in host memory. \exception CudaError */
  DeviceSnakeImage(const Samples & samples, const CudaRegionSnakeParameters & parameters, int device);

  /** Of an image and a mask in device memory, prepared there: the same samples, sums and exceptions as from host
   * memory, bit for bit. They are read after all work that the context's stream has got; when the constructor returns,
   * that is done. An image that is used in place (DeviceSamples) must not change as long as this object lives;
   * IsInPlace() tells. \exception ExceptionObject as MakeSamples() \exception CudaError */
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

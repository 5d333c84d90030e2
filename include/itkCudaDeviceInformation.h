// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceInformation_h
#define itkCudaDeviceInformation_h

#include <cstddef>
#include <string>

namespace itk
{
/** \struct CudaDeviceInformation
 * \brief Properties of one GPU, and whether it can be used.
 * \ingroup CudaFilters
 */
struct CudaDeviceInformation
{
  int         Index{ 0 };             // as in SetDeviceIndex()
  std::string Name;                   // the driver's name of the GPU
  int         ComputeCapability{ 0 }; // 10 * major + minor
  size_t      TotalMemory{ 0 };       // bytes
  size_t      FreeMemory{ 0 };        // bytes, at the time of the call; 0 if this process has not used the device
  bool        Usable{ false };        // whether filters can run on it
  std::string Reason;                 // why the device is not usable; empty if it is
};
} // end namespace itk

#endif

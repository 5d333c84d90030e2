// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailFilterBackend_h
#define itkCudaDetailFilterBackend_h

#include "CudaFiltersExport.h"
#include "itkCudaError.h"
#include "itkCudaFiltersEnums.h"
#include "itkIndent.h"

#include <cstddef>
#include <ostream>
#include <string>

namespace itk::CudaDetail
{
/** Which backend a filter asks for, which it used, and the decision between them. */
class CudaFilters_EXPORT CudaFilterBackend
{
public:
  using BackendEnum = CudaFiltersEnums::Backend;

  BackendEnum Requested{ BackendEnum::Automatic };
  int         DeviceIndex{ -1 };
  BackendEnum Used{ BackendEnum::Automatic }; // Automatic: no run yet
  std::string Reason{ "not run yet" };

  /** Whether in the last run the pixels of images of the host stayed on the device (itkCudaDetailKeepOnDevice.h). */
  bool TookInput{ false };
  bool KeptOutput{ false };

  /** Whether a program asked for ITK's class and got the filter from the object factory. */
  bool IsOverride{ false };
  /** Why the next run is expected to be faster on the host, which Automatic then takes; empty if the GPU is. */
  std::string HostPreference;

  /** Decides where the run that begins now is done, sets Used and Reason, and returns true for the GPU.
   * \param unsupported why the GPU cannot do it (types, dimension); nullptr if it can
   * \param workingSetBytes device memory needed
   * \exception CudaError if the backend asked for is Cuda and the GPU cannot be used */
  bool
  SelectDevice(const char * unsupported, size_t workingSetBytes);

  /** The device that SelectDevice() chose. */
  int
  GetSelectedDeviceIndex() const
  {
    return m_SelectedDeviceIndex;
  }

  /** To be called after an error of the device. If its memory ran out and the GPU was not demanded, it sets the host as
   * the backend used and returns true. Otherwise it returns false, and the caller throws the error again. */
  bool
  FallBackToHost(const CudaError & error);

  /** Calls device(deviceIndex) or host(), as SelectDevice() decides. If the device runs out of memory and the GPU was
   * not demanded, host() is called after it. */
  template <typename TDevice, typename THost>
  void
  Run(const char * unsupported, size_t workingSetBytes, const TDevice & device, const THost & host)
  {
    bool onHost = !this->SelectDevice(unsupported, workingSetBytes);
    if (!onHost)
    {
      try
      {
        device(m_SelectedDeviceIndex);
      }
      catch (const CudaError & error)
      {
        onHost = this->FallBackToHost(error);
        if (!onHost)
        {
          throw;
        }
      }
    }
    if (onHost)
    {
      host();
    }
  }

  void
  Print(std::ostream & os, Indent indent) const;

private:
  int m_SelectedDeviceIndex{ 0 };
};
} // end namespace itk::CudaDetail

/** The methods that every filter of the module has, and the member `m_CudaBackend` behind them. The class that derives
 * from ITK's declares them itself, because Python sees only methods of wrapped classes. */
#define itkCudaFilterBackendMacro()                                                                                   \
  void SetBackend(itk::CudaFiltersEnums::Backend backend)                                                             \
  {                                                                                                                   \
    if (m_CudaBackend.Requested != backend)                                                                           \
    {                                                                                                                 \
      m_CudaBackend.Requested = backend;                                                                              \
      this->Modified();                                                                                               \
    }                                                                                                                 \
  }                                                                                                                   \
  void SetBackend(const std::string & name)                                                                           \
  {                                                                                                                   \
    this->SetBackend(itk::CudaBackendFromString(name));                                                               \
  }                                                                                                                   \
  itk::CudaFiltersEnums::Backend GetBackend() const                                                                   \
  {                                                                                                                   \
    return m_CudaBackend.Requested;                                                                                   \
  }                                                                                                                   \
  void SetDeviceIndex(int index)                                                                                      \
  {                                                                                                                   \
    if (index < -1)                                                                                                   \
    {                                                                                                                 \
      itkExceptionMacro("DeviceIndex is " << index << "; it must be a device's index or -1 for the configuration's"); \
    }                                                                                                                 \
    if (m_CudaBackend.DeviceIndex != index)                                                                           \
    {                                                                                                                 \
      m_CudaBackend.DeviceIndex = index;                                                                              \
      this->Modified();                                                                                               \
    }                                                                                                                 \
  }                                                                                                                   \
  int GetDeviceIndex() const                                                                                          \
  {                                                                                                                   \
    return m_CudaBackend.DeviceIndex;                                                                                 \
  }                                                                                                                   \
  itk::CudaFiltersEnums::Backend GetBackendUsed() const                                                               \
  {                                                                                                                   \
    return m_CudaBackend.Used;                                                                                        \
  }                                                                                                                   \
  std::string GetBackendReason() const                                                                                \
  {                                                                                                                   \
    return m_CudaBackend.Reason;                                                                                      \
  }                                                                                                                   \
                                                                                                                      \
private:                                                                                                              \
  itk::CudaDetail::CudaFilterBackend m_CudaBackend;                                                                   \
                                                                                                                      \
public:                                                                                                               \
  static_assert(true, "")

#endif

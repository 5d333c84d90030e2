// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailFilterBackend_h
#define itkCudaDetailFilterBackend_h

#include "CudaFiltersExport.h"
#include "itkCudaError.h"
#include "itkCudaFiltersEnums.h"
#include "itkCudaSlabs.h"
#include "itkIndent.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

namespace itk::CudaDetail
{
/** Which backend a filter asks for, which it used, and the decision between them. */
class CudaFilters_EXPORT CudaFilterBackend
{
public:
  using BackendEnum = CudaFiltersEnums::Backend;
  using StreamingEnum = CudaFiltersEnums::Streaming;

  BackendEnum Requested{ BackendEnum::Automatic };
  int         DeviceIndex{ -1 };
  BackendEnum Used{ BackendEnum::Automatic }; // Automatic: no run yet
  std::string Reason{ "not run yet" };

  StreamingEnum  Streaming{ StreamingEnum::Automatic }; // Automatic: the configuration's
  size_t         DeviceMemoryLimit{ 0 };                // bytes; 0: the configuration's
  CudaSlabReport SlabReport;                            // of the last run

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
   * \param canCut whether the GPU can do it in slabs. RunsInSlabs() then tells whether it is to.
   * \exception CudaError if the backend asked for is Cuda and the GPU cannot be used */
  bool
  SelectDevice(const char * unsupported, size_t workingSetBytes, bool canCut = false);

  /** The device that SelectDevice() chose. */
  int
  GetSelectedDeviceIndex() const
  {
    return m_SelectedDeviceIndex;
  }

  /** Whether SelectDevice() chose slabs: the image does not fit, or Streaming is On. */
  bool
  RunsInSlabs() const
  {
    return m_RunsInSlabs;
  }

  /** Bytes of device memory that the run may take: what is needed or, in slabs, what may be had. */
  size_t
  GetWorkingSet() const
  {
    return m_WorkingSet;
  }

  /** Bytes of device memory that were available when SelectDevice() looked, if no other run held any. */
  std::optional<size_t>
  GetIdleMemory() const
  {
    return m_IdleMemory;
  }

  /** The filter's value, or the configuration's. */
  StreamingEnum
  GetStreaming() const;

  /** The lesser of the filter's limit and the configuration's; 0: none. */
  size_t
  GetDeviceMemoryLimit() const;

  /** Options for a run in slabs where SelectDevice() has decided. */
  CudaSlabOptions
  MakeSlabOptions(MultiThreaderBase * threader) const;

  /** Notes a run that did not cut its image. */
  void
  ReportWholeRun(size_t bytesUp, size_t bytesDown);

  /** To be called after an error of the device. If its memory ran out and the GPU was not demanded, it sets the host as
   * the backend used and returns true. Otherwise it returns false, and the caller throws the error again. */
  bool
  FallBackToHost(const CudaError & error);

  /** Calls device(deviceIndex) or host(), as SelectDevice() decides. If the device runs out of memory and the GPU was
   * not demanded, host() is called after it. `progress` is called while the run waits for memory. */
  template <typename TDevice, typename THost>
  void
  Run(const char *                       unsupported,
      size_t                             workingSetBytes,
      const std::function<void(float)> & progress,
      const TDevice &                    device,
      const THost &                      host);

  void
  Print(std::ostream & os, Indent indent) const;

  /** What itkCudaFilterStreamingMacro() adds. */
  void
  PrintStreaming(std::ostream & os, Indent indent) const;

private:
  int                   m_SelectedDeviceIndex{ 0 };
  bool                  m_RunsInSlabs{ false };
  size_t                m_WorkingSet{ 0 };
  std::optional<size_t> m_IdleMemory;
};

/** The device memory of a run, from before its first allocation to its end. If other runs of the process hold it, it
 * waits for them (runtime/memory/MemoryGate.h), and calls `progress` meanwhile, which may throw. */
class CudaFilters_EXPORT CudaMemoryReservation
{
public:
  CudaMemoryReservation(const CudaFilterBackend & backend, const std::function<void(float)> & progress);

  CudaMemoryReservation(const CudaMemoryReservation &) = delete;
  CudaMemoryReservation &
  operator=(const CudaMemoryReservation &) = delete;

private:
  std::shared_ptr<const void> m_Reservation;
};

template <typename TDevice, typename THost>
void
CudaFilterBackend::Run(const char *                       unsupported,
                       size_t                             workingSetBytes,
                       const std::function<void(float)> & progress,
                       const TDevice &                    device,
                       const THost &                      host)
{
  bool onHost = !this->SelectDevice(unsupported, workingSetBytes);
  if (!onHost)
  {
    try
    {
      const CudaMemoryReservation reservation(*this, progress);
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
  void SetDeviceMemoryLimit(size_t bytes)                                                                             \
  {                                                                                                                   \
    if (m_CudaBackend.DeviceMemoryLimit != bytes)                                                                     \
    {                                                                                                                 \
      m_CudaBackend.DeviceMemoryLimit = bytes;                                                                        \
      this->Modified();                                                                                               \
    }                                                                                                                 \
  }                                                                                                                   \
  size_t GetDeviceMemoryLimit() const                                                                                 \
  {                                                                                                                   \
    return m_CudaBackend.DeviceMemoryLimit;                                                                           \
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

/** What the filters have beside that which can run in slabs, after itkCudaFilterBackendMacro(). */
#define itkCudaFilterStreamingMacro()                           \
  void SetStreaming(itk::CudaFiltersEnums::Streaming streaming) \
  {                                                             \
    if (m_CudaBackend.Streaming != streaming)                   \
    {                                                           \
      m_CudaBackend.Streaming = streaming;                      \
      this->Modified();                                         \
    }                                                           \
  }                                                             \
  void SetStreaming(const std::string & name)                   \
  {                                                             \
    this->SetStreaming(itk::CudaStreamingFromString(name));     \
  }                                                             \
  itk::CudaFiltersEnums::Streaming GetStreaming() const         \
  {                                                             \
    return m_CudaBackend.Streaming;                             \
  }                                                             \
  const itk::CudaSlabReport & GetSlabReport() const             \
  {                                                             \
    return m_CudaBackend.SlabReport;                            \
  }                                                             \
  static_assert(true, "")

#endif

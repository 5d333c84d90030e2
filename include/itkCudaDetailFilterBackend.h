// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
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
#include <vector>

namespace itk::cuda
{
class MemoryReservation;
}

namespace itk::CudaDetail
{
/** The backend that a filter requests, the backend that it used, and the decision between them. */
class CudaFilters_EXPORT CudaFilterBackend
{
public:
  using BackendEnum = CudaFiltersEnums::Backend;
  using StreamingEnum = CudaFiltersEnums::Streaming;

  BackendEnum Requested{ BackendEnum::Automatic };
  int         DeviceIndex{ -1 };
  /** The devices to which slabs are dealt; empty: DeviceIndex, or the configuration's devices if that is -1. */
  std::vector<int> Devices;
  BackendEnum      Used{ BackendEnum::Automatic }; // Automatic: no run yet
  std::string      Reason{ "not run yet" };

  StreamingEnum  Streaming{ StreamingEnum::Automatic }; // Automatic: the configuration's value
  size_t         DeviceMemoryLimit{ 0 };                // bytes; 0: the configuration's limit
  CudaSlabReport SlabReport;                            // of the last run

  /** Whether the input and the output of the last run were kept on the device (itkCudaDetailKeepOnDevice.h). */
  bool TookInputOnDevice{ false };
  bool KeptOutputOnDevice{ false };

  /** Whether the object factory created the filter for a program that asked for ITK's class. */
  bool IsOverride{ false };
  /** Why the next run is expected to be faster on the host, so that Automatic selects the host; empty if the GPU is
   * faster. */
  std::string HostPreference;

  /** Decides where the next run is computed, and sets Used and Reason. Returns true for the GPU.
   * \param unsupported why the GPU does not support the run (types, dimension), or nullptr if it does
   * \param workingSetBytes device memory needed
   * \param canCut whether the GPU can run in slabs; RunsInSlabs() then returns whether it should
   * \exception CudaError if the requested backend is Cuda and the GPU cannot be used */
  bool
  SelectDevice(const char * unsupported, size_t workingSetBytes, bool canCut = false);

  /** Returns the device that SelectDevice() chose. */
  int
  GetSelectedDeviceIndex() const
  {
    return m_SelectedDeviceIndex;
  }

  /** Returns the devices that the slabs of the next run are dealt to. The first one is that of GetSelectedDeviceIndex()
   * unless SelectDevice() has chosen the device of an image. */
  const std::vector<int> &
  GetSelectedDevices() const
  {
    return m_SelectedDevices;
  }

  /** Returns whether SelectDevice() chose slabs, because the image does not fit or Streaming is On. */
  bool
  RunsInSlabs() const
  {
    return m_RunsInSlabs;
  }

  /** Returns the bytes of device memory that the run may use: its working set, or in slabs all memory that may become
   * available on each of its devices. */
  size_t
  GetWorkingSet() const
  {
    return m_WorkingSet;
  }

  /** Returns the bytes of device memory that were available when SelectDevice() asked the driver, if no other run held
   * any. */
  std::optional<size_t>
  GetIdleMemory() const
  {
    return m_IdleMemory;
  }

  /** Returns the filter's value of Streaming, or the configuration's value if the filter's is Automatic. */
  StreamingEnum
  GetStreaming() const;

  /** Returns the smaller of the filter's and the configuration's limit; 0 means no limit. */
  size_t
  GetDeviceMemoryLimit() const;

  /** Returns the options of a run in slabs on the backend that SelectDevice() chose. */
  CudaSlabOptions
  MakeSlabOptions(MultiThreaderBase * threader) const;

  /** Sets the report of a run that did not cut its image. */
  void
  ReportWholeRun(size_t bytesUp, size_t bytesDown);

  /** Decides whether the host continues after an error of the device. If the device's memory ran out and the requested
   * backend is not Cuda, it sets the host as the used backend and returns true. Otherwise it returns false, and the
   * caller must rethrow the error. */
  bool
  FallBackToHost(const CudaError & error);

  /** Calls run() after waiting for memory that other runs will release; `progress` is called meanwhile. Returns false
   * if the device ran out of memory and FallBackToHost() says that the host continues. */
  bool
  TryOnDevice(const std::function<void()> & run, const std::function<void(float)> & progress);

  /** Calls device(deviceIndex) or host(), as SelectDevice() decides. If the device runs out of memory and the requested
   * backend is not Cuda, host() is called afterwards. `progress` is called while the run waits for memory. \param
   * canCut as of SelectDevice() */
  template <typename TDevice, typename THost>
  void
  Run(const char *                       unsupported,
      size_t                             workingSetBytes,
      const std::function<void(float)> & progress,
      const TDevice &                    device,
      const THost &                      host,
      bool                               canCut = false);

  void
  Print(std::ostream & os, Indent indent) const;

  /** Prints the members that itkCudaFilterStreamingMacro() adds. */
  void
  PrintStreaming(std::ostream & os, Indent indent) const;

  /** Prints the member that itkCudaFilterDevicesMacro() adds. */
  void
  PrintDevices(std::ostream & os, Indent indent) const;

private:
  int                   m_SelectedDeviceIndex{ 0 };
  std::vector<int>      m_SelectedDevices{ 0 };
  bool                  m_RunsInSlabs{ false };
  size_t                m_WorkingSet{ 0 };
  std::optional<size_t> m_IdleMemory;
};

/** Reserves the device memory of a run, from before its first allocation until the object is destroyed. If other runs
 * of the process hold the memory, the function waits for them (MemoryGate.h) and calls `progress` meanwhile, which may
 * throw. */
CudaFilters_EXPORT std::shared_ptr<cuda::MemoryReservation>
                   CudaReserveMemory(const CudaFilterBackend & backend, const std::function<void(float)> & progress);

/** Verifies the devices of a parameter. \exception ExceptionObject if an index is negative */
CudaFilters_EXPORT void
CudaVerifyDevices(const std::vector<int> & devices, const char * parameter);

template <typename TDevice, typename THost>
void
CudaFilterBackend::Run(const char *                       unsupported,
                       size_t                             workingSetBytes,
                       const std::function<void(float)> & progress,
                       const TDevice &                    device,
                       const THost &                      host,
                       bool                               canCut)
{
  if (!this->SelectDevice(unsupported, workingSetBytes, canCut) ||
      !this->TryOnDevice([&] { device(m_SelectedDeviceIndex); }, progress))
  {
    host();
  }
}

/** Sets a parameter and calls the filter's Modified() unless the parameter has that value already. Two NaNs are equal.
 */
template <typename TFilter, typename TValue>
void
CudaSetParameter(TFilter & filter, TValue & parameter, const TValue & value)
{
  const bool areNaN = parameter != parameter && value != value;
  if (parameter != value && !areNaN)
  {
    parameter = value;
    filter.Modified();
  }
}
/** Prints the parameters of the noise that the filters of regions have in common. */
template <typename TParameters>
void
CudaPrintNoise(const TParameters & parameters, std::ostream & os, Indent indent)
{
  os << indent << "NoiseLaw: ";
  (parameters.NoiseLaw ? os << *parameters.NoiseLaw : os << "(not set)") << std::endl;
  os << indent << "NumberOfLooks: " << parameters.NumberOfLooks << std::endl;
  os << indent << "ForegroundThreshold: " << parameters.ForegroundThreshold << std::endl;
}
} // end namespace itk::CudaDetail

/** Declares the methods that every filter of the module has, and their member `m_CudaBackend`. Each class that derives
 * from ITK's uses the macro itself, because Python sees only methods of wrapped classes. */
#define itkCudaFilterBackendMacro()                                                                                   \
  /** Sets where the filter runs: Automatic (default), Cuda or Host. */                                               \
  void SetBackend(itk::CudaFiltersEnums::Backend backend)                                                             \
  {                                                                                                                   \
    if (m_CudaBackend.Requested != backend)                                                                           \
    {                                                                                                                 \
      m_CudaBackend.Requested = backend;                                                                              \
      this->Modified();                                                                                               \
    }                                                                                                                 \
  }                                                                                                                   \
  /** Sets where the filter runs by name: automatic, cuda or host. */                                                 \
  void SetBackend(const std::string & name)                                                                           \
  {                                                                                                                   \
    this->SetBackend(itk::CudaBackendFromString(name));                                                               \
  }                                                                                                                   \
  /** Returns where the filter shall run. */                                                                          \
  itk::CudaFiltersEnums::Backend GetBackend() const                                                                   \
  {                                                                                                                   \
    return m_CudaBackend.Requested;                                                                                   \
  }                                                                                                                   \
  /** Sets the index of the GPU; -1 (default) stands for the device of                                                \
   * CudaFiltersConfiguration. \exception ExceptionObject if it is less than -1 */                                    \
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
  /** Returns the index of the GPU, or -1. */                                                                         \
  int GetDeviceIndex() const                                                                                          \
  {                                                                                                                   \
    return m_CudaBackend.DeviceIndex;                                                                                 \
  }                                                                                                                   \
  /** Sets how much of the GPU's memory the filter may take, in bytes; 0 (default) stands for                         \
   * the limit of CudaFiltersConfiguration. */                                                                        \
  void SetDeviceMemoryLimit(size_t bytes)                                                                             \
  {                                                                                                                   \
    if (m_CudaBackend.DeviceMemoryLimit != bytes)                                                                     \
    {                                                                                                                 \
      m_CudaBackend.DeviceMemoryLimit = bytes;                                                                        \
      this->Modified();                                                                                               \
    }                                                                                                                 \
  }                                                                                                                   \
  /** Returns how much of the GPU's memory the filter may take, in bytes, or 0. */                                    \
  size_t GetDeviceMemoryLimit() const                                                                                 \
  {                                                                                                                   \
    return m_CudaBackend.DeviceMemoryLimit;                                                                           \
  }                                                                                                                   \
  /** Returns where the last run was computed: Cuda or Host; Automatic if there was none. */                          \
  itk::CudaFiltersEnums::Backend GetBackendUsed() const                                                               \
  {                                                                                                                   \
    return m_CudaBackend.Used;                                                                                        \
  }                                                                                                                   \
  /** Returns the name of the GPU that computed the last run, or why none did. */                                     \
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

/** Declares the additional methods of filters that deal parts of their image to several GPUs. It must follow
 * itkCudaFilterBackendMacro(). */
#define itkCudaFilterDevicesMacro()                                                                       \
  /** Sets the indices of the GPUs to which the filter deals the parts of an image that it cuts, in turn. \
   * The first one runs what is not cut. If the list is empty, which is the default, DeviceIndex          \
   * says the GPU, or CudaFiltersConfiguration the GPUs if that is -1.                                    \
   * \exception ExceptionObject if an index is negative */                                                \
  void SetDevices(const std::vector<int> & devices)                                                       \
  {                                                                                                       \
    itk::CudaDetail::CudaVerifyDevices(devices, "Devices");                                               \
    itk::CudaDetail::CudaSetParameter(*this, m_CudaBackend.Devices, devices);                             \
  }                                                                                                       \
  /** Returns the indices of the GPUs to which the filter deals parts, or an empty list. */               \
  const std::vector<int> & GetDevices() const                                                             \
  {                                                                                                       \
    return m_CudaBackend.Devices;                                                                         \
  }                                                                                                       \
  static_assert(true, "")

/** Declares the additional methods of filters that can run in slabs. It must follow itkCudaFilterBackendMacro(). */
#define itkCudaFilterStreamingMacro()                                                     \
  itkCudaFilterDevicesMacro();                                                            \
  /** Sets whether the filter cuts its image into slabs along the last axis: Automatic    \
   * (default), On or Off. */                                                             \
  void SetStreaming(itk::CudaFiltersEnums::Streaming streaming)                           \
  {                                                                                       \
    if (m_CudaBackend.Streaming != streaming)                                             \
    {                                                                                     \
      m_CudaBackend.Streaming = streaming;                                                \
      this->Modified();                                                                   \
    }                                                                                     \
  }                                                                                       \
  /** Sets by name whether the filter cuts its image into slabs: automatic, on or off. */ \
  void SetStreaming(const std::string & name)                                             \
  {                                                                                       \
    this->SetStreaming(itk::CudaStreamingFromString(name));                               \
  }                                                                                       \
  /** Returns whether the filter shall cut its image into slabs. */                       \
  itk::CudaFiltersEnums::Streaming GetStreaming() const                                   \
  {                                                                                       \
    return m_CudaBackend.Streaming;                                                       \
  }                                                                                       \
  /** Returns how the last run was divided into slabs. */                                 \
  const itk::CudaSlabReport & GetSlabReport() const                                       \
  {                                                                                       \
    return m_CudaBackend.SlabReport;                                                      \
  }                                                                                       \
  static_assert(true, "")

/** Declares the setter and the getter of a filter's parameter in its struct m_Parameters, as itkSetMacro() and
 * itkGetConstMacro() do for members. */
#define itkSetGetCudaParameterMacro(name, type)                         \
  void Set##name(type value)                                            \
  {                                                                     \
    itk::CudaDetail::CudaSetParameter(*this, m_Parameters.name, value); \
  }                                                                     \
  type Get##name() const                                                \
  {                                                                     \
    return m_Parameters.name;                                           \
  }                                                                     \
  static_assert(true, "")

/** Declares the setter of an enumeration also for names, which Cuda<name>FromString() converts. */
#define itkSetGetCudaNamedParameterMacro(name, type)    \
  void Set##name(const std::string & text)              \
  {                                                     \
    this->Set##name(itk::Cuda##name##FromString(text)); \
  }                                                     \
  itkSetGetCudaParameterMacro(name, type)

/** Declares the setter and the getter of a member that is an enumeration, as itkSetEnumMacro() and itkGetEnumMacro()
 * do, and the setter for names, which Cuda<parameter>FromString() converts. */
#define itkSetGetCudaEnumMacro(parameter, type)                   \
  itkSetEnumMacro(parameter, type);                               \
  itkGetEnumMacro(parameter, type);                               \
  void Set##parameter(const std::string & name)                   \
  {                                                               \
    this->Set##parameter(itk::Cuda##parameter##FromString(name)); \
  }                                                               \
  static_assert(true, "")

/** Declares the methods of the noise law, which has no default. GetNoiseLaw() throws an ExceptionObject until a law is
 * set. */
#define itkSetGetCudaNoiseLawMacro()                                                              \
  void SetNoiseLaw(NoiseLawEnum law)                                                              \
  {                                                                                               \
    itk::CudaDetail::CudaSetParameter(*this, m_Parameters.NoiseLaw, std::optional(law));          \
  }                                                                                               \
  void SetNoiseLaw(const std::string & text)                                                      \
  {                                                                                               \
    this->SetNoiseLaw(itk::CudaNoiseLawFromString(text));                                         \
  }                                                                                               \
  NoiseLawEnum GetNoiseLaw() const                                                                \
  {                                                                                               \
    if (!m_Parameters.NoiseLaw)                                                                   \
    {                                                                                             \
      itkExceptionMacro("NoiseLaw is not set; SetNoiseLaw() takes " << itk::CudaNoiseLawNames()); \
    }                                                                                             \
    return *m_Parameters.NoiseLaw;                                                                \
  }                                                                                               \
  static_assert(true, "")

#endif

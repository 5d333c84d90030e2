// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailKeepOnDevice.h"

#include "itkCudaDetailWorkScope.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkEventObject.h"

#include <algorithm>

// Implements CudaUpdateScope, which decides whether a filter's result is kept on the device for the next filter.

namespace itk::CudaDetail
{
namespace
{
using BackendEnum = CudaFilterBackend::BackendEnum;

thread_local CudaUpdateScope * innermost = nullptr;

/** Counts the inputs or outputs that are set. */
ProcessObject::DataObjectPointerArraySizeType
CountSet(const ProcessObject::DataObjectPointerArray & objects)
{
  return std::count_if(objects.begin(), objects.end(), [](const auto & object) { return object.IsNotNull(); });
}

/** Returns whether the requested backend is the host, or Automatic within a CudaHostScope. */
bool
RunsOnHost(const CudaFilterBackend & backend)
{
  const bool        own = backend.Requested != BackendEnum::Automatic;
  const BackendEnum requested = own ? backend.Requested : CudaFiltersConfiguration::GetBackend();
  return requested == BackendEnum::Host || (requested == BackendEnum::Automatic && CudaHostScope::IsActive());
}

/** Returns whether the filter may keep its input on the device, as the constructor of CudaUpdateScope describes. */
bool
IsKeepable(ProcessObject & filter, const DataObject * input, const CudaFilterBackend & backend)
{
  return input && CudaFiltersConfiguration::GetKeepOnDevice() && CountSet(filter.GetInputs()) == 1 &&
         !RunsOnHost(backend);
}

/** Returns whether an observer would be called while the filter produces the output, because it could look at the
 * output's pixels. An observer of an event class is also called for derived events, and HasObserver() takes this into
 * account. */
bool
IsObserved(const ProcessObject & filter, const DataObject & output)
{
  return filter.HasObserver(StartEvent()) || filter.HasObserver(ProgressEvent()) ||
         filter.HasObserver(IterationEvent()) || filter.HasObserver(EndEvent()) || filter.HasObserver(AbortEvent()) ||
         filter.HasObserver(ModifiedEvent()) || output.HasObserver(ModifiedEvent());
}
} // namespace

CudaUpdateScope::CudaUpdateScope(ProcessObject * filter, DataObject * input, const CudaFilterBackend & backend)
  : m_Filter(filter)
  , m_Outer(innermost)
{
  if (IsKeepable(*filter, input, backend))
  {
    m_KeepableInput = input;
    m_Device = backend.DeviceIndex == -1 ? CudaFiltersConfiguration::GetDeviceIndex() : backend.DeviceIndex;
  }
  innermost = this;
}

CudaUpdateScope::~CudaUpdateScope()
{
  innermost = m_Outer;
  if (this->HasKeptPixels())
  {
    m_KeepableInput->ReleaseData(); // ITK has not released the data if the filter threw
  }
}

CudaUpdateScope *
CudaUpdateScope::Find(const ProcessObject * filter) noexcept
{
  return innermost && innermost->m_Filter == filter ? innermost : nullptr;
}

CudaUpdateScope *
CudaUpdateScope::FindConsumer(const DataObject * output, int device) const
{
  // ITK clears the ReleaseDataFlag while the consumer's GenerateData() runs, when observers may ask for the image. The
  // global flag stays set.
  const bool keeps = m_Outer && output && m_Outer->m_KeepableInput == output && m_Outer->m_Device == device &&
                     !m_Outer->m_HasKept && output->GetReleaseDataFlag();
  return keeps && CountSet(m_Filter->GetOutputs()) == 1 && !IsObserved(*m_Filter, *output) ? m_Outer : nullptr;
}
} // end namespace itk::CudaDetail

// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_wrapping_Plane_h
#define CudaFilters_wrapping_Plane_h

#include "Interpreter.h"

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailImageView.h"
#include "itkMacro.h"

#include <optional>

namespace cudafilters
{
/** A view of a two-dimensional array whose rows have adjacent pixels, or of None. */
class Plane
{
public:
  explicit Plane(PyObject * array, int flags = 0)
  {
    if (array == Py_None)
    {
      return;
    }
    m_Buffer.emplace(array, flags);
    const bool isPlane = m_Buffer->GetNumberOfAxes() == 2;
    m_View = isPlane ? MakeView(m_Buffer->Get()) : m_View;
    if (!isPlane || !CanTransfer(m_View))
    {
      PyErr_SetString(PyExc_ValueError, "an array has not two axes, or rows whose pixels are not adjacent");
      throw PythonError();
    }
  }

  /** Returns the view, or nullptr for None. */
  const itk::CudaDetail::CudaImageView *
  Get() const
  {
    return m_Buffer ? &m_View : nullptr;
  }

private:
  std::optional<const Buffer>    m_Buffer;
  itk::CudaDetail::CudaImageView m_View;
};

/** Sets the backend that a run requests. \exception ExceptionObject if the name or the index is wrong */
inline void
SetBackend(itk::CudaDetail::CudaFilterBackend & backend, const char * name, int device)
{
  if (device < -1)
  {
    itkGenericExceptionMacro("DeviceIndex is " << device
                                               << "; it must be a device's index or -1 for the configuration's");
  }
  backend.Requested = itk::CudaBackendFromString(name);
  backend.DeviceIndex = device;
}
} // namespace cudafilters

#endif

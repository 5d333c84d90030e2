// SPDX-License-Identifier: Apache-2.0
// What the library found on this machine, and its settings, for itk_cudafilters/_info.py.
#include "Interpreter.h"

#include "Dictionaries.h"
#include "Functions.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkMultiThreaderBase.h"

#include <string>

namespace cudafilters
{
namespace
{
using Configuration = itk::CudaFiltersConfiguration;

PyObject *
GetInfo(PyObject *)
{
  const auto  backend = Configuration::GetBackend();
  const auto  status = Configuration::GetStatus();
  std::string reason;
  const bool  isUsable = Configuration::IsDeviceUsable(-1, reason);
  return Py_BuildValue("{s:N,s:i,s:i,s:N,s:s,s:i,s:N,s:s,s:s}",
                       "built_with_cuda",
                       PyBool_FromLong(Configuration::GetBuiltWithCuda()),
                       "driver_version",
                       Configuration::GetDriverVersion(),
                       "required_driver_version",
                       Configuration::GetRequiredDriverVersion(),
                       "devices",
                       AsPython(Configuration::GetDevices()),
                       "backend",
                       itk::CudaBackendToString(backend).c_str(),
                       "device_index",
                       Configuration::GetDeviceIndex(),
                       "gpu_usable",
                       PyBool_FromLong(isUsable),
                       "reason",
                       reason.c_str(),
                       "status",
                       status.c_str());
}

bool
MayUseGpu(PyObject * arguments)
{
  const char * name;
  int          device;
  ParseTuple(arguments, "si:may_use_gpu", &name, &device);
  auto backend = itk::CudaBackendFromString(name);
  if (backend == Configuration::BackendEnum::Automatic)
  {
    backend = Configuration::GetBackend();
  }
  std::string reason;
  return PyBool_FromLong(backend != Configuration::BackendEnum::Host && Configuration::IsDeviceUsable(device, reason));
}

PyObject *
GetNumberOfThreads(PyObject *)
{
  return PyLong_FromUnsignedLong(itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
}
} // namespace

PyMethodDef ConfigurationMethods[] = {
  { "info", Call<GetInfo>, METH_NOARGS, "info()\n--\n\nReturns the members of Info that the library knows." },
  { "may_use_gpu",
    Call<MayUseGpu>,
    METH_VARARGS,
    "may_use_gpu(backend, device_index)\n--\n\n"
    "Returns whether a filter runs on the GPU, provided that there is enough memory." },
  { "number_of_threads",
    Call<GetNumberOfThreads>,
    METH_NOARGS,
    "number_of_threads()\n--\n\nReturns ITK's global default." },
  { nullptr, nullptr, 0, nullptr }
};
} // namespace cudafilters

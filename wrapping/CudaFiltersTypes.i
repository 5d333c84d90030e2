// SPDX-License-Identifier: Apache-2.0
// CudaFiltersConfiguration::GetDevices() gives a list of dictionaries: ITK's generator does not wrap member variables.
%fragment("CudaDeviceInformation_AsDictionary", "header")
%{
static PyObject *
CudaDeviceInformation_AsDictionary(const itk::CudaDeviceInformation & device)
{
  return Py_BuildValue("{s:i,s:s,s:(ii),s:K,s:K,s:N,s:s}",
                       "index",
                       device.Index,
                       "name",
                       device.Name.c_str(),
                       "compute_capability",
                       device.ComputeCapability / 10,
                       device.ComputeCapability % 10,
                       "total_memory",
                       static_cast<unsigned long long>(device.TotalMemory),
                       "free_memory",
                       static_cast<unsigned long long>(device.FreeMemory),
                       "usable",
                       PyBool_FromLong(device.Usable),
                       "reason",
                       device.Reason.c_str());
}
%}

%typemap(out, fragment = "CudaDeviceInformation_AsDictionary")
  std::vector< itk::CudaDeviceInformation >
{
  const std::vector<itk::CudaDeviceInformation> & devices = $1;
  $result = PyList_New(static_cast<Py_ssize_t>(devices.size()));
  for (size_t i = 0; $result && i < devices.size(); ++i)
  {
    PyList_SetItem($result, static_cast<Py_ssize_t>(i), CudaDeviceInformation_AsDictionary(devices[i]));
  }
}

// Python hands enumerations over as numbers, of which only some are values.
%typemap(check) itkCudaFiltersEnums::Backend
{
  if ($1 > itkCudaFiltersEnums::Backend::Host)
  {
    const std::string message = "Backend is " + std::to_string(static_cast<int>($1)) +
                                "; it must be automatic, cuda or host, or one of itk.CudaFiltersEnums.Backend_*";
    SWIG_exception_fail(SWIG_ValueError, message.c_str());
  }
}

// SPDX-License-Identifier: Apache-2.0
// Exchange of arrays in GPU memory with other Python libraries. itk_cudafilters/_device.py calls these methods, and
// adds the other methods of device images.
%{
#include "core/GpuArrays.h"
%}

%define CUDAFILTERS_DEVICE_IMAGE(swig_name)
%extend swig_name {
  void _adopt(PyObject * array) { cudafilters::Adopt(array, *self); }
  PyObject * _export_dlpack(unsigned long long stream, bool versioned) {
    return cudafilters::ExportDLPack(self->GetDeviceView(), self->ImageDimension, stream, versioned);
  }
  unsigned long long _pointer() const { return reinterpret_cast<unsigned long long>(self->GetDeviceView().GetPointer()); }
  PyObject * _strides() const { return cudafilters::GetByteStrides(self->GetDeviceView(), self->ImageDimension); }
  void _publish(unsigned long long stream) { cudafilters::Publish(self->GetDeviceView(), stream); }
}
%enddef

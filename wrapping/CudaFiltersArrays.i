// SPDX-License-Identifier: Apache-2.0
// Exchange of arrays in GPU memory with other Python libraries. itk_cudafilters/_device.py calls these methods, and
// adds the other methods of device images. itk_cudafilters/stream.py calls cudafilters_filter_slabs(), and
// itk_cudafilters/_structure_tensor.py calls the functions of structure tensors.
%{
#include "CudaFiltersArrays.h"
#include "CudaFiltersSlabs.h"
#include "CudaFiltersStructureTensor.h"
%}

%define CUDAFILTERS_DEVICE_IMAGE(swig_name)
%extend swig_name {
  void _adopt(PyObject * array) { cudafilters::Adopt(array, *self); }
  PyObject * _export_dlpack(unsigned long long stream, bool versioned) {
    return cudafilters::ExportDLPack(self->GetDeviceView(), self->ImageDimension, stream, versioned);
  }
  unsigned long long _pointer() const { return reinterpret_cast<unsigned long long>(self->GetDeviceView().GetPointer()); }
  PyObject * _strides() const { return cudafilters::GetByteStrides(self->GetDeviceView(), self->ImageDimension); }
  void _allocate(int device) { cudafilters::Allocate(*self, device); }
  void _filter(PyObject * passes, PyObject * input, PyObject * valid, bool keeps_nan, size_t items, double smallest_weight) {
    cudafilters::Filter(self->GetDeviceView(), passes, input, valid, keeps_nan, items, smallest_weight);
  }
  void _begin_writing(unsigned long long stream) { cudafilters::BeginWriting(self->GetDeviceView(), stream); }
  void _finish_writing(unsigned long long stream) { cudafilters::FinishWriting(self->GetDeviceView(), stream); }
  void _publish(unsigned long long stream) { cudafilters::Publish(self->GetDeviceView(), stream); }
}
%enddef

%define CUDAFILTERS_ARRAY_FUNCTIONS
PyObject * cudafilters_open_dlpack(PyObject * capsule);
PyObject * cudafilters_open_interface(PyObject * owner, PyObject * layout);
PyObject * cudafilters_open_exchanged(PyObject * array);
PyObject * cudafilters_new_exchanged(PyObject * array, PyObject * opened);
PyObject * cudafilters_make_passes(PyObject * passes, double value, const std::string & approximation);
void cudafilters_run_passes(PyObject * passes, unsigned long long input, unsigned long long output, bool is_double, int device,
                            unsigned long long stream);
bool cudafilters_run_passes_and_look(PyObject * passes, unsigned long long input, unsigned long long output, bool is_double, int device,
                                     unsigned long long stream);
void cudafilters_run_masked_passes(PyObject * passes, unsigned long long input, unsigned long long valid, bool keeps_nan,
                                   unsigned long long output, size_t items, double smallest_weight, bool is_double, int device,
                                   unsigned long long stream);
void cudafilters_use_host_as_device(bool use);
bool cudafilters_is_host_used_as_device();
void cudafilters_run_structure_tensor(PyObject * call, const std::string & backend, unsigned long long input,
                                      unsigned long long output);
void cudafilters_queue_structure_tensor(PyObject * call, unsigned long long input, unsigned long long output, int device,
                                        unsigned long long stream);
PyObject * cudafilters_filter_slabs(PyObject * job, PyObject * source, PyObject * sink, PyObject * progress);
%enddef

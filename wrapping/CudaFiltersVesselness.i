// SPDX-License-Identifier: Apache-2.0
// Methods of the vesselness filter that itk_cudafilters/_vesselness.py calls.
%{
#include "CudaFiltersVesselness.h"
%}

%define CUDAFILTERS_VESSELNESS_DIRECTIONS(swig_name)
%extend swig_name {
  void _store_directions(unsigned long long output, bool last_axis_first) {
    cudafilters::StoreDirections(*self, output, last_axis_first);
  }
}
%enddef

%define CUDAFILTERS_VESSELNESS_OF_ARRAYS(swig_name)
%extend swig_name {
  void _queue_on_stream(unsigned long long input, PyObject * strides, unsigned long long response, unsigned long long scale,
                        unsigned long long directions, bool last_axis_first, int device, unsigned long long stream) {
    cudafilters::QueueOnStream(*self, input, strides, { reinterpret_cast<void *>(response), reinterpret_cast<void *>(scale),
                               reinterpret_cast<void *>(directions), { self->ImageDimension, last_axis_first } }, device, stream);
  }
}
%enddef

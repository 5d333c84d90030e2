// SPDX-License-Identifier: Apache-2.0
// Concurrent updates of filters, for itk_cudafilters/_partition.py.
%{
#include "CudaFiltersUpdates.h"
%}

%define CUDAFILTERS_START_UPDATE(swig_name)
%extend swig_name {
  void _start_update(PyObject * updates) { cudafilters::StartUpdate(updates, self); }
}
%enddef

%define CUDAFILTERS_UPDATES
PyObject * cudafilters_new_updates(unsigned int at_once);
void cudafilters_finish_update(PyObject * updates);
void cudafilters_end_updates(PyObject * updates);
%enddef

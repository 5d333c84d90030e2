// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFiltersUpdates_h
#define CudaFiltersUpdates_h

// Filters that run at the same time, in threads that know nothing of Python. A thread of Python that comes back from a
// filter waits for the interpreter's lock, and for Python's code and data, which its processor has not in its cache by
// then.

#include <Python.h>

#include "itkProcessObject.h"

/** A capsule for updates of filters, of which `at_once` run at the same time at most. They begin in the order in which
 * _start_update() of the filters is called. No filter has an input whose source another one updates. */
PyObject *
cudafilters_new_updates(unsigned int at_once);

namespace cudafilters
{
void
StartUpdate(PyObject * updates, itk::ProcessObject * filter);
}

/** Waits for the end of the first update that it has not been called for. \exception any that Update() threw */
void
cudafilters_finish_update(PyObject * updates);

/** Lets no further update begin, and waits for those that have begun. */
void
cudafilters_end_updates(PyObject * updates);

#endif

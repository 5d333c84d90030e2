// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFiltersUpdates_h
#define CudaFiltersUpdates_h

// Filters that run at the same time, in threads that know nothing of Python. A thread of Python would wait for the
// interpreter's lock after each filter. It would then wait for memory: the interpreter's code and data have left its
// processor's cache.

#include <Python.h>

#include "itkProcessObject.h"

/** A capsule for updates of filters. At most `at_once` of them run at the same time. They begin in the order in which
 * _start_update() of the filters is called. Each filter needs inputs of its own, which have no source: an update writes
 * the regions of its inputs, and updates their sources. */
PyObject *
cudafilters_new_updates(unsigned int at_once);

namespace cudafilters
{
/** Queues filter->Update(). */
void
StartUpdate(PyObject * updates, itk::ProcessObject * filter);
} // namespace cudafilters

/** Waits for an update to end: each call for the next one, in the order of their starts. \exception any that Update()
 * threw; ExceptionObject if no started update is left */
void
cudafilters_finish_update(PyObject * updates);

/** Lets no further update begin, and waits for those that have begun. */
void
cudafilters_end_updates(PyObject * updates);

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFiltersUpdates_h
#define CudaFiltersUpdates_h

// Runs filters concurrently, in threads that do not use Python. A Python thread would wait for the interpreter's lock
// after each filter, and then for memory, because the interpreter's code and data have left the cache of its processor.

#include <Python.h>

#include "itkProcessObject.h"

/** Returns a capsule that runs updates of filters, at most `at_once` of them concurrently. They start in the order in
 * which _start_update() of the filters is called. Each filter must have its own input objects, and these must have no
 * source, because an update sets the requested regions of its inputs and updates their sources. */
PyObject *
cudafilters_new_updates(unsigned int at_once);

namespace cudafilters
{
/** Queues filter->Update(). */
void
StartUpdate(PyObject * updates, itk::ProcessObject * filter);
} // namespace cudafilters

/** Waits until the next update has ended, in the order in which the updates were started. \exception any that Update()
 * threw; ExceptionObject if no started update is left */
void
cudafilters_finish_update(PyObject * updates);

/** Discards the updates that have not begun, and waits for the running ones. */
void
cudafilters_end_updates(PyObject * updates);

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFiltersStructureTensor_h
#define CudaFiltersStructureTensor_h

// Structure tensors of arrays.

#include <Python.h>

#include <string>

/** The structure tensor of adjacent pixels in the memory of the host, x first; the components of a pixel are adjacent.
 *
 * \param call (size, spacing, sigma, integration sigma, whether eigenvalues, whether pixels are of double,
 * approximation); size and spacing are tuples, x first */
void
cudafilters_run_structure_tensor(PyObject *          call,
                                 const std::string & backend,
                                 unsigned long long  input,
                                 unsigned long long  output);

/** The same in the memory of a GPU, on the stream of the arrays' owner; one component lies behind the other. */
void
cudafilters_queue_structure_tensor(PyObject *         call,
                                   unsigned long long input,
                                   unsigned long long output,
                                   int                device,
                                   unsigned long long stream);

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFiltersStructureTensor_h
#define CudaFiltersStructureTensor_h

// Computes structure tensors of Python arrays.

#include <Python.h>

#include <string>

/** Computes the structure tensors of adjacent pixels in host memory. In the output the components of a pixel are
 * adjacent, with x first.
 *
 * \param call (size, spacing, sigma, integration sigma, whether to return eigenvalues, whether pixels are double,
 * approximation); size and spacing are tuples, x first */
void
cudafilters_run_structure_tensor(PyObject *          call,
                                 const std::string & backend,
                                 unsigned long long  input,
                                 unsigned long long  output);

/** Queues the computation of structure tensors in GPU memory on the stream of the arrays' owner. In the output each
 * component is an image, one after the other. */
void
cudafilters_queue_structure_tensor(PyObject *         call,
                                   unsigned long long input,
                                   unsigned long long output,
                                   int                device,
                                   unsigned long long stream);

#endif

// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailDeviceRun_h
#define itkCudaDetailDeviceRun_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDeviceImageView.h"

#include <array>
#include <cstddef>
#include <vector>

namespace itk::CudaDetail
{
/** The decision of a filter whose input is a device image: it runs on the input's device. The backend is set
 * accordingly; no CUDA call is made.
 * \exception CudaError of kind NotUsable, in words, if the filter asks for the host or for another device */
CudaFilters_EXPORT void
CudaSelectDeviceOfImage(CudaFilterBackend & backend, int device);

/** The decision of a filter whose output is a device image and whose input is none: it runs on the device that its
 * DeviceIndex names, or on the configuration's for -1. Sets what the backend says of itself.
 * \return the device
 * \exception CudaError of kind NotUsable with the reason if the filter asks for the host, or the device cannot be used
 */
CudaFilters_EXPORT int
CudaSelectDeviceOfOutput(CudaFilterBackend & backend);

/** Queues the plan on the calling thread's stream and returns; the output is what CudaRunOnDevice() would give for the
 * same images of the host, to the bit.
 *
 * Input and output have the same size, and the output as many components for each of the input's as the plan has
 * results. If the plan's only result is image 0, `output` is `input`. The input is overwritten unless the plan was made
 * with KeepInput. If it is overwritten, input and output must be as CudaAllocateDeviceImage() makes them, of the same
 * type, float or double.
 * \exception CudaError if the memory has run out, or a CUDA call failed */
CudaFilters_EXPORT void
CudaQueueOnDevice(const CudaGaussianPlan & plan, const CudaDeviceImageView & input, const CudaDeviceImageView & output);

/** Adjacent components of an array in memory that the caller keeps. */
struct CudaArrayMemory
{
  void *                            Data{ nullptr };
  CudaComponentType                 ComponentType{ CudaComponentType::Float }; // or Double
  int                               Device{ 0 };
  CudaDeviceImageMemory::StreamType Stream{ 0 }; // on which the caller uses the memory
};

/** A plan of one pass, with one result that is not its input, over an array. */
struct CudaArrayPass
{
  CudaGaussianPlan                                      Plan;
  std::array<size_t, CudaDeviceImageView::NumberOfAxes> Size; // x first
};

/** Queues passes on the stream of the input's owner, each over the result of the pass before. The sizes of all have the
 * same number of elements. Work of the owner that is on the stream comes before, and what the owner queues there
 * afterwards comes behind; then the owner may also free the memory in the stream's order. Each pass has the result that
 * CudaQueueOnDevice() gives, to the bit. Nothing waits on the host.
 *
 * \param output has the input's type, device and stream, and other memory
 * \exception CudaError of kind NotUsable with the reason if the device cannot be used, or if the stream is recorded for
 * a CUDA graph; or if memory has run out, or a CUDA call failed */
CudaFilters_EXPORT void
CudaQueueOnStream(const std::vector<CudaArrayPass> & passes, const CudaArrayMemory & input, void * output);
} // end namespace itk::CudaDetail

#endif

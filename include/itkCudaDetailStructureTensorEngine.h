// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailStructureTensorEngine_h
#define itkCudaDetailStructureTensorEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailArrayImage.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDeviceImageView.h"
#include "itkCudaFiltersEnums.h"
#include "itkCudaStructureTensorEnums.h"

#include <cstddef>
#include <vector>

namespace itk::CudaDetail
{
/** The structure tensor of an image of numbers: the products of its derivatives, smoothed. */
struct CudaStructureTensorPlan
{
  CudaGaussianPlan                   Gradient;  // of the derivatives along each axis; it keeps its input
  CudaGaussianPlan                   Smoothing; // of each product; it overwrites its input
  unsigned int                       Dimension{ 3 };
  CudaStructureTensorEnums::Quantity Quantity{ CudaStructureTensorEnums::Quantity::Components };
};

/** Components of a pixel of the result. */
CudaFilters_EXPORT unsigned int
CudaStructureTensorComponents(CudaStructureTensorEnums::Quantity quantity, unsigned int dimension);

/** \param sigma of the derivatives, in physical units \param integrationSigma of the products' smoothing
 * \param spacing by axis; their number is the image's dimension \param approximation of both Gaussians
 * \exception ExceptionObject that names what is out of range */
CudaFilters_EXPORT CudaStructureTensorPlan
MakeStructureTensorPlan(double                             sigma,
                        double                             integrationSigma,
                        const std::vector<double> &        spacing,
                        CudaStructureTensorEnums::Quantity quantity,
                        CudaFiltersEnums::Approximation    approximation);

/** Largest number of bytes of device memory that CudaRunOnDevice() needs for these views. */
CudaFilters_EXPORT size_t
CudaTensorWorkingSet(const CudaStructureTensorPlan & plan, const CudaImageView & input, const CudaImageView & output);

/** Runs the plan over `input` on the host, by the threads of `threader`. Input and output are different memory. */
CudaFilters_EXPORT void
CudaRunOnHost(const CudaStructureTensorPlan & plan,
              const CudaImageView &           input,
              const CudaImageView &           output,
              MultiThreaderBase *             threader,
              const CudaProgressFunction &    progress);

/** Uploads `input`, runs the plan on the device that `backend` selected and downloads the result to `output`.
 *
 * \return false if the device ran out of memory and the backend allows the host, which it then names as used
 *
 * \exception CudaError, or what `progress` throws */
CudaFilters_EXPORT bool
CudaRunOnDevice(const CudaStructureTensorPlan & plan,
                const CudaImageView &           input,
                const CudaImageView &           output,
                CudaFilterBackend &             backend,
                const CudaProgressFunction &    progress);

/** Queues the plan on device images. \exception CudaError */
CudaFilters_EXPORT void
CudaQueueOnDevice(const CudaStructureTensorPlan & plan,
                  const CudaDeviceImageView &     input,
                  const CudaDeviceImageView &     output);

/** Queues the plan on the stream of the input's owner. Work of the owner that is on the stream comes before, and what
 * the owner queues there afterwards comes behind; then the owner may also free the memory in the stream's order. The
 * module's pool gives what is needed meanwhile. Nothing waits on the host. The result is that of CudaRunOnDevice(), to
 * the bit.
 *
 * \param output adjacent elements of the input's type, one component behind the other, in other memory
 * \exception CudaError of kind NotUsable with the reason if the device cannot be used, or if the stream is recorded for
 * a CUDA graph; or if memory has run out, or a CUDA call failed */
CudaFilters_EXPORT void
CudaQueueOnStream(const CudaStructureTensorPlan & plan, const CudaArrayImage & input, void * output);
} // end namespace itk::CudaDetail

#endif

// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailMultiScaleEngine_h
#define itkCudaDetailMultiScaleEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetailTensorPlan.h"

#include <cstddef>
#include <vector>

namespace itk::CudaDetail
{
/** The largest measure of the Hessians of several scales. */
struct CudaMultiScalePlan
{
  CudaHessianMeasure  Measure;
  std::vector<double> Sigmas;              // in physical units
  std::vector<double> Spacing;             // by axis
  bool                NonNegative{ true }; // responses are kept above 0; otherwise above the least number of the type

  /** The Hessian of that scale, normalised across scales. The input is kept for the next one.
   * \exception ExceptionObject naming what is out of range */
  CudaGaussianPlan
  MakeHessianPlan(double sigma) const
  {
    CudaGaussianParameters parameters;
    parameters.Sigma.assign(Spacing.size(), sigma);
    parameters.Spacing = Spacing;
    parameters.NormalizeAcrossScale = true;
    parameters.KeepInput = true;
    return CudaDetail::MakeHessianPlan(parameters);
  }
};

/** What is wanted of it, each of the input's size: the response, the sigma that gave it, the Hessian of that sigma.
 * Sigma and Hessian are 0 where no scale's response was kept. Data is nullptr where one of them is not wanted. */
struct CudaMultiScaleOutputs
{
  CudaImageView Response;
  CudaImageView Scale;
  CudaImageView Hessian;
};

/** Largest number of bytes of device memory that CudaRunOnDevice() needs. */
CudaFilters_EXPORT size_t
CudaMultiScaleWorkingSet(const CudaMultiScalePlan &    plan,
                         const CudaImageView &         input,
                         const CudaMultiScaleOutputs & outputs);

/** Uploads `input` once, computes all scales on the device and downloads the outputs. Input and response are of float
 * or of integers of 16 bits for arithmetic in float; see GetComputeType().
 *
 * \return false if the device ran out of memory and the backend allows the host, which it then names as used
 *
 * \exception CudaError, or what `progress` throws */
CudaFilters_EXPORT bool
CudaRunOnDevice(const CudaMultiScalePlan &    plan,
                const CudaImageView &         input,
                const CudaMultiScaleOutputs & outputs,
                CudaFilterBackend &           backend,
                const CudaProgressFunction &  progress);

/** The same on the host, by the threads of `threader`. */
CudaFilters_EXPORT void
CudaRunOnHost(const CudaMultiScalePlan &    plan,
              const CudaImageView &         input,
              const CudaMultiScaleOutputs & outputs,
              MultiThreaderBase *           threader,
              const CudaProgressFunction &  progress);
} // end namespace itk::CudaDetail

#endif

// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailMultiScaleEngine_h
#define itkCudaDetailMultiScaleEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetailTensorPlan.h"
#include "itkCudaDeviceImageView.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace itk::CudaDetail
{
/** What is looked for in a scale's Hessians: their Frobenius norm, or the plan's measure. */
enum class CudaScaleQuantity : uint8_t
{
  Norm,
  Measure
};

/** A parameter of a measure that follows from the Hessians of each scale: objectness' Gamma, or Jerman's floor. */
struct CudaScaleParameter
{
  CudaScaleQuantity  Quantity{ CudaScaleQuantity::Norm }; // whose largest value sets the parameter
  CudaHessianMeasure Measure{};                           // of CudaScaleQuantity::Measure
  double             Factor{ 0.5 };                       // of the largest value
  double             IfZero{ 1.0 };                       // the parameter if the largest value is 0

  double
  Get(double largest) const
  {
    return largest > 0.0 ? Factor * largest : IfZero;
  }
};

/** The largest measure of the Hessians of several scales. */
struct CudaMultiScalePlan
{
  CudaHessianMeasure  Measure;
  std::vector<double> Sigmas;              // in physical units
  std::vector<double> Spacing;             // by axis
  bool                NonNegative{ true }; // responses are kept above 0; otherwise above the least number of the type
  bool                NormalizeAcrossScale{ true };

  CudaFiltersEnums::Approximation Approximation{ CudaFiltersEnums::Approximation::Deriche };
  CudaGaussianBoundary            Boundary{};

  std::vector<CudaHessianMeasure> MeasureOfScale{}; // by sigma; empty: Measure for all of them

  const CudaHessianMeasure &
  GetMeasure(size_t scale) const
  {
    return MeasureOfScale.empty() ? Measure : MeasureOfScale[scale];
  }

  /** Of a Gaussian of that sigma. The input is kept for the next one. */
  CudaGaussianParameters
  MakeParameters(double sigma) const
  {
    CudaGaussianParameters parameters;
    parameters.Sigma.assign(Spacing.size(), sigma);
    parameters.Spacing = Spacing;
    parameters.NormalizeAcrossScale = NormalizeAcrossScale;
    parameters.KeepInput = true;
    parameters.Approximation = Approximation;
    parameters.Boundary = Boundary;
    return parameters;
  }

  /** The Hessian of that scale. \exception ExceptionObject naming what is out of range */
  CudaGaussianPlan
  MakeHessianPlan(double sigma) const
  {
    return CudaDetail::MakeHessianPlan(this->MakeParameters(sigma));
  }

  /** The Frobenius norm of that Hessian: the root of the sum of its squared eigenvalues.
   * \exception ExceptionObject naming what is out of range */
  CudaFilters_EXPORT CudaGaussianPlan
  MakeHessianNormPlan(double sigma) const;
};

/** What is wanted of it, each of the input's size: the response, the sigma that gave it, the Hessian of that sigma.
 * Sigma and Hessian are 0 where no scale's response was kept. Data is nullptr where one of them is not wanted. */
struct CudaMultiScaleOutputs
{
  CudaImageView Response;
  CudaImageView Scale;
  CudaImageView Hessian;
};

/** The same on the device. Memory is nullptr where an image is not wanted. */
struct CudaMultiScaleDeviceOutputs
{
  CudaDeviceImageView Response;
  CudaDeviceImageView Scale;
  CudaDeviceImageView Hessian;
};

/** Bytes of device memory that CudaRunOnDevice() needs at least. With more it takes fewer slabs. */
CudaFilters_EXPORT size_t
CudaMultiScaleWorkingSet(const CudaMultiScalePlan &    plan,
                         const CudaImageView &         input,
                         const CudaMultiScaleOutputs & outputs);

/** Uploads `input`, computes all scales on the device and downloads the outputs. If the device has no room for the
 * whole image, slabs of it follow each other. Input and response are of float or of integers of 16 bits for arithmetic
 * in float; see GetComputeType().
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

/** Uploads `input` and finds the largest finite value of each scale, at least 0, in the arithmetic of an output of
 * `type`. One of the sigmas is done after the other.
 *
 * \return none if the whole image has no room on the device. If it ran out of memory in spite of the estimate, and the
 * backend allows the host, the backend names the host as used.
 *
 * \exception CudaError, or what `progress` throws */
CudaFilters_EXPORT std::vector<double>
                   CudaFindLargestOnDevice(const CudaMultiScalePlan &   plan,
                                           CudaScaleQuantity            quantity,
                                           const CudaImageView &        input,
                                           CudaComponentType            type,
                                           CudaFilterBackend &          backend,
                                           const CudaProgressFunction & progress);

/** Queues all scales on device images of the same size. \exception CudaError, ExceptionObject */
CudaFilters_EXPORT void
CudaQueueOnDevice(const CudaMultiScalePlan &          plan,
                  const CudaDeviceImageView &         input,
                  const CudaMultiScaleDeviceOutputs & outputs);

/** The same on the host, by the threads of `threader`. */
CudaFilters_EXPORT void
CudaRunOnHost(const CudaMultiScalePlan &    plan,
              const CudaImageView &         input,
              const CudaMultiScaleOutputs & outputs,
              MultiThreaderBase *           threader,
              const CudaProgressFunction &  progress);
} // end namespace itk::CudaDetail

#endif

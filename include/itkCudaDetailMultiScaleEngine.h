// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailMultiScaleEngine_h
#define itkCudaDetailMultiScaleEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetailTensorEngine.h"
#include "itkCudaDeviceImageView.h"
#include "itkCudaDetailDeviceRun.h"
#include "itkCudaFiltersEnums.h"
#include "itkCudaStructureTensorEnums.h"

#include <cstddef>
#include <cstdint>
#include <optional>
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

/** Arrays that take the results: adjacent elements of the input's type, outside the input's memory. nullptr: that
 * result is not wanted. */
struct CudaMultiScaleArrays
{
  void *                Response{ nullptr };
  void *                Scale{ nullptr };      // the sigma that gave the response
  void *                Directions{ nullptr }; // the components of a pixel are adjacent; 0 where there is no response
  CudaLineDirectionPlan DirectionPlan{};
};

/** Queues all scales on the stream of the input's owner. Work of the owner that is on the stream comes before, and what
 * the owner queues there afterwards comes behind; then the owner may also free the memory in the stream's order. The
 * module's pool gives what is needed meanwhile. Nothing waits on the host. Responses and scales are those of
 * CudaRunOnDevice(), to the bit, with plan.MeasureOfScale as CudaFindLargestOnDevice() and `parameter` make it. Here
 * the largest values stay on the device.
 *
 * \param parameter if the measure has one that follows from each scale's Hessians; plan.MeasureOfScale is empty then
 * \param outputs have a response
 * \exception CudaError of kind NotUsable with the reason if the device cannot be used, or if the stream is recorded for
 * a CUDA graph; or if memory has run out, or a CUDA call failed */
CudaFilters_EXPORT void
CudaQueueOnStream(const CudaMultiScalePlan &                plan,
                  const std::optional<CudaScaleParameter> & parameter,
                  const CudaArrayImage &                    input,
                  const CudaMultiScaleArrays &              outputs);

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

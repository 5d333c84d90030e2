// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
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
#include "itkCudaVesselnessEnums.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace itk::CudaDetail
{
/** A parameter of a measure that is computed from the Hessians of each scale: Gamma of objectness, or Jerman's
 * floor. */
struct CudaScaleParameter
{
  CudaHessianMeasure Quantity; // its largest value sets the parameter
  double             Factor;   // the parameter divided by the largest value
  double             IfZero;   // the parameter if the largest value is 0

  double
  Get(double largest) const
  {
    return largest > 0.0 ? Factor * largest : IfZero;
  }
};

/** The measure of CudaVesselnessImageFilter with its parameters, which are described there. */
struct CudaVesselnessMeasure
{
  CudaVesselnessEnums::HessianMeasure Kind{ CudaVesselnessEnums::HessianMeasure::Objectness };

  unsigned int Dimension{ 3 };
  bool         BrightObject{ true };
  unsigned int ObjectDimension{ 1 };
  bool         ScaleObjectnessMeasure{ true };
  double       Alpha{ 0.5 };
  double       Beta{ 0.5 };
  double       Gamma{ std::numeric_limits<double>::quiet_NaN() };
  double       SatoAlpha{ 0.25 };
  double       SatoGamma12{ 1.0 };
  double       SatoGamma23{ 1.0 };
  double       Tau{ 0.5 };

  /** Returns the parameter that is computed from the Hessians of each scale, if there is one. Jerman's floor is
   * computed from the largest eigenvalue that has the sign of an object. This eigenvalue is found as the objectness
   * with object dimension D - 1 and without its exponential factors. */
  CudaFilters_EXPORT std::optional<CudaScaleParameter>
                     MakeScaleParameter() const;

  /** Returns the measure of one scale. \param fromScale the parameter of the scale, if there is one
   * \exception ExceptionObject naming what is out of range */
  CudaFilters_EXPORT CudaHessianMeasure
  Make(double fromScale = 1.0) const;
};

/** The plan for the largest measure of the Hessians of several scales. */
struct CudaMultiScalePlan
{
  CudaHessianMeasure  Measure;
  std::vector<double> Sigmas;              // in physical units
  std::vector<double> Spacing;             // by axis
  bool                NonNegative{ true }; // true: the least response is 0; false: it is the least number of the type
  bool                NormalizeAcrossScale{ true };

  CudaFiltersEnums::Approximation Approximation{ CudaFiltersEnums::Approximation::Deriche };
  CudaGaussianBoundary            Boundary{};

  std::vector<CudaHessianMeasure> MeasureOfScale{}; // one for each sigma; empty: Measure for all of them

  const CudaHessianMeasure &
  GetMeasure(size_t scale) const
  {
    return MeasureOfScale.empty() ? Measure : MeasureOfScale[scale];
  }

  /** Returns the parameters of a Gaussian of that sigma. Its plan keeps the input for the next sigma. */
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

  /** Returns the plan of the Hessian at that scale. \exception ExceptionObject naming what is out of range */
  CudaGaussianPlan
  MakeHessianPlan(double sigma) const
  {
    return CudaDetail::MakeHessianPlan(this->MakeParameters(sigma));
  }
};

/** The output images, each of the input's size: the largest response, the sigma at which it was found, and the Hessian
 * at that sigma. Sigma and Hessian are 0 where no scale's response was kept. Data is nullptr for an image that is not
 * wanted. */
struct CudaMultiScaleOutputs
{
  CudaImageView Response;
  CudaImageView Scale;
  CudaImageView Hessian;
};

/** The output images on the device. Memory is nullptr for an image that is not wanted. */
struct CudaMultiScaleDeviceOutputs
{
  CudaDeviceImageView Response;
  CudaDeviceImageView Scale;
  CudaDeviceImageView Hessian;
};

/** Returns the smallest number of bytes of device memory that CudaRunOnDevice() needs. With more memory it computes
 * fewer slabs. */
CudaFilters_EXPORT size_t
CudaMultiScaleWorkingSet(const CudaMultiScalePlan &    plan,
                         const CudaImageView &         input,
                         const CudaMultiScaleOutputs & outputs);

/** Uploads `input`, computes all scales on the device and downloads the outputs. If the device has no room for the
 * whole image, it is computed in slabs. The arithmetic is float if input and response are of float or of
 * integers of at most 16 bits, otherwise double; see GetComputeType().
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

/** Runs a plan whose measure has a parameter for each scale that depends on the whole image, with one upload. The
 * largest values from which the parameters follow stay on the device.
 *
 * \return false if the whole image does not fit on the device, or if the device ran out of memory and the backend
 * allows the host, which it then names as used \exception CudaError, or what `progress` throws */
CudaFilters_EXPORT bool
CudaRunWholeOnDevice(const CudaMultiScalePlan &    plan,
                     const CudaScaleParameter &    parameter,
                     const CudaImageView &         input,
                     const CudaMultiScaleOutputs & outputs,
                     CudaFilterBackend &           backend,
                     const CudaProgressFunction &  progress);

/** Queues all scales on device images of the same size. \exception CudaError, ExceptionObject */
CudaFilters_EXPORT void
CudaQueueOnDevice(const CudaMultiScalePlan &          plan,
                  const CudaDeviceImageView &         input,
                  const CudaMultiScaleDeviceOutputs & outputs);

/** Computes all scales on the host, on the threads of `threader`.
 * \param parameter the parameter of the measure that is computed from each scale's Hessians, or nullptr */
CudaFilters_EXPORT void
CudaRunOnHost(const CudaMultiScalePlan &    plan,
              const CudaImageView &         input,
              const CudaMultiScaleOutputs & outputs,
              MultiThreaderBase *           threader,
              const CudaProgressFunction &  progress,
              const CudaScaleParameter *    parameter = nullptr);

/** Computes all scales with that measure from and to host memory, on the device that `backend` selects or on the host,
 * on the threads of `threader`. A parameter that is computed from the Hessians takes a
 * run of its own if the whole image does not fit into the device's memory.
 *
 * \param plan without measures
 * \exception CudaError, ExceptionObject, or what `progress` throws */
CudaFilters_EXPORT void
CudaRunVesselness(CudaMultiScalePlan            plan,
                  const CudaVesselnessMeasure & measure,
                  const CudaImageView &         input,
                  const CudaMultiScaleOutputs & outputs,
                  CudaFilterBackend &           backend,
                  MultiThreaderBase *           threader,
                  const CudaProgressFunction &  progress);

/** The arrays that receive the results: adjacent elements of the input's type, outside of the input's memory. nullptr
 * stands for a result that is not wanted. */
struct CudaMultiScaleArrays
{
  void *                Response{ nullptr };
  void *                Scale{ nullptr };      // the sigma that gave the response
  void *                Directions{ nullptr }; // the components of a pixel are adjacent; 0 where there is no response
  CudaLineDirectionPlan DirectionPlan{};
};

/** Queues all scales on the stream of the input's owner. The work runs after the owner's work that is already on the
 * stream and before the work that the owner queues there afterwards, so the owner may free the memory in stream order.
 * The module's pool provides the memory needed in the meantime. Nothing waits on the host. Responses and scales are
 * bit-identical to CudaRunOnDevice() with the plan.MeasureOfScale that the largest values of the scales give.
 *
 * \param parameter the parameter of the measure that is computed from each scale's Hessians, if it has one;
 * plan.MeasureOfScale must then be empty
 * \param outputs must include the response
 * \exception CudaError of kind NotUsable with the reason if the device cannot be used or the stream is being captured
 * into a CUDA graph; also if memory has run out, or a CUDA call failed */
CudaFilters_EXPORT void
CudaQueueOnStream(const CudaMultiScalePlan &                plan,
                  const std::optional<CudaScaleParameter> & parameter,
                  const CudaArrayImage &                    input,
                  const CudaMultiScaleArrays &              outputs);

/** The plan for the structure tensor of a scalar image: the smoothed products of its derivatives. */
struct CudaStructureTensorPlan
{
  CudaGaussianPlan                   Gradient;  // computes the derivatives along each axis; keeps its input
  CudaGaussianPlan                   Smoothing; // smooths each product; overwrites its input
  unsigned int                       Dimension{ 3 };
  CudaStructureTensorEnums::Quantity Quantity{ CudaStructureTensorEnums::Quantity::Components };
};

/** Returns the number of components of a pixel of the result. */
CudaFilters_EXPORT unsigned int
CudaStructureTensorComponents(CudaStructureTensorEnums::Quantity quantity, unsigned int dimension);

/** Returns the plan of a structure tensor.
 * \param sigma of the derivatives, in physical units
 * \param integrationSigma of the smoothing of the products, in physical units
 * \param spacing one for each axis; their number is the image's dimension
 * \param approximation of both Gaussians
 * \exception ExceptionObject that names what is out of range */
CudaFilters_EXPORT CudaStructureTensorPlan
MakeStructureTensorPlan(double                             sigma,
                        double                             integrationSigma,
                        const std::vector<double> &        spacing,
                        CudaStructureTensorEnums::Quantity quantity,
                        CudaFiltersEnums::Approximation    approximation);

/** Queues the plan on the stream of the input's owner. The work runs after the owner's work that is already on the
 * stream and before the work that the owner queues there afterwards, so the owner may free the memory in stream order.
 * The module's pool provides the memory needed in the meantime. Nothing waits on the host. The result is bit-identical
 * to CudaRunOnDevice().
 *
 * \param output adjacent elements of the input's type, one component behind the other, in other memory
 * \exception CudaError of kind NotUsable with the reason if the device cannot be used or the stream is being captured
 * into a CUDA graph; also if memory has run out, or a CUDA call failed */
CudaFilters_EXPORT void
CudaQueueOnStream(const CudaStructureTensorPlan & plan, const CudaArrayImage & input, void * output);
} // end namespace itk::CudaDetail

#endif

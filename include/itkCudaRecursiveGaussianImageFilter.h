// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRecursiveGaussianImageFilter_h
#define itkCudaRecursiveGaussianImageFilter_h

#include "itkCudaGaussianImageFilterBase.h"
#include "itkRecursiveGaussianImageFilter.h"

namespace itk
{
/** \class CudaRecursiveGaussianImageFilter
 * \brief RecursiveGaussianImageFilter on an NVIDIA GPU: smoothing or differentiation along one axis.
 *
 * The filter convolves every line of the image along Direction with the recursive approximation of
 * \f[ \frac{1}{\sigma\sqrt{2\pi}} \exp\left(-\frac{x^2}{2\sigma^2}\right) \f]
 * (ZeroOrder) or of its first or second derivative. The parameters, defaults and exceptions are the superclass's: Sigma
 * in the image's physical units (default 1, must be greater than 0), Direction (default 0), Order,
 * NormalizeAcrossScale. A line needs at least four pixels and continues beyond its ends with its edge values.
 * BoundaryMode (default Nearest) and BoundaryValue select other continuations, for lines of any length.
 *
 * Approximation is Deriche (default) or Accurate. Deriche has the coefficients of the superclass (INRIA RR-1893, 1993).
 * Accurate has a third pair of exponentials, fitted to the Gaussian and its derivatives. From a sigma of 0.5 pixels on,
 * its impulse response is within 1e-5 of the sampled Gaussian, relative to the value at its centre (Deriche: 3e-3).
 * From 1.5 pixels on, first and second derivatives of Gaussian blobs, whose width is a quarter of Sigma and at least
 * one pixel, are within 2e-4 and 1e-3 of their largest value (docs/developer/numerics.md). On the host, Deriche runs
 * the superclass's code; Accurate runs this module's code, in double, on the superclass's threads.
 *
 * On the GPU the filter is a sum of second-order sections, which keep float accuracy at every Sigma: the error is below
 * 1e-6, 2e-6 and 5e-6 of the largest absolute pixel value times the kernel's L1 norm for Sigma up to 50, 100 and 500
 * pixels. Images of float, char and short types are computed in float, images of double and int types in double.
 * Integer outputs are truncated toward zero, as in the superclass; values out of range are clamped.
 *
 * Backend selects where the filter runs. Automatic (default) uses the GPU if one is usable, the pixel type is
 * supported, and the working set of two to three images fits into its memory; otherwise the superclass runs on the
 * host. Cuda throws CudaError instead of falling back. Host runs the superclass. GetBackendUsed() and
 * GetBackendReason() tell what the last run did and why. The GPU supports scalars of 8, 16 and 32 bits, float and
 * double, fixed vectors, colours and tensors of them, and VectorImage, in 1 to 4 dimensions.
 *
 * The image is uploaded and downloaded once. A pixel costs about 45 floating-point operations (65 with Accurate),
 * independently of Sigma.
 *
 * A NaN or infinite pixel spoils at most its line, as in the superclass (docs/developer/numerics.md).
 *
 * \exception ExceptionObject if Approximation is Accurate and the GPU does not support the type of the images
 *
 * \code
 * auto filter = itk::CudaRecursiveGaussianImageFilter<ImageType>::New();
 * filter->SetInput(image);
 * filter->SetDirection(0);
 * filter->SetFirstOrder();
 * filter->SetSigma(2.5);
 * filter->Update();
 * \endcode
 *
 * \sa CudaSmoothingRecursiveGaussianImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT CudaRecursiveGaussianImageFilter
  : public CudaGaussianImageFilterBase<
      CudaFilterSuperclass<TInputImage, TOutputImage, RecursiveGaussianImageFilter, CudaDeviceLineGaussianFilter>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaRecursiveGaussianImageFilter);

  using Self = CudaRecursiveGaussianImageFilter;
  using Superclass = CudaGaussianImageFilterBase<
    CudaFilterSuperclass<TInputImage, TOutputImage, RecursiveGaussianImageFilter, CudaDeviceLineGaussianFilter>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using OutputImageRegionType = typename Superclass::OutputImageRegionType;

  itkNewMacro(Self);
  itkTypeMacro(CudaRecursiveGaussianImageFilter, RecursiveGaussianImageFilter);

protected:
  CudaRecursiveGaussianImageFilter() = default;
  ~CudaRecursiveGaussianImageFilter() override = default;

  CudaDetail::CudaGaussianPlan
  MakePlan() const override;
  void
  VerifyLineLengths() const override;
  std::string
  GetHostPreference() const override;
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaRecursiveGaussianImageFilter.hxx"
#endif

#endif

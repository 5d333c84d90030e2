// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGradientMagnitudeRecursiveGaussianImageFilter_h
#define itkCudaGradientMagnitudeRecursiveGaussianImageFilter_h

#include "itkCudaDetailFilterRun.h"
#include "itkCudaGaussianImageFilterBase.h"
#include "itkGradientMagnitudeRecursiveGaussianImageFilter.h"

namespace itk
{
/** \class CudaGradientMagnitudeRecursiveGaussianImageFilter
 * \brief GradientMagnitudeRecursiveGaussianImageFilter on an NVIDIA GPU: length of the gradient of the smoothed image.
 *
 * The output is the square root of the sum of the squared derivatives along the axes, in intensity per physical unit.
 * Sigma is in physical units (default 1, must be greater than 0); every axis needs at least four pixels.
 *
 * On the GPU the passes are shared as in CudaGradientRecursiveGaussianImageFilter, and the last passes add the squares.
 *
 * CudaRecursiveGaussianImageFilter describes coefficients, accuracy, conversion to integer types, supported types, and
 * the parameters Approximation, Backend and DeviceIndex.
 *
 * A NaN or infinite pixel can spoil the whole image, as in the superclass (docs/developer/numerics.md).
 *
 * \code
 * auto filter = itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<ImageType>::New();
 * filter->SetInput(image);
 * filter->SetSigma(2.0);
 * filter->Update();
 * \endcode
 *
 * \sa CudaSmoothingRecursiveGaussianImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT CudaGradientMagnitudeRecursiveGaussianImageFilter
  : public CudaGaussianImageFilterBase<CudaFilterSuperclass<TInputImage,
                                                            TOutputImage,
                                                            GradientMagnitudeRecursiveGaussianImageFilter,
                                                            CudaDeviceInPlaceGaussianFilter>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaGradientMagnitudeRecursiveGaussianImageFilter);

  using Self = CudaGradientMagnitudeRecursiveGaussianImageFilter;
  using Superclass = CudaGaussianImageFilterBase<CudaFilterSuperclass<TInputImage,
                                                                      TOutputImage,
                                                                      GradientMagnitudeRecursiveGaussianImageFilter,
                                                                      CudaDeviceInPlaceGaussianFilter>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  // The superclass accesses an array of ImageDimension - 1 filters, which is empty for one dimension.
  static_assert(TInputImage::ImageDimension >= 2, "This filter needs images of two dimensions or more");

  itkNewMacro(Self);
  itkTypeMacro(CudaGradientMagnitudeRecursiveGaussianImageFilter, GradientMagnitudeRecursiveGaussianImageFilter);

protected:
  CudaGradientMagnitudeRecursiveGaussianImageFilter() = default;
  ~CudaGradientMagnitudeRecursiveGaussianImageFilter() override = default;

  CudaDetail::CudaGaussianPlan
  MakePlan() const override
  {
    return CudaDetail::MakeGradientMagnitudePlan(this->MakeParameters());
  }

  void
  AllocateOutputs() override
  {
    CudaDetail::CudaUsePooledOutput(this->GetOutput());
    // Do not run in place, because ITK's class keeps its input even with InPlace on.
    ImageSource<TOutputImage>::AllocateOutputs();
  }
};
} // end namespace itk

#endif

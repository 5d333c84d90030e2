// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaLaplacianRecursiveGaussianImageFilter_h
#define itkCudaLaplacianRecursiveGaussianImageFilter_h

#include "itkCudaGaussianImageFilterBase.h"
#include "itkLaplacianRecursiveGaussianImageFilter.h"

namespace itk
{
/** \class CudaLaplacianRecursiveGaussianImageFilter
 * \brief LaplacianRecursiveGaussianImageFilter on an NVIDIA GPU: Laplacian of the smoothed image.
 *
 * The output is the sum of the second derivatives along the axes, in intensity per squared physical unit. Sigma is in
 * physical units (default 1, must be greater than 0); every axis needs four pixels.
 *
 * On the GPU the passes are shared as in CudaGradientRecursiveGaussianImageFilter, and the last passes add the
 * derivatives.
 *
 * CudaRecursiveGaussianImageFilter describes coefficients, accuracy, conversion to integer types, supported types, and
 * the parameters Approximation, Backend and DeviceIndex.
 *
 * A NaN or infinite pixel can spoil the whole image, as in the superclass (docs/developer/numerics.md).
 *
 * \code
 * auto filter = itk::CudaLaplacianRecursiveGaussianImageFilter<ImageType>::New();
 * filter->SetInput(image);
 * filter->SetSigma(2.0);
 * filter->Update();
 * \endcode
 *
 * \sa CudaSmoothingRecursiveGaussianImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT CudaLaplacianRecursiveGaussianImageFilter
  : public CudaGaussianImageFilterBase<
      CudaFilterSuperclass<TInputImage, TOutputImage, LaplacianRecursiveGaussianImageFilter, CudaDeviceGaussianFilter>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaLaplacianRecursiveGaussianImageFilter);

  using Self = CudaLaplacianRecursiveGaussianImageFilter;
  using Superclass = CudaGaussianImageFilterBase<
    CudaFilterSuperclass<TInputImage, TOutputImage, LaplacianRecursiveGaussianImageFilter, CudaDeviceGaussianFilter>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  // The superclass accesses an array of ImageDimension - 1 filters, which is empty for one dimension.
  static_assert(TInputImage::ImageDimension >= 2, "This filter needs images of two dimensions or more");

  itkNewMacro(Self);
  itkTypeMacro(CudaLaplacianRecursiveGaussianImageFilter, LaplacianRecursiveGaussianImageFilter);

protected:
  CudaLaplacianRecursiveGaussianImageFilter() = default;
  ~CudaLaplacianRecursiveGaussianImageFilter() override = default;

  CudaDetail::CudaGaussianPlan
  MakePlan() const override
  {
    return CudaDetail::MakeLaplacianPlan(this->MakeParameters());
  }
};
} // end namespace itk

#endif

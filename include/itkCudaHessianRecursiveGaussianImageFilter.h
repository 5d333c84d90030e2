// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHessianRecursiveGaussianImageFilter_h
#define itkCudaHessianRecursiveGaussianImageFilter_h

#include "itkCudaGaussianImageFilterBase.h"
#include "itkHessianRecursiveGaussianImageFilter.h"

namespace itk
{
/** \class CudaHessianRecursiveGaussianImageFilter
 * \brief HessianRecursiveGaussianImageFilter on an NVIDIA GPU: second derivatives of the smoothed image.
 *
 * The output is the symmetric tensor of the second derivatives along pairs of axes, stored as its upper triangle row
 * after row, in intensity per squared physical unit. Sigma is in physical units (default 1, must be greater than 0);
 * every axis needs at least four pixels.
 *
 * On the GPU the passes are shared as in CudaGradientRecursiveGaussianImageFilter. In three dimensions the image is
 * read 10 times and written 15 times; separate passes for each derivative would read and write it 18 times.
 *
 * CudaRecursiveGaussianImageFilter describes coefficients, accuracy, conversion to integer types, supported types, and
 * the parameters Approximation, Backend and DeviceIndex.
 *
 * A NaN or infinite pixel can spoil the whole image, as in the superclass (docs/developer/numerics.md).
 *
 * \code
 * auto filter = itk::CudaHessianRecursiveGaussianImageFilter<ImageType>::New();
 * filter->SetInput(image);
 * filter->SetSigma(2.0);
 * filter->Update();
 * \endcode
 *
 * \sa CudaSmoothingRecursiveGaussianImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage,
          typename TOutputImage =
            CudaImageBeside<TInputImage,
                            SymmetricSecondRankTensor<typename NumericTraits<typename TInputImage::PixelType>::RealType,
                                                      TInputImage::ImageDimension>>>
class ITK_TEMPLATE_EXPORT CudaHessianRecursiveGaussianImageFilter
  : public CudaGaussianImageFilterBase<
      CudaFilterSuperclass<TInputImage, TOutputImage, HessianRecursiveGaussianImageFilter, CudaDeviceGaussianFilter>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaHessianRecursiveGaussianImageFilter);

  using Self = CudaHessianRecursiveGaussianImageFilter;
  using Superclass = CudaGaussianImageFilterBase<
    CudaFilterSuperclass<TInputImage, TOutputImage, HessianRecursiveGaussianImageFilter, CudaDeviceGaussianFilter>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  // A mixed derivative needs two axes.
  static_assert(TInputImage::ImageDimension >= 2, "This filter needs images of two dimensions or more");

  itkNewMacro(Self);
  itkTypeMacro(CudaHessianRecursiveGaussianImageFilter, HessianRecursiveGaussianImageFilter);

protected:
  CudaHessianRecursiveGaussianImageFilter() = default;
  ~CudaHessianRecursiveGaussianImageFilter() override = default;

  CudaDetail::CudaGaussianPlan
  MakePlan() const override
  {
    return CudaDetail::MakeHessianPlan(this->MakeParameters());
  }
};
} // end namespace itk

#endif

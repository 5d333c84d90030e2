// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGradientRecursiveGaussianImageFilter_h
#define itkCudaGradientRecursiveGaussianImageFilter_h

#include "itkCudaGaussianImageFilterBase.h"
#include "itkGradientRecursiveGaussianImageFilter.h"

namespace itk
{
/** \class CudaGradientRecursiveGaussianImageFilter
 * \brief GradientRecursiveGaussianImageFilter on an NVIDIA GPU: gradient of the smoothed image.
 *
 * The output is the vector of the derivatives of the smoothed image along the axes, in intensity per physical unit.
 * With UseImageDirection (on by default) the vectors are rotated from the image's axes to physical ones. Each component
 * of a vector image gives one gradient; the gradients follow each other. Sigma or SigmaArray are in physical units
 * (default 1, each must be greater than 0); every axis needs at least four pixels.
 *
 * Unequal sigmas mean the same as in the superclass, which gives them to its internal filters, not to the axes. With
 * SigmaArray {1, 8}, component 0 is the derivative along x with sigma 8, smoothed along y with sigma 1, and component 1
 * is the derivative along y with sigma 8, smoothed along x with sigma 1. With Approximation Accurate, which the
 * superclass does not have, sigma i belongs to axis i.
 *
 * On the GPU the derivatives share the passes along the later axes, and a pass reads its source once for all
 * derivatives. In three dimensions the image is read 6 times and written 8 times.
 *
 * CudaRecursiveGaussianImageFilter describes coefficients, accuracy, conversion to integer types, supported types, and
 * the parameters Approximation, Backend and DeviceIndex.
 *
 * A NaN or infinite pixel can spoil the whole image, as in the superclass (docs/developer/numerics.md).
 *
 * \code
 * auto filter = itk::CudaGradientRecursiveGaussianImageFilter<ImageType>::New();
 * filter->SetInput(image);
 * filter->SetSigma(2.0);
 * filter->Update();
 * \endcode
 *
 * \sa CudaSmoothingRecursiveGaussianImageFilter
 * \ingroup CudaFilters
 */
template <
  typename TInputImage,
  typename TOutputImage = CudaImageBeside<
    TInputImage,
    CovariantVector<typename NumericTraits<typename TInputImage::PixelType>::RealType, TInputImage::ImageDimension>>>
class ITK_TEMPLATE_EXPORT CudaGradientRecursiveGaussianImageFilter
  : public CudaGaussianImageFilterBase<CudaFilterSuperclass<TInputImage,
                                                            TOutputImage,
                                                            GradientRecursiveGaussianImageFilter,
                                                            CudaDeviceAxesGaussianFilter>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaGradientRecursiveGaussianImageFilter);

  using Self = CudaGradientRecursiveGaussianImageFilter;
  using Superclass = CudaGaussianImageFilterBase<CudaFilterSuperclass<TInputImage,
                                                                      TOutputImage,
                                                                      GradientRecursiveGaussianImageFilter,
                                                                      CudaDeviceAxesGaussianFilter>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkTypeMacro(CudaGradientRecursiveGaussianImageFilter, GradientRecursiveGaussianImageFilter);

protected:
  CudaGradientRecursiveGaussianImageFilter() = default;
  ~CudaGradientRecursiveGaussianImageFilter() override = default;

  /** Returns whether the superclass supports the parameters and the images. If the output is a VectorImage, it computes
   * the gradient of the first component only. */
  bool
  IsSuperclassEnough() const override;
  CudaDetail::CudaGaussianPlan
  MakePlan() const override;
  void
  CopyParametersTo(typename Superclass::Superclass & filter) const override;
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaGradientRecursiveGaussianImageFilter.hxx"
#endif

#endif

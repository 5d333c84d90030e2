// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSmoothingRecursiveGaussianImageFilter_h
#define itkCudaSmoothingRecursiveGaussianImageFilter_h

#include "itkCudaGaussianImageFilterBase.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

namespace itk
{
/** \class CudaSmoothingRecursiveGaussianImageFilter
 * \brief SmoothingRecursiveGaussianImageFilter on an NVIDIA GPU: Gaussian smoothing along all axes.
 *
 * Convolves the image with the recursive approximation of a Gaussian along every axis, each component of a pixel by
 * itself. All parameters, defaults and exceptions are those of the superclass: Sigma or SigmaArray in the image's
 * physical units (default 1, each must be greater than 0). Every axis needs at least four pixels; lines continue beyond
 * their ends with their edge values. BoundaryMode continues them in other ways (CudaRecursiveGaussianImageFilter).
 *
 * The image is uploaded once, all axes are filtered on the GPU, and the result is downloaded once. Between the axes
 * pixels are float (char, short and float images) or double (int and double images). The superclass rounds pixels of
 * int and double to float between axes. CudaRecursiveGaussianImageFilter describes coefficients, accuracy, conversion
 * to integer types, supported types, and the parameters Approximation, Backend and DeviceIndex.
 *
 * A pixel costs about 45 floating-point operations for each axis, whatever Sigma is. On the GPU the filter holds two
 * images, and for types other than float and double scalars a third one in the type of the input or output.
 *
 * A NaN or infinite pixel can spoil the whole image, as in the superclass (docs/numerics.md).
 *
 * \code
 * auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
 * filter->SetInput(image);
 * filter->SetSigma(4.0);
 * filter->Update();
 * \endcode
 *
 * \sa CudaRecursiveGaussianImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT CudaSmoothingRecursiveGaussianImageFilter
  : public CudaGaussianImageFilterBase<CudaFilterSuperclass<TInputImage,
                                                            TOutputImage,
                                                            SmoothingRecursiveGaussianImageFilter,
                                                            CudaDeviceSmoothingGaussianFilter>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaSmoothingRecursiveGaussianImageFilter);

  using Self = CudaSmoothingRecursiveGaussianImageFilter;
  using Superclass = CudaGaussianImageFilterBase<CudaFilterSuperclass<TInputImage,
                                                                      TOutputImage,
                                                                      SmoothingRecursiveGaussianImageFilter,
                                                                      CudaDeviceSmoothingGaussianFilter>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  // The superclass indexes an array of ImageDimension - 1 filters.
  static_assert(TInputImage::ImageDimension >= 2, "Use CudaRecursiveGaussianImageFilter for images of one dimension");

  itkNewMacro(Self);
  itkTypeMacro(CudaSmoothingRecursiveGaussianImageFilter, SmoothingRecursiveGaussianImageFilter);

protected:
  CudaSmoothingRecursiveGaussianImageFilter() = default;
  ~CudaSmoothingRecursiveGaussianImageFilter() override = default;

  CudaDetail::CudaGaussianPlan
  MakePlan() const override;
  void
  CopyParametersTo(typename Superclass::Superclass & filter) const override;
  void
  GenerateDataBySuperclass() override;
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaSmoothingRecursiveGaussianImageFilter.hxx"
#endif

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGradientRecursiveGaussianImageFilter_h
#define itkCudaGradientRecursiveGaussianImageFilter_h

#include "itkCudaFilterBackend.h"
#include "itkCudaGaussianApproximation.h"
#include "itkGradientRecursiveGaussianImageFilter.h"

namespace itk
{
/** \class CudaGradientRecursiveGaussianImageFilter
 * \brief GradientRecursiveGaussianImageFilter on an NVIDIA GPU: gradient of the smoothed image.
 *
 * The derivative along each axis is that of the image smoothed along all axes, in intensity per physical unit. With
 * UseImageDirection (on by default) the vectors are turned from the image's axes to physical ones. Each component of a
 * vector image gives one gradient, one after the other. Sigma or SigmaArray are in physical units (default 1, each must
 * be greater than 0); every axis needs four pixels.
 *
 * On the GPU the passes along the later axes are shared between the derivatives, and those along one axis read their
 * source once for all derivatives: 6 reads of the image and 8 writes in three dimensions.
 *
 * Coefficients, accuracy, conversion to integer types, supported types, and the parameters Approximation, Backend and
 * DeviceIndex: CudaRecursiveGaussianImageFilter.
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
  typename TOutputImage = Image<
    CovariantVector<typename NumericTraits<typename TInputImage::PixelType>::RealType, TInputImage::ImageDimension>,
    TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaGradientRecursiveGaussianImageFilter
  : public GradientRecursiveGaussianImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaGradientRecursiveGaussianImageFilter);

  using Self = CudaGradientRecursiveGaussianImageFilter;
  using Superclass = GradientRecursiveGaussianImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = typename Superclass::InputImageType;
  using OutputImageType = typename Superclass::OutputImageType;

  itkNewMacro(Self);
  itkTypeMacro(CudaGradientRecursiveGaussianImageFilter, GradientRecursiveGaussianImageFilter);

  itkCudaFilterBackendMacro();
  itkCudaGaussianApproximationMacro();

protected:
  CudaGradientRecursiveGaussianImageFilter() = default;
  ~CudaGradientRecursiveGaussianImageFilter() override = default;

  void
  AllocateOutputs() override;
  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaGradientRecursiveGaussianImageFilter.hxx"
#endif

#endif

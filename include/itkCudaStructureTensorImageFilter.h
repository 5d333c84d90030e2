// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStructureTensorImageFilter_h
#define itkCudaStructureTensorImageFilter_h

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "itkCudaDeviceGaussianFilters.h"
#include "itkCudaFiltersEnums.h"
#include "itkImageToImageFilter.h"
#include "itkSymmetricSecondRankTensor.h"

#include <string>

namespace itk
{
/** \class CudaStructureTensorImageFilter
 * \brief The structure tensor on an NVIDIA GPU: the smoothed products of an image's derivatives.
 *
 * \f[ J = G_\rho * \left( \nabla (G_\sigma * I) \; \nabla (G_\sigma * I)^T \right) \f]
 *
 * (W. Foerstner and E. Guelch, ISPRS Intercommission Workshop, Interlaken, 1987; J. Bigun and G. H. Granlund, ICCV
 * 1987.) Sigma (default 1) is the standard deviation \f$ \sigma \f$ of the Gaussian whose derivatives are taken.
 * IntegrationSigma (default 2) is the standard deviation \f$ \rho \f$ of the neighbourhood in which the products are
 * averaged. Both are in physical units. Derivatives are per physical unit, along the axes of the image. Approximation
 * selects the recursive Gaussians: Deriche (default), as in RecursiveGaussianImageFilter, or Accurate.
 *
 * Quantity selects the output: the components of the tensor (default), a SymmetricSecondRankTensor; its eigenvalues in
 * ascending order or its orientation, an array with as many components as the image has axes; or its coherence, a
 * number. CudaStructureTensorEnums explains them.
 *
 * Images have two or three dimensions, and at least four pixels along each axis. Input or output, or both, may be
 * device images (CudaDeviceImage). The arithmetic is double if the input or the output is of double, int or unsigned
 * int, otherwise float. A NaN or infinite pixel spoils the lines through it and through the pixels of these lines.
 *
 * Backend selects where the filter runs. Automatic (default) uses the GPU if one is usable and the images fit into its
 * memory. Otherwise the same steps run on ITK's threads, with lines in double. Cuda throws CudaError instead of falling
 * back. There is no fallback for device images.
 *
 * \code
 * auto filter = itk::CudaStructureTensorImageFilter<itk::Image<float, 3>>::New();
 * filter->SetInput(image);
 * filter->SetSigma(1.0);
 * filter->SetIntegrationSigma(3.0);
 * filter->Update();
 * \endcode
 *
 * \exception ExceptionObject if a sigma is not above 0, an axis has fewer than four pixels, or the output's pixels do
 * not have the components of Quantity
 *
 * \sa CudaSymmetricEigenAnalysisImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage,
          typename TOutputImage =
            CudaImageBeside<TInputImage, SymmetricSecondRankTensor<float, TInputImage::ImageDimension>>>
class ITK_TEMPLATE_EXPORT CudaStructureTensorImageFilter
  : public CudaFilterSuperclass<TInputImage, TOutputImage, ImageToImageFilter, CudaDeviceImageFilter>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaStructureTensorImageFilter);

  using Self = CudaStructureTensorImageFilter;
  using Superclass = CudaFilterSuperclass<TInputImage, TOutputImage, ImageToImageFilter, CudaDeviceImageFilter>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;
  using QuantityEnum = CudaStructureTensorEnums::Quantity;
  using ApproximationEnum = CudaFiltersEnums::Approximation;

  static constexpr unsigned int ImageDimension = TInputImage::ImageDimension;

  static_assert(ImageDimension == 2 || ImageDimension == 3, "Images must have two or three dimensions");
  static_assert(unsigned{ TInputImage::ImageDimension } == unsigned{ TOutputImage::ImageDimension },
                "Input and output must have the same dimension");
  static_assert(CudaDetail::CudaDevicePixelTraits<typename TInputImage::PixelType>::Length == 1,
                "The input's pixels must be numbers");
  static_assert(CudaHasDeviceImage<TInputImage, TOutputImage> ||
                  (CudaDetail::CudaImageTraits<TInputImage>::IsSupported &&
                   CudaDetail::CudaImageTraits<TOutputImage>::IsSupported),
                "Input and output must be images of pixels that the module supports");

  itkNewMacro(Self);
  itkTypeMacro(CudaStructureTensorImageFilter, ImageToImageFilter);

  itkCudaFilterBackendMacro();

  /** The standard deviation of the Gaussian whose derivatives are taken, in physical units, above 0; default 1. */
  itkSetMacro(Sigma, double);
  itkGetConstMacro(Sigma, double);

  /** The standard deviation of the neighbourhood of the averages, in physical units, above 0; default 2. */
  itkSetMacro(IntegrationSigma, double);
  itkGetConstMacro(IntegrationSigma, double);

  /** What the output holds: Components (default), Eigenvalues, Orientation or Coherence. */
  itkSetEnumMacro(Quantity, QuantityEnum);
  itkGetConstMacro(Quantity, QuantityEnum);

  /** The exponentials that approximate the Gaussian: Deriche (default) or Accurate. */
  itkSetGetCudaEnumMacro(Approximation, ApproximationEnum);

protected:
  CudaStructureTensorImageFilter() = default;
  ~CudaStructureTensorImageFilter() override = default;

  void
  GenerateOutputInformation() override;
  void
  GenerateInputRequestedRegion() override;
  void
  EnlargeOutputRequestedRegion(DataObject * output) override;
  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  CudaDetail::CudaStructureTensorPlan
  MakePlan() const;

  double            m_Sigma{ 1.0 };
  double            m_IntegrationSigma{ 2.0 };
  QuantityEnum      m_Quantity{ QuantityEnum::Components };
  ApproximationEnum m_Approximation{ ApproximationEnum::Deriche };
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaStructureTensorImageFilter.hxx"
#endif

#endif

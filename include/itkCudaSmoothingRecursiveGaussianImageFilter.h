// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSmoothingRecursiveGaussianImageFilter_h
#define itkCudaSmoothingRecursiveGaussianImageFilter_h

#include "itkCudaGaussianImageFilterBase.h"
#include "itkSmoothingRecursiveGaussianImageFilter.h"

#include <cmath>
#include <limits>
#include <string>

namespace itk
{
/** \class CudaSmoothingRecursiveGaussianImageFilter
 * \brief SmoothingRecursiveGaussianImageFilter on an NVIDIA GPU: Gaussian smoothing along all axes.
 *
 * The filter convolves each component of the image with the recursive approximation of a Gaussian along every axis. The
 * parameters, defaults and exceptions are the superclass's: Sigma or SigmaArray in the image's physical units (default
 * 1, each must be greater than 0). Every axis needs at least four pixels; lines continue beyond their ends with their
 * edge values. BoundaryMode selects other continuations (CudaRecursiveGaussianImageFilter).
 *
 * The image is uploaded once, all axes are filtered on the GPU, and the result is downloaded once. Between the axes,
 * pixels are float (char, short and float images) or double (int and double images). The superclass rounds pixels of
 * int and double to float between axes. CudaRecursiveGaussianImageFilter describes coefficients, accuracy, conversion
 * to integer types, supported types, and the parameters Approximation, Backend and DeviceIndex.
 *
 * A pixel costs about 45 floating-point operations for each axis, independently of Sigma. On the GPU the filter holds
 * two images, and for types other than float and double scalars a third one in the type of the input or output.
 *
 * A NaN or infinite pixel can spoil the whole image, as in the superclass (docs/developer/numerics.md).
 *
 * With a ValidMask the filter smooths only over the pixels where the mask is not 0 (normalised convolution):
 * \f[ y = \frac{G(m x)}{G(m)}, \qquad m \in \{0, 1\}. \f]
 * The values of the other pixels, which may be NaN, do not change a bit of the output. These pixels get output values,
 * too, from the valid pixels around them. Where the weight \f$ G(m) \f$ is below 1e-3 (with Approximation Deriche,
 * whose kernel undershoots: 1e-2), which means far from any valid pixel, the output is FillValue. The error is that of
 * the filter divided by the weight. The mask has the image's region and geometry and applies to all components of a
 * pixel. It is a host image, also for device images, and is uploaded for each run.
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

  // The superclass accesses an array of ImageDimension - 1 filters, which is empty for one dimension.
  static_assert(TInputImage::ImageDimension >= 2, "Use CudaRecursiveGaussianImageFilter for images of one dimension");

  using MaskImageType = Image<unsigned char, TInputImage::ImageDimension>;

  itkNewMacro(Self);
  itkTypeMacro(CudaSmoothingRecursiveGaussianImageFilter, SmoothingRecursiveGaussianImageFilter);

  /** The mask of the pixels to smooth over, which are those where it is not 0. Without a mask (default) all pixels
   * count. */
  itkSetInputMacro(ValidMask, MaskImageType);
  itkGetInputMacro(ValidMask, MaskImageType);

  /** Sets the output value of pixels that have too few valid pixels around them; default NaN. In images of integers NaN
   * becomes 0. */
  void
  SetFillValue(double value)
  {
    if (!(m_FillValue == value || (std::isnan(m_FillValue) && std::isnan(value))))
    {
      m_FillValue = value;
      this->Modified();
    }
  }
  double
  GetFillValue() const
  {
    return m_FillValue;
  }

protected:
  CudaSmoothingRecursiveGaussianImageFilter() = default;
  ~CudaSmoothingRecursiveGaussianImageFilter() override = default;

  void
  VerifyInputInformation() ITKv5_CONST override;
  bool
  IsSuperclassEnough() const override;
  bool
  HasFurtherInput() const override
  {
    return this->GetValidMask() != nullptr;
  }
  void
  AddInputsTo(CudaDetail::CudaGaussianPlan & plan) const override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  CudaDetail::CudaGaussianPlan
  MakePlan() const override;
  void
  CopyParametersTo(typename Superclass::Superclass & filter) const override;
  void
  GenerateDataBySuperclass() override;

private:
  double m_FillValue{ std::numeric_limits<double>::quiet_NaN() };
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaSmoothingRecursiveGaussianImageFilter.hxx"
#endif

#endif

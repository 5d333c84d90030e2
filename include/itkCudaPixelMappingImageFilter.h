// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPixelMappingImageFilter_h
#define itkCudaPixelMappingImageFilter_h

#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDeviceImage.h"
#include "itkImageToImageFilter.h"
#include "itkNumericTraits.h"

#include <string>

namespace itk
{
/** \class CudaPixelMappingImageFilter
 * \brief Maps each component of a device image and converts it to the type of the output, in a single kernel.
 *
 * The input is a CudaDeviceImage. The output is a device image of the same dimension and number of components, by
 * default of the input's type, or an Image or VectorImage of the host. Without parameters the filter casts between
 * device images: for integer outputs, reals are truncated toward zero and clamped to the range of the type, and NaN
 * becomes 0.
 *
 * A component becomes (value + Shift) * Scale, with Shift 0 and Scale 1 by default, as in ShiftScaleImageFilter. At
 * most one of the following mappings is applied to the result; switching on two of them throws an exception.
 *
 * UseWindow maps as IntensityWindowingImageFilter does: from WindowMinimum to WindowMaximum, linearly to OutputMinimum
 * to OutputMaximum. Values beyond the window become OutputMinimum or OutputMaximum.
 *
 * UseThreshold maps as BinaryThresholdImageFilter does: values from LowerThreshold to UpperThreshold, both included,
 * become InsideValue, others OutsideValue.
 *
 * UseSigmoid maps as SigmoidImageFilter does, to (OutputMaximum - OutputMinimum) / (1 + exp(-(value - Beta) / Alpha)) +
 * OutputMinimum. Alpha (1) is the width of the ramp and must not be 0; a negative Alpha makes the ramp fall. Beta (0)
 * is the center of the ramp. Both are in the units of the value. The exponential is the module's own, accurate to four
 * ulp, so that the GPU gives the same bits as the host. OutputMinimum is by default the lowest value of the output's
 * type, as for the window; ITK's sigmoid for reals has the smallest positive value instead.
 *
 * Names and defaults are otherwise those of ITK's filters. The three mappings work on the values after shift and scale.
 * Windows and thresholds without shift and scale give the same bits as ITK's filters.
 *
 * Longer sequences of steps are not needed. A shift and scale after a mapping only changes OutputMinimum,
 * OutputMaximum, InsideValue and OutsideValue. A threshold after a mapping is a threshold of other values. A window
 * after a window is another window. Only a window before a sigmoid, which truncates its ends, needs two filters.
 *
 * A shift and scale alone is computed in float, or in double if either type is double, int or unsigned int. With one of
 * the three mappings, everything is computed in double. For integer outputs the result is then truncated toward zero,
 * or with Rounding Nearest rounded to the nearest integer (halves to the even one), and clamped to the type's range.
 * Rounding has no effect on real outputs and on thresholds. A threshold maps NaN to OutsideValue; otherwise NaN stays
 * NaN in reals and becomes 0 in integers.
 *
 * The filter computes the requested region on the input's device. It reads and writes each component once. If the
 * output is a device image, Update() queues the work and returns; for a host image see CudaDownloadImageFilter.
 *
 * \code
 * using FloatType = itk::CudaDeviceImage<float, 3>;
 * auto speed = itk::CudaPixelMappingImageFilter<FloatType>::New();
 * speed->SetInput(gradientMagnitude);
 * speed->UseSigmoidOn();
 * speed->SetAlpha(-0.5);
 * speed->SetBeta(3.0);
 * speed->SetOutputMinimum(0.0f);
 * speed->SetOutputMaximum(1.0f);
 * speed->Update();
 *
 * auto bytes = itk::CudaPixelMappingImageFilter<FloatType, itk::CudaDeviceImage<unsigned char, 3>>::New(); // a cast
 * \endcode
 *
 * \exception CudaError if a CUDA call failed, or memory has run out
 * \exception ExceptionObject if the input does not hold the requested pixels; if two of UseWindow, UseThreshold and
 * UseSigmoid are on; if Shift or Scale is not finite; if WindowMinimum is not less than WindowMaximum, or
 * LowerThreshold is greater than UpperThreshold; if Alpha is 0, or Alpha, Beta or OutputMaximum - OutputMinimum of a
 * sigmoid is not finite
 *
 * \sa CudaDownloadImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = TInputImage>
class ITK_TEMPLATE_EXPORT CudaPixelMappingImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaPixelMappingImageFilter);

  using Self = CudaPixelMappingImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;
  using InputComponentType = typename TInputImage::ComponentType;
  using OutputComponentType = typename CudaDetail::CudaImageTraits<TOutputImage>::ComponentType;

  static_assert(CudaIsDeviceImage<TInputImage>::value,
                "CudaPixelMappingImageFilter: the input must be a CudaDeviceImage");
  static_assert(
    CudaIsDeviceImage<TOutputImage>::value || CudaDetail::CudaImageTraits<TOutputImage>::IsSupported,
    "CudaPixelMappingImageFilter: the output must be a CudaDeviceImage, or an Image or VectorImage of pixels "
    "that the module supports");
  static_assert(unsigned{ TInputImage::ImageDimension } == unsigned{ TOutputImage::ImageDimension },
                "CudaPixelMappingImageFilter: input and output must have the same dimension");

  itkNewMacro(Self);
  itkTypeMacro(CudaPixelMappingImageFilter, ImageToImageFilter);

  /** The value added to each component before it is multiplied by Scale; default 0. */
  itkSetMacro(Shift, double);
  itkGetConstMacro(Shift, double);

  /** The factor by which each component is multiplied; default 1. */
  itkSetMacro(Scale, double);
  itkGetConstMacro(Scale, double);

  /** How reals are converted to integers: Truncate (default) or Nearest.
   * \exception ExceptionObject if the name is unknown */
  itkSetMacro(Rounding, CudaRounding);
  itkGetConstMacro(Rounding, CudaRounding);
  void
  SetRounding(const std::string & name)
  {
    this->SetRounding(CudaRoundingFromString(name));
  }

  /** Whether a sigmoid maps the components; default off. */
  itkSetMacro(UseSigmoid, bool);
  itkGetConstMacro(UseSigmoid, bool);
  itkBooleanMacro(UseSigmoid);

  /** The width of the sigmoid's ramp; default 1. It must not be 0. */
  itkSetMacro(Alpha, double);
  itkGetConstMacro(Alpha, double);

  /** The value that the sigmoid maps halfway between OutputMinimum and OutputMaximum; default 0. */
  itkSetMacro(Beta, double);
  itkGetConstMacro(Beta, double);

  /** Whether a window maps the components; default off. */
  itkSetMacro(UseWindow, bool);
  itkGetConstMacro(UseWindow, bool);
  itkBooleanMacro(UseWindow);

  /** The window; default: the range of the input's components. The minimum must be less than the maximum. The type is
   * the input's, as in ITK, so that for integers the window begins and ends at whole numbers even after a shift and
   * scale.
   */
  itkSetMacro(WindowMinimum, InputComponentType);
  itkGetConstMacro(WindowMinimum, InputComponentType);
  itkSetMacro(WindowMaximum, InputComponentType);
  itkGetConstMacro(WindowMaximum, InputComponentType);

  /** The values to which the ends of the window, or of the sigmoid's ramp, are mapped; default: the range of the
   * output's components. */
  itkSetMacro(OutputMinimum, OutputComponentType);
  itkGetConstMacro(OutputMinimum, OutputComponentType);
  itkSetMacro(OutputMaximum, OutputComponentType);
  itkGetConstMacro(OutputMaximum, OutputComponentType);

  /** Whether a threshold maps the components to one of two values; default off. */
  itkSetMacro(UseThreshold, bool);
  itkGetConstMacro(UseThreshold, bool);
  itkBooleanMacro(UseThreshold);

  /** The thresholds; default: the range of the input's components. Their type is the input's, as for windows. */
  itkSetMacro(LowerThreshold, InputComponentType);
  itkGetConstMacro(LowerThreshold, InputComponentType);
  itkSetMacro(UpperThreshold, InputComponentType);
  itkGetConstMacro(UpperThreshold, InputComponentType);

  /** The value for components between the thresholds, both included; default: the greatest value of the output's
   * components. */
  itkSetMacro(InsideValue, OutputComponentType);
  itkGetConstMacro(InsideValue, OutputComponentType);

  /** The value for all other components; default 0. */
  itkSetMacro(OutsideValue, OutputComponentType);
  itkGetConstMacro(OutsideValue, OutputComponentType);

  /** Updates the output as the superclass does. If the output is a host image and a filter upstream throws, it also
   * calls ResetPipeline(), because otherwise ITK's next Update() would do nothing. */
  void
  UpdateOutputData(DataObject * output) override;

protected:
  CudaPixelMappingImageFilter() = default;
  ~CudaPixelMappingImageFilter() override = default;

  void
  VerifyPreconditions() ITKv5_CONST override;
  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  using InputLimits = NumericTraits<InputComponentType>;
  using OutputLimits = NumericTraits<OutputComponentType>;

  void
  VerifyExclusion() const;
  void
  VerifySigmoid() const;

  CudaDetail::CudaPixelConversion
  MakeConversion() const;

  double              m_Shift{ 0.0 };
  double              m_Scale{ 1.0 };
  CudaRounding        m_Rounding{ CudaRounding::Truncate };
  bool                m_UseWindow{ false };
  InputComponentType  m_WindowMinimum{ InputLimits::NonpositiveMin() };
  InputComponentType  m_WindowMaximum{ InputLimits::max() };
  OutputComponentType m_OutputMinimum{ OutputLimits::NonpositiveMin() };
  OutputComponentType m_OutputMaximum{ OutputLimits::max() };
  bool                m_UseThreshold{ false };
  InputComponentType  m_LowerThreshold{ InputLimits::NonpositiveMin() };
  InputComponentType  m_UpperThreshold{ InputLimits::max() };
  OutputComponentType m_InsideValue{ OutputLimits::max() };
  OutputComponentType m_OutsideValue{ 0 };
  bool                m_UseSigmoid{ false };
  double              m_Alpha{ 1.0 };
  double              m_Beta{ 0.0 };
};
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaPixelMappingImageFilter.hxx"
#endif

#endif

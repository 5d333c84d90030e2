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
 * \brief Maps each component of a device image, and converts it to the type of the output: steps in one kernel.
 *
 * Input: a CudaDeviceImage. Output: a device image of the same dimension and number of components, by default of the
 * input's type, or an Image or VectorImage of the host. Without parameters the filter is the cast between device
 * images: reals are truncated toward zero and clamped to the range of integers, NaN becomes 0 in an integer.
 *
 * A component becomes (value + Shift) * Scale, with Shift 0 and Scale 1 by default; the names are those of
 * ShiftScaleImageFilter. Then comes one of these, or none; two of them end in an exception:
 *
 * With UseWindow on it becomes what IntensityWindowingImageFilter makes of it. WindowMinimum and WindowMaximum go to
 * OutputMinimum and OutputMaximum, what lies between them is mapped linearly, and what lies beyond them becomes
 * OutputMinimum or OutputMaximum.
 *
 * With UseThreshold on it becomes what BinaryThresholdImageFilter makes of it: InsideValue from LowerThreshold to
 * UpperThreshold, both included, else OutsideValue.
 *
 * With UseSigmoid on it becomes what SigmoidImageFilter makes of it: (OutputMaximum - OutputMinimum) /
 * (1 + exp(-(value - Beta) / Alpha)) + OutputMinimum. Alpha (1) is the width of the ramp and must not be 0; a negative
 * one makes it fall. Beta (0) is its center. Both are in the units of the value. The exponential is the module's own,
 * within four units in the last place, so the GPU has the bits of the host. OutputMinimum is by default the least value
 * of the output's type, as that of the window; ITK's sigmoid of reals has the least positive one.
 *
 * Names and defaults are otherwise those of ITK's filters. The values that these three take are those after shift and
 * scale. Windows and thresholds without shift and scale have the bits of ITK's filters.
 *
 * A longer list of steps is not needed. A shift and scale behind a mapping only changes OutputMinimum, OutputMaximum,
 * InsideValue and OutsideValue. A threshold behind a mapping is a threshold of other values. A window behind a window
 * is another window, and a window before a sigmoid cuts its ends: that alone takes two filters.
 *
 * A shift and scale alone is computed in float, or in double if either type is double, int or unsigned int. With one of
 * the three all is computed in double. For integer outputs the result is then truncated toward zero, or with Rounding
 * Nearest rounded to the nearest integer, halves to the even one, and clamped to the type's range. Rounding says
 * nothing about real outputs and about thresholds. NaN becomes OutsideValue by a threshold, else it stays NaN in reals
 * and becomes 0 in integers.
 *
 * The filter computes the requested region, on the input's device. It reads and writes each component once. With a
 * device image as output, Update() queues the work and returns; with an image of the host see CudaDownloadImageFilter.
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

  /** Added to each component before it is multiplied by Scale; default 0. */
  itkSetMacro(Shift, double);
  itkGetConstMacro(Shift, double);

  /** Each component is multiplied by it; default 1. */
  itkSetMacro(Scale, double);
  itkGetConstMacro(Scale, double);

  /** How reals become integers: Truncate (default) or Nearest.
   * \exception ExceptionObject for another name */
  itkSetMacro(Rounding, CudaRounding);
  itkGetConstMacro(Rounding, CudaRounding);
  void
  SetRounding(const std::string & name)
  {
    this->SetRounding(CudaRoundingFromString(name));
  }

  /** Whether components are mapped by a sigmoid; default off. */
  itkSetMacro(UseSigmoid, bool);
  itkGetConstMacro(UseSigmoid, bool);
  itkBooleanMacro(UseSigmoid);

  /** The width of the sigmoid's ramp; default 1. It must not be 0. */
  itkSetMacro(Alpha, double);
  itkGetConstMacro(Alpha, double);

  /** The value that the sigmoid maps halfway between OutputMinimum and OutputMaximum; default 0. */
  itkSetMacro(Beta, double);
  itkGetConstMacro(Beta, double);

  /** Whether components are mapped from a window; default off. */
  itkSetMacro(UseWindow, bool);
  itkGetConstMacro(UseWindow, bool);
  itkBooleanMacro(UseWindow);

  /** The window; default: the range of the input's components. The minimum must be less than the maximum. The type is
   * that of the input, as in ITK: behind a shift and scale of integers, windows still begin and end at whole numbers.
   */
  itkSetMacro(WindowMinimum, InputComponentType);
  itkGetConstMacro(WindowMinimum, InputComponentType);
  itkSetMacro(WindowMaximum, InputComponentType);
  itkGetConstMacro(WindowMaximum, InputComponentType);

  /** What the ends of the window, or of the sigmoid's ramp, become; default: the range of the output's components. */
  itkSetMacro(OutputMinimum, OutputComponentType);
  itkGetConstMacro(OutputMinimum, OutputComponentType);
  itkSetMacro(OutputMaximum, OutputComponentType);
  itkGetConstMacro(OutputMaximum, OutputComponentType);

  /** Whether components become one of two values; default off. */
  itkSetMacro(UseThreshold, bool);
  itkGetConstMacro(UseThreshold, bool);
  itkBooleanMacro(UseThreshold);

  /** The thresholds; default: the range of the input's components. Their type is that of the input, as for windows. */
  itkSetMacro(LowerThreshold, InputComponentType);
  itkGetConstMacro(LowerThreshold, InputComponentType);
  itkSetMacro(UpperThreshold, InputComponentType);
  itkGetConstMacro(UpperThreshold, InputComponentType);

  /** From the lower threshold to the upper one; default: the greatest value of the output's components. */
  itkSetMacro(InsideValue, OutputComponentType);
  itkGetConstMacro(InsideValue, OutputComponentType);

  /** Elsewhere; default 0. */
  itkSetMacro(OutsideValue, OutputComponentType);
  itkGetConstMacro(OutsideValue, OutputComponentType);

  /** As the superclass's. If the output is an image of the host and a filter before this one throws, it calls
   * ResetPipeline(), without which ITK's next Update() would do nothing. */
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

// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDownloadImageFilter_h
#define itkCudaDownloadImageFilter_h

#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDeviceImage.h"
#include "itkImageToImageFilter.h"
#include "itkNumericTraits.h"

#include <string>
#include <type_traits>

namespace itk
{
/** \class CudaDownloadImageFilter
 * \brief Copies a device image to an image of the host.
 *
 * Input: a CudaDeviceImage. Output: Image or VectorImage of the same dimension and number of components, by default
 * with the same pixels. Where the component types differ the pixels are converted on the device, and the link
 * carries the output's type. A float image leaves as unsigned char at a quarter of the cost.
 *
 * A component becomes (value + Shift) * Scale, with Shift 0 and Scale 1 by default; the names are those of
 * ShiftScaleImageFilter. It is computed in float, or in double if either type is double, int or unsigned int. For
 * integer outputs it is then truncated toward zero, or with Rounding Nearest rounded to the nearest integer, halves to
 * the even one, and clamped to the type's range; NaN becomes 0. Rounding says nothing about real outputs.
 *
 * With UseWindow on a component becomes what IntensityWindowingImageFilter makes of it, in double. WindowMinimum and
 * WindowMaximum go to OutputMinimum and OutputMaximum, what lies between them is mapped linearly, and what lies beyond
 * them becomes OutputMinimum or OutputMaximum. Rounding is as above. With UseThreshold on it becomes what
 * BinaryThresholdImageFilter makes of it: InsideValue from LowerThreshold to UpperThreshold, both included, else
 * OutsideValue; Rounding says nothing about it. Parameters and defaults are those of the two filters. A download does
 * one of the three: shift and scale, window, threshold.
 *
 * Each of them, and rounding, take an image of the output's type on the device for the time of the download.
 *
 * The filter streams: it downloads what is requested. The output's memory comes from the module's pool of host memory.
 * Update() waits for the work that makes the input, and the pixels are complete when it returns.
 *
 * \code
 * using DeviceImageType = itk::CudaDeviceImage<float, 3>;
 * auto download = itk::CudaDownloadImageFilter<DeviceImageType, itk::Image<unsigned char, 3>>::New();
 * download->SetInput(volume);
 * download->SetRounding("nearest");
 * download->Update();
 * \endcode
 *
 * \exception CudaError if a CUDA call failed, or a kernel that was queued before
 * \exception ExceptionObject if the input does not hold the requested pixels; if UseWindow and UseThreshold are both
 * on, or one of them with a Shift that is not 0 or a Scale that is not 1; if WindowMinimum is not less than
 * WindowMaximum, or LowerThreshold is greater than UpperThreshold
 *
 * \sa CudaDownload, CudaUploadImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = typename CudaHostImageOf<TInputImage>::Type>
class ITK_TEMPLATE_EXPORT CudaDownloadImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDownloadImageFilter);

  using Self = CudaDownloadImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;
  using InputComponentType = typename TInputImage::ComponentType;
  using OutputComponentType = typename CudaDetail::CudaImageTraits<TOutputImage>::ComponentType;

  static_assert(CudaIsDeviceImage<TInputImage>::value, "CudaDownloadImageFilter: the input must be a CudaDeviceImage");
  static_assert(
    CudaDetail::CudaImageTraits<TOutputImage>::IsSupported,
    "CudaDownloadImageFilter: the output must be an Image or VectorImage of pixels that the module supports");
  static_assert(unsigned{ TInputImage::ImageDimension } == unsigned{ TOutputImage::ImageDimension },
                "CudaDownloadImageFilter: input and output must have the same dimension");

  itkNewMacro(Self);
  itkTypeMacro(CudaDownloadImageFilter, ImageToImageFilter);

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

  // For C++: ITK's generator of wrapping code does not know the types of these parameters.
#ifndef ITK_WRAPPING_PARSER
  /** Whether components are mapped from a window of the input; default off. */
  itkSetMacro(UseWindow, bool);
  itkGetConstMacro(UseWindow, bool);
  itkBooleanMacro(UseWindow);

  /** The window; default: the range of the input's components. The minimum must be less than the maximum. */
  itkSetMacro(WindowMinimum, InputComponentType);
  itkGetConstMacro(WindowMinimum, InputComponentType);
  itkSetMacro(WindowMaximum, InputComponentType);
  itkGetConstMacro(WindowMaximum, InputComponentType);

  /** What the ends of the window become; default: the range of the output's components. */
  itkSetMacro(OutputMinimum, OutputComponentType);
  itkGetConstMacro(OutputMinimum, OutputComponentType);
  itkSetMacro(OutputMaximum, OutputComponentType);
  itkGetConstMacro(OutputMaximum, OutputComponentType);

  /** Whether components become one of two values; default off. */
  itkSetMacro(UseThreshold, bool);
  itkGetConstMacro(UseThreshold, bool);
  itkBooleanMacro(UseThreshold);

  /** The thresholds; default: the range of the input's components. */
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
#endif

  /** As the superclass's. If a filter before this one throws, it calls ResetPipeline(), without which ITK's next
   * Update() would do nothing. */
  void
  UpdateOutputData(DataObject * output) override;

protected:
  CudaDownloadImageFilter() = default;
  ~CudaDownloadImageFilter() override = default;

  void
  VerifyPreconditions() ITKv5_CONST override;
  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  using InputLimits = NumericTraits<InputComponentType>;
  using OutputLimits = NumericTraits<OutputComponentType>;

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
};

/** The image on the host: CudaDownloadImageFilter in one call.
   \code
   auto volume = itk::CudaDownload(image);
   auto bytes = itk::CudaDownload<itk::Image<unsigned char, 3>>(image);
   \endcode
 * \ingroup CudaFilters */
template <typename THostImage = void, typename TImage>
auto
CudaDownload(const TImage * image)
{
  if constexpr (std::is_void_v<THostImage>)
  {
    return CudaDownload<typename CudaHostImageOf<TImage>::Type>(image);
  }
  else
  {
    const auto filter = CudaDownloadImageFilter<TImage, THostImage>::New();
    filter->SetInput(image);
    filter->UpdateLargestPossibleRegion();
    typename THostImage::Pointer output = filter->GetOutput();
    output->DisconnectPipeline();
    return output;
  }
}

template <typename THostImage = void, typename TImage>
auto
CudaDownload(const SmartPointer<TImage> & image)
{
  return CudaDownload<THostImage, std::remove_const_t<TImage>>(image.GetPointer());
}
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaDownloadImageFilter.hxx"
#endif

#endif

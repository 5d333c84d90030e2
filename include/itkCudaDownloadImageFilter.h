// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDownloadImageFilter_h
#define itkCudaDownloadImageFilter_h

#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDeviceImage.h"
#include "itkImageToImageFilter.h"

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
 * A component becomes (value + Shift) * Scale, with Shift 0 and Scale 1 by default, as in ShiftScaleImageFilter. It is
 * computed in float, or in double if either type is double, int or unsigned int. For integer outputs it is then
 * truncated toward zero; with Rounding Nearest it is rounded to the nearest integer, halves to the even one. It is
 * clamped to the type's range, and NaN becomes 0. Rounding does not affect real outputs. A shift, a scale or rounding
 * takes an image of the output's type on the device for the time of the download.
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
 * \exception ExceptionObject if the input does not hold the requested pixels
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

  /** As the superclass's. If a filter before this one throws, it also calls ResetPipeline(); otherwise ITK's next
   * Update() would do nothing. */
  void
  UpdateOutputData(DataObject * output) override;

protected:
  CudaDownloadImageFilter() = default;
  ~CudaDownloadImageFilter() override = default;

  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  double       m_Shift{ 0.0 };
  double       m_Scale{ 1.0 };
  CudaRounding m_Rounding{ CudaRounding::Truncate };
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

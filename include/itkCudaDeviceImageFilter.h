// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceImageFilter_h
#define itkCudaDeviceImageFilter_h

#include "itkCudaDeviceImage.h"
#include "itkImageToImageFilter.h"

#include <type_traits>

namespace itk
{
/** Whether the input or the output of a filter is a device image. \ingroup CudaFilters */
template <typename TInputImage, typename TOutputImage>
constexpr bool CudaHasDeviceImage = CudaIsDeviceImage<TInputImage>::value || CudaIsDeviceImage<TOutputImage>::value;

/** \class CudaDeviceImageFilter
 * \brief Superclass of filters whose input or output is a device image, or both; it requests the whole image.
 *
 * The other image may be a host image: Image or VectorImage, with components that the module supports.
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage>
class ITK_TEMPLATE_EXPORT CudaDeviceImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDeviceImageFilter);

  using Self = CudaDeviceImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;
  static constexpr unsigned int ImageDimension = TInputImage::ImageDimension;

  static_assert(CudaHasDeviceImage<TInputImage, TOutputImage>, "Input or output must be a device image");
  static_assert(CudaIsDeviceImage<TInputImage>::value || CudaDetail::CudaImageTraits<TInputImage>::IsSupported,
                "The input must be a device image, or an Image or VectorImage of pixels that the module supports");
  static_assert(CudaIsDeviceImage<TOutputImage>::value || CudaDetail::CudaImageTraits<TOutputImage>::IsSupported,
                "The output must be a device image, or an Image or VectorImage of pixels that the module supports");
  static_assert(unsigned{ TInputImage::ImageDimension } == unsigned{ TOutputImage::ImageDimension },
                "Input and output must have the same dimension");

  itkTypeMacro(CudaDeviceImageFilter, ImageToImageFilter);

  /** Updates the output as the superclass does. If the output is a host image and a filter upstream throws, it also
   * calls ResetPipeline(), because otherwise ITK's next Update() would do nothing. */
  void
  UpdateOutputData(DataObject * output) override
  {
    try
    {
      Superclass::UpdateOutputData(output);
    }
    catch (...)
    {
      if (!CudaIsDeviceImage<TOutputImage>::value)
      {
        this->ResetPipeline();
      }
      throw;
    }
  }

protected:
  CudaDeviceImageFilter() = default;
  ~CudaDeviceImageFilter() override = default;

  void
  GenerateInputRequestedRegion() override
  {
    Superclass::GenerateInputRequestedRegion();
    if (auto * const input = const_cast<TInputImage *>(this->GetInput()))
    {
      input->SetRequestedRegionToLargestPossibleRegion();
    }
  }

  void
  EnlargeOutputRequestedRegion(DataObject * output) override
  {
    output->SetRequestedRegionToLargestPossibleRegion();
  }
};

/** `THostSuperclass` if both images are host images, otherwise `TDeviceSuperclass`.
 * \ingroup CudaFilters */
template <typename TInputImage,
          typename TOutputImage,
          template <typename, typename>
          class THostSuperclass,
          template <typename, typename>
          class TDeviceSuperclass>
using CudaFilterSuperclass = std::conditional_t<CudaHasDeviceImage<TInputImage, TOutputImage>,
                                                TDeviceSuperclass<TInputImage, TOutputImage>,
                                                THostSuperclass<TInputImage, TOutputImage>>;
} // end namespace itk

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDownloadImageFilter_h
#define itkCudaDownloadImageFilter_h

#include "itkCudaPixelMappingImageFilter.h"

#include <type_traits>

namespace itk
{
/** \class CudaDownloadImageFilter
 * \brief Copies a device image to an image of the host.
 *
 * The input is a CudaDeviceImage. The output is an Image or VectorImage of the same dimension and number of components,
 * by default with the same pixels. If the component types differ, the pixels are converted on the device, so that the
 * link carries the output's type. Downloading a float image as unsigned char, for example, transfers a quarter of the
 * bytes.
 *
 * The superclass CudaPixelMappingImageFilter provides the parameters Shift, Scale and Rounding, and UseWindow,
 * UseThreshold or UseSigmoid with their parameters. The pixels are mapped on the device before they cross the link. A
 * download that maps or rounds temporarily allocates an image of the output's type on the device.
 *
 * The filter streams: it downloads only the requested region. The output's memory comes from the module's pool of host
 * memory. Update() waits for the work that computes the input, and the pixels are complete when it returns.
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
 * \exception ExceptionObject if the input does not hold the requested pixels, or as in the superclass
 *
 * \sa CudaDownload, CudaUploadImageFilter, CudaPixelMappingImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage, typename TOutputImage = typename CudaHostImageOf<TInputImage>::Type>
class ITK_TEMPLATE_EXPORT CudaDownloadImageFilter : public CudaPixelMappingImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDownloadImageFilter);

  using Self = CudaDownloadImageFilter;
  using Superclass = CudaPixelMappingImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  static_assert(
    CudaDetail::CudaImageTraits<TOutputImage>::IsSupported,
    "CudaDownloadImageFilter: the output must be an Image or VectorImage of pixels that the module supports");

  itkNewMacro(Self);
  itkTypeMacro(CudaDownloadImageFilter, CudaPixelMappingImageFilter);

protected:
  CudaDownloadImageFilter() = default;
  ~CudaDownloadImageFilter() override = default;
};

/** Returns a copy of the image on the host, made by a CudaDownloadImageFilter.
 * \code
 * auto volume = itk::CudaDownload(image);
 * auto bytes = itk::CudaDownload<itk::Image<unsigned char, 3>>(image);
 * \endcode
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

#endif

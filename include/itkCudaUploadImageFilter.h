// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaUploadImageFilter_h
#define itkCudaUploadImageFilter_h

#include "itkCudaDeviceImage.h"
#include "itkImageToImageFilter.h"

#include <type_traits>

namespace itk
{
/** \class CudaUploadImageFilter
 * \brief Copies an image of the host to a device image.
 *
 * The input is an Image or VectorImage, with components that the module supports. The output is a CudaDeviceImage of
 * the same dimension and number of components, by default with the same pixels. If the component types differ, the
 * pixels are converted on the device as filters convert them: integers are clamped, reals are truncated toward zero,
 * and NaN becomes 0 in an integer.
 *
 * DeviceIndex selects the device of the output (default -1, which stands for the device of CudaFiltersConfiguration).
 * The filter streams: it uploads only the requested region. When Update() returns, the host's pixels have been read.
 * Work that reads the output waits for the upload on the device.
 *
 * \code
 * using HostImageType = itk::Image<float, 3>;
 * auto upload = itk::CudaUploadImageFilter<HostImageType>::New();
 * upload->SetInput(image);
 * upload->Update();
 * itk::CudaDeviceImage<float, 3>::Pointer volume = upload->GetOutput();
 * \endcode
 *
 * \exception CudaError with the reason if the device cannot be used or its memory has run out, because there is no
 * fallback to the host
 * \exception ExceptionObject if the input does not hold the requested pixels
 *
 * \sa CudaUpload, CudaDownloadImageFilter
 * \ingroup CudaFilters
 */
template <typename TInputImage,
          typename TOutputImage = CudaDeviceImage<typename TInputImage::PixelType, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaUploadImageFilter : public ImageToImageFilter<TInputImage, TOutputImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaUploadImageFilter);

  using Self = CudaUploadImageFilter;
  using Superclass = ImageToImageFilter<TInputImage, TOutputImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using InputImageType = TInputImage;
  using OutputImageType = TOutputImage;

  static_assert(CudaDetail::CudaImageTraits<TInputImage>::IsSupported,
                "CudaUploadImageFilter: the input must be an Image or VectorImage of pixels that the module supports");
  static_assert(CudaIsDeviceImage<TOutputImage>::value, "CudaUploadImageFilter: the output must be a CudaDeviceImage");
  static_assert(unsigned{ TInputImage::ImageDimension } == unsigned{ TOutputImage::ImageDimension },
                "CudaUploadImageFilter: input and output must have the same dimension");

  itkNewMacro(Self);
  itkTypeMacro(CudaUploadImageFilter, ImageToImageFilter);

  /** The index of the device; -1 (default) stands for the device of CudaFiltersConfiguration.
   * \exception ExceptionObject if it is less than -1 */
  void
  SetDeviceIndex(int index);
  itkGetConstMacro(DeviceIndex, int);

protected:
  CudaUploadImageFilter() = default;
  ~CudaUploadImageFilter() override = default;

  void
  GenerateData() override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  int m_DeviceIndex{ -1 };
};

/** Returns a copy of the image on the device, made by a CudaUploadImageFilter. -1 stands for the device of
 * CudaFiltersConfiguration.
 * \code
 * auto volume = itk::CudaUpload(image);
 * \endcode
 * \ingroup CudaFilters */
template <typename TImage>
auto
CudaUpload(const TImage * image, int deviceIndex = -1)
{
  const auto filter = CudaUploadImageFilter<TImage>::New();
  filter->SetInput(image);
  filter->SetDeviceIndex(deviceIndex);
  filter->UpdateLargestPossibleRegion();
  typename CudaUploadImageFilter<TImage>::OutputImageType::Pointer output = filter->GetOutput();
  output->DisconnectPipeline();
  return output;
}

template <typename TImage>
auto
CudaUpload(const SmartPointer<TImage> & image, int deviceIndex = -1)
{
  return CudaUpload<std::remove_const_t<TImage>>(image.GetPointer(), deviceIndex);
}
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaUploadImageFilter.hxx"
#endif

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceImage_h
#define itkCudaDeviceImage_h

#include "itkCudaDetailImageTraits.h"
#include "itkCudaDeviceImageView.h"
#include "itkFixedArray.h"
#include "itkImageBase.h"

#include <type_traits>

namespace itk
{
/** \class CudaDeviceImage
 * \brief Image in the memory of a GPU.
 *
 * It takes part in pipelines as any image of ITK: regions, spacing, origin and direction, Graft(), ReleaseData() and
 * DisconnectPipeline() are ImageBase's. The host has no access to its pixels: there is no GetPixel(), no buffer
 * pointer, no iterator. A filter of ITK that reads pixels does not compile with it. CudaUploadImageFilter and
 * CudaDownloadImageFilter copy from and to images of the host.
 *
 * Pixels are scalars, classes derived from FixedArray (Vector, CovariantVector, SymmetricSecondRankTensor, RGBPixel,
 * RGBAPixel), or VariableLengthVector, which makes the image the counterpart of a VectorImage: its length is set by
 * SetNumberOfComponentsPerPixel() before Allocate(). Components are of char, short or int type, signed or unsigned,
 * float or double. Images have one to four dimensions.
 *
 * The memory is planar, one volume for each component, and its rows start at multiples of 16 bytes. It comes from the
 * module's pool or from CudaFiltersConfiguration::SetDeviceMemoryResource(). Grafted images share the memory. The last
 * of them frees it, after all work that uses it (CudaDeviceImageMemory). Filters queue their work and return. Work that
 * reads the image waits on the device, and Synchronize() waits on the host.
 *
 * \code
 * using ImageType = itk::CudaDeviceImage<float, 3>;
 * auto image = ImageType::New();
 * image->SetRegions(ImageType::SizeType{ { 512, 512, 100 } });
 * image->Allocate(true); // zeros, on the configuration's device
 * std::cout << image->GetDeviceIndex() << std::endl;
 * \endcode
 *
 * Without a usable GPU the class compiles and works, except that Allocate() throws CudaError with the reason.
 *
 * \sa CudaDeviceImageFromPointer
 * \ingroup CudaFilters
 */
template <typename TPixel, unsigned int VDimension>
class ITK_TEMPLATE_EXPORT CudaDeviceImage : public ImageBase<VDimension>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaDeviceImage);

  using Self = CudaDeviceImage;
  using Superclass = ImageBase<VDimension>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;
  using ConstWeakPointer = WeakPointer<const Self>;

  // There is no InternalPixelType, PixelContainer or AccessorType: with those, code that reads pixels would compile.
  using PixelType = TPixel;
  using ComponentType = typename CudaDetail::CudaDevicePixelTraits<TPixel>::ComponentType;
  using typename Superclass::RegionType;

  template <typename UPixel, unsigned int UDimension = VDimension>
  using RebindImageType = CudaDeviceImage<UPixel, UDimension>;

  static constexpr unsigned int ImageDimension = VDimension;
  /** Components of a pixel; 0: set by SetNumberOfComponentsPerPixel(). */
  static constexpr unsigned int PixelLength = CudaDetail::CudaDevicePixelTraits<TPixel>::Length;

  static_assert(CudaDetail::CudaComponentTraits<ComponentType>::IsSupported,
                "CudaDeviceImage: pixels must have components of char, short, int, float or double");
  static_assert(VDimension >= 1 && VDimension <= CudaDetail::CudaImageView::MaximumDimension,
                "CudaDeviceImage: images must have one to four dimensions");

  static constexpr CudaComponentType DeviceComponentType = CudaDetail::CudaComponentTraits<ComponentType>::Type;

  itkNewMacro(Self);
  itkTypeMacro(CudaDeviceImage, ImageBase);

  /** Takes memory for the buffered region on the device that SetDeviceIndex() named. The image drops its earlier memory
   * first. The pixels are zero if `initialize` is true, else undefined.
   * \exception CudaError with the reason if the device cannot be used or has too little memory; the image holds no
   * memory then
   * \exception ExceptionObject if the number of components is 0 */
  void
  Allocate(bool initialize = false) override;

  /** Drops the memory, as ReleaseData() does. */
  void
  Initialize() override;

  /** Copies regions and geometry, and shares the memory. Nothing happens if `image` is null.
   * \exception ExceptionObject if `image` is not a CudaDeviceImage of the same type */
  void
  Graft(const ImageBase<VDimension> * image) override;

  unsigned int
  GetNumberOfComponentsPerPixel() const override;

  /** For pixels of VariableLengthVector, from the next Allocate() on. For other pixels the type decides, and the call
   * does nothing, as in Image. */
  void
  SetNumberOfComponentsPerPixel(unsigned int number) override;

  /** The device of the next Allocate(); -1 (default): that of CudaFiltersConfiguration.
   * \exception ExceptionObject if the index is less than -1 */
  void
  SetDeviceIndex(int index);

  /** The device that the memory lies on; without memory what SetDeviceIndex() set. */
  int
  GetDeviceIndex() const;

  /** Whether the image holds memory. */
  bool
  IsAllocated() const
  {
    return m_View.Memory != nullptr;
  }

#if !defined(ITK_WRAPPING_PARSER) // Python has __dlpack__ instead
  /** The buffered region in device memory; empty without memory. */
  const CudaDeviceImageView &
  GetDeviceView() const
  {
    return m_View;
  }

  /** The pixels of `region` in device memory. The exception calls the image `name`, or by its class if there is none.
   * \exception ExceptionObject if the image does not hold them: if it was released, was not allocated, or its regions
   * or components have changed since */
  CudaDeviceImageView
  GetDeviceView(const RegionType & region, const char * name = nullptr) const;

  /** Lets the image hold the pixels of its buffered region in this memory.
   * \exception ExceptionObject if size, components or component type are not the image's, or the elements lie beyond
   * the memory */
  void
  SetDeviceView(const CudaDeviceImageView & view);
#endif

  /** Waits until all work that writes the pixels is done. Without memory it returns at once.
   * \exception CudaError if that work failed, or earlier work of the same thread */
  void
  Synchronize() const;

protected:
  CudaDeviceImage() = default;
  ~CudaDeviceImage() override = default;

  void
  Graft(const DataObject * data) override;
  void
  PrintSelf(std::ostream & os, Indent indent) const override;

private:
  /** Pixels of a region along each axis, and components. */
  std::array<size_t, CudaDeviceImageView::NumberOfAxes>
  GetPlanarSize(const RegionType & region) const;

  CudaDeviceImageView m_View;
  int                 m_DeviceIndex{ -1 };
  unsigned int        m_NumberOfComponents{ PixelLength };
};

/** Whether a type is CudaDeviceImage or derived from it.
 * \ingroup CudaFilters */
template <typename TImage>
struct CudaIsDeviceImage
{
private:
  template <typename TPixel, unsigned int VDimension>
  static std::true_type
  Test(const CudaDeviceImage<TPixel, VDimension> *);
  static std::false_type
  Test(const void *);

public:
  static constexpr bool value = decltype(Test(static_cast<const TImage *>(nullptr)))::value;
};

namespace CudaDetail
{
/** Device images hold no pixels of the host: filters treat them separately. */
template <typename TPixel, unsigned int VDimension>
struct CudaImageTraits<CudaDeviceImage<TPixel, VDimension>>
{
  using ComponentType = typename CudaDevicePixelTraits<TPixel>::ComponentType;

  static constexpr bool IsVectorImage = false;
  static constexpr bool HoldsPixels = false;
  static constexpr bool IsSupported = false;
};
} // namespace CudaDetail

/** \struct CudaHostImageOf
 * \brief The image of the host with the pixels of a device image: VectorImage for VariableLengthVector, else Image. For
 * an image of the host it is that itself.
 * \ingroup CudaFilters
 */
template <typename TImage, bool VIsOnDevice = CudaIsDeviceImage<TImage>::value>
struct CudaHostImageOf
{
  using Type = TImage;
};

template <typename TDeviceImage>
struct CudaHostImageOf<TDeviceImage, true>
{
  static constexpr unsigned int Dimension = TDeviceImage::ImageDimension;

  using Type = std::conditional_t<TDeviceImage::PixelLength == 0,
                                  VectorImage<typename TDeviceImage::ComponentType, Dimension>,
                                  Image<typename TDeviceImage::PixelType, Dimension>>;
};

/** A device image of somebody else's device memory, without a copy.
 *
 * `pointer` points to the first pixel of `region`; rows, slices and volumes follow each other without gaps, and each
 * component of the pixels is a volume of its own behind the one before. `geometry` gives spacing, origin, direction and
 * the largest possible region; null: spacing 1, origin 0 and `region`. `owner` may be any object that keeps the memory
 * alive. A copy of it is kept as long as an image holds the memory. `device` is -1 for that of
 * CudaFiltersConfiguration.
 *
 * Work on CUDA's default stream may still write the memory; see CudaDeviceImageMemory::Adopt(). No filter writes to it.
 *
 * An `itk::CudaImage` of RTK becomes a device image that holds it:
   \code
   using DeviceImageType = itk::CudaDeviceImage<float, 3>;
   itk::CudaImage<float, 3>::Pointer source = filter->GetOutput();
   float * const pixels = static_cast<float *>(source->GetCudaDataManager()->GetGPUBufferPointer());
   const auto image = itk::CudaDeviceImageFromPointer<DeviceImageType>(
     pixels, source->GetBufferedRegion(), source.GetPointer(), source);
   \endcode
 *
 * \exception CudaError with the reason if the device cannot be used
 * \exception ExceptionObject if `pointer` is null, `region` is not in the geometry's largest possible region, or
 * `numberOfComponents` is 0 \ingroup CudaFilters */
template <typename TImage, typename TOwner>
typename TImage::Pointer
CudaDeviceImageFromPointer(typename TImage::ComponentType *          pointer,
                           const typename TImage::RegionType &       region,
                           const ImageBase<TImage::ImageDimension> * geometry,
                           TOwner                                    owner,
                           int                                       device = -1,
                           unsigned int                              numberOfComponents = TImage::PixelLength);
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaDeviceImage.hxx"
#endif

#endif

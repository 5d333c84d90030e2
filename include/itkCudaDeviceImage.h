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
 * It takes part in pipelines like any image of ITK: regions, spacing, origin and direction, Graft(), ReleaseData() and
 * DisconnectPipeline() are inherited from ImageBase. The host cannot access its pixels: there is no GetPixel(), no
 * buffer pointer and no iterator, so that an ITK filter that reads pixels does not compile with it.
 * CudaUploadImageFilter and CudaDownloadImageFilter copy from and to host images.
 *
 * Pixels are scalars, classes derived from FixedArray (Vector, CovariantVector, SymmetricSecondRankTensor, RGBPixel,
 * RGBAPixel), or VariableLengthVector, which makes the image the counterpart of a VectorImage; set its length by
 * SetNumberOfComponentsPerPixel() before Allocate(). Components are of char, short or int type, signed or unsigned,
 * float or double. Images have one to four dimensions.
 *
 * The memory is planar, with one volume for each component, and its rows start at multiples of 16 bytes. It comes from
 * the module's pool or from CudaFiltersConfiguration::SetDeviceMemoryResource(). Grafted images share the memory. The
 * last of them frees it, after all work that uses it (CudaDeviceImageMemory). Filters queue their work and return.
 * Later work that reads the image waits on the device; Synchronize() waits on the host.
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

  // InternalPixelType, PixelContainer and AccessorType are missing on purpose, because with them code that reads pixels
  // would compile.
  using PixelType = TPixel;
  using ComponentType = typename CudaDetail::CudaDevicePixelTraits<TPixel>::ComponentType;
  using typename Superclass::RegionType;

  /** A device image of other pixels, or of another dimension. */
  template <typename UPixel, unsigned int UDimension = VDimension>
  using RebindImageType = CudaDeviceImage<UPixel, UDimension>;

  static constexpr unsigned int ImageDimension = VDimension;
  /** Number of components of a pixel; 0 if SetNumberOfComponentsPerPixel() sets it. */
  static constexpr unsigned int PixelLength = CudaDetail::CudaDevicePixelTraits<TPixel>::Length;

  static_assert(CudaDetail::CudaComponentTraits<ComponentType>::IsSupported,
                "CudaDeviceImage: pixels must have components of char, short, int, float or double");
  static_assert(VDimension >= 1 && VDimension <= CudaDetail::CudaImageView::MaximumDimension,
                "CudaDeviceImage: images must have one to four dimensions");

  /** The type of a component in device memory. */
  static constexpr CudaComponentType DeviceComponentType = CudaDetail::CudaComponentTraits<ComponentType>::Type;

  itkNewMacro(Self);
  itkTypeMacro(CudaDeviceImage, ImageBase);

  /** Allocates memory for the buffered region on the device that SetDeviceIndex() named. The image releases its earlier
   * memory first. The pixels are zero if `initialize` is true, otherwise undefined.
   * \exception CudaError with the reason if the device cannot be used or has too little memory; the image then holds no
   * memory
   * \exception ExceptionObject if the number of components is 0 */
  void
  Allocate(bool initialize = false) override;

  /** Releases the memory, as ReleaseData() does. */
  void
  Initialize() override;

  /** Copies regions and geometry, and shares the memory. Does nothing if `image` is null.
   * \exception ExceptionObject if `image` is not a CudaDeviceImage of the same type */
  void
  Graft(const ImageBase<VDimension> * image) override;

  unsigned int
  GetNumberOfComponentsPerPixel() const override;

  /** Sets the number of components of VariableLengthVector pixels, from the next Allocate() on. For other pixels the
   * type decides and the call does nothing, as in Image. */
  void
  SetNumberOfComponentsPerPixel(unsigned int number) override;

  /** Sets the device of the next Allocate(); -1 (default) stands for the device of CudaFiltersConfiguration.
   * \exception ExceptionObject if the index is less than -1 */
  void
  SetDeviceIndex(int index);

  /** Returns the device of the memory or, without memory, the index that SetDeviceIndex() set. */
  int
  GetDeviceIndex() const;

  /** Returns whether the image holds memory. */
  bool
  IsAllocated() const
  {
    return m_View.Memory != nullptr;
  }

#if !defined(ITK_WRAPPING_PARSER) // Python has __dlpack__ instead
  /** Returns the buffered region in device memory; the view is empty without memory. */
  const CudaDeviceImageView &
  GetDeviceView() const
  {
    return m_View;
  }

  /** Returns the pixels of `region` in device memory. The exception calls the image `name`, or by its class if that is
   * null.
   * \exception ExceptionObject if the image does not hold these pixels, because it was released or not allocated, or
   * because its regions or components have changed since */
  CudaDeviceImageView
  GetDeviceView(const RegionType & region, const char * name = nullptr) const;

  /** Makes the image hold the memory of `view` as the pixels of its buffered region.
   * \exception ExceptionObject if size, components or component type differ from the image's, or if elements lie beyond
   * the memory */
  void
  SetDeviceView(const CudaDeviceImageView & view);
#endif

  /** Waits until all work that writes the pixels is done. Returns at once without memory.
   * \exception CudaError if this work, or earlier work of the same thread, failed */
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
  /** Returns the number of pixels of a region along each axis, and the number of components. */
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
  /** Whether it is one. \hideinitializer */
  static constexpr bool value = decltype(Test(static_cast<const TImage *>(nullptr)))::value;
};

namespace CudaDetail
{
/** Filters treat device images separately, because they hold no pixels on the host. */
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
 * \brief The type of the host image with the pixels of a device image: VectorImage for VariableLengthVector, otherwise
 * Image. For a host image it is the type itself.
 * \ingroup CudaFilters
 */
template <typename TImage, bool VIsOnDevice = CudaIsDeviceImage<TImage>::value>
struct CudaHostImageOf
{
  /** The type of the host image. */
  using Type = TImage;
};

/** The type of the host image of a device image. */
template <typename TDeviceImage>
struct CudaHostImageOf<TDeviceImage, true>
{
  /** The number of dimensions of the image. */
  static constexpr unsigned int Dimension = TDeviceImage::ImageDimension;

  /** The type of the host image. */
  using Type = std::conditional_t<TDeviceImage::PixelLength == 0,
                                  VectorImage<typename TDeviceImage::ComponentType, Dimension>,
                                  Image<typename TDeviceImage::PixelType, Dimension>>;
};

/** Returns a device image of device memory that the caller owns, without a copy.
 *
 * `pointer` points to the first pixel of `region`. Rows, slices and volumes follow each other without gaps, and each
 * component of the pixels is a volume of its own behind the one before. `geometry` gives spacing, origin, direction and
 * the largest possible region; if it is null, spacing is 1, origin is 0, and the largest possible region is `region`.
 * `owner` may be any object that keeps the memory alive. A copy of it is kept as long as an image holds the memory. A
 * `device` of -1 stands for the device of CudaFiltersConfiguration.
 *
 * Work on CUDA's default stream may still write the memory; see CudaDeviceImageMemory::Adopt(). No filter writes to it.
 *
 * The following code makes a device image that holds an `itk::CudaImage` of RTK:
 * \code
 * using DeviceImageType = itk::CudaDeviceImage<float, 3>;
 * itk::CudaImage<float, 3>::Pointer source = filter->GetOutput();
 * float * const pixels = static_cast<float *>(source->GetCudaDataManager()->GetGPUBufferPointer());
 * const auto image = itk::CudaDeviceImageFromPointer<DeviceImageType>(
 *   pixels, source->GetBufferedRegion(), source.GetPointer(), source);
 * \endcode
 *
 * \exception CudaError with the reason if the device cannot be used
 * \exception ExceptionObject if `pointer` is null, `region` is not in the geometry's largest possible region, or
 * `numberOfComponents` is 0
 * \ingroup CudaFilters */
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

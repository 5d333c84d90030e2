// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailImageTraits_h
#define itkCudaDetailImageTraits_h

#include "itkCudaDetailImageView.h"
#include "itkFixedArray.h"
#include "itkImage.h"
#include "itkVariableLengthVector.h"
#include "itkVectorImage.h"
#include "itkProcessObject.h"

#include <optional>
#include <type_traits>

namespace itk::CudaDetail
{
/** Maps a C++ type to the engines' component type. IsSupported is false for types that the engines do not support. */
template <typename T>
struct CudaComponentTraits
{
  static constexpr bool IsSupported = false;
};

template <CudaComponentType VType>
struct CudaSupportedComponent
{
  static constexpr bool              IsSupported = true;
  static constexpr CudaComponentType Type = VType;
};

// clang-format off
template <> struct CudaComponentTraits<unsigned char>  : CudaSupportedComponent<CudaComponentType::UChar> {};
template <> struct CudaComponentTraits<signed char>    : CudaSupportedComponent<CudaComponentType::Char> {};
template <> struct CudaComponentTraits<char>
  : CudaSupportedComponent<std::is_signed_v<char> ? CudaComponentType::Char : CudaComponentType::UChar> {};
template <> struct CudaComponentTraits<unsigned short> : CudaSupportedComponent<CudaComponentType::UShort> {};
template <> struct CudaComponentTraits<short>          : CudaSupportedComponent<CudaComponentType::Short> {};
template <> struct CudaComponentTraits<unsigned int>   : CudaSupportedComponent<CudaComponentType::UInt> {};
template <> struct CudaComponentTraits<int>            : CudaSupportedComponent<CudaComponentType::Int> {};
template <> struct CudaComponentTraits<float>          : CudaSupportedComponent<CudaComponentType::Float> {};
template <> struct CudaComponentTraits<double>         : CudaSupportedComponent<CudaComponentType::Double> {};
// clang-format on

/** The component type of a pixel whose components are adjacent in memory.
 *
 * Such pixels are scalars and classes derived from FixedArray: vectors, covariant vectors, colours, symmetric tensors.
 * The implementation does not use decltype, because ITK's generator of wrapping code cannot evaluate it. */
template <typename TPixel, typename = void>
struct CudaPixelTraits
{
  using ComponentType = TPixel;
};

template <typename TPixel>
struct CudaPixelTraits<TPixel, std::void_t<typename TPixel::FixedArray>>
{
  using ComponentType = typename TPixel::FixedArray::ValueType;
};

/** Component type and number of components of a pixel type. Length 0 means that the number is set for each image. */
template <typename TPixel>
struct CudaDevicePixelTraits
{
private:
  template <typename TComponent, unsigned int VLength>
  static std::integral_constant<unsigned int, VLength>
  GetLength(const FixedArray<TComponent, VLength> *);
  static std::integral_constant<unsigned int, 1>
  GetLength(const void *);

public:
  using ComponentType = typename CudaPixelTraits<TPixel>::ComponentType;
  static constexpr unsigned int Length = decltype(GetLength(static_cast<const TPixel *>(nullptr)))::value;
};

template <typename TComponent>
struct CudaDevicePixelTraits<VariableLengthVector<TComponent>>
{
  using ComponentType = TComponent;
  static constexpr unsigned int Length = 0;
};

/** Whether the engines support images of a type, and the type of their components.
 *
 * The engines support itk::Image and itk::VectorImage, and classes derived from them, of at most four dimensions. They
 * do not support image adaptors, which compute pixels on access and store none. */
template <typename TImage>
struct CudaImageTraits
{
private:
  using PixelType = typename TImage::PixelType;
  using InternalPixelType = typename TImage::InternalPixelType;
  static constexpr unsigned int Dimension = TImage::ImageDimension;

public:
  using ComponentType = typename CudaPixelTraits<InternalPixelType>::ComponentType;

  static constexpr bool IsVectorImage = std::is_base_of_v<VectorImage<InternalPixelType, Dimension>, TImage>;
  static constexpr bool HoldsPixels = std::is_base_of_v<Image<PixelType, Dimension>, TImage> || IsVectorImage;
  static constexpr bool IsSupported =
    HoldsPixels && CudaComponentTraits<ComponentType>::IsSupported && Dimension <= CudaImageView::MaximumDimension;

  /** Returns why images of this type are not supported, in words; nullptr if they are. */
  static constexpr const char *
  GetUnsupportedReason()
  {
    return !HoldsPixels                                       ? "image adaptors hold no pixels that could be uploaded"
           : !CudaComponentTraits<ComponentType>::IsSupported ? "the pixel type is not supported on the device"
           : Dimension > CudaImageView::MaximumDimension
             ? "images of more than four dimensions are not supported on the device"
             : nullptr;
  }
};

/** Returns the size and types of `region` of an image of type TImage, as a view without memory. */
template <typename TImage>
CudaImageView
MakeCudaImageShape(const typename TImage::RegionType & region, size_t numberOfComponents)
{
  CudaImageView view;
  view.ComponentType = CudaComponentTraits<typename CudaImageTraits<TImage>::ComponentType>::Type;
  view.NumberOfComponents = numberOfComponents;
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    view.Size[d] = region.GetSize(d);
  }
  return view;
}

/** Returns the same as whole.IsInside(part), but also works if the end of `part` is beyond the largest index value. */
template <unsigned int VDimension>
bool
CudaRegionHolds(const ImageRegion<VDimension> & whole, const ImageRegion<VDimension> & part)
{
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    const bool within = part.GetIndex(d) >= whole.GetIndex(d) && part.GetSize(d) <= whole.GetSize(d);
    if (!within || static_cast<SizeValueType>(part.GetIndex(d)) - static_cast<SizeValueType>(whole.GetIndex(d)) >
                     whole.GetSize(d) - part.GetSize(d))
    {
      return false;
    }
  }
  return true;
}

/** Throws unless the image holds the pixels of `region`, as ITK's iterators do. An image without a source that was
 * released, for example by a filter that ran in place, has lost its pixels but not its largest possible region. The
 * exception calls the image `name`, or by its class if that is null. */
template <typename TImage>
void
CudaVerifyBufferedRegion(const TImage * image, const typename TImage::RegionType & region, const char * name = nullptr)
{
  const auto & buffered = image->GetBufferedRegion();
  name = name ? name : image->GetNameOfClass();
  if (region.GetNumberOfPixels() == 0)
  {
    return;
  }
  if (!CudaRegionHolds(buffered, region))
  {
    itkGenericExceptionMacro(<< "Region " << region << " of " << name << " is outside of buffered region " << buffered
                             << "; was it allocated, or released?");
  }
  if constexpr (CudaImageTraits<TImage>::HoldsPixels)
  {
    const auto * const  pixels = image->GetPixelContainer();
    const SizeValueType elements = CudaImageTraits<TImage>::IsVectorImage ? image->GetNumberOfComponentsPerPixel() : 1;
    const SizeValueType needed = buffered.GetNumberOfPixels() * elements;
    const SizeValueType held = pixels && image->GetBufferPointer() ? pixels->Size() : 0;
    if (held < needed)
    {
      itkGenericExceptionMacro(<< name << " has memory for " << held << " of the " << needed
                               << " elements of its buffered region " << buffered << "; it must be allocated");
    }
  }
}

/** Returns a view of the pixels of `region`.
 * \exception ExceptionObject if the image's buffered region does not hold them */
template <typename TImage>
CudaImageView
MakeCudaImageView(const TImage * image, const typename TImage::RegionType & region, const char * name = nullptr)
{
  using ComponentType = typename CudaImageTraits<TImage>::ComponentType;

  CudaVerifyBufferedRegion(image, region, name);
  CudaImageView         view = MakeCudaImageShape<TImage>(region, image->GetNumberOfComponentsPerPixel());
  const OffsetValueType first =
    image->ComputeOffset(region.GetIndex()) * static_cast<OffsetValueType>(view.NumberOfComponents);
  // The cast is safe because views of inputs are only read.
  view.Data = const_cast<ComponentType *>(reinterpret_cast<const ComponentType *>(image->GetBufferPointer())) + first;
  for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
  {
    const unsigned int axis = d < TImage::ImageDimension ? d : TImage::ImageDimension;
    view.Stride[d] = static_cast<size_t>(image->GetOffsetTable()[axis]) * view.NumberOfComponents;
  }
  return view;
}
/** Returns a view of all pixels of an optional input, or no value if the image is nullptr. */
template <typename TImage>
std::optional<CudaImageView>
MakeCudaOptionalView(const TImage * image, const char * name)
{
  return image ? std::optional(MakeCudaImageView(image, image->GetLargestPossibleRegion(), name)) : std::nullopt;
}
} // end namespace itk::CudaDetail

/** For filters with numbered outputs of different types, after `using Superclass::MakeOutput`. ProcessObject replaces a
 * disconnected output by its name, and for every name ImageSource would create an image of the first output's type. The
 * macro calls MakeOutput() with the output's number instead. */
#define itkCudaNumberedOutputsMacro()                                                                                  \
  itk::ProcessObject::DataObjectPointer MakeOutput(const itk::ProcessObject::DataObjectIdentifierType & name) override \
  {                                                                                                                    \
    return this->IsIndexedOutputName(name) ? this->MakeOutput(this->MakeIndexFromOutputName(name))                     \
                                           : Superclass::MakeOutput(name);                                             \
  }                                                                                                                    \
  static_assert(true, "")

#endif

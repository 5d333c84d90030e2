// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailKeepOnDevice_h
#define itkCudaDetailKeepOnDevice_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailFilterRun.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailPixelContainer.h"
#include "itkCudaDeviceImageFilter.h"
#include "itkInPlaceImageFilter.h"
#include "itkProcessObject.h"

#include <array>
#include <type_traits>
#include <typeinfo>

// Keeps the result of a filter on the device if the next filter of the pipeline also belongs to the module and runs on
// the same device (docs/user/device_images.md). The first filter keeps its output, the second has a kept input, and the
// pixels of the host image between them are downloaded only if they are needed on the host. The consumer is the second
// filter's CudaUpdateScope.

namespace itk::CudaDetail
{
/** The scope of one call of a filter's UpdateOutputData(), which keeps the pixels of the filter's input on the device.
 *
 * During this call ITK runs the source of the filter's input on the same thread. The source opens a scope of its own,
 * finds this one around it (m_Outer), and may store its result here instead of in the image, if the object says that
 * the input's pixels may be kept. Meanwhile the image looks like a released one, without a buffered region and memory,
 * so that ITK runs the source again for any other consumer. The image is released at the end of the call.
 *
 * Whether an input is kept depends only on the pipeline, so the decision makes no CUDA call. */
class CudaFilters_EXPORT CudaUpdateScope
{
public:
  static constexpr unsigned int MaximumDimension = 4;

  /** Opens the scope. `input` is the filter's first input, or nullptr if the filter cannot read it on the device. It
   * may be kept if the configuration says that results are kept, if the filter has no other input, and if its backend
   * is not the host. */
  CudaUpdateScope(ProcessObject * filter, DataObject * input, const CudaFilterBackend & backend);
  ~CudaUpdateScope();

  CudaUpdateScope(const CudaUpdateScope &) = delete;
  CudaUpdateScope &
  operator=(const CudaUpdateScope &) = delete;

  /** Returns the innermost scope of the calling thread if it belongs to `filter`, otherwise nullptr. */
  static CudaUpdateScope *
  Find(const ProcessObject * filter) noexcept;

  /** Returns the enclosing scope if its filter consumes `output` of this filter on `device`, otherwise nullptr. Nobody
   * else may be able to see the output meanwhile: its ReleaseDataFlag must be on, the filter must have one output, and
   * no observer of the filter or of the output may be called during a run. A scope keeps one result. */
  CudaUpdateScope *
  FindConsumer(const DataObject * output, int device) const;

  /** Keeps the pixels of `region` of the input. */
  template <unsigned int VDimension>
  void
  Keep(const CudaDeviceImageView & pixels, const ImageRegion<VDimension> & region)
  {
    static_assert(VDimension <= MaximumDimension, "Device images have at most four dimensions");
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      m_KeptIndex[d] = region.GetIndex(d);
    }
    m_KeptPixels = pixels;
    m_HasKept = true;
  }

  /** Returns whether the input's pixels are kept here. */
  bool
  HasKeptPixels() const
  {
    return m_KeptPixels.Memory != nullptr;
  }

  /** Returns the kept pixels, or a view without memory if there are none. */
  const CudaDeviceImageView &
  GetKeptPixels() const
  {
    return m_KeptPixels;
  }

  /** Returns the region of the kept pixels. */
  template <unsigned int VDimension>
  ImageRegion<VDimension>
  GetKeptRegion() const
  {
    ImageRegion<VDimension> region;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      region.SetIndex(d, m_KeptIndex[d]);
      region.SetSize(d, m_KeptPixels.Size[d]);
    }
    return region;
  }

  /** Stops keeping the pixels, because the image has them as well. */
  void
  DropKeptPixels()
  {
    m_KeptPixels = CudaDeviceImageView();
  }

private:
  ProcessObject * const   m_Filter;
  DataObject::Pointer     m_KeepableInput; // nullptr: the input is not kept
  int                     m_Device{ -1 };
  bool                    m_HasKept{ false };
  CudaUpdateScope * const m_Outer; // the enclosing scope of this thread

  CudaDeviceImageView                          m_KeptPixels;
  std::array<IndexValueType, MaximumDimension> m_KeptIndex{ {} };
};

/** Returns whether the filter would reuse its input's memory for its output if the input had memory. */
template <typename TFilter>
bool
CudaMayRunInPlace([[maybe_unused]] const TFilter & filter)
{
  using InPlaceType = InPlaceImageFilter<typename TFilter::InputImageType, typename TFilter::OutputImageType>;
  if constexpr (std::is_base_of_v<InPlaceType, TFilter>)
  {
    return filter.GetInPlace() && filter.CanRunInPlace();
  }
  return false;
}

/** Returns whether the image is exactly an Image or a VectorImage. A derived class may do more when it is allocated or
 * released. */
template <typename TImage>
bool
CudaIsPlainImage(const TImage & image)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  using PlainType = std::conditional_t<CudaImageTraits<TImage>::IsVectorImage,
                                       VectorImage<typename TImage::InternalPixelType, dimension>,
                                       Image<typename TImage::PixelType, dimension>>;
  return typeid(image) == typeid(PlainType);
}

/** Returns whether the image holds neither pixels nor memory for them, which it might share with another image. */
template <typename TImage>
bool
CudaHasNoPixels(const TImage & image)
{
  const auto * const container = image.GetPixelContainer();
  return image.GetBufferedRegion().GetNumberOfPixels() == 0 && (!container || container->Capacity() == 0);
}

/** Whether the engines support the types of both images, so that their pixels can be kept. */
template <typename TFilter>
constexpr bool CudaCanKeep = CudaImageTraits<typename TFilter::InputImageType>::IsSupported &&
               CudaImageTraits<typename TFilter::OutputImageType>::IsSupported;

/** Returns the input that a call of UpdateOutputData() may keep on the device, or nullptr if its type rules that out.
 */
template <typename TFilter>
DataObject *
CudaGetKeepableInput(const TFilter & filter)
{
  if constexpr (CudaCanKeep<TFilter>)
  {
    auto * const input = const_cast<typename TFilter::InputImageType *>(filter.GetInput());
    return input && CudaIsPlainImage(*input) ? input : nullptr;
  }
  return nullptr;
}

/** Calls update(), a call of UpdateOutputData(), in a scope that may keep the filter's input on the device. */
template <typename TFilter, typename TUpdate>
void
CudaUpdateInScope(TFilter & filter, const CudaFilterBackend & backend, const TUpdate & update)
{
  if constexpr (CudaHasDeviceImage<typename TFilter::InputImageType, typename TFilter::OutputImageType>)
  {
    update();
  }
  else
  {
    const CudaUpdateScope scope(&filter, CudaGetKeepableInput(filter), backend);
    update();
  }
}

/** Returns the scope that consumes the filter's output on `device` in the next run; nullptr if the output's pixels go
 * to the image. A filter that destroys its input by running in place leaves its result in the image. */
template <typename TFilter>
CudaUpdateScope *
CudaFindConsumer(TFilter & filter, int device)
{
  const CudaUpdateScope * const scope = CudaUpdateScope::Find(&filter);
  const auto * const            output = filter.GetOutput();
  CudaUpdateScope * const       consumer = scope ? scope->FindConsumer(output, device) : nullptr;
  if (!consumer || (CudaMayRunInPlace(filter) && !scope->HasKeptPixels()))
  {
    return nullptr;
  }
  const bool isUnseen = CudaIsPlainImage(*output) && CudaHasNoPixels(*output);
  return isUnseen && output->GetRequestedRegion().GetNumberOfPixels() > 0 ? consumer : nullptr;
}

/** Throws unless the pixels of `region` are in the filter's input or kept on the device. */
template <typename TFilter>
void
CudaVerifyInputPixels(const TFilter & filter, const typename TFilter::InputImageType::RegionType & region)
{
  const CudaUpdateScope * const scope = CudaUpdateScope::Find(&filter);
  if (!scope || !scope->HasKeptPixels())
  {
    CudaVerifyBufferedRegion(filter.GetInput(), region);
  }
}

/** Downloads the pixels of a kept input to the image. It is called when the filter runs on the host or in slabs. */
template <typename TFilter>
void
CudaDownloadKeptInput(const TFilter & filter)
{
  using ImageType = typename TFilter::InputImageType;
  if constexpr (CudaImageTraits<ImageType>::IsSupported)
  {
    CudaUpdateScope * const scope = CudaUpdateScope::Find(&filter);
    if (scope && scope->HasKeptPixels())
    {
      auto * const input = const_cast<ImageType *>(filter.GetInput());
      const auto   region = scope->template GetKeptRegion<ImageType::ImageDimension>();
      CudaUsePooledPixelContainer(input, region);
      input->SetBufferedRegion(region);
      input->Allocate();
      CudaDownloadFromDevice(scope->GetKeptPixels(), MakeCudaImageView(input, region), {}, {});
      scope->DropKeptPixels();
    }
  }
}

/** Returns the view of `part` in a device image that fills `whole`. */
template <unsigned int VDimension>
CudaDeviceImageView
CudaCrop(CudaDeviceImageView view, const ImageRegion<VDimension> & whole, const ImageRegion<VDimension> & part)
{
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    view.Offset += static_cast<size_t>(part.GetIndex(d) - whole.GetIndex(d)) * view.Stride[d];
    view.Size[d] = part.GetSize(d);
  }
  return view;
}

/** Returns the view of `region` of the filter's input if its pixels are kept on `device`, otherwise a view without
 * memory. Kept pixels that lie on another device or do not contain `region` are downloaded to the image. */
template <typename TFilter>
CudaDeviceImageView
CudaGetKeptInput(const TFilter & filter, const typename TFilter::InputImageType::RegionType & region, int device)
{
  const CudaUpdateScope * const scope = CudaUpdateScope::Find(&filter);
  if (scope && scope->HasKeptPixels())
  {
    const auto present = scope->template GetKeptRegion<TFilter::InputImageType::ImageDimension>();
    if (scope->GetKeptPixels().Memory->GetDevice() == device && CudaRegionHolds(present, region))
    {
      return CudaCrop(scope->GetKeptPixels(), present, region);
    }
    CudaDownloadKeptInput(filter);
  }
  return {};
}
} // end namespace itk::CudaDetail

#endif

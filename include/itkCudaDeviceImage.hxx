// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceImage_hxx
#define itkCudaDeviceImage_hxx

#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaFiltersConfiguration.h"

#include <typeinfo>
#include <utility>

namespace itk
{
template <typename TPixel, unsigned int VDimension>
void
CudaDeviceImage<TPixel, VDimension>::Allocate(bool initialize)
{
  if (m_NumberOfComponents == 0)
  {
    itkExceptionMacro("The number of components is 0; SetNumberOfComponentsPerPixel() must come before Allocate()");
  }
  this->ComputeOffsetTable();
  m_View = CudaDeviceImageView(); // release the old memory first, so that its blocks can be allocated again
  m_View = CudaDetail::CudaAllocateDeviceImage(this->GetPlanarSize(this->GetBufferedRegion()),
                                               DeviceComponentType,
                                               m_DeviceIndex == -1 ? CudaFiltersConfiguration::GetDeviceIndex()
                                                                   : m_DeviceIndex,
                                               initialize);
}

template <typename TPixel, unsigned int VDimension>
void
CudaDeviceImage<TPixel, VDimension>::Initialize()
{
  Superclass::Initialize();
  m_View = CudaDeviceImageView();
}

template <typename TPixel, unsigned int VDimension>
void
CudaDeviceImage<TPixel, VDimension>::Graft(const ImageBase<VDimension> * image)
{
  if (!image)
  {
    return;
  }
  const auto * const other = dynamic_cast<const Self *>(image);
  if (!other)
  {
    itkExceptionMacro("A " << image->GetNameOfClass() << " cannot be grafted onto a " << typeid(Self).name()
                           << "; CudaUploadImageFilter and CudaDownloadImageFilter copy between host and device");
  }
  Superclass::Graft(image);
  m_View = other->m_View;
  m_DeviceIndex = other->m_DeviceIndex;
  m_NumberOfComponents = other->m_NumberOfComponents;
}

template <typename TPixel, unsigned int VDimension>
void
CudaDeviceImage<TPixel, VDimension>::Graft(const DataObject * data)
{
  if (!data)
  {
    return;
  }
  const auto * const image = dynamic_cast<const ImageBase<VDimension> *>(data);
  if (!image)
  {
    itkExceptionMacro("A " << data->GetNameOfClass() << " cannot be grafted onto a " << typeid(Self).name());
  }
  this->Graft(image);
}

template <typename TPixel, unsigned int VDimension>
unsigned int
CudaDeviceImage<TPixel, VDimension>::GetNumberOfComponentsPerPixel() const
{
  return m_NumberOfComponents;
}

template <typename TPixel, unsigned int VDimension>
void
CudaDeviceImage<TPixel, VDimension>::SetNumberOfComponentsPerPixel(unsigned int number)
{
  if (PixelLength == 0 && m_NumberOfComponents != number)
  {
    m_NumberOfComponents = number;
    this->Modified();
  }
}

template <typename TPixel, unsigned int VDimension>
void
CudaDeviceImage<TPixel, VDimension>::SetDeviceIndex(int index)
{
  if (index < -1)
  {
    itkExceptionMacro("DeviceIndex is " << index << "; it must be a device's index or -1 for the configuration's");
  }
  m_DeviceIndex = index;
}

template <typename TPixel, unsigned int VDimension>
int
CudaDeviceImage<TPixel, VDimension>::GetDeviceIndex() const
{
  return m_View.Memory ? m_View.Memory->GetDevice() : m_DeviceIndex;
}

template <typename TPixel, unsigned int VDimension>
std::array<size_t, CudaDeviceImageView::NumberOfAxes>
CudaDeviceImage<TPixel, VDimension>::GetPlanarSize(const RegionType & region) const
{
  std::array<size_t, CudaDeviceImageView::NumberOfAxes> size{ { 1, 1, 1, 1, m_NumberOfComponents } };
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    size[d] = region.GetSize(d);
  }
  return size;
}

template <typename TPixel, unsigned int VDimension>
CudaDeviceImageView
CudaDeviceImage<TPixel, VDimension>::GetDeviceView(const RegionType & region, const char * name) const
{
  const RegionType & buffered = this->GetBufferedRegion();
  name = name ? name : this->GetNameOfClass();
  CudaDeviceImageView view = m_View;
  view.Size = this->GetPlanarSize(region);
  if (region.GetNumberOfPixels() == 0)
  {
    return view;
  }
  if (!CudaDetail::CudaRegionHolds(buffered, region))
  {
    itkGenericExceptionMacro(<< "Region " << region << " of " << name << " is outside of buffered region " << buffered
                             << "; was it allocated, or released?");
  }
  if (!m_View.Memory || m_View.Size != this->GetPlanarSize(buffered))
  {
    itkGenericExceptionMacro(<< name
                             << (m_View.Memory ? " has device memory of another size than"
                                               : " has no device memory for")
                             << " its buffered region " << buffered << " with " << m_NumberOfComponents
                             << " components; it must be allocated");
  }
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    view.Offset += static_cast<size_t>(region.GetIndex(d) - buffered.GetIndex(d)) * view.Stride[d];
  }
  return view;
}

template <typename TPixel, unsigned int VDimension>
void
CudaDeviceImage<TPixel, VDimension>::SetDeviceView(const CudaDeviceImageView & view)
{
  if (!view.Memory || view.ComponentType != DeviceComponentType ||
      view.Size != this->GetPlanarSize(this->GetBufferedRegion()))
  {
    itkExceptionMacro("The view " << (view.Memory ? "" : "has no memory, ") << "has components of type "
                                  << static_cast<int>(view.ComponentType) << " and " << view.Size[0] << " x "
                                  << view.Size[1] << " x " << view.Size[2] << " x " << view.Size[3] << " pixels of "
                                  << view.Size[4] << " components; it must have memory, type "
                                  << static_cast<int>(DeviceComponentType) << ", the buffered region "
                                  << this->GetBufferedRegion() << " and " << m_NumberOfComponents << " components");
  }
  CudaDetail::CudaVerifyDeviceImageView(view);
  m_View = view;
  this->Modified();
}

template <typename TPixel, unsigned int VDimension>
void
CudaDeviceImage<TPixel, VDimension>::Synchronize() const
{
  if (m_View.Memory)
  {
    m_View.Memory->Synchronize();
  }
}

template <typename TPixel, unsigned int VDimension>
void
CudaDeviceImage<TPixel, VDimension>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "NumberOfComponentsPerPixel: " << m_NumberOfComponents << std::endl;
  os << indent << "DeviceIndex: " << this->GetDeviceIndex() << std::endl;
  os << indent << "DeviceBytes: " << (m_View.Memory ? m_View.Memory->GetSize() : 0) << std::endl;
  os << indent << "DevicePointer: " << m_View.GetPointer() << std::endl;
}

template <typename TImage, typename TOwner>
typename TImage::Pointer
CudaDeviceImageFromPointer(typename TImage::ComponentType *          pointer,
                           const typename TImage::RegionType &       region,
                           const ImageBase<TImage::ImageDimension> * geometry,
                           TOwner                                    owner,
                           int                                       device,
                           unsigned int                              numberOfComponents)
{
  const auto image = TImage::New();
  image->SetRegions(region);
  if (geometry)
  {
    image->CopyInformation(geometry);
    if (!CudaDetail::CudaRegionHolds(geometry->GetLargestPossibleRegion(), region))
    {
      itkGenericExceptionMacro("CudaDeviceImageFromPointer(): region "
                               << region << " is not in the geometry's largest possible region "
                               << geometry->GetLargestPossibleRegion());
    }
  }
  image->SetNumberOfComponentsPerPixel(numberOfComponents);
  if (numberOfComponents == 0 || numberOfComponents != image->GetNumberOfComponentsPerPixel())
  {
    itkGenericExceptionMacro("CudaDeviceImageFromPointer(): numberOfComponents is "
                             << numberOfComponents << "; it must be that of the pixels, and not 0");
  }
  CudaDeviceImageView view;
  view.ComponentType = TImage::DeviceComponentType;
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    view.Size[d] = region.GetSize(d);
  }
  view.Size.back() = numberOfComponents;
  for (unsigned int axis = 1; axis < CudaDeviceImageView::NumberOfAxes; ++axis)
  {
    view.Stride[axis] = view.Stride[axis - 1] * view.Size[axis - 1];
  }
  view.Memory = CudaDeviceImageMemory::Adopt(pointer,
                                             view.GetNumberOfElements() * sizeof(*pointer),
                                             device == -1 ? CudaFiltersConfiguration::GetDeviceIndex() : device,
                                             [kept = std::move(owner)]() mutable { (void)kept; });
  image->SetDeviceView(view);
  return image;
}
} // end namespace itk

#endif

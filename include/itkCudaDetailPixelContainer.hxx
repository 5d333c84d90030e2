// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailPixelContainer_hxx
#define itkCudaDetailPixelContainer_hxx

#include "itkCudaDetailHostMemoryPool.h"

#include <limits>
#include <memory>
#include <type_traits>

namespace itk::CudaDetail
{
template <typename TElementIdentifier, typename TElement>
CudaPixelContainer<TElementIdentifier, TElement>::~CudaPixelContainer()
{
  // The superclass's destructor cannot call this override, and its own function knows only delete[].
  CudaPixelContainer::DeallocateManagedMemory();
}

template <typename TElementIdentifier, typename TElement>
TElement *
CudaPixelContainer<TElementIdentifier, TElement>::AllocateElements(ElementIdentifier size,
                                                                   bool              useValueInitialization) const
{
  if constexpr (std::is_trivially_destructible_v<TElement>)
  {
    const bool   representable = size <= std::numeric_limits<size_t>::max() / sizeof(TElement);
    void * const block = representable ? CudaHostMemoryPool::Allocate(size * sizeof(TElement)) : nullptr;
    if (block)
    {
      auto * const elements = static_cast<TElement *>(block);
      try
      {
        if (useValueInitialization)
        {
          std::uninitialized_value_construct_n(elements, size);
        }
        else if constexpr (!std::is_trivially_copyable_v<TElement>)
        {
          std::uninitialized_default_construct_n(elements, size);
        }
      }
      catch (...)
      {
        CudaHostMemoryPool::Release(block);
        throw;
      }
      return elements;
    }
  }
  return Superclass::AllocateElements(size, useValueInitialization);
}

template <typename TElementIdentifier, typename TElement>
void
CudaPixelContainer<TElementIdentifier, TElement>::DeallocateManagedMemory()
{
  if (this->GetContainerManageMemory() && CudaHostMemoryPool::Release(this->GetImportPointer()))
  {
    this->SetImportPointer(nullptr); // prevents the superclass from deleting the memory
  }
  Superclass::DeallocateManagedMemory();
}

template <typename TImage>
void
CudaUsePooledPixelContainer(TImage * output, const typename TImage::RegionType & region)
{
  using ContainerType = typename TImage::PixelContainer;
  using ElementType = typename ContainerType::Element;
  using IdentifierType = typename ContainerType::ElementIdentifier;

  if constexpr (std::is_same_v<ContainerType, ImportImageContainer<IdentifierType, ElementType>>)
  {
    // An element is a whole pixel in an Image, but a component in a VectorImage.
    constexpr bool elementIsPixel = std::is_same_v<ElementType, typename TImage::PixelType>;
    const size_t   elementsPerPixel = elementIsPixel ? 1 : output->GetNumberOfComponentsPerPixel();
    const size_t   needed = region.GetNumberOfPixels() * elementsPerPixel;

    const ContainerType * const present = output->GetPixelContainer();
    if (present && present->Capacity() >= needed)
    {
      return;
    }
    const auto container = CudaPixelContainer<IdentifierType, ElementType>::New();
    output->SetPixelContainer(container);
  }
}
} // end namespace itk::CudaDetail

#endif

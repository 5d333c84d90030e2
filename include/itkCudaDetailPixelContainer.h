// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailPixelContainer_h
#define itkCudaDetailPixelContainer_h

#include "itkImportImageContainer.h"

namespace itk::CudaDetail
{
/** Pixel container whose memory comes from CudaHostMemoryPool.
 *
 * Blocks that are too small for the pool, and elements with a destructor, are allocated as in the superclass. Imported
 * memory is treated as in the superclass, too. Elements that can be copied as bytes are not initialised unless value
 * initialisation is requested, because the constructors of tensors or colours would write zeros on one thread, which
 * the filter overwrites anyway. The container may live until the process ends.
 *
 * Pooled memory was not allocated by `new[]`. Code that takes it over with ContainerManageMemoryOff() must release it
 * by CudaHostMemoryPool::Release(), not by `delete[]`. */
template <typename TElementIdentifier, typename TElement>
class ITK_TEMPLATE_EXPORT CudaPixelContainer : public ImportImageContainer<TElementIdentifier, TElement>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaPixelContainer);

  using Self = CudaPixelContainer;
  using Superclass = ImportImageContainer<TElementIdentifier, TElement>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  using ElementIdentifier = TElementIdentifier;
  using Element = TElement;

  itkNewMacro(Self);
  itkTypeMacro(CudaPixelContainer, ImportImageContainer);

protected:
  CudaPixelContainer() = default;
  ~CudaPixelContainer() override;

  TElement *
  AllocateElements(ElementIdentifier size, bool useValueInitialization = false) const override;

  void
  DeallocateManagedMemory() override;
};

/** Gives `output` a CudaPixelContainer for the pixels of `region`, so that its Allocate() takes pooled memory. A
 * container that already has room for the pixels is not replaced, because the user may have grafted, imported or shared
 * it. This applies to Image and VectorImage; other image types are not changed. */
template <typename TImage>
void
CudaUsePooledPixelContainer(TImage * output, const typename TImage::RegionType & region);
} // end namespace itk::CudaDetail

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaDetailPixelContainer.hxx"
#endif

#endif

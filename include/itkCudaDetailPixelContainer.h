// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailPixelContainer_h
#define itkCudaDetailPixelContainer_h

#include "itkImportImageContainer.h"

namespace itk::CudaDetail
{
/** Pixel container whose memory comes from CudaHostMemoryPool.
 *
 * Blocks too small for the pool, and elements with a destructor, are allocated as in the superclass; what is imported
 * is treated as there. Elements that can be copied as bytes hold what the memory held, as numbers do, unless value
 * initialisation is asked for: constructors of tensors or colours would write zeros that the filter overwrites, by one
 * thread. The container may outlive the filter that made it, and everything else but the process.
 *
 * As pooled memory is no array of `new`, whoever takes it over with ContainerManageMemoryOff() must hand it back with
 * CudaHostMemoryPool::Release() instead of `delete[]`.
 */
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
 * container that has room for them already stays: it may be grafted, imported or shared by the user. For Image and
 * VectorImage; other image types are left as they are. */
template <typename TImage>
void
CudaUsePooledPixelContainer(TImage * output, const typename TImage::RegionType & region);
} // end namespace itk::CudaDetail

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkCudaDetailPixelContainer.hxx"
#endif

#endif

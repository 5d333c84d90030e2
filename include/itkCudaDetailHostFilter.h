// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailHostFilter_h
#define itkCudaDetailHostFilter_h

#include "itkLightObject.h"
#include "itkMacro.h"
#include "itkSmartPointer.h"

namespace itk::CudaDetail
{
/** A composite filter of ITK's as an object of its own, for one run on the host.
 *
 * Once a filter inside a composite has thrown (bad parameters, AbortGenerateData), ITK considers the composite's
 * internal pipeline up to date and never runs it again. A fresh object for each run avoids this. It is made without the
 * object factory, which would return this module's class. */
template <typename TSuperclass>
class ITK_TEMPLATE_EXPORT CudaHostFilter : public TSuperclass
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaHostFilter);

  using Self = CudaHostFilter;
  using Superclass = TSuperclass;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);

protected:
  CudaHostFilter() = default;
  ~CudaHostFilter() override = default;
};
} // end namespace itk::CudaDetail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHostFilter_h
#define itkCudaHostFilter_h

#include "itkLightObject.h"
#include "itkMacro.h"
#include "itkSmartPointer.h"

namespace itk
{
/** \class CudaHostFilter
 * \brief A composite filter of ITK's as an object of its own, for one run on the host.
 *
 * Once a filter of a composite's internal pipeline has thrown (bad parameters, AbortGenerateData), that pipeline passes
 * for being updated and never runs again; an object that lives for one run has no such past. It is made without the
 * object factory, which would return this module's class.
 * \ingroup CudaFilters
 */
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
} // end namespace itk

#endif

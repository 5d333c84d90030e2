// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailFilterRun_h
#define itkCudaDetailFilterRun_h

#include "itkLightObject.h"
#include "itkMacro.h"
#include "itkSmartPointer.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailPixelContainer.h"
#include "itkCudaDetailWorkScope.h"
#include "itkProcessObject.h"

#include <string>

namespace itk::CudaDetail
{
/** A composite filter of ITK as a separate object, for one run on the host.
 *
 * Once a filter inside a composite has thrown (bad parameters, AbortGenerateData), ITK considers the composite's
 * internal pipeline up to date and never runs it again. A new object for each run avoids this. It is created without
 * the object factory, which would return this module's class. */
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

/** Throws the exception of a filter whose AbortGenerateData is set. */
[[noreturn]] inline void
CudaThrowAborted(const ProcessObject & filter)
{
  ProcessAborted aborted(__FILE__, __LINE__);
  aborted.SetDescription(std::string(filter.GetNameOfClass()) + ": AbortGenerateData was set");
  throw aborted;
}

/** Returns a function that reports the engine's progress as the filter's, and throws ProcessAborted once
 * AbortGenerateData is set. */
inline CudaProgressFunction
MakeCudaProgressFunction(ProcessObject * filter)
{
  return [filter](float done) {
    filter->UpdateProgress(done);
    if (filter->GetAbortGenerateData())
    {
      CudaThrowAborted(*filter);
    }
  };
}

/** Returns a function that reports the engine's progress as the filter's, and returns false once AbortGenerateData is
 * set. */
inline std::function<bool(float)>
MakeCudaProgressObserver(ProcessObject * filter)
{
  return [filter](float done) {
    filter->UpdateProgress(done);
    return !filter->GetAbortGenerateData();
  };
}

/** Requests all pixels of all inputs, for a filter that needs them whatever part of its output is requested. */
inline void
CudaRequestWholeInputs(ProcessObject & filter)
{
  for (const auto & input : filter.GetInputs())
  {
    if (input)
    {
      input->SetRequestedRegionToLargestPossibleRegion();
    }
  }
}

/** Makes the output allocate its pixels in the module's pool of host memory. */
template <typename TImage>
void
CudaUsePooledOutput(TImage * output)
{
  if constexpr (CudaImageTraits<TImage>::IsSupported)
  {
    CudaUsePooledPixelContainer(output, output->GetRequestedRegion());
  }
}
} // end namespace itk::CudaDetail

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianFilterRun_h
#define itkCudaGaussianFilterRun_h

#include "itkCudaFilterBackend.h"
#include "itkCudaGaussianEngine.h"
#include "itkCudaImageTraits.h"
#include "itkCudaPixelContainer.h"
#include "itkProcessObject.h"

namespace itk
{
/** Reports the engine's progress as the filter's, and throws ProcessAborted once the filter is asked to abort.
 * \ingroup CudaFilters */
inline CudaProgressFunction
MakeCudaProgressFunction(ProcessObject * filter)
{
  return [filter](float done) {
    filter->UpdateProgress(done);
    if (filter->GetAbortGenerateData())
    {
      ProcessAborted aborted(__FILE__, __LINE__);
      aborted.SetDescription(std::string(filter->GetNameOfClass()) + ": AbortGenerateData was set");
      throw aborted;
    }
  };
}

/** GenerateData() of a Gaussian filter: `host()` where the backend decides so, else the plan that `prepare()` returns, run
 * on the device from the filter's input to its output, over the output's requested region. `prepare()` also allocates the
 * outputs and checks the parameters. \ingroup CudaFilters */
template <typename TFilter, typename TPrepare, typename THost>
void
CudaRunGaussianFilter(TFilter * filter, CudaFilterBackend & backend, const TPrepare & prepare, const THost & host)
{
  using InputImageType = typename TFilter::InputImageType;
  using OutputImageType = typename TFilter::OutputImageType;
  using InputTraits = CudaImageTraits<InputImageType>;
  using OutputTraits = CudaImageTraits<OutputImageType>;

  const auto region = filter->GetOutput()->GetRequestedRegion();
  if constexpr (InputTraits::IsSupported && OutputTraits::IsSupported)
  {
    const size_t components = filter->GetInput()->GetNumberOfComponentsPerPixel();
    const size_t workingSet = CudaGaussianWorkingSet(MakeCudaImageShape<InputImageType>(region, components),
                                                     MakeCudaImageShape<OutputImageType>(region, components));
    const auto   device = [&](int deviceIndex) {
      const CudaGaussianPlan plan = prepare();
      if (region.GetNumberOfPixels() == 0)
      {
        return;
      }
      CudaGaussianFilter(plan,
                         MakeCudaImageView(filter->GetInput(), region),
                         MakeCudaImageView(static_cast<const OutputImageType *>(filter->GetOutput()), region),
                         deviceIndex,
                         MakeCudaProgressFunction(filter));
    };
    backend.Run(nullptr, workingSet, device, host);
  }
  else
  {
    const char * unsupported =
      InputTraits::IsSupported ? OutputTraits::GetUnsupportedReason() : InputTraits::GetUnsupportedReason();
    backend.Run(
      unsupported, 0, [](int) {}, host);
  }
}

/** Lets the output's pixels, if they are to be allocated, come from the module's pool of host memory.
 * \ingroup CudaFilters */
template <typename TImage>
void
CudaUsePooledOutput(TImage * output)
{
  if constexpr (CudaImageTraits<TImage>::IsSupported)
  {
    CudaUsePooledPixelContainer(output, output->GetRequestedRegion());
  }
}
} // end namespace itk

#endif

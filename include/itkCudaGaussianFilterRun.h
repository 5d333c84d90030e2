// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianFilterRun_h
#define itkCudaGaussianFilterRun_h

#include "itkCudaFilterBackend.h"
#include "itkCudaGaussianEngine.h"
#include "itkCudaHostScope.h"
#include "itkCudaImageTraits.h"
#include "itkCudaPixelContainer.h"
#include "itkProcessObject.h"

#include <vector>

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

/** GenerateData() of a Gaussian filter: where the backend decides for the host, `host()` or, if the filter's
 * Approximation is not its superclass's, `allocate()` and the plan's run by the filter's threads; else `allocate()`,
 * which allocates the outputs and may check what only the filter knows, and the plan's run on the device. Plans run
 * from the filter's input to its output, over the output's requested region. `makePlan()` comes first and throws for
 * parameters out of range. \ingroup CudaFilters */
template <typename TFilter, typename TMakePlan, typename TAllocate, typename THost>
void
CudaRunGaussianFilter(TFilter *           filter,
                      CudaFilterBackend & backend,
                      const TMakePlan &   makePlan,
                      const TAllocate &   allocate,
                      const THost &       host)
{
  using InputImageType = typename TFilter::InputImageType;
  using OutputImageType = typename TFilter::OutputImageType;
  using InputTraits = CudaImageTraits<InputImageType>;
  using OutputTraits = CudaImageTraits<OutputImageType>;

  const auto superclass = [&host] {
    // Filters inside the superclass may be of this module too: they are not to take every pass over the link.
    const CudaHostScope scope;
    host();
  };
  const bool isSuperclassHost = filter->GetApproximation() == CudaFiltersEnums::Approximation::Deriche;
  const auto region = filter->GetOutput()->GetRequestedRegion();
  // Before anything else, so that a filter that runs in place does not hand the input's empty memory to its output.
  CudaVerifyBufferedRegion(filter->GetInput(), region);
  if constexpr (InputTraits::IsSupported && OutputTraits::IsSupported)
  {
    const CudaGaussianPlan plan = makePlan();
    const size_t           components = filter->GetInput()->GetNumberOfComponentsPerPixel();
    const size_t           outputComponents = filter->GetOutput()->GetNumberOfComponentsPerPixel();
    const bool             hasMore = outputComponents > components * plan.Results.size();
    if (!hasMore)
    {
      // The superclass would write beyond a pixel that has fewer.
      CudaVerifyComponents(components, plan.Results.size(), outputComponents);
    }
    const size_t workingSet =
      CudaGaussianWorkingSet(plan,
                             MakeCudaImageShape<InputImageType>(region, components),
                             MakeCudaImageShape<OutputImageType>(region, components * plan.Results.size()));
    const auto run = [&](const auto & engine) {
      allocate();
      if (region.GetNumberOfPixels() > 0)
      {
        engine(MakeCudaImageView(filter->GetInput(), region),
               MakeCudaImageView(static_cast<const OutputImageType *>(filter->GetOutput()), region));
      }
    };
    const auto device = [&](int deviceIndex) {
      run([&](const CudaImageView & input, const CudaImageView & output) {
        CudaGaussianFilter(plan, input, output, deviceIndex, MakeCudaProgressFunction(filter));
      });
    };
    const auto hostPlan = [&] {
      run([&](const CudaImageView & input, const CudaImageView & output) {
        filter->GetMultiThreader()->SetNumberOfWorkUnits(filter->GetNumberOfWorkUnits());
        CudaGaussianFilterOnHost(plan, input, output, filter->GetMultiThreader(), MakeCudaProgressFunction(filter));
      });
    };
    // The superclass leaves components that are more than its results as they are.
    backend.Run(hasMore ? "the output has more components than the filter gives" : nullptr, workingSet, device, [&] {
      if (isSuperclassHost)
      {
        superclass();
      }
      else
      {
        hostPlan();
      }
    });
  }
  else
  {
    const char * unsupported =
      InputTraits::IsSupported ? OutputTraits::GetUnsupportedReason() : InputTraits::GetUnsupportedReason();
    backend.Run(
      unsupported,
      0,
      [](int) {},
      [&] {
        if (!isSuperclassHost)
        {
          itkGenericExceptionMacro(<< filter->GetNameOfClass() << ": Approximation is " << filter->GetApproximation()
                                   << "; images of this type need Deriche: " << unsupported);
        }
        superclass();
      });
  }
}

/** Throws unless the filter's input has at least four pixels along each axis, as ITK's recursive filters do.
 * \ingroup CudaFilters */
template <typename TFilter>
void
CudaVerifyLineLengths(const TFilter * filter)
{
  const auto size = filter->GetInput()->GetRequestedRegion().GetSize();
  for (unsigned int d = 0; d < size.GetSizeDimension(); ++d)
  {
    if (size[d] < 4)
    {
      itkGenericExceptionMacro(<< filter->GetNameOfClass() << ": the number of pixels along dimension " << d << " is "
                               << size[d] << "; this filter requires at least four");
    }
  }
}

/** Sigma and spacing of a filter that has one sigma for each axis.
 * \ingroup CudaFilters */
template <typename TFilter, typename TSigmaArray>
CudaGaussianParameters
MakeCudaGaussianParameters(const TFilter * filter, const TSigmaArray & sigma)
{
  CudaGaussianParameters parameters;
  for (unsigned int d = 0; d < TFilter::InputImageType::ImageDimension; ++d)
  {
    parameters.Sigma.push_back(sigma[d]);
    parameters.Spacing.push_back(filter->GetInput()->GetSpacing()[d]);
  }
  parameters.NormalizeAcrossScale = filter->GetNormalizeAcrossScale();
  parameters.Approximation = filter->GetApproximation();
  return parameters;
}

/** The same sigma along every axis.
 * \ingroup CudaFilters */
struct CudaEqualSigmas
{
  double Sigma;

  double
  operator[](unsigned int) const
  {
    return Sigma;
  }
};

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

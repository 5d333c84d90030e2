// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailTensorFilter_h
#define itkCudaDetailTensorFilter_h

#include "itkCudaDetailDeviceFilter.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailFilterRun.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailTensorEngine.h"
#include "itkSymmetricSecondRankTensor.h"

#include <type_traits>

// Functions that the filters of images of tensors share.

namespace itk::CudaDetail
{
/** The number of rows of a pixel type that is a symmetric tensor or derives from one, and 0 for other types. */
template <typename TPixel>
struct CudaTensorTraits
{
private:
  template <typename TComponent, unsigned int VRows>
  static std::integral_constant<unsigned int, VRows>
  GetRows(const SymmetricSecondRankTensor<TComponent, VRows> *);
  static std::integral_constant<unsigned int, 0>
  GetRows(const void *);

public:
  static constexpr unsigned int Rows = decltype(GetRows(static_cast<const TPixel *>(nullptr)))::value;
  static constexpr bool         IsSupported = Rows == 2 || Rows == 3;
};

/** Whether the engine supports these images, which must hold tensors of two or three rows in memory. */
template <typename TInputImage, typename TOutputImage>
constexpr bool CudaTakesTensors = CudaTensorTraits<typename TInputImage::PixelType>::IsSupported &&
  CudaImageTraits<TInputImage>::IsSupported && CudaImageTraits<TOutputImage>::IsSupported;

/** Returns a sentence that says why the engine does not support these images. */
template <typename TInputImage, typename TOutputImage>
constexpr const char *
CudaTensorUnsupportedReason()
{
  return !CudaImageTraits<TInputImage>::IsSupported    ? CudaImageTraits<TInputImage>::GetUnsupportedReason()
         : !CudaImageTraits<TOutputImage>::IsSupported ? CudaImageTraits<TOutputImage>::GetUnsupportedReason()
                                                       : "only symmetric tensors of two or three rows are supported";
}

/** Runs a plan for the output's requested region if the input, the output or both are device images. Calls `allocate`
 * to allocate the output. */
template <typename TPlan, typename TFilter, typename TAllocate>
void
CudaRunTensorPlanOnDevice(const TPlan & plan, TFilter * filter, CudaFilterBackend & backend, const TAllocate & allocate)
{
  const auto * const input = filter->GetInput();
  auto * const       output = filter->GetOutput();
  const auto         progress = MakeCudaProgressFunction(filter);
  const int          device = CudaPrepareDeviceRun(backend, input, output);
  progress(0.0f);
  allocate();
  CudaRunOnDeviceImages(plan, input, output, device, progress);
}

/** Runs a plan for the output's requested region, on the device or on the host as `backend` decides. Calls `allocate`
 * to allocate the output. */
template <typename TPlan, typename TFilter, typename TAllocate>
void
CudaRunTensorPlan(const TPlan & plan, TFilter * filter, CudaFilterBackend & backend, const TAllocate & allocate)
{
  using OutputImageType = typename TFilter::OutputImageType;

  const auto * const input = filter->GetInput();
  const auto         region = filter->GetOutput()->GetRequestedRegion();
  const auto         progress = MakeCudaProgressFunction(filter);
  const auto         source = MakeCudaImageView(input, region, "The input");
  CudaUsePooledOutput(filter->GetOutput());
  allocate();
  const auto result = MakeCudaImageView(static_cast<const OutputImageType *>(filter->GetOutput()), region);
  const bool onDevice = backend.SelectDevice(nullptr, CudaWorkingSet(plan, source, result));
  if (region.GetNumberOfPixels() == 0 || (onDevice && CudaRunOnDevice(plan, source, result, backend, progress)))
  {
    return;
  }
  filter->GetMultiThreader()->SetNumberOfWorkUnits(filter->GetNumberOfWorkUnits());
  CudaRunOnHost(plan, source, result, filter->GetMultiThreader(), progress);
}
} // end namespace itk::CudaDetail

#endif

// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailTensorFilter_h
#define itkCudaDetailTensorFilter_h

#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailPlanRun.h"
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
} // end namespace itk::CudaDetail

#endif

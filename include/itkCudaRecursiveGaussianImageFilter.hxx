// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRecursiveGaussianImageFilter_hxx
#define itkCudaRecursiveGaussianImageFilter_hxx

#include "itkCudaDetailGaussianEngine.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaGaussianPlan
CudaRecursiveGaussianImageFilter<TInputImage, TOutputImage>::MakePlan() const
{
  const unsigned int axis = this->GetDirection();
  return CudaDetail::MakeGaussianLinePlan(
    axis,
    CudaDetail::MakeGaussianImpulseResponse(this->GetApproximation(),
                                            static_cast<unsigned int>(this->GetOrder()),
                                            this->GetSigma(),
                                            this->GetInput()->GetSpacing()[axis],
                                            this->GetNormalizeAcrossScale()),
    this->GetBoundary());
}

template <typename TInputImage, typename TOutputImage>
void
CudaRecursiveGaussianImageFilter<TInputImage, TOutputImage>::VerifyLineLengths() const
{
  // The messages are those of ITK's class, which makes the same checks, but only after its input has run. The largest
  // possible region is enough to check, because the filter takes whole lines along Direction, so the requested region
  // shortens none of them. Lines along other axes may have any length.
  const unsigned int axis = this->GetDirection();
  if (axis >= TInputImage::ImageDimension)
  {
    itkExceptionMacro("Direction selected for filtering is greater than ImageDimension");
  }
  if (this->GetInput()->GetLargestPossibleRegion().GetSize(axis) < this->GetMinimumLineLength())
  {
    itkExceptionMacro(
      "The number of pixels along direction "
      << axis << " is less than 4. This filter requires a minimum of four pixels along the dimension to be processed.");
  }
}

template <typename TInputImage, typename TOutputImage>
std::string
CudaRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GetHostPreference() const
{
  const size_t pixels = this->GetOutput()->GetRequestedRegion().GetNumberOfPixels();
  return CudaDetail::CudaGaussianHostPreference(this->GetDirection(),
                                                pixels * this->GetInput()->GetNumberOfComponentsPerPixel());
}
} // end namespace itk

#endif

// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "factory/GaussianOverrideList.h"

// Lists the types of images for which the factory overrides itk::RecursiveGaussianImageFilter.

namespace itk
{
/** Gives access to a filter's flag that it overrides an ITK filter and may therefore be part of a chain. */
class CudaGaussianOverrideAccess
{
public:
  template <typename TFilter>
  static void
  SetIsOverride(TFilter & filter)
  {
    filter.m_CudaBackend.IsOverride = true;
  }
};

template <typename TInputImage, typename TOutputImage>
void
PrepareOverride(CudaRecursiveGaussianImageFilter<TInputImage, TOutputImage> & filter)
{
  CudaGaussianOverrideAccess::SetIsOverride(filter);
}
} // end namespace itk

namespace itk::cuda
{
GaussianOverrides
MakeRecursiveGaussianOverrides()
{
  OverrideList<RecursiveGaussianImageFilter, CudaRecursiveGaussianImageFilter> list("RecursiveGaussianImageFilter");
  list.AddScalarOutputs();
  list.AddInternalOutputs<4>(FourDimensionalComponents());
  return list.Get();
}
} // namespace itk::cuda

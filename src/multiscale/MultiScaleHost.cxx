// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Components.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "runtime/DetailNames.h"
#include "pointwise/HessianMeasures.h"
#include "runtime/image/HostLines.h"
#include "runtime/run/Progress.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cmath>
#include <limits>

// Computes the largest measure of several scales on ITK's threads: each scale's Hessians by a Gaussian plan, and
// then the measure of each pixel.

namespace itk::cuda::multiscale
{
namespace
{
using pointwise::GetHessianMeasure;
using pointwise::MeasureParameters;

/** Returns the parameter of a measure that follows from the largest finite quantity of the Hessians, as the measure
 * uses it. `values` is overwritten. */
template <typename T>
T
GetParameter(const CudaScaleParameter & parameter,
             CudaHessianMeasureKind     kind,
             const ScratchImage<T> &    hessian,
             const ScratchImage<T> &    values,
             MultiThreaderBase *        threader)
{
  const MeasureParameters<T> quantity(parameter.Quantity);
  const auto compute = parameter.Quantity.Dimension == 2 ? GetHessianMeasure<2, T> : GetHessianMeasure<3, T>;
  const auto store = [&](size_t from, size_t to) { values.Pixels[to] = compute(quantity, &hessian.Pixels[from]); };
  ForEachPixel(threader, store, hessian.View, values.View);
  T largest{ 0 };
  for (size_t i = 0; i < values.View.GetNumberOfPixels(); ++i)
  {
    largest = std::isfinite(values.Pixels[i]) ? std::max(largest, values.Pixels[i]) : largest;
  }
  return MeasureParameters<T>::GetFromScale(kind, parameter.Get(static_cast<double>(largest)));
}

template <typename T>
void
RunPlan(const CudaMultiScalePlan &    plan,
        const CudaImageView &         input,
        const CudaMultiScaleOutputs & outputs,
        MultiThreaderBase *           threader,
        const CudaProgressFunction &  progress,
        const CudaScaleParameter *    parameter)
{
  constexpr CudaComponentType type = sizeof(T) == 4 ? CudaComponentType::Float : CudaComponentType::Double;
  CudaImageView               shape = input;
  ScratchImage<T>             best;
  best.Allocate(shape, type);
  ScratchImage<T> values; // of the parameter's quantity
  if (parameter)
  {
    values.Allocate(shape, type);
  }
  shape.NumberOfComponents = CudaTensorComponents(plan.Measure.Dimension);
  ScratchImage<T> hessian;
  hessian.Allocate(shape, type);

  const auto   measure = plan.Measure.Dimension == 2 ? GetHessianMeasure<2, T> : GetHessianMeasure<3, T>;
  const T      lowest = plan.NonNegative ? T{ 0 } : std::numeric_limits<T>::lowest();
  const size_t components = outputs.Hessian.Data ? shape.NumberOfComponents : 0;
  for (size_t scale = 0; scale < plan.Sigmas.size(); ++scale)
  {
    CudaRunOnHost(plan.MakeHessianPlan(plan.Sigmas[scale]),
                  input,
                  hessian.View,
                  threader,
                  GetPartOfProgress(progress, 0.0f, 1.0f, scale, plan.Sigmas.size()));
    MeasureParameters<T> parameters(plan.GetMeasure(scale));
    if (parameter)
    {
      parameters.SetFromScale(GetParameter(*parameter, plan.Measure.Kind, hessian, values, threader));
    }
    const T    sigma = static_cast<T>(plan.Sigmas[scale]);
    const bool isFirst = scale == 0;
    const auto update = [&](size_t inHessian, size_t inBest, size_t inScale, size_t inOutput) {
      const T * const tensor = &hessian.Pixels[inHessian];
      T &             largest = best.Pixels[inBest];
      const T         value = measure(parameters, tensor);
      const bool      isBest = (isFirst ? lowest : largest) < value;
      if (!isBest && !isFirst)
      {
        return;
      }
      largest = isBest ? value : lowest;
      StoreComponent(outputs.Scale, inScale, isBest ? sigma : T{ 0 });
      for (size_t c = 0; c < components; ++c)
      {
        StoreComponent(outputs.Hessian, inOutput + c, isBest ? tensor[c] : T{ 0 });
      }
    };
    ForEachPixel(threader, update, hessian.View, best.View, outputs.Scale, outputs.Hessian);
  }
  const auto store = [&](size_t from, size_t to) { StoreComponent(outputs.Response, to, best.Pixels[from]); };
  ForEachPixel(threader, store, best.View, outputs.Response);
}
} // namespace
} // end namespace itk::cuda::multiscale

namespace itk::CudaDetail
{
void
CudaRunOnHost(const CudaMultiScalePlan &    plan,
              const CudaImageView &         input,
              const CudaMultiScaleOutputs & outputs,
              MultiThreaderBase *           threader,
              const CudaProgressFunction &  progress,
              const CudaScaleParameter *    parameter)
{
  using namespace cuda;
  const bool inDouble = GetComputeType(input, outputs.Response) == CudaComponentType::Double;
  const auto run = inDouble ? multiscale::RunPlan<double> : multiscale::RunPlan<float>;
  run(plan, input, outputs, threader, progress, parameter);
}
} // end namespace itk::CudaDetail

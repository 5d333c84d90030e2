// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Components.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "runtime/DetailNames.h"
#include "pointwise/HessianMeasures.h"
#include "runtime/image/HostLines.h"
#include "pointwise/ImageRows.h"
#include "multiscale/MultiScaleProgress.h"
#include "itkMultiThreaderBase.h"

#include <limits>

// Computes the largest measure of several scales on ITK's threads: each scale's Hessians by a Gaussian plan, and
// then the measure of each pixel.

namespace itk::cuda::multiscale
{
namespace
{
using pointwise::GetHessianMeasure;
using pointwise::GetRowOffset;
using pointwise::MeasureParameters;
using pointwise::StoreComponent;

/** Updates the best responses of the previous scales with one scale's Hessians. */
template <typename T>
class ScaleStep
{
public:
  ScaleStep(const CudaMultiScalePlan &    plan,
            const CudaImageView &         hessian,
            const CudaImageView &         best,
            const CudaMultiScaleOutputs & outputs)
    : m_Plan(plan)
    , m_Measure(plan.Measure.Dimension == 2 ? GetHessianMeasure<2, T> : GetHessianMeasure<3, T>)
    , m_Lowest(plan.NonNegative ? T{ 0 } : std::numeric_limits<T>::lowest())
    , m_Hessian(hessian)
    , m_Best(best)
    , m_Outputs(outputs)
  {}

  void
  UpdateRow(size_t row, size_t scale) const
  {
    const MeasureParameters<T> parameters(m_Plan.GetMeasure(scale));
    const T                    sigma = static_cast<T>(m_Plan.Sigmas[scale]);
    const bool                 isFirst = scale == 0;
    const size_t               components = m_Hessian.NumberOfComponents;
    const T *                  hessian = static_cast<const T *>(m_Hessian.Data) + GetRowOffset(m_Hessian, row);
    T * const                  best = static_cast<T *>(m_Best.Data) + GetRowOffset(m_Best, row);
    for (size_t x = 0; x < m_Hessian.Size[0]; ++x, hessian += components)
    {
      const T    value = m_Measure(parameters, hessian);
      const bool isBest = (isFirst ? m_Lowest : best[x]) < value;
      if (!isBest && !isFirst)
      {
        continue;
      }
      best[x] = isBest ? value : m_Lowest;
      StoreComponent(m_Outputs.Scale, row, x, 0, isBest ? sigma : T{ 0 });
      for (size_t c = 0; m_Outputs.Hessian.Data && c < components; ++c)
      {
        StoreComponent(m_Outputs.Hessian, row, x, c, isBest ? hessian[c] : T{ 0 });
      }
    }
  }

  void
  StoreRow(size_t row) const
  {
    const T * const best = static_cast<const T *>(m_Best.Data) + GetRowOffset(m_Best, row);
    for (size_t x = 0; x < m_Best.Size[0]; ++x)
    {
      StoreComponent(m_Outputs.Response, row, x, 0, best[x]);
    }
  }

private:
  const CudaMultiScalePlan & m_Plan;
  T (*const m_Measure)(const MeasureParameters<T> &, const T *);
  const T                       m_Lowest;
  const CudaImageView           m_Hessian;
  const CudaImageView           m_Best;
  const CudaMultiScaleOutputs & m_Outputs;
};

template <typename T>
void
RunPlan(const CudaMultiScalePlan &    plan,
        const CudaImageView &         input,
        const CudaMultiScaleOutputs & outputs,
        MultiThreaderBase *           threader,
        const CudaProgressFunction &  progress)
{
  constexpr CudaComponentType type = sizeof(T) == 4 ? CudaComponentType::Float : CudaComponentType::Double;
  CudaImageView               shape = input;
  WorkImage<T>                best;
  best.Allocate(shape, type);
  shape.NumberOfComponents = CudaTensorComponents(plan.Measure.Dimension);
  WorkImage<T> hessian;
  hessian.Allocate(shape, type);

  const ScaleStep<T> step(plan, hessian.View, best.View, outputs);
  const size_t       rows = input.Size[1] * input.Size[2] * input.Size[3];
  for (size_t scale = 0; scale < plan.Sigmas.size(); ++scale)
  {
    RunGaussianPlanOnHost(plan.MakeHessianPlan(plan.Sigmas[scale]),
                          input,
                          hessian.View,
                          threader,
                          GetScaleProgress(progress, scale, plan.Sigmas.size(), 0.0f, 1.0f));
    threader->ParallelizeArray(
      0, rows, [&](SizeValueType row) { step.UpdateRow(row, scale); }, nullptr);
  }
  threader->ParallelizeArray(
    0, rows, [&](SizeValueType row) { step.StoreRow(row); }, nullptr);
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
              const CudaProgressFunction &  progress)
{
  using namespace cuda;
  const bool inDouble = GetComputeType(input, outputs.Response) == CudaComponentType::Double;
  const auto run = inDouble ? multiscale::RunPlan<double> : multiscale::RunPlan<float>;
  run(plan, input, outputs, threader, progress);
}
} // end namespace itk::CudaDetail

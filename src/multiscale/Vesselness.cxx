// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "itkCudaDetailOperation.h"
#include "runtime/DetailNames.h"
#include "runtime/image/HostLines.h"
#include "runtime/run/Progress.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cmath>

// Runs the measures of vesselness, whose parameters may depend on the Hessians of each scale.

namespace itk::CudaDetail
{
std::optional<CudaScaleParameter>
CudaVesselnessMeasure::MakeScaleParameter() const
{
  using KindEnum = CudaVesselnessEnums::HessianMeasure;
  if (Kind == KindEnum::Jerman)
  {
    const double infinity = std::numeric_limits<double>::infinity();
    return CudaScaleParameter{ MakeObjectnessMeasure(Dimension, 0.0, infinity, 0.0, Dimension - 1, BrightObject, true),
                               Tau,
                               0.0 };
  }
  if (std::isnan(Gamma) && (Kind == KindEnum::Objectness || Kind == KindEnum::Frangi))
  {
    // If all Hessians are 0, the measure is 0 for every gamma
    return CudaScaleParameter{ MakeFrobeniusNorm(Dimension), 0.5, 1.0 };
  }
  return std::nullopt;
}

CudaHessianMeasure
CudaVesselnessMeasure::Make(double fromScale) const
{
  using KindEnum = CudaVesselnessEnums::HessianMeasure;
  const double gamma = std::isnan(Gamma) ? fromScale : Gamma;
  switch (Kind)
  {
    case KindEnum::Frangi:
      return MakeFrangiMeasure(Dimension, Alpha, Beta, gamma, BrightObject);
    case KindEnum::Sato:
      return MakeSatoMeasure(Dimension, SatoAlpha, SatoGamma12, SatoGamma23, BrightObject);
    case KindEnum::Jerman:
      return MakeJermanMeasure(Dimension, fromScale, BrightObject);
    case KindEnum::Meijering:
      return MakeMeijeringMeasure(Dimension, BrightObject);
    case KindEnum::Objectness:
      break;
  }
  return MakeObjectnessMeasure(Dimension, Alpha, Beta, gamma, ObjectDimension, BrightObject, ScaleObjectnessMeasure);
}

namespace
{
/** Returns the largest finite measure of the plan, at least 0, or nothing if the device ran out of memory. */
template <typename T>
std::optional<double>
FindLargest(const CudaMultiScalePlan &   plan,
            const CudaImageView &        input,
            CudaFilterBackend &          backend,
            const CudaProgressFunction & progress)
{
  cuda::ScratchImage<T> values;
  values.Allocate(input, sizeof(T) == 4 ? CudaComponentType::Float : CudaComponentType::Double);
  if (backend.Used != CudaFiltersEnums::Backend::Cuda ||
      !CudaRunOnDevice(plan, input, CudaMultiScaleOutputs{ values.View, {}, {} }, backend, progress))
  {
    return std::nullopt;
  }
  T largest{ 0 };
  for (size_t i = 0; i < input.GetNumberOfPixels(); ++i)
  {
    largest = std::isfinite(values.Pixels[i]) ? std::max(largest, values.Pixels[i]) : largest;
  }
  return static_cast<double>(largest);
}

/** Runs the plan on the device that `backend` selected, after a run for the parameter if the device has no room for the
 * whole image. Returns false if the host must continue because the device ran out of memory. */
bool
RunVesselnessOnDevice(CudaMultiScalePlan            plan,
                      const CudaVesselnessMeasure & measure,
                      const CudaScaleParameter &    parameter,
                      const CudaImageView &         input,
                      const CudaMultiScaleOutputs & outputs,
                      CudaFilterBackend &           backend,
                      const CudaProgressFunction &  progress)
{
  if (CudaRunWholeOnDevice(plan, parameter, input, outputs, backend, progress))
  {
    return true;
  }
  const bool inDouble = outputs.Response.ComponentType == CudaComponentType::Double;
  const auto find = inDouble ? FindLargest<double> : FindLargest<float>;
  for (size_t scale = 0; scale < plan.Sigmas.size(); ++scale)
  {
    CudaMultiScalePlan single = plan;
    single.Measure = parameter.Quantity;
    single.MeasureOfScale.clear();
    single.Sigmas = { plan.Sigmas[scale] };
    const auto part = cuda::GetPartOfProgress(progress, 0.0f, 0.5f, scale, plan.Sigmas.size());
    const auto largest = find(single, input, backend, part);
    if (!largest)
    {
      return false;
    }
    plan.MeasureOfScale.push_back(measure.Make(parameter.Get(*largest)));
  }
  return CudaRunOnDevice(plan, input, outputs, backend, cuda::GetPartOfProgress(progress, 0.5f, 1.0f));
}
} // namespace

void
CudaRunVesselness(CudaMultiScalePlan            plan,
                  const CudaVesselnessMeasure & measure,
                  const CudaImageView &         input,
                  const CudaMultiScaleOutputs & outputs,
                  CudaFilterBackend &           backend,
                  MultiThreaderBase *           threader,
                  const CudaProgressFunction &  progress)
{
  plan.Measure = measure.Make();
  const auto parameter = measure.MakeScaleParameter();
  const bool isDone = backend.SelectDevice(nullptr, CudaMultiScaleWorkingSet(plan, input, outputs)) &&
                      (parameter ? RunVesselnessOnDevice(plan, measure, *parameter, input, outputs, backend, progress)
                                 : CudaRunOnDevice(plan, input, outputs, backend, progress));
  if (!isDone)
  {
    CudaRunOnHost(plan, input, outputs, threader, progress, parameter ? &*parameter : nullptr);
  }
}
} // end namespace itk::CudaDetail

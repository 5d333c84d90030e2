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

namespace itk::cuda::multiscale
{
namespace
{
/** Runs plans on the device that the backend selected, or on the host if the device runs out of memory. */
struct Runner
{
  template <typename TPlan, typename TOutputs>
  void
  Run(const TPlan & plan, const CudaImageView & input, const TOutputs & outputs, const CudaProgressFunction & progress)
  {
    if (Backend.Used != CudaFiltersEnums::Backend::Cuda || !CudaRunOnDevice(plan, input, outputs, Backend, progress))
    {
      CudaRunOnHost(plan, input, outputs, Threader, progress);
    }
  }

  CudaFilterBackend & Backend;
  MultiThreaderBase * Threader;
};

/** Computes the quantity of the parameter from one scale's Hessians, and returns its largest finite value, at least 0.
 */
template <typename T>
double
FindLargestOfScale(const CudaMultiScalePlan &   plan,
                   CudaScaleQuantity            quantity,
                   double                       sigma,
                   const CudaImageView &        input,
                   Runner &                     runner,
                   const CudaProgressFunction & progress)
{
  ScratchImage<T> image;
  image.Allocate(input, sizeof(T) == 4 ? CudaComponentType::Float : CudaComponentType::Double);
  if (quantity == CudaScaleQuantity::Measure)
  {
    CudaMultiScalePlan single = plan;
    single.Sigmas = { sigma };
    runner.Run(single, input, CudaMultiScaleOutputs{ image.View, {}, {} }, progress);
  }
  else
  {
    runner.Run(plan.MakeHessianNormPlan(sigma), input, image.View, progress);
  }
  T largest{ 0 };
  for (size_t i = 0; i < input.GetNumberOfPixels(); ++i)
  {
    largest = std::isfinite(image.Pixels[i]) ? std::max(largest, image.Pixels[i]) : largest;
  }
  return static_cast<double>(largest);
}

/** Returns the largest value of each scale. */
std::vector<double>
FindLargestOfScales(CudaMultiScalePlan           plan,
                    const CudaScaleParameter &   parameter,
                    const CudaImageView &        input,
                    CudaComponentType            type,
                    Runner &                     runner,
                    const CudaProgressFunction & progress)
{
  if (parameter.Quantity == CudaScaleQuantity::Measure)
  {
    plan.Measure = parameter.Measure;
  }
  const auto          find = type == CudaComponentType::Double ? FindLargestOfScale<double> : FindLargestOfScale<float>;
  std::vector<double> largest;
  for (size_t i = 0; i < plan.Sigmas.size(); ++i)
  {
    const CudaProgressFunction step = GetPartOfProgress(progress, 0.0f, 1.0f, i, plan.Sigmas.size());
    largest.push_back(find(plan, parameter.Quantity, plan.Sigmas[i], input, runner, step));
  }
  return largest;
}
} // namespace
} // end namespace itk::cuda::multiscale

namespace itk::CudaDetail
{
std::optional<CudaScaleParameter>
CudaVesselnessMeasure::MakeScaleParameter() const
{
  using KindEnum = CudaVesselnessEnums::HessianMeasure;
  if (Kind == KindEnum::Jerman)
  {
    const double infinity = std::numeric_limits<double>::infinity();
    return CudaScaleParameter{ CudaScaleQuantity::Measure,
                               MakeObjectnessMeasure(Dimension, 0.0, infinity, 0.0, Dimension - 1, BrightObject, true),
                               Tau,
                               0.0 };
  }
  if (std::isnan(Gamma) && (Kind == KindEnum::Objectness || Kind == KindEnum::Frangi))
  {
    // If all Hessians are 0, the measure is 0 for every gamma
    return CudaScaleParameter{ CudaScaleQuantity::Norm, {}, 0.5, 1.0 };
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

void
CudaRunVesselness(CudaMultiScalePlan            plan,
                  const CudaVesselnessMeasure & measure,
                  const CudaImageView &         input,
                  const CudaMultiScaleOutputs & outputs,
                  CudaFilterBackend &           backend,
                  MultiThreaderBase *           threader,
                  const CudaProgressFunction &  progress)
{
  using namespace cuda;
  plan.Measure = measure.Make();
  // This working set suffices for the largest values too, because the norm needs fewer images than the Hessian.
  backend.SelectDevice(nullptr, CudaMultiScaleWorkingSet(plan, input, outputs));
  multiscale::Runner runner{ backend, threader };
  const auto         parameter = measure.MakeScaleParameter();
  const float        begin = parameter ? 0.5f : 0.0f;
  if (parameter && backend.Used == CudaFiltersEnums::Backend::Cuda &&
      CudaRunWholeOnDevice(plan, *parameter, input, outputs, backend, progress))
  {
    return;
  }
  if (parameter)
  {
    const CudaProgressFunction part = GetPartOfProgress(progress, 0.0f, begin);
    for (const double largest :
         multiscale::FindLargestOfScales(plan, *parameter, input, outputs.Response.ComponentType, runner, part))
    {
      plan.MeasureOfScale.push_back(measure.Make(parameter->Get(largest)));
    }
  }
  runner.Run(plan, input, outputs, GetPartOfProgress(progress, begin, 1.0f));
}
} // end namespace itk::CudaDetail

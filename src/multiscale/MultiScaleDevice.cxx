// SPDX-License-Identifier: Apache-2.0
#include "multiscale/MultiScaleDevice.h"

#include "runtime/device/Stream.h"
#include "gaussian/plan/Schedule.h"
#include "multiscale/PlaneParts.h"
#include "runtime/image/Math.h"
#include "itkMacro.h"
#include "runtime/memory/DeviceImage.h"

#include <algorithm>
#include <limits>

// Queues the computation of the largest measure of several scales. Groups of planes compute their Hessians one after
// the other in the same memory.

namespace itk::cuda::multiscale
{
namespace
{
unsigned int
GetLastAxis(const CudaMultiScalePlan & plan)
{
  return plan.Measure.Dimension - 1;
}

/** The passes of one scale's Hessian in two plans: the pass along the last axis, which reads the input, and the other
 * passes. */
struct ScalePasses
{
  CudaGaussianPlan LastAxis;
  CudaGaussianPlan Others;

  ScalePasses(const CudaMultiScalePlan & plan, double sigma)
    : LastAxis(plan.MakeHessianPlan(sigma))
    , Others(LastAxis)
  {
    LastAxis.Passes.erase(LastAxis.Passes.begin() + 1, LastAxis.Passes.end());
    Others.Passes.erase(Others.Passes.begin());
    LastAxis.NumberOfImages = 1 + static_cast<unsigned int>(this->CountDerivatives());
    for (size_t i = 0; i < this->CountDerivatives(); ++i)
    {
      if (LastAxis.Passes.front().Results[i].Destination != i + 1)
      {
        itkGenericExceptionMacro("The first images of a plan of Hessians are not the derivatives along the last axis");
      }
    }
  }

  size_t
  CountDerivatives() const
  {
    return LastAxis.Passes.front().Results.size();
  }

  /** Returns the number of images of the other passes that are neither derivatives along the last axis nor results. */
  size_t
  CountIntermediates() const
  {
    return Others.NumberOfImages - 1 - this->CountDerivatives() - Others.Results.size();
  }
};

size_t
ChooseGroupPlanes(const DeviceView & input, unsigned int axis, size_t planes)
{
  const size_t least = DivideUp(MinimumGroupPixels, std::max<size_t>(input.Stride[axis], 1));
  return std::min(planes, std::max(DivideUp(planes, NumberOfGroups), least));
}

/** The temporary images of a run. */
class ScaleImages
{
public:
  /** \param keepsHessians whether the Hessians of all groups are kept */
  ScaleImages(const CudaMultiScalePlan & plan,
              const DeviceView &         input,
              size_t                     planes,
              bool                       keepsHessians,
              Workspace &                workspace)
    : m_Axis(GetLastAxis(plan))
    , m_GroupPlanes(ChooseGroupPlanes(input, m_Axis, planes))
    , m_KeepsHessians(keepsHessians)
  {
    const ScalePasses passes(plan, plan.Sigmas.front());
    const DeviceView  group = GetShape(SlicePlanes(input, m_Axis, 0, m_GroupPlanes), 1);
    for (size_t i = 0; i < passes.CountDerivatives(); ++i)
    {
      m_Derivatives.push_back(TakeImage(GetShape(input, 1), workspace));
    }
    for (size_t i = 0; i < passes.CountIntermediates(); ++i)
    {
      m_Intermediates.push_back(TakeImage(group, workspace));
    }
    const DeviceView kept = GetShape(SlicePlanes(input, m_Axis, 0, keepsHessians ? planes : m_GroupPlanes), 1);
    m_Hessian = TakeImage(GetShape(kept, passes.Others.Results.size()), workspace);
  }

  size_t
  GetGroupPlanes() const
  {
    return m_GroupPlanes;
  }

  size_t
  GetNumberOfBytes() const
  {
    size_t bytes = Workspace::GetPieceSize(cuda::GetNumberOfBytes(m_Hessian));
    for (const auto * images : { &m_Derivatives, &m_Intermediates })
    {
      for (const DeviceView & image : *images)
      {
        bytes += Workspace::GetPieceSize(cuda::GetNumberOfBytes(image));
      }
    }
    return bytes;
  }

  void
  ClearPadding(const Context & context) const
  {
    for (const auto * images : { &m_Derivatives, &m_Intermediates })
    {
      for (const DeviceView & image : *images)
      {
        cuda::ClearPadding(image, context);
      }
    }
    cuda::ClearPadding(m_Hessian, context);
  }

  /** Returns the images of the passes along the last axis. */
  std::vector<DeviceView>
  GetLastAxisImages(const DeviceView & input) const
  {
    std::vector<DeviceView> images{ input };
    images.insert(images.end(), m_Derivatives.begin(), m_Derivatives.end());
    return images;
  }

  /** Returns the image of the Hessians of `planes` planes of the results, from `first` on. */
  DeviceView
  GetHessian(size_t first, size_t planes) const
  {
    return SlicePlanes(m_Hessian, m_Axis, m_KeepsHessians ? first : 0, planes);
  }

  /** Returns the images of the other passes for `planes` planes of the results, from `first` on. The results begin with
   * plane `begin` of the input. */
  std::vector<DeviceView>
  GetOtherAxesImages(const CudaGaussianPlan & plan, const DeviceView & input, size_t begin, size_t first, size_t planes)
    const
  {
    const DeviceView        hessian = this->GetHessian(first, planes);
    std::vector<DeviceView> results, others;
    for (size_t component = 0; component < hessian.Size.back(); ++component)
    {
      results.push_back(GetComponent(hessian, component));
    }
    for (const DeviceView & derivative : m_Derivatives)
    {
      others.push_back(GetComponent(SlicePlanes(derivative, m_Axis, begin + first, planes), 0));
    }
    for (const DeviceView & intermediate : m_Intermediates)
    {
      others.push_back(GetComponent(SlicePlanes(intermediate, m_Axis, 0, planes), 0));
    }
    return GetPlanImages(plan, GetComponent(SlicePlanes(input, m_Axis, begin + first, planes), 0), results, others);
  }

private:
  unsigned int            m_Axis;
  size_t                  m_GroupPlanes;
  bool                    m_KeepsHessians;
  std::vector<DeviceView> m_Derivatives;   // derivatives along the last axis, for the whole input
  std::vector<DeviceView> m_Intermediates; // for a group of planes
  DeviceView              m_Hessian;       // for a group of planes, or for all
};

/** Returns the best responses of a range of planes. */
pointwise::BestScale
SliceBestScale(const pointwise::BestScale & best, unsigned int axis, size_t first, size_t planes)
{
  pointwise::BestScale part = best;
  for (DeviceView * image : { &part.Response, &part.Scale, &part.Hessian })
  {
    *image = image->Data ? SlicePlanes(*image, axis, first, planes) : *image;
  }
  return part;
}
} // namespace

Slab
MakeWholeSlab(const CudaMultiScalePlan & plan, const DeviceView & input)
{
  return { {}, 0, input.Size[GetLastAxis(plan)] };
}

std::optional<size_t>
GetContextPlanes(const CudaMultiScalePlan & plan, size_t length, CudaComponentType type)
{
  if (plan.Boundary.Mode != CudaFiltersEnums::BoundaryMode::Nearest)
  {
    return std::nullopt; // other modes extend a line with pixels that a slab does not have
  }
  unsigned int lookAhead = 0;
  for (const double sigma : plan.Sigmas)
  {
    const CudaGaussianPlan hessian = plan.MakeHessianPlan(sigma);
    const auto &           kernel = hessian.Passes.front().Results.front().Kernel;
    gaussian::LineProblem  problem;
    problem.Kind = gaussian::AxisKind::Strided;
    problem.Length = length;
    problem.SigmaInPixels = kernel.SigmaInPixels;
    problem.BytesPerComponent = static_cast<unsigned int>(CudaComponentSize(type));
    problem.NumberOfPolePairs = kernel.NumberOfPolePairs;
    const unsigned int chunks = gaussian::GetLookAhead(problem);
    if (chunks == 0)
    {
      return std::nullopt;
    }
    lookAhead = std::max(lookAhead, chunks);
  }
  return size_t{ lookAhead } * gaussian::ChunkLength;
}

size_t
GetScaleImageBytes(const CudaMultiScalePlan & plan, const DeviceView & input, size_t planes, bool hasParameter)
{
  Workspace unused(nullptr, std::numeric_limits<size_t>::max());
  return ScaleImages(plan, GetShape(input, 1), planes, hasParameter, unused).GetNumberOfBytes();
}

size_t
GetMultiScaleWorkspace(const CudaMultiScalePlan & plan,
                       const DeviceView &         input,
                       const Slab &               slab,
                       const CudaScaleParameter * parameter,
                       int                        device)
{
  Workspace         unused(nullptr, std::numeric_limits<size_t>::max());
  const ScaleImages images(plan, input, slab.Planes, parameter != nullptr, unused);
  size_t            passBytes = 0;
  for (const double sigma : plan.Sigmas)
  {
    const ScalePasses passes(plan, sigma);
    passBytes = std::max(
      passBytes, gaussian::GetPlanWorkspace(passes.LastAxis, images.GetLastAxisImages(input), device, { slab.Cut }));
    for (size_t first = 0; first < slab.Planes; first += images.GetGroupPlanes())
    {
      const size_t planes = std::min(images.GetGroupPlanes(), slab.Planes - first);
      const auto   group = images.GetOtherAxesImages(passes.Others, input, slab.FirstPlane, first, planes);
      passBytes = std::max(passBytes, gaussian::GetPlanWorkspace(passes.Others, group, device));
    }
  }
  return images.GetNumberOfBytes() + 2 * Workspace::GetPieceSize(sizeof(double)) + passBytes;
}

void
RunMultiScale(const CudaMultiScalePlan &     plan,
              const DeviceView &             input,
              const Slab &                   slab,
              const CudaScaleParameter *     parameter,
              pointwise::BestScale           best,
              Workspace                      workspace,
              const Context &                context,
              const CudaProgressFunction &   progress,
              const CompletePlanesFunction & complete)
{
  const double lowest = input.ComponentType == CudaComponentType::Double
                          ? std::numeric_limits<double>::lowest()
                          : static_cast<double>(std::numeric_limits<float>::lowest());
  best.Lowest = plan.NonNegative ? 0.0 : lowest;
  const unsigned int axis = GetLastAxis(plan);
  const ScaleImages  images(plan, input, slab.Planes, parameter != nullptr, workspace);
  auto * const       largest = static_cast<double *>(workspace.Take(sizeof(double)));
  void * const       ofScale = workspace.Take(sizeof(double));
  best.Parameter = parameter ? ofScale : nullptr;
  images.ClearPadding(context);
  const auto forEachGroup = [&](const auto & run) {
    for (size_t first = 0; first < slab.Planes; first += images.GetGroupPlanes())
    {
      run(first, std::min(images.GetGroupPlanes(), slab.Planes - first));
    }
  };
  for (size_t scale = 0; scale < plan.Sigmas.size(); ++scale)
  {
    const double      sigma = plan.Sigmas[scale];
    const ScalePasses passes(plan, sigma);
    gaussian::RunPlan(passes.LastAxis, images.GetLastAxisImages(input), workspace, context, { slab.Cut });
    const auto runOthers = [&](size_t first, size_t planes) {
      const auto group = images.GetOtherAxesImages(passes.Others, input, slab.FirstPlane, first, planes);
      gaussian::RunPlan(passes.Others, group, workspace, context);
    };
    if (parameter)
    {
      forEachGroup(runOthers);
      pointwise::RunLargest(parameter->Quantity, images.GetHessian(0, slab.Planes), largest, context);
      pointwise::RunScaleParameter(
        plan.Measure.Kind, parameter->Factor, parameter->IfZero, largest, input.ComponentType, ofScale, context);
    }
    forEachGroup([&](size_t first, size_t planes) {
      if (!parameter)
      {
        runOthers(first, planes);
      }
      const pointwise::BestScale part = SliceBestScale(best, axis, first, planes);
      pointwise::RunMeasureMaximum(
        plan.GetMeasure(scale), images.GetHessian(first, planes), sigma, scale == 0, part, context);
      if (complete && scale + 1 == plan.Sigmas.size())
      {
        complete(first, planes);
      }
    });
    if (progress)
    {
      progress(static_cast<float>(scale + 1) / static_cast<float>(plan.Sigmas.size()));
    }
  }
}
} // namespace itk::cuda::multiscale

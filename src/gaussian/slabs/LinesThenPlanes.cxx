// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Components.h"
#include "itkCudaFiltersConfiguration.h"
#include "gaussian/slabs/SplitPlan.h"
#include "gaussian/slabs/Slabs.h"
#include "runtime/run/Parts.h"
#include "runtime/run/HostToHost.h"
#include "runtime/run/Progress.h"
#include "runtime/memory/MemoryQuery.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

// Implements MakeLinesThenPlanesRun(): filters groups of whole lines across slabs, stores them in the output, and then
// runs the passes within planes.

namespace itk::cuda::gaussian
{
namespace
{
/** Makes the plan of the lines across slabs, from image 0 to image 1. */
CudaGaussianPlan
MakeAcrossPlan(const CudaGaussianPlan & plan, const SplitPlan & splitPlan)
{
  CudaGaussianPlan across;
  across.NumberOfImages = 2;
  across.Passes = splitPlan.Across;
  across.Results = { 1 };
  across.Boundary = plan.Boundary;
  return across;
}

/** Makes the plan of the other passes. Its image 0 is the result of the lines across slabs, and the other images that
 * the passes use get the numbers from 1 on. */
CudaGaussianPlan
MakeWithinPlan(const SplitPlan & splitPlan)
{
  CudaGaussianPlan                     within = splitPlan.Within;
  std::map<unsigned int, unsigned int> numbers{ { splitPlan.Results.front().front().Image, 0 } };
  const auto                           renumber = [&numbers](unsigned int & image) {
    image = numbers.emplace(image, static_cast<unsigned int>(numbers.size())).first->second;
  };
  for (CudaGaussianLinePass & pass : within.Passes)
  {
    renumber(pass.Source);
    for (CudaGaussianPassResult & result : pass.Results)
    {
      renumber(result.Destination);
    }
  }
  std::for_each(within.Results.begin(), within.Results.end(), renumber);
  within.NumberOfImages = static_cast<unsigned int>(numbers.size());
  return within;
}

/** Returns the run of a plan over groups of positions of an image along `axis`, which all lines stay within. */
PartRun
MakeGroups(const CudaGaussianPlan & plan,
           const CudaImageView &    input,
           const CudaImageView &    output,
           unsigned int             axis,
           int                      device)
{
  const auto getBytes = [=](size_t count) {
    return GetBytesWithoutSlabs(plan, Slice(input, axis, 0, count), Slice(output, axis, 0, count));
  };
  const auto run = [=](size_t first, size_t count, const CudaProgressFunction & progress) {
    RunWithoutSlabs(plan, Slice(input, axis, first, count), Slice(output, axis, first, count), device);
    progress(1.0f);
  };
  return { input.Size[axis], 1, getBytes, run };
}

/** A run over all lines across slabs, and then over the planes, unless there are no passes within them. */
class LinesThenPlanesRun : public SlabRun
{
public:
  LinesThenPlanesRun(std::vector<PartRun> turns, size_t allowed, const SlabRunArguments & arguments, int device)
    : m_Turns(std::move(turns))
    , m_Allowed(allowed)
    , m_Endpoints(arguments.Endpoints)
    , m_Progress(arguments.Progress)
  {
    m_Report.Used = CudaSlabReport::Columns;
    m_Report.NumberOfSlabs = DivideUp(m_Turns.front().Length, GetPlanesOfPart(m_Turns.front(), allowed));
    m_Report.LookAhead = GetSlabShape(arguments.Plan, m_Endpoints.Input, m_Endpoints.Output).LookAhead;
    m_Report.Devices = { device };
    m_Report.BytesDown = m_Turns.size() * m_Endpoints.Output.GetNumberOfBytes();
    m_Report.BytesUp =
      m_Endpoints.Input.GetNumberOfBytes() + m_Report.BytesDown - m_Endpoints.Output.GetNumberOfBytes();
    for (const PartRun & turn : m_Turns)
    {
      m_Report.PeakDeviceBytes = std::max(m_Report.PeakDeviceBytes, turn.GetBytes(GetPlanesOfPart(turn, allowed)));
    }
  }

  SlabPlanes
  Next() override
  {
    try
    {
      for (size_t i = 0; i < m_Turns.size(); ++i)
      {
        RunParts(m_Turns[i],
                 GetPlanesOfPart(m_Turns[i], m_Allowed),
                 GetPartOfProgress(m_Progress, 0.0f, 1.0f, i, m_Turns.size()));
      }
    }
    catch (const CudaError & error)
    {
      RethrowDeviceError(error, m_Endpoints.Input.Data == m_Endpoints.Output.Data);
    }
    return {};
  }

  CudaSlabReport
  GetReport() const override
  {
    return m_Report;
  }

private:
  const std::vector<PartRun> m_Turns;
  const size_t               m_Allowed; // bytes of device memory
  const SlabEndpoints        m_Endpoints;
  const CudaProgressFunction m_Progress;
  CudaSlabReport             m_Report;
};
} // namespace

std::unique_ptr<SlabRun>
MakeLinesThenPlanesRun(const SlabRunArguments & arguments)
{
  const CudaGaussianPlan &    plan = arguments.Plan;
  const SlabEndpoints &       endpoints = arguments.Endpoints;
  const CudaSlabOptions &     options = arguments.Options;
  const CudaGaussianSlabShape shape = GetSlabShape(plan, endpoints.Input, endpoints.Output);
  if (endpoints.HasSource() || shape.Axis == 0 || options.NumberOfPlanes != 0 ||
      endpoints.Output.ComponentType != cuda::GetComputeType(endpoints.Input, endpoints.Output))
  {
    return nullptr;
  }
  const SplitPlan splitPlan = MakeSplitPlan(plan, shape, false);
  if (splitPlan.Across.size() != 1 || splitPlan.Across.front().Results.size() != 1 || plan.Results.size() != 1 ||
      IsReadWithin(splitPlan.Within, splitPlan.Unfiltered))
  {
    return nullptr;
  }
  const int    device = options.Devices.empty() ? CudaFiltersConfiguration::GetDeviceIndex() : options.Devices.front();
  const size_t available = cuda::GetAvailableDeviceMemory(device);
  const size_t allowed = options.DeviceMemoryLimit == 0 ? available : std::min(options.DeviceMemoryLimit, available);
  std::vector<PartRun> turns{ MakeGroups(
    MakeAcrossPlan(plan, splitPlan), endpoints.Input, endpoints.Output, shape.Axis - 1, device) };
  if (!splitPlan.Within.Passes.empty())
  {
    turns.push_back(MakeGroups(MakeWithinPlan(splitPlan), endpoints.Output, endpoints.Output, shape.Axis, device));
  }
  auto run = std::make_unique<LinesThenPlanesRun>(std::move(turns), allowed, arguments, device);
  return run->GetReport().PeakDeviceBytes <= allowed ? std::move(run) : nullptr;
}
} // namespace itk::cuda::gaussian

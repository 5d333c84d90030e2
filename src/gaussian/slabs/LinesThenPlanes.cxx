// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Components.h"
#include "itkCudaFiltersConfiguration.h"
#include "gaussian/slabs/SplitPlan.h"
#include "gaussian/slabs/Slabs.h"
#include "runtime/run/Progress.h"
#include "runtime/memory/MemoryQuery.h"

#include <algorithm>

// Implements TryLinesThenPlanes(): filters groups of whole lines across slabs, stores them in the output, and then runs
// the passes within planes.

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

/** Makes the plan of the other passes. Its image 0 is the result of the lines across slabs. */
CudaGaussianPlan
MakeWithinPlan(const SplitPlan & splitPlan)
{
  const unsigned int made = splitPlan.Results.front().front().Image;
  const auto         rename = [made](unsigned int & image) { image = image == made ? 0 : (image == 0 ? made : image); };
  CudaGaussianPlan   within = splitPlan.Within;
  for (CudaGaussianLinePass & pass : within.Passes)
  {
    rename(pass.Source);
    for (CudaGaussianPassResult & result : pass.Results)
    {
      rename(result.Destination);
    }
  }
  for (unsigned int & image : within.Results)
  {
    rename(image);
  }
  // Only the images that the remaining passes use get a number.
  std::vector<unsigned int> numbers(within.NumberOfImages, 0);
  unsigned int              next = 1;
  const auto                renumber = [&](unsigned int & image) {
    if (image > 0 && numbers[image] == 0)
    {
      numbers[image] = next++;
    }
    image = numbers[image];
  };
  for (CudaGaussianLinePass & pass : within.Passes)
  {
    renumber(pass.Source);
    for (CudaGaussianPassResult & result : pass.Results)
    {
      renumber(result.Destination);
    }
  }
  for (unsigned int & image : within.Results)
  {
    renumber(image);
  }
  within.NumberOfImages = next;
  return within;
}

/** Runs a plan over groups of positions of an image along `axis`. The groups are as large as memory allows. */
class BatchedRun
{
public:
  BatchedRun(const CudaGaussianPlan & plan,
             const CudaImageView &    input,
             const CudaImageView &    output,
             unsigned int             axis)
    : m_Plan(plan)
    , m_Input(input)
    , m_Output(output)
    , m_Axis(axis)
  {}

  /** Finds the size of the groups. Returns false if not even groups of one position fit. */
  bool
  Fit(size_t allowed)
  {
    for (m_Size = m_Input.Size[m_Axis]; m_Size > 0; m_Size /= 2)
    {
      m_Bytes = GetBytesWithoutSlabs(m_Plan, Slice(m_Input, m_Axis, 0, m_Size), Slice(m_Output, m_Axis, 0, m_Size));
      if (m_Bytes <= allowed)
      {
        return true;
      }
    }
    return false;
  }

  void
  Run(int device, const CudaProgressFunction & progress) const
  {
    const size_t number = m_Input.Size[m_Axis];
    for (size_t first = 0; first < number; first += m_Size)
    {
      const size_t count = std::min(m_Size, number - first);
      RunWithoutSlabs(m_Plan, Slice(m_Input, m_Axis, first, count), Slice(m_Output, m_Axis, first, count), device);
      progress(static_cast<float>(first + count) / static_cast<float>(number));
    }
  }

  size_t
  GetBytes() const
  {
    return m_Bytes;
  }

  size_t
  GetNumberOfBatches() const
  {
    return DivideUp(m_Input.Size[m_Axis], m_Size);
  }

private:
  const CudaGaussianPlan m_Plan;
  const CudaImageView    m_Input, m_Output;
  const unsigned int     m_Axis;
  size_t                 m_Size{ 0 };
  size_t                 m_Bytes{ 0 };
};
} // namespace

std::optional<CudaSlabReport>
TryLinesThenPlanes(const CudaGaussianPlan &     plan,
                   const SlabEndpoints &        endpoints,
                   const CudaSlabOptions &      options,
                   const CudaProgressFunction & progress)
{
  const CudaGaussianSlabShape shape = GetSlabShape(plan, endpoints.Input, endpoints.Output);
  if (endpoints.Source || shape.Axis == 0 || options.NumberOfPlanes != 0 ||
      endpoints.Output.ComponentType != cuda::GetComputeType(endpoints.Input, endpoints.Output))
  {
    return std::nullopt;
  }
  const SplitPlan splitPlan = MakeSplitPlan(plan, shape);
  if (splitPlan.Across.size() != 1 || splitPlan.Across.front().Results.size() != 1 || plan.Results.size() != 1 ||
      IsReadWithin(splitPlan.Within, splitPlan.Unfiltered))
  {
    return std::nullopt;
  }
  const int    device = options.Devices.empty() ? CudaFiltersConfiguration::GetDeviceIndex() : options.Devices.front();
  const size_t available = cuda::GetAvailableDeviceMemory(device);
  const size_t allowed = options.DeviceMemoryLimit == 0 ? available : std::min(options.DeviceMemoryLimit, available);
  BatchedRun   across(MakeAcrossPlan(plan, splitPlan), endpoints.Input, endpoints.Output, shape.Axis - 1);
  BatchedRun   within(MakeWithinPlan(splitPlan), endpoints.Output, endpoints.Output, shape.Axis);
  if (!across.Fit(allowed) || !within.Fit(allowed))
  {
    return std::nullopt;
  }
  const size_t turns = splitPlan.Within.Passes.empty() ? 1 : 2;
  try
  {
    across.Run(device, GetPartOfProgress(progress, 0.0f, 0.5f));
    if (turns == 2)
    {
      within.Run(device, GetPartOfProgress(progress, 0.5f, 1.0f));
    }
  }
  catch (const CudaError & error)
  {
    RethrowDeviceError(error, endpoints.Input.Data == endpoints.Output.Data);
  }
  CudaSlabReport report;
  report.Used = CudaSlabReport::Columns;
  report.NumberOfSlabs = across.GetNumberOfBatches();
  report.LookAhead = shape.LookAhead;
  report.Devices = { device };
  report.BytesUp = endpoints.Input.GetNumberOfBytes() + (turns - 1) * endpoints.Output.GetNumberOfBytes();
  report.BytesDown = turns * endpoints.Output.GetNumberOfBytes();
  report.PeakDeviceBytes = std::max(across.GetBytes(), within.GetBytes());
  return report;
}
} // namespace itk::cuda::gaussian

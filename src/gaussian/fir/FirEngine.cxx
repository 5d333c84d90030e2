// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailGaussianFirEngine.h"

#include "runtime/memory/DeviceImage.h"
#include "itkCudaDetailFilterBackend.h"
#include "runtime/run/DeviceToDevice.h"
#include "gaussian/fir/FirDevice.h"
#include "runtime/run/HostToHost.h"
#include "runtime/run/Operation.h"
#include "runtime/run/Parts.h"
#include "runtime/run/PassChain.h"
#include "runtime/image/Math.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

// The algorithm of convolutions, and their run in slabs of planes if the image does not fit into device memory.

namespace itk::cuda::gaussian
{
namespace
{
size_t
GetLargestTable(const CudaGaussianFirPlan & plan, CudaComponentType type)
{
  size_t table = 0;
  for (const CudaGaussianFirPass & pass : plan.Passes)
  {
    table = std::max(table, GetFirWorkspace(pass, type));
  }
  return table;
}

size_t
GetImageOfChain(const CudaGaussianFirPlan & plan, size_t imageBytes)
{
  return PassChain::GetWorkspace(plan.Passes.size(), plan.KeepInput, imageBytes);
}

class FirAlgorithm : public DeviceAlgorithm
{
public:
  explicit FirAlgorithm(const CudaGaussianFirPlan & plan)
    : m_Plan(plan)
  {}

  const char *
  GetName() const override
  {
    return "a discrete Gaussian filter";
  }

  /** Returns double if the plan truncates after each pass, because the sums must then be computed in double, and
   * otherwise the type in which other filters compute. */
  CudaComponentType
  GetComputeType(const CudaImageView & input, const CudaImageView & output) const override
  {
    return m_Plan.TruncatePasses ? CudaComponentType::Double : cuda::GetComputeType(input, output);
  }

  bool
  LeavesResultInInput() const override
  {
    return PassChain::EndsInInput(m_Plan.Passes.size(), m_Plan.KeepInput);
  }

  bool
  OverwritesInput() const override
  {
    return !m_Plan.KeepInput;
  }

  size_t
  GetMaximumWorkspace(const DeviceView::SizeType & size, CudaComponentType type) const override
  {
    return GetImageOfChain(m_Plan, DeviceImage::GetNumberOfBytes(size, type)) + GetLargestTable(m_Plan, type);
  }

  size_t
  GetWorkspace(const DeviceView & input, const DeviceView &, int) const override
  {
    return Workspace::GetPieceSize(GetImageOfChain(m_Plan, GetNumberOfBytes(input))) +
           GetLargestTable(m_Plan, input.ComponentType);
  }

  void
  Run(const DeviceView & input,
      const DeviceView & output,
      Workspace          workspace,
      const Context &    context,
      const ProgressFunction &) const override
  {
    const std::vector<CudaGaussianFirPass> & passes = m_Plan.Passes;
    const PassChain                          images(passes.size(), m_Plan.KeepInput, input, output, workspace, context);
    for (size_t i = 0; i < passes.size(); ++i)
    {
      RunFirPass(passes[i], m_Plan.TruncatePasses, images.GetSource(i), images.GetDestination(i), workspace, context);
    }
  }

  void
  Queue(const CudaDeviceImageView & input, const CudaDeviceImageView & output) const override
  {
    if (m_Plan.Passes.empty())
    {
      CopyDeviceToDevice(input, output, {}, this->GetName());
      return;
    }
    DeviceAlgorithm::Queue(input, output);
  }

  DeviceView
  GetResult(const DeviceView & output, const CudaImageView & host) const override
  {
    DeviceView part = output;
    for (unsigned int axis = 0; axis < CudaImageView::MaximumDimension; ++axis)
    {
      part = Slice(part, axis, m_Plan.OutputOffset[axis], host.Size[axis]);
    }
    return part;
  }

private:
  const CudaGaussianFirPlan & m_Plan;
};
} // namespace
} // end namespace itk::cuda::gaussian

namespace itk::cuda
{
std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaDetail::CudaGaussianFirPlan & plan)
{
  return std::make_shared<gaussian::FirAlgorithm>(plan);
}
} // end namespace itk::cuda

namespace itk::CudaDetail
{
namespace
{
/** A part of the image: planes of the output, and the planes of the input that they need. */
struct FirSlab
{
  CudaGaussianFirPlan Plan;
  CudaImageView       Input;
  CudaImageView       Output;
};

FirSlab
MakeFirSlab(const CudaGaussianFirPlan & plan,
            const CudaImageView &       input,
            const CudaImageView &       output,
            unsigned int                axis,
            size_t                      first,
            size_t                      planes)
{
  size_t radius = 0;
  for (const CudaGaussianFirPass & pass : plan.Passes)
  {
    radius = pass.Axis == axis ? pass.GetRadius() : radius;
  }
  const size_t begin = first + plan.OutputOffset[axis];
  const size_t inputBegin = begin - std::min(begin, radius);
  const size_t inputEnd = std::min(begin + planes + radius, input.Size[axis]);
  FirSlab      slab{ plan,
                cuda::Slice(input, axis, inputBegin, inputEnd - inputBegin),
                cuda::Slice(output, axis, first, planes) };
  slab.Plan.OutputOffset[axis] = begin - inputBegin;
  return slab;
}

} // namespace

bool
CudaCanRunInSlabs(const CudaGaussianFirPlan & plan, const CudaImageView & output)
{
  const unsigned int axis = cuda::GetLastAxis(output);
  return std::none_of(plan.Passes.begin(), plan.Passes.end(), [axis](const CudaGaussianFirPass & pass) {
    return pass.Axis == axis && pass.Continuation == CudaLineContinuation::Periodic;
  });
}

bool
CudaRunInSlabs(const CudaGaussianFirPlan & plan,
               const CudaImageView &       input,
               const CudaImageView &       output,
               CudaFilterBackend &         backend,
               MultiThreaderBase *,
               const CudaProgressFunction & progress)
{
  const auto run = [&] {
    const unsigned int axis = cuda::GetLastAxis(output);
    const size_t       all = output.Size[axis];
    const auto         makeSlab = [&](size_t first, size_t planes) {
      return MakeFirSlab(plan, input, output, axis, first, planes);
    };
    const auto getBytes = [&](size_t planes) { // of a slab with neighbours on both sides, if there is one
      const FirSlab slab = makeSlab(std::min(all - planes, planes), planes);
      return CudaWorkingSet(slab.Plan, slab.Input, slab.Output);
    };
    CudaSlabReport             report;
    std::mutex                 mutex; // protects the report
    const std::vector<int> &   devices = backend.GetSelectedDevices();
    std::vector<cuda::PartRun> workers;
    std::ptrdiff_t             most = 1; // queues of one device
    for (const int device : devices)
    {
      const auto runSlab = [&, device](size_t first, size_t planes, const CudaProgressFunction & slabProgress) {
        const FirSlab slab = makeSlab(first, planes);
        CudaRunOnDevice(slab.Plan, slab.Input, slab.Output, device, slabProgress);
        const std::lock_guard<std::mutex> lock(mutex);
        report.BytesUp += slab.Input.GetNumberOfBytes();
        report.BytesDown += slab.Output.GetNumberOfBytes();
        report.PeakDeviceBytes =
          std::max<size_t>(report.PeakDeviceBytes, most * CudaWorkingSet(slab.Plan, slab.Input, slab.Output));
      };
      workers.push_back({ all, 1, getBytes, runSlab });
      most = std::max(most, std::count(devices.begin(), devices.end(), device));
    }
    const size_t planes = GetPlanesOfDealtPart(workers.front(), backend.GetWorkingSet() / most, devices.size());
    report.Used = planes < all ? CudaSlabReport::OneSweep : CudaSlabReport::Whole;
    report.NumberOfSlabs = cuda::DivideUp(all, planes);
    report.Devices = planes < all ? devices : std::vector<int>{ devices.front() };
    DealParts(workers, planes, progress);
    backend.SlabReport = report;
  };
  return backend.TryOnDevice(run, progress);
}
} // end namespace itk::CudaDetail

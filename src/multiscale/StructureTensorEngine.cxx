// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailMultiScaleEngine.h"

#include "runtime/memory/DeviceImage.h"
#include "itkCudaDetailTensorEngine.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/run/DeviceToDevice.h"
#include "gaussian/device/LinePasses.h"
#include "runtime/run/HostToHost.h"
#include "runtime/run/Operation.h"
#include "multiscale/PlaneParts.h"
#include "pointwise/TensorDevice.h"

#include <algorithm>
#include <limits>
#include <vector>

// Runs structure tensors on the device: a gradient, the products of its components, the smoothing of each product, and
// then the quantity of the tensor that the plan asks for. StructureImages lets all of these steps share a few images.
// The functions that filters call are at the end.

namespace itk::cuda::multiscale
{
namespace
{
using Quantity = CudaStructureTensorEnums::Quantity;

size_t
CountTensorComponents(const CudaStructureTensorPlan & plan)
{
  return CudaTensorComponents(plan.Dimension);
}

/** The passes of a gradient in two parts: first the passes along other axes than axis 0, whose results all have their
 * own images, and then the passes along axis 0, one for each component, which read these images. */
struct SplitGradient
{
  CudaGaussianPlan                  First;
  std::vector<CudaGaussianLinePass> Last;

  explicit SplitGradient(const CudaGaussianPlan & plan)
    : Last(plan.Results.size())
  {
    First.Boundary = plan.Boundary;
    std::vector<unsigned int> numbers(plan.NumberOfImages, 0); // in First, of the images of the plan
    for (CudaGaussianLinePass pass : plan.Passes)
    {
      pass.Source = numbers[pass.Source];
      if (pass.Axis == 0)
      {
        const auto found = std::find(plan.Results.begin(), plan.Results.end(), pass.Results.front().Destination);
        Last[found - plan.Results.begin()] = pass;
        continue;
      }
      for (CudaGaussianPassResult & result : pass.Results)
      {
        numbers[result.Destination] = First.NumberOfImages;
        result.Destination = First.NumberOfImages++;
      }
      First.Passes.push_back(pass);
    }
  }
};

/** The images of a structure tensor: the planes of the tensor, which are the output if the output is the tensor, and
 * one spare plane. All intermediate results are stored in these planes.
 *
 * If there is a kernel that computes the products together with the gradient's last passes, the planes first hold the
 * images that these passes read. Otherwise the first planes hold the gradient's components, and the remaining planes
 * and the spare one the intermediate images. The products then replace these images.
 * Smoothing leaves its result in its source if it has an even number of passes. If the number is odd, each product is
 * stored one plane before its own, and the first one in the spare plane. The products are then smoothed from the last
 * to the first. Each result ends in its own plane, which is free by then, because the next product has already been
 * smoothed out of it. */
class StructureImages
{
public:
  StructureImages(const CudaStructureTensorPlan & plan,
                  const DeviceView &              input,
                  const DeviceView &              output,
                  Workspace &                     workspace)
    : m_Plan(plan)
    , m_Tensor(plan.Quantity == Quantity::Components
                 ? output
                 : TakeImage(GetShape(input, CountTensorComponents(plan)), workspace))
    , m_Spare(TakeImage(GetShape(input, 1), workspace))
  {}

  static size_t
  GetNumberOfBytes(const CudaStructureTensorPlan & plan, const DeviceView & input)
  {
    const size_t planes = plan.Quantity == Quantity::Components ? 0 : CountTensorComponents(plan);
    return Workspace::GetPieceSize(cuda::GetNumberOfBytes(GetShape(input, planes))) +
           Workspace::GetPieceSize(cuda::GetNumberOfBytes(GetShape(input, 1)));
  }

  void
  ClearPadding(const Context & context) const
  {
    cuda::ClearPadding(m_Tensor, context);
    cuda::ClearPadding(m_Spare, context);
  }

  const DeviceView &
  GetTensor() const
  {
    return m_Tensor;
  }

  /** Returns the components of the gradient, which are the first planes of the tensor. */
  std::vector<DeviceView>
  GetGradient() const
  {
    return this->GetPlanes(0, m_Plan.Dimension);
  }

  std::vector<DeviceView>
  GetProducts() const
  {
    std::vector<DeviceView> products;
    for (size_t component = 0; component < CountTensorComponents(m_Plan); ++component)
    {
      products.push_back(this->GetProduct(component));
    }
    return products;
  }

  std::vector<DeviceView>
  GetGradientImages(const DeviceView & input) const
  {
    std::vector<DeviceView> others = this->GetPlanes(m_Plan.Dimension, CountTensorComponents(m_Plan));
    others.push_back(m_Spare);
    const CudaGaussianPlan & plan = m_Plan.Gradient;
    if (plan.NumberOfImages - 1 - plan.Results.size() > others.size())
    {
      itkGenericExceptionMacro("The plan of a gradient has " << plan.NumberOfImages << " images; there is room for "
                                                             << 1 + plan.Results.size() + others.size());
    }
    return GetPlanImages(plan, GetComponent(input, 0), this->GetGradient(), others);
  }

  /** Returns the images of the first passes of a split gradient. Each of their results has its own plane. */
  std::vector<DeviceView>
  GetSplitGradientImages(const SplitGradient & split, const DeviceView & input) const
  {
    std::vector<DeviceView> planes = this->GetPlanes(0, CountTensorComponents(m_Plan));
    planes.push_back(m_Spare);
    if (split.First.NumberOfImages - 1 > planes.size())
    {
      itkGenericExceptionMacro("The first passes of a gradient have "
                               << split.First.NumberOfImages - 1 << " results; there is room for " << planes.size());
    }
    return GetPlanImages(split.First, GetComponent(input, 0), {}, planes);
  }

  std::vector<DeviceView>
  GetSmoothingImages(size_t component) const
  {
    return { this->GetProduct(component), this->StaysInPlace() ? m_Spare : GetComponent(m_Tensor, component) };
  }

private:
  bool
  StaysInPlace() const
  {
    return m_Plan.Smoothing.Results.front() == 0;
  }

  DeviceView
  GetProduct(size_t component) const
  {
    return this->StaysInPlace() ? GetComponent(m_Tensor, component)
           : component == 0     ? m_Spare
                                : GetComponent(m_Tensor, component - 1);
  }

  std::vector<DeviceView>
  GetPlanes(size_t first, size_t last) const
  {
    std::vector<DeviceView> planes;
    for (size_t plane = first; plane < last; ++plane)
    {
      planes.push_back(GetComponent(m_Tensor, plane));
    }
    return planes;
  }

  const CudaStructureTensorPlan & m_Plan;
  DeviceView                      m_Tensor;
  DeviceView                      m_Spare;
};

class StructureTensorAlgorithm : public DeviceAlgorithm
{
public:
  explicit StructureTensorAlgorithm(const CudaStructureTensorPlan & plan)
    : m_Plan(plan)
  {}

  const char *
  GetName() const override
  {
    return "a structure tensor";
  }

  size_t
  GetNumberOfOutputComponents(size_t) const override
  {
    return CudaStructureTensorComponents(m_Plan.Quantity, m_Plan.Dimension);
  }

  void
  VerifyComponents(size_t inputComponents, size_t outputComponents) const override
  {
    CudaVerifyComponents(inputComponents, 1, 1);
    CudaVerifyComponents(1, this->GetNumberOfOutputComponents(1), outputComponents);
  }

  bool
  LeavesResultInInput() const override
  {
    return false;
  }

  size_t
  GetMaximumWorkspace(const DeviceView::SizeType & size, CudaComponentType type) const override
  {
    const size_t image = DeviceImage::GetNumberOfBytes(size, type);
    const size_t planes = 1 + (m_Plan.Quantity == Quantity::Components ? 0 : CountTensorComponents(m_Plan));
    // The states of recursive passes take at most a sixteenth of an image (GetPlanWorkspace()).
    return planes * image + image / 16 + 3 * Workspace::Alignment;
  }

  size_t
  GetWorkspace(const DeviceView & input, const DeviceView & output, int device) const override
  {
    Workspace             unused(nullptr, std::numeric_limits<size_t>::max());
    const StructureImages images(m_Plan, input, output, unused);
    const size_t passes = std::max(gaussian::GetPlanWorkspace(m_Plan.Gradient, images.GetGradientImages(input), device),
                                   gaussian::GetPlanWorkspace(m_Plan.Smoothing, images.GetSmoothingImages(0), device));
    return StructureImages::GetNumberOfBytes(m_Plan, input) + passes;
  }

  void
  Run(const DeviceView &       input,
      const DeviceView &       output,
      Workspace                workspace,
      const Context &          context,
      const ProgressFunction & progress) const override
  {
    const StructureImages images(m_Plan, input, output, workspace);
    images.ClearPadding(context);
    this->RunProducts(input, images, workspace, context);
    const size_t components = CountTensorComponents(m_Plan);
    for (size_t component = components; component-- > 0;)
    {
      gaussian::RunPlan(m_Plan.Smoothing, images.GetSmoothingImages(component), workspace, context);
      if (progress)
      {
        progress(static_cast<float>(components - component) / static_cast<float>(components));
      }
    }
    if (m_Plan.Quantity != Quantity::Components)
    {
      pointwise::RunStructureQuantity(m_Plan.Quantity, m_Plan.Dimension, images.GetTensor(), output, context);
    }
  }

private:
  /** Queues the products of the gradient's components. They are computed together with its last passes if there is a
   * kernel for that. */
  void
  RunProducts(const DeviceView &      input,
              const StructureImages & images,
              const Workspace &       workspace,
              const Context &         context) const
  {
    const SplitGradient         split(m_Plan.Gradient);
    const gaussian::ProductPass last{ split.Last, images.GetSplitGradientImages(split, input), images.GetProducts() };
    if (gaussian::HasProductKernel(last, context.GetDevice()))
    {
      gaussian::RunPlan(split.First, last.Images, workspace, context);
      gaussian::RunProductPass(last, context);
      return;
    }
    gaussian::RunPlan(m_Plan.Gradient, images.GetGradientImages(input), workspace, context);
    pointwise::RunGradientProducts(images.GetGradient(), images.GetProducts(), context);
  }

  const CudaStructureTensorPlan & m_Plan;
};
} // namespace
} // end namespace itk::cuda::multiscale

namespace itk::cuda
{
std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaStructureTensorPlan & plan)
{
  return std::make_shared<multiscale::StructureTensorAlgorithm>(plan);
}
} // end namespace itk::cuda

namespace itk::CudaDetail
{
void
CudaQueueOnStream(const CudaStructureTensorPlan & plan, const CudaArrayImage & input, void * output)
{
  const CudaArrayMemory &    memory = input.Memory;
  const cuda::ExternalStream stream(memory);
  const cuda::Context &      context = stream.GetContext();
  const cuda::DeviceView     pixels{ memory.Data, memory.ComponentType, input.Size, input.Stride };
  if (pixels.GetNumberOfElements() > 0)
  {
    auto size = input.Size;
    size.back() = CudaStructureTensorComponents(plan.Quantity, plan.Dimension);
    cuda::RunOnStream(
      *cuda::MakeAlgorithm(plan), pixels, cuda::ViewAdjacent(size, memory.ComponentType, output), context);
  }
}
} // end namespace itk::CudaDetail

// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/ComputeImage.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailDeviceRun.h"
#include "runtime/DetailNames.h"
#include "runtime/device/Device.h"
#include "runtime/run/DeviceToDevice.h"
#include "gaussian/device/LinePasses.h"
#include "gaussian/masked/MaskedDevice.h"
#include "gaussian/device/PipelinedStrip.h"
#include "gaussian/Engine.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "runtime/device/Stream.h"
#include "itkMacro.h"

#include <algorithm>
#include <utility>
#include <vector>

// Smooths an array with a mask in the caller's device memory, on the caller's stream.

namespace itk::cuda::gaussian
{
namespace
{
CudaArrayPass
WithBoundaryValue(CudaArrayPass pass, double value)
{
  pass.Plan.Boundary.Value = value;
  return pass;
}

bool
HasConstantEdges(const CudaArrayPass & pass)
{
  return pass.Plan.Boundary.Mode == CudaFiltersEnums::BoundaryMode::Constant;
}

/** Returns the length of the rows in which pixelwise steps process the array. It is long enough for a warp, and so
 * short that there are many rows, if the number of pixels has such a divisor. */
size_t
GetRowLength(size_t count)
{
  constexpr size_t longest = 2048, shortest = 32;
  size_t           length = longest;
  while (length >= shortest && count % length != 0)
  {
    --length;
  }
  return length < shortest ? count : length;
}

/** Smooths an array with a mask. Results are bit-identical to those of unmasked passes, so fused kernels are used only
 * if they divide the lines in the same way. */
class MaskedArrayRun
{
public:
  MaskedArrayRun(const std::vector<CudaArrayPass> & passes,
                 const CudaArrayMask &              mask,
                 const CudaArrayMemory &            input,
                 void *                             output,
                 const Context &                    context)
    : m_Passes(passes)
    , m_Mask(mask)
    , m_Input(input)
    , m_Output(output)
    , m_Context(context)
    , m_Count(this->View(passes.front(), nullptr).GetNumberOfElements())
    , m_RowLength(GetRowLength(m_Count))
    , m_Buffer(this->GetBytes(), context)
  {
    Workspace    pieces(m_Buffer.GetPointer(), m_Buffer.GetSize());
    const size_t bytes = m_Count * CudaComponentSize(input.ComponentType);
    m_Weights[0] = pieces.Take(bytes);
    m_Weights[1] = pieces.Take(bytes);
    m_Values = pieces.Take(bytes);
    m_Reference = pieces.Take(ReferenceValueBytes);
    m_Valid = mask.KeepsNaN ? pieces.Take(m_Count) : const_cast<void *>(mask.Valid);
  }

  void
  Run()
  {
    if (m_Mask.KeepsNaN)
    {
      QueueFiniteMask(this->ViewPixels(m_Input.Data), this->ViewMask(m_Mask.Valid), this->ViewMask(m_Valid), m_Context);
    }
    this->QueueReferenceValue();
    const bool   divides = this->DividesInLastPass();
    const size_t separate = divides ? m_Passes.size() - 1 : m_Passes.size();
    this->SmoothWeights(separate);
    this->SmoothValuesAndDivide(separate, divides);
    if (m_Mask.KeepsNaN)
    {
      QueueNaN(this->ViewPixels(m_Input.Data), this->ViewMask(m_Mask.Valid), this->ViewPixels(m_Output), m_Context);
    }
  }

private:
  size_t
  GetBytes() const
  {
    return 3 * Workspace::GetPieceSize(m_Count * CudaComponentSize(m_Input.ComponentType)) +
           Workspace::GetPieceSize(ReferenceValueBytes) + (m_Mask.KeepsNaN ? m_Count : 0);
  }

  DeviceView
  View(const CudaArrayPass & pass, void * data) const
  {
    return ViewAdjacent(pass.Size, m_Input.ComponentType, data);
  }

  DeviceView
  ViewPixels(void * data) const
  {
    return this->ViewRows(m_Input.ComponentType, data);
  }

  DeviceView
  ViewMask(const void * data) const
  {
    return this->ViewRows(CudaComponentType::UChar, const_cast<void *>(data));
  }

  DeviceView
  ViewRows(CudaComponentType type, void * data) const
  {
    return ViewAdjacent({ { m_RowLength, m_Count / m_RowLength, 1, 1, 1 } }, type, data);
  }

  /** Queues the computation of the value that is subtracted from the pixels. In the mode Constant the value beyond the
   * ends of the lines is 0, so 0 is subtracted. */
  void
  QueueReferenceValue() const
  {
    QueueFindAllValid(this->ViewMask(m_Valid), m_Input.ComponentType, m_Reference, m_Context);
    if (std::any_of(m_Passes.begin(), m_Passes.end(), HasConstantEdges))
    {
      gaussian::QueueReferenceValue(0.0, m_Input.ComponentType, m_Reference, m_Context);
    }
    else
    {
      QueueReferenceValueOfValid(this->ViewPixels(m_Input.Data), this->ViewMask(m_Valid), m_Reference, m_Context);
    }
  }

  QuotientPass
  MakeLastPass(const void * weights, const void * values) const
  {
    const CudaArrayPass & last = m_Passes.back();
    return MakeQuotientPass(last.Plan.Passes.front(),
                            last.Plan.Boundary,
                            this->View(last, const_cast<void *>(weights)),
                            this->View(last, const_cast<void *>(values)),
                            this->View(last, m_Output),
                            m_Context.GetDevice());
  }

  bool
  DividesInLastPass() const
  {
    return IsLaidOut(this->View(m_Passes.back(), m_Output), m_Input.ComponentType) &&
           HasQuotientKernel(this->MakeLastPass(m_Weights[0], m_Values), m_Context.GetDevice());
  }

  /** Queues the first pass over the mask (`image` is nullptr) or over the valid pixels of an image as one kernel.
   * \return whether there is a kernel that divides the lines as the pass without a mask does */
  bool
  TryFirstPass(void * image, void * destination) const
  {
    const CudaArrayPass & first = m_Passes.front();
    const DeviceView      source = this->View(first, image ? image : destination);
    const DeviceView      result = this->View(first, destination);
    if (first.Plan.Boundary.Mode != CudaFiltersEnums::BoundaryMode::Nearest ||
        !IsLaidOut(source, m_Input.ComponentType) || !IsLaidOut(result, m_Input.ComponentType))
    {
      return false;
    }
    const CudaGaussianLinePass & pass = first.Plan.Passes.front();
    const DeviceView             valid = ViewAdjacent(first.Size, CudaComponentType::UChar, m_Valid);
    switch (GetLineSchedule(pass, { source, result }, m_Context.GetDevice()).Method)
    {
      case LineMethod::StripScan:
        return false;
      case LineMethod::Strip:
        return !HasKernelTimeout(m_Context.GetDevice()) &&
               RunStripMaskPass(pass, { image, m_Reference, valid }, result, m_Context);
      default:
        return image ? RunValidPass(pass, first.Plan.Boundary, source, valid, m_Reference, result, m_Context)
                     : RunMaskPass(pass, first.Plan.Boundary, valid, result, m_Context);
    }
  }

  /** Runs the passes [begin, end) with this value beyond the ends of the lines. Each pass reads the image of its parity
   * and writes the other one. */
  void
  RunPasses(size_t begin, size_t end, double boundaryValue, void * const (&images)[2]) const
  {
    for (size_t i = begin; i < end; ++i)
    {
      CudaArrayMemory source = m_Input;
      source.Data = images[i % 2];
      QueuePasses({ WithBoundaryValue(m_Passes[i], boundaryValue) }, source, images[(i + 1) % 2], m_Context);
    }
  }

  void
  SmoothWeights(size_t passes) const
  {
    const bool readsMask = passes > 0 && this->TryFirstPass(nullptr, m_Weights[1]);
    if (!readsMask)
    {
      QueueWeights(this->ViewMask(m_Valid), this->ViewPixels(m_Weights[0]), m_Context);
    }
    this->RunPasses(readsMask ? 1 : 0, passes, 1.0, m_Weights);
  }

  /** Smooths the values and divides them by the weights. After `passes` passes the weights are in the image of this
   * parity; the other image is reused for the values. */
  void
  SmoothValuesAndDivide(size_t passes, bool divides) const
  {
    void * const weights = m_Weights[passes % 2];
    void * const images[2] = { m_Values, m_Weights[1 - passes % 2] };
    const bool   readsValid = passes > 0 && this->TryFirstPass(m_Input.Data, images[1]);
    if (!readsValid)
    {
      QueueValues(
        this->ViewPixels(m_Input.Data), this->ViewMask(m_Valid), m_Reference, this->ViewPixels(images[0]), m_Context);
    }
    this->RunPasses(readsValid ? 1 : 0, passes, 0.0, images);
    void * const values = images[passes % 2];
    if (divides)
    {
      const CudaGaussianMask rule{ {}, m_Mask.FillValue, m_Mask.MinimumWeight };
      RunQuotientPass(this->MakeLastPass(weights, values), rule, m_Reference, m_Context);
      return;
    }
    QueueQuotient(this->ViewPixels(values),
                  this->ViewPixels(weights),
                  m_Reference,
                  this->ViewPixels(m_Output),
                  m_Mask.FillValue,
                  m_Mask.MinimumWeight,
                  m_Context);
  }

  const std::vector<CudaArrayPass> & m_Passes;
  const CudaArrayMask &              m_Mask;
  const CudaArrayMemory              m_Input;
  void * const                       m_Output;
  const Context &                    m_Context;
  const size_t                       m_Count;
  const size_t                       m_RowLength;
  const DeviceBuffer                 m_Buffer;
  void *                             m_Weights[2];
  void *                             m_Values;
  void *                             m_Reference;
  void *                             m_Valid;
};

/** A search for NaN and infinite pixels. Its result arrives in page-locked memory. The destructor waits for the search,
 * because it writes to this memory. */
class NonFiniteScanTask
{
public:
  explicit NonFiniteScanTask(const Context & context)
    : m_Context(context)
  {}
  ~NonFiniteScanTask()
  {
    if (m_IsUnderWay)
    {
      DrainStream(m_Context);
    }
  }

  NonFiniteScanTask(const NonFiniteScanTask &) = delete;
  NonFiniteScanTask &
  operator=(const NonFiniteScanTask &) = delete;

  void
  Queue(const CudaArrayMemory & array, size_t count)
  {
    *this->GetAnswer() = 0;
    m_IsUnderWay = true;
    QueueFindNonFinite(array.Data, count, array.ComponentType, this->GetAnswer(), m_Context);
    m_Over.Record(m_Context);
  }

  /** Waits for the search, and returns whether it has found a pixel. */
  bool
  HasFound()
  {
    m_Over.Synchronize();
    m_IsUnderWay = false;
    return *this->GetAnswer() != 0;
  }

private:
  unsigned int *
  GetAnswer() const
  {
    return static_cast<unsigned int *>(m_Memory.GetPointer());
  }

  const Context &    m_Context;
  const PinnedBuffer m_Memory{ PinnedBuffer::Take() };
  Event              m_Over;
  bool               m_IsUnderWay{ false };
};
} // namespace
} // namespace itk::cuda::gaussian

namespace itk::CudaDetail
{
void
CudaQueueMaskedOnStream(const std::vector<CudaArrayPass> & passes,
                        const CudaArrayMask &              mask,
                        const CudaArrayMemory &            input,
                        void *                             output)
{
  const cuda::ExternalStream stream(input);
  const cuda::Context &      context = stream.GetContext();
  if (passes.empty() ||
      cuda::ViewAdjacent(passes.front().Size, input.ComponentType, input.Data).GetNumberOfElements() == 0)
  {
    return;
  }
  for (const CudaArrayPass & pass : passes)
  {
    const CudaGaussianBoundary & boundary = pass.Plan.Boundary;
    if (boundary.Mode == CudaFiltersEnums::BoundaryMode::Constant && boundary.Value != 0.0)
    {
      itkGenericExceptionMacro("The passes continue lines with the value " << boundary.Value
                                                                           << "; with a mask it must be 0");
    }
  }
  cuda::gaussian::MaskedArrayRun(passes, mask, input, output, context).Run();
}

bool
CudaQueueAndFindNonFinite(const std::vector<CudaArrayPass> & passes, const CudaArrayMemory & input, void * output)
{
  const cuda::ExternalStream stream(input);
  const cuda::Context &      context = stream.GetContext();
  const size_t               count =
    passes.empty() ? 0 : cuda::ViewAdjacent(passes.front().Size, input.ComponentType, input.Data).GetNumberOfElements();
  if (count == 0)
  {
    return false;
  }
  cuda::gaussian::NonFiniteScanTask look(context);
  look.Queue(input, count);
  cuda::gaussian::QueuePasses(passes, input, output, context);
  return look.HasFound();
}
} // end namespace itk::CudaDetail

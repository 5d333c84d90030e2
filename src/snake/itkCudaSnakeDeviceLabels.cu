// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSnakeDeviceLabels.h"

#include "itkCudaCall.h"
#include "itkCudaDeviceGuard.h"

#include <algorithm>
#include <vector>

namespace itk::cuda::snake
{
namespace
{
constexpr int    ThreadsOfLabels = 256;
constexpr size_t MaximumBlocks = 4096; // which take the rows in turns

/** Rows of labels, and the crossings of each. */
template <typename TPixel>
struct LabelRows
{
  TPixel *         Labels;
  size_t           RowStride;
  size_t           Width;
  size_t           Height;
  const uint64_t * First; // of the row's crossings in Columns, and the end of the last row's
  const int32_t *  Columns;
  TPixel           Inside;
  TPixel           Outside;
};

/** A block per row: first the runs outside, one after the other, and those inside between them. */
template <typename TPixel>
__global__ void
WriteLabelsKernel(LabelRows<TPixel> rows)
{
  for (size_t y = blockIdx.x; y < rows.Height; y += gridDim.x)
  {
    TPixel * const row = rows.Labels + y * rows.RowStride;
    const uint64_t end = rows.First[y + 1];
    size_t         begin = 0;
    bool           inside = false;
    for (uint64_t i = rows.First[y]; i <= end; ++i)
    {
      const size_t last = i < end ? static_cast<size_t>(rows.Columns[i]) : rows.Width;
      for (size_t x = begin + threadIdx.x; x < last; x += ThreadsOfLabels)
      {
        row[x] = inside ? rows.Inside : rows.Outside;
      }
      begin = last;
      inside = !inside;
    }
  }
}

template <typename TPixel>
void
WriteLabelsOf(const CudaSnakeRowSpans & spans,
              uint32_t                  inside,
              uint32_t                  outside,
              const DeviceView &        labels,
              Workspace                 workspace,
              const Context &           context)
{
  constexpr uint32_t largest = static_cast<TPixel>(~TPixel{ 0 });
  if (inside > largest || outside > largest)
  {
    itkGenericExceptionMacro("The labels are " << inside << " and " << outside << "; they must be at most " << largest
                                               << ", the largest pixel of the label image");
  }
  const std::vector<uint64_t> first(spans.First.begin(), spans.First.end());
  auto * const                firstOnDevice = static_cast<uint64_t *>(workspace.Take(first.size() * sizeof(uint64_t)));
  auto * const                columns = static_cast<int32_t *>(workspace.Take(spans.Columns.size() * sizeof(int32_t)));
  ITK_CUDA_CALL(cudaMemcpyAsync(
    firstOnDevice, first.data(), first.size() * sizeof(uint64_t), cudaMemcpyHostToDevice, context.GetStream()));
  if (columns)
  {
    ITK_CUDA_CALL(cudaMemcpyAsync(columns,
                                  spans.Columns.data(),
                                  spans.Columns.size() * sizeof(int32_t),
                                  cudaMemcpyHostToDevice,
                                  context.GetStream()));
  }
  const LabelRows<TPixel> rows{ static_cast<TPixel *>(labels.Data),
                                labels.Stride[1],
                                labels.Size[0],
                                labels.Size[1],
                                firstOnDevice,
                                columns,
                                static_cast<TPixel>(inside),
                                static_cast<TPixel>(outside) };
  ITK_CUDA_CALL(LaunchKernel(WriteLabelsKernel<TPixel>,
                             dim3(static_cast<unsigned int>(std::min(labels.Size[1], MaximumBlocks))),
                             dim3(ThreadsOfLabels),
                             0,
                             context.GetStream(),
                             rows));
}
} // namespace

size_t
GetLabelWorkspaceBytes(const CudaSnakeRowSpans & spans)
{
  return Workspace::GetPieceSize(spans.First.size() * sizeof(uint64_t)) +
         Workspace::GetPieceSize(spans.Columns.size() * sizeof(int32_t));
}

void
WriteLabels(const CudaSnakeRowSpans & spans,
            uint32_t                  inside,
            uint32_t                  outside,
            const DeviceView &        labels,
            Workspace                 workspace,
            const Context &           context)
{
  if (labels.Data == nullptr || labels.Size[2] * labels.Size[3] * labels.Size[4] != 1 ||
      labels.Size[1] + 1 != spans.First.size())
  {
    itkGenericExceptionMacro("The label image has " << labels.Size[0] << " x " << labels.Size[1] << " x "
                                                    << labels.Size[2] * labels.Size[3] * labels.Size[4]
                                                    << " pixels; it must have memory, two dimensions and "
                                                    << spans.First.size() - 1 << " rows, as the row spans");
  }
  const DeviceGuard guard(context.GetDevice());
  switch (labels.ComponentType)
  {
    case CudaComponentType::UChar:
      return WriteLabelsOf<uint8_t>(spans, inside, outside, labels, workspace, context);
    case CudaComponentType::UShort:
      return WriteLabelsOf<uint16_t>(spans, inside, outside, labels, workspace, context);
    default:
      itkGenericExceptionMacro("Labels on the device have to be unsigned char or unsigned short");
  }
}
} // namespace itk::cuda::snake

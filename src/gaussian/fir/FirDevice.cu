// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "gaussian/fir/FirDevice.h"
#include "gaussian/fir/FirKernels.cuh"
#include "runtime/device/Launch.h"
#include "runtime/image/Math.h"

#include <algorithm>
#include <vector>

// Launches the kernels of convolution passes (gaussian/fir/FirKernels.cuh).

namespace itk::cuda::gaussian
{
namespace
{
bool
IsInline(const CudaGaussianFirPass & pass)
{
  return pass.GetRadius() <= FirInlineRadius;
}

/** Launches `blocks` blocks of threads, each of which computes `pixelsOfBlock` pixels. If the driver ends long kernels,
 * the blocks are divided among several launches (FirProductsOfLaunch). */
template <typename T>
void
LaunchInGroups(void (*kernel)(FirArguments<T>),
               FirArguments<T> arguments,
               size_t          blocks,
               dim3            threads,
               size_t          pixelsOfBlock,
               const Context & context)
{
  const size_t products = pixelsOfBlock * arguments.NumberOfWeights;
  const size_t most =
    HasKernelTimeout(context.GetDevice()) ? std::max<size_t>(1, FirProductsOfLaunch / products) : blocks;
  const unsigned int end = GetNumberOfBlocks(blocks);
  for (arguments.FirstBlock = 0; arguments.FirstBlock < end; arguments.FirstBlock += static_cast<unsigned int>(most))
  {
    const size_t group = std::min<size_t>(most, end - arguments.FirstBlock);
    ITK_CUDA_CALL(LaunchKernel(kernel, MakeGrid(group), threads, 0, context.GetStream(), arguments));
  }
}

template <typename T, bool VTruncate>
void
Launch(const FirArguments<T> & arguments, unsigned int axis, const Context & context)
{
  const LineGeometry & geometry = arguments.Geometry;
  if (axis == 0)
  {
    constexpr unsigned int part = FirContiguousThreads * FirContiguousPixels;
    LaunchInGroups(ContiguousFirKernel<T, VTruncate>,
                   arguments,
                   DivideUp(geometry.LineLength, part) * DivideUp(geometry.OuterCount, FirContiguousLines),
                   dim3(FirContiguousThreads, FirContiguousLines),
                   part * FirContiguousLines,
                   context);
    return;
  }
  constexpr unsigned int part = FirStridedParts * FirStridedPixels;
  LaunchInGroups(StridedFirKernel<T, VTruncate>,
                 arguments,
                 DivideUp(geometry.InnerCount, FirStridedLines) * DivideUp(geometry.LineLength, part) *
                   geometry.OuterCount,
                 dim3(FirStridedLines, FirStridedParts),
                 part * FirStridedLines,
                 context);
}

template <typename T>
void
RunFirPassAs(const CudaGaussianFirPass & pass,
             bool                        truncate,
             const DeviceView &          source,
             const DeviceView &          destination,
             Workspace                   workspace,
             const Context &             context)
{
  const std::vector<T> weights(pass.Weights.begin(), pass.Weights.end());
  void * const         table = workspace.Take(GetFirWorkspace(pass, source.ComponentType));
  FirArguments<T>      arguments{};
  arguments.Source = static_cast<const T *>(source.Data);
  arguments.Destination = static_cast<T *>(destination.Data);
  arguments.Geometry = MakeLineGeometry(source, pass.Axis);
  arguments.Continuation = pass.Continuation;
  arguments.Constant = static_cast<T>(pass.Constant);
  arguments.NumberOfWeights = static_cast<unsigned int>(weights.size());
  arguments.Table = static_cast<const T *>(table);
  if (IsInline(pass))
  {
    std::copy(weights.begin(), weights.end(), arguments.Inline);
  }
  else
  {
    // The copy is from pageable memory, so the weights have been read when the call returns.
    ITK_CUDA_CALL(
      cudaMemcpyAsync(table, weights.data(), weights.size() * sizeof(T), cudaMemcpyHostToDevice, context.GetStream()));
  }
  const auto launch = truncate ? Launch<T, true> : Launch<T, false>;
  launch(arguments, pass.Axis, context);
}
} // namespace

size_t
GetFirWorkspace(const CudaGaussianFirPass & pass, CudaComponentType type)
{
  return IsInline(pass) ? 0 : pass.Weights.size() * CudaComponentSize(type);
}

void
RunFirPass(const CudaGaussianFirPass & pass,
           bool                        truncate,
           const DeviceView &          source,
           const DeviceView &          destination,
           Workspace                   workspace,
           const Context &             context)
{
  const auto run = source.ComponentType == CudaComponentType::Double ? RunFirPassAs<double> : RunFirPassAs<float>;
  run(pass, truncate, source, destination, workspace, context);
}
} // namespace itk::cuda::gaussian

// SPDX-License-Identifier: Apache-2.0
#include "itkCudaCall.h"
#include "itkCudaDevice.h"
#include "itkCudaGaussianFirDevice.h"
#include "itkCudaGaussianFirKernels.cuh"
#include "itkCudaLaunch.h"
#include "itkCudaMemory.h"
#include "itkCudaRoundUp.h"

#include <algorithm>
#include <vector>

namespace itk::cuda::gaussian
{
namespace
{
/** Lines along `axis`: the axes below it are flattened into the inner index, those above it into the outer one. */
FirGeometry
MakeFirGeometry(const DeviceView & view, unsigned int axis)
{
  FirGeometry geometry{};
  geometry.LineLength = view.Size[axis];
  geometry.LineStride = view.Stride[axis];
  geometry.InnerCount = 1;
  geometry.OuterCount = 1;
  for (unsigned int k = axis + 1; k < DeviceView::NumberOfAxes; ++k)
  {
    geometry.OuterCount *= view.Size[k];
  }
  geometry.OuterStride = view.Stride[axis + 1];
  if (axis > 0)
  {
    // Rows with their padding, but for the last one's.
    geometry.InnerCount = axis == 1 ? view.Size[0] : view.Stride[axis] - (view.Stride[1] - view.Size[0]);
  }
  return geometry;
}

bool
IsInline(const CudaGaussianFirPass & pass)
{
  return pass.GetRadius() <= FirInlineRadius;
}

/** Launches blocks of threads that compute `pixelsOfBlock` pixels each, as many at a time as a launch may have. */
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
  const FirGeometry & geometry = arguments.Geometry;
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
             const Context &             context)
{
  const std::vector<T> weights(pass.Weights.begin(), pass.Weights.end());
  const DeviceBuffer   table(GetFirWorkspace(pass, source.ComponentType), context);
  FirArguments<T>      arguments{};
  arguments.Source = static_cast<const T *>(source.Data);
  arguments.Destination = static_cast<T *>(destination.Data);
  arguments.Geometry = MakeFirGeometry(source, pass.Axis);
  arguments.Continuation = pass.Continuation;
  arguments.Constant = static_cast<T>(pass.Constant);
  arguments.NumberOfWeights = static_cast<unsigned int>(weights.size());
  arguments.Table = static_cast<const T *>(table.GetPointer());
  if (IsInline(pass))
  {
    std::copy(weights.begin(), weights.end(), arguments.Inline);
  }
  else
  {
    // From pageable memory: on return the weights have been read.
    ITK_CUDA_CALL(cudaMemcpyAsync(
      table.GetPointer(), weights.data(), weights.size() * sizeof(T), cudaMemcpyHostToDevice, context.GetStream()));
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
           const Context &             context)
{
  const auto run = source.ComponentType == CudaComponentType::Double ? RunFirPassAs<double> : RunFirPassAs<float>;
  run(pass, truncate, source, destination, context);
}
} // namespace itk::cuda::gaussian

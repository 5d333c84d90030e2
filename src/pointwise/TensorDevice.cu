// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailTensorEngine.h"
#include "pointwise/HessianMeasures.h"
#include "pointwise/LineDirection.h"
#include "pointwise/PlaneKernels.cuh"
#include "pointwise/SymmetricEigen.h"
#include "pointwise/TensorDevice.h"

#include <algorithm>

// Implements the kernels of TensorDevice.h: eigenvalues, measures of Hessians, their maximum over scales, and
// directions of lines. The mathematics is in headers that the host uses, too (SymmetricEigen.h, HessianMeasures.h,
// LineDirection.h). The kernels of structure tensors are in StructureTensorDevice.cu.

namespace itk::cuda::pointwise
{
namespace
{
template <typename T>
struct BestPlanes
{
  T *       Response;
  T *       Scale;
  Planes<T> Hessian;
  T         Sigma;
  T         Lowest;
  bool      IsFirst;
  const T * Parameter; // BestScale::Parameter
};

template <typename T, unsigned int VDimension, bool VWithVectors>
__global__ void
__launch_bounds__(ThreadsOfBlock)
  EigenKernel(Planes<const T> tensors, Planes<T> output, size_t count, CudaEigenValueOrder order)
{
  const size_t i = GetThreadIndex();
  if (i >= count)
  {
    return;
  }
  T tensor[TensorComponents<VDimension>];
  LoadTensor(tensors, i, tensor);
  EigenSystem<T, VDimension> system;
  SolveEigenSystem<VWithVectors>(tensor, order, system);
#pragma unroll
  for (unsigned int k = 0; k < VDimension; ++k)
  {
    output.At(k, i) = system.GetValue(k);
  }
  if constexpr (VWithVectors)
  {
#pragma unroll
    for (unsigned int k = 0; k < VDimension * VDimension; ++k)
    {
      output.At(VDimension + k, i) = system.Vectors[k / VDimension][k % VDimension];
    }
  }
}

/** Returns whether the measure is the objectness of lines with all its factors. This most common measure has kernels of
 * its own, in which these parameters are compile-time constants. */
template <typename T>
bool
IsLine(const MeasureParameters<T> & parameters)
{
  return parameters.Kind == CudaHessianMeasureKind::Objectness && parameters.ObjectDimension == 1 &&
         parameters.HasAlpha && parameters.HasBeta && parameters.HasGamma;
}

template <unsigned int VDimension, bool VIsLine, typename T>
__device__ inline T
GetMeasure(MeasureParameters<T> parameters, const T * hessian)
{
  if constexpr (VIsLine)
  {
    parameters.Kind = CudaHessianMeasureKind::Objectness;
    parameters.ObjectDimension = 1;
    parameters.HasAlpha = parameters.HasBeta = parameters.HasGamma = true;
  }
  return GetHessianMeasure<VDimension>(parameters, hessian);
}

template <typename T, unsigned int VDimension, bool VIsLine>
__global__ void
__launch_bounds__(ThreadsOfBlock)
  MeasureKernel(Planes<const T> hessian, T * __restrict__ output, size_t count, MeasureParameters<T> parameters)
{
  const size_t i = GetThreadIndex();
  if (i >= count)
  {
    return;
  }
  T tensor[TensorComponents<VDimension>];
  LoadTensor(hessian, i, tensor);
  output[i] = GetMeasure<VDimension, VIsLine>(parameters, tensor);
}

/** Updates the best responses with the measure of one scale. With VHasParameter, the measure uses
 * BestPlanes::Parameter. Kernels without it need fewer registers. */
template <typename T, unsigned int VDimension, bool VIsLine, bool VHasParameter>
__global__ void
__launch_bounds__(ThreadsOfBlock)
  MaximumKernel(Planes<const T> hessian, BestPlanes<T> best, size_t count, MeasureParameters<T> parameters)
{
  constexpr unsigned int components = TensorComponents<VDimension>;
  const size_t           i = GetThreadIndex();
  if (i >= count)
  {
    return;
  }
  if constexpr (VHasParameter)
  {
    parameters.SetFromScale(*best.Parameter);
  }
  T tensor[components];
  LoadTensor(hessian, i, tensor);
  const T    value = GetMeasure<VDimension, VIsLine>(parameters, tensor);
  const bool isBest = (best.IsFirst ? best.Lowest : best.Response[i]) < value;
  if (!isBest && !best.IsFirst)
  {
    return;
  }
  best.Response[i] = isBest ? value : best.Lowest;
  if (best.Scale)
  {
    best.Scale[i] = isBest ? best.Sigma : T{ 0 };
  }
  if (best.Hessian.Data)
  {
#pragma unroll
    for (unsigned int c = 0; c < components; ++c)
    {
      best.Hessian.At(c, i) = isBest ? tensor[c] : T{ 0 };
    }
  }
}

constexpr unsigned int LargestBlocks = 1056; // eight on each multiprocessor of an H200

/** The rows of an image without their padding. */
template <typename T>
struct Rows
{
  const T * Data;
  size_t    Length;
  size_t    Stride;
  size_t    Number;
};

/** Finds the largest finite element. The atomic maximum of the bit patterns is correct, because the order of
 * nonnegative floating-point numbers is the order of their bits. */
template <typename T>
__global__ void
__launch_bounds__(ThreadsOfBlock) LargestKernel(Rows<T> rows, unsigned long long * largest)
{
  T best = T{ 0 };
  for (size_t row = blockIdx.x; row < rows.Number; row += gridDim.x)
  {
    for (size_t x = threadIdx.x; x < rows.Length; x += ThreadsOfBlock)
    {
      const T value = rows.Data[row * rows.Stride + x];
      best = value > best && value <= FloatBits<T>::Greatest ? value : best;
    }
  }
#pragma unroll
  for (unsigned int distance = 16; distance > 0; distance /= 2)
  {
    const T other = __shfl_xor_sync(0xffffffffu, best, distance);
    best = other > best ? other : best;
  }
  if (threadIdx.x % 32 == 0)
  {
    atomicMax(largest, static_cast<unsigned long long>(__double_as_longlong(static_cast<double>(best))));
  }
}

template <typename T>
__global__ void
ScaleParameterKernel(CudaHessianMeasureKind kind, double factor, double ifZero, const double * largest, T * parameter)
{
  // The same formula as CudaScaleParameter::Get().
  *parameter = MeasureParameters<T>::GetFromScale(kind, *largest > 0.0 ? factor * *largest : ifZero);
}

template <typename T, unsigned int VDimension>
__global__ void
__launch_bounds__(ThreadsOfBlock) DirectionKernel(Planes<T> planes, size_t count, bool lastAxisFirst)
{
  const size_t i = GetThreadIndex();
  if (i >= count)
  {
    return;
  }
  T tensor[TensorComponents<VDimension>];
  LoadTensor(Planes<const T>{ planes.Data, planes.Stride }, i, tensor);
  T direction[VDimension];
  GetLineDirection<VDimension>(lastAxisFirst, tensor, direction);
#pragma unroll
  for (unsigned int k = 0; k < VDimension; ++k)
  {
    planes.At(k, i) = direction[k];
  }
}
} // namespace

void
RunEigen(const CudaEigenPlan & plan, const DeviceView & tensors, const DeviceView & output, const Context & context)
{
  CudaVerifyTensorComponents(plan.Dimension, CudaEigenComponents(plan), tensors.Size.back(), output.Size.back());
  VerifySameRows(tensors, output);
  VisitTypes(tensors.ComponentType, plan.Dimension, [&](auto zero, auto dimension) {
    using T = decltype(zero);
    constexpr unsigned int d = decltype(dimension)::value;
    LaunchPixels(plan.WithVectors ? EigenKernel<T, d, true> : EigenKernel<T, d, false>,
                 GetPlaneLength(tensors),
                 context,
                 GetPlanes<const T>(tensors),
                 GetPlanes<T>(output),
                 GetPlaneLength(tensors),
                 plan.Order);
  });
}

void
RunHessianMeasure(const CudaHessianMeasure & measure,
                  const DeviceView &         hessian,
                  const DeviceView &         output,
                  const Context &            context)
{
  CudaVerifyTensorComponents(measure.Dimension, 1, hessian.Size.back(), output.Size.back());
  VerifySameRows(hessian, output);
  VisitTypes(hessian.ComponentType, measure.Dimension, [&](auto zero, auto dimension) {
    using T = decltype(zero);
    constexpr unsigned int     d = decltype(dimension)::value;
    const MeasureParameters<T> parameters(measure);
    LaunchPixels(IsLine(parameters) ? MeasureKernel<T, d, true> : MeasureKernel<T, d, false>,
                 GetPlaneLength(hessian),
                 context,
                 GetPlanes<const T>(hessian),
                 static_cast<T *>(output.Data),
                 GetPlaneLength(hessian),
                 parameters);
  });
}

void
RunMeasureMaximum(const CudaHessianMeasure & measure,
                  const DeviceView &         hessian,
                  double                     sigma,
                  bool                       isFirst,
                  const BestScale &          best,
                  const Context &            context)
{
  CudaVerifyTensorComponents(measure.Dimension, 1, hessian.Size.back(), best.Response.Size.back());
  for (const DeviceView * view : { &best.Response, &best.Scale, &best.Hessian })
  {
    if (view->Data)
    {
      VerifySameRows(hessian, *view);
    }
  }
  VisitTypes(hessian.ComponentType, measure.Dimension, [&](auto zero, auto dimension) {
    using T = decltype(zero);
    constexpr unsigned int     d = decltype(dimension)::value;
    const MeasureParameters<T> parameters(measure);
    const BestPlanes<T>        planes{ static_cast<T *>(best.Response.Data),
                                static_cast<T *>(best.Scale.Data),
                                GetPlanes<T>(best.Hessian),
                                static_cast<T>(sigma),
                                static_cast<T>(best.Lowest),
                                isFirst,
                                static_cast<const T *>(best.Parameter) };
    const auto withParameter = IsLine(parameters) ? MaximumKernel<T, d, true, true> : MaximumKernel<T, d, false, true>;
    const auto without = IsLine(parameters) ? MaximumKernel<T, d, true, false> : MaximumKernel<T, d, false, false>;
    LaunchPixels(best.Parameter ? withParameter : without,
                 GetPlaneLength(hessian),
                 context,
                 GetPlanes<const T>(hessian),
                 planes,
                 GetPlaneLength(hessian),
                 parameters);
  });
}

void
RunLargest(const DeviceView & image, double * largest, const Context & context)
{
  static_assert(sizeof(double) == sizeof(unsigned long long));
  ITK_CUDA_CALL(cudaMemsetAsync(largest, 0, sizeof(double), context.GetStream()));
  const size_t number = image.Size[1] * image.Size[2] * image.Size[3];
  if (image.Size[0] == 0 || number == 0)
  {
    return;
  }
  VisitTypes(image.ComponentType, 2, [&](auto zero, auto) {
    using T = decltype(zero);
    const Rows<T> rows{ static_cast<const T *>(image.Data), image.Size[0], image.Stride[1], number };
    ITK_CUDA_CALL(LaunchKernel(LargestKernel<T>,
                               MakeGrid(std::min<size_t>(number, LargestBlocks)),
                               dim3(ThreadsOfBlock),
                               0,
                               context.GetStream(),
                               rows,
                               reinterpret_cast<unsigned long long *>(largest)));
  });
}

void
RunScaleParameter(CudaHessianMeasureKind kind,
                  double                 factor,
                  double                 ifZero,
                  const double *         largest,
                  CudaComponentType      type,
                  void *                 parameter,
                  const Context &        context)
{
  VisitTypes(type, 2, [&](auto zero, auto) {
    using T = decltype(zero);
    ITK_CUDA_CALL(LaunchKernel(ScaleParameterKernel<T>,
                               dim3(1),
                               dim3(1),
                               0,
                               context.GetStream(),
                               kind,
                               factor,
                               ifZero,
                               largest,
                               static_cast<T *>(parameter)));
  });
}

void
RunLineDirections(const CudaLineDirectionPlan & plan, const DeviceView & hessian, const Context & context)
{
  CudaVerifyTensorComponents(plan.Dimension, plan.Dimension, hessian.Size.back(), plan.Dimension);
  VisitTypes(hessian.ComponentType, plan.Dimension, [&](auto zero, auto dimension) {
    using T = decltype(zero);
    LaunchPixels(DirectionKernel<T, decltype(dimension)::value>,
                 GetPlaneLength(hessian),
                 context,
                 GetPlanes<T>(hessian),
                 GetPlaneLength(hessian),
                 plan.LastAxisFirst);
  });
}
} // namespace itk::cuda::pointwise

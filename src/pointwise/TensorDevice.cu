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
template <typename T, unsigned int VDimension>
struct ComputeEigenvalues
{
  Planes<const T>     Tensors;
  Planes<T>           Output;
  CudaEigenValueOrder Order;

  __device__ void
  operator()(size_t i) const
  {
    T tensor[TensorComponents<VDimension>];
    LoadTensor(Tensors, i, tensor);
    EigenSystem<T, VDimension> system;
    SolveEigenSystem<false>(tensor, Order, system);
#pragma unroll
    for (unsigned int k = 0; k < VDimension; ++k)
    {
      Output.At(k, i) = system.GetValue(k);
    }
  }
};

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
struct ComputeMeasure
{
  Planes<const T>      Hessian;
  T *                  Output;
  MeasureParameters<T> Parameters;

  __device__ void
  operator()(size_t i) const
  {
    T tensor[TensorComponents<VDimension>];
    LoadTensor(Hessian, i, tensor);
    Output[i] = GetMeasure<VDimension, VIsLine>(Parameters, tensor);
  }
};

/** Updates the best responses with the measure of one scale. With VHasParameter, the measure uses the value at
 * `Parameter`. Kernels without it need fewer registers. */
template <typename T, unsigned int VDimension, bool VIsLine, bool VHasParameter>
struct UpdateMaximum
{
  Planes<const T>      Hessian;
  T *                  Response;
  T *                  Scale;       // or no data
  Planes<T>            BestHessian; // or without data
  T                    Sigma;
  T                    Lowest;
  bool                 IsFirst;
  const T *            Parameter; // BestScale::Parameter
  MeasureParameters<T> Measure;

  __device__ void
  operator()(size_t i) const
  {
    constexpr unsigned int components = TensorComponents<VDimension>;
    MeasureParameters<T>   measure = Measure;
    if constexpr (VHasParameter)
    {
      measure.SetFromScale(*Parameter);
    }
    T tensor[components];
    LoadTensor(Hessian, i, tensor);
    const T    value = GetMeasure<VDimension, VIsLine>(measure, tensor);
    const bool isBest = (IsFirst ? Lowest : Response[i]) < value;
    if (!isBest && !IsFirst)
    {
      return;
    }
    Response[i] = isBest ? value : Lowest;
    if (Scale)
    {
      Scale[i] = isBest ? Sigma : T{ 0 };
    }
    if (BestHessian.Data)
    {
#pragma unroll
      for (unsigned int c = 0; c < components; ++c)
      {
        BestHessian.At(c, i) = isBest ? tensor[c] : T{ 0 };
      }
    }
  }
};

constexpr unsigned int LargestBlocks = 1056; // eight on each multiprocessor of an H200

/** The rows of Hessians without their padding. */
template <typename T>
struct Rows
{
  Planes<const T>      Hessian;
  size_t               Length;
  size_t               Stride;
  size_t               Number;
  MeasureParameters<T> Measure;
};

/** Finds the largest finite measure. The atomic maximum of the bit patterns is correct, because the order of
 * nonnegative floating-point numbers is the order of their bits. */
template <typename T, unsigned int VDimension>
__global__ void
__launch_bounds__(ThreadsOfBlock) LargestKernel(const __grid_constant__ Rows<T> rows, unsigned long long * largest)
{
  T best = T{ 0 };
  for (size_t row = blockIdx.x; row < rows.Number; row += gridDim.x)
  {
    for (size_t x = threadIdx.x; x < rows.Length; x += ThreadsOfBlock)
    {
      T tensor[TensorComponents<VDimension>];
      LoadTensor(rows.Hessian, row * rows.Stride + x, tensor);
      const T value = GetHessianMeasure<VDimension>(rows.Measure, tensor);
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

/** Replaces Hessians by the directions of lines. */
template <typename T, unsigned int VDimension>
struct ComputeDirection
{
  Planes<T> Components;
  bool      LastAxisFirst;

  __device__ void
  operator()(size_t i) const
  {
    T tensor[TensorComponents<VDimension>];
    LoadTensor(Components, i, tensor);
    T direction[VDimension];
    GetLineDirection<VDimension>(LastAxisFirst, tensor, direction);
#pragma unroll
    for (unsigned int k = 0; k < VDimension; ++k)
    {
      Components.At(k, i) = direction[k];
    }
  }
};
} // namespace

void
RunPlan(const CudaEigenPlan & plan, const DeviceView & tensors, const DeviceView & output, const Context & context)
{
  CudaVerifyTensorComponents(plan.Dimension, CudaResultComponents(plan), tensors.Size.back(), output.Size.back());
  VerifySameRows(tensors, output);
  VisitTypes(tensors.ComponentType, plan.Dimension, [&](auto zero, auto dimension) {
    using T = decltype(zero);
    constexpr unsigned int d = decltype(dimension)::value;
    ForEachElement(tensors, ComputeEigenvalues<T, d>{ tensors, output, plan.Order }, context);
  });
}

void
RunPlan(const CudaHessianMeasure & measure,
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
    VisitBool(IsLine(parameters), [&](auto isLine) {
      const ComputeMeasure<T, d, isLine> compute{ hessian, static_cast<T *>(output.Data), parameters };
      ForEachElement(hessian, compute, context);
    });
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
    VisitBool(IsLine(parameters), [&](auto isLine) {
      VisitBool(best.Parameter != nullptr, [&](auto hasParameter) {
        const UpdateMaximum<T, d, isLine, hasParameter> update{ hessian,
                                                                static_cast<T *>(best.Response.Data),
                                                                static_cast<T *>(best.Scale.Data),
                                                                best.Hessian,
                                                                static_cast<T>(sigma),
                                                                static_cast<T>(best.Lowest),
                                                                isFirst,
                                                                static_cast<const T *>(best.Parameter),
                                                                parameters };
        ForEachElement(hessian, update, context);
      });
    });
  });
}

void
RunLargest(const CudaHessianMeasure & measure, const DeviceView & hessian, double * largest, const Context & context)
{
  static_assert(sizeof(double) == sizeof(unsigned long long));
  CudaVerifyTensorComponents(measure.Dimension, 1, hessian.Size.back(), 1);
  ITK_CUDA_CALL(cudaMemsetAsync(largest, 0, sizeof(double), context.GetStream()));
  const size_t number = hessian.Size[1] * hessian.Size[2] * hessian.Size[3];
  if (hessian.Size[0] == 0 || number == 0)
  {
    return;
  }
  VisitTypes(hessian.ComponentType, measure.Dimension, [&](auto zero, auto dimension) {
    using T = decltype(zero);
    const Rows<T> rows{ hessian, hessian.Size[0], hessian.Stride[1], number, MeasureParameters<T>(measure) };
    ITK_CUDA_CALL(LaunchKernel(LargestKernel<T, decltype(dimension)::value>,
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
    const ComputeDirection<T, decltype(dimension)::value> compute{ hessian, plan.LastAxisFirst };
    ForEachElement(hessian, compute, context);
  });
}
} // namespace itk::cuda::pointwise

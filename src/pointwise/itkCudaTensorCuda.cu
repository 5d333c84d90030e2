// SPDX-License-Identifier: Apache-2.0
#include "itkCudaCall.h"
#include "itkCudaContext.h"
#include "itkCudaDetailTensorEngine.h"
#include "itkCudaHessianMeasures.h"
#include "itkCudaLaunch.h"
#include "itkCudaRoundUp.h"
#include "itkCudaSymmetricEigen.h"
#include "itkCudaTensorDevice.h"
#include "itkMacro.h"

namespace itk::cuda::pointwise
{
namespace
{
constexpr unsigned int ThreadsOfBlock = 256;

/** Planes of an image: plane c begins at Data + c * Stride. */
template <typename T>
struct Planes
{
  T *    Data{ nullptr };
  size_t Stride{ 0 };

  __device__ T &
  At(unsigned int plane, size_t i) const
  {
    return Data[plane * Stride + i];
  }
};

template <typename T>
struct BestPlanes
{
  T *       Response;
  T *       Scale;
  Planes<T> Hessian;
  T         Sigma;
  T         Lowest;
  bool      IsFirst;
};

__device__ inline size_t
GetThreadIndex()
{
  return size_t{ blockIdx.x } * ThreadsOfBlock + threadIdx.x;
}

template <typename T, unsigned int VCount>
__device__ inline void
LoadTensor(const Planes<const T> & planes, size_t i, T (&tensor)[VCount])
{
#pragma unroll
  for (unsigned int c = 0; c < VCount; ++c)
  {
    tensor[c] = planes.At(c, i);
  }
}

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

template <typename T, unsigned int VDimension>
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
  output[i] = GetHessianMeasure<VDimension>(parameters, tensor);
}

template <typename T, unsigned int VDimension>
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
  T tensor[components];
  LoadTensor(hessian, i, tensor);
  const T    value = GetHessianMeasure<VDimension>(parameters, tensor);
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

template <typename T>
Planes<T>
GetPlanes(const DeviceView & view)
{
  return { static_cast<T *>(view.Data), view.Stride.back() };
}

/** Throws unless the images have the same rows, planes and type. */
void
VerifySameRows(const DeviceView & a, const DeviceView & b)
{
  bool areSame = a.ComponentType == b.ComponentType && a.Stride == b.Stride;
  for (unsigned int axis = 0; axis + 1 < DeviceView::NumberOfAxes; ++axis)
  {
    areSame = areSame && a.Size[axis] == b.Size[axis];
  }
  if (!areSame)
  {
    itkGenericExceptionMacro("Tensors and results on the device have different rows or types");
  }
}

/** One thread for each element of a plane, padding included. */
template <typename... TParameters, typename... TArguments>
void
LaunchPixels(void (*kernel)(TParameters...), size_t count, const Context & context, const TArguments &... arguments)
{
  if (count > 0)
  {
    ITK_CUDA_CALL(LaunchKernel(
      kernel, MakeGrid(DivideUp(count, ThreadsOfBlock)), dim3(ThreadsOfBlock), 0, context.GetStream(), arguments...));
  }
}

/** Calls function(zero of the type, integral constant of the dimension). */
template <typename TFunction>
void
VisitTypes(CudaComponentType type, unsigned int dimension, const TFunction & function)
{
  const auto visit = [&](auto zero) {
    if (dimension == 2)
    {
      function(zero, std::integral_constant<unsigned int, 2>());
    }
    else
    {
      function(zero, std::integral_constant<unsigned int, 3>());
    }
  };
  if (type == CudaComponentType::Double)
  {
    visit(0.0);
  }
  else
  {
    visit(0.0f);
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
                 tensors.Stride.back(),
                 context,
                 GetPlanes<const T>(tensors),
                 GetPlanes<T>(output),
                 tensors.Stride.back(),
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
    LaunchPixels(MeasureKernel<T, decltype(dimension)::value>,
                 hessian.Stride.back(),
                 context,
                 GetPlanes<const T>(hessian),
                 static_cast<T *>(output.Data),
                 hessian.Stride.back(),
                 MeasureParameters<T>(measure));
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
    const BestPlanes<T> planes{ static_cast<T *>(best.Response.Data), static_cast<T *>(best.Scale.Data),
                                GetPlanes<T>(best.Hessian),           static_cast<T>(sigma),
                                static_cast<T>(best.Lowest),          isFirst };
    LaunchPixels(MaximumKernel<T, decltype(dimension)::value>,
                 hessian.Stride.back(),
                 context,
                 GetPlanes<const T>(hessian),
                 planes,
                 hessian.Stride.back(),
                 MeasureParameters<T>(measure));
  });
}
} // namespace itk::cuda::pointwise

// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_pointwise_PlaneKernels_cuh
#define CudaFilters_pointwise_PlaneKernels_cuh

#include "runtime/device/Call.h"
#include "runtime/device/Stream.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/device/Launch.h"
#include "runtime/image/Math.h"
#include "itkMacro.h"

#include <type_traits>

// Common parts of the pointwise kernels, which use one thread for each pixel and store components as planes. A kernel
// is an operation for ForEachElement().

namespace itk::cuda::pointwise
{
constexpr unsigned int ThreadsOfBlock = 256;

/** The planes of an image. Plane c begins at Data + c * Stride. */
template <typename T>
struct Planes
{
  T *    Data;
  size_t Stride;

  Planes(const DeviceView & view)
    : Data(static_cast<T *>(view.Data))
    , Stride(view.Stride.back())
  {}

  __device__ T &
  At(unsigned int plane, size_t i) const
  {
    return Data[plane * Stride + i];
  }
};

template <typename TElement, typename T, unsigned int VCount>
__device__ inline void
LoadTensor(const Planes<TElement> & planes, size_t i, T (&tensor)[VCount])
{
#pragma unroll
  for (unsigned int c = 0; c < VCount; ++c)
  {
    tensor[c] = planes.At(c, i);
  }
}

/** Throws unless the images have the same rows and type. The number and the distance of their planes may differ. */
inline void
VerifySameRows(const DeviceView & a, const DeviceView & b)
{
  bool areSame = a.ComponentType == b.ComponentType;
  for (unsigned int axis = 0; axis + 1 < DeviceView::NumberOfAxes; ++axis)
  {
    areSame = areSame && a.Size[axis] == b.Size[axis] && a.Stride[axis] == b.Stride[axis];
  }
  if (!areSame)
  {
    itkGenericExceptionMacro("Tensors and results on the device have different rows or types");
  }
}

template <typename TOperation>
__global__ void
__launch_bounds__(ThreadsOfBlock) ForEachElementKernel(const __grid_constant__ TOperation operation, size_t count)
{
  const size_t i = size_t{ blockIdx.x } * ThreadsOfBlock + threadIdx.x;
  if (i < count)
  {
    operation(i);
  }
}

/** Calls operation(i) for all elements i of a plane, including the padding of its rows. */
template <typename TOperation>
void
ForEachElement(const DeviceView & planes, const TOperation & operation, const Context & context)
{
  const size_t count = planes.Stride[3] * planes.Size[3];
  if (count > 0)
  {
    ITK_CUDA_CALL(LaunchKernel(ForEachElementKernel<TOperation>,
                               MakeGrid(DivideUp(count, ThreadsOfBlock)),
                               dim3(ThreadsOfBlock),
                               0,
                               context.GetStream(),
                               operation,
                               count));
  }
}

/** Calls function(value) with the value as a std::bool_constant. */
template <typename TFunction>
void
VisitBool(bool value, const TFunction & function)
{
  if (value)
  {
    function(std::true_type());
  }
  else
  {
    function(std::false_type());
  }
}

/** Calls function(zero, dimension), where `zero` has the type of the components, and `dimension`, 2 or 3, is a
 * std::integral_constant. */
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
} // namespace itk::cuda::pointwise

#endif

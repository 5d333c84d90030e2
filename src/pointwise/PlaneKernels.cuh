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

// Common parts of the pointwise kernels, which use one thread for each pixel and store components as planes.

namespace itk::cuda::pointwise
{
constexpr unsigned int ThreadsOfBlock = 256;

/** The planes of an image. Plane c begins at Data + c * Stride. */
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

template <typename T>
Planes<T>
GetPlanes(const DeviceView & view)
{
  return { static_cast<T *>(view.Data), view.Stride.back() };
}

/** Returns the number of elements of a plane, including the padding of its rows. */
inline size_t
GetPlaneLength(const DeviceView & view)
{
  return view.Stride[3] * view.Size[3];
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

/** Launches a kernel with one thread for each element of a plane, including padding. */
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

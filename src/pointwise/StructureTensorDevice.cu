// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailTensorEngine.h"
#include "pointwise/PlaneKernels.cuh"
#include "pointwise/StructureMeasures.h"
#include "pointwise/TensorDevice.h"

// Implements the pointwise steps of structure tensors on the device. The mathematics is in StructureMeasures.h,
// which the host uses, too.

namespace itk::cuda::pointwise
{
namespace
{
template <typename T, unsigned int VDimension>
struct ComputeGradientProducts
{
  // Products may be in the same memory as components, because a thread reads all its components before it writes its
  // products.
  const T * Gradient[VDimension];
  T *       Products[TensorComponents<VDimension>];

  __device__ void
  operator()(size_t i) const
  {
    T gradient[VDimension];
#pragma unroll
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      gradient[d] = Gradient[d][i];
    }
    T products[TensorComponents<VDimension>];
    GetGradientProducts<VDimension>(gradient, products);
#pragma unroll
    for (unsigned int c = 0; c < TensorComponents<VDimension>; ++c)
    {
      Products[c][i] = products[c];
    }
  }
};

template <typename T, unsigned int VDimension, StructureQuantity VQuantity>
struct ComputeStructureQuantity
{
  Planes<const T> Tensors;
  Planes<T>       Output;

  __device__ void
  operator()(size_t i) const
  {
    constexpr unsigned int results = VQuantity == StructureQuantity::Coherence ? 1 : VDimension;
    T                      tensor[TensorComponents<VDimension>];
    LoadTensor(Tensors, i, tensor);
    T result[VDimension];
    GetStructureQuantity<VDimension>(VQuantity, tensor, result);
#pragma unroll
    for (unsigned int c = 0; c < results; ++c)
    {
      Output.At(c, i) = result[c];
    }
  }
};
} // namespace

void
RunGradientProducts(const std::vector<DeviceView> & gradient,
                    const std::vector<DeviceView> & products,
                    const Context &                 context)
{
  const auto dimension = static_cast<unsigned int>(gradient.size());
  if ((dimension != 2 && dimension != 3) || products.size() != CudaTensorComponents(dimension))
  {
    itkGenericExceptionMacro("A gradient of " << dimension << " components and " << products.size()
                                              << " products; there must be 2 and 3, or 3 and 6");
  }
  for (const auto * images : { &gradient, &products })
  {
    for (const DeviceView & image : *images)
    {
      VerifySameRows(gradient.front(), image);
    }
  }
  VisitTypes(gradient.front().ComponentType, dimension, [&](auto zero, auto rows) {
    using T = decltype(zero);
    constexpr unsigned int        d = decltype(rows)::value;
    ComputeGradientProducts<T, d> compute;
    for (unsigned int i = 0; i < d; ++i)
    {
      compute.Gradient[i] = static_cast<const T *>(gradient[i].Data);
    }
    for (unsigned int c = 0; c < TensorComponents<d>; ++c)
    {
      compute.Products[c] = static_cast<T *>(products[c].Data);
    }
    ForEachElement(gradient.front(), compute, context);
  });
}

void
RunStructureQuantity(StructureQuantity  quantity,
                     unsigned int       dimension,
                     const DeviceView & tensors,
                     const DeviceView & output,
                     const Context &    context)
{
  const unsigned int results = quantity == StructureQuantity::Coherence ? 1 : dimension;
  CudaVerifyTensorComponents(dimension, results, tensors.Size.back(), output.Size.back());
  VerifySameRows(tensors, output);
  VisitTypes(tensors.ComponentType, dimension, [&](auto zero, auto rows) {
    using T = decltype(zero);
    constexpr unsigned int d = decltype(rows)::value;
    switch (quantity)
    {
      case StructureQuantity::Orientation:
        ForEachElement(
          tensors, ComputeStructureQuantity<T, d, StructureQuantity::Orientation>{ tensors, output }, context);
        break;
      case StructureQuantity::Coherence:
        ForEachElement(
          tensors, ComputeStructureQuantity<T, d, StructureQuantity::Coherence>{ tensors, output }, context);
        break;
      default:
        ForEachElement(
          tensors, ComputeStructureQuantity<T, d, StructureQuantity::Eigenvalues>{ tensors, output }, context);
    }
  });
}
} // namespace itk::cuda::pointwise

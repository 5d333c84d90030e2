// SPDX-License-Identifier: Apache-2.0
#include "snake/itkCudaSnakeDeviceMath.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"

namespace itk::cuda::region
{
namespace
{
struct TakeLog
{
  __device__ double
  operator()(double x) const
  {
    return Log(x);
  }
};

struct TakeCriterion
{
  __device__ CriterionValue
  operator()(const CriterionCase & input) const
  {
    return Evaluate(input);
  }
};

template <typename TIn, typename TOut, typename TFunction>
__global__ void
MapKernel(const TIn * in, TOut * out, size_t number, TFunction function)
{
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < number)
  {
    out[i] = function(in[i]);
  }
}

template <typename TOut, typename TIn, typename TFunction>
std::vector<TOut>
MapOnDevice(const std::vector<TIn> & values, int device, const TFunction & function)
{
  constexpr unsigned int threads = 256;
  const DeviceGuard      guard(device);
  StreamLease            stream(device);
  const size_t           number = values.size();
  const DeviceBuffer     in(number * sizeof(TIn), stream);
  const DeviceBuffer     out(number * sizeof(TOut), stream);
  std::vector<TOut>      results(number);
  ITK_CUDA_CALL(
    cudaMemcpyAsync(in.GetPointer(), values.data(), number * sizeof(TIn), cudaMemcpyHostToDevice, stream.GetStream()));
  ITK_CUDA_CALL(LaunchKernel(MapKernel<TIn, TOut, TFunction>,
                             dim3(static_cast<unsigned int>((number + threads - 1) / threads)),
                             dim3(threads),
                             0,
                             stream.GetStream(),
                             static_cast<const TIn *>(in.GetPointer()),
                             static_cast<TOut *>(out.GetPointer()),
                             number,
                             function));
  ITK_CUDA_CALL(cudaMemcpyAsync(
    results.data(), out.GetPointer(), number * sizeof(TOut), cudaMemcpyDeviceToHost, stream.GetStream()));
  stream.Synchronize();
  return results;
}
} // namespace

std::vector<double>
LogOnDevice(const std::vector<double> & values, int device)
{
  return MapOnDevice<double>(values, device, TakeLog());
}

std::vector<CriterionValue>
EvaluateOnDevice(const std::vector<CriterionCase> & cases, int device)
{
  return MapOnDevice<CriterionValue>(cases, device, TakeCriterion());
}
} // namespace itk::cuda::region

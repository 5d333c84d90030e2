// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_Operation_h
#define CudaFilters_runtime_run_Operation_h

#include "itkCudaDetailOperation.h"
#include "runtime/DetailNames.h"

#include <memory>

namespace itk::cuda
{
/** Returns the part of the plan's operation that runs on the device, or nullptr in a build without CUDA. The algorithm
 * refers to the plan. */
std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaDetail::CudaEigenPlan & plan);
std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaDetail::CudaGaussianFirPlan & plan);
std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaDetail::CudaGaussianPlan & plan);
std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaDetail::CudaHessianMeasure & plan);
std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaDetail::CudaPartitionedGaussianPlan & plan);
std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaDetail::CudaStructureTensorPlan & plan);

/** Returns a function that calls run(plan, input, output, threader, progress). */
template <typename TRun, typename TPlan>
CudaDetail::CudaOperation::HostRun
BindHostRun(const TRun & run, const TPlan & plan)
{
  return [run, &plan](const auto & input, const auto & output, MultiThreaderBase * threader, const auto & progress) {
    run(plan, input, output, threader, progress);
  };
}
} // namespace itk::cuda

#endif

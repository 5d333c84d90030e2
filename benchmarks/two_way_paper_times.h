// SPDX-License-Identifier: Apache-2.0
#ifndef two_way_paper_times_h
#define two_way_paper_times_h

#include "itkCudaDetailPartitionedGaussianEngine.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace benchmark_two_way
{
/** The time of the filter for one square float image. */
struct Time
{
  size_t                                       Side;
  itk::CudaDetail::CudaPartitionedGaussianPlan Plan;
  double                                       Milliseconds;
};

using Report = std::function<void(const Time &)>;

/** Returns the plan for both axes of a square image. With 0 blocks their number is chosen automatically. */
itk::CudaDetail::CudaPartitionedGaussianPlan
MakePlan(size_t                                     side,
         itk::CudaFiltersEnums::Partition           partition,
         itk::CudaFiltersEnums::IntermediateStorage storage,
         unsigned int                               linesPerBlock,
         size_t                                     blocks);

/** Report medians of repeated runs: on the device, of all launches of one filtering of a device-resident image; on the
 * host, of the filter on all cores. MeasureOnDevice() returns the device's name, or an empty name and the reason. */
std::string
MeasureOnDevice(const std::vector<size_t> & sides, std::string & reason, const Report & report);
std::string
MeasureOnHost(const std::vector<size_t> & sides, const Report & report);
} // namespace benchmark_two_way

#endif

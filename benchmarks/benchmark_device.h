// SPDX-License-Identifier: Apache-2.0
#ifndef benchmark_device_h
#define benchmark_device_h

#include "itkCudaFiltersConfiguration.h"

#include <benchmark/benchmark.h>

#include <string>

namespace benchmark_filters
{
/** Returns whether the device cannot be used, and if so skips the row with the reason. -1 is the default device of
 * filters. */
inline bool
IsDeviceMissing(benchmark::State & state, int device = -1)
{
  std::string reason;
  const bool  missing = !itk::CudaFiltersConfiguration::IsDeviceUsable(device, reason);
  if (missing)
  {
    state.SkipWithError(reason.c_str());
  }
  return missing;
}
} // namespace benchmark_filters

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef benchmark_device_h
#define benchmark_device_h

#include "itkCudaFiltersConfiguration.h"

#include <benchmark/benchmark.h>

#include <string>

namespace benchmark_filters
{
/** Whether the device cannot be used; the row is skipped then, with the reason. -1: that of new filters. */
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

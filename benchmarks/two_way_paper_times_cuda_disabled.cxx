// SPDX-License-Identifier: Apache-2.0
#include "two_way_paper_times.h"

// Replaces the measurements on the device in a build without CUDA.

namespace benchmark_two_way
{
std::string
MeasureOnDevice(const std::vector<size_t> &, std::string & reason, const Report &)
{
  reason = "built without CUDA";
  return {};
}
} // namespace benchmark_two_way

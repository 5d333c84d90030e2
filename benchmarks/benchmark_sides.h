// SPDX-License-Identifier: Apache-2.0
#ifndef benchmark_sides_h
#define benchmark_sides_h

#include <cstdint>
#include <vector>

namespace benchmark_filters
{
using Sides = std::vector<int64_t>;

/** Sides of square and cubic images for filters that are not measured at all sizes. */
inline const Sides Sides2D{ 128, 256, 1024, 4096, 8192 };
inline const Sides Sides3D{ 32, 64, 256, 512 };
} // namespace benchmark_filters

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef benchmark_sides_h
#define benchmark_sides_h

#include <cstdint>
#include <vector>

namespace benchmark_filters
{
using Sides = std::vector<int64_t>;

/** Square and cubic images of filters that are not measured at every size: small, large, and between. */
inline const Sides Sides2D{ 128, 256, 1024, 4096, 8192 };
inline const Sides Sides3D{ 32, 64, 256, 512 };
} // namespace benchmark_filters

#endif

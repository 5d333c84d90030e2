// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_FormatBytes_h
#define CudaFilters_runtime_memory_FormatBytes_h

#include <cstddef>
#include <iomanip>
#include <sstream>
#include <string>

namespace itk::cuda
{
/** Formats a number of bytes for people to read, such as "2.1 GiB". The text is exact below 1024. */
inline std::string
FormatBytes(size_t bytes)
{
  static constexpr const char * units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
  double                        value = static_cast<double>(bytes);
  size_t                        unit = 0;
  while (value >= 1024.0 && unit + 1 < sizeof(units) / sizeof(units[0]))
  {
    value /= 1024.0;
    ++unit;
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(unit == 0 || value >= 100.0 ? 0 : 1) << value << ' ' << units[unit];
  return text.str();
}
} // namespace itk::cuda

#endif

// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/FormatBytes.h"
#include "itkCudaSlabs.h"

#include <array>

// Prints the report of a run in slabs.

namespace itk
{
std::string
CudaSlabScheduleToString(CudaSlabReport::Schedule schedule)
{
  constexpr std::array<const char *, 5> names{ { "Whole", "Overlapped", "OneSweep", "TwoSweeps", "Columns" } };
  return schedule < names.size() ? names[schedule] : "INVALID VALUE FOR itk::CudaSlabReport::Schedule";
}

std::ostream &
operator<<(std::ostream & out, const CudaSlabReport & report)
{
  out << CudaSlabScheduleToString(report.Used) << (report.OnHost ? " on the host" : "") << ", " << report.NumberOfSlabs
      << (report.NumberOfSlabs == 1 ? " slab" : " slabs");
  if (report.ChunksPerSlab > 0)
  {
    out << " of up to " << report.ChunksPerSlab * CudaSlabChunkLength << " planes";
  }
  if (report.LookAhead > 0)
  {
    out << ", look-ahead " << report.LookAhead * CudaSlabChunkLength << " planes";
  }
  if (!report.OnHost)
  {
    out << ", devices";
    for (const int device : report.Devices)
    {
      out << ' ' << device;
    }
    out << ", " << cuda::FormatBytes(report.BytesUp) << " up, " << cuda::FormatBytes(report.BytesDown) << " down, "
        << cuda::FormatBytes(report.BytesBetween) << " between queues, at most "
        << cuda::FormatBytes(report.PeakDeviceBytes) << " held";
  }
  return out;
}
} // end namespace itk

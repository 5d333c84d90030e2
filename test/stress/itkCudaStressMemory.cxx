// SPDX-License-Identifier: Apache-2.0
#include "itkCudaStressMemory.h"

#include "itkCudaDetailHostMemoryPool.h"
#include "itkCudaFiltersConfiguration.h"

#include <fstream>
#include <malloc.h>
#include <sstream>
#include <unistd.h>

namespace itk::cuda::test
{
namespace
{
/** The second number of /proc/self/statm counts pages. */
size_t
GetResidentBytes()
{
  std::ifstream file("/proc/self/statm");
  size_t        all = 0;
  size_t        resident = 0;
  file >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}
} // namespace

StressMemory
GetStressMemory()
{
  return { CudaFiltersConfiguration::GetDeviceBytesInUse(),
           CudaFiltersConfiguration::GetPinnedBytesInUse(),
           CudaDetail::CudaHostMemoryPool::GetBytesInUse(),
           GetResidentBytes() };
}

void
ReleaseUnusedStressMemory()
{
  CudaFiltersConfiguration::ReleaseMemory();
  malloc_trim(0);
}

std::string
CompareStressMemoryInUse(const StressMemory & before, const StressMemory & now)
{
  std::ostringstream text;
  const auto         compare = [&text](const char * what, size_t was, size_t is) {
    if (is != was)
    {
      text << what << " in use: " << is << " bytes, before " << was << '\n';
    }
  };
  compare("device memory", before.Device, now.Device);
  compare("pinned memory", before.Pinned, now.Pinned);
  compare("host memory", before.Host, now.Host);
  return text.str();
}

std::string
CompareStressMemory(const StressMemory & before, const StressMemory & now, uint64_t calls)
{
  std::ostringstream text;
  text << CompareStressMemoryInUse(before, now);
  const size_t growth = now.Resident > before.Resident ? now.Resident - before.Resident : 0;
  const size_t allowed = StressResidentBytesPerCall * calls + StressResidentBytesBeside;
  if (growth > allowed)
  {
    text << "resident memory: " << growth << " bytes more after " << calls << " calls; at most " << allowed
         << " are allowed, " << StressResidentBytesPerCall << " for each call and " << StressResidentBytesBeside
         << " beside\n";
  }
  return text.str();
}
} // namespace itk::cuda::test

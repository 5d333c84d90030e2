// SPDX-License-Identifier: Apache-2.0
#include "runtime/Process.h"

#include <atomic>

#ifdef _WIN32
#  include <process.h>
#else
#  include <unistd.h>
#endif

// Tells the process that uses CUDA from its forked children, by the process identifier that RegisterCudaProcess()
// records.

namespace itk::cuda
{
namespace
{
// This is an atomic, not a lock, because another thread could have held a lock when the process was forked.
std::atomic<long> claimedProcess{ 0 };
} // namespace

long
GetProcessId()
{
#ifdef _WIN32
  return _getpid();
#else
  return getpid();
#endif
}

void
RegisterCudaProcess()
{
  long nobody = 0;
  claimedProcess.compare_exchange_strong(nobody, GetProcessId());
}

bool
IsCudaProcess()
{
  return claimedProcess == GetProcessId();
}

bool
IsForkedProcess()
{
  const long claimed = claimedProcess;
  return claimed != 0 && claimed != GetProcessId();
}
} // namespace itk::cuda

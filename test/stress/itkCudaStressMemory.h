// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStressMemory_h
#define itkCudaStressMemory_h

#include <cstddef>
#include <cstdint>
#include <string>

namespace itk::cuda::test
{
/** Memory in bytes that outputs and transfers hold, and that of the whole process. */
struct StressMemory
{
  size_t Device{ 0 };
  size_t Pinned{ 0 };
  size_t Host{ 0 };
  size_t Resident{ 0 };
};

/** What is in use now. */
StressMemory
GetStressMemory();

/** Gives back what is kept for reuse, by the module and by the C library: then the resident memory is that in use. */
void
ReleaseUnusedStressMemory();

/** Growth of the resident memory that is no leak, for each call and beside it: the C library, ITK's threads and the
 * driver keep some pages, whose number does not depend on the number of calls. */
constexpr size_t StressResidentBytesPerCall = 1024;
constexpr size_t StressResidentBytesBeside = size_t{ 8 } << 20;

/** What is wrong with the memory in words, a line for each; empty if it is as it was. */
std::string
CompareStressMemoryInUse(const StressMemory & before, const StressMemory & now);

/** As above, with the resident memory, after so many calls. */
std::string
CompareStressMemory(const StressMemory & before, const StressMemory & now, uint64_t calls);
} // namespace itk::cuda::test

#endif

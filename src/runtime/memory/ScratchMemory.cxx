// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/ScratchMemory.h"

#include "runtime/Process.h"
#include "runtime/memory/FormatBytes.h"
#include "itkMacro.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#ifdef __linux__
#  include <fcntl.h>
#  include <sys/mman.h>
#  include <unistd.h>
#endif

// Implements ScratchMemory by files that are mapped into memory.

namespace itk::cuda
{
namespace
{
#ifdef __linux__
/** Maps a new file without a name. Returns nullptr and sets `error` if that is not possible. Reserves the blocks of the
 * file, because a full disk would otherwise end the process when a page is written. */
void *
MapFile(const std::string & folder, size_t bytes, int & error)
{
  std::string name = folder + "/itk-cudafilters-XXXXXX";
  const int   file = mkostemp(name.data(), O_CLOEXEC);
  if (file < 0)
  {
    error = errno;
    return nullptr;
  }
  unlink(name.c_str());
  do
  {
    error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  void * memory = MAP_FAILED;
  if (error == 0)
  {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    error = errno;
  }
  close(file);
  return memory == MAP_FAILED ? nullptr : memory;
}

void
UnmapFile(void * memory, size_t bytes)
{
  munmap(memory, bytes);
}
#else
void *
MapFile(const std::string &, size_t, int & error)
{
  error = ENOSYS;
  return nullptr;
}

void
UnmapFile(void *, size_t)
{}
#endif
} // namespace

ScratchMemory::ScratchMemory(size_t bytes)
{
  if (bytes < MinimumBytesOfFile)
  {
    m_Pointer = ::operator new(bytes);
    return;
  }
  const char * const folder = std::getenv("ITK_CUDAFILTERS_SCRATCH");
  if (folder == nullptr || *folder == '\0')
  {
    m_Pointer = bytes > GetCgroupMemoryLimit().value_or(bytes) ? nullptr : ::operator new(bytes, std::nothrow);
    if (m_Pointer == nullptr)
    {
      itkGenericExceptionMacro("An array of "
                               << FormatBytes(bytes)
                               << " does not fit into the memory. If the environment variable ITK_CUDAFILTERS_SCRATCH "
                                  "names a folder on a disk, such arrays lie in files there");
    }
    return;
  }
  int error = 0;
  m_Pointer = MapFile(folder, bytes, error);
  if (m_Pointer == nullptr)
  {
    itkGenericExceptionMacro("The environment variable ITK_CUDAFILTERS_SCRATCH is \""
                             << folder << "\"; it must be a folder that can take a file of " << FormatBytes(bytes)
                             << ": " << std::strerror(error));
  }
  m_BytesOfFile = bytes;
}

ScratchMemory::~ScratchMemory()
{
  if (m_BytesOfFile > 0)
  {
    UnmapFile(m_Pointer, m_BytesOfFile);
  }
  else
  {
    ::operator delete(m_Pointer);
  }
}
} // namespace itk::cuda

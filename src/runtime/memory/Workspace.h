// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_Workspace_h
#define CudaFilters_runtime_memory_Workspace_h

#include "runtime/image/Math.h"
#include "itkMacro.h"

#include <algorithm>
#include <cstddef>

namespace itk::cuda
{
/** \class Workspace
 * \brief Device memory for the temporary data of a run, handed out piece by piece.
 *
 * The class is plain data and owns nothing. A function that takes it by value gives its pieces back when it returns.
 * Stream order keeps the next function's work from overwriting them before this function's work is done.
 */
class Workspace
{
public:
  static constexpr size_t Alignment = 256;

  Workspace() = default;

  /** Hands out the `bytes` bytes at `memory`, which must be aligned to Alignment. */
  Workspace(void * memory, size_t bytes)
    : m_Next(static_cast<unsigned char *>(memory))
    , m_Left(bytes)
  {}

  /** Returns the bytes that Take(bytes) uses if another piece follows. */
  static constexpr size_t
  GetPieceSize(size_t bytes)
  {
    return RoundUp(bytes, Alignment);
  }

  /** Returns memory of that size, or nullptr if `bytes` is 0.
   * \exception ExceptionObject if less memory is left */
  void *
  Take(size_t bytes)
  {
    if (bytes > m_Left)
    {
      itkGenericExceptionMacro("The workspace has " << m_Left << " bytes left; " << bytes << " are needed");
    }
    const size_t          piece = std::min(GetPieceSize(bytes), m_Left);
    unsigned char * const memory = m_Next;
    m_Next += piece;
    m_Left -= piece;
    return bytes == 0 ? nullptr : memory;
  }

private:
  unsigned char * m_Next{ nullptr };
  size_t          m_Left{ 0 };
};
} // namespace itk::cuda

#endif

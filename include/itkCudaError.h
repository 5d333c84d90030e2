// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaError_h
#define itkCudaError_h

#include "CudaFiltersExport.h"
#include "itkMacro.h"

#include <cstddef>
#include <string>

namespace itk
{
/** \class CudaError
 * \brief The exception for a failed CUDA call, or for a requested GPU that cannot be used.
 *
 * The description names the call, CUDA's name of the error and its text. If memory ran out, it also names the bytes
 * requested, the bytes free and the limit in force. The filter that threw can be run again, because it leaves no memory
 * allocated and no state half changed.
 *
 * \ingroup CudaFilters
 */
class CudaFilters_EXPORT CudaError : public ExceptionObject
{
public:
  /** The kind of failure, for callers that react to it. */
  enum class Kind : uint8_t
  {
    NotUsable,   // no driver, driver too old, no device, index out of range, built without CUDA
    OutOfMemory, // device or pinned memory; the host may still do the work
    CallFailed   // any other error of a CUDA call
  };

  /** Creates the exception for a failure at that line of a source. */
  CudaError(const char * file, unsigned int line, Kind kind, const std::string & description);
  ~CudaError() noexcept override;

  /** Copies share the description. */
  CudaError(const CudaError &) noexcept = default;
  CudaError &
  operator=(const CudaError &) noexcept = default;

  const char *
  GetNameOfClass() const override
  {
    return "CudaError";
  }

  /** Returns the kind of failure. */
  Kind
  GetKind() const
  {
    return m_Kind;
  }

private:
  Kind m_Kind{ Kind::CallFailed };
};
} // end namespace itk

#endif

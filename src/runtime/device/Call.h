// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_device_Call_h
#define CudaFilters_runtime_device_Call_h

#include "CudaFiltersExport.h"
#include "itkCudaError.h"

#include <atomic>
#include <cstddef>
#include <cuda_runtime.h>
#include <string>
#include <utility>

/** Evaluates an expression of type cudaError_t and throws itk::CudaError if it fails. Every CUDA call goes through this
 * macro or one of the two below. A kernel launch is the expression itk::cuda::LaunchKernel(...). */
#define ITK_CUDA_CALL(...) \
  ::itk::cuda::CheckedCall(#__VA_ARGS__, __FILE__, __LINE__, [&]() -> cudaError_t { return (__VA_ARGS__); })

/** Evaluates an expression of type cudaError_t, clears the error and returns it. It is meant for calls that may fail
 * because the caller has an alternative. */
#define ITK_CUDA_TRY(...) ::itk::cuda::OptionalCall(#__VA_ARGS__, [&]() -> cudaError_t { return (__VA_ARGS__); })

/** Evaluates an expression of type cudaError_t that releases something or waits in a destructor. Errors are dropped,
 * including the errors of a runtime that is shutting down. The fault hook does not count these calls. */
#define ITK_CUDA_CALL_NOTHROW(...) ::itk::cuda::UncheckedCall((__VA_ARGS__))

namespace itk::cuda
{
/** \class FaultHook
 * \brief Makes a CUDA call fail instead of executing it, so that tests can exercise error handling.
 *
 * The hook applies to the whole process. All functions may be called from any thread.
 */
class CudaFilters_EXPORT FaultHook
{
public:
  /** Restarts the count of calls at 1 and makes the n-th call return `error` without being executed. With n = 0 no call
   * fails. */
  static void
  FailCall(unsigned long n, cudaError_t error);

  /** Stops counting. GetNumberOfCalls(), GetFired() and GetCall() keep their last values. */
  static void
  Clear();

  /** Returns the number of calls since FailCall(). */
  static unsigned long
  GetNumberOfCalls();

  /** Returns whether the n-th call was reached. */
  static bool
  GetFired();

  /** Returns the source text of the call that was made to fail, or an empty string if no call has failed yet. */
  static std::string
  GetCall();

  /** Returns whether calls are being counted. */
  static bool
  IsActive()
  {
    return s_Active.load(std::memory_order_relaxed);
  }

  /** Counts one call. Returns cudaSuccess unless this is the call that should fail. */
  static cudaError_t
  Count(const char * call);

private:
  static std::atomic<bool> s_Active;
};

/** Clears the runtime's last error and throws itk::CudaError. The definition is in the library because device code must
 * not include ITK headers. */
[[noreturn]] CudaFilters_EXPORT void
ThrowCudaError(cudaError_t error, const char * call, const char * file, unsigned int line);

/** Throws itk::CudaError of kind OutOfMemory with the requested and available bytes and the limit in its message. A
 * `limit` of 0 means no limit. */
[[noreturn]] CudaFilters_EXPORT void
ThrowOutOfMemory(const char * call, size_t asked, size_t available, size_t limit, const char * file, unsigned int line);

/** Throws itk::CudaError of kind NotUsable. */
[[noreturn]] CudaFilters_EXPORT void
ThrowNotUsable(const std::string & reason, const char * file, unsigned int line);

/** Looks up a driver function with the interface that it had in CUDA `version` (1000 * major + 10 * minor). `function`
 * becomes nullptr if the driver does not have it. The lookup goes through the runtime because the library is not linked
 * to the driver. */
CudaFilters_EXPORT cudaError_t
FindDriverFunction(const char * name, unsigned int version, void ** function);

/** Clears the runtime's last error. Otherwise a later call would report it again. */
CudaFilters_EXPORT void
ClearLastError();

template <typename TCall>
cudaError_t
EvaluateCall(const char * text, TCall && call)
{
  if (FaultHook::IsActive())
  {
    const cudaError_t error = FaultHook::Count(text);
    if (error != cudaSuccess)
    {
      return error;
    }
  }
  return call();
}

template <typename TCall>
void
CheckedCall(const char * text, const char * file, unsigned int line, TCall && call)
{
  const cudaError_t error = EvaluateCall(text, std::forward<TCall>(call));
  if (error != cudaSuccess)
  {
    ThrowCudaError(error, text, file, line);
  }
}

template <typename TCall>
cudaError_t
OptionalCall(const char * text, TCall && call)
{
  const cudaError_t error = EvaluateCall(text, std::forward<TCall>(call));
  if (error != cudaSuccess)
  {
    ClearLastError();
  }
  return error;
}

inline cudaError_t
UncheckedCall(cudaError_t error) noexcept
{
  if (error != cudaSuccess)
  {
    ClearLastError();
  }
  return error;
}

template <typename... TParameters>
cudaError_t
LaunchWithParameters(const cudaLaunchConfig_t & configuration,
                     void (*kernel)(TParameters...),
                     TParameters... parameters)
{
  static_assert(sizeof...(TParameters) > 0, "A kernel without parameters has nothing to work on");
  void * pointers[] = { const_cast<void *>(static_cast<const void *>(&parameters))... };
  return cudaLaunchKernelExC(&configuration, reinterpret_cast<const void *>(kernel), pointers);
}

/** Launches a kernel and converts the arguments to the types of the kernel's parameters. The stream's device must be
 * the current device. */
template <typename... TParameters, typename... TArguments>
cudaError_t
LaunchKernel(void (*kernel)(TParameters...),
             dim3         grid,
             dim3         block,
             size_t       dynamicSharedBytes,
             cudaStream_t stream,
             TArguments &&... arguments)
{
  static_assert(sizeof...(TParameters) == sizeof...(TArguments), "As many arguments as the kernel has parameters");
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = grid;
  configuration.blockDim = block;
  configuration.dynamicSmemBytes = dynamicSharedBytes;
  configuration.stream = stream;
  return LaunchWithParameters<TParameters...>(configuration, kernel, std::forward<TArguments>(arguments)...);
}

/** Calls a function that waits for queued work or runs after it. If it fails with kind CallFailed, the cause may be a
 * kernel that was queued long ago, so a hint about that is appended to the exception's description. */
template <typename TFunction>
void
WithEarlierFailures(const TFunction & function)
{
  try
  {
    function();
  }
  catch (const CudaError & error)
  {
    if (error.GetKind() != CudaError::Kind::CallFailed)
    {
      throw;
    }
    throw CudaError(error.GetFile(),
                    error.GetLine(),
                    error.GetKind(),
                    error.GetDescription() + std::string("; an earlier kernel may have failed: with "
                                                         "ITK_CUDAFILTERS_SYNCHRONOUS=1 in the environment the filter "
                                                         "whose kernel it was reports it"));
  }
}
} // namespace itk::cuda

#endif

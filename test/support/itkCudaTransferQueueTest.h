// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaTransferQueueTest_h
#define itkCudaTransferQueueTest_h

#include "support/itkCudaRuntimeTestHelpers.h"
#include "runtime/transfer/StagingMemory.h"
#include "runtime/device/Stream.h"

#include <exception>
#include <string>

namespace itk::cuda::test
{
/** The stream and the staging that the transfers of a queue share. */
struct QueueLane
{
  explicit QueueLane(bool isBidirectional)
    : Staging(Stream)
  {
    Staging.SetIsBidirectional(isBidirectional);
  }

  const StreamLease Stream{ device };
  StagingMemory     Staging;
};

/** Returns the description of an exception, or an empty string if there is no exception. */
inline std::string
GetReason(const std::exception_ptr & error)
{
  try
  {
    error ? std::rethrow_exception(error) : void();
  }
  catch (const std::exception & exception)
  {
    return exception.what();
  }
  return "";
}
} // namespace itk::cuda::test

#endif

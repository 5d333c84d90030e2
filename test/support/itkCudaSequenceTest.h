// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSequenceTest_h
#define itkCudaSequenceTest_h

#include "runtime/transfer/HelperThreads.h"
#include "support/itkCudaRuntimeTestHelpers.h"
#include "runtime/transfer/StagingMemory.h"
#include "runtime/device/Stream.h"

#include <exception>
#include <string>

namespace itk::cuda::test
{
/** The stream, the staging and the threads that the transfers of a sequence share. */
struct SequenceLane
{
  explicit SequenceLane(bool isBidirectional)
    : Staging(Stream)
  {
    Staging.SetIsBidirectional(isBidirectional);
    Staging.SetKeepsSlots(true);
    Staging.SetHelpers(&Helpers);
  }

  const StreamLease Stream{ device };
  HelperThreads     Helpers{ true };
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

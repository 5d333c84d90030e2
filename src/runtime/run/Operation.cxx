// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/Operation.h"

// Runs operations on the host.

namespace itk::CudaDetail
{
void
CudaRunOnHost(const CudaOperation &        operation,
              const CudaImageView &        input,
              const CudaImageView &        output,
              MultiThreaderBase *          threader,
              const CudaProgressFunction & progress)
{
  operation.GetHostRun()(input, output, threader, progress);
}
} // end namespace itk::CudaDetail

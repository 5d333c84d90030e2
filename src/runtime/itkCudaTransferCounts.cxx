// SPDX-License-Identifier: Apache-2.0
#include "itkCudaTransferCounts.h"

#include <atomic>

namespace itk::cuda
{
namespace
{
std::atomic<unsigned long> uploads{ 0 };
std::atomic<unsigned long> downloads{ 0 };
std::atomic<unsigned long> uploadedBytes{ 0 };
std::atomic<unsigned long> downloadedBytes{ 0 };
} // namespace

TransferCounts
GetTransferCounts()
{
  return { uploads, downloads, uploadedBytes, downloadedBytes };
}

void
CountTransfer(TransferDirection direction, size_t bytes)
{
  const bool isUpload = direction == TransferDirection::Upload;
  ++(isUpload ? uploads : downloads);
  (isUpload ? uploadedBytes : downloadedBytes) += bytes;
}
} // namespace itk::cuda

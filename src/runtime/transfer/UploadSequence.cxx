// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/UploadSequence.h"

#include "runtime/transfer/HelperThreads.h"
#include "runtime/transfer/PinnedTransfer.h"
#include "runtime/transfer/StagedTransfer.h"
#include "runtime/transfer/TransferJob.h"
#include "runtime/transfer/TransferLayout.h"
#include "runtime/transfer/TransferPolicy.h"

#include <memory>
#include <mutex>
#include <vector>

// Implements UploadSequence. Its threads fill slots of page-locked memory for one upload after the other.

namespace itk::cuda
{
/** The state of the uploads during Run(). The first thread that reaches an upload creates it. */
class UploadSequence::Uploads
{
public:
  Uploads(UploadSequence & sequence, size_t number, StagingMemory & staging, size_t workers)
    : m_Sequence(sequence)
    , m_Staging(staging)
    , m_Workers(workers)
    , m_Uploads(number)
  {}

  /** Does one thread's part of all uploads. Worker 0 is the calling thread. */
  void
  TakePart(unsigned int worker) noexcept
  {
    try
    {
      for (size_t index = 0; index < m_Uploads.size(); ++index)
      {
        StagedPerThread & upload = this->Get(index);
        upload.TakePart(worker);
        upload.ThrowIfFailed();
      }
    }
    catch (...)
    {
      m_Sequence.Stop(std::current_exception());
    }
  }

private:
  struct Upload
  {
    Upload(UploadSequence & sequence, size_t index, StagingMemory & staging, size_t workers)
      : Host(sequence.GetHost(index))
      , Device(sequence.GetDevice(index))
      , Rows{ GetNumberOfRows(Host),
              [&sequence, index](size_t, size_t) { sequence.MarkSent(index); },
              [&sequence, index] { sequence.Open(index); } }
      , Job(TransferDirection::Upload, Host, Device, staging, Progress, Rows)
      , Staged(Job, workers)
    {
      Staged.Begin();
    }

    const CudaImageView    Host;
    const DeviceView       Device;
    const TransferProgress Progress;
    const UploadCallbacks  Rows;
    TransferJob            Job;
    StagedPerThread        Staged;
  };

  StagedPerThread &
  Get(size_t index)
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (!m_Uploads[index])
    {
      m_Uploads[index] = std::make_unique<Upload>(m_Sequence, index, m_Staging, m_Workers);
    }
    return m_Uploads[index]->Staged;
  }

  UploadSequence & m_Sequence;
  StagingMemory &  m_Staging;
  const size_t     m_Workers;

  std::mutex                           m_Mutex;
  std::vector<std::unique_ptr<Upload>> m_Uploads;
};

bool
UploadSequence::Suits(const CudaImageView & host, const DeviceView & device)
{
  const TransferLayout layout = MakeTransferLayout(host, device);
  return layout.Direct && layout.NumberOfBytes > 0 && !CanCopyDirectly(StridedBytes(host, layout.Pitch));
}

void
UploadSequence::Run(size_t number, StagingMemory & staging)
{
  if (number == 0)
  {
    return;
  }
  HelperThreads &    helpers = *staging.GetHelpers();
  const unsigned int useful =
    GetUsefulThreads(TransferDirection::Upload, this->GetHost(0).GetNumberOfBytes(), staging.IsBidirectional());
  const unsigned int helping = helpers.Reserve(useful - 1);
  Uploads            uploads(*this, number, staging, helping + size_t{ 1 });
  helpers.Start(helping, [&uploads](unsigned int worker) { uploads.TakePart(worker); });
  uploads.TakePart(0);
  helpers.Join();
}
} // namespace itk::cuda

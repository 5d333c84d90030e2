// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPassChain_h
#define itkCudaPassChain_h

#include "itkCudaDeviceView.h"
#include "itkCudaWorkspace.h"

#include <cstddef>

namespace itk::cuda
{
/** \class PassChain
 * \brief The images of passes that each read what the one before wrote: two, in turn, the first of which is the input,
 * which is lost.
 *
 * The result of an even number of passes lies where the input lay, and a workspace of one image is needed; else it is
 * in the output.
 */
class PassChain
{
public:
  static bool
  EndsInInput(size_t numberOfPasses)
  {
    return numberOfPasses % 2 == 0;
  }

  /** Bytes that the chain takes of the workspace. */
  static size_t
  GetWorkspace(size_t numberOfPasses, size_t imageBytes)
  {
    return EndsInInput(numberOfPasses) ? imageBytes : 0;
  }

  PassChain(size_t             numberOfPasses,
            const DeviceView & input,
            const DeviceView & output,
            Workspace &        workspace,
            const Context &    context)
    : m_Images{ input, output }
  {
    if (EndsInInput(numberOfPasses))
    {
      m_Images[1] = input;
      m_Images[1].Data = workspace.Take(GetNumberOfBytes(input));
      ClearPadding(m_Images[1], context);
    }
  }

  const DeviceView &
  GetSource(size_t pass) const
  {
    return m_Images[pass % 2];
  }

  const DeviceView &
  GetDestination(size_t pass) const
  {
    return m_Images[(pass + 1) % 2];
  }

private:
  DeviceView m_Images[2];
};
} // namespace itk::cuda

#endif

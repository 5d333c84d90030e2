// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_PassChain_h
#define CudaFilters_runtime_run_PassChain_h

#include "runtime/image/DeviceView.h"
#include "runtime/memory/Workspace.h"
#include "runtime/memory/DeviceImage.h"

#include <cstddef>

namespace itk::cuda
{
/** \class PassChain
 * \brief The two images between which a chain of passes alternates (ping-pong buffers): each pass reads the result of
 * the previous pass, and the last pass writes the output.
 *
 * The passes write alternately to the output and to one other image. The other image is the input itself if the input
 * may be overwritten and the number of passes is odd; otherwise it comes from the workspace. If the input may be
 * overwritten and the number of passes is even, the output is the input.
 */
class PassChain
{
public:
  static bool
  EndsInInput(size_t numberOfPasses, bool keepInput)
  {
    return !keepInput && numberOfPasses % 2 == 0;
  }

  /** Returns the bytes that the chain takes from the workspace. */
  static size_t
  GetWorkspace(size_t numberOfPasses, bool keepInput, size_t imageBytes)
  {
    return NeedsImage(numberOfPasses, keepInput) ? imageBytes : 0;
  }

  PassChain(size_t             numberOfPasses,
            bool               keepInput,
            const DeviceView & input,
            const DeviceView & output,
            Workspace &        workspace,
            const Context &    context)
    : m_NumberOfPasses(numberOfPasses)
    , m_Input(input)
    , m_Output(output)
    , m_Other(input)
  {
    if (NeedsImage(numberOfPasses, keepInput))
    {
      m_Other = TakeImage(input, workspace);
      ClearPadding(m_Other, context);
    }
  }

  const DeviceView &
  GetSource(size_t pass) const
  {
    return pass == 0 ? m_Input : this->GetDestination(pass - 1);
  }

  const DeviceView &
  GetDestination(size_t pass) const
  {
    return (m_NumberOfPasses - 1 - pass) % 2 == 0 ? m_Output : m_Other;
  }

private:
  size_t     m_NumberOfPasses;
  DeviceView m_Input;
  DeviceView m_Output;
  DeviceView m_Other;

  static bool
  NeedsImage(size_t numberOfPasses, bool keepInput)
  {
    return keepInput ? numberOfPasses > 1 : numberOfPasses % 2 == 0;
  }
};
} // namespace itk::cuda

#endif

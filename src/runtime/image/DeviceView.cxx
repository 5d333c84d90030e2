// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/DeviceView.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"

#include <algorithm>

// Sets the padding of images on the device to zero.

namespace itk::cuda
{
namespace
{
constexpr size_t maximumPitch = 0x7fffffff; // bytes, a limit of two-dimensional operations that every device supports
constexpr size_t maximumRowsPerCall = size_t{ 1 } << 20;

/** Sets `width` bytes to zero in each of `rows` rows, starting at `first`. */
void
ClearColumn(char * first, size_t pitch, size_t width, size_t rows, const Context & context)
{
  const size_t rowsPerCall = pitch > maximumPitch ? 1 : maximumRowsPerCall;
  for (size_t row = 0; row < rows; row += rowsPerCall)
  {
    const size_t count = std::min(rowsPerCall, rows - row);
    char * const start = first + row * pitch;
    if (count == 1)
    {
      ITK_CUDA_CALL(cudaMemsetAsync(start, 0, width, context.GetStream()));
    }
    else
    {
      ITK_CUDA_CALL(cudaMemset2DAsync(start, pitch, 0, width, count, context.GetStream()));
    }
  }
}
} // namespace

void
ClearPadding(const DeviceView & view, const Context & context)
{
  const size_t bytes = CudaComponentSize(view.ComponentType);
  const size_t pitch = view.Stride[1] * bytes;
  const size_t rowBytes = view.Size[0] * bytes;
  if (pitch > rowBytes && view.Data)
  {
    const DeviceGuard guard(context.GetDevice());
    const size_t      rows = GetNumberOfBytes(view) / pitch;
    ClearColumn(static_cast<char *>(view.Data) + rowBytes, pitch, pitch - rowBytes, rows, context);
  }
}
} // namespace itk::cuda

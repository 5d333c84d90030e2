// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_LabelPixels_h
#define CudaFilters_executor_LabelPixels_h

#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"

#include <cstdint>

namespace itk::cuda::executor
{
/** Calls write(labels, stride) with the pixels of a view of UInt or UShort, on the host or on a device. */
template <typename TView, typename TWrite>
void
WithLabelPixels(const TView & labels, const TWrite & write)
{
  labels.ComponentType == CudaComponentType::UShort ? write(static_cast<uint16_t *>(labels.Data), labels.Stride[1])
                                                    : write(static_cast<uint32_t *>(labels.Data), labels.Stride[1]);
}
} // namespace itk::cuda::executor

#endif

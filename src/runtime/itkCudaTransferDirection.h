// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaTransferDirection_h
#define itkCudaTransferDirection_h

namespace itk::cuda
{
enum class TransferDirection
{
  Upload,
  Download
};
} // namespace itk::cuda

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHostPages_h
#define itkCudaHostPages_h

namespace itk::cuda
{
/** Whether the page of this address has memory. The system gives it with the first write, which takes longer for it.
 * True where the system does not tell. */
bool
IsPagePresent(const void * address);
} // namespace itk::cuda

#endif

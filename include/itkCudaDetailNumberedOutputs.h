// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailNumberedOutputs_h
#define itkCudaDetailNumberedOutputs_h

#include "itkProcessObject.h"

/** For filters whose outputs are numbered and differ in type, after `using Superclass::MakeOutput`. ProcessObject
 * replaces an output that was disconnected by its name. For every name ImageSource makes an image of the first output's
 * type. */
#define itkCudaNumberedOutputsMacro()                                                                                  \
  itk::ProcessObject::DataObjectPointer MakeOutput(const itk::ProcessObject::DataObjectIdentifierType & name) override \
  {                                                                                                                    \
    return this->IsIndexedOutputName(name) ? this->MakeOutput(this->MakeIndexFromOutputName(name))                     \
                                           : Superclass::MakeOutput(name);                                             \
  }                                                                                                                    \
  static_assert(true, "")

#endif

// SPDX-License-Identifier: Apache-2.0
#include "itkCudaError.h"

// Implements CudaError, for builds with and without CUDA.

namespace itk
{
CudaError::CudaError(const char * file, unsigned int line, Kind kind, const std::string & description)
  : ExceptionObject(file, line, description.c_str(), "itk::cuda")
  , m_Kind(kind)
{}

CudaError::~CudaError() noexcept = default;
} // end namespace itk

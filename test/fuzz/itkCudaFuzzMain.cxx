// SPDX-License-Identifier: Apache-2.0

// Connects libFuzzer with one target. An exception that is not a refusal ends the program, and libFuzzer keeps the
// input.

#include "itkCudaFuzzInput.h"

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t * data, size_t size)
{
  itk::cuda::test::FuzzInput input(data, size);
  itk::cuda::test::CUDAFILTERS_FUZZ_TARGET(input);
  return 0;
}

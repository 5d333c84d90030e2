// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianTestFilters_h
#define itkCudaGaussianTestFilters_h

#include "itkCudaFiltersConfiguration.h"
#include "itkImage.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"

#include <cstdlib>
#include <iostream>
#include <string>

namespace itk
{
constexpr int CudaTestSkipped = 77; // SKIP_RETURN_CODE of the tests

/** Reads `input`, runs the filter on the given backend and writes `output`. The test is skipped if the backend is
 * "cuda" and there is no GPU. */
template <typename TFilter>
int
RunCudaFilterTest(TFilter * filter, const std::string & input, const std::string & output, const std::string & backend)
{
  std::string reason;
  if (backend == "cuda" && !CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    std::cout << "skipped: " << reason << '\n';
    return CudaTestSkipped;
  }
  const auto reader = ImageFileReader<typename TFilter::InputImageType>::New();
  reader->SetFileName(input);
  filter->SetInput(reader->GetOutput());
  filter->SetBackend(backend);
  const auto writer = ImageFileWriter<typename TFilter::OutputImageType>::New();
  writer->SetFileName(output);
  writer->SetInput(filter->GetOutput());
  writer->Update();

  const std::string used = CudaBackendToString(filter->GetBackendUsed());
  std::cout << "backend used: " << used << " (" << filter->GetBackendReason() << ")\n";
  return used == CudaBackendToString(filter->GetBackend()) ? EXIT_SUCCESS : EXIT_FAILURE;
}
} // end namespace itk

#endif

// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersConfiguration.h"

#include <cstring>
#include <exception>
#include <iostream>

namespace
{
constexpr int exitFailure = 1;
constexpr int exitUsage = 2;

void
PrintUsage(std::ostream & os)
{
  os << "Usage: cudafilters-info [--help]\n"
        "\n"
        "Prints the GPUs and the driver that were found, and where the filters of the\n"
        "module run and why, with the settings of these environment variables:\n"
        "\n"
        "  ITK_CUDAFILTERS_BACKEND  automatic (default), cuda or host\n"
        "  ITK_CUDAFILTERS_DEVICE   index of the GPU (default 0)\n";
}
} // namespace

int
main(int argc, char * argv[])
{
  if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0))
  {
    PrintUsage(std::cout);
    return 0;
  }
  if (argc > 1)
  {
    std::cerr << "cudafilters-info: unknown argument \"" << argv[1] << "\"; only --help is known\n\n";
    PrintUsage(std::cerr);
    return exitUsage;
  }
  try
  {
    std::cout << itk::CudaFiltersConfiguration::GetStatus();
  }
  catch (const std::exception & exception)
  {
    std::cerr << "cudafilters-info: " << exception.what() << '\n';
    return exitFailure;
  }
  return 0;
}

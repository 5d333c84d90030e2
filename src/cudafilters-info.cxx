// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaGaussianImageFilterFactory.h"

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
  os << "Usage: cudafilters-info [--help | --overrides]\n"
        "\n"
        "Prints the GPUs and the driver that were found, and where the filters of the\n"
        "module run and why, with the settings of these environment variables:\n"
        "\n"
        "  ITK_CUDAFILTERS_BACKEND      automatic (default), cuda or host\n"
        "  ITK_CUDAFILTERS_DEVICE       index of the GPU (default 0)\n"
        "  ITK_CUDAFILTERS_SYNCHRONOUS  1: each filter waits for its kernels and names\n"
        "                               itself if they failed\n"
        "\n"
        "With --overrides: the classes of ITK that CudaGaussianImageFilterFactory\n"
        "overrides, one a line. In a program that is linked to the module it is\n"
        "registered if the environment variable ITK_CUDAFILTERS_OVERRIDE is 1.\n";
}

void
PrintOverrides(std::ostream & os)
{
  auto overrides = itk::CudaGaussianImageFilterFactory::New()->GetClassOverrideDescriptions();
  overrides.sort();
  for (const std::string & override : overrides)
  {
    os << override << '\n';
  }
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
  const bool overrides = argc == 2 && std::strcmp(argv[1], "--overrides") == 0;
  if (argc > 1 && !overrides)
  {
    std::cerr << "cudafilters-info: unknown argument \"" << argv[1] << "\"; --help and --overrides are known\n\n";
    PrintUsage(std::cerr);
    return exitUsage;
  }
  try
  {
    if (overrides)
    {
      PrintOverrides(std::cout);
    }
    else
    {
      std::cout << itk::CudaFiltersConfiguration::GetStatus() << "Override:  CudaGaussianImageFilterFactory is "
                << (itk::CudaGaussianImageFilterFactory::IsRegistered() ? "" : "not ") << "registered\n";
    }
  }
  catch (const std::exception & exception)
  {
    std::cerr << "cudafilters-info: " << exception.what() << '\n';
    return exitFailure;
  }
  return 0;
}

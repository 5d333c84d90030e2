// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include "itkCudaFiltersConfiguration.h"
#include "itkCudaGaussianImageFilterFactory.h"

#include <iostream>

namespace
{
struct InfoArguments
{
  bool Overrides{ false };
};

void
DescribeArguments(CLI::App & part, InfoArguments & arguments)
{
  part.add_flag("--overrides",
                arguments.Overrides,
                "print the classes of ITK that CudaGaussianImageFilterFactory overrides instead, one a line. In a "
                "program that is linked to this module the factory is registered if the environment variable "
                "ITK_CUDAFILTERS_OVERRIDE is 1");
  part.footer(
    "Environment variables:\n"
    "  ITK_CUDAFILTERS_BACKEND         automatic (default), cuda or host\n"
    "  ITK_CUDAFILTERS_DEVICE          index of the GPU (default: 0)\n"
    "  ITK_CUDAFILTERS_KEEP_ON_DEVICE  1: between two filters, results that are released after use stay on the GPU\n"
    "  ITK_CUDAFILTERS_SYNCHRONOUS     1: each filter waits for its kernels and names itself if they failed");
}

void
PrintInfo(const InfoArguments & arguments)
{
  if (!arguments.Overrides)
  {
    std::cout << itk::CudaFiltersConfiguration::GetStatus() << "Override:  CudaGaussianImageFilterFactory is "
              << (itk::CudaGaussianImageFilterFactory::IsRegistered() ? "" : "not ") << "registered\n";
    return;
  }
  auto overrides = itk::CudaGaussianImageFilterFactory::New()->GetClassOverrideDescriptions();
  overrides.sort();
  for (const std::string & override : overrides)
  {
    std::cout << override << '\n';
  }
}
} // namespace

void
command::AddInfo(CLI::App & app)
{
  AddPart(app,
          "info",
          "Prints the GPUs and the driver that were found, and where filters run and why.",
          DescribeArguments,
          PrintInfo);
}

// SPDX-License-Identifier: Apache-2.0

// Times of the convolution of device-resident float images with ITK's discrete Gaussian, as JSON on standard output:
// kernels only, the plan and the memory stand. fir_against_cupy.py runs this and CuPy's filter of equal radius.

#include "itkCudaCall.h"
#include "itkCudaDevice.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaGaussianFirDevice.h"
#include "itkGaussianOperator.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <vector>

namespace
{
using namespace itk::cuda;

constexpr int Samples = 20;
constexpr int RunsPerSample = 4;

itk::CudaGaussianFirPass
MakePass(unsigned int axis, double sigma)
{
  itk::GaussianOperator<double, 1> kernel;
  kernel.SetVariance(sigma * sigma);
  kernel.SetMaximumError(1e-4);
  kernel.SetMaximumKernelWidth(1000);
  kernel.CreateDirectional();
  itk::CudaGaussianFirPass pass;
  pass.Axis = axis;
  pass.Weights.assign(kernel.Begin(), kernel.End());
  return pass;
}

nlohmann::json
Measure(unsigned int dimension, size_t side, double sigma, StreamLease & stream)
{
  const DeviceImage::SizeType size{ { side, side, dimension == 3 ? side : 1, 1, 1 } };
  const DeviceImage           first(size, itk::CudaComponentType::Float, stream);
  const DeviceImage           second(size, itk::CudaComponentType::Float, stream);
  const size_t                bytes = DeviceImage::GetNumberOfBytes(size, itk::CudaComponentType::Float);
  ITK_CUDA_CALL(cudaMemsetAsync(first.GetView().Data, 0, bytes, stream.Get()));

  std::vector<itk::CudaGaussianFirPass> passes;
  for (unsigned int axis = dimension; axis-- > 0;)
  {
    passes.push_back(MakePass(axis, sigma));
  }
  const auto run = [&] {
    const DeviceView * from = &first.GetView();
    const DeviceView * to = &second.GetView();
    for (const itk::CudaGaussianFirPass & pass : passes)
    {
      gaussian::RunFirPass(pass, false, *from, *to, stream);
      std::swap(from, to);
    }
  };
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  ITK_CUDA_CALL(cudaEventCreate(&begin));
  ITK_CUDA_CALL(cudaEventCreate(&end));
  for (int i = 0; i < 2 * RunsPerSample; ++i)
  {
    run();
  }
  std::vector<float> samples(Samples);
  for (float & milliseconds : samples)
  {
    ITK_CUDA_CALL(cudaEventRecord(begin, stream.Get()));
    for (int i = 0; i < RunsPerSample; ++i)
    {
      run();
    }
    ITK_CUDA_CALL(cudaEventRecord(end, stream.Get()));
    ITK_CUDA_CALL(cudaEventSynchronize(end));
    ITK_CUDA_CALL(cudaEventElapsedTime(&milliseconds, begin, end));
  }
  ITK_CUDA_CALL_NOTHROW(cudaEventDestroy(begin));
  ITK_CUDA_CALL_NOTHROW(cudaEventDestroy(end));
  std::nth_element(samples.begin(), samples.begin() + Samples / 2, samples.end());
  return { { "dimension", dimension },
           { "side", side },
           { "sigma", sigma },
           { "radius", passes.front().GetRadius() },
           { "ms", samples[Samples / 2] / RunsPerSample } };
}
} // namespace

int
main()
{
  try
  {
    const int         device = itk::CudaFiltersConfiguration::GetDeviceIndex();
    const DeviceGuard guard(device);
    StreamLease       stream(device);
    nlohmann::json    record;
    record["device"] = GetDeviceProperties(device).Name;
    for (const double sigma : { 1.0, 4.0 })
    {
      record["rows"].push_back(Measure(2, 4096, sigma, stream));
      record["rows"].push_back(Measure(3, 256, sigma, stream));
    }
    std::cout << record.dump(1) << std::endl;
  }
  catch (const std::exception & error)
  {
    std::cerr << "fir_resident_times: " << error.what() << std::endl;
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

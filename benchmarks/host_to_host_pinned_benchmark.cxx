// SPDX-License-Identifier: Apache-2.0

// Benchmarks filters from host to host between images in page-locked memory. Such images are transferred without
// staging buffers, so that the times are the limit that the link sets. The memory comes from CUDA's allocator, as a
// user's would.

#include "host_to_host_benchmark.h"
#include "runtime/device/Call.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"

namespace
{
using namespace benchmark_filters;
using ImageType = itk::Image<float, 3>;

/** An image in page-locked memory, which is freed with this object. */
class PinnedImage
{
public:
  explicit PinnedImage(const ImageType::RegionType & region)
    : m_Image(ImageType::New())
  {
    const size_t pixels = region.GetNumberOfPixels();
    ITK_CUDA_CALL(cudaMallocHost(&m_Pixels, pixels * sizeof(float)));
    m_Image->SetRegions(region);
    m_Image->GetPixelContainer()->SetImportPointer(static_cast<float *>(m_Pixels), pixels, false);
  }
  ~PinnedImage() { ITK_CUDA_CALL_NOTHROW(cudaFreeHost(m_Pixels)); }
  PinnedImage(const PinnedImage &) = delete;
  PinnedImage &
  operator=(const PinnedImage &) = delete;

  ImageType *
  Get() const
  {
    return m_Image;
  }

private:
  ImageType::Pointer m_Image;
  void *             m_Pixels{ nullptr };
};

/** Arguments: side; sigma in hundredths of a pixel. */
void
BM_Pinned(benchmark::State & state)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const auto        source = GetRandomImage<3>(static_cast<itk::SizeValueType>(state.range(0)));
  const PinnedImage input(source->GetBufferedRegion());
  const PinnedImage output(source->GetBufferedRegion());
  std::copy_n(
    source->GetBufferPointer(), source->GetBufferedRegion().GetNumberOfPixels(), input.Get()->GetBufferPointer());
  const auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(input.Get());
  filter->SetSigma(0.01 * static_cast<double>(state.range(1)));
  filter->SetBackend(itk::CudaFiltersEnums::Backend::Cuda);
  filter->ReleaseDataBeforeUpdateFlagOff();
  filter->GraftOutput(output.Get());
  filter->Update();
  for (auto _ : state)
  {
    filter->Modified();
    filter->Update();
  }
  if (filter->GetOutput()->GetBufferPointer() != output.Get()->GetBufferPointer())
  {
    state.SkipWithError("the filter did not write to the page-locked image");
  }
}

BENCHMARK(BM_Pinned)
  ->Name("host_to_host/pinned/3d")
  ->ArgNames({ "side", "sigma_percent" })
  ->ArgsProduct({ { 256, 512 }, { 400 } })
  ->UseRealTime()
  ->Unit(benchmark::kMillisecond);
} // namespace

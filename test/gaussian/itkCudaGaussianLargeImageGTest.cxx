// SPDX-License-Identifier: Apache-2.0
// An image of more than 2^31 pixels: offsets do not fit into 32 bits.
#include "support/itkCudaGaussianLineReference.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkMultiThreaderBase.h"

namespace itk::cuda::test
{
namespace
{
using ImageType = Image<unsigned char, 2>;

constexpr SizeValueType  Side = 46400; // 46400^2 = 2^31 + 5,476,352
constexpr IndexValueType Last = Side - 1;
constexpr double         Sigma = 3.0;

class CudaGaussianLargeImageGpuTest : public GpuTest
{
protected:
  static void
  SetUpTestSuite()
  {
    std::string reason;
    if (CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
    {
      s_Image = MakeLargeImage();
    }
  }
  static void
  TearDownTestSuite()
  {
    s_Image = nullptr;
    CudaFiltersConfiguration::ReleaseMemory();
  }

  /** Random bytes, all threads at work; the first touch of 2 GiB alone takes a second. */
  static ImageType::Pointer
  MakeLargeImage()
  {
    const auto image = MakeImage<ImageType>(MakeRegion<2>({ { Side, Side } }));
    auto       threader = MultiThreaderBase::New();
    threader->ParallelizeArray(
      0,
      Side,
      [&](SizeValueType y) {
        unsigned char * const row = image->GetBufferPointer() + y * Side;
        for (SizeValueType x = 0; x < Side; ++x)
        {
          row[x] = static_cast<unsigned char>(20.0 + 200.0 * UniformRandom(y * Side + x));
        }
      },
      nullptr);
    return image;
  }

  /** Lines to look at: the first, the last, those on both sides of the pixel 2^31, and random ones. */
  static std::vector<IndexValueType>
  LinesToCheck()
  {
    const auto                  boundary = static_cast<IndexValueType>((SizeValueType(1) << 31) / Side);
    std::vector<IndexValueType> lines = { 0, 1, boundary - 1, boundary, boundary + 1, Last - 1, Last };
    for (uint64_t i = 0; i < 40; ++i)
    {
      lines.push_back(static_cast<IndexValueType>(UniformRandom((uint64_t(1) << 40) + i) * Side));
    }
    return lines;
  }

  static ImageType::Pointer s_Image;
};

ImageType::Pointer CudaGaussianLargeImageGpuTest::s_Image;

/** The pixels of `region` in `output` against the float64 result on `support`, a larger crop of the input. */
void
Expect_region_is_filtered(const ImageType *                       output,
                          const ImageType *                       input,
                          const ImageType::RegionType &           region,
                          const ImageType::RegionType &           support,
                          const std::vector<GaussianParameters> & passes)
{
  Volume part{ { { support.GetSize(0), support.GetSize(1), 1, 1 } }, {} };
  for (ImageRegionConstIteratorWithIndex<ImageType> it(input, support); !it.IsAtEnd(); ++it)
  {
    part.Pixels.push_back(it.Get());
  }
  double error = 220.0 * (FloatAccuracy(Sigma) + TailBeyondReach);
  for (const GaussianParameters & pass : passes)
  {
    FilterVolume(part, pass);
    error *= L1Norm(pass);
  }
  size_t wrong = 0;
  for (ImageRegionConstIteratorWithIndex<ImageType> it(output, region); !it.IsAtEnd(); ++it)
  {
    const auto   place = it.GetIndex() - support.GetIndex();
    const double exact = part.Pixels[static_cast<size_t>(place[1]) * part.Size[0] + static_cast<size_t>(place[0])];
    wrong += std::abs(it.Get() - std::trunc(exact)) > (IsNearIntegerStep(exact, error) ? IntegerSteps : 0.0);
  }
  EXPECT_EQ(wrong, 0u) << "in " << region;
}

ImageType::Pointer
FilterAlong(const ImageType * input, unsigned int axis)
{
  auto filter = CudaRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(input);
  filter->SetDirection(axis);
  filter->SetSigma(Sigma);
  return RunPoisoned(filter.GetPointer(), BackendEnum::Cuda);
}

TEST_F(CudaGaussianLargeImageGpuTest, ContiguousLinesSlow)
{
  const auto output = FilterAlong(s_Image, 0);
  for (const IndexValueType y : LinesToCheck())
  {
    const ImageType::RegionType line({ { 0, y } }, { { Side, 1 } });
    Expect_region_is_filtered(output, s_Image, line, line, { { 0, 0, Sigma, 1.0, false } });
  }
}

TEST_F(CudaGaussianLargeImageGpuTest, StridedLinesSlow)
{
  const auto output = FilterAlong(s_Image, 1);
  for (const IndexValueType x : LinesToCheck())
  {
    const ImageType::RegionType line({ { x, 0 } }, { { 1, Side } });
    Expect_region_is_filtered(output, s_Image, line, line, { { 1, 0, Sigma, 1.0, false } });
  }
}

TEST_F(CudaGaussianLargeImageGpuTest, SmoothingSlow)
{
  auto filter = CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(s_Image);
  filter->SetSigma(Sigma);
  const auto output = RunPoisoned(filter.GetPointer(), BackendEnum::Cuda);
  // Windows with a margin as wide as the kernel reaches; at the image's edges the margin ends there as the image does.
  constexpr IndexValueType margin = static_cast<IndexValueType>(NonFiniteReach * Sigma);
  constexpr SizeValueType  width = 200;
  for (const IndexValueType y : LinesToCheck())
  {
    ImageType::RegionType window({ { (y * 7919) % Last, y } }, { { width, 4 } });
    window.Crop(s_Image->GetLargestPossibleRegion());
    ImageType::RegionType support = window;
    support.PadByRadius(margin);
    support.Crop(s_Image->GetLargestPossibleRegion());
    Expect_region_is_filtered(output, s_Image, window, support, { { 0, 0, Sigma }, { 1, 0, Sigma } });
  }
}
} // namespace
} // namespace itk::cuda::test

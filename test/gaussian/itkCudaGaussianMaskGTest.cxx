// SPDX-License-Identifier: Apache-2.0

// Smoothing with a mask of valid pixels: against the quotient of two sums in float64, and what must not depend on the
// pixels that are not valid.

#include "itkCudaDeviceImage.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaGaussianLineReference.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkVector.h"

#include <functional>
#include <numeric>
#include <random>

namespace itk::cuda::test
{
namespace
{
using Approximation = CudaFiltersEnums::Approximation;
using ImageType = Image<float, 2>;
using MaskType = Image<unsigned char, 2>;
using FilterType = CudaSmoothingRecursiveGaussianImageFilter<ImageType>;

constexpr double Infinity = std::numeric_limits<double>::infinity();
constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

template <typename TImage>
typename TImage::Pointer
MakeImageOf(const std::vector<double> & pixels, const typename TImage::SizeType & size)
{
  const auto image = TImage::New();
  image->SetRegions(size);
  image->Allocate();
  std::transform(pixels.begin(), pixels.end(), image->GetBufferPointer(), [](double value) {
    return static_cast<typename TImage::PixelType>(value);
  });
  return image;
}

/** Random pixels and a random mask. */
template <unsigned int VDimension>
struct Scene
{
  Size<VDimension>    ImageSize;
  std::vector<double> Pixels;
  std::vector<double> Valid;

  /** Of that size; each pixel is valid with the probability `share`. */
  Scene(std::mt19937 & generator, const Size<VDimension> & size, double share = 0.75, double offset = 1000.0)
    : ImageSize(size)
  {
    const size_t count = std::accumulate(size.begin(), size.end(), size_t{ 1 }, std::multiplies<>());
    for (size_t n = 0; n < count; ++n)
    {
      Pixels.push_back(static_cast<float>(offset + Uniform(generator, -1, 1)));
      Valid.push_back(Uniform(generator, 0, 1) < share ? 1.0 : 0.0);
    }
  }

  /** Of random size. Some masks have few valid pixels, some holes. */
  explicit Scene(std::mt19937 & generator)
    : Scene(generator,
            DrawSize(generator),
            Uniform(generator, 0, 1) < 0.3 ? 0.01 : Uniform(generator, 0.05, 0.98),
            Uniform(generator, 0, 1) < 0.5 ? 1000.0 : 0.0)
  {}

  /** The image, with NaN where it is not valid. */
  typename Image<float, VDimension>::Pointer
  MakeInput() const
  {
    std::vector<double> pixels = Pixels;
    for (size_t n = 0; n < pixels.size(); ++n)
    {
      pixels[n] = Valid[n] == 0.0 ? NaN : pixels[n];
    }
    return MakeImageOf<Image<float, VDimension>>(pixels, ImageSize);
  }

private:
  static double
  Uniform(std::mt19937 & generator, double a, double b)
  {
    return std::uniform_real_distribution<double>(a, b)(generator);
  }
  static Size<VDimension>
  DrawSize(std::mt19937 & generator)
  {
    Size<VDimension> size;
    for (SizeValueType & side : size)
    {
      side = static_cast<SizeValueType>(Uniform(generator, 4, VDimension == 2 ? 50 : 20));
    }
    return size;
  }
};

struct Quotient
{
  std::vector<double> Values;
  std::vector<double> Weights;
};

/** G(m x) / G(m) by sums in double. */
template <unsigned int VDimension>
Quotient
GetQuotient(const Scene<VDimension> &                scene,
            Approximation                            approximation,
            const std::vector<double> &              sigma,
            const CudaDetail::CudaGaussianBoundary & boundary)
{
  const auto smooth = [&](std::vector<double> pixels, double boundaryValue) {
    Volume volume;
    std::copy_n(scene.ImageSize.begin(), VDimension, volume.Size.begin());
    volume.Pixels = std::move(pixels);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      FilterVolume(volume, { d, 0, sigma[d] }, approximation, { boundary.Mode, boundaryValue });
    }
    return volume.Pixels;
  };
  std::vector<double> masked(scene.Pixels.size());
  std::transform(scene.Pixels.begin(), scene.Pixels.end(), scene.Valid.begin(), masked.begin(), std::multiplies<>());
  Quotient quotient{ smooth(masked, boundary.Value), smooth(scene.Valid, 1.0) };
  std::transform(quotient.Values.begin(),
                 quotient.Values.end(),
                 quotient.Weights.begin(),
                 quotient.Values.begin(),
                 std::divides<>());
  return quotient;
}

/** \return how many pixels had too little weight */
template <typename TPixel, unsigned int VDimension>
size_t
Expect_quotients(BackendEnum backend, unsigned int draws, double accuracy)
{
  using PixelImage = Image<TPixel, VDimension>;
  std::mt19937 generator(GetSeed());
  double       worst = 0.0;
  size_t       filled = 0;
  size_t       checked = 0;
  for (unsigned int i = 0; i < draws; ++i)
  {
    const Scene<VDimension> scene(generator);
    std::vector<double>     sigma;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      sigma.push_back(std::exp(std::uniform_real_distribution<double>(std::log(0.5), std::log(8.0))(generator)));
    }
    const auto                             approximation = static_cast<Approximation>(i % 2);
    const CudaDetail::CudaGaussianBoundary boundary{ AllModes[i / 2 % 5], scene.Pixels[0] };
    const double                           limit = approximation == Approximation::Accurate ? 1e-3 : 1e-2;

    using SmootherType = CudaSmoothingRecursiveGaussianImageFilter<PixelImage>;
    const auto                            filter = SmootherType::New();
    typename SmootherType::SigmaArrayType sigmas;
    std::copy(sigma.begin(), sigma.end(), sigmas.begin());
    filter->SetInput(MakeImageOf<PixelImage>(scene.Pixels, scene.ImageSize));
    filter->SetValidMask(MakeImageOf<Image<unsigned char, VDimension>>(scene.Valid, scene.ImageSize));
    filter->SetSigmaArray(sigmas);
    filter->SetApproximation(approximation);
    filter->SetBoundaryMode(boundary.Mode);
    filter->SetBoundaryValue(boundary.Value);
    filter->SetFillValue(-77.0);
    UpdateOn(filter.GetPointer(), backend);

    const Quotient expected = GetQuotient(scene, approximation, sigma, boundary);
    const double   scale = LargestOf(scene.Pixels);
    for (size_t n = 0; n < scene.Pixels.size(); ++n)
    {
      const double weight = expected.Weights[n];
      if (std::abs(weight - limit) < 1e-6)
      {
        continue; // rounding decides
      }
      const double found = filter->GetOutput()->GetBufferPointer()[n];
      ++checked;
      if (weight < limit)
      {
        ++filled;
        EXPECT_EQ(found, -77.0) << "draw " << i << ", pixel " << n << ", weight " << weight;
        continue;
      }
      const double error = std::abs(found - expected.Values[n]) / scale * weight;
      worst = std::max(worst, error);
      EXPECT_LE(error, accuracy) << "draw " << i << ", pixel " << n << ", weight " << weight << ", found " << found
                                 << ", expected " << expected.Values[n];
    }
  }
  std::cout << "[   mask   ] largest error times weight: " << worst << "; " << filled << " of " << checked
            << " pixels have too little weight" << std::endl;
  return filled;
}

class CudaGaussianMaskQuotientTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGaussianMaskQuotientTest);

TEST_P(CudaGaussianMaskQuotientTest, IsTheQuotientOfTwoSmoothings)
{
  size_t filled = Expect_quotients<float, 2>(GetParam(), 60, 1e-6);
  filled += Expect_quotients<float, 3>(GetParam(), 20, 1e-6);
  filled += Expect_quotients<double, 2>(GetParam(), 20, 1e-12);
  EXPECT_GT(filled, 0u);
}

class CudaGaussianMaskTest : public testing::TestWithParam<Approximation>
{
protected:
  FilterType::Pointer
  MakeFilter(const std::vector<double> & pixels, const std::vector<double> & valid) const
  {
    const auto filter = FilterType::New();
    filter->SetInput(MakeImageOf<ImageType>(pixels, m_Scene.ImageSize));
    filter->SetValidMask(MakeImageOf<MaskType>(valid, m_Scene.ImageSize));
    filter->SetSigma(2.0);
    filter->SetApproximation(this->GetParam());
    return filter;
  }

  /** The smoothed pixels, in the order of memory. */
  std::vector<float>
  Smooth(const std::vector<double> & pixels, const std::vector<double> & valid) const
  {
    const auto filter = this->MakeFilter(pixels, valid);
    filter->Update();
    const float * const output = filter->GetOutput()->GetBufferPointer();
    return { output, output + pixels.size() };
  }

  static bool
  HaveEqualBits(const std::vector<float> & a, const std::vector<float> & b)
  {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  }

  std::mt19937 m_Generator{ GetSeed() };
  Scene<2>     m_Scene{ m_Generator };
};

TEST_P(CudaGaussianMaskTest, NothingUnderTheMaskChangesABit)
{
  for (unsigned int i = 0; i < 20; ++i)
  {
    m_Scene = Scene<2>(m_Generator);
    const auto expected = this->Smooth(m_Scene.Pixels, m_Scene.Valid);
    for (const double hidden : { NaN, Infinity, -Infinity, 1e30, 0.0 })
    {
      std::vector<double> pixels = m_Scene.Pixels;
      for (size_t n = 0; n < pixels.size(); ++n)
      {
        pixels[n] = m_Scene.Valid[n] == 0.0 ? hidden : pixels[n];
      }
      EXPECT_TRUE(HaveEqualBits(this->Smooth(pixels, m_Scene.Valid), expected)) << hidden << ", draw " << i;
    }
  }
}

TEST_P(CudaGaussianMaskTest, ConstantsStayConstant)
{
  for (unsigned int i = 0; i < 20; ++i)
  {
    m_Scene = Scene<2>(m_Generator);
    std::vector<double> pixels(m_Scene.Pixels.size(), 1234.567);
    for (size_t n = 0; n < pixels.size(); ++n)
    {
      pixels[n] = m_Scene.Valid[n] == 0.0 ? NaN : pixels[n];
    }
    for (const float value : this->Smooth(pixels, m_Scene.Valid))
    {
      ASSERT_TRUE(value == 1234.567f || std::isnan(value)) << value << ", draw " << i;
    }
  }
}

TEST_P(CudaGaussianMaskTest, NoPixelValidGivesTheFillValue)
{
  const std::vector<double> none(m_Scene.Pixels.size(), 0.0);
  for (const float value : this->Smooth(m_Scene.Pixels, none))
  {
    ASSERT_TRUE(std::isnan(value));
  }
  const auto filter = this->MakeFilter(std::vector<double>(none.size(), NaN), none);
  filter->SetFillValue(5.0);
  filter->Update();
  const float * const pixels = filter->GetOutput()->GetBufferPointer();
  EXPECT_EQ(std::count(pixels, pixels + none.size(), 5.0f), static_cast<long>(none.size()));
}

INSTANTIATE_TEST_SUITE_P(Approximations,
                         CudaGaussianMaskTest,
                         testing::Values(Approximation::Deriche, Approximation::Accurate),
                         [](const auto & test) {
                           return test.param == Approximation::Deriche ? "Deriche" : "Accurate";
                         });

TEST(CudaGaussianMask, IntegersAreFilledWithZeroOrTheFillValue)
{
  const std::vector<double> pixels(400, 99.0);
  std::vector<double>       valid(400, 0.0);
  valid[0] = 1.0;
  using ByteImage = Image<unsigned char, 2>;
  const auto filter = CudaSmoothingRecursiveGaussianImageFilter<ByteImage>::New();
  filter->SetInput(MakeImageOf<ByteImage>(pixels, { { 20, 20 } }));
  filter->SetValidMask(MakeImageOf<MaskType>(valid, { { 20, 20 } }));
  for (const double fill : { NaN, 7.0, 1000.0 })
  {
    filter->SetFillValue(fill);
    filter->Update();
    EXPECT_EQ(filter->GetOutput()->GetPixel({ { 0, 0 } }), 99);
    EXPECT_EQ(filter->GetOutput()->GetPixel({ { 1, 1 } }), 99);
    EXPECT_EQ(filter->GetOutput()->GetPixel({ { 19, 19 } }), std::isnan(fill) ? 0 : (fill > 255.0 ? 255 : 7));
  }
}

TEST(CudaGaussianMask, HoldsForAllComponents)
{
  using VectorType = Image<Vector<float, 3>, 2>;
  std::mt19937   generator(GetSeed());
  const Scene<2> scene(generator);
  const auto     image = VectorType::New();
  image->SetRegions(scene.ImageSize);
  image->Allocate();
  const auto mask = MakeImageOf<MaskType>(scene.Valid, scene.ImageSize);
  for (size_t n = 0; n < scene.Pixels.size(); ++n)
  {
    const auto value = static_cast<float>(scene.Pixels[n]);
    image->GetBufferPointer()[n] = Vector<float, 3>(std::array<float, 3>{ { value, -value, 1.0f } }.data());
  }
  const auto vectors = CudaSmoothingRecursiveGaussianImageFilter<VectorType>::New();
  vectors->SetInput(image);
  vectors->SetValidMask(mask);
  vectors->Update();
  const auto scalars = FilterType::New();
  scalars->SetInput(MakeImageOf<ImageType>(scene.Pixels, scene.ImageSize));
  scalars->SetValidMask(mask);
  scalars->Update();
  for (size_t n = 0; n < scene.Pixels.size(); ++n)
  {
    const float  expected = scalars->GetOutput()->GetBufferPointer()[n];
    const auto & found = vectors->GetOutput()->GetBufferPointer()[n];
    ASSERT_TRUE((found[0] == expected && found[1] == -expected && found[2] == 1.0f) ||
                (std::isnan(found[0]) && std::isnan(found[1]) && std::isnan(found[2]) && std::isnan(expected)));
  }
}

TEST(CudaGaussianMask, RunsInPlace)
{
  std::mt19937   generator(GetSeed());
  const Scene<2> scene(generator);
  const auto     smooth = [&](bool inPlace) {
    const auto filter = FilterType::New();
    filter->SetInput(MakeImageOf<ImageType>(scene.Pixels, scene.ImageSize));
    filter->SetValidMask(MakeImageOf<MaskType>(scene.Valid, scene.ImageSize));
    filter->SetFillValue(0.0);
    filter->SetInPlace(inPlace);
    filter->Update();
    const float * const pixels = filter->GetOutput()->GetBufferPointer();
    return std::vector<float>(pixels, pixels + scene.Pixels.size());
  };
  EXPECT_EQ(smooth(true), smooth(false));
}

TEST(CudaGaussianMask, OfAnotherSizeOrPlaceIsRefused)
{
  const std::vector<double> pixels(400, 1.0);
  const Size<2>             size{ { 20, 20 } };
  const auto                filter = FilterType::New();
  filter->SetInput(MakeImageOf<ImageType>(pixels, size));
  const auto expect = [&](MaskType * mask, const std::string & text) {
    filter->SetValidMask(mask);
    ExpectContains(GetException([&] { filter->Update(); }), text);
    filter->SetValidMask(MakeImageOf<MaskType>(pixels, size));
    EXPECT_NO_THROW(filter->Update());
    EXPECT_EQ(filter->GetOutput()->GetPixel({ { 3, 4 } }), 1.0f);
  };
  expect(MakeImageOf<MaskType>(pixels, { { 40, 10 } }),
         "ValidMask has the size [40, 10] and the first index [0, 0]; they must be the image's, [20, 20] and [0, 0]");
  const auto coarse = MakeImageOf<MaskType>(pixels, size);
  test::SetSpacing(coarse.GetPointer(), { { 2.0, 2.0 } });
  expect(coarse, "Inputs do not occupy the same physical space");
  const auto empty = MaskType::New();
  empty->SetRegions(size);
  expect(empty, "ValidMask");
}

TEST(CudaGaussianMask, RunsWhereTheFilterWithoutAMaskDoes)
{
  const std::vector<double> pixels(400, 1.0);
  const auto                filter = FilterType::New();
  const auto                getReason = [&filter] {
    filter->Update();
    const std::string reason = filter->GetBackendReason();
    return reason.substr(0, reason.find(',')); // without the memory that the work needs
  };
  filter->SetInput(MakeImageOf<ImageType>(pixels, { { 20, 20 } }));
  const std::string reason = getReason();
  const BackendEnum used = filter->GetBackendUsed();
  filter->SetValidMask(MakeImageOf<MaskType>(pixels, { { 20, 20 } }));
  EXPECT_EQ(getReason(), reason);
  EXPECT_EQ(filter->GetBackendUsed(), used);
}

class CudaGaussianMaskGpu
  : public GpuTest
  , public testing::WithParamInterface<Mode>
{
protected:
  template <typename TInputImage, typename TOutputImage>
  typename TOutputImage::Pointer
  Smooth(const TInputImage * image,
         const Scene<2> &    scene,
         Approximation       approximation,
         BackendEnum         backend,
         double              sigma = 2.0) const
  {
    const auto filter = CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::New();
    filter->SetInput(image);
    filter->SetValidMask(MakeImageOf<MaskType>(scene.Valid, scene.ImageSize));
    filter->SetSigma(sigma);
    filter->SetApproximation(approximation);
    filter->SetBoundaryMode(this->GetParam());
    filter->SetBoundaryValue(900.0);
    filter->SetFillValue(-77.0);
    filter->SetBackend(backend);
    filter->Update();
    EXPECT_EQ(filter->GetBackendUsed(), backend);
    typename TOutputImage::Pointer output = filter->GetOutput();
    output->DisconnectPipeline();
    return output;
  }
};

// Passes that read the mask's bytes take columns of up to 1,024 pixels, or in strips longer ones whose window has at
// most two chunks, and rows on the device that are as long as the mask's. Passes that divide take rows of up to 8,192
// pixels, and tiles of longer ones.
TEST_P(CudaGaussianMaskGpu, GivesTheHostsPixelsAtTheLimitsOfItsKernels)
{
  constexpr unsigned long sizes[][2] = { { 64, 48 },   { 16, 4 },    { 32, 1024 }, { 32, 1025 },
                                         { 13, 300 },  { 100, 300 }, { 8192, 5 },  { 8193, 5 },
                                         { 16384, 4 }, { 16385, 4 }, { 512, 512 }, { 1024, 128 },
                                         { 512, 256 }, { 33000, 4 }, { 96, 1030 }, { 64, 1300 } };
  std::mt19937            generator(GetSeed());
  for (const auto & size : sizes)
  {
    const Scene<2> scene(generator, { { size[0], size[1] } });
    const auto     approximation = static_cast<Approximation>(size[0] % 2);
    const auto     input = scene.MakeInput();
    for (const double sigma : { 2.0, 15.0, 30.0 })
    {
      if (sigma > 2.0 && std::min(size[0], size[1]) < 32)
      {
        continue; // too few pixels for such weights
      }
      const auto host = this->Smooth<ImageType, ImageType>(input, scene, approximation, BackendEnum::Host, sigma);
      const auto found = this->Smooth<ImageType, ImageType>(input, scene, approximation, BackendEnum::Cuda, sigma);
      for (size_t n = 0; n < scene.Pixels.size(); ++n)
      {
        const float expected = host->GetBufferPointer()[n];
        ASSERT_NE(expected, -77.0f); // enough pixels are valid: all weights are above 0.1
        ASSERT_NEAR(found->GetBufferPointer()[n], expected, 1e-6 * 1001.0 / 0.1)
          << "size " << size[0] << " x " << size[1] << ", sigma " << sigma << ", pixel " << n;
      }
    }
  }
}

// In double, and in three dimensions, where one pass along each axis differs from the others.
TEST_P(CudaGaussianMaskGpu, GivesTheHostsVolumesOfDouble)
{
  using VolumeType = Image<double, 3>;
  std::mt19937 generator(GetSeed());
  for (const unsigned long length : { 17ul, 64ul, 256ul, 257ul })
  {
    const Scene<3> scene(generator, { { 32, 6, length } });
    const auto     smooth = [&](BackendEnum backend) {
      const auto filter = CudaSmoothingRecursiveGaussianImageFilter<VolumeType>::New();
      filter->SetInput(MakeImageOf<VolumeType>(scene.Pixels, scene.ImageSize));
      filter->SetValidMask(MakeImageOf<Image<unsigned char, 3>>(scene.Valid, scene.ImageSize));
      filter->SetSigma(1.5);
      filter->SetBoundaryMode(this->GetParam());
      filter->SetBoundaryValue(900.0);
      filter->SetBackend(backend);
      filter->Update();
      const double * const pixels = filter->GetOutput()->GetBufferPointer();
      return std::vector<double>(pixels, pixels + scene.Pixels.size());
    };
    const std::vector<double> host = smooth(BackendEnum::Host);
    const std::vector<double> found = smooth(BackendEnum::Cuda);
    for (size_t n = 0; n < found.size(); ++n)
    {
      ASSERT_NEAR(found[n], host[n], 1e-12 * 1001.0 / 0.1) << "length " << length << ", pixel " << n;
    }
  }
}

TEST_P(CudaGaussianMaskGpu, DeviceImagesHaveTheBitsOfHostImages)
{
  using DeviceImage = CudaDeviceImage<float, 2>;
  std::mt19937 generator(GetSeed());
  for (unsigned int i = 0; i < 4; ++i)
  {
    const Scene<2> scene(generator);
    const auto     approximation = static_cast<Approximation>(i % 2);
    const auto     input = scene.MakeInput();
    const auto     expected = this->Smooth<ImageType, ImageType>(input, scene, approximation, BackendEnum::Cuda);
    const auto     onDevice = this->Smooth<ImageType, DeviceImage>(input, scene, approximation, BackendEnum::Cuda);
    const auto     mixed = this->Smooth<ImageType, ImageType>(expected, scene, approximation, BackendEnum::Cuda);
    const auto     again = this->Smooth<DeviceImage, ImageType>(onDevice, scene, approximation, BackendEnum::Cuda);
    EXPECT_EQ(std::memcmp(again->GetBufferPointer(), mixed->GetBufferPointer(), scene.Pixels.size() * sizeof(float)), 0)
      << "draw " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, CudaGaussianMaskGpu, testing::ValuesIn(AllModes), [](const auto & test) {
  std::ostringstream name;
  name << test.param;
  return name.str().substr(name.str().rfind(':') + 1);
});

} // namespace
} // namespace itk::cuda::test

// SPDX-License-Identifier: Apache-2.0

// Images of double keep the digits of double on the GPU, in every way in which it divides lines: random sizes and
// sigmas against ITK's filter along one axis after the other, and against the modal form in long double. (ITK's
// composite filters keep float between their passes, and its direct form loses digits as sigma grows: they are no
// references.)

#include "support/itkCudaGaussianTestUtilities.h"

#include <cmath>
#include <random>

namespace
{
using namespace itk;
using namespace itk::cuda::test;

// The largest sigma, in pixels, at which ITK's direct form still has the digits asked for.
constexpr double LargestSigmaOfDirectForm = 12.0;

template <unsigned int VDimension>
double
GetLargestDifference(const Image<double, VDimension> * a, const Image<double, VDimension> * b)
{
  const double * const x = a->GetBufferPointer();
  const double * const y = b->GetBufferPointer();
  double               worst = 0.0;
  for (size_t i = 0; i < a->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    const double difference = std::abs(x[i] - y[i]);
    worst = std::isfinite(difference) ? std::max(worst, difference) : std::numeric_limits<double>::infinity();
  }
  return worst;
}

/** Smoothing of an image with pixels in [0, 1). */
template <unsigned int VDimension>
void
CheckSmoothing(const Size<VDimension> & size, const std::vector<GaussianParameters> & passes)
{
  using ImageType = Image<double, VDimension>;
  using FilterType = CudaSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>;
  const auto                          input = MakeDataImage<ImageType>(MakeRegion(size), DataKind::Uniform);
  auto                                filter = FilterType::New();
  typename FilterType::SigmaArrayType sigmas;
  std::ostringstream                  what;
  typename ImageType::Pointer         modal = MakeDataImage<ImageType>(MakeRegion(size), DataKind::Uniform);
  typename ImageType::Pointer         direct = input;
  bool                                isDirect = true;
  what << "size " << size << ", sigma";
  for (const GaussianParameters & pass : passes)
  {
    sigmas[pass.Axis] = pass.Sigma;
    what << ' ' << pass.Sigma;
    isDirect = isDirect && pass.Sigma <= LargestSigmaOfDirectForm;
    ModalFilter<VDimension, long double>(modal, pass);
  }
  filter->SetInput(input);
  filter->SetSigmaArray(sigmas);
  const auto output = RunPoisoned(filter.GetPointer(), BackendEnum::Cuda);
  EXPECT_LE(GetLargestDifference<VDimension>(output, modal), DoubleAccuracy) << what.str();
  if (isDirect)
  {
    direct = Float64Reference<VDimension>(direct, passes);
    EXPECT_LE(GetLargestDifference<VDimension>(output, direct), DoubleAccuracy) << what.str();
  }
}

/** Images of random size: `shortest` to `longest` pixels a side, at most `pixels` in all. Sigma is 0.6 to 50 pixels. */
template <unsigned int VDimension>
void
CheckRandomImages(unsigned int count, double shortest, double longest, size_t pixels, uint64_t number)
{
  std::mt19937_64 generator(GetSeed() + number);
  const auto      uniform = [&generator] { return std::uniform_real_distribution<double>(0.0, 1.0)(generator); };
  for (unsigned int i = 0; i < count; ++i)
  {
    Size<VDimension>                size;
    std::vector<GaussianParameters> passes;
    // Half of them where ITK's filter is a reference as well.
    const double largestSigma = i % 2 == 0 ? LargestSigmaOfDirectForm : 50.0;
    do
    {
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        size[d] = static_cast<SizeValueType>(shortest + uniform() * (longest - shortest));
      }
    } while (MakeRegion(size).GetNumberOfPixels() > pixels);
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      GaussianParameters pass;
      pass.Axis = d;
      pass.Sigma = 0.6 * std::pow(largestSigma / 0.6, uniform());
      passes.push_back(pass);
    }
    CheckSmoothing<VDimension>(size, passes);
  }
}
} // namespace

using CudaGaussianDoubleGpuTest = GpuTest;

TEST_F(CudaGaussianDoubleGpuTest, PlanesHaveTheDigitsOfDouble)
{
  CheckRandomImages<2>(16, 300.0, 2000.0, size_t{ 1 } << 20, 1);
}

TEST_F(CudaGaussianDoubleGpuTest, VolumesHaveTheDigitsOfDouble)
{
  CheckRandomImages<3>(4, 20.0, 200.0, size_t{ 1 } << 20, 2);
}

// At the borders of the overlapping tiles of strided lines of double, whose window was that of float.
TEST_F(CudaGaussianDoubleGpuTest, LinesThatAreDividedHaveTheDigitsOfDouble)
{
  for (const SizeValueType length : { 256, 257, 300, 627, 1000, 8193 })
  {
    for (const double sigma : { 0.7, 1.4, 2.8, 2.95, 3.5, 5.3, 5.4, 12.0 })
    {
      CheckSmoothing<2>({ { 33, length } }, { { 0, 0, 0.7 }, { 1, 0, sigma } });
    }
  }
}

TEST(CudaGaussianReference, ModalFormInDoubleHasTheDigitsOfDouble)
{
  using ImageType = Image<double, 2>;
  const Size<2> size{ { 60, 400 } };
  for (const double sigma : { 0.6, 3.0, 12.0, 50.0 })
  {
    for (unsigned int order = 0; order < 3; ++order)
    {
      const GaussianParameters parameters{ 1, order, sigma };
      const auto               inDouble = MakeDataImage<ImageType>(MakeRegion(size), DataKind::Uniform);
      const auto               inLongDouble = MakeDataImage<ImageType>(MakeRegion(size), DataKind::Uniform);
      ModalFilter<2>(inDouble, parameters);
      ModalFilter<2, long double>(inLongDouble, parameters);
      EXPECT_LE(GetLargestDifference<2>(inDouble, inLongDouble), 1e-13 * KernelL1Norm(parameters))
        << "sigma " << sigma << ", order " << order;
    }
  }
}

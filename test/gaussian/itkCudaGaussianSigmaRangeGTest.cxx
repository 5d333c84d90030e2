// SPDX-License-Identifier: Apache-2.0

// Sigmas at both ends of their range. As sigma goes to 0, derivatives are differences of pixels; at any large sigma
// Deriche's results are those of the same kernel in long double.

#include "runtime/DetailNames.h"
#include "support/itkCudaExpectException.h"
#include "gaussian/host/HostPlan.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"

namespace itk::cuda::test
{
namespace
{
using Approximation = CudaFiltersEnums::Approximation;
using Mode = CudaFiltersEnums::BoundaryMode;
using gaussian::FilterLine;

constexpr double ConstantValue = -20.0;

// --------------------------------------------------------------------------------------------------------------- lines

class CudaGaussianSmallSigmaTest : public ::testing::TestWithParam<Approximation>
{
protected:
  /** The sigma, in pixels, below which derivatives are differences. */
  static double
  GetSmallestSigma()
  {
    return GetParam() == Approximation::Deriche ? 0.212 : 0.376;
  }

  /** The impulse response of pixels 0 to 11, by running a line. */
  static std::vector<double>
  GetResponse(unsigned int order, double sigma)
  {
    std::vector<double> line(81, 0.0);
    line[40] = 1.0;
    const auto kernel = CudaDetail::MakeGaussianImpulseResponse(GetParam(), order, sigma, 1.0, false);
    FilterLine(kernel, line.data(), line.data(), line.size());
    return { line.begin() + 40, line.begin() + 52 };
  }

  /** Returns the sampled derivative of the Gaussian, normalised in the same way as the kernels of the filters. */
  static std::vector<double>
  SampleResponse(unsigned int order, double sigma)
  {
    using Real = long double;
    const auto at = [sigma](unsigned int k, int n) {
      const Real x = static_cast<Real>(n) / static_cast<Real>(sigma);
      return (k == 0 ? Real(1) : k == 1 ? -x : x * x - 1) * std::exp(-x * x / 2);
    };
    Real sum = 0, smoothingSum = 0;
    for (int n = -40; n <= 40; ++n)
    {
      sum += at(order, n);
      smoothingSum += at(0, n);
    }
    const auto value = [&](int n) { return at(order, n) - (order == 2 ? sum / smoothingSum * at(0, n) : Real(0)); };
    Real       response = 0; // to a constant, a ramp, a parabola
    for (int n = -40; n <= 40; ++n)
    {
      response += order == 0 ? value(n) : order == 1 ? -n * value(n) : value(n) * n * n / 2;
    }
    std::vector<double> samples;
    for (int n = 0; n < 12; ++n)
    {
      samples.push_back(static_cast<double>(value(n) / response));
    }
    return samples;
  }

  static double
  GetDistance(const std::vector<double> & a, const std::vector<double> & b)
  {
    double worst = 0.0;
    for (size_t n = 0; n < a.size(); ++n)
    {
      const double difference = std::abs(a[n] - b[n]);
      worst = std::isfinite(difference) ? std::max(worst, difference) : std::numeric_limits<double>::infinity();
    }
    return worst;
  }
};
INSTANTIATE_TEST_SUITE_P(Approximation,
                         CudaGaussianSmallSigmaTest,
                         ::testing::Values(Approximation::Deriche, Approximation::Accurate));

/** The pixel at `n` of a line that continues as `mode` says, for n from -1 to its length. */
double
GetPixel(const std::vector<double> & line, std::ptrdiff_t n, Mode mode)
{
  const auto last = static_cast<std::ptrdiff_t>(line.size()) - 1;
  if (n >= 0 && n <= last)
  {
    return line[n];
  }
  switch (mode)
  {
    case Mode::Mirror:
      return line[n < 0 ? 1 : last - 1];
    case Mode::Wrap:
      return line[n < 0 ? last : 0];
    case Mode::Constant:
      return ConstantValue;
    default:
      return line[n < 0 ? 0 : last];
  }
}

double
GetDifference(const std::vector<double> & line, size_t n, unsigned int order, Mode mode)
{
  const auto   position = static_cast<std::ptrdiff_t>(n);
  const double before = GetPixel(line, position - 1, mode);
  const double behind = GetPixel(line, position + 1, mode);
  return order == 0 ? line[n] : order == 1 ? (behind - before) / 2.0 : behind - 2.0 * line[n] + before;
}

constexpr Mode Modes[] = { Mode::Nearest, Mode::Reflect, Mode::Mirror, Mode::Wrap, Mode::Constant };
} // namespace

TEST_P(CudaGaussianSmallSigmaTest, DerivativesAreDifferencesInTheLimit)
{
  std::vector<double> line(50);
  for (size_t n = 0; n < line.size(); ++n)
  {
    line[n] = 1000.0 + 100.0 * UniformRandom(n);
  }
  for (const double sigma : { 1e-300, 1e-12, 1e-3, 0.01, 0.03, 0.05, 0.06, 0.1, 0.2 })
  {
    for (const double spacing : { 1.0, -1.0, 1e8 })
    {
      for (const Mode mode : Modes)
      {
        for (const unsigned int order : { 1u, 2u })
        {
          const auto kernel = CudaDetail::MakeGaussianImpulseResponse(GetParam(), order, sigma, spacing, false);
          auto       filtered = line;
          FilterLine(kernel, line.data(), filtered.data(), line.size(), { mode, ConstantValue });
          std::vector<float> floats(line.begin(), line.end());
          FilterLine(kernel, floats.data(), floats.data(), line.size(), { mode, ConstantValue });
          for (size_t n = 0; n < line.size(); ++n)
          {
            const double sign = order == 1 && spacing < 0.0 ? -1.0 : 1.0;
            const double expected = sign * GetDifference(line, n, order, mode);
            // A few roundings of the pixels' differences, which are below 1100; those of the float pixels as well.
            ASSERT_NEAR(filtered[n], expected, 1100.0 * 16 * 0x1p-53)
              << "sigma " << sigma << ", spacing " << spacing << ", order " << order << ", " << mode << ", pixel " << n;
            ASSERT_NEAR(floats[n], expected, 1100.0 * 16 * 0x1p-24)
              << "sigma " << sigma << ", spacing " << spacing << ", order " << order << ", " << mode << ", pixel " << n;
          }
        }
      }
    }
  }
}

/** The errors of the exponentials themselves bound the kernels, so nothing stands out at any sigma: Accurate keeps
 * 1e-5, 1e-4 and 2e-3, and Deriche's constants, which are ITK's, give 4e-3, 4e-2 and 0.16 (the last two at 0.3 pixels).
 */
TEST_P(CudaGaussianSmallSigmaTest, FollowsTheSampledGaussianAtEverySigma)
{
  const bool   isAccurate = GetParam() == Approximation::Accurate;
  const double bounds[] = { isAccurate ? 1e-5 : 4e-3, isAccurate ? 1e-4 : 4e-2, isAccurate ? 2e-3 : 0.16 };
  for (double sigma = 0.15; sigma < 1.0; sigma *= 1.0005) // below it the reference loses its digits
  {
    for (unsigned int order = 0; order <= 2; ++order)
    {
      ASSERT_LE(GetDistance(GetResponse(order, sigma), SampleResponse(order, sigma)), bounds[order])
        << "sigma " << sigma << ", order " << order;
    }
  }
}

TEST_P(CudaGaussianSmallSigmaTest, GoesOverIntoDifferences)
{
  const bool   isAccurate = GetParam() == Approximation::Accurate;
  const double steps[] = { 1e-12, isAccurate ? 1.3e-5 : 2.3e-3, isAccurate ? 1.7e-5 : 1.8e-2 };
  for (unsigned int order = 0; order <= 2; ++order)
  {
    const double sigma = GetSmallestSigma();
    EXPECT_LE(GetDistance(GetResponse(order, sigma * (1.0 - 1e-14)), GetResponse(order, sigma)), steps[order])
      << "order " << order;
  }
}

// ------------------------------------------------------------------------------------------------------------- classes

namespace
{
template <typename TPixel>
using ImageOf = Image<TPixel, 3>;
using FloatImage = ImageOf<float>;
using DoubleImage = ImageOf<double>;

class CudaGaussianSigmaRangeTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGaussianSigmaRangeTest);

constexpr double SigmaOfSlices = 0.5;

/** Makes a volume of thick slices. All pixels of a slice have the same random value, so derivatives along x and y are
 * 0. */
FloatImage::Pointer
MakeSlices(double spacing)
{
  auto image = MakeImage<FloatImage>(MakeRegion<3>({ { 40, 9, 12 } }));
  for (SizeValueType i = 0; i < 40 * 9 * 12; ++i)
  {
    image->GetBufferPointer()[i] = static_cast<float>(100.0 * UniformRandom(i / (40 * 9)));
  }
  SetSpacing(image.GetPointer(), { 0.7, 1.0, spacing });
  return image;
}

/** Expects `value(i)` at pixel i to be the difference of slices over spacing^order, or its magnitude. Pixels are floats
 * of 100 at most, and 16 of their roundings are allowed. */
template <typename TValue>
void
ExpectDifferences(const FloatImage * input, unsigned int order, bool isMagnitude, const TValue & value)
{
  const double        spacing = input->GetSpacing()[2];
  std::vector<double> line(12);
  for (size_t z = 0; z < line.size(); ++z)
  {
    line[z] = input->GetBufferPointer()[z * 40 * 9];
  }
  const double scale = std::pow(spacing, -static_cast<double>(order));
  for (size_t i = 0; i < 40 * 9 * 12; ++i)
  {
    const double difference = GetDifference(line, i / (40 * 9), order, Mode::Nearest) * scale;
    ASSERT_NEAR(value(i), isMagnitude ? std::abs(difference) : difference, 100.0 * scale * 16 * 0x1p-24)
      << "pixel " << i << ", slices " << spacing << " apart";
  }
}

template <typename TFilter>
typename TFilter::Pointer
MakeFilter(const FloatImage * input, Approximation approximation)
{
  const auto filter = TFilter::New();
  filter->SetInput(input);
  filter->SetSigma(SigmaOfSlices);
  filter->SetApproximation(approximation);
  return filter;
}
} // namespace

TEST_P(CudaGaussianSigmaRangeTest, DerivativesOfThickSlicesAreDifferences)
{
  using Gradients = Image<CovariantVector<float, 3>, 3>;
  using Hessians = Image<SymmetricSecondRankTensor<float, 3>, 3>;
  for (const Approximation approximation : { Approximation::Deriche, Approximation::Accurate })
  {
    for (const double spacing : { 2.4, 5.0, 12.0, 15.0, 20.0, 50.0, 1e3, 1e6 })
    {
      const auto input = MakeSlices(spacing);
      {
        const auto filter =
          MakeFilter<CudaGradientMagnitudeRecursiveGaussianImageFilter<FloatImage, FloatImage>>(input, approximation);
        UpdateOn(filter.GetPointer(), GetParam());
        const auto * const pixels = filter->GetOutput()->GetBufferPointer();
        ExpectDifferences(input, 1, true, [pixels](size_t i) { return pixels[i]; });
      }
      {
        const auto filter =
          MakeFilter<CudaGradientRecursiveGaussianImageFilter<FloatImage, Gradients>>(input, approximation);
        UpdateOn(filter.GetPointer(), GetParam());
        const auto * const pixels = filter->GetOutput()->GetBufferPointer();
        ExpectDifferences(input, 1, false, [pixels](size_t i) { return pixels[i][2]; });
      }
      {
        const auto filter =
          MakeFilter<CudaLaplacianRecursiveGaussianImageFilter<FloatImage, FloatImage>>(input, approximation);
        UpdateOn(filter.GetPointer(), GetParam());
        const auto * const pixels = filter->GetOutput()->GetBufferPointer();
        // Along x and y the pixels are equal, and their second differences exactly 0.
        ExpectDifferences(input, 2, false, [pixels](size_t i) { return pixels[i]; });
      }
      {
        const auto filter =
          MakeFilter<CudaHessianRecursiveGaussianImageFilter<FloatImage, Hessians>>(input, approximation);
        UpdateOn(filter.GetPointer(), GetParam());
        const auto * const pixels = filter->GetOutput()->GetBufferPointer();
        ExpectDifferences(input, 2, false, [pixels](size_t i) { return pixels[i](2, 2); });
      }
    }
  }
}

/** ITK's direct form loses its digits as sigma^3: 1e-5 of the image's range at 1,000 pixels, more than the range from
 * 50,000 on. The reference is Deriche's kernel in complex modes, in long double. */
TEST_P(CudaGaussianSigmaRangeTest, DericheKeepsItsDigitsAtLargeSigma)
{
  const auto input = MakeDataImage<DoubleImage>(MakeRegion<3>({ { 300, 9, 8 } }), DataKind::Uniform, 200.0);
  for (const double sigma : { 1001.0, 1e4, 1e5, 1e6, 1e8 })
  {
    for (unsigned int order = 0; order <= 2; ++order)
    {
      const auto filter = CudaRecursiveGaussianImageFilter<DoubleImage, DoubleImage>::New();
      filter->SetInput(input);
      filter->SetSigma(sigma);
      filter->SetNormalizeAcrossScale(true);
      filter->SetOrder(static_cast<RecursiveGaussianImageFilterEnums::GaussianOrder>(order));
      UpdateOn(filter.GetPointer(), GetParam());
      const auto               expected = Duplicate(input.GetPointer());
      const GaussianParameters parameters{ 0, order, sigma, 1.0, true };
      const DericheHalfKernel  kernel(parameters);
      ForEachLine(expected.GetPointer(), 0, [&kernel](std::vector<double> & line) {
        ModalFilterLine<long double>(kernel, line);
      });
      // The normalisation contains (1 - p)^(order + 1), and 1 - p has a relative error of sigma 2^-53.
      const double bound = 200.0 * (1e-11 + 64.0 * sigma * 0x1p-53);
      const size_t count = input->GetBufferedRegion().GetNumberOfPixels();
      for (size_t i = 0; i < count; ++i)
      {
        const double actual = filter->GetOutput()->GetBufferPointer()[i];
        ASSERT_NEAR(actual, expected->GetBufferPointer()[i], bound)
          << "sigma " << sigma << ", order " << order << ", pixel " << i;
      }
    }
  }
}

TEST(CudaGaussianSigmaRange, TheReasonNamesASigmaThatITKsCodeCannotDo)
{
  const auto input = MakeConstantImage<FloatImage>({ { 6, 6, 6 } }, 1.0f);
  const auto filter = CudaSmoothingRecursiveGaussianImageFilter<FloatImage, FloatImage>::New();
  filter->SetInput(input);
  filter->SetBackend(BackendEnum::Host);
  filter->SetSigma(1000.0);
  filter->Update();
  EXPECT_EQ(filter->GetBackendReason().find("sigma"), std::string::npos) << filter->GetBackendReason();
  filter->SetSigma(1001.0);
  filter->Update();
  ExpectContains(filter->GetBackendReason(), "sigma is 1001 pixels");
}

/** Images of pixels that only ITK's code can filter. */
TEST(CudaGaussianSigmaRange, ASigmaThatITKsCodeCannotDoIsRefusedForOtherPixels)
{
  using LongImage = Image<int64_t, 3>;
  const auto filter = CudaSmoothingRecursiveGaussianImageFilter<LongImage, LongImage>::New();
  filter->SetInput(MakeConstantImage<LongImage>({ { 6, 6, 6 } }, 1));
  filter->SetSigma(1000.0);
  EXPECT_NO_THROW(filter->Update());
  filter->SetSigma(2e4);
  ExpectContains(GetException([&filter] { filter->Update(); }), "Sigma is 20000 pixels");
}
} // namespace itk::cuda::test

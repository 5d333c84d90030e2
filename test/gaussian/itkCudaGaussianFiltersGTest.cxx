// SPDX-License-Identifier: Apache-2.0

// All recursive Gaussian filters, with both approximations and in all boundary modes: against derivatives in float64,
// pass by pass along the axes, and on the host against ITK's classes.

#include "itkCudaDetailWorkScope.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaGaussianRunner.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"

#include <sstream>

namespace itk::cuda::test
{
namespace
{
using Approximation = CudaFiltersEnums::Approximation;

class CudaGaussianFiltersTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGaussianFiltersTest);

std::array<size_t, 4>
GetSize(CudaComponentType type)
{
  return type == CudaComponentType::Float ? std::array<size_t, 4>{ { 33, 31, 17, 1 } }
                                          : std::array<size_t, 4>{ { 131, 67, 1, 1 } };
}

bool
RunsITKsCode(const GaussianCase & gaussianCase, BackendEnum backend)
{
  return backend == BackendEnum::Host && gaussianCase.Approximation == Approximation::Deriche &&
         gaussianCase.Boundary.Mode == Mode::Nearest;
}

/** Calls function(case, data) for each filter, type, approximation and mode, with equal and unequal
 * sigmas. The other parameters and the data change from case to case. */
template <typename TFunction>
void
ForEachCase(const TFunction & function)
{
  constexpr std::array<double, 3> sigmas[] = {
    { { 0.8, 0.8, 0.8 } }, { { 2.0, 2.0, 2.0 } }, { { 1.0, 3.0, 9.0 } }, { { 5.0, 1.0, 1.0 } }, { { 12.0, 12.0, 12.0 } }
  };
  unsigned int number = 0;
  for (const GaussianFilter filter : AllGaussianFilters)
  {
    for (const CudaComponentType type : GaussianRunnerTypes)
    {
      for (const Approximation approximation : AllApproximations)
      {
        for (const Mode mode : AllModes)
        {
          for (const auto & sigma : sigmas)
          {
            GaussianCase gaussianCase;
            gaussianCase.Filter = filter;
            gaussianCase.Type = type;
            gaussianCase.Approximation = approximation;
            gaussianCase.Sigma = sigma;
            gaussianCase.Direction = number % GetDimension(type);
            gaussianCase.Order = number / 2 % 3;
            gaussianCase.NormalizeAcrossScale = number % 2 == 1;
            gaussianCase.Boundary = { mode, 0.75 };
            gaussianCase.Spacing = { { 0.5, 1.25, 2.0 } };
            gaussianCase.IsTurned = filter == GaussianFilter::Gradient && number / 3 % 2 == 1;
            const DataKind kind = AllDataKinds[(number + number / 5) % 5];
            SCOPED_TRACE(testing::Message() << gaussianCase << ", " << DataKindToString(kind));
            function(gaussianCase, kind);
            ++number;
          }
        }
      }
    }
  }
}

TEST_P(CudaGaussianFiltersTest, GiveTheDerivativesInFloat64)
{
  double worst = 0.0;
  ForEachCase([&](const GaussianCase & gaussianCase, DataKind kind) {
    const Volume input = MakeDataVolume(GetSize(gaussianCase.Type), kind);
    const double bound = GetAccuracy(gaussianCase, GetParam());
    const double error =
      GetLargestError(RunFilter(gaussianCase, input, GetParam()), ComputeReference(gaussianCase, input));
    EXPECT_LE(error, bound);
    worst = std::max(worst, error / bound);
  });
  std::cout << "[ accuracy ] largest error: " << worst << " of its bound" << std::endl;
}

TEST(CudaGaussianFilters, HaveTheBitsOfITKOnTheHost)
{
  ForEachCase([&](const GaussianCase & gaussianCase, DataKind kind) {
    if (RunsITKsCode(gaussianCase, BackendEnum::Host))
    {
      const Volume input = MakeDataVolume(GetSize(gaussianCase.Type), kind);
      EXPECT_EQ(RunFilter(gaussianCase, input, BackendEnum::Host), RunITKsFilter(gaussianCase, input));
    }
  });
}

// ITK's filters demand four pixels along each axis; so does the mode Nearest.
TEST_P(CudaGaussianFiltersTest, ShortLinesAreFilteredInOtherModes)
{
  ForEachCase([&](const GaussianCase & gaussianCase, DataKind) {
    for (const std::array<size_t, 4> & size : { std::array<size_t, 4>{ { 1, 1, 1, 1 } }, { { 2, 3, 1, 1 } } })
    {
      const Volume input = MakeDataVolume(size, DataKind::Uniform, 1.0, 0.5);
      if (gaussianCase.Boundary.Mode == Mode::Nearest)
      {
        EXPECT_THROW(RunFilter(gaussianCase, input, GetParam()), ExceptionObject);
      }
      else
      {
        const double error =
          GetLargestError(RunFilter(gaussianCase, input, GetParam()), ComputeReference(gaussianCase, input));
        EXPECT_LE(error, GetAccuracy(gaussianCase, GetParam()));
      }
    }
  });
}

/** Makes a volume of thick slices. All pixels of a slice have the same random value, so derivatives along x and y are
 * 0. */
Volume
MakeSlices()
{
  Volume volume{ { { 40, 9, 12, 1 } }, {} };
  for (size_t i = 0; i < volume.GetNumberOfPixels(); ++i)
  {
    volume.Pixels.push_back(static_cast<float>(100.0 * UniformRandom(i / volume.GetStride(2))));
  }
  return volume;
}

/** Far below a pixel the derivatives are differences of pixels: of 12 slices of which the outer ones repeat. */
TEST_P(CudaGaussianFiltersTest, DerivativesOfThickSlicesAreDifferences)
{
  for (const Approximation approximation : AllApproximations)
  {
    for (const double spacing : { 2.4, 5.0, 12.0, 15.0, 20.0, 50.0, 1e3, 1e6 })
    {
      for (const GaussianFilter filter :
           { GaussianFilter::Gradient, GaussianFilter::Magnitude, GaussianFilter::Laplacian, GaussianFilter::Hessian })
      {
        GaussianCase gaussianCase;
        gaussianCase.Filter = filter;
        gaussianCase.Approximation = approximation;
        gaussianCase.SetSigma(0.5);
        gaussianCase.Spacing = { { 0.7, 1.0, spacing } };
        SCOPED_TRACE(testing::Message() << gaussianCase);
        const Volume input = MakeSlices();
        const auto   values = RunFilter(gaussianCase, input, GetParam());
        const bool   isFirst = filter == GaussianFilter::Gradient || filter == GaussianFilter::Magnitude;
        const size_t components = values.size() / input.Pixels.size();
        const double scale = 100.0 * std::pow(spacing, isFirst ? -1.0 : -2.0);
        for (size_t i = 0; i < input.Pixels.size(); ++i)
        {
          const size_t stride = input.GetStride(2);
          const double before = input.Pixels[i < stride ? i : i - stride];
          const double behind = input.Pixels[i + stride < input.Pixels.size() ? i + stride : i];
          const double difference =
            isFirst ? (behind - before) / 200.0 * scale : (behind - 2.0 * input.Pixels[i] + before) / 100.0 * scale;
          // The derivative along z is the last component. Pixels are floats, and 16 of their roundings are allowed.
          ASSERT_NEAR(values[i * components + components - 1],
                      filter == GaussianFilter::Magnitude ? std::abs(difference) : difference,
                      scale * 16 * 0x1p-24)
            << "pixel " << i;
        }
      }
    }
  }
}

/** ITK's direct form loses its digits as sigma^3: 1e-5 of the image's range at 1,000 pixels, more than the range from
 * 50,000 on. The reference is Deriche's kernel in complex modes, in long double. */
TEST_P(CudaGaussianFiltersTest, DericheKeepsItsDigitsAtLargeSigma)
{
  const Volume input = MakeDataVolume({ { 300, 9, 1, 1 } }, DataKind::Uniform, 200.0);
  for (const double sigma : { 1001.0, 1e4, 1e5, 1e6, 1e8 })
  {
    for (unsigned int order = 0; order <= 2; ++order)
    {
      GaussianCase gaussianCase;
      gaussianCase.Filter = GaussianFilter::Recursive;
      gaussianCase.Type = CudaComponentType::Double;
      gaussianCase.Order = order;
      gaussianCase.NormalizeAcrossScale = true;
      gaussianCase.SetSigma(sigma);
      Volume                expected = input;
      const ReferenceKernel kernel(GaussianParameters{ 0, order, sigma, 1.0, true });
      expected.ForEachLine(
        0, [&kernel](const std::vector<double> & line) { return FilterContinuedLine<long double>(kernel, line); });
      // The normalisation contains (1 - p)^(order + 1), and 1 - p has a relative error of sigma 2^-53.
      EXPECT_LE(LargestDifference(RunFilter(gaussianCase, input, GetParam()), expected.Pixels),
                200.0 * (1e-11 + 64.0 * sigma * 0x1p-53))
        << "sigma " << sigma << ", order " << order;
    }
  }
}

using ImageType = Image<float, 2>;
using SmoothingType = CudaSmoothingRecursiveGaussianImageFilter<ImageType>;

TEST(CudaGaussianFilters, ReasonNamesASigmaThatITKsCodeCannotDo)
{
  const auto filter = SmoothingType::New();
  filter->SetInput(MakeConstantImage<ImageType>({ { 6, 6 } }, 1.0f));
  filter->SetBackend(BackendEnum::Host);
  filter->SetSigma(1000.0);
  filter->Update();
  EXPECT_EQ(filter->GetBackendReason().find("sigma"), std::string::npos) << filter->GetBackendReason();
  filter->SetSigma(1001.0);
  filter->Update();
  ExpectContains(filter->GetBackendReason(), "sigma is 1001 pixels");
}

class CudaGaussianFiltersGpuTest : public GpuTest
{
protected:
  void
  TearDown() override
  {
    CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
  }
};

TEST_F(CudaGaussianFiltersGpuTest, ALimitOfDeviceMemoryThatIsTooLowIsNamed)
{
  constexpr size_t limit = 1 << 20;
  const auto       filter = SmoothingType::New();
  filter->SetInput(MakeConstantImage<ImageType>({ { 1024, 1024 } }, 1.0f)); // 4 MiB
  filter->SetStreaming("off");                                              // slabs may fit
  CudaFiltersConfiguration::SetDeviceMemoryLimit(limit);
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Host);
  const std::string reason = filter->GetBackendReason();
  filter->SetBackend(BackendEnum::Cuda);
  const std::string error = GetException([&filter] { filter->Update(); });
  for (const std::string & part :
       { std::string("asked"), std::string("free"), std::string("limit"), std::to_string(limit) })
  {
    ExpectContains(reason, part);
    ExpectContains(error, part);
  }
  EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), 0u);
  CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
  UpdateOn(filter.GetPointer(), BackendEnum::Cuda);
}

TEST(CudaGaussianFilters, ChangesOfTheirOwnParametersRunThemAgain)
{
  const auto filter = SmoothingType::New();
  const auto expectChange = [&](bool expected, const auto & change) {
    const auto before = filter->GetMTime();
    change();
    EXPECT_EQ(filter->GetMTime() > before, expected);
  };
  EXPECT_EQ(filter->GetApproximation(), Approximation::Deriche);
  expectChange(true, [&] { filter->SetApproximation("aCCurate"); });
  EXPECT_EQ(filter->GetApproximation(), Approximation::Accurate);
  expectChange(false, [&] { filter->SetApproximation(Approximation::Accurate); });
  EXPECT_EQ(filter->GetBoundaryMode(), Mode::Nearest);
  EXPECT_EQ(filter->GetBoundaryValue(), 0.0);
  expectChange(true, [&] { filter->SetBoundaryMode("grid-constant"); });
  EXPECT_EQ(filter->GetBoundaryMode(), Mode::Constant);
  expectChange(false, [&] { filter->SetBoundaryMode(Mode::Constant); });
  expectChange(true, [&] { filter->SetBoundaryValue(2.0); });
  expectChange(false, [&] { filter->SetBoundaryValue(2.0); });
  std::ostringstream text;
  filter->Print(text);
  ExpectContains(text.str(), "Approximation: itk::CudaFiltersEnums::Approximation::Accurate");
  ExpectContains(text.str(), "BoundaryMode: itk::CudaFiltersEnums::BoundaryMode::Constant");
  ExpectContains(text.str(), "BoundaryValue: 2");
}

/** Images of pixels that only ITK's code can filter. */
TEST(CudaGaussianFilters, RefuseWhatITKsCodeCannotDoForOtherPixels)
{
  using LongImage = Image<int64_t, 2>;
  const auto filter = CudaSmoothingRecursiveGaussianImageFilter<LongImage>::New();
  filter->SetInput(MakeConstantImage<LongImage>({ { 8, 8 } }, 1));
  filter->SetSigma(2e4);
  ExpectContains(GetException([&filter] { filter->Update(); }), "Sigma is 20000 pixels");
  filter->SetSigma(1000.0);
  EXPECT_NO_THROW(filter->Update());
  filter->SetBoundaryMode(Mode::Reflect);
  ExpectContains(GetException([&] { filter->Update(); }), "need Deriche and Nearest: the pixel type is not supported");
  filter->SetBoundaryMode(Mode::Nearest);
  EXPECT_NO_THROW(filter->Update());
}

TEST(CudaGaussianFilters, StayOnTheHostInsideAFilterThatRunsThere)
{
  const auto filter = SmoothingType::New();
  filter->SetInput(MakeConstantImage<ImageType>({ { 8, 8 } }, 1.0f));
  EXPECT_FALSE(CudaDetail::CudaHostScope::IsActive());
  {
    const CudaDetail::CudaHostScope outer;
    {
      const CudaDetail::CudaHostScope inner;
    }
    EXPECT_TRUE(CudaDetail::CudaHostScope::IsActive());
    filter->Update();
  }
  EXPECT_FALSE(CudaDetail::CudaHostScope::IsActive());
  EXPECT_EQ(filter->GetBackendUsed(), BackendEnum::Host);
  EXPECT_EQ(filter->GetBackendReason(), "inside a filter that runs on the host");
}
} // namespace
} // namespace itk::cuda::test

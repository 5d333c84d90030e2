// SPDX-License-Identifier: Apache-2.0

// BoundaryMode and BoundaryValue of the filters: what they hand to the plan, and where such filters run.

#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"

namespace itk::cuda::test
{
namespace
{
using Approximation = CudaFiltersEnums::Approximation;
using Mode = CudaFiltersEnums::BoundaryMode;
using ImageType = Image<float, 3>;

constexpr Mode OtherModes[] = { Mode::Reflect, Mode::Mirror, Mode::Wrap, Mode::Constant };

ImageType::Pointer
MakeInput(const Size<3> & size = { { 21, 9, 5 } })
{
  const auto image = MakeDataImage<ImageType>(MakeRegion<3>(size), DataKind::SmallOffset);
  test::SetSpacing(image.GetPointer(), { { 0.5, 1.0, 2.0 } });
  return image;
}

/** A filter's result in a mode is that of the plan in this mode, to the bit. */
template <typename TFilter, typename TMakePlan>
void
Expect_result_of_plan(const TMakePlan & makePlan)
{
  using OutputImageType = typename TFilter::OutputImageType;
  for (const Approximation approximation : { Approximation::Deriche, Approximation::Accurate })
  {
    for (const Mode mode : OtherModes)
    {
      const auto input = MakeInput();
      const auto filter = TFilter::New();
      SCOPED_TRACE(std::string(filter->GetNameOfClass()) + testing::PrintToString(static_cast<int>(mode)));
      filter->SetInput(input);
      filter->SetSigma(3.0);
      filter->SetApproximation(approximation);
      filter->SetBackend(BackendEnum::Host);
      filter->SetBoundaryMode(mode);
      filter->SetBoundaryValue(950.0);
      filter->Update();

      CudaDetail::CudaGaussianParameters parameters;
      parameters.Sigma = std::vector<double>(3, 3.0);
      parameters.Spacing = std::vector<double>{ 0.5, 1.0, 2.0 };
      parameters.Approximation = approximation;
      parameters.Boundary = { mode, 950.0 };
      const auto expected = OutputImageType::New();
      expected->CopyInformation(input);
      expected->SetRegions(input->GetBufferedRegion());
      expected->Allocate();
      CudaDetail::CudaRunOnHost(
        makePlan(parameters),
        CudaDetail::MakeCudaImageView(static_cast<const ImageType *>(input), input->GetBufferedRegion()),
        CudaDetail::MakeCudaImageView(static_cast<const OutputImageType *>(expected), input->GetBufferedRegion()),
        MultiThreaderBase::New(),
        nullptr);
      const auto & region = input->GetBufferedRegion();
      EXPECT_EQ(std::memcmp(filter->GetOutput()->GetBufferPointer(),
                            expected->GetBufferPointer(),
                            region.GetNumberOfPixels() * sizeof(typename OutputImageType::PixelType)),
                0);

      filter->SetBoundaryMode(Mode::Nearest);
      filter->Update();
      EXPECT_NE(std::memcmp(filter->GetOutput()->GetBufferPointer(),
                            expected->GetBufferPointer(),
                            region.GetNumberOfPixels() * sizeof(typename OutputImageType::PixelType)),
                0)
        << "Nearest gave the same";
    }
  }
}

TEST(CudaGaussianBoundaryFilters, GiveThePlanTheirMode)
{
  Expect_result_of_plan<CudaRecursiveGaussianImageFilter<ImageType>>(
    [](const CudaDetail::CudaGaussianParameters & parameters) {
      return CudaDetail::MakeGaussianLinePlan(
        0, CudaDetail::MakeGaussianImpulseResponse(parameters.Approximation, 0, 3.0, 0.5, false), parameters.Boundary);
    });
  Expect_result_of_plan<CudaSmoothingRecursiveGaussianImageFilter<ImageType>>(CudaDetail::MakeSmoothingPlan);
  Expect_result_of_plan<CudaGradientMagnitudeRecursiveGaussianImageFilter<ImageType>>(
    CudaDetail::MakeGradientMagnitudePlan);
  Expect_result_of_plan<CudaLaplacianRecursiveGaussianImageFilter<ImageType>>(CudaDetail::MakeLaplacianPlan);
  Expect_result_of_plan<CudaHessianRecursiveGaussianImageFilter<ImageType>>(CudaDetail::MakeHessianPlan);
  Expect_result_of_plan<CudaGradientRecursiveGaussianImageFilter<ImageType>>(
    [](const CudaDetail::CudaGaussianParameters & parameters) {
      return CudaDetail::MakeGradientPlan(parameters, { 1, 0, 0, 0, 1, 0, 0, 0, 1 });
    });
}

/** What a filter gives where it may choose: where it ran, and its pixels. */
struct Smoothed
{
  BackendEnum         Used;
  std::string         Reason;
  std::vector<double> Pixels;
};

Smoothed
Smooth(Mode mode, BackendEnum backend)
{
  const auto filter = CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(MakeInput());
  filter->SetSigma(3.0);
  filter->SetBoundaryMode(mode);
  filter->SetBoundaryValue(950.0);
  filter->SetBackend(backend);
  filter->Update();
  const float * const pixels = filter->GetOutput()->GetBufferPointer();
  const std::string   reason = filter->GetBackendReason();
  return { filter->GetBackendUsed(),
           reason.substr(0, reason.find(',')), // without the memory, of which modes need more or less
           std::vector<double>(pixels, pixels + 21 * 9 * 5) };
}

TEST(CudaGaussianBoundaryFilters, RunWhereNearestDoesAndGiveTheHostsPixels)
{
  const Smoothed nearest = Smooth(Mode::Nearest, BackendEnum::Automatic);
  for (const Mode mode : OtherModes)
  {
    const Smoothed found = Smooth(mode, BackendEnum::Automatic);
    EXPECT_EQ(found.Used, nearest.Used) << mode;
    EXPECT_EQ(found.Reason, nearest.Reason) << mode;
    const Smoothed host = Smooth(mode, BackendEnum::Host);
    EXPECT_EQ(host.Used, BackendEnum::Host);
    for (size_t n = 0; n < host.Pixels.size(); ++n)
    {
      ASSERT_NEAR(found.Pixels[n], host.Pixels[n], 1e-6 * 1100.0) << mode << ", pixel " << n;
    }
  }
}

TEST(CudaGaussianBoundaryFilters, OtherModesTakeShortLines)
{
  using FilterType = CudaGradientMagnitudeRecursiveGaussianImageFilter<ImageType>;
  for (const Mode mode : OtherModes)
  {
    for (const Size<3> & size : { Size<3>{ { 1, 1, 1 } }, Size<3>{ { 3, 1, 2 } }, Size<3>{ { 2, 30, 1 } } })
    {
      const auto filter = FilterType::New();
      filter->SetInput(MakeInput(size));
      filter->SetBoundaryMode(mode);
      filter->SetBoundaryValue(1000.0);
      EXPECT_NO_THROW(filter->Update());
      EXPECT_EQ(filter->GetOutput()->GetBufferedRegion().GetSize(), size);
      EXPECT_TRUE(std::isfinite(filter->GetOutput()->GetPixel({ { 0, 0, 0 } })));

      filter->SetBoundaryMode(Mode::Nearest);
      ExpectContains(GetException([&] { filter->Update(); }), "; this filter requires at least four");
      filter->SetBoundaryMode(mode);
      EXPECT_NO_THROW(filter->Update());
    }
  }
  const auto filter = CudaRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(MakeInput({ { 2, 2, 2 } }));
  filter->SetDirection(1);
  ExpectContains(GetException([&] { filter->Update(); }), "less than 4");
  filter->SetBoundaryMode("wrap");
  EXPECT_NO_THROW(filter->Update());
  filter->SetDirection(3);
  ExpectContains(GetException([&] { filter->Update(); }), "Direction selected for filtering is greater");
}

TEST(CudaGaussianBoundaryFilters, RefuseAValueThatIsNotFinite)
{
  const auto filter = CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(MakeInput());
  filter->SetBoundaryMode("constant");
  filter->SetBoundaryValue(std::numeric_limits<double>::quiet_NaN());
  ExpectContains(GetException([&] { filter->Update(); }), "BoundaryValue is nan; it must be finite");
  filter->SetBoundaryValue(3.0);
  EXPECT_NO_THROW(filter->Update());
}

TEST(CudaGaussianBoundaryFilters, RefuseOtherModesForTypesThatOnlyITKKnows)
{
  using LongImage = Image<long long, 2>;
  const auto image = LongImage::New();
  image->SetRegions(Size<2>{ { 8, 8 } });
  image->Allocate(true);
  const auto filter = CudaSmoothingRecursiveGaussianImageFilter<LongImage>::New();
  filter->SetInput(image);
  filter->SetBoundaryMode(Mode::Reflect);
  ExpectContains(GetException([&] { filter->Update(); }), "need Deriche and Nearest: the pixel type is not supported");
  filter->SetBoundaryMode(Mode::Nearest);
  EXPECT_NO_THROW(filter->Update());
}

TEST(CudaGaussianBoundaryFilters, ConstantIntegersStayWhatTheyAre)
{
  using ByteImage = Image<unsigned char, 2>;
  const auto image = ByteImage::New();
  image->SetRegions(Size<2>{ { 3, 200 } });
  image->Allocate();
  image->FillBuffer(99);
  for (const Mode mode : OtherModes)
  {
    const auto filter = CudaSmoothingRecursiveGaussianImageFilter<ByteImage>::New();
    filter->SetInput(image);
    filter->SetSigma(30.0);
    filter->SetBoundaryMode(mode);
    filter->SetBoundaryValue(99.0);
    filter->Update();
    const auto * const pixels = filter->GetOutput()->GetBufferPointer();
    EXPECT_EQ(std::count(pixels, pixels + 600, 99), 600) << mode;
  }
}

/** Pieces of an image are filtered as whole lines. */
TEST(CudaGaussianBoundaryFilters, PartsOfTheOutputHaveTheBitsOfTheWhole)
{
  using FilterType = CudaRecursiveGaussianImageFilter<ImageType>;
  const auto input = MakeInput();
  for (const Mode mode : OtherModes)
  {
    const auto whole = FilterType::New();
    const auto part = FilterType::New();
    for (const auto & filter : { whole, part })
    {
      filter->SetInput(input);
      filter->SetDirection(1);
      filter->SetSigma(4.0);
      filter->SetBoundaryMode(mode);
    }
    whole->Update();
    const auto region = ImageRegion<3>({ { 5, 3, 1 } }, { { 7, 2, 3 } });
    part->GetOutput()->SetRequestedRegion(region);
    part->Update();
    ImageRegionIteratorWithIndex<ImageType> it(part->GetOutput(), region);
    for (; !it.IsAtEnd(); ++it)
    {
      ASSERT_EQ(it.Get(), whole->GetOutput()->GetPixel(it.GetIndex())) << mode;
    }
  }
}

TEST(CudaGaussianBoundaryFilters, PixelsThatAreNotFiniteSpoilTheirLine)
{
  const Index<3> bad{ { 7, 3, 2 } };
  for (const Mode mode : OtherModes)
  {
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      const auto smooth = [&](const ImageType * input) {
        const auto filter = CudaRecursiveGaussianImageFilter<ImageType>::New();
        filter->SetInput(input);
        filter->SetDirection(axis);
        filter->SetSigma(2.0);
        filter->SetBoundaryMode(mode);
        filter->Update();
        ImageType::Pointer output = filter->GetOutput();
        output->DisconnectPipeline();
        return output;
      };
      const auto good = smooth(MakeInput());
      const auto input = MakeInput();
      input->SetPixel(bad, std::numeric_limits<float>::quiet_NaN());
      const auto                              found = smooth(input);
      ImageRegionIteratorWithIndex<ImageType> it(found, found->GetBufferedRegion());
      for (; !it.IsAtEnd(); ++it)
      {
        Index<3> onLine = it.GetIndex();
        onLine[axis] = bad[axis];
        if (onLine != bad)
        {
          ASSERT_EQ(it.Get(), good->GetPixel(it.GetIndex())) << mode << ", axis " << axis;
        }
      }
      EXPECT_FALSE(std::isfinite(found->GetPixel(bad))) << mode << ", axis " << axis;
    }
  }
}

TEST(CudaGaussianBoundaryFilters, ChangesOfTheParametersRunTheFilterAgain)
{
  const auto filter = CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
  EXPECT_EQ(filter->GetBoundaryMode(), Mode::Nearest);
  EXPECT_EQ(filter->GetBoundaryValue(), 0.0);
  const auto expectChange = [&](bool expected, const auto & change) {
    const auto before = filter->GetMTime();
    change();
    EXPECT_EQ(filter->GetMTime() > before, expected);
  };
  expectChange(true, [&] { filter->SetBoundaryMode("grid-constant"); });
  EXPECT_EQ(filter->GetBoundaryMode(), Mode::Constant);
  expectChange(false, [&] { filter->SetBoundaryMode(Mode::Constant); });
  expectChange(true, [&] { filter->SetBoundaryValue(2.0); });
  expectChange(false, [&] { filter->SetBoundaryValue(2.0); });
  std::ostringstream text;
  filter->Print(text);
  ExpectContains(text.str(), "BoundaryMode: itk::CudaFiltersEnums::BoundaryMode::Constant");
  ExpectContains(text.str(), "BoundaryValue: 2");
}
} // namespace
} // namespace itk::cuda::test

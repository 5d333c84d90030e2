// SPDX-License-Identifier: Apache-2.0

// Runs of plans on whole images, on the host and on the GPU: lines of every length, sigma, order and boundary mode, and
// images of all pixel types, against sweeps in float64 over padded lines.

#include "itkCudaDetailGaussianPlan.h"
#include "support/itkCudaGaussianRunner.h"

#include <random>

namespace itk::cuda::test
{
namespace
{
using namespace CudaDetail;
using Approximation = CudaFiltersEnums::Approximation;
using Type = CudaComponentType;

constexpr Type AllTypes[] = { Type::UChar, Type::Char, Type::UShort, Type::Short,
                              Type::UInt,  Type::Int,  Type::Float,  Type::Double };

constexpr double AllSigmas[] = { 0.5, 1.0, 4.0, 20.0, 50.0, 100.0, 200.0, 500.0 };

class CudaGaussianPlanRunTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGaussianPlanRunTest);

/** What runs of a single pass are compared with: largest errors in units of max|x| times the kernel's L1 norm. */
template <typename TReal = double>
double
GetErrorOfPass(const Volume &               input,
               const GaussianParameters &   parameters,
               Type                         type,
               BackendEnum                  backend,
               Approximation                approximation = Approximation::Deriche,
               const CudaGaussianBoundary & boundary = {})
{
  const auto impulse = MakeGaussianImpulseResponse(approximation, parameters.Order, parameters.Sigma, 1.0, false);
  const auto found = RunPlan(MakeGaussianLinePlan(parameters.Axis, impulse, boundary), input, type, type, backend);
  const ReferenceKernel kernel = MakeReferenceKernel(approximation, parameters);
  Volume                expected = input;
  expected.ForEachLine(parameters.Axis, [&](const std::vector<double> & line) {
    return FilterContinuedLine<TReal>(kernel, line, boundary);
  });
  return LargestDifference(found, expected.Pixels) / (LargestOf(input.Pixels) * L1Norm(kernel));
}

/** Images whose size along one axis takes each of these lengths. */
struct LinesOfAnAxis
{
  unsigned int          Axis;
  std::array<size_t, 4> Others;
  std::vector<size_t>   Lengths;
  std::vector<DataKind> Kinds;
};

/** Rounds to float, so that the reference sees what the run sees. */
Volume
MakeFloatVolume(const std::array<size_t, 4> & size, DataKind kind)
{
  Volume volume = MakeDataVolume(size, kind);
  for (double & pixel : volume.Pixels)
  {
    pixel = static_cast<float>(pixel);
  }
  return volume;
}

void
ExpectAccurateLines(BackendEnum backend, const LinesOfAnAxis & lines)
{
  double worst = 0.0;
  for (const size_t length : lines.Lengths)
  {
    for (const DataKind kind : lines.Kinds)
    {
      std::array<size_t, 4> size = lines.Others;
      size[lines.Axis] = length;
      const Volume input = MakeFloatVolume(size, kind);
      for (unsigned int order = 0; order < 3; ++order)
      {
        for (const double sigma : AllSigmas)
        {
          const double error = GetErrorOfPass(input, { lines.Axis, order, sigma }, Type::Float, backend);
          EXPECT_LE(error, FloatAccuracy(sigma))
            << DataKindToString(kind) << ", size " << testing::PrintToString(size) << ", axis " << lines.Axis
            << ", order " << order << ", sigma " << sigma;
          worst = std::max(worst, error / FloatAccuracy(sigma));
        }
      }
    }
  }
  std::cout << "[ accuracy ] axis " << lines.Axis << ": largest error " << worst << " of its bound" << std::endl;
}

const std::vector<DataKind> AllKinds(std::begin(AllDataKinds), std::end(AllDataKinds));
/** Around the widths of warps, segments and tiles, and lengths that are no multiple of anything. */
const std::vector<size_t> ShortLengths = { 4, 5, 31, 33, 255, 256, 257, 511, 512, 513, 1031 };
/** Lines longer than a block can hold. */
const std::vector<size_t> LongLengths = { 4099, 8191, 8193, 16383, 16384, 16385, 32769, 100000 };

TEST_P(CudaGaussianPlanRunTest, LinesOfAnyLengthAndSigmaAreAccurate)
{
  ExpectAccurateLines(GetParam(), { 0, { { 0, 33, 1, 1 } }, ShortLengths, AllKinds });
  ExpectAccurateLines(GetParam(), { 1, { { 33, 0, 1, 1 } }, ShortLengths, AllKinds });
  // Fewer and more columns than a warp has lanes, and images of one, three and four axes.
  ExpectAccurateLines(GetParam(), { 0, { { 0, 1, 1, 1 } }, { 4, 257 }, { DataKind::SmallOffset } });
  ExpectAccurateLines(GetParam(), { 1, { { 1, 0, 1, 1 } }, { 4, 257 }, { DataKind::SmallOffset } });
  ExpectAccurateLines(GetParam(), { 1, { { 65, 0, 1, 1 } }, { 31, 513 }, { DataKind::SmallOffset } });
  ExpectAccurateLines(GetParam(), { 2, { { 3, 5, 0, 1 } }, { 4, 33, 1031 }, { DataKind::LargeOffset } });
  ExpectAccurateLines(GetParam(), { 1, { { 33, 0, 1, 3 } }, { 4, 65 }, { DataKind::Impulse } });
  ExpectAccurateLines(GetParam(), { 3, { { 1, 5, 3, 0 } }, { 4, 255 }, { DataKind::Impulse } });
}

TEST_P(CudaGaussianPlanRunTest, LongLinesAreAccurateSlow)
{
  ExpectAccurateLines(GetParam(), { 0, { { 0, 3, 1, 1 } }, LongLengths, AllKinds });
  ExpectAccurateLines(GetParam(), { 1, { { 3, 0, 1, 1 } }, LongLengths, AllKinds });
}

double
Uniform(std::mt19937 & generator, double a, double b)
{
  return std::uniform_real_distribution<double>(a, b)(generator);
}

/** An image of one to four axes, some of them of one to three pixels. */
Volume
DrawVolume(std::mt19937 & generator, unsigned int dimension, Type type)
{
  Volume       volume;
  const double largest[] = { 300, 60, 24, 12 };
  for (unsigned int d = 0; d < dimension; ++d)
  {
    const bool isShort = Uniform(generator, 0, 1) < 0.3;
    volume.Size[d] = static_cast<size_t>(Uniform(generator, 1, isShort ? 4 : largest[dimension - 1]));
  }
  const double offset = Uniform(generator, 0, 1) < 0.3 ? 1000.0 : 0.0;
  for (size_t i = 0; i < volume.GetNumberOfPixels(); ++i)
  {
    const double pixel = offset + Uniform(generator, -1, 1);
    volume.Pixels.push_back(type == Type::Float ? static_cast<float>(pixel) : pixel);
  }
  return volume;
}

/** Random sizes, sigmas, spacings and orders, in all modes. */
TEST_P(CudaGaussianPlanRunTest, PlansAreChainsOfPassesOverContinuedLines)
{
  std::mt19937 generator(GetSeed());
  double       worst = 0.0;
  for (unsigned int i = 0; i < 320; ++i)
  {
    const unsigned int     dimension = i % 4 + 1;
    const Type             type = i < 160 ? Type::Float : Type::Double;
    const Volume           input = DrawVolume(generator, dimension, type);
    CudaGaussianParameters parameters;
    CudaGaussianTerm       term;
    parameters.Boundary = { AllModes[i / 4 % 5], static_cast<float>(Uniform(generator, -2, 2)) };
    parameters.Approximation = AllApproximations[i / 20 % 2];
    for (unsigned int d = 0; d < dimension; ++d)
    {
      parameters.Spacing.push_back(std::exp(Uniform(generator, -1, 1)));
      parameters.Sigma.push_back(parameters.Spacing[d] * std::exp(Uniform(generator, std::log(0.5), std::log(50.0))));
      term.Orders.push_back(static_cast<unsigned int>(Uniform(generator, 0, 3)));
    }
    const auto plan = MakeGaussianPlan(parameters, { term }, CudaGaussianOutput::Components);
    const auto found = RunPlan(plan, input, type, type, GetParam());
    Volume     expected = input;
    double     scale = LargestOf(input.Pixels);
    for (unsigned int d = dimension; d-- > 0;)
    {
      const GaussianParameters pass{ d, term.Orders[d], parameters.Sigma[d], parameters.Spacing[d] };
      FilterVolume(expected, pass, parameters.Approximation, parameters.Boundary);
      const bool isConstant = parameters.Boundary.Mode == Mode::Constant;
      scale = L1Norm(MakeReferenceKernel(parameters.Approximation, pass)) *
              std::max(scale, isConstant ? std::abs(parameters.Boundary.Value) : 0.0);
    }
    const double error = LargestDifference(found, expected.Pixels) / scale;
    const double bound = type == Type::Float ? 1e-6 : DoubleAccuracy;
    worst = std::max(worst, error / bound);
    ASSERT_LE(error, bound) << "draw " << i << ", " << parameters.Boundary.Mode << ", " << parameters.Approximation
                            << ", size " << testing::PrintToString(input.Size) << ", sigma "
                            << testing::PrintToString(parameters.Sigma) << ", orders "
                            << testing::PrintToString(term.Orders);
  }
  std::cout << "[ accuracy ] largest error: " << worst << " of its bound" << std::endl;
}

// Images of double keep the digits of double in every way in which the GPU divides lines. At the borders of overlapping
// tiles of strided lines the window is that of double.
TEST_P(CudaGaussianPlanRunTest, DoublesKeepTheirDigits)
{
  for (const size_t length : { 256, 257, 300, 627, 1000, 8193 })
  {
    for (const double sigma : { 0.7, 1.4, 2.8, 2.95, 3.5, 5.3, 5.4, 12.0, 50.0 })
    {
      for (unsigned int axis = 0; axis < 2; ++axis)
      {
        std::array<size_t, 4> size{ { 33, 33, 1, 1 } };
        size[axis] = length;
        const Volume input = MakeDataVolume(size, DataKind::Uniform);
        EXPECT_LE(GetErrorOfPass<long double>(input, { axis, 0, sigma }, Type::Double, GetParam()), DoubleAccuracy)
          << "axis " << axis << ", length " << length << ", sigma " << sigma;
      }
    }
  }
}

/** The range of a type's values, for data and for results. */
struct Range
{
  double Lowest;
  double Largest;
};

Range
GetRange(Type type)
{
  static constexpr Range ranges[] = { { 0.0, 255.0 },        { -128.0, 127.0 },     { 0.0, 65535.0 },
                                      { -32768.0, 32767.0 }, { 0.0, 4294967295.0 }, { -2147483648.0, 2147483647.0 } };
  return type < Type::Float ? ranges[static_cast<int>(type)] : Range{ -1e9, 1e9 };
}

bool
IsInDouble(Type type)
{
  return type == Type::Double || type == Type::UInt || type == Type::Int;
}

/** From each type to each type, with an image between two passes: integers are truncated toward zero and clamped to the
 * type's range. The data leave the output's range where the input's is wider. */
TEST_P(CudaGaussianPlanRunTest, ResultsAreConvertedToEachType)
{
  for (const Type inputType : AllTypes)
  {
    for (const Type outputType : AllTypes)
    {
      for (unsigned int order = 0; order < 3; ++order)
      {
        const Range  from = GetRange(inputType);
        const Range  to = GetRange(outputType);
        const double low = std::max(from.Lowest, 1.5 * to.Lowest - 100.0);
        const double high = std::min(from.Largest, 1.5 * to.Largest);
        Volume       input = MakeDataVolume({ { 65, 33, 1, 1 } }, DataKind::Uniform, high - low, low);
        for (double & pixel : input.Pixels)
        {
          pixel = inputType == Type::Double  ? pixel
                  : inputType == Type::Float ? static_cast<float>(pixel)
                                             : std::trunc(pixel);
        }
        CudaGaussianParameters parameters;
        parameters.Sigma = { 1.2, 1.2 };
        parameters.Spacing = { 1.0, 1.0 };
        const auto plan =
          MakeGaussianPlan(parameters, { CudaGaussianTerm{ { order, 0 } } }, CudaGaussianOutput::Components);
        const auto found = RunPlan(plan, input, inputType, outputType, GetParam());
        Volume     expected = input;
        const bool inDouble = (IsInDouble(inputType) || IsInDouble(outputType)) && outputType != Type::Float;
        double     error = LargestOf(input.Pixels) * (inDouble ? DoubleAccuracy : FloatAccuracy(1.2));
        for (const GaussianParameters & pass : { GaussianParameters{ 1, 0, 1.2 }, GaussianParameters{ 0, order, 1.2 } })
        {
          FilterVolume(expected, pass);
          error *= L1Norm(pass);
        }
        for (size_t i = 0; i < found.size(); ++i)
        {
          const double exact = expected.Pixels[i];
          if (outputType >= Type::Float)
          {
            ASSERT_NEAR(found[i], exact, error);
          }
          else if (!IsNearIntegerStep(exact, error))
          {
            ASSERT_EQ(found[i], std::clamp(std::trunc(exact), to.Lowest, to.Largest))
              << exact << ", from type " << static_cast<int>(inputType) << " to " << static_cast<int>(outputType)
              << ", order " << order;
          }
        }
      }
    }
  }
}

// Results of a type that is not the one computed in are stored after the rotation.
TEST(CudaGaussianPlanRun, GradientsAreTurnedBeforeTheyAreRounded)
{
  CudaGaussianParameters parameters;
  parameters.Sigma = { 2.0, 2.0 };
  parameters.Spacing = { 1.0, 1.0 };
  const auto plan = MakeGradientPlan(parameters, { 0.6, -0.8, 0.8, 0.6 });
  const auto input = MakeDataVolume({ { 33, 31, 1, 1 } }, DataKind::Uniform);
  const auto exact = RunPlan(plan, input, Type::Double, Type::Double, BackendEnum::Host);
  const auto rounded = RunPlan(plan, input, Type::Double, Type::Float, BackendEnum::Host);
  for (size_t i = 0; i < exact.size(); ++i)
  {
    ASSERT_EQ(rounded[i], static_cast<float>(exact[i])) << "component " << i;
  }
}

TEST_P(CudaGaussianPlanRunTest, ConstantsAreExact)
{
  std::vector<std::array<size_t, 4>> sizes{ { { 33, 5, 1, 1 } }, { { 5, 1031, 1, 1 } } };
  if (GetParam() == BackendEnum::Cuda)
  {
    sizes.insert(sizes.end(), { { { 16385, 4, 1, 1 } }, { { 4, 16385, 1, 1 } } });
  }
  unsigned int number = 0;
  for (const Type type : AllTypes)
  {
    const Range               range = GetRange(type);
    const std::vector<double> constants =
      type == Type::Double  ? std::vector<double>{ 0.1, -3.7, 1e30 }
      : type == Type::Float ? std::vector<double>{ static_cast<double>(0.1f), 16777217.0f, -1e30f }
                            : std::vector<double>{ 0.0, 1.0, 99.0, range.Lowest, range.Largest - 1.0, range.Largest };
    for (const double constant : constants)
    {
      for (const auto & size : sizes)
      {
        Volume input{ size, {} };
        input.Pixels.assign(input.GetNumberOfPixels(), constant);
        for (const double sigma : { 0.5, 1.0, 4.0, 20.0, 100.0, 500.0 })
        {
          for (unsigned int order = 0; order < 3; ++order)
          {
            const auto approximation = AllApproximations[++number % 2];
            const auto kernel = MakeGaussianImpulseResponse(approximation, order, sigma, 1.0, false);
            const auto plan = MakeGaussianLinePlan(number / 2 % 2, kernel, { AllModes[number % 5], constant });
            EXPECT_EQ(RunPlan(plan, input, type, type, GetParam()),
                      std::vector<double>(input.Pixels.size(), order == 0 ? constant : 0.0))
              << "type " << static_cast<int>(type) << ", constant " << constant << ", sigma " << sigma << ", order "
              << order << ", " << approximation << ", " << AllModes[number % 5] << ", axis " << number / 2 % 2
              << ", size " << testing::PrintToString(size);
          }
        }
      }
    }
  }
}
} // namespace
} // namespace itk::cuda::test

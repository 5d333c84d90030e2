// SPDX-License-Identifier: Apache-2.0

// Pixels that are NaN or infinite, in random places of random images: no recursive filter spoils a pixel that ITK's
// filter leaves finite, nor one beyond the chunks that a pass depends on, and every other pixel has the value that it
// has without them. docs/developer/numerics.md states what each filter does.

#include "itkCudaDownloadImageFilter.h"
#include "support/itkCudaGaussianRunner.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkCudaUploadImageFilter.h"

#include <random>

namespace itk::cuda::test
{
namespace
{
using Approximation = CudaFiltersEnums::Approximation;

constexpr double Infinity = std::numeric_limits<double>::infinity();
constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

class CudaNonFinitePixelsTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaNonFinitePixelsTest);

class CudaNonFinitePixelsGpuTest : public GpuTest
{};

// --------------------------------------------------------------------------------------------------------- random
// images

/** Numbers that follow from the seed and a number of the draw. */
class Draw
{
public:
  explicit Draw(uint64_t number)
    : m_Generator(GetSeed() + number)
  {}

  /** From 0 to `count` - 1. */
  size_t
  Below(size_t count)
  {
    return m_Generator() % count;
  }
  template <typename T, size_t VLength>
  T
  OneOf(const T (&values)[VLength])
  {
    return values[this->Below(VLength)];
  }

private:
  std::mt19937_64 m_Generator;
};

/** Where the pixels are that are not finite. */
enum class Places
{
  OnePixel,
  FirstOfALine,
  LastOfALine,
  BothEndsOfALine,
  Several,
  WholeLine
};

constexpr Places AllPlaces[] = { Places::OnePixel,        Places::FirstOfALine, Places::LastOfALine,
                                 Places::BothEndsOfALine, Places::Several,      Places::WholeLine };

/** An image in [0, 1), and the same with pixels that are not finite. */
struct Images
{
  Volume              Clean;
  Volume              Spoiled;
  std::vector<size_t> Bad;

  Images(const std::array<size_t, 4> & size, Places places, unsigned int axis, Draw & draw)
    : Clean(MakeDataVolume(size, DataKind::Uniform))
    , Spoiled(Clean)
  {
    const size_t stride = Clean.GetStride(axis);
    for (unsigned int i = 0; i < (places == Places::Several ? 6 : 1); ++i)
    {
      const size_t pixel = draw.Below(Clean.Pixels.size());
      const size_t first = pixel - pixel / stride % size[axis] * stride;
      const size_t last = first + (size[axis] - 1) * stride;
      this->Spoil(pixel, draw, places == Places::OnePixel || places == Places::Several);
      this->Spoil(first, draw, places == Places::FirstOfALine || places == Places::BothEndsOfALine);
      this->Spoil(last, draw, places == Places::LastOfALine || places == Places::BothEndsOfALine);
      for (size_t n = first; n <= last; n += stride)
      {
        this->Spoil(n, draw, places == Places::WholeLine);
      }
    }
  }

private:
  void
  Spoil(size_t pixel, Draw & draw, bool isWanted)
  {
    constexpr double values[] = { NaN, Infinity, -Infinity };
    if (isWanted)
    {
      Spoiled.Pixels[pixel] = draw.OneOf(values);
      Bad.push_back(pixel);
    }
  }
};

/** One side is long: shorter than a chunk, as long, longer, several chunks; the others are short. Now and then another
 * one has more lines side by side than a block of threads. */
std::array<size_t, 4>
DrawSize(unsigned int dimension, unsigned int longAxis, Draw & draw)
{
  constexpr size_t      lengths[] = { 4, 33, 127, 128, 129, 256, 257, 300, 520, 700, 1100 };
  constexpr size_t      widths[] = { 4, 5, 9, 33, 70 };
  std::array<size_t, 4> size{ { 1, 1, 1, 1 } };
  std::fill_n(size.begin(), dimension, 4 + draw.Below(3));
  size[(longAxis + 1) % dimension] = draw.OneOf(widths);
  size[longAxis] = draw.OneOf(lengths);
  return size;
}

// ---------------------------------------------------------------------------------------------------------- comparison

constexpr size_t ChunkLength = 128;
constexpr size_t WholeLine = std::numeric_limits<size_t>::max() / 2;

/** Chunks on either side that a chunk depends on, as docs/developer/numerics.md has it. */
size_t
GetLookAhead(const GaussianCase & gaussianCase, BackendEnum backend, unsigned int axis)
{
  const bool isAccurate = gaussianCase.Approximation == Approximation::Accurate;
  if (axis == 0 || gaussianCase.Boundary.Mode != Mode::Nearest || (backend == BackendEnum::Host && !isAccurate))
  {
    return WholeLine;
  }
  const double windowInSigmas =
    gaussianCase.Type == CudaComponentType::Float ? (isAccurate ? 9.0 : 12.0) : (isAccurate ? 15.5 : 22.5);
  const auto chunks = static_cast<size_t>(std::ceil(std::ceil(windowInSigmas * gaussianCase.Sigma[0]) / ChunkLength));
  return chunks <= 3 ? chunks : WholeLine;
}

/** Returns the line with NaN where a pass may give what is not finite: in the chunks of bad pixels and in as many
 * around them, and in lines whose first pixel is bad. */
std::vector<double>
SpoilLine(const std::vector<double> & source, size_t lookAhead)
{
  std::vector<double> line = source;
  for (size_t n = 0; n < source.size(); ++n)
  {
    if (!std::isfinite(source[n]))
    {
      const size_t reach = n == 0 ? WholeLine : lookAhead;
      const size_t chunk = n / ChunkLength;
      const size_t begin = (chunk - std::min(chunk, reach)) * ChunkLength;
      const size_t end = std::min(source.size(), std::min(chunk + reach + 1, source.size()) * ChunkLength);
      std::fill(line.begin() + begin, line.begin() + end, NaN);
    }
  }
  return line;
}

/** Does so for the passes of the filter, the last axis first, and for each component of a result. */
std::vector<double>
SpoilLines(const GaussianCase & gaussianCase, BackendEnum backend, Volume volume, size_t components)
{
  for (unsigned int axis = GetDimension(gaussianCase.Type); axis-- > 0;)
  {
    if (gaussianCase.Filter != GaussianFilter::Recursive || axis == gaussianCase.Direction)
    {
      volume.ForEachLine(axis, [&](const std::vector<double> & line) {
        return SpoilLine(line, GetLookAhead(gaussianCase, backend, axis));
      });
    }
  }
  std::vector<double> values;
  for (const double value : volume.Pixels)
  {
    values.insert(values.end(), components, value);
  }
  return values;
}

/** Values that break a rule. */
struct Violations
{
  size_t More{ 0 };    // not finite where it is finite in the allowed result
  size_t Changed{ 0 }; // other bits than without the bad pixels, where the allowed result is finite
  size_t Wrong{ 0 };   // finite where the allowed result is not, and not near the one without the bad pixels
};

Violations
Compare(const std::vector<double> & found,
        const std::vector<double> & clean,
        const std::vector<double> & allowed,
        double                      tolerance)
{
  Violations violations;
  for (size_t i = 0; i < found.size(); ++i)
  {
    const bool mayBeSpoiled = !std::isfinite(allowed[i]);
    violations.More += !std::isfinite(found[i]) && !mayBeSpoiled;
    violations.Changed += found[i] != clean[i] && !mayBeSpoiled;
    violations.Wrong += mayBeSpoiled && std::isfinite(found[i]) && std::abs(found[i] - clean[i]) > tolerance;
  }
  return violations;
}

/** The largest difference where both are finite. */
double
GetLargestFiniteDifference(const std::vector<double> & a, const std::vector<double> & b)
{
  double largest = 0.0;
  for (size_t i = 0; i < a.size(); ++i)
  {
    largest = std::isfinite(a[i]) && std::isfinite(b[i]) ? std::max(largest, std::abs(a[i] - b[i])) : largest;
  }
  return largest;
}

/** Verifies that ITK's filter spoils whole lines and no other, and returns its results. */
std::vector<double>
RunITKsFilterOn(const Images & images, const GaussianCase & gaussianCase)
{
  const auto   itks = RunITKsFilter(gaussianCase, images.Spoiled);
  GaussianCase asITK = gaussianCase;
  asITK.Approximation = Approximation::Deriche;
  const auto lines = SpoilLines(asITK, BackendEnum::Host, images.Spoiled, itks.size() / images.Spoiled.Pixels.size());
  EXPECT_EQ(Compare(lines, itks, itks, 0.0).More, 0u) << "ITK's filter spoils whole lines";
  EXPECT_EQ(Compare(itks, lines, lines, 0.0).More, 0u) << "ITK's filter spoils no other line";
  return itks;
}

void
ExpectNoMoreIsSpoiled(BackendEnum backend, const Images & images, const GaussianCase & gaussianCase)
{
  SCOPED_TRACE(testing::Message() << gaussianCase << ", size " << testing::PrintToString(images.Clean.Size) << ", "
                                  << images.Bad.size() << " bad, the first at " << images.Bad.front() << ": "
                                  << images.Spoiled.Pixels[images.Bad.front()]);
  const auto   found = RunFilter(gaussianCase, images.Spoiled, backend);
  const auto   clean = RunFilter(gaussianCase, images.Clean, backend);
  const size_t components = found.size() / images.Clean.Pixels.size();
  const auto   allowed = SpoilLines(gaussianCase, backend, images.Spoiled, components);
  // Twice the bound of one result, since two are compared, and what a window leaves out of a kernel. The data are below
  // 1, so a small image has the scale of any.
  const auto   scales = ComputeReference(gaussianCase, { { { 4, 4, 4, 1 } }, std::vector<double>(64, 1.0) }).Scales;
  const double accuracy =
    gaussianCase.Type == CudaComponentType::Double && gaussianCase.Filter == GaussianFilter::Recursive
      ? ModalAgainstITK
      : FloatAccuracy(gaussianCase.Sigma[0]) + TailBeyondReach;
  const double     tolerance = 2.0 * accuracy * *std::max_element(scales.begin(), scales.end());
  const Violations violations = Compare(found, clean, allowed, tolerance);
  EXPECT_EQ(violations.More, 0u);
  EXPECT_EQ(violations.Changed, 0u);
  EXPECT_EQ(violations.Wrong, 0u);
  if (gaussianCase.Boundary.Mode == Mode::Nearest)
  {
    const auto itks = RunITKsFilterOn(images, gaussianCase);
    EXPECT_EQ(Compare(allowed, itks, itks, 0.0).More, 0u) << "ITK's limit";
    if (gaussianCase.Approximation == Approximation::Deriche)
    {
      EXPECT_LE(GetLargestFiniteDifference(found, itks), tolerance);
    }
  }
  for (const size_t bad : images.Bad)
  {
    for (size_t k = 0; k < components; ++k)
    {
      EXPECT_FALSE(std::isfinite(found[bad * components + k])) << "component " << k << " at the bad pixel " << bad;
    }
  }
}

constexpr double Sigmas[] = { 0.7, 2.0, 6.0, 25.0, 50.0 };

/** Cases of all places, along each axis, of both types and approximations, in the mode Nearest and in another one. */
void
ExpectNoMoreIsSpoiledAnywhere(BackendEnum backend, GaussianCase gaussianCase, uint64_t number)
{
  Draw draw(1000 * number);
  for (const Approximation approximation : AllApproximations)
  {
    for (const Places places : AllPlaces)
    {
      for (unsigned int axis = 0; axis < GetDimension(gaussianCase.Type); ++axis)
      {
        gaussianCase.Approximation = approximation;
        gaussianCase.SetSigma(draw.OneOf(Sigmas));
        const Images images(DrawSize(GetDimension(gaussianCase.Type), axis, draw), places, axis, draw);
        for (const Mode mode : { Mode::Nearest, draw.OneOf(OtherModes) })
        {
          gaussianCase.Boundary.Mode = mode;
          ExpectNoMoreIsSpoiled(backend, images, gaussianCase);
        }
      }
    }
  }
}

TEST_P(CudaNonFinitePixelsTest, FiltersSpoilNoMoreThanITKs)
{
  uint64_t number = 100;
  for (const CudaComponentType type : GaussianRunnerTypes)
  {
    for (const GaussianFilter filter : AllGaussianFilters)
    {
      const bool isRecursive = filter == GaussianFilter::Recursive;
      for (unsigned int direction = 0; direction < (isRecursive ? GetDimension(type) : 1); ++direction)
      {
        for (unsigned int order = 0; order < (isRecursive ? 3 : 1); ++order)
        {
          GaussianCase gaussianCase;
          gaussianCase.Filter = filter;
          gaussianCase.Type = type;
          gaussianCase.Direction = direction;
          gaussianCase.Order = order;
          ExpectNoMoreIsSpoiledAnywhere(GetParam(), gaussianCase, ++number);
        }
      }
    }
  }
}

/** Lines that the GPU divides among blocks of threads. */
TEST_P(CudaNonFinitePixelsTest, RecursiveSpoilsItsLongLineAtMost)
{
  Draw draw(200);
  for (unsigned int axis = 0; axis < 2; ++axis)
  {
    for (const size_t length : { 2500, 16385, 40001 })
    {
      for (const double sigma : { 2.0, 30.0, 100.0 })
      {
        GaussianCase gaussianCase;
        gaussianCase.Filter = GaussianFilter::Recursive;
        gaussianCase.Approximation = draw.OneOf(AllApproximations);
        gaussianCase.Direction = axis;
        gaussianCase.Order = static_cast<unsigned int>(draw.Below(3));
        gaussianCase.SetSigma(sigma);
        std::array<size_t, 4> size{ { 5, 5, 1, 1 } };
        size[axis] = length;
        ExpectNoMoreIsSpoiled(GetParam(), Images(size, draw.OneOf(AllPlaces), axis, draw), gaussianCase);
      }
    }
  }
}

/** Lines along the second axis with Accurate: the chunk of the bad pixel and one chunk on either side, since the window
 * of 36 pixels ends in them. The line's first pixel is subtracted from all others. */
TEST_P(CudaNonFinitePixelsTest, AccurateSpoilsTheChunksThatItsWindowReaches)
{
  constexpr size_t length = 1500;
  constexpr size_t width = 5;
  GaussianCase     gaussianCase;
  gaussianCase.Filter = GaussianFilter::Recursive;
  gaussianCase.Approximation = Approximation::Accurate;
  gaussianCase.Direction = 1;
  gaussianCase.SetSigma(4.0);
  for (const size_t bad : { 0, 1, 127, 128, 700, 1407, 1499 })
  {
    Volume image = MakeDataVolume({ { width, length, 1, 1 } }, DataKind::Uniform);
    image.Pixels[bad * width + 2] = Infinity;
    const auto found = RunFilter(gaussianCase, image, GetParam());
    for (size_t i = 0; i < found.size(); ++i)
    {
      const size_t n = i / width;
      const size_t distance =
        std::max(n / ChunkLength, bad / ChunkLength) - std::min(n / ChunkLength, bad / ChunkLength);
      const bool isReached = i % width == 2 && (bad == 0 || distance <= 1);
      ASSERT_EQ(!std::isfinite(found[i]), isReached) << "pixel " << n << ", bad pixel " << bad;
    }
  }
}

/** A whole line of NaN in an output of integers is 0, and other lines are what they are without it. */
TEST_P(CudaNonFinitePixelsTest, IntegersAreZeroWhereNotANumber)
{
  constexpr size_t width = 300;
  for (const Approximation approximation : AllApproximations)
  {
    const auto impulse = CudaDetail::MakeGaussianImpulseResponse(approximation, 0, 2.0, 1.0, false);
    Volume     image{ { { width, 9, 1, 1 } }, std::vector<double>(width * 9, 100.0) };
    std::fill_n(image.Pixels.begin() + 4 * width, width, NaN);
    const auto found = RunPlan(CudaDetail::MakeGaussianLinePlan(0, impulse),
                               image,
                               CudaComponentType::Float,
                               CudaComponentType::Short,
                               GetParam());
    for (size_t i = 0; i < found.size(); ++i)
    {
      ASSERT_EQ(found[i], i / width == 4 ? 0.0 : 100.0) << "pixel " << i;
    }
  }
}

/** All bits of a filter's results, of a device image and of the host's image, are the same. */
template <template <typename, typename> class TFilter>
void
ExpectBitsOfHostToHost(const Image<float, 3> * image, double sigma, Approximation approximation)
{
  using ImageType = Image<float, 3>;
  using UploadType = CudaUploadImageFilter<ImageType>;
  using DeviceType = typename UploadType::OutputImageType;
  const auto onHost = TFilter<ImageType, ImageType>::New();
  const auto onDevice = TFilter<DeviceType, DeviceType>::New();
  const auto upload = UploadType::New();
  const auto download = CudaDownloadImageFilter<DeviceType>::New();
  onHost->SetSigma(sigma);
  onDevice->SetSigma(sigma);
  onHost->SetApproximation(approximation);
  onDevice->SetApproximation(approximation);
  onHost->SetInput(image);
  upload->SetInput(image);
  onDevice->SetInput(upload->GetOutput());
  download->SetInput(onDevice->GetOutput());
  UpdateOn(onHost.GetPointer(), BackendEnum::Cuda);
  download->Update();
  EXPECT_TRUE(HasSameBits<ImageType>(download->GetOutput(), onHost->GetOutput())) << onHost->GetNameOfClass();
}

TEST_F(CudaNonFinitePixelsGpuTest, DeviceImagesHaveTheBitsOfHostToHost)
{
  Draw draw(900);
  for (const Places places : AllPlaces)
  {
    for (const Approximation approximation : AllApproximations)
    {
      const auto   axis = static_cast<unsigned int>(draw.Below(3));
      const double sigma = draw.OneOf(Sigmas);
      const Images images(DrawSize(3, axis, draw), places, axis, draw);
      const auto & size = images.Spoiled.Size;
      SCOPED_TRACE(testing::Message() << "size " << testing::PrintToString(size) << ", sigma " << sigma << ", "
                                      << approximation);
      const auto image = MakeImage<Image<float, 3>>(MakeRegion<3>({ { size[0], size[1], size[2] } }));
      std::copy(images.Spoiled.Pixels.begin(), images.Spoiled.Pixels.end(), image->GetBufferPointer());
      ExpectBitsOfHostToHost<CudaSmoothingRecursiveGaussianImageFilter>(image, sigma, approximation);
      ExpectBitsOfHostToHost<CudaGradientMagnitudeRecursiveGaussianImageFilter>(image, sigma, approximation);
    }
  }
}
} // namespace
} // namespace itk::cuda::test

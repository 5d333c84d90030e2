// SPDX-License-Identifier: Apache-2.0

// Pixels that are NaN or infinite, in random places of random images: no filter spoils a pixel that ITK's filter leaves
// finite, nor one beyond the chunks that a pass depends on, and every other pixel has the value that it has without
// them. docs/developer/numerics.md states what each filter does.

#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaDownloadImageFilter.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "support/itkCudaITKClass.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaUploadImageFilter.h"

#include <cmath>
#include <random>

namespace itk::cuda::test
{
namespace
{
using ApproximationEnum = CudaFiltersEnums::Approximation;

class CudaNonFinitePixelsTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaNonFinitePixelsTest);

class CudaNonFinitePixelsGpuTest : public GpuTest
{};

// ------------------------------------------------------------------------------------------------------------- filters

struct Settings
{
  double            Sigma{ 2.0 }; // in pixels
  unsigned int      Direction{ 0 };
  unsigned int      Order{ 0 };
  ApproximationEnum Approximation{ ApproximationEnum::Deriche };
};

// A case says how a filter or ITK's class is set, along which axes it runs, and how large its results can be for pixels
// in [0, 1].


template <typename TImage>
struct RecursiveCase
{
  using Filter = CudaRecursiveGaussianImageFilter<TImage>;
  static constexpr bool HasApproximation = true;

  template <typename TFilter>
  static void
  Set(TFilter * filter, const Settings & settings)
  {
    filter->SetDirection(settings.Direction);
    filter->SetOrder(static_cast<GaussianOrderEnum>(settings.Order));
    filter->SetSigma(settings.Sigma);
  }
  static std::vector<unsigned int>
  GetAxes(const Settings & settings)
  {
    return { settings.Direction };
  }
  static double
  GetScale(const Settings & settings)
  {
    return KernelL1Norm(GaussianParameters{ settings.Direction, settings.Order, settings.Sigma });
  }
};

/** A filter along all axes with one sigma, whose results are sums of derivatives. */
template <typename TFilterOfImage, typename TDerivatives>
struct CompositeCase
{
  using Filter = TFilterOfImage;
  static constexpr unsigned int Dimension = Filter::InputImageDimension;
  static constexpr bool         HasApproximation = true;

  template <typename TFilter>
  static void
  Set(TFilter * filter, const Settings & settings)
  {
    filter->SetSigma(settings.Sigma);
  }
  static std::vector<unsigned int>
  GetAxes(const Settings &)
  {
    std::vector<unsigned int> axes(Dimension);
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
  }
  static double
  GetScale(const Settings & settings)
  {
    double scale = TDerivatives::Count(Dimension);
    for (unsigned int d = 0; d < Dimension; ++d)
    {
      scale *= KernelL1Norm(GaussianParameters{ d, d == 0 ? TDerivatives::Order : 0, settings.Sigma });
    }
    return scale;
  }
};

/** A result is one derivative of this order. */
template <unsigned int VOrder>
struct OneDerivative
{
  static constexpr unsigned int Order = VOrder;
  static double
  Count(unsigned int)
  {
    return 1.0;
  }
};

/** A result is the sum or the norm of the derivatives along each axis. */
template <unsigned int VOrder>
struct DerivativesOfAllAxes
{
  static constexpr unsigned int Order = VOrder;
  static double
  Count(unsigned int dimension)
  {
    return dimension;
  }
};

template <typename TImage>
using PixelOf = typename TImage::PixelType;
template <typename TImage>
using GradientOf = Image<CovariantVector<PixelOf<TImage>, TImage::ImageDimension>, TImage::ImageDimension>;
template <typename TImage>
using HessianOf = Image<SymmetricSecondRankTensor<PixelOf<TImage>, TImage::ImageDimension>, TImage::ImageDimension>;

template <typename TImage>
using SmoothingCase = CompositeCase<CudaSmoothingRecursiveGaussianImageFilter<TImage>, OneDerivative<0>>;
template <typename TImage>
using GradientCase =
  CompositeCase<CudaGradientRecursiveGaussianImageFilter<TImage, GradientOf<TImage>>, OneDerivative<1>>;
template <typename TImage>
using MagnitudeCase = CompositeCase<CudaGradientMagnitudeRecursiveGaussianImageFilter<TImage>, DerivativesOfAllAxes<1>>;
template <typename TImage>
using LaplacianCase = CompositeCase<CudaLaplacianRecursiveGaussianImageFilter<TImage>, DerivativesOfAllAxes<2>>;
/** Mixed derivatives are smaller than second ones. */
template <typename TImage>
using HessianCase = CompositeCase<CudaHessianRecursiveGaussianImageFilter<TImage, HessianOf<TImage>>, OneDerivative<2>>;

template <typename TImage>
struct DiscreteCase
{
  using Filter = CudaDiscreteGaussianImageFilter<TImage>;
  static constexpr bool HasApproximation = false;

  template <typename TFilter>
  static void
  Set(TFilter * filter, const Settings & settings)
  {
    filter->SetVariance(settings.Sigma * settings.Sigma);
    filter->SetMaximumKernelWidth(100);
  }
  static double
  GetScale(const Settings &)
  {
    return 1.0;
  }
};

// -------------------------------------------------------------------------------------------------------- random
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
template <typename TImage>
struct Images
{
  typename TImage::Pointer                Clean;
  typename TImage::Pointer                Spoiled;
  std::vector<typename TImage::IndexType> Bad;

  Images(const typename TImage::SizeType & size, Places places, unsigned int axis, Draw & draw)
    : Clean(MakeDataImage<TImage>(typename TImage::RegionType(size), DataKind::Uniform))
    , Spoiled(Duplicate(Clean.GetPointer()))
  {
    const auto         last = static_cast<IndexValueType>(size[axis]) - 1;
    const unsigned int pixels = places == Places::Several ? 6 : 1;
    for (unsigned int i = 0; i < pixels; ++i)
    {
      auto index = this->DrawIndex(size, draw);
      this->Spoil(index, draw, places == Places::OnePixel || places == Places::Several);
      index[axis] = 0;
      this->Spoil(index, draw, places == Places::FirstOfALine || places == Places::BothEndsOfALine);
      index[axis] = last;
      this->Spoil(index, draw, places == Places::LastOfALine || places == Places::BothEndsOfALine);
      for (index[axis] = 0; places == Places::WholeLine && index[axis] <= last; ++index[axis])
      {
        this->Spoil(index, draw, true);
      }
    }
  }

private:
  static typename TImage::IndexType
  DrawIndex(const typename TImage::SizeType & size, Draw & draw)
  {
    typename TImage::IndexType index;
    for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
    {
      index[d] = static_cast<IndexValueType>(draw.Below(size[d]));
    }
    return index;
  }

  void
  Spoil(const typename TImage::IndexType & index, Draw & draw, bool isWanted)
  {
    using PixelType = typename TImage::PixelType;
    if (isWanted)
    {
      constexpr PixelType infinity = std::numeric_limits<PixelType>::infinity();
      const PixelType     values[] = { std::numeric_limits<PixelType>::quiet_NaN(), infinity, -infinity };
      Spoiled->SetPixel(index, draw.OneOf(values));
      Bad.push_back(index);
    }
  }
};

/** One side is long: shorter than a chunk, as long, longer, several chunks; the others are short. Now and then another
 * one has more lines side by side than a block of threads. */
template <unsigned int VDimension>
Size<VDimension>
DrawSize(unsigned int longAxis, Draw & draw)
{
  constexpr SizeValueType lengths[] = { 4, 33, 127, 128, 129, 256, 257, 300, 520, 700, 1100 };
  constexpr SizeValueType widths[] = { 4, 5, 9, 33, 70 };
  Size<VDimension>        size;
  size.Fill(4 + draw.Below(3));
  size[(longAxis + 1) % VDimension] = draw.OneOf(widths);
  size[longAxis] = draw.OneOf(lengths);
  return size;
}

// ---------------------------------------------------------------------------------------------------------- comparison

/** All components of all pixels. */
template <typename TImage>
std::vector<double>
GetValues(const TImage * image)
{
  using ValueType = typename NumericTraits<typename TImage::PixelType>::ValueType;
  const size_t components = sizeof(typename TImage::PixelType) / sizeof(ValueType);
  const auto * values = reinterpret_cast<const ValueType *>(image->GetBufferPointer());
  return std::vector<double>(values, values + image->GetBufferedRegion().GetNumberOfPixels() * components);
}

template <typename TCase, typename TImage>
std::vector<double>
RunOn(BackendEnum backend, const TImage * image, const Settings & settings)
{
  auto filter = TCase::Filter::New();
  filter->SetInput(image);
  TCase::Set(filter.GetPointer(), settings);
  if constexpr (TCase::HasApproximation)
  {
    filter->SetApproximation(settings.Approximation);
  }
  UpdateOn(filter.GetPointer(), backend);
  return GetValues(filter->GetOutput());
}

template <typename TCase, typename TImage>
std::vector<double>
RunITK(const TImage * image, const Settings & settings)
{
  auto filter = ITKClassOf<typename TCase::Filter>::New();
  filter->SetInput(image);
  TCase::Set(filter.GetPointer(), settings);
  filter->Update();
  return GetValues(filter->GetOutput());
}

constexpr size_t ChunkLength = 128;
constexpr size_t WholeLine = std::numeric_limits<size_t>::max() / 2;

/** Chunks on either side that a chunk depends on, as docs/developer/numerics.md has it. */
template <typename TPixel>
size_t
GetLookAhead(BackendEnum backend, const Settings & settings, unsigned int axis)
{
  const bool isAccurate = settings.Approximation == ApproximationEnum::Accurate;
  if (axis == 0 || (backend == BackendEnum::Host && !isAccurate))
  {
    return WholeLine;
  }
  const double windowInSigmas =
    sizeof(TPixel) == sizeof(float) ? (isAccurate ? 9.0 : 12.0) : (isAccurate ? 15.5 : 22.5);
  const auto chunks = static_cast<size_t>(std::ceil(std::ceil(windowInSigmas * settings.Sigma) / ChunkLength));
  return chunks <= 3 ? chunks : WholeLine;
}

/** NaN where a pass along `axis` may give what is not finite: in the chunks of bad pixels and in as many around them,
 * and in lines whose first pixel is bad. */
template <unsigned int VDimension>
void
SpoilLines(Image<double, VDimension> * image, unsigned int axis, size_t lookAhead)
{
  ForEachLine(image, axis, [lookAhead](std::vector<double> & line) {
    const std::vector<double> source = line;
    for (size_t n = 0; n < source.size(); ++n)
    {
      if (!std::isfinite(source[n]))
      {
        const size_t reach = n == 0 ? WholeLine : lookAhead;
        const size_t chunk = n / ChunkLength;
        const size_t begin = (chunk - std::min(chunk, reach)) * ChunkLength;
        const size_t end = std::min(source.size(), std::min(chunk + reach + 1, source.size()) * ChunkLength);
        std::fill(line.begin() + begin, line.begin() + end, std::numeric_limits<double>::quiet_NaN());
      }
    }
  });
}

/** The same for the passes along these axes, the last one first, and for each component of a result. */
template <typename TImage>
std::vector<double>
SpoilLinesOf(BackendEnum                       backend,
             const TImage *                    image,
             const std::vector<unsigned int> & axes,
             const Settings &                  settings,
             size_t                            components)
{
  const auto spoiled = ToDouble(image);
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
  {
    SpoilLines(spoiled.GetPointer(), *axis, GetLookAhead<typename TImage::PixelType>(backend, settings, *axis));
  }
  std::vector<double> values;
  for (const double value : GetValues(spoiled.GetPointer()))
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
GetLargestDifference(const std::vector<double> & a, const std::vector<double> & b)
{
  double largest = 0.0;
  for (size_t i = 0; i < a.size(); ++i)
  {
    largest = std::isfinite(a[i]) && std::isfinite(b[i]) ? std::max(largest, std::abs(a[i] - b[i])) : largest;
  }
  return largest;
}

/** No pixel that is not finite is lost: each of its own results is not finite either. */
template <typename TImage>
void
Expect_bad_pixels_show(const std::vector<double> & found, const Images<TImage> & images)
{
  const size_t components = found.size() / images.Clean->GetBufferedRegion().GetNumberOfPixels();
  for (const auto & index : images.Bad)
  {
    const auto first = static_cast<size_t>(images.Clean->ComputeOffset(index)) * components;
    for (size_t k = 0; k < components; ++k)
    {
      EXPECT_FALSE(std::isfinite(found[first + k])) << "component " << k << " at " << index;
    }
  }
}

/** Twice the bound of one result, since two are compared, and what a window leaves out of a kernel. ITK's composites of
 * double images keep float between their passes. */
template <typename TPixel>
double
GetTolerance(const Settings & settings, bool isComposite)
{
  return std::is_same_v<TPixel, float> || isComposite ? 2.0 * (FloatAccuracy(settings.Sigma) + TailBeyondReach)
                                                      : 2.0 * ModalAgainstITK;
}

template <typename TCase, typename TImage>
void
Expect_no_more_is_spoiled(BackendEnum backend, const Images<TImage> & images, const Settings & settings)
{
  std::ostringstream what;
  what << TCase::Filter::New()->GetNameOfClass() << ", " << sizeof(typename TImage::PixelType) << " bytes, size "
       << images.Clean->GetBufferedRegion().GetSize() << ", sigma " << settings.Sigma << ", direction "
       << settings.Direction << ", order " << settings.Order << ", approximation " << settings.Approximation << ", "
       << images.Bad.size() << " bad, the first at " << images.Bad.front() << ": "
       << images.Spoiled->GetPixel(images.Bad.front());
  SCOPED_TRACE(what.str());

  const TImage * const spoiled = images.Spoiled;
  const auto           found = RunOn<TCase>(backend, spoiled, settings);
  const auto           clean = RunOn<TCase, TImage>(backend, images.Clean, settings);
  const auto           itks = RunITK<TCase>(spoiled, settings);
  ASSERT_EQ(found.size(), itks.size());
  std::vector<double> allowed = itks;
  if constexpr (TCase::HasApproximation)
  {
    const auto   axes = TCase::GetAxes(settings);
    const size_t components = found.size() / images.Clean->GetBufferedRegion().GetNumberOfPixels();
    const auto   lines = SpoilLinesOf(BackendEnum::Host, spoiled, axes, Settings(), components);
    EXPECT_EQ(Compare(lines, itks, itks, 0.0).More, 0u) << "ITK's filter spoils whole lines";
    EXPECT_EQ(Compare(itks, lines, lines, 0.0).More, 0u) << "ITK's filter spoils no other line";
    allowed = SpoilLinesOf(backend, spoiled, axes, settings, components);
    EXPECT_EQ(Compare(allowed, lines, lines, 0.0).More, 0u) << "ITK's limit";
  }
  const bool   isComposite = !std::is_same_v<TCase, RecursiveCase<TImage>>;
  const double tolerance = GetTolerance<typename TImage::PixelType>(settings, isComposite) * TCase::GetScale(settings);
  const Violations violations = Compare(found, clean, allowed, tolerance);
  EXPECT_EQ(violations.More, 0u);
  EXPECT_EQ(violations.Changed, 0u);
  EXPECT_EQ(violations.Wrong, 0u);
  if (settings.Approximation == ApproximationEnum::Deriche)
  {
    EXPECT_LE(GetLargestDifference(found, itks), tolerance);
  }
  Expect_bad_pixels_show(found, images);
}

constexpr double Sigmas[] = { 0.7, 2.0, 6.0, 25.0, 50.0 };
/** ITK's weights of the discrete Gaussian lose their digits soon after. */
constexpr double DiscreteSigmas[] = { 0.5, 1.0, 2.0, 6.0 };

/** Cases of all places, along each axis. */
template <typename TCase, typename TImage>
void
Expect_no_more_is_spoiled_anywhere(BackendEnum backend, Settings settings, uint64_t number)
{
  constexpr unsigned int Dimension = TImage::ImageDimension;
  Draw                   draw(1000 * number);
  for (const Places places : AllPlaces)
  {
    for (unsigned int axis = 0; axis < Dimension; ++axis)
    {
      settings.Sigma = TCase::HasApproximation ? draw.OneOf(Sigmas) : draw.OneOf(DiscreteSigmas);
      const Images<TImage> images(DrawSize<Dimension>(axis, draw), places, axis, draw);
      Expect_no_more_is_spoiled<TCase>(backend, images, settings);
    }
  }
}

template <template <typename> class TCase, typename TImage>
void
Expect_no_more_is_spoiled_of(BackendEnum backend, const Settings & settings, uint64_t number)
{
  Expect_no_more_is_spoiled_anywhere<TCase<TImage>, TImage>(backend, settings, number);
}

/** Of float and double, in two and three dimensions, with each approximation. */
template <template <typename> class TCase>
void
Expect_no_more_is_spoiled_of_any_type(BackendEnum backend, uint64_t number, Settings settings = Settings())
{
  for (const auto approximation : { ApproximationEnum::Deriche, ApproximationEnum::Accurate })
  {
    settings.Approximation = approximation;
    Expect_no_more_is_spoiled_of<TCase, Image<float, 2>>(backend, settings, ++number);
    Expect_no_more_is_spoiled_of<TCase, Image<double, 2>>(backend, settings, ++number);
    Expect_no_more_is_spoiled_of<TCase, Image<float, 3>>(backend, settings, ++number);
    Expect_no_more_is_spoiled_of<TCase, Image<double, 3>>(backend, settings, ++number);
    if (!TCase<Image<float, 2>>::HasApproximation)
    {
      return;
    }
  }
}
} // namespace

TEST_P(CudaNonFinitePixelsTest, RecursiveSpoilsItsLineAtMost)
{
  for (unsigned int order = 0; order < 3; ++order)
  {
    for (unsigned int direction = 0; direction < 2; ++direction)
    {
      Expect_no_more_is_spoiled_of_any_type<RecursiveCase>(
        GetParam(), 100 + 20 * order + 10 * direction, { 0.0, direction, order });
    }
    Expect_no_more_is_spoiled_of<RecursiveCase, Image<float, 3>>(GetParam(), { 0.0, 2, order }, 160 + order);
    Expect_no_more_is_spoiled_of<RecursiveCase, Image<double, 3>>(GetParam(), { 0.0, 2, order }, 170 + order);
  }
}

/** Lines that the GPU divides among blocks of threads. */
TEST_P(CudaNonFinitePixelsTest, RecursiveSpoilsItsLongLineAtMost)
{
  using ImageType = Image<float, 2>;
  Draw draw(200);
  for (unsigned int axis = 0; axis < 2; ++axis)
  {
    for (const SizeValueType length : { 2500, 16385, 40001 })
    {
      for (const double sigma : { 2.0, 30.0, 100.0 })
      {
        const auto approximation = draw.Below(2) == 0 ? ApproximationEnum::Deriche : ApproximationEnum::Accurate;
        const auto order = static_cast<unsigned int>(draw.Below(3));
        Size<2>    size{ { 5, 5 } };
        size[axis] = length;
        Expect_no_more_is_spoiled<RecursiveCase<ImageType>>(GetParam(),
                                                            Images<ImageType>(size, draw.OneOf(AllPlaces), axis, draw),
                                                            { sigma, axis, order, approximation });
      }
    }
  }
}

TEST_P(CudaNonFinitePixelsTest, SmoothingSpoilsNoMoreThanITKs)
{
  Expect_no_more_is_spoiled_of_any_type<SmoothingCase>(GetParam(), 300);
}

TEST_P(CudaNonFinitePixelsTest, GradientSpoilsNoMoreThanITKs)
{
  Expect_no_more_is_spoiled_of_any_type<GradientCase>(GetParam(), 400);
}

TEST_P(CudaNonFinitePixelsTest, GradientMagnitudeSpoilsNoMoreThanITKs)
{
  Expect_no_more_is_spoiled_of_any_type<MagnitudeCase>(GetParam(), 500);
}

TEST_P(CudaNonFinitePixelsTest, LaplacianSpoilsNoMoreThanITKs)
{
  Expect_no_more_is_spoiled_of_any_type<LaplacianCase>(GetParam(), 600);
}

TEST_P(CudaNonFinitePixelsTest, HessianSpoilsNoMoreThanITKs)
{
  Expect_no_more_is_spoiled_of_any_type<HessianCase>(GetParam(), 700);
}

TEST_P(CudaNonFinitePixelsTest, DiscreteSpoilsNoMoreThanITKs)
{
  Expect_no_more_is_spoiled_of_any_type<DiscreteCase>(GetParam(), 800);
}

/** Lines along the second axis with Accurate: the chunk of the bad pixel and one chunk on either side, since the window
 * of 36 pixels ends in them. The line's first pixel is subtracted from all others. */
TEST_P(CudaNonFinitePixelsTest, AccurateSpoilsTheChunksThatItsWindowReaches)
{
  using ImageType = Image<float, 2>;
  constexpr size_t length = 1500;
  constexpr size_t width = 5;
  const Settings   settings{ 4.0, 1, 0, ApproximationEnum::Accurate };
  for (const size_t bad : { 0, 1, 127, 128, 700, 1407, 1499 })
  {
    const auto image = MakeDataImage<ImageType>(MakeRegion<2>({ { width, length } }), DataKind::Uniform);
    image->SetPixel({ { 2, static_cast<IndexValueType>(bad) } }, std::numeric_limits<float>::infinity());
    const auto found = RunOn<RecursiveCase<ImageType>, ImageType>(GetParam(), image, settings);
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

/** The components of a pixel are filtered one by one. */
TEST_P(CudaNonFinitePixelsTest, ComponentsDoNotSpoilEachOther)
{
  using ImageType = Image<Vector<float, 3>, 2>;
  for (const auto approximation : { ApproximationEnum::Deriche, ApproximationEnum::Accurate })
  {
    const auto image = MakeImage<ImageType>(MakeRegion<2>({ { 70, 300 } }));
    for (size_t i = 0; i < 70 * 300; ++i)
    {
      for (unsigned int k = 0; k < 3; ++k)
      {
        image->GetBufferPointer()[i][k] = static_cast<float>(UniformRandom(3 * i + k));
      }
    }
    const Settings settings{ 3.0, 1, 0, approximation };
    const auto     clean = RunOn<SmoothingCase<ImageType>, ImageType>(GetParam(), image, settings);
    image->GetBufferPointer()[70 * 100 + 30][1] = std::numeric_limits<float>::quiet_NaN();
    const auto found = RunOn<SmoothingCase<ImageType>, ImageType>(GetParam(), image, settings);
    for (size_t i = 0; i < found.size(); ++i)
    {
      ASSERT_TRUE(i % 3 == 1 || found[i] == clean[i]) << "component " << i % 3 << " of pixel " << i / 3;
    }
    EXPECT_TRUE(std::isnan(found[3 * (70 * 100 + 30) + 1]));
  }
}

namespace
{
/** A whole line of NaN in an output of integers is 0. Deriche on the host is ITK's code, whose conversion C++ does not
 * define. */
template <typename TFilter>
void
Expect_integers_are_zero_where_not_a_number(TFilter * filter, BackendEnum backend)
{
  const auto image = MakeConstantImage<Image<float, 2>>({ { 300, 9 } }, 100.0f);
  filter->SetInput(image);
  filter->SetSigma(2.0);
  UpdateOn(filter, backend);
  for (const double value : GetValues(filter->GetOutput()))
  {
    ASSERT_EQ(value, 100.0);
  }
  for (IndexValueType x = 0; x < 300; ++x)
  {
    image->SetPixel({ { x, 4 } }, std::numeric_limits<float>::quiet_NaN());
  }
  image->Modified();
  UpdateOn(filter, backend);
  for (IndexValueType x = 0; x < 300; ++x)
  {
    ASSERT_EQ(filter->GetOutput()->GetPixel({ { x, 4 } }), 0) << x;
  }
}
} // namespace

TEST_P(CudaNonFinitePixelsTest, IntegersAreZeroWhereNotANumber)
{
  using InputType = Image<float, 2>;
  using OutputType = Image<short, 2>;
  const auto smoothing = CudaSmoothingRecursiveGaussianImageFilter<InputType, OutputType>::New();
  smoothing->SetApproximation(ApproximationEnum::Accurate);
  Expect_integers_are_zero_where_not_a_number(smoothing.GetPointer(), GetParam());
  const auto partitioned = CudaPartitionedRecursiveGaussianImageFilter<InputType, OutputType>::New();
  Expect_integers_are_zero_where_not_a_number(partitioned.GetPointer(), GetParam());
}

namespace
{
/** All bits of a filter's results, of a device image and of the host's image, are the same. */
template <template <typename, typename> class TFilter, typename TCase, typename TInput>
void
Expect_bits_of_host_to_host(const TInput * image, const Settings & settings)
{
  using OutputType = typename TCase::Filter::OutputImageType;
  using UploadType = CudaUploadImageFilter<TInput>;
  using DeviceOutputType = typename CudaUploadImageFilter<OutputType>::OutputImageType;
  const auto onHost = TCase::Filter::New();
  const auto onDevice = TFilter<typename UploadType::OutputImageType, DeviceOutputType>::New();
  const auto upload = UploadType::New();
  const auto download = CudaDownloadImageFilter<DeviceOutputType>::New();
  TCase::Set(onHost.GetPointer(), settings);
  TCase::Set(onDevice.GetPointer(), settings);
  onHost->SetApproximation(settings.Approximation);
  onDevice->SetApproximation(settings.Approximation);
  onHost->SetInput(image);
  upload->SetInput(image);
  onDevice->SetInput(upload->GetOutput());
  download->SetInput(onDevice->GetOutput());
  UpdateOn(onHost.GetPointer(), BackendEnum::Cuda);
  download->Update();
  EXPECT_TRUE(HasSameBits<OutputType>(download->GetOutput(), onHost->GetOutput())) << onHost->GetNameOfClass();
}

template <typename TImage>
void
Expect_bits_of_host_to_host_of_all_filters(const TImage * image, const Settings & settings)
{
  Expect_bits_of_host_to_host<CudaRecursiveGaussianImageFilter, RecursiveCase<TImage>>(image, settings);
  Expect_bits_of_host_to_host<CudaSmoothingRecursiveGaussianImageFilter, SmoothingCase<TImage>>(image, settings);
  Expect_bits_of_host_to_host<CudaGradientRecursiveGaussianImageFilter, GradientCase<TImage>>(image, settings);
  Expect_bits_of_host_to_host<CudaGradientMagnitudeRecursiveGaussianImageFilter, MagnitudeCase<TImage>>(image,
                                                                                                        settings);
  Expect_bits_of_host_to_host<CudaLaplacianRecursiveGaussianImageFilter, LaplacianCase<TImage>>(image, settings);
  Expect_bits_of_host_to_host<CudaHessianRecursiveGaussianImageFilter, HessianCase<TImage>>(image, settings);
}
} // namespace

TEST_F(CudaNonFinitePixelsGpuTest, DeviceImagesHaveTheBitsOfHostToHost)
{
  Draw draw(900);
  for (const Places places : AllPlaces)
  {
    for (const auto approximation : { ApproximationEnum::Deriche, ApproximationEnum::Accurate })
    {
      const auto     axis = static_cast<unsigned int>(draw.Below(3));
      const Settings settings{ draw.OneOf(Sigmas), axis, static_cast<unsigned int>(draw.Below(3)), approximation };
      const auto     size = DrawSize<3>(axis, draw);
      SCOPED_TRACE(testing::Message() << "size " << size << ", sigma " << settings.Sigma << ", direction " << axis
                                      << ", order " << settings.Order << ", " << approximation);
      const Images<Image<float, 3>>  floats(size, places, axis, draw);
      const Images<Image<double, 3>> doubles(size, places, axis, draw);
      Expect_bits_of_host_to_host_of_all_filters<Image<float, 3>>(floats.Spoiled, settings);
      Expect_bits_of_host_to_host_of_all_filters<Image<double, 3>>(doubles.Spoiled, settings);
    }
  }
}
} // namespace itk::cuda::test

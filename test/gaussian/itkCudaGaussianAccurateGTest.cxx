// SPDX-License-Identifier: Apache-2.0

// Approximation = Accurate. In float64 on the host: against Gaussians sampled from their formula and against what the
// exact filters make of Gaussian blobs. On the GPU: against the host in float64. And what holds for every filter with
// it: types, borders, streaming, threads, progress, abort.

#include "support/itkCudaGaussianPipelineProperties.h"

#include "itkCudaDetailGaussianPlan.h"
#include "runtime/DetailNames.h"
#include "gaussian/host/HostPlan.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkNthElementImageAdaptor.h"

namespace itk::cuda::test
{
namespace
{
using ApproximationEnum = CudaFiltersEnums::Approximation;
using gaussian::FilterLine;

// --------------------------------------------------------------------------------------------------------------- lines

// The figures that docs/developer/numerics.md states.
constexpr double SmoothingBound = 1e-5;
constexpr double DerivativeBound[] = { SmoothingBound, 2e-4, 1e-3 };
constexpr double OvershootBound = 1e-5;
/** From here on, in pixels, derivatives keep DerivativeBound; below, sampling them costs more. */
constexpr double SmallestDerivativeSigma = 1.5;

/** The derivative of exp(-x^2/2) of that order. */
double
HermiteFunction(unsigned int order, double x)
{
  const double factor = order == 0 ? 1.0 : (order == 1 ? -x : x * x - 1.0);
  return factor * std::exp(-0.5 * x * x);
}

std::vector<double>
FilterWith(ApproximationEnum approximation, unsigned int order, double sigma, std::vector<double> line)
{
  const CudaGaussianImpulseResponse kernel = MakeGaussianImpulseResponse(approximation, order, sigma, 1.0, false);
  FilterLine(kernel, line.data(), line.data(), line.size());
  return line;
}

std::vector<double>
FilterAccurately(unsigned int order, double sigma, const std::vector<double> & line)
{
  return FilterWith(ApproximationEnum::Accurate, order, sigma, line);
}

size_t
GetLineLength(double sigma)
{
  return 2 * static_cast<size_t>(std::ceil(12.0 * sigma) + 20.0) + 1;
}

/** The derivative of the Gaussian at the pixels from -radius to radius, with the sum or moment that the filters give
 * it. */
std::vector<double>
SampleGaussian(unsigned int order, double sigma)
{
  const auto          radius = static_cast<int>(std::ceil(12.0 * sigma) + 20.0);
  std::vector<double> kernel;
  double              sum = 0.0;
  double              smoothingSum = 0.0;
  for (int n = -radius; n <= radius; ++n)
  {
    kernel.push_back(HermiteFunction(order, n / sigma));
    sum += kernel.back();
    smoothingSum += HermiteFunction(0, n / sigma);
  }
  double response = order == 0 ? sum : 0.0; // to 1, a ramp, a parabola
  for (int n = -radius; n <= radius; ++n)
  {
    double & value = kernel[n + radius];
    if (order == 2)
    {
      value -= sum / smoothingSum * HermiteFunction(0, n / sigma);
    }
    response += order == 1 ? -n * value : (order == 2 ? 0.5 * n * n * value : 0.0);
  }
  for (double & value : kernel)
  {
    value /= response;
  }
  return kernel;
}

double
SampledL1Norm(unsigned int order, double sigma)
{
  const std::vector<double> kernel = SampleGaussian(order, sigma);
  return std::accumulate(kernel.begin(), kernel.end(), 0.0, [](double s, double v) { return s + std::abs(v); });
}

/** Close together at first: the fewer pixels a kernel has, the more its error depends on where they lie. */
std::vector<double>
MakeSmoothingSigmas()
{
  std::vector<double> sigmas = { 8.0, 31.0, 100.0, 500.0 };
  for (double sigma = 0.5; sigma < 6.0; sigma *= 1.01)
  {
    sigmas.push_back(sigma);
  }
  return sigmas;
}

/** The worst of Gaussian blobs at several places between the pixels: error of the derivative, relative to its largest
 * value. */
double
BlobError(unsigned int order, double sigma)
{
  const double narrowest = std::max(1.0, 0.25 * sigma);
  double       worst = 0.0;
  for (const double width : { narrowest, 1.3 * narrowest, 2.0 * narrowest, 4.0 * narrowest, 16.0 * narrowest })
  {
    const double total = std::hypot(sigma, width);
    const auto   length = GetLineLength(total);
    for (const double shift : { 0.0, 0.25, 0.5 })
    {
      const double        centre = 0.5 * static_cast<double>(length - 1) + shift;
      std::vector<double> blob(length);
      for (size_t n = 0; n < length; ++n)
      {
        blob[n] = HermiteFunction(0, (static_cast<double>(n) - centre) / width);
      }
      const std::vector<double> output = FilterAccurately(order, sigma, blob);
      double                    error = 0.0;
      double                    largest = 0.0;
      for (size_t n = 0; n < length; ++n)
      {
        const double exact =
          HermiteFunction(order, (static_cast<double>(n) - centre) / total) * width / std::pow(total, order + 1.0);
        error = std::max(error, std::abs(output[n] - exact));
        largest = std::max(largest, std::abs(exact));
      }
      worst = std::max(worst, error / largest);
    }
  }
  return worst;
}

TEST(CudaGaussianAccurateLine, SmoothsLikeTheSampledGaussian)
{
  double worst = 0.0;
  double worstSigma = 0.0;
  for (const double sigma : MakeSmoothingSigmas())
  {
    std::vector<double> impulse(GetLineLength(sigma), 0.0);
    const size_t        centre = impulse.size() / 2;
    impulse[centre] = 1.0;
    const std::vector<double> output = FilterAccurately(0, sigma, impulse);
    const std::vector<double> expected = SampleGaussian(0, sigma);
    double                    error = 0.0;
    for (size_t n = 0; n < output.size(); ++n)
    {
      error = std::max(error, std::abs(output[n] - expected[n]));
    }
    error /= expected[centre];
    EXPECT_LE(error, SmoothingBound) << "sigma " << sigma;
    worstSigma = error > worst ? sigma : worstSigma;
    worst = std::max(worst, error);
  }
  std::cout << "[ accurate ] order 0: " << worst << " of g(0) at sigma " << worstSigma << std::endl;
}

TEST(CudaGaussianAccurateLine, DifferentiatesGaussianBlobs)
{
  for (const double sigma : { 0.5, 0.8, 1.0, 1.25, 1.5, 1.7, 2.0, 3.0, 5.0, 20.0, 100.0 })
  {
    for (unsigned int order = 1; order <= 2; ++order)
    {
      const double error = BlobError(order, sigma);
      std::cout << "[ accurate ] order " << order << ", sigma " << sigma << ": " << error << " of the largest output"
                << std::endl;
      if (sigma >= SmallestDerivativeSigma)
      {
        EXPECT_LE(error, DerivativeBound[order]) << "order " << order << ", sigma " << sigma;
      }
    }
  }
}

TEST(CudaGaussianAccurateLine, StepsDoNotOvershoot)
{
  for (const double sigma : MakeSmoothingSigmas())
  {
    std::vector<double> step(GetLineLength(sigma), 0.0);
    std::fill(step.begin() + step.size() / 2, step.end(), 1.0);
    const std::vector<double> output = FilterAccurately(0, sigma, step);
    const auto                range = std::minmax_element(output.begin(), output.end());
    EXPECT_GE(*range.first, -OvershootBound) << "sigma " << sigma;
    EXPECT_LE(*range.second, 1.0 + OvershootBound) << "sigma " << sigma;
  }
}

/** Zero but for the rounding of sums of the input's values, of which `scale` is the kernel's L1 norm times the largest.
 */
TEST(CudaGaussianAccurateLine, SecondOrderIsZeroOnConstantsAndInsideRamps)
{
  for (const double sigma : { 0.5, 0.7, 1.0, 2.0, 8.0, 31.0, 500.0 })
  {
    const auto          length = GetLineLength(3.0 * sigma);
    std::vector<double> ramp(length);
    std::iota(ramp.begin(), ramp.end(), 0.0);
    const std::vector<double> ofConstant = FilterAccurately(2, sigma, std::vector<double>(length, 1234.5));
    const std::vector<double> ofRamp = FilterAccurately(2, sigma, ramp);
    EXPECT_EQ(std::count(ofConstant.begin(), ofConstant.end(), 0.0), static_cast<std::ptrdiff_t>(length));
    const double scale = static_cast<double>(length) * SampledL1Norm(2, sigma);
    const auto   reach = static_cast<size_t>(std::ceil(16.0 * sigma)); // exp(-2 * 16) = 1e-14
    for (size_t n = reach; n + reach < length; ++n)
    {
      ASSERT_LE(std::abs(ofRamp[n]), 1e-12 * scale) << "sigma " << sigma << ", pixel " << n;
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- filters

/** A derivative and its name in a filter's output: orders along the axes. */
template <unsigned int VDimension>
using Orders = std::array<unsigned int, VDimension>;

template <unsigned int VDimension>
std::vector<Orders<VDimension>>
FirstOrders()
{
  std::vector<Orders<VDimension>> all(VDimension, Orders<VDimension>{});
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    all[d][d] = 1;
  }
  return all;
}

template <unsigned int VDimension>
std::vector<Orders<VDimension>>
SecondOrders(bool mixed)
{
  std::vector<Orders<VDimension>> all;
  for (unsigned int a = 0; a < VDimension; ++a)
  {
    for (unsigned int b = a; b < (mixed ? VDimension : a + 1); ++b)
    {
      all.push_back({});
      ++all.back()[a];
      ++all.back()[b];
    }
  }
  return all;
}

/** Each of the six filters on an image of VDimension axes of T: its type, its parameters, and the derivatives that it
 * computes. A filter gives the derivatives themselves, their norm or their sum. */
enum class Combination
{
  Components,
  Norm,
  Sum
};

template <typename T, unsigned int VDimension>
struct RecursiveCase
{
  using FilterType = CudaRecursiveGaussianImageFilter<Image<T, VDimension>>;
  static constexpr Combination Combine = Combination::Components;

  static std::vector<Orders<VDimension>>
  GetOrders()
  {
    Orders<VDimension> orders{};
    orders[VDimension - 1] = 1;
    return { orders };
  }
  static bool
  Filters(unsigned int axis)
  {
    return axis == VDimension - 1;
  }
  static void
  SetUp(FilterType * filter)
  {
    filter->SetDirection(VDimension - 1);
    filter->SetFirstOrder();
  }
};

/** The filters that treat all axes alike. */
template <typename TFilter>
struct AllAxesCase
{
  using FilterType = TFilter;
  static bool
  Filters(unsigned int)
  {
    return true;
  }
  static void
  SetUp(FilterType *)
  {}
};

template <typename T, unsigned int VDimension>
struct SmoothingCase : AllAxesCase<CudaSmoothingRecursiveGaussianImageFilter<Image<T, VDimension>>>
{
  static constexpr Combination Combine = Combination::Components;
  static std::vector<Orders<VDimension>>
  GetOrders()
  {
    return { Orders<VDimension>{} };
  }
};

template <typename T, unsigned int VDimension>
struct GradientCase
  : AllAxesCase<
      CudaGradientRecursiveGaussianImageFilter<Image<T, VDimension>, Image<CovariantVector<T, VDimension>, VDimension>>>
{
  static constexpr Combination Combine = Combination::Components;
  static std::vector<Orders<VDimension>>
  GetOrders()
  {
    return FirstOrders<VDimension>();
  }
};

template <typename T, unsigned int VDimension>
struct MagnitudeCase : AllAxesCase<CudaGradientMagnitudeRecursiveGaussianImageFilter<Image<T, VDimension>>>
{
  static constexpr Combination Combine = Combination::Norm;
  static std::vector<Orders<VDimension>>
  GetOrders()
  {
    return FirstOrders<VDimension>();
  }
};

template <typename T, unsigned int VDimension>
struct LaplacianCase : AllAxesCase<CudaLaplacianRecursiveGaussianImageFilter<Image<T, VDimension>>>
{
  static constexpr Combination Combine = Combination::Sum;
  static std::vector<Orders<VDimension>>
  GetOrders()
  {
    return SecondOrders<VDimension>(false);
  }
};

template <typename T, unsigned int VDimension>
struct HessianCase
  : AllAxesCase<CudaHessianRecursiveGaussianImageFilter<Image<T, VDimension>,
                                                        Image<SymmetricSecondRankTensor<T, VDimension>, VDimension>>>
{
  static constexpr Combination Combine = Combination::Components;
  static std::vector<Orders<VDimension>>
  GetOrders()
  {
    return SecondOrders<VDimension>(true);
  }
};

template <typename TCase, typename TImage>
typename TCase::FilterType::Pointer
MakeAccurate(const TImage * input, double sigma, bool normalize = false)
{
  auto filter = TCase::FilterType::New();
  filter->SetInput(input);
  TCase::SetUp(filter.GetPointer());
  filter->SetSigma(sigma);
  filter->SetNormalizeAcrossScale(normalize);
  filter->SetApproximation(ApproximationEnum::Accurate);
  return filter;
}

double
CombineDerivatives(Combination combination, const std::vector<double> & values, size_t component)
{
  switch (combination)
  {
    case Combination::Norm:
      return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
    case Combination::Sum:
      return std::accumulate(values.begin(), values.end(), 0.0);
    default:
      return values[component];
  }
}

template <typename TCase>
size_t
GetNumberOfComponents()
{
  return TCase::Combine == Combination::Components ? TCase::GetOrders().size() : 1;
}

/** The output's values, component after component of each pixel. */
template <typename TImage>
const typename CudaImageTraits<TImage>::ComponentType *
GetValues(const TImage * image)
{
  return reinterpret_cast<const typename CudaImageTraits<TImage>::ComponentType *>(image->GetBufferPointer());
}

/** A Gaussian blob in an image with anisotropic spacing, away from the pixels' centres, and what the exact filters make
 * of it. */
template <unsigned int VDimension>
class Blob
{
public:
  using ImageType = Image<double, VDimension>;

  explicit Blob(double sigma)
    : m_Sigma(sigma)
  {
    Size<VDimension> size;
    size.Fill(VDimension == 2 ? 71 : 57);
    m_Image = MakeImage<ImageType>(MakeRegion<VDimension>(size));
    SetSpacing(m_Image.GetPointer(), this->GetSpacing());
    ImageRegionIteratorWithIndex<ImageType> it(m_Image, m_Image->GetBufferedRegion());
    for (; !it.IsAtEnd(); ++it)
    {
      double value = 1.0;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        value *= HermiteFunction(0, this->GetDistance(it.GetIndex(), d) / Width);
      }
      it.Set(value);
    }
  }

  const ImageType *
  GetImage() const
  {
    return m_Image;
  }

  /** The derivative at a pixel, smoothed along the axes that the case filters. */
  template <typename TCase>
  double
  GetDerivative(const Index<VDimension> & index, const Orders<VDimension> & orders, bool normalize) const
  {
    double value = 1.0;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const double total = TCase::Filters(d) ? std::hypot(m_Sigma, Width) : Width;
      value *= HermiteFunction(orders[d], this->GetDistance(index, d) / total) * (Width / total) /
               std::pow(total, orders[d]) * (normalize ? std::pow(m_Sigma, orders[d]) : 1.0);
    }
    return value;
  }

private:
  static constexpr double Width = 2.6; // in physical units

  static std::array<double, VDimension>
  GetSpacing()
  {
    std::array<double, VDimension> spacing;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      spacing[d] = 1.0 + 0.2 * d;
    }
    return spacing;
  }

  double
  GetDistance(const Index<VDimension> & index, unsigned int axis) const
  {
    const double centre = 0.5 * static_cast<double>(m_Image->GetBufferedRegion().GetSize(axis)) + 0.3 - 0.2 * axis;
    return (static_cast<double>(index[axis]) - centre) * this->GetSpacing()[axis];
  }

  double                      m_Sigma;
  typename ImageType::Pointer m_Image;
};

/** The filter's values on the host in float64, relative to the largest exact one: DerivativeBound of the highest order,
 * that of smoothing for each of the other axes. */
template <typename TCase, unsigned int VDimension>
void
Expect_blob_is_filtered_exactly(double sigma, bool normalize)
{
  const Blob<VDimension> blob(sigma);
  auto                   filter = MakeAccurate<TCase>(blob.GetImage(), sigma, normalize);
  // ITK's one-dimensional filter gives derivatives per pixel, the others per physical unit.
  const double factor =
    std::is_same_v<TCase, RecursiveCase<double, VDimension>> ? blob.GetImage()->GetSpacing()[VDimension - 1] : 1.0;
  const auto         output = RunPoisoned(filter.GetPointer(), BackendEnum::Host);
  const auto * const values = GetValues(output.GetPointer());
  const size_t       components = GetNumberOfComponents<TCase>();
  const auto         orders = TCase::GetOrders();
  const unsigned int highest = *std::max_element(orders.front().begin(), orders.front().end());
  double             error = 0.0;
  double             largest = 0.0;
  size_t             i = 0;
  for (ImageRegionConstIteratorWithIndex<Image<double, VDimension>> it(blob.GetImage(),
                                                                       blob.GetImage()->GetBufferedRegion());
       !it.IsAtEnd();
       ++it)
  {
    std::vector<double> exact;
    for (const auto & order : orders)
    {
      exact.push_back(factor * blob.template GetDerivative<TCase>(it.GetIndex(), order, normalize));
    }
    for (size_t c = 0; c < components; ++c, ++i)
    {
      const double expected = CombineDerivatives(TCase::Combine, exact, c);
      error = std::max(error, std::abs(static_cast<double>(values[i]) - expected));
      largest = std::max(largest, std::abs(expected));
    }
  }
  std::cout << "[ accurate ] " << filter->GetNameOfClass() << ", " << VDimension << "-D: " << error / largest
            << " of the largest output" << std::endl;
  EXPECT_LE(error, largest * (DerivativeBound[highest] + (VDimension - 1) * SmoothingBound))
    << filter->GetNameOfClass() << ", " << VDimension << "-D";
}

template <unsigned int VDimension>
void
Expect_all_filters_are_exact_on_a_blob(double sigma, bool normalize)
{
  Expect_blob_is_filtered_exactly<RecursiveCase<double, VDimension>, VDimension>(sigma, normalize);
  Expect_blob_is_filtered_exactly<SmoothingCase<double, VDimension>, VDimension>(sigma, normalize);
  Expect_blob_is_filtered_exactly<GradientCase<double, VDimension>, VDimension>(sigma, normalize);
  Expect_blob_is_filtered_exactly<MagnitudeCase<double, VDimension>, VDimension>(sigma, normalize);
  Expect_blob_is_filtered_exactly<LaplacianCase<double, VDimension>, VDimension>(sigma, normalize);
  Expect_blob_is_filtered_exactly<HessianCase<double, VDimension>, VDimension>(sigma, normalize);
}

TEST(CudaGaussianAccurateHost, AllFiltersAreExactOnBlobs)
{
  Expect_all_filters_are_exact_on_a_blob<2>(2.4, false);
  Expect_all_filters_are_exact_on_a_blob<2>(2.4, true);
  Expect_all_filters_are_exact_on_a_blob<3>(2.4, false);
}

// Norm and sum are written once, components of vectors side by side: each against filters of scalars.
TEST(CudaGaussianAccurateHost, GradientTurnsWithTheImage)
{
  using ImageType = Image<double, 2>;
  const auto input = MakeDataImage<ImageType>(MakeRegion<2>({ { 33, 31 } }), DataKind::Uniform);
  auto       direction = input->GetDirection();
  direction[0][0] = direction[1][1] = 0.6;
  direction[0][1] = -0.8;
  direction[1][0] = 0.8;
  input->SetDirection(direction);
  auto turned = MakeAccurate<GradientCase<double, 2>>(input.GetPointer(), 2.0);
  auto along = MakeAccurate<GradientCase<double, 2>>(input.GetPointer(), 2.0);
  along->UseImageDirectionOff();
  UpdateOn(turned.GetPointer(), BackendEnum::Host);
  UpdateOn(along.GetPointer(), BackendEnum::Host);
  ImageRegionConstIteratorWithIndex<ImageType> it(input, input->GetBufferedRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    CovariantVector<double, 2> expected;
    input->TransformLocalVectorToPhysicalVector(along->GetOutput()->GetPixel(it.GetIndex()), expected);
    for (unsigned int d = 0; d < 2; ++d)
    {
      ASSERT_NEAR(turned->GetOutput()->GetPixel(it.GetIndex())[d], expected[d], 1e-14) << it.GetIndex();
    }
  }
}

TEST(CudaGaussianAccurateHost, RotatedGradientOfFloatImages)
{
  // Outputs of a type that is not the one computed in are stored after the rotation.
  using InputType = Image<double, 2>;
  using OutputType = Image<CovariantVector<float, 2>, 2>;
  const auto input = MakeDataImage<InputType>(MakeRegion<2>({ { 33, 31 } }), DataKind::Uniform);
  auto       direction = input->GetDirection();
  direction[0][0] = direction[1][1] = 0.0;
  direction[0][1] = -1.0;
  direction[1][0] = 1.0;
  input->SetDirection(direction);
  auto exact = MakeAccurate<GradientCase<double, 2>>(input.GetPointer(), 2.0);
  auto rounded = CudaGradientRecursiveGaussianImageFilter<InputType, OutputType>::New();
  rounded->SetInput(input);
  rounded->SetSigma(2.0);
  rounded->SetApproximation("accurate");
  UpdateOn(exact.GetPointer(), BackendEnum::Host);
  UpdateOn(rounded.GetPointer(), BackendEnum::Host);
  for (size_t i = 0; i < 2 * 33 * 31; ++i)
  {
    ASSERT_EQ(GetValues(rounded->GetOutput())[i], static_cast<float>(GetValues(exact->GetOutput())[i])) << i;
  }
}

TEST(CudaGaussianAccurateHost, ComponentsAreFilteredByThemselves)
{
  using ScalarType = Image<float, 2>;
  using VectorType = VectorImage<float, 2>;
  constexpr unsigned int components = 3;
  const auto             region = MakeRegion<2>({ { 37, 29 } });
  auto                   input = VectorType::New();
  input->SetRegions(region);
  input->SetNumberOfComponentsPerPixel(components);
  input->Allocate();
  const size_t values = components * region.GetNumberOfPixels();
  for (size_t i = 0; i < values; ++i)
  {
    input->GetBufferPointer()[i] = static_cast<float>(UniformRandom(i));
  }
  auto gradient = CudaGradientRecursiveGaussianImageFilter<VectorType, VectorType>::New();
  gradient->SetInput(input);
  gradient->SetSigma(1.7);
  gradient->SetApproximation("Accurate");
  UpdateOn(gradient.GetPointer(), BackendEnum::Host);
  ASSERT_EQ(gradient->GetOutput()->GetNumberOfComponentsPerPixel(), 2 * components);
  for (unsigned int c = 0; c < components; ++c)
  {
    auto scalar = MakeImage<ScalarType>(region);
    for (size_t i = 0; i < region.GetNumberOfPixels(); ++i)
    {
      scalar->GetBufferPointer()[i] = input->GetBufferPointer()[components * i + c];
    }
    auto expected = MakeAccurate<GradientCase<float, 2>>(scalar.GetPointer(), 1.7);
    UpdateOn(expected.GetPointer(), BackendEnum::Host);
    for (size_t i = 0; i < region.GetNumberOfPixels(); ++i)
    {
      for (unsigned int d = 0; d < 2; ++d)
      {
        ASSERT_EQ(gradient->GetOutput()->GetBufferPointer()[2 * (components * i + c) + d],
                  GetValues(expected->GetOutput())[2 * i + d]);
      }
    }
  }
}

template <typename T>
void
Expect_constants_are_exact(BackendEnum backend)
{
  using ImageType = Image<T, 2>;
  const std::vector<double> values =
    std::is_integral_v<T> ? std::vector<double>{ 0, 1, 99, static_cast<double>(std::numeric_limits<T>::max()) }
                          : std::vector<double>{ 0.1, -3.7, 1e30 };
  for (const double value : values)
  {
    const auto constant = static_cast<T>(value);
    const auto input = MakeConstantImage<ImageType>({ { 65, 33 } }, constant);
    for (const double sigma : { 0.5, 3.0, 250.0 })
    {
      auto       smoothing = MakeAccurate<SmoothingCase<T, 2>>(input.GetPointer(), sigma);
      auto       derivative = MakeAccurate<RecursiveCase<T, 2>>(input.GetPointer(), sigma);
      auto       laplacian = MakeAccurate<LaplacianCase<T, 2>>(input.GetPointer(), sigma);
      const auto smooth = RunPoisoned(smoothing.GetPointer(), backend);
      const auto slope = RunPoisoned(derivative.GetPointer(), backend);
      const auto curvature = RunPoisoned(laplacian.GetPointer(), backend);
      for (size_t i = 0; i < 65 * 33; ++i)
      {
        ASSERT_EQ(smooth->GetBufferPointer()[i], constant) << "sigma " << sigma;
        ASSERT_EQ(slope->GetBufferPointer()[i], T(0)) << "sigma " << sigma;
        ASSERT_EQ(curvature->GetBufferPointer()[i], T(0)) << "sigma " << sigma;
      }
    }
  }
}

/** Truncated toward zero and clamped, from the float64 result. */
template <typename T>
void
Expect_integers_are_truncated(BackendEnum backend, double scale)
{
  using ImageType = Image<T, 2>;
  const auto input = MakeDataImage<ImageType>(MakeRegion<2>({ { 65, 33 } }), DataKind::Uniform, scale);
  const auto exactInput = ToDouble(input.GetPointer());
  auto       filter = MakeAccurate<RecursiveCase<T, 2>>(input.GetPointer(), 1.2, true);
  auto       exact = MakeAccurate<RecursiveCase<double, 2>>(exactInput.GetPointer(), 1.2, true);
  const auto output = RunPoisoned(filter.GetPointer(), backend);
  UpdateOn(exact.GetPointer(), BackendEnum::Host);
  const double error = scale * FloatAccuracy(1.2) * SampledL1Norm(1, 1.2);
  for (size_t i = 0; i < 65 * 33; ++i)
  {
    const double value = exact->GetOutput()->GetBufferPointer()[i];
    const double clamped =
      std::clamp<double>(std::trunc(value), std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max());
    if (!IsNearIntegerStep(value, error))
    {
      ASSERT_EQ(static_cast<double>(output->GetBufferPointer()[i]), clamped) << value;
    }
  }
}

class CudaGaussianAccurateTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGaussianAccurateTest);

TEST_P(CudaGaussianAccurateTest, ConstantsAreExact)
{
  Expect_constants_are_exact<unsigned char>(GetParam());
  Expect_constants_are_exact<short>(GetParam());
  Expect_constants_are_exact<unsigned int>(GetParam());
  Expect_constants_are_exact<float>(GetParam());
  Expect_constants_are_exact<double>(GetParam());
}

TEST_P(CudaGaussianAccurateTest, IntegersAreTruncatedAndClamped)
{
  Expect_integers_are_truncated<unsigned char>(GetParam(), 250.0);
  Expect_integers_are_truncated<short>(GetParam(), 30000.0);
  Expect_integers_are_truncated<int>(GetParam(), 2e6);
}

// ------------------------------------------------------------------------------------------------------------ pipeline

/** The kinds of the pipeline's tests, with Accurate in this module's filters. */
template <typename TKind>
struct AccurateKind : TKind
{
  template <typename TFilter>
  static void
  SetParameters(TFilter * filter, unsigned int variant, double sigma = 2.5)
  {
    TKind::SetParameters(filter, variant, sigma);
    using FilterType =
      typename TKind::template CudaFilter<typename TFilter::InputImageType, typename TFilter::OutputImageType>;
    if constexpr (std::is_same_v<TFilter, FilterType>)
    {
      filter->SetApproximation(ApproximationEnum::Accurate);
    }
  }
};
using AccurateRecursiveKind = AccurateKind<RecursiveKind>;
using AccurateSmoothingKind = AccurateKind<SmoothingKind>;

TEST_P(CudaGaussianAccurateTest, StreamingGivesTheSameBits)
{
  using Volume = Image<float, 3>;
  using Plane = Image<float, 2>;
  using ByteVolume = Image<unsigned char, 3>;
  using DoublePlane = Image<double, 2>;
  Expect_streaming_gives_the_bits_of_the_whole<AccurateRecursiveKind, Volume>(GetParam(), { { 33, 29, 21 } }, 2.5);
  Expect_streaming_gives_the_bits_of_the_whole<AccurateRecursiveKind, ByteVolume>(GetParam(), { { 65, 31, 9 } }, 4.0);
  Expect_streaming_gives_the_bits_of_the_whole<AccurateRecursiveKind, DoublePlane>(GetParam(), { { 513, 255 } }, 7.0);
  Expect_streaming_gives_the_bits_of_the_whole<AccurateRecursiveKind, Plane>(GetParam(), { { 8193, 35 } }, 100.0);
  Expect_streaming_gives_the_bits_of_the_whole<AccurateRecursiveKind, Plane>(GetParam(), { { 35, 8193 } }, 100.0);
  Expect_streaming_gives_the_bits_of_the_whole<AccurateSmoothingKind, Volume>(GetParam(), { { 33, 29, 21 } }, 2.5);
}

TEST_P(CudaGaussianAccurateTest, RequestsTheRegionsOfITKsClass)
{
  Expect_requested_regions_are_those_of_ITKs_class<AccurateRecursiveKind>(GetParam());
  Expect_requested_regions_are_those_of_ITKs_class<AccurateSmoothingKind>(GetParam());
}

TEST_P(CudaGaussianAccurateTest, AnInputBufferedInPartSuffices)
{
  Expect_an_input_buffered_in_part_suffices<AccurateRecursiveKind>(GetParam());
}

TEST_P(CudaGaussianAccurateTest, MagnitudeInPlace)
{
  using ImageType = Image<float, 3>;
  const auto input = MakeDataImage<ImageType>(MakeRegion<3>({ { 21, 18, 11 } }), DataKind::SmallOffset);
  auto       expected = MakeAccurate<MagnitudeCase<float, 3>>(input.GetPointer(), 1.5);
  UpdateOn(expected.GetPointer(), GetParam());
  const auto consumed = Duplicate(input.GetPointer());
  auto       filter = MakeAccurate<MagnitudeCase<float, 3>>(consumed.GetPointer(), 1.5);
  filter->InPlaceOn();
  UpdateOn(filter.GetPointer(), GetParam());
  EXPECT_TRUE(HasSameBits<ImageType>(filter->GetOutput(), expected->GetOutput()));
}

// ------------------------------------------------------------------------------------------------------------- setters

template <typename TCase>
void
Expect_approximation_can_be_set()
{
  auto filter = TCase::FilterType::New();
  EXPECT_EQ(filter->GetApproximation(), ApproximationEnum::Deriche);
  Expect_setter_modifies_only_on_change(filter.GetPointer(),
                                        [&] { filter->SetApproximation(ApproximationEnum::Accurate); });
  EXPECT_EQ(filter->GetApproximation(), ApproximationEnum::Accurate);
  std::ostringstream printed;
  filter->Print(printed);
  EXPECT_NE(printed.str().find("Approximation: itk::CudaFiltersEnums::Approximation::Accurate"), std::string::npos);
  Expect_setter_modifies_only_on_change(filter.GetPointer(), [&] { filter->SetApproximation("dEriche"); });
  EXPECT_EQ(filter->GetApproximation(), ApproximationEnum::Deriche);
  try
  {
    filter->SetApproximation("exact");
    FAIL() << "a wrong name was accepted";
  }
  catch (const ExceptionObject & error)
  {
    EXPECT_NE(std::string(error.GetDescription()).find("Approximation is \"exact\"; it must be Deriche or Accurate"),
              std::string::npos)
      << error;
  }
  EXPECT_EQ(filter->GetApproximation(), ApproximationEnum::Deriche);
}

TEST(CudaGaussianApproximation, CanBeSetInEveryFilter)
{
  Expect_approximation_can_be_set<RecursiveCase<float, 2>>();
  Expect_approximation_can_be_set<SmoothingCase<float, 2>>();
  Expect_approximation_can_be_set<GradientCase<float, 2>>();
  Expect_approximation_can_be_set<MagnitudeCase<float, 2>>();
  Expect_approximation_can_be_set<LaplacianCase<float, 2>>();
  Expect_approximation_can_be_set<HessianCase<float, 2>>();
}

TEST(CudaGaussianApproximation, PrintsItsNames)
{
  std::ostringstream out;
  out << ApproximationEnum::Deriche << ' ' << ApproximationEnum::Accurate << ' ' << static_cast<ApproximationEnum>(9);
  EXPECT_EQ(
    out.str(),
    "itk::CudaFiltersEnums::Approximation::Deriche itk::CudaFiltersEnums::Approximation::Accurate INVALID VALUE "
    "FOR itk::CudaFiltersEnums::Approximation");
}

// An image adaptor has no pixels in memory: the plan's run cannot read it, and the superclass knows no Accurate.
TEST(CudaGaussianApproximation, AccurateRefusesImageAdaptors)
{
  using VectorsType = Image<CovariantVector<float, 2>, 2>;
  using AdaptorType = NthElementImageAdaptor<VectorsType, float>;
  auto vectors = VectorsType::New();
  vectors->SetRegions(MakeRegion<2>({ { 16, 16 } }));
  vectors->Allocate(true);
  auto adaptor = AdaptorType::New();
  adaptor->SetImage(vectors);
  adaptor->SelectNthElement(0);
  auto filter = CudaRecursiveGaussianImageFilter<AdaptorType, Image<float, 2>>::New();
  filter->SetInput(adaptor);
  filter->Update();
  filter->SetApproximation("accurate");
  filter->SetBackend("host");
  try
  {
    filter->Update();
    FAIL() << "an image adaptor was accepted";
  }
  catch (const ExceptionObject & error)
  {
    EXPECT_NE(std::string(error.GetDescription()).find("Approximation::Accurate"), std::string::npos) << error;
    EXPECT_NE(std::string(error.GetDescription()).find("image adaptors"), std::string::npos) << error;
  }
  filter->SetApproximation("deriche");
  EXPECT_NO_THROW(filter->Update());
}

template <typename TCase>
void
Expect_parameters_are_checked(BackendEnum backend)
{
  using ImageType = typename TCase::FilterType::InputImageType;
  const auto narrow = MakeDataImage<ImageType>(MakeRegion<2>({ { 40, 3 } }), DataKind::Uniform);
  const auto wide = MakeDataImage<ImageType>(MakeRegion<2>({ { 40, 40 } }), DataKind::Uniform);
  auto       filter = MakeAccurate<TCase>(narrow.GetPointer(), 2.0);
  filter->SetBackend(backend);
  EXPECT_THROW(filter->Update(), ExceptionObject) << filter->GetNameOfClass();
  filter->SetInput(wide);
  filter->SetSigma(0.0);
  EXPECT_THROW(filter->Update(), ExceptionObject) << filter->GetNameOfClass();
  filter->SetSigma(2.0);
  EXPECT_NO_THROW(filter->UpdateLargestPossibleRegion()) << filter->GetNameOfClass();
}

TEST_P(CudaGaussianAccurateTest, DemandsFourPixelsAndPositiveSigma)
{
  Expect_parameters_are_checked<RecursiveCase<float, 2>>(GetParam());
  Expect_parameters_are_checked<SmoothingCase<float, 2>>(GetParam());
  Expect_parameters_are_checked<GradientCase<float, 2>>(GetParam());
  Expect_parameters_are_checked<MagnitudeCase<float, 2>>(GetParam());
  Expect_parameters_are_checked<LaplacianCase<float, 2>>(GetParam());
  Expect_parameters_are_checked<HessianCase<float, 2>>(GetParam());
}

// ----------------------------------------------------------------------------------------------------------------- GPU

class CudaGaussianAccurateGpuTest : public GpuTest
{};

/** Largest value of a derivative of an image with values up to 1. */
template <typename TCase, unsigned int VDimension>
double
GetScale(const Orders<VDimension> &                             orders,
         double                                                 sigma,
         const typename Image<float, VDimension>::SpacingType & spacing)
{
  double scale = 1.0;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    if (TCase::Filters(d))
    {
      scale *= SampledL1Norm(orders[d], sigma / spacing[d]);
      scale /= std::is_same_v<TCase, RecursiveCase<float, VDimension>> ? 1.0 : std::pow(spacing[d], orders[d]);
    }
  }
  return scale;
}

/** In float on the GPU against float64 on the host, with the bounds for float. */
template <template <typename, unsigned int> class TCase, unsigned int VDimension>
void
Expect_device_agrees_with_host(const Size<VDimension> & size, double sigma, DataKind kind)
{
  using FloatCase = TCase<float, VDimension>;
  using DoubleCase = TCase<double, VDimension>;
  auto                           input = MakeDataImage<Image<float, VDimension>>(MakeRegion<VDimension>(size), kind);
  std::array<double, VDimension> spacing;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    spacing[d] = 0.5 + 0.75 * d;
  }
  SetSpacing(input.GetPointer(), spacing);
  const auto exactInput = ToDouble(input.GetPointer());
  auto       filter = MakeAccurate<FloatCase>(input.GetPointer(), sigma);
  auto       exact = MakeAccurate<DoubleCase>(exactInput.GetPointer(), sigma);
  const auto output = RunPoisoned(filter.GetPointer(), BackendEnum::Cuda);
  UpdateOn(exact.GetPointer(), BackendEnum::Host);

  const double        magnitude = MaximumMagnitude(exactInput.GetPointer());
  std::vector<double> scales;
  for (const auto & orders : FloatCase::GetOrders())
  {
    scales.push_back(magnitude * GetScale<FloatCase, VDimension>(orders, sigma, input->GetSpacing()));
  }
  const double sum = std::accumulate(scales.begin(), scales.end(), 0.0); // errors of norms and sums add up
  const size_t components = GetNumberOfComponents<FloatCase>();
  const double bound = FloatAccuracy(sigma / spacing.front());
  double       worst = 0.0;
  for (size_t i = 0; i < components * input->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    const double scale = FloatCase::Combine == Combination::Components ? scales[i % components] : sum;
    const double error =
      std::abs(static_cast<double>(GetValues(output.GetPointer())[i]) - GetValues(exact->GetOutput())[i]) / scale;
    worst = error <= worst ? worst : error; // NaN goes on
  }
  EXPECT_LE(worst, bound) << filter->GetNameOfClass() << ", " << VDimension << "-D, sigma " << sigma << ", "
                          << DataKindToString(kind);
}

template <unsigned int VDimension>
void
Expect_all_filters_agree_with_the_host(const Size<VDimension> & size)
{
  for (const DataKind kind : AllDataKinds)
  {
    for (const double sigma : { 0.8, 2.0, 30.0 })
    {
      Expect_device_agrees_with_host<RecursiveCase, VDimension>(size, sigma, kind);
      Expect_device_agrees_with_host<SmoothingCase, VDimension>(size, sigma, kind);
      Expect_device_agrees_with_host<GradientCase, VDimension>(size, sigma, kind);
      Expect_device_agrees_with_host<MagnitudeCase, VDimension>(size, sigma, kind);
      Expect_device_agrees_with_host<LaplacianCase, VDimension>(size, sigma, kind);
      Expect_device_agrees_with_host<HessianCase, VDimension>(size, sigma, kind);
    }
  }
}

TEST_F(CudaGaussianAccurateGpuTest, AllFiltersAgreeWithTheHost)
{
  Expect_all_filters_agree_with_the_host<2>({ { 131, 67 } });
  Expect_all_filters_agree_with_the_host<3>({ { 33, 31, 17 } });
}
} // namespace
} // namespace itk::cuda::test

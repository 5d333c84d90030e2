// SPDX-License-Identifier: Apache-2.0
#include "support/itkCudaGaussianRunner.h"

#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkMultiThreaderBase.h"
#include "runtime/image/Components.h"
#include "support/itkCudaITKClass.h"

#include <ostream>

namespace itk::cuda::test
{
namespace
{
constexpr double CosineOfTurn = 0.8;
constexpr double SineOfTurn = 0.6;

// The parameters that only some filters have. The last argument is the filter as an object of ITK's class.

template <typename TFilter, typename TInput, typename TOutput>
void
SetOwnParameters(TFilter *            filter,
                 const GaussianCase & gaussianCase,
                 const RecursiveGaussianImageFilter<TInput, TOutput> *)
{
  filter->SetDirection(gaussianCase.Direction);
  filter->SetOrder(static_cast<GaussianOrderEnum>(gaussianCase.Order));
  filter->SetSigma(gaussianCase.Sigma[0]);
}

template <typename TFilter>
void
SetSigmas(TFilter * filter, const GaussianCase & gaussianCase)
{
  typename TFilter::SigmaArrayType sigmas;
  std::copy_n(gaussianCase.Sigma.begin(), sigmas.Size(), sigmas.Begin());
  filter->SetSigmaArray(sigmas);
}

template <typename TFilter, typename TInput, typename TOutput>
void
SetOwnParameters(TFilter *            filter,
                 const GaussianCase & gaussianCase,
                 const SmoothingRecursiveGaussianImageFilter<TInput, TOutput> *)
{
  SetSigmas(filter, gaussianCase);
}

template <typename TFilter, typename TInput, typename TOutput>
void
SetOwnParameters(TFilter *            filter,
                 const GaussianCase & gaussianCase,
                 const GradientRecursiveGaussianImageFilter<TInput, TOutput> *)
{
  SetSigmas(filter, gaussianCase);
}

template <typename TFilter>
void
SetOwnParameters(TFilter * filter, const GaussianCase & gaussianCase, const void *)
{
  filter->SetSigma(gaussianCase.Sigma[0]);
}

template <typename TImage>
typename TImage::Pointer
MakeInput(const GaussianCase & gaussianCase, const Volume & input)
{
  typename TImage::SizeType      size;
  typename TImage::SpacingType   spacing;
  typename TImage::DirectionType direction;
  std::copy_n(input.Size.begin(), TImage::ImageDimension, size.begin());
  std::copy_n(gaussianCase.Spacing.begin(), TImage::ImageDimension, spacing.Begin());
  direction.SetIdentity();
  if (gaussianCase.IsTurned)
  {
    direction[0][0] = direction[1][1] = CosineOfTurn;
    direction[0][1] = -SineOfTurn;
    direction[1][0] = SineOfTurn;
  }
  const auto image = MakeImage<TImage>(typename TImage::RegionType(size));
  image->SetSpacing(spacing);
  image->SetDirection(direction);
  std::copy(input.Pixels.begin(), input.Pixels.end(), image->GetBufferPointer());
  return image;
}

template <typename TFilter>
std::vector<double>
GetValues(TFilter * filter)
{
  using OutputImageType = typename TFilter::OutputImageType;
  using ComponentType = typename CudaDetail::CudaImageTraits<OutputImageType>::ComponentType;
  const OutputImageType * const output = filter->GetOutput();
  const auto * const            begin = reinterpret_cast<const ComponentType *>(output->GetBufferPointer());
  const size_t                  components = sizeof(typename OutputImageType::PixelType) / sizeof(ComponentType);
  return { begin, begin + output->GetBufferedRegion().GetNumberOfPixels() * components };
}

template <typename TFilter>
std::vector<double>
Run(const GaussianCase & gaussianCase, const Volume & input, const BackendEnum * backend)
{
  const auto image = MakeInput<typename TFilter::InputImageType>(gaussianCase, input);
  const auto setUp = [&](auto * filter) {
    filter->SetInput(image);
    SetOwnParameters(filter, gaussianCase, filter);
    filter->SetNormalizeAcrossScale(gaussianCase.NormalizeAcrossScale);
  };
  if (backend == nullptr)
  {
    const auto filter = ITKClassOf<TFilter>::New();
    setUp(filter.GetPointer());
    filter->Update();
    return GetValues(filter.GetPointer());
  }
  const auto filter = TFilter::New();
  setUp(filter.GetPointer());
  filter->SetApproximation(gaussianCase.Approximation);
  filter->SetBoundaryMode(gaussianCase.Boundary.Mode);
  filter->SetBoundaryValue(gaussianCase.Boundary.Value);
  const PoisonedOutput<typename TFilter::OutputImageType> poisoned(filter->GetOutput(), input.GetNumberOfPixels());
  UpdateOn(filter.GetPointer(), *backend);
  EXPECT_TRUE(poisoned.IsIntact());
  return GetValues(filter.GetPointer());
}

template <typename T, unsigned int VDimension>
std::vector<double>
RunOnImages(const GaussianCase & gaussianCase, const Volume & input, const BackendEnum * backend)
{
  using ImageType = Image<T, VDimension>;
  using GradientType = Image<CovariantVector<T, VDimension>, VDimension>;
  using HessianType = Image<SymmetricSecondRankTensor<T, VDimension>, VDimension>;
  switch (gaussianCase.Filter)
  {
    case GaussianFilter::Recursive:
      return Run<CudaRecursiveGaussianImageFilter<ImageType>>(gaussianCase, input, backend);
    case GaussianFilter::Smoothing:
      return Run<CudaSmoothingRecursiveGaussianImageFilter<ImageType>>(gaussianCase, input, backend);
    case GaussianFilter::Gradient:
      return Run<CudaGradientRecursiveGaussianImageFilter<ImageType, GradientType>>(gaussianCase, input, backend);
    case GaussianFilter::Magnitude:
      return Run<CudaGradientMagnitudeRecursiveGaussianImageFilter<ImageType>>(gaussianCase, input, backend);
    case GaussianFilter::Laplacian:
      return Run<CudaLaplacianRecursiveGaussianImageFilter<ImageType>>(gaussianCase, input, backend);
    default:
      return Run<CudaHessianRecursiveGaussianImageFilter<ImageType, HessianType>>(gaussianCase, input, backend);
  }
}

std::vector<double>
RunOnImages(const GaussianCase & gaussianCase, const Volume & input, const BackendEnum * backend)
{
  return gaussianCase.Type == CudaComponentType::Float ? RunOnImages<float, 3>(gaussianCase, input, backend)
                                                       : RunOnImages<double, 2>(gaussianCase, input, backend);
}

/** A derivative: passes along some axes, and what its values are multiplied by. */
struct ReferenceTerm
{
  std::vector<GaussianParameters> Passes;
  double                          Factor{ 1.0 };
};

/** Returns the derivative along the axes a and b (one of the first order if b is the dimension), per physical unit. */
ReferenceTerm
MakeTerm(const GaussianCase & gaussianCase, unsigned int a, unsigned int b)
{
  ReferenceTerm      term;
  const unsigned int dimension = GetDimension(gaussianCase.Type);
  // ITK's gradient gives its sigmas to its filters, not to the axes: the derivative has the last one, and the smoothing
  // along the other axes has the others in turn.
  const bool isItksGradient = gaussianCase.Filter == GaussianFilter::Gradient &&
                              gaussianCase.Approximation == CudaFiltersEnums::Approximation::Deriche;
  unsigned int next = 0;
  for (unsigned int d = 0; d < dimension; ++d)
  {
    GaussianParameters pass;
    pass.Axis = d;
    pass.Order = (d == a ? 1 : 0) + (d == b ? 1 : 0);
    pass.Sigma = !gaussianCase.HasSigmas() ? gaussianCase.Sigma[0]
                 : !isItksGradient         ? gaussianCase.Sigma[d]
                 : d == a                  ? gaussianCase.Sigma[dimension - 1]
                                           : gaussianCase.Sigma[next++];
    pass.Spacing = gaussianCase.Spacing[d];
    pass.NormalizeAcrossScale = gaussianCase.NormalizeAcrossScale;
    term.Passes.push_back(pass);
    term.Factor /= std::pow(pass.Spacing, pass.Order);
  }
  return term;
}

std::vector<ReferenceTerm>
MakeTerms(const GaussianCase & gaussianCase)
{
  const unsigned int         dimension = GetDimension(gaussianCase.Type);
  const unsigned int         none = dimension;
  std::vector<ReferenceTerm> terms;
  switch (gaussianCase.Filter)
  {
    case GaussianFilter::Recursive: // per pixel
      terms.push_back({ { { gaussianCase.Direction,
                            gaussianCase.Order,
                            gaussianCase.Sigma[0],
                            gaussianCase.Spacing[gaussianCase.Direction],
                            gaussianCase.NormalizeAcrossScale } } });
      break;
    case GaussianFilter::Smoothing:
      terms.push_back(MakeTerm(gaussianCase, none, none));
      break;
    case GaussianFilter::Gradient:
    case GaussianFilter::Magnitude:
      for (unsigned int d = 0; d < dimension; ++d)
      {
        terms.push_back(MakeTerm(gaussianCase, d, none));
      }
      break;
    default:
      for (unsigned int a = 0; a < dimension; ++a)
      {
        for (unsigned int b = a; b < (gaussianCase.Filter == GaussianFilter::Hessian ? dimension : a + 1); ++b)
        {
          terms.push_back(MakeTerm(gaussianCase, a, b));
        }
      }
  }
  return terms;
}

/** Returns the components of a pixel, given its derivatives. */
std::vector<double>
Combine(const GaussianCase & gaussianCase, std::vector<double> derivatives)
{
  if (gaussianCase.Filter == GaussianFilter::Magnitude)
  {
    return { std::sqrt(std::inner_product(derivatives.begin(), derivatives.end(), derivatives.begin(), 0.0)) };
  }
  if (gaussianCase.Filter == GaussianFilter::Laplacian)
  {
    return { std::accumulate(derivatives.begin(), derivatives.end(), 0.0) };
  }
  if (gaussianCase.Filter == GaussianFilter::Gradient && gaussianCase.IsTurned)
  {
    const double x = derivatives[0];
    derivatives[0] = CosineOfTurn * x - SineOfTurn * derivatives[1];
    derivatives[1] = SineOfTurn * x + CosineOfTurn * derivatives[1];
  }
  return derivatives;
}

CudaDetail::CudaImageView
MakeView(const Volume & shape, size_t components, CudaComponentType type, std::vector<unsigned char> & bytes)
{
  CudaDetail::CudaImageView view;
  view.Data = bytes.data();
  view.ComponentType = type;
  view.NumberOfComponents = components;
  for (unsigned int d = 0; d < 4; ++d)
  {
    view.Size[d] = shape.Size[d];
    view.Stride[d] = components * shape.GetStride(d);
  }
  return view;
}
} // namespace

std::ostream &
operator<<(std::ostream & os, const GaussianCase & gaussianCase)
{
  static const char * const names[] = { "Recursive", "Smoothing", "Gradient", "Magnitude", "Laplacian", "Hessian" };
  os << names[static_cast<int>(gaussianCase.Filter)]
     << (gaussianCase.Type == CudaComponentType::Float ? " 3-D" : " 2-D") << ", " << gaussianCase.Approximation << ", "
     << gaussianCase.Boundary.Mode << ", sigma " << ::testing::PrintToString(gaussianCase.Sigma) << ", spacing "
     << ::testing::PrintToString(gaussianCase.Spacing);
  if (gaussianCase.Filter == GaussianFilter::Recursive)
  {
    os << ", direction " << gaussianCase.Direction << ", order " << gaussianCase.Order;
  }
  return os << (gaussianCase.NormalizeAcrossScale ? ", normalised" : "") << (gaussianCase.IsTurned ? ", turned" : "");
}

Volume
MakeDataVolume(const std::array<size_t, 4> & size, DataKind kind, double scale, double offset)
{
  Volume  volume{ size, {} };
  Size<4> itkSize;
  std::copy(size.begin(), size.end(), itkSize.begin());
  for (size_t i = 0; i < volume.GetNumberOfPixels(); ++i)
  {
    Offset<4> position;
    for (unsigned int d = 0; d < 4; ++d)
    {
      position[d] = static_cast<OffsetValueType>(i / volume.GetStride(d) % size[d]);
    }
    volume.Pixels.push_back(offset + scale * GetDataValue(kind, position, itkSize, i));
  }
  return volume;
}

std::vector<double>
RunFilter(const GaussianCase & gaussianCase, const Volume & input, BackendEnum backend)
{
  return RunOnImages(gaussianCase, input, &backend);
}

std::vector<double>
RunITKsFilter(const GaussianCase & gaussianCase, const Volume & input)
{
  return RunOnImages(gaussianCase, input, nullptr);
}

GaussianReference
ComputeReference(const GaussianCase & gaussianCase, const Volume & input)
{
  Volume rounded = input;
  for (double & pixel : rounded.Pixels)
  {
    pixel = gaussianCase.Type == CudaComponentType::Float ? static_cast<float>(pixel) : pixel;
  }
  const auto &        boundary = gaussianCase.Boundary;
  const double        largestBeyond = boundary.Mode == Mode::Constant ? std::abs(boundary.Value) : 0.0;
  std::vector<Volume> derivatives;
  GaussianReference   reference;
  for (const ReferenceTerm & term : MakeTerms(gaussianCase))
  {
    derivatives.push_back(rounded);
    double scale = LargestOf(rounded.Pixels);
    // Filter along the last axis first, as plans do, because the order matters in the mode Constant.
    for (auto pass = term.Passes.rbegin(); pass != term.Passes.rend(); ++pass)
    {
      FilterVolume(derivatives.back(), *pass, gaussianCase.Approximation, boundary);
      scale = L1Norm(MakeReferenceKernel(gaussianCase.Approximation, *pass)) * std::max(scale, largestBeyond);
    }
    for (double & pixel : derivatives.back().Pixels)
    {
      pixel *= term.Factor;
    }
    reference.Scales.push_back(scale * std::abs(term.Factor));
  }
  for (size_t i = 0; i < input.GetNumberOfPixels(); ++i)
  {
    std::vector<double> pixel;
    for (const Volume & derivative : derivatives)
    {
      pixel.push_back(derivative.Pixels[i]);
    }
    const std::vector<double> components = Combine(gaussianCase, pixel);
    reference.Values.insert(reference.Values.end(), components.begin(), components.end());
  }
  const bool isMixed = gaussianCase.Filter == GaussianFilter::Magnitude ||
                       gaussianCase.Filter == GaussianFilter::Laplacian || gaussianCase.IsTurned;
  if (isMixed)
  {
    const double sum = std::accumulate(reference.Scales.begin(), reference.Scales.end(), 0.0);
    reference.Scales.assign(reference.Values.size() / input.GetNumberOfPixels(), sum);
  }
  return reference;
}

double
GetLargestError(const std::vector<double> & values, const GaussianReference & reference)
{
  double largest = values.size() == reference.Values.size() ? 0.0 : INFINITY;
  for (size_t i = 0; i < std::min(values.size(), reference.Values.size()); ++i)
  {
    const double error = std::abs(values[i] - reference.Values[i]) / reference.Scales[i % reference.Scales.size()];
    largest = std::isnan(error) ? INFINITY : std::max(largest, error);
  }
  return largest;
}

double
GetAccuracy(const GaussianCase & gaussianCase, BackendEnum backend)
{
  const bool isITKs = backend == BackendEnum::Host &&
                      gaussianCase.Approximation == CudaFiltersEnums::Approximation::Deriche &&
                      gaussianCase.Boundary.Mode == Mode::Nearest;
  if (gaussianCase.Type == CudaComponentType::Double && !isITKs)
  {
    return DoubleAccuracy;
  }
  if (gaussianCase.Type == CudaComponentType::Double && gaussianCase.Filter == GaussianFilter::Recursive)
  {
    return ModalAgainstITK;
  }
  double largest = 0.0;
  for (unsigned int d = 0; d < GetDimension(gaussianCase.Type); ++d)
  {
    largest = std::max(largest, gaussianCase.Sigma[d] / gaussianCase.Spacing[d]);
  }
  return FloatAccuracy(largest);
}

std::vector<double>
RunPlan(const CudaDetail::CudaGaussianPlan & plan,
        const Volume &                       input,
        CudaComponentType                    inputType,
        CudaComponentType                    outputType,
        BackendEnum                          backend)
{
  const size_t               components = plan.Results.size();
  const size_t               outputs = components * input.Pixels.size();
  std::vector<unsigned char> from(input.Pixels.size() * CudaComponentSize(inputType));
  std::vector<unsigned char> to(outputs * CudaComponentSize(outputType));
  VisitComponentType(inputType, [&](auto zero) {
    std::transform(input.Pixels.begin(),
                   input.Pixels.end(),
                   reinterpret_cast<decltype(zero) *>(from.data()),
                   [](double pixel) { return static_cast<decltype(zero)>(pixel); });
  });
  VisitComponentType(outputType, [&](auto zero) {
    std::fill_n(reinterpret_cast<decltype(zero) *>(to.data()), outputs, Poison<decltype(zero)>());
  });
  const auto inputView = MakeView(input, 1, inputType, from);
  const auto outputView = MakeView(input, components, outputType, to);
  if (backend == BackendEnum::Cuda)
  {
    CudaDetail::CudaRunOnDevice(plan, inputView, outputView, 0, nullptr);
  }
  else
  {
    CudaDetail::CudaRunOnHost(plan, inputView, outputView, MultiThreaderBase::New(), nullptr);
  }
  std::vector<double> results;
  VisitComponentType(outputType, [&](auto zero) {
    const auto * const begin = reinterpret_cast<const decltype(zero) *>(to.data());
    results.assign(begin, begin + outputs);
  });
  return results;
}
} // namespace itk::cuda::test

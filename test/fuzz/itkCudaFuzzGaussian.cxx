// SPDX-License-Identifier: Apache-2.0

// Gaussian filters on the host: what is asked for has the bits that it has in the whole output, in place and on any
// number of threads; finite pixels stay finite, and constants stay what they are.

#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaFuzzInput.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImage.h"
#include "itkImageRegionConstIterator.h"

namespace itk::cuda::test
{
namespace
{
constexpr double LargestTameSigma = 6.0;

template <typename TImage>
bool
IsFinite(const TImage * image)
{
  const auto * const pixels = image->GetBufferPointer();
  return std::all_of(pixels, pixels + image->GetBufferedRegion().GetNumberOfPixels(), [](auto value) {
    return std::isfinite(static_cast<double>(value));
  });
}

template <typename TImage>
typename TImage::Pointer
Copy(const TImage * image)
{
  const auto copy = TImage::New();
  copy->CopyInformation(image);
  copy->SetRegions(image->GetBufferedRegion());
  copy->Allocate();
  std::copy_n(image->GetBufferPointer(), image->GetBufferedRegion().GetNumberOfPixels(), copy->GetBufferPointer());
  return copy;
}

/** An image, the parameters that all Gaussian filters have, and whether a result is known in advance. */
template <typename TFilter>
class GaussianCase
{
public:
  using InputType = typename TFilter::InputImageType;
  using OutputType = typename TFilter::OutputImageType;
  static constexpr unsigned int Dimension = InputType::ImageDimension;

  explicit GaussianCase(FuzzInput & input)
    : m_Image(InputType::New())
  {
    typename InputType::RegionType    region;
    typename InputType::SpacingType   spacing;
    typename InputType::DirectionType direction;
    direction.SetIdentity();
    for (unsigned int d = 0; d < Dimension; ++d)
    {
      region.SetIndex(d, static_cast<IndexValueType>(input.Integer(0, 40)) - 20);
      region.SetSize(d, input.Integer(1, Dimension == 1 ? 40 : Dimension == 2 ? 9 : 5));
      spacing[d] = input.Scale(0.3, 20.0);
    }
    if (Dimension > 1 && input.Flag())
    {
      direction[0][0] = direction[1][1] = 0.0;
      direction[0][1] = -1.0;
      direction[1][0] = 1.0;
    }
    m_Image->SetRegions(region);
    m_Image->SetSpacing(spacing);
    m_Image->SetDirection(direction);
    m_Image->Allocate();
    m_Sigma = input.Parameter(0.01, LargestTameSigma);
    m_IsTame = m_Sigma >= 0.01 && m_Sigma <= LargestTameSigma;
    m_Boundary = static_cast<CudaFiltersEnums::BoundaryMode>(input.Integer(0, 4));
    m_BoundaryValue = input.Parameter(1.0, 100.0);
    m_IsTame =
      m_IsTame && (m_Boundary != CudaFiltersEnums::BoundaryMode::Constant || std::fabs(m_BoundaryValue) < 1e30);
    m_Approximation = static_cast<CudaFiltersEnums::Approximation>(input.Integer(0, 1));
    m_NormalizesAcrossScale = input.Flag();
    m_Order = static_cast<unsigned int>(input.Integer(0, 2));
    m_Direction = static_cast<unsigned int>(input.Integer(0, Dimension - 1));
    m_Streaming = static_cast<CudaFiltersEnums::Streaming>(input.Integer(0, 2));
    m_Part = region;
    for (unsigned int d = 0; d < Dimension; ++d)
    {
      const auto begin = input.Integer(0, region.GetSize(d) - 1);
      m_Part.SetIndex(d, region.GetIndex(d) + static_cast<IndexValueType>(begin));
      m_Part.SetSize(d, input.Integer(1, region.GetSize(d) - begin));
    }
    // ITK's own class, which does the work of many cases on the host, casts results beyond the range of integer pixels.
    const bool isTame = input.Integer(0, 3) != 3 || std::is_integral_v<typename OutputType::PixelType>;
    m_IsConstant = input.Fill(CudaDetail::CudaComponentTraits<typename InputType::PixelType>::Type,
                              m_Image->GetBufferPointer(),
                              region.GetNumberOfPixels(),
                              isTame);
    m_IsTame = m_IsTame && isTame;
    m_IsConstant = m_IsConstant && m_IsTame;
  }

  typename OutputType::Pointer
  Run(unsigned int threads, bool part, bool inPlace) const
  {
    const auto filter = TFilter::New();
    filter->SetInput(Copy(m_Image.GetPointer()));
    filter->SetBackend(CudaFiltersEnums::Backend::Host);
    filter->SetNumberOfWorkUnits(threads);
    filter->SetSigma(m_Sigma);
    filter->SetNormalizeAcrossScale(m_NormalizesAcrossScale);
    filter->SetBoundaryMode(m_Boundary);
    filter->SetBoundaryValue(m_BoundaryValue);
    filter->SetApproximation(m_Approximation);
    filter->SetStreaming(m_Streaming);
    if constexpr (HasOrder)
    {
      filter->SetOrder(static_cast<RecursiveGaussianImageFilterEnums::GaussianOrder>(m_Order));
      filter->SetDirection(m_Direction);
      filter->SetInPlace(inPlace);
    }
    filter->UpdateOutputInformation();
    if (part)
    {
      filter->GetOutput()->SetRequestedRegion(m_Part);
    }
    filter->Update();
    const typename OutputType::Pointer output = filter->GetOutput();
    output->DisconnectPipeline();
    return output;
  }

  void
  Check() const
  {
    typename OutputType::Pointer whole;
    if (!FuzzAccepts([&] { whole = this->Run(1, false, false); }))
    {
      // What is refused is refused always.
      FuzzRequire(!FuzzAccepts([&] { this->Run(2, true, true); }), "only the whole output is refused");
      return;
    }
    FuzzRequire(!m_IsTame || IsFinite(whole.GetPointer()), "finite pixels are no longer finite");
    this->CheckPart(whole, this->Run(1, true, false), "a part");
    this->CheckPart(whole, this->Run(3, true, true), "a part in place on three threads");
    if (m_IsConstant && KeepsConstants() && m_Boundary != CudaFiltersEnums::BoundaryMode::Constant)
    {
      this->CheckConstant(whole);
    }
  }

private:
  static constexpr bool HasOrder = std::is_same_v<TFilter, CudaRecursiveGaussianImageFilter<InputType, OutputType>>;

  bool
  KeepsConstants() const
  {
    return !HasOrder || m_Order == 0;
  }

  void
  CheckPart(const OutputType * whole, const OutputType * part, const char * what) const
  {
    ImageRegionConstIterator<OutputType> expected(whole, m_Part);
    ImageRegionConstIterator<OutputType> pixel(part, m_Part);
    for (; !pixel.IsAtEnd(); ++pixel, ++expected)
    {
      const auto a = expected.Get();
      const auto b = pixel.Get();
      FuzzRequire(std::memcmp(&a, &b, sizeof(a)) == 0,
                  std::string(what) + " differs from the whole: " + std::to_string(b) + " instead of " +
                    std::to_string(a));
    }
  }

  void
  CheckConstant(const OutputType * whole) const
  {
    using SmoothingType = CudaSmoothingRecursiveGaussianImageFilter<InputType, OutputType>;
    const auto constant = static_cast<double>(m_Image->GetBufferPointer()[0]);
    const bool isSame = HasOrder || std::is_same_v<TFilter, SmoothingType>;
    for (size_t i = 0; i < whole->GetBufferedRegion().GetNumberOfPixels(); ++i)
    {
      // Rounding in float; integers are truncated.
      const double tolerance = std::is_integral_v<typename OutputType::PixelType> ? 1.0 : 2e-5 * constant;
      const double scale = m_NormalizesAcrossScale || isSame ? 1.0 : 1.0 / 0.01;
      FuzzRequire(
        std::fabs(static_cast<double>(whole->GetBufferPointer()[i]) - (isSame ? constant : 0.0)) <= scale * tolerance,
        "a constant image of " + std::to_string(constant) + " becomes " + std::to_string(whole->GetBufferPointer()[i]));
    }
  }

  typename InputType::Pointer     m_Image;
  typename InputType::RegionType  m_Part;
  double                          m_Sigma;
  double                          m_BoundaryValue;
  CudaFiltersEnums::BoundaryMode  m_Boundary;
  CudaFiltersEnums::Approximation m_Approximation;
  CudaFiltersEnums::Streaming     m_Streaming;
  bool                            m_NormalizesAcrossScale;
  unsigned int                    m_Order;
  unsigned int                    m_Direction;
  bool                            m_IsTame;
  bool                            m_IsConstant;
};

template <typename TFilter>
void
Check(FuzzInput & input)
{
  GaussianCase<TFilter>(input).Check();
}
} // namespace

void
FuzzGaussian(FuzzInput & input)
{
  switch (input.Integer(0, 3))
  {
    case 0:
      return Check<CudaRecursiveGaussianImageFilter<Image<float, 2>, Image<float, 2>>>(input);
    case 1:
      return Check<CudaSmoothingRecursiveGaussianImageFilter<Image<short, 3>, Image<short, 3>>>(input);
    case 2:
      return Check<CudaRecursiveGaussianImageFilter<Image<double, 1>, Image<double, 1>>>(input);
    default:
      return Check<CudaGradientMagnitudeRecursiveGaussianImageFilter<Image<unsigned char, 2>, Image<float, 2>>>(input);
  }
}
} // namespace itk::cuda::test

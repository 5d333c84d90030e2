// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStressRecursiveCases_h
#define itkCudaStressRecursiveCases_h

#include "itkCudaStressFilterCase.h"

namespace itk::cuda::test
{
using StressApproximation = CudaFiltersEnums::Approximation;
using StressStreaming = CudaFiltersEnums::Streaming;

/** Some of the filters write over their input, where input and output are of one type. */
template <typename TFilter>
bool
ChooseInPlace(StressFilterCase<TFilter> & stressCase, StressRandom & random)
{
  const bool inPlace =
    std::is_same_v<typename TFilter::InputImageType, typename TFilter::OutputImageType> && random.Chance(0.3);
  if (inPlace)
  {
    stressCase.CopyInput();
  }
  return inPlace;
}

/** What all recursive filters have in common. */
template <typename TFilter>
class StressRecursiveCase : public StressFilterCase<TFilter>
{
public:
  StressRecursiveCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(random, backend)
    , m_Approximation(random.Choose({ StressApproximation::Deriche, StressApproximation::Accurate }))
    , m_Normalized(random.Chance(0.5))
    , m_Streaming(random.Chance(0.25) ? StressStreaming::On : StressStreaming::Automatic)
  {
    this->IsItkOnTheHost = m_Approximation == StressApproximation::Deriche && m_Streaming != StressStreaming::On;
    // In pixels of up to two units.
    for (double & sigma : m_Sigma)
    {
      sigma = random.LogUniform(0.5, 30.0);
    }
  }

protected:
  void
  SetCommonParameters(TFilter * filter) const
  {
    filter->SetApproximation(m_Approximation);
    filter->SetNormalizeAcrossScale(m_Normalized);
    filter->SetStreaming(m_Streaming);
  }
  std::string
  DescribeCommonParameters() const
  {
    std::ostringstream text;
    text << m_Approximation << (m_Normalized ? ", normalised" : "")
         << (m_Streaming == StressStreaming::On ? ", in slabs" : "") << ", sigma";
    for (const double sigma : m_Sigma)
    {
      text << ' ' << sigma;
    }
    return text.str();
  }

  StressApproximation m_Approximation;
  bool                m_Normalized;
  StressStreaming     m_Streaming;
  double              m_Sigma[TFilter::InputImageType::ImageDimension];
};

/** Filters with one sigma. */
template <typename TFilter>
class StressSigmaCase : public StressRecursiveCase<TFilter>
{
public:
  StressSigmaCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressRecursiveCase<TFilter>(random, backend)
  {
    this->SetParameters = [this](TFilter * filter) {
      this->SetCommonParameters(filter);
      filter->SetSigma(this->m_Sigma[0]);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetSigma(0.0); };
    this->Describe(this->DescribeCommonParameters());
  }
};

/** Filters with a sigma for each axis. */
template <typename TFilter>
class StressSigmaArrayCase : public StressRecursiveCase<TFilter>
{
public:
  StressSigmaArrayCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressRecursiveCase<TFilter>(random, backend)
  {
    this->SetParameters = [this](TFilter * filter) {
      this->SetCommonParameters(filter);
      typename TFilter::SigmaArrayType sigma;
      std::copy_n(this->m_Sigma, sigma.Size(), sigma.Begin());
      filter->SetSigmaArray(sigma);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetSigma(0.0); };
    this->Describe(this->DescribeCommonParameters());
  }
};

// Images around the size from which the GPU takes them in slabs, some with less of its memory than they need.

/** Any shape, from a few long lines to many short ones. */
template <typename TImage>
typename TImage::Pointer
MakeLargeImage(StressRandom & random)
{
  using PixelType = typename TImage::PixelType;
  constexpr unsigned int      last = TImage::ImageDimension - 1;
  double                      pixels = random.LogUniform(40.0, 200.0) * 0x1p20 / sizeof(PixelType);
  typename TImage::RegionType region;
  for (unsigned int d = 0; d < last; ++d)
  {
    region.SetSize(d,
                   static_cast<SizeValueType>(last == 1 ? random.LogUniform(16.0, 5e5) : random.LogUniform(8.0, 2e3)));
    pixels /= static_cast<double>(region.GetSize(d));
  }
  region.SetSize(last, 1 + static_cast<SizeValueType>(pixels));
  const auto image = TImage::New();
  image->SetRegions(region);
  image->Allocate();
  // Random numbers for each pixel would take as long as the filters.
  std::vector<PixelType> tile(random.Integer(5000, 10000));
  std::generate(tile.begin(), tile.end(), [&] { return static_cast<PixelType>(random.Uniform(0.0, 100.0)); });
  const size_t number = region.GetNumberOfPixels();
  for (size_t i = 0; i < number; i += tile.size())
  {
    std::copy_n(tile.begin(), std::min(tile.size(), number - i), image->GetBufferPointer() + i);
  }
  return image;
}

/** Returns the bytes that a few chunks of 128 planes of input and output take on the GPU. */
template <typename TFilter>
size_t
ChooseMemoryLimit(const typename TFilter::InputImageType * image, StressRandom & random)
{
  const auto   size = image->GetLargestPossibleRegion().GetSize();
  const size_t planes = size[size.GetSizeDimension() - 1];
  const size_t pixels = image->GetLargestPossibleRegion().GetNumberOfPixels() / planes * std::min<size_t>(planes, 128);
  const size_t bytes = std::max(sizeof(typename TFilter::InputImageType::PixelType), sizeof(float)) +
                       std::max(sizeof(typename TFilter::OutputImageType::PixelType), sizeof(float));
  return static_cast<size_t>(random.Uniform(4.0, 12.0) * static_cast<double>(pixels * bytes)) + (size_t{ 64 } << 20);
}

template <typename TFilter>
class StressLargeCase : public StressFilterCase<TFilter>
{
  static constexpr bool IsInPlaceFilter =
    std::is_base_of_v<InPlaceImageFilter<typename TFilter::InputImageType, typename TFilter::OutputImageType>, TFilter>;

public:
  StressLargeCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(MakeLargeImage<typename TFilter::InputImageType>(random), backend)
  {
    const auto   approximation = random.Choose({ StressApproximation::Deriche, StressApproximation::Accurate });
    const double sigma = random.LogUniform(0.5, 100.0);
    const size_t limit = random.Chance(0.5) ? 0 : ChooseMemoryLimit<TFilter>(this->GetImage(), random);
    this->IsItkOnTheHost = approximation == StressApproximation::Deriche;
    const bool inPlace = IsInPlaceFilter && ChooseInPlace(*this, random);
    if (!inPlace && random.Chance(0.2))
    {
      this->RequestRandomPart(random);
    }
    this->SetParameters = [approximation, sigma, limit, inPlace](TFilter * filter) {
      filter->SetApproximation(approximation);
      filter->SetSigma(sigma);
      filter->SetDeviceMemoryLimit(limit);
      if constexpr (IsInPlaceFilter)
      {
        filter->SetInPlace(inPlace);
      }
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetSigma(0.0); };
    std::ostringstream text;
    text << approximation << ", sigma " << sigma << ", " << limit << " bytes of the GPU's memory"
         << (inPlace ? ", in place" : "");
    this->Describe(text.str());
  }
};
} // namespace itk::cuda::test

#endif

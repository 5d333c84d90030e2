// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkCudaStressRecursiveCases.h"

// Images around the size from which the GPU takes them in slabs, some with less of its memory than they need.

namespace itk::cuda::test
{
namespace
{
constexpr double Mebibyte = 1 << 20;

/** Any shape, from a few long lines to many short ones. */
template <typename TImage>
typename TImage::Pointer
MakeLargeImage(StressRandom & random)
{
  using PixelType = typename TImage::PixelType;
  constexpr unsigned int      last = TImage::ImageDimension - 1;
  double                      pixels = random.LogUniform(40.0, 200.0) * Mebibyte / sizeof(PixelType);
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

/** As much of the GPU's memory as a few chunks of 128 planes take, in and out. */
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
class LargeCase : public StressFilterCase<TFilter>
{
  static constexpr bool IsInPlaceFilter =
    std::is_base_of_v<InPlaceImageFilter<typename TFilter::InputImageType, typename TFilter::OutputImageType>, TFilter>;

public:
  LargeCase(StressRandom & random, CudaFiltersEnums::Backend backend)
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

template <typename TInput, typename TOutput = TInput>
using Smoothing = CudaSmoothingRecursiveGaussianImageFilter<TInput, TOutput>;
} // namespace

StressCasePointer
MakeLargeStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<LargeCase,
                        Smoothing<Image<float, 2>>,
                        Smoothing<Image<float, 3>>,
                        Smoothing<Image<double, 2>>,
                        Smoothing<Image<short, 3>>,
                        Smoothing<Image<unsigned char, 2>, Image<float, 2>>,
                        CudaGradientMagnitudeRecursiveGaussianImageFilter<Image<unsigned short, 3>>,
                        CudaLaplacianRecursiveGaussianImageFilter<Image<float, 3>>,
                        CudaGradientRecursiveGaussianImageFilter<Image<float, 2>>,
                        CudaHessianRecursiveGaussianImageFilter<Image<float, 2>>>(random, backend);
}
} // namespace itk::cuda::test

// SPDX-License-Identifier: Apache-2.0
#include "itkCudaConstantFalseAlarmRateImageFilter.h"
#include "itkCudaStressFilterCase.h"

#include <cmath>

namespace itk::cuda::test
{
namespace
{
/** Noise of whole numbers of 1 and more, which every law describes, with brighter spots. */
template <typename TImage>
typename TImage::Pointer
MakeSpots(StressRandom & random)
{
  const auto   image = TImage::New();
  const double longest = std::min(250.0, static_cast<double>(random.GetLongestSide()));
  const auto   width = static_cast<size_t>(random.LogUniform(9.0, std::max(10.0, longest)));
  const auto   height = static_cast<size_t>(random.LogUniform(9.0, std::max(10.0, longest)));
  image->SetRegions(typename TImage::RegionType({ { 5, -3 } }, { { width, height } }));
  SetRandomGeometry(image.GetPointer(), random);
  image->Allocate();
  const uint64_t distance = random.Integer(8, 60);
  for (size_t i = 0; i < width * height; ++i)
  {
    const bool isBright = (i % width) % distance < 3 && (i / width) % distance < 4;
    image->GetBufferPointer()[i] =
      static_cast<typename TImage::PixelType>(std::floor((isBright ? 3.0 : 1.0) * random.Uniform(5.0, 35.0)));
  }
  return image;
}

template <typename TFilter>
class DetectionCase : public StressFilterCase<TFilter>
{
public:
  using InputImageType = typename TFilter::InputImageType;
  using MaskType = typename TFilter::MaskImageType;

  DetectionCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(MakeSpots<InputImageType>(random), backend)
  {
    const auto law = CudaNoiseLaws()[random.Integer(0, CudaNoiseLaws().size() - 1)].Law;
    const auto looks = random.Choose({ 1.0, 4.4 });
    const auto probability = random.Choose({ 1e-6, 1e-3, 0.1 });
    const auto target = random.Choose<SizeValueType>({ 1, 3 });
    const auto guard = target + 2 * random.Integer(0, 2);
    const bool hasLimit = random.Chance(0.3);
    if (random.Chance(0.3))
    {
      m_ValidMask = MaskType::New();
      m_ValidMask->CopyInformation(this->GetImage());
      m_ValidMask->SetRegions(this->GetImage()->GetLargestPossibleRegion());
      m_ValidMask->Allocate();
      const size_t pixels = m_ValidMask->GetLargestPossibleRegion().GetNumberOfPixels();
      for (size_t i = 0; i < pixels; ++i)
      {
        m_ValidMask->GetBufferPointer()[i] = i == 0 || !random.Chance(0.1) ? 1 : 0;
      }
    }
    this->SetParameters = [=](TFilter * filter) {
      filter->SetNoiseLaw(law);
      filter->SetForegroundThreshold(30.0);
      filter->SetNumberOfLooks(looks);
      filter->SetProbabilityOfFalseAlarm(probability);
      filter->SetTargetWindow({ { target, target } });
      filter->SetGuardWindow({ { guard, guard } });
      filter->SetBackgroundWindow({ { guard + 2, guard + 2 } });
      filter->SetMaximumNumberOfPixels(hasLimit ? 6 : 0);
      // Updates change the regions of inputs, so that every filter has images of its own.
      filter->SetValidMask(m_ValidMask ? SharePixels(m_ValidMask.GetPointer()) : nullptr);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetProbabilityOfFalseAlarm(0.5); };
    std::ostringstream text;
    text << law << ", looks " << looks << ", probability " << probability << ", target " << target << ", guard "
         << guard << (hasLimit ? ", of at most 6 pixels" : "") << (m_ValidMask ? ", valid mask" : "");
    this->Describe(text.str());
  }

private:
  typename MaskType::Pointer m_ValidMask;
};

template <typename TInput, typename TOutput>
using Detection = CudaConstantFalseAlarmRateImageFilter<Image<TInput, 2>, Image<TOutput, 2>>;
} // namespace

StressCasePointer
MakeDetectionStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<DetectionCase,
                        Detection<unsigned char, unsigned int>,
                        Detection<unsigned short, unsigned int>,
                        Detection<short, unsigned short>,
                        Detection<float, unsigned short>>(random, backend);
}
} // namespace itk::cuda::test

// SPDX-License-Identifier: Apache-2.0

// Detections in any images, masks and windows: counts and sums of the windows against a loop over their pixels, and a
// table that is the one of the label image.

#include "itkCudaDetailDetectionEngine.h"
#include "itkCudaFuzzRegions.h"
#include "region/Laws.h"

namespace itk::cuda::test
{
namespace
{
using namespace itk::CudaDetail;

/** What a window holds of the image. */
struct Window
{
  uint64_t Pixels{ 0 };
  double   Sum{ 0.0 };
};

Window
Look(const FuzzScene & scene, size_t x, size_t y, const Size<2> & window)
{
  Window     result;
  const auto range = [](size_t centre, size_t side, size_t length) {
    return std::pair(centre - std::min(centre, side / 2), std::min(length, centre + side / 2 + 1));
  };
  const auto [left, right] = range(x, window[0], scene.GetWidth());
  const auto [top, bottom] = range(y, window[1], scene.GetHeight());
  for (size_t row = top; row < bottom; ++row)
  {
    for (size_t column = left; column < right; ++column)
    {
      const size_t pixel = row * scene.GetWidth() + column;
      if (scene.IsValid(pixel))
      {
        ++result.Pixels;
        result.Sum += scene.Image.Get(pixel);
      }
    }
  }
  return result;
}

void
CheckWindow(const char * name, const CudaRegionSnakeStatistics & statistics, const Window & expected, bool hasSums)
{
  FuzzRequire(statistics.NumberOfPixels == expected.Pixels,
              std::string(name) + " has " + std::to_string(expected.Pixels) + " pixels, not " +
                std::to_string(statistics.NumberOfPixels));
  FuzzRequire(!hasSums || expected.Pixels == 0 ||
                std::fabs(statistics.Mean * static_cast<double>(expected.Pixels) - expected.Sum) <=
                  1e-9 * (1.0 + expected.Sum),
              std::string("the mean of ") + name + " is not that of its pixels");
}
} // namespace

void
FuzzDetection(FuzzInput & input)
{
  const FuzzScene         scene(input, 30);
  CudaDetectionParameters parameters;
  FuzzLaw(input, parameters);
  parameters.ProbabilityOfFalseAlarm = input.Parameter(1e-9, 0.1);
  const bool isHostile = input.Integer(0, 15) == 15;
  const auto drawSide = [&](size_t from) {
    return isHostile ? input.Integer(0, UINT64_MAX) : from + 2 * input.Integer(0, 4);
  };
  for (unsigned int d = 0; d < 2; ++d)
  {
    parameters.TargetWindow[d] = drawSide(1);
    parameters.GuardWindow[d] = drawSide(parameters.TargetWindow[d]);
    parameters.BackgroundWindow[d] = drawSide(parameters.GuardWindow[d] + 2);
  }
  parameters.MinimumNumberOfPixels = input.Integer(0, 4);
  parameters.MaximumNumberOfPixels = input.Integer(0, 9);
  FuzzImage labels(scene.Image.View.Size, 1, input.Choose({ CudaComponentType::UInt, CudaComponentType::UShort }));
  const CudaDetectionInput           image{ scene.Image.View, { { 7, -2 } }, scene.GetMask() };
  std::optional<CudaDetectionResult> result;
  if (!FuzzAccepts([&] { VerifyCudaDetectionParameters(parameters); }) ||
      !FuzzAccepts([&] { result = CudaDetectOnHost(image, parameters, labels.View, 1, nullptr); }))
  {
    return;
  }
  if (input.Integer(0, 7) == 7)
  {
    FuzzImage  otherLabels(labels);
    const auto other = CudaDetectOnHost(image, parameters, otherLabels.View, 2, nullptr);
    FuzzRequire(otherLabels == labels && other->Detections.size() == result->Detections.size(),
                "two threads give other targets");
  }

  const auto &          detections = result->Detections;
  std::vector<uint64_t> counts(detections.size() + 1);
  uint64_t              tested = 0;
  for (size_t i = 0; i < scene.GetWidth() * scene.GetHeight(); ++i)
  {
    const size_t x = i % scene.GetWidth();
    const size_t y = i / scene.GetWidth();
    const auto   label = static_cast<size_t>(labels.Get(i));
    FuzzRequire(label <= detections.size() && (label == 0 || scene.IsValid(i)), "a label that no target has");
    ++counts[label];
    const bool hasRing =
      Look(scene, x, y, parameters.BackgroundWindow).Pixels > Look(scene, x, y, parameters.GuardWindow).Pixels;
    tested += scene.IsValid(i) && hasRing ? 1 : 0;
    if (label != 0)
    {
      const auto & box = detections[label - 1].BoundingBox;
      FuzzRequire(box[0] <= static_cast<int64_t>(x) && static_cast<int64_t>(x) < box[2] &&
                    box[1] <= static_cast<int64_t>(y) && static_cast<int64_t>(y) < box[3],
                  "a pixel outside of the box of its target");
    }
  }
  FuzzRequire(tested == result->NumberOfTestedPixels,
              std::to_string(tested) + " pixels can be tested, not " + std::to_string(result->NumberOfTestedPixels));

  // The samples of integer images are their pixels, but for laws that change them.
  const bool hasSums = scene.Image.View.ComponentType == CudaComponentType::UChar &&
                       region::GetTraits(parameters.NoiseLaw.value()).Grid != region::SampleGrid::Binary &&
                       region::GetTraits(parameters.NoiseLaw.value()).Grid != region::SampleGrid::Logarithms;
  for (size_t i = 0; i < detections.size(); ++i)
  {
    const CudaDetection & target = detections[i];
    const auto            x = static_cast<size_t>(target.Peak[0]);
    const auto            y = static_cast<size_t>(target.Peak[1]);
    FuzzRequire(target.NumberOfPixels == counts[i + 1], "a target of another number of pixels");
    FuzzRequire(target.NumberOfPixels >= parameters.MinimumNumberOfPixels &&
                  (parameters.MaximumNumberOfPixels == 0 || target.NumberOfPixels <= parameters.MaximumNumberOfPixels),
                "a target of too few or too many pixels");
    FuzzRequire(static_cast<size_t>(labels.Get(y * scene.GetWidth() + x)) == i + 1, "a peak outside of its target");
    // The significance may be infinite, because a probability may be below the smallest number, but is no NaN.
    FuzzRequire(target.Significance >= -std::log10(parameters.ProbabilityOfFalseAlarm) - 1e-9,
                "a target that is not significant: " + std::to_string(target.Significance));
    FuzzRequire(!std::isnan(target.Statistic), "a statistic that is NaN");
    CheckWindow("the target window", target.Target, Look(scene, x, y, parameters.TargetWindow), hasSums);
    Window       ring = Look(scene, x, y, parameters.BackgroundWindow);
    const Window guard = Look(scene, x, y, parameters.GuardWindow);
    ring.Pixels -= guard.Pixels;
    ring.Sum -= guard.Sum;
    CheckWindow("the ring", target.Background, ring, hasSums);
  }
}
} // namespace itk::cuda::test

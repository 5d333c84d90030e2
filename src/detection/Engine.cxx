// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailDetectionEngine.h"

#include "detection/Detection.h"
#include "executor/HostImages.h"
#include "executor/LabelPixels.h"
#include "region/Checks.h"
#include "runtime/DetailNames.h"
#include "itkMacro.h"

#include <cmath>
#include <string>

// Checks the parameters and the images of a detection, and runs it on the host. DeviceRun.cxx runs it on a device.

namespace itk
{
namespace cuda::detection
{
namespace
{
// The counts of pixels in a window stay far below 2^31.
constexpr SizeValueType LargestWindow = 16383;

std::string
Describe(const Size<2> & window)
{
  return std::to_string(window[0]) + " x " + std::to_string(window[1]);
}

void
CheckWindow(const char * name, const Size<2> & window)
{
  const auto isGood = [](SizeValueType side) { return side % 2 == 1 && side <= LargestWindow; };
  region::Require(isGood(window[0]) && isGood(window[1]),
                  name,
                  Describe(window),
                  "of odd numbers of pixels from 1 to " + std::to_string(LargestWindow) +
                    ", so that it has a central pixel");
}
} // namespace

void
CheckInput(const CudaDetectionInput & input, const CudaDetectionParameters & parameters)
{
  region::CheckImage(input.Image, input.ValidMask);
  if (input.Image.GetNumberOfPixels() > MaximumPixels)
  {
    itkGenericExceptionMacro("The image has " << input.Image.GetNumberOfPixels()
                                              << " pixels; a detection takes at most " << MaximumPixels);
  }
  const Size<2> size{ { input.Image.Size[0], input.Image.Size[1] } };
  region::Require(parameters.BackgroundWindow[0] <= size[0] && parameters.BackgroundWindow[1] <= size[1],
                  "BackgroundWindow",
                  Describe(parameters.BackgroundWindow),
                  "at most as large as the image, which has " + Describe(size) + " pixels");
}
} // namespace cuda::detection

namespace CudaDetail
{
void
VerifyCudaDetectionParameters(const CudaDetectionParameters & parameters)
{
  using namespace cuda::region;
  using namespace cuda::detection;
  constexpr double largestProbability = 0.1;
  CheckNoiseLaw(parameters.NoiseLaw);
  Require(parameters.NumberOfLooks > 0.0 && parameters.NumberOfLooks <= MaximumNumberOfLooks,
          "NumberOfLooks",
          parameters.NumberOfLooks,
          "a number above 0 and at most 1e9");
  CheckForegroundThreshold(parameters.ForegroundThreshold);
  Require(parameters.ProbabilityOfFalseAlarm >= std::numeric_limits<double>::min() &&
            parameters.ProbabilityOfFalseAlarm <= largestProbability,
          "ProbabilityOfFalseAlarm",
          parameters.ProbabilityOfFalseAlarm,
          "above 0 and at most 0.1");
  const Size<2> & target = parameters.TargetWindow;
  const Size<2> & guard = parameters.GuardWindow;
  const Size<2> & background = parameters.BackgroundWindow;
  CheckWindow("TargetWindow", target);
  CheckWindow("GuardWindow", guard);
  CheckWindow("BackgroundWindow", background);
  Require(guard[0] >= target[0] && guard[1] >= target[1],
          "GuardWindow",
          Describe(guard),
          "at least as large as TargetWindow, which is " + Describe(target));
  Require(background[0] > guard[0] && background[1] > guard[1],
          "BackgroundWindow",
          Describe(background),
          "larger than GuardWindow, which is " + Describe(guard));
  Require(
    parameters.MinimumNumberOfPixels >= 1, "MinimumNumberOfPixels", parameters.MinimumNumberOfPixels, "1 or more");
  Require(parameters.MaximumNumberOfPixels == 0 || parameters.MaximumNumberOfPixels >= parameters.MinimumNumberOfPixels,
          "MaximumNumberOfPixels",
          parameters.MaximumNumberOfPixels,
          "0 for no limit, or at least MinimumNumberOfPixels, which is " +
            std::to_string(parameters.MinimumNumberOfPixels));
}

std::optional<CudaDetectionResult>
CudaDetectOnHost(const CudaDetectionInput &      input,
                 const CudaDetectionParameters & parameters,
                 const CudaImageView &           labels,
                 unsigned int                    numberOfThreads,
                 const CudaDetectionProgress &   progress)
{
  using namespace cuda::detection;
  using namespace cuda::executor;
  namespace region = cuda::region;
  VerifyCudaDetectionParameters(parameters);
  CheckInput(input, parameters);
  region::CheckLabels(labels, input.Image);
  const DetectionRequest request{ parameters, labels.ComponentType, progress };
  return WithHostSums(
    input,
    region::GetLawOfSamples(parameters),
    numberOfThreads,
    [&](const auto & executor, const auto & samples, const auto &) {
      return Detection(executor, samples, request).Run([&](const auto & write) { WithLabelPixels(labels, write); });
    });
}
} // namespace CudaDetail
} // end namespace itk

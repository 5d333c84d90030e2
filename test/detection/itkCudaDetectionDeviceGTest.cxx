// SPDX-License-Identifier: Apache-2.0
#include "itkCudaConstantFalseAlarmRateImageFilter.h"
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaUploadImageFilter.h"
#include "partition/itkCudaPartitionTestCase.h"
#include "snake/itkCudaSnakeDeviceTest.h"
#include "support/itkCudaFaultWalk.h"
#include "itkImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

// The detection on the device has the bits of the detection on the host: labels and table.
namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::region;
using namespace itk::cuda::test;

constexpr int OnHost = -1;

struct Outcome
{
  CudaDetectionResult   Result;
  std::vector<uint32_t> Labels;
};

Outcome
Detect(const PartitionCase & image, const CudaDetectionParameters & parameters, int device)
{
  const CudaImageView mask = image.GetMask();
  CudaDetectionInput  input;
  Outcome             outcome;
  input.Image = image.GetImage();
  input.ValidMask = image.Valid.empty() ? nullptr : &mask;
  outcome.Labels.assign(image.Pixels.size(), 0xdeadbeefu); // what no run leaves
  const CudaImageView labels =
    MakeView(outcome.Labels.data(), CudaComponentType::UInt, input.Image.Size[0], input.Image.Size[1]);
  outcome.Result = device == OnHost ? CudaDetectOnHost(input, parameters, labels, 2, {}).value()
                                    : CudaDetectOnDevice(input, parameters, labels, device, {}).value();
  return outcome;
}

void
ExpectSameBytes(const Outcome & x, const Outcome & y)
{
  EXPECT_TRUE(x.Labels == y.Labels);
  EXPECT_EQ(x.Result.NumberOfTestedPixels, y.Result.NumberOfTestedPixels);
  EXPECT_EQ(x.Result.NumberOfPixelsAboveThreshold, y.Result.NumberOfPixelsAboveThreshold);
  ASSERT_EQ(x.Result.Detections.size(), y.Result.Detections.size());
  static_assert(sizeof(CudaDetection) == 176, "There are no bytes between the members");
  for (size_t i = 0; i < x.Result.Detections.size(); ++i)
  {
    EXPECT_EQ(memcmp(&x.Result.Detections[i], &y.Result.Detections[i], sizeof(CudaDetection)), 0) << i;
  }
}

CudaDetectionParameters
MakeParameters(NoiseLaw law, double probability)
{
  CudaDetectionParameters parameters;
  parameters.NoiseLaw = law;
  parameters.ProbabilityOfFalseAlarm = probability;
  parameters.GuardWindow = { { 7, 5 } };
  parameters.BackgroundWindow = { { 19, 21 } };
  return parameters;
}

std::vector<unsigned int>
GetHostLabels(const Image<unsigned int, 2> * labels)
{
  return { labels->GetBufferPointer(), labels->GetBufferPointer() + labels->GetBufferedRegion().GetNumberOfPixels() };
}

std::vector<unsigned int>
GetHostLabels(const CudaDeviceImage<unsigned int, 2> * labels)
{
  return GetHostLabels(CudaDownload(labels).GetPointer());
}

class CudaDetectionGpu : public itk::cuda::SnakeDeviceTest
{};

TEST_F(CudaDetectionGpu, EveryLawHasTheHostsBytes)
{
  std::mt19937_64 engine(PrintSeed(621));
  for (const NoiseLaw law : AllLaws)
  {
    for (const double probability : { 1e-9, 1e-4, 0.1 })
    {
      SCOPED_TRACE(NameOf(law) + " " + std::to_string(probability));
      const auto    side = [&engine] { return static_cast<int32_t>(21 + engine() % 400); };
      PartitionCase image = MakeRandomCase(law, side(), side(), 20, engine);
      const auto    parameters = MakeParameters(law, probability);
      ExpectSameBytes(Detect(image, parameters, OnHost), Detect(image, parameters, m_Device));
      AddMask(image, engine);
      ExpectSameBytes(Detect(image, parameters, OnHost), Detect(image, parameters, m_Device));
    }
  }
}

TEST_F(CudaDetectionGpu, PartsOfALargeImageHaveTheHostsBytes)
{
  std::mt19937_64     engine(PrintSeed(622));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 5000, 3500, 400, engine); // more than one part
  const auto          parameters = MakeParameters(NoiseLaw::Gamma, 1e-3);
  ExpectSameBytes(Detect(image, parameters, OnHost), Detect(image, parameters, m_Device));
}

// Each side on the host or on the device.
TEST_F(CudaDetectionGpu, DeviceImagesHaveTheHostsBytes)
{
  using ImageType = Image<unsigned short, 2>;
  using LabelsType = Image<unsigned int, 2>;
  using DeviceImageType = CudaDeviceImage<unsigned short, 2>;
  using DeviceLabelsType = CudaDeviceImage<unsigned int, 2>;
  std::mt19937_64     engine(PrintSeed(623));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 170, 130, 9, engine);
  const auto          host = ImageType::New();
  host->SetRegions(ImageType::SizeType{ { 170, 130 } });
  host->Allocate();
  std::copy(image.Pixels.begin(), image.Pixels.end(), host->GetBufferPointer());
  const auto    uploaded = CudaUpload(host.GetPointer(), m_Device);
  const auto    parameters = MakeParameters(NoiseLaw::Gamma, 1e-4);
  const Outcome expected = Detect(image, parameters, OnHost);
  const auto    compare = [&](auto filter, auto input) {
    filter->SetInput(input);
    filter->SetNoiseLaw(NoiseLaw::Gamma);
    filter->SetProbabilityOfFalseAlarm(parameters.ProbabilityOfFalseAlarm);
    filter->SetGuardWindow(parameters.GuardWindow);
    filter->SetBackgroundWindow(parameters.BackgroundWindow);
    for (int run = 0; run < 2; ++run)
    {
      filter->Modified();
      filter->Update();
      Outcome found;
      found.Result.Detections = filter->GetDetections();
      found.Result.NumberOfTestedPixels = filter->GetNumberOfTestedPixels();
      found.Result.NumberOfPixelsAboveThreshold = filter->GetNumberOfPixelsAboveThreshold();
      found.Labels = GetHostLabels(filter->GetOutput());
      ExpectSameBytes(expected, found);
    }
  };
  compare(CudaConstantFalseAlarmRateImageFilter<DeviceImageType, DeviceLabelsType>::New(), uploaded);
  compare(CudaConstantFalseAlarmRateImageFilter<DeviceImageType, LabelsType>::New(), uploaded);
  compare(CudaConstantFalseAlarmRateImageFilter<ImageType, DeviceLabelsType>::New(), host);
}

TEST_F(CudaDetectionGpu, AFailureOfAnyCallLeavesARunThatCanBeRepeated)
{
  std::mt19937_64     engine(PrintSeed(624));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Rayleigh, 90, 70, 9, engine);
  const auto          parameters = MakeParameters(NoiseLaw::Rayleigh, 1e-3);
  WalkFaults<uint32_t>("detection", [&] { return Detect(image, parameters, m_Device).Labels; });
}
} // namespace

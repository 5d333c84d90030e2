// SPDX-License-Identifier: Apache-2.0

// The whole filter on synthetic scenes whose regions are known, and on the examples' pictures.

#include "itkCudaFieldScene.h"
#include "itkCudaRegionPartitionImageFilter.h"
#include "itkImageFileReader.h"
#include "itkPNGImageIO.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

namespace
{
using itk::cuda::test::FieldScene;
using itk::cuda::test::PartitionScore;
using LabelImage = itk::Image<unsigned int, 2>;

template <typename TImage>
typename itk::CudaRegionPartitionImageFilter<TImage>::Pointer
Divide(const TImage * image, const char * law, double looks, const LabelImage * labels = nullptr)
{
  const auto filter = itk::CudaRegionPartitionImageFilter<TImage>::New();
  filter->SetInput(image);
  filter->SetNoiseLaw(law);
  filter->SetNumberOfLooks(looks);
  filter->SetInitialLabels(labels);
  filter->Update();
  return filter;
}

std::vector<uint32_t>
CopyLabels(const LabelImage * labels)
{
  const auto number = labels->GetBufferedRegion().GetNumberOfPixels();
  return { labels->GetBufferPointer(), labels->GetBufferPointer() + number };
}

LabelImage::Pointer
MakeLabelImage(const std::vector<uint32_t> & labels, const LabelImage::RegionType & region)
{
  const auto image = LabelImage::New();
  image->SetRegions(region);
  image->Allocate();
  std::copy(labels.begin(), labels.end(), image->GetBufferPointer());
  return image;
}

using ByteImage = itk::Image<unsigned char, 2>;

ByteImage::Pointer
ReadPicture(const std::string & name)
{
  const auto reader = itk::ImageFileReader<ByteImage>::New();
  reader->SetImageIO(itk::PNGImageIO::New());
  const char * const folder = std::getenv("ITK_CUDAFILTERS_TEST_PICTURES"); // set where the source tree is not
  reader->SetFileName(std::string(folder ? folder : CUDAFILTERS_EXAMPLE_DATA) + "/" + name);
  reader->Update();
  return reader->GetOutput();
}
} // namespace

TEST(CudaPartitionScenes, Regions_of_fields_are_found)
{
  PartitionScore mean{ 0.0, 0.0, 0.0, 0.0 };
  int            number = 0;
  for (const unsigned int looks : { 1u, 4u })
  {
    for (const double contrast : { 1.5, 2.0, 3.0 })
    {
      for (const uint64_t seed : { 1, 2, 3 })
      {
        FieldScene scene;
        scene.Looks = looks;
        scene.Contrast = contrast;
        scene.Seed = seed;
        const auto truth = scene.MakeTruth();
        const auto image = scene.MakeImage(truth);
        const auto filter = Divide(image.GetPointer(), "Gamma", looks);
        const auto score = itk::cuda::test::ScorePartition(truth, CopyLabels(filter->GetOutput()), scene.Width);
        const auto fromTruth =
          Divide(image.GetPointer(), "Gamma", looks, MakeLabelImage(truth, image->GetBufferedRegion()));
        const auto & result = filter->GetPartition()->GetResult();
        const double gain = result.DescriptionOfOneRegion - fromTruth->GetDescription();
        const double excess = (result.Description - fromTruth->GetDescription()) / gain;
        std::cout << "looks " << looks << ", contrast " << contrast << ", seed " << seed << ": " << std::fixed
                  << std::setprecision(4) << result.Regions.size() << " regions, index " << score.AdjustedRandIndex
                  << ", recall " << score.Recall << ", precision " << score.Precision << ", distance " << score.Distance
                  << ", above the truth's description by " << excess << " of its gain\n"
                  << std::defaultfloat;
        // The faintest scenes lose or gain regions.
        EXPECT_NEAR(static_cast<double>(result.Regions.size()), 60.0, looks == 1 && contrast == 1.5 ? 4.0 : 2.0);
        EXPECT_GE(score.AdjustedRandIndex, looks == 1 && contrast == 1.5 ? 0.93 : 0.97);
        EXPECT_LE(excess, 0.01);
        mean.AdjustedRandIndex += score.AdjustedRandIndex;
        mean.Recall += score.Recall;
        mean.Precision += score.Precision;
        mean.Distance += score.Distance;
        ++number;
      }
    }
  }
  EXPECT_GE(mean.AdjustedRandIndex / number, 0.978);
  EXPECT_GE(mean.Recall / number, 0.98);
  EXPECT_GE(mean.Precision / number, 0.98);
  EXPECT_LE(mean.Distance / number, 0.28);
  std::cout << "means: index " << mean.AdjustedRandIndex / number << ", recall " << mean.Recall / number
            << ", precision " << mean.Precision / number << ", distance " << mean.Distance / number << std::endl;
}

TEST(CudaPartitionScenes, Radar_picture_has_the_description_and_the_regions_of_the_model)
{
  const auto filter = Divide(ReadPicture("sar_fields_1000x500.png").GetPointer(), "Rayleigh", 1.0);
  EXPECT_LE(filter->GetDescription(), 4539000.0);
  EXPECT_GE(filter->GetNumberOfRegions(), 200u);
  EXPECT_LE(filter->GetNumberOfRegions(), 235u);
  // Speckle of this picture is correlated between pixels: fewer independent looks than one a pixel.
  EXPECT_NEAR(
    Divide(ReadPicture("sar_fields_1000x500.png").GetPointer(), "Rayleigh", 0.0)->GetNumberOfLooksUsed(), 0.718, 0.001);
}

TEST(CudaPartitionScenes, Brain_slice_has_a_short_description)
{
  const auto filter = itk::CudaRegionPartitionImageFilter<ByteImage>::New();
  filter->SetInput(ReadPicture("BrainProtonDensitySlice.png"));
  filter->SetNoiseLaw("Gaussian");
  filter->SetBlockSize(2);
  filter->Update();
  EXPECT_LE(filter->GetDescription(), 92500.0);
}

// SPDX-License-Identifier: Apache-2.0
#include "support/itkCudaExpectException.h"
#include "itkCudaFiltersEnums.h"

#include <gtest/gtest.h>

namespace
{
using Enums = itk::CudaFiltersEnums;
using itk::cuda::test::ExpectContains;
using itk::cuda::test::GetException;
} // namespace

TEST(CudaFiltersEnumNames, AreReadWithoutCaseUnderscoreAndHyphen)
{
  for (const char * const name :
       { "CoarseToFine", "coarsetofine", "coarse_to_fine", "coarse-to-fine", "COARSE_To-fine" })
  {
    EXPECT_EQ(itk::CudaScheduleFromString(name), Enums::Schedule::CoarseToFine) << name;
  }
  EXPECT_EQ(itk::CudaScheduleFromString("as_published"), Enums::Schedule::AsPublished);
  EXPECT_EQ(itk::CudaStartFromString("margin_rectangle"), Enums::Start::MarginRectangle);
  EXPECT_EQ(itk::CudaNoiseLawFromString("log-normal"), Enums::NoiseLaw::LogNormal);
  EXPECT_EQ(itk::CudaNoiseLawFromString("gaussian_common_variance"), Enums::NoiseLaw::GaussianCommonVariance);
  EXPECT_EQ(itk::CudaNoiseLawFromString("gaussian"), Enums::NoiseLaw::Gaussian);
  EXPECT_EQ(itk::CudaApproximationFromString("ACCURATE"), Enums::Approximation::Accurate);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("REFLECT"), Enums::BoundaryMode::Reflect);
  EXPECT_EQ(itk::CudaPartitionFromString("two_way"), Enums::Partition::TwoWay);
  EXPECT_EQ(itk::CudaLineBordersFromString("as-published"), Enums::LineBorders::AsPublished);
  EXPECT_EQ(itk::CudaIntermediateStorageFromString("global"), Enums::IntermediateStorage::Global);
  EXPECT_EQ(itk::CudaBackendFromString("Cuda"), Enums::Backend::Cuda);
  EXPECT_EQ(itk::CudaStreamingFromString("ON"), Enums::Streaming::On);
  EXPECT_EQ(itk::CudaRoundingFromString("NEAREST"), itk::CudaRounding::Nearest);
}

TEST(CudaFiltersEnumNames, BoundaryModesHaveScipysNames)
{
  EXPECT_EQ(itk::CudaBoundaryModeFromString("nearest"), Enums::BoundaryMode::Nearest);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("mirror"), Enums::BoundaryMode::Mirror);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("wrap"), Enums::BoundaryMode::Wrap);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("constant"), Enums::BoundaryMode::Constant);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("grid-mirror"), Enums::BoundaryMode::Reflect);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("grid-wrap"), Enums::BoundaryMode::Wrap);
  EXPECT_EQ(itk::CudaBoundaryModeFromString("grid-constant"), Enums::BoundaryMode::Constant);
  ExpectContains(GetException([] { itk::CudaBoundaryModeFromString("grid-nearest"); }),
                 "BoundaryMode is \"grid-nearest\"; it must be Nearest, Reflect, Mirror, Wrap or Constant");
}

TEST(CudaFiltersEnumNames, OtherTextIsAnsweredWithTheKnownNames)
{
  ExpectContains(GetException([] { itk::CudaScheduleFromString("coarse to fine"); }),
                 "Schedule is \"coarse to fine\"; it must be CoarseToFine or AsPublished");
  ExpectContains(GetException([] { itk::CudaStartFromString("margin"); }),
                 "Start is \"margin\"; it must be Automatic or MarginRectangle");
  ExpectContains(GetException([] { itk::CudaNoiseLawFromString("_"); }),
                 "NoiseLaw is \"_\"; it must be Gaussian, GaussianCommonVariance");
  ExpectContains(GetException([] { itk::CudaBackendFromString(""); }),
                 "Backend is \"\"; it must be automatic, cuda or host");
  ExpectContains(GetException([] { itk::CudaStreamingFromString("yes"); }),
                 "Streaming is \"yes\"; it must be automatic, on or off");
}

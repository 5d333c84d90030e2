// SPDX-License-Identifier: Apache-2.0

// Runs the fuzz targets on the inputs of test/fuzz/corpus: those with which fuzzing begins, and those that once failed.

#include "itkCudaFuzzInput.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace
{
using namespace itk::cuda::test;

struct Target
{
  const char * Name;
  FuzzTarget * Run;
};

class FuzzCorpus : public testing::TestWithParam<Target>
{};

TEST_P(FuzzCorpus, HoldsInputsWithRightResults)
{
  const auto folder = std::filesystem::path(CUDAFILTERS_FUZZ_CORPUS) / GetParam().Name;
  if (!std::filesystem::exists(folder))
  {
    GTEST_SKIP() << "the tests run without the repository";
  }
  std::set<std::filesystem::path> files;
  for (const auto & entry : std::filesystem::directory_iterator(folder))
  {
    files.insert(entry.path());
  }
  EXPECT_GE(files.size(), 5u) << folder;
  for (const auto & path : files)
  {
    std::ifstream        file(path, std::ios::binary);
    const std::string    bytes{ std::istreambuf_iterator<char>(file), {} };
    std::vector<uint8_t> data(bytes.begin(), bytes.end());
    FuzzInput            input(data.data(), data.size());
    EXPECT_NO_THROW(GetParam().Run(input)) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets,
                         FuzzCorpus,
                         testing::Values(Target{ "Gaussian", FuzzGaussian },
                                         Target{ "Slabs", FuzzSlabs },
                                         Target{ "Views", FuzzViews },
                                         Target{ "Snake", FuzzSnake },
                                         Target{ "Partition", FuzzPartition },
                                         Target{ "Detection", FuzzDetection }),
                         [](const auto & information) { return std::string(information.param.Name); });
} // namespace

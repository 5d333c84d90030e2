// SPDX-License-Identifier: Apache-2.0

// The device's passes against the host's lines in the same type, for every partition, along every axis, with one and
// with several launches for the exact partition.

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "runtime/memory/DeviceImage.h"
#include "young_van_vliet/Passes.h"
#include "young_van_vliet/Core.h"
#include "itkProcessObject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;
using namespace itk::cuda::young_van_vliet;

using Partition = CudaFiltersEnums::Partition;
using LineBorders = CudaFiltersEnums::LineBorders;
using IntermediateStorage = CudaFiltersEnums::IntermediateStorage;

using Extent = std::array<size_t, 3>;

template <typename T>
struct Volume
{
  Extent         Size;
  std::vector<T> Values; // dense
};

template <typename T>
Volume<T>
MakeRandomVolume(const Extent & size, T offset)
{
  Volume<T>                         volume{ size, std::vector<T>(size[0] * size[1] * size[2]) };
  std::mt19937                      generator(static_cast<unsigned int>(size[0] + 3 * size[1] + 7 * size[2]));
  std::uniform_real_distribution<T> uniform(0, 1);
  std::generate(volume.Values.begin(), volume.Values.end(), [&] { return offset + uniform(generator); });
  return volume;
}

template <typename T>
Volume<T>
RunOnDevice(const CudaPartitionedGaussianPlan & plan,
            const CudaPartitionedGaussianPass & pass,
            const Volume<T> &                   input,
            const PassProgress &                progress = {})
{
  StreamLease       stream(0);
  const auto        type = sizeof(T) == 4 ? CudaComponentType::Float : CudaComponentType::Double;
  const DeviceImage source({ { input.Size[0], input.Size[1], input.Size[2], 1, 1 } }, type, stream);
  const DeviceImage destination({ { input.Size[0], input.Size[1], input.Size[2], 1, 1 } }, type, stream);
  const size_t      pitch = source.GetView().Stride[1] * sizeof(T);
  const size_t      row = input.Size[0] * sizeof(T);
  const size_t      rows = input.Size[1] * input.Size[2];
  // All bits set is a NaN: pixels that are never written show.
  ITK_CUDA_CALL(cudaMemsetAsync(destination.GetView().Data, 0xff, pitch * rows, stream.GetStream()));
  ITK_CUDA_CALL(cudaMemcpy2DAsync(
    source.GetView().Data, pitch, input.Values.data(), row, row, rows, cudaMemcpyHostToDevice, stream.GetStream()));
  const DeviceBuffer memory(GetPassWorkspace(plan, pass, source.GetView().Size, type), stream);
  const Workspace    workspace(memory.GetPointer(), memory.GetSize());
  RunPass(plan, pass, source.GetView(), destination.GetView(), workspace, stream, progress);
  Volume<T> output{ input.Size, std::vector<T>(input.Values.size()) };
  ITK_CUDA_CALL(cudaMemcpy2DAsync(output.Values.data(),
                                  row,
                                  destination.GetView().Data,
                                  pitch,
                                  row,
                                  rows,
                                  cudaMemcpyDeviceToHost,
                                  stream.GetStream()));
  stream.Synchronize();
  return output;
}

template <typename T>
Volume<T>
RunOnHost(const CudaPartitionedGaussianPlan & plan, const CudaPartitionedGaussianPass & pass, const Volume<T> & input)
{
  Volume<T>      output = input;
  const size_t   stride[3] = { 1, input.Size[0], input.Size[0] * input.Size[1] };
  const size_t   step = stride[pass.Axis];
  const size_t   length = input.Size[pass.Axis];
  std::vector<T> line(length);
  std::vector<T> filtered(length);
  for (size_t start = 0; start < output.Values.size(); ++start)
  {
    if (start / step % length != 0)
    {
      continue;
    }
    for (size_t n = 0; n < length; ++n)
    {
      line[n] = input.Values[start + n * step];
    }
    FilterLine(plan, pass, line.data(), filtered.data(), length);
    for (size_t n = 0; n < length; ++n)
    {
      output.Values[start + n * step] = filtered[n];
    }
  }
  return output;
}

/** Largest difference in units of the largest input; infinite where one is not a number. */
template <typename T>
double
GetRelativeDifference(const Volume<T> & a, const Volume<T> & b, const Volume<T> & input)
{
  double worst = 0.0;
  double scale = 0.0;
  for (size_t i = 0; i < a.Values.size(); ++i)
  {
    const double difference = std::abs(static_cast<double>(a.Values[i]) - static_cast<double>(b.Values[i]));
    worst = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(worst, difference);
    scale = std::max(scale, std::abs(static_cast<double>(input.Values[i])));
  }
  return worst / scale;
}

class GpuPartitionedGaussian : public testing::Test
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (!CudaFiltersConfiguration::IsDeviceUsable(0, reason))
    {
      GTEST_SKIP() << reason;
    }
    m_Guard = std::make_unique<DeviceGuard>(0);
  }

  /** Host and device differ by contraction of a * b + c only. */
  template <typename T>
  static constexpr double Bound = sizeof(T) == 4 ? 2e-6 : 1e-14;

  template <typename T>
  void
  Compare(const CudaPartitionedGaussianPlan & plan, const CudaPartitionedGaussianPass & pass, const Volume<T> & input)
  {
    const Volume<T> reference = RunOnHost(plan, pass, input);
    const double    difference = GetRelativeDifference(RunOnDevice(plan, pass, input), reference, input);
    m_Worst = std::max(m_Worst, difference / Bound<T>);
    EXPECT_LE(difference, Bound<T>) << plan.LinePartition << ", borders " << plan.LineBorders << ", "
                                    << plan.IntermediateStorage << ", " << plan.LinesPerBlock << " lines a block, "
                                    << pass.NumberOfSections << " blocks, axis " << pass.Axis << ", " << input.Size[0]
                                    << " x " << input.Size[1] << " x " << input.Size[2] << ", sigma "
                                    << pass.SigmaInPixels << ", " << sizeof(T) << " bytes";
  }

  template <typename T>
  void
  CompareAllPartitions(unsigned int axis, size_t length, double sigma, unsigned int linesPerBlock, T offset)
  {
    Extent size{ { 37, 5, 3 } };
    size[axis] = length;
    const Volume<T> input = MakeRandomVolume<T>(size, offset);
    for (const IntermediateStorage storage : { IntermediateStorage::Local, IntermediateStorage::Global })
    {
      for (const LineBorders borders : { LineBorders::AsPublished, LineBorders::Exact })
      {
        CudaPartitionedGaussianPlan plan;
        plan.IntermediateStorage = storage;
        plan.LineBorders = borders;
        plan.LinesPerBlock = linesPerBlock;
        CudaPartitionedGaussianPass pass{ axis, sigma, CudaCentralPixelRadius(2.0 * sigma), 1 };
        plan.LinePartition = Partition::OneWay;
        this->Compare(plan, pass, input);
        plan.LinePartition = Partition::TwoWay;
        this->Compare(plan, pass, input);
        plan.LinePartition = Partition::Exact;
        for (const size_t blocks : { size_t{ 1 }, size_t{ 2 }, size_t{ 7 }, size_t{ 64 }, size_t{ 1000 } })
        {
          if (blocks <= CudaMaximumNumberOfSections(length))
          {
            pass.NumberOfSections = blocks;
            this->Compare(plan, pass, input);
          }
        }
      }
    }
  }

  void
  TearDown() override
  {
    std::cout << "largest difference: " << m_Worst << " of the bound" << std::endl;
  }

  std::unique_ptr<DeviceGuard> m_Guard;
  double                       m_Worst{ 0.0 };
};
} // namespace

TEST_F(GpuPartitionedGaussian, MatchesTheHostAtEveryLength)
{
  for (const size_t length : { 4, 5, 15, 31, 32, 33, 63, 65, 127, 511, 512, 513, 514, 1025, 1031, 4099, 16001 })
  {
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      this->CompareAllPartitions<float>(axis, length, 4.0, 16, 0.0f);
      this->CompareAllPartitions<double>(axis, length, 4.0, 16, 0.0);
    }
  }
}

TEST_F(GpuPartitionedGaussian, MatchesTheHostAtEverySigma)
{
  // Sigma 300: the central pixel's weights are uploaded.
  for (const double sigma : { 0.2, 0.5, 1.5, 15.0, 45.0, 100.0, 300.0 })
  {
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      this->CompareAllPartitions<float>(axis, 1031, sigma, 32, 1000.0f);
      this->CompareAllPartitions<double>(axis, 1031, sigma, 32, 1000.0);
    }
  }
}

TEST_F(GpuPartitionedGaussian, MatchesTheHostForEveryNumberOfLines)
{
  for (const unsigned int linesPerBlock : { 4, 8, 16, 32, 64 })
  {
    for (const size_t lines : { 4, 31, 32, 33, 65, 129 })
    {
      const CudaPartitionedGaussianPass passes[] = { { 0, 3.0, 3, 5 }, { 1, 3.0, 3, 5 }, { 1, 3.0, 3, 20 } };
      for (const CudaPartitionedGaussianPass & pass : passes)
      {
        Extent size{ { lines, lines, 1 } };
        size[pass.Axis] = 333;
        const Volume<float> input = MakeRandomVolume<float>(size, 0.0f);
        for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
        {
          CudaPartitionedGaussianPlan plan;
          plan.LinePartition = partition;
          plan.LinesPerBlock = linesPerBlock;
          this->Compare(plan, pass, input);
        }
      }
    }
  }
}

TEST_F(GpuPartitionedGaussian, ConstantsComeOutExactly)
{
  for (const float constant : { 99.0f, 0.1f, -30000.7f })
  {
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      Extent size{ { 33, 17, 9 } };
      size[axis] = 2049;
      const Volume<float> input{ size, std::vector<float>(size[0] * size[1] * size[2], constant) };
      for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
      {
        CudaPartitionedGaussianPlan plan;
        plan.LinePartition = partition;
        for (const size_t blocks : { 1, 5, 128 })
        {
          EXPECT_EQ(RunOnDevice(plan, { axis, 30.0, 30, blocks }, input).Values, input.Values)
            << constant << ", " << partition << ", " << blocks << " blocks, axis " << axis;
        }
      }
    }
  }
}

TEST_F(GpuPartitionedGaussian, BitsOfALineDoNotDependOnTheOtherLines)
{
  const Volume<float> many = MakeRandomVolume<float>({ { 70, 600, 1 } }, 0.0f);
  Volume<float>       few{ { { 3, 600, 1 } }, {} };
  for (size_t y = 0; y < 600; ++y)
  {
    few.Values.insert(few.Values.end(), &many.Values[y * 70 + 41], &many.Values[y * 70 + 44]);
  }
  for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
  {
    CudaPartitionedGaussianPlan plan;
    plan.LinePartition = partition;
    const CudaPartitionedGaussianPass pass{ 1, 10.0, 10, 9 };
    const Volume<float>               all = RunOnDevice(plan, pass, many);
    const Volume<float>               some = RunOnDevice(plan, pass, few);
    size_t                            differences = 0;
    for (size_t i = 0; i < some.Values.size(); ++i)
    {
      differences += some.Values[i] != all.Values[i / 3 * 70 + 41 + i % 3];
    }
    EXPECT_EQ(differences, 0u) << partition;
  }
}

namespace
{
/** Pretends that the driver ends long kernels, or that it does not, until the end of the scope. */
class KernelTimeout
{
public:
  explicit KernelTimeout(bool value) { SetKernelTimeoutForTests(value ? 1 : 0); }
  ~KernelTimeout() { SetKernelTimeoutForTests(-1); }
  KernelTimeout(const KernelTimeout &) = delete;
  KernelTimeout &
  operator=(const KernelTimeout &) = delete;
};

/** Returns the progress reported between launches, and expects at least `least` reports. */
template <typename T>
std::vector<float>
Expect_several_launches_give_the_bits_of_one(const CudaPartitionedGaussianPlan & plan,
                                             const CudaPartitionedGaussianPass & pass,
                                             const Volume<T> &                   input,
                                             size_t                              least)
{
  SCOPED_TRACE(testing::Message() << plan.LinePartition << ", " << plan.IntermediateStorage << ", borders "
                                  << plan.LineBorders << ", " << pass.NumberOfSections << " blocks, axis " << pass.Axis
                                  << ", " << input.Size[0] << " x " << input.Size[1] << " x " << input.Size[2]);
  std::vector<float> reports;
  const auto         run = [&](bool isLimited) {
    const KernelTimeout timeout(isLimited);
    return RunOnDevice(plan, pass, input, [&reports](float done) { reports.push_back(done); });
  };
  const Volume<T> expected = run(false);
  EXPECT_TRUE(reports.empty()) << "one launch";
  const Volume<T> actual = run(true);
  EXPECT_GE(reports.size(), least) << "several launches";
  EXPECT_TRUE(actual.Values == expected.Values);
  return reports;
}

template <typename T>
void
CheckLongLines(unsigned int axis, const Extent & size)
{
  for (const IntermediateStorage storage : { IntermediateStorage::Local, IntermediateStorage::Global })
  {
    for (const LineBorders borders : { LineBorders::AsPublished, LineBorders::Exact })
    {
      CudaPartitionedGaussianPlan plan;
      plan.LinePartition = Partition::OneWay;
      plan.IntermediateStorage = storage;
      plan.LineBorders = borders;
      const std::vector<float> reports =
        Expect_several_launches_give_the_bits_of_one(plan, { axis, 40.0, 1, 1 }, MakeRandomVolume<T>(size, 100), 4);
      EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
      EXPECT_EQ(reports.empty() ? 0.0f : reports.back(), 1.0f);
    }
  }
}
} // namespace

TEST_F(GpuPartitionedGaussian, LongLinesInSeveralLaunchesHaveTheBitsOfOne)
{
  CheckLongLines<float>(0, { { 100003, 3, 1 } });
  CheckLongLines<float>(1, { { 5, 70001, 1 } });
  CheckLongLines<float>(2, { { 3, 2, 40000 } });
  CheckLongLines<double>(1, { { 3, 70001, 1 } });
  // More lines than a launch has, and more pixels.
  CheckLongLines<float>(1, { { 70000, 130, 1 } });
  CheckLongLines<float>(0, { { 3001, 3003, 1 } });
}

TEST_F(GpuPartitionedGaussian, LargeImagesInSeveralLaunchesHaveTheBitsOfOne)
{
  for (const Extent & size : { Extent{ { 3001, 3003, 1 } }, Extent{ { 301, 270, 203 } } })
  {
    for (unsigned int axis = 0; axis < (size[2] == 1 ? 2 : 3); ++axis)
    {
      for (const auto & [partition, blocks] :
           { std::pair<Partition, size_t>{ Partition::TwoWay, 1 }, { Partition::Exact, 4 }, { Partition::Exact, 12 } })
      {
        CudaPartitionedGaussianPlan plan;
        plan.LinePartition = partition;
        plan.LinesPerBlock = 64;
        Expect_several_launches_give_the_bits_of_one(
          plan, { axis, 4.0, 4, blocks }, MakeRandomVolume<float>(size, 100), 2);
      }
    }
  }
}

TEST_F(GpuPartitionedGaussian, AbortIsSeenBetweenTheLaunchesOfLongLines)
{
  const KernelTimeout         timeout(true);
  const Volume<float>         input = MakeRandomVolume<float>({ { 2, 100000, 1 } }, 100);
  CudaPartitionedGaussianPlan plan;
  plan.LinePartition = Partition::OneWay;
  unsigned int reports = 0;
  const auto   abort = [&reports](float) {
    ++reports;
    throw ProcessAborted(__FILE__, __LINE__);
  };
  EXPECT_THROW(RunOnDevice(plan, { 1, 4.0, 1, 1 }, input, abort), ProcessAborted);
  EXPECT_EQ(reports, 1u);
}

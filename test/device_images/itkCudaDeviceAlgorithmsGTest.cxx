// SPDX-License-Identifier: Apache-2.0

// The resident algorithms on images on the device: a plan that keeps its input leaves every bit of it, and gives the
// bits of the plan that does not. Workspaces have exactly the bytes that the algorithms ask for.

#include "runtime/device/Call.h"
#include "itkCudaDetailGaussianPlan.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "itkCudaFiltersConfiguration.h"
#include "gaussian/device/LinePasses.h"
#include "gaussian/fir/FirDevice.h"
#include "gaussian/fir/FirEngine.h"
#include "gaussian/Engine.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "young_van_vliet/Engine.h"
#include "runtime/run/PassChain.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;

size_t
GetWorkspaceOf(const CudaGaussianPlan & plan, const DeviceView & input, const DeviceView & output)
{
  return gaussian::GetGaussianWorkspace(plan, input, output, 0);
}

size_t
GetWorkspaceOf(const CudaGaussianFirPlan & plan, const DeviceView & input, const DeviceView &)
{
  return gaussian::GetFirWorkspace(plan, input);
}

size_t
GetWorkspaceOf(const CudaPartitionedGaussianPlan & plan, const DeviceView & input, const DeviceView &)
{
  return young_van_vliet::GetYoungVanVlietWorkspace(plan, input);
}

void
RunAlgorithm(const CudaGaussianPlan & plan,
             const DeviceView &       input,
             const DeviceView &       output,
             Workspace                w,
             Context &                c)
{
  gaussian::RunGaussian(plan, input, output, w, c);
}

void
RunAlgorithm(const CudaGaussianFirPlan & plan,
             const DeviceView &          input,
             const DeviceView &          output,
             Workspace                   w,
             Context &                   c)
{
  gaussian::RunFir(plan, input, output, w, c);
}

void
RunAlgorithm(const CudaPartitionedGaussianPlan & plan,
             const DeviceView &                  input,
             const DeviceView &                  output,
             Workspace                           w,
             Context &                           c)
{
  young_van_vliet::RunYoungVanVliet(plan, input, output, w, c);
}

bool
EndsInInput(const CudaGaussianPlan & plan)
{
  return plan.Results.front() == 0;
}

template <typename TPlan>
bool
EndsInInput(const TPlan & plan)
{
  return PassChain::EndsInInput(plan.Passes.size(), plan.KeepInput);
}

using Bytes = std::vector<unsigned char>;

Bytes
Download(const DeviceView & view, const StreamLease & stream)
{
  Bytes bytes(GetNumberOfBytes(view));
  ITK_CUDA_CALL(cudaMemcpyAsync(bytes.data(), view.Data, bytes.size(), cudaMemcpyDeviceToHost, stream.GetStream()));
  stream.Synchronize();
  return bytes;
}

/** The bytes of the image's rows alone: padding may be written. */
Bytes
GetPixels(const Bytes & bytes, const DeviceView & view)
{
  const size_t element = CudaComponentSize(view.ComponentType);
  const size_t rows = view.GetNumberOfElements() / view.Size[0];
  Bytes        pixels;
  for (size_t row = 0; row < rows; ++row)
  {
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(row * view.Stride[1] * element);
    pixels.insert(pixels.end(), first, first + static_cast<std::ptrdiff_t>(view.Size[0] * element));
  }
  return pixels;
}

class DeviceAlgorithmsGpuTest : public testing::Test
{
protected:
  static constexpr unsigned int Seed = 20261123;

  void
  SetUp() override
  {
    std::string reason;
    if (!CudaFiltersConfiguration::IsDeviceUsable(0, reason))
    {
      GTEST_SKIP() << reason;
    }
    m_Guard = std::make_unique<DeviceGuard>(0);
    std::cout << "seed " << Seed << std::endl;
  }

  size_t
  Random(size_t lower, size_t upper)
  {
    return std::uniform_int_distribution<size_t>(lower, upper)(m_Generator);
  }

  std::vector<size_t>
  RandomSize()
  {
    return { this->Random(5, 150), this->Random(5, 90), this->Random(5, 40) };
  }

  /** An image of numbers in [0, 1), on the device. */
  template <typename T>
  DeviceImage
  MakeInput(const std::vector<size_t> & size, const StreamLease & stream)
  {
    const auto                        type = sizeof(T) == 4 ? CudaComponentType::Float : CudaComponentType::Double;
    DeviceImage                       image({ { size[0], size[1], size[2], 1, 1 } }, type, stream);
    const DeviceView                  view = image.GetView();
    std::vector<T>                    values(GetNumberOfBytes(view) / sizeof(T), T{ 0 });
    std::uniform_real_distribution<T> uniform(0, 1);
    for (size_t i = 0; i < values.size(); ++i)
    {
      values[i] = i % view.Stride[1] < size[0] ? uniform(m_Generator) : T{ 0 };
    }
    ITK_CUDA_CALL(
      cudaMemcpyAsync(view.Data, values.data(), GetNumberOfBytes(view), cudaMemcpyHostToDevice, stream.GetStream()));
    stream.Synchronize();
    return image;
  }

  /** The result's pixels; `input` is overwritten where the plan allows it. */
  template <typename TPlan>
  Bytes
  RunPlan(const TPlan & plan, const DeviceView & input, StreamLease & stream)
  {
    const DeviceImage  image(input.Size, input.ComponentType, stream);
    const DeviceView   output = EndsInInput(plan) ? input : image.GetView();
    const DeviceBuffer memory(GetWorkspaceOf(plan, input, output), stream);
    // All bits set is a NaN: what is read before it is written shows, and so does a pixel that is never written.
    ITK_CUDA_CALL(cudaMemsetAsync(memory.GetPointer(), 0xff, memory.GetSize(), stream.GetStream()));
    ITK_CUDA_CALL(cudaMemsetAsync(image.GetView().Data, 0xff, GetNumberOfBytes(image.GetView()), stream.GetStream()));
    RunAlgorithm(plan, input, output, Workspace(memory.GetPointer(), memory.GetSize()), stream);
    return GetPixels(Download(output, stream), output);
  }

  template <typename T, typename TPlan>
  void
  CheckThatTheInputIsKept(TPlan overwriting, TPlan keeping, const std::vector<size_t> & size, const std::string & what)
  {
    StreamLease       stream(0);
    const DeviceImage image = this->MakeInput<T>(size, stream);
    const Bytes       before = Download(image.GetView(), stream);
    const Bytes       kept = this->RunPlan(keeping, image.GetView(), stream);
    const bool        isUnchanged = Download(image.GetView(), stream) == before;
    EXPECT_TRUE(isUnchanged) << what;
    const Bytes overwritten = this->RunPlan(overwriting, image.GetView(), stream);
    EXPECT_TRUE(kept == overwritten) << what << ", size " << size[0] << " x " << size[1] << " x " << size[2];
  }

  template <typename TPlan>
  void
  CheckChain(TPlan plan, const std::vector<size_t> & size, const std::string & what)
  {
    TPlan keeping = plan;
    keeping.KeepInput = true;
    this->CheckThatTheInputIsKept<float>(plan, keeping, size, what + ", float");
    this->CheckThatTheInputIsKept<double>(plan, keeping, size, what + ", double");
  }

  std::mt19937 m_Generator{ Seed };

private:
  std::unique_ptr<DeviceGuard> m_Guard;
};

CudaGaussianFirPass
MakeFirPass(unsigned int axis, size_t radius)
{
  CudaGaussianFirPass pass;
  pass.Axis = axis;
  pass.Weights.assign(2 * radius + 1, 1.0 / static_cast<double>(2 * radius + 1));
  return pass;
}
} // namespace

TEST_F(DeviceAlgorithmsGpuTest, ConvolutionKeepsItsInputWhereItIsTold)
{
  for (unsigned int passes = 1; passes <= 4; ++passes)
  {
    for (const size_t radius : { 2, 200 }) // of few and of many weights
    {
      CudaGaussianFirPlan plan;
      for (unsigned int i = 0; i < passes; ++i)
      {
        plan.Passes.push_back(MakeFirPass(i % 3, radius));
      }
      this->CheckChain(plan, this->RandomSize(), std::to_string(passes) + " passes, radius " + std::to_string(radius));
    }
  }
}

TEST_F(DeviceAlgorithmsGpuTest, PartitionsKeepTheirInputWhereTheyAreTold)
{
  using Partition = CudaFiltersEnums::Partition;
  for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
  {
    for (unsigned int passes = 1; passes <= 4; ++passes)
    {
      std::vector<size_t> size = this->RandomSize();
      size[0] = partition == Partition::Exact ? 2048 : size[0]; // blocks in tiles, without transposition
      CudaPartitionedGaussianPlan plan;
      plan.LinePartition = partition;
      for (unsigned int i = 0; i < passes; ++i)
      {
        const size_t length = size[i % 3];
        plan.Passes.push_back({ i % 3, 1.5, CudaCentralPixelRadius(3.0), CudaAutomaticNumberOfSections(length) });
      }
      std::ostringstream what;
      what << partition << ", " << passes << " passes";
      this->CheckChain(plan, size, what.str());
    }
  }
}

TEST_F(DeviceAlgorithmsGpuTest, RecursiveFiltersKeepTheirInputWhereTheyAreTold)
{
  for (unsigned int i = 0; i < 8; ++i)
  {
    CudaGaussianParameters parameters{ { 1.5, 0.8, 2.0 }, { 1.0, 1.0, 1.0 } };
    parameters.Approximation =
      i % 2 == 0 ? CudaFiltersEnums::Approximation::Deriche : CudaFiltersEnums::Approximation::Accurate;
    CudaGaussianParameters keeping = parameters;
    keeping.KeepInput = true;
    const auto make = i % 4 < 2 ? MakeSmoothingPlan : MakeGradientMagnitudePlan;
    const auto size = this->RandomSize();
    const auto what = "plan " + std::to_string(i);
    this->CheckThatTheInputIsKept<float>(make(parameters), make(keeping), size, what + ", float");
    this->CheckThatTheInputIsKept<double>(make(parameters), make(keeping), size, what + ", double");
  }
}

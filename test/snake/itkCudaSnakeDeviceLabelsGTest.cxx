// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Call.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "snake/device/Snake.h"
#include "snake/itkCudaSnakeDeviceTest.h"
#include "itkCudaSnakeScene.h"
#include "snake/itkCudaSnakeTestCase.h"
#include "support/itkCudaExpectException.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <string>
#include <vector>

// Labels that are written on a device are those that are written on the host, and nothing else is written.
namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;
using namespace itk::cuda::snake;

class CudaSnakeDeviceLabelsGpu : public SnakeDeviceTest
{
protected:
  template <typename TPixel>
  void
  Compare(const CudaSnakePolygon & polygon, size_t width, size_t height, size_t stride, TPixel inside, TPixel outside)
    const
  {
    constexpr unsigned char       poison = 0xcd;
    const CudaSnakeRowSpans       spans = ComputeCudaSnakeRowSpans(polygon, static_cast<int32_t>(height));
    std::vector<TPixel>           expected(width * height);
    const CudaSnakeLabels<TPixel> writer{ spans, width, inside, outside };
    writer.WriteRows(expected.data(), 0, height);

    const DeviceGuard   guard(m_Device);
    const StreamLease   stream(m_Device);
    const size_t        first = 7;
    std::vector<TPixel> made(first + stride * height + 9);
    const size_t        bytes = made.size() * sizeof(TPixel);
    const DeviceBuffer  memory(bytes, stream);
    ITK_CUDA_CALL(cudaMemsetAsync(memory.GetPointer(), poison, bytes, stream.GetStream()));
    DeviceView view;
    view.Data = static_cast<TPixel *>(memory.GetPointer()) + first;
    view.ComponentType = sizeof(TPixel) == 1 ? CudaComponentType::UChar : CudaComponentType::UShort;
    view.Size = { { width, height, 1, 1, 1 } };
    view.Stride = { { 1, stride, stride * height, stride * height, stride * height } };
    const DeviceBuffer workspace(GetLabelWorkspaceBytes(polygon), stream);
    WriteLabels(polygon, inside, outside, view, { workspace.GetPointer(), workspace.GetSize() }, stream);
    ITK_CUDA_CALL(cudaMemcpyAsync(made.data(), memory.GetPointer(), bytes, cudaMemcpyDeviceToHost, stream.GetStream()));
    stream.Synchronize();

    const auto untouched = static_cast<TPixel>(sizeof(TPixel) == 1 ? poison : poison * 0x101);
    for (size_t i = 0; i < made.size(); ++i)
    {
      const bool   before = i < first;
      const size_t x = before ? width : (i - first) % stride;
      const size_t y = before ? 0 : (i - first) / stride;
      const bool   written = x < width && y < height;
      ASSERT_EQ(made[i], written ? expected[y * width + x] : untouched)
        << width << " x " << height << ", stride " << stride << ", at " << x << ", " << y;
    }
  }
};
} // namespace

TEST_F(CudaSnakeDeviceLabelsGpu, AreThoseOfTheHost)
{
  constexpr uint64_t seed = 70000;
  std::cout << "seed " << seed << std::endl;
  for (uint64_t i = 0; i < 60; ++i)
  {
    const auto random = [i](uint64_t what, uint64_t choices) {
      return static_cast<int32_t>(SplitMix64((seed + i) * 64 + what) % choices);
    };
    SnakeScene scene;
    scene.Width = 8 + random(0, 700);
    scene.Height = 8 + random(1, 500);
    scene.Target = static_cast<SceneTarget>(random(2, 3));
    const auto                          width = static_cast<size_t>(scene.Width);
    const auto                          height = static_cast<size_t>(scene.Height);
    const std::vector<CudaSnakePolygon> truth = scene.GetTruth();
    const CudaSnakePolygon whole{ { 0, 0 }, { scene.Width, 0 }, { scene.Width, scene.Height }, { 0, scene.Height } };
    for (const CudaSnakePolygon & polygon : { truth.front(), whole, CudaSnakePolygon() })
    {
      this->Compare<uint8_t>(polygon, width, height, width + static_cast<size_t>(random(3, 40)), 255, 3);
      this->Compare<uint16_t>(polygon, width, height, width + static_cast<size_t>(random(4, 40)), 1, 65535);
    }
    if (HasFatalFailure())
    {
      return;
    }
  }
  const CudaSnakePolygon comb = MakeComb(1000);
  this->Compare<uint8_t>(comb, 4001, 32, 4001, 1, 0);
  this->Compare<uint16_t>(comb, 4001, 32, 4032, 500, 0);
}

// A warp writes 8192 pixels of a row.
TEST_F(CudaSnakeDeviceLabelsGpu, OfRowsOfSeveralStripsAreThoseOfTheHost)
{
  for (const int32_t width : { 8191, 8192, 8193, 16384, 16400, 24577 })
  {
    const CudaSnakePolygon slanted{
      { 3, 0 }, { width, 5 }, { width - 40, 9 }, { width / 2, 4 }, { 8192, 9 }, { 0, 9 }
    };
    const CudaSnakePolygon narrow{ { 8191, 1 }, { 8192, 1 }, { 8192, 8 }, { 8191, 8 } };
    const CudaSnakePolygon half{ { 0, 0 }, { width / 2, 0 }, { width / 2, 9 }, { 0, 9 } };
    for (const CudaSnakePolygon & polygon : { slanted, narrow, half, CudaSnakePolygon() })
    {
      const auto columns = static_cast<size_t>(width) + 1; // the narrow polygon's last column
      this->Compare<uint8_t>(polygon, columns, 9, columns + 5, 7, 200);
      this->Compare<uint16_t>(polygon, columns, 9, columns, 1, 0);
      if (HasFatalFailure())
      {
        return;
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
#ifndef snake_benchmark_scene_h
#define snake_benchmark_scene_h

#include "itkCudaSnakeScene.h"
#include "itkImage.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <vector>

namespace benchmark_filters
{
using SceneImageType = itk::Image<unsigned short, 2>;

/** Returns the scene of that side. The last image is cached, because Google Benchmark calls a row several times. */
inline SceneImageType::Pointer
GetScene(itk::SizeValueType side)
{
  static SceneImageType::Pointer kept;
  if (kept && kept->GetBufferedRegion().GetSize(0) == side)
  {
    return kept;
  }
  itk::cuda::SnakeScene scene;
  scene.Width = scene.Height = static_cast<int32_t>(side);
  const std::vector<uint16_t> pixels = scene.MakePixels(itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  kept = SceneImageType::New();
  kept->SetRegions(SceneImageType::SizeType{ { side, side } });
  kept->Allocate();
  std::copy(pixels.begin(), pixels.end(), kept->GetBufferPointer());
  return kept;
}
} // namespace benchmark_filters

#endif

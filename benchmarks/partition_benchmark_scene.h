// SPDX-License-Identifier: Apache-2.0
#ifndef partition_benchmark_scene_h
#define partition_benchmark_scene_h

#include "itkImage.h"

#include <benchmark/benchmark.h>

namespace benchmark_filters
{
using SceneImage = itk::Image<unsigned short, 2>;

enum class Scene
{
  Fields,   // 1000 x 1000 pixels and 150 fields under speckle of one look, side by side
  OneField, // speckle alone, as on a lake
  Picture   // the radar picture of the examples, and its mirror images
};

/** Returns a square radar scene whose side is the row's first argument. The last scene is cached, because Google
 * Benchmark calls a row several times. The picture is read from the source tree, or from the folder that the
 * environment variable ITK_CUDAFILTERS_TEST_PICTURES names. If it cannot be read, the row is skipped with the reason
 * and nullptr is returned. */
SceneImage::Pointer
GetScene(benchmark::State & state, Scene scene);

/** Sets the law of the scene's pixels and their looks, which are estimated for the picture. */
template <typename TFilter>
void
SetLawOfScene(TFilter * filter, Scene scene)
{
  filter->SetNoiseLaw(scene == Scene::Picture ? "Rayleigh" : "Gamma");
  filter->SetNumberOfLooks(scene == Scene::Picture ? 0.0 : 1.0);
}
} // namespace benchmark_filters

#endif

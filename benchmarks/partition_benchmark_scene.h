// SPDX-License-Identifier: Apache-2.0
#ifndef partition_benchmark_scene_h
#define partition_benchmark_scene_h

#include "itkCudaFieldScene.h"
#include "itkImageRegionIteratorWithIndex.h"

namespace benchmark_filters
{
/** A radar scene of 1000 x 1000 pixels and 150 fields under speckle of one look, side by side as often as the image has
 * room for it. The last image is kept: Google Benchmark calls a row several times. */
inline itk::cuda::test::FieldScene::ImageType::Pointer
GetFieldScene(itk::SizeValueType side)
{
  using itk::cuda::test::FieldScene;
  using ImageType = FieldScene::ImageType;
  constexpr unsigned int          tileSide = 1000;
  static const ImageType::Pointer tile = [] {
    FieldScene scene;
    scene.Width = scene.Height = tileSide;
    scene.NumberOfRegions = 150;
    scene.NumberOfCells = 275;
    return scene.MakeImage(scene.MakeTruth());
  }();
  static ImageType::Pointer kept;
  if (!kept || kept->GetBufferedRegion().GetSize(0) != side)
  {
    kept = ImageType::New();
    kept->SetRegions(ImageType::SizeType{ { side, side } });
    kept->Allocate();
    itk::ImageRegionIteratorWithIndex<ImageType> it(kept, kept->GetBufferedRegion());
    for (; !it.IsAtEnd(); ++it)
    {
      it.Set(tile->GetPixel({ { it.GetIndex()[0] % tileSide, it.GetIndex()[1] % tileSide } }));
    }
  }
  return kept;
}
} // namespace benchmark_filters

#endif

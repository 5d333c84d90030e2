// SPDX-License-Identifier: Apache-2.0
#ifndef partition_benchmark_scene_h
#define partition_benchmark_scene_h

#include "itkCudaFieldScene.h"
#include "itkImageRegionIteratorWithIndex.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace benchmark_filters
{
enum class Fields
{
  Many,
  One // speckle alone, as on a lake
};

/** A radar scene of 1000 x 1000 pixels and 150 fields, or one, under speckle of one look, side by side as often as the
 * image has room for it. The last image is kept: Google Benchmark calls a row several times. */
inline itk::cuda::test::FieldScene::ImageType::Pointer
GetFieldScene(itk::SizeValueType side, Fields fields = Fields::Many)
{
  using itk::cuda::test::FieldScene;
  using ImageType = FieldScene::ImageType;
  constexpr unsigned int    tileSide = 1000;
  static ImageType::Pointer kept;
  static Fields             fieldsOfKept{ Fields::Many };
  if (!kept || kept->GetBufferedRegion().GetSize(0) != side || fieldsOfKept != fields)
  {
    FieldScene scene;
    scene.Width = scene.Height = tileSide;
    scene.NumberOfRegions = 150;
    scene.NumberOfCells = 275;
    const ImageType::Pointer tile = scene.MakeImage(
      fields == Fields::Many ? scene.MakeTruth() : std::vector<uint32_t>(size_t{ tileSide } * tileSide, 0));
    fieldsOfKept = fields;
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

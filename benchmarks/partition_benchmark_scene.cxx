// SPDX-License-Identifier: Apache-2.0
#include "partition_benchmark_scene.h"

#include "itkCudaFieldScene.h"
#include "itkImageFileReader.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkPNGImageIO.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace benchmark_filters
{
namespace
{
SceneImage::Pointer
MakeFields(bool ofOne)
{
  itk::cuda::test::FieldScene scene;
  scene.Width = scene.Height = 1000;
  scene.NumberOfRegions = 150;
  scene.NumberOfCells = 275;
  return scene.MakeImage(ofOne ? std::vector<uint32_t>(size_t{ scene.Width } * scene.Height, 0) : scene.MakeTruth());
}

SceneImage::Pointer
ReadPicture()
{
  const auto reader = itk::ImageFileReader<SceneImage>::New();
  reader->SetImageIO(itk::PNGImageIO::New());
  const char * const folder = std::getenv("ITK_CUDAFILTERS_TEST_PICTURES");
  reader->SetFileName(std::string(folder ? folder : CUDAFILTERS_EXAMPLE_DATA) + "/sar_fields_1000x500.png");
  reader->Update();
  return reader->GetOutput();
}

/** Maps an index to the picture, which alternates with its mirror image. */
itk::IndexValueType
Mirror(itk::IndexValueType place, itk::SizeValueType size)
{
  const auto sizeOfPicture = static_cast<itk::IndexValueType>(size);
  const auto inPeriod = place % (2 * sizeOfPicture);
  return inPeriod < sizeOfPicture ? inPeriod : 2 * sizeOfPicture - 1 - inPeriod;
}

SceneImage::Pointer
MakeScene(Scene scene, itk::SizeValueType side)
{
  const auto tile = scene == Scene::Picture ? ReadPicture() : MakeFields(scene == Scene::OneField);
  const auto size = tile->GetBufferedRegion().GetSize();
  const auto image = SceneImage::New();
  image->SetRegions(SceneImage::SizeType{ { side, side } });
  image->Allocate();
  itk::ImageRegionIteratorWithIndex<SceneImage> it(image, image->GetBufferedRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    SceneImage::IndexType place = it.GetIndex();
    for (unsigned int axis = 0; axis < 2; ++axis)
    {
      place[axis] = scene == Scene::Picture ? Mirror(place[axis], size[axis])
                                            : place[axis] % static_cast<itk::IndexValueType>(size[axis]);
    }
    it.Set(tile->GetPixel(place));
  }
  return image;
}
} // namespace

SceneImage::Pointer
GetScene(benchmark::State & state, Scene scene)
{
  const auto                 side = static_cast<itk::SizeValueType>(state.range(0));
  static SceneImage::Pointer kept;
  static Scene               sceneOfKept{ Scene::Fields };
  if (!kept || kept->GetBufferedRegion().GetSize(0) != side || sceneOfKept != scene)
  {
    try
    {
      kept = MakeScene(scene, side);
      sceneOfKept = scene;
    }
    catch (const itk::ExceptionObject & error)
    {
      state.SkipWithError(error.GetDescription());
      return nullptr;
    }
  }
  return kept;
}
} // namespace benchmark_filters

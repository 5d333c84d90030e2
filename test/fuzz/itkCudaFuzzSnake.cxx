// SPDX-License-Identifier: Apache-2.0

// Region snakes: images of any numbers, any law and any start are refused in words, or give a simple polygon within the
// image whose pixels, counted one by one, are those of the result.

#include "itkCudaDetailRegionSnakeEngine.h"
#include "itkCudaFuzzRegions.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "region/Laws.h"

namespace itk::cuda::test
{
namespace
{
using namespace itk::CudaDetail;

CudaRegionSnakeParameters
DrawParameters(FuzzInput & input)
{
  CudaRegionSnakeParameters parameters;
  FuzzLaw(input, parameters);
  parameters.Schedule = static_cast<CudaFiltersEnums::Schedule>(input.Integer(0, 1));
  parameters.Start = static_cast<CudaFiltersEnums::Start>(input.Integer(0, 1));
  parameters.MaximumStep = static_cast<unsigned int>(input.Integer(0, 40));
  parameters.MinimumEdgeLength = input.Parameter(1.0, 40.0);
  parameters.MinimumGain = input.Parameter(1e-6, 1.0);
  parameters.UseDescriptionLength = input.Flag();
  parameters.MaximumNumberOfNodes = static_cast<unsigned int>(input.Integer(3, 60));
  parameters.MaximumNumberOfIterations = static_cast<unsigned int>(input.Integer(0, 40));
  parameters.MinimumRegionSize = input.Integer(0, 20);
  return parameters;
}

/** A polygon of corners, which may lie outside of the image, cross itself or have no area. */
CudaSnakePolygon
DrawPolygon(FuzzInput & input, const FuzzScene & scene)
{
  CudaSnakePolygon polygon(input.Integer(0, 8));
  const bool       isHostile = input.Integer(0, 7) == 7;
  for (CudaSnakePoint & point : polygon)
  {
    point = isHostile
              ? CudaSnakePoint{ ConvertComponent<int32_t>(input.Hostile()), ConvertComponent<int32_t>(input.Hostile()) }
              : CudaSnakePoint{ static_cast<int32_t>(input.Integer(0, scene.GetWidth())),
                                static_cast<int32_t>(input.Integer(0, scene.GetHeight())) };
  }
  return polygon;
}

void
CheckResult(const FuzzScene & scene, const CudaRegionSnakeParameters & parameters, const CudaRegionSnakeResult & result)
{
  const size_t valid = scene.GetNumberOfValidPixels();
  if (result.Polygon.empty())
  {
    FuzzRequire(result.Stop == CudaRegionSnakeStop::RegionTooSmall, "there is no polygon");
    return;
  }
  const CudaSnakePolygon & polygon = result.Polygon;
  FuzzRequire(polygon.size() >= 3 && polygon.size() <= parameters.MaximumNumberOfNodes, "a polygon of too many nodes");
  for (const CudaSnakePoint & point : polygon)
  {
    FuzzRequire(point.X >= 0 && point.Y >= 0 && point.X <= static_cast<int64_t>(scene.GetWidth()) &&
                  point.Y <= static_cast<int64_t>(scene.GetHeight()),
                "a vertex outside of the image");
    const CudaSnakePoint & first = polygon.front();
    FuzzRequire(first.Y < point.Y || (first.Y == point.Y && first.X <= point.X),
                "the first vertex is not the smallest");
  }
  FuzzRequire(FuzzIsSimple(polygon), "the polygon crosses itself");
  FuzzRequire(CudaSnakePolygonIsSimple(polygon), "the polygon is simple but for CudaSnakePolygonIsSimple()");
  FuzzRequire(FuzzTwiceArea(polygon) > 0, "the polygon has no positive area");
  size_t inside = 0;
  double sum = 0.0;
  for (size_t y = 0; y < scene.GetHeight(); ++y)
  {
    for (size_t x = 0; x < scene.GetWidth(); ++x)
    {
      const size_t pixel = y * scene.GetWidth() + x;
      if (scene.IsValid(pixel) && FuzzContains(polygon, x, y))
      {
        ++inside;
        sum += scene.Image.Get(pixel);
      }
    }
  }
  FuzzRequire(result.Inside.NumberOfPixels == inside,
              std::to_string(inside) + " pixels lie in the polygon, not " +
                std::to_string(result.Inside.NumberOfPixels));
  FuzzRequire(result.Outside.NumberOfPixels == valid - inside, "the regions are not the image");
  FuzzRequire(std::isfinite(result.Criterion) && std::isfinite(result.CriterionOfOneRegion) &&
                std::isfinite(result.DescriptionLength),
              "the criterion is not finite");
  if (parameters.NoiseLaw == CudaFiltersEnums::NoiseLaw::Gaussian &&
      scene.Image.View.ComponentType == CudaComponentType::UChar)
  {
    FuzzRequire(std::fabs(result.Inside.Mean * static_cast<double>(inside) - sum) <= 1e-9 * (1.0 + std::fabs(sum)),
                "the mean is not that of the pixels");
  }
}

void
FuzzEngine(FuzzInput & input)
{
  const FuzzScene        scene(input, 26);
  auto                   parameters = DrawParameters(input);
  const CudaSnakePolygon polygon = DrawPolygon(input, scene);
  const auto             start = input.Integer(0, 3);
  FuzzImage              startMask(scene.Image.View.Size, 1, CudaComponentType::UChar);
  CudaRegionSnakeInput   image;
  image.Image = scene.Image.View;
  image.ValidMask = scene.GetMask();
  if (start == 1)
  {
    startMask.Fill(input, input.Flag());
    image.StartMask = &startMask.View;
  }
  else if (start > 1)
  {
    image.StartPolygon = &polygon;
  }
  // The engine tests polygons within the image alone, without repeated vertices.
  const auto isEqual = [](const CudaSnakePoint & a, const CudaSnakePoint & b) { return a.X == b.X && a.Y == b.Y; };
  const bool isWithin = std::all_of(polygon.begin(), polygon.end(), [](const CudaSnakePoint & point) {
    return point.X >= 0 && point.Y >= 0 && point.X < 1000 && point.Y < 1000;
  });
  if (polygon.size() > 2 && isWithin && !isEqual(polygon.front(), polygon.back()) &&
      std::adjacent_find(polygon.begin(), polygon.end(), isEqual) == polygon.end())
  {
    FuzzRequire(CudaSnakePolygonIsSimple(polygon) == FuzzIsSimple(polygon), "a polygon is simple for one of two tests");
  }
  CudaRegionSnakeResult result;
  if (FuzzAccepts([&] { VerifyCudaRegionSnakeParameters(parameters); }) &&
      FuzzAccepts([&] { result = CudaRegionSnakeOnHost(image, parameters, 1, {}); }))
  {
    CheckResult(scene, parameters, result);
    if (input.Integer(0, 7) == 7)
    {
      const CudaRegionSnakeResult other = CudaRegionSnakeOnHost(image, parameters, 2, {});
      FuzzRequire(other.Polygon.size() == result.Polygon.size() && other.Criterion == result.Criterion,
                  "two threads give another polygon");
    }
  }
  // Several starts in one image.
  if (start == 3)
  {
    CudaRegionSnakeStarts starts;
    starts.Polygons.push_back(polygon);
    starts.Polygons.push_back(DrawPolygon(input, scene));
    starts.Margin = static_cast<uint32_t>(input.Integer(0, 30));
    image.StartPolygon = nullptr;
    CudaRegionSnakeBatch batch;
    if (FuzzAccepts([&] { batch = CudaRegionSnakeBatchOnHost(image, starts, parameters, 1, {}); }))
    {
      FuzzImage labels(scene.Image.View.Size, 1, CudaComponentType::UShort);
      FuzzRequire(batch.Regions.size() == 2, "another number of regions");
      CudaWriteRegionSnakeLabels(batch.Regions, labels.View, 1);
      for (size_t i = 0; i < scene.GetWidth() * scene.GetHeight(); ++i)
      {
        const auto label = static_cast<size_t>(labels.Get(i));
        FuzzRequire(
          label == 0 ||
            (label <= 2 && FuzzContains(batch.Regions[label - 1].Polygon, i % scene.GetWidth(), i / scene.GetWidth())),
          "a label outside of its polygon");
      }
    }
  }
}

/** Starts in continuous index, and in pixels that may be elsewhere. */
void
FuzzFilter(FuzzInput & input)
{
  using ImageType = Image<float, 2>;
  const auto            image = ImageType::New();
  ImageType::RegionType region({ { 5, -3 } }, { { input.Integer(1, 20), input.Integer(1, 20) } });
  image->SetRegions(region);
  image->Allocate();
  input.Fill(CudaComponentType::Float, image->GetBufferPointer(), region.GetNumberOfPixels(), true);
  const auto filter = CudaRegionSnakeImageFilter<ImageType, Image<unsigned char, 2>>::New();
  filter->SetInput(image);
  filter->SetBackend(CudaFiltersEnums::Backend::Host);
  filter->SetNumberOfWorkUnits(1);
  filter->SetNoiseLaw(CudaFiltersEnums::NoiseLaw::Gaussian);
  if (input.Flag())
  {
    const auto path = PolyLineParametricPath<2>::New();
    const auto number = input.Integer(0, 6);
    for (uint64_t i = 0; i < number; ++i)
    {
      ContinuousIndex<double, 2> vertex;
      vertex[0] = input.Parameter(4.5, 26.0);
      vertex[1] = input.Parameter(0.1, 17.0);
      path->AddVertex(vertex);
    }
    filter->SetInitialPath(path);
  }
  else
  {
    const auto draw = [&] {
      return static_cast<IndexValueType>(input.Flag() ? input.Integer(0, 30) : input.Integer(0, UINT64_MAX));
    };
    region.SetIndex({ { draw(), draw() } });
    region.SetSize({ { static_cast<SizeValueType>(draw()), static_cast<SizeValueType>(draw()) } });
    filter->SetInitialRegion(region);
  }
  if (FuzzAccepts([&] { filter->Update(); }))
  {
    FuzzRequire(filter->GetContour()->GetVertexList()->Size() == filter->GetResult().Polygon.size(),
                "the contour is not the polygon");
  }
}
} // namespace

void
FuzzSnake(FuzzInput & input)
{
  input.Integer(0, 7) == 7 ? FuzzFilter(input) : FuzzEngine(input);
}
} // namespace itk::cuda::test

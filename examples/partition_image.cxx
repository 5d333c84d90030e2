// SPDX-License-Identifier: Apache-2.0
// Divides a whole image into regions. Shows CudaRegionPartitionImageFilter: the label image, the table of regions, and
// the polygons, which share their edges. Writes the polygons as GeoJSON, which maps and drawing programs read.
#include "example.h"
#include "itkCudaRegionPartitionImageFilter.h"

namespace
{
using ImageType = itk::Image<float, 2>;
using LabelType = itk::Image<unsigned short, 2>;

/** Writes a region's polygon: [[outer ring, hole, ...], [outer ring of another part, ...]]. Rings are closed. */
void
WriteCoordinates(std::ostream & file, const itk::CudaRegionPartition & partition, unsigned int region)
{
  const auto corners = partition.GetRings(region);
  const auto rings = partition.GetPhysicalRings(region);
  for (size_t i = 0; i < rings.size(); ++i)
  {
    const bool isOuter = itk::CudaRegionPartition::IsOuterRing(corners[i]);
    file << (i == 0 ? "[[" : isOuter ? "],[" : ",");
    for (const auto & point : rings[i])
    {
      file << (&point == &rings[i].front() ? "[[" : ",[") << point[0] << ',' << point[1] << ']';
    }
    file << ",[" << rings[i].front()[0] << ',' << rings[i].front()[1] << "]]";
  }
  file << "]]";
}

void
WritePolygons(const std::string & name, const itk::CudaRegionPartition & partition)
{
  std::ofstream file(name);
  file.precision(10);
  file << "{\"type\":\"FeatureCollection\",\"features\":[";
  for (unsigned int region = 1; region <= partition.GetNumberOfRegions(); ++region)
  {
    file << (region == 1 ? "" : ",") << "\n{\"type\":\"Feature\",\"properties\":{\"region\":" << region
         << ",\"pixels\":" << partition.GetRegion(region).NumberOfPixels
         << ",\"mean\":" << partition.GetRegion(region).Mean
         << "},\"geometry\":{\"type\":\"MultiPolygon\",\"coordinates\":";
    WriteCoordinates(file, partition, region);
    file << "}}";
  }
  file << "]}\n";
  if (!file.flush())
  {
    throw std::runtime_error("'" + name + "' could not be written");
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  const std::string usage = "INPUT LAW LABELS POLYGONS.geojson\n"
                            "Divides an image of two dimensions into homogeneous regions. In the image LABELS they are "
                            "numbered from 1.\n"
                            "LAW is the distribution of the pixels of a region: " +
                            itk::CudaNoiseLawNames() + ".\n";
  return example::Main(argc, argv, usage, 4, 4, [](const example::Arguments & arguments) {
    const auto filter = itk::CudaRegionPartitionImageFilter<ImageType, LabelType>::New();
    filter->SetInput(example::ReadImage<ImageType>(arguments[0]));
    filter->SetNoiseLaw(arguments[1].c_str());
    filter->Update();
    std::cout << "divided by " << itk::CudaBackendToString(filter->GetBackendUsed()) << ": "
              << filter->GetBackendReason() << '\n'
              << filter->GetNumberOfRegions() << " regions, " << filter->GetPartition()->GetNumberOfNodes()
              << " nodes, " << filter->GetNumberOfLooksUsed() << " looks per pixel\n";
    example::WriteImage(filter->GetOutput(), arguments[2]);
    WritePolygons(arguments[3], *filter->GetPartition());
  });
}

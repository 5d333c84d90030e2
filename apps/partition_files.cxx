// SPDX-License-Identifier: Apache-2.0
#include "partition_files.h"

#include "json_file.h"

#include <fstream>
#include <stdexcept>

namespace
{
using Json = nlohmann::ordered_json;

/** Returns the region's row of the table, with the names of the columns. NaN becomes null, because JSON has no NaN. */
Json
DescribeRegion(const itk::CudaRegionPartition & partition, uint32_t number)
{
  const itk::CudaPartitionRegion & region = partition.GetRegion(number);
  return { { "region", number },
           { "pixels", region.NumberOfPixels },
           { "mean", region.Mean },
           { "mean_square", region.MeanSquare },
           { "variance", region.Variance },
           { "area", region.Area },
           { "perimeter", region.Perimeter },
           { "x_min", region.BoundingBox[0] },
           { "y_min", region.BoundingBox[1] },
           { "x_max", region.BoundingBox[2] },
           { "y_max", region.BoundingBox[3] },
           { "number_of_neighbours", region.Neighbors.size() },
           { "description", region.Description },
           { "neighbours", region.Neighbors } };
}

Json
CloseRing(const itk::CudaRegionPartition::PhysicalRingType & ring)
{
  auto points = Json::array();
  for (const auto & point : ring)
  {
    points.push_back({ point[0], point[1] });
  }
  points.push_back(Json(points.front()));
  return points;
}

/** Returns a Polygon, or a MultiPolygon if there are several outer rings. Each outer ring starts a new part. */
Json
DescribePolygon(const itk::CudaRegionPartition & partition, uint32_t number)
{
  const auto corners = partition.GetRings(number);
  const auto rings = partition.GetPhysicalRings(number);
  auto       parts = Json::array();
  for (size_t i = 0; i < rings.size(); ++i)
  {
    if (itk::CudaRegionPartition::IsOuterRing(corners[i]))
    {
      parts.push_back(Json::array());
    }
    parts.back().push_back(CloseRing(rings[i]));
  }
  return parts.size() == 1 ? Json{ { "type", "Polygon" }, { "coordinates", parts.front() } }
                           : Json{ { "type", "MultiPolygon" }, { "coordinates", parts } };
}

/** Converts a value to a field of a table. A list becomes a single field, separated by spaces. */
std::string
MakeField(const Json & value)
{
  if (!value.is_array())
  {
    const std::string text = value.dump();
    return text == "null" ? "" : text; // NaN also is null
  }
  std::string words;
  for (const Json & entry : value)
  {
    words += (words.empty() ? "" : " ") + entry.dump();
  }
  return words;
}
} // namespace

void
command::WritePolygons(const std::string &              fileName,
                       const itk::CudaRegionPartition & partition,
                       const nlohmann::ordered_json &   summary,
                       const std::string &              input)
{
  if (fileName.empty())
  {
    return;
  }
  auto features = Json::array();
  for (uint32_t number = 1; number <= partition.GetNumberOfRegions(); ++number)
  {
    Json properties = DescribeRegion(partition, number);
    properties["coordinates"] = "physical";
    properties["input"] = input;
    features.push_back(
      { { "type", "Feature" }, { "properties", properties }, { "geometry", DescribePolygon(partition, number) } });
  }
  // No indentation, because each number of the many polygons would get a line of its own.
  WriteJson(fileName,
            { { "type", "FeatureCollection" },
              { "description", "x and y in the physical units of the image, by its origin, spacing and direction" },
              { "partition", summary },
              { "features", features } },
            -1);
}

void
command::WriteTable(const std::string & fileName, const itk::CudaRegionPartition & partition)
{
  if (fileName.empty())
  {
    return;
  }
  std::ofstream file(fileName);
  for (uint32_t number = 1; number <= partition.GetNumberOfRegions(); ++number)
  {
    std::string names;
    std::string fields;
    const Json  row = DescribeRegion(partition, number);
    for (const auto & entry : row.items())
    {
      const std::string comma = fields.empty() ? "" : ",";
      names += comma + entry.key();
      fields += comma + MakeField(entry.value());
    }
    file << (number == 1 ? names + "\n" : "") << fields << '\n';
  }
  if (!file.flush())
  {
    throw std::runtime_error("'" + fileName + "' could not be written");
  }
}

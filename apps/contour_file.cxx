// SPDX-License-Identifier: Apache-2.0
#include "contour_file.h"

#include "json_file.h"

#include <fstream>
#include <stdexcept>

namespace
{
/** The geometry of a Feature, or of the first Feature of a FeatureCollection; otherwise the object itself. */
nlohmann::json
GetGeometry(nlohmann::json json)
{
  if (json.at("type") == "FeatureCollection")
  {
    json = nlohmann::json(json.at("features").at(0));
  }
  if (json.at("type") == "Feature")
  {
    json = nlohmann::json(json.at("geometry"));
  }
  return json;
}

std::vector<command::PhysicalPoint>
GetOuterRing(const nlohmann::json & polygon)
{
  std::vector<command::PhysicalPoint> ring;
  for (const auto & position : polygon.at("coordinates").at(0))
  {
    command::PhysicalPoint point;
    point[0] = position.at(0).get<double>();
    point[1] = position.at(1).get<double>();
    ring.push_back(point);
  }
  if (ring.size() > 1 && ring.front() == ring.back())
  {
    ring.pop_back();
  }
  return ring;
}
} // namespace

std::vector<command::PhysicalPoint>
command::ReadContour(const std::string & fileName)
{
  std::ifstream file(fileName);
  if (!file)
  {
    throw std::runtime_error("'" + fileName + "' does not exist or cannot be opened");
  }
  try
  {
    const nlohmann::json geometry = GetGeometry(nlohmann::json::parse(file));
    if (geometry.at("type") != "Polygon")
    {
      throw std::runtime_error("'" + fileName + "' starts with a geometry of type " + geometry.at("type").dump() +
                               "; a Polygon is needed");
    }
    auto ring = GetOuterRing(geometry);
    if (ring.empty())
    {
      throw std::runtime_error("the polygon of '" + fileName + "' has no points");
    }
    return ring;
  }
  catch (const nlohmann::json::exception & error)
  {
    throw std::runtime_error("'" + fileName + "' is no GeoJSON file with a polygon: " + error.what());
  }
}

void
command::WriteContour(const std::string &                fileName,
                      const std::vector<PhysicalPoint> & contour,
                      const nlohmann::ordered_json &     properties)
{
  auto ring = nlohmann::ordered_json::array();
  for (const PhysicalPoint & point : contour)
  {
    ring.push_back({ point[0], point[1] });
  }
  if (!ring.empty())
  {
    ring.push_back(nlohmann::ordered_json(ring.front()));
  }
  nlohmann::ordered_json feature;
  feature["type"] = "Feature";
  feature["properties"] = properties;
  feature["geometry"] = { { "type", "Polygon" }, { "coordinates", nlohmann::ordered_json::array({ ring }) } };
  WriteJson(fileName, { { "type", "FeatureCollection" }, { "features", nlohmann::ordered_json::array({ feature }) } });
}

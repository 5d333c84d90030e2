// SPDX-License-Identifier: Apache-2.0
#include "contour_file.h"

#include "json_file.h"

#include <fstream>
#include <stdexcept>

namespace
{
/** Returns the first Feature of a FeatureCollection, or any other object itself. */
nlohmann::json
GetFeature(const nlohmann::json & json)
{
  return json.at("type") == "FeatureCollection" ? json.at("features").at(0) : json;
}

/** Returns whether the feature's coordinates are pixels, as in files that the Python package can write. */
bool
IsInPixels(const nlohmann::json & feature)
{
  const auto properties = feature.find("properties");
  return properties != feature.end() && properties->is_object() && properties->value("coordinates", "") == "pixel";
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

command::StartContour
command::ReadContour(const std::string & fileName)
{
  std::ifstream file(fileName);
  if (!file)
  {
    throw std::runtime_error("'" + fileName + "' does not exist or cannot be opened");
  }
  try
  {
    const nlohmann::json feature = GetFeature(nlohmann::json::parse(file));
    const nlohmann::json geometry = feature.at("type") == "Feature" ? feature.at("geometry") : feature;
    if (geometry.at("type") != "Polygon")
    {
      throw std::runtime_error("'" + fileName + "' starts with a geometry of type " + geometry.at("type").dump() +
                               "; a Polygon is needed");
    }
    StartContour contour{ GetOuterRing(geometry), IsInPixels(feature) };
    if (contour.Points.empty())
    {
      throw std::runtime_error("the polygon of '" + fileName + "' has no points");
    }
    return contour;
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

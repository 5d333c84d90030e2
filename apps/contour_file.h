// SPDX-License-Identifier: Apache-2.0
#ifndef contour_file_h
#define contour_file_h

#include "segment_image.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace command
{
/** Reads the outer ring of the first polygon in a GeoJSON file, without the repetition of its first point. The
 * coordinates are pixels if the polygon's property "coordinates" says so. \exception std::runtime_error if there is no
 * polygon */
StartContour
ReadContour(const std::string & fileName);

/** Writes a polygon with its properties. */
void
WriteContour(const std::string &                fileName,
             const std::vector<PhysicalPoint> & contour,
             const nlohmann::ordered_json &     properties);
} // namespace command

#endif

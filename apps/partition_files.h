// SPDX-License-Identifier: Apache-2.0
#ifndef partition_files_h
#define partition_files_h

#include "itkCudaRegionPartition.h"

#include <nlohmann/json.hpp>

#include <string>

namespace command
{
/** Writes the polygons of all regions as GeoJSON in physical coordinates, each with its row of the table. `summary`
 * holds the properties of the whole partition. Writes no file if the name is empty. */
void
WritePolygons(const std::string &              fileName,
              const itk::CudaRegionPartition & partition,
              const nlohmann::ordered_json &   summary,
              const std::string &              input);

/** Writes the table of regions as CSV: a line of names, and a line for each region. Fields of numbers that do not exist
 * are empty. Writes no file if the name is empty. \exception std::runtime_error if the file cannot be written */
void
WriteTable(const std::string & fileName, const itk::CudaRegionPartition & partition);
} // namespace command

#endif

// SPDX-License-Identifier: Apache-2.0
#include "json_file.h"

#include <fstream>
#include <stdexcept>

void
command::WriteJson(const std::string & fileName, const nlohmann::ordered_json & json, int indent)
{
  if (fileName.empty())
  {
    return;
  }
  std::ofstream file(fileName);
  file << json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  if (!file.flush())
  {
    throw std::runtime_error("'" + fileName + "' could not be written");
  }
}

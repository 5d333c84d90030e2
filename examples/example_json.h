// SPDX-License-Identifier: Apache-2.0
#ifndef example_json_h
#define example_json_h

#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>
#include <string>

namespace example
{
/** Writes a JSON file. The name of a file may be any bytes, but JSON is UTF-8: other bytes become U+FFFD.
 * \exception std::runtime_error if the file cannot be written */
inline void
WriteJson(const std::string & fileName, const nlohmann::ordered_json & json)
{
  std::ofstream file(fileName);
  file << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  if (!file.flush())
  {
    throw std::runtime_error("'" + fileName + "' could not be written");
  }
}
} // namespace example

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef json_file_h
#define json_file_h

#include <nlohmann/json.hpp>

#include <string>

namespace command
{
/** Writes a JSON file; an empty name asks for none. The name of a file may be any bytes, but JSON is UTF-8: other bytes
 * become U+FFFD. `indent`: spaces of each level, or -1 for a single line.
 * \exception std::runtime_error if the file cannot be written */
void
WriteJson(const std::string & fileName, const nlohmann::ordered_json & json, int indent = 2);
} // namespace command

#endif

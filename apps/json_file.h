// SPDX-License-Identifier: Apache-2.0
#ifndef json_file_h
#define json_file_h

#include <nlohmann/json.hpp>

#include <string>

namespace command
{
/** Writes a JSON file, or no file if the name is empty. Bytes that are not UTF-8, which file names may contain, become
 * U+FFFD, because JSON must be UTF-8. `indent` is the number of spaces per level, or -1 for a single line.
 * \exception std::runtime_error if the file cannot be written */
void
WriteJson(const std::string & fileName, const nlohmann::ordered_json & json, int indent = 2);
} // namespace command

#endif

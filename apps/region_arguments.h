// SPDX-License-Identifier: Apache-2.0
#ifndef region_arguments_h
#define region_arguments_h

#include "itkImageIOBase.h"

#include <CLI/CLI.hpp>

#include <string>

// Arguments and checks that the commands segment and partition have in common.

namespace command
{
void
AddLaw(CLI::App & part, std::string & law);
void
AddForegroundThreshold(CLI::App & part, double & threshold);
void
AddValidMask(CLI::App & part, std::string & fileName);

/** Returns the names of the laws that need a parameter: "gamma, rayleigh". */
std::string
LawsWithParameter(const std::string & parameter);

/** Returns the description of the files that can be read, for the end of the help. */
std::string
DescribeRegionFiles();

/** Checks the number of axes and components. `done` is the participle for the message: "segmented".
 * \exception std::runtime_error unless the image has two axes and one component */
void
RequireRegionImage(const itk::ImageIOBase & io, const std::string & done);

/** Checks the number of components. \exception std::runtime_error unless pixels are single numbers or colours */
void
RequireOneComponent(const itk::ImageIOBase & io);

/** Throws if the extension of a file is unknown, before the work starts. Empty names are ignored. */
void
RequireWriters(const std::vector<std::string> & fileNames);
} // namespace command

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef region_arguments_h
#define region_arguments_h

#include "itkImageIOBase.h"

#include <CLI/CLI.hpp>

#include <string>

// What the parts of the command that find regions have in common in their arguments.

namespace command
{
void
AddLaw(CLI::App & part, std::string & law);
void
AddForegroundThreshold(CLI::App & part, double & threshold);
void
AddValidMask(CLI::App & part, std::string & fileName);

/** Names of the laws that need a parameter: "gamma, rayleigh". */
std::string
LawsWithParameter(const std::string & parameter);

/** "pixels of each region ..." for the end of the help: which files can be read. */
std::string
DescribeRegionFiles();

/** \exception std::runtime_error unless the image has two axes and one component; `done` says what cannot be done with
 * it: "segmented" */
void
RequireRegionImage(const itk::ImageIOBase & io, const std::string & done);

/** \exception std::runtime_error unless pixels are one number or a colour */
void
RequireOneComponent(const itk::ImageIOBase & io);

/** An unknown extension is told before the work; an empty name asks for no file. */
void
RequireWriters(const std::vector<std::string> & fileNames);
} // namespace command

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef files_h
#define files_h

#include "itkImageIOBase.h"
#include "itkProcessObject.h"

#include <functional>
#include <string>

namespace command
{
/** Opens the file and reads what it says about its image, without the pixels.
 * \exception std::runtime_error if it cannot be opened, or is in no known format */
itk::ImageIOBase::Pointer
OpenImage(const std::string & fileName);

/** The writer of the format that the file's extension names. \exception std::runtime_error if there is none */
itk::ImageIOBase::Pointer
MakeWriter(const std::string & fileName);

/** Calls `write`. If it throws, the file that it began is removed. \exception std::runtime_error names the file */
void
WriteOrRemove(const std::string & fileName, const std::function<void()> & write);

/** Gives a writer all that `description`, of an image that was read, says about it. */
void
Describe(itk::ImageIOBase & writer, itk::ImageIOBase & description);

/** The image's axes, without those at the end that have one pixel, but two at least. */
unsigned int
CountAxes(const itk::ImageIOBase & io);

/** "unsigned_char", ... */
std::string
GetComponentName(const itk::ImageIOBase & io);

/** Draws the filter's progress on a terminal; a file or a pipe gets nothing. */
void
ShowProgress(itk::ProcessObject * filter, const std::string & action);

/** Calls `step` and returns the seconds it took. */
double
Seconds(const std::function<void()> & step);
} // namespace command

#endif

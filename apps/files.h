// SPDX-License-Identifier: Apache-2.0
#ifndef files_h
#define files_h

#include "itkImageIOBase.h"
#include "itkProcessObject.h"

#include <functional>
#include <string>

namespace command
{
/** Opens a file and reads its header, without the pixels.
 * \exception std::runtime_error if it cannot be opened, or its format is unknown */
itk::ImageIOBase::Pointer
OpenImage(const std::string & fileName);

/** Returns the writer for the file's extension. \exception std::runtime_error if the extension is unknown */
itk::ImageIOBase::Pointer
MakeWriter(const std::string & fileName);

/** Calls `write`. If it throws, the file that it began is removed. \exception std::runtime_error names the file */
void
WriteOrRemove(const std::string & fileName, const std::function<void()> & write);

/** Copies type, geometry and metadata of an image that was read, `description`, to a writer. */
void
Describe(itk::ImageIOBase & writer, itk::ImageIOBase & description);

/** Returns the number of axes without trailing axes of one pixel, and at least two. */
unsigned int
CountAxes(const itk::ImageIOBase & io);

/** Returns the name of the component type: "unsigned_char", ... */
std::string
GetComponentName(const itk::ImageIOBase & io);

/** Draws the filter's progress if the output is a terminal, not a file or a pipe. */
void
ShowProgress(itk::ProcessObject * filter, const std::string & action);

/** Calls `step` and returns the seconds it took. */
double
Seconds(const std::function<void()> & step);
} // namespace command

#endif

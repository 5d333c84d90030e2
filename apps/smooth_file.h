// SPDX-License-Identifier: Apache-2.0
#ifndef smooth_file_h
#define smooth_file_h

#include "smooth_image.h"

#include <cstddef>

namespace command
{
/** Returns whether the formats of both files can be read and written in parts.
 * \exception std::runtime_error if not and the whole image needs more than `memory` bytes; the message names the format
 * and the memory */
bool
CanSmoothFile(const SmoothJob & job, itk::ImageIOBase & io, size_t memory);

/** Smooths from file to file, a few planes at a time, with `memory` bytes for pixels on the host and on the device.
 * \exception std::runtime_error if a file cannot be read or written, or if that is not enough memory */
SmoothOutcome
SmoothFile(const SmoothJob & job, itk::ImageIOBase & io, size_t memory);
} // namespace command

#endif

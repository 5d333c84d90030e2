// SPDX-License-Identifier: Apache-2.0
#ifndef example_tools_h
#define example_tools_h

#include "itkCommand.h"
#include "itkImageIOFactory.h"
#include "itkProcessObject.h"
#include "itkTimeProbe.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace example
{
constexpr const char * KnownFormats = "PNG, TIFF, MetaImage, NRRD, NIfTI";

constexpr int ExitFailure = 1;
constexpr int ExitWrongArguments = 2;

/** Draws the filter's progress on a terminal; a file or a pipe gets nothing. */
inline void
ShowProgress(itk::ProcessObject * filter, const std::string & action)
{
  if (isatty(STDERR_FILENO) == 0)
  {
    return;
  }
  filter->AddObserver(itk::ProgressEvent(), [filter, action](const itk::EventObject &) {
    constexpr int width = 40;
    const auto    done = std::clamp(static_cast<int>(filter->GetProgress() * width), 0, width);
    std::cerr << "\r" << action << " [" << std::string(done, '#') << std::string(width - done, ' ') << "]"
              << std::flush;
  });
  filter->AddObserver(itk::EndEvent(), [](const itk::EventObject &) { std::cerr << '\n'; });
}

/** Calls `step` and returns the seconds it took. */
template <typename TStep>
double
Seconds(TStep && step)
{
  itk::TimeProbe clock;
  clock.Start();
  step();
  clock.Stop();
  return clock.GetTotal();
}

/** Opens the file and reads what it says about its image, without the pixels. */
inline itk::ImageIOBase::Pointer
Describe(const std::string & fileName)
{
  if (!std::ifstream(fileName))
  {
    throw std::runtime_error("'" + fileName + "' does not exist or cannot be opened");
  }
  const itk::ImageIOBase::Pointer io =
    itk::ImageIOFactory::CreateImageIO(fileName.c_str(), itk::IOFileModeEnum::ReadMode);
  if (io.IsNull())
  {
    throw std::runtime_error("'" + fileName + "' is in none of the known formats (" + KnownFormats + ")");
  }
  io->SetFileName(fileName);
  io->ReadImageInformation();
  return io;
}

/** The writer of the format that the file's extension names. */
inline itk::ImageIOBase::Pointer
MakeWriter(const std::string & fileName)
{
  const itk::ImageIOBase::Pointer io =
    itk::ImageIOFactory::CreateImageIO(fileName.c_str(), itk::IOFileModeEnum::WriteMode);
  if (io.IsNull())
  {
    throw std::runtime_error("the extension of '" + fileName + "' belongs to none of the known formats (" +
                             KnownFormats + ")");
  }
  return io;
}
} // namespace example

#endif

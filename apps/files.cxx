// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include "itkCommand.h"
#include "itkImageFileReader.h" // registers the formats
#include "itkImageIOFactory.h"
#include "itkTimeProbe.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <regex>
#include <stdexcept>
#include <tuple>

#include <sys/stat.h>
#include <unistd.h>

namespace
{
constexpr const char * KnownFormats = "PNG, TIFF, MetaImage, NRRD, NIfTI";

using FileState = std::optional<std::tuple<ino_t, off_t, time_t, long>>;

/** Returns the properties of a regular file that change when it is written, or an empty state if there is no such file.
 */
FileState
GetState(const std::string & fileName)
{
  struct stat found;
  if (stat(fileName.c_str(), &found) != 0 || !S_ISREG(found.st_mode))
  {
    return std::nullopt;
  }
  return std::make_tuple(found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
}

/** Returns an exception's text on one line, without the object that threw it. */
std::string
GetReason(const itk::ExceptionObject & error)
{
  static const std::regex origin("^(ITK ERROR: )?(\\w+\\(0x[0-9a-f]+\\): )?");
  static const std::regex ends("\\s*\n\\s*");
  return std::regex_replace(std::regex_replace(std::string(error.GetDescription()), origin, ""), ends, " ");
}
} // namespace

itk::ImageIOBase::Pointer
command::OpenImage(const std::string & fileName)
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

itk::ImageIOBase::Pointer
command::MakeWriter(const std::string & fileName)
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

void
command::WriteOrRemove(const std::string & fileName, const std::function<void()> & write)
{
  const FileState before = GetState(fileName);
  const auto      removeWhatWasBegun = [&] {
    const FileState now = GetState(fileName);
    if (now && now != before)
    {
      std::remove(fileName.c_str());
    }
  };
  try
  {
    write();
  }
  catch (const itk::ExceptionObject & error)
  {
    removeWhatWasBegun();
    throw std::runtime_error("'" + fileName + "' could not be written: " + GetReason(error));
  }
  catch (...)
  {
    removeWhatWasBegun();
    throw;
  }
}

void
command::Describe(itk::ImageIOBase & writer, itk::ImageIOBase & description)
{
  const unsigned int dimension = description.GetNumberOfDimensions();
  writer.SetNumberOfDimensions(dimension);
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    auto direction = description.GetDirection(axis);
    direction.resize(dimension);
    writer.SetDimensions(axis, description.GetDimensions(axis));
    writer.SetSpacing(axis, description.GetSpacing(axis));
    writer.SetOrigin(axis, description.GetOrigin(axis));
    writer.SetDirection(axis, direction);
  }
  writer.SetPixelType(description.GetPixelType());
  writer.SetComponentType(description.GetComponentType());
  writer.SetNumberOfComponents(description.GetNumberOfComponents());
  if (std::string(writer.GetNameOfClass()) == description.GetNameOfClass())
  {
    writer.SetMetaDataDictionary(description.GetMetaDataDictionary()); // only the same format understands these names
  }
}

unsigned int
command::CountAxes(const itk::ImageIOBase & io)
{
  unsigned int axes = io.GetNumberOfDimensions();
  while (axes > 2 && io.GetDimensions(axes - 1) == 1)
  {
    --axes;
  }
  return axes;
}

std::string
command::GetComponentName(const itk::ImageIOBase & io)
{
  return itk::ImageIOBase::GetComponentTypeAsString(io.GetComponentType());
}

void
command::ShowProgress(itk::ProcessObject * filter, const std::string & action)
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

double
command::Seconds(const std::function<void()> & step)
{
  itk::TimeProbe clock;
  clock.Start();
  step();
  clock.Stop();
  return clock.GetTotal();
}

// SPDX-License-Identifier: Apache-2.0
// What the example programs share and what is no example: arguments, files, and messages.
#ifndef example_h
#define example_h

#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itksys/SystemTools.hxx"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace example
{
using Arguments = std::vector<std::string>;

/** Calls `run` with the program's arguments and returns the exit status: 2 if there are fewer or more arguments than
 * stated or if one is wrong, 1 if something else fails. With --help, prints `usage` instead. */
template <typename TFunction>
int
Main(int argc, char * argv[], const std::string & usage, size_t least, size_t most, TFunction run)
{
  const std::string program = itksys::SystemTools::GetFilenameName(argv[0]);
  const Arguments   arguments(argv + 1, argv + argc);
  if (std::find(arguments.begin(), arguments.end(), "--help") != arguments.end())
  {
    std::cout << "Usage: " << program << ' ' << usage;
    return 0;
  }
  try
  {
    if (arguments.size() < least || arguments.size() > most)
    {
      throw std::invalid_argument("the number of arguments is " + std::to_string(arguments.size()) +
                                  "\nUsage: " + program + ' ' + usage);
    }
    run(arguments);
    return 0;
  }
  catch (const itk::ExceptionObject & error)
  {
    std::string text = error.GetDescription();
    for (const std::string beginning : { "ITK ERROR: ", "): " }) // the latter ends the object's class and address
    {
      const size_t position = text.find(beginning);
      text.erase(0, position == std::string::npos ? 0 : position + beginning.size());
    }
    std::cerr << program << ": " << text << '\n';
    return 1;
  }
  catch (const std::exception & error)
  {
    std::cerr << program << ": " << error.what() << '\n';
    return dynamic_cast<const std::invalid_argument *>(&error) != nullptr ? 2 : 1;
  }
}

/** Returns the number that an argument is. \exception std::invalid_argument with the argument's name if it is none, or
 * is not between the limits */
inline double
ToNumber(const std::string & name, const std::string & text, double least, double most)
{
  char *       end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(least <= number && number <= most))
  {
    std::ostringstream message;
    message << name << " is '" << text << "'; it must be a number from " << least << " to " << most;
    throw std::invalid_argument(message.str());
  }
  return number;
}

/** Returns the number of dimensions of the image in a file. */
inline unsigned int
GetDimension(const std::string & file)
{
  const auto io = itk::ImageIOFactory::CreateImageIO(file.c_str(), itk::IOFileModeEnum::ReadMode);
  if (io.IsNull())
  {
    throw std::runtime_error("'" + file + "' " +
                             (std::ifstream(file) ? "is in none of the known formats" : "cannot be opened"));
  }
  io->SetFileName(file);
  io->ReadImageInformation();
  return io->GetNumberOfDimensions();
}

/** Reads an image. ITK itself reads the first slice of a volume into a two-dimensional image. */
template <typename TImage>
typename TImage::Pointer
ReadImage(const std::string & file)
{
  const unsigned int dimension = GetDimension(file);
  if (dimension != TImage::ImageDimension)
  {
    throw std::runtime_error("'" + file + "' has " + std::to_string(dimension) + " dimensions; it must have " +
                             std::to_string(TImage::ImageDimension));
  }
  return itk::ReadImage<TImage>(file);
}

/** Writes an image. ITK's writer of NIfTI files succeeds even if it cannot open the file or write to it. */
template <typename TImage>
void
WriteImage(TImage * image, const std::string & file)
{
  const auto io = itk::ImageIOFactory::CreateImageIO(file.c_str(), itk::IOFileModeEnum::WriteMode);
  const bool isOpened = io.IsNotNull() && std::ofstream(file); // empties an older file
  if (isOpened)
  {
    itk::WriteImage(image, file);
  }
  if (!isOpened || itksys::SystemTools::FileLength(file) == 0)
  {
    throw std::runtime_error(
      "'" + file + "' could not be written: " +
      (io.IsNull() ? "its extension belongs to none of the known formats" : itksys::SystemTools::GetLastSystemError()));
  }
}
} // namespace example

#endif

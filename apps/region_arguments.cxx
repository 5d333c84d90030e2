// SPDX-License-Identifier: Apache-2.0
#include "region_arguments.h"

#include "arguments.h"
#include "files.h"

#include "itkCudaNoiseLaws.h"

#include <stdexcept>

namespace
{
std::vector<std::string>
GetLawNames()
{
  std::vector<std::string> names;
  for (const auto & law : itk::CudaNoiseLaws())
  {
    names.push_back(command::SnakeCase(law.Name));
  }
  return names;
}

/** Returns the laws with their descriptions: "gamma (intensity of radar images), ...". */
std::string
DescribeLaws()
{
  std::string text;
  for (const auto & law : itk::CudaNoiseLaws())
  {
    text += (text.empty() ? "" : ", ") + command::SnakeCase(law.Name) + " (" + law.Description + ")";
  }
  return text;
}
} // namespace

std::string
command::LawsWithParameter(const std::string & parameter)
{
  std::string text;
  for (const auto & law : itk::CudaNoiseLaws())
  {
    if (law.Parameter == parameter)
    {
      text += (text.empty() ? "" : ", ") + SnakeCase(law.Name);
    }
  }
  return text;
}

void
command::AddLaw(CLI::App & part, std::string & law)
{
  part.add_option("--law", law, "distribution of the pixels of each region: " + DescribeLaws())
    ->required()
    ->transform(OneOf(GetLawNames()))
    ->type_name("NAME");
}

void
command::AddForegroundThreshold(CLI::App & part, double & threshold)
{
  part.add_option("--foreground-threshold",
                  threshold,
                  LawsWithParameter("ForegroundThreshold") +
                    ": pixels above this value are ones, the others zeros; needed unless the image holds 0 and one "
                    "other value");
}

void
command::AddValidMask(CLI::App & part, std::string & fileName)
{
  part.add_option("--valid-mask", fileName, "image of the same size: pixels where it is 0 belong to no region")
    ->type_name("FILE");
}

std::string
command::DescribeRegionFiles()
{
  return "Physical units are those of the image's spacing and origin: millimetres for most medical formats;\n"
         "pixels, with the centre of the first at 0, for files that say nothing about it.\n"
         "Reads and writes PNG, TIFF, MetaImage (.mha, .mhd), NRRD and NIfTI; 2-D, with one value per pixel, of "
         "unsigned\n"
         "char, unsigned short, short or float. Of RGB colours the luminance is taken, and of a 3-D file with a single "
         "slice\n"
         "that slice.";
}

void
command::RequireRegionImage(const itk::ImageIOBase & io, const std::string & done)
{
  const std::string  name = std::string("'") + io.GetFileName() + "'";
  const unsigned int axes = CountAxes(io);
  if (axes != 2)
  {
    throw std::runtime_error(name + " has " + std::to_string(axes) +
                             " dimensions; images of 2, or single slices, can be " + done);
  }
  RequireOneComponent(io);
}

void
command::RequireOneComponent(const itk::ImageIOBase & io)
{
  // Grey images with a palette are also read as colours. ITK's reader converts colours to luminance.
  if (io.GetNumberOfComponents() != 1 && io.GetPixelType() != itk::IOPixelEnum::RGB)
  {
    throw std::runtime_error(std::string("'") + io.GetFileName() + "' has " +
                             std::to_string(io.GetNumberOfComponents()) +
                             " components per pixel; extract one of them first");
  }
}

void
command::RequireWriters(const std::vector<std::string> & fileNames)
{
  for (const std::string & fileName : fileNames)
  {
    if (!fileName.empty())
    {
      MakeWriter(fileName);
    }
  }
}

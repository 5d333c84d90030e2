// SPDX-License-Identifier: Apache-2.0
#ifndef region_image_h
#define region_image_h

#include "files.h"

#include "itkImage.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"

#include <stdexcept>
#include <string>

// Images of the commands segment and partition.

namespace command
{
template <typename TImage>
typename TImage::Pointer
ReadImage(const std::string & fileName)
{
  const auto reader = itk::ImageFileReader<TImage>::New();
  reader->SetFileName(fileName);
  reader->Update();
  return reader->GetOutput();
}

template <typename TImage>
void
WriteImage(const std::string & fileName, const TImage * image)
{
  const auto writer = itk::ImageFileWriter<TImage>::New();
  writer->SetFileName(fileName);
  writer->SetInput(image);
  writer->UseCompressionOn();
  WriteOrRemove(fileName, [&writer] { writer->Update(); });
}

/** Calls `function` with a value of the pixels' type.
 * \exception std::runtime_error for a component type that is not supported */
template <typename TFunction>
auto
CallForPixelType(const itk::ImageIOBase & io, const TFunction & function)
{
  switch (io.GetComponentType())
  {
    case itk::IOComponentEnum::UCHAR:
      return function(static_cast<unsigned char>(0));
    case itk::IOComponentEnum::USHORT:
      return function(static_cast<unsigned short>(0));
    case itk::IOComponentEnum::SHORT:
      return function(static_cast<short>(0));
    case itk::IOComponentEnum::FLOAT:
      return function(0.0f);
    default:
      throw std::runtime_error(
        "pixels of type '" + GetComponentName(io) +
        "' are not supported; convert the image to unsigned char, unsigned short, short or float");
  }
}
} // namespace command

#endif

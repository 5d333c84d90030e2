// SPDX-License-Identifier: Apache-2.0
// Headers and pixels of image files: PNG, MetaImage, NRRD and NIfTI by ITK's ImageIO classes, TIFF by libtiff. The
// Python code of the package chooses the format, compares a file with its header before it is read, and puts a finished
// file in its place.
#include "Interpreter.h"

#include "ImageFiles.h"

#include "itkImageIOBase.h"
#include "itkMetaDataObject.h"
#include "itkMetaImageIO.h"
#include "itkNiftiImageIO.h"
#include "itkNrrdImageIO.h"
#include "itkPNGImageIO.h"

#if __has_include("itk_tiff.h")
#  include "itk_tiff.h"
#else
#  include <tiffio.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cudafilters
{
namespace
{
/** Returns the bytes of a file's name, as the system takes them. */
std::string
ReadPath(PyObject * path)
{
  PyObject * bytes = nullptr;
  if (!PyUnicode_FSConverter(path, &bytes))
  {
    throw PythonError();
  }
  const Reference kept(bytes);
  return PyBytes_AsString(bytes);
}

/** The bytes of an object with the buffer protocol, which lie in one piece. */
class Bytes
{
public:
  Bytes(PyObject * object, int flags)
  {
    if (PyObject_GetBuffer(object, &m_Buffer, flags | PyBUF_C_CONTIGUOUS) != 0)
    {
      throw PythonError();
    }
  }
  ~Bytes() { PyBuffer_Release(&m_Buffer); }

  Bytes(const Bytes &) = delete;
  Bytes &
  operator=(const Bytes &) = delete;

  size_t
  GetSize() const
  {
    return static_cast<size_t>(m_Buffer.len);
  }

  /** Returns the memory. Throws PythonError unless it has that many bytes. */
  char *
  Get(size_t size) const
  {
    if (this->GetSize() != size)
    {
      PyErr_Format(PyExc_ValueError, "the pixels have %zd bytes; the file has %zu", m_Buffer.len, size);
      throw PythonError();
    }
    return static_cast<char *>(m_Buffer.buf);
  }

private:
  Py_buffer m_Buffer{};
};

PyObject *
MakeText(const std::string & text)
{
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
}

/** Adds a new reference to a dictionary. */
void
SetItem(PyObject * dictionary, const std::string & key, PyObject * value)
{
  const Reference kept(value);
  const Reference text(MakeText(key));
  if (PyDict_SetItem(dictionary, text.Get(), value) != 0)
  {
    throw PythonError();
  }
}

template <typename TIterator, typename TMake>
PyObject *
MakeTuple(TIterator begin, TIterator end, const TMake & make)
{
  PyObject * const tuple = PyTuple_New(static_cast<Py_ssize_t>(end - begin));
  if (!tuple)
  {
    throw PythonError();
  }
  for (Py_ssize_t i = 0; begin != end; ++begin, ++i)
  {
    PyTuple_SetItem(tuple, i, make(*begin));
  }
  return tuple;
}

PyObject *
MakeNumbers(const std::vector<double> & numbers)
{
  return MakeTuple(numbers.begin(), numbers.end(), [](double number) { return PyFloat_FromDouble(number); });
}

std::string
ReadText(PyObject * text)
{
  const Reference bytes(PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape"));
  return PyBytes_AsString(bytes.Get());
}

std::vector<double>
ReadNumbers(PyObject * tuple)
{
  std::vector<double> numbers;
  ForEachItem(tuple, [&](PyObject * item) { numbers.push_back(PyFloat_AsDouble(item)); });
  return numbers;
}

std::vector<size_t>
ReadSizes(PyObject * tuple)
{
  std::vector<size_t> sizes;
  ForEachItem(tuple, [&](PyObject * item) { sizes.push_back(PyLong_AsSize_t(item)); });
  return sizes;
}

// ITK's formats

itk::ImageIOBase::Pointer
MakeImageIO(const std::string & format, const std::string & path)
{
  itk::ImageIOBase::Pointer io;
  if (format == "PNG")
  {
    io = itk::PNGImageIO::New();
  }
  else if (format == "MetaImage")
  {
    io = itk::MetaImageIO::New();
  }
  else if (format == "NRRD")
  {
    io = itk::NrrdImageIO::New();
  }
  else if (format == "NIfTI")
  {
    io = itk::NiftiImageIO::New();
  }
  else
  {
    throw std::invalid_argument("the format '" + format + "' is unknown");
  }
  io->SetFileName(path.c_str());
  return io;
}

/** Returns the name of the type of components in NumPy: a letter and a number of bytes. */
std::string
GetTypeName(const itk::ImageIOBase & io)
{
  using Type = itk::IOComponentEnum;
  const auto type = io.GetComponentType();
  const bool isReal = type == Type::FLOAT || type == Type::DOUBLE || type == Type::LDOUBLE;
  const bool isSigned =
    type == Type::CHAR || type == Type::SHORT || type == Type::INT || type == Type::LONG || type == Type::LONGLONG;
  return (isReal ? "f" : (isSigned ? "i" : "u")) + std::to_string(io.GetComponentSize());
}

itk::IOComponentEnum
ReadType(const std::string & name)
{
  using Type = itk::IOComponentEnum;
  static_assert(sizeof(long) == 8);
  constexpr std::pair<const char *, Type> types[] = {
    { "u1", Type::UCHAR }, { "i1", Type::CHAR },  { "u2", Type::USHORT }, { "i2", Type::SHORT }, { "u4", Type::UINT },
    { "i4", Type::INT },   { "u8", Type::ULONG }, { "i8", Type::LONG },   { "f4", Type::FLOAT }, { "f8", Type::DOUBLE }
  };
  for (const auto & [known, type] : types)
  {
    if (name == known)
    {
      return type;
    }
  }
  throw std::invalid_argument("the type '" + name + "' is unknown");
}

/** Returns the entries of a dictionary that are text, numbers or vectors of numbers. */
PyObject *
MakeMetadata(const itk::MetaDataDictionary & dictionary)
{
  PyObject * const metadata = PyDict_New();
  const Reference  kept(metadata);
  for (const std::string & key : dictionary.GetKeys())
  {
    std::string                      text;
    double                           number;
    std::vector<double>              numbers;
    std::vector<std::vector<double>> rows;
    if (itk::ExposeMetaData(dictionary, key, text))
    {
      SetItem(metadata, key, MakeText(text));
    }
    else if (itk::ExposeMetaData(dictionary, key, number))
    {
      SetItem(metadata, key, PyFloat_FromDouble(number));
    }
    else if (itk::ExposeMetaData(dictionary, key, numbers))
    {
      SetItem(metadata, key, MakeNumbers(numbers));
    }
    else if (itk::ExposeMetaData(dictionary, key, rows))
    {
      SetItem(metadata, key, MakeTuple(rows.begin(), rows.end(), MakeNumbers));
    }
  }
  Py_INCREF(metadata);
  return metadata;
}

void
ReadMetadata(PyObject * metadata, itk::MetaDataDictionary & dictionary)
{
  const Reference items(PyDict_Items(metadata));
  const Reference tuple(PyList_AsTuple(items.Get()));
  ForEachItem(tuple.Get(), [&](PyObject * item) {
    const std::string key = ReadText(PyTuple_GetItem(item, 0));
    PyObject * const  value = PyTuple_GetItem(item, 1);
    if (PyUnicode_Check(value))
    {
      itk::EncapsulateMetaData(dictionary, key, ReadText(value));
    }
    else if (PyFloat_Check(value))
    {
      itk::EncapsulateMetaData(dictionary, key, PyFloat_AsDouble(value));
    }
    else if (PyTuple_Check(value) && PyTuple_Size(value) > 0 && PyTuple_Check(PyTuple_GetItem(value, 0)))
    {
      std::vector<std::vector<double>> rows;
      ForEachItem(value, [&](PyObject * row) { rows.push_back(ReadNumbers(row)); });
      itk::EncapsulateMetaData(dictionary, key, rows);
    }
    else if (PyTuple_Check(value))
    {
      itk::EncapsulateMetaData(dictionary, key, ReadNumbers(value));
    }
  });
}

/** Returns the region of the whole image, or of `count` planes from `first` on along the last axis of several pixels.
 */
itk::ImageIORegion
MakeRegion(const itk::ImageIOBase & io, size_t first, size_t count)
{
  const unsigned int dimension = io.GetNumberOfDimensions();
  itk::ImageIORegion region(dimension);
  unsigned int       last = 0;
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    region.SetSize(axis, io.GetDimensions(axis));
    last = io.GetDimensions(axis) > 1 ? axis : last;
  }
  if (count > 0)
  {
    region.SetIndex(last, static_cast<itk::IndexValueType>(first));
    region.SetSize(last, count);
  }
  return region;
}

size_t
GetNumberOfBytes(const itk::ImageIOBase & io, const itk::ImageIORegion & region)
{
  return region.GetNumberOfPixels() * io.GetNumberOfComponents() * io.GetComponentSize();
}

// TIFF

thread_local std::string tiffMessage;

void
KeepError(const char *, const char * format, va_list arguments)
{
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  tiffMessage = text;
}

/** Keeps the warnings that say that a part of the file could not be read. */
void
KeepWarning(const char * module, const char * format, va_list arguments)
{
  if (std::strstr(format, "error"))
  {
    KeepError(module, format, arguments);
  }
}

/** Calls f(), during which libtiff keeps its last message of an error for the thread instead of printing it. Throws an
 * exception with it if f() returns false. */
template <typename TFunction>
void
CallTiff(const TFunction & f)
{
  static const bool isSilent = [] {
    TIFFSetErrorHandler(KeepError);
    TIFFSetWarningHandler(KeepWarning);
    return true;
  }();
  static_cast<void>(isSilent);
  tiffMessage.clear();
  if (!f())
  {
    throw std::runtime_error(tiffMessage.empty() ? "libtiff gives no reason" : tiffMessage);
  }
}

using Tiff = std::unique_ptr<TIFF, void (*)(TIFF *)>;

/** Tags of GeoTIFF and GDAL, which libtiff does not know by itself. */
constexpr struct
{
  uint32_t     Tag;
  TIFFDataType Type;
  const char * Name;
} mapTags[] = { { 33550, TIFF_DOUBLE, "ModelPixelScale" },     { 33922, TIFF_DOUBLE, "ModelTiepoint" },
                { 34264, TIFF_DOUBLE, "ModelTransformation" }, { 34735, TIFF_SHORT, "GeoKeyDirectory" },
                { 34736, TIFF_DOUBLE, "GeoDoubleParams" },     { 34737, TIFF_ASCII, "GeoAsciiParams" },
                { 42112, TIFF_ASCII, "GDAL_METADATA" },        { 42113, TIFF_ASCII, "GDAL_NODATA" } };

/** Lets libtiff write the tags of maps. It finds the ones that a file has by itself. */
void
AddMapTags(TIFF * tiff)
{
  std::vector<TIFFFieldInfo> fields;
  for (const auto & tag : mapTags)
  {
    const bool    isText = tag.Type == TIFF_ASCII;
    TIFFFieldInfo field{};
    field.field_tag = tag.Tag;
    field.field_readcount = field.field_writecount = TIFF_VARIABLE;
    field.field_type = tag.Type;
    field.field_bit = FIELD_CUSTOM;
    field.field_oktochange = 1;
    field.field_passcount = isText ? 0 : 1;
    field.field_name = const_cast<char *>(tag.Name);
    fields.push_back(field);
  }
  TIFFMergeFieldInfo(tiff, fields.data(), static_cast<uint32_t>(fields.size()));
}

/** Sets entries of a dictionary to the tags of the current page that a single number or text describes. */
void
ReadTags(TIFF * tiff, PyObject * page)
{
  constexpr std::pair<const char *, uint32_t> numbers[] = {
    { "bits", TIFFTAG_BITSPERSAMPLE },         { "samples", TIFFTAG_SAMPLESPERPIXEL },
    { "sample_format", TIFFTAG_SAMPLEFORMAT }, { "planes", TIFFTAG_PLANARCONFIG },
    { "compression", TIFFTAG_COMPRESSION },    { "photometric", TIFFTAG_PHOTOMETRIC },
    { "orientation", TIFFTAG_ORIENTATION },    { "resolution_unit", TIFFTAG_RESOLUTIONUNIT }
  };
  for (const auto & [name, tag] : numbers)
  {
    uint16_t number = 0;
    TIFFGetFieldDefaulted(tiff, tag, &number);
    SetItem(page, name, PyLong_FromLong(number));
  }
  // ITK's libtiff returns tiles of zeros for a compression that it was built without.
  uint16_t compression = 0;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  SetItem(page, "is_decoded", PyBool_FromLong(TIFFIsCODECConfigured(compression)));
  uint32_t width = 0, height = 0, kind = 0;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SUBFILETYPE, &kind);
  SetItem(page, "width", PyLong_FromUnsignedLong(width));
  SetItem(page, "height", PyLong_FromUnsignedLong(height));
  SetItem(page, "kind", PyLong_FromUnsignedLong(kind));
  SetItem(page, "offset", PyLong_FromUnsignedLongLong(TIFFCurrentDirOffset(tiff)));
  float resolution[2] = { 0.0F, 0.0F };
  TIFFGetField(tiff, TIFFTAG_XRESOLUTION, resolution);
  TIFFGetField(tiff, TIFFTAG_YRESOLUTION, resolution + 1);
  SetItem(page, "resolution", MakeNumbers({ resolution[0], resolution[1] }));
  if (const char * text = nullptr; TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text) && text)
  {
    SetItem(page, "description", MakeText(text));
  }
}

/** Returns the elements of a tag of the current page and their number, or nullptr if the page does not have it.
 *
 * A tag that libtiff does not know has the type and the number of elements that the file states. GDAL describes the
 * tags of maps to the libtiff that both use, in another way, once it has opened a file in the same process. */
const void *
FindMapTag(TIFF * tiff, uint32_t tag, TIFFDataType type, uint32_t & count)
{
  const TIFFField * const field = TIFFFindField(tiff, tag, TIFF_ANY);
  if (!field || TIFFFieldDataType(field) != type)
  {
    return nullptr;
  }
  void *   data = nullptr;
  uint16_t shortCount = 0;
  if (!TIFFFieldPassCount(field))
  {
    const bool isText = type == TIFF_ASCII && TIFFGetField(tiff, tag, &data) && data;
    count = isText ? static_cast<uint32_t>(std::strlen(static_cast<const char *>(data))) : 0;
    return isText ? data : nullptr;
  }
  switch (TIFFFieldReadCount(field))
  {
    case TIFF_VARIABLE2:
      return TIFFGetField(tiff, tag, &count, &data) ? data : nullptr;
    case TIFF_VARIABLE:
      data = TIFFGetField(tiff, tag, &shortCount, &data) ? data : nullptr;
      count = shortCount;
      return data;
    default:
      return nullptr;
  }
}

/** Sets entries to the palette and to the tags of maps. */
void
ReadArrays(TIFF * tiff, PyObject * page)
{
  uint16_t   bits = 0, photometric = 0;
  uint16_t * colours[3];
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  if (TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric) && photometric == PHOTOMETRIC_PALETTE && bits <= 16 &&
      TIFFGetField(tiff, TIFFTAG_COLORMAP, colours, colours + 1, colours + 2))
  {
    SetItem(page, "palette", MakeTuple(colours, colours + 3, [&](const uint16_t * colour) {
              return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(colour),
                                               static_cast<Py_ssize_t>(sizeof(uint16_t) << bits));
            }));
  }
  for (const auto & tag : mapTags)
  {
    uint32_t           count = 0;
    const void * const data = FindMapTag(tiff, tag.Tag, tag.Type, count);
    if (!data)
    {
      continue;
    }
    if (tag.Type == TIFF_ASCII)
    {
      const auto * const text = static_cast<const char *>(data);
      SetItem(page, tag.Name, MakeText(std::string(text, std::find(text, text + count, '\0'))));
    }
    else if (tag.Type == TIFF_SHORT)
    {
      const auto * const numbers = static_cast<const uint16_t *>(data);
      SetItem(page, tag.Name, MakeNumbers(std::vector<double>(numbers, numbers + count)));
    }
    else
    {
      const auto * const numbers = static_cast<const double *>(data);
      SetItem(page, tag.Name, MakeNumbers(std::vector<double>(numbers, numbers + count)));
    }
  }
}

/** Reads the tiles of a plane of samples into rows of `rowSize` bytes. */
bool
ReadTiles(TIFF * tiff, uint16_t sample, uint32_t width, uint32_t height, size_t rowSize, char * rows)
{
  uint32_t tileWidth = 0, tileHeight = 0;
  TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &tileWidth);
  TIFFGetField(tiff, TIFFTAG_TILELENGTH, &tileHeight);
  const auto        tileRow = static_cast<size_t>(TIFFTileRowSize(tiff));
  std::vector<char> tile(static_cast<size_t>(TIFFTileSize(tiff)));
  if (tileWidth == 0 || tileHeight == 0 || tile.size() < tileRow * tileHeight)
  {
    tiffMessage = "its tiles have no size";
    return false;
  }
  for (uint32_t y = 0; y < height; y += std::min(tileHeight, height - y))
  {
    size_t begin = 0;
    for (uint32_t x = 0; x < width; x += std::min(tileWidth, width - x), begin += tileRow)
    {
      if (TIFFReadTile(tiff, tile.data(), x, y, 0, sample) < 0)
      {
        return false;
      }
      for (uint32_t row = 0; row < std::min(tileHeight, height - y); ++row)
      {
        std::memcpy(
          rows + (y + row) * rowSize + begin, tile.data() + row * tileRow, std::min(tileRow, rowSize - begin));
      }
    }
  }
  return true;
}

/** Reads the current page. Its planes of samples follow each other if the file holds them so. Returns the end of what
 * was written, or nullptr. */
char *
ReadPage(TIFF * tiff, char * pixels, const char * end)
{
  uint32_t width = 0, height = 0;
  uint16_t samples = 1, planes = PLANARCONFIG_CONTIG;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planes);
  uint16_t compression = 0, photometric = 0;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  if (compression == COMPRESSION_JPEG && TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric) &&
      photometric == PHOTOMETRIC_YCBCR)
  {
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  const auto     rowSize = static_cast<size_t>(TIFFScanlineSize(tiff));
  const uint16_t count = planes == PLANARCONFIG_SEPARATE ? samples : uint16_t{ 1 };
  for (uint16_t sample = 0; sample < count; ++sample)
  {
    if (static_cast<size_t>(end - pixels) < rowSize * height)
    {
      tiffMessage = "a page has more pixels than the first one";
      return nullptr;
    }
    if (TIFFIsTiled(tiff))
    {
      if (!ReadTiles(tiff, sample, width, height, rowSize, pixels))
      {
        return nullptr;
      }
      pixels += rowSize * height;
      continue;
    }
    for (uint32_t y = 0; y < height; ++y, pixels += rowSize)
    {
      if (TIFFReadScanline(tiff, pixels, y, sample) < 0)
      {
        return nullptr;
      }
    }
  }
  return pixels;
}

/** What the pages of a file have in common. */
struct TiffFormat
{
  unsigned int        Width, Height, Pages, Samples, Bits, SampleFormat;
  int                 IsRgb, IsCompressed;
  double              Resolution[2];
  std::string         Description;
  std::vector<double> Numbers[std::size(mapTags)];
  std::string         Texts[std::size(mapTags)];
};

bool
WritePage(TIFF * tiff, const TiffFormat & format, size_t rowSize, const char * pixels)
{
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, format.Width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, format.Height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, format.Bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, format.Samples);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format.SampleFormat);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, format.IsRgb ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, format.IsCompressed ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE);
  const unsigned int extra = format.Samples - (format.IsRgb ? 3 : 1);
  if (extra > 0)
  {
    std::vector<uint16_t> kinds(extra, EXTRASAMPLE_UNSPECIFIED);
    kinds[0] = format.IsRgb ? EXTRASAMPLE_UNASSALPHA : EXTRASAMPLE_UNSPECIFIED;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, extra, kinds.data());
  }
  if (format.Resolution[0] > 0.0)
  {
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, format.Resolution[0]);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, format.Resolution[1]);
  }
  if (!format.Description.empty())
  {
    TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, format.Description.c_str());
  }
  for (size_t i = 0; i < std::size(mapTags); ++i)
  {
    const auto & numbers = format.Numbers[i];
    if (!format.Texts[i].empty())
    {
      TIFFSetField(tiff, mapTags[i].Tag, format.Texts[i].c_str());
    }
    else if (!numbers.empty() && mapTags[i].Type == TIFF_SHORT)
    {
      const std::vector<uint16_t> shorts(numbers.begin(), numbers.end());
      TIFFSetField(tiff, mapTags[i].Tag, static_cast<int>(shorts.size()), shorts.data());
    }
    else if (!numbers.empty())
    {
      TIFFSetField(tiff, mapTags[i].Tag, static_cast<int>(numbers.size()), numbers.data());
    }
  }
  const uint32_t rows = std::max(TIFFDefaultStripSize(tiff, 0), uint32_t{ 1 });
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows);
  for (uint32_t y = 0, strip = 0; y < format.Height; y += rows, ++strip)
  {
    const size_t      size = rowSize * std::min(rows, format.Height - y);
    std::vector<char> copy(pixels + y * rowSize, pixels + y * rowSize + size); // libtiff may change what it writes
    if (TIFFWriteEncodedStrip(tiff, strip, copy.data(), static_cast<tmsize_t>(size)) < 0)
    {
      return false;
    }
  }
  return TIFFWriteDirectory(tiff) != 0;
}
// Functions of the module

constexpr const char * ReadImageHeaderDocumentation =
  "read_image_header(path, format)\n--\n\n"
  "Returns what the header of a file says, as a dictionary. The format is PNG, MetaImage, NRRD or NIfTI.";

PyObject *
ReadImageHeader(PyObject *, PyObject * arguments)
{
  return CatchAll<PyObject *>(nullptr, [&] {
    PyObject *   path;
    const char * format;
    ParseTuple(arguments, "Os:read_image_header", &path, &format);
    const auto io = MakeImageIO(format, ReadPath(path));
    io->ReadImageInformation();
    std::vector<size_t>              axes(io->GetNumberOfDimensions());
    std::vector<double>              spacing, origin;
    std::vector<std::vector<double>> direction;
    for (unsigned int axis = 0; axis < axes.size(); ++axis)
    {
      axes[axis] = io->GetDimensions(axis);
      spacing.push_back(io->GetSpacing(axis));
      origin.push_back(io->GetOrigin(axis));
      direction.push_back(io->GetDirection(axis));
    }
    PyObject * const header = PyDict_New();
    const Reference  kept(header);
    SetItem(header, "size", MakeTuple(axes.begin(), axes.end(), PyLong_FromSize_t));
    SetItem(header, "spacing", MakeNumbers(spacing));
    SetItem(header, "origin", MakeNumbers(origin));
    SetItem(header, "direction", MakeTuple(direction.begin(), direction.end(), MakeNumbers));
    SetItem(header, "type", MakeText(GetTypeName(*io)));
    SetItem(header, "components", PyLong_FromUnsignedLong(io->GetNumberOfComponents()));
    SetItem(header, "pixel_type", MakeText(itk::ImageIOBase::GetPixelTypeAsString(io->GetPixelType())));
    SetItem(header, "metadata", MakeMetadata(io->GetMetaDataDictionary()));
    const itk::ImageIORegion plane = MakeRegion(*io, 0, 1);
    io->SetUseStreamedReading(true);
    const bool isRead = io->GenerateStreamableReadRegionFromRequestedRegion(plane).GetSize() == plane.GetSize();
    SetItem(header, "reads_parts", PyBool_FromLong(isRead));
    Py_INCREF(header);
    return header;
  });
}

constexpr const char * ReadImagePixelsDocumentation =
  "read_image_pixels(path, format, pixels, first, count)\n--\n\n"
  "Reads `count` planes of the last axis of several pixels, from `first` on; 0 planes: all. `pixels` is contiguous.";

PyObject *
ReadImagePixels(PyObject *, PyObject * arguments)
{
  return CatchAll<PyObject *>(nullptr, [&] {
    PyObject *   path;
    const char * format;
    PyObject *   pixels;
    Py_ssize_t   first, count;
    ParseTuple(arguments, "OsOnn:read_image_pixels", &path, &format, &pixels, &first, &count);
    const Bytes bytes(pixels, PyBUF_WRITABLE);
    const auto  io = MakeImageIO(format, ReadPath(path));
    io->ReadImageInformation();
    io->SetUseStreamedReading(count > 0);
    const auto region = MakeRegion(*io, static_cast<size_t>(first), static_cast<size_t>(count));
    io->SetIORegion(region);
    char * const target = bytes.Get(GetNumberOfBytes(*io, region));
    {
      const WithoutLock without;
      io->Read(target);
    }
    Py_RETURN_NONE;
  });
}

constexpr const char * WriteImageDocumentation =
  "write_image(path, format, (size, spacing, origin, direction, type, components, pixel_type, metadata), pixels, "
  "planes, "
  "compress)\n--\n\n"
  "Writes a file. `planes` is the number of the planes in `pixels` from the first one on, or 0 if these are all.";

PyObject *
WriteImage(PyObject *, PyObject * arguments)
{
  return CatchAll<PyObject *>(nullptr, [&] {
    PyObject *   path;
    const char * format;
    PyObject *   header;
    PyObject *   pixels;
    Py_ssize_t   planes;
    int          isCompressed;
    ParseTuple(
      arguments, "OsO!Onp:write_image", &path, &format, &PyTuple_Type, &header, &pixels, &planes, &isCompressed);
    PyObject *   size;
    PyObject *   spacing;
    PyObject *   origin;
    PyObject *   direction;
    const char * type;
    unsigned int components;
    const char * pixelType;
    PyObject *   metadata;
    ParseTuple(header, "OOOOsIsO", &size, &spacing, &origin, &direction, &type, &components, &pixelType, &metadata);
    const Bytes                      bytes(pixels, 0);
    const auto                       io = MakeImageIO(format, ReadPath(path));
    const auto                       sizes = ReadSizes(size);
    const auto                       spacings = ReadNumbers(spacing);
    const auto                       origins = ReadNumbers(origin);
    std::vector<std::vector<double>> columns;
    ForEachItem(direction, [&](PyObject * column) { columns.push_back(ReadNumbers(column)); });
    io->SetNumberOfDimensions(static_cast<unsigned int>(sizes.size()));
    for (unsigned int axis = 0; axis < sizes.size(); ++axis)
    {
      io->SetDimensions(axis, sizes[axis]);
      io->SetSpacing(axis, spacings.at(axis));
      io->SetOrigin(axis, origins.at(axis));
      io->SetDirection(axis, columns.at(axis));
    }
    io->SetComponentType(ReadType(type));
    io->SetNumberOfComponents(components);
    io->SetPixelType(itk::ImageIOBase::GetPixelTypeFromString(pixelType));
    io->SetUseCompression(isCompressed != 0);
    io->SetUseStreamedWriting(planes > 0);
    ReadMetadata(metadata, io->GetMetaDataDictionary());
    const auto region = MakeRegion(*io, 0, static_cast<size_t>(planes));
    io->SetIORegion(region);
    const char * const source = bytes.Get(GetNumberOfBytes(*io, region));
    {
      const WithoutLock without;
      io->WriteImageInformation();
      io->Write(source);
    }
    Py_RETURN_NONE;
  });
}

constexpr const char * ReadTiffPagesDocumentation = "read_tiff_pages(path)\n--\n\n"
                                                    "Returns a dictionary of tags for each page of a TIFF file.";

PyObject *
ReadTiffPages(PyObject *, PyObject * argument)
{
  return CatchAll<PyObject *>(nullptr, [&] {
    const std::string path = ReadPath(argument);
    PyObject * const  pages = PyList_New(0);
    const Reference   kept(pages);
    CallTiff([&] {
      const Tiff tiff(TIFFOpen(path.c_str(), "r"), TIFFClose);
      if (!tiff)
      {
        return false;
      }
      do
      {
        PyObject * const page = PyDict_New();
        const Reference  keptPage(page);
        ReadTags(tiff.get(), page);
        ReadArrays(tiff.get(), page);
        if (PyList_Append(pages, page) != 0)
        {
          throw PythonError();
        }
      } while (TIFFReadDirectory(tiff.get()));
      return tiffMessage.empty();
    });
    Py_INCREF(pages);
    return pages;
  });
}

constexpr const char * ReadTiffPixelsDocumentation =
  "read_tiff_pixels(path, offsets, pixels)\n--\n\n"
  "Reads the pages of a TIFF file whose tags are at these offsets. Rows begin at whole bytes.";

PyObject *
ReadTiffPixels(PyObject *, PyObject * arguments)
{
  return CatchAll<PyObject *>(nullptr, [&] {
    PyObject * path;
    PyObject * offsets;
    PyObject * pixels;
    ParseTuple(arguments, "OO!O:read_tiff_pixels", &path, &PyTuple_Type, &offsets, &pixels);
    const std::string name = ReadPath(path);
    const auto        places = ReadSizes(offsets);
    const Bytes       bytes(pixels, PyBUF_WRITABLE);
    char *            target = bytes.Get(bytes.GetSize());
    const char *      end = target + bytes.GetSize();
    {
      const WithoutLock without;
      CallTiff([&] {
        const Tiff tiff(TIFFOpen(name.c_str(), "r"), TIFFClose);
        for (const size_t place : places)
        {
          if (!tiff || !TIFFSetSubDirectory(tiff.get(), place))
          {
            return false;
          }
          target = ReadPage(tiff.get(), target, end);
          if (!target)
          {
            return false;
          }
        }
        return true;
      });
    }
    if (target != end)
    {
      throw std::runtime_error("a page has fewer pixels than the first one");
    }
    Py_RETURN_NONE;
  });
}

constexpr const char * WriteTiffDocumentation =
  "write_tiff(path, (width, height, pages, samples, bits, sample_format, is_rgb, compress, resolution, "
  "description, tags), pixels)\n--\n\n"
  "Writes a TIFF file, as BigTIFF if it needs more than 4 GB. The resolution is in pixels per centimetre, (0, 0) for "
  "none; "
  "`tags` holds\nthe tags of GeoTIFF and GDAL by their names.";

PyObject *
WriteTiff(PyObject *, PyObject * arguments)
{
  return CatchAll<PyObject *>(nullptr, [&] {
    PyObject *   path;
    PyObject *   header;
    PyObject *   pixels;
    TiffFormat   format;
    const char * description;
    PyObject *   tags;
    ParseTuple(arguments, "OO!O:write_tiff", &path, &PyTuple_Type, &header, &pixels);
    ParseTuple(header,
               "IIIIIIpp(dd)sO!",
               &format.Width,
               &format.Height,
               &format.Pages,
               &format.Samples,
               &format.Bits,
               &format.SampleFormat,
               &format.IsRgb,
               &format.IsCompressed,
               format.Resolution,
               format.Resolution + 1,
               &description,
               &PyDict_Type,
               &tags);
    format.Description = description;
    for (size_t i = 0; i < std::size(mapTags); ++i)
    {
      if (PyObject * const value = PyDict_GetItemString(tags, mapTags[i].Name))
      {
        if (PyUnicode_Check(value))
        {
          format.Texts[i] = ReadText(value);
        }
        else
        {
          format.Numbers[i] = ReadNumbers(value);
        }
      }
    }
    const std::string  name = ReadPath(path);
    const Bytes        bytes(pixels, 0);
    const size_t       rowSize = size_t{ format.Width } * format.Samples * (format.Bits / 8);
    const size_t       pageSize = rowSize * format.Height;
    const char * const source = bytes.Get(pageSize * format.Pages);
    {
      const WithoutLock without;
      constexpr size_t  largest = size_t{ 4000 } << 20;
      CallTiff([&] {
        const Tiff tiff(TIFFOpen(name.c_str(), pageSize * format.Pages > largest ? "w8" : "w"), TIFFClose);
        for (size_t page = 0; page < format.Pages; ++page)
        {
          if (tiff)
          {
            AddMapTags(tiff.get());
          }
          if (!tiff || !WritePage(tiff.get(), format, rowSize, source + page * pageSize))
          {
            return false;
          }
        }
        return TIFFFlush(tiff.get()) != 0;
      });
    }
    Py_RETURN_NONE;
  });
}
} // namespace

PyMethodDef ImageFileMethods[] = { { "read_image_header", ReadImageHeader, METH_VARARGS, ReadImageHeaderDocumentation },
                                   { "read_image_pixels", ReadImagePixels, METH_VARARGS, ReadImagePixelsDocumentation },
                                   { "read_tiff_pages", ReadTiffPages, METH_O, ReadTiffPagesDocumentation },
                                   { "read_tiff_pixels", ReadTiffPixels, METH_VARARGS, ReadTiffPixelsDocumentation },
                                   { "write_image", WriteImage, METH_VARARGS, WriteImageDocumentation },
                                   { "write_tiff", WriteTiff, METH_VARARGS, WriteTiffDocumentation },
                                   { nullptr, nullptr, 0, nullptr } };
} // namespace cudafilters

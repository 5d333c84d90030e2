// SPDX-License-Identifier: Apache-2.0
#include "segmentation_picture.h"

#include "itkImage.h"
#include "itkImageFileWriter.h"
#include "itkRGBPixel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace
{
constexpr size_t SmallestLongSide = 1000;
constexpr size_t LargestLongSide = 1600;

struct Place
{
  double X;
  double Y;
};

struct Box
{
  double X;
  double Y;
  double Width;
  double Height;
};

struct Colour
{
  unsigned char Red;
  unsigned char Green;
  unsigned char Blue;
  double        Opacity;
};

constexpr Colour Shadow{ 0, 0, 0, 0.55 };
constexpr Colour Boundary{ 255, 150, 30, 1.0 };
constexpr Colour Node{ 255, 255, 255, 1.0 };
constexpr Colour PanelColour{ 16, 20, 26, 0.86 };
constexpr Colour Curve{ 110, 200, 255, 1.0 };
constexpr Colour Grid{ 255, 255, 255, 0.22 };
constexpr Colour Ink{ 235, 238, 242, 1.0 };

/** What can be drawn, in pixels of the picture, whose corners are the whole numbers. */
class Canvas
{
public:
  virtual ~Canvas() = default;
  virtual void
  FillBox(const Box & box, Colour colour) = 0;
  virtual void
  DrawLine(const std::vector<Place> & line, bool closed, double width, Colour colour) = 0;
  virtual void
  DrawDisc(Place centre, double radius, Colour colour) = 0;
  /** `place` is the left end of the text on its base line; capitals are `height` high. */
  virtual void
  DrawText(Place place, double height, const std::string & text, Colour colour) = 0;
  virtual void
  Write(const std::string & fileName) = 0;
};

/** Strokes of the characters used: digits x and y of points in a box of 4 x 8, with the base line at 2. */
const char *
Strokes(char character)
{
  static const std::pair<char, const char *> table[] = {
    { '0', "12 03 07 18 38 47 43 32 12" },
    { '1', "17 28 22;12 32" },
    { '2', "07 18 38 47 46 02 42" },
    { '3', "07 18 38 47 46 35 15;35 44 43 32 12 03" },
    { '4', "32 38 04 44" },
    { '5', "48 08 05 35 44 43 32 12 03" },
    { '6', "38 18 07 03 12 32 43 44 35 05" },
    { '7', "08 48 12" },
    { '8', "15 06 07 18 38 47 46 35 15 04 03 12 32 43 44 35" },
    { '9', "45 15 06 07 18 38 47 43 32 12" },
    { '.', "12 12" },
    { ',', "13 12 01" },
    { '-', "05 45" },
    { ':', "12 12;16 16" },
    { 'J', "48 43 32 12 03" },
    { 'a', "16 36 45 42;44 14 03 12 32 43" },
    { 'b', "08 02;05 16 36 45 43 32 12 03" },
    { 'c', "45 36 16 05 03 12 32 43" },
    { 'd', "48 42;45 36 16 05 03 12 32 43" },
    { 'e', "04 44 45 36 16 05 03 12 32 43" },
    { 'f', "38 28 17 12;06 26" },
    { 'g', "46 41 30 10 01;45 36 16 05 03 12 32 43" },
    { 'i', "16 12;18 18" },
    { 'n', "06 02;05 16 36 45 42" },
    { 'o', "16 05 03 12 32 43 45 36 16" },
    { 'r', "06 02;04 26 36" },
    { 's', "45 36 16 05 14 34 43 32 12 03" },
    { 't', "18 13 22 32;06 36" },
    { 'u', "06 03 12 32 43;46 42" },
    { 'y', "06 22;46 10 00" },
  };
  for (const auto & [known, strokes] : table)
  {
    if (known == character)
    {
      return strokes;
    }
  }
  return "";
}

double
Distance(Place p, Place a, Place b)
{
  const double dx = b.X - a.X;
  const double dy = b.Y - a.Y;
  const double square = dx * dx + dy * dy;
  const double t = square > 0.0 ? std::clamp(((p.X - a.X) * dx + (p.Y - a.Y) * dy) / square, 0.0, 1.0) : 0.0;
  return std::hypot(p.X - a.X - t * dx, p.Y - a.Y - t * dy);
}

/** Pixels; the edges of what is drawn are anti-aliased by the distance of pixel centres from them. */
class PixelCanvas : public Canvas
{
public:
  using ImageType = itk::Image<itk::RGBPixel<unsigned char>, 2>;

  PixelCanvas(const example::Picture & picture, int height)
    : m_Width(picture.Width)
    , m_Height(height)
    , m_Image(ImageType::New())
    , m_Coverage(static_cast<size_t>(picture.Width) * static_cast<size_t>(height), 0.0F)
  {
    m_Image->SetRegions(
      ImageType::SizeType{ { static_cast<itk::SizeValueType>(m_Width), static_cast<itk::SizeValueType>(m_Height) } });
    m_Image->Allocate();
    m_Image->FillBuffer(itk::RGBPixel<unsigned char>(static_cast<unsigned char>(0)));
    std::transform(picture.Grey.begin(), picture.Grey.end(), m_Image->GetBufferPointer(), [](unsigned char grey) {
      return itk::RGBPixel<unsigned char>(grey);
    });
  }

  void
  FillBox(const Box & box, Colour colour) override
  {
    this->Blend(box, colour, [&box](Place p) {
      return p.X >= box.X && p.X < box.X + box.Width && p.Y >= box.Y && p.Y < box.Y + box.Height ? 1.0 : 0.0;
    });
  }

  /** The whole line is blended at once: parts that overlap at nodes must not become darker. */
  void
  DrawLine(const std::vector<Place> & line, bool closed, double width, Colour colour) override
  {
    if (line.empty())
    {
      return;
    }
    const auto [left, right] =
      std::minmax_element(line.begin(), line.end(), [](const Place & a, const Place & b) { return a.X < b.X; });
    const auto [top, bottom] =
      std::minmax_element(line.begin(), line.end(), [](const Place & a, const Place & b) { return a.Y < b.Y; });
    const size_t number = closed ? line.size() : line.size() - 1;
    for (size_t i = 0; i < number; ++i)
    {
      const Place & a = line[i];
      const Place & b = line[(i + 1) % line.size()];
      this->ForPixels(Around(a, b, width), [&](size_t index, Place p) {
        const double covered = std::clamp(width / 2 + 0.5 - Distance(p, a, b), 0.0, 1.0);
        m_Coverage[index] = std::max(m_Coverage[index], static_cast<float>(covered));
      });
    }
    this->ForPixels(Around({ left->X, top->Y }, { right->X, bottom->Y }, width), [&](size_t index, Place) {
      if (m_Coverage[index] > 0.0F)
      {
        this->BlendPixel(index, colour, m_Coverage[index]);
        m_Coverage[index] = 0.0F;
      }
    });
  }

  void
  DrawDisc(Place centre, double radius, Colour colour) override
  {
    this->Blend(Around(centre, centre, 2 * radius), colour, [&](Place p) {
      return std::clamp(radius + 0.5 - std::hypot(p.X - centre.X, p.Y - centre.Y), 0.0, 1.0);
    });
  }

  void
  DrawText(Place place, double height, const std::string & text, Colour colour) override
  {
    const double unit = height / 6.0;
    for (const char character : text)
    {
      double             right = character == ' ' ? 2.0 : 0.0;
      std::istringstream strokes(Strokes(character));
      for (std::string stroke; std::getline(strokes, stroke, ';');)
      {
        std::istringstream points(stroke);
        std::vector<Place> line;
        for (std::string point; points >> point;)
        {
          line.push_back({ place.X + (point[0] - '0') * unit, place.Y - (point[1] - '2') * unit });
          right = std::max(right, static_cast<double>(point[0] - '0'));
        }
        this->DrawLine(line, false, height / 7.5, colour);
      }
      place.X += (right + 1.8) * unit;
    }
  }

  void
  Write(const std::string & fileName) override
  {
    const auto writer = itk::ImageFileWriter<ImageType>::New();
    writer->SetFileName(fileName);
    writer->SetInput(m_Image);
    writer->Update();
  }

private:
  int                m_Width;
  int                m_Height;
  ImageType::Pointer m_Image;
  std::vector<float> m_Coverage; // of the line being drawn; else 0

  static Box
  Around(Place a, Place b, double width)
  {
    const double margin = width / 2 + 1.0;
    return { std::min(a.X, b.X) - margin,
             std::min(a.Y, b.Y) - margin,
             std::abs(a.X - b.X) + 2 * margin,
             std::abs(a.Y - b.Y) + 2 * margin };
  }

  template <typename TFunction>
  void
  ForPixels(const Box & box, const TFunction & function)
  {
    const int left = std::max(0, static_cast<int>(std::floor(box.X)));
    const int top = std::max(0, static_cast<int>(std::floor(box.Y)));
    const int right = std::min(m_Width, static_cast<int>(std::ceil(box.X + box.Width)));
    const int bottom = std::min(m_Height, static_cast<int>(std::ceil(box.Y + box.Height)));
    for (int y = top; y < bottom; ++y)
    {
      for (int x = left; x < right; ++x)
      {
        function(static_cast<size_t>(y) * m_Width + x, Place{ x + 0.5, y + 0.5 });
      }
    }
  }

  template <typename TFunction>
  void
  Blend(const Box & box, Colour colour, const TFunction & coverage)
  {
    this->ForPixels(box, [&](size_t index, Place p) { this->BlendPixel(index, colour, coverage(p)); });
  }

  void
  BlendPixel(size_t index, Colour colour, double coverage)
  {
    auto &              pixel = m_Image->GetBufferPointer()[index];
    const unsigned char target[] = { colour.Red, colour.Green, colour.Blue };
    for (unsigned int i = 0; i < 3; ++i)
    {
      const double blended = pixel[i] + (target[i] - pixel[i]) * coverage * colour.Opacity;
      pixel[i] = static_cast<unsigned char>(std::lround(blended));
    }
  }
};

std::string
EncodeBase64(const std::string & bytes)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string       text;
  for (size_t i = 0; i < bytes.size(); i += 3)
  {
    const size_t number = std::min<size_t>(3, bytes.size() - i);
    unsigned int bits = 0;
    for (size_t j = 0; j < 3; ++j)
    {
      bits = bits << 8 | (j < number ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j)
    {
      text += j <= number ? digits[bits >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

/** A new folder among the system's temporary files, which no other user can write to; removed with this object. */
class TemporaryFolder
{
public:
  TemporaryFolder()
  {
    std::error_code error;
    m_Path = (std::filesystem::temp_directory_path(error) / "segment_region-XXXXXX").string();
    if (error)
    {
      throw std::runtime_error("TMPDIR must name a folder for temporary files: " + error.message());
    }
    if (mkdtemp(m_Path.data()) == nullptr)
    {
      throw std::runtime_error("no temporary folder '" + m_Path + "' could be made: " + std::strerror(errno));
    }
  }
  ~TemporaryFolder()
  {
    std::error_code ignored;
    std::filesystem::remove_all(m_Path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &
  operator=(const TemporaryFolder &) = delete;

  const std::string &
  GetPath() const
  {
    return m_Path;
  }

private:
  std::string m_Path;
};

/** The grey picture as the bytes of a PNG file, which ITK writes only to disk. */
std::string
EncodePng(const example::Picture & picture)
{
  using ImageType = itk::Image<unsigned char, 2>;
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{
    { static_cast<itk::SizeValueType>(picture.Width), static_cast<itk::SizeValueType>(picture.Height) } });
  image->Allocate();
  std::copy(picture.Grey.begin(), picture.Grey.end(), image->GetBufferPointer());
  const auto            writer = itk::ImageFileWriter<ImageType>::New();
  const TemporaryFolder folder;
  const std::string     fileName = folder.GetPath() + "/picture.png";
  writer->SetFileName(fileName);
  writer->SetInput(image);
  writer->UseCompressionOn();
  writer->Update();
  std::ifstream file(fileName, std::ios::binary);
  return { std::istreambuf_iterator<char>(file), {} };
}

class SvgCanvas : public Canvas
{
public:
  SvgCanvas(const example::Picture & picture, int height)
  {
    m_Text << "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"0 0 "
           << picture.Width << ' ' << height << "\" width=\"" << picture.Width << "\" height=\"" << height << "\">\n"
           << "<rect width=\"100%\" height=\"100%\"/>\n"
           << "<image width=\"" << picture.Width << "\" height=\"" << picture.Height
           << "\" style=\"image-rendering:pixelated\" xlink:href=\"data:image/png;base64,"
           << EncodeBase64(EncodePng(picture)) << "\"/>\n";
  }

  void
  FillBox(const Box & box, Colour colour) override
  {
    m_Text << "<rect x=\"" << box.X << "\" y=\"" << box.Y << "\" width=\"" << box.Width << "\" height=\"" << box.Height
           << "\" fill=\"" << Paint(colour) << "\" fill-opacity=\"" << colour.Opacity << "\"/>\n";
  }

  void
  DrawLine(const std::vector<Place> & line, bool closed, double width, Colour colour) override
  {
    m_Text << (closed ? "<polygon" : "<polyline") << " fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\""
           << " stroke=\"" << Paint(colour) << "\" stroke-opacity=\"" << colour.Opacity << "\" stroke-width=\"" << width
           << "\" points=\"";
    for (const Place & place : line)
    {
      m_Text << place.X << ',' << place.Y << ' ';
    }
    m_Text << "\"/>\n";
  }

  void
  DrawDisc(Place centre, double radius, Colour colour) override
  {
    m_Text << "<circle cx=\"" << centre.X << "\" cy=\"" << centre.Y << "\" r=\"" << radius << "\" fill=\""
           << Paint(colour) << "\" fill-opacity=\"" << colour.Opacity << "\"/>\n";
  }

  void
  DrawText(Place place, double height, const std::string & text, Colour colour) override
  {
    // Capitals of the usual sans-serif fonts are 0.72 of the font's size.
    m_Text << "<text x=\"" << place.X << "\" y=\"" << place.Y << "\" font-family=\"Helvetica, Arial, sans-serif\""
           << " font-size=\"" << height / 0.72 << "\" fill=\"" << Paint(colour) << "\">" << text << "</text>\n";
  }

  void
  Write(const std::string & fileName) override
  {
    std::ofstream file(fileName);
    file << m_Text.str() << "</svg>\n";
    if (!file.flush())
    {
      throw std::runtime_error("the overlay could not be written to '" + fileName + "'");
    }
  }

private:
  std::ostringstream m_Text;

  static std::string
  Paint(Colour colour)
  {
    char text[8];
    std::snprintf(text, sizeof(text), "#%02x%02x%02x", colour.Red, colour.Green, colour.Blue);
    return text;
  }
};

/** `unit` is the size of details: 1 in a small picture. */
void
DrawBoundary(Canvas & canvas, const std::vector<Place> & polygon, double unit)
{
  canvas.DrawLine(polygon, true, 4.5 * unit, Shadow);
  canvas.DrawLine(polygon, true, 2.2 * unit, Boundary);
  for (const Place & node : polygon)
  {
    canvas.DrawDisc(node, 4.0 * unit, Shadow);
    canvas.DrawDisc(node, 3.2 * unit, Boundary);
    canvas.DrawDisc(node, 2.0 * unit, Node);
  }
}

bool
Touches(const Box & box, const std::vector<Place> & polygon)
{
  for (size_t i = 0; i < polygon.size(); ++i)
  {
    const Place & a = polygon[i];
    const Place & b = polygon[(i + 1) % polygon.size()];
    const auto    steps = static_cast<int>(std::ceil(std::hypot(b.X - a.X, b.Y - a.Y))) + 1;
    for (int step = 0; step < steps; ++step)
    {
      const double x = a.X + (b.X - a.X) * step / steps;
      const double y = a.Y + (b.Y - a.Y) * step / steps;
      if (x >= box.X && x <= box.X + box.Width && y >= box.Y && y <= box.Y + box.Height)
      {
        return true;
      }
    }
  }
  return false;
}

/** Where the inset goes: a corner of the picture without boundary, or below the picture if there is none. */
Box
PlaceInset(const example::Picture & picture, const std::vector<Place> & polygon)
{
  constexpr double margin = 12.0;
  const double     width = std::clamp(picture.Width * 0.28, 280.0, 420.0);
  const double     height = width * 0.55;
  const double     right = picture.Width - width - margin;
  const double     bottom = picture.Height - height - margin;
  if (width + 2 * margin <= picture.Width && height + 2 * margin <= picture.Height)
  {
    for (const Place & corner :
         { Place{ right, bottom }, Place{ margin, bottom }, Place{ right, margin }, Place{ margin, margin } })
    {
      const Box box{ corner.X, corner.Y, width, height };
      const Box guarded{ box.X - 6.0, box.Y - 6.0, box.Width + 12.0, box.Height + 12.0 };
      if (!Touches(guarded, polygon))
      {
        return box;
      }
    }
  }
  return { 0.0, static_cast<double>(picture.Height), static_cast<double>(picture.Width), height };
}

std::string
FormatNumber(double value)
{
  char text[32];
  std::snprintf(text, sizeof(text), std::abs(value) < 1000.0 ? "%.1f" : "%.0f", value);
  return text;
}

/** J after every change of the polygon, against the iterations made until then. */
std::vector<Place>
PlotCriterion(const std::vector<itk::CudaRegionSnakeStep> & record)
{
  std::vector<Place> curve;
  double             iterations = 0.0;
  for (const auto & step : record)
  {
    iterations += step.What == itk::CudaRegionSnakeStep::Kind::Iteration ? 1.0 : 0.0;
    curve.push_back({ iterations, step.Criterion });
  }
  return curve;
}

void
DrawInset(Canvas & canvas, const Box & panel, const itk::CudaRegionSnakeResult & result)
{
  canvas.FillBox(panel, PanelColour);
  const double      text = std::clamp(panel.Width / 35.0, 8.0, 14.0); // height of capitals
  constexpr double  margin = 14.0;
  const std::string iterationsAndNodes =
    std::to_string(result.NumberOfIterations) + " iterations, " + std::to_string(result.Polygon.size()) + " nodes";
  canvas.DrawText({ panel.X + margin, panel.Y + margin + text },
                  text,
                  result.SignificantBoundary ? "criterion J in " + iterationsAndNodes : "no significant boundary",
                  Ink);
  const std::vector<Place> curve = PlotCriterion(result.Record);
  if (curve.empty())
  {
    return;
  }
  const auto [lowest, highest] =
    std::minmax_element(curve.begin(), curve.end(), [](const Place & a, const Place & b) { return a.Y < b.Y; });
  const Box plot{
    panel.X + margin, panel.Y + 2 * margin + text, panel.Width - 2 * margin, panel.Height - 3 * margin - text
  };
  const double iterations = std::max(1.0, curve.back().X);
  const double range = std::max(1.0, highest->Y - lowest->Y);
  const double bottom = plot.Y + plot.Height;

  canvas.DrawLine({ { plot.X, plot.Y }, { plot.X, bottom }, { plot.X + plot.Width, bottom } }, false, 1.0, Grid);
  std::vector<Place> line;
  for (const Place & point : curve)
  {
    line.push_back(
      { plot.X + plot.Width * point.X / iterations, bottom - plot.Height * (point.Y - lowest->Y) / range });
  }
  for (size_t i = 1; i < line.size(); ++i)
  {
    if (result.Record[i].What == itk::CudaRegionSnakeStep::Kind::Level)
    {
      canvas.DrawLine({ { line[i].X, plot.Y + 2 * text }, { line[i].X, bottom } }, false, 1.0, Grid);
    }
  }
  canvas.DrawLine(line, false, 2.0, Curve);
  canvas.DrawDisc(line.back(), 3.5, Curve);
  canvas.DrawText({ plot.X + 0.09 * plot.Width, plot.Y + text }, text, FormatNumber(highest->Y), Curve);
  const std::string last = FormatNumber(curve.back().Y);
  canvas.DrawText(
    { plot.X + plot.Width - 0.85 * text * static_cast<double>(last.size()) - 8.0, bottom - text }, text, last, Curve);
}

bool
IsSvg(const std::string & fileName)
{
  return std::filesystem::path(fileName).extension() == ".svg";
}
} // namespace

example::Picture
example::MakePicture(size_t width, size_t height, const std::function<double(size_t x, size_t y)> & value)
{
  const size_t side = std::max(width, height);
  const size_t reduction = (side + LargestLongSide - 1) / LargestLongSide;
  const size_t enlargement = (SmallestLongSide + side - 1) / side;
  const size_t columns = (width + reduction - 1) / reduction;
  const size_t rows = (height + reduction - 1) / reduction;

  std::vector<double> means(columns * rows);
  for (size_t row = 0; row < rows; ++row)
  {
    for (size_t column = 0; column < columns; ++column)
    {
      const size_t right = std::min(width, (column + 1) * reduction);
      const size_t bottom = std::min(height, (row + 1) * reduction);
      double       sum = 0.0;
      for (size_t y = row * reduction; y < bottom; ++y)
      {
        for (size_t x = column * reduction; x < right; ++x)
        {
          sum += value(x, y);
        }
      }
      means[row * columns + column] =
        sum / static_cast<double>((right - column * reduction) * (bottom - row * reduction));
    }
  }
  std::vector<double> sorted = means;
  std::sort(sorted.begin(), sorted.end());
  const double black = sorted[(sorted.size() - 1) * 5 / 1000];
  const double white = sorted[(sorted.size() - 1) * 995 / 1000];
  const double range = white > black ? white - black : 1.0;

  Picture picture;
  picture.Scale = static_cast<double>(enlargement) / static_cast<double>(reduction);
  picture.Width = static_cast<int>(columns * enlargement);
  picture.Height = static_cast<int>(rows * enlargement);
  picture.Grey.resize(columns * enlargement * rows * enlargement);
  for (size_t i = 0; i < picture.Grey.size(); ++i)
  {
    const size_t row = i / (columns * enlargement) / enlargement;
    const size_t column = i % (columns * enlargement) / enlargement;
    const double grey = std::clamp((means[row * columns + column] - black) / range, 0.0, 1.0);
    picture.Grey[i] = static_cast<unsigned char>(std::lround(255.0 * grey));
  }
  return picture;
}

void
example::WriteOverlay(const std::string & fileName, const Picture & picture, const itk::CudaRegionSnakeResult & result)
{
  std::vector<Place> polygon;
  for (const itk::CudaSnakePoint & corner : result.Polygon)
  {
    polygon.push_back({ corner.X * picture.Scale, corner.Y * picture.Scale });
  }
  const Box                     inset = PlaceInset(picture, polygon);
  const int                     height = std::max(picture.Height, static_cast<int>(inset.Y + inset.Height));
  const std::unique_ptr<Canvas> canvas = IsSvg(fileName) ? std::unique_ptr<Canvas>(new SvgCanvas(picture, height))
                                                         : std::unique_ptr<Canvas>(new PixelCanvas(picture, height));
  DrawBoundary(*canvas, polygon, std::max(1.0, std::max(picture.Width, picture.Height) / 800.0));
  DrawInset(*canvas, inset, result);
  canvas->Write(fileName);
}

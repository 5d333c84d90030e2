// SPDX-License-Identifier: Apache-2.0
// Segments an image file into a target and a background by a polygon: on the GPU if there is one, else on the host.
#include "example_json.h"
#include "example_tools.h"
#include "segmentation_picture.h"

#include "itkCudaFiltersConfiguration.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkMultiThreaderBase.h"
#include "itkVersion.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace
{
using PathType = itk::PolyLineParametricPath<2>;
using PhysicalPoint = itk::Point<double, 2>;
using LabelImage = itk::Image<unsigned char, 2>;

struct Arguments
{
  std::string                                Input;
  std::string                                Law;
  std::vector<long>                          Rectangle;
  std::string                                PolygonFile;
  itk::CudaDetail::CudaRegionSnakeParameters Parameters;
  std::string                                Schedule{ "coarsetofine" };
  std::string                                Start{ "automatic" };
  bool                                       NoDescriptionLength{ false };
  int                                        InsideValue{ 255 };
  std::string                                Backend{ "automatic" };
  int                                        DeviceIndex{ -1 };
  std::string                                OverlayFile;
  std::string                                LabelFile;
  std::string                                ContourFile;
  std::string                                StatsFile;
};

/** What a run leaves behind, whatever the pixel type. */
struct Outcome
{
  itk::CudaRegionSnakeResult Result;
  std::vector<PhysicalPoint> Contour;
  std::string                BackendUsed;
  std::string                BackendReason;
  double                     ReadSeconds{ 0.0 };
  double                     FilterSeconds{ 0.0 };
};

void
AddOutputs(CLI::App & app, Arguments & arguments)
{
  app
    .add_option("--overlay",
                arguments.OverlayFile,
                "picture to write (.png or .svg): the image, the polygon with its nodes, and the criterion over the "
                "iterations")
    ->check(CLI::Validator(
      [](std::string & name) {
        const auto extension = std::filesystem::path(name).extension();
        return extension == ".png" || extension == ".svg" ? std::string()
                                                          : "'" + name + "' ends in neither .png nor .svg";
      },
      "FILE.png|FILE.svg"));
  app.add_option("--label", arguments.LabelFile, "label image to write; its extension says the format");
  app.add_option("--inside", arguments.InsideValue, "value of the target in the label image; the rest is 0")
    ->check(CLI::Range(1, 255))
    ->capture_default_str();
  app.add_option("--contour",
                 arguments.ContourFile,
                 "GeoJSON file to write: the polygon in the physical units of the image, counter-clockwise in x, y");
  app.add_option("--stats", arguments.StatsFile, "JSON file to write: both regions, the criterion, its history, times");
}

std::vector<std::string>
GetLawNames()
{
  std::vector<std::string> names;
  for (const auto & law : itk::CudaNoiseLaws())
  {
    names.push_back(CLI::detail::to_lower(law.Name));
  }
  return names;
}

/** "gamma (intensity of radar images), ..." */
std::string
DescribeLaws()
{
  std::string text;
  for (const auto & law : itk::CudaNoiseLaws())
  {
    text += (text.empty() ? "" : ", ") + CLI::detail::to_lower(law.Name) + " (" + law.Description + ")";
  }
  return text;
}

/** Names of the laws that need a parameter: "gamma, rayleigh". */
std::string
LawsWithParameter(const std::string & parameter)
{
  std::string text;
  for (const auto & law : itk::CudaNoiseLaws())
  {
    if (law.Parameter == parameter)
    {
      text += (text.empty() ? "" : ", ") + CLI::detail::to_lower(law.Name);
    }
  }
  return text;
}

void
AddModel(CLI::App & app, Arguments & arguments)
{
  app.add_option("--law", arguments.Law, "distribution of the pixels of each region: " + DescribeLaws())
    ->required()
    ->check(CLI::IsMember(GetLawNames(), CLI::ignore_case));
  app
    .add_option(
      "--looks", arguments.Parameters.NumberOfLooks, LawsWithParameter("NumberOfLooks") + ": number of looks, > 0")
    ->capture_default_str();
  app.add_option("--threshold",
                 arguments.Parameters.ForegroundThreshold,
                 LawsWithParameter("ForegroundThreshold") +
                   ": pixels above this value are ones, the others zeros; needed unless the image has two values");
  auto * const rectangle =
    app
      .add_option("--start",
                  arguments.Rectangle,
                  "x0,y0,x1,y1 in pixels: the search starts from the rectangle of the columns x0 to x1 - 1 and the "
                  "rows y0 to y1 - 1")
      ->delimiter(',')
      ->expected(4)
      ->check(CLI::NonNegativeNumber)
      ->type_name("INT,INT,INT,INT");
  app
    .add_option("--start-polygon",
                arguments.PolygonFile,
                "GeoJSON file: the search starts from the outer ring of its first polygon, in the physical units of "
                "the image, as --contour writes it")
    ->excludes(rectangle);
  app
    .add_option("--start-search",
                arguments.Start,
                "the start if none is given; automatic: the best rectangle; marginrectangle: the image without a tenth "
                "on each side")
    ->check(CLI::IsMember({ "automatic", "marginrectangle" }, CLI::ignore_case))
    ->capture_default_str();
}

void
AddSearch(CLI::App & app, Arguments & arguments)
{
  auto & parameters = arguments.Parameters;
  app
    .add_option("--schedule",
                arguments.Schedule,
                "coarsetofine: blocks of pixels first; aspublished: the full image at once, as Perrot et al. (2011)")
    ->check(CLI::IsMember({ "coarsetofine", "aspublished" }, CLI::ignore_case))
    ->capture_default_str();
  app
    .add_option("--maximum-step",
                parameters.MaximumStep,
                "distance of the first moves, in pixels or, with coarsetofine, in blocks of the coarsest level")
    ->capture_default_str();
  app.add_option("--minimum-edge", parameters.MinimumEdgeLength, "longer edges get a node in the middle, in pixels")
    ->capture_default_str();
  app.add_flag(
    "--no-mdl", arguments.NoDescriptionLength, "keep nodes whose removal would shorten the description (J + k log N)");
  app.add_option("--maximum-nodes", parameters.MaximumNumberOfNodes, "nodes that the polygon may have")
    ->capture_default_str();
  app
    .add_option("--maximum-iterations",
                parameters.MaximumNumberOfIterations,
                "iterations, in each of which every node is tried once")
    ->capture_default_str();
  app.add_option("--minimum-region", parameters.MinimumRegionSize, "pixels that each region has to have")
    ->capture_default_str();
}

void
DescribeArguments(CLI::App & app, Arguments & arguments)
{
  app.description(
    "Segments an image into a target and a background: finds the polygon that explains the image best.\n"
    "\n"
    "The pixels of each region are taken as samples of one distribution (--law), whose parameters are estimated;\n"
    "nodes are moved, inserted and removed while that makes the image likelier, at the cost of a node's description.\n"
    "Positions in --start are in pixels, counted from 0 at the top left. Those in GeoJSON files are in the physical\n"
    "units of the image, i.e. of its spacing and origin: millimetres for most medical formats; pixels, with the\n"
    "centre of the first at 0, for files that say nothing about it (spacing 1).\n"
    "Reads and writes PNG, TIFF, MetaImage (.mha, .mhd), NRRD and NIfTI; 2-D, with one value per pixel, of unsigned\n"
    "char, unsigned short, short or float. Of RGB colours the luminance is taken, and of a 3-D file with a single\n"
    "slice that slice.");
  app.add_option("IN", arguments.Input, "image to read")->required();
  AddModel(app, arguments);
  AddSearch(app, arguments);
  AddOutputs(app, arguments);
  app
    .add_option("--backend",
                arguments.Backend,
                "automatic: the GPU if one can be used, else the host; cuda: the GPU or an error; host: never the GPU")
    ->check(CLI::IsMember({ "automatic", "cuda", "host" }, CLI::ignore_case))
    ->capture_default_str();
  app.add_option("--device", arguments.DeviceIndex, "index of the GPU; default: ITK_CUDAFILTERS_DEVICE, or 0")
    ->check(CLI::NonNegativeNumber);
  app.add_flag_callback(
    "--version",
    [] {
      std::cout << itk::Version::GetITKVersion() << " (ITK)\n" << itk::CudaFiltersConfiguration::GetStatus() << '\n';
      throw CLI::Success();
    },
    "show the version of ITK and the GPUs found");
  app.footer(
    "Exit status: 0 done, with or without a significant boundary; 1 the image could not be read or segmented, or\n"
    "an output not be written; 2 wrong arguments.");
  app.callback([&arguments] {
    const auto & corner = arguments.Rectangle;
    if (!corner.empty() && (corner[0] >= corner[2] || corner[1] >= corner[3]))
    {
      throw CLI::ValidationError("--start", "x0,y0,x1,y1 must have x0 < x1 and y0 < y1");
    }
  });
}

void
RequireSegmentable(const itk::ImageIOBase & io)
{
  const std::string name = std::string("'") + io.GetFileName() + "'";
  unsigned int      axes = io.GetNumberOfDimensions();
  while (axes > 2 && io.GetDimensions(axes - 1) == 1)
  {
    --axes;
  }
  if (axes != 2)
  {
    throw std::runtime_error(name + " has " + std::to_string(axes) +
                             " dimensions; images of 2, or single slices, can be segmented");
  }
  // Grey images with a palette come as colours, too; ITK's reader makes the luminance of them.
  if (io.GetNumberOfComponents() != 1 && io.GetPixelType() != itk::IOPixelEnum::RGB)
  {
    throw std::runtime_error(name + " has " + std::to_string(io.GetNumberOfComponents()) +
                             " components per pixel; extract one of them first");
  }
}

/** The outer ring of the first polygon in GeoJSON text, without the repetition of its first point.
 * \exception std::runtime_error if there is none */
std::vector<PhysicalPoint>
ReadPolygon(const std::string & fileName)
{
  std::ifstream file(fileName);
  if (!file)
  {
    throw std::runtime_error("'" + fileName + "' does not exist or cannot be opened");
  }
  try
  {
    nlohmann::json json = nlohmann::json::parse(file);
    if (json.at("type") == "FeatureCollection")
    {
      json = nlohmann::json(json.at("features").at(0));
    }
    if (json.at("type") == "Feature")
    {
      json = nlohmann::json(json.at("geometry"));
    }
    if (json.at("type") != "Polygon")
    {
      throw std::runtime_error("'" + fileName + "' starts with a geometry of type " + json.at("type").dump() +
                               "; a Polygon is needed");
    }
    std::vector<PhysicalPoint> ring;
    for (const auto & position : json.at("coordinates").at(0))
    {
      PhysicalPoint point;
      point[0] = position.at(0).get<double>();
      point[1] = position.at(1).get<double>();
      ring.push_back(point);
    }
    if (ring.size() > 1 && ring.front() == ring.back())
    {
      ring.pop_back();
    }
    return ring;
  }
  catch (const nlohmann::json::exception & error)
  {
    throw std::runtime_error("'" + fileName + "' is no GeoJSON file with a polygon: " + error.what());
  }
}

template <typename TFilter>
void
SetStart(TFilter & filter, const Arguments & arguments)
{
  const auto * const image = filter.GetInput();
  filter.SetStart(arguments.Start);
  if (!arguments.Rectangle.empty())
  {
    const auto &                 corner = arguments.Rectangle;
    const auto                   first = image->GetLargestPossibleRegion().GetIndex();
    typename TFilter::RegionType region;
    for (unsigned int axis = 0; axis < 2; ++axis)
    {
      region.SetIndex(axis, first[axis] + corner[axis]);
      region.SetSize(axis, static_cast<itk::SizeValueType>(corner[axis + 2] - corner[axis]));
    }
    filter.SetInitialRegion(region);
  }
  else if (!arguments.PolygonFile.empty())
  {
    const auto path = PathType::New();
    for (const PhysicalPoint & point : ReadPolygon(arguments.PolygonFile))
    {
      PathType::ContinuousIndexType index;
      image->TransformPhysicalPointToContinuousIndex(point, index);
      path->AddVertex(index);
    }
    filter.SetInitialPath(path);
  }
}

template <typename TFilter>
void
SetParameters(TFilter & filter, const Arguments & arguments)
{
  const auto & parameters = arguments.Parameters;
  filter.SetNoiseLaw(arguments.Law);
  filter.SetNumberOfLooks(parameters.NumberOfLooks);
  filter.SetForegroundThreshold(parameters.ForegroundThreshold);
  filter.SetSchedule(arguments.Schedule);
  filter.SetMaximumStep(parameters.MaximumStep);
  filter.SetMinimumEdgeLength(parameters.MinimumEdgeLength);
  filter.SetUseDescriptionLength(!arguments.NoDescriptionLength);
  filter.SetMaximumNumberOfNodes(parameters.MaximumNumberOfNodes);
  filter.SetMaximumNumberOfIterations(parameters.MaximumNumberOfIterations);
  filter.SetMinimumRegionSize(parameters.MinimumRegionSize);
  filter.SetInsideValue(static_cast<unsigned char>(arguments.InsideValue));
  filter.SetBackend(arguments.Backend);
  filter.SetDeviceIndex(arguments.DeviceIndex);
}

template <typename TImage>
void
DrawOverlay(const std::string & fileName, const TImage & image, const itk::CudaRegionSnakeResult & result)
{
  const auto         size = image.GetLargestPossibleRegion().GetSize();
  const auto * const pixels = image.GetBufferPointer();
  const auto         picture = example::MakePicture(
    size[0], size[1], [&](size_t x, size_t y) { return static_cast<double>(pixels[y * size[0] + x]); });
  example::WriteOverlay(fileName, picture, result);
}

template <typename TPixel>
Outcome
Segment(const Arguments & arguments)
{
  using ImageType = itk::Image<TPixel, 2>;
  Outcome    outcome;
  const auto reader = itk::ImageFileReader<ImageType>::New();
  reader->SetFileName(arguments.Input);
  outcome.ReadSeconds = example::Seconds([&] { reader->Update(); });

  const auto filter = itk::CudaRegionSnakeImageFilter<ImageType, LabelImage>::New();
  filter->SetInput(reader->GetOutput());
  SetParameters(*filter, arguments);
  SetStart(*filter, arguments);
  example::ShowProgress(filter, "segmenting");
  outcome.FilterSeconds = example::Seconds([&] { filter->Update(); });
  outcome.Result = filter->GetResult();
  for (itk::SizeValueType i = 0; i < filter->GetNumberOfContourPoints(); ++i)
  {
    outcome.Contour.push_back(filter->GetContourPoint(i));
  }
  outcome.BackendUsed = itk::CudaBackendToString(filter->GetBackendUsed());
  outcome.BackendReason = filter->GetBackendReason();

  if (!arguments.LabelFile.empty())
  {
    const auto writer = itk::ImageFileWriter<LabelImage>::New();
    writer->SetFileName(arguments.LabelFile);
    writer->SetInput(filter->GetOutput());
    writer->UseCompressionOn();
    writer->Update();
  }
  if (!arguments.OverlayFile.empty())
  {
    DrawOverlay(arguments.OverlayFile, *reader->GetOutput(), outcome.Result);
  }
  return outcome;
}

Outcome
DispatchPixel(const Arguments & arguments, const itk::ImageIOBase & io)
{
  switch (io.GetComponentType())
  {
    case itk::IOComponentEnum::UCHAR:
      return Segment<unsigned char>(arguments);
    case itk::IOComponentEnum::USHORT:
      return Segment<unsigned short>(arguments);
    case itk::IOComponentEnum::SHORT:
      return Segment<short>(arguments);
    case itk::IOComponentEnum::FLOAT:
      return Segment<float>(arguments);
    default:
      throw std::runtime_error(
        std::string("pixels of type '") + itk::ImageIOBase::GetComponentTypeAsString(io.GetComponentType()) +
        "' are not supported; convert the image to unsigned char, unsigned short, short or float");
  }
}

nlohmann::ordered_json
Describe(const itk::CudaRegionSnakeStatistics & region)
{
  // JSON has no number for the variance of laws that need none: it becomes null.
  return { { "pixels", region.NumberOfPixels }, { "mean", region.Mean }, { "variance", region.Variance } };
}

std::string
ToString(itk::CudaRegionSnakeStop stop)
{
  std::ostringstream text;
  text << stop;
  const std::string name = text.str();
  return name.substr(name.rfind(':') + 1);
}

/** Summary for both JSON files. */
nlohmann::ordered_json
Summarise(const Arguments & arguments, const Outcome & outcome)
{
  const auto &           result = outcome.Result;
  nlohmann::ordered_json summary;
  summary["input"] = arguments.Input;
  summary["law"] = arguments.Law;
  summary["significant_boundary"] = result.SignificantBoundary;
  summary["nodes"] = result.Polygon.size();
  summary["inside"] = Describe(result.Inside);
  summary["outside"] = Describe(result.Outside);
  summary["criterion"] = result.Criterion;
  summary["criterion_of_one_region"] = result.CriterionOfOneRegion;
  summary["description_length"] = result.DescriptionLength;
  return summary;
}

void
WriteContour(const Arguments & arguments, const Outcome & outcome)
{
  auto ring = nlohmann::ordered_json::array();
  for (const PhysicalPoint & point : outcome.Contour)
  {
    ring.push_back({ point[0], point[1] });
  }
  if (!ring.empty())
  {
    ring.push_back(nlohmann::ordered_json(ring.front()));
  }

  nlohmann::ordered_json feature;
  feature["type"] = "Feature";
  feature["properties"] = Summarise(arguments, outcome);
  feature["geometry"] = { { "type", "Polygon" }, { "coordinates", nlohmann::ordered_json::array({ ring }) } };
  nlohmann::ordered_json collection;
  collection["type"] = "FeatureCollection";
  collection["features"] = nlohmann::ordered_json::array({ feature });
  example::WriteJson(arguments.ContourFile, collection);
}

void
WriteStats(const Arguments & arguments, const itk::ImageIOBase & io, const Outcome & outcome)
{
  const auto &           result = outcome.Result;
  nlohmann::ordered_json stats = Summarise(arguments, outcome);
  stats["size"] = { io.GetDimensions(0), io.GetDimensions(1) };
  stats["spacing"] = { io.GetSpacing(0), io.GetSpacing(1) };
  stats["component_type"] = itk::ImageIOBase::GetComponentTypeAsString(io.GetComponentType());
  stats["schedule"] = arguments.Schedule;
  stats["converged"] = result.Stop == itk::CudaRegionSnakeStop::Converged;
  stats["stop"] = ToString(result.Stop);
  stats["iterations"] = result.NumberOfIterations;
  stats["record"] = nlohmann::ordered_json::array();
  for (const auto & step : result.Record)
  {
    stats["record"].push_back({ { "what", itk::CudaRegionSnakeStepName(step.What) },
                                { "block_side", uint64_t{ 1 } << step.LevelExponent },
                                { "step", step.Step },
                                { "nodes", step.NumberOfNodes },
                                { "pixels_inside", step.NumberOfPixels },
                                { "criterion", step.Criterion },
                                { "change", step.Change } });
  }
  stats["backend_asked"] = arguments.Backend;
  stats["backend_used"] = outcome.BackendUsed;
  stats["backend_reason"] = outcome.BackendReason;
  stats["seconds"] = { { "read", outcome.ReadSeconds },        { "filter", outcome.FilterSeconds },
                       { "samples", result.SecondsOfSamples }, { "sums", result.SecondsOfSums },
                       { "start", result.SecondsOfStart },     { "moves", result.SecondsOfMoves },
                       { "removal", result.SecondsOfRemoval } };
  stats["host_threads"] = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  stats["itk_version"] = itk::Version::GetITKVersion();
  example::WriteJson(arguments.StatsFile, stats);
}

void
Report(const Arguments & arguments, const Outcome & outcome)
{
  const auto & result = outcome.Result;
  std::cout << arguments.Input << ": segmented with backend " << outcome.BackendUsed << " in " << outcome.FilterSeconds
            << " s (" << outcome.BackendReason << ")\n"
            << "polygon of " << result.Polygon.size() << " nodes, " << result.NumberOfIterations
            << " iterations; inside " << result.Inside.NumberOfPixels << " pixels of mean " << result.Inside.Mean
            << ", outside " << result.Outside.NumberOfPixels << " of mean " << result.Outside.Mean << '\n';
  if (!result.SignificantBoundary)
  {
    std::cout << "no significant boundary: one region describes the image at least as well; the label image is empty\n";
  }
  if (result.Stop != itk::CudaRegionSnakeStop::Converged)
  {
    std::cout << "not converged: stopped by " << ToString(result.Stop) << '\n';
  }
}

void
Run(const Arguments & arguments)
{
  const auto io = example::Describe(arguments.Input);
  RequireSegmentable(*io);
  if (!arguments.LabelFile.empty())
  {
    example::MakeWriter(arguments.LabelFile); // so that an unknown extension is told before the work
  }
  const Outcome outcome = DispatchPixel(arguments, *io);
  Report(arguments, outcome);
  if (!arguments.ContourFile.empty())
  {
    WriteContour(arguments, outcome);
  }
  if (!arguments.StatsFile.empty())
  {
    WriteStats(arguments, *io, outcome);
  }
}
} // namespace

int
main(int argc, char * argv[])
{
  CLI::App  app;
  Arguments arguments;
  DescribeArguments(app, arguments);
  try
  {
    app.parse(argc, argv);
    Run(arguments);
  }
  catch (const CLI::ParseError & error)
  {
    return app.exit(error) == 0 ? EXIT_SUCCESS : example::ExitWrongArguments;
  }
  catch (const itk::ExceptionObject & error)
  {
    std::cerr << "segment_region: " << error.GetDescription() << '\n';
    return example::ExitFailure;
  }
  catch (const std::exception & error)
  {
    std::cerr << "segment_region: " << error.what() << '\n';
    return example::ExitFailure;
  }
  return EXIT_SUCCESS;
}

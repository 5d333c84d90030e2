// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"
#include "contour_file.h"
#include "files.h"
#include "json_file.h"
#include "region_arguments.h"
#include "segment_image.h"

#include "itkMultiThreaderBase.h"
#include "itkVersion.h"

#include <iostream>
#include <sstream>
#include <stdexcept>

namespace
{
struct SegmentArguments
{
  command::SegmentJob       Job;
  std::string               InitialContourFile;
  command::BackendArguments Backend;
  std::string               ContourFile;
  std::string               ReportFile;
};

void
AddModel(CLI::App & part, command::SegmentJob & job)
{
  command::AddLaw(part, job.Law);
  part
    .add_option("--looks,--number-of-looks",
                job.NumberOfLooks,
                command::LawsWithParameter("NumberOfLooks") +
                  ": number of independent looks that were averaged, above 0")
    ->capture_default_str();
  command::AddForegroundThreshold(part, job.ForegroundThreshold);
  command::AddValidMask(part, job.ValidMask);
}

void
AddStart(CLI::App & part, SegmentArguments & arguments)
{
  auto * const contour =
    part
      .add_option("--initial-contour",
                  arguments.InitialContourFile,
                  "the search starts from the outer ring of the first polygon of this file, in the physical units of "
                  "the image, as --contour writes it")
      ->type_name("FILE.geojson");
  auto * const mask =
    part
      .add_option("--initial-mask",
                  arguments.Job.InitialMask,
                  "image of the same size: the search starts from its largest connected part that is not 0")
      ->type_name("FILE")
      ->excludes(contour);
  part
    .add_option("--initial-region",
                arguments.Job.InitialRegion,
                "the search starts from this rectangle of pixels; X and Y are counted from 0 at the first pixel")
    ->delimiter(',')
    ->expected(4)
    ->check(CLI::NonNegativeNumber)
    ->type_name("X,Y,WIDTH,HEIGHT")
    ->excludes(contour)
    ->excludes(mask);
  part
    .add_option("--start",
                arguments.Job.Start,
                "the start if none of these is given; automatic: the best of many rectangles; margin_rectangle: the "
                "image without a tenth on each side")
    ->transform(command::OneOf({ "automatic", "margin_rectangle" }))
    ->type_name("NAME")
    ->capture_default_str();
}

void
AddSearch(CLI::App & part, command::SegmentJob & job)
{
  part
    .add_option("--schedule",
                job.Schedule,
                "coarse_to_fine: blocks of pixels first; as_published: the full image at once, as Perrot et al. (2011)")
    ->transform(command::OneOf({ "coarse_to_fine", "as_published" }))
    ->type_name("NAME")
    ->capture_default_str();
  part.add_option("--maximum-step", job.MaximumStep, "distance of the first moves, in blocks of the coarsest level")
    ->capture_default_str();
  part.add_option("--minimum-edge-length", job.MinimumEdgeLength, "longer edges get a node in the middle; in pixels")
    ->capture_default_str();
  part.add_option("--minimum-gain", job.MinimumGain, "what a move has to lower the criterion by, in nats")
    ->capture_default_str();
  part
    .add_flag("--use-description-length,!--no-use-description-length",
              job.UseDescriptionLength,
              "whether nodes are removed in the end, as long as that shortens the description")
    ->default_str("on");
  part.add_option("--maximum-number-of-nodes", job.MaximumNumberOfNodes, "nodes that the polygon may have at any time")
    ->capture_default_str();
  part
    .add_option("--maximum-number-of-iterations",
                job.MaximumNumberOfIterations,
                "iterations, in each of which every node is tried once")
    ->capture_default_str();
  part.add_option("--minimum-region-size", job.MinimumRegionSize, "pixels that each region has to have")
    ->capture_default_str();
}

void
AddOutputs(CLI::App & part, SegmentArguments & arguments)
{
  auto & job = arguments.Job;
  part.add_option("--label", job.LabelFile, "label image to write; its extension says the format")->type_name("FILE");
  part.add_option("--inside-value", job.InsideValue, "value of the target in the label image")
    ->check(CLI::Range(0, 255))
    ->capture_default_str();
  part.add_option("--outside-value", job.OutsideValue, "value of all other pixels in the label image")
    ->check(CLI::Range(0, 255))
    ->capture_default_str();
  part
    .add_option("--contour",
                arguments.ContourFile,
                "file to write: the polygon in the physical units of the image, counter-clockwise in x, y")
    ->type_name("FILE.geojson");
  part
    .add_option("--overlay", job.OverlayFile, "picture to write: the enlarged image, the boundary, and the nodes on it")
    ->type_name("FILE.png");
  command::AddReport(part, arguments.ReportFile);
}

void
DescribeArguments(CLI::App & part, SegmentArguments & arguments)
{
  part.add_option("IN", arguments.Job.Input, "image to read")->required();
  AddModel(part, arguments.Job);
  AddStart(part, arguments);
  AddSearch(part, arguments.Job);
  AddOutputs(part, arguments);
  command::AddBackend(part, arguments.Backend);
  part.footer(
    "The pixels of each region are taken as samples of one distribution (--law), whose parameters are estimated. "
    "Nodes\n"
    "of the polygon are moved, inserted and removed while that makes the image likelier, at the cost of a node's\n"
    "description. " +
    command::DescribeRegionFiles());
}

void
RequireRectangle(const std::vector<long> & region)
{
  if (!region.empty() && (region[2] < 1 || region[3] < 1))
  {
    throw CLI::ValidationError("--initial-region", "WIDTH and HEIGHT must be 1 or more");
  }
}

nlohmann::ordered_json
Describe(const itk::CudaRegionSnakeStatistics & region)
{
  // The variance is NaN for laws that need no squares, which becomes null because JSON has no NaN.
  return { { "pixels", region.NumberOfPixels }, { "mean", region.Mean }, { "variance", region.Variance } };
}

std::string
ToString(itk::CudaRegionSnakeStop stop)
{
  std::ostringstream text;
  text << stop;
  return command::SnakeCase(text.str());
}

/** Returns the properties that the report and the contour's file have in common. */
nlohmann::ordered_json
Summarise(const command::SegmentJob & job, const itk::CudaRegionSnakeResult & result)
{
  nlohmann::ordered_json summary;
  summary["input"] = job.Input;
  summary["law"] = job.Law;
  summary["significant_boundary"] = result.SignificantBoundary;
  summary["nodes"] = result.Polygon.size();
  summary["inside"] = Describe(result.Inside);
  summary["outside"] = Describe(result.Outside);
  summary["criterion"] = result.Criterion;
  summary["criterion_of_one_region"] = result.CriterionOfOneRegion;
  summary["description_length"] = result.DescriptionLength;
  return summary;
}

nlohmann::ordered_json
Describe(const std::vector<itk::CudaRegionSnakeStep> & record)
{
  auto steps = nlohmann::ordered_json::array();
  for (const auto & step : record)
  {
    steps.push_back({ { "what", itk::CudaRegionSnakeStepName(step.What) },
                      { "block_side", uint64_t{ 1 } << step.LevelExponent },
                      { "step", step.Step },
                      { "nodes", step.NumberOfNodes },
                      { "pixels_inside", step.NumberOfPixels },
                      { "criterion", step.Criterion },
                      { "change", step.Change } });
  }
  return steps;
}

nlohmann::ordered_json
MakeReport(const command::SegmentJob & job, const itk::ImageIOBase & io, const command::SegmentOutcome & outcome)
{
  const auto &           result = outcome.Result;
  nlohmann::ordered_json report = Summarise(job, result);
  report["size"] = { io.GetDimensions(0), io.GetDimensions(1) };
  report["spacing"] = { io.GetSpacing(0), io.GetSpacing(1) };
  report["component_type"] = command::GetComponentName(io);
  report["schedule"] = job.Schedule;
  report["converged"] = result.Stop == itk::CudaRegionSnakeStop::Converged;
  report["stop"] = ToString(result.Stop);
  report["iterations"] = result.NumberOfIterations;
  report["record"] = Describe(result.Record);
  report["backend_asked"] = job.Backend;
  report["backend_used"] = command::SnakeCase(outcome.BackendUsed);
  report["backend_reason"] = outcome.BackendReason;
  report["seconds"] = { { "read", outcome.ReadSeconds },        { "filter", outcome.FilterSeconds },
                        { "samples", result.SecondsOfSamples }, { "sums", result.SecondsOfSums },
                        { "start", result.SecondsOfStart },     { "moves", result.SecondsOfMoves },
                        { "removal", result.SecondsOfRemoval } };
  report["host_threads"] = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  report["itk_version"] = itk::Version::GetITKVersion();
  return report;
}

void
Print(const command::SegmentJob & job, const command::SegmentOutcome & outcome)
{
  const auto & result = outcome.Result;
  std::cout << job.Input << ": segmented with backend " << command::SnakeCase(outcome.BackendUsed) << " in "
            << outcome.FilterSeconds << " s (" << outcome.BackendReason << ")\n"
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
Segment(const SegmentArguments & arguments)
{
  command::SegmentJob job = arguments.Job;
  job.Backend = arguments.Backend.Backend;
  job.DeviceIndex = arguments.Backend.DeviceIndex;
  RequireRectangle(job.InitialRegion);
  const auto io = command::OpenImage(job.Input);
  command::RequireRegionImage(*io, "segmented");
  command::RequireWriters({ job.LabelFile, job.OverlayFile });
  if (!arguments.InitialContourFile.empty())
  {
    job.InitialContour = command::ReadContour(arguments.InitialContourFile);
  }

  const command::SegmentOutcome outcome = command::SegmentImage(job, *io);
  Print(job, outcome);
  if (!arguments.ContourFile.empty())
  {
    auto properties = Summarise(job, outcome.Result);
    properties["coordinates"] = "physical";
    command::WriteContour(arguments.ContourFile, outcome.Contour, properties);
  }
  command::WriteJson(arguments.ReportFile, MakeReport(job, *io, outcome));
}
} // namespace

void
command::AddSegment(CLI::App & app)
{
  AddPart(app,
          "segment",
          "Finds the polygon that divides an image into a target and a background and explains it best.",
          DescribeArguments,
          Segment);
}

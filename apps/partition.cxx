// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"
#include "files.h"
#include "json_file.h"
#include "partition_files.h"
#include "partition_image.h"
#include "region_arguments.h"

#include "itkMultiThreaderBase.h"
#include "itkVersion.h"

#include <iostream>
#include <sstream>

namespace
{
struct PartitionArguments
{
  command::PartitionJob     Job;
  command::BackendArguments Backend;
  std::string               PolygonsFile;
  std::string               TableFile;
  std::string               ReportFile;
};

void
AddModel(CLI::App & part, command::PartitionJob & job)
{
  command::AddLaw(part, job.Law);
  part
    .add_option("--looks,--number-of-looks",
                job.NumberOfLooks,
                command::LawsWithParameter("NumberOfLooks") +
                  ": number of independent looks per pixel; 0: estimated from the image")
    ->capture_default_str();
  command::AddForegroundThreshold(part, job.ForegroundThreshold);
  part.add_option("--segment-cost", job.SegmentCost, "what a straight edge between two regions costs, in nats")
    ->capture_default_str();
  command::AddValidMask(part, job.ValidMask);
  part
    .add_option("--initial-labels",
                job.InitialLabels,
                "image of the same size: the search starts from its 4-connected parts of one value")
    ->type_name("FILE");
}

void
AddSearch(CLI::App & part, command::PartitionJob & job)
{
  part.add_option("--block-size", job.BlockSize, "side of the blocks that the search starts from, in pixels")
    ->capture_default_str();
  part
    .add_option("--minimum-number-of-pixels",
                job.MinimumNumberOfPixels,
                "pixels below which no move of a boundary may bring a region")
    ->capture_default_str();
  part.add_option("--maximum-number-of-iterations", job.MaximumNumberOfIterations, "iterations on the polygons")
    ->capture_default_str();
  part
    .add_flag("--allow-merging,!--no-allow-merging",
              job.AllowMerging,
              "whether polygons may be merged; without, every part of --initial-labels is kept")
    ->default_str("on");
}

void
AddOutputs(CLI::App & part, PartitionArguments & arguments)
{
  auto & job = arguments.Job;
  part
    .add_option(
      "--labels", job.LabelsFile, "label image to write: regions count from 1; 16 bit for up to 65535 regions, else 32")
    ->type_name("FILE");
  auto * const polygons =
    part
      .add_option("--polygons",
                  arguments.PolygonsFile,
                  "file to write: the polygons of all regions in the physical units of the image, outer rings "
                  "counter-clockwise in x, y")
      ->type_name("FILE.geojson");
  part.add_option("--table", arguments.TableFile, "file to write: a line for each region")->type_name("FILE.csv");
  part
    .add_option("--means",
                job.MeansFile,
                "image to write: each pixel replaced by the mean of its region, in the pixel type of the image")
    ->type_name("FILE");
  part.add_option("--overlay", job.OverlayFile, "picture to write: the enlarged image and the boundaries on it")
    ->type_name("FILE.png");
  part.add_flag("--labels-only", job.LabelsOnly, "stop before the polygons")->default_str("off")->excludes(polygons);
  command::AddReport(part, arguments.ReportFile);
}

void
DescribeArguments(CLI::App & part, PartitionArguments & arguments)
{
  part.add_option("IN", arguments.Job.Input, "image to read")->required();
  AddModel(part, arguments.Job);
  AddSearch(part, arguments.Job);
  AddOutputs(part, arguments);
  command::AddBackend(part, arguments.Backend);
  part.footer("The pixels of each region are taken as samples of one distribution (--law), whose parameters are "
              "estimated. The\n"
              "number of regions and the nodes of their boundaries are those of the shortest description of the "
              "image.\n" +
              command::DescribeRegionFiles());
}

/** Returns the properties that the report and the polygons' file have in common. */
nlohmann::ordered_json
Summarise(const command::PartitionJob & job, const itk::CudaRegionPartition & partition)
{
  return { { "law", job.Law },
           { "number_of_looks", partition.GetResult().NumberOfLooks },
           { "regions", partition.GetNumberOfRegions() },
           { "nodes", partition.GetNumberOfNodes() },
           { "edges", partition.GetNumberOfEdges() },
           { "description", partition.GetDescription() },
           { "description_of_one_region", partition.GetDescriptionOfOneRegion() } };
}

std::string
ToString(itk::CudaRegionPartitionStop stop)
{
  std::ostringstream text;
  text << stop;
  return command::SnakeCase(text.str());
}

nlohmann::ordered_json
MakeReport(const command::PartitionJob & job, const itk::ImageIOBase & io, const command::PartitionOutcome & outcome)
{
  const auto &           result = outcome.Partition->GetResult();
  nlohmann::ordered_json report{ { "input", job.Input } };
  report.update(Summarise(job, *outcome.Partition));
  report["size"] = { io.GetDimensions(0), io.GetDimensions(1) };
  report["spacing"] = { io.GetSpacing(0), io.GetSpacing(1) };
  report["component_type"] = command::GetComponentName(io);
  report["converged"] = result.Stop == itk::CudaRegionPartitionStop::Converged;
  report["stop"] = ToString(result.Stop);
  report["iterations"] = result.NumberOfIterations;
  report["backend_asked"] = job.Backend;
  report["backend_used"] = command::SnakeCase(outcome.BackendUsed);
  report["backend_reason"] = outcome.BackendReason;
  report["seconds"] = { { "read", outcome.ReadSeconds }, { "filter", outcome.FilterSeconds } };
  report["host_threads"] = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  report["itk_version"] = itk::Version::GetITKVersion();
  return report;
}

void
Print(const command::PartitionJob & job, const command::PartitionOutcome & outcome)
{
  const itk::CudaRegionPartition & partition = *outcome.Partition;
  const auto &                     result = partition.GetResult();
  std::cout << job.Input << ": divided with backend " << command::SnakeCase(outcome.BackendUsed) << " in "
            << outcome.FilterSeconds << " s (" << outcome.BackendReason << ")\n"
            << partition.GetNumberOfRegions() << " regions, " << partition.GetNumberOfNodes() << " nodes, "
            << result.NumberOfIterations << " iterations; " << result.NumberOfLooks
            << " looks per pixel; description of " << partition.GetDescription() << " nats, as one region "
            << partition.GetDescriptionOfOneRegion() << '\n';
  if (result.Stop == itk::CudaRegionPartitionStop::MaximumNumberOfIterations)
  {
    std::cout << "not converged: stopped by " << ToString(result.Stop) << '\n';
  }
}

void
Partition(const PartitionArguments & arguments)
{
  command::PartitionJob job = arguments.Job;
  job.Backend = arguments.Backend.Backend;
  job.DeviceIndex = arguments.Backend.DeviceIndex;
  const auto io = command::OpenImage(job.Input);
  command::RequireRegionImage(*io, "divided");
  command::RequireWriters({ job.LabelsFile, job.MeansFile, job.OverlayFile });

  const command::PartitionOutcome outcome = command::PartitionImage(job, *io);
  Print(job, outcome);
  command::WritePolygons(arguments.PolygonsFile, *outcome.Partition, Summarise(job, *outcome.Partition), job.Input);
  command::WriteTable(arguments.TableFile, *outcome.Partition);
  command::WriteJson(arguments.ReportFile, MakeReport(job, *io, outcome));
}
} // namespace

void
command::AddPartition(CLI::App & app)
{
  AddPart(app,
          "partition",
          "Divides an image into all its homogeneous regions, with polygons for boundaries.",
          DescribeArguments,
          Partition);
}

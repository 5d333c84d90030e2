// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"
#include "files.h"
#include "json_file.h"
#include "region_arguments.h"
#include "vesselness_image.h"

#include "itkMultiThreaderBase.h"
#include "itkVersion.h"

#include <cmath>
#include <iostream>
#include <stdexcept>

namespace
{
struct VesselnessArguments
{
  command::VesselnessJob    Job;
  command::BackendArguments Backend;
  std::string               ReportFile;
};

void
AddMeasure(CLI::App & part, command::VesselnessJob & job)
{
  part
    .add_option("--measure", job.Measure, "what is made of the Hessian: objectness, frangi, sato, jerman or meijering")
    ->transform(command::OneOf({ "objectness", "frangi", "sato", "jerman", "meijering" }))
    ->type_name("NAME")
    ->capture_default_str();
  part.add_option("--object-dimension", job.ObjectDimension, "objectness: 0 finds blobs, 1 lines, 2 plates")
    ->type_name("INT")
    ->capture_default_str();
  part.add_flag("--bright,!--dark", job.Bright, "bright objects on dark ground, or dark ones on bright ground")
    ->default_str("on");
  part
    .add_flag("--normalize,!--no-normalize",
              job.Normalize,
              "second derivatives times sigma squared: thick and thin objects respond alike")
    ->default_str("on");
  part
    .add_option("--alpha", job.Alpha, "objectness, frangi: smaller values keep lines that are nearly plates; above 0")
    ->check(command::GreaterThanZero())
    ->capture_default_str();
  part.add_option("--beta", job.Beta, "objectness, frangi: smaller values suppress blobs; above 0")
    ->check(command::GreaterThanZero())
    ->capture_default_str();
  part
    .add_option(
      "--gamma",
      job.Gamma,
      "objectness, frangi: norms of Hessians below it fade; above 0; without it half of the largest norm of each scale")
    ->check(command::GreaterThanZero());
  part.add_option("--tau", job.Tau, "jerman: eigenvalues below this part of the largest one fade; from 0 to 1")
    ->check(command::FromZeroToOne())
    ->capture_default_str();
}

void
AddBoundary(CLI::App & part, command::VesselnessJob & job)
{
  part.add_option("--approximation", job.Approximation, "deriche: ITK's Hessians; accurate: closer to a Gaussian's")
    ->transform(command::OneOf({ "deriche", "accurate" }))
    ->type_name("NAME")
    ->capture_default_str();
  part.add_option("--boundary-mode", job.BoundaryMode, "how lines continue beyond their ends, as in scipy.ndimage")
    ->transform(command::OneOf({ "nearest", "reflect", "mirror", "wrap", "constant" }))
    ->type_name("NAME")
    ->capture_default_str();
  part.add_option("--boundary-value", job.BoundaryValue, "constant: what lies beyond the ends of the lines")
    ->type_name("VALUE")
    ->capture_default_str();
}

void
DescribeArguments(CLI::App & part, VesselnessArguments & arguments)
{
  auto & job = arguments.Job;
  part.add_option("IN", job.Input, "image to read")->required();
  part.add_option("OUT", job.Output, "image to write, of float; its extension says the format")->required();
  command::AddSigmas(part, job.Sigmas)->required();
  AddMeasure(part, job);
  AddBoundary(part, job);
  part.add_option("--scale-image", job.ScaleFile, "image to write: the sigma that gave each response")
    ->type_name("FILE");
  part
    .add_option("--mip",
                job.MipFile,
                "picture to write: the largest response along the last axis of a volume, or the response of an image")
    ->type_name("FILE.png");
  command::AddBackend(part, arguments.Backend);
  command::AddReport(part, arguments.ReportFile);
  part.footer(
    "The response is the largest of all sigmas, 0 where nothing is found. Physical units are those of the image's\n"
    "spacing: millimetres for most medical formats; pixels for files that say nothing about it. Reads PNG, TIFF,\n"
    "MetaImage (.mha, .mhd), NRRD and NIfTI, 2-D and 3-D, with one value per pixel; of RGB colours the luminance is\n"
    "taken, and of a 3-D file with a single slice that slice. Writes the same formats but PNG.");
}

unsigned int
RequireEnhanceable(const itk::ImageIOBase & io)
{
  const std::string  name = std::string("'") + io.GetFileName() + "'";
  const unsigned int axes = command::CountAxes(io);
  if (io.GetNumberOfDimensions() < 2 || axes > 3)
  {
    throw std::runtime_error(name + " has " + std::to_string(io.GetNumberOfDimensions()) +
                             " dimensions; 2 and 3 are supported");
  }
  command::RequireOneComponent(io);
  return axes;
}

/** Throws if the format holds only integers and therefore cannot store the response. */
void
RequireFormatOfNumbers(const std::string & fileName)
{
  if (!fileName.empty() && std::string(command::MakeWriter(fileName)->GetNameOfClass()) == "PNGImageIO")
  {
    throw std::runtime_error("'" + fileName +
                             "': PNG holds no floating-point numbers; write TIFF, MetaImage, NRRD or NIfTI, or a "
                             "picture by --mip");
  }
}

nlohmann::ordered_json
MakeReport(const VesselnessArguments &        arguments,
           const itk::ImageIOBase &           io,
           unsigned int                       axes,
           const command::VesselnessOutcome & outcome)
{
  const auto &           job = arguments.Job;
  nlohmann::ordered_json report;
  report["input"] = job.Input;
  report["output"] = job.Output;
  for (unsigned int axis = 0; axis < axes; ++axis)
  {
    report["size"].push_back(io.GetDimensions(axis));
    report["spacing"].push_back(io.GetSpacing(axis));
  }
  report["component_type"] = command::GetComponentName(io);
  report["sigmas"] = job.Sigmas;
  report["measure"] = job.Measure;
  report["object_dimension"] = job.ObjectDimension;
  report["bright"] = job.Bright;
  report["normalize"] = job.Normalize;
  report["alpha"] = job.Alpha;
  report["beta"] = job.Beta;
  report["gamma"] = job.Gamma;
  report["tau"] = job.Tau;
  report["approximation"] = job.Approximation;
  report["boundary_mode"] = job.BoundaryMode;
  report["boundary_value"] = job.BoundaryValue;
  report["largest_response"] = outcome.LargestResponse;
  report["backend_asked"] = arguments.Backend.Backend;
  report["backend_used"] = command::SnakeCase(outcome.BackendUsed);
  report["backend_reason"] = outcome.BackendReason;
  report["seconds"] = { { "read", outcome.ReadSeconds },
                        { "filter", outcome.FilterSeconds },
                        { "write", outcome.WriteSeconds } };
  report["host_threads"] = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  report["itk_version"] = itk::Version::GetITKVersion();
  return report;
}

void
Enhance(const VesselnessArguments & arguments)
{
  command::VesselnessJob job = arguments.Job;
  job.Backend = arguments.Backend.Backend;
  job.DeviceIndex = arguments.Backend.DeviceIndex;

  const auto io = command::OpenImage(job.Input);
  const auto axes = RequireEnhanceable(*io);
  // Report files that cannot be written before the work starts.
  RequireFormatOfNumbers(job.Output);
  RequireFormatOfNumbers(job.ScaleFile);
  command::RequireWriters({ job.MipFile });

  const command::VesselnessOutcome outcome = command::EnhanceVessels(job, *io, axes);
  std::cout << job.Output << ": vessels enhanced with backend " << command::SnakeCase(outcome.BackendUsed) << " in "
            << outcome.FilterSeconds << " s (" << outcome.BackendReason << ")\nlargest response "
            << outcome.LargestResponse << '\n';
  command::WriteJson(arguments.ReportFile, MakeReport(arguments, *io, axes, outcome));
}
} // namespace

void
command::AddVesselness(CLI::App & app)
{
  AddPart(app,
          "vesselness",
          "Enhances vessels and other lines by the Hessians of several scales.",
          DescribeArguments,
          Enhance);
}

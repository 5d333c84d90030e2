// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"
#include "files.h"
#include "json_file.h"
#include "smooth_file.h"

#include "itkMultiThreaderBase.h"
#include "itkVersion.h"

#include <iostream>
#include <stdexcept>

namespace
{
struct SmoothArguments
{
  std::string               Input;
  std::string               Output;
  std::vector<double>       Sigma;
  std::string               Approximation{ "deriche" };
  std::string               BoundaryMode{ "nearest" };
  double                    BoundaryValue{ 0.0 };
  command::BackendArguments Backend;
  std::string               Streaming{ "automatic" };
  size_t                    DeviceMemoryLimit{ 0 };
  size_t                    Memory{ 0 };
  std::string               ReportFile;
};

void
DescribeArguments(CLI::App & part, SmoothArguments & arguments)
{
  part.add_option("IN", arguments.Input, "image to read")->required();
  part.add_option("OUT", arguments.Output, "image to write; its extension says the format")->required();
  command::AddSigma(part, arguments.Sigma)->required();
  part.add_option("--approximation", arguments.Approximation, "deriche: ITK's results; accurate: closer to a Gaussian")
    ->transform(command::OneOf({ "deriche", "accurate" }))
    ->type_name("NAME")
    ->capture_default_str();
  part
    .add_option("--boundary-mode", arguments.BoundaryMode, "how lines continue beyond their ends, as in scipy.ndimage")
    ->transform(command::OneOf({ "nearest", "reflect", "mirror", "wrap", "constant" }))
    ->type_name("NAME")
    ->capture_default_str();
  part.add_option("--boundary-value", arguments.BoundaryValue, "constant: what lies beyond the ends of the lines")
    ->type_name("VALUE")
    ->capture_default_str();
  command::AddBackend(part, arguments.Backend);
  part
    .add_option("--streaming",
                arguments.Streaming,
                "automatic: in slabs if the image does not fit into the GPU's memory; on: in slabs; off: never")
    ->transform(command::OneOf({ "automatic", "on", "off" }))
    ->type_name("NAME")
    ->capture_default_str();
  command::AddSize(part,
                   "--device-memory-limit",
                   arguments.DeviceMemoryLimit,
                   "bytes of the GPU's memory to take at most: 6G, 512M, ...; 0: the configuration's",
                   true)
    ->default_str("0");
  command::AddSize(part,
                   "--memory",
                   arguments.Memory,
                   "memory for pixels, on the host and on the GPU: 8G, 512M, ... With it a file is read, smoothed and "
                   "written in parts",
                   false);
  command::AddReport(part, arguments.ReportFile);
  part.footer(
    "Physical units are those of the image's spacing: millimetres for most medical formats; pixels for files\n"
    "that say nothing about it. Reads and writes PNG, TIFF, MetaImage (.mha, .mhd), NRRD and NIfTI, 2-D and\n"
    "3-D, with one or several components per pixel; the output has the pixel type of the input. A 3-D file\n"
    "with a single slice is smoothed within that slice. With --memory a file that is read and written in parts is\n"
    "never held as a whole: raw MetaImage to raw MetaImage, and what else can be read in parts.");
}

/** Returns the number of axes to smooth along. Throws if the image cannot be smoothed. */
unsigned int
RequireSmoothable(const itk::ImageIOBase & io)
{
  const std::string name = std::string("'") + io.GetFileName() + "'";
  if (io.GetPixelType() == itk::IOPixelEnum::COMPLEX)
  {
    throw std::runtime_error(name + " holds complex numbers; smooth the real and the imaginary part instead");
  }
  const unsigned int axes = command::CountAxes(io);
  if (io.GetNumberOfDimensions() < 2 || axes > 3)
  {
    throw std::runtime_error(name + " has " + std::to_string(io.GetNumberOfDimensions()) +
                             " dimensions; 2 and 3 are supported");
  }
  return axes;
}

/** Returns the bytes of pixels that were read and written, per second of the total time. */
double
GetRate(const itk::ImageIOBase & io, const command::SmoothOutcome & outcome)
{
  const double seconds = outcome.ReadSeconds + outcome.FilterSeconds + outcome.WriteSeconds;
  return 2.0 * static_cast<double>(io.GetImageSizeInBytes()) / seconds;
}

nlohmann::ordered_json
MakeSlabs(const itk::CudaSlabReport & report)
{
  nlohmann::ordered_json slabs;
  slabs["used"] = command::SnakeCase(itk::CudaSlabScheduleToString(report.Used));
  slabs["number_of_slabs"] = report.NumberOfSlabs;
  slabs["look_ahead"] = report.LookAhead;
  slabs["devices"] = report.Devices;
  slabs["bytes_up"] = report.BytesUp;
  slabs["bytes_down"] = report.BytesDown;
  slabs["peak_device_bytes"] = report.PeakDeviceBytes;
  return slabs;
}

nlohmann::ordered_json
MakeReport(const SmoothArguments &        arguments,
           const itk::ImageIOBase &       io,
           const std::vector<double> &    sigma,
           const command::SmoothOutcome & outcome)
{
  nlohmann::ordered_json report;
  report["input"] = arguments.Input;
  report["output"] = arguments.Output;
  for (unsigned int axis = 0; axis < io.GetNumberOfDimensions(); ++axis)
  {
    report["size"].push_back(io.GetDimensions(axis));
    report["spacing"].push_back(io.GetSpacing(axis));
  }
  report["component_type"] = command::GetComponentName(io);
  report["components_per_pixel"] = io.GetNumberOfComponents();
  report["sigma"] = sigma;
  report["approximation"] = arguments.Approximation;
  report["boundary_mode"] = arguments.BoundaryMode;
  report["boundary_value"] = arguments.BoundaryValue;
  report["streaming"] = arguments.Streaming;
  report["device_memory_limit"] = arguments.DeviceMemoryLimit;
  report["memory"] = arguments.Memory;
  report["backend_asked"] = arguments.Backend.Backend;
  report["backend_used"] = command::SnakeCase(outcome.BackendUsed);
  report["backend_reason"] = outcome.BackendReason;
  report["seconds"] = { { "read", outcome.ReadSeconds },
                        { "filter", outcome.FilterSeconds },
                        { "write", outcome.WriteSeconds } };
  report["bytes_per_second"] = GetRate(io, outcome);
  report["slabs"] = MakeSlabs(outcome.Report);
  report["host_threads"] = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  report["itk_version"] = itk::Version::GetITKVersion();
  return report;
}

void
Smooth(const SmoothArguments & arguments)
{
  const auto io = command::OpenImage(arguments.Input);
  const auto sigma = command::SigmaOfAxes(arguments.Sigma, RequireSmoothable(*io));
  command::MakeWriter(arguments.Output); // report an unknown extension before the work starts

  const command::SmoothJob     job{ arguments.Output,
                                sigma,
                                arguments.Approximation,
                                arguments.BoundaryMode,
                                arguments.BoundaryValue,
                                arguments.Backend.Backend,
                                arguments.Backend.DeviceIndex,
                                arguments.Streaming,
                                arguments.DeviceMemoryLimit };
  const bool                   inParts = arguments.Memory > 0 && command::CanSmoothFile(job, *io, arguments.Memory);
  const command::SmoothOutcome outcome =
    inParts ? command::SmoothFile(job, *io, arguments.Memory) : command::SmoothImage(job, *io);
  std::cout << arguments.Output << ": smoothed with backend " << command::SnakeCase(outcome.BackendUsed) << " in "
            << outcome.FilterSeconds << " s, " << GetRate(*io, outcome) / 1e9 << " GB/s read and written ("
            << outcome.BackendReason << "; " << outcome.Report << ")\n";
  command::WriteJson(arguments.ReportFile, MakeReport(arguments, *io, sigma, outcome));
}
} // namespace

void
command::AddSmooth(CLI::App & app)
{
  AddPart(app, "smooth", "Smooths an image with a Gaussian.", DescribeArguments, Smooth);
}

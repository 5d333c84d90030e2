// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"
#include "compare_images.h"
#include "files.h"
#include "json_file.h"

#include "itkMultiThreaderBase.h"
#include "itkVersion.h"

#include <iostream>

namespace
{
struct CompareArguments
{
  command::CompareJob       Job;
  std::vector<double>       Sigma{ 4.0 };
  command::BackendArguments Backend;
  std::string               ReportFile;
};

void
DescribeArguments(CLI::App & part, CompareArguments & arguments)
{
  auto & job = arguments.Job;
  auto * input =
    part.add_option("IN", job.Input, "image of two or three dimensions, read as float; without it: --size");
  command::AddSigma(part, arguments.Sigma)->default_str("4");
  part
    .add_option(
      "--size", job.Size, "pixels a side of a cube of pseudo-random values from 0 to 255, instead of an image")
    ->check(CLI::Range(4, 4096))
    ->excludes(input)
    ->capture_default_str();
  part.add_option("--runs", job.Runs, "timed runs of each filter")->check(CLI::Range(1, 1000))->capture_default_str();
  part
    .add_option("--raw",
                job.RawPrefix,
                "write PREFIXinput.raw, PREFIXresult.raw and PREFIXdifference.raw, in float32; the difference is that "
                "from ITK's filter in float64")
    ->type_name("PREFIX");
  command::AddBackend(part, arguments.Backend);
  command::AddReport(part, arguments.ReportFile);
  part.footer("The times are medians, after a first run, from image to image in host memory.");
}

std::string
FormatSize(const std::vector<size_t> & size)
{
  std::string text;
  for (const size_t side : size)
  {
    text += (text.empty() ? "" : " x ") + std::to_string(side);
  }
  return text;
}

void
Print(const command::CompareJob & job, const command::CompareOutcome & outcome)
{
  std::cout << FormatSize(outcome.Size) << " pixels of float, sigma " << CLI::detail::join(job.Sigma, ", ")
            << ", medians of " << job.Runs << " runs\n"
            << "this module's filter: " << outcome.Milliseconds << " ms on "
            << (outcome.Device.empty() ? "the host" : outcome.Device) << " (" << outcome.BackendReason << ")\n"
            << "ITK's filter: " << outcome.ItkMilliseconds << " ms on "
            << itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads() << " threads\n"
            << "largest difference from ITK's result: " << outcome.LargestDifferenceFromFloat32
            << "; from ITK's in float64: " << outcome.LargestDifferenceFromFloat64 << '\n';
}

nlohmann::ordered_json
MakeReport(const command::CompareJob & job, const command::CompareOutcome & outcome)
{
  nlohmann::ordered_json report;
  report["input"] = job.Input.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(job.Input);
  report["size"] = outcome.Size;
  report["spacing"] = outcome.Spacing;
  report["sigma"] = job.Sigma;
  report["runs"] = job.Runs;
  report["backend_asked"] = job.Backend;
  report["backend_used"] = command::SnakeCase(outcome.BackendUsed);
  report["backend_reason"] = outcome.BackendReason;
  report["device"] = outcome.Device;
  report["host_threads"] = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  report["milliseconds"] = outcome.Milliseconds;
  report["itk_milliseconds"] = outcome.ItkMilliseconds;
  report["largest_difference_from_float32"] = outcome.LargestDifferenceFromFloat32;
  report["largest_difference_from_float64"] = outcome.LargestDifferenceFromFloat64;
  report["itk_version"] = itk::Version::GetITKVersion();
  return report;
}

void
Compare(const CompareArguments & arguments)
{
  command::CompareJob job = arguments.Job;
  const unsigned int  axes = job.Input.empty() ? 3 : command::CountAxes(*command::OpenImage(job.Input));
  if (axes > 3)
  {
    throw std::runtime_error("'" + job.Input + "' has " + std::to_string(axes) + " dimensions; 2 and 3 are supported");
  }
  job.Sigma = command::SigmaOfAxes(arguments.Sigma, axes);
  job.Backend = arguments.Backend.Backend;
  job.DeviceIndex = arguments.Backend.DeviceIndex;
  const command::CompareOutcome outcome = command::CompareImages(job);
  Print(job, outcome);
  command::WriteJson(arguments.ReportFile, MakeReport(job, outcome));
}
} // namespace

void
command::AddCompare(CLI::App & app)
{
  AddPart(app,
          "compare",
          "Smooths with this module's filter and with ITK's own, and tells how fast and how far apart they are.",
          DescribeArguments,
          Compare);
}

// SPDX-License-Identifier: Apache-2.0
// Smooths an image file with a Gaussian: on the GPU if there is one, else on the host.
#include "smooth_image.h"

#include "example_json.h"
#include "example_tools.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkImageFileReader.h" // registers the formats
#include "itkMultiThreaderBase.h"
#include "itkVersion.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <iostream>
#include <stdexcept>

namespace
{
const CLI::Validator Positive(
  [](std::string & text) {
    double value = 0.0;
    return CLI::detail::lexical_cast(text, value) && value > 0.0 && std::isfinite(value)
             ? std::string()
             : "'" + text + "' is not a number greater than 0";
  },
  "GREATER THAN 0");

struct Arguments
{
  example::Job  Job;
  double        Sigma{ 0.0 };
  CLI::Option * AxisOption[3]{ nullptr, nullptr, nullptr };
  std::string   StatsFile;
};

void
DescribeArguments(CLI::App & app, Arguments & arguments)
{
  app.description(
    "Smooths an image with a Gaussian.\n"
    "\n"
    "Sigma, the Gaussian's standard deviation, is given in the physical units of the image, i.e. in the units of\n"
    "its spacing: millimetres for most medical formats; pixels for files that say nothing about it (spacing 1).\n"
    "Reads and writes PNG, TIFF, MetaImage (.mha, .mhd), NRRD and NIfTI, 2-D and 3-D, with one or several\n"
    "components per pixel; the output has the pixel type of the input. A 3-D file with a single slice is smoothed\n"
    "within that slice.");
  app.add_option("IN", arguments.Job.Input, "image to read")->required();
  app.add_option("OUT", arguments.Job.Output, "image to write; its extension says the format")->required();
  auto * const       sigma = app.add_option("-s,--sigma", arguments.Sigma, "sigma along all axes")->check(Positive);
  const char * const names[3] = { "--sigma-x", "--sigma-y", "--sigma-z" };
  const char * const texts[3] = { "sigma along the first axis, instead of --sigma",
                                  "sigma along the second axis",
                                  "sigma along the third axis" };
  for (int axis = 0; axis < 3; ++axis)
  {
    arguments.AxisOption[axis] = app.add_option(names[axis], arguments.Job.Sigma[axis], texts[axis])->check(Positive);
  }
  app
    .add_option("--backend",
                arguments.Job.Backend,
                "automatic: the GPU if one can be used, else the host; cuda: the GPU or an error; host: never the GPU")
    ->check(CLI::IsMember({ "automatic", "cuda", "host" }, CLI::ignore_case))
    ->capture_default_str();
  app.add_option("--device", arguments.Job.DeviceIndex, "index of the GPU; default: ITK_CUDAFILTERS_DEVICE, or 0")
    ->check(CLI::NonNegativeNumber);
  app.add_option("--stats", arguments.StatsFile, "write what was done and how long it took to this JSON file");
  app.add_flag_callback(
    "--version",
    [] {
      std::cout << itk::Version::GetITKVersion() << " (ITK)\n" << itk::CudaFiltersConfiguration::GetStatus() << '\n';
      throw CLI::Success();
    },
    "show the version of ITK and the GPUs found");
  app.footer("Exit status: 0 done, 1 the image could not be read, smoothed or written, 2 wrong arguments.");
  app.callback([sigma, &arguments] {
    if (sigma->count() == 0 && arguments.AxisOption[0]->count() == 0 && arguments.AxisOption[1]->count() == 0)
    {
      throw CLI::RequiredError("--sigma (or --sigma-x and --sigma-y)");
    }
  });
}

/** The axes of the file that are smoothed, and the sigma of each. */
void
CompleteSigma(Arguments & arguments, unsigned int dimension)
{
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    if (arguments.AxisOption[axis]->count() > 0)
    {
      if (axis >= dimension)
      {
        throw CLI::ValidationError("--sigma-z", "the image has no third axis to smooth along");
      }
      continue;
    }
    if (axis < dimension && arguments.Sigma <= 0.0)
    {
      throw CLI::ValidationError("--sigma", "needed, because a sigma is not given for each of the image's axes");
    }
    arguments.Job.Sigma[axis] = arguments.Sigma;
  }
}

/** The image's axes, without those at the end that have one pixel. */
unsigned int
CountAxes(const itk::ImageIOBase & io)
{
  unsigned int axes = io.GetNumberOfDimensions();
  while (axes > 2 && io.GetDimensions(axes - 1) == 1)
  {
    --axes;
  }
  if (axes < 2 || axes > 3)
  {
    throw std::runtime_error(std::string("'") + io.GetFileName() + "' has " + std::to_string(axes) +
                             " dimensions; 2 and 3 are supported");
  }
  return axes;
}

void
WriteStats(const Arguments &        arguments,
           const itk::ImageIOBase & io,
           unsigned int             axes,
           const example::Outcome & outcome)
{
  nlohmann::ordered_json stats;
  stats["input"] = arguments.Job.Input;
  stats["output"] = arguments.Job.Output;
  for (unsigned int axis = 0; axis < io.GetNumberOfDimensions(); ++axis)
  {
    stats["size"].push_back(io.GetDimensions(axis));
    stats["spacing"].push_back(io.GetSpacing(axis));
  }
  stats["component_type"] = itk::ImageIOBase::GetComponentTypeAsString(io.GetComponentType());
  stats["components_per_pixel"] = io.GetNumberOfComponents();
  for (unsigned int axis = 0; axis < axes; ++axis)
  {
    stats["sigma"].push_back(arguments.Job.Sigma[axis]);
  }
  stats["backend_asked"] = arguments.Job.Backend;
  stats["backend_used"] = outcome.BackendUsed;
  stats["backend_reason"] = outcome.BackendReason;
  stats["seconds"] = { { "read", outcome.ReadSeconds },
                       { "filter", outcome.FilterSeconds },
                       { "write", outcome.WriteSeconds } };
  stats["host_threads"] = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  stats["itk_version"] = itk::Version::GetITKVersion();

  example::WriteJson(arguments.StatsFile, stats);
}

void
Run(Arguments & arguments)
{
  const auto io = example::Describe(arguments.Job.Input);
  if (io->GetPixelType() == itk::IOPixelEnum::COMPLEX)
  {
    throw std::runtime_error("'" + arguments.Job.Input +
                             "' holds complex numbers; smooth the real and the imaginary part instead");
  }
  const auto axes = CountAxes(*io);
  CompleteSigma(arguments, axes);

  const auto outcome = axes == 2 ? example::Smooth2D(arguments.Job, *io) : example::Smooth3D(arguments.Job, *io);

  std::cout << arguments.Job.Output << ": smoothed with backend " << outcome.BackendUsed << " in "
            << outcome.FilterSeconds << " s (" << outcome.BackendReason << ")\n";
  if (!arguments.StatsFile.empty())
  {
    WriteStats(arguments, *io, axes, outcome);
  }
}
} // namespace

void
example::WriteImage(const Job & job, itk::ImageIOBase & description, const void * pixels)
{
  const auto         io = MakeWriter(job.Output);
  const unsigned int dimension = description.GetNumberOfDimensions();
  itk::ImageIORegion region(dimension);
  io->SetNumberOfDimensions(dimension);
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    auto direction = description.GetDirection(axis);
    direction.resize(dimension);
    io->SetDimensions(axis, description.GetDimensions(axis));
    io->SetSpacing(axis, description.GetSpacing(axis));
    io->SetOrigin(axis, description.GetOrigin(axis));
    io->SetDirection(axis, direction);
    region.SetSize(axis, description.GetDimensions(axis));
  }
  io->SetPixelType(description.GetPixelType());
  io->SetComponentType(description.GetComponentType());
  io->SetNumberOfComponents(description.GetNumberOfComponents());
  if (std::string(io->GetNameOfClass()) == description.GetNameOfClass())
  {
    io->SetMetaDataDictionary(description.GetMetaDataDictionary()); // notes in the format's own terms
  }
  io->SetFileName(job.Output);
  io->SetIORegion(region);
  io->WriteImageInformation();
  io->Write(pixels);
}

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
    std::cerr << "smooth_image: " << error.GetDescription() << '\n';
    return example::ExitFailure;
  }
  catch (const std::exception & error)
  {
    std::cerr << "smooth_image: " << error.what() << '\n';
    return example::ExitFailure;
  }
  return EXIT_SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0
// The filters of this module as a command for image files; docs/user/parameters.md describes its arguments.
#include "arguments.h"

#include "itkMacro.h"

#include <iostream>

namespace
{
constexpr int ExitFailure = 1;
constexpr int ExitWrongArguments = 2;

/** Returns "itk-cudafilters", followed by the command that was called. */
std::string
GetName(const CLI::App & app)
{
  std::string name = app.get_name();
  for (const CLI::App * const part : app.get_subcommands())
  {
    name += " " + part->get_name();
  }
  return name;
}

/** Returns the reason of an error. It names an unknown command, for which CLI11 only says that a command is required.
 */
std::string
GetReason(const CLI::App & app, const CLI::Error & error)
{
  const auto unknown = app.remaining();
  if (!app.get_subcommands().empty() || unknown.empty())
  {
    return error.what();
  }
  return "'" + unknown.front() + "' is not known; it must be smooth, segment, partition, vesselness, compare or info";
}

std::string
DescribeWrongArguments(const CLI::App * app, const CLI::Error & error)
{
  const std::string name = GetName(*app);
  return name + ": " + GetReason(*app, error) + "\n'" + name + " --help' lists the arguments.\n";
}

void
Describe(CLI::App & app)
{
  app.require_subcommand(1);
  app.formatter(command::MakeFormatter());
  app.failure_message(DescribeWrongArguments);
  app.footer("'itk-cudafilters smooth --help' describes smooth, and so on.\n"
             "Exit status: 0 done; 1 an image could not be read, processed or written; 2 wrong arguments.");
  command::AddVersion(app);
  command::AddSmooth(app);
  command::AddSegment(app);
  command::AddPartition(app);
  command::AddVesselness(app);
  command::AddCompare(app);
  command::AddInfo(app);
}

int
Fail(const CLI::App & app, const char * reason)
{
  std::cerr << GetName(app) << ": " << reason << '\n';
  return ExitFailure;
}
} // namespace

int
main(int argc, char * argv[])
{
  CLI::App app(
    "Gaussian filters, vesselness and segmentation of image files, on the GPU if there is one, else on the host.",
    "itk-cudafilters");
  Describe(app);
  try
  {
    app.parse(argc, argv);
  }
  catch (const CLI::ParseError & error)
  {
    return app.exit(error) == 0 ? EXIT_SUCCESS : ExitWrongArguments;
  }
  catch (const itk::ExceptionObject & error)
  {
    return Fail(app, error.GetDescription());
  }
  catch (const std::exception & error)
  {
    return Fail(app, error.what());
  }
  return EXIT_SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0
#ifndef arguments_h
#define arguments_h

#include <CLI/CLI.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

// Arguments and helpers that the commands have in common.

namespace command
{
struct BackendArguments
{
  std::string Backend{ "automatic" };
  int         DeviceIndex{ -1 };
};

/** The Add functions add a command: its arguments, and the function that runs it. */
void
AddSmooth(CLI::App & app);
void
AddSegment(CLI::App & app);
void
AddPartition(CLI::App & app);
void
AddVesselness(CLI::App & app);
void
AddCompare(CLI::App & app);
void
AddInfo(CLI::App & app);

void
AddVersion(CLI::App & app);
void
AddBackend(CLI::App & part, BackendArguments & arguments);
/** Adds an option for a number of bytes above 0, also in the form 8G, or for 0 if that is allowed. */
CLI::Option *
AddSize(CLI::App & part, const std::string & name, size_t & size, const std::string & description, bool allowsZero);
void
AddReport(CLI::App & part, std::string & fileName);
/** Adds the option --sigma S[,S...]. */
CLI::Option *
AddSigma(CLI::App & part, std::vector<double> & sigma);

/** Adds the option --sigmas S[,S...]. */
CLI::Option *
AddSigmas(CLI::App & part, std::vector<double> & sigmas);

/** Returns a sigma for each axis. \exception CLI::ValidationError unless there is one sigma, or one for each axis */
std::vector<double>
SigmaOfAxes(const std::vector<double> & sigma, unsigned int axes);

/** Accepts finite numbers above 0, and refuses NaN. */
CLI::Validator
GreaterThanZero();

/** Accepts numbers from 0 to 1, and refuses NaN. */
CLI::Validator
FromZeroToOne();

/** Accepts one of these names, compared without case, '_' and '-'. */
CLI::Validator
OneOf(const std::vector<std::string> & names);

/** Converts "CoarseToFine" to "coarse_to_fine". */
std::string
SnakeCase(const std::string & name);

/** Returns a formatter for help texts: each option's names, value and default in a line, and its wrapped description
 * below. */
std::shared_ptr<CLI::FormatterBase>
MakeFormatter();

/** Adds a command with --version, which passes its parsed arguments to `run`. */
template <typename TArguments>
void
AddPart(CLI::App &          app,
        const std::string & name,
        const std::string & description,
        void (*describe)(CLI::App &, TArguments &),
        void (*run)(const TArguments &))
{
  CLI::App * const part = app.add_subcommand(name, description);
  const auto       arguments = std::make_shared<TArguments>();
  describe(*part, *arguments);
  AddVersion(*part);
  part->callback([arguments, run] { run(*arguments); });
}
} // namespace command

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef arguments_h
#define arguments_h

#include <CLI/CLI.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

// What the parts of the command have in common in their arguments.

namespace command
{
struct BackendArguments
{
  std::string Backend{ "automatic" };
  int         DeviceIndex{ -1 };
};

/** Each adds a part of the command: its arguments, and what it does with them. */
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
/** An option SIZE: a number of bytes above 0, also as 8G; or 0 if that is allowed. */
CLI::Option *
AddSize(CLI::App & part, const std::string & name, size_t & size, const std::string & description, bool allowsZero);
void
AddReport(CLI::App & part, std::string & fileName);
/** --sigma S[,S...] */
CLI::Option *
AddSigma(CLI::App & part, std::vector<double> & sigma);

/** --sigmas S[,S...] */
CLI::Option *
AddSigmas(CLI::App & part, std::vector<double> & sigmas);

/** The sigma of each of `axes` axes. \exception CLI::ValidationError unless there is one sigma, or one for each axis */
std::vector<double>
SigmaOfAxes(const std::vector<double> & sigma, unsigned int axes);

/** A finite number above 0. NaN is not. */
CLI::Validator
GreaterThanZero();

/** NaN is not. */
CLI::Validator
FromZeroToOne();

/** One of these names; case, '_' and '-' do not matter. */
CLI::Validator
OneOf(const std::vector<std::string> & names);

/** "CoarseToFine" -> "coarse_to_fine" */
std::string
SnakeCase(const std::string & name);

/** Help with each option's names, value and default in one line, and its description, wrapped, below. */
std::shared_ptr<CLI::FormatterBase>
MakeFormatter();

/** A part of the command with --version, which hands its arguments to `run` once they are parsed. */
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

// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include "itkVersion.h"

#include <cctype>
#include <cmath>
#include <sstream>

namespace
{
/** Reads a number of bytes such as "8G", which is 8 times 2^30. \exception CLI::ValidationError for other text */
size_t
ReadSize(const std::string & option, const std::string & text)
{
  static const std::string units = "KMGT";
  std::string              number = text;
  double                   factor = 1.0;
  const size_t unit = text.empty() ? std::string::npos : units.find(static_cast<char>(std::toupper(text.back())));
  if (unit != std::string::npos)
  {
    number.pop_back();
    factor = std::ldexp(1.0, 10 * static_cast<int>(unit + 1));
  }
  double     value = 0.0;
  const bool isNumber = !number.empty() && number.find_first_not_of("0123456789.") == std::string::npos &&
                        CLI::detail::lexical_cast(number, value);
  if (!isNumber || !(value * factor >= 1.0) || !(value * factor < std::ldexp(1.0, 63)))
  {
    throw CLI::ValidationError(option,
                               "'" + text + "' is not a number of bytes above 0, or one with K, M, G or T as in 8G");
  }
  return static_cast<size_t>(value * factor);
}

/** Converts a name to lower case without '_' and '-'. */
std::string
Normalise(std::string name)
{
  name = CLI::detail::remove_underscore(CLI::detail::to_lower(name));
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
}

/** Wraps a text to lines of at most 96 columns that begin with `indent`. */
std::string
Wrap(const std::string & text, const std::string & indent)
{
  constexpr size_t   width = 96;
  std::istringstream words(text);
  std::string        word;
  std::string        wrapped;
  std::string        line = indent;
  while (words >> word)
  {
    if (line.size() > indent.size() && line.size() + 1 + word.size() > width)
    {
      wrapped += line + '\n';
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + word;
  }
  return wrapped + line + '\n';
}

class HelpFormatter : public CLI::Formatter
{
public:
  std::string
  make_option(const CLI::Option * option, bool isPositional) const override
  {
    std::string line = "  " + (isPositional ? option->get_name(true) : GetNames(*option));
    if (!isPositional && !GetTypeName(*option).empty())
    {
      line += " " + GetTypeName(*option);
    }
    if (!isPositional && option->get_required())
    {
      line += " (required)";
    }
    if (!option->get_default_str().empty())
    {
      line += " (default: " + option->get_default_str() + ")";
    }
    return line + '\n' + Wrap(option->get_description(), "      ");
  }

private:
  /** Returns the names as "--on, --off", where CLI11 would write "--off{false}" for flags that switch off. */
  static std::string
  GetNames(const CLI::Option & option)
  {
    const std::string names = CLI::detail::find_and_replace(option.get_name(false, true), "{false}", "");
    return CLI::detail::find_and_replace(names, ",", ", ");
  }

  /** Returns the type of a value without the validators that CLI11 appends after a colon. */
  static std::string
  GetTypeName(const CLI::Option & option)
  {
    const std::string name = option.get_type_name();
    return name.substr(0, name.find(':'));
  }
};
} // namespace

void
command::AddVersion(CLI::App & app)
{
  app.set_version_flag("--version",
                       std::string("itk-cudafilters " CudaFilters_VERSION ", ITK ") + itk::Version::GetITKVersion(),
                       "show the versions of this program and of ITK");
}

void
command::AddBackend(CLI::App & part, BackendArguments & arguments)
{
  part
    .add_option("--backend",
                arguments.Backend,
                "automatic: the GPU if one can be used, else the host; cuda: the GPU or an error; host: never the GPU")
    ->transform(OneOf({ "automatic", "cuda", "host" }))
    ->type_name("NAME")
    ->capture_default_str();
  part
    .add_option("--device-index",
                arguments.DeviceIndex,
                "index of the GPU; -1: the configuration's, which is ITK_CUDAFILTERS_DEVICE or 0")
    ->type_name("INT")
    ->capture_default_str();
}

CLI::Validator
command::GreaterThanZero()
{
  return CLI::Validator(
    [](std::string & text) {
      double value = 0.0;
      return CLI::detail::lexical_cast(text, value) && value > 0.0 && std::isfinite(value)
               ? std::string()
               : "'" + text + "' is not a number greater than 0";
    },
    "");
}

CLI::Validator
command::FromZeroToOne()
{
  return CLI::Validator(
    [](std::string & text) {
      double value = -1.0;
      return CLI::detail::lexical_cast(text, value) && value >= 0.0 && value <= 1.0
               ? std::string()
               : "'" + text + "' is not a number from 0 to 1";
    },
    "");
}

CLI::Option *
command::AddSize(CLI::App &          part,
                 const std::string & name,
                 size_t &            size,
                 const std::string & description,
                 bool                allowsZero)
{
  return part
    .add_option_function<std::string>(
      name,
      [name, &size, allowsZero](const std::string & text) {
        size = allowsZero && text == "0" ? 0 : ReadSize(name, text);
      },
      description)
    ->type_name("SIZE");
}

void
command::AddReport(CLI::App & part, std::string & fileName)
{
  part.add_option("--report", fileName, "JSON file to write: what was done and found, and how long it took")
    ->type_name("FILE.json");
}

CLI::Option *
command::AddSigma(CLI::App & part, std::vector<double> & sigma)
{
  return part
    .add_option("-s,--sigma",
                sigma,
                "standard deviation of the Gaussian in the physical units of the image: one value, or one for each "
                "axis x,y[,z]")
    ->delimiter(',')
    ->allow_extra_args(false)
    ->check(GreaterThanZero())
    ->type_name("S[,S...]");
}

CLI::Option *
command::AddSigmas(CLI::App & part, std::vector<double> & sigmas)
{
  return part
    .add_option(
      "--sigmas", sigmas, "standard deviations of the scales in the physical units of the image, each above 0")
    ->delimiter(',')
    ->allow_extra_args(false)
    ->check(GreaterThanZero())
    ->type_name("S[,S...]");
}

std::vector<double>
command::SigmaOfAxes(const std::vector<double> & sigma, unsigned int axes)
{
  if (sigma.size() == 1)
  {
    return std::vector<double>(axes, sigma.front());
  }
  if (sigma.size() != axes)
  {
    throw CLI::ValidationError("--sigma",
                               std::to_string(sigma.size()) +
                                 " values are given; it takes one, or one for each of the " + std::to_string(axes) +
                                 " axes of the image");
  }
  return sigma;
}

CLI::Validator
command::OneOf(const std::vector<std::string> & names)
{
  return CLI::IsMember(names, Normalise);
}

std::string
command::SnakeCase(const std::string & name)
{
  std::string result;
  for (const unsigned char character : name)
  {
    if (std::isupper(character) && !result.empty())
    {
      result += '_';
    }
    result += static_cast<char>(std::tolower(character));
  }
  return result;
}

std::shared_ptr<CLI::FormatterBase>
command::MakeFormatter()
{
  return std::make_shared<HelpFormatter>();
}

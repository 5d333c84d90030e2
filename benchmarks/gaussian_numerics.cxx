// SPDX-License-Identifier: Apache-2.0

// Computes the figures of docs/developer/numerics.md as JSON: impulse responses, effective sigma, errors of
// derivatives, and rounding errors of float arithmetic. Everything runs on the host.
//
// usage: gaussian_numerics OUTPUT.json

#include "itkCudaDetailGaussianPlan.h"
#include "gaussian/host/HostPlan.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkGaussianOperator.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace
{
using nlohmann::json;
using Line = std::vector<double>;
using ImageType = itk::Image<double, 1>;
using ApproximationEnum = itk::CudaFiltersEnums::Approximation;

/** A filter of one line: order, sigma in pixels. */
using LineFilter = std::function<Line(unsigned int order, double sigma, const Line & line)>;

ImageType::Pointer
ToImage(const Line & line)
{
  auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { line.size() } });
  image->Allocate();
  std::copy(line.begin(), line.end(), image->GetBufferPointer());
  return image;
}

Line
ToLine(const ImageType * image)
{
  const double * const begin = image->GetBufferPointer();
  return Line(begin, begin + image->GetBufferedRegion().GetNumberOfPixels());
}

template <typename TFilter>
Line
RunRecursive(TFilter * filter, unsigned int order, double sigma, const Line & line)
{
  filter->SetInput(ToImage(line));
  filter->SetOrder(static_cast<itk::GaussianOrderEnum>(order));
  filter->SetSigma(sigma);
  filter->Update();
  return ToLine(filter->GetOutput());
}

Line
FilterByITK(unsigned int order, double sigma, const Line & line)
{
  const auto filter = itk::RecursiveGaussianImageFilter<ImageType>::New();
  return RunRecursive(filter.GetPointer(), order, sigma, line);
}

Line
FilterAccurately(unsigned int order, double sigma, const Line & line)
{
  const auto filter = itk::CudaRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetBackend("host");
  filter->SetApproximation("accurate");
  return RunRecursive(filter.GetPointer(), order, sigma, line);
}

Line
FilterByYoungAndVanVliet(unsigned int, double sigma, const Line & line)
{
  const auto filter = itk::CudaPartitionedRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetBackend("host");
  filter->SetPartition("oneway");
  filter->SetInput(ToImage(line));
  filter->SetSigma(sigma);
  filter->Update();
  return ToLine(filter->GetOutput());
}

/** Correlates a line with an odd number of weights. The line is zero beyond its ends. */
Line
Convolve(const Line & weights, const Line & line)
{
  const auto radius = static_cast<std::ptrdiff_t>(weights.size() / 2);
  const auto length = static_cast<std::ptrdiff_t>(line.size());
  Line       output(line.size(), 0.0);
  for (std::ptrdiff_t n = 0; n < length; ++n)
  {
    for (std::ptrdiff_t k = std::max(-radius, n - length + 1); k <= std::min(radius, n); ++k)
    {
      output[n] += weights[k + radius] * line[n - k];
    }
  }
  return output;
}

/** Convolves with the weights of itk::DiscreteGaussianImageFilter with its default error bound, at any width. */
Line
FilterByGaussianOperator(unsigned int, double sigma, const Line & line)
{
  itk::GaussianOperator<double, 1> gaussian;
  gaussian.SetDirection(0);
  gaussian.SetVariance(sigma * sigma);
  gaussian.SetMaximumError(0.01);
  gaussian.SetMaximumKernelWidth(100000);
  gaussian.CreateDirectional();
  return Convolve(Line(gaussian.Begin(), gaussian.End()), line);
}

double
HermiteFunction(unsigned int order, double x)
{
  const double factor = order == 0 ? 1.0 : (order == 1 ? -x : x * x - 1.0);
  return factor * std::exp(-0.5 * x * x);
}

/** Convolves with the sampled derivative of the Gaussian, truncated at 4 sigma and scaled so that the sampled Gaussian
 * has the sum 1. SciPy uses these weights. */
Line
FilterBySamples(unsigned int order, double sigma, const Line & line)
{
  const auto radius = static_cast<int>(4.0 * sigma + 0.5);
  Line       weights;
  double     sum = 0.0;
  for (int n = -radius; n <= radius; ++n)
  {
    weights.push_back(HermiteFunction(order, n / sigma) / std::pow(sigma, order));
    sum += HermiteFunction(0, n / sigma);
  }
  std::transform(weights.begin(), weights.end(), weights.begin(), [sum](double w) { return w / sum; });
  return Convolve(weights, line);
}

struct Method
{
  std::string  Name;
  unsigned int Orders; // 0 to this one
  LineFilter   Filter;
  double       LargestSigma{ std::numeric_limits<double>::infinity() };
};

/** Above this sigma, ITK's discrete Gaussian loses its accuracy, because the recurrence for its Bessel functions starts
 * too low for large arguments. */
constexpr double LargestSigmaOfGaussianOperator = 10.0;

const std::vector<Method> Methods = { { "itk_recursive", 2, FilterByITK },
                                      { "accurate", 2, FilterAccurately },
                                      { "young_van_vliet", 0, FilterByYoungAndVanVliet },
                                      { "itk_discrete", 0, FilterByGaussianOperator, LargestSigmaOfGaussianOperator },
                                      { "samples_4_sigma", 2, FilterBySamples } };

size_t
GetLineLength(double sigma)
{
  return 2 * static_cast<size_t>(std::ceil(14.0 * sigma) + 20.0) + 1;
}

double
GetMaximum(const Line & line)
{
  return std::accumulate(line.begin(), line.end(), 0.0, [](double m, double v) { return std::max(m, std::abs(v)); });
}

double
GetLargestDifference(const Line & a, const Line & b)
{
  double difference = 0.0;
  for (size_t n = 0; n < a.size(); ++n)
  {
    const double here = std::abs(a[n] - b[n]);
    difference = here <= difference ? difference : here;
    if (std::isnan(here))
    {
      return here;
    }
  }
  return difference;
}

/** Samples the derivative of the Gaussian at the pixels, around the middle of a line. */
Line
SampleGaussian(unsigned int order, double sigma, size_t length)
{
  const double centre = static_cast<double>(length / 2);
  Line         samples(length);
  double       sum = 0.0;
  for (size_t n = 0; n < length; ++n)
  {
    samples[n] = HermiteFunction(order, (static_cast<double>(n) - centre) / sigma) / std::pow(sigma, order);
    sum += HermiteFunction(0, (static_cast<double>(n) - centre) / sigma);
  }
  std::transform(samples.begin(), samples.end(), samples.begin(), [sum](double v) { return v / sum; });
  return samples;
}

Line
RespondToImpulse(const Method & method, unsigned int order, double sigma)
{
  Line impulse(GetLineLength(sigma), 0.0);
  impulse[impulse.size() / 2] = 1.0;
  return method.Filter(order, sigma, impulse);
}

json
MakeImpulseResponses(double sigma)
{
  json result = { { "sigma", sigma } };
  for (const Method & method : Methods)
  {
    for (unsigned int order = 0; order <= method.Orders; ++order)
    {
      const Line response = RespondToImpulse(method, order, sigma);
      const Line exact = SampleGaussian(order, sigma, response.size());
      const auto middle = static_cast<std::ptrdiff_t>(response.size() / 2);
      json       x, differences;
      for (auto n = std::ptrdiff_t{ 0 }; n <= static_cast<std::ptrdiff_t>(6.0 * sigma); ++n)
      {
        x.push_back(static_cast<double>(n) / sigma);
        differences.push_back((response[middle + n] - exact[middle + n]) / GetMaximum(exact));
      }
      result["distance"] = x;
      result["difference"][method.Name].push_back(differences);
    }
  }
  return result;
}

/** Returns the square root of the second moment of the impulse response, in units of sigma. */
double
GetEffectiveSigma(const Line & response, double sigma)
{
  double       sum = 0.0;
  double       moment = 0.0;
  const double middle = static_cast<double>(response.size() / 2);
  for (size_t n = 0; n < response.size(); ++n)
  {
    sum += response[n];
    moment += response[n] * std::pow(static_cast<double>(n) - middle, 2);
  }
  return std::sqrt(moment / sum) / sigma;
}

double
GetOvershoot(const Method & method, double sigma)
{
  const size_t length = GetLineLength(sigma);
  // Leave out both ends of the line, because the convolutions do not implement a boundary mode.
  Line step(length, 0.0);
  std::fill(step.begin() + length / 2, step.end(), 1.0);
  const Line output = method.Filter(0, sigma, step);
  const auto inside = static_cast<std::ptrdiff_t>(length / 2);
  const auto reach = static_cast<std::ptrdiff_t>(std::ceil(6.0 * sigma));
  const auto range = std::minmax_element(output.begin() + std::max<std::ptrdiff_t>(inside - reach, 0),
                                         output.begin() + std::min<std::ptrdiff_t>(inside + reach, length));
  return std::max({ *range.second - 1.0, -*range.first, 0.0 });
}

/** Returns the largest error on Gaussian blobs of width max(1, sigma / 4) and four times that, with centres offset from
 * the pixels by 0, 1/4 and 1/2. */
double
GetBlobError(const Method & method, unsigned int order, double sigma)
{
  double worst = 0.0;
  for (const double factor : { 1.0, 2.0, 4.0 })
  {
    const double width = factor * std::max(1.0, 0.25 * sigma);
    const double total = std::hypot(sigma, width);
    for (const double shift : { 0.0, 0.25, 0.5 })
    {
      Line         blob(GetLineLength(total)), exact(blob.size());
      const double centre = static_cast<double>(blob.size() / 2) + shift;
      for (size_t n = 0; n < blob.size(); ++n)
      {
        const double x = static_cast<double>(n) - centre;
        blob[n] = HermiteFunction(0, x / width);
        exact[n] = HermiteFunction(order, x / total) * width / std::pow(total, order + 1.0);
      }
      worst = std::max(worst, GetLargestDifference(method.Filter(order, sigma, blob), exact) / GetMaximum(exact));
    }
  }
  return worst;
}

json
MakeErrorsBySigma()
{
  json result;
  for (double sigma = 0.5; sigma < 101.0; sigma *= std::pow(2.0, sigma < 3.9 ? 1.0 / 16.0 : 0.25))
  {
    json row = { { "sigma", sigma } };
    for (const Method & method : Methods)
    {
      if (sigma > method.LargestSigma)
      {
        continue;
      }
      const Line response = RespondToImpulse(method, 0, sigma);
      const Line exact = SampleGaussian(0, sigma, response.size());
      json       figures = { { "effective_sigma", GetEffectiveSigma(response, sigma) },
                             { "overshoot", GetOvershoot(method, sigma) },
                             { "error", { GetLargestDifference(response, exact) / GetMaximum(exact) } } };
      for (unsigned int order = 1; order <= method.Orders; ++order)
      {
        figures["error"].push_back(GetBlobError(method, order, sigma));
      }
      row[method.Name] = figures;
    }
    row["sampled_gaussian"]["effective_sigma"] =
      GetEffectiveSigma(SampleGaussian(0, sigma, GetLineLength(sigma)), sigma);
    result.push_back(row);
  }
  return result;
}

// float arithmetic

/** A recursive filter in direct form, which is a recursion on the last output values. Coefficients are computed in
 * double and rounded to T. */
template <typename T>
class DirectForm
{
public:
  explicit DirectForm(const itk::CudaDetail::CudaGaussianImpulseResponse & kernel)
    : m_Order(2 * kernel.NumberOfPolePairs)
    , m_Sign(kernel.IsAntisymmetric() ? T(-1) : T(1))
  {
    using Complex = std::complex<double>;
    using Polynomial = std::vector<Complex>;
    const auto multiply = [](const Polynomial & a, Complex pole) {
      Polynomial product(a.size() + 1);
      for (size_t k = 0; k < a.size(); ++k)
      {
        product[k] += a[k];
        product[k + 1] -= pole * a[k];
      }
      return product;
    };
    std::vector<Complex> poles, weights;
    for (unsigned int j = 0; j < kernel.NumberOfPolePairs; ++j)
    {
      poles.insert(poles.end(), { kernel.Pole[j], std::conj(kernel.Pole[j]) });
      weights.insert(weights.end(), { 0.5 * kernel.Weight[j], 0.5 * std::conj(kernel.Weight[j]) });
    }
    // Form sum_j w_j / (1 - p_j z) as a fraction in z, the delay by a pixel. The anticausal part excludes the pixel
    // itself.
    Polynomial denominator{ 1.0 };
    for (const Complex pole : poles)
    {
      denominator = multiply(denominator, pole);
    }
    Polynomial causal(m_Order), anticausal(m_Order);
    for (unsigned int j = 0; j < m_Order; ++j)
    {
      Polynomial rest{ 1.0 };
      for (unsigned int i = 0; i < m_Order; ++i)
      {
        rest = i == j ? rest : multiply(rest, poles[i]);
      }
      for (unsigned int k = 0; k < m_Order; ++k)
      {
        causal[k] += weights[j] * rest[k];
        anticausal[k] += weights[j] * poles[j] * rest[k];
      }
    }
    for (unsigned int k = 0; k < m_Order; ++k)
    {
      m_Causal.push_back(static_cast<T>(causal[k].real()));
      m_Anticausal.push_back(static_cast<T>(anticausal[k].real()));
      m_Feedback.push_back(static_cast<T>(denominator[k + 1].real()));
    }
    const double feedback = std::accumulate(denominator.begin(), denominator.end(), Complex()).real();
    m_CausalGain = static_cast<T>(std::accumulate(causal.begin(), causal.end(), Complex()).real() / feedback);
    m_AnticausalGain =
      static_cast<T>(std::accumulate(anticausal.begin(), anticausal.end(), Complex()).real() / feedback);
  }

  std::vector<T>
  operator()(const std::vector<T> & line) const
  {
    const auto     length = static_cast<std::ptrdiff_t>(line.size());
    std::vector<T> forward(length), backward(length);
    const auto     at = [length](const std::vector<T> & values, std::ptrdiff_t n, T before, T behind) {
      return n < 0 ? before : (n >= length ? behind : values[n]);
    };
    for (std::ptrdiff_t n = 0; n < length; ++n)
    {
      T y = 0;
      for (std::ptrdiff_t k = 0; k < m_Order; ++k)
      {
        y += m_Causal[k] * at(line, n - k, line.front(), line.back());
        y -= m_Feedback[k] * at(forward, n - k - 1, m_CausalGain * line.front(), 0);
      }
      forward[n] = y;
    }
    for (std::ptrdiff_t n = length - 1; n >= 0; --n)
    {
      T y = 0;
      for (std::ptrdiff_t k = 0; k < m_Order; ++k)
      {
        y += m_Anticausal[k] * at(line, n + k + 1, line.front(), line.back());
        y -= m_Feedback[k] * at(backward, n + k + 1, 0, m_AnticausalGain * line.back());
      }
      backward[n] = y;
    }
    for (std::ptrdiff_t n = 0; n < length; ++n)
    {
      forward[n] += m_Sign * backward[n];
    }
    return forward;
  }

private:
  std::ptrdiff_t m_Order;
  T              m_Sign;
  std::vector<T> m_Causal, m_Anticausal, m_Feedback;
  T              m_CausalGain{ 0 };
  T              m_AnticausalGain{ 0 };
};

double
GetL1Norm(const itk::CudaDetail::CudaGaussianImpulseResponse & kernel)
{
  Line impulse(GetLineLength(2.0 * kernel.SigmaInPixels), 0.0);
  impulse[impulse.size() / 2] = 1.0;
  itk::cuda::gaussian::FilterLine(kernel, impulse.data(), impulse.data(), impulse.size());
  return std::accumulate(impulse.begin(), impulse.end(), 0.0, [](double s, double v) { return s + std::abs(v); });
}

/** Returns the largest error of a line filtered in float, and in double by the direct form, relative to max|x| |h|_1.
 * The first pixel is zero, so that the state-variable form cannot subtract the line's offset. */
json
MakeFloatErrors(ApproximationEnum approximation, unsigned int order, double sigma, double offset, double amplitude)
{
  constexpr size_t   length = 20000;
  const auto         kernel = itk::CudaDetail::MakeGaussianImpulseResponse(approximation, order, sigma, 1.0, false);
  std::mt19937       generator(7);
  std::vector<float> line(length);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::generate(line.begin(), line.end(), [&] { return static_cast<float>(offset + amplitude * uniform(generator)); });
  const auto compare = [&](const std::vector<float> & input) {
    const Line   exactInput(input.begin(), input.end());
    const double scale = GetMaximum(exactInput) * GetL1Norm(kernel);
    Line         exact(length);
    itk::cuda::gaussian::FilterLine(kernel, exactInput.data(), exact.data(), length);
    std::vector<float> states(length);
    itk::cuda::gaussian::FilterLine(kernel, input.data(), states.data(), length);
    const std::vector<float> direct = DirectForm<float>(kernel)(input);
    const Line               directInDouble = DirectForm<double>(kernel)(exactInput);
    const auto               relative = [&](const Line & values) {
      const double error = GetLargestDifference(values, exact) / scale;
      return error < 1.0 ? json(error) : json(nullptr); // no correct digits
    };
    return json{ { "direct_float", relative(Line(direct.begin(), direct.end())) },
                 { "direct_double", relative(directInDouble) },
                 { "states_float", relative(Line(states.begin(), states.end())) } };
  };
  json result = compare(line);
  line.front() = 0.0f;
  result["states_float_with_offset"] = compare(line)["states_float"];
  return result;
}

json
MakeFloatErrorsBySigma()
{
  json result;
  for (const auto approximation : { ApproximationEnum::Deriche, ApproximationEnum::Accurate })
  {
    const std::string name = approximation == ApproximationEnum::Deriche ? "deriche" : "accurate";
    for (const double sigma : { 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0 })
    {
      for (unsigned int order = 0; order < 3; ++order)
      {
        for (const bool isOffset : { false, true })
        {
          json row = MakeFloatErrors(approximation, order, sigma, isOffset ? 1000.0 : 0.5, isOffset ? 50.0 : 0.5);
          row["approximation"] = name;
          row["sigma"] = sigma;
          row["order"] = order;
          row["input"] = isOffset ? "1000 +- 50" : "0 to 1";
          result.push_back(row);
        }
      }
    }
  }
  return result;
}
} // namespace

int
main(int argc, char * argv[])
{
  if (argc != 2)
  {
    std::cerr << "usage: gaussian_numerics OUTPUT.json\n";
    return 2;
  }
  const json record = { { "impulse_responses", MakeImpulseResponses(9.5) },
                        { "by_sigma", MakeErrorsBySigma() },
                        { "float", MakeFloatErrorsBySigma() } };
  std::ofstream(argv[1]) << record.dump(1) << '\n';
  return 0;
}

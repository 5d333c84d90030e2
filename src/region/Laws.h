// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_Laws_h
#define CudaFilters_region_Laws_h

#include "itkCudaFiltersEnums.h"
#include "runtime/HostDevice.h"
#include "region/Math.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

// The criteria J that segmentation minimises. J is the negative log-likelihood of two regions, with the parameters at
// the optimum, and without the terms that do not depend on the position of the boundary.
//
// Parameters are bounded below in units of the sample grid, because regions of one value would otherwise drive J to
// minus infinity. Where a bound is active, J is the negative log-likelihood at the bound.
namespace itk::cuda::region
{
using NoiseLaw = CudaFiltersEnums::NoiseLaw;

/** The number of valid pixels, the sum of their samples and the sum of the samples' squares. Contributions of edges
 * wrap around modulo 2^64. Counts and sums of regions do not, and their differences are valid as signed 64-bit numbers.
 * This holds for sums of squares, too, unless LawDescription::SquaresWrap says that these are known modulo 2^64; then
 * SumOfSquaresOf() returns the whole sum of a region. */
struct Moments
{
  int64_t  Count{ 0 };
  uint64_t Sum{ 0 };
  uint64_t SumOfSquares{ 0 };

  ITK_CUDA_HOST_DEVICE Moments &
  operator+=(const Moments & other)
  {
    Count += other.Count;
    Sum += other.Sum;
    SumOfSquares += other.SumOfSquares;
    return *this;
  }
  ITK_CUDA_HOST_DEVICE Moments &
  operator-=(const Moments & other)
  {
    Count -= other.Count;
    Sum -= other.Sum;
    SumOfSquares -= other.SumOfSquares;
    return *this;
  }
  friend ITK_CUDA_HOST_DEVICE Moments
  operator+(Moments x, const Moments & y)
  {
    return x += y;
  }
  friend ITK_CUDA_HOST_DEVICE Moments
  operator-(Moments x, const Moments & y)
  {
    return x -= y;
  }
  friend ITK_CUDA_HOST_DEVICE bool
  operator==(const Moments & x, const Moments & y)
  {
    return x.Count == y.Count && x.Sum == y.Sum && x.SumOfSquares == y.SumOfSquares;
  }
};

/** The linear function Count * count + Sum * sum + SumOfSquares * (sum of squares) of moments. */
struct LinearForm
{
  double Count{ 0.0 };
  double Sum{ 0.0 };
  double SumOfSquares{ 0.0 };

  /** Returns the value of the form at a difference of the sums of two regions, which must be valid as signed numbers.
   */
  ITK_CUDA_HOST_DEVICE double
  operator()(const Moments & difference) const
  {
    return Count * static_cast<double>(difference.Count) +
           Sum * static_cast<double>(static_cast<int64_t>(difference.Sum)) +
           SumOfSquares * static_cast<double>(static_cast<int64_t>(difference.SumOfSquares));
  }
};

/** Returns count * SumOfSquares - sum^2 as a signed number. */
ITK_CUDA_HOST_DEVICE inline UInt128
WrappedVariance(const Moments & m)
{
  return Subtract(Multiply(static_cast<uint64_t>(m.Count), m.SumOfSquares), Multiply(m.Sum, m.Sum));
}

/** Returns how many multiples of 2^64 a region's SumOfSquares has lost. `variance` is its WrappedVariance().
 *
 * The variance of numbers that span a range is at least 0 and at most a quarter of the range's square (Popoviciu's
 * inequality). As long as count * range^2 < 2^66, which CheckSums() requires, count^2 times the variance is therefore
 * in [0, count * 2^64). A lost multiple decreases WrappedVariance() by count * 2^64, so it makes it negative, and only
 * one number of multiples leads back into the interval. */
ITK_CUDA_HOST_DEVICE inline uint64_t
CountWraps(int64_t count, const UInt128 & variance)
{
  if (static_cast<int64_t>(variance.High) >= 0 || count <= 0)
  {
    return 0;
  }
  const auto n = static_cast<uint64_t>(count);
  return (n - 1 - variance.High) / n;
}

/** Returns the sum of the squares of a region's samples. */
ITK_CUDA_HOST_DEVICE inline UInt128
SumOfSquaresOf(const Moments & m)
{
  return { CountWraps(m.Count, WrappedVariance(m)), m.SumOfSquares };
}

/** Returns count * (sum of squares) - sum^2, which is count^2 times the variance, for a region. The integer result is
 * exact, and is rounded once. */
ITK_CUDA_HOST_DEVICE inline double
ScaledVariance(const Moments & m)
{
  UInt128 variance = WrappedVariance(m);
  variance.High += static_cast<uint64_t>(m.Count) * CountWraps(m.Count, variance);
  return ToDouble(variance);
}

/** Returns how much the form changes from a region with the sums `from` to one whose sums differ by `difference`. The
 * sums of squares may have wrapped around. The function is not inlined, because kernels have no registers left for it.
 */
ITK_CUDA_HOST_DEVICE ITK_CUDA_NOINLINE inline double
EvaluateChange(const LinearForm & form, const Moments & from, const Moments & difference)
{
  const UInt128 squares = Subtract(SumOfSquaresOf(from + difference), SumOfSquaresOf(from));
  return form.Count * static_cast<double>(difference.Count) +
         form.Sum * static_cast<double>(static_cast<int64_t>(difference.Sum)) +
         form.SumOfSquares * SignedToDouble(squares);
}

/** The variance of the rounding to the grid. Samples cannot resolve a smaller one. */
constexpr double MinimumVariance = 1.0 / 12.0;

// Laws of one region. Criterion() returns the region's part of J for its sums. Linearize() returns the negative
// log-likelihood as a function of the sums, with the parameters fixed at their current values. The optimum over the
// parameters is never above this function, so a change that lowers the function also lowers J.

/** Gaussian law: n/2 log v, v = b/n - (a/n)^2, where n, a and b are Count, Sum and SumOfSquares, here and in the laws
 * below. */
struct GaussianRegion
{
  ITK_CUDA_HOST_DEVICE double
  Criterion(const Moments & m) const
  {
    const double n = static_cast<double>(m.Count);
    const double variance = ScaledVariance(m) / (n * n);
    return variance >= MinimumVariance ? 0.5 * n * Log(variance)
                                       : 0.5 * n * (Log(MinimumVariance) + variance / MinimumVariance - 1.0);
  }
  ITK_CUDA_HOST_DEVICE LinearForm
  Linearize(const Moments & m) const
  {
    const double n = static_cast<double>(m.Count);
    const double variance = ScaledVariance(m) / (n * n);
    const double v = variance >= MinimumVariance ? variance : MinimumVariance;
    const double mean = static_cast<double>(m.Sum) / n;
    return { 0.5 * Log(v) + 0.5 * mean * (mean / v), -mean / v, 0.5 / v };
  }
};

/** Gamma law of L looks: L n log m, m = a/n. */
struct GammaRegion
{
  static constexpr double MinimumMean = 0.5;
  double                  NumberOfLooks;

  ITK_CUDA_HOST_DEVICE double
  Criterion(const Moments & m) const
  {
    const double n = static_cast<double>(m.Count);
    const double mean = static_cast<double>(m.Sum) / n;
    return mean >= MinimumMean ? NumberOfLooks * n * Log(mean)
                               : NumberOfLooks * n * (Log(MinimumMean) + mean / MinimumMean - 1.0);
  }
  ITK_CUDA_HOST_DEVICE LinearForm
  Linearize(const Moments & m) const
  {
    const double estimate = static_cast<double>(m.Sum) / static_cast<double>(m.Count);
    const double mean = estimate >= MinimumMean ? estimate : MinimumMean;
    return { NumberOfLooks * Log(mean), NumberOfLooks / mean, 0.0 };
  }
};

/** Rayleigh law of L looks: L n log s, s = b/n. The amplitude of L looks has a Nakagami distribution, and its square
 * has the distribution of GammaRegion. */
struct RayleighRegion
{
  static constexpr double MinimumMeanSquare = 0.25;
  double                  NumberOfLooks;
  bool                    SquaresWrap{ false };

  ITK_CUDA_HOST_DEVICE double
  Criterion(const Moments & m) const
  {
    const double n = static_cast<double>(m.Count);
    const double meanSquare = this->SumOfSquares(m) / n;
    return meanSquare >= MinimumMeanSquare
             ? NumberOfLooks * n * Log(meanSquare)
             : NumberOfLooks * n * (Log(MinimumMeanSquare) + meanSquare / MinimumMeanSquare - 1.0);
  }
  ITK_CUDA_HOST_DEVICE LinearForm
  Linearize(const Moments & m) const
  {
    const double estimate = this->SumOfSquares(m) / static_cast<double>(m.Count);
    const double meanSquare = estimate >= MinimumMeanSquare ? estimate : MinimumMeanSquare;
    return { NumberOfLooks * Log(meanSquare), 0.0, NumberOfLooks / meanSquare };
  }

private:
  ITK_CUDA_HOST_DEVICE double
  SumOfSquares(const Moments & m) const
  {
    return SquaresWrap ? ToDouble(SumOfSquaresOf(m)) : static_cast<double>(m.SumOfSquares);
  }
};

/** Poisson law: -a log m, m = a/n. */
struct PoissonRegion
{
  double MinimumMean;

  ITK_CUDA_HOST_DEVICE double
  Criterion(const Moments & m) const
  {
    const double n = static_cast<double>(m.Count);
    const double a = static_cast<double>(m.Sum);
    const double mean = a / n;
    return mean >= MinimumMean ? -a * Log(mean) : n * MinimumMean - a * Log(MinimumMean) - a;
  }
  ITK_CUDA_HOST_DEVICE LinearForm
  Linearize(const Moments & m) const
  {
    const double estimate = static_cast<double>(m.Sum) / static_cast<double>(m.Count);
    const double mean = estimate >= MinimumMean ? estimate : MinimumMean;
    return { mean, -Log(mean), 0.0 };
  }
};

/** Bernoulli law: n H(p), p = a/n, H(p) = -p log p - (1-p) log(1-p). */
struct BernoulliRegion
{
  double MinimumProbability;

  ITK_CUDA_HOST_DEVICE double
  Criterion(const Moments & m) const
  {
    const double ones = static_cast<double>(m.Sum);
    const double zeros = static_cast<double>(m.Count - static_cast<int64_t>(m.Sum));
    return -(ones * Log(this->Probability(ones, m)) + zeros * Log(this->Probability(zeros, m)));
  }
  ITK_CUDA_HOST_DEVICE LinearForm
  Linearize(const Moments & m) const
  {
    const double logOnes = Log(this->Probability(static_cast<double>(m.Sum), m));
    const double logZeros = Log(this->Probability(static_cast<double>(m.Count - static_cast<int64_t>(m.Sum)), m));
    return { -logZeros, logZeros - logOnes, 0.0 };
  }

private:
  ITK_CUDA_HOST_DEVICE double
  Probability(double number, const Moments & m) const
  {
    const double p = number / static_cast<double>(m.Count);
    const double upper = 1.0 - MinimumProbability;
    return p < MinimumProbability ? MinimumProbability : (p > upper ? upper : p);
  }
};

/** The law of two regions, each with its own parameters. */
template <typename TRegion>
struct IndependentRegions
{
  TRegion Region;

  ITK_CUDA_HOST_DEVICE double
  Criterion(const Moments & target, const Moments & background) const
  {
    return (target.Count > 0 ? Region.Criterion(target) : 0.0) +
           (background.Count > 0 ? Region.Criterion(background) : 0.0);
  }
  /** Returns the change of J by samples that move from the background to the target. Both regions must have pixels. */
  ITK_CUDA_HOST_DEVICE LinearForm
  Linearize(const Moments & target, const Moments & background) const
  {
    const LinearForm t = Region.Linearize(target);
    const LinearForm b = Region.Linearize(background);
    return { t.Count - b.Count, t.Sum - b.Sum, t.SumOfSquares - b.SumOfSquares };
  }
};

/** The law of two Gaussian regions with a common variance: N/2 log v, v = (SS_T + SS_B) / N, SS = b - a^2/n. */
struct CommonVarianceRegions
{
  ITK_CUDA_HOST_DEVICE double
  Criterion(const Moments & target, const Moments & background) const
  {
    const double n = static_cast<double>(target.Count + background.Count);
    const double variance = Variance(target, background);
    return variance >= MinimumVariance ? 0.5 * n * Log(variance)
                                       : 0.5 * n * (Log(MinimumVariance) + variance / MinimumVariance - 1.0);
  }
  ITK_CUDA_HOST_DEVICE LinearForm
  Linearize(const Moments & target, const Moments & background) const
  {
    const double variance = Variance(target, background);
    const double v = variance >= MinimumVariance ? variance : MinimumVariance;
    const double t = static_cast<double>(target.Sum) / static_cast<double>(target.Count);
    const double b = static_cast<double>(background.Sum) / static_cast<double>(background.Count);
    return { 0.5 * ((t - b) * (t + b)) / v, (b - t) / v, 0.0 };
  }

private:
  static ITK_CUDA_HOST_DEVICE double
  Variance(const Moments & target, const Moments & background)
  {
    const double t = target.Count > 0 ? ScaledVariance(target) / static_cast<double>(target.Count) : 0.0;
    const double b = background.Count > 0 ? ScaledVariance(background) / static_cast<double>(background.Count) : 0.0;
    return (t + b) / static_cast<double>(target.Count + background.Count);
  }
};

/** The values that a law allows. */
enum class ValueRange : uint8_t
{
  Finite,
  NotNegative,
  Positive,
  Counts
};

/** How pixels become samples. */
enum class SampleGrid : uint8_t
{
  FromMinimum, // steps counted from the smallest value
  FromZero,    // steps counted from 0
  Integers,    // the values themselves
  Logarithms,  // steps of the values' logarithms
  Binary       // 0 and 1
};

/** The user's parameter of a law, if it has one. */
enum class LawParameter : uint8_t
{
  None,
  NumberOfLooks,
  ForegroundThreshold
};

/** Properties of a law besides its criterion. */
struct LawTraits
{
  const char * Name{ nullptr }; // nullptr if there is no such law
  const char * Description{ nullptr };
  ValueRange   Values{ ValueRange::Finite };
  SampleGrid   Grid{ SampleGrid::FromMinimum };
  LawParameter Parameter{ LawParameter::None };
  bool         UsesSquares{ true };  // whether the criterion depends on the sum of the squares of the samples
  double       StepExponent{ 1.0 };  // J grows by StepExponent * log(step of the samples) for each pixel and look
  double       OwnParameters{ 0.0 }; // the number that each region has of its own
};

/** Returns the properties of a law. This is the table of all laws. */
constexpr LawTraits
GetTraits(NoiseLaw law)
{
  using Range = ValueRange;
  using Grid = SampleGrid;
  using Parameter = LawParameter;
  switch (law)
  {
    case NoiseLaw::Gaussian:
      return { "Gaussian", "own mean and variance", Range::Finite, Grid::FromMinimum, Parameter::None, true, 1.0, 2.0 };
    case NoiseLaw::GaussianCommonVariance:
      return { "GaussianCommonVariance",
               "own mean, one variance",
               Range::Finite,
               Grid::FromMinimum,
               Parameter::None,
               true,
               1.0,
               1.0 };
    case NoiseLaw::Gamma:
      return {
        "Gamma", "intensity of radar images", Range::NotNegative, Grid::FromZero, Parameter::NumberOfLooks, false, 1.0,
        1.0
      };
    case NoiseLaw::Rayleigh:
      return { "Rayleigh",
               "amplitude of radar images",
               Range::NotNegative,
               Grid::FromZero,
               Parameter::NumberOfLooks,
               true,
               2.0,
               1.0 };
    case NoiseLaw::Poisson:
      return { "Poisson", "counts", Range::Counts, Grid::Integers, Parameter::None, false, 0.0, 1.0 };
    case NoiseLaw::Bernoulli:
      return {
        "Bernoulli", "two values", Range::Finite, Grid::Binary, Parameter::ForegroundThreshold, false, 0.0, 1.0
      };
    case NoiseLaw::LogNormal:
      return { "LogNormal", "Gaussian logarithm", Range::Positive, Grid::Logarithms, Parameter::None, true, 1.0, 2.0 };
  }
  return {};
}

constexpr size_t
CountLaws()
{
  size_t number = 0;
  while (GetTraits(static_cast<NoiseLaw>(number)).Name != nullptr)
  {
    ++number;
  }
  return number;
}

constexpr size_t NumberOfLaws = CountLaws();

constexpr std::array<NoiseLaw, NumberOfLaws>
ListLaws()
{
  std::array<NoiseLaw, NumberOfLaws> laws{};
  for (size_t i = 0; i < NumberOfLaws; ++i)
  {
    laws[i] = static_cast<NoiseLaw>(i);
  }
  return laws;
}

/** All laws, in the order of the enumeration. */
constexpr std::array<NoiseLaw, NumberOfLaws> AllLaws = ListLaws();

/** Returns whether a finite value lies in the range. */
ITK_CUDA_HOST_DEVICE inline bool
IsInRange(ValueRange range, double value)
{
  switch (range)
  {
    case ValueRange::NotNegative:
      return value >= 0.0;
    case ValueRange::Positive:
      return value > 0.0;
    case ValueRange::Counts:
      return value >= 0.0 && value == std::floor(value) && value <= 4294967295.0; // the largest sample
    case ValueRange::Finite:
      break;
  }
  return true;
}

/** Returns the description of a range for a message. */
inline const char *
DescribeRange(ValueRange range)
{
  switch (range)
  {
    case ValueRange::NotNegative:
      return "values of 0 or more";
    case ValueRange::Positive:
      return "values above 0";
    case ValueRange::Counts:
      return "counts: integers from 0 to 4294967295";
    case ValueRange::Finite:
      break;
  }
  return "finite values";
}

/** The law of an image and its parameters, as plain data. */
struct LawDescription
{
  NoiseLaw Law{ NoiseLaw::Gaussian };
  double   NumberOfLooks{ 1.0 };
  int64_t  NumberOfValidPixels{ 1 };
  bool     SquaresWrap{ false }; // see SamplesDescription

  /** Returns the lower bound of Poisson means and Bernoulli probabilities: half a count in the whole image. */
  ITK_CUDA_HOST_DEVICE double
  HalfACount() const
  {
    return 0.5 / static_cast<double>(NumberOfValidPixels);
  }

  /** Calls `function`, a generic callable, with an object of the law's type, and returns its result. */
  template <typename TFunction>
  ITK_CUDA_HOST_DEVICE auto
  Visit(const TFunction & function) const
  {
    switch (Law)
    {
      case NoiseLaw::GaussianCommonVariance:
        return function(CommonVarianceRegions{});
      case NoiseLaw::Gamma:
        return function(IndependentRegions<GammaRegion>{ { NumberOfLooks } });
      case NoiseLaw::Rayleigh:
        return function(IndependentRegions<RayleighRegion>{ { NumberOfLooks, SquaresWrap } });
      case NoiseLaw::Poisson:
        return function(IndependentRegions<PoissonRegion>{ { this->HalfACount() } });
      case NoiseLaw::Bernoulli:
        return function(IndependentRegions<BernoulliRegion>{ { this->HalfACount() } });
      case NoiseLaw::Gaussian:
      case NoiseLaw::LogNormal: // its samples are logarithms
        break;
    }
    return function(IndependentRegions<GaussianRegion>{});
  }
};

struct EvaluateCriterion
{
  Moments Target, Background;
  template <typename TLaw>
  ITK_CUDA_HOST_DEVICE double
  operator()(const TLaw & law) const
  {
    return law.Criterion(Target, Background);
  }
};

struct EvaluateLinearForm
{
  Moments Target, Background;
  template <typename TLaw>
  ITK_CUDA_HOST_DEVICE LinearForm
  operator()(const TLaw & law) const
  {
    return law.Linearize(Target, Background);
  }
};

/** Returns J for a target in an image whose sums are `total`. */
ITK_CUDA_HOST_DEVICE inline double
Criterion(const LawDescription & law, const Moments & target, const Moments & total)
{
  return law.Visit(EvaluateCriterion{ target, total - target });
}

/** Returns the first-order change of J by samples that move into the target. It is never below the true change. It is
 * zero if a region is empty. */
ITK_CUDA_HOST_DEVICE inline LinearForm
Linearize(const LawDescription & law, const Moments & target, const Moments & total)
{
  if (target.Count <= 0 || target.Count >= total.Count)
  {
    return {};
  }
  return law.Visit(EvaluateLinearForm{ target, total - target });
}

/** Returns whether the law's criterion depends on the sum of squares. */
constexpr bool
UsesSquares(NoiseLaw law)
{
  return GetTraits(law).UsesSquares;
}

/** Returns the constant that must be added to J in units of the samples to get J in natural units, if the samples have
 * the step `step`. */
inline double
CriterionOffset(const LawDescription & law, double step)
{
  const LawTraits traits = GetTraits(law.Law);
  if (traits.StepExponent == 0.0)
  {
    return 0.0; // the step may be negative, which has no logarithm
  }
  const double looks = traits.Parameter == LawParameter::NumberOfLooks ? law.NumberOfLooks : 1.0;
  return looks * (traits.StepExponent * (static_cast<double>(law.NumberOfValidPixels) * Log(step)));
}
} // namespace itk::cuda::region

#endif

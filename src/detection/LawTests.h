// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_detection_LawTests_h
#define CudaFilters_detection_LawTests_h

#include "detection/Tails.h"
#include "region/Laws.h"

// The tests of a target window against the ring around it, one for each law: how probable is a mean as high as the
// target's, or a higher one, if target and ring are samples of one distribution? All follow from the numbers of valid
// pixels and the exact sums, and are exact for any of these numbers.
namespace itk::cuda::detection
{
using region::LawDescription;
using region::Moments;
using region::NoiseLaw;

/** The sums of the valid pixels of the target window, and of the background window without the guard window. */
struct Windows
{
  Moments Target;
  Moments Ring;
};

// LogFalseAlarm(law, windows, limit) returns the logarithm of that probability; where that is certainly above `limit`,
// it returns any number above it. It returns 0 if the target is not brighter than the ring, or if there are too few
// pixels for a test.

/** Gamma law of L looks: the ratio of the means has the F distribution of 2 L n_T and 2 L n_R degrees of freedom. */
ITK_CUDA_HOST_DEVICE inline double
LogFalseAlarmOfSums(double looks, const Windows & windows, double target, double ring, double limit)
{
  const double a = looks * static_cast<double>(windows.Target.Count);
  const double b = looks * static_cast<double>(windows.Ring.Count);
  const double ratio = (target / a) / (ring / b);
  return ratio > 1.0 ? LogTailOfF(a, b, ratio, limit) : 0.0;
}

/** Returns the larger number; std::max() is for the host only. */
ITK_CUDA_HOST_DEVICE inline double
Larger(double x, double y)
{
  return x < y ? y : x;
}

ITK_CUDA_HOST_DEVICE inline double
LogFalseAlarm(const region::IndependentRegions<region::GammaRegion> & law, const Windows & windows, double limit)
{
  const double smallest = region::GammaRegion::MinimumMean * static_cast<double>(windows.Ring.Count);
  return LogFalseAlarmOfSums(law.Region.NumberOfLooks,
                             windows,
                             static_cast<double>(windows.Target.Sum),
                             Larger(static_cast<double>(windows.Ring.Sum), smallest),
                             limit);
}

/** The squares of amplitudes are intensities. */
ITK_CUDA_HOST_DEVICE inline double
LogFalseAlarm(const region::IndependentRegions<region::RayleighRegion> & law, const Windows & windows, double limit)
{
  const double smallest = region::RayleighRegion::MinimumMeanSquare * static_cast<double>(windows.Ring.Count);
  return LogFalseAlarmOfSums(law.Region.NumberOfLooks,
                             windows,
                             static_cast<double>(windows.Target.SumOfSquares),
                             Larger(static_cast<double>(windows.Ring.SumOfSquares), smallest),
                             limit);
}

/** Tests the difference of the means against a variance of that many degrees of freedom: its ratio to its standard
 * deviation has Student's distribution. */
ITK_CUDA_HOST_DEVICE inline double
LogFalseAlarmOfMeans(const Windows & windows, double variance, double freedom, double limit)
{
  const double n = static_cast<double>(windows.Target.Count);
  const double m = static_cast<double>(windows.Ring.Count);
  const double difference = static_cast<double>(windows.Target.Sum) / n - static_cast<double>(windows.Ring.Sum) / m;
  const double square = difference * difference / (Larger(variance, region::MinimumVariance) * (1.0 / n + 1.0 / m));
  return difference > 0.0 && square > 1.0 ? LogTailOfStudent(freedom, square, limit) : 0.0;
}

/** Gaussian law: the variance is that of the ring, with n_R - 1 degrees of freedom, because a target has its own. This
 * is the two-parameter test of constant false alarm rate, with the exact threshold. */
ITK_CUDA_HOST_DEVICE inline double
LogFalseAlarm(const region::IndependentRegions<region::GaussianRegion> &, const Windows & windows, double limit)
{
  const double m = static_cast<double>(windows.Ring.Count);
  return windows.Ring.Count >= 2
           ? LogFalseAlarmOfMeans(windows, region::ScaledVariance(windows.Ring) / (m * (m - 1.0)), m - 1.0, limit)
           : 0.0;
}

/** Gaussian law with a common variance: Student's two-sample test, n_T + n_R - 2 degrees of freedom. */
ITK_CUDA_HOST_DEVICE inline double
LogFalseAlarm(const region::CommonVarianceRegions &, const Windows & windows, double limit)
{
  const int64_t freedom = windows.Target.Count + windows.Ring.Count - 2;
  if (freedom < 1)
  {
    return 0.0;
  }
  const auto squares = [](const Moments & m) { return region::ScaledVariance(m) / static_cast<double>(m.Count); };
  const auto f = static_cast<double>(freedom);
  return LogFalseAlarmOfMeans(windows, (squares(windows.Target) + squares(windows.Ring)) / f, f, limit);
}

/** Poisson law: given the sum over both, that of the target is binomial with the probability n_T / (n_T + n_R)
 * (Przyborowski and Wilenski, Biometrika 31, 1940). */
ITK_CUDA_HOST_DEVICE inline double
LogFalseAlarm(const region::IndependentRegions<region::PoissonRegion> &, const Windows & windows, double limit)
{
  const auto n = static_cast<double>(windows.Target.Count);
  const auto m = static_cast<double>(windows.Ring.Count);
  const auto target = static_cast<double>(windows.Target.Sum);
  const auto ring = static_cast<double>(windows.Ring.Sum);
  return target * m > ring * n ? LogMidTailOfBinomial(target, target + ring, n / (n + m), m / (n + m), limit) : 0.0;
}

/** Bernoulli law: given the ones of both, those of the target are hypergeometric (Fisher's exact test). */
ITK_CUDA_HOST_DEVICE inline double
LogFalseAlarm(const region::IndependentRegions<region::BernoulliRegion> &, const Windows & windows, double limit)
{
  const int64_t n = windows.Target.Count;
  const int64_t m = windows.Ring.Count;
  const auto    target = static_cast<int64_t>(windows.Target.Sum);
  const auto    ring = static_cast<int64_t>(windows.Ring.Sum);
  return target * m > ring * n ? LogMidTailOfHypergeometric(target, n, target + ring, n + m, limit) : 0.0;
}

/** A law's test at a probability of false alarm. */
struct LawTest
{
  LawDescription Law;
  double         LogProbability; // of false alarm

  /** Returns the logarithm of the probability of such a target by noise alone, if it is at most LogProbability, and a
   * number above LogProbability otherwise. */
  ITK_CUDA_HOST_DEVICE double
  operator()(const Windows & windows) const
  {
    if (windows.Target.Count < 1 || windows.Ring.Count < 1)
    {
      return 0.0;
    }
    const double limit = LogProbability;
    return Law.Visit([&windows, limit](const auto & law) { return LogFalseAlarm(law, windows, limit); });
  }
  /** Returns the logarithm of the likelihood ratio of target and ring with parameters of their own to both with common
   * ones. */
  ITK_CUDA_HOST_DEVICE double
  GetLikelihoodRatio(const Windows & windows) const
  {
    return Law.Visit([&windows](const auto & law) {
      return law.Criterion({}, windows.Target + windows.Ring) - law.Criterion(windows.Target, windows.Ring);
    });
  }
};
} // namespace itk::cuda::detection

#endif

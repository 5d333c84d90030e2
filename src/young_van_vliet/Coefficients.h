// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_young_van_vliet_Coefficients_h
#define CudaFilters_young_van_vliet_Coefficients_h

#include "CudaFiltersExport.h"
#include "young_van_vliet/Partitions.h"

#include <complex>
#include <cstddef>
#include <vector>

// Computes the coefficients of Young and van Vliet's filter from sigma. They are computed in double, and rounded once
// to the type of the pixels.

namespace itk::cuda::young_van_vliet
{
/** Returns Young and van Vliet's q: the sigma of the rational approximation, adjusted so that the discrete filter has
 * the given sigma. */
CudaFilters_EXPORT double
GetScale(double sigmaInPixels);

/** The real pole and one pole of the conjugate pair, p = q / (q + m). They give the denominator of the recursion in
 * product form. Its expansion into the published b_0 ... b_3 would lose digits of 1 - p. */
struct YoungVanVlietPoles
{
  double               RealPole;
  std::complex<double> PairPole;
};

CudaFilters_EXPORT YoungVanVlietPoles
GetPoles(double sigmaInPixels);

CudaFilters_EXPORT SmootherCoefficients<double>
                   MakeSmootherCoefficients(double sigmaInPixels);

/** Returns p_j^length. */
CudaFilters_EXPORT SmootherPower<double>
                   MakeSmootherPower(double sigmaInPixels, size_t length);

CudaFilters_EXPORT SectionLayout
MakeSectionLayout(size_t lineLength, size_t numberOfSections);

CudaFilters_EXPORT SectionPowers<double>
                   MakeSectionPowers(double sigmaInPixels, const SectionLayout & layout);

/** Returns the sampled Gaussian at distances 0 to `radius`, normalised to sum 1 over both sides. At distances of at
 * least the line's length, both neighbours are the line's end values, so one last weight has the sum of all these
 * samples. */
CudaFilters_EXPORT std::vector<double>
                   MakeCentralWeights(double sigmaInPixels, size_t radius, size_t lineLength);

template <typename T>
inline SmootherCoefficients<T>
RoundTo(const SmootherCoefficients<double> & c)
{
  SmootherCoefficients<T> rounded;
  rounded.RealGain = static_cast<T>(c.RealGain);
  rounded.PairGainRe = static_cast<T>(c.PairGainRe);
  rounded.PairGainIm = static_cast<T>(c.PairGainIm);
  rounded.RealWeight = static_cast<T>(c.RealWeight);
  rounded.PairWeightRe = static_cast<T>(c.PairWeightRe);
  rounded.PairWeightIm = static_cast<T>(c.PairWeightIm);
  for (unsigned int i = 0; i < 3; ++i)
  {
    for (unsigned int j = 0; j < 3; ++j)
    {
      rounded.Border[i][j] = static_cast<T>(c.Border[i][j]);
    }
  }
  rounded.RealResponse = static_cast<T>(c.RealResponse);
  rounded.PairResponseRe = static_cast<T>(c.PairResponseRe);
  rounded.PairResponseIm = static_cast<T>(c.PairResponseIm);
  return rounded;
}

template <typename T>
inline SmootherPower<T>
RoundTo(const SmootherPower<double> & power)
{
  return { static_cast<T>(power.Real), static_cast<T>(power.PairRe), static_cast<T>(power.PairIm) };
}

template <typename T>
inline SectionPowers<T>
RoundTo(const SectionPowers<double> & powers)
{
  return { RoundTo<T>(powers.Short), RoundTo<T>(powers.Long) };
}

template <typename T>
inline std::vector<T>
RoundTo(const std::vector<double> & values)
{
  return std::vector<T>(values.begin(), values.end());
}
} // namespace itk::cuda::young_van_vliet

#endif

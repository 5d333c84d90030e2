// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partitioned_Coefficients_h
#define CudaFilters_partitioned_Coefficients_h

#include "CudaFiltersExport.h"
#include "partitioned/Partitions.h"

#include <complex>
#include <cstddef>
#include <vector>

// Coefficients are always computed in double and rounded once.

namespace itk::cuda::partitioned
{
/** Young and van Vliet's q: sigma of the rational approximation, scaled so that the discrete filter has this sigma. */
CudaFilters_EXPORT double
GetScale(double sigmaInPixels);

/** The real pole and one of the pair, p = q / (q + m): the recursion's denominators in product form. Their expansion
 * into the published b_0 ... b_3 loses the digits of 1 - p. */
struct YoungVanVlietPoles
{
  double               RealPole;
  std::complex<double> PairPole;
};

CudaFilters_EXPORT YoungVanVlietPoles
GetPoles(double sigmaInPixels);

CudaFilters_EXPORT SmootherCoefficients<double>
                   MakeSmootherCoefficients(double sigmaInPixels);

/** p_j^length */
CudaFilters_EXPORT SmootherPower<double>
                   MakeSmootherPower(double sigmaInPixels, size_t length);

CudaFilters_EXPORT SectionLayout
MakeSectionLayout(size_t lineLength, size_t numberOfSections);

CudaFilters_EXPORT SectionPowers<double>
                   MakeSectionPowers(double sigmaInPixels, const SectionLayout & layout);

/** The sampled Gaussian at distances 0 to `radius`, with sum 1 over both sides. At a distance of the line's length or
 * more both neighbours are the line's end values, so the last weight stands for all of them. */
CudaFilters_EXPORT std::vector<double>
                   MakeCentralWeights(double sigmaInPixels, size_t radius, size_t lineLength);

template <typename T>
inline SmootherCoefficients<T>
Round(const SmootherCoefficients<double> & c)
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
Round(const SmootherPower<double> & power)
{
  return { static_cast<T>(power.Real), static_cast<T>(power.PairRe), static_cast<T>(power.PairIm) };
}

template <typename T>
inline SectionPowers<T>
Round(const SectionPowers<double> & powers)
{
  return { Round<T>(powers.Short), Round<T>(powers.Long) };
}

template <typename T>
inline std::vector<T>
Round(const std::vector<double> & values)
{
  return std::vector<T>(values.begin(), values.end());
}
} // namespace itk::cuda::partitioned

#endif

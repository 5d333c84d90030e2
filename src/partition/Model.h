// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_Model_h
#define CudaFilters_partition_Model_h

#include "region/Laws.h"

#include <cstdint>

// The description of a partition, in nats: D = sum over regions of [-log likelihood + a/2 log n + log N] + c S, for
// regions of n pixels and a estimated parameters, an image of N pixels, and S segments inside the image. log N says
// where a region begins, c where a segment ends (Galland, Bertaux and Refregier, IEEE Transactions on Image Processing
// 12, 2003; a/2 log n: Rissanen 1978).
namespace itk::cuda::executor
{}
namespace itk::cuda::partition
{
using namespace executor; // the stages of a partition are functors for its loops
using region::LawDescription;
using region::LinearForm;
using region::Moments;
using region::NoiseLaw;
using region::OrderOf;

/** Invalid index of a region, a node or an edge. */
constexpr uint32_t None = 0xffffffffu;

/** Region with a Gaussian distribution of known variance V. The criterion is n v / (2 V) with v = b/n - (a/n)^2, where
 * v is bounded below as in GaussianRegion. */
struct KnownVarianceRegion
{
  double Variance;

  ITK_CUDA_HOST_DEVICE double
  Criterion(const Moments & m) const
  {
    return 0.5 * region::ScaledVariance(m) / (static_cast<double>(m.Count) * Variance);
  }
  ITK_CUDA_HOST_DEVICE LinearForm
  Linearize(const Moments & m) const
  {
    const double mean = static_cast<double>(m.Sum) / static_cast<double>(m.Count);
    return { 0.5 * mean * (mean / Variance), -mean / Variance, 0.5 / Variance };
  }
};

/** Returns the number of parameters that a law estimates per region, LawTraits::OwnParameters, in kernels. */
ITK_CUDA_HOST_DEVICE constexpr double
NumberOfLawParameters(NoiseLaw law)
{
  return law == NoiseLaw::Gaussian || law == NoiseLaw::LogNormal ? 2.0 : 1.0;
}

/** Returns whether NumberOfLawParameters() agrees with the table of laws. */
constexpr bool
KnowsAllLawParameters()
{
  for (const NoiseLaw law : region::AllLaws)
  {
    if (NumberOfLawParameters(law) != region::GetTraits(law).OwnParameters)
    {
      return false;
    }
  }
  return true;
}
static_assert(KnowsAllLawParameters());

/** The description length of a partition, as plain data. */
struct DescriptionModel
{
  LawDescription Law;
  double         KnownVariance{ 1.0 }; // of GaussianCommonVariance; fixed during the search
  double         LogNumberOfPixels{ 0.0 };
  double         SegmentCost{ 9.0 };

  /** Returns the description of a region without its boundary; 0 for a region without pixels. */
  ITK_CUDA_HOST_DEVICE double
  Describe(const Moments & m) const
  {
    return m.Count <= 0 ? 0.0 : this->Describe(m, this->ParameterCost(m.Count));
  }
  /** Returns the description of a region with pixels. \param price ParameterCost() of its number of pixels */
  ITK_CUDA_HOST_DEVICE double
  Describe(const Moments & m, double price) const
  {
    return Law.Visit([&](const auto & law) { return this->OneRegion(law).Criterion(m); }) + price + LogNumberOfPixels;
  }
  /** Returns the cost of the parameters of a region of `count` pixels. */
  ITK_CUDA_HOST_DEVICE double
  ParameterCost(int64_t count) const
  {
    return 0.5 * NumberOfLawParameters(Law.Law) * region::Log(static_cast<double>(count));
  }

  /** Returns the tangent of Describe(): the first-order change when pixels join the region, without the terms that
   * cancel when a pixel moves from one region to another, because all regions have them: a constant for each pixel and,
   * for the Poisson law, the sum of the pixels. Describe() is concave, so that the tangent is nowhere below it. Hence a
   * set of changes that lowers the sum of tangents lowers the description, even if the changes share regions. A region
   * without pixels gets the tangent of one pixel of value 0. */
  ITK_CUDA_HOST_DEVICE LinearForm
  Linearize(const Moments & m) const
  {
    const Moments atLeastOne = m.Count > 0 ? m : Moments{ 1, 0, 0 };
    LinearForm    tangent = Law.Visit([&](const auto & law) { return this->OneRegion(law).Linearize(atLeastOne); });
    tangent.Count += 0.5 * NumberOfLawParameters(Law.Law) / static_cast<double>(atLeastOne.Count);
    return tangent;
  }

private:
  template <typename TRegion>
  ITK_CUDA_HOST_DEVICE const TRegion &
  OneRegion(const region::IndependentRegions<TRegion> & law) const
  {
    return law.Region;
  }
  ITK_CUDA_HOST_DEVICE KnownVarianceRegion
  OneRegion(const region::CommonVarianceRegions &) const
  {
    return { KnownVariance };
  }
};

/** Describes regions as a model does, with bit-identical results. The parameter costs, which are logarithms, are
 * tabulated for the numbers of pixels that most regions have while they merge, because logarithms take most of the
 * time of a round. The struct is a non-owning view. */
struct CachedModel
{
  DescriptionModel Model;
  const double *   CachedCosts; // for regions of 0, 1, 2, ... pixels
  uint32_t         NumberOfCachedCosts;

  ITK_CUDA_HOST_DEVICE double
  Describe(const Moments & m) const
  {
    const bool isCached = m.Count > 0 && m.Count < static_cast<int64_t>(NumberOfCachedCosts);
    return isCached ? Model.Describe(m, CachedCosts[m.Count]) : Model.Describe(m);
  }
};
} // namespace itk::cuda::partition

#endif

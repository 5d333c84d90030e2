// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeScene_h
#define itkCudaSnakeScene_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"

#include <cstdint>
#include <vector>

namespace itk::cuda
{
/** What a synthetic image shows. */
enum class SceneTarget : uint8_t
{
  Standard, // a non-convex polygon of 29 vertices
  Small,    // the same, a tenth of its size: 1 % of the area
  ThinArms, // a star with arms of 3 % of the side
  Two,      // two copies of it, side by side
  None
};

/** Its noise; the two numbers of SnakeScene say how the target differs. */
enum class SceneNoise : uint8_t
{
  Gaussian,  // sigma 2001 around 20000; the target's mean is larger by `Contrast` * 2000, its sigma `Ratio` times as
             // large
  Gamma,     // exponential of mean 1000; the target's is `Ratio` times as large
  Rayleigh,  // mean square 1000^2; the target's mean square is `Ratio` times as large
  Poisson,   // mean 10; the target's is `Ratio` times as large
  Bernoulli, // probability 0.3; the target's is `Ratio` times as large
  LogNormal  // logarithm of mean 7 and sigma 0.5; the target's mean is larger by `Contrast` * 0.5
};

/** A synthetic image that is the same everywhere: every pixel follows from a hash of its position and of the seed.
 * Gaussian scenes use integers only, the others additions, multiplications and the module's own logarithm (the
 * log-normal one also the library's exp). */
struct SnakeScene
{
  int32_t     Width{ 0 };
  int32_t     Height{ 0 };
  SceneTarget Target{ SceneTarget::Standard };
  SceneNoise  Noise{ SceneNoise::Gaussian };
  double      Contrast{ 1.0 };
  double      Ratio{ 1.0 };
  uint64_t    Seed{ 0 };

  /** Outlines of the target; none or more. */
  std::vector<CudaSnakePolygon>
  GetTruth() const;

  /** The pixels, row by row, made by `numberOfThreads` threads. */
  std::vector<uint16_t>
  MakePixels(unsigned int numberOfThreads) const;
};

/** The law that describes a scene. */
CudaFiltersEnums::NoiseLaw
NoiseLawOf(const SnakeScene & scene);

/** The hash of Steele, Lea and Flood, Fast splittable pseudorandom number generators (2014). */
uint64_t
SplitMix64(uint64_t x);

/** Pixels in both of two regions over pixels in any of them; regions are unions of polygons. */
double
IntersectionOverUnion(const std::vector<CudaSnakePolygon> & first,
                      const std::vector<CudaSnakePolygon> & second,
                      int32_t                               height);

/** A view of pixels in memory, row by row. */
CudaImageView
MakeImageView(const void * data, CudaComponentType type, size_t width, size_t height);
} // namespace itk::cuda

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFiltersEnums_h
#define itkCudaFiltersEnums_h

#include "CudaFiltersExport.h"

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

namespace itk
{
/** \class CudaFiltersEnums
 * \brief Enumerations of the CudaFilters module.
 *
 * Every parameter of an enumerated type also accepts the value's name as a string. Case, '_' and '-' do not matter:
 * CoarseToFine = coarse_to_fine.
 *
 * \ingroup CudaFilters
 */
class CudaFiltersEnums
{
public:
  /** Where a filter runs. `Automatic` uses the GPU if one is usable, the pixel type is supported and the working set
   * fits; otherwise it uses the host. `Cuda` throws instead of falling back. `Host` never touches the GPU. */
  enum class Backend : uint8_t
  {
    Automatic,
    Cuda,
    Host
  };

  /** Whether a filter cuts its image into slabs along the last axis. `Automatic` does so if the image does not fit into
   * the device's memory, and for an image of 64 MiB or more that fits, if the run is expected to take less time. `On`
   * always does so, and in a pipeline the filter requests only the planes that a slab needs. `Off` never does. */
  enum class Streaming : uint8_t
  {
    Automatic,
    On,
    Off
  };

  /** The sum of exponentials by which recursive filters approximate the Gaussian. `Deriche` has two pairs with the
   * constants of ITK's recursive filters, and gives their results. `Accurate` has three pairs that are fitted to the
   * Gaussian and its first two derivatives. */
  enum class Approximation : uint8_t
  {
    Deriche,
    Accurate
  };

  /** How lines continue beyond their ends in the recursive filters, with the names and the meaning of scipy.ndimage. A
   * line a b c d continues as follows:
   * - `Nearest`: a a | a b c d | d d, as in ITK's filters;
   * - `Reflect`: b a | a b c d | d c;
   * - `Mirror`: c b | a b c d | c b; a line of one pixel continues as with Nearest;
   * - `Wrap`: c d | a b c d | a b;
   * - `Constant`: k k | a b c d | k k, with a value k that the user sets. */
  enum class BoundaryMode : uint8_t
  {
    Nearest,
    Reflect,
    Mirror,
    Wrap,
    Constant
  };

  /** The distribution of the pixels of a region in CudaRegionSnakeImageFilter and CudaRegionPartitionImageFilter;
   * CudaNoiseLaws() describes each law. */
  enum class NoiseLaw : uint8_t
  {
    Gaussian,               // each region has its own mean and variance
    GaussianCommonVariance, // each region has its own mean; the variance is common
    Gamma,                  // own means, known number of looks: intensity of radar images
    Rayleigh,               // own mean squares, known number of looks (Nakagami): amplitude of radar images
    Poisson,                // own means: counts
    Bernoulli,              // own probabilities: binary images
    LogNormal               // the logarithm is Gaussian
  };

  /** How CudaRegionSnakeImageFilter moves its polygon. `CoarseToFine` works on blocks of pixels first. `AsPublished`
   * works on the full image and moves the nodes in turns, as Perrot, Domas and Couturier (2011) do. */
  enum class Schedule : uint8_t
  {
    CoarseToFine,
    AsPublished
  };

  /** Where the polygon of CudaRegionSnakeImageFilter starts if the user gives no start. `Automatic` searches all
   * rectangles of a grid; `MarginRectangle` is the image without a margin of a tenth on each side. */
  enum class Start : uint8_t
  {
    Automatic,
    MarginRectangle
  };

  /** How CudaPartitionedRecursiveGaussianImageFilter divides a line. `OneWay` does not divide it. `TwoWay` divides it
   * into a left half, a central pixel and a right half, as published by Lee, Ko and Choe (2014), and is an
   * approximation. `Exact` divides it into any number of blocks and gives the result of OneWay. */
  enum class Partition : uint8_t
  {
    OneWay,
    TwoWay,
    Exact
  };

  /** How a recursive filter of two passes in sequence starts its second pass at the end of a line. With `AsPublished`
   * the first pass's result repeats its last value. With `Exact` the line repeats its last value (Triggs and Sdika,
   * 2006). */
  enum class LineBorders : uint8_t
  {
    AsPublished,
    Exact
  };

  /** Where a thread stores the result of the first pass until the second: in its own local memory, or in the image. */
  enum class IntermediateStorage : uint8_t
  {
    Local,
    Global
  };
};

/** Prints the name of the value, qualified as ITK's enumerations are. */
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::Backend value);
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::Streaming value);
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::Approximation value);
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::BoundaryMode value);
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::Partition value);
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::LineBorders value);
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::IntermediateStorage value);

/** Returns the backend of that name ("automatic", "cuda", "host"; case, '_' and '-' do not matter).
 * \exception ExceptionObject naming `parameter`, the text and the known names */
CudaFilters_EXPORT CudaFiltersEnums::Backend
                   CudaBackendFromString(const std::string & name, const char * parameter = "Backend");

/** Returns the value of that name ("automatic", "on", "off"; case, '_' and '-' do not matter).
 * \exception ExceptionObject naming `parameter`, the text and the known names */
CudaFilters_EXPORT CudaFiltersEnums::Streaming
                   CudaStreamingFromString(const std::string & name, const char * parameter = "Streaming");

extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::NoiseLaw value);
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::Schedule value);
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::Start value);

/** Returns the value of that name; case, '_' and '-' do not matter.
 * \exception ExceptionObject naming the parameter, the text and the known names */
CudaFilters_EXPORT CudaFiltersEnums::Approximation
                   CudaApproximationFromString(const std::string & name);
/** Also accepts scipy's other names: grid-mirror is Reflect, grid-wrap is Wrap, grid-constant is Constant. */
CudaFilters_EXPORT CudaFiltersEnums::BoundaryMode
                   CudaBoundaryModeFromString(const std::string & name);
CudaFilters_EXPORT CudaFiltersEnums::NoiseLaw
                   CudaNoiseLawFromString(const std::string & name);
CudaFilters_EXPORT CudaFiltersEnums::Schedule
                   CudaScheduleFromString(const std::string & name);
CudaFilters_EXPORT CudaFiltersEnums::Start
                   CudaStartFromString(const std::string & name);
CudaFilters_EXPORT CudaFiltersEnums::Partition
                   CudaPartitionFromString(const std::string & name);
CudaFilters_EXPORT CudaFiltersEnums::LineBorders
                   CudaLineBordersFromString(const std::string & name);
CudaFilters_EXPORT CudaFiltersEnums::IntermediateStorage
                   CudaIntermediateStorageFromString(const std::string & name);

/** Returns "Automatic", "Cuda" or "Host". */
CudaFilters_EXPORT std::string
                   CudaBackendToString(CudaFiltersEnums::Backend value);

/** Returns "Automatic", "On" or "Off". */
CudaFilters_EXPORT std::string
                   CudaStreamingToString(CudaFiltersEnums::Streaming value);

/** How real values are converted to integers. `Truncate` rounds toward zero, as the filters do. `Nearest` rounds to the
 * nearest integer, and halves to the even one. */
enum class CudaRounding : uint8_t
{
  Truncate,
  Nearest
};

/** Returns "Truncate" or "Nearest". */
CudaFilters_EXPORT std::string
                   CudaRoundingToString(CudaRounding rounding);

/** Returns the rounding of that name; case, '_' and '-' do not matter. \exception ExceptionObject if the name is
 * unknown */
CudaFilters_EXPORT CudaRounding
CudaRoundingFromString(const std::string & name);

CudaFilters_EXPORT std::ostream &
                   operator<<(std::ostream & out, CudaRounding rounding);

/** The type of one component of a pixel, in host or device memory. */
enum class CudaComponentType : uint8_t
{
  UChar,
  Char,
  UShort,
  Short,
  UInt,
  Int,
  Float,
  Double
};

/** Returns the number of bytes of one component. */
constexpr size_t
CudaComponentSize(CudaComponentType type)
{
  switch (type)
  {
    case CudaComponentType::UChar:
    case CudaComponentType::Char:
      return 1;
    case CudaComponentType::UShort:
    case CudaComponentType::Short:
      return 2;
    case CudaComponentType::UInt:
    case CudaComponentType::Int:
    case CudaComponentType::Float:
      return 4;
    case CudaComponentType::Double:
      return 8;
  }
  return 0;
}
} // end namespace itk

#endif

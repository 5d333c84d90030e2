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
 * Every parameter of an enumerated type also takes the value's name as a
 * string. Case, '_' and '-' do not matter: CoarseToFine = coarse_to_fine.
 *
 * \ingroup CudaFilters
 */
class CudaFiltersEnums
{
public:
  /** Where a filter computes. `Automatic` takes the GPU if one is usable, the pixel type is supported and the working
   * set fits; otherwise it takes the host. `Cuda` throws instead of falling back. `Host` never touches the GPU. */
  enum class Backend : uint8_t
  {
    Automatic,
    Cuda,
    Host
  };

  /** Whether a filter cuts its image into slabs along the last axis. `Automatic`: if the image does not fit into the
   * device's memory. `On`: always, and of a pipeline it requests only what a slab needs. `Off`: never. */
  enum class Streaming : uint8_t
  {
    Automatic,
    On,
    Off
  };

  /** The exponentials by which recursive filters approximate the Gaussian. `Deriche`: two pairs, with the constants of
   * ITK's recursive filters, and their results. `Accurate`: three pairs, fitted to the Gaussian and its first two
   * derivatives. */
  enum class Approximation : uint8_t
  {
    Deriche,
    Accurate
  };

  /** How lines continue beyond their ends in the recursive filters, with the names and the meaning of scipy.ndimage. Of
   * a line a b c d:
   * - `Nearest`: a a | a b c d | d d, as ITK's filters;
   * - `Reflect`: b a | a b c d | d c;
   * - `Mirror`: c b | a b c d | c b; a line of one pixel continues as with Nearest;
   * - `Wrap`: c d | a b c d | a b;
   * - `Constant`: k k | a b c d | k k, with a value k of the user's. */
  enum class BoundaryMode : uint8_t
  {
    Nearest,
    Reflect,
    Mirror,
    Wrap,
    Constant
  };

  /** Distribution of the pixels of each of the two regions of CudaRegionSnakeImageFilter; CudaNoiseLaws() describes
   * each law. */
  enum class NoiseLaw : uint8_t
  {
    Gaussian,               // each region has its own mean and variance
    GaussianCommonVariance, // own means, one variance
    Gamma,                  // own means, known number of looks: intensity of radar images
    Rayleigh,               // own mean squares, known number of looks (Nakagami): amplitude of radar images
    Poisson,                // own means: counts
    Bernoulli,              // own probabilities: binary images
    LogNormal               // the logarithm is Gaussian
  };

  /** How CudaRegionSnakeImageFilter moves its polygon. `CoarseToFine` works on blocks of pixels first. `AsPublished`
   * works on the full image with nodes in turns, as Perrot, Domas and Couturier (2011) do. */
  enum class Schedule : uint8_t
  {
    CoarseToFine,
    AsPublished
  };

  /** Where the polygon of CudaRegionSnakeImageFilter starts unless the user gives a start. `Automatic` searches all
   * rectangles of a grid; `MarginRectangle` leaves out a tenth of the image on each side. */
  enum class Start : uint8_t
  {
    Automatic,
    MarginRectangle
  };

  /** How CudaPartitionedRecursiveGaussianImageFilter divides a line. `OneWay`: not at all. `TwoWay`: a left half, a
   * central pixel and a right half, as Lee, Ko and Choe published it (2014); an approximation. `Exact`: any number of
   * blocks, with the result of OneWay. */
  enum class Partition : uint8_t
  {
    OneWay,
    TwoWay,
    Exact
  };

  /** How a recursive filter of two passes in sequence starts its second pass at the end of a line. `AsPublished`: the
   * first pass repeats its last value. `Exact`: the line repeats its last value (Triggs and Sdika, 2006). */
  enum class LineBorders : uint8_t
  {
    AsPublished,
    Exact
  };

  /** Where a thread keeps the result of the first pass until the second: in its own local memory, or in the image. */
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

/** The backend of that name ("automatic", "cuda", "host"; case, '_' and '-' do not matter).
 * \exception ExceptionObject naming `parameter`, the text and the known names. */
CudaFilters_EXPORT CudaFiltersEnums::Backend
                   CudaBackendFromString(const std::string & name, const char * parameter = "Backend");

/** The value of that name ("automatic", "on", "off"; case, '_' and '-' do not matter).
 * \exception ExceptionObject naming `parameter`, the text and the known names. */
CudaFilters_EXPORT CudaFiltersEnums::Streaming
                   CudaStreamingFromString(const std::string & name, const char * parameter = "Streaming");

extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::NoiseLaw value);
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::Schedule value);
extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaFiltersEnums::Start value);

/** The value of that name; case, '_' and '-' do not matter.
 * \exception ExceptionObject naming the parameter, the text and the known names. */
CudaFilters_EXPORT CudaFiltersEnums::Approximation
                   CudaApproximationFromString(const std::string & name);
/** It knows scipy's other names too: grid-mirror is Reflect, grid-wrap Wrap, grid-constant Constant. */
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

/** "Automatic", "Cuda" or "Host". */
CudaFilters_EXPORT std::string
                   CudaBackendToString(CudaFiltersEnums::Backend value);

/** "Automatic", "On" or "Off". */
CudaFilters_EXPORT std::string
                   CudaStreamingToString(CudaFiltersEnums::Streaming value);

/** How real values become integers. `Truncate`: toward zero, as the filters do. `Nearest`: to the nearest one, halves
 * to the even one. */
enum class CudaRounding : uint8_t
{
  Truncate,
  Nearest
};

/** "Truncate" or "Nearest". */
CudaFilters_EXPORT std::string
                   CudaRoundingToString(CudaRounding rounding);

/** The reverse; case, _ and - do not matter. \exception ExceptionObject for another name */
CudaFilters_EXPORT CudaRounding
CudaRoundingFromString(const std::string & name);

CudaFilters_EXPORT std::ostream &
                   operator<<(std::ostream & out, CudaRounding rounding);

/** Type of one component of a pixel, in host or device memory. */
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

/** Bytes of one component. */
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

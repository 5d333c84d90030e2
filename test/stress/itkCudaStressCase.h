// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStressCase_h
#define itkCudaStressCase_h

#include "itkCudaFiltersEnums.h"
#include "itkDataObject.h"
#include "itkProcessObject.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <typeindex>
#include <vector>

namespace itk::cuda::test
{
/** Random numbers that every compiler gives alike (SplitMix64; Steele, Lea and Flood, 2014). */
class StressRandom
{
public:
  /** Streams of one seed have nothing to do with each other. Images have at most `longestSide` pixels along an axis. */
  StressRandom(uint64_t seed, uint64_t stream, uint64_t longestSide = 1500)
    : m_State(Mix(Mix(seed) + stream))
    , m_LongestSide(longestSide)
  {}

  uint64_t
  GetLongestSide() const
  {
    return m_LongestSide;
  }

  uint64_t
  Next()
  {
    m_State += 0x9E3779B97F4A7C15ULL;
    return Mix(m_State);
  }
  double
  Uniform(double low, double high)
  {
    return low + (high - low) * 0x1p-53 * static_cast<double>(this->Next() >> 11);
  }
  double
  LogUniform(double low, double high);
  /** Both ends are possible. */
  uint64_t
  Integer(uint64_t low, uint64_t high)
  {
    return low + this->Next() % (high - low + 1);
  }
  bool
  Chance(double probability)
  {
    return this->Uniform(0.0, 1.0) < probability;
  }
  template <typename T>
  T
  Choose(std::initializer_list<T> values)
  {
    return values.begin()[this->Integer(0, values.size() - 1)];
  }

private:
  static uint64_t
  Mix(uint64_t z)
  {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  uint64_t m_State;
  uint64_t m_LongestSide;
};

uint64_t
HashBytes(const void * data, size_t bytes, uint64_t hash = 0);

/** What goes wrong in a call before the same filter is to work. */
enum class StressFault
{
  None,
  Abort,            // an observer sets AbortGenerateData
  ThrowingObserver, // an observer throws
  BadParameter,     // a parameter is out of range
  ReleasedInput     // the input has lost its pixels and has no source
};

/** Filters that a thread uses again, one of each type. */
class FilterShelf
{
public:
  template <typename TFilter>
  TFilter *
  Get()
  {
    ProcessObject::Pointer & filter = m_Filters[typeid(TFilter)];
    if (filter.IsNull())
    {
      filter = TFilter::New().GetPointer();
    }
    return static_cast<TFilter *>(filter.GetPointer());
  }

private:
  std::map<std::type_index, ProcessObject::Pointer> m_Filters;
};

/** How a case is run; none of it may change the result. */
struct StressCall
{
  FilterShelf * Shelf{ nullptr }; // nullptr: by a new filter
  StressFault   Fault{ StressFault::None };
  unsigned int  FaultEvent{ 1 }; // the progress event at which the observer acts
  bool          Observed{ false };
  bool          Disconnected{ true }; // whether the outputs leave the filter, which then makes new ones
};

/** An output with the hash of its bits when it was made. */
struct StressOutput
{
  DataObject::Pointer Data;
  uint64_t (*Hash)(const DataObject *);
  uint64_t Bits;
  size_t   Bytes;
};

struct StressResult
{
  std::vector<StressOutput> Outputs;
  bool                      FaultCame{ false };
};

/** One call of a filter: image, parameters, requested region, backend. It is the same at every run. */
class StressCase
{
public:
  virtual ~StressCase() = default;

  /** May be called by several threads at once.
   * \exception std::exception if anything is not as it should be but the bits of the outputs */
  virtual StressResult
  Run(const StressCall & call) const = 0;

  const std::string &
  GetDescription() const
  {
    return m_Description;
  }

protected:
  std::string m_Description;
};

using StressCasePointer = std::unique_ptr<StressCase>;
using StressCaseFunction = StressCasePointer(StressRandom & random, CudaFiltersEnums::Backend backend);
using StressCaseMaker = StressCaseFunction *;

// A random case of each filter (contract/itkCudaFilterTable.cxx).
StressCaseFunction MakeRecursiveStressCase;
StressCaseFunction MakeSmoothingStressCase;
StressCaseFunction MakeMagnitudeStressCase;
StressCaseFunction MakeLaplacianStressCase;
StressCaseFunction MakeGradientStressCase;
StressCaseFunction MakeHessianStressCase;
StressCaseFunction MakeDiscreteStressCase;
StressCaseFunction MakePartitionedStressCase;
StressCaseFunction MakeStructureTensorStressCase;
StressCaseFunction MakeObjectnessStressCase;
StressCaseFunction MakeEigenvaluesStressCase;
StressCaseFunction MakeMultiScaleStressCase;
StressCaseFunction MakeVesselnessStressCase;
StressCaseFunction MakeSnakeStressCase;
StressCaseFunction MakeSnakeBatchStressCase;
StressCaseFunction MakeDetectionStressCase;
StressCaseFunction MakePartitionStressCase;

// Chains of filters, and filters of large images.
StressCaseFunction MakeChainStressCase;
StressCaseFunction MakeLargeStressCase;
StressCaseFunction MakeLargeDerivativeStressCase;

/** The kinds of calls, each with a function that makes a random case: filters, chains and large images. */
using StressCaseMakers = std::map<std::string, StressCaseMaker>;

const StressCaseMakers &
GetStressCaseMakers();

/** This kind takes seconds and gigabytes. It is run only where it is asked for. */
constexpr const char * LargeStressKind = "large";
} // namespace itk::cuda::test

#endif

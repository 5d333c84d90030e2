// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSlabTest_h
#define itkCudaSlabTest_h

#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "runtime/DetailNames.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/image/Components.h"
#include "support/itkCudaTestSeed.h"
#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace itk::cuda::test
{
using SlabSize = std::array<size_t, CudaDetail::CudaImageView::MaximumDimension>;

/** A dense image in ordinary memory. */
struct SlabImage
{
  CudaDetail::CudaImageView  Shape; // without data
  std::vector<unsigned char> Bytes;

  CudaDetail::CudaImageView
  GetView()
  {
    CudaDetail::CudaImageView view = Shape;
    view.Data = Bytes.data();
    return view;
  }

  template <typename T>
  T *
  Get()
  {
    return reinterpret_cast<T *>(Bytes.data());
  }

  unsigned int
  GetAxis() const
  {
    unsigned int axis = 0;
    for (unsigned int d = 0; d < Shape.Size.size(); ++d)
    {
      axis = Shape.Size[d] > 1 ? d : axis;
    }
    return axis;
  }

  size_t
  GetNumberOfPlanes() const
  {
    return Shape.Size[this->GetAxis()];
  }

  size_t
  GetBytesOfPlane() const
  {
    return Bytes.size() / this->GetNumberOfPlanes();
  }
};

inline SlabImage
MakeSlabImage(const SlabSize & size, size_t components, CudaComponentType type)
{
  SlabImage image;
  image.Shape.ComponentType = type;
  image.Shape.NumberOfComponents = components;
  image.Shape.Size = size;
  size_t stride = components;
  for (unsigned int d = 0; d < size.size(); ++d)
  {
    image.Shape.Stride[d] = stride;
    stride *= size[d];
  }
  image.Bytes.resize(image.Shape.GetNumberOfBytes());
  return image;
}

/** Returns an image of values around 1000, for which rounding matters, or around 50 for one-byte types. */
inline SlabImage
MakeRandomImage(const SlabSize & size, size_t components, CudaComponentType type, uint64_t seed)
{
  SlabImage                              image = MakeSlabImage(size, components, type);
  std::mt19937                           generator(static_cast<unsigned int>(seed));
  std::uniform_real_distribution<double> uniform(900.0, 1100.0);
  const size_t                           count = image.Bytes.size() / CudaComponentSize(type);
  for (size_t i = 0; i < count; ++i)
  {
    const double value = uniform(generator);
    VisitComponentType(type, [&](auto zero) {
      using ComponentType = decltype(zero);
      const bool isSmall = sizeof(ComponentType) == 1; // its range does not reach 1000
      image.Get<ComponentType>()[i] = static_cast<ComponentType>(isSmall ? (value - 900.0) / 2.0 : value);
    });
  }
  return image;
}

/** Returns an output image with all bits set, which is NaN in floating-point types. */
inline SlabImage
MakeSlabOutput(const CudaDetail::CudaGaussianPlan & plan, const SlabImage & input, CudaComponentType type)
{
  SlabImage output = MakeSlabImage(input.Shape.Size, input.Shape.NumberOfComponents * plan.Results.size(), type);
  std::fill(output.Bytes.begin(), output.Bytes.end(), static_cast<unsigned char>(0xff));
  return output;
}

/** A source and a sink, each with an image, that verify the order of the calls. */
class VerifyingEndpoints
{
public:
  enum Call
  {
    Source,
    Sink,
    Progress
  };

  VerifyingEndpoints(const CudaDetail::CudaGaussianPlan & plan, const SlabImage & input, CudaComponentType type)
    : Input(input)
    , Output(MakeSlabOutput(plan, input, type))
    , m_Plan(plan)
  {}

  /** Makes the n-th call of a kind, counted from 0, call `thrower`. */
  void
  ThrowAt(Call call, unsigned int n, std::function<void()> thrower)
  {
    m_Call = call;
    m_Left = n;
    m_Thrower = std::move(thrower);
  }

  CudaSlabReport
  Run(const CudaSlabOptions & options)
  {
    Done = 0;
    return CudaDetail::CudaGaussianFilterSlabs(
      m_Plan,
      Input.Shape,
      Output.Shape,
      [this](size_t first, size_t planes, void * pixels) {
        this->Enter(Source);
        std::memcpy(pixels, &Input.Bytes[first * Input.GetBytesOfPlane()], planes * Input.GetBytesOfPlane());
        Asked += planes;
      },
      [this](size_t first, size_t planes, const void * pixels) {
        this->Enter(Sink);
        EXPECT_EQ(first, Next);
        std::memcpy(&Output.Bytes[first * Output.GetBytesOfPlane()], pixels, planes * Output.GetBytesOfPlane());
        Next = first + planes;
        Given += planes;
      },
      options,
      [this](float done) {
        this->Enter(Progress);
        EXPECT_LE(Done, done);
        EXPECT_LE(done, 1.0f);
        Done = done;
      });
  }

  SlabImage    Input, Output;
  size_t       Asked{ 0 }; // planes
  size_t       Given{ 0 };
  size_t       Next{ 0 };
  float        Done{ 0 };
  unsigned int CallsAfterThrow{ 0 };

private:
  void
  Enter(Call call)
  {
    CallsAfterThrow += m_HasThrown ? 1 : 0;
    if (m_Thrower && call == m_Call && m_Left-- == 0)
    {
      m_HasThrown = true;
      m_Thrower();
    }
  }

  const CudaDetail::CudaGaussianPlan m_Plan;
  Call                               m_Call{ Source };
  unsigned int                       m_Left{ 0 };
  std::function<void()>              m_Thrower;
  bool                               m_HasThrown{ false };
};

/** Returns the index of the first byte that differs, or the number of bytes if none does. */
inline size_t
FindDifference(const SlabImage & a, const SlabImage & b)
{
  return std::mismatch(a.Bytes.begin(), a.Bytes.end(), b.Bytes.begin()).first - a.Bytes.begin();
}

/** Returns the output of a run over the whole image on the host. */
inline SlabImage
RunWholeOnHost(const CudaDetail::CudaGaussianPlan & plan, const SlabImage & input, CudaComponentType type)
{
  SlabImage output = MakeSlabOutput(plan, input, type);
  SlabImage source = input;
  CudaDetail::CudaRunOnHost(plan, source.GetView(), output.GetView(), MultiThreaderBase::New(), nullptr);
  return output;
}

/** Where the slabs of the tests run: on the host, on the GPU, or on a GPU that threads imitate. Each test program
 * defines its own. */
struct SlabMachine
{
  std::string Name;
  bool        OnHost;
  bool        IsFake;
  // Images of this type have the bits of a run over the whole, without a conversion.
  CudaComponentType   Type;
  std::vector<size_t> Chunks; // chunks in a slab
  std::vector<size_t> Queues;
  std::vector<size_t> Lengths; // planes of the images
  SlabImage (*RunWhole)(const CudaDetail::CudaGaussianPlan & plan, const SlabImage & input, CudaComponentType type);
  /** Returns why the machine cannot be used, or an empty string. */
  std::string (*SetUp)();
  void (*TearDown)();
  /** Fills memory that a run gets with NaN. With `measures` the machine counts the memory of the run. */
  void (*Prepare)(bool measures);
  /** Verifies the device memory of a run. */
  void (*Verify)(const CudaSlabReport & report);

  /** Returns options for a number of queues, which are dealt to the devices of the configuration. On a GPU these are
   * device 0, unless the environment names others (ITK_CUDAFILTERS_DEVICES). */
  CudaSlabOptions
  MakeOptions(size_t chunksPerSlab, size_t queues = 1) const
  {
    CudaSlabOptions options;
    options.OnHost = OnHost;
    options.ChunksPerSlab = chunksPerSlab;
    const std::vector<int> devices = CudaFiltersConfiguration::GetDeviceIndices();
    for (size_t queue = 0; !OnHost && queue < queues; ++queue)
    {
      options.Devices.push_back(devices[queue % devices.size()]);
    }
    return options;
  }
};

const SlabMachine &
GetSlabMachine();

struct SlabCase
{
  std::string                  Name;
  CudaDetail::CudaGaussianPlan Plan;
  SlabSize                     Size{ { 1, 1, 1, 1 } };
  size_t                       Components{ 1 };
  CudaComponentType            InputType{ CudaComponentType::Float };
  CudaComponentType            OutputType{ CudaComponentType::Float };
};

inline CudaDetail::CudaGaussianParameters
MakeSlabParameters(unsigned int dimension, double sigma, CudaFiltersEnums::Approximation approximation)
{
  CudaDetail::CudaGaussianParameters parameters;
  parameters.Sigma.assign(dimension, sigma);
  parameters.Spacing.assign(dimension, 1.0);
  parameters.Approximation = approximation;
  return parameters;
}

/** Returns a case of smoothing with planes of a few pixels, with `sigma` along the last axis and 1 along the others. */
inline SlabCase
MakeSmoothingCase(size_t length, double sigma)
{
  auto parameters = MakeSlabParameters(3, 1.0, CudaFiltersEnums::Approximation::Deriche);
  parameters.Sigma[2] = sigma;
  return { "smoothing of " + std::to_string(length) + " planes, sigma " + std::to_string(sigma),
           CudaDetail::MakeSmoothingPlan(parameters),
           { { 9, 5, length, 1 } } };
}

/** Returns the plans of all filters of the family. */
inline std::vector<std::pair<std::string, CudaDetail::CudaGaussianPlan>>
MakeSlabPlans(const CudaDetail::CudaGaussianParameters & parameters)
{
  using namespace CudaDetail;
  const auto          dimension = static_cast<unsigned int>(parameters.Sigma.size());
  std::vector<double> rotation(size_t{ dimension } * dimension, 0.0);
  for (unsigned int i = 0; i < dimension; ++i)
  {
    rotation[size_t{ i } * dimension + (i + 1) % dimension] = i == 0 ? -1.0 : 1.0;
  }
  const auto kernel = [&](unsigned int order) {
    return MakeGaussianImpulseResponse(parameters.Approximation, order, parameters.Sigma.back(), 1.0, false);
  };
  return { { "smoothing", MakeSmoothingPlan(parameters) },
           { "gradient", MakeGradientPlan(parameters) },
           { "rotated gradient", MakeGradientPlan(parameters, rotation) },
           { "magnitude", MakeGradientMagnitudePlan(parameters) },
           { "Laplacian", MakeLaplacianPlan(parameters) },
           { "Hessian", MakeHessianPlan(parameters) },
           { "last axis", MakeGaussianLinePlan(dimension - 1, kernel(1)) },
           { "first axis", MakeGaussianLinePlan(0, kernel(0)) } };
}

inline std::vector<SlabCase>
MakeSlabCases()
{
  std::vector<SlabCase> cases;
  const auto            typeName = [](CudaComponentType type) { return std::to_string(static_cast<int>(type)); };
  for (const auto approximation :
       { CudaFiltersEnums::Approximation::Deriche, CudaFiltersEnums::Approximation::Accurate })
  {
    for (const double sigma : { 3.0, 40.0 })
    {
      for (const unsigned int dimension : { 2u, 3u, 4u })
      {
        auto parameters = MakeSlabParameters(dimension, sigma, approximation);
        for (const auto & types : { std::pair(CudaComponentType::Float, CudaComponentType::Float),
                                    std::pair(CudaComponentType::Double, CudaComponentType::Float),
                                    std::pair(CudaComponentType::Short, CudaComponentType::Short) })
        {
          if (types.first == CudaComponentType::Double)
          {
            parameters.Sigma.front() = 2.0; // several sigmas require separate passes
          }
          for (const auto & [name, plan] : MakeSlabPlans(parameters))
          {
            SlabCase test{ name, plan };
            test.Size = { { 7, 6, 1, 1 } };
            test.Size[2] = dimension == 4 ? 5 : 1;
            test.Size[dimension - 1] = 450;
            test.Components = dimension == 2 ? 2 : 1;
            test.InputType = types.first;
            test.OutputType = types.second;
            test.Name += ", dimension " + std::to_string(dimension) + ", sigma " + std::to_string(sigma) +
                         ", approximation " + std::to_string(static_cast<int>(approximation)) + ", types " +
                         typeName(types.first) + " " + typeName(types.second);
            cases.push_back(test);
          }
        }
      }
    }
  }
  return cases;
}

/** Returns a small case with random shape, types, sigmas and orders. */
inline SlabCase
DrawSlabCase(std::mt19937 & generator)
{
  const auto draw = [&](size_t from, size_t to) { return from + generator() % (to - from + 1); };
  const auto types = std::array<CudaComponentType, 3>{
    { CudaComponentType::Float, CudaComponentType::Double, CudaComponentType::Short }
  };
  const auto dimension = static_cast<unsigned int>(draw(2, 3));
  auto       parameters = MakeSlabParameters(dimension, 1.0, CudaFiltersEnums::Approximation::Deriche);
  parameters.Approximation =
    draw(0, 1) == 0 ? CudaFiltersEnums::Approximation::Deriche : CudaFiltersEnums::Approximation::Accurate;
  for (double & sigma : parameters.Sigma)
  {
    sigma = std::exp(std::uniform_real_distribution<double>(std::log(0.5), std::log(100.0))(generator));
  }
  auto       plans = MakeSlabPlans(parameters);
  const auto axis = static_cast<unsigned int>(draw(0, dimension - 1));
  const auto order = static_cast<unsigned int>(draw(0, 2));
  plans.emplace_back(
    "order " + std::to_string(order) + " along axis " + std::to_string(axis),
    CudaDetail::MakeGaussianLinePlan(
      axis,
      CudaDetail::MakeGaussianImpulseResponse(parameters.Approximation, order, parameters.Sigma[axis], 1.0, false)));
  const auto index = draw(0, plans.size() - 1);
  SlabCase   test{ plans[index].first, plans[index].second };
  test.Size = { { draw(1, 40), draw(1, 12), 1, 1 } };
  test.Size[dimension - 1] = draw(2, 1200);
  test.Components = draw(1, 2);
  test.InputType = types[draw(0, 2)];
  test.OutputType = types[draw(0, 2)];
  test.Name += ", size " + std::to_string(test.Size[0]) + " x " + std::to_string(test.Size[1]) + " x " +
               std::to_string(test.Size[2]) + ", sigma " + std::to_string(parameters.Sigma.back());
  return test;
}

/** Returns the minimum number of bytes that an exception about too little device memory names. */
inline size_t
GetLeastBytes(const std::string & description)
{
  const std::string name = "least: ";
  const size_t      place = description.find(name);
  EXPECT_NE(place, std::string::npos) << description;
  return place == std::string::npos ? 0 : std::strtoull(description.c_str() + place + name.size(), nullptr, 10);
}

/** Returns the minimum device memory in bytes with which a slab case can run. */
inline size_t
FindLeastMemory(const SlabCase & test, CudaSlabOptions options)
{
  options.DeviceMemoryLimit = 1;
  try
  {
    VerifyingEndpoints(
      test.Plan, MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed()), test.OutputType)
      .Run(options);
  }
  catch (const CudaError & error)
  {
    return GetLeastBytes(error.GetDescription());
  }
  ADD_FAILURE() << "nothing was thrown";
  return 0;
}

/** Runs a case with decreasing device memory limits, down to the minimum that an exception names, and then with one
 * byte less, which must fail.
 *
 * \param run the function called with a limit; it verifies the result and returns the report
 * \return the bytes of the first and of the last run */
template <typename TRun>
std::pair<size_t, size_t>
ExpectAnyMemoryWillDo(const TRun & run)
{
  const auto getError = [&](size_t limit) -> std::string {
    try
    {
      run(limit);
    }
    catch (const CudaError & error)
    {
      EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory) << error.GetDescription();
      EXPECT_NE(std::string(error.GetDescription()).find("allowed: " + std::to_string(limit) + " bytes"),
                std::string::npos)
        << error.GetDescription();
      return error.GetDescription();
    }
    ADD_FAILURE() << "nothing was thrown with " << limit << " bytes";
    return {};
  };
  const size_t           most = run(0).PeakDeviceBytes;
  const size_t           least = GetLeastBytes(getError(1));
  constexpr unsigned int steps = 6;
  for (unsigned int i = 0; i <= steps; ++i)
  {
    const size_t limit = most - (most - least) * i / steps;
    EXPECT_LE(run(limit).PeakDeviceBytes, limit);
  }
  EXPECT_EQ(GetLeastBytes(getError(least - 1)), least);
  return { most, least };
}

/** Returns the number of seconds for random cases, which is 5 unless the environment sets it. */
inline int
GetFuzzSeconds()
{
  const char * const text = std::getenv("ITK_CUDAFILTERS_FUZZ_SECONDS");
  return text ? std::atoi(text) : 5;
}
} // namespace itk::cuda::test

#endif

// SPDX-License-Identifier: Apache-2.0

// The device's line passes against the host reference in double: every method of dividing a line, with the others ruled
// out, at the borders of every limit, on aligned and unaligned memory.

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "itkCudaFiltersConfiguration.h"
#include "gaussian/device/LinePasses.h"
#include "gaussian/host/HostPlan.h"
#include "gaussian/device/PipelinedStrip.h"
#include "gaussian/plan/Tuning.h"
#include "runtime/image/LineGroups.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "support/itkCudaGaussianLineReference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;
using namespace itk::cuda::gaussian;

using ApproximationEnum = CudaFiltersEnums::Approximation;
using ModeEnum = CudaFiltersEnums::BoundaryMode;

constexpr ModeEnum Modes[] = { ModeEnum::Nearest,
                               ModeEnum::Reflect,
                               ModeEnum::Mirror,
                               ModeEnum::Wrap,
                               ModeEnum::Constant };
constexpr ModeEnum OtherModes[] = { ModeEnum::Reflect, ModeEnum::Mirror, ModeEnum::Wrap, ModeEnum::Constant };

bool
IsStrip(LineMethod method)
{
  return method == LineMethod::Strip || method == LineMethod::StripScan;
}

template <typename T>
constexpr CudaComponentType ComponentType = sizeof(T) == 4 ? CudaComponentType::Float : CudaComponentType::Double;

/** Lines of a volume of three axes; `Padding` elements follow each row and `Misalignment` elements precede the first.
 */
template <typename T>
struct Volume
{
  size_t         Size[3];
  std::vector<T> Values; // dense

  size_t
  GetIndex(size_t x, size_t y, size_t z) const
  {
    return (z * Size[1] + y) * Size[0] + x;
  }
};

template <typename T>
Volume<T>
MakeRandomVolume(size_t nx, size_t ny, size_t nz, unsigned int seed, T offset = 0)
{
  Volume<T>                         volume{ { nx, ny, nz }, std::vector<T>(nx * ny * nz) };
  std::mt19937                      generator(seed);
  std::uniform_real_distribution<T> uniform(0, 1);
  for (T & value : volume.Values)
  {
    value = offset + uniform(generator);
  }
  return volume;
}

struct Placement
{
  size_t Padding{ 0 };
  size_t Misalignment{ 0 };
};

/** Rows of a multiple of 16 bytes, which the copy engine can move. */
Placement
Align(size_t rowLength)
{
  return { (4 - rowLength % 4) % 4, 0 };
}

template <typename T>
class DeviceVolume
{
public:
  DeviceVolume(const size_t (&size)[3], const Placement & placement, const StreamLease & stream)
    : m_Buffer((placement.Misalignment + (size[0] + placement.Padding) * size[1] * size[2]) * sizeof(T), stream)
  {
    // All bits set is a NaN: pixels that are never written show.
    ITK_CUDA_CALL(cudaMemsetAsync(m_Buffer.GetPointer(), 0xff, m_Buffer.GetSize(), stream.GetStream()));
    View.Data = static_cast<T *>(m_Buffer.GetPointer()) + placement.Misalignment;
    View.ComponentType = ComponentType<T>;
    View.Size = { { size[0], size[1], size[2], 1, 1 } };
    const size_t row = size[0] + placement.Padding;
    View.Stride = { { 1, row, row * size[1], row * size[1] * size[2], row * size[1] * size[2] } };
  }

  void
  Upload(const Volume<T> & volume, StreamLease & stream)
  {
    const size_t row = volume.Size[0] * sizeof(T);
    ITK_CUDA_CALL(cudaMemcpy2DAsync(View.Data,
                                    View.Stride[1] * sizeof(T),
                                    volume.Values.data(),
                                    row,
                                    row,
                                    volume.Size[1] * volume.Size[2],
                                    cudaMemcpyHostToDevice,
                                    stream.GetStream()));
    stream.Synchronize();
  }

  Volume<T>
  Download(StreamLease & stream) const
  {
    Volume<T>    volume{ { View.Size[0], View.Size[1], View.Size[2] }, std::vector<T>(View.GetNumberOfElements()) };
    const size_t row = volume.Size[0] * sizeof(T);
    ITK_CUDA_CALL(cudaMemcpy2DAsync(volume.Values.data(),
                                    row,
                                    View.Data,
                                    View.Stride[1] * sizeof(T),
                                    row,
                                    volume.Size[1] * volume.Size[2],
                                    cudaMemcpyDeviceToHost,
                                    stream.GetStream()));
    stream.Synchronize();
    return volume;
  }

  DeviceView View;

private:
  DeviceBuffer m_Buffer;
};

CudaGaussianLinePass
MakePass(unsigned int axis, const CudaGaussianImpulseResponse & kernel)
{
  return { axis, 0, { { kernel, 1, CudaGaussianCombine::Store } } };
}

template <typename T>
Volume<T>
RunOnDevice(const Volume<T> &            input,
            const CudaGaussianLinePass & pass,
            const LineSchedule &         schedule,
            const Placement &            placement = {})
{
  StreamLease     stream(0);
  DeviceVolume<T> source(input.Size, placement, stream);
  DeviceVolume<T> destination(input.Size, placement, stream);
  source.Upload(input, stream);
  const DeviceBuffer memory(GetLinePassWorkspace(pass, schedule, source.View), stream);
  RunLinePass(pass, schedule, { source.View, destination.View }, { memory.GetPointer(), memory.GetSize() }, stream);
  return destination.Download(stream);
}

/** The plan's result, by RunPlan() or pass by pass. Images other than the input start as NaN. */
template <typename T>
Volume<T>
RunOnDevice(const Volume<T> & input, const CudaGaussianPlan & plan, bool passByPass, const Placement & placement)
{
  StreamLease                                   stream(0);
  std::vector<std::unique_ptr<DeviceVolume<T>>> images;
  std::vector<DeviceView>                       views;
  for (unsigned int i = 0; i < plan.NumberOfImages; ++i)
  {
    images.push_back(std::make_unique<DeviceVolume<T>>(input.Size, placement, stream));
    views.push_back(images.back()->View);
  }
  images.front()->Upload(input, stream);
  const DeviceBuffer memory(GetPlanWorkspace(plan, views, 0), stream);
  const Workspace    workspace(memory.GetPointer(), memory.GetSize());
  if (!passByPass)
  {
    RunPlan(plan, views, workspace, stream);
  }
  for (size_t i = 0; passByPass && i < plan.Passes.size(); ++i)
  {
    LineSchedule schedule = GetLineSchedule(plan.Passes[i], views, 0);
    schedule.Boundary = plan.Boundary;
    RunLinePass(plan.Passes[i], schedule, views, workspace, stream);
  }
  return images.at(plan.Results.front())->Download(stream);
}

template <typename T>
Volume<double>
RunOnHost(const Volume<T> & input, const CudaGaussianLinePass & pass, const CudaGaussianBoundary & boundary = {})
{
  cuda::test::Volume output{ { { input.Size[0], input.Size[1], input.Size[2], 1 } },
                             { input.Values.begin(), input.Values.end() } };
  output.ForEachLine(pass.Axis, [&](std::vector<double> line) {
    FilterLine(pass.Results.front().Kernel, line.data(), line.data(), line.size(), boundary);
    return line;
  });
  return { { input.Size[0], input.Size[1], input.Size[2] }, output.Pixels };
}

template <typename T>
bool
HaveSameBits(const Volume<T> & a, const Volume<T> & b)
{
  return std::memcmp(a.Values.data(), b.Values.data(), a.Values.size() * sizeof(T)) == 0;
}

/** Largest error in units of max|x| times the kernel's L1 norm; infinite where the output is not a number. */
template <typename T>
double
GetRelativeError(const Volume<T> & output, const Volume<double> & reference, const Volume<T> & input, double l1Norm)
{
  double largestInput = 0.0;
  for (const T value : input.Values)
  {
    largestInput = std::max(largestInput, std::abs(static_cast<double>(value)));
  }
  double worst = 0.0;
  for (size_t i = 0; i < output.Values.size(); ++i)
  {
    const double error = std::abs(static_cast<double>(output.Values[i]) - reference.Values[i]);
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst / (largestInput * l1Norm);
}

// The bounds that CudaRecursiveGaussianImageFilter documents for float.
template <typename T>
double
GetTolerance(double sigma)
{
  const double inFloat = sigma <= 50.0 ? 1e-6 : (sigma <= 100.0 ? 2e-6 : 5e-6);
  return sizeof(T) == 4 ? inFloat : 1e-12;
}

class GaussianLinePass : public testing::Test
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (!CudaFiltersConfiguration::IsDeviceUsable(0, reason))
    {
      GTEST_SKIP() << reason;
    }
    m_Guard = std::make_unique<DeviceGuard>(0);
    m_SharedMemory = GetDeviceProperties(0).SharedMemoryPerBlockOptin;
    m_HasBulkCopies = HasBulkCopies(0);
  }

  template <typename T>
  void
  CheckAllMethods(unsigned int                 axis,
                  size_t                       length,
                  double                       sigma,
                  unsigned int                 order,
                  ApproximationEnum            approximation = ApproximationEnum::Deriche,
                  const CudaGaussianBoundary & boundary = {})
  {
    size_t size[3] = { 37, 3, 2 };
    size[axis] = length;
    const unsigned int         seed = static_cast<unsigned int>(length * 7 + axis);
    const Volume<T>            input = MakeRandomVolume<T>(size[0], size[1], size[2], seed);
    const CudaGaussianLinePass pass =
      MakePass(axis, MakeGaussianImpulseResponse(approximation, order, sigma, 1.0, false));
    const unsigned int       pairs = pass.Results.front().Kernel.NumberOfPolePairs;
    const Volume<double>     reference = RunOnHost(input, pass, boundary);
    const double             l1Norm = cuda::test::L1Norm(pass.Results.front().Kernel);
    std::optional<Volume<T>> strided; // by whichever method came first
    for (const LineMethod method : LineMethods)
    {
      const LineProblem problem{ GetAxisKind(axis), length, sigma, sizeof(T), pairs, m_SharedMemory, m_HasBulkCopies };
      auto              schedule = MakeLineSchedule(problem, method);
      if (!schedule || (IsStrip(method) && !m_HasBulkCopies))
      {
        continue;
      }
      schedule->Boundary = boundary;
      const Volume<T> output = RunOnDevice(input, pass, *schedule, Align(size[0]));
      const double    error = GetRelativeError(output, reference, input, l1Norm);
      EXPECT_LE(error, GetTolerance<T>(sigma))
        << "method " << static_cast<int>(method) << ", axis " << axis << ", length " << length << ", sigma " << sigma
        << ", order " << order << ", seed " << seed << ", " << sizeof(T) << " bytes, " << approximation << ", "
        << boundary.Mode;
      if (IsStrip(method))
      {
        continue;
      }
      // Edge states that follow from end states are rounded otherwise than those that are summed before the pass.
      const bool hasOwnEdges = HasEdgeStates(*schedule) && HasLineEndStates(*schedule, problem);
      if (axis > 0 && strided && !hasOwnEdges)
      {
        EXPECT_TRUE(HaveSameBits(output, *strided))
          << "bits depend on the method: " << static_cast<int>(method) << ", axis " << axis << ", length " << length
          << ", sigma " << sigma << ", " << sizeof(T) << " bytes, " << approximation << ", " << boundary.Mode;
      }
      if (!hasOwnEdges)
      {
        strided = output;
      }
      const Volume<T> unaligned = RunOnDevice(input, pass, *schedule, { 1, 1 });
      EXPECT_TRUE(HaveSameBits(output, unaligned))
        << "bits depend on the alignment: method " << static_cast<int>(method) << ", axis " << axis << ", length "
        << length << ", " << boundary.Mode;
    }
  }

  /** Verifies that lines which a block partitions by itself have the bits of lines that are divided among blocks. */
  void
  CheckPartitionWithinABlock(unsigned int axis, size_t length, const CudaGaussianBoundary & boundary = {})
  {
    this->CheckWideAndNarrow(axis, length, LineMethod::StripScan, 60.0, boundary);
  }

  /** Verifies that parts of a wide image, which has a strip for each multiprocessor, have the bits of narrow images. */
  void
  CheckWideAndNarrow(unsigned int                 axis,
                     size_t                       length,
                     LineMethod                   method,
                     double                       sigma,
                     const CudaGaussianBoundary & boundary)
  {
    if (!m_HasBulkCopies)
    {
      GTEST_SKIP() << "no streams on this device";
    }
    constexpr size_t  narrow = 131;
    const size_t      wide = 64 * static_cast<size_t>(GetDeviceProperties(0).MultiprocessorCount) + 3;
    const size_t      ny = axis == 1 ? length : 2;
    const size_t      nz = axis == 1 ? 1 : length;
    const std::string what = "axis " + std::to_string(axis) + ", length " + std::to_string(length);
    const auto        order = static_cast<unsigned int>(length % 3);
    const auto pass = MakePass(axis, MakeGaussianImpulseResponse(ApproximationEnum::Deriche, order, sigma, 1.0, false));
    LineSchedule schedule =
      *MakeLineSchedule({ AxisKind::Strided, length, sigma, sizeof(float), 2, m_SharedMemory, true }, method);
    schedule.Boundary = boundary;
    const auto input = MakeRandomVolume<float>(wide, ny, nz, static_cast<unsigned int>(length));
    const auto output = RunOnDevice(input, pass, schedule, Align(wide));
    for (const size_t begin : { size_t{ 0 }, wide - narrow })
    {
      const auto part = [&](const Volume<float> & whole) {
        Volume<float> columns{ { narrow, ny, nz }, std::vector<float>(narrow * ny * nz) };
        for (size_t row = 0; row < ny * nz; ++row)
        {
          std::copy_n(&whole.Values[row * wide + begin], narrow, &columns.Values[row * narrow]);
        }
        return columns;
      };
      const Volume<float>  few = part(input);
      const Volume<float>  expected = RunOnDevice(few, pass, schedule, Align(narrow));
      const Volume<float>  found = part(output);
      const Volume<double> reference = RunOnHost(few, pass, boundary);
      const double         l1Norm = cuda::test::L1Norm(pass.Results.front().Kernel);
      EXPECT_TRUE(HaveSameBits(found, expected)) << "columns from " << begin << ", " << what;
      EXPECT_LE(GetRelativeError(expected, reference, few, l1Norm), GetTolerance<float>(sigma)) << what;
    }
  }

  std::unique_ptr<DeviceGuard> m_Guard;
  size_t                       m_SharedMemory{ 0 };
  bool                         m_HasBulkCopies{ false };
};

const size_t Lengths[] = { 4,    5,    31,   32,   33,   63,   65,   127,  129,  255,   256,   257,   511,   512,   513,
                           1023, 1024, 1025, 1031, 2049, 4099, 8191, 8192, 8193, 16383, 16384, 16385, 32769, 100000 };
} // namespace

TEST_F(GaussianLinePass, MatchesTheHostReferenceAtEveryLength)
{
  for (const auto approximation : { ApproximationEnum::Deriche, ApproximationEnum::Accurate })
  {
    for (const size_t length : Lengths)
    {
      for (unsigned int axis = 0; axis < 3; ++axis)
      {
        this->CheckAllMethods<float>(axis, length, 4.0, 0, approximation);
        this->CheckAllMethods<double>(axis, length, 4.0, 0, approximation);
      }
    }
  }
}

// Axes of one pixel, shorter than sigma, of whole and of incomplete segments, chunks and tiles.
TEST_F(GaussianLinePass, OtherModesMatchTheHostReferenceByEveryMethod)
{
  unsigned int i = 0;
  for (const size_t length : { 1,   2,   3,   4,   5,   31,  32,   33,   127,  128,  129,   130,
                               255, 257, 385, 512, 513, 640, 1024, 1031, 2049, 8193, 16385, 33000 })
  {
    for (const ModeEnum mode : OtherModes)
    {
      const CudaGaussianBoundary boundary{ mode, 0.75 };
      for (const double sigma : { 0.5, 4.0, 15.0, 50.0 })
      {
        const auto approximation = i % 4 == 0 ? ApproximationEnum::Accurate : ApproximationEnum::Deriche;
        const auto axis = i % 3;
        this->CheckAllMethods<float>(axis, length, sigma, i % 5 % 3, approximation, boundary);
        this->CheckAllMethods<float>((axis + 1) % 3, length, sigma, i % 7 % 3, ApproximationEnum::Deriche, boundary);
        this->CheckAllMethods<double>((axis + 2) % 3, length, sigma, i % 4 % 3, approximation, boundary);
        ++i;
      }
    }
  }
}

// Wide images, whose chunks stay on chip, have the bits of narrow ones.
TEST_F(GaussianLinePass, BitsOfOtherModesDoNotDependOnTheOtherLines)
{
  for (const ModeEnum mode : OtherModes)
  {
    this->CheckPartitionWithinABlock(1, 300, { mode, 0.75 });
    this->CheckPartitionWithinABlock(2, 1001, { mode, 0.75 });
  }
}

// Lines that end with their last chunk take their edge states from the chunks' end states: those of the whole line, or
// of windows of one to three chunks. In the mode Wrap those at the other end are loaded first. Narrow images have their
// lines in pieces.
TEST_F(GaussianLinePass, EdgesFromEndStatesGiveTheSameBitsInPieces)
{
  struct Case
  {
    size_t Length;
    double Sigma;
  };
  for (const ModeEnum mode : OtherModes)
  {
    for (const Case & each : { Case{ 256, 4.0 },
                               Case{ 384, 1.0 },
                               Case{ 512, 4.0 },
                               Case{ 512, 20.0 },
                               Case{ 512, 30.0 },
                               Case{ 512, 64.0 },
                               Case{ 384, 400.0 },
                               Case{ 640, 30.0 },
                               Case{ 896, 20.0 },
                               Case{ 1024, 4.0 },
                               Case{ 1024, 30.0 } })
    {
      for (const unsigned int axis : { 1u, 2u })
      {
        this->CheckWideAndNarrow(axis, each.Length, LineMethod::Strip, each.Sigma, { mode, 0.75 });
      }
    }
  }
}

// By every method, where lines end with their last tile or chunk, and one pixel before and behind.
TEST_F(GaussianLinePass, EdgesFromEndStatesMatchTheHostReference)
{
  constexpr double sigmas[] = { 0.2, 0.5, 1.0, 4.0, 25.0, 50.0, 20.0 };
  unsigned int     i = 0;
  for (const size_t length : { 32, 64, 96, 128, 256, 384, 640, 768, 1024, 2048, 3072, 8192, 16384 })
  {
    for (const int off : { -1, 0, 1 })
    {
      for (const ModeEnum mode : OtherModes)
      {
        const CudaGaussianBoundary boundary{ mode, 0.75 };
        const double               sigma = sigmas[i % 7];
        const auto         approximation = i % 4 == 0 ? ApproximationEnum::Accurate : ApproximationEnum::Deriche;
        const unsigned int order = sigma < 0.3 ? 0 : i % 5 % 3;
        this->CheckAllMethods<float>(0, length + off, sigma, order, approximation, boundary);
        this->CheckAllMethods<float>(1 + i % 2, length + off, sigma, order, ApproximationEnum::Deriche, boundary);
        this->CheckAllMethods<double>(0, length + off, sigma, order, approximation, boundary);
        if (length <= 1024)
        {
          this->CheckAllMethods<float>(1 + i % 2, length + off, sigma, order, ApproximationEnum::Accurate, boundary);
          this->CheckAllMethods<double>(1 + i % 2, length + off, sigma, order, approximation, boundary);
        }
        ++i;
      }
    }
  }
}

// Passes that combine run as one kernel: as sums and norms of two to four terms, of lines that share a block, fill one
// or need tiles.
template <typename T>
void
CheckCombiningPasses(size_t                       length,
                     double                       sigma,
                     ApproximationEnum            approximation,
                     const CudaGaussianBoundary & boundary = {})
{
  const Volume<T>        input = MakeRandomVolume<T>(length, 5, 3, static_cast<unsigned int>(length), T(100));
  CudaGaussianParameters parameters;
  parameters.Sigma.assign(3, sigma);
  parameters.Spacing.assign(3, 1.0);
  parameters.Approximation = approximation;
  parameters.Boundary = boundary;
  const CudaGaussianTerm terms[] = {
    { { 1, 0, 0 }, 1.0 }, { { 0, 1, 0 }, 0.5 }, { { 0, 0, 1 }, -2.0 }, { { 1, 1, 0 }, 3.0 }
  };
  for (const size_t count : { 2, 3, 4 })
  {
    for (const auto output : { CudaGaussianOutput::Sum, CudaGaussianOutput::Norm })
    {
      const CudaGaussianPlan plan = MakeGaussianPlan(parameters, { terms, terms + count }, output);
      for (const Placement & placement : { Align(length), Placement{ 1, 1 } })
      {
        const Volume<T> together = RunOnDevice(input, plan, false, placement);
        const Volume<T> single = RunOnDevice(input, plan, true, placement);
        EXPECT_TRUE(HaveSameBits(together, single))
          << count << " terms, length " << length << ", sigma " << sigma << ", " << sizeof(T) << " bytes, "
          << approximation << ", padding " << placement.Padding << ", " << boundary.Mode;
        EXPECT_TRUE(
          std::none_of(together.Values.begin(), together.Values.end(), [](T value) { return std::isnan(value); }));
      }
    }
  }
}

// Few enough for compute-sanitizer: lines that share a block, that fill one, and that need tiles.
TEST_F(GaussianLinePass, CombiningPassesOfEachKind)
{
  for (const size_t length : { 33, 1024, 1025, 16385 })
  {
    CheckCombiningPasses<float>(length, 1.5, ApproximationEnum::Deriche);
  }
}

TEST_F(GaussianLinePass, CombiningPassesOfOtherModesHaveTheBitsOfSinglePasses)
{
  for (const ModeEnum mode : OtherModes)
  {
    for (const size_t length : { 1, 33, 600, 1025, 8193, 16385 })
    {
      CheckCombiningPasses<float>(length, 1.5, ApproximationEnum::Deriche, { mode, 100.25 });
      CheckCombiningPasses<double>(length, 30.0, ApproximationEnum::Accurate, { mode, 100.25 });
    }
  }
}

// Passes of other poles cannot share a kernel.
TEST_F(GaussianLinePass, TermsOfDifferentSigmasHaveTheBitsOfSinglePasses)
{
  const Volume<float>    input = MakeRandomVolume<float>(300, 5, 3, 7);
  CudaGaussianParameters parameters;
  parameters.Sigma.assign(3, 1.5);
  parameters.Spacing.assign(3, 1.0);
  const CudaGaussianTerm narrow{ { 1, 0, 0 }, 1.0, { 1.5, 1.5, 1.5 } };
  const CudaGaussianTerm wide{ { 0, 1, 0 }, 1.0, { 6.0, 1.5, 1.5 } };
  for (const auto output : { CudaGaussianOutput::Sum, CudaGaussianOutput::Norm })
  {
    const CudaGaussianPlan plan = MakeGaussianPlan(parameters, { narrow, wide }, output);
    const Volume<float>    together = RunOnDevice(input, plan, false, {});
    const Volume<float>    single = RunOnDevice(input, plan, true, {});
    EXPECT_TRUE(HaveSameBits(together, single));
  }
}

TEST_F(GaussianLinePass, CombiningPassesHaveTheBitsOfSinglePasses)
{
  for (const size_t length : { 4, 33, 65, 127, 300, 512, 600, 1025, 1400, 4099, 8192, 8193, 16384, 16385, 32769 })
  {
    for (const auto approximation : { ApproximationEnum::Deriche, ApproximationEnum::Accurate })
    {
      for (const double sigma : { 1.5, 300.0 })
      {
        CheckCombiningPasses<float>(length, sigma, approximation);
        CheckCombiningPasses<double>(length, sigma, approximation);
      }
    }
  }
}

TEST_F(GaussianLinePass, MatchesTheHostReferenceAtEverySigmaAndOrder)
{
  for (const double sigma : { 0.3, 0.5, 0.6617, 1.0, 2.0, 8.0, 15.9, 20.0, 21.4, 50.0, 100.0, 250.0, 500.0, 2000.0 })
  {
    for (unsigned int order = 0; order < 3; ++order)
    {
      for (unsigned int axis = 0; axis < 3; ++axis)
      {
        for (const auto approximation : { ApproximationEnum::Deriche, ApproximationEnum::Accurate })
        {
          this->CheckAllMethods<float>(axis, 4099, sigma, order, approximation);
          this->CheckAllMethods<double>(axis, 1031, sigma, order, approximation);
        }
      }
    }
  }
}

// Scans over segments end where states are less than rounding, so also at every sigma where that is a segment further.
// Of the methods that leave nothing else out: what double images lose would show.
template <typename T>
void
CheckReach(double sigma, ApproximationEnum approximation, size_t sharedMemory)
{
  constexpr size_t           length = 2049;
  const Volume<T>            input = MakeRandomVolume<T>(length, 3, 2, 23);
  const CudaGaussianLinePass pass = MakePass(0, MakeGaussianImpulseResponse(approximation, 0, sigma, 1.0, false));
  const CudaGaussianImpulseResponse & kernel = pass.Results.front().Kernel;
  const Volume<double>                reference = RunOnHost(input, pass);
  for (const LineMethod method : { LineMethod::WholeLine, LineMethod::TileScan })
  {
    const LineSchedule schedule = *MakeLineSchedule(
      { AxisKind::Contiguous, length, sigma, sizeof(T), kernel.NumberOfPolePairs, sharedMemory }, method);
    const Volume<T> output = RunOnDevice(input, pass, schedule, Align(length));
    EXPECT_LE(GetRelativeError(output, reference, input, cuda::test::L1Norm(kernel)), sizeof(T) == 4 ? 1e-6 : 1e-13)
      << "method " << static_cast<int>(method) << ", sigma " << sigma << ", " << sizeof(T) << " bytes, "
      << approximation;
  }
}

TEST_F(GaussianLinePass, EverySigmaReachesAsFarAsItsStates)
{
  for (double sigma = 0.4; sigma < 50.0; sigma *= 1.04)
  {
    for (const auto approximation : { ApproximationEnum::Deriche, ApproximationEnum::Accurate })
    {
      CheckReach<float>(sigma, approximation, m_SharedMemory);
      CheckReach<double>(sigma, approximation, m_SharedMemory);
    }
  }
}

// Every division of a line among warps, with fewer lines than the last warps have room for.
template <typename T>
void
CheckWarpShares(unsigned int segments, double sigma, ApproximationEnum approximation, size_t sharedMemory)
{
  constexpr size_t           segmentLength = 128 / sizeof(T);
  const CudaGaussianLinePass pass = MakePass(0, MakeGaussianImpulseResponse(approximation, 0, sigma, 1.0, false));
  const CudaGaussianImpulseResponse & kernel = pass.Results.front().Kernel;
  for (const size_t length : { segments * segmentLength, segments * segmentLength - 5 })
  {
    const Volume<T>      input = MakeRandomVolume<T>(length, 13, 3, segments);
    const Volume<double> reference = RunOnHost(input, pass);
    const LineSchedule   schedule =
      *MakeLineSchedule({ AxisKind::Contiguous, length, sigma, sizeof(T), kernel.NumberOfPolePairs, sharedMemory },
                        LineMethod::WholeLine);
    ASSERT_EQ(schedule.Segments, segments);
    for (const Placement & placement : { Align(length), Placement{ 1, 1 } })
    {
      const Volume<T> output = RunOnDevice(input, pass, schedule, placement);
      EXPECT_LE(GetRelativeError(output, reference, input, cuda::test::L1Norm(kernel)), sizeof(T) == 4 ? 1e-6 : 1e-13)
        << "length " << length << ", sigma " << sigma << ", " << sizeof(T) << " bytes, " << approximation
        << ", padding " << placement.Padding;
    }
  }
}

TEST_F(GaussianLinePass, LinesOfEveryNumberOfSegmentsMatchTheHostReference)
{
  for (unsigned int segments = 1; segments <= 130; ++segments)
  {
    for (const auto approximation : { ApproximationEnum::Deriche, ApproximationEnum::Accurate })
    {
      CheckWarpShares<float>(segments, segments % 2 == 0 ? 4.0 : 60.0, approximation, m_SharedMemory);
      CheckWarpShares<double>(segments, segments % 2 == 0 ? 60.0 : 4.0, approximation, m_SharedMemory);
    }
  }
}

// Lines of up to eight chunks are partitioned within a block of threads if there are strips for all multiprocessors,
// else in three steps. Few enough for compute-sanitizer.
TEST_F(GaussianLinePass, PartitionWithinABlockHasTheBitsOfThreeSteps)
{
  this->CheckPartitionWithinABlock(1, 1000);
}

TEST_F(GaussianLinePass, PartitionsWithinABlockHaveTheBitsOfThreeStepsAtEveryLength)
{
  for (const unsigned int axis : { 1u, 2u })
  {
    for (const size_t length : { 1, 100, 128, 129, 640, 767, 768, 769, 896, 897, 1000, 1024 })
    {
      this->CheckPartitionWithinABlock(axis, length);
    }
  }
}

TEST_F(GaussianLinePass, BitsOfALineDoNotDependOnTheOtherLines)
{
  // The longest ones are divided in more pieces the fewer they are.
  for (const size_t length : { size_t{ 45 }, size_t{ 300 }, size_t{ 600 }, size_t{ 1031 }, size_t{ 20000 } })
  {
    for (unsigned int axis = 0; axis < 2; ++axis)
    {
      size_t size[3] = { 70, 70, 1 };
      size[axis] = length;
      const Volume<float>        many = MakeRandomVolume<float>(size[0], size[1], 1, 11);
      const size_t               other = 1 - axis;
      const CudaGaussianLinePass pass = MakePass(axis, MakeDericheImpulseResponse(0, 30.0, 1.0, false));
      const LineSchedule         schedule =
        MakeLineSchedule({ GetAxisKind(axis), length, 30.0, sizeof(float), 2, m_SharedMemory, m_HasBulkCopies });
      const Volume<float> all = RunOnDevice(many, pass, schedule, Align(many.Size[0]));

      size_t few[3] = { size[0], size[1], 1 };
      few[other] = 3;
      Volume<float> part{ { few[0], few[1], 1 }, std::vector<float>(few[0] * few[1]) };
      const auto    shifted = [&](size_t x, size_t y) {
        return axis == 0 ? many.GetIndex(x, y + 41, 0) : many.GetIndex(x + 41, y, 0);
      };
      for (size_t y = 0; y < few[1]; ++y)
      {
        for (size_t x = 0; x < few[0]; ++x)
        {
          part.Values[part.GetIndex(x, y, 0)] = many.Values[shifted(x, y)];
        }
      }
      const Volume<float> some = RunOnDevice(part, pass, schedule, Align(part.Size[0]));
      size_t              differences = 0;
      for (size_t y = 0; y < few[1]; ++y)
      {
        for (size_t x = 0; x < few[0]; ++x)
        {
          differences += some.Values[part.GetIndex(x, y, 0)] != all.Values[shifted(x, y)];
        }
      }
      EXPECT_EQ(differences, 0u) << "axis " << axis << ", length " << length;
    }
  }
}

// ITK's tests expect it of its gradient filter.
TEST_F(GaussianLinePass, MirroredLinesOfASegmentGiveMirroredBits)
{
  for (const size_t length : { 4, 8, 17, 31, 32 })
  {
    for (unsigned int axis = 0; axis < 2; ++axis)
    {
      for (unsigned int order = 0; order < 3; ++order)
      {
        size_t size[3] = { 33, 33, 1 };
        size[axis] = length;
        const auto mirror = [&size, axis](size_t x, size_t y) {
          return axis == 0 ? y * size[0] + size[0] - 1 - x : (size[1] - 1 - y) * size[0] + x;
        };
        Volume<float> input = MakeRandomVolume<float>(size[0], size[1], 1, static_cast<unsigned int>(length));
        Volume<float> mirrored = input;
        for (size_t y = 0; y < size[1]; ++y)
        {
          for (size_t x = 0; x < size[0]; ++x)
          {
            const bool isEnd = (axis == 0 ? x : y) % (length - 1) == 0;
            float &    value = input.Values[y * size[0] + x];
            value = isEnd ? 0.25f : value; // pixels are filtered relative to the first one
            mirrored.Values[mirror(x, y)] = value;
          }
        }
        const CudaGaussianLinePass pass = MakePass(axis, MakeDericheImpulseResponse(order, 2.5, 1.0, false));
        const LineSchedule         schedule = *MakeLineSchedule(
          { GetAxisKind(axis), length, 2.5, sizeof(float), 2, m_SharedMemory }, LineMethod::WholeLine);
        const Volume<float> output = RunOnDevice(input, pass, schedule);
        const Volume<float> other = RunOnDevice(mirrored, pass, schedule);
        size_t              different = 0;
        for (size_t y = 0; y < size[1]; ++y)
        {
          for (size_t x = 0; x < size[0]; ++x)
          {
            const float expected = (order == 1 ? -1.0f : 1.0f) * other.Values[mirror(x, y)];
            different += output.Values[y * size[0] + x] == expected ? 0 : 1;
          }
        }
        EXPECT_EQ(different, 0u) << "length " << length << ", axis " << axis << ", order " << order;
      }
    }
  }
}

TEST_F(GaussianLinePass, ConstantsComeOutExactly)
{
  for (const float constant : { 1.0f, 99.0f, 0.1f, -30000.7f })
  {
    for (unsigned int order = 0; order < 3; ++order)
    {
      for (unsigned int axis = 0; axis < 2; ++axis)
      {
        const double sigma = 10.0 * (order + 1) * (order + 1);
        size_t       size[3] = { 33, 33, 1 };
        size[axis] = 20001;
        const Volume<float>        input{ { size[0], size[1], 1 }, std::vector<float>(size[0] * size[1], constant) };
        const CudaGaussianLinePass pass = MakePass(axis, MakeDericheImpulseResponse(order, sigma, 1.0, false));
        for (const LineMethod method : LineMethods)
        {
          auto schedule = MakeLineSchedule(
            { GetAxisKind(axis), 20001, sigma, sizeof(float), 2, m_SharedMemory, m_HasBulkCopies }, method);
          if (!schedule || (IsStrip(method) && !m_HasBulkCopies))
          {
            continue;
          }
          for (const ModeEnum mode : Modes)
          {
            schedule->Boundary = { mode, constant };
            const Volume<float> output = RunOnDevice(input, pass, *schedule, Align(size[0]));
            const float         expected = order == 0 ? constant : 0.0f;
            EXPECT_EQ(std::count(output.Values.begin(), output.Values.end(), expected),
                      static_cast<long>(output.Values.size()))
              << "constant " << constant << ", order " << order << ", axis " << axis << ", " << mode;
          }
        }
      }
    }
  }
}

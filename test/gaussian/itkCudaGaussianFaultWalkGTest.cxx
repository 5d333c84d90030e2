// SPDX-License-Identifier: Apache-2.0
// Every CUDA call of an update is made to fail, one after the other: each failure is a CudaError, nothing stays
// allocated, and the next update is correct.
#include "runtime/device/Call.h"
#include "itkCudaError.h"
#include "support/itkCudaGaussianTestUtilities.h"

#include <set>

namespace itk::cuda::test
{
namespace
{
using ImageType = Image<float, 2>;

/** Makes the n-th call fail while it lives. */
class Fault
{
public:
  Fault(unsigned long n, cudaError_t error) { FaultHook::FailCall(n, error); }
  ~Fault() { FaultHook::Clear(); }
  Fault(const Fault &) = delete;
  Fault &
  operator=(const Fault &) = delete;
};

/** Calls whose failure an update may survive: a pointer that cannot be looked up passes for ordinary memory, and an
 * allocation is tried again after unused memory was given back. */
bool
IsOptional(const std::string & call)
{
  return call.find("cudaPointerGetAttributes") != std::string::npos ||
         call.find("cudaMallocFromPoolAsync") != std::string::npos;
}

size_t
GetBytesInUse()
{
  return CudaFiltersConfiguration::GetDeviceBytesInUse() + CudaFiltersConfiguration::GetPinnedBytesInUse();
}

struct Walk
{
  bool        Cold;
  bool        InPlace;
  cudaError_t Error;
  BackendEnum Backend{ BackendEnum::Cuda };
};

/** One bound on all walks, far above the number of calls of an update. */
constexpr unsigned long MaximumCalls = 5000;

class CudaGaussianFaultWalkGpuTest : public GpuTest
{
protected:
  void
  SetUp() override
  {
    GpuTest::SetUp();
    CudaFiltersConfiguration::SetNumberOfTransferThreads(1); // the order of the calls is then always the same
  }
  void
  TearDown() override
  {
    FaultHook::Clear();
    CudaFiltersConfiguration::SetNumberOfTransferThreads(0);
  }
};

/** What an update ended with: "" or the description of the CudaError. Other exceptions go on. */
std::string
UpdateAndCatch(ProcessObject * filter)
{
  try
  {
    filter->UpdateLargestPossibleRegion();
  }
  catch (const CudaError & error)
  {
    return error.GetDescription();
  }
  return {};
}

template <typename TKind>
typename TKind::template CudaFilter<ImageType>::Pointer
MakeWalkFilter(const ImageType * input, const Walk & walk)
{
  auto filter = TKind::template CudaFilter<ImageType>::New();
  TKind::SetParameters(filter.GetPointer(), 0, 3.0);
  filter->SetBackend(walk.Backend);
  filter->SetInPlace(walk.InPlace);
  filter->SetInput(Duplicate(input)); // running in place consumes it
  return filter;
}

/** Updates with the n-th call failing, then without.
 * \return whether there was an n-th call */
template <typename TKind>
bool
Expect_failed_call_does_no_harm(const ImageType *       input,
                                const ImageType *       expected,
                                const Walk &            walk,
                                unsigned long           n,
                                std::set<std::string> & survived)
{
  auto         filter = MakeWalkFilter<TKind>(input, walk);
  const size_t before = GetBytesInUse();
  std::string  failure;
  {
    const Fault fault(n, walk.Error);
    failure = UpdateAndCatch(filter);
  }
  const bool        reached = FaultHook::GetFired();
  const std::string call = FaultHook::GetCall();
  SCOPED_TRACE("call " + std::to_string(n) + ": " + call);
  if (failure.empty())
  {
    EXPECT_TRUE(!reached || IsOptional(call)) << "the update passed although the call failed";
    EXPECT_TRUE(HasSameBits<ImageType>(filter->GetOutput(), expected));
    if (reached)
    {
      survived.insert(call);
    }
  }
  EXPECT_TRUE(reached || failure.empty()) << failure;
  filter->GetOutput()->ReleaseData();
  EXPECT_EQ(GetBytesInUse(), before) << "bytes stay in use";
  filter->SetInput(Duplicate(input));
  EXPECT_EQ(UpdateAndCatch(filter), "");
  EXPECT_TRUE(HasSameBits<ImageType>(filter->GetOutput(), expected)) << "the next update is wrong";
  return reached;
}

template <typename TKind>
void
Expect_every_failed_call_does_no_harm(const Size<2> & size, const Walk & walk)
{
  const auto            input = MakeDataImage<ImageType>(MakeRegion<2>(size), DataKind::SmallOffset);
  const auto            filter = MakeWalkFilter<TKind>(input, { walk.Cold, false, walk.Error });
  const size_t          before = GetBytesInUse();
  std::set<std::string> survived;
  UpdateOn(filter.GetPointer(), BackendEnum::Cuda);
  const ImageType::Pointer expected = Duplicate<ImageType>(filter->GetOutput());
  filter->GetOutput()->ReleaseData();
  EXPECT_EQ(GetBytesInUse(), before);
  unsigned long n = 1;
  for (bool reached = true; reached && n < MaximumCalls; ++n)
  {
    if (walk.Cold)
    {
      CudaFiltersConfiguration::ReleaseMemory();
    }
    reached = Expect_failed_call_does_no_harm<TKind>(input, expected, walk, n, survived);
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
  }
  ASSERT_LT(n, MaximumCalls);
  EXPECT_GT(n, 6u) << "fewer calls than an upload, a pass and a download need";
  std::cout << "[  faults  ] " << TKind::Name << (walk.Cold ? ", cold" : ", warm") << (walk.InPlace ? ", in place" : "")
            << ", " << cudaGetErrorName(walk.Error) << ": " << n - 2 << " calls, survived:";
  for (const std::string & call : survived)
  {
    std::cout << ' ' << call;
  }
  std::cout << std::endl;
}

/** One chunk, several chunks; cold and warm; both errors. */
template <typename TKind>
void
Expect_all_walks_do_no_harm(bool inPlace)
{
  for (const Size<2> & size : { Size<2>{ { 130, 70 } }, Size<2>{ { 1500, 1100 } } })
  {
    for (const bool cold : { true, false })
    {
      for (const cudaError_t error : { cudaErrorMemoryAllocation, cudaErrorUnknown })
      {
        Expect_every_failed_call_does_no_harm<TKind>(size, { cold, inPlace, error });
      }
    }
  }
}

// First, so that a process that runs all tests discovers the devices here. Each call of it is made to fail.
TEST(CudaDeviceDiscoveryGpuTest, FailedCallsAreNotRemembered)
{
  for (const cudaError_t error : { cudaErrorUnknown, cudaErrorMemoryAllocation })
  {
    bool reached = true;
    for (unsigned long n = 1; reached && n < MaximumCalls; ++n)
    {
      std::string reason;
      bool        usable = false;
      {
        const Fault fault(n, error);
        usable = CudaFiltersConfiguration::IsDeviceUsable(-1, reason);
      }
      reached = FaultHook::GetFired();
      EXPECT_TRUE(usable || !reason.empty());
      if (!reached && !usable)
      {
        GTEST_SKIP() << "no GPU: " << reason;
      }
    }
    EXPECT_FALSE(reached);
  }
}

TEST_F(CudaGaussianFaultWalkGpuTest, Recursive)
{
  Expect_all_walks_do_no_harm<RecursiveKind>(false);
}

TEST_F(CudaGaussianFaultWalkGpuTest, RecursiveInPlace)
{
  Expect_all_walks_do_no_harm<RecursiveKind>(true);
}

TEST_F(CudaGaussianFaultWalkGpuTest, Smoothing)
{
  Expect_all_walks_do_no_harm<SmoothingKind>(false);
}

TEST_F(CudaGaussianFaultWalkGpuTest, SmoothingInPlace)
{
  Expect_all_walks_do_no_harm<SmoothingKind>(true);
}

/** Backend Automatic: when a call reports that memory ran out, the host takes over, so no update fails. */
template <typename TKind>
void
Expect_host_takes_over(bool cold)
{
  const auto input = MakeDataImage<ImageType>(MakeRegion<2>({ { 1500, 1100 } }), DataKind::SmallOffset);
  const auto passes = TKind::Passes(input.GetPointer(), 0, 3.0);
  const auto reference = Float64Reference<2>(ToDouble(input.GetPointer()), passes);
  const auto scale = 1050.0 * KernelL1Norm(passes);
  bool       reached = true;
  size_t     onHost = 0;
  for (unsigned long n = 1; reached && n < MaximumCalls; ++n)
  {
    if (cold)
    {
      CudaFiltersConfiguration::ReleaseMemory();
    }
    auto filter = MakeWalkFilter<TKind>(input, { cold, false, cudaErrorMemoryAllocation, BackendEnum::Automatic });
    std::string failure;
    {
      const Fault fault(n, cudaErrorMemoryAllocation);
      failure = UpdateAndCatch(filter);
    }
    reached = FaultHook::GetFired();
    SCOPED_TRACE("call " + std::to_string(n) + ": " + FaultHook::GetCall());
    ASSERT_EQ(failure, "");
    onHost += filter->GetBackendUsed() == BackendEnum::Host;
    EXPECT_TRUE(
      IsWithin<ImageType>(filter->GetOutput(), reference, scale, FloatAccuracy(LargestSigmaInPixels(passes))));
  }
  EXPECT_GT(onHost, 0u);
}

TEST_F(CudaGaussianFaultWalkGpuTest, AutomaticTakesTheHost)
{
  Expect_host_takes_over<RecursiveKind>(true);
  Expect_host_takes_over<SmoothingKind>(false);
}
} // namespace
} // namespace itk::cuda::test

// SPDX-License-Identifier: Apache-2.0
// What holds for every filter, one function each. A property sees a filter only through ContractCall.
#include "itkCudaContractProperties.h"

#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaInterpreterLock.h"
#include "support/itkCudaTestSeed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <sstream>
#include <thread>

namespace itk::cuda::test
{
namespace
{
using BackendEnum = CudaFiltersEnums::Backend;
using CallPointer = std::unique_ptr<ContractCall>;

// Twice the largest number of pixel types in a row, because each case draws its type at random and most of them should
// be drawn.
constexpr unsigned int  NumberOfCases = 10;
constexpr SizeValueType LongestSide = 40;
constexpr SizeValueType LongestSideOfLastCase = 300;

const ContractCase &
AsContract(const StressCase & stressCase)
{
  return dynamic_cast<const ContractCase &>(stressCase);
}

CallPointer
Begin(const StressCase & stressCase)
{
  return AsContract(stressCase).Begin();
}

/** The whole result of a new filter. */
struct WholeResult
{
  explicit WholeResult(const StressCase & stressCase)
    : Call(Begin(stressCase))
  {
    Call->UpdateWhole();
    Bits = Call->GetBits();
  }

  CallPointer           Call;
  std::vector<uint64_t> Bits;
};

/** What an update threw. */
struct Thrown
{
  bool        Threw{ false };
  bool        IsAbort{ false };
  std::string Message;
};

Thrown
CatchFrom(const std::function<void()> & function)
{
  try
  {
    function();
  }
  catch (const ProcessAborted & error)
  {
    return { true, true, error.GetDescription() };
  }
  catch (const ExceptionObject & error)
  {
    return { true, false, error.GetDescription() };
  }
  return {};
}

unsigned int
CountProgressEvents(const StressCase & stressCase)
{
  const auto           call = Begin(stressCase);
  unsigned int         events = 0;
  const ScopedObserver observer(call->GetFilter(), ProgressEvent(), [&events] { ++events; });
  call->UpdateWhole();
  return events;
}

void
ExpectWholeBits(ContractCall & call, const WholeResult & expected, const std::string & after)
{
  const Thrown thrown = CatchFrom([&call] { call.UpdateWhole(); });
  EXPECT_FALSE(thrown.Threw) << after << ": " << thrown.Message;
  EXPECT_EQ(call.GetBits(), expected.Bits) << after;
}

/** Counts the pixels of a region that differ between two images, which both hold the region. */
size_t
CountDifferences(const ContractRegion & region, const ContractPixels & a, const ContractPixels & b)
{
  size_t different = 0;
  auto   index = region.Index;
  for (SizeValueType i = 0, number = region.Size[0] * region.Size[1] * region.Size[2]; i < number; ++i)
  {
    SizeValueType rest = i;
    for (unsigned int d = 0; d < 3; ++d)
    {
      index[d] = region.Index[d] + static_cast<IndexValueType>(rest % region.Size[d]);
      rest /= region.Size[d];
    }
    different += std::memcmp(a.Get(index), b.Get(index), a.BytesPerPixel) != 0;
  }
  return different;
}

bool
Holds(const ContractRegion & whole, const ContractRegion & part)
{
  for (unsigned int d = 0; d < 3; ++d)
  {
    if (part.Index[d] < whole.Index[d] || part.Index[d] + static_cast<IndexValueType>(part.Size[d]) >
                                            whole.Index[d] + static_cast<IndexValueType>(whole.Size[d]))
    {
      return false;
    }
  }
  return true;
}

/** Requests a region and compares its pixels with those of the whole. */
void
ExpectPart(ContractCall & call, const ContractRegion & region, const WholeResult & whole)
{
  call.Request(region);
  call.Update();
  const ContractPixels pixels = call.GetOutputPixels();
  ASSERT_TRUE(Holds(pixels.Region, region)) << "the output does not hold the requested region";
  EXPECT_EQ(CountDifferences(region, pixels, whole.Call->GetOutputPixels()), 0u) << "pixels of the region differ";
}

// --- what gives the same bits

void
RunsAreRepeatable(const ContractSubject &, const StressCase & stressCase)
{
  const WholeResult whole(stressCase);
  ExpectWholeBits(*Begin(stressCase), whole, "a new filter");
  whole.Call->GetFilter()->Modified();
  ExpectWholeBits(*whole.Call, whole, "the same filter again");
}

void
WorkUnitsChangeNoBit(const ContractSubject &, const StressCase & stressCase)
{
  const WholeResult whole(stressCase);
  for (const unsigned int units : { 1u, 2u, 3u, 16u })
  {
    const auto call = Begin(stressCase);
    call->GetFilter()->SetNumberOfWorkUnits(units);
    ExpectWholeBits(*call, whole, std::to_string(units) + " work units");
  }
}

void
ThreadsRunAtOnce(const ContractSubject &, const StressCase & stressCase)
{
  const WholeResult        whole(stressCase);
  std::vector<std::string> failures(4);
  std::vector<std::thread> threads;
  for (std::string & failure : failures)
  {
    threads.emplace_back([&stressCase, &whole, &failure] {
      for (unsigned int turn = 0; turn < 3 && failure.empty(); ++turn)
      {
        const auto   call = Begin(stressCase);
        const Thrown thrown = CatchFrom([&call] { call->UpdateWhole(); });
        failure = thrown.Threw ? thrown.Message : call->GetBits() == whole.Bits ? "" : "other bits than alone";
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(failures, std::vector<std::string>(failures.size()));
}

void
RequestedPartsHaveTheBitsOfTheWhole(const ContractSubject &, const StressCase & stressCase)
{
  const WholeResult    whole(stressCase);
  const ContractRegion largest = whole.Call->GetOutputPixels().Region;
  StressRandom         random(GetSeed(), 1);
  const auto           call = Begin(stressCase);
  for (unsigned int turn = 0; turn < 4; ++turn)
  {
    ContractRegion part = largest;
    for (unsigned int d = 0; d < largest.Dimension; ++d)
    {
      const auto begin = random.Integer(0, largest.Size[d] - 1);
      part.Index[d] += static_cast<IndexValueType>(begin);
      part.Size[d] = random.Integer(1, largest.Size[d] - begin);
    }
    ExpectPart(*call, part, whole);
  }
  ExpectWholeBits(*call, whole, "the whole after parts");
}

void
PiecesHaveTheBitsOfTheWhole(const ContractSubject &, const StressCase & stressCase)
{
  const WholeResult    whole(stressCase);
  const ContractRegion largest = whole.Call->GetOutputPixels().Region;
  for (unsigned int axis = 0; axis < largest.Dimension; ++axis)
  {
    for (const SizeValueType wanted : { 3, 7 })
    {
      SCOPED_TRACE(std::to_string(wanted) + " pieces along axis " + std::to_string(axis));
      const auto          call = Begin(stressCase);
      const SizeValueType pieces = std::min(wanted, largest.Size[axis]);
      for (SizeValueType piece = 0; piece < pieces; ++piece)
      {
        ContractRegion      region = largest.GetPiece(axis, piece, pieces);
        const SizeValueType overlap = wanted == 7 && piece > 0 ? 1 : 0; // with the piece before
        region.Index[axis] -= static_cast<IndexValueType>(overlap);
        region.Size[axis] += overlap;
        ExpectPart(*call, region, whole);
      }
    }
  }
}

// --- memory of images

void
InPlaceHasTheSameBitsInTheInputsMemory(const ContractSubject & subject, const StressCase & stressCase)
{
  const WholeResult whole(stressCase);
  const auto        call = Begin(stressCase);
  call->SetInPlace(true);
  const auto * const memory = call->GetInputPixels().Data;
  ExpectWholeBits(*call, whole, "in place");
  // The sum of the magnitude's squares needs the input to its end.
  EXPECT_TRUE(call->GetOutputPixels().Data == memory || subject.Row.Name == "magnitude");
}

void
TheInputIsLeftAlone(const ContractSubject &, const StressCase & stressCase)
{
  const auto                       call = Begin(stressCase);
  const ContractPixels             input = call->GetInputPixels();
  const std::vector<unsigned char> before(input.Data, input.Data + input.GetNumberOfBytes());
  call->UpdateWhole();
  EXPECT_NE(call->GetOutputPixels().Data, input.Data);
  ASSERT_EQ(call->GetInputPixels().Data, input.Data);
  EXPECT_EQ(std::memcmp(before.data(), input.Data, before.size()), 0) << "the input's pixels have changed";
}

void
NothingIsWrittenBeyondTheUsersMemory(const ContractSubject &, const StressCase & stressCase)
{
  const WholeResult whole(stressCase);
  const auto        call = Begin(stressCase);
  call->GiveOutputMemory();
  ExpectWholeBits(*call, whole, "with memory of the user");
  EXPECT_TRUE(call->UsesGivenMemory());
  EXPECT_TRUE(call->IsGivenMemoryIntact());
}

void
TheOutputHasTheGeometryOfTheInput(const ContractSubject &, const StressCase & stressCase)
{
  const auto call = Begin(stressCase);
  call->UpdateWhole();
  EXPECT_EQ(call->GetOutputGeometry(), call->GetInputGeometry());
}

// --- events

void
ProgressRisesToOneInTheCallingThread(const ContractSubject &, const StressCase & stressCase)
{
  const auto           call = Begin(stressCase);
  const auto           caller = std::this_thread::get_id();
  bool                 isInCaller = true;
  std::vector<float>   values;
  const ScopedObserver observer(call->GetFilter(), ProgressEvent(), [&] {
    isInCaller = isInCaller && std::this_thread::get_id() == caller;
    values.push_back(call->GetFilter()->GetProgress());
  });
  call->UpdateWhole();
  ASSERT_GE(values.size(), 1u); // a run of a small image on a GPU is done when it is asked for the first time
  EXPECT_TRUE(isInCaller) << "progress came from another thread";
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end())) << ::testing::PrintToString(values);
  EXPECT_GE(values.front(), 0.0F);
  EXPECT_EQ(values.back(), 1.0F);
  EXPECT_EQ(call->GetFilter()->GetProgress(), 1.0F);
  EXPECT_EQ(call->GetBits(), WholeResult(stressCase).Bits) << "observed";
}

void
AnAbortThrowsAndTheFilterRunsAgain(const ContractSubject &, const StressCase & stressCase)
{
  const WholeResult  whole(stressCase);
  const unsigned int all = CountProgressEvents(stressCase);
  ASSERT_GE(all, 1u);
  for (const unsigned int at : { 1u, std::max(1u, all / 2) })
  {
    const auto   call = Begin(stressCase);
    unsigned int events = 0;
    Thrown       thrown;
    {
      const ScopedObserver observer(call->GetFilter(), ProgressEvent(), [&] {
        if (++events == at)
        {
          call->GetFilter()->AbortGenerateDataOn();
        }
      });
      thrown = CatchFrom([&call] { call->UpdateWhole(); });
    }
    EXPECT_TRUE(thrown.IsAbort || events < at) << "aborted at event " << at << " of " << all << ": " << thrown.Message;
    ExpectWholeBits(*call, whole, "after an abort at event " + std::to_string(at));
  }
}

void
WhatAnObserverThrowsArrivesAndTheFilterRunsAgain(const ContractSubject &, const StressCase & stressCase)
{
  const WholeResult  whole(stressCase);
  const unsigned int all = CountProgressEvents(stressCase);
  for (const unsigned int at : { 1u, std::max(1u, all / 2), std::max(1u, all) })
  {
    const auto   call = Begin(stressCase);
    unsigned int events = 0;
    Thrown       thrown;
    {
      const ScopedObserver observer(call->GetFilter(), ProgressEvent(), [&events, at] {
        if (++events == at)
        {
          throw ExceptionObject(__FILE__, __LINE__, "thrown by an observer");
        }
      });
      thrown = CatchFrom([&call] { call->UpdateWhole(); });
    }
    // The number of events of a run on a GPU depends on when its work is done.
    EXPECT_EQ(thrown.Message, events >= at ? "thrown by an observer" : "") << "at event " << at << " of " << all;
    ExpectWholeBits(*call, whole, "after an observer threw");
  }
}

/** A filter releases the lock of an interpreter for its own work alone. */
void
TheLockOfAnInterpreterIsReleasedAtWork(const ContractSubject &, const StressCase & stressCase)
{
  const WholeResult     whole(stressCase);
  const InterpreterLock lock;
  const auto            call = Begin(stressCase);
  std::vector<bool>     outside;
  std::vector<bool>     atWork;
  bool                  aborts = false;
  const auto            look = [&outside] { outside.push_back(InterpreterLock::IsHeld()); };
  const ScopedObserver  start(call->GetFilter(), StartEvent(), look);
  const ScopedObserver  end(call->GetFilter(), EndEvent(), look);
  const ScopedObserver  abort(call->GetFilter(), AbortEvent(), look);
  const ScopedObserver  progress(call->GetFilter(), ProgressEvent(), [&] {
    atWork.push_back(InterpreterLock::IsHeld());
    call->GetFilter()->SetAbortGenerateData(aborts);
  });
  call->GetFilter()->SetNumberOfWorkUnits(
    1); // ITK reports from one of several threads, which may have nothing to report
  ExpectWholeBits(*call, whole, "with an interpreter");
  EXPECT_TRUE(InterpreterLock::IsHeld());
  aborts = true;
  call->GetFilter()->Modified();
  EXPECT_TRUE(CatchFrom([&call] { call->UpdateWhole(); }).IsAbort);
  EXPECT_TRUE(InterpreterLock::IsHeld()) << "after an abort";
  EXPECT_GE(outside.size(), 4u) << "start, end, start, abort";
  EXPECT_EQ(std::count(outside.begin(), outside.end(), false), 0) << "released outside of the work";
  EXPECT_GE(atWork.size(), 2u);
  EXPECT_EQ(std::count(atWork.begin(), atWork.end(), true), 0) << "held at work";
}

// --- refusals

void
ABadParameterIsNamedAndTheFilterRunsAgain(const ContractSubject & subject, const StressCase & stressCase)
{
  const WholeResult whole(stressCase);
  for (const bool isUsed : { false, true })
  {
    const auto call = Begin(stressCase);
    if (isUsed)
    {
      call->UpdateWhole();
    }
    const Thrown thrown = CatchFrom([&call] {
      call->Spoil();
      call->UpdateWhole();
    });
    EXPECT_TRUE(thrown.Threw);
    EXPECT_NE(thrown.Message.find(subject.Row.SpoiledParameter), std::string::npos) << thrown.Message;
    call->SetParameters();
    ExpectWholeBits(*call, whole, "after a bad parameter");
  }
}

void
AnInputWithoutPixelsIsRefused(const ContractSubject &, const StressCase & stressCase)
{
  const auto none = Begin(stressCase);
  none->RemoveInput();
  EXPECT_TRUE(CatchFrom([&none] { none->UpdateWhole(); }).Threw) << "without an input";
  const auto released = Begin(stressCase);
  released->ReleaseInput();
  const Thrown thrown = CatchFrom([&released] { released->UpdateWhole(); });
  EXPECT_NE(thrown.Message.find("buffered region"), std::string::npos) << "a released input: " << thrown.Message;
}

void
ABackendThatIsNotThereIsRefused(const ContractSubject & subject, const StressCase & stressCase)
{
  const WholeResult whole(stressCase);
  const auto        call = Begin(stressCase);
  std::string       reason;
  const auto        none = static_cast<int>(CudaFiltersConfiguration::GetDevices().size()) + 7;
  EXPECT_FALSE(CudaFiltersConfiguration::IsDeviceUsable(none, reason));
  call->SetDeviceIndex(none);
  call->SetBackend(BackendEnum::Cuda);
  const Thrown thrown = CatchFrom([&call] { call->UpdateWhole(); });
  EXPECT_TRUE(thrown.Threw) << "it ran on " << call->GetBackendUsed();
  EXPECT_NE(thrown.Message.find(reason), std::string::npos) << thrown.Message << "; expected: " << reason;
  call->SetDeviceIndex(-1);
  call->SetBackend(subject.Backend);
  ExpectWholeBits(*call, whole, "after a device that is not there");
}

void
BackendAndDeviceAreSetByValueAndByName(const ContractSubject &, const StressCase & stressCase)
{
  const auto call = Begin(stressCase);
  const auto expectChange = [&call](const std::function<void()> & set) {
    const auto before = call->GetFilter()->GetMTime();
    set();
    const auto changed = call->GetFilter()->GetMTime();
    EXPECT_GT(changed, before);
    set();
    EXPECT_EQ(call->GetFilter()->GetMTime(), changed) << "the same value has modified the filter";
  };
  call->SetBackend(BackendEnum::Automatic);
  EXPECT_EQ(call->GetDeviceIndex(), -1);
  expectChange([&call] { call->SetBackend(BackendEnum::Cuda); });
  EXPECT_EQ(call->GetBackend(), BackendEnum::Cuda);
  expectChange([&call] { call->SetBackendByName("hOsT"); });
  EXPECT_EQ(call->GetBackend(), BackendEnum::Host);
  expectChange([&call] { call->SetDeviceIndex(3); });
  EXPECT_EQ(call->GetDeviceIndex(), 3);
  expectChange([&call] { call->SetDeviceMemoryLimit(1000); });
  const Thrown name = CatchFrom([&call] { call->SetBackendByName("gpu of mine"); });
  EXPECT_NE(name.Message.find("gpu of mine"), std::string::npos) << name.Message;
  const Thrown index = CatchFrom([&call] { call->SetDeviceIndex(-2); });
  EXPECT_NE(index.Message.find("DeviceIndex is -2"), std::string::npos) << index.Message;
  EXPECT_EQ(call->GetBackend(), BackendEnum::Host);
  EXPECT_EQ(call->GetDeviceIndex(), 3);
  std::ostringstream text;
  call->GetFilter()->Print(text);
  for (const char * const expected : { "Backend: ", "Host", "DeviceIndex: 3", "DeviceMemoryLimit: 1000" })
  {
    EXPECT_NE(text.str().find(expected), std::string::npos) << expected << " is missing in\n" << text.str();
  }
}

void
TheBackendUsedIsTold(const ContractSubject & subject, const StressCase & stressCase)
{
  const auto call = Begin(stressCase);
  EXPECT_EQ(call->GetBackendUsed(), BackendEnum::Automatic) << "before a run";
  call->UpdateWhole();
  EXPECT_EQ(call->GetBackendUsed(), subject.Backend) << call->GetBackendReason();
  EXPECT_NE(call->GetBackendReason(), "");
  call->SetBackend(BackendEnum::Automatic);
  call->UpdateWhole();
  std::string reason;
  const bool  usable = CudaFiltersConfiguration::IsDeviceUsable(-1, reason);
  EXPECT_EQ(call->GetBackendUsed(), usable ? BackendEnum::Cuda : BackendEnum::Host) << call->GetBackendReason();
  EXPECT_NE(call->GetBackendReason().find(reason), std::string::npos) << call->GetBackendReason();
}

// --- changes

/** Updates a part, changes the parameters to those of another case, and expects another part of the changed result. */
void
ExpectChangeBetweenParts(const StressCase & stressCase, const ContractCall & other)
{
  WholeResult changed(stressCase);
  changed.Call->SetParametersOf(other);
  if (CatchFrom([&changed] { changed.Call->UpdateWhole(); }).Threw)
  {
    return; // the parameters do not suit the image
  }
  const ContractRegion largest = changed.Call->GetOutputPixels().Region;
  const unsigned int   axis = largest.Dimension - 1;
  const auto           call = Begin(stressCase);
  call->Request(largest.GetPiece(axis, 0, 3));
  call->Update();
  call->SetParametersOf(other);
  ExpectPart(*call, largest.GetPiece(axis, 1, 3), changed);
}

void
TheNextUpdateSeesWhatChanged(const ContractSubject & subject, const StressCase & stressCase)
{
  const WholeResult whole(stressCase);
  for (const StressCasePointer & other : subject.Cases)
  {
    const auto call = Begin(stressCase);
    const auto others = Begin(*other);
    if (!call->SetParametersOf(*others))
    {
      continue;
    }
    const Thrown thrown = CatchFrom([&call] { call->UpdateWhole(); }); // parameters may not suit another image
    call->SetParameters();
    ExpectWholeBits(*call, whole, "after the parameters of " + other->GetDescription());
    ExpectChangeBetweenParts(stressCase, *others);
    EXPECT_TRUE(&stressCase != other.get() || !thrown.Threw) << thrown.Message;
  }
  const auto call = Begin(stressCase);
  const auto same = Begin(stressCase);
  call->FillInput(3.0);
  call->UpdateWhole();
  call->FillInput(5.0);
  same->FillInput(5.0);
  call->UpdateWhole();
  same->UpdateWhole();
  EXPECT_EQ(call->GetBits(), same->GetBits()) << "after other pixels";
}

void
AnUpdateWithoutChangeDoesNothing(const ContractSubject &, const StressCase & stressCase)
{
  const auto call = Begin(stressCase);
  call->UpdateWhole();
  call->SetParameters();
  call->UpdateWhole(); // parameters that are images may count as changed
  unsigned int         starts = 0;
  const ScopedObserver observer(call->GetFilter(), StartEvent(), [&starts] { ++starts; });
  call->UpdateWhole();
  EXPECT_EQ(starts, 0u);
}

// --- values

void
AConstantImageBecomesAConstant(const ContractSubject & subject, const StressCase & stressCase)
{
  using OfConstant = FilterRow::OfConstant;
  constexpr double constant = 7.0;
  const auto       call = Begin(stressCase);
  call->FillInput(constant);
  call->UpdateWhole();
  const std::vector<double> values = call->GetOutputValues();
  ASSERT_FALSE(values.empty());
  const auto   expected = subject.Row.Constant;
  const size_t components =
    values.size() / (call->GetOutputPixels().GetNumberOfBytes() / call->GetOutputPixels().BytesPerPixel);
  for (size_t i = 0; i < values.size(); ++i)
  {
    const double wanted = expected == OfConstant::Zero       ? 0.0
                          : expected == OfConstant::OneValue ? values[i % components]
                          : expected == OfConstant::SameOrZero && std::fabs(values.front()) < 1.0 ? 0.0
                                                                                                  : constant;
    // Rounding of a few operations in float; integers are truncated.
    ASSERT_NEAR(values[i], wanted, values[i] == std::floor(values[i]) && wanted == constant ? 1.0 : 2e-5 * constant)
      << "value " << i;
  }
}

// --- reasons

std::string
NoReason(const ContractSubject &, const StressCase &)
{
  return "";
}

std::string
WhyNotInPlace(const ContractSubject &, const StressCase & stressCase)
{
  return Begin(stressCase)->SetInPlace(true) ? "" : "it has no in place, or its output has another type than its input";
}

bool
RunsITK(const ContractSubject & subject, const StressCase & stressCase)
{
  return subject.Backend == BackendEnum::Host && AsContract(stressCase).RunsITKOnTheHost();
}

/** Returns the reason if ITK's own class runs on the host and is that of one of these rows. */
std::string
WhyNotForITKs(const ContractSubject &          subject,
              const StressCase &               stressCase,
              const std::vector<std::string> & names,
              const std::string &              reason)
{
  const bool isListed = std::find(names.begin(), names.end(), subject.Row.Name) != names.end();
  return isListed && RunsITK(subject, stressCase) ? reason : "";
}

std::string
WhyNoEndOfProgress(const ContractSubject & subject, const StressCase & stressCase)
{
  return WhyNotForITKs(subject,
                       stressCase,
                       { "discrete", "hessian", "laplacian" },
                       "ITK's class on the host does not report 1 at its end");
}

std::string
WhyNoUsersMemory(const ContractSubject & subject, const StressCase & stressCase)
{
  return WhyNotForITKs(subject,
                       stressCase,
                       { "smoothing", "laplacian", "magnitude" },
                       "ITK's class on the host takes the memory of its last inner filter");
}

std::string
WhyNoChange(const ContractSubject & subject, const StressCase &)
{
  return subject.Backend == BackendEnum::Host && subject.Row.Name == "eigenvalues"
           ? "ITK's class on the host cannot go back to OrderByValue from another order"
           : "";
}

std::string
WhyNoConstant(const ContractSubject & subject, const StressCase &)
{
  return subject.Row.Constant == FilterRow::OfConstant::Anything
           ? "the labels depend on the blocks that the search starts from"
           : "";
}

std::string
WhyNotForITK(const ContractSubject & subject, const StressCase & stressCase)
{
  return RunsITK(subject, stressCase) ? "ITK's class on the host reports from destructors, which may not throw" : "";
}
} // namespace

ContractSubject::ContractSubject(const FilterRow & row, BackendEnum backend)
  : Row(row)
  , Backend(backend)
{
  for (unsigned int i = 0; i < NumberOfCases; ++i)
  {
    StressRandom random(GetSeed(), i, i + 1 < NumberOfCases ? LongestSide : LongestSideOfLastCase);
    Cases.push_back(row.MakeCase(random, backend));
  }
}

const std::vector<ContractProperty> &
GetContractProperties()
{
  static const std::vector<ContractProperty> properties{
    { "RunsAreRepeatable", RunsAreRepeatable, NoReason },
    { "WorkUnitsChangeNoBit", WorkUnitsChangeNoBit, NoReason },
    { "ThreadsRunAtOnce", ThreadsRunAtOnce, NoReason },
    { "RequestedPartsHaveTheBitsOfTheWhole", RequestedPartsHaveTheBitsOfTheWhole, NoReason },
    { "PiecesHaveTheBitsOfTheWhole", PiecesHaveTheBitsOfTheWhole, NoReason },
    { "InPlaceHasTheSameBitsInTheInputsMemory", InPlaceHasTheSameBitsInTheInputsMemory, WhyNotInPlace },
    { "TheInputIsLeftAlone", TheInputIsLeftAlone, NoReason },
    { "NothingIsWrittenBeyondTheUsersMemory", NothingIsWrittenBeyondTheUsersMemory, WhyNoUsersMemory },
    { "TheOutputHasTheGeometryOfTheInput", TheOutputHasTheGeometryOfTheInput, NoReason },
    { "ProgressRisesToOneInTheCallingThread", ProgressRisesToOneInTheCallingThread, WhyNoEndOfProgress },
    { "AnAbortThrowsAndTheFilterRunsAgain", AnAbortThrowsAndTheFilterRunsAgain, NoReason },
    { "WhatAnObserverThrowsArrives", WhatAnObserverThrowsArrivesAndTheFilterRunsAgain, WhyNotForITK },
    { "TheLockOfAnInterpreterIsReleasedAtWork", TheLockOfAnInterpreterIsReleasedAtWork, NoReason },
    { "ABadParameterIsNamed", ABadParameterIsNamedAndTheFilterRunsAgain, NoReason },
    { "AnInputWithoutPixelsIsRefused", AnInputWithoutPixelsIsRefused, NoReason },
    { "ABackendThatIsNotThereIsRefused", ABackendThatIsNotThereIsRefused, NoReason },
    { "BackendAndDeviceAreSetByValueAndByName", BackendAndDeviceAreSetByValueAndByName, NoReason },
    { "TheBackendUsedIsTold", TheBackendUsedIsTold, NoReason },
    { "TheNextUpdateSeesWhatChanged", TheNextUpdateSeesWhatChanged, WhyNoChange },
    { "AnUpdateWithoutChangeDoesNothing", AnUpdateWithoutChangeDoesNothing, NoReason },
    { "AConstantImageBecomesAConstant", AConstantImageBecomesAConstant, WhyNoConstant },
  };
  return properties;
}
} // namespace itk::cuda::test

// SPDX-License-Identifier: Apache-2.0
// Runs random calls of all filters in several threads at once and compares every result with that of the same call
// alone. Exit status 0: all was as it should be; 1: something was not; 77: no GPU can be used, but the backend asked
// for needs one.
#include "itkCudaDetailHostMemoryPool.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaStressCase.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{
using namespace itk::cuda::test;
using itk::CudaFiltersConfiguration;
using BackendEnum = itk::CudaFiltersEnums::Backend;

constexpr int ExitSkipped = 77;

constexpr unsigned int MaximumNumberOfThreads = 256;

struct Options
{
  unsigned int             Threads{ 8 };
  double                   Seconds{ 60.0 };
  uint64_t                 Seed{ 1 };
  unsigned int             Cases{ 300 };
  std::string              Backend{ "host" };
  std::vector<std::string> Filters;
  std::vector<std::string> Faults{ "abort", "observer", "parameter", "released" };
  std::vector<uint64_t>    Only; // numbers of the cases to run; empty: all
  bool                     Verbose{ false };
};

const std::map<std::string, StressFault> FaultNames{ { "abort", StressFault::Abort },
                                                     { "observer", StressFault::ThrowingObserver },
                                                     { "parameter", StressFault::BadParameter },
                                                     { "released", StressFault::ReleasedInput } };

std::string
NameOf(StressFault fault)
{
  const auto found =
    std::find_if(FaultNames.begin(), FaultNames.end(), [fault](const auto & entry) { return entry.second == fault; });
  return found == FaultNames.end() ? "no fault" : found->first;
}

Options
ParseArguments(int argc, char * argv[])
{
  Options                  options;
  std::vector<std::string> kinds;
  for (const auto & [name, maker] : GetStressCaseMakers())
  {
    kinds.push_back(name);
  }
  options.Filters = kinds;
  std::vector<std::string> faults{ "none" };
  for (const auto & [name, fault] : FaultNames)
  {
    faults.push_back(name);
  }
  CLI::App app{
    "Runs random calls of all filters in several threads and compares the results with those of one thread."
  };
  app.add_option("--threads", options.Threads, "host threads that run filters at once")
    ->check(CLI::Range(1u, MaximumNumberOfThreads));
  app.add_option("--seconds", options.Seconds, "how long they run")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.Seed, "of all random numbers");
  app.add_option("--cases", options.Cases, "calls that the threads draw from")->check(CLI::Range(1, 100000));
  app.add_option("--case", options.Only, "numbers of the calls to draw from, instead of all")->delimiter(',');
  app.add_option("--backend", options.Backend, "where the filters run; mixed: some on the host, some on the GPU")
    ->check(CLI::IsMember({ "host", "cuda", "mixed" }));
  app.add_option("--filters", options.Filters, "kinds of filters")->delimiter(',')->check(CLI::IsMember(kinds));
  app.add_option("--faults", options.Faults, "what goes wrong in some calls")
    ->delimiter(',')
    ->check(CLI::IsMember(faults));
  app.add_flag("--verbose", options.Verbose, "print each case before it is run alone");
  try
  {
    app.parse(argc, argv);
  }
  catch (const CLI::ParseError & error)
  {
    std::exit(app.exit(error));
  }
  return options;
}

/** What each thread runs, for the handler below. A thread of ITK's that dies does not know whom it works for. */
std::atomic<const char *> CurrentCases[MaximumNumberOfThreads];

void
Print(const char * text)
{
  for (size_t left = std::strlen(text); left > 0;)
  {
    const ssize_t written = write(STDOUT_FILENO, text, left);
    if (written <= 0)
    {
      return;
    }
    text += written;
    left -= static_cast<size_t>(written);
  }
}

/** Says which cases may have ended the process. */
void
HandleSignal(int signal)
{
  static std::atomic_flag handled = ATOMIC_FLAG_INIT;
  while (handled.test_and_set())
  {
    pause(); // another thread ends the process
  }
  Print("FAILED: the process died in one of\n");
  for (const auto & current : CurrentCases)
  {
    if (const char * const text = current)
    {
      Print("  ");
      Print(text);
      Print("\n");
    }
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/** Memory that outputs and transfers hold. */
struct BytesInUse
{
  size_t Device{ CudaFiltersConfiguration::GetDeviceBytesInUse() };
  size_t Pinned{ CudaFiltersConfiguration::GetPinnedBytesInUse() };
  size_t Host{ itk::CudaDetail::CudaHostMemoryPool::GetBytesInUse() };
};

/** A case and what it gives when nothing else runs. */
struct ReferenceCase
{
  uint64_t              Number;
  StressCasePointer     Case;
  std::string           Text; // what it is, and how to run it again
  std::vector<uint64_t> Bits;
};

std::vector<uint64_t>
GetBits(const StressResult & result)
{
  std::vector<uint64_t> bits;
  for (const StressOutput & output : result.Outputs)
  {
    bits.push_back(output.Bits);
  }
  return bits;
}

class Stress
{
public:
  explicit Stress(const Options & options)
    : m_Options(options)
  {
    for (const std::string & name : options.Faults)
    {
      if (name != "none")
      {
        m_Faults.push_back(FaultNames.at(name));
      }
    }
  }

  /** Makes the cases and runs each of them alone. */
  void
  MakeReferences()
  {
    std::vector<uint64_t> numbers = m_Options.Only;
    for (uint64_t number = 0; m_Options.Only.empty() && number < m_Options.Cases; ++number)
    {
      numbers.push_back(number);
    }
    for (const uint64_t number : numbers)
    {
      StressRandom random(m_Options.Seed, number);
      BackendEnum  backend = m_Options.Backend == "cuda" ? BackendEnum::Cuda : BackendEnum::Host;
      if (m_Options.Backend == "mixed" && random.Chance(0.5))
      {
        backend = BackendEnum::Cuda;
      }
      const std::string & kind = m_Options.Filters[number % m_Options.Filters.size()];
      ReferenceCase       reference{ number, GetStressCaseMakers().at(kind)(random, backend), {}, {} };
      reference.Text = this->Describe(reference);
      if (m_Options.Verbose)
      {
        std::cout << reference.Text << std::endl;
      }
      try
      {
        CurrentCases[0] = reference.Text.c_str();
        reference.Bits = GetBits(reference.Case->Run({}));
        CurrentCases[0] = nullptr;
        m_References.push_back(std::move(reference));
      }
      catch (const std::exception & error)
      {
        this->AddFailure(reference, "alone", error.what());
      }
    }
  }

  void
  RunThreads()
  {
    m_End =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(m_Options.Seconds));
    std::vector<std::thread> threads;
    for (unsigned int i = 0; i < m_Options.Threads && !m_References.empty(); ++i)
    {
      threads.emplace_back([this, i] { this->RunThread(i); });
    }
    for (std::thread & thread : threads)
    {
      thread.join();
    }
  }

  void
  CheckBytes(const BytesInUse & before)
  {
    m_References.clear();
    const BytesInUse after;
    const auto       check = [this](const char * what, size_t was, size_t is) {
      if (was != is)
      {
        this->AddFailure(std::string(what) + " in use: " + std::to_string(is) + " bytes, before " +
                         std::to_string(was));
      }
    };
    check("device memory", before.Device, after.Device);
    check("pinned memory", before.Pinned, after.Pinned);
    check("host memory", before.Host, after.Host);
  }

  /** Prints the counts and returns the program's exit status. */
  int
  Report() const
  {
    std::cout << m_Updates << " updates, " << m_Aborts << " aborts, " << m_Exceptions << " exceptions, " << m_Kept
              << " kept outputs checked, " << m_Failures << " failures (seed " << m_Options.Seed << ")" << std::endl;
    return m_Failures == 0 ? 0 : 1;
  }

private:
  using Clock = std::chrono::steady_clock;

  struct KeptOutput
  {
    StressOutput          Output;
    const ReferenceCase * Reference;
  };

  /** Draws cases until the time is over. */
  void
  RunThread(unsigned int thread)
  {
    constexpr size_t       keptBytesLimit = size_t{ 64 } << 20;
    constexpr unsigned int failuresLimit = 50;
    StressRandom           random(m_Options.Seed, 0x7468726561640000ULL + thread);
    FilterShelf            shelf;
    std::deque<KeptOutput> kept;
    size_t                 keptBytes = 0;
    const auto             checkOldest = [&] {
      this->CheckKept(kept.front());
      keptBytes -= kept.front().Output.Bytes;
      kept.pop_front();
    };
    while (Clock::now() < m_End && m_Failures < failuresLimit)
    {
      const ReferenceCase & reference = m_References[random.Integer(0, m_References.size() - 1)];
      StressCall            call;
      call.Shelf = random.Chance(0.5) ? &shelf : nullptr;
      if (!m_Faults.empty() && random.Chance(0.25))
      {
        call.Fault = m_Faults[random.Integer(0, m_Faults.size() - 1)];
        call.FaultEvent = static_cast<unsigned int>(random.Integer(1, 4));
      }
      call.Observed = random.Chance(0.2);
      call.Disconnected = random.Chance(0.7);
      const StressResult result = this->RunCase(thread, reference, call);
      if (call.Disconnected && random.Chance(0.5))
      {
        for (const StressOutput & output : result.Outputs)
        {
          kept.push_back({ output, &reference });
          keptBytes += output.Bytes;
        }
      }
      while (keptBytes > keptBytesLimit)
      {
        checkOldest();
      }
    }
    shelf = {}; // outputs live on without their filters
    while (!kept.empty())
    {
      checkOldest();
    }
  }

  StressResult
  RunCase(unsigned int thread, const ReferenceCase & reference, const StressCall & call)
  {
    const std::string how = std::string(call.Shelf ? "used filter" : "new filter") + ", after " + NameOf(call.Fault) +
                            (call.Observed ? ", observed" : "");
    StressResult result;
    try
    {
      CurrentCases[thread] = reference.Text.c_str();
      result = reference.Case->Run(call);
      ++m_Updates;
      if (result.FaultCame)
      {
        ++(call.Fault == StressFault::Abort ? m_Aborts : m_Exceptions);
      }
      if (GetBits(result) != reference.Bits)
      {
        this->AddFailure(reference, how, "the bits differ from those of the same call alone");
      }
    }
    catch (const std::exception & error)
    {
      this->AddFailure(reference, how, error.what());
    }
    CurrentCases[thread] = nullptr;
    return result;
  }

  void
  CheckKept(const KeptOutput & kept)
  {
    ++m_Kept;
    if (kept.Output.Hash(kept.Output.Data) != kept.Output.Bits)
    {
      this->AddFailure(*kept.Reference, "kept output", "its bits have changed since it was made");
    }
  }

  std::string
  Describe(const ReferenceCase & reference) const
  {
    std::ostringstream text;
    text << "case " << reference.Number << ": " << reference.Case->GetDescription() << "\n  repeat: --seed "
         << m_Options.Seed << " --case " << reference.Number << " --backend " << m_Options.Backend << " --threads "
         << m_Options.Threads << " --filters ";
    for (size_t i = 0; i < m_Options.Filters.size(); ++i)
    {
      text << (i == 0 ? "" : ",") << m_Options.Filters[i];
    }
    return text.str();
  }

  void
  AddFailure(const ReferenceCase & reference, const std::string & how, const std::string & what)
  {
    this->AddFailure(how + ": " + what + "\n  " + reference.Text);
  }
  void
  AddFailure(const std::string & text)
  {
    ++m_Failures;
    const std::lock_guard<std::mutex> lock(m_PrintMutex);
    std::cout << "FAILED: " << text << std::endl;
  }

  const Options              m_Options;
  std::vector<StressFault>   m_Faults;
  std::vector<ReferenceCase> m_References;
  Clock::time_point          m_End;
  std::mutex                 m_PrintMutex;
  std::atomic<size_t>        m_Updates{ 0 };
  std::atomic<size_t>        m_Aborts{ 0 };
  std::atomic<size_t>        m_Exceptions{ 0 };
  std::atomic<size_t>        m_Kept{ 0 };
  std::atomic<size_t>        m_Failures{ 0 };
};
} // namespace

int
main(int argc, char * argv[])
{
  const Options options = ParseArguments(argc, argv);
  std::string   reason;
  if (options.Backend != "host" && !CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    std::cout << "skipped: " << reason << std::endl;
    return ExitSkipped;
  }
  itk::Object::GlobalWarningDisplayOff(); // of kernels that are cut, as some cases ask for
  std::cout << "seed " << options.Seed << ", " << options.Threads << " threads, " << options.Seconds << " s, backend "
            << options.Backend << std::endl;
  for (const int signal : { SIGSEGV, SIGBUS, SIGFPE, SIGABRT })
  {
    std::signal(signal, HandleSignal);
  }
  const BytesInUse before;
  Stress           stress(options);
  stress.MakeReferences();
  stress.RunThreads();
  stress.CheckBytes(before);
  return stress.Report();
}

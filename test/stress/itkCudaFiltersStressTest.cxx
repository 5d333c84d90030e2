// SPDX-License-Identifier: Apache-2.0
// Runs random calls of all filters in several threads at once and compares every result with that of the same call
// alone. With --count it runs so many different calls, and looks at the memory after each thousand of them. With
// --hashes it compares the results of a fixed set of calls with those in a file, or writes the file. Exit status 0: all
// was as it should be; 1: something was not; 77: no GPU can be used, but the backend asked for needs one.
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaStressCase.h"
#include "itkCudaStressMemory.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <fstream>
#include <iostream>
#include <malloc.h>
#include <map>
#include <set>
#include <mutex>
#include <optional>
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
  uint64_t                 Count{ 0 }; // calls that differ; 0: draw from Cases until the time is over
  uint64_t                 CheckEvery{ 1000 };
  std::string              Backend{ "host" };
  std::vector<std::string> Filters;
  std::vector<std::string> Faults{ "abort", "observer", "parameter", "released" };
  std::vector<uint64_t>    Only;   // numbers of the cases to run; empty: all
  std::string              Hashes; // file to compare with; empty: no comparison
  bool                     WriteHashes{ false };
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
  app.add_option(
    "--count", options.Count, "run so many different calls, each once, instead of drawing calls in a time");
  app.add_option("--check-every", options.CheckEvery, "with --count: calls between two looks at the memory")
    ->check(CLI::PositiveNumber);
  app.add_option("--case", options.Only, "numbers of the calls to draw from, instead of all")->delimiter(',');
  app.add_option("--backend", options.Backend, "where the filters run; mixed: some on the host, some on the GPU")
    ->check(CLI::IsMember({ "host", "cuda", "mixed" }));
  app.add_option("--filters", options.Filters, "kinds of filters; default: all but large, with --count chains")
    ->delimiter(',')
    ->check(CLI::IsMember(kinds));
  app.add_option("--faults", options.Faults, "what goes wrong in some calls")
    ->delimiter(',')
    ->check(CLI::IsMember(faults));
  CLI::Option * const hashes =
    app.add_option("--hashes",
                   options.Hashes,
                   "compare the hashes of a fixed set of calls of each kind of filter with those in this file");
  app.add_flag("--write", options.WriteHashes, "with --hashes: write the file instead")->needs(hashes);
  app.add_flag("--verbose", options.Verbose, "print each case before it is run alone");
  try
  {
    app.parse(argc, argv);
  }
  catch (const CLI::ParseError & error)
  {
    std::exit(app.exit(error));
  }
  if (options.Filters.empty())
  {
    kinds.erase(std::find(kinds.begin(), kinds.end(), LargeStressKind));
    options.Filters = options.Count > 0 ? std::vector<std::string>{ "chain" } : kinds;
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

/** A case and what it gives when nothing else runs. */
struct ReferenceCase
{
  uint64_t              Number;
  StressCasePointer     Case;
  std::string           Text; // what it is, and how to run it again
  std::vector<uint64_t> Bits; // empty: not known
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
      ReferenceCase reference = this->MakeCase(number);
      if (m_Options.Verbose)
      {
        std::cout << reference.Text << std::endl;
      }
      if (this->RunAlone(0, reference))
      {
        m_References.push_back(std::move(reference));
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

  /** Runs Count cases, each once, and looks at the memory after each round of CheckEvery. */
  void
  RunRounds()
  {
    mallopt(M_MMAP_THRESHOLD, 1 << 20); // images go back to the system as soon as they are freed
    std::optional<StressMemory> first;
    uint64_t                    callsOfFirst = 0;
    for (uint64_t done = 0; done < m_Options.Count && m_Failures < FailuresLimit;)
    {
      const uint64_t end = std::min(m_Options.Count, done + m_Options.CheckEvery);
      this->RunInTurn(done, end, [this](unsigned int thread, uint64_t number) { this->RunOnce(thread, number); });
      done = end;
      ReleaseUnusedStressMemory();
      const StressMemory now = GetStressMemory();
      std::cout << done << " calls, resident memory " << (now.Resident >> 10) << " KiB" << std::endl;
      if (first)
      {
        this->AddFailures(CompareStressMemory(*first, now, done - callsOfFirst));
      }
      else
      {
        first = now; // kernels have been loaded, and threads started
        callsOfFirst = done;
      }
    }
  }

  /** Runs the fixed set of calls and compares the hash of each with that in the file, or writes them there. */
  void
  RunHashes()
  {
    std::vector<ReferenceCase> cases;
    for (const std::string & kind : m_Options.Filters)
    {
      for (uint64_t number = 0; number < NumberOfHashedCalls(kind); ++number)
      {
        StressRandom  random(m_Options.Seed, number);
        ReferenceCase reference{ number, nullptr, kind + " " + std::to_string(number), {} };
        reference.Case = GetStressCaseMakers().at(kind)(random, this->GetBackend(random));
        cases.push_back(std::move(reference));
      }
    }
    this->RunInTurn(0, cases.size(), [this, &cases](unsigned int thread, uint64_t i) {
      m_Updates += this->RunAlone(thread, cases[i]) ? 1 : 0;
    });
    m_Options.WriteHashes ? this->WriteHashes(cases) : this->CompareHashes(cases);
  }

  void
  CheckBytes(const StressMemory & before)
  {
    m_References.clear();
    this->AddFailures(CompareStressMemoryInUse(before, GetStressMemory()));
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

  static constexpr unsigned int FailuresLimit = 50;

  struct KeptOutput
  {
    StressOutput          Output;
    const ReferenceCase * Reference;
  };

  /** Returns how many calls of a kind of filter the fixed set has; the region filters have more that can change. */
  static uint64_t
  NumberOfHashedCalls(const std::string & kind)
  {
    return kind == "partition" || kind == "snake" ? 500 : 420;
  }

  static uint64_t
  FoldHashes(const std::vector<uint64_t> & bits)
  {
    return HashBytes(bits.data(), bits.size() * sizeof(bits[0]));
  }

  void
  WriteHashes(const std::vector<ReferenceCase> & cases)
  {
    std::ofstream file(m_Options.Hashes);
    for (const ReferenceCase & reference : cases)
    {
      file << reference.Text << ' ' << std::hex << FoldHashes(reference.Bits) << std::dec << '\n';
    }
    if (!file.flush())
    {
      this->AddFailure("cannot write " + m_Options.Hashes);
    }
  }

  void
  CompareHashes(const std::vector<ReferenceCase> & cases)
  {
    std::map<std::string, uint64_t> expected;
    std::set<std::string>           kinds; // a kind that the file does not know is not compared
    std::ifstream                   file(m_Options.Hashes);
    std::string                     kind;
    std::string                     number;
    for (uint64_t hash = 0; file >> kind >> number >> std::hex >> hash;)
    {
      expected[kind + ' ' + number] = hash;
      kinds.insert(kind);
    }
    if (expected.empty())
    {
      this->AddFailure("cannot read hashes from " + m_Options.Hashes);
    }
    for (const ReferenceCase & reference : cases)
    {
      const auto found = expected.find(reference.Text);
      const bool isKnown = kinds.count(reference.Text.substr(0, reference.Text.find(' '))) > 0;
      if (isKnown && !reference.Bits.empty() &&
          (found == expected.end() || found->second != FoldHashes(reference.Bits)))
      {
        this->AddFailure(reference.Text + ": the hash is not that in " + m_Options.Hashes + ": " +
                         reference.Case->GetDescription());
      }
    }
  }

  BackendEnum
  GetBackend(StressRandom & random) const
  {
    const bool isCuda = m_Options.Backend == "cuda" || (m_Options.Backend == "mixed" && random.Chance(0.5));
    return isCuda ? BackendEnum::Cuda : BackendEnum::Host;
  }

  ReferenceCase
  MakeCase(uint64_t number) const
  {
    StressRandom        random(m_Options.Seed, number);
    const BackendEnum   backend = this->GetBackend(random);
    const std::string & kind = m_Options.Filters[number % m_Options.Filters.size()];
    ReferenceCase       reference{ number, GetStressCaseMakers().at(kind)(random, backend), {}, {} };
    reference.Text = this->Describe(reference);
    return reference;
  }

  /** Sets the bits of the case; false after a failure. */
  bool
  RunAlone(unsigned int thread, ReferenceCase & reference)
  {
    CurrentCases[thread] = reference.Text.c_str();
    try
    {
      reference.Bits = GetBits(reference.Case->Run({}));
    }
    catch (const std::exception & error)
    {
      this->AddFailure(reference, "alone", error.what());
    }
    CurrentCases[thread] = nullptr;
    return !reference.Bits.empty();
  }

  /** Calls function(thread, number) for the numbers from `begin` to `end`, each in the thread that is free. */
  template <typename TFunction>
  void
  RunInTurn(uint64_t begin, uint64_t end, const TFunction & function)
  {
    std::atomic<uint64_t>    next{ begin };
    std::vector<std::thread> threads;
    for (unsigned int thread = 0; thread < m_Options.Threads; ++thread)
    {
      threads.emplace_back([this, thread, end, &next, &function] {
        for (uint64_t number = next++; number < end && m_Failures < FailuresLimit; number = next++)
        {
          function(thread, number);
        }
      });
    }
    for (std::thread & thread : threads)
    {
      thread.join();
    }
  }

  /** A case by new filters, some after a fault, and some twice to compare the bits. */
  void
  RunOnce(unsigned int thread, uint64_t number)
  {
    constexpr double shareRunTwice = 0.1;
    ReferenceCase    reference = this->MakeCase(number);
    StressRandom     random(m_Options.Seed ^ 0x6F6E6365ULL, number);
    if (random.Chance(shareRunTwice) && !this->RunAlone(thread, reference))
    {
      return;
    }
    StressCall call;
    this->AddRandomFault(random, call);
    this->RunCase(thread, reference, call);
  }

  void
  AddRandomFault(StressRandom & random, StressCall & call) const
  {
    if (!m_Faults.empty() && random.Chance(0.25))
    {
      call.Fault = m_Faults[random.Integer(0, m_Faults.size() - 1)];
      call.FaultEvent = static_cast<unsigned int>(random.Integer(1, 4));
    }
  }

  /** Draws cases until the time is over. */
  void
  RunThread(unsigned int thread)
  {
    constexpr size_t       keptBytesLimit = size_t{ 64 } << 20;
    StressRandom           random(m_Options.Seed, 0x7468726561640000ULL + thread);
    FilterShelf            shelf;
    std::deque<KeptOutput> kept;
    size_t                 keptBytes = 0;
    const auto             checkOldest = [&] {
      this->CheckKept(kept.front());
      keptBytes -= kept.front().Output.Bytes;
      kept.pop_front();
    };
    while (Clock::now() < m_End && m_Failures < FailuresLimit)
    {
      const ReferenceCase & reference = m_References[random.Integer(0, m_References.size() - 1)];
      StressCall            call;
      call.Shelf = random.Chance(0.5) ? &shelf : nullptr;
      this->AddRandomFault(random, call);
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
      if (!reference.Bits.empty() && GetBits(result) != reference.Bits)
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
  /** A failure for each line. */
  void
  AddFailures(const std::string & lines)
  {
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);)
    {
      this->AddFailure(line);
    }
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
  std::ostringstream amount;
  if (!options.Hashes.empty())
  {
    amount << "the calls of " << options.Hashes;
  }
  else
  {
    options.Count > 0 ? amount << options.Count << " calls" : amount << options.Seconds << " s";
  }
  std::cout << "seed " << options.Seed << ", " << options.Threads << " threads, " << amount.str() << ", backend "
            << options.Backend << std::endl;
  for (const int signal : { SIGSEGV, SIGBUS, SIGFPE, SIGABRT })
  {
    std::signal(signal, HandleSignal);
  }
  const StressMemory before = GetStressMemory();
  Stress             stress(options);
  if (!options.Hashes.empty())
  {
    stress.RunHashes();
  }
  else if (options.Count > 0)
  {
    stress.RunRounds();
  }
  else
  {
    stress.MakeReferences();
    stress.RunThreads();
  }
  stress.CheckBytes(before);
  return stress.Report();
}

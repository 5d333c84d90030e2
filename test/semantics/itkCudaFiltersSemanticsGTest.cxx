// SPDX-License-Identifier: Apache-2.0
// How the filters behave in a pipeline, compared with ITK's own classes. The cases run in a process of their own,
// which this program starts by its own name: one that dies is a failed case, and the next process goes on behind it.
// By hand: CudaFiltersSemanticsGTestDriver --cases KIND host|cuda FIRST_CASE [LAST_CASE]
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaSemanticsScene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{
using namespace itk::cuda::test;

constexpr int ExitSkipped = 77;
constexpr int ExitFailed = 1;
// A hang is a failure, too.
constexpr unsigned int SecondsForACase = 60;

// What the process of the cases prints at the beginning of a line.
const std::string Begin = "BEGIN ";
const std::string Failed = "FAILED ";

template <typename TRows>
auto
Find(const TRows & rows, const std::string & name)
{
  const auto row =
    std::find_if(rows.begin(), rows.end(), [&name](const auto & candidate) { return candidate.Name == name; });
  if (row == rows.end())
  {
    std::cerr << "'" << name << "' is in none of the tables\n";
    std::exit(ExitFailed);
  }
  return row;
}

bool
AppliesTo(const SemanticsCase & row, const SemanticsKind & kind)
{
  return row.To == SemanticsCase::Applies::ToAll ||
         (row.To == SemanticsCase::Applies::ToSnake && kind.Name == "snake") ||
         (row.To == SemanticsCase::Applies::ToThoseInPlace && kind.CanRunInPlace);
}

/** The process of the cases, from the one named on. */
int
RunCases(const std::string & kindName,
         const std::string & backendName,
         const std::string & first,
         const std::string & last)
{
  const rlimit noCore{ 0, 0 };
  setrlimit(RLIMIT_CORE, &noCore);
  std::string reason;
  const auto  backend = itk::CudaBackendFromString(backendName);
  if (backend == itk::CudaFiltersEnums::Backend::Cuda && !itk::CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    std::cout << "no GPU: " << reason << std::endl;
    return ExitSkipped;
  }
  const auto & kind = *Find(GetSemanticsKinds(), kindName);
  const auto & cases = GetSemanticsCases();
  const auto   end = Find(cases, last) + 1;
  for (auto row = Find(cases, first); row < end; ++row)
  {
    if (!AppliesTo(*row, kind))
    {
      continue;
    }
    alarm(SecondsForACase);
    const auto note = [&row](const std::string & which) {
      std::cout << Begin << row->Name << ": " << which << std::endl;
    };
    for (const std::string & failure : RunSemanticsCase(kind, backend, *row, note))
    {
      std::cout << Failed << row->Name << ": " << failure << std::endl;
    }
  }
  return 0;
}

struct ChildResult
{
  int                      Status;
  std::string              Last; // what it ran last, "case: class"
  std::vector<std::string> Failures;
};

ChildResult
RunChild(const std::string & arguments)
{
  char          program[4096]{};
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
  EXPECT_GT(length, 0);
  const std::string command = "exec '" + std::string(program) + "' " + arguments + " 2>&1";
  FILE * const      pipe = popen(command.c_str(), "r");
  ChildResult       result{ -1, "", {} };
  if (!pipe)
  {
    ADD_FAILURE() << "cannot run " << command;
    return result;
  }
  char * line = nullptr;
  size_t capacity = 0;
  while (getline(&line, &capacity, pipe) > 0)
  {
    std::string text(line);
    text.erase(text.find_last_not_of("\r\n") + 1);
    if (text.compare(0, Begin.size(), Begin) == 0)
    {
      result.Last = text.substr(Begin.size());
    }
    else if (text.compare(0, Failed.size(), Failed) == 0)
    {
      result.Failures.push_back(text.substr(Failed.size()));
    }
  }
  std::free(line);
  result.Status = pclose(pipe);
  return result;
}

struct SemanticsParameter
{
  std::string Kind;
  std::string Backend;
};

std::ostream &
operator<<(std::ostream & os, const SemanticsParameter & parameter)
{
  return os << parameter.Kind << " on " << parameter.Backend;
}

class CudaFiltersSemantics : public ::testing::TestWithParam<SemanticsParameter>
{};

TEST_P(CudaFiltersSemantics, AreThoseOfITK)
{
  const auto & cases = GetSemanticsCases();
  for (auto first = cases.begin(); first != cases.end();)
  {
    const ChildResult result = RunChild("--cases " + GetParam().Kind + ' ' + GetParam().Backend + ' ' + first->Name);
    if (WIFEXITED(result.Status) && WEXITSTATUS(result.Status) == ExitSkipped)
    {
      GTEST_SKIP() << "no GPU";
    }
    for (const std::string & failure : result.Failures)
    {
      ADD_FAILURE() << failure;
    }
    if (result.Status == 0)
    {
      break;
    }
    ADD_FAILURE() << result.Last << ": the process ended "
                  << (WIFSIGNALED(result.Status) ? std::string("by signal: ") + strsignal(WTERMSIG(result.Status))
                                                 : "with status " + std::to_string(WEXITSTATUS(result.Status)));
    ASSERT_FALSE(result.Last.empty()) << "no case was begun";
    first = Find(cases, result.Last.substr(0, result.Last.find(':'))) + 1;
  }
}

std::vector<SemanticsParameter>
ParametersOf(const std::string & backend)
{
  std::vector<SemanticsParameter> parameters;
  for (const SemanticsKind & kind : GetSemanticsKinds())
  {
    parameters.push_back({ kind.Name, backend });
  }
  return parameters;
}

std::string
NameOf(const ::testing::TestParamInfo<SemanticsParameter> & info)
{
  return info.param.Kind;
}

INSTANTIATE_TEST_SUITE_P(Host, CudaFiltersSemantics, ::testing::ValuesIn(ParametersOf("host")), NameOf);
INSTANTIATE_TEST_SUITE_P(Gpu, CudaFiltersSemantics, ::testing::ValuesIn(ParametersOf("cuda")), NameOf);
} // namespace

int
main(int argc, char * argv[])
{
  if (argc >= 5 && std::strcmp(argv[1], "--cases") == 0)
  {
    return RunCases(argv[2], argv[3], argv[4], argc > 5 ? argv[5] : GetSemanticsCases().back().Name);
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

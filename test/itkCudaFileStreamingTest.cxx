// SPDX-License-Identifier: Apache-2.0
// From file to file in bounded memory: a raw MetaImage is smoothed in parts by a writer that streams, in a process of
// its own for each number of divisions. All files must be the same, byte by byte. Where no request is for more than a
// chunk of planes, the process may not take more memory than a few chunks. With Streaming Off it must take more, or the
// test is one of a file that is too small. Exit status 77: this system does not tell how much memory a process takes,
// or there is no GPU where one is asked for.
#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaPlaneSource.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkMetaImageIO.h"
#include "itkPipelineMonitorImageFilter.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace
{
using ImageType = itk::Image<float, 3>;
using FilterType = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType>;

constexpr size_t mebibyte = size_t{ 1 } << 20;
constexpr size_t slack = 64 * mebibyte;

/** A line of /proc/self/status in bytes; 0 if there is none. */
size_t
GetStatus(const std::string & name)
{
  std::ifstream file("/proc/self/status");
  std::string   line;
  while (std::getline(file, line))
  {
    if (line.rfind(name + ":", 0) == 0)
    {
      return std::stoull(line.substr(name.size() + 1)) * 1024;
    }
  }
  return 0;
}

/** The largest resident memory counts from now on. */
bool
ResetHighWaterMark()
{
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

void
MakeFile(const std::string & name, size_t side, size_t planes)
{
  const auto source = itk::cuda::test::PlaneSource<ImageType>::New();
  source->SetRegion({ { { 0, 0, 0 } }, { { side, side, planes } } });
  const auto writer = itk::ImageFileWriter<ImageType>::New();
  writer->SetImageIO(itk::MetaImageIO::New());
  writer->SetFileName(name);
  writer->SetInput(source->GetOutput());
  writer->SetNumberOfStreamDivisions(static_cast<unsigned int>((planes + 127) / 128));
  writer->Update();
}

/** Ends the process as soon as it has taken more: the system may not have the memory that all of a large file takes. */
void
EndAbove(size_t limit, size_t before)
{
  for (;;)
  {
    const size_t now = GetStatus("VmRSS");
    if (now > before + limit)
    {
      std::cout << now - before << " 0 0" << std::endl;
      _exit(EXIT_SUCCESS);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/** What the first use of a GPU takes is not the stream's. */
void
UseBackend(const std::string & backend)
{
  const auto source = itk::cuda::test::PlaneSource<ImageType>::New();
  source->SetRegion({ { { 0, 0, 0 } }, { { 64, 64, 400 } } });
  const auto filter = FilterType::New();
  filter->SetInput(source->GetOutput());
  filter->SetStreaming("on");
  filter->SetBackend(backend);
  filter->Update();
}

/** What the child does. It prints what the parent checks: bytes taken at most, and the fewest and most times that a
 * plane was read. With a limit it ends when it has taken more bytes. */
int
Smooth(const std::string & input,
       const std::string & output,
       double              sigma,
       unsigned int        divisions,
       const std::string & streaming,
       const std::string & backend,
       size_t              limit)
{
  const auto reader = itk::ImageFileReader<ImageType>::New();
  reader->SetImageIO(itk::MetaImageIO::New());
  reader->SetFileName(input);
  reader->ReleaseDataFlagOn(); // the monitor has the same memory
  const auto monitor = itk::PipelineMonitorImageFilter<ImageType>::New();
  monitor->SetInput(reader->GetOutput());
  const auto filter = FilterType::New();
  filter->SetInput(monitor->GetOutput());
  filter->SetSigma(sigma);
  filter->SetStreaming(streaming);
  filter->SetBackend(backend);
  const auto writer = itk::ImageFileWriter<ImageType>::New();
  writer->SetImageIO(itk::MetaImageIO::New());
  writer->SetFileName(output);
  writer->SetInput(filter->GetOutput());
  writer->SetNumberOfStreamDivisions(divisions);

  UseBackend(backend);
  if (!ResetHighWaterMark())
  {
    std::cout << "0 0 0" << std::endl;
    return EXIT_SUCCESS;
  }
  const size_t before = GetStatus("VmRSS");
  if (limit > 0)
  {
    std::thread(EndAbove, limit, before).detach();
  }
  const auto begin = std::chrono::steady_clock::now();
  writer->Update();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const size_t after = GetStatus("VmHWM");

  std::vector<unsigned int> reads(reader->GetOutput()->GetLargestPossibleRegion().GetSize(2));
  for (const auto & region : monitor->GetUpdatedRequestedRegions())
  {
    for (itk::SizeValueType n = 0; n < region.GetSize(2); ++n)
    {
      ++reads[region.GetIndex(2) + n];
    }
  }
  const std::set<unsigned int> numbers(reads.begin(), reads.end());
  std::cout << after - before << ' ' << *numbers.begin() << ' ' << *numbers.rbegin() << std::endl;
  std::cerr << streaming << ", " << divisions << " divisions: " << (after - before) / mebibyte
            << " MiB more than before, " << seconds << " s; " << filter->GetSlabReport() << std::endl;
  return EXIT_SUCCESS;
}

struct Outcome
{
  size_t       Bytes{ 0 };
  unsigned int FewestReads{ 0 };
  unsigned int MostReads{ 0 };
};

Outcome
RunChild(const std::vector<std::string> & arguments)
{
  std::string command;
  for (const std::string & argument : arguments)
  {
    command += "'" + argument + "' ";
  }
  FILE * const pipe = popen(command.c_str(), "r");
  if (!pipe)
  {
    throw std::runtime_error("no process for " + command);
  }
  Outcome   outcome;
  const int read = std::fscanf(pipe, "%zu %u %u", &outcome.Bytes, &outcome.FewestReads, &outcome.MostReads);
  const int status = pclose(pipe);
  if (read != 3 || status != 0)
  {
    throw std::runtime_error(command + "failed with status " + std::to_string(status));
  }
  return outcome;
}

bool
AreSame(const std::string & a, const std::string & b)
{
  std::ifstream     first(a, std::ios::binary);
  std::ifstream     second(b, std::ios::binary);
  std::vector<char> one(mebibyte);
  std::vector<char> other(mebibyte);
  while (first && second)
  {
    first.read(one.data(), one.size());
    second.read(other.data(), other.size());
    if (first.gcount() != second.gcount() || std::memcmp(one.data(), other.data(), first.gcount()) != 0)
    {
      return false;
    }
  }
  return first.eof() && second.eof();
}

struct Test
{
  std::string Program;
  std::string Folder;
  double      Sigma;
  size_t      Side;
  size_t      Planes;
  size_t      LookAhead; // 0: all chunks
  std::string Backend;
  int         Failures{ 0 };

  void
  Expect(bool holds, const std::string & what)
  {
    if (!holds)
    {
      std::cerr << "failed: " << what << std::endl;
      ++Failures;
    }
  }

  Outcome
  Run(const std::string & output, unsigned int divisions, const std::string & streaming, size_t limit = 0) const
  {
    return RunChild({ Program,
                      "smooth",
                      Folder + "/input.mha",
                      output,
                      std::to_string(Sigma),
                      std::to_string(divisions),
                      streaming,
                      Backend,
                      std::to_string(limit) });
  }

  int
  RunAll()
  {
    MakeFile(Folder + "/input.mha", Side, Planes);
    const size_t       chunk = 128 * Side * Side * sizeof(float);
    const size_t       chunks = (Planes + 127) / 128;
    const size_t       bound = (2 * LookAhead + 3) * chunk + slack;
    const unsigned int expectedReads = LookAhead == 0 ? 2 : 1;
    const std::string  first = Folder + "/first.mha";
    const std::string  other = Folder + "/other.mha";
    std::cerr << "file of " << chunk * Planes / 128 / mebibyte << " MiB, bound " << bound / mebibyte << " MiB"
              << std::endl;
    const auto aligned = static_cast<unsigned int>(chunks);
    for (const unsigned int divisions : { 16u, 1u, 2u, 7u, aligned, aligned + (aligned + 4) / 5 })
    {
      const std::string output = divisions == 16 ? first : other;
      const Outcome     outcome = this->Run(output, divisions, "on");
      if (outcome.Bytes == 0)
      {
        return 77;
      }
      const std::string name = std::to_string(divisions) + " divisions";
      this->Expect(output == first || AreSame(first, output), name + ": the file differs from that of 16 divisions");
      this->Expect(outcome.FewestReads == expectedReads && outcome.MostReads == expectedReads,
                   name + ": planes were read " + std::to_string(outcome.FewestReads) + " to " +
                     std::to_string(outcome.MostReads) + " times");
      if (LookAhead > 0 && (Planes + divisions - 1) / divisions <= 128)
      {
        this->Expect(outcome.Bytes <= bound, name + ": " + std::to_string(outcome.Bytes) + " bytes were taken");
      }
    }
    this->Expect(this->Run(other, 16, "off", bound).Bytes > bound, "with Streaming Off the bound holds too");
    for (const char * const name : { "/input.mha", "/first.mha", "/other.mha" })
    {
      std::remove((Folder + name).c_str());
    }
    std::cerr << (Failures == 0 ? "all well" : "not well") << std::endl;
    return Failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }
};
} // namespace

int
main(int argc, char * argv[])
{
  try
  {
    if (argc == 9 && std::string(argv[1]) == "smooth")
    {
      const auto divisions = static_cast<unsigned int>(std::stoul(argv[5]));
      return Smooth(argv[2], argv[3], std::stod(argv[4]), divisions, argv[6], argv[7], std::stoull(argv[8]));
    }
    if (argc == 7)
    {
      const std::string backend = argv[6];
      std::string       reason;
      if (backend == "cuda" && !itk::CudaFiltersConfiguration::IsDeviceUsable(0, reason))
      {
        std::cerr << "no GPU: " << reason << std::endl;
        return 77;
      }
      const std::string folder = std::string(argv[1]) + "-" + std::to_string(getpid());
      if (std::system(("mkdir -p '" + folder + "'").c_str()) != 0)
      {
        throw std::runtime_error("no folder " + folder);
      }
      Test test{ argv[0], folder, std::stod(argv[2]), std::stoul(argv[3]), std::stoul(argv[4]), std::stoul(argv[5]),
                 backend };
      const int status = test.RunAll();
      rmdir(folder.c_str());
      return status;
    }
    std::cerr << "Usage: " << argv[0] << " FOLDER SIGMA SIDE PLANES LOOK_AHEAD (0: all chunks) BACKEND" << std::endl;
  }
  catch (const std::exception & exception)
  {
    std::cerr << exception.what() << std::endl;
  }
  return EXIT_FAILURE;
}

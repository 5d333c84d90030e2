// SPDX-License-Identifier: Apache-2.0

// Times runs from host to host: in slabs, as a whole, and as a mere copy of the same bytes in both directions at the
// same time. Each argument is a case:
//
//   TYPE:X:Y:Z:SIGMA:LIMIT:MEMORY[:CHUNKS]    float or short; pixels; sigma in pixels; GB of device memory allowed, 0
//   for
//                                             all; pinned, ordinary (touched before), fresh (an output that nothing
//                                             has touched), or resident (in parts on the devices); chunks in a slab,
//                                             chosen if they are not given
//
// Sigma holds along all axes. One line of JSON goes to the standard output for each case: milliseconds, the best of
// three runs and the first one, and a hash of the result. The copy of a resident image is that of its bytes, three
// times, on all devices at once. Slabs are dealt to the devices of the configuration, which the environment names
// (ITK_CUDAFILTERS_DEVICES=all), and the copies are divided among the different ones of them.

#include "runtime/device/Call.h"
#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "itkCudaDeviceGaussianSlabs.h"
#include "runtime/image/DeviceView.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/device/Stream.h"
#include "runtime/transfer/Transfer.h"
#include "runtime/memory/DeviceAccess.h"
#include "runtime/memory/DeviceImage.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;

/** Calls f(begin, end) for parts of a range on all threads. */
void
InParallel(size_t count, const std::function<void(size_t, size_t)> & f)
{
  const size_t             number = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < number; ++i)
  {
    threads.emplace_back([&, i] { f(i * count / number, (i + 1) * count / number); });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
}

/** Allocates pages that were never touched or, on request, touches and page-locks them. */
class HostMemory
{
public:
  HostMemory(size_t bytes, bool touched, bool pinned)
    : m_Bytes(bytes)
    , m_Pinned(pinned)
  {
    m_Data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m_Data == MAP_FAILED)
    {
      throw std::bad_alloc();
    }
    madvise(m_Data, bytes, MADV_HUGEPAGE);
    if (touched || pinned)
    {
      constexpr size_t page = 4096;
      InParallel(bytes / page + 1, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end && i * page < bytes; ++i)
        {
          static_cast<volatile char *>(m_Data)[i * page] = 0;
        }
      });
    }
    if (pinned)
    {
      ITK_CUDA_CALL(cudaHostRegister(m_Data, bytes, cudaHostRegisterPortable));
    }
  }
  ~HostMemory()
  {
    if (m_Pinned)
    {
      ITK_CUDA_CALL_NOTHROW(cudaHostUnregister(m_Data));
    }
    munmap(m_Data, m_Bytes);
  }
  HostMemory(const HostMemory &) = delete;
  HostMemory &
  operator=(const HostMemory &) = delete;

  void *
  Get() const
  {
    return m_Data;
  }

private:
  void * m_Data;
  size_t m_Bytes;
  bool   m_Pinned;
};

struct Case
{
  std::string           Text;
  CudaComponentType     Type{ CudaComponentType::Float };
  std::array<size_t, 4> Size{ { 1, 1, 1, 1 } };
  double                Sigma{ 1.0 };
  double                LimitInGigabytes{ 0.0 };
  std::string           Memory;
  size_t                ChunksPerSlab{ 0 };
};

Case
ReadCase(const std::string & text)
{
  std::vector<std::string> parts;
  std::istringstream       stream(text);
  for (std::string part; std::getline(stream, part, ':');)
  {
    parts.push_back(part);
  }
  if (parts.size() != 7 && parts.size() != 8)
  {
    throw std::invalid_argument("\"" + text + "\" is no case; it must be TYPE:X:Y:Z:SIGMA:LIMIT:MEMORY[:CHUNKS]");
  }
  Case read;
  read.Text = text;
  read.Type = parts[0] == "short" ? CudaComponentType::Short : CudaComponentType::Float;
  for (size_t d = 0; d < 3; ++d)
  {
    read.Size[d] = std::strtoull(parts[1 + d].c_str(), nullptr, 10);
  }
  read.Sigma = std::strtod(parts[4].c_str(), nullptr);
  read.LimitInGigabytes = std::strtod(parts[5].c_str(), nullptr);
  read.Memory = parts[6];
  read.ChunksPerSlab = parts.size() > 7 ? std::strtoull(parts[7].c_str(), nullptr, 10) : 0;
  return read;
}

CudaImageView
MakeView(const Case & test, void * data)
{
  CudaImageView view;
  view.Data = data;
  view.ComponentType = test.Type;
  view.Size = test.Size;
  size_t stride = 1;
  for (size_t d = 0; d < 4; ++d)
  {
    view.Stride[d] = stride;
    stride *= view.Size[d];
  }
  return view;
}

/** Fills an image with pseudo-random numbers, which are the same in each run. */
void
Fill(const CudaImageView & view)
{
  const size_t count = view.GetNumberOfPixels();
  InParallel(count, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
    {
      const uint64_t value = ((i * 0x9e3779b97f4a7c15u) >> 40) % 4096;
      if (view.ComponentType == CudaComponentType::Short)
      {
        static_cast<short *>(view.Data)[i] = static_cast<short>(value);
      }
      else
      {
        static_cast<float *>(view.Data)[i] = static_cast<float>(value) + 0.25f;
      }
    }
  });
}

uint64_t
GetHash(const CudaImageView & view)
{
  const size_t          words = view.GetNumberOfBytes() / 8;
  constexpr size_t      block = size_t{ 1 } << 20;
  std::vector<uint64_t> hashes(words / block + 1, 14695981039346656037u);
  const auto * const    data = static_cast<const uint64_t *>(view.Data);
  InParallel(hashes.size(), [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b)
    {
      for (size_t i = b * block; i < std::min(words, (b + 1) * block); ++i)
      {
        hashes[b] = (hashes[b] ^ data[i]) * 1099511628211u;
      }
    }
  });
  uint64_t hash = 0;
  for (const uint64_t part : hashes)
  {
    hash = (hash ^ part) * 1099511628211u;
  }
  return hash;
}

double
Measure(const std::function<void()> & run)
{
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/** Copies the bytes of both images concurrently, in pieces of 64 MB, between page-locked memory and a device. */
void
CopyPinned(const CudaImageView & input, const CudaImageView & output, int device)
{
  constexpr size_t         piece = size_t{ 64 } << 20;
  const cuda::DeviceGuard  guard(device);
  const cuda::StreamLease  up(device), down(device);
  const cuda::DeviceBuffer a(piece, up), b(piece, down);
  const size_t             bytes = std::max(input.GetNumberOfBytes(), output.GetNumberOfBytes());
  for (size_t begin = 0; begin < bytes; begin += piece)
  {
    const auto copy =
      [&](const CudaImageView & view, const cuda::DeviceBuffer & buffer, const cuda::Context & stream, bool upload) {
        if (begin < view.GetNumberOfBytes())
        {
          char * const host = static_cast<char *>(view.Data) + begin;
          ITK_CUDA_CALL(cudaMemcpyAsync(upload ? buffer.GetPointer() : host,
                                        upload ? host : buffer.GetPointer(),
                                        std::min(piece, view.GetNumberOfBytes() - begin),
                                        upload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                                        stream.GetStream()));
        }
      };
    copy(input, a, up, true);
    copy(output, b, down, false);
  }
  up.Synchronize();
  down.Synchronize();
}

/** Copies the bytes of both images concurrently between ordinary memory and a device, by the module's transfers in two
 * threads. */
void
CopyStaged(const CudaImageView & input, const CudaImageView & output, int device)
{
  const auto copy = [device](const CudaImageView & view, bool upload) {
    const cuda::DeviceGuard guard(device);
    const cuda::StreamLease stream(device);
    constexpr size_t        pieceBytes = size_t{ 512 } << 20;
    const unsigned int      axis = view.Size[2] > 1 ? 2 : 1;
    const size_t            planes =
      std::clamp<size_t>(pieceBytes / (view.GetNumberOfBytes() / view.Size[axis]), 1, view.Size[axis]);
    const cuda::DeviceImage image(cuda::GetPlanarSize(cuda::Slice(view, axis, 0, planes)), view.ComponentType, stream);
    for (size_t first = 0; first < view.Size[axis]; first += planes)
    {
      const CudaImageView    part = cuda::Slice(view, axis, first, std::min(planes, view.Size[axis] - first));
      const cuda::DeviceView device = cuda::PackFrom(cuda::Slice(image.GetView(), axis, 0, part.Size[axis]), axis + 1);
      upload ? cuda::Upload(part, device, stream, nullptr) : cuda::Download(device, part, stream, nullptr);
    }
  };
  std::thread up([&] { copy(input, true); });
  copy(output, false);
  up.join();
}

/** Calls copy(input, output, device) for each device of the configuration at the same time, with a share of the planes.
 */
template <typename TCopy>
void
CopyOnAllDevices(const CudaImageView & input, const CudaImageView & output, const TCopy & copy)
{
  const auto               indices = CudaFiltersConfiguration::GetDeviceIndices();
  const std::set<int>      devices(indices.begin(), indices.end());
  const unsigned int       axis = input.Size[2] > 1 ? 2 : 1;
  std::vector<std::thread> threads;
  size_t                   part = 0;
  for (const int device : devices)
  {
    const size_t first = part * input.Size[axis] / devices.size();
    const size_t end = ++part * input.Size[axis] / devices.size();
    threads.emplace_back([=, &copy] {
      copy(cuda::Slice(input, axis, first, end - first), cuda::Slice(output, axis, first, end - first), device);
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
}

/** Measures the first and the best time of up to three runs within a few seconds. */
std::string
MeasureRuns(const std::string & name, const std::function<void()> & run)
{
  const double first = Measure(run);
  double       best = first;
  for (double spent = first; spent < 1500.0 && spent < 3 * first + 1;)
  {
    const double next = Measure(run);
    best = std::min(best, next);
    spent += next;
  }
  return "\"" + name + "_ms\": " + std::to_string(best) + ", \"" + name + "_first_ms\": " + std::to_string(first);
}

CudaGaussianPlan
MakePlan(const Case & test)
{
  CudaGaussianParameters parameters;
  parameters.Sigma.assign(test.Size[2] > 1 ? 3 : 2, test.Sigma);
  parameters.Spacing.assign(parameters.Sigma.size(), 1.0);
  return MakeSmoothingPlan(parameters);
}

std::string
Describe(const CudaSlabReport & report, const CudaImageView & output)
{
  std::ostringstream details;
  details << ", \"report\": \"" << report << "\", \"bytes_up\": " << report.BytesUp
          << ", \"bytes_down\": " << report.BytesDown << ", \"bytes_between\": " << report.BytesBetween
          << ", \"peak_bytes\": " << report.PeakDeviceBytes << ", \"hash\": \"" << std::hex << GetHash(output)
          << std::dec << "\", ";
  return details.str();
}

/** Times the filter of an image of float whose parts lie on the devices. */
void
RunResident(const Case & test)
{
  const HostMemory                 host(MakeView(test, nullptr).GetNumberOfBytes(), true, false);
  const CudaImageView              image = MakeView(test, host.Get());
  const unsigned int               axis = test.Size[2] > 1 ? 2 : 1;
  const std::vector<int>           devices = CudaFiltersConfiguration::GetDeviceIndices();
  const size_t                     chunks = (image.Size[axis] + CudaSlabChunkLength - 1) / CudaSlabChunkLength;
  const size_t                     planes = (chunks + devices.size() - 1) / devices.size() * CudaSlabChunkLength;
  std::vector<CudaDeviceImageView> from, to;
  std::deque<cuda::StreamLease>    streams;
  Fill(image);
  const auto forEachPart = [&](const auto & function) {
    for (size_t i = 0; i < from.size(); ++i)
    {
      const cuda::DeviceGuard guard(streams[i].GetDevice());
      function(i, cuda::Slice(image, axis, i * planes, from[i].Size[axis]));
    }
  };
  for (size_t first = 0; first < image.Size[axis]; first += planes)
  {
    const int device = devices[from.size() % devices.size()];
    auto      size = image.Size;
    size[axis] = std::min(planes, image.Size[axis] - first);
    streams.emplace_back(device);
    for (auto * const views : { &from, &to })
    {
      views->push_back(CudaAllocateDeviceImage({ { size[0], size[1], size[2], 1, 1 } }, test.Type, device, true));
    }
  }
  forEachPart([&](size_t i, const CudaImageView & part) {
    const cuda::DeviceWriting writing(from[i], streams[i]);
    cuda::Upload(part, cuda::GetDeviceView(from[i]), streams[i], nullptr);
  });
  CudaSlabReport report;
  std::string    line = "{\"case\": \"" + test.Text + "\", ";
  line += MeasureRuns("slabs", [&] { report = CudaGaussianFilterSlabs(MakePlan(test), from, to); });
  forEachPart([&](size_t i, const CudaImageView & part) {
    const cuda::DeviceReading reading(to[i], streams[i]);
    cuda::Download(cuda::GetDeviceView(to[i]), part, streams[i], nullptr);
  });
  line += Describe(report, image);
  line += MeasureRuns("copy", [&] {
    for (int pass = 0; pass < 3; ++pass)
    {
      forEachPart([&](size_t i, const CudaImageView &) {
        const size_t bytes = cuda::GetNumberOfBytes(cuda::GetDeviceView(from[i]));
        ITK_CUDA_CALL(cudaMemcpyAsync(
          to[i].GetPointer(), from[i].GetPointer(), bytes, cudaMemcpyDeviceToDevice, streams[i].GetStream()));
      });
    }
    for (const cuda::StreamLease & stream : streams)
    {
      stream.Synchronize();
    }
  });
  std::cout << line << "}" << std::endl;
}

void
Run(const Case & test)
{
  if (test.Memory == "resident")
  {
    RunResident(test);
    return;
  }
  const bool       isPinned = test.Memory == "pinned";
  const HostMemory source(MakeView(test, nullptr).GetNumberOfBytes(), true, isPinned);
  const HostMemory target(MakeView(test, nullptr).GetNumberOfBytes(), test.Memory != "fresh", isPinned);
  const auto       input = MakeView(test, source.Get());
  const auto       output = MakeView(test, target.Get());
  Fill(input);
  const CudaGaussianPlan plan = MakePlan(test);
  CudaSlabOptions        options;
  options.DeviceMemoryLimit = static_cast<size_t>(test.LimitInGigabytes * 1e9);
  options.ChunksPerSlab = test.ChunksPerSlab;
  options.Devices = CudaFiltersConfiguration::GetDeviceIndices();

  CudaSlabReport report;
  std::string    line = "{\"case\": \"" + test.Text + "\", ";
  line += MeasureRuns("slabs", [&] { report = CudaGaussianFilterSlabs(plan, input, output, options, nullptr); });
  line += Describe(report, output);
  line += MeasureRuns("duplex", [&] { CopyOnAllDevices(input, output, isPinned ? CopyPinned : CopyStaged); });
  if (test.LimitInGigabytes == 0 && CudaWorkingSet(plan, input, output) < size_t{ 60 } << 30)
  {
    line +=
      ", " + MeasureRuns("whole", [&] { CudaRunOnDevice(plan, input, output, options.Devices.front(), nullptr); });
    std::ostringstream hash;
    hash << std::hex << GetHash(output);
    line += ", \"whole_hash\": \"" + hash.str() + "\"";
  }
  std::cout << line << "}" << std::endl;
}
} // namespace

int
main(int argc, char * argv[])
{
  std::string reason;
  if (!CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    std::cerr << reason << std::endl;
    return 77;
  }
  int failed = 0;
  for (int i = 1; i < argc; ++i)
  {
    try
    {
      Run(ReadCase(argv[i]));
    }
    catch (const std::exception & error)
    {
      std::cout << "{\"case\": \"" << argv[i] << "\", \"error\": \"" << error.what() << "\"}" << std::endl;
      failed = 1;
    }
  }
  return failed;
}

// SPDX-License-Identifier: Apache-2.0
#ifndef resident_benchmark_h
#define resident_benchmark_h

#include "benchmark_device.h"
#include "benchmark_sides.h"
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/DeviceImage.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

// Times kernels on device-resident images, with plan and memory prepared beforehand. Times are medians of 20 samples of
// 4 runs each, measured with events in this process, with buffers that rotate through at least 512 MB.

namespace benchmark_filters
{
using namespace itk;
using namespace itk::cuda;

inline constexpr int    Samples = 20;
inline constexpr int    RunsPerSample = 4;
inline constexpr int    RunsPerMedian = (Samples + 2) * RunsPerSample; // the first two samples are not timed
inline constexpr size_t RotatingBytes = size_t{ 512 } << 20;
inline constexpr int    Device = 0;

class Timer
{
public:
  Timer()
  {
    ITK_CUDA_CALL(cudaEventCreate(&m_Begin));
    ITK_CUDA_CALL(cudaEventCreate(&m_End));
  }
  ~Timer()
  {
    ITK_CUDA_CALL_NOTHROW(cudaEventDestroy(m_Begin));
    ITK_CUDA_CALL_NOTHROW(cudaEventDestroy(m_End));
  }
  Timer(const Timer &) = delete;
  Timer &
  operator=(const Timer &) = delete;

  /** Returns the median seconds of one run. `run` gets the number of the run. */
  double
  GetMedian(const StreamLease & stream, const std::function<void(int)> & run)
  {
    int number = 0;
    for (; number < 2 * RunsPerSample; ++number)
    {
      run(number);
    }
    std::vector<float> samples(Samples);
    for (float & milliseconds : samples)
    {
      ITK_CUDA_CALL(cudaEventRecord(m_Begin, stream.GetStream()));
      for (int i = 0; i < RunsPerSample; ++i)
      {
        run(number++);
      }
      ITK_CUDA_CALL(cudaEventRecord(m_End, stream.GetStream()));
      ITK_CUDA_CALL(cudaEventSynchronize(m_End));
      ITK_CUDA_CALL(cudaEventElapsedTime(&milliseconds, m_Begin, m_End));
    }
    std::nth_element(samples.begin(), samples.begin() + Samples / 2, samples.end());
    return samples[Samples / 2] * 1e-3 / RunsPerSample;
  }

private:
  cudaEvent_t m_Begin{ nullptr };
  cudaEvent_t m_End{ nullptr };
};

template <typename T>
void
FillRandomAs(const DeviceView & view, StreamLease & stream)
{
  // Repeat a random block on the device, because random numbers for gigabytes would take longer than the measurement.
  static const std::vector<T> block = [] {
    std::vector<T>                    values(size_t{ 1 } << 22);
    std::mt19937                      generator(1);
    std::uniform_real_distribution<T> uniform(0, 1);
    std::generate(values.begin(), values.end(), [&] { return uniform(generator); });
    return values;
  }();
  const size_t bytes = view.Stride[1] * view.Size[1] * view.Size[2] * sizeof(T);
  size_t       done = std::min(block.size() * sizeof(T), bytes);
  ITK_CUDA_CALL(cudaMemcpyAsync(view.Data, block.data(), done, cudaMemcpyHostToDevice, stream.GetStream()));
  while (done < bytes)
  {
    const size_t more = std::min(done, bytes - done);
    ITK_CUDA_CALL(cudaMemcpyAsync(
      static_cast<unsigned char *>(view.Data) + done, view.Data, more, cudaMemcpyDeviceToDevice, stream.GetStream()));
    done += more;
  }
  stream.Synchronize();
}

inline void
FillRandom(const DeviceView & view, StreamLease & stream)
{
  const auto fill = view.ComponentType == CudaComponentType::Double ? FillRandomAs<double> : FillRandomAs<float>;
  fill(view, stream);
}

/** The sets of images that a plan's runs rotate through. Their number follows from RotatingBytes, and is at most the
 * number of runs. */
class ImageSets
{
public:
  ImageSets(const DeviceView::SizeType & size,
            unsigned int                 numberOfImages,
            StreamLease &                stream,
            CudaComponentType            type = CudaComponentType::Float)
    : m_Bytes(DeviceImage::GetNumberOfBytes(size, type))
    , m_Sets(std::clamp<size_t>((RotatingBytes + 2 * m_Bytes - 1) / (2 * m_Bytes), 1, RunsPerMedian))
  {
    for (auto & set : m_Sets)
    {
      for (unsigned int i = 0; i < numberOfImages; ++i)
      {
        set.Images.emplace_back(size, type, stream);
        set.Views.push_back(set.Images.back().GetView());
      }
      if (&set == &m_Sets.front())
      {
        FillRandom(set.Views.front(), stream);
      }
      else
      {
        ITK_CUDA_CALL(cudaMemcpyAsync(set.Views.front().Data,
                                      m_Sets.front().Views.front().Data,
                                      m_Bytes,
                                      cudaMemcpyDeviceToDevice,
                                      stream.GetStream()));
      }
    }
  }

  const std::vector<DeviceView> &
  GetViews(int run) const
  {
    return m_Sets[run % m_Sets.size()].Views;
  }

  /** Returns the median time to copy one image. */
  double
  GetCopyTime(Timer & timer, const StreamLease & stream) const
  {
    return timer.GetMedian(stream, [&](int run) {
      const auto & views = this->GetViews(run);
      ITK_CUDA_CALL(
        cudaMemcpyAsync(views[1].Data, views[0].Data, m_Bytes, cudaMemcpyDeviceToDevice, stream.GetStream()));
    });
  }

private:
  struct Set
  {
    std::vector<DeviceImage> Images;
    std::vector<DeviceView>  Views;
  };

  size_t           m_Bytes;
  std::vector<Set> m_Sets;
};
} // namespace benchmark_filters

#endif

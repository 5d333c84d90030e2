// SPDX-License-Identifier: Apache-2.0

// The kernels of slabs and transfers in tests without a GPU, computed by the host's code, in double. Every function
// that launches a kernel in the real implementation can be made to fail here (FaultHook).
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/image/Convert.h"
#include "runtime/image/DeviceView.h"
#include "runtime/image/LineGroups.h"
#include "runtime/image/Math.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/run/Operation.h"
#include "gaussian/host/HostPlan.h"
#include "gaussian/host/LineFilter.h"
#include "gaussian/masked/MaskedDevice.h"
#include "gaussian/slabs/Slabs.h"
#include "gaussian/slabs/SlabsDevice.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkMultiThreaderBase.h"
#include "support/itkCudaFakeCuda.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

namespace itk::cuda
{
namespace
{
/** Fails if the fault hook says so. Fakes of functions that launch kernels begin with this call. */
void
MayFail(const char * name)
{
  CheckedCall(name, __FILE__, __LINE__, [] { return cudaSuccess; });
}

/** Calls f(index in dense pixels with interleaved components, offset on the device) for pixels [first, first + number)
 * of a planar image. The index of dense pixels starts at the first of them. */
template <typename TFunction>
void
ForEachDenseComponent(const DeviceView & planar, size_t first, size_t number, const TFunction & f)
{
  const size_t components = planar.Size.back();
  for (size_t pixel = first; pixel < first + number; ++pixel)
  {
    size_t rest = pixel;
    size_t place = 0;
    for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
    {
      place += rest % planar.Size[d] * planar.Stride[d];
      rest /= planar.Size[d];
    }
    for (size_t c = 0; c < components; ++c)
    {
      f((pixel - first) * components + c, place + c * planar.Stride.back());
    }
  }
}
} // namespace

void
ConvertToPlanar(const void *       raw,
                CudaComponentType  rawType,
                const DeviceView & planar,
                size_t             firstPixel,
                size_t             numberOfPixels,
                cudaStream_t       stream)
{
  MayFail("ConvertToPlanar");
  test::EnqueueOnFakeStream(stream, [=] {
    VisitComponentType(rawType, [&](auto rawZero) {
      VisitComponentType(planar.ComponentType, [&](auto zero) {
        ForEachDenseComponent(planar, firstPixel, numberOfPixels, [&](size_t from, size_t to) {
          static_cast<decltype(zero) *>(planar.Data)[to] =
            static_cast<decltype(zero)>(static_cast<const decltype(rawZero) *>(raw)[from]);
        });
      });
    });
  });
}

void
ConvertFromPlanar(const DeviceView & planar,
                  size_t             firstPixel,
                  size_t             numberOfPixels,
                  void *             raw,
                  CudaComponentType  rawType,
                  cudaStream_t       stream)
{
  MayFail("ConvertFromPlanar");
  test::EnqueueOnFakeStream(stream, [=] {
    VisitComponentType(rawType, [&](auto rawZero) {
      using RawType = decltype(rawZero);
      VisitComponentType(planar.ComponentType, [&](auto zero) {
        ForEachDenseComponent(planar, firstPixel, numberOfPixels, [&](size_t to, size_t from) {
          static_cast<RawType *>(raw)[to] =
            ConvertComponent<RawType>(static_cast<double>(static_cast<const decltype(zero) *>(planar.Data)[from]));
        });
      });
    });
  });
}

cudaError_t
FindDeviceCode()
{
  return cudaSuccess;
}

std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaGaussianPlan &)
{
  return nullptr; // the fakes run whole images by RunWithoutSlabs()
}
} // namespace itk::cuda

namespace itk::cuda::gaussian
{
/** Returns the bytes of one image of double for each image of the plan. */
size_t
GetBytesWithoutSlabs(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView &)
{
  return plan.NumberOfImages * input.GetNumberOfPixels() * sizeof(double);
}

void
RunWithoutSlabs(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output, int)
{
  const Context      context{ 0, nullptr };
  const DeviceBuffer memory(GetBytesWithoutSlabs(plan, input, output), context);
  MayFail("RunWithoutSlabs");
  CudaRunOnHost(plan, input, output, MultiThreaderBase::New(), nullptr);
}

void
NonFiniteScan::Queue(const DeviceView &, const Context &)
{
  itkGenericExceptionMacro("The runs of these tests do not search their input for NaN");
}

namespace
{
/** States in the layout of the device. */
class StateArray
{
public:
  StateArray(const CudaGaussianLinePass & pass, size_t lines, const void * data)
    : m_Pairs(pass.Results.front().Kernel.NumberOfPolePairs)
    , m_Lines(lines)
    , m_Data(static_cast<PolePairState<double> *>(const_cast<void *>(data)))
  {}

  PolePairState<double> &
  Get(size_t chunk, bool anticausal, unsigned int pair, size_t line) const
  {
    return m_Data[(chunk * 2 * m_Pairs + (anticausal ? m_Pairs : 0) + pair) * m_Lines + line];
  }

  template <unsigned int VPairs>
  ChunkStates<double, VPairs>
  Load(size_t chunk, size_t line) const
  {
    ChunkStates<double, VPairs> states;
    for (unsigned int j = 0; j < VPairs; ++j)
    {
      states.Causal.Pair[j] = this->Get(chunk, false, j, line);
      states.Anticausal.Pair[j] = this->Get(chunk, true, j, line);
    }
    return states;
  }

  template <unsigned int VPairs>
  void
  Store(size_t chunk, size_t line, const ChunkStates<double, VPairs> & states) const
  {
    for (unsigned int j = 0; j < VPairs; ++j)
    {
      this->Get(chunk, false, j, line) = states.Causal.Pair[j];
      this->Get(chunk, true, j, line) = states.Anticausal.Pair[j];
    }
  }

private:
  unsigned int            m_Pairs;
  size_t                  m_Lines;
  PolePairState<double> * m_Data;
};

template <unsigned int VPairs>
ChunkStates<double, VPairs>
LoadEdges(const CudaGaussianLinePass & pass, size_t lines, const void * edges, size_t line)
{
  ChunkStates<double, VPairs> states;
  for (unsigned int j = 0; j < VPairs && edges; ++j)
  {
    states.Anticausal.Pair[j] = StateArray(pass, lines, edges).Get(0, false, j, line);
  }
  return states;
}

size_t
GetBegin(const LineGeometry & geometry, size_t line)
{
  return line / geometry.InnerCount * geometry.OuterStride + line % geometry.InnerCount;
}

/** Returns the pixels of a line's chunk minus the line's first pixel. */
std::vector<double>
LoadChunk(const CudaGaussianLinePass & pass,
          const DeviceView &           source,
          const LineCut &              cut,
          size_t                       line,
          size_t                       chunk,
          double &                     first)
{
  const LineGeometry geometry = MakeLineGeometry(source, pass.Axis);
  const LineGeometry firsts = MakeLineGeometry(cut.First, pass.Axis);
  first = static_cast<const double *>(cut.First.Data)[GetBegin(firsts, line)];
  const size_t        begin = chunk * ChunkLength;
  std::vector<double> pixels(std::min<size_t>(ChunkLength, geometry.LineLength - begin));
  for (size_t n = 0; n < pixels.size(); ++n)
  {
    pixels[n] =
      static_cast<const double *>(source.Data)[GetBegin(geometry, line) + (begin + n) * geometry.LineStride] - first;
  }
  return pixels;
}

/** Calls f(filter) on the stream, with a filter for lines of `length` pixels. */
template <typename TFunction>
void
EnqueuePass(const CudaGaussianLinePass & pass,
            size_t                       length,
            unsigned int                 lookAhead,
            const Context &              context,
            const TFunction &            f)
{
  MayFail("kernel");
  test::EnqueueOnFakeStream(context.GetStream(), [=] {
    VisitNumberOfPolePairs(pass.Results.front().Kernel, [&](auto pairs) {
      f(LineFilter<double, decltype(pairs)::value>(pass.Results, {}, length, { ChunkLength, lookAhead }), pairs);
    });
  });
}
} // namespace

LineSchedule
GetLineSchedule(const CudaGaussianLinePass & pass, const std::vector<DeviceView> & images, int, const LineCut & cut)
{
  LineProblem problem;
  problem.Kind = AxisKind::Strided;
  problem.Length = images[0].Size[pass.Axis];
  problem.SigmaInPixels = pass.Results.front().Kernel.SigmaInPixels;
  problem.BytesPerComponent = sizeof(double);
  problem.NumberOfPolePairs = pass.Results.front().Kernel.NumberOfPolePairs;
  problem.SharedMemoryPerBlock = 227 << 10;
  problem.WholeLength = cut.WholeLength;
  return MakeLineSchedule(problem);
}

size_t
GetLineStateBytes(const CudaGaussianLinePass & pass, const DeviceView & source)
{
  const size_t lines = MakeLineGeometry(source, pass.Axis).GetNumberOfLines();
  return 2 * pass.Results.front().Kernel.NumberOfPolePairs * lines * sizeof(PolePairState<double>);
}

size_t
GetEdgeStateBytes(const CudaGaussianLinePass & pass, const DeviceView & source)
{
  return GetLineStateBytes(pass, source) / 2;
}

void
RunChunkEndStates(const CudaGaussianLinePass &    pass,
                  const LineSchedule &            schedule,
                  const std::vector<DeviceView> & images,
                  const LineCut &                 cut,
                  void *                          endStates,
                  const Context &                 context)
{
  const DeviceView source = images[0];
  EnqueuePass(pass, cut.WholeLength, schedule.LookAhead, context, [=](const auto & filter, auto) {
    const size_t lines = MakeLineGeometry(source, pass.Axis).GetNumberOfLines();
    for (size_t chunk = 0; chunk < DivideUp(source.Size[pass.Axis], ChunkLength); ++chunk)
    {
      for (size_t line = 0; line < lines; ++line)
      {
        double     first = 0;
        const auto pixels = LoadChunk(pass, source, cut, line, chunk, first);
        StateArray(pass, lines, endStates).Store(chunk, line, filter.GetEndStates(pixels.data(), pixels.size()));
      }
    }
  });
}

void
RunEdgeStates(const CudaGaussianLinePass & pass,
              const DeviceView &           source,
              const LineCut &              cut,
              void *                       edges,
              const Context &              context)
{
  EnqueuePass(pass, cut.WholeLength, 0, context, [=](const auto & filter, auto pairs) {
    const size_t lines = MakeLineGeometry(source, pass.Axis).GetNumberOfLines();
    for (size_t line = 0; line < lines; ++line)
    {
      double     first = 0;
      const auto pixels = LoadChunk(pass, source, cut, line, (source.Size[pass.Axis] - 1) / ChunkLength, first);
      const auto states = filter.GetSteadyStates(0.0, pixels.back());
      for (unsigned int j = 0; j < decltype(pairs)::value; ++j)
      {
        StateArray(pass, lines, edges).Get(0, false, j, line) = states.Anticausal.Pair[j];
      }
    }
  });
}

void
RunChunkStarts(const CudaGaussianLinePass & pass,
               const LineSchedule &         schedule,
               const DeviceView &           source,
               const ChunkNeighbors &       near,
               void *                       starts,
               const Context &              context)
{
  EnqueuePass(pass, near.LineLength, schedule.LookAhead, context, [=](const auto & filter, auto pairs) {
    constexpr unsigned int count = decltype(pairs)::value;
    const size_t           lines = MakeLineGeometry(source, pass.Axis).GetNumberOfLines();
    for (size_t line = 0; line < lines; ++line)
    {
      const bool seesEnd = near.Chunk + schedule.LookAhead + 1 >= near.NumberOfChunks;
      const auto borders = LoadEdges<count>(pass, lines, seesEnd ? near.Edges : nullptr, line);
      const auto getEndStates = [&](size_t i) {
        const void * const endStates =
          i < near.Chunk ? near.Before[near.Chunk - 1 - i] : near.Behind[i - near.Chunk - 1];
        return StateArray(pass, lines, endStates).template Load<count>(0, line);
      };
      StateArray(pass, lines, starts).Store(0, line, filter.GetWindowedStart(near.Chunk, borders, getEndStates));
    }
  });
}

void
RunStateScan(const CudaGaussianLinePass & pass,
             const LineSchedule &,
             const DeviceView &     source,
             const ChunkNeighbors & whole,
             void *                 states,
             const Context &        context)
{
  EnqueuePass(pass, whole.LineLength, 0, context, [=](const auto & filter, auto pairs) {
    constexpr unsigned int count = decltype(pairs)::value;
    const size_t           lines = MakeLineGeometry(source, pass.Axis).GetNumberOfLines();
    const StateArray       array(pass, lines, states);
    for (size_t line = 0; line < lines; ++line)
    {
      std::vector<ChunkStates<double, count>> chunks;
      for (size_t chunk = 0; chunk < whole.NumberOfChunks; ++chunk)
      {
        chunks.push_back(array.Load<count>(chunk, line));
      }
      filter.ConvertToStartStates(
        LoadEdges<count>(pass, lines, whole.Edges, line), [&](size_t i) -> auto & { return chunks[i]; });
      for (size_t chunk = 0; chunk < whole.NumberOfChunks; ++chunk)
      {
        array.Store(chunk, line, chunks[chunk]);
      }
    }
  });
}

void
RunChunksFromStates(const CudaGaussianLinePass & pass,
                    const LineSchedule &,
                    const std::vector<DeviceView> & images,
                    const LineCut &                 cut,
                    const void *                    starts,
                    const Context &                 context)
{
  EnqueuePass(pass, cut.WholeLength, 0, context, [=](const auto & filter, auto pairs) {
    const LineGeometry geometry = MakeLineGeometry(images[0], pass.Axis);
    const size_t       lines = geometry.GetNumberOfLines();
    for (size_t chunk = 0; chunk < DivideUp(geometry.LineLength, ChunkLength); ++chunk)
    {
      for (size_t line = 0; line < lines; ++line)
      {
        double              first = 0;
        const auto          pixels = LoadChunk(pass, images[0], cut, line, chunk, first);
        std::vector<double> output(pass.Results.size() * pixels.size());
        filter.FilterChunk(pixels.data(),
                           output.data(),
                           pixels.size(),
                           pixels.size(),
                           first,
                           StateArray(pass, lines, starts).template Load<decltype(pairs)::value>(chunk, line));
        for (size_t i = 0; i < output.size(); ++i)
        {
          auto * const to = static_cast<double *>(images[pass.Results[i / pixels.size()].Destination].Data);
          to[GetBegin(geometry, line) + (chunk * ChunkLength + i % pixels.size()) * geometry.LineStride] = output[i];
        }
      }
    }
  });
}

size_t
GetPlanWorkspace(const CudaGaussianPlan &, const std::vector<DeviceView> &, int, const std::vector<LineCut> &)
{
  return 0;
}

void
RunPlan(const CudaGaussianPlan &        plan,
        const std::vector<DeviceView> & images,
        Workspace,
        const Context & context,
        const std::vector<LineCut> &)
{
  MayFail("RunPlan");
  test::EnqueueOnFakeStream(context.GetStream(), [plan, images] {
    const auto threader = MultiThreaderBase::New();
    threader->SetNumberOfWorkUnits(1); // the threads of ITK's pool may wait for this stream
    for (size_t component = 0; component < images.front().Size.back(); ++component)
    {
      const auto view = [&images, component](size_t image) {
        CudaImageView planar;
        planar.Data = static_cast<double *>(images[image].Data) + component * images[image].Stride.back();
        planar.ComponentType = CudaComponentType::Double;
        std::copy_n(images[image].Size.begin(), planar.Size.size(), planar.Size.begin());
        std::copy_n(images[image].Stride.begin(), planar.Stride.size(), planar.Stride.begin());
        return planar;
      };
      std::vector<CudaImageView> results;
      std::transform(plan.Results.begin(), plan.Results.end(), std::back_inserter(results), view);
      HostImages host(plan, CudaComponentType::Double);
      host.Begin(view(0), results);
      for (unsigned int image = 1; image < plan.NumberOfImages; ++image)
      {
        host.Set(image, view(image));
      }
      for (size_t pass = 0; pass < plan.Passes.size(); ++pass)
      {
        RunHostPass(plan, pass, host, threader, [](float) {});
      }
      if (!plan.Rotation.empty())
      {
        RotateResults(plan, host, threader, [](float) {});
      }
    }
  });
}
} // namespace itk::cuda::gaussian

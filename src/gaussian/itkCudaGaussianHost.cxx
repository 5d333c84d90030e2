// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianHost.h"

#include "itkCudaComputeType.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailNames.h"
#include "itkCudaGaussianBoundary.h"
#include "itkCudaGaussianCoefficients.h"
#include "itkCudaGaussianSchedule.h"
#include "itkCudaHostLines.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <type_traits>
#include <vector>

namespace itk::cuda::gaussian
{
namespace
{
/** The same pixel of several lines. The compiler turns operations on it into operations on the processor's vector
 * registers. The lines do not mix: a line's bits do not depend on its neighbours. */
struct LinePack
{
  static constexpr unsigned int Count = 4;

  double Value[Count];
};

template <typename TOperation>
inline LinePack
ForEachLine(const TOperation & operation)
{
  LinePack result;
  for (unsigned int i = 0; i < LinePack::Count; ++i)
  {
    result.Value[i] = operation(i);
  }
  return result;
}

inline LinePack
operator+(const LinePack & a, const LinePack & b)
{
  return ForEachLine([&](unsigned int i) { return a.Value[i] + b.Value[i]; });
}

inline LinePack
operator-(const LinePack & a, const LinePack & b)
{
  return ForEachLine([&](unsigned int i) { return a.Value[i] - b.Value[i]; });
}

inline LinePack
operator*(double a, const LinePack & b)
{
  return ForEachLine([&](unsigned int i) { return a * b.Value[i]; });
}

/** `value` less each of the pixels. */
template <typename TPixel>
inline TPixel
SubtractFrom(TPixel value, const TPixel & pixel)
{
  return value - pixel;
}

inline LinePack
SubtractFrom(double value, const LinePack & pixel)
{
  return ForEachLine([&](unsigned int i) { return value - pixel.Value[i]; });
}

/** A pass over lines: the results' responses of the same states. T is the coefficients' type. */
template <typename T, unsigned int VPairs>
class LineFilter
{
public:
  /** For lines of `length` pixels. With a `lookAhead`, the states with which sweeps enter a chunk follow from that many
   * chunks around it, as on the device (LineSchedule). With 0 they follow from all pixels. */
  LineFilter(const std::vector<CudaGaussianPassResult> & results,
             const CudaGaussianBoundary &                boundary,
             size_t                                      length,
             unsigned int                                lookAhead = 0)
    : m_Kernel(results.front().Kernel)
    , m_Boundary(m_Kernel, boundary, length)
    , m_LookAhead(lookAhead)
    , m_Dynamics(MakeLineDynamics<T, VPairs>(m_Kernel))
    , m_ChunkPower(this->MakePower(ChunkLength))
  {
    for (const CudaGaussianPassResult & result : results)
    {
      m_Responses.push_back(MakeLineResponse<T, VPairs>(result.Kernel));
    }
  }

  /** Result r goes to output[r * stride] and behind it. The line's first value is subtracted from `line`. */
  template <typename TPixel>
  void
  operator()(TPixel * line, TPixel * output, size_t length, size_t stride) const
  {
    const TPixel first = line[0];
    for (size_t n = 0; n < length; ++n)
    {
      line[n] = line[n] - first;
    }
    const size_t chunkLength = m_LookAhead == 0 ? length : ChunkLength;
    const auto   starts = this->GetChunkStarts(line, length, first);
    for (size_t begin = 0; begin < length; begin += chunkLength)
    {
      const size_t end = std::min(begin + chunkLength, length);
      this->FilterChunk(line, output, begin, end, stride, first, starts[begin / chunkLength]);
    }
  }

private:
  using PowerType = std::array<StateMatrix<T>, VPairs>;

  /** Of a chunk: states at its begin and, of the anticausal sweep, at its end. */
  template <typename TPixel>
  struct ChunkStates
  {
    LineState<TPixel, VPairs> Causal;
    LineState<TPixel, VPairs> Anticausal;
  };

  PowerType
  MakePower(size_t length) const
  {
    PowerType power;
    for (unsigned int j = 0; j < VPairs; ++j)
    {
      power[j] = Round<T>(MakeStatePower(m_Kernel.Pole[j], length));
    }
    return power;
  }

  template <typename TPixel>
  void
  FilterChunk(const TPixel *              line,
              TPixel *                    output,
              size_t                      begin,
              size_t                      end,
              size_t                      stride,
              const TPixel &              first,
              const ChunkStates<TPixel> & starts) const
  {
    LineState<TPixel, VPairs> causal = starts.Causal;
    for (size_t n = begin; n < end; ++n)
    {
      for (size_t r = 0; r < m_Responses.size(); ++r)
      {
        const auto & response = m_Responses[r];
        output[r * stride + n] = AddContribution(response.CentralValue * line[n], causal, response.Causal);
      }
      Advance(causal, m_Dynamics, line[n]);
    }
    LineState<TPixel, VPairs> anticausal = starts.Anticausal;
    for (size_t n = end; n-- > begin;)
    {
      for (size_t r = 0; r < m_Responses.size(); ++r)
      {
        const auto & response = m_Responses[r];
        output[r * stride + n] =
          AddContribution(output[r * stride + n] + response.OffsetResponse * first, anticausal, response.Anticausal);
      }
      Advance(anticausal, m_Dynamics, line[n]);
    }
  }

  /** The states with which both sweeps enter each chunk, or the whole line as one. */
  template <typename TPixel>
  std::vector<ChunkStates<TPixel>>
  GetChunkStarts(const TPixel * line, size_t length, const TPixel & first) const
  {
    const ChunkStates<TPixel> borders = this->GetBorderStates(line, length, first);
    if (m_LookAhead == 0)
    {
      return { borders };
    }
    const LineState<TPixel, VPairs>  before = borders.Causal;
    const LineState<TPixel, VPairs>  behind = borders.Anticausal;
    const auto                       totals = this->GetChunkTotals(line, length);
    const size_t                     chunks = totals.size();
    const PowerType                  lastPower = this->MakePower(length - (chunks - 1) * ChunkLength);
    std::vector<ChunkStates<TPixel>> starts(chunks);
    for (size_t c = 0; c < chunks; ++c)
    {
      const size_t first = c - std::min<size_t>(c, m_LookAhead);
      const size_t last = std::min<size_t>(c + m_LookAhead, chunks - 1);
      starts[c].Causal = first == 0 ? before : LineState<TPixel, VPairs>();
      for (size_t i = first; i < c; ++i)
      {
        starts[c].Causal = CombineStates(totals[i].Causal, m_ChunkPower, starts[c].Causal);
      }
      starts[c].Anticausal = last + 1 == chunks ? behind : LineState<TPixel, VPairs>();
      for (size_t i = last; i > c; --i)
      {
        const PowerType & power = i + 1 == chunks ? lastPower : m_ChunkPower;
        starts[c].Anticausal = CombineStates(totals[i].Anticausal, power, starts[c].Anticausal);
      }
    }
    return starts;
  }

  /** End states of sweeps over each chunk from zero state. */
  template <typename TPixel>
  std::vector<ChunkStates<TPixel>>
  GetChunkTotals(const TPixel * line, size_t length) const
  {
    std::vector<ChunkStates<TPixel>> totals((length + ChunkLength - 1) / ChunkLength);
    for (size_t c = 0; c < totals.size(); ++c)
    {
      const size_t begin = c * ChunkLength;
      const size_t end = std::min(begin + ChunkLength, length);
      for (size_t n = begin; n < end; ++n)
      {
        Advance(totals[c].Causal, m_Dynamics, line[n]);
      }
      for (size_t n = end; n-- > begin;)
      {
        Advance(totals[c].Anticausal, m_Dynamics, line[n]);
      }
    }
    return totals;
  }

  template <typename TPixel>
  static LineState<TPixel, VPairs>
  CombineStates(const LineState<TPixel, VPairs> & end, const PowerType & power, const LineState<TPixel, VPairs> & begin)
  {
    LineState<TPixel, VPairs> state;
    for (unsigned int j = 0; j < VPairs; ++j)
    {
      state.Pair[j] = Combine(end.Pair[j], power[j], begin.Pair[j]);
    }
    return state;
  }

  /** The states with which sweeps enter the line. `first` was subtracted from its pixels. */
  template <typename TPixel>
  ChunkStates<TPixel>
  GetBorderStates(const TPixel * line, size_t length, const TPixel & first) const
  {
    if (m_Boundary.FollowsFromLine())
    {
      const size_t        leftOut = m_Boundary.LeavesOutLastPixel() ? 1 : 0;
      ChunkStates<TPixel> ends;
      for (size_t n = 0; n + leftOut < length; ++n)
      {
        Advance(ends.Causal, m_Dynamics, line[n]);
      }
      for (size_t n = length; n-- > leftOut;)
      {
        Advance(ends.Anticausal, m_Dynamics, line[n]);
      }
      return { m_Boundary.GetStart(ends.Causal, ends.Anticausal), m_Boundary.GetStart(ends.Anticausal, ends.Causal) };
    }
    if (m_Boundary.GetMode() == CudaFiltersEnums::BoundaryMode::Constant)
    {
      const LineState<TPixel, VPairs> state = this->GetSteadyState(SubtractFrom(m_Boundary.GetValue(), first));
      return { state, state };
    }
    return { this->GetSteadyState(line[0]), this->GetSteadyState(line[length - 1]) };
  }

  template <typename TPixel>
  LineState<TPixel, VPairs>
  GetSteadyState(const TPixel & edge) const
  {
    LineState<TPixel, VPairs> state;
    for (unsigned int j = 0; j < VPairs; ++j)
    {
      state.Pair[j] = SteadyState(m_Dynamics.Section[j], edge);
    }
    return state;
  }

  const CudaGaussianImpulseResponse    m_Kernel;
  const LineBoundary<T, VPairs>        m_Boundary;
  const unsigned int                   m_LookAhead;
  LineDynamics<T, VPairs>              m_Dynamics;
  PowerType                            m_ChunkPower; // over a chunk
  std::vector<LineResponse<T, VPairs>> m_Responses;
};

/** Calls `function` with the number of pole pairs as a constant. */
template <typename TFunction>
void
VisitNumberOfPolePairs(const CudaGaussianImpulseResponse & kernel, const TFunction & function)
{
  if (kernel.NumberOfPolePairs == 3)
  {
    function(std::integral_constant<unsigned int, 3>());
  }
  else
  {
    function(std::integral_constant<unsigned int, 2>());
  }
}

/** The images of a plan for one component of the input. A result lies in the output if the output has the computed
 * type. Otherwise only the last pass's results are stored there, converted. */
class HostImages
{
public:
  HostImages(const CudaGaussianPlan & plan, CudaComponentType computeType)
    : m_Plan(plan)
    , m_ComputeType(computeType)
  {
    for (size_t i = 0; i < plan.Passes.size(); ++i)
    {
      for (const CudaGaussianPassResult & result : plan.Passes[i].Results)
      {
        m_LastWrite[result.Destination] = i;
      }
    }
  }

  /** The type of what lies between passes. */
  CudaComponentType
  GetComputeType() const
  {
    return m_ComputeType;
  }

  /** Begins with the first pass. `outputs` are the results' places. */
  void
  Begin(const CudaImageView & input, const std::vector<CudaImageView> & outputs)
  {
    m_Shape = input;
    m_Outputs = outputs;
    m_Current.assign(m_Plan.NumberOfImages, CudaImageView());
    m_Current[0] = input;
  }

  const CudaImageView &
  Get(unsigned int image) const
  {
    return m_Current[image];
  }

  /** Where a pass writes the image. */
  CudaImageView
  GetDestination(unsigned int image, size_t pass)
  {
    const auto found = std::find(m_Plan.Results.begin(), m_Plan.Results.end(), image);
    if (found != m_Plan.Results.end())
    {
      const CudaImageView & output = m_Outputs[found - m_Plan.Results.begin()];
      const bool            isComplete = m_Plan.Rotation.empty() && m_LastWrite.at(image) == pass;
      if (output.ComponentType == m_ComputeType || isComplete)
      {
        return output;
      }
    }
    return this->GetWorkImage(image);
  }

  /** The image is what was written there from now on. */
  void
  Set(unsigned int image, const CudaImageView & view)
  {
    m_Current[image] = view;
  }

  const std::vector<CudaImageView> &
  GetOutputs() const
  {
    return m_Outputs;
  }

private:
  CudaImageView
  GetWorkImage(unsigned int image)
  {
    if (m_ComputeType == CudaComponentType::Double)
    {
      return GetWorkImage(m_DoubleImages[image]);
    }
    return GetWorkImage(m_FloatImages[image]);
  }

  template <typename T>
  CudaImageView
  GetWorkImage(WorkImage<T> & image) const
  {
    if (!image.Pixels)
    {
      image.Allocate(m_Shape, m_ComputeType);
    }
    return image.View;
  }

  const CudaGaussianPlan &                  m_Plan;
  CudaComponentType                         m_ComputeType;
  std::map<unsigned int, size_t>            m_LastWrite; // pass by image
  CudaImageView                             m_Shape;
  std::vector<CudaImageView>                m_Outputs;
  std::vector<CudaImageView>                m_Current;
  std::map<unsigned int, WorkImage<float>>  m_FloatImages;
  std::map<unsigned int, WorkImage<double>> m_DoubleImages;
};

// Lines that a thread reads and writes together: a cache line of floats.
constexpr size_t LinesOfBundle = 16;
constexpr size_t GroupsOfBundle = LinesOfBundle / LinePack::Count;

/** One of the results of a pass. */
struct PassTarget
{
  CudaImageView       Old; // what the image was
  CudaImageView       New;
  CudaGaussianCombine Combine;
};

/** The place of a pixel of a bundle in its view. */
size_t
GetPosition(const LineBundle & bundle, size_t line, size_t n)
{
  return bundle.Offset + line * bundle.StrideBetweenLines + n * bundle.LineStride;
}

/** A component of a type that passes compute in. */
double
ReadReal(const CudaImageView & view, size_t position)
{
  return view.ComponentType == CudaComponentType::Double ? static_cast<const double *>(view.Data)[position]
                                                         : static_cast<const float *>(view.Data)[position];
}

/** A bundle of lines in groups of LinePack::Count, and what a pass makes of it. */
class LinePackBuffer
{
public:
  LinePackBuffer(size_t length, size_t results)
    : m_Length(length)
    , m_Input(new LinePack[GroupsOfBundle * length])
    , m_Output(new LinePack[results * GroupsOfBundle * length])
  {}

  void
  Load(const CudaImageView & view, const LineBundle & bundle)
  {
    m_Groups = (bundle.NumberOfLines + LinePack::Count - 1) / LinePack::Count;
    std::fill_n(&m_Input[(m_Groups - 1) * m_Length], m_Length, LinePack{}); // what no line fills
    VisitComponentType(view.ComponentType, [&](auto zero) {
      const auto * const pixels = static_cast<const decltype(zero) *>(view.Data);
      bundle.ForEachPixel([&](size_t line, size_t n, size_t position) {
        m_Input[this->GetIndex(line, n)].Value[line % LinePack::Count] = static_cast<double>(pixels[position]);
      });
    });
  }

  template <typename TLineFilter>
  void
  Filter(const TLineFilter & filter)
  {
    for (size_t group = 0; group < m_Groups; ++group)
    {
      filter(&m_Input[group * m_Length], &m_Output[group * m_Length], m_Length, GroupsOfBundle * m_Length);
    }
  }

  void
  Store(size_t result, const PassTarget & target, const LineBundle & from, const LineBundle & to) const
  {
    const LinePack * const values = &m_Output[result * GroupsOfBundle * m_Length];
    const bool             readsOld = ReadsDestination(target.Combine);
    VisitComponentType(target.New.ComponentType, [&](auto zero) {
      using ComponentType = decltype(zero);
      auto * const pixels = static_cast<ComponentType *>(target.New.Data);
      to.ForEachPixel([&](size_t line, size_t n, size_t position) {
        const double value = values[this->GetIndex(line, n)].Value[line % LinePack::Count];
        const double old = readsOld ? ReadReal(target.Old, GetPosition(from, line, n)) : 0.0;
        pixels[position] = ConvertComponent<ComponentType>(CombineValues(target.Combine, old, value));
      });
    });
  }

private:
  size_t
  GetIndex(size_t line, size_t n) const
  {
    return line / LinePack::Count * m_Length + n;
  }

  size_t                      m_Length;
  size_t                      m_Groups{ 0 };
  std::unique_ptr<LinePack[]> m_Input; // every pixel is written before it is read
  std::unique_ptr<LinePack[]> m_Output;
};

/** Takes the share done of a pass. */
using Report = std::function<void(float)>;

/** Calls `run(begin, end)` for parts of `count` bundles by the threads, in pieces after which progress is reported. */
template <typename TRun>
void
ForBundlesInParallel(size_t count, size_t pixels, MultiThreaderBase * threader, const Report & report, const TRun & run)
{
  constexpr size_t pixelsOfPiece = 1 << 16; // a piece costs 10 us to start
  const size_t     pieces = std::clamp<size_t>(pixels / pixelsOfPiece, 2, 10);
  // Several parts for each thread, so that none waits long for the last one.
  const size_t parts = std::min<size_t>(count, pieces * 4 * threader->GetNumberOfWorkUnits());
  for (size_t piece = 0; piece < pieces; ++piece)
  {
    threader->ParallelizeArray(
      piece * parts / pieces,
      (piece + 1) * parts / pieces,
      [&](SizeValueType part) { run(part * count / parts, (part + 1) * count / parts); },
      nullptr);
    report(static_cast<float>(piece + 1) / static_cast<float>(pieces));
  }
}

/** As on the device, which has no such chunks along the first axis, and one boundary mode. `type` is what lies between
 * passes. */
unsigned int
GetLookAhead(const CudaGaussianLinePass & pass,
             const CudaGaussianBoundary & boundary,
             size_t                       length,
             CudaComponentType            type)
{
  const CudaGaussianImpulseResponse & kernel = pass.Results.front().Kernel;
  LineProblem                         problem;
  problem.Kind = AxisKind::Strided;
  problem.Length = length;
  problem.SigmaInPixels = kernel.SigmaInPixels;
  problem.BytesPerComponent = static_cast<unsigned int>(CudaComponentSize(type));
  problem.NumberOfPolePairs = kernel.NumberOfPolePairs;
  const bool hasChunks = pass.Axis > 0 && boundary.Mode == CudaFiltersEnums::BoundaryMode::Nearest;
  return hasChunks ? GetLookAhead(problem) : 0;
}

template <unsigned int VPairs>
void
RunPass(const CudaGaussianLinePass &    pass,
        const CudaGaussianBoundary &    boundary,
        CudaComponentType               computeType,
        const CudaImageView &           source,
        const std::vector<PassTarget> & targets,
        MultiThreaderBase *             threader,
        const Report &                  report)
{
  const size_t                     length = source.Size[pass.Axis];
  const LineFilter<double, VPairs> filter(
    pass.Results, boundary, length, GetLookAhead(pass, boundary, length, computeType));
  const LineBundles bundles(source, pass.Axis, LinesOfBundle);
  ForBundlesInParallel(bundles.GetCount(), source.GetNumberOfPixels(), threader, report, [&](size_t begin, size_t end) {
    LinePackBuffer buffer(length, targets.size());
    for (size_t i = begin; i < end; ++i)
    {
      buffer.Load(source, bundles.Get(source, i));
      buffer.Filter(filter);
      for (size_t r = 0; r < targets.size(); ++r)
      {
        buffer.Store(r, targets[r], bundles.Get(targets[r].Old, i), bundles.Get(targets[r].New, i));
      }
    }
  });
}

/** Multiplies the vector of the results at every pixel by the plan's matrix. */
void
Rotate(const CudaGaussianPlan & plan, const HostImages & images, MultiThreaderBase * threader, const Report & report)
{
  const std::vector<CudaImageView> & outputs = images.GetOutputs();
  const size_t                       dimension = outputs.size();
  const LineBundles                  bundles(outputs.front(), 0, 1);
  const auto                         rotateLine = [&](size_t line) {
    std::vector<LineBundle> from, to;
    for (size_t k = 0; k < dimension; ++k)
    {
      from.push_back(bundles.Get(images.Get(plan.Results[k]), line));
      to.push_back(bundles.Get(outputs[k], line));
    }
    double vector[CudaImageView::MaximumDimension] = {};
    for (size_t n = 0; n < from.front().Length; ++n)
    {
      for (size_t k = 0; k < dimension; ++k)
      {
        vector[k] = ReadReal(images.Get(plan.Results[k]), GetPosition(from[k], 0, n));
      }
      for (size_t i = 0; i < dimension; ++i)
      {
        const double value = MultiplyRow(&plan.Rotation[i * dimension], static_cast<unsigned int>(dimension), vector);
        VisitComponentType(outputs[i].ComponentType, [&](auto zero) {
          using ComponentType = decltype(zero);
          static_cast<ComponentType *>(outputs[i].Data)[GetPosition(to[i], 0, n)] =
            ConvertComponent<ComponentType>(value);
        });
      }
    }
  };
  ForBundlesInParallel(
    bundles.GetCount(), outputs.front().GetNumberOfPixels(), threader, report, [&](size_t begin, size_t end) {
      for (size_t line = begin; line < end; ++line)
      {
        rotateLine(line);
      }
    });
}

/** All passes over one component of the input. `report` takes the share of a step that is done. */
void
RunPlan(const CudaGaussianPlan &                             plan,
        HostImages &                                         images,
        MultiThreaderBase *                                  threader,
        const std::function<void(size_t step, float done)> & report)
{
  for (size_t i = 0; i < plan.Passes.size(); ++i)
  {
    const CudaGaussianLinePass & pass = plan.Passes[i];
    std::vector<PassTarget>      targets;
    for (const CudaGaussianPassResult & result : pass.Results)
    {
      targets.push_back(
        { images.Get(result.Destination), images.GetDestination(result.Destination, i), result.Combine });
    }
    VisitNumberOfPolePairs(pass.Results.front().Kernel, [&](auto pairs) {
      RunPass<decltype(pairs)::value>(
        pass, plan.Boundary, images.GetComputeType(), images.Get(pass.Source), targets, threader, [&](float done) {
          report(i, done);
        });
    });
    for (size_t r = 0; r < targets.size(); ++r)
    {
      images.Set(pass.Results[r].Destination, targets[r].New);
    }
  }
  if (!plan.Rotation.empty())
  {
    Rotate(plan, images, threader, [&](float done) { report(plan.Passes.size(), done); });
  }
}

CudaImageView
GetComponent(CudaImageView view, size_t component)
{
  view.Data = static_cast<unsigned char *>(view.Data) + component * CudaComponentSize(view.ComponentType);
  view.NumberOfComponents = 1;
  return view;
}
} // namespace

template <typename T>
void
FilterLine(const CudaGaussianImpulseResponse & kernel,
           const T *                           input,
           T *                                 output,
           size_t                              length,
           const CudaGaussianBoundary &        boundary)
{
  if (length == 0)
  {
    return;
  }
  std::vector<T> line(input, input + length);
  VisitNumberOfPolePairs(kernel, [&](auto pairs) {
    const LineFilter<T, decltype(pairs)::value> filter({ { kernel, 1, CudaGaussianCombine::Store } }, boundary, length);
    filter(line.data(), output, length, length);
  });
}

template CudaFilters_EXPORT void
FilterLine(const CudaGaussianImpulseResponse &, const float *, float *, size_t, const CudaGaussianBoundary &);
template CudaFilters_EXPORT void
FilterLine(const CudaGaussianImpulseResponse &, const double *, double *, size_t, const CudaGaussianBoundary &);
} // namespace itk::cuda::gaussian

namespace itk::CudaDetail
{
void
RunGaussianPlanOnHost(const CudaGaussianPlan &     plan,
                      const CudaImageView &        input,
                      const CudaImageView &        output,
                      MultiThreaderBase *          threader,
                      const CudaProgressFunction & progress)
{
  using namespace cuda::gaussian;
  const size_t results = plan.Results.size();
  CudaVerifyComponents(input.NumberOfComponents, results, output.NumberOfComponents);
  const size_t steps = plan.Passes.size() + (plan.Rotation.empty() ? 0 : 1);
  HostImages   images(plan, cuda::GetComputeType(input, output));
  for (size_t component = 0; component < input.NumberOfComponents; ++component)
  {
    std::vector<CudaImageView> outputs;
    for (size_t r = 0; r < results; ++r)
    {
      outputs.push_back(GetComponent(output, component * results + r));
    }
    images.Begin(GetComponent(input, component), outputs);
    RunPlan(plan, images, threader, [&](size_t step, float done) {
      if (progress)
      {
        progress((static_cast<float>(component * steps + step) + done) /
                 static_cast<float>(input.NumberOfComponents * steps));
      }
    });
  }
}
} // end namespace itk::CudaDetail

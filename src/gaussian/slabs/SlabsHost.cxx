// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Components.h"
#include "gaussian/host/HostPlan.h"
#include "gaussian/slabs/Slabs.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

// Runs a plan in slabs on the host, chunk by chunk: first the passes along the last axis, across slabs (HostSlabPass),
// then the passes within planes.

namespace itk::cuda::gaussian
{
namespace
{
/** A pass across slabs, over one component. Chunks are given in order, each together with the image's first plane. */
class HostSlabPass
{
public:
  virtual ~HostSlabPass() = default;

  /** Computes and keeps the end states of a chunk's lines. */
  virtual void
  ComputeEndStates(size_t                chunk,
                   const CudaImageView & pixels,
                   const CudaImageView & first,
                   MultiThreaderBase *   threader) = 0;

  /** Replaces the end states of all chunks by their start states, if the pass needs all chunks. ComputeEndStates() must
   * have been called for all chunks. */
  virtual void
  ConvertToStartStates() = 0;

  virtual void
  Filter(size_t                          chunk,
         const CudaImageView &           pixels,
         const CudaImageView &           first,
         const std::vector<PassTarget> & targets,
         MultiThreaderBase *             threader) const = 0;

  /** Releases the end states of the chunks before this one. */
  virtual void
  ReleaseBefore(size_t chunk) = 0;

  virtual std::vector<unsigned char>
  GetStates() const = 0;
  virtual void
  SetStates(const std::vector<unsigned char> & states) = 0;
};

template <unsigned int VPairs>
class TypedHostSlabPass : public HostSlabPass
{
public:
  using StatesType = ChunkStates<LinePack, VPairs>;

  TypedHostSlabPass(const CudaGaussianLinePass & pass, size_t length, const LineChunks & chunks)
    : m_Axis(pass.Axis)
    , m_NumberOfResults(pass.Results.size())
    , m_NeedsAllChunks(chunks.LookAhead == 0)
    , m_Filter(pass.Results, {}, length, chunks)
  {}

  void
  ComputeEndStates(size_t                chunk,
                   const CudaImageView & pixels,
                   const CudaImageView & first,
                   MultiThreaderBase *   threader) override
  {
    const bool                isLast = chunk + 1 == m_Filter.GetNumberOfChunks();
    const size_t              packs = LineBundles(pixels, m_Axis, LinesPerBundle).GetCount() * PacksPerBundle;
    std::vector<StatesType> & endStates = m_States[chunk];
    endStates.resize(packs);
    m_Behind.resize(isLast ? packs : 0);
    this->ForEachGroup(
      pixels, first, 0, threader, [&](size_t pack, const LinePack &, LinePack * line, LinePack *, size_t length) {
        endStates[pack] = m_Filter.GetEndStates(line, length);
        if (isLast)
        {
          m_Behind[pack] = m_Filter.GetSteadyStates(LinePack{}, line[length - 1]);
        }
      });
  }

  void
  ConvertToStartStates() override
  {
    if (!m_NeedsAllChunks)
    {
      return;
    }
    for (size_t pack = 0; pack < m_Behind.size(); ++pack)
    {
      m_Filter.ConvertToStartStates(m_Behind[pack],
                                    [&](size_t chunk) -> StatesType & { return m_States.at(chunk)[pack]; });
    }
  }

  void
  Filter(size_t                          chunk,
         const CudaImageView &           pixels,
         const CudaImageView &           first,
         const std::vector<PassTarget> & targets,
         MultiThreaderBase *             threader) const override
  {
    const LineBundles bundles(pixels, m_Axis, LinesPerBundle);
    const auto        filter =
      [&](size_t pack, const LinePack & firstPixel, LinePack * line, LinePack * output, size_t length) {
        m_Filter.FilterChunk(line, output, length, PacksPerBundle * length, firstPixel, this->GetStart(chunk, pack));
      };
    const auto store = [&](size_t bundle, const LinePackBuffer & buffer) {
      for (size_t r = 0; r < targets.size(); ++r)
      {
        const LineBundle to = bundles.Get(targets[r].New, bundle);
        buffer.Store(r, targets[r], to, to);
      }
    };
    this->ForEachGroup(pixels, first, m_NumberOfResults, threader, filter, store);
  }

  void
  ReleaseBefore(size_t chunk) override
  {
    m_States.erase(m_States.begin(), m_States.lower_bound(chunk));
  }

  std::vector<unsigned char>
  GetStates() const override
  {
    std::vector<unsigned char> bytes;
    for (const auto & [chunk, states] : m_States)
    {
      const auto * const begin = reinterpret_cast<const unsigned char *>(states.data());
      bytes.insert(bytes.end(), begin, begin + states.size() * sizeof(StatesType));
    }
    const auto * const behind = reinterpret_cast<const unsigned char *>(m_Behind.data());
    bytes.insert(bytes.end(), behind, behind + m_Behind.size() * sizeof(StatesType));
    return bytes;
  }

  void
  SetStates(const std::vector<unsigned char> & bytes) override
  {
    const size_t sets = m_Filter.GetNumberOfChunks() + 1;
    const size_t packs = bytes.size() / sizeof(StatesType) / sets;
    const auto   copy = [&](std::vector<StatesType> & states, size_t set) {
      states.resize(packs);
      std::memcpy(states.data(), &bytes[set * packs * sizeof(StatesType)], packs * sizeof(StatesType));
    };
    for (size_t chunk = 0; chunk + 1 < sets; ++chunk)
    {
      copy(m_States[chunk], chunk);
    }
    copy(m_Behind, sets - 1);
  }

private:
  /** Calls f(pack, first pixels, pixels less the first, output buffer, pixels of a line) for the packs of all
   * bundles, and done(bundle, buffer) after each bundle. */
  template <typename TFunction, typename TDone>
  void
  ForEachGroup(const CudaImageView & pixels,
               const CudaImageView & first,
               size_t                results,
               MultiThreaderBase *   threader,
               const TFunction &     f,
               const TDone &         done) const
  {
    const size_t      length = pixels.Size[m_Axis];
    const LineBundles bundles(pixels, m_Axis, LinesPerBundle);
    const LineBundles firstBundles(first, m_Axis, LinesPerBundle);
    const auto        run = [&](size_t begin, size_t end) {
      LinePackBuffer buffer(length, results);
      LinePackBuffer firstBuffer(1, 0);
      for (size_t i = begin; i < end; ++i)
      {
        buffer.Load(pixels, bundles.Get(pixels, i));
        firstBuffer.Load(first, firstBundles.Get(first, i));
        size_t pack = 0;
        buffer.Filter([&](LinePack * line, LinePack * output, size_t, size_t) {
          const LinePack & firstPixel = *firstBuffer.GetInput(pack);
          m_Filter.Subtract(firstPixel, line, length);
          f(i * PacksPerBundle + pack, firstPixel, line, output, length);
          ++pack;
        });
        done(i, buffer);
      }
    };
    ParallelForBundles(
      bundles.GetCount(), pixels.GetNumberOfPixels(), threader, [](float) {}, run);
  }

  template <typename TFunction>
  void
  ForEachGroup(const CudaImageView & pixels,
               const CudaImageView & first,
               size_t                results,
               MultiThreaderBase *   threader,
               const TFunction &     f) const
  {
    this->ForEachGroup(pixels, first, results, threader, f, [](size_t, const LinePackBuffer &) {});
  }

  StatesType
  GetStart(size_t chunk, size_t pack) const
  {
    if (m_NeedsAllChunks && m_Filter.GetNumberOfChunks() > 1)
    {
      return m_States.at(chunk)[pack];
    }
    const StatesType edges = m_Behind.empty() ? StatesType{} : m_Behind[pack];
    return m_Filter.GetWindowedStart(
      chunk, edges, [&](size_t i) -> const StatesType & { return m_States.at(i)[pack]; });
  }

  const unsigned int               m_Axis;
  const size_t                     m_NumberOfResults;
  const bool                       m_NeedsAllChunks;
  const LineFilter<double, VPairs> m_Filter;
  std::map<size_t, std::vector<StatesType>>
                          m_States; // by chunk: end states, or start states after ConvertToStartStates()
  std::vector<StatesType> m_Behind; // states with which sweeps enter the lines; known after the last chunk
};

/** Number of pixels of the planes that the passes within planes process at a time. */
constexpr size_t PixelsOfPiece = size_t{ 1 } << 22;

class HostSlabs
{
public:
  HostSlabs(const CudaGaussianPlan &     plan,
            const SlabEndpoints &        endpoints,
            const CudaSlabOptions &      options,
            const CudaProgressFunction & progress)
    : m_Plan(plan)
    , m_Endpoints(endpoints)
    , m_Progress(progress)
    , m_Geometry(MakeSlabGeometry(plan, endpoints.Input, endpoints.Output, options))
    , m_Axis(m_Geometry.Shape.Axis)
    , m_ComputeType(cuda::GetComputeType(endpoints.Input, endpoints.Output))
    , m_Threader(options.Threader ? MultiThreaderBase::Pointer(options.Threader) : MultiThreaderBase::New())
    , m_States(options.States)
  {
    this->MakePasses();
  }

  CudaSlabReport
  Run()
  {
    const bool   hasStates = m_States && m_States->ComputedOn == CudaSlabStates::Host;
    const bool   sweepsFirst = m_Geometry.Shape.NeedsAllChunks && !(hasStates && !m_States->Starts.empty());
    const size_t slabs = m_Geometry.GetLoadEnd() - m_Geometry.GetLoadBegin();
    m_Steps = (sweepsFirst ? m_Geometry.Shape.NumberOfChunks : 0) + slabs + m_Geometry.EndChunk - m_Geometry.FirstChunk;
    if (hasStates)
    {
      m_FirstPlane = m_States->FirstPlane;
    }
    if (sweepsFirst)
    {
      this->Sweep();
    }
    else if (m_Geometry.Shape.NeedsAllChunks)
    {
      for (size_t i = 0; i < m_Passes.size(); ++i)
      {
        m_Passes[i]->SetStates(m_States->Starts[i]);
      }
    }
    this->FilterSlabs();
    CudaSlabReport report;
    report.Used = m_Geometry.Shape.NeedsAllChunks ? CudaSlabReport::TwoSweeps : CudaSlabReport::OneSweep;
    report.OnHost = true;
    report.NumberOfSlabs = m_Geometry.GetNumberOfSlabs();
    report.ChunksPerSlab = m_Geometry.ChunksPerSlab;
    report.LookAhead = m_Geometry.Shape.LookAhead;
    report.BytesUp = m_BytesIn;
    report.BytesDown = m_BytesOut;
    return report;
  }

private:
  /** The result of a pass across slabs for one chunk. */
  struct PassPixels
  {
    std::unique_ptr<unsigned char[]> Memory;
    CudaImageView                    View;
  };

  size_t
  GetNumberOfSlabPasses() const
  {
    return m_Passes.size() / m_Endpoints.Input.NumberOfComponents;
  }

  void
  MakePasses()
  {
    for (size_t component = 0; component < m_Endpoints.Input.NumberOfComponents; ++component)
    {
      for (const CudaGaussianLinePass & pass : m_Plan.Passes)
      {
        if (!IsSlabPass(pass, m_Geometry.Shape))
        {
          continue;
        }
        const size_t     length = m_Geometry.Shape.NumberOfPlanes;
        const LineChunks chunks = GetLineChunks(pass, {}, length, m_ComputeType);
        VisitNumberOfPolePairs(pass.Results.front().Kernel, [&](auto pairs) {
          m_Passes.push_back(std::make_unique<TypedHostSlabPass<decltype(pairs)::value>>(pass, length, chunks));
        });
      }
    }
  }

  void
  CountStep()
  {
    ++m_StepsDone;
    if (m_Progress)
    {
      m_Progress(static_cast<float>(m_StepsDone) / static_cast<float>(m_Steps));
    }
  }

  std::unique_ptr<unsigned char[]>
  Read(size_t firstPlane, size_t planes)
  {
    std::unique_ptr<unsigned char[]> pixels(new unsigned char[planes * m_Geometry.BytesOfInputPlane]);
    m_Endpoints.Source(firstPlane, planes, pixels.get());
    m_BytesIn += planes * m_Geometry.BytesOfInputPlane;
    return pixels;
  }

  /** Reads a chunk. Before the first chunk, reads plane 0 if the chunk does not contain it. */
  std::unique_ptr<unsigned char[]>
  ReadChunk(size_t chunk)
  {
    if (m_FirstPlane.empty() && chunk > 0)
    {
      this->KeepFirstPlane(this->Read(0, 1).get());
    }
    auto pixels = this->Read(m_Geometry.GetFirstPlane(chunk), m_Geometry.GetNumberOfPlanes(chunk, chunk + 1));
    if (m_FirstPlane.empty())
    {
      this->KeepFirstPlane(pixels.get());
    }
    return pixels;
  }

  void
  KeepFirstPlane(const unsigned char * pixels)
  {
    m_FirstPlane.assign(pixels, pixels + m_Geometry.BytesOfInputPlane);
    if (m_States)
    {
      m_States->ComputedOn = CudaSlabStates::Host;
      m_States->FirstPlane = m_FirstPlane;
      m_States->Starts.clear(); // removes the states that a device computed
    }
  }

  CudaImageView
  GetChunk(size_t chunk, unsigned char * pixels) const
  {
    return ViewAdjacent(Slice(m_Endpoints.Input, m_Axis, 0, m_Geometry.GetNumberOfPlanes(chunk, chunk + 1)), pixels);
  }

  CudaImageView
  GetFirstPlane()
  {
    return ViewAdjacent(Slice(m_Endpoints.Input, m_Axis, 0, 1), m_FirstPlane.data());
  }

  void
  ComputeEndStates(size_t chunk, unsigned char * pixels)
  {
    const size_t passes = this->GetNumberOfSlabPasses();
    for (size_t i = 0; i < m_Passes.size(); ++i)
    {
      m_Passes[i]->ComputeEndStates(chunk,
                                    GetComponent(this->GetChunk(chunk, pixels), i / passes),
                                    GetComponent(this->GetFirstPlane(), i / passes),
                                    m_Threader);
    }
  }

  void
  Sweep()
  {
    for (size_t chunk = 0; chunk < m_Geometry.Shape.NumberOfChunks; ++chunk)
    {
      const auto pixels = this->ReadChunk(chunk);
      this->ComputeEndStates(chunk, pixels.get());
      this->CountStep();
    }
    std::vector<std::vector<unsigned char>> starts;
    for (const auto & pass : m_Passes)
    {
      pass->ConvertToStartStates();
      if (m_States)
      {
        starts.push_back(pass->GetStates());
      }
    }
    if (m_States)
    {
      m_States->Starts = std::move(starts);
    }
  }

  void
  FilterSlabs()
  {
    size_t next = m_Geometry.GetLoadBegin();
    for (size_t begin = m_Geometry.FirstChunk; begin < m_Geometry.EndChunk; begin += m_Geometry.ChunksPerSlab)
    {
      const size_t end = std::min(begin + m_Geometry.ChunksPerSlab, m_Geometry.EndChunk);
      const size_t ahead = m_Geometry.Shape.NeedsAllChunks ? 0 : m_Geometry.Shape.LookAhead;
      for (; next < std::min(end + ahead, m_Geometry.GetLoadEnd()); ++next)
      {
        auto pixels = this->ReadChunk(next);
        if (!m_Geometry.Shape.NeedsAllChunks)
        {
          this->ComputeEndStates(next, pixels.get());
        }
        if (next >= begin)
        {
          m_Chunks[next] = std::move(pixels);
        }
        this->CountStep();
      }
      for (size_t chunk = begin; chunk < end; ++chunk)
      {
        this->FilterChunk(chunk);
        m_Chunks.erase(chunk);
        if (!m_Geometry.Shape.NeedsAllChunks)
        {
          for (const auto & pass : m_Passes)
          {
            pass->ReleaseBefore(chunk + 1 - std::min<size_t>(chunk + 1, m_Geometry.Shape.LookAhead));
          }
        }
        this->CountStep();
      }
    }
  }

  /** Returns whether the pass writes the final values of this image, so that only the conversion to the output follows.
   */
  bool
  IsComplete(unsigned int image, size_t pass) const
  {
    return std::count(m_Plan.Results.begin(), m_Plan.Results.end(), image) > 0 &&
           HostImages(m_Plan, m_ComputeType).IsComplete(image, pass);
  }

  /** Computes the results of the passes across slabs for one chunk, in the order of components and passes. */
  std::vector<PassPixels>
  FilterAcross(size_t chunk)
  {
    const CudaImageView     pixels = this->GetChunk(chunk, m_Chunks.at(chunk).get());
    std::vector<PassPixels> results;
    size_t                  index = 0;
    for (size_t component = 0; component < m_Endpoints.Input.NumberOfComponents; ++component)
    {
      for (size_t i = 0; i < m_Plan.Passes.size(); ++i)
      {
        const CudaGaussianLinePass & pass = m_Plan.Passes[i];
        if (!IsSlabPass(pass, m_Geometry.Shape))
        {
          continue;
        }
        std::vector<PassTarget> targets;
        for (const CudaGaussianPassResult & result : pass.Results)
        {
          CudaImageView shape = GetComponent(pixels, component);
          shape.ComponentType =
            this->IsComplete(result.Destination, i) ? m_Endpoints.Output.ComponentType : m_ComputeType;
          PassPixels made;
          made.Memory.reset(new unsigned char[shape.GetNumberOfBytes()]);
          made.View = ViewAdjacent(shape, made.Memory.get());
          targets.push_back({ made.View, made.View, CudaGaussianCombine::Store });
          results.push_back(std::move(made));
        }
        m_Passes[index++]->Filter(
          chunk, GetComponent(pixels, component), GetComponent(this->GetFirstPlane(), component), targets, m_Threader);
      }
    }
    return results;
  }

  void
  FilterChunk(size_t chunk)
  {
    const std::vector<PassPixels> across = this->FilterAcross(chunk);
    const CudaImageView           pixels = this->GetChunk(chunk, m_Chunks.at(chunk).get());
    const size_t                  planes = pixels.Size[m_Axis];
    const size_t                  pixelsOfPlane = std::max<size_t>(1, pixels.GetNumberOfPixels() / planes);
    const size_t piece = m_Axis == 0 ? planes : std::clamp<size_t>(PixelsOfPiece / pixelsOfPlane, 1, planes);
    std::unique_ptr<unsigned char[]> output(new unsigned char[piece * m_Geometry.BytesOfOutputPlane]);
    std::unique_ptr<HostImages>      images;
    for (size_t first = 0; first < planes; first += piece)
    {
      const size_t        count = std::min(piece, planes - first);
      const CudaImageView part = ViewAdjacent(Slice(m_Endpoints.Output, m_Axis, 0, count), output.get());
      if (!images || count != piece)
      {
        images = std::make_unique<HostImages>(m_Plan, m_ComputeType); // the work images of HostImages have one size
      }
      this->FilterWithin(Slice(pixels, m_Axis, first, count), across, first, *images, part);
      m_Endpoints.Sink(m_Geometry.GetFirstPlane(chunk) + first, count, output.get());
      m_BytesOut += count * m_Geometry.BytesOfOutputPlane;
    }
  }

  /** Runs the passes within planes, and the rotation, over planes of a chunk from `first` on. */
  void
  FilterWithin(const CudaImageView &           pixels,
               const std::vector<PassPixels> & across,
               size_t                          first,
               HostImages &                    images,
               const CudaImageView &           output)
  {
    const CudaProgressFunction silent = [](float) {};
    auto                       result = across.begin();
    for (size_t component = 0; component < m_Endpoints.Input.NumberOfComponents; ++component)
    {
      std::vector<CudaImageView> outputs;
      for (size_t r = 0; r < m_Plan.Results.size(); ++r)
      {
        outputs.push_back(GetComponent(output, component * m_Plan.Results.size() + r));
      }
      images.Begin(GetComponent(pixels, component), outputs);
      for (size_t i = 0; i < m_Plan.Passes.size(); ++i)
      {
        const CudaGaussianLinePass & pass = m_Plan.Passes[i];
        if (!IsSlabPass(pass, m_Geometry.Shape))
        {
          RunHostPass(m_Plan, i, images, m_Threader, silent);
          continue;
        }
        for (const CudaGaussianPassResult & made : pass.Results)
        {
          const CudaImageView view = Slice((result++)->View, m_Axis, first, pixels.Size[m_Axis]);
          images.Set(made.Destination,
                     this->IsComplete(made.Destination, i) ? this->CopyToOutput(view, images, made.Destination, i)
                                                           : view);
        }
      }
      if (!m_Plan.Rotation.empty())
      {
        RotateResults(m_Plan, images, m_Threader, silent);
      }
    }
  }

  /** Copies a result that has its final values, in the output's type, to the output. */
  CudaImageView
  CopyToOutput(const CudaImageView & view, HostImages & images, unsigned int image, size_t pass) const
  {
    const CudaImageView output = images.GetDestination(image, pass);
    VisitComponentType(view.ComponentType, [&](auto zero) {
      const auto copy = [from = static_cast<const decltype(zero) *>(view.Data),
                         to = static_cast<decltype(zero) *>(output.Data)](size_t position, size_t inOutput) {
        to[inOutput] = from[position];
      };
      ForEachPixel(m_Threader, copy, view, output);
    });
    return output;
  }

  const CudaGaussianPlan &     m_Plan;
  const SlabEndpoints &        m_Endpoints;
  const CudaProgressFunction & m_Progress;
  const SlabGeometry           m_Geometry;
  const unsigned int           m_Axis;
  const CudaComponentType      m_ComputeType;

  const MultiThreaderBase::Pointer      m_Threader;
  const std::shared_ptr<CudaSlabStates> m_States;

  std::vector<std::unique_ptr<HostSlabPass>>         m_Passes; // ordered by component and pass
  std::vector<unsigned char>                         m_FirstPlane;
  std::map<size_t, std::unique_ptr<unsigned char[]>> m_Chunks; // chunks that are still to be filtered, by number
  size_t                                             m_Steps{ 0 };
  size_t                                             m_StepsDone{ 0 };
  uint64_t                                           m_BytesIn{ 0 };
  uint64_t                                           m_BytesOut{ 0 };
};
} // namespace

CudaSlabReport
RunGaussianSlabsOnHost(const CudaGaussianPlan &     plan,
                       const SlabEndpoints &        endpoints,
                       const CudaSlabOptions &      options,
                       const CudaProgressFunction & progress)
{
  return HostSlabs(plan, endpoints, options, progress).Run();
}
} // namespace itk::cuda::gaussian

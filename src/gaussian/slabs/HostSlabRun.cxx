// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Components.h"
#include "gaussian/host/HostPlan.h"
#include "gaussian/slabs/GaussianSlabRun.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <type_traits>
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

  /** Appends the states of chunks, and those of the ends of lines if they are known, to bytes. */
  virtual void
  GetBytes(const ChunkRange & chunks, CudaSlabStates::StateBytes & bytes) const = 0;

  /** Sets the states of chunks of `packs` packs of lines from the bytes from `piece` on. */
  virtual void
  SetBytes(const ChunkRange & chunks, size_t packs, const CudaSlabStates::StateBytes & bytes, size_t piece) = 0;
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
    const size_t              packs = LineBundles(pixels, m_Axis, LinePack::Count).GetCount();
    std::vector<StatesType> & endStates = m_States[chunk];
    endStates.resize(packs);
    m_Behind.resize(isLast ? packs : 0);
    const auto compute = [&](size_t pack, const LinePack &, const LinePackBuffer & buffer, size_t length) {
      const LinePack * const line = buffer.GetInput();
      endStates[pack] = m_Filter.GetEndStates(line, length);
      if (isLast)
      {
        m_Behind[pack] = m_Filter.GetSteadyStates(LinePack{}, line[length - 1]);
      }
    };
    this->ForEachPack(pixels, first, 0, threader, compute);
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
    const LineBundles bundles(pixels, m_Axis, LinePack::Count);
    const auto filter = [&](size_t pack, const LinePack & firstPixel, const LinePackBuffer & buffer, size_t length) {
      m_Filter.FilterChunk(
        buffer.GetInput(), buffer.GetOutput(), length, length, firstPixel, this->GetStart(chunk, pack));
      for (size_t r = 0; r < targets.size(); ++r)
      {
        const LineBundle to = bundles.Get(targets[r].New, pack);
        buffer.Store(r, targets[r], to, to);
      }
    };
    this->ForEachPack(pixels, first, m_NumberOfResults, threader, filter);
  }

  void
  ReleaseBefore(size_t chunk) override
  {
    m_States.erase(m_States.begin(), m_States.lower_bound(chunk));
  }

  void
  GetBytes(const ChunkRange & chunks, CudaSlabStates::StateBytes & bytes) const override
  {
    bytes.resize(bytes.size() + 2);
    for (size_t chunk = chunks.Begin; chunk < chunks.End; ++chunk)
    {
      Append(bytes[bytes.size() - 2], m_States.at(chunk));
    }
    Append(bytes.back(), m_Behind);
  }

  void
  SetBytes(const ChunkRange & chunks, size_t packs, const CudaSlabStates::StateBytes & bytes, size_t piece) override
  {
    const size_t size = packs * sizeof(StatesType);
    VerifyBytesOfStates(bytes, piece, (chunks.End - chunks.Begin) * size);
    for (size_t chunk = chunks.Begin; chunk < chunks.End; ++chunk)
    {
      Set(m_States[chunk], &bytes[piece][(chunk - chunks.Begin) * size], packs);
    }
    VerifyBytesOfStates(bytes, piece + 1, size);
    Set(m_Behind, bytes[piece + 1].data(), packs);
  }

private:
  static void
  Append(std::vector<unsigned char> & bytes, const std::vector<StatesType> & states)
  {
    static_assert(std::is_trivially_copyable_v<StatesType>);
    const auto * const begin = reinterpret_cast<const unsigned char *>(states.data());
    bytes.insert(bytes.end(), begin, begin + states.size() * sizeof(StatesType));
  }

  static void
  Set(std::vector<StatesType> & states, const unsigned char * bytes, size_t packs)
  {
    states.resize(packs);
    std::memcpy(states.data(), bytes, packs * sizeof(StatesType));
  }

  /** Calls f(pack, first pixels, buffer, pixels of a line) for all packs, with the pixels less the first in the buffer.
   */
  template <typename TFunction>
  void
  ForEachPack(const CudaImageView & pixels,
              const CudaImageView & first,
              size_t                results,
              MultiThreaderBase *   threader,
              const TFunction &     f) const
  {
    const size_t      length = pixels.Size[m_Axis];
    const LineBundles bundles(pixels, m_Axis, LinePack::Count);
    const LineBundles firstBundles(first, m_Axis, LinePack::Count);
    const auto        run = [&](size_t begin, size_t end) {
      LinePackBuffer buffer(length, results);
      LinePackBuffer firstBuffer(1, 0);
      for (size_t i = begin; i < end; ++i)
      {
        buffer.Load(pixels, bundles.Get(pixels, i));
        firstBuffer.Load(first, firstBundles.Get(first, i));
        const LinePack & firstPixel = *firstBuffer.GetInput();
        m_Filter.Subtract(firstPixel, buffer.GetInput(), length);
        f(i, firstPixel, buffer, length);
      }
    };
    ParallelForBundles(
      bundles.GetCount(), pixels.GetNumberOfPixels(), threader, [](float) {}, run);
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

/** A run whose slabs are single chunks. */
class HostSlabRun : public GaussianSlabRun
{
public:
  explicit HostSlabRun(const SlabRunArguments & arguments)
    : GaussianSlabRun(arguments, CudaSlabStates::Host)
    , m_Threader(arguments.Options.Threader ? MultiThreaderBase::Pointer(arguments.Options.Threader)
                                            : MultiThreaderBase::New())
  {
    this->Cut(1);
    this->MakePasses();
  }

  CudaSlabReport
  GetReport() const override
  {
    CudaSlabReport report = GaussianSlabRun::GetReport();
    report.OnHost = true;
    report.BytesUp = this->GetBytesOfSource();
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

  /** The passes across slabs, ordered by component and pass, with the states of their chunks. */
  using Passes = std::vector<std::unique_ptr<HostSlabPass>>;

  size_t
  GetNumberOfSlabPasses() const
  {
    return m_Passes->size() / this->GetNumberOfComponents();
  }

  void
  MakePasses()
  {
    for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
    {
      for (const CudaGaussianLinePass & pass : m_Plan.Passes)
      {
        if (!IsSlabPass(pass, m_Geometry.Shape))
        {
          continue;
        }
        const size_t     length = m_Geometry.Shape.NumberOfPlanes;
        const LineChunks chunks = GetLineChunks(pass, {}, length, m_Type);
        VisitNumberOfPolePairs(pass.Results.front().Kernel, [&](auto pairs) {
          m_Passes->push_back(std::make_unique<TypedHostSlabPass<decltype(pairs)::value>>(pass, length, chunks));
        });
      }
    }
  }

  void
  KeepFirstPlane(const CudaImageView & plane) override
  {
    const auto * const begin = static_cast<const unsigned char *>(plane.Data);
    m_FirstPlane.assign(begin, begin + m_Geometry.BytesOfInputPlane);
  }

  void
  StartSlabs(const CudaProgressFunction & progress) override
  {
    m_NumberOfSlabsRead = m_NextSlab = m_NextPlane = m_PlanesMoved = m_PlanesReported = m_PlanesToMove = 0;
    m_ProgressOfSlabs = progress;
    for (const InputSlab & slab : this->GetCut().Slabs)
    {
      m_PlanesToMove += slab.NumberOfPlanes * (slab.HasResult ? 2 : 1);
    }
  }

  SlabPlanes
  NextOfSlabs() override
  {
    const std::vector<InputSlab> & slabs = this->GetCut().Slabs;
    for (;;)
    {
      if (m_PlanesReported < m_PlanesMoved)
      {
        m_PlanesReported = m_PlanesMoved;
        m_ProgressOfSlabs(static_cast<float>(m_PlanesMoved) / static_cast<float>(m_PlanesToMove));
      }
      while (m_NextSlab < slabs.size() && !slabs[m_NextSlab].HasResult)
      {
        ++m_NextSlab;
      }
      if (m_NextSlab < slabs.size() && slabs[m_NextSlab].LastRequiredSlab < m_NumberOfSlabsRead)
      {
        return this->FilterPiece(slabs[m_NextSlab], this->GetCut().Chunks[m_NextSlab].Begin);
      }
      if (m_NumberOfSlabsRead == slabs.size())
      {
        return {};
      }
      this->ReadSlab(slabs[m_NumberOfSlabsRead], this->GetCut().Chunks[m_NumberOfSlabsRead].Begin);
      ++m_NumberOfSlabsRead;
    }
  }

  void
  ReadSlab(const InputSlab & slab, size_t chunk)
  {
    std::unique_ptr<unsigned char[]> pixels(new unsigned char[slab.NumberOfPlanes * m_Geometry.BytesOfInputPlane]);
    m_Endpoints.Source(slab.FirstPlane, slab.NumberOfPlanes, pixels.get());
    if (m_FirstPlane.empty())
    {
      m_FirstPlane.assign(pixels.get(), pixels.get() + m_Geometry.BytesOfInputPlane);
    }
    if (this->NeedsEndStates())
    {
      this->ComputeEndStates(chunk, pixels.get());
    }
    if (slab.HasResult)
    {
      m_Chunks[chunk] = std::move(pixels);
    }
    m_PlanesMoved += slab.NumberOfPlanes;
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
    for (size_t i = 0; i < m_Passes->size(); ++i)
    {
      (*m_Passes)[i]->ComputeEndStates(chunk,
                                       GetComponent(this->GetChunk(chunk, pixels), i / passes),
                                       GetComponent(this->GetFirstPlane(), i / passes),
                                       m_Threader);
    }
  }

  void
  ConvertToStartStates() override
  {
    for (const auto & pass : *m_Passes)
    {
      pass->ConvertToStartStates();
    }
  }

  std::shared_ptr<void>
  GetStartStates() override
  {
    return m_Passes;
  }

  void
  SetStartStates(const std::shared_ptr<void> & starts) override
  {
    m_Passes = std::static_pointer_cast<Passes>(starts);
  }

  ChunkRange
  GetSweptChunks() const
  {
    return { m_SweepCut.Chunks.front().Begin, m_SweepCut.Chunks.back().End };
  }

  CudaSlabStates::StateBytes
  GetBytesOfStates() override
  {
    CudaSlabStates::StateBytes bytes;
    for (const auto & pass : *m_Passes)
    {
      pass->GetBytes(this->GetSweptChunks(), bytes);
    }
    return bytes;
  }

  void
  SetBytesOfStates(const CudaSlabStates::StateBytes & bytes) override
  {
    const CudaImageView line = GetComponent(this->GetFirstPlane(), 0);
    const size_t        packs = LineBundles(line, m_Axis, LinePack::Count).GetCount();
    for (size_t i = 0; i < m_Passes->size(); ++i)
    {
      (*m_Passes)[i]->SetBytes(this->GetSweptChunks(), packs, bytes, 2 * i);
    }
  }

  /** Returns whether the pass writes the final values of this image, so that only the conversion to the output follows.
   */
  bool
  IsComplete(unsigned int image, size_t pass) const
  {
    return std::count(m_Plan.Results.begin(), m_Plan.Results.end(), image) > 0 &&
           HostImages(m_Plan, m_Type).IsComplete(image, pass);
  }

  /** Computes the results of the passes across slabs for one chunk, in the order of components and passes. */
  std::vector<PassPixels>
  FilterAcross(size_t chunk)
  {
    const CudaImageView     pixels = this->GetChunk(chunk, m_Chunks.at(chunk).get());
    std::vector<PassPixels> results;
    size_t                  index = 0;
    for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
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
          shape.ComponentType = this->IsComplete(result.Destination, i) ? m_Endpoints.Output.ComponentType : m_Type;
          PassPixels made;
          made.Memory.reset(new unsigned char[shape.GetNumberOfBytes()]);
          made.View = ViewAdjacent(shape, made.Memory.get());
          targets.push_back({ made.View, made.View, CudaGaussianCombine::Store });
          results.push_back(std::move(made));
        }
        (*m_Passes)[index++]->Filter(
          chunk, GetComponent(pixels, component), GetComponent(this->GetFirstPlane(), component), targets, m_Threader);
      }
    }
    return results;
  }

  /** Computes the next planes of a slab. The last ones free the memory that only this slab needs. */
  SlabPlanes
  FilterPiece(const InputSlab & slab, size_t chunk)
  {
    const CudaImageView pixels = this->GetChunk(chunk, m_Chunks.at(chunk).get());
    const size_t        pixelsOfPlane = std::max<size_t>(1, pixels.GetNumberOfPixels() / slab.NumberOfPlanes);
    const size_t        piece =
      m_Axis == 0 ? slab.NumberOfPlanes : std::clamp<size_t>(PixelsOfPiece / pixelsOfPlane, 1, slab.NumberOfPlanes);
    const size_t first = m_NextPlane;
    const size_t count = std::min(piece, slab.NumberOfPlanes - first);
    if (first == 0)
    {
      m_Across = this->FilterAcross(chunk);
      m_Output.reset(new unsigned char[piece * m_Geometry.BytesOfOutputPlane]);
    }
    if (!m_Images || count != piece)
    {
      m_Images = std::make_unique<HostImages>(m_Plan, m_Type); // the work images of HostImages have one size
    }
    this->FilterWithin(Slice(pixels, m_Axis, first, count),
                       first,
                       ViewAdjacent(Slice(m_Endpoints.Output, m_Axis, 0, count), m_Output.get()));
    m_BytesOut += count * m_Geometry.BytesOfOutputPlane;
    m_PlanesMoved += count;
    m_NextPlane += count;
    if (m_NextPlane == slab.NumberOfPlanes)
    {
      this->Release(chunk);
      m_NextPlane = 0;
      ++m_NextSlab;
    }
    return { slab.FirstPlane + first, count, m_Output.get() };
  }

  /** Frees what only a chunk needs whose results are computed. */
  void
  Release(size_t chunk)
  {
    m_Images.reset();
    m_Across.clear();
    m_Chunks.erase(chunk);
    for (const auto & pass : *m_Passes)
    {
      if (!m_Geometry.Shape.NeedsAllChunks)
      {
        pass->ReleaseBefore(chunk + 1 - std::min<size_t>(chunk + 1, m_Geometry.Shape.LookAhead));
      }
    }
  }

  /** Runs the passes within planes, and the rotation, over planes of a chunk from `first` on. */
  void
  FilterWithin(const CudaImageView & pixels, size_t first, const CudaImageView & output)
  {
    const CudaProgressFunction silent = [](float) {};
    HostImages &               images = *m_Images;
    auto                       result = m_Across.begin();
    for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
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

  const MultiThreaderBase::Pointer m_Threader;

  std::shared_ptr<Passes>                            m_Passes{ std::make_shared<Passes>() };
  std::vector<unsigned char>                         m_FirstPlane;
  std::map<size_t, std::unique_ptr<unsigned char[]>> m_Chunks; // chunks that are still to be filtered, by number
  CudaProgressFunction                               m_ProgressOfSlabs;
  size_t                                             m_NumberOfSlabsRead{ 0 };
  size_t                                             m_PlanesMoved{ 0 }, m_PlanesReported{ 0 }, m_PlanesToMove{ 0 };
  uint64_t                                           m_BytesOut{ 0 };

  // The slab that is being filtered:
  size_t                           m_NextSlab{ 0 };
  size_t                           m_NextPlane{ 0 }; // of the slab
  std::vector<PassPixels>          m_Across;
  std::unique_ptr<HostImages>      m_Images;
  std::unique_ptr<unsigned char[]> m_Output; // the planes that were returned last
};
} // namespace

std::unique_ptr<SlabRun>
MakeHostSlabRun(const SlabRunArguments & arguments)
{
  return std::make_unique<HostSlabRun>(arguments);
}
} // namespace itk::cuda::gaussian

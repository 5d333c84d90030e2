// SPDX-License-Identifier: Apache-2.0
#include "young_van_vliet/Core.h"

#include "runtime/image/Components.h"
#include "runtime/DetailNames.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"
#include "runtime/image/HostLines.h"
#include "runtime/run/Operation.h"
#include "young_van_vliet/Coefficients.h"
#include "young_van_vliet/Tuning.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <vector>

// Runs Young and van Vliet's filter on ITK's threads, with the steps of young_van_vliet/Partitions.h.

namespace itk::cuda::young_van_vliet
{
namespace
{
// The host's processor prefetches by itself.
constexpr unsigned int HostBatch = 1;

template <typename T>
using HostLocalIntermediate = LocalIntermediate<T, HostBatch, LocalIntermediateBytes / sizeof(T)>;

/** A pass over lines of one length, with the coefficients and weights that all lines share. */
template <typename T>
class LineFilter
{
public:
  LineFilter(const CudaPartitionedGaussianPlan & plan, const CudaPartitionedGaussianPass & pass, size_t length)
    : m_LinePartition(plan.LinePartition)
    , m_ExactBorders(plan.LineBorders == CudaFiltersEnums::LineBorders::Exact)
    , m_Local(plan.IntermediateStorage == CudaFiltersEnums::IntermediateStorage::Local)
    , m_Length(length)
    , m_Coefficients(RoundTo<T>(MakeSmootherCoefficients(pass.SigmaInPixels)))
    , m_Layout(MakeSectionLayout(length, pass.NumberOfSections))
    , m_Powers(RoundTo<T>(MakeSectionPowers(pass.SigmaInPixels, m_Layout)))
  {
    if (m_LinePartition == CudaFiltersEnums::Partition::TwoWay)
    {
      m_CentralWeights = RoundTo<T>(MakeCentralWeights(pass.SigmaInPixels, pass.CentralRadius, length));
    }
  }

  void
  operator()(const T * input, T * output) const
  {
    if (m_Local)
    {
      this->Filter<HostLocalIntermediate<T>>({ input, output, 1, m_Length, input[0] });
    }
    else
    {
      this->Filter<GlobalIntermediate<T, HostBatch>>({ input, output, 1, m_Length, input[0] });
    }
  }

private:
  template <typename TIntermediate>
  void
  Filter(const StridedSpan<T> & line) const
  {
    TIntermediate intermediate;
    switch (m_LinePartition)
    {
      case CudaFiltersEnums::Partition::OneWay:
        FilterOneWay(line, m_Coefficients, m_ExactBorders, intermediate);
        break;
      case CudaFiltersEnums::Partition::TwoWay:
        this->FilterTwoWay(line, intermediate);
        break;
      case CudaFiltersEnums::Partition::Exact:
        this->FilterExact(line, intermediate);
        break;
    }
  }

  template <typename TIntermediate>
  void
  FilterTwoWay(const StridedSpan<T> & line, TIntermediate & intermediate) const
  {
    const T central = FilterCentralPixel<HostBatch>(line, m_CentralWeights.data(), m_CentralWeights.size() - 1);
    for (unsigned int side = 0; side < 2; ++side)
    {
      const StridedSpan<T> half = GetHalf(line, side);
      SweepHalfInward(half, m_Coefficients, intermediate);
      SweepHalfOutward(half, m_Coefficients, central, intermediate);
    }
    line.Destination[static_cast<ptrdiff_t>(m_Length / 2) * line.Stride] = central + line.Offset;
  }

  template <typename TIntermediate>
  void
  FilterExact(const StridedSpan<T> & line, TIntermediate & intermediate) const
  {
    std::vector<T>      numbers(m_Layout.NumberOfSections * NumbersPerSection);
    const StateArray<T> states(numbers.data(), 1);
    for (size_t section = 0; section < m_Layout.NumberOfSections; ++section)
    {
      states.Set(section, GetSectionStates<HostBatch>(GetSection(line, m_Layout, section), m_Coefficients));
    }
    ScanSections<1>(line, m_Layout, m_Powers, m_Coefficients, m_ExactBorders, states);
    for (size_t section = 0; section < m_Layout.NumberOfSections; ++section)
    {
      FilterSection(GetSection(line, m_Layout, section), m_Coefficients, states.Get(section), intermediate);
    }
  }

  CudaFiltersEnums::Partition m_LinePartition;
  bool                        m_ExactBorders;
  bool                        m_Local;
  size_t                      m_Length;
  SmootherCoefficients<T>     m_Coefficients;
  SectionLayout               m_Layout;
  SectionPowers<T>            m_Powers;
  std::vector<T>              m_CentralWeights; // only for TwoWay
};

template <typename T>
void
FilterBundle(const LineFilter<T> & filter,
             const LineBundles &   bundles,
             size_t                index,
             const CudaImageView & source,
             const CudaImageView & destination)
{
  const LineBundle from = bundles.Get(source, index);
  std::vector<T>   input(from.NumberOfLines * from.Length);
  std::vector<T>   output(input.size());
  VisitComponentType(source.ComponentType, [&](auto zero) {
    const auto * const pixels = static_cast<const decltype(zero) *>(source.Data);
    from.ForEachPixel([&](size_t line, size_t n, size_t position) {
      input[line * from.Length + n] = static_cast<T>(pixels[position]);
    });
  });
  for (size_t line = 0; line < from.NumberOfLines; ++line)
  {
    filter(&input[line * from.Length], &output[line * from.Length]);
  }
  const LineBundle to = bundles.Get(destination, index);
  VisitComponentType(destination.ComponentType, [&](auto zero) {
    using PixelType = decltype(zero);
    auto * const pixels = static_cast<PixelType *>(destination.Data);
    to.ForEachPixel([&](size_t line, size_t n, size_t position) {
      pixels[position] = ConvertComponent<PixelType>(output[line * to.Length + n]);
    });
  });
}

/** Runs a pass in pieces, and reports progress after each piece. */
template <typename T>
void
RunPass(const CudaPartitionedGaussianPlan & plan,
        const CudaPartitionedGaussianPass & pass,
        const CudaImageView &               source,
        const CudaImageView &               destination,
        MultiThreaderBase *                 threader,
        const std::function<void(float)> &  progress)
{
  const LineFilter<T> filter(plan, pass, source.Size[pass.Axis]);
  const LineBundles   bundles(source, pass.Axis, plan.LinesPerBlock);
  const auto          run = [&](SizeValueType index) { FilterBundle(filter, bundles, index, source, destination); };
  ForEachInPieces(threader, bundles.GetCount(), 10, run, progress);
}

template <typename T>
void
RunPlan(const CudaPartitionedGaussianPlan & plan,
        const CudaImageView &               input,
        const CudaImageView &               output,
        MultiThreaderBase *                 threader,
        const std::function<void(float)> &  progress)
{
  constexpr CudaComponentType type = sizeof(T) == 4 ? CudaComponentType::Float : CudaComponentType::Double;
  const size_t                count = plan.Passes.size();
  ScratchImage<T>             work;
  const CudaImageView *       between = &output;
  if (count > 1 && output.ComponentType != type)
  {
    work.Allocate(output, type);
    between = &work.View;
  }
  const CudaImageView * source = &input;
  for (size_t i = 0; i < count; ++i)
  {
    const CudaImageView * const destination = i + 1 == count ? &output : between;
    RunPass<T>(plan, plan.Passes[i], *source, *destination, threader, [&](float done) {
      if (progress)
      {
        progress((static_cast<float>(i) + done) / static_cast<float>(count));
      }
    });
    source = destination;
  }
}

void
RunOnHost(const CudaPartitionedGaussianPlan & plan,
          const CudaImageView &               input,
          const CudaImageView &               output,
          MultiThreaderBase *                 threader,
          const CudaProgressFunction &        progress)
{
  CudaVerifyComponents(input.NumberOfComponents, 1, output.NumberOfComponents);
  const bool inDouble = GetComputeType(input, output) == CudaComponentType::Double;
  const auto run = inDouble ? RunPlan<double> : RunPlan<float>;
  run(plan, input, output, threader, progress);
}
} // namespace

template <typename T>
void
FilterLine(const CudaPartitionedGaussianPlan & plan,
           const CudaPartitionedGaussianPass & pass,
           const T *                           input,
           T *                                 output,
           size_t                              length)
{
  LineFilter<T>(plan, pass, length)(input, output);
}

template CudaFilters_EXPORT void
FilterLine(const CudaPartitionedGaussianPlan &, const CudaPartitionedGaussianPass &, const float *, float *, size_t);
template CudaFilters_EXPORT void
FilterLine(const CudaPartitionedGaussianPlan &, const CudaPartitionedGaussianPass &, const double *, double *, size_t);
} // namespace itk::cuda::young_van_vliet

namespace itk::CudaDetail
{
CudaOperation::CudaOperation(const CudaPartitionedGaussianPlan & plan)
  : m_HostRun(cuda::BindHostRun(cuda::young_van_vliet::RunOnHost, plan))
  , m_Algorithm(cuda::MakeAlgorithm(plan))
{}
} // end namespace itk::CudaDetail

// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_host_HostPlan_h
#define CudaFilters_gaussian_host_HostPlan_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianPlan.h"
#include "runtime/DetailNames.h"
#include "itkCudaDetailGaussianEngine.h"
#include "gaussian/host/LineFilter.h"
#include "runtime/image/HostLines.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace itk::cuda::gaussian
{
/** Filters one line in T, double or float, pixel after pixel; in double it is the reference of the device's kernels.
 * `output` may be `input`.
 *
 * The line continues beyond its ends as `boundary` says. The line's first value is subtracted before the sweeps, so
 * that an offset costs no accuracy and constants come out exactly. */
template <typename T>
CudaFilters_EXPORT void
FilterLine(const CudaGaussianImpulseResponse & kernel,
           const T *                           input,
           T *                                 output,
           size_t                              length,
           const CudaGaussianBoundary &        boundary = {});
} // namespace itk::cuda::gaussian

// What runs of a plan on the host share: whole images (gaussian/host/Host.cxx), and images in slabs
// (gaussian/slabs/SlabsHost.cxx).

namespace itk::cuda::gaussian
{
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

  /** Whether the pass leaves in the image, one of the results, what belongs into the output. */
  bool
  IsComplete(unsigned int image, size_t pass) const
  {
    return m_Plan.Rotation.empty() && m_LastWrite.at(image) == pass;
  }

  /** Where a pass writes the image. */
  CudaImageView
  GetDestination(unsigned int image, size_t pass)
  {
    const auto found = std::find(m_Plan.Results.begin(), m_Plan.Results.end(), image);
    if (found != m_Plan.Results.end())
    {
      const CudaImageView & output = m_Outputs[found - m_Plan.Results.begin()];
      if (output.ComponentType == m_ComputeType || this->IsComplete(image, pass))
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
inline size_t
GetPosition(const LineBundle & bundle, size_t line, size_t n)
{
  return bundle.Offset + line * bundle.StrideBetweenLines + n * bundle.LineStride;
}

/** A component of a type that passes compute in. */
inline double
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

  /** Calls filter(input, output, length, stride between results) for each group. */
  template <typename TLineFilter>
  void
  Filter(const TLineFilter & filter)
  {
    for (size_t group = 0; group < m_Groups; ++group)
    {
      filter(&m_Input[group * m_Length], &m_Output[group * m_Length], m_Length, GroupsOfBundle * m_Length);
    }
  }

  size_t
  GetNumberOfGroups() const
  {
    return m_Groups;
  }

  /** The lines of a group, pixel after pixel. */
  LinePack *
  GetInput(size_t group) const
  {
    return &m_Input[group * m_Length];
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
        pixels[position] = ConvertComponent<ComponentType>(CombineValuesAs<ComponentType>(target.Combine, old, value));
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

/** Takes the share done of a step. */
using Report = std::function<void(float)>;

/** Calls `run(begin, end)` for parts of `count` bundles by the threads, in pieces after which progress is reported. */
void
ForBundlesInParallel(size_t                                      count,
                     size_t                                      pixels,
                     MultiThreaderBase *                         threader,
                     const Report &                              report,
                     const std::function<void(size_t, size_t)> & run);

/** The chunks of lines of a pass. They are those of the device, which has none along the first axis, and one boundary
 * mode. `type` is what lies between passes. */
LineChunks
GetLineChunks(const CudaGaussianLinePass & pass,
              const CudaGaussianBoundary & boundary,
              size_t                       length,
              CudaComponentType            type);

/** Runs pass `index` of the plan over all lines of `images`. */
void
RunHostPass(const CudaGaussianPlan & plan,
            size_t                   index,
            HostImages &             images,
            MultiThreaderBase *      threader,
            const Report &           report);

/** Multiplies the vector of the results at every pixel by the plan's matrix. */
void
RotateResults(const CudaGaussianPlan & plan,
              const HostImages &       images,
              MultiThreaderBase *      threader,
              const Report &           report);

/** One component of an image. */
CudaImageView
GetComponent(CudaImageView view, size_t component);
} // namespace itk::cuda::gaussian

#endif

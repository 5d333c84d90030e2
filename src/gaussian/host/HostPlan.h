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
/** Filters one line in T, double or float, pixel by pixel. In double it is the reference of the device's kernels.
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

// Functions that the runs of a plan on the host share: runs of whole images (gaussian/host/Host.cxx) and runs in slabs
// (gaussian/slabs/HostSlabRun.cxx).

namespace itk::cuda::gaussian
{
/** The images of a plan for one component of the input. A result is stored in the output in all passes if the output
 * has the computed type. Otherwise only its last pass writes to the output, converting the values. */
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

  /** Returns the type of the images between passes. */
  CudaComponentType
  GetComputeType() const
  {
    return m_ComputeType;
  }

  /** Prepares for the first pass. `outputs` are the images that receive the results. */
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

  /** Returns whether the image, one of the plan's results, has its final values after the pass. */
  bool
  IsComplete(unsigned int image, size_t pass) const
  {
    return m_Plan.Rotation.empty() && m_LastWrite.at(image) == pass;
  }

  /** Returns the image to which a pass writes. */
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
    return this->GetScratchImage(image);
  }

  /** Makes `view` the current content of the image. */
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
  GetScratchImage(unsigned int image)
  {
    if (m_ComputeType == CudaComponentType::Double)
    {
      return GetScratchImage(m_DoubleImages[image]);
    }
    return GetScratchImage(m_FloatImages[image]);
  }

  template <typename T>
  CudaImageView
  GetScratchImage(ScratchImage<T> & image) const
  {
    if (!image.Pixels)
    {
      image.Allocate(m_Shape, m_ComputeType);
    }
    return image.View;
  }

  const CudaGaussianPlan &                     m_Plan;
  CudaComponentType                            m_ComputeType;
  std::map<unsigned int, size_t>               m_LastWrite; // the last pass that writes each image
  CudaImageView                                m_Shape;
  std::vector<CudaImageView>                   m_Outputs;
  std::vector<CudaImageView>                   m_Current;
  std::map<unsigned int, ScratchImage<float>>  m_FloatImages;
  std::map<unsigned int, ScratchImage<double>> m_DoubleImages;
};

/** One of the results of a pass. */
struct PassTarget
{
  CudaImageView       Old; // the image before the pass
  CudaImageView       New;
  CudaGaussianCombine Combine;
};

/** Reads a component of float or double, the types in which passes compute. */
inline double
ReadReal(const CudaImageView & view, size_t position)
{
  return view.ComponentType == CudaComponentType::Double ? static_cast<const double *>(view.Data)[position]
                                                         : static_cast<const float *>(view.Data)[position];
}

/** A bundle of lines, pixel by pixel, and the results of a pass over them. */
class LinePackBuffer
{
public:
  LinePackBuffer(size_t length, size_t results)
    : m_Length(length)
    , m_Input(new LinePack[length])
    , m_Output(new LinePack[results * length])
  {}

  void
  Load(const CudaImageView & view, const LineBundle & bundle)
  {
    if (bundle.NumberOfLines < LinePack::Count)
    {
      std::fill_n(m_Input.get(), m_Length, LinePack{}); // zeros in the part that no line fills
    }
    VisitComponentType(view.ComponentType, [&](auto zero) {
      const auto * const pixels = static_cast<const decltype(zero) *>(view.Data);
      bundle.ForEachPixel<LinePack::Count>([&](size_t line, size_t n, size_t position) {
        m_Input[n].Value[line] = static_cast<double>(pixels[position]);
      });
    });
  }

  /** Returns the lines that Load() has read. */
  LinePack *
  GetInput() const
  {
    return m_Input.get();
  }

  /** Returns where to write a result. */
  LinePack *
  GetOutput(size_t result = 0) const
  {
    return &m_Output[result * m_Length];
  }

  void
  Store(size_t result, const PassTarget & target, const LineBundle & from, const LineBundle & to) const
  {
    const LinePack * const values = this->GetOutput(result);
    VisitComponentType(target.New.ComponentType, [&](auto zero) {
      using ComponentType = decltype(zero);
      auto * const pixels = static_cast<ComponentType *>(target.New.Data);
      if (target.Combine == CudaGaussianCombine::Store)
      {
        to.ForEachPixel<LinePack::Count>([&](size_t line, size_t n, size_t position) {
          pixels[position] = ConvertComponent<ComponentType>(values[n].Value[line]);
        });
        return;
      }
      const bool readsOld = ReadsDestination(target.Combine);
      to.ForEachPixel<LinePack::Count>([&](size_t line, size_t n, size_t position) {
        const double old = readsOld ? ReadReal(target.Old, from.GetPosition(line, n)) : 0.0;
        pixels[position] =
          ConvertComponent<ComponentType>(CombineValuesAs<ComponentType>(target.Combine, old, values[n].Value[line]));
      });
    });
  }

private:
  size_t                      m_Length;
  std::unique_ptr<LinePack[]> m_Input; // uninitialised, because every pixel is written before it is read
  std::unique_ptr<LinePack[]> m_Output;
};

/** Distributes `count` bundles over the threads, which call `run(begin, end)`. The work is done in pieces, and progress
 * is reported after each. */
void
ParallelForBundles(size_t                                      count,
                   size_t                                      pixels,
                   MultiThreaderBase *                         threader,
                   const CudaProgressFunction &                report,
                   const std::function<void(size_t, size_t)> & run);

/** Returns the chunks of the lines of a pass. They are the same as on the device. Lines along the first axis, and lines
 * in other boundary modes than Nearest, are not divided. `type` is the type of the images between passes. */
LineChunks
GetLineChunks(const CudaGaussianLinePass & pass,
              const CudaGaussianBoundary & boundary,
              size_t                       length,
              CudaComponentType            type);

/** Runs pass `index` of the plan over all lines of `images`. */
void
RunHostPass(const CudaGaussianPlan &     plan,
            size_t                       index,
            HostImages &                 images,
            MultiThreaderBase *          threader,
            const CudaProgressFunction & report);

/** Multiplies the vector of results at every pixel by the plan's matrix. */
void
RotateResults(const CudaGaussianPlan &     plan,
              const HostImages &           images,
              MultiThreaderBase *          threader,
              const CudaProgressFunction & report);
} // namespace itk::cuda::gaussian

#endif

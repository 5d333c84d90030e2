// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Components.h"
#include "itkCudaDetailGaussianEngine.h"
#include "runtime/DetailNames.h"
#include "gaussian/masked/Masked.h"
#include "runtime/image/HostLines.h"
#include "runtime/run/Progress.h"
#include "itkMacro.h"
#include "itkMultiThreaderBase.h"

#include <cmath>
#include <type_traits>

// Smooths only the valid pixels of an image on the host, as the quotient of two smoothed images, and verifies masks.

namespace itk::cuda::gaussian
{
void
VerifyPlanAndMask(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaGaussianMask & mask)
{
  bool isSmoothing = plan.Results.size() == 1 && plan.Rotation.empty();
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    for (const CudaGaussianPassResult & result : pass.Results)
    {
      isSmoothing = isSmoothing && result.Kernel.Order == 0 && result.Combine == CudaGaussianCombine::Store;
    }
  }
  if (!isSmoothing)
  {
    itkGenericExceptionMacro("The plan with a mask has derivatives; it must be one of smoothing");
  }
  const CudaImageView & valid = mask.Valid;
  if (valid.Size != input.Size || valid.NumberOfComponents != 1 || valid.ComponentType != CudaComponentType::UChar)
  {
    const auto & size = valid.Size;
    itkGenericExceptionMacro("The mask of valid pixels has "
                             << valid.NumberOfComponents << " components and the size " << size[0] << " x " << size[1]
                             << " x " << size[2] << " x " << size[3] << "; it must have one of type UChar, and "
                             << "the image's size, " << input.Size[0] << " x " << input.Size[1] << " x "
                             << input.Size[2] << " x " << input.Size[3]);
  }
}

namespace
{
const unsigned char *
GetMaskPixels(const CudaGaussianMask & mask)
{
  return static_cast<const unsigned char *>(mask.Valid.Data);
}

/** Returns the first valid pixel that is finite, or 0 if there is no such pixel. */
template <typename TComponent>
double
FindValidValue(const TComponent * pixels, const CudaImageView & view, const CudaGaussianMask & mask)
{
  for (size_t row = 0; row < GetNumberOfRows(view); ++row)
  {
    const PixelRow inImage = GetRow(view, row);
    const PixelRow inMask = GetRow(mask.Valid, row);
    for (size_t x = 0; x < view.Size[0]; ++x)
    {
      const auto value = static_cast<double>(pixels[inImage[x]]);
      if (GetMaskPixels(mask)[inMask[x]] != 0 && std::isfinite(value))
      {
        return value;
      }
    }
  }
  return 0.0;
}

/** Smooths one image with one mask, computing in T. */
template <typename T>
class HostMaskedRun
{
public:
  HostMaskedRun(const CudaGaussianPlan &     plan,
                const CudaImageView &        input,
                const CudaGaussianMask &     mask,
                const CudaImageView &        output,
                MultiThreaderBase *          threader,
                const CudaProgressFunction & progress)
    : m_Plan(plan)
    , m_Input(input)
    , m_Mask(mask)
    , m_Output(output)
    , m_Threader(threader)
    , m_Progress(progress)
  {
    constexpr CudaComponentType type = std::is_same_v<T, double> ? CudaComponentType::Double : CudaComponentType::Float;
    m_Values.Allocate(mask.Valid, type);
    m_Weights.Allocate(mask.Valid, type);
  }

  void
  Run()
  {
    this->MakeWeights();
    for (size_t component = 0; component < m_Input.NumberOfComponents; ++component)
    {
      VisitComponentType(m_Input.ComponentType, [&](auto zero) {
        using ComponentType = decltype(zero);
        const CudaImageView input = GetComponent(m_Input, component);
        const auto          referenceValue = this->TakeValues(static_cast<const ComponentType *>(input.Data), input);
        this->Smooth(m_Values.View, this->GetBoundaryValue() - referenceValue, 1 + component);
        this->StoreQuotient(GetComponent(m_Output, component), referenceValue);
      });
    }
  }

private:
  double
  GetBoundaryValue() const
  {
    return m_Plan.Boundary.Mode == CudaFiltersEnums::BoundaryMode::Constant ? m_Plan.Boundary.Value : 0.0;
  }

  /** Computes the smoothed weights. The weight is 1 beyond the ends of the lines. */
  void
  MakeWeights()
  {
    const unsigned char * const valid = GetMaskPixels(m_Mask);
    const auto makeWeight = [&](size_t mask, size_t to) { m_Weights.Pixels[to] = valid[mask] != 0 ? T(1) : T(0); };
    ForEachPixel(m_Threader, makeWeight, m_Mask.Valid, m_Weights.View);
    this->Smooth(m_Weights.View, 1.0, 0);
  }

  /** Stores the valid pixels less one of them, and 0 elsewhere. Returns the subtracted value. */
  template <typename TComponent>
  double
  TakeValues(const TComponent * pixels, const CudaImageView & input)
  {
    const double                referenceValue = FindValidValue(pixels, input, m_Mask);
    const unsigned char * const valid = GetMaskPixels(m_Mask);
    const auto                  takeValue = [&](size_t mask, size_t from, size_t to) {
      m_Values.Pixels[to] =
        valid[mask] != 0 ? static_cast<T>(static_cast<double>(pixels[from]) - referenceValue) : T(0);
    };
    ForEachPixel(m_Threader, takeValue, m_Mask.Valid, input, m_Values.View);
    return referenceValue;
  }

  void
  Smooth(const CudaImageView & image, double boundaryValue, size_t step)
  {
    CudaGaussianPlan plan = m_Plan;
    plan.Boundary.Value = boundaryValue;
    plan.Mask = nullptr;
    const size_t steps = 1 + m_Input.NumberOfComponents;
    CudaRunOnHost(plan, image, image, m_Threader, GetPartOfProgress(m_Progress, 0.0f, 1.0f, step, steps));
  }

  void
  StoreQuotient(const CudaImageView & output, double referenceValue) const
  {
    VisitComponentType(output.ComponentType, [&](auto zero) {
      using ComponentType = decltype(zero);
      auto * const pixels = static_cast<ComponentType *>(output.Data);
      const auto   divide = [&](size_t value, size_t weight, size_t to) {
        const double divisor = m_Weights.Pixels[weight];
        const double quotient =
          divisor >= m_Mask.MinimumWeight ? m_Values.Pixels[value] / divisor + referenceValue : m_Mask.FillValue;
        pixels[to] = ConvertComponent<ComponentType>(quotient);
      };
      ForEachPixel(m_Threader, divide, m_Values.View, m_Weights.View, output);
    });
  }

  const CudaGaussianPlan &     m_Plan;
  const CudaImageView          m_Input;
  const CudaGaussianMask &     m_Mask;
  const CudaImageView          m_Output;
  MultiThreaderBase *          m_Threader;
  const CudaProgressFunction & m_Progress;
  ScratchImage<T>              m_Values;
  ScratchImage<T>              m_Weights;
};
} // namespace

void
RunMaskedOnHost(const CudaGaussianPlan &     plan,
                const CudaImageView &        input,
                const CudaImageView &        output,
                MultiThreaderBase *          threader,
                const CudaProgressFunction & progress)
{
  CudaVerifyComponents(input.NumberOfComponents, 1, output.NumberOfComponents);
  const CudaGaussianMask & mask = *plan.Mask;
  VerifyPlanAndMask(plan, input, mask);
  if (GetComputeType(input, output) == CudaComponentType::Double)
  {
    HostMaskedRun<double>(plan, input, mask, output, threader, progress).Run();
  }
  else
  {
    HostMaskedRun<float>(plan, input, mask, output, threader, progress).Run();
  }
}
} // end namespace itk::cuda::gaussian

namespace itk::CudaDetail
{
double
CudaGaussianMinimumWeight(CudaFiltersEnums::Approximation approximation)
{
  return approximation == CudaFiltersEnums::Approximation::Accurate ? 1e-3 : 1e-2;
}
} // end namespace itk::CudaDetail

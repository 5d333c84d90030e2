// SPDX-License-Identifier: Apache-2.0
#include "itkCudaHessianToObjectnessMeasureImageFilter.h"
#include "itkCudaMultiScaleHessianBasedMeasureImageFilter.h"
#include "itkCudaStressFilterCase.h"
#include "itkCudaStructureTensorImageFilter.h"
#include "itkCudaSymmetricEigenAnalysisImageFilter.h"
#include "itkCudaVesselnessImageFilter.h"
#include "itkSymmetricSecondRankTensor.h"
#include "itkVector.h"

namespace itk::cuda::test
{
namespace
{
/** An output that a call makes only if the case asks for it. */
template <typename TImage>
void
AddIfWanted(std::vector<StressOutput> & outputs, bool isWanted, TImage * image)
{
  if (isWanted)
  {
    outputs.push_back(MakeStressOutput(image));
  }
}

template <typename TFilter>
class StructureTensorCase : public StressFilterCase<TFilter>
{
public:
  StructureTensorCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(random, backend)
  {
    const double sigma = random.LogUniform(0.5, 4.0);
    const double integration = random.LogUniform(0.5, 20.0);
    const bool   isAccurate = random.Chance(0.5);
    this->SetParameters = [=](TFilter * filter) {
      filter->SetSigma(sigma);
      filter->SetIntegrationSigma(integration);
      filter->SetApproximation(isAccurate ? "Accurate" : "Deriche");
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetSigma(-1.0); };
    std::ostringstream text;
    text << "sigma " << sigma << ", integration sigma " << integration << (isAccurate ? ", accurate" : "");
    this->Describe(text.str());
  }
};

template <typename TFilter>
class ObjectnessCase : public StressFilterCase<TFilter>
{
public:
  ObjectnessCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(random, backend)
  {
    constexpr unsigned int dimension = TFilter::InputImageType::ImageDimension;
    const auto             object = static_cast<unsigned int>(random.Integer(0, dimension - 1));
    const double           alpha = random.Uniform(0.0, 2.0);
    const double           gamma = random.LogUniform(0.1, 100.0);
    const bool             isBright = random.Chance(0.5);
    this->SetParameters = [=](TFilter * filter) {
      filter->SetObjectDimension(object);
      filter->SetAlpha(alpha);
      filter->SetGamma(gamma);
      filter->SetBrightObject(isBright);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetObjectDimension(dimension); };
    this->IsItkOnTheHost = true;
    std::ostringstream text;
    text << "object of " << object << " dimensions, alpha " << alpha << ", gamma " << gamma
         << (isBright ? ", bright" : ", dark");
    this->Describe(text.str());
  }
};

/** Eigenvalues of one dimension of tensors. */
template <typename TFilter>
class EigenvaluesCase : public StressFilterCase<TFilter>
{
public:
  EigenvaluesCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(random, backend)
  {
    // ITK's filter does not return to the order by value, so that a filter of all cases needs one order. ITK's setters
    // of this filter do not mark it as modified.
    const auto order = EigenValueOrderEnum::OrderByMagnitude;
    this->SetParameters = [=](TFilter * filter) {
      filter->OrderEigenValuesBy(order);
      filter->SetDimension(TFilter::InputImageType::ImageDimension);
      filter->Modified();
    };
    this->SpoilParameters = [](TFilter * filter) {
      filter->SetDimension(5);
      filter->Modified();
    };
    std::ostringstream text;
    text << order;
    this->Describe(text.str());
  }
};

template <typename TFilter>
class MultiScaleCase : public StressFilterCase<TFilter>
{
public:
  using Objectness =
    CudaHessianToObjectnessMeasureImageFilter<typename TFilter::HessianImageType, typename TFilter::OutputImageType>;

  MultiScaleCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(random, backend)
    , m_HasScales(random.Chance(0.5))
    , m_HasHessians(random.Chance(0.3))
  {
    const double minimum = random.LogUniform(0.5, 2.0);
    const double maximum = minimum * random.LogUniform(1.0, 4.0);
    const auto   steps = static_cast<unsigned int>(random.Integer(1, 2));
    const bool   isNonNegative = random.Chance(0.5);
    this->SetParameters = [=, scales = m_HasScales, hessians = m_HasHessians](TFilter * filter) {
      filter->SetHessianToMeasureFilter(Objectness::New());
      filter->SetSigmaMinimum(minimum);
      filter->SetSigmaMaximum(maximum);
      filter->SetNumberOfSigmaSteps(steps);
      filter->SetNonNegativeHessianBasedMeasure(isNonNegative);
      filter->SetGenerateScalesOutput(scales);
      filter->SetGenerateHessianOutput(hessians);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetHessianToMeasureFilter(nullptr); };
    this->IsItkOnTheHost = true;
    std::ostringstream text;
    text << steps << " sigmas from " << minimum << " to " << maximum << (isNonNegative ? ", not negative" : "")
         << (m_HasScales ? ", scales" : "") << (m_HasHessians ? ", Hessians" : "");
    this->Describe(text.str());
  }

protected:
  std::vector<StressOutput>
  GetOutputs(TFilter * filter) const override
  {
    using Scales = std::remove_const_t<std::remove_pointer_t<decltype(filter->GetScalesOutput())>>;
    using Hessians = std::remove_const_t<std::remove_pointer_t<decltype(filter->GetHessianOutput())>>;
    std::vector<StressOutput> outputs{ MakeStressOutput(filter->GetOutput()) };
    AddIfWanted(outputs, m_HasScales, const_cast<Scales *>(filter->GetScalesOutput()));
    AddIfWanted(outputs, m_HasHessians, const_cast<Hessians *>(filter->GetHessianOutput()));
    return outputs;
  }

private:
  const bool m_HasScales;
  const bool m_HasHessians;
};

template <typename TFilter>
class VesselnessCase : public StressFilterCase<TFilter>
{
public:
  VesselnessCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(random, backend)
    , m_HasScale(random.Chance(0.5))
  {
    using MeasureEnum = CudaVesselnessEnums::HessianMeasure;
    using BoundaryEnum = CudaFiltersEnums::BoundaryMode;
    const auto measure = random.Choose(
      { MeasureEnum::Objectness, MeasureEnum::Frangi, MeasureEnum::Sato, MeasureEnum::Jerman, MeasureEnum::Meijering });
    const auto          mode = random.Choose({ BoundaryEnum::Nearest, BoundaryEnum::Reflect, BoundaryEnum::Wrap });
    const bool          isBright = random.Chance(0.5);
    std::vector<double> sigmas(random.Integer(1, 2));
    std::generate(sigmas.begin(), sigmas.end(), [&random] { return random.LogUniform(0.5, 6.0); });
    this->SetParameters = [=, hasScale = m_HasScale](TFilter * filter) {
      filter->SetHessianMeasure(measure);
      filter->SetBoundaryMode(mode);
      filter->SetBrightObject(isBright);
      filter->SetSigmas(sigmas);
      filter->SetGenerateScaleOutput(hasScale);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetSigmas({ 1.0, -1.0 }); };
    std::ostringstream text;
    text << measure << ", boundary " << mode << (isBright ? ", bright" : ", dark") << ", sigmas";
    for (const double sigma : sigmas)
    {
      text << ' ' << sigma;
    }
    this->Describe(text.str());
  }

protected:
  std::vector<StressOutput>
  GetOutputs(TFilter * filter) const override
  {
    std::vector<StressOutput> outputs{ MakeStressOutput(filter->GetOutput()) };
    AddIfWanted(outputs, m_HasScale, filter->GetScaleOutput());
    return outputs;
  }

private:
  const bool m_HasScale;
};

template <typename T, unsigned int VDimension>
using Tensors = Image<SymmetricSecondRankTensor<T, VDimension>, VDimension>;

template <typename TInput, typename THessian, typename TOutput = TInput>
using MultiScale = CudaMultiScaleHessianBasedMeasureImageFilter<TInput, THessian, TOutput>;
} // namespace

StressCasePointer
MakeStructureTensorStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<StructureTensorCase,
                        CudaStructureTensorImageFilter<Image<float, 2>>,
                        CudaStructureTensorImageFilter<Image<short, 3>, Tensors<float, 3>>,
                        CudaStructureTensorImageFilter<Image<double, 2>>>(random, backend);
}

StressCasePointer
MakeObjectnessStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<ObjectnessCase,
                        CudaHessianToObjectnessMeasureImageFilter<Tensors<float, 3>, Image<float, 3>>,
                        CudaHessianToObjectnessMeasureImageFilter<Tensors<double, 2>, Image<float, 2>>>(random,
                                                                                                        backend);
}

StressCasePointer
MakeEigenvaluesStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<EigenvaluesCase,
                        CudaSymmetricEigenAnalysisImageFilter<Tensors<float, 3>, Image<Vector<float, 3>, 3>>,
                        CudaSymmetricEigenAnalysisImageFilter<Tensors<double, 2>, Image<Vector<double, 2>, 2>>>(
    random, backend);
}

StressCasePointer
MakeMultiScaleStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<MultiScaleCase,
                        MultiScale<Image<float, 3>, Tensors<float, 3>>,
                        MultiScale<Image<short, 2>, Tensors<float, 2>, Image<float, 2>>>(random, backend);
}

StressCasePointer
MakeVesselnessStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<VesselnessCase,
                        CudaVesselnessImageFilter<Image<float, 2>, Image<float, 2>>,
                        CudaVesselnessImageFilter<Image<unsigned char, 3>, Image<float, 3>>,
                        CudaVesselnessImageFilter<Image<double, 2>, Image<double, 2>>>(random, backend);
}
} // namespace itk::cuda::test

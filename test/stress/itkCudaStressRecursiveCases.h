// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStressRecursiveCases_h
#define itkCudaStressRecursiveCases_h

#include "itkCudaStressFilterCase.h"

namespace itk::cuda::test
{
using StressApproximation = CudaFiltersEnums::Approximation;
using StressStreaming = CudaFiltersEnums::Streaming;

/** Some of the filters write over their input, where input and output are of one type. */
template <typename TFilter>
bool
ChooseInPlace(StressFilterCase<TFilter> & stressCase, StressRandom & random)
{
  const bool inPlace =
    std::is_same_v<typename TFilter::InputImageType, typename TFilter::OutputImageType> && random.Chance(0.3);
  if (inPlace)
  {
    stressCase.CopyInput();
  }
  return inPlace;
}

/** What all recursive filters have in common. */
template <typename TFilter>
class StressRecursiveCase : public StressFilterCase<TFilter>
{
public:
  StressRecursiveCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase<TFilter>(random, backend)
    , m_Approximation(random.Choose({ StressApproximation::Deriche, StressApproximation::Accurate }))
    , m_Normalized(random.Chance(0.5))
    , m_Streaming(random.Chance(0.25) ? StressStreaming::On : StressStreaming::Automatic)
  {
    this->IsItkOnTheHost = m_Approximation == StressApproximation::Deriche && m_Streaming != StressStreaming::On;
    // In pixels of up to two units.
    for (double & sigma : m_Sigma)
    {
      sigma = random.LogUniform(0.5, 30.0);
    }
  }

protected:
  void
  SetCommonParameters(TFilter * filter) const
  {
    filter->SetApproximation(m_Approximation);
    filter->SetNormalizeAcrossScale(m_Normalized);
    filter->SetStreaming(m_Streaming);
  }
  std::string
  DescribeCommonParameters() const
  {
    std::ostringstream text;
    text << m_Approximation << (m_Normalized ? ", normalised" : "")
         << (m_Streaming == StressStreaming::On ? ", in slabs" : "") << ", sigma";
    for (const double sigma : m_Sigma)
    {
      text << ' ' << sigma;
    }
    return text.str();
  }

  StressApproximation m_Approximation;
  bool                m_Normalized;
  StressStreaming     m_Streaming;
  double              m_Sigma[TFilter::InputImageType::ImageDimension];
};

/** Filters with one sigma. */
template <typename TFilter>
class StressSigmaCase : public StressRecursiveCase<TFilter>
{
public:
  StressSigmaCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressRecursiveCase<TFilter>(random, backend)
  {
    this->SetParameters = [this](TFilter * filter) {
      this->SetCommonParameters(filter);
      filter->SetSigma(this->m_Sigma[0]);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetSigma(0.0); };
    this->Describe(this->DescribeCommonParameters());
  }
};

/** Filters with a sigma for each axis. */
template <typename TFilter>
class StressSigmaArrayCase : public StressRecursiveCase<TFilter>
{
public:
  StressSigmaArrayCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressRecursiveCase<TFilter>(random, backend)
  {
    this->SetParameters = [this](TFilter * filter) {
      this->SetCommonParameters(filter);
      typename TFilter::SigmaArrayType sigma;
      std::copy_n(this->m_Sigma, sigma.Size(), sigma.Begin());
      filter->SetSigmaArray(sigma);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetSigma(0.0); };
    this->Describe(this->DescribeCommonParameters());
  }
};
} // namespace itk::cuda::test

#endif

// SPDX-License-Identifier: Apache-2.0
#include "runtime/DetailNames.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "support/itkCudaGaussianTolerances.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "support/itkCudaITKClass.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkCudaSemanticsScene.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkInPlaceImageFilter.h"

namespace itk::cuda::test
{
namespace
{
using BackendEnum = CudaFiltersEnums::Backend;
using ApproximationEnum = CudaFiltersEnums::Approximation;

// Two sets of good parameters for each filter.

struct SigmaParameters
{
  template <typename TFilter>
  static void
  Set(TFilter * filter, unsigned int set)
  {
    filter->SetSigma(set == 0 ? 1.5 : 2.5);
  }
};

struct RecursiveParameters : SigmaParameters
{
  template <typename TFilter>
  static void
  Set(TFilter * filter, unsigned int set)
  {
    SigmaParameters::Set(filter, set);
    filter->SetDirection(1);
  }
};

struct DiscreteParameters
{
  template <typename TFilter>
  static void
  Set(TFilter * filter, unsigned int set)
  {
    filter->SetVariance(set == 0 ? 2.0 : 5.0);
    filter->SetMaximumError(0.01);
  }
};

struct SnakeParameters
{
  template <typename TFilter>
  static void
  Set(TFilter * filter, unsigned int set)
  {
    filter->SetNoiseLaw(CudaFiltersEnums::NoiseLaw::Gaussian);
    filter->SetMinimumEdgeLength(set == 0 ? 4.0 : 16.0);
    filter->SetMaximumNumberOfNodes(4096);
  }
};

template <typename TFilter, typename TParameters>
class SubjectOf : public SemanticsSubject
{
public:
  using OutputImageType = typename TFilter::OutputImageType;

  explicit SubjectOf(const std::function<void(TFilter *)> & prepare)
  {
    if (prepare)
    {
      prepare(m_Filter);
    }
  }

  ProcessObject *
  GetFilter() override
  {
    return m_Filter;
  }
  void
  SetInput(SemanticsImage * image) override
  {
    m_Filter->SetInput(image);
  }
  void
  SetParameters(unsigned int set) override
  {
    TParameters::Set(m_Filter.GetPointer(), set);
  }
  void
  SetInPlace(bool inPlace) override
  {
    if constexpr (std::is_base_of_v<InPlaceImageFilter<SemanticsImage, OutputImageType>, TFilter>)
    {
      m_Filter->SetInPlace(inPlace);
    }
  }
  ImageBase<2> *
  GetOutput() override
  {
    return m_Filter->GetOutput();
  }
  void
  GraftOutput(const SemanticsRegion & region) override
  {
    const auto image = OutputImageType::New();
    image->SetRegions(region);
    image->Allocate();
    m_Filter->GraftOutput(image);
  }
  std::vector<double>
  GetValues(const DataObject * data) const override
  {
    using ComponentType = typename CudaImageTraits<OutputImageType>::ComponentType;
    const auto * const image = static_cast<const OutputImageType *>(data);
    const auto * const first = reinterpret_cast<const ComponentType *>(image->GetBufferPointer());
    const size_t       number = image->GetBufferedRegion().GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel();
    return { first, first + number };
  }

protected:
  const typename TFilter::Pointer m_Filter{ TFilter::New() };
};

template <typename TFilter>
class SnakeSubject : public SubjectOf<TFilter, SnakeParameters>
{
public:
  using SubjectOf<TFilter, SnakeParameters>::SubjectOf;

  void
  SetInitialMask(SemanticsMask * mask) override
  {
    this->m_Filter->SetInitialMask(mask);
  }
  void
  SetValidMask(SemanticsMask * mask) override
  {
    this->m_Filter->SetValidMask(mask);
  }
  DataObject *
  GetContour() override
  {
    return this->m_Filter->GetContour();
  }
};

/** Deriche's constants are ITK's, and the weights of the discrete filter: the results differ by the rounding of two
 * passes, with up to four pixels of sigma. */
const double SameMathematics = 2.0 * FloatAccuracy(4.0);
/** ITK has no Accurate. Its Gaussian of two pole pairs is within this of the true one, which the other tests measure
 * closely; a wrong region or wrong memory would be beyond it. */
constexpr double OtherPolePairs = 2e-2;

template <typename TFilter, typename TParameters, typename... TApproximation>
SemanticsKind
MakeKind(const std::string & name, double tolerance, TApproximation... approximation)
{
  return { name,
           [=](BackendEnum backend) -> SemanticsSubjectPointer {
             return std::make_unique<SubjectOf<TFilter, TParameters>>([=](TFilter * filter) {
               filter->SetBackend(backend);
               (filter->SetApproximation(approximation), ...);
             });
           },
           []() -> SemanticsSubjectPointer {
             return std::make_unique<SubjectOf<ITKClassOf<TFilter>, TParameters>>(nullptr);
           },
           std::is_base_of_v<InPlaceImageFilter<SemanticsImage, typename TFilter::OutputImageType>, TFilter>,
           tolerance };
}

/** A kind that ITK has no class for. */
template <typename TSubject, typename TFilter>
SemanticsKind
MakeOwnKind(const std::string & name)
{
  return { name,
           [](BackendEnum backend) -> SemanticsSubjectPointer {
             return std::make_unique<TSubject>([backend](TFilter * filter) { filter->SetBackend(backend); });
           },
           nullptr,
           false,
           0.0 };
}

template <typename TFilter, typename TParameters = SigmaParameters>
std::vector<SemanticsKind>
MakeRecursiveKinds(const std::string & name)
{
  return { MakeKind<TFilter, TParameters>(name, SameMathematics, ApproximationEnum::Deriche),
           MakeKind<TFilter, TParameters>(name + "_accurate", OtherPolePairs, ApproximationEnum::Accurate) };
}
} // namespace

std::vector<SemanticsKind>
MakeRecursiveSemantics()
{
  return MakeRecursiveKinds<CudaRecursiveGaussianImageFilter<SemanticsImage>, RecursiveParameters>("recursive");
}

std::vector<SemanticsKind>
MakeSmoothingSemantics()
{
  return MakeRecursiveKinds<CudaSmoothingRecursiveGaussianImageFilter<SemanticsImage>>("smoothing");
}

std::vector<SemanticsKind>
MakeMagnitudeSemantics()
{
  return MakeRecursiveKinds<CudaGradientMagnitudeRecursiveGaussianImageFilter<SemanticsImage>>("magnitude");
}

std::vector<SemanticsKind>
MakeLaplacianSemantics()
{
  return MakeRecursiveKinds<CudaLaplacianRecursiveGaussianImageFilter<SemanticsImage>>("laplacian");
}

std::vector<SemanticsKind>
MakeGradientSemantics()
{
  using OutputType = Image<CovariantVector<float, 2>, 2>;
  return MakeRecursiveKinds<CudaGradientRecursiveGaussianImageFilter<SemanticsImage, OutputType>>("gradient");
}

std::vector<SemanticsKind>
MakeHessianSemantics()
{
  using OutputType = Image<SymmetricSecondRankTensor<float, 2>, 2>;
  return MakeRecursiveKinds<CudaHessianRecursiveGaussianImageFilter<SemanticsImage, OutputType>>("hessian");
}

std::vector<SemanticsKind>
MakeDiscreteSemantics()
{
  return { MakeKind<CudaDiscreteGaussianImageFilter<SemanticsImage>, DiscreteParameters>("discrete", SameMathematics) };
}

std::vector<SemanticsKind>
MakePartitionedSemantics()
{
  using FilterType = CudaPartitionedRecursiveGaussianImageFilter<SemanticsImage>;
  return { MakeOwnKind<SubjectOf<FilterType, SigmaParameters>, FilterType>("partitioned") };
}

std::vector<SemanticsKind>
MakeSnakeSemantics()
{
  using FilterType = CudaRegionSnakeImageFilter<SemanticsImage>;
  return { MakeOwnKind<SnakeSubject<FilterType>, FilterType>("snake") };
}
} // namespace itk::cuda::test

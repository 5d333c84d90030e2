// SPDX-License-Identifier: Apache-2.0
#include "runtime/DetailNames.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkCudaStressFilterCase.h"
#include "itkCudaUploadImageFilter.h"

// Chains of filters. On the GPU the images between them are device images: one upload, some filters, one download. On
// the host they are ordinary images. The last filter of some chains gives vectors, tensors or labels.

namespace itk::cuda::test
{
namespace
{
/** One filter of a chain. */
struct ChainStep
{
  enum class Kind : uint8_t
  {
    Smoothing,
    OneAxis,
    Magnitude,
    Laplacian,
    Discrete,
    Partitioned
  };
  Kind         What;
  double       Sigma;
  unsigned int Axis;
  bool         InPlace;
  bool         InputIsReleased; // whether the input's memory goes back once it has been read
};

const char *
NameOf(ChainStep::Kind kind)
{
  const char * const names[] = { "smoothing", "one axis", "magnitude", "Laplacian", "discrete", "partitioned" };
  return names[static_cast<size_t>(kind)];
}

/** What follows the filters of a chain. */
enum class ChainEnd : uint8_t
{
  Image, // nothing
  Gradient,
  Hessian,
  Snake // in two dimensions
};

const char *
NameOf(ChainEnd end)
{
  const char * const names[] = { "image", "gradient", "Hessian", "snake" };
  return names[static_cast<size_t>(end)];
}

/** A filter with its parameters, whatever its type. */
template <typename TImage>
struct ChainFilter
{
  typename ImageSource<TImage>::Pointer Source;
  std::function<void(const TImage *)>   SetInput;
  std::function<void()>                 SetParameters;
  std::function<void()>                 SpoilParameters;
};

template <typename TFilter, typename TImage = typename TFilter::InputImageType, typename TSet, typename TSpoil>
ChainFilter<TImage>
MakeChainFilter(CudaFiltersEnums::Backend backend, const TSet & set, const TSpoil & spoil)
{
  const auto filter = TFilter::New();
  filter->SetBackend(backend);
  return { filter.GetPointer(),
           [filter](const TImage * input) { filter->SetInput(input); },
           [filter, set] { set(filter.GetPointer()); },
           [filter, spoil] { spoil(filter.GetPointer()); } };
}

template <typename TImage>
ChainFilter<TImage>
MakeChainFilter(const ChainStep & step, CudaFiltersEnums::Backend backend)
{
  const auto withSigma = [step](auto * filter) { filter->SetSigma(step.Sigma); };
  const auto withoutSigma = [](auto * filter) { filter->SetSigma(0.0); };
  const auto inPlace = [step, withSigma](auto * filter) {
    withSigma(filter);
    filter->SetInPlace(step.InPlace);
  };
  switch (step.What)
  {
    case ChainStep::Kind::Smoothing:
      return MakeChainFilter<CudaSmoothingRecursiveGaussianImageFilter<TImage>>(backend, inPlace, withoutSigma);
    case ChainStep::Kind::OneAxis:
      return MakeChainFilter<CudaRecursiveGaussianImageFilter<TImage>>(
        backend,
        [step, inPlace](auto * filter) {
          inPlace(filter);
          filter->SetDirection(step.Axis);
        },
        withoutSigma);
    case ChainStep::Kind::Magnitude:
      return MakeChainFilter<CudaGradientMagnitudeRecursiveGaussianImageFilter<TImage>>(
        backend, withSigma, withoutSigma);
    case ChainStep::Kind::Laplacian:
      return MakeChainFilter<CudaLaplacianRecursiveGaussianImageFilter<TImage>>(backend, withSigma, withoutSigma);
    case ChainStep::Kind::Discrete:
      return MakeChainFilter<CudaDiscreteGaussianImageFilter<TImage>>(
        backend,
        [step](auto * filter) {
          filter->SetVariance(step.Sigma);
          filter->SetMaximumError(0.01);
        },
        [](auto * filter) { filter->SetMaximumError(2.0); });
    case ChainStep::Kind::Partitioned:
      break;
  }
  return MakeChainFilter<CudaPartitionedRecursiveGaussianImageFilter<TImage>>(backend, withSigma, withoutSigma);
}

/** The filters of a chain from an image of the host to an image of the host, with TBetween between them. */
template <typename TBetween>
class Chain
{
public:
  static constexpr unsigned int Dimension = TBetween::ImageDimension;
  using HostType = Image<float, Dimension>;

  Chain(const std::vector<ChainStep> & steps, ChainEnd end, CudaFiltersEnums::Backend backend)
    : m_Backend(backend)
  {
    for (const ChainStep & step : steps)
    {
      const auto filter = MakeChainFilter<TBetween>(step, backend);
      if (!m_Filters.empty())
      {
        filter.SetInput(m_Filters.back().Source->GetOutput());
        m_Filters.back().Source->SetReleaseDataFlag(step.InputIsReleased);
      }
      m_Filters.push_back(filter);
    }
    this->Begin();
    switch (end)
    {
      case ChainEnd::Image:
        this->EndInImage();
        break;
      case ChainEnd::Gradient:
        this->EndIn<
          CudaGradientRecursiveGaussianImageFilter<TBetween, Image<CovariantVector<float, Dimension>, Dimension>>>(
          [](auto & filter) { filter.SetSigma(1.5); });
        break;
      case ChainEnd::Hessian:
        this->EndIn<
          CudaHessianRecursiveGaussianImageFilter<TBetween,
                                                  Image<SymmetricSecondRankTensor<double, Dimension>, Dimension>>>(
          [](auto & filter) { filter.SetSigma(1.5); });
        break;
      case ChainEnd::Snake:
        if constexpr (Dimension == 2)
        {
          this->EndIn<CudaRegionSnakeImageFilter<TBetween, Image<unsigned char, 2>>>(
            [](auto & filter) { filter.SetNoiseLaw(CudaFiltersEnums::NoiseLaw::Gaussian); });
        }
        break;
    }
  }

  /** All that the case says of a chain that may have been used before. */
  void
  Prepare(const HostType * image)
  {
    m_SetImage(image);
    for (const ChainFilter<TBetween> & filter : m_Filters)
    {
      filter.SetParameters();
      if (!CudaIsDeviceImage<TBetween>::value)
      {
        filter.Source->Modified(); // ITK's filters in place leave a spoiled input behind when they are aborted
      }
    }
  }
  void
  SpoilParameters(size_t number) const
  {
    m_Filters[number % m_Filters.size()].SpoilParameters();
  }
  ProcessObject *
  GetFilter(size_t number) const
  {
    return m_Filters[number % m_Filters.size()].Source;
  }
  StressOutput
  GetOutput() const
  {
    return m_GetOutput();
  }
  void
  Update() const
  {
    m_Last->UpdateLargestPossibleRegion();
  }
  /** What ITK asks for after an exception: filters behind the one that failed still count as updating. */
  void
  ResetPipeline() const
  {
    m_Last->ResetPipeline();
  }

private:
  void
  Begin()
  {
    const ChainFilter<TBetween> & first = m_Filters.front();
    if constexpr (CudaIsDeviceImage<TBetween>::value)
    {
      const auto upload = CudaUploadImageFilter<HostType>::New();
      first.SetInput(upload->GetOutput());
      m_SetImage = [upload](const HostType * image) { upload->SetInput(image); };
    }
    else
    {
      m_SetImage = first.SetInput;
    }
  }

  void
  EndInImage()
  {
    typename ImageSource<HostType>::Pointer last;
    if constexpr (CudaIsDeviceImage<TBetween>::value)
    {
      const auto download = CudaDownloadImageFilter<TBetween>::New();
      download->SetInput(m_Filters.back().Source->GetOutput());
      last = download;
    }
    else
    {
      last = m_Filters.back().Source;
    }
    m_Last = last;
    m_GetOutput = [last] { return MakeStressOutput(last->GetOutput()); };
  }

  /** A filter whose output is an image of the host. */
  template <typename TFilter, typename TSet>
  void
  EndIn(const TSet & set)
  {
    const auto last = TFilter::New();
    last->SetInput(m_Filters.back().Source->GetOutput());
    last->SetBackend(m_Backend);
    set(*last);
    m_Last = last;
    m_GetOutput = [last] { return MakeStressOutput(last->GetOutput()); };
  }

  const CudaFiltersEnums::Backend       m_Backend;
  std::vector<ChainFilter<TBetween>>    m_Filters;
  std::function<void(const HostType *)> m_SetImage;
  ProcessObject::Pointer                m_Last;
  std::function<StressOutput()>         m_GetOutput;
};

template <unsigned int VDimension>
class ChainCase : public StressCase
{
public:
  using HostType = Image<float, VDimension>;
  using DeviceType = CudaDeviceImage<float, VDimension>;

  ChainCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : m_Image(MakeRandomImage<HostType>(random, LongestSide))
    , m_Backend(backend)
  {
    std::ostringstream text;
    text << "chain on " << m_Image->GetLargestPossibleRegion().GetSize() << " pixels:";
    const auto length = random.Integer(1, 5);
    for (uint64_t i = 0; i < length; ++i)
    {
      using Kind = ChainStep::Kind;
      const ChainStep step{
        random.Choose(
          { Kind::Smoothing, Kind::OneAxis, Kind::Magnitude, Kind::Laplacian, Kind::Discrete, Kind::Partitioned }),
        random.LogUniform(0.5, 10.0),
        static_cast<unsigned int>(random.Integer(0, VDimension - 1)),
        random.Chance(0.5),
        random.Chance(0.5)
      };
      m_Steps.push_back(step);
      text << ' ' << NameOf(step.What) << ' ' << step.Sigma << (step.InPlace ? " in place" : "")
           << (step.InputIsReleased ? " of a released input" : "") << ',';
    }
    m_End = random.Choose({ ChainEnd::Image, ChainEnd::Image, ChainEnd::Gradient, ChainEnd::Hessian, ChainEnd::Snake });
    if (m_End == ChainEnd::Snake && !IsLargeEnoughForSnake(m_Image))
    {
      m_End = ChainEnd::Image;
    }
    text << ' ' << NameOf(m_End) << ", " << CudaBackendToString(backend);
    m_Description = text.str();
  }

  /** The filters are new ones in every call: a shelf has one of each type. */
  StressResult
  Run(const StressCall & call) const override
  {
    return m_Backend == CudaFiltersEnums::Backend::Cuda ? this->RunChain<DeviceType>(call)
                                                        : this->RunChain<HostType>(call);
  }

private:
  static constexpr SizeValueType LongestSide = 600;

  static bool
  IsLargeEnoughForSnake(const HostType * image)
  {
    const auto size = image->GetLargestPossibleRegion().GetSize();
    return VDimension == 2 && *std::min_element(size.begin(), size.end()) >= 16;
  }

  template <typename TBetween>
  StressResult
  RunChain(const StressCall & call) const
  {
    Chain<TBetween> chain(m_Steps, m_End, m_Backend);
    StressResult    result;
    if (call.Fault != StressFault::None)
    {
      result.FaultCame = this->ProvokeFault(chain, call);
      chain.ResetPipeline();
    }
    const auto input = CopyPixels(m_Image.GetPointer()); // the first filter may write over it
    chain.Prepare(input);
    unsigned int events = 0;
    {
      std::optional<ScopedObserver> observer;
      if (call.Observed)
      {
        observer.emplace(chain.GetFilter(0), AnyEvent(), [&events] { ++events; });
      }
      chain.Update();
    }
    Require(call.Observed == (events > 0), "events reached no observer");
    result.Outputs.push_back(chain.GetOutput());
    if (call.Disconnected)
    {
      result.Outputs.back().Data->DisconnectPipeline();
    }
    return result;
  }

  template <typename TBetween>
  bool
  ProvokeFault(Chain<TBetween> & chain, const StressCall & call) const
  {
    const auto input = CopyPixels(m_Image.GetPointer());
    chain.Prepare(input);
    const auto update = [&chain] { chain.Update(); };
    switch (call.Fault)
    {
      case StressFault::Abort: {
        ProcessObject * const filter = chain.GetFilter(call.FaultEvent);
        const ScopedObserver  progress(filter, ProgressEvent(), [filter] { filter->AbortGenerateDataOn(); });
        return Throws<ProcessAborted>(update);
      }
      case StressFault::ThrowingObserver: {
        const ScopedObserver start(chain.GetFilter(call.FaultEvent), StartEvent(), [] { throw StressObserverError(); });
        Require(Throws<StressObserverError>(update), "what an observer threw was lost");
        return true;
      }
      case StressFault::BadParameter:
        chain.SpoilParameters(call.FaultEvent);
        Require(Throws<ExceptionObject>(update), "no exception for a parameter out of range");
        return true;
      case StressFault::ReleasedInput:
        input->ReleaseData();
        Require(Throws<ExceptionObject>(update), "no exception for an input without pixels");
        return true;
      case StressFault::None:
        break;
    }
    return false;
  }

  typename HostType::Pointer m_Image;
  std::vector<ChainStep>     m_Steps;
  ChainEnd                   m_End{ ChainEnd::Image };
  CudaFiltersEnums::Backend  m_Backend;
};
} // namespace

StressCasePointer
MakeChainStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  if (random.Chance(0.5))
  {
    return std::make_unique<ChainCase<2>>(random, backend);
  }
  return std::make_unique<ChainCase<3>>(random, backend);
}
} // namespace itk::cuda::test

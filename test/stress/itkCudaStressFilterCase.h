// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStressFilterCase_h
#define itkCudaStressFilterCase_h

#include "itkCudaDetailImageTraits.h"
#include "runtime/DetailNames.h"
#include "itkCudaStressCase.h"
#include "contract/itkCudaTypedContractCall.h"
#include "itkNumericTraits.h"

#include <algorithm>
#include <cxxabi.h>
#include <functional>
#include <optional>
#include <stdexcept>
#include <typeinfo>

namespace itk::cuda::test
{
// ------------------------------------------------------------------------------------------------------------------
// random images

/** Sides up to `longest` pixels in two dimensions, and up to 110 in three. */
template <typename TImage>
typename TImage::RegionType
MakeRandomRegion(StressRandom & random, SizeValueType longest)
{
  const auto                  side = static_cast<double>(longest);
  typename TImage::RegionType region;
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    const bool flat = TImage::ImageDimension == 2;
    region.SetSize(d,
                   flat ? (random.Chance(0.5) ? random.Integer(8, longest)
                                              : static_cast<SizeValueType>(random.LogUniform(8.0, side)))
                        : random.Integer(8, std::min<SizeValueType>(longest, 110)));
    region.SetIndex(d, static_cast<IndexValueType>(random.Integer(0, 40)) - 20);
  }
  return region;
}

/** Half of the images are turned. */
template <typename TImage>
void
SetRandomGeometry(TImage * image, StressRandom & random)
{
  typename TImage::SpacingType   spacing;
  typename TImage::DirectionType direction;
  direction.SetIdentity();
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    spacing[d] = random.Uniform(0.5, 2.0);
  }
  if (random.Chance(0.5))
  {
    const double angle = random.Uniform(-3.0, 3.0);
    direction[0][0] = direction[1][1] = std::cos(angle);
    direction[0][1] = -std::sin(angle);
    direction[1][0] = std::sin(angle);
  }
  image->SetSpacing(spacing);
  image->SetDirection(direction);
}

/** Pixels from 0 to 100, which every component type can hold. */
template <typename TImage>
typename TImage::Pointer
MakeRandomImage(StressRandom & random, SizeValueType longest)
{
  using ComponentType = typename CudaImageTraits<TImage>::ComponentType;
  const auto image = TImage::New();
  image->SetRegions(MakeRandomRegion<TImage>(random, longest));
  if (image->GetNumberOfComponentsPerPixel() == 0)
  {
    image->SetNumberOfComponentsPerPixel(random.Integer(2, 4)); // a VectorImage
  }
  SetRandomGeometry(image.GetPointer(), random);
  image->Allocate();
  auto * const components = reinterpret_cast<ComponentType *>(image->GetBufferPointer());
  const size_t number = image->GetBufferedRegion().GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel();
  std::generate_n(components, number, [&random] { return static_cast<ComponentType>(random.Uniform(0.0, 100.0)); });
  return image;
}

/** An image of its own with the pixels of another. */
template <typename TImage>
typename TImage::Pointer
SharePixels(const TImage * image)
{
  const auto result = TImage::New();
  result->Graft(image);
  return result;
}

template <typename TImage>
typename TImage::Pointer
CopyPixels(const TImage * image)
{
  const auto result = SharePixels(image);
  result->SetPixelContainer(TImage::PixelContainer::New());
  result->Allocate();
  std::copy_n(image->GetBufferPointer(), image->GetPixelContainer()->Size(), result->GetBufferPointer());
  return result;
}

// ------------------------------------------------------------------------------------------------------------------
// outputs

template <typename TImage>
size_t
GetPixelBytes(const TImage * image)
{
  return image->GetBufferedRegion().GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel() *
         sizeof(typename CudaImageTraits<TImage>::ComponentType);
}

template <typename TImage>
uint64_t
HashImage(const DataObject * data)
{
  const auto * const image = static_cast<const TImage *>(data);
  const auto         region = image->GetBufferedRegion();
  uint64_t           hash = 0;
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    const int64_t numbers[] = { region.GetIndex(d), static_cast<int64_t>(region.GetSize(d)) };
    hash = HashBytes(numbers, sizeof(numbers), hash);
  }
  return HashBytes(image->GetBufferPointer(), GetPixelBytes(image), hash);
}

template <typename TImage>
StressOutput
MakeStressOutput(TImage * image)
{
  return { image, HashImage<TImage>, HashImage<TImage>(image), GetPixelBytes(image) };
}

// ------------------------------------------------------------------------------------------------------------------
// calls of filters

inline void
Require(bool condition, const std::string & otherwise)
{
  if (!condition)
  {
    throw std::runtime_error(otherwise);
  }
}

/** Whether a call ends with an exception of this type; others pass. */
template <typename TException, typename TFunction>
bool
Throws(const TFunction & function)
{
  try
  {
    function();
  }
  catch (const TException &)
  {
    return true;
  }
  return false;
}

/** What an observer throws. */
class StressObserverError : public ExceptionObject
{
public:
  StressObserverError()
    : ExceptionObject(__FILE__, __LINE__, "thrown by an observer")
  {}
};

/** A call of TFilter. */
template <typename TFilter>
class StressFilterCase
  : public StressCase
  , public ContractCase
{
public:
  using InputImageType = typename TFilter::InputImageType;
  using OutputImageType = typename TFilter::OutputImageType;
  using RegionType = typename OutputImageType::RegionType;

  StressFilterCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressFilterCase(MakeRandomImage<InputImageType>(random, random.GetLongestSide()), backend)
  {}
  StressFilterCase(typename InputImageType::Pointer image, CudaFiltersEnums::Backend backend)
    : m_Image(image)
    , m_Backend(backend)
  {}

  /** Whether ITK's own class does the work on the host. */
  bool IsItkOnTheHost{ false };
  /** Set all parameters of the filter, which may have been used before; and one of them out of range. */
  std::function<void(TFilter *)> SetParameters;
  std::function<void(TFilter *)> SpoilParameters;

  const InputImageType *
  GetImage() const
  {
    return m_Image;
  }

  /** Asks for a part of the output instead of the whole. */
  void
  RequestRandomPart(StressRandom & random)
  {
    m_Part = m_Image->GetLargestPossibleRegion();
    for (unsigned int d = 0; d < RegionType::ImageDimension; ++d)
    {
      const auto begin = random.Integer(0, m_Part->GetSize(d) - 1);
      const auto size = random.Integer(1, m_Part->GetSize(d) - begin);
      m_Part->SetIndex(d, m_Part->GetIndex(d) + static_cast<IndexValueType>(begin));
      m_Part->SetSize(d, size);
    }
  }

  /** Lets the filter overwrite its input, of which each call gets a copy. */
  void
  CopyInput()
  {
    m_CopyInput = true;
  }

  void
  Describe(const std::string & parameters)
  {
    std::ostringstream text;
    const auto         region = m_Image->GetLargestPossibleRegion();
    int                status = 0;
    char * const       name = abi::__cxa_demangle(typeid(TFilter).name(), nullptr, nullptr, &status);
    text << name << " of " << region.GetSize() << " pixels from " << region.GetIndex() << ", "
         << m_Image->GetNumberOfComponentsPerPixel() << " components, spacing " << m_Image->GetSpacing() << ", "
         << parameters;
    std::free(name);
    if (m_Part)
    {
      text << ", requested " << m_Part->GetSize() << " from " << m_Part->GetIndex();
    }
    text << ", " << CudaBackendToString(m_Backend);
    m_Description = text.str();
  }

  std::unique_ptr<ContractCall>
  Begin() const override
  {
    const auto getBits = [this](TFilter * filter) {
      std::vector<uint64_t> bits;
      for (const StressOutput & output : this->GetOutputs(filter))
      {
        bits.push_back(output.Bits);
      }
      return bits;
    };
    return std::make_unique<TypedContractCall<TFilter>>(
      CopyPixels(GetImage()), m_Backend, SetParameters, SpoilParameters, getBits);
  }

  bool
  RunsITKOnTheHost() const override
  {
    return IsItkOnTheHost;
  }

  StressResult
  Run(const StressCall & call) const override
  {
    const typename TFilter::Pointer filter =
      call.Shelf ? call.Shelf->template Get<TFilter>() : TFilter::New().GetPointer();
    StressResult result;
    if (call.Fault != StressFault::None)
    {
      const auto input = this->Prepare(filter);
      result.FaultCame = this->ProvokeFault(filter, input, call);
    }
    this->Prepare(filter);
    unsigned int events = 0;
    {
      std::optional<ScopedObserver> observer;
      if (call.Observed)
      {
        observer.emplace(filter.GetPointer(), AnyEvent(), [&events] { ++events; });
      }
      this->Update(filter);
    }
    Require(call.Observed == (events > 0), "events reached no observer");
    Require(filter->GetBackendUsed() == m_Backend, "it ran on another backend: " + filter->GetBackendReason());
    result.Outputs = this->GetOutputs(filter);
    for (const StressOutput & output : result.Outputs)
    {
      if (call.Disconnected)
      {
        output.Data->DisconnectPipeline();
      }
    }
    return result;
  }

protected:
  virtual std::vector<StressOutput>
  GetOutputs(TFilter * filter) const
  {
    return { MakeStressOutput(filter->GetOutput()) };
  }

private:
  /** Gives the filter all that the case says, and returns the input. */
  typename InputImageType::Pointer
  Prepare(TFilter * filter) const
  {
    const auto input = m_CopyInput ? CopyPixels(GetImage()) : SharePixels(GetImage());
    filter->SetInput(input);
    SetParameters(filter);
    filter->SetBackend(m_Backend);
    return input;
  }

  void
  Update(TFilter * filter) const
  {
    if (m_Part)
    {
      filter->GetOutput()->SetRequestedRegion(*m_Part);
      filter->Update();
    }
    else
    {
      filter->UpdateLargestPossibleRegion();
    }
  }

  /** Whether the fault came: observers may wait for an event that the run does not reach. */
  bool
  ProvokeFault(TFilter * filter, InputImageType * input, const StressCall & call) const
  {
    switch (call.Fault)
    {
      case StressFault::Abort:
        return this->UpdateWithObserver<ProcessAborted>(
          filter, call.FaultEvent, [filter] { filter->AbortGenerateDataOn(); });
      case StressFault::ThrowingObserver:
        if (IsItkOnTheHost && m_Backend == CudaFiltersEnums::Backend::Host)
        {
          return false; // ITK's classes report progress from a destructor, which may not throw
        }
        return this->UpdateWithObserver<StressObserverError>(
          filter, call.FaultEvent, [] { throw StressObserverError(); });
      case StressFault::BadParameter:
        SpoilParameters(filter);
        Require(this->UpdateThrows<ExceptionObject>(filter), "no exception for a parameter out of range");
        return true;
      case StressFault::ReleasedInput:
        input->ReleaseData();
        Require(this->UpdateThrows<ExceptionObject>(filter), "no exception for an input without pixels");
        return true;
      case StressFault::None:
        break;
    }
    return false;
  }

  template <typename TException>
  bool
  UpdateThrows(TFilter * filter) const
  {
    return Throws<TException>([&] { this->Update(filter); });
  }

  template <typename TException, typename TAction>
  bool
  UpdateWithObserver(TFilter * filter, unsigned int event, const TAction & action) const
  {
    unsigned int events = 0;
    const auto   observe = [&events, event, &action] {
      if (++events == event)
      {
        action();
      }
    };
    const ScopedObserver progress(filter, ProgressEvent(), observe);
    const ScopedObserver iterations(filter, IterationEvent(), observe);
    return this->UpdateThrows<TException>(filter);
  }

  typename InputImageType::Pointer m_Image;
  CudaFiltersEnums::Backend        m_Backend;
  std::optional<RegionType>        m_Part;
  bool                             m_CopyInput{ false };
};

/** A case of one of the filters that a kind is tried with. */
template <template <typename> class TCase, typename... TFilters>
StressCasePointer
MakeCaseOfType(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  using MakerType = StressCasePointer (*)(StressRandom &, CudaFiltersEnums::Backend);
  constexpr MakerType makers[] = { [](StressRandom & r, CudaFiltersEnums::Backend b) -> StressCasePointer {
    return std::make_unique<TCase<TFilters>>(r, b);
  }... };
  return makers[random.Integer(0, sizeof...(TFilters) - 1)](random, backend);
}
} // namespace itk::cuda::test

#endif

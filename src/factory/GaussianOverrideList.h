// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_factory_GaussianOverrideList_h
#define CudaFilters_factory_GaussianOverrideList_h

#include "itkCovariantVector.h"
#include "factory/GaussianOverride.h"
#include "itkImage.h"
#include "itkSymmetricSecondRankTensor.h"

#include <type_traits>
#include <typeinfo>

// The instantiations that the factory overrides, by the types and dimensions of their images. Each takes about a second
// of compile time.

namespace itk::cuda
{
template <typename... TComponents>
struct ComponentList
{};

/** The types of input pixels in two and three dimensions. */
using InputComponents = ComponentList<unsigned char, short, unsigned short, int, float, double>;

/** The types of input pixels in four dimensions. ITK's Python package has these types. */
using FourDimensionalComponents = ComponentList<unsigned char, short, unsigned short, float, double>;

/** The type of the internal images of ITK's composite filters. */
using InternalComponent = float;

/** The component types of the outputs of the gradient and the Hessian: double, which is the default because it is
 * NumericTraits<>::RealType of every input, and float. */
using DerivativeComponents = ComponentList<double, float>;

// --- names, as a program spells them

// clang-format off
template <typename T> constexpr const char * ComponentName = nullptr;
template <> inline constexpr const char * ComponentName<unsigned char> = "unsigned char";
template <> inline constexpr const char * ComponentName<short> = "short";
template <> inline constexpr const char * ComponentName<unsigned short> = "unsigned short";
template <> inline constexpr const char * ComponentName<int> = "int";
template <> inline constexpr const char * ComponentName<float> = "float";
template <> inline constexpr const char * ComponentName<double> = "double";
// clang-format on

template <typename T>
struct PixelName
{
  static std::string
  Get()
  {
    return ComponentName<T>;
  }
};

template <typename T, unsigned int VLength>
struct PixelName<CovariantVector<T, VLength>>
{
  static std::string
  Get()
  {
    return std::string("CovariantVector<") + ComponentName<T> + ", " + std::to_string(VLength) + '>';
  }
};

template <typename T, unsigned int VDimension>
struct PixelName<SymmetricSecondRankTensor<T, VDimension>>
{
  static std::string
  Get()
  {
    return std::string("SymmetricSecondRankTensor<") + ComponentName<T> + ", " + std::to_string(VDimension) + '>';
  }
};

template <typename TImage>
std::string
GetImageName()
{
  return "Image<" + PixelName<typename TImage::PixelType>::Get() + ", " + std::to_string(TImage::ImageDimension) + '>';
}

// --- one override

/** Prepares a filter that the factory has created. The general version does nothing. Overloads must be in the filter's
 * namespace. */
template <typename TFilter>
void
PrepareOverride(TFilter &)
{}

template <typename TFilter>
class CreateOverrideFunction : public CreateObjectFunctionBase
{
public:
  using Self = CreateOverrideFunction;
  using Pointer = SmartPointer<Self>;

  itkFactorylessNewMacro(Self);

  LightObject::Pointer
  CreateObject() override
  {
    const auto filter = TFilter::New();
    PrepareOverride(*filter);
    return filter.GetPointer();
  }

protected:
  CreateOverrideFunction() = default;
  ~CreateOverrideFunction() override = default;
};

/** Collects the overrides of one class template of ITK by a template of this module. `name` is the name of ITK's
 * template. */
template <template <typename, typename> class TItkFilter, template <typename, typename> class TCudaFilter>
class OverrideList
{
public:
  explicit OverrideList(const char * name)
    : m_Name(name)
  {}

  template <typename TInputImage, typename TOutputImage>
  void
  Add()
  {
    using ItkFilterType = TItkFilter<TInputImage, TOutputImage>;
    using CudaFilterType = TCudaFilter<TInputImage, TOutputImage>;
    m_Overrides.push_back({ typeid(ItkFilterType).name(),
                            typeid(CudaFilterType).name(),
                            m_Name + '<' + GetImageName<TInputImage>() + ", " + GetImageName<TOutputImage>() + '>',
                            CreateOverrideFunction<CudaFilterType>::New().GetPointer() });
  }

  /** Adds outputs of the input's type, float and double in two and three dimensions, and outputs of the input's type in
   * four dimensions. */
  void
  AddScalarOutputs()
  {
    this->AddScalarOutputs<2>(InputComponents());
    this->AddScalarOutputs<3>(InputComponents());
    this->AddSameOutputs<4>(FourDimensionalComponents());
  }

  template <unsigned int VDimension, typename... TComponents>
  void
  AddSameOutputs(ComponentList<TComponents...>)
  {
    (this->Add<Image<TComponents, VDimension>, Image<TComponents, VDimension>>(), ...);
  }

  template <unsigned int VDimension, typename... TComponents>
  void
  AddInternalOutputs(ComponentList<TComponents...>)
  {
    (this->AddUnlessSame<TComponents, InternalComponent, VDimension>(), ...);
  }

  /** Adds outputs with pixels of type TPixel<component, VDimension>. */
  template <template <typename, unsigned int> class TPixel, unsigned int VDimension, typename... TComponents>
  void
  AddDerivativeOutputs(ComponentList<TComponents...>)
  {
    (this->AddDerivativesOf<TPixel, VDimension, TComponents>(DerivativeComponents()), ...);
  }

  const GaussianOverrides &
  Get() const
  {
    return m_Overrides;
  }

private:
  template <typename TInput, typename TOutput, unsigned int VDimension>
  void
  AddUnlessSame()
  {
    if constexpr (!std::is_same_v<TInput, TOutput>)
    {
      this->Add<Image<TInput, VDimension>, Image<TOutput, VDimension>>();
    }
  }

  template <unsigned int VDimension, typename... TComponents>
  void
  AddScalarOutputs(ComponentList<TComponents...> inputs)
  {
    this->AddSameOutputs<VDimension>(inputs);
    (this->AddUnlessSame<TComponents, float, VDimension>(), ...);
    (this->AddUnlessSame<TComponents, double, VDimension>(), ...);
  }

  template <template <typename, unsigned int> class TPixel,
            unsigned int VDimension,
            typename TInput,
            typename... TOutputs>
  void
  AddDerivativesOf(ComponentList<TOutputs...>)
  {
    (this->Add<Image<TInput, VDimension>, Image<TPixel<TOutputs, VDimension>, VDimension>>(), ...);
  }

  const std::string m_Name;
  GaussianOverrides m_Overrides;
};
} // namespace itk::cuda

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_factory_GaussianOverrideList_h
#define CudaFilters_factory_GaussianOverrideList_h

#include "itkCovariantVector.h"
#include "itkFixedArray.h"
#include "factory/GaussianOverride.h"
#include "itkImage.h"
#include "itkSymmetricSecondRankTensor.h"

#include <type_traits>
#include <typeinfo>

// Lists the overrides of one class of ITK by the types of its images.

namespace itk::cuda
{
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

template <typename T, unsigned int VLength>
struct PixelName<FixedArray<T, VLength>>
{
  static std::string
  Get()
  {
    return std::string("FixedArray<") + ComponentName<T> + ", " + std::to_string(VLength) + '>';
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

/** Adds the overrides of one class template of ITK by a template of this module to a list. `name` is the name of ITK's
 * template. */
template <template <typename...> class TItkFilter, template <typename...> class TCudaFilter>
class OverrideList
{
public:
  OverrideList(const char * name, GaussianOverrides & overrides)
    : m_Name(name)
    , m_Overrides(overrides)
  {}

  /** Adds the override for these types of images. */
  template <typename... TImages>
  void
  Add()
  {
    using ItkFilterType = TItkFilter<TImages...>;
    using CudaFilterType = TCudaFilter<TImages...>;
    std::string images;
    ((images += (images.empty() ? "" : ", ") + GetImageName<TImages>()), ...);
    m_Overrides.push_back({ typeid(ItkFilterType).name(),
                            typeid(CudaFilterType).name(),
                            std::string(m_Name) + '<' + images + '>',
                            CreateOverrideFunction<CudaFilterType>::New().GetPointer() });
  }

  /** Adds outputs of the input's type and, in two and three dimensions, of float and double. */
  template <unsigned int VDimension, typename... TInputs>
  void
  AddScalarOutputs()
  {
    (this->Add<Image<TInputs, VDimension>, Image<TInputs, VDimension>>(), ...);
    if constexpr (VDimension < 4)
    {
      (this->AddUnlessSame<TInputs, float, VDimension>(), ...);
      (this->AddUnlessSame<TInputs, double, VDimension>(), ...);
    }
  }

  template <typename TInput, typename TOutput, unsigned int VDimension>
  void
  AddUnlessSame()
  {
    if constexpr (!std::is_same_v<TInput, TOutput>)
    {
      this->Add<Image<TInput, VDimension>, Image<TOutput, VDimension>>();
    }
  }

  /** Adds outputs with pixels of type TPixel<component, VDimension>, whose components are double, which is the default
   * because it is NumericTraits<>::RealType of every input, and float. */
  template <template <typename, unsigned int> class TPixel, unsigned int VDimension, typename... TInputs>
  void
  AddDerivativeOutputs()
  {
    (this->Add<Image<TInputs, VDimension>, Image<TPixel<double, VDimension>, VDimension>>(), ...);
    (this->Add<Image<TInputs, VDimension>, Image<TPixel<float, VDimension>, VDimension>>(), ...);
  }

private:
  const char * const  m_Name;
  GaussianOverrides & m_Overrides;
};
} // namespace itk::cuda

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaTypedContractCall_h
#define itkCudaTypedContractCall_h

#include "itkCudaContractCall.h"
#include "itkCudaDetailImageTraits.h"
#include "runtime/DetailNames.h"
#include "itkInPlaceImageFilter.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace itk::cuda::test
{
template <typename TImage>
ContractRegion
MakeContractRegion(const typename TImage::RegionType & region)
{
  ContractRegion result;
  result.Dimension = TImage::ImageDimension;
  std::copy_n(region.GetIndex().begin(), TImage::ImageDimension, result.Index.begin());
  std::copy_n(region.GetSize().begin(), TImage::ImageDimension, result.Size.begin());
  return result;
}

template <typename TImage>
ContractPixels
MakeContractPixels(const TImage * image)
{
  using ComponentType = typename CudaImageTraits<TImage>::ComponentType;
  return { MakeContractRegion<TImage>(image->GetBufferedRegion()),
           reinterpret_cast<const unsigned char *>(image->GetBufferPointer()),
           image->GetNumberOfComponentsPerPixel() * sizeof(ComponentType) };
}

template <unsigned int VDimension>
ContractGeometry
MakeContractGeometry(const ImageBase<VDimension> * image)
{
  ContractGeometry geometry;
  const auto       largest = image->GetLargestPossibleRegion();
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    geometry.insert(geometry.end(),
                    { image->GetSpacing()[d],
                      image->GetOrigin()[d],
                      static_cast<double>(largest.GetIndex(d)),
                      static_cast<double>(largest.GetSize(d)) });
    for (unsigned int e = 0; e < VDimension; ++e)
    {
      geometry.push_back(image->GetDirection()[d][e]);
    }
  }
  return geometry;
}

/** What all calls of TFilter have in common. */
template <typename TFilter, typename TCall>
class TypedFilterCall : public TCall
{
public:
  using BackendEnum = CudaFiltersEnums::Backend;
  using FilterFunction = std::function<void(TFilter *)>;

  explicit TypedFilterCall(const FilterFunction & spoilParameters)
    : m_SpoilParameters(spoilParameters)
  {}

  ProcessObject *
  GetFilter() override
  {
    return m_Filter;
  }
  void
  Spoil() override
  {
    m_SpoilParameters(m_Filter);
  }
  void
  SetBackendByName(const std::string & name) override
  {
    m_Filter->SetBackend(name);
  }
  void
  SetDeviceIndex(int index) override
  {
    m_Filter->SetDeviceIndex(index);
  }
  BackendEnum
  GetBackendUsed() const override
  {
    return m_Filter->GetBackendUsed();
  }
  std::string
  GetBackendReason() const override
  {
    return m_Filter->GetBackendReason();
  }
  bool
  CanRunInPlace() const override
  {
    if constexpr (HasInPlace)
    {
      return m_Filter->CanRunInPlace();
    }
    return false;
  }

protected:
  static constexpr bool HasInPlace =
    std::is_base_of_v<InPlaceImageFilter<typename TFilter::InputImageType, typename TFilter::OutputImageType>, TFilter>;

  const typename TFilter::Pointer m_Filter{ TFilter::New() };

private:
  const FilterFunction m_SpoilParameters;
};

/** A call of TFilter. */
template <typename TFilter>
class TypedContractCall : public TypedFilterCall<TFilter, ContractCall>
{
  using Superclass = TypedFilterCall<TFilter, ContractCall>;
  using Superclass::m_Filter;

public:
  using BackendEnum = CudaFiltersEnums::Backend;
  using InputImageType = typename TFilter::InputImageType;
  using OutputImageType = typename TFilter::OutputImageType;
  using InputComponentType = typename CudaImageTraits<InputImageType>::ComponentType;
  using OutputComponentType = typename CudaImageTraits<OutputImageType>::ComponentType;
  using FilterFunction = typename Superclass::FilterFunction;
  using BitsFunction = std::function<std::vector<uint64_t>(TFilter *)>;

  TypedContractCall(typename InputImageType::Pointer input,
                    BackendEnum                      backend,
                    const FilterFunction &           setParameters,
                    const FilterFunction &           spoilParameters,
                    const BitsFunction &             getBits)
    : Superclass(spoilParameters)
    , m_Input(input)
    , m_SetParameters(setParameters)
    , m_GetBits(getBits)
  {
    m_Filter->SetInput(m_Input);
    this->SetParameters();
    m_Filter->SetBackend(backend);
  }

  void
  SetParameters() override
  {
    m_SetParameters(m_Filter);
    this->SetInPlace(false);
  }
  bool
  SetParametersOf(const ContractCall & other) override
  {
    const auto * const call = dynamic_cast<const TypedContractCall *>(&other);
    if (call)
    {
      call->m_SetParameters(m_Filter);
      this->SetInPlace(false);
    }
    return call;
  }
  void
  SetBackend(BackendEnum backend) override
  {
    m_Filter->SetBackend(backend);
  }
  void
  SetDeviceMemoryLimit(size_t bytes) override
  {
    m_Filter->SetDeviceMemoryLimit(bytes);
  }
  BackendEnum
  GetBackend() const override
  {
    return m_Filter->GetBackend();
  }
  int
  GetDeviceIndex() const override
  {
    return m_Filter->GetDeviceIndex();
  }
  bool
  SetInPlace([[maybe_unused]] bool inPlace) override
  {
    if constexpr (Superclass::HasInPlace)
    {
      m_Filter->SetInPlace(inPlace);
    }
    return this->CanRunInPlace();
  }

  void
  RemoveInput() override
  {
    m_Filter->SetInput(nullptr);
  }
  void
  ReleaseInput() override
  {
    m_Input->ReleaseData();
  }
  void
  FillInput(double value) override
  {
    std::fill_n(reinterpret_cast<InputComponentType *>(m_Input->GetBufferPointer()),
                this->GetInputPixels().GetNumberOfBytes() / sizeof(InputComponentType),
                static_cast<InputComponentType>(value));
    m_Input->Modified();
  }
  ContractPixels
  GetInputPixels() const override
  {
    return MakeContractPixels(m_Input.GetPointer());
  }
  ContractPixels
  GetOutputPixels() const override
  {
    return MakeContractPixels(m_Filter->GetOutput());
  }
  ContractGeometry
  GetInputGeometry() const override
  {
    return MakeContractGeometry<InputImageType::ImageDimension>(m_Input);
  }
  ContractGeometry
  GetOutputGeometry() const override
  {
    return MakeContractGeometry<OutputImageType::ImageDimension>(m_Filter->GetOutput());
  }
  std::vector<double>
  GetOutputValues() const override
  {
    const ContractPixels pixels = this->GetOutputPixels();
    const auto * const   begin = reinterpret_cast<const OutputComponentType *>(pixels.Data);
    return { begin, begin + pixels.GetNumberOfBytes() / sizeof(OutputComponentType) };
  }

  void
  GiveOutputMemory() override
  {
    using ElementType = typename OutputImageType::PixelContainer::Element;
    m_Filter->UpdateOutputInformation();
    OutputImageType * const output = m_Filter->GetOutput();
    const size_t            bytes = output->GetLargestPossibleRegion().GetNumberOfPixels() *
                         output->GetNumberOfComponentsPerPixel() * sizeof(OutputComponentType);
    m_Memory.assign(bytes / sizeof(ElementType) + GuardElements, ElementType{});
    std::memset(static_cast<void *>(m_Memory.data()), Pattern, m_Memory.size() * sizeof(ElementType));
    m_Container = OutputImageType::PixelContainer::New();
    m_Container->SetImportPointer(m_Memory.data(), m_Memory.size() - GuardElements, false);
    output->SetPixelContainer(m_Container);
  }
  bool
  UsesGivenMemory() const override
  {
    return static_cast<const void *>(m_Filter->GetOutput()->GetBufferPointer()) == m_Memory.data();
  }
  bool
  IsGivenMemoryIntact() const override
  {
    const auto * const begin =
      reinterpret_cast<const unsigned char *>(m_Memory.data() + m_Memory.size() - GuardElements);
    const auto * const end = reinterpret_cast<const unsigned char *>(m_Memory.data() + m_Memory.size());
    return std::all_of(begin, end, [](unsigned char byte) { return byte == Pattern; });
  }

  void
  Request(const ContractRegion & region) override
  {
    typename OutputImageType::RegionType requested;
    for (unsigned int d = 0; d < OutputImageType::ImageDimension; ++d)
    {
      requested.SetIndex(d, region.Index[d]);
      requested.SetSize(d, region.Size[d]);
    }
    m_Filter->GetOutput()->SetRequestedRegion(requested);
  }
  void
  Update() override
  {
    m_Filter->Update();
  }
  void
  UpdateWhole() override
  {
    m_Filter->UpdateLargestPossibleRegion();
  }
  std::vector<uint64_t>
  GetBits() override
  {
    return m_GetBits(m_Filter);
  }

private:
  static constexpr size_t        GuardElements = 64;
  static constexpr unsigned char Pattern = 0x5A;

  const typename InputImageType::Pointer                         m_Input;
  const FilterFunction                                           m_SetParameters;
  const BitsFunction                                             m_GetBits;
  std::vector<typename OutputImageType::PixelContainer::Element> m_Memory;
  typename OutputImageType::PixelContainer::Pointer              m_Container;
};
} // namespace itk::cuda::test

#endif

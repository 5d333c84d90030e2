// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDeviceCall.h"
#include "itkCudaTypedContractCall.h"
#include "itkCudaDeviceImage.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkCudaStructureTensorImageFilter.h"
#include "itkCudaSymmetricEigenAnalysisImageFilter.h"
#include "itkImage.h"
#include "itkSymmetricSecondRankTensor.h"
#include "itkVector.h"
#include "support/itkCudaFakeDeviceMemory.h"

namespace itk::cuda::test
{
namespace
{
/** The snake has a parameter without a default. */
template <typename TFilter>
constexpr bool IsSnake = false;
template <typename TInput, typename TOutput>
constexpr bool IsSnake<CudaRegionSnakeImageFilter<TInput, TOutput>> = true;

template <typename TFilter>
class TypedDeviceCall : public TypedFilterCall<TFilter, DeviceCall>
{
  using Superclass = TypedFilterCall<TFilter, DeviceCall>;
  using Superclass::m_Filter;

public:
  using InputImageType = typename TFilter::InputImageType;
  using OutputImageType = typename TFilter::OutputImageType;

  using Superclass::Superclass;

  void
  SetInput(bool hasPixels) override
  {
    m_Input = InputImageType::New();
    m_Input->SetRegions(InputImageType::SizeType::Filled(8));
    if constexpr (CudaIsDeviceImage<InputImageType>::value)
    {
      if (hasPixels)
      {
        m_Input->SetDeviceView(MakeFakeView(m_Input.GetPointer(), 8));
      }
    }
    else if (hasPixels)
    {
      m_Input->Allocate(true);
    }
    m_Filter->SetInput(m_Input);
    if constexpr (IsSnake<TFilter>)
    {
      m_Filter->SetNoiseLaw("gaussian");
    }
  }
  bool
  RequestsWhole() override
  {
    const typename InputImageType::RegionType part(InputImageType::IndexType::Filled(1),
                                                   InputImageType::SizeType::Filled(2));
    m_Filter->UpdateOutputInformation();
    m_Input->SetRequestedRegion(part);
    m_Filter->GetOutput()->SetRequestedRegion(part);
    m_Filter->GetOutput()->PropagateRequestedRegion();
    return m_Filter->GetOutput()->GetRequestedRegion() == m_Input->GetLargestPossibleRegion() &&
           m_Input->GetRequestedRegion() == m_Input->GetLargestPossibleRegion();
  }
  bool
  IsOutputAllocated() const override
  {
    if constexpr (CudaIsDeviceImage<OutputImageType>::value)
    {
      return m_Filter->GetOutput()->IsAllocated();
    }
    else
    {
      return m_Filter->GetOutput()->GetBufferPointer() != nullptr;
    }
  }

private:
  typename InputImageType::Pointer m_Input;
};

template <template <typename, typename> class TFilter,
          typename TInput,
          typename TOutput,
          unsigned int VDimension = 3,
          typename TSpoil>
DeviceCallPointer
MakeCall(DeviceSides sides, const TSpoil & spoil)
{
  using HostInput = Image<TInput, VDimension>;
  using HostOutput = Image<TOutput, VDimension>;
  using DeviceInput = CudaDeviceImage<TInput, VDimension>;
  using DeviceOutput = CudaDeviceImage<TOutput, VDimension>;
  switch (sides)
  {
    case DeviceSides::Output:
      return std::make_unique<TypedDeviceCall<TFilter<HostInput, DeviceOutput>>>(spoil);
    case DeviceSides::Input:
      return std::make_unique<TypedDeviceCall<TFilter<DeviceInput, HostOutput>>>(spoil);
    case DeviceSides::Both:
      break;
  }
  return std::make_unique<TypedDeviceCall<TFilter<DeviceInput, DeviceOutput>>>(spoil);
}

constexpr auto SpoilSigma = [](auto * filter) { filter->SetSigma(-1.0); };

using Tensor = SymmetricSecondRankTensor<float, 3>;
} // namespace

DeviceCallPointer
MakeRecursiveDeviceCall(DeviceSides sides)
{
  return MakeCall<CudaRecursiveGaussianImageFilter, float, float>(sides, SpoilSigma);
}

DeviceCallPointer
MakeSmoothingDeviceCall(DeviceSides sides)
{
  return MakeCall<CudaSmoothingRecursiveGaussianImageFilter, float, float>(sides, SpoilSigma);
}

DeviceCallPointer
MakeMagnitudeDeviceCall(DeviceSides sides)
{
  return MakeCall<CudaGradientMagnitudeRecursiveGaussianImageFilter, float, float>(sides, SpoilSigma);
}

DeviceCallPointer
MakeLaplacianDeviceCall(DeviceSides sides)
{
  return MakeCall<CudaLaplacianRecursiveGaussianImageFilter, float, float>(sides, SpoilSigma);
}

DeviceCallPointer
MakeGradientDeviceCall(DeviceSides sides)
{
  return MakeCall<CudaGradientRecursiveGaussianImageFilter, float, CovariantVector<float, 3>>(sides, SpoilSigma);
}

DeviceCallPointer
MakeHessianDeviceCall(DeviceSides sides)
{
  return MakeCall<CudaHessianRecursiveGaussianImageFilter, float, Tensor>(sides, SpoilSigma);
}

DeviceCallPointer
MakeDiscreteDeviceCall(DeviceSides sides)
{
  return MakeCall<CudaDiscreteGaussianImageFilter, float, float>(sides, [](auto * filter) {
    filter->SetVariance(1.0);
    filter->SetMaximumError(2.0);
  });
}

DeviceCallPointer
MakePartitionedDeviceCall(DeviceSides sides)
{
  return MakeCall<CudaPartitionedRecursiveGaussianImageFilter, float, float>(
    sides, [](auto * filter) { filter->SetLinesPerBlock(5); });
}

DeviceCallPointer
MakeStructureTensorDeviceCall(DeviceSides sides)
{
  return MakeCall<CudaStructureTensorImageFilter, float, Tensor>(sides, SpoilSigma);
}

DeviceCallPointer
MakeEigenvaluesDeviceCall(DeviceSides sides)
{
  return MakeCall<CudaSymmetricEigenAnalysisImageFilter, Tensor, Vector<float, 3>>(
    sides, [](auto * filter) { filter->SetDimension(5); });
}

DeviceCallPointer
MakeSnakeDeviceCall(DeviceSides sides)
{
  return MakeCall<CudaRegionSnakeImageFilter, float, unsigned char, 2>(
    sides, [](auto * filter) { filter->SetMaximumNumberOfNodes(3); });
}
} // namespace itk::cuda::test

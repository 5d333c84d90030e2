// SPDX-License-Identifier: Apache-2.0

// Verifies the peak device memory of filters of device images. It consists of the images, converted copies where the
// types differ, and the workspace that the algorithms report. The sums are computed here and must match to the byte.

#include "itkCovariantVector.h"
#include "runtime/image/Components.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "runtime/memory/DeviceAccess.h"
#include "runtime/memory/DeviceImage.h"
#include "support/itkCudaDeviceFilterTest.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "gaussian/device/LinePasses.h"
#include "gaussian/fir/FirDevice.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "runtime/run/HostToHost.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"

#include <sstream>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;
using namespace itk::cuda::test;

using FloatImage = Image<float, 3>;
using ShortImage = Image<short, 3>;
using ByteImage = Image<unsigned char, 3>;
using DeviceFloats = DeviceOf<FloatImage>;

constexpr double Sigma = 1.5; // in physical units; pixels are 0.75 x 1 x 1

size_t
GetWorkspaceOf(const CudaOperation & operation, const DeviceView & input, const DeviceView & output)
{
  return operation.GetAlgorithm()->GetWorkspace(input, output, device);
}

CudaGaussianParameters
MakeParameters(bool keepInput)
{
  CudaGaussianParameters parameters;
  parameters.Sigma.assign(3, Sigma);
  parameters.Spacing.assign(3, 1.0);
  parameters.Spacing[0] = 0.75;
  parameters.KeepInput = keepInput;
  return parameters;
}

/** Returns a plan of three passes with a few weights. Their number and the image determine the workspace. */
CudaGaussianFirPlan
MakeFirPlan()
{
  CudaGaussianFirPlan plan;
  plan.KeepInput = true;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    CudaGaussianFirPass pass;
    pass.Axis = axis;
    pass.Weights.assign(5, 0.2);
    plan.Passes.push_back(pass);
  }
  return plan;
}

CudaPartitionedGaussianPlan
MakePartitionedPlan(const Size<3> & size)
{
  CudaPartitionedGaussianParameters parameters;
  parameters.Sigma = Sigma;
  parameters.Spacing = MakeParameters(true).Spacing;
  CudaPartitionedGaussianPlan plan = MakePartitionedGaussianPlan(parameters, { size[0], size[1], size[2] });
  plan.KeepInput = true;
  return plan;
}

template <typename TImage>
constexpr CudaComponentType
TypeOf()
{
  return GetComponentType<typename CudaImageTraits<TImage>::ComponentType>();
}

DeviceView::SizeType
GetPlanes(const Size<3> & size, size_t planes)
{
  return { { size[0], size[1], size[2], 1, planes } };
}

/** Returns the bytes of a run from one image to another, which are both images, a copy of each that does not have the
 * computation's type, and the workspace of the plan. */
template <typename TPlan>
size_t
GetSum(const TPlan &     plan,
       const Size<3> &   size,
       size_t            results,
       CudaComponentType inputType,
       CudaComponentType outputType)
{
  CudaImageView input;
  CudaImageView output;
  input.ComponentType = inputType;
  output.ComponentType = outputType;
  const CudaComponentType computeType = GetComputeType(input, output);
  const StreamLease       stream(device);
  const DeviceImage       first(GetPlanes(size, 1), computeType, stream);
  const DeviceImage       second(GetPlanes(size, results), computeType, stream);
  const auto              bytes = [&size, computeType](size_t planes, CudaComponentType type) {
    const size_t given = DeviceImage::GetNumberOfBytes(GetPlanes(size, planes), type);
    const size_t copy = DeviceImage::GetNumberOfBytes(GetPlanes(size, planes), computeType);
    return given + (type == computeType ? 0 : copy);
  };
  return bytes(1, inputType) + bytes(results, outputType) + GetWorkspaceOf(plan, first.GetView(), second.GetView());
}

class CudaDeviceMemoryPeakGpu : public DeviceFilterTest
{
protected:
  /** Verifies the sum for a filter whose input is kept. */
  template <template <typename, typename> class TFilter,
            typename TInput,
            typename TOutput,
            typename TPlan,
            typename TSet>
  void
  ExpectSum(const TPlan & plan, const Size<3> & size, const TSet & set, const std::string & what)
  {
    const auto   image = MakeRandomImage<TInput>(size);
    const auto   uploaded = CudaUpload(image, device);
    const auto   filter = TFilter<DeviceOf<TInput>, DeviceOf<TOutput>>::New();
    const size_t results = filter->GetOutput()->GetNumberOfComponentsPerPixel();
    const size_t sum = GetSum(plan, size, results, TypeOf<TInput>(), TypeOf<TOutput>());
    filter->SetInput(uploaded);
    set(*filter);
    this->GetMemory().ResetPeak();
    filter->Update();
    EXPECT_EQ(this->GetMemory().GetPeak(), sum) << what << ", size " << size;
  }

  /** Verifies the sum for a recursive filter and several sizes. */
  template <template <typename, typename> class TFilter, typename TInput, typename TOutput>
  void
  ExpectSumOfRecursive(const CudaGaussianPlan & plan, const std::string & what)
  {
    for (unsigned int turn = 0; turn < 4; ++turn)
    {
      this->ExpectSum<TFilter, TInput, TOutput>(
        plan, this->RandomSize<3>(120), [](auto & filter) { filter.SetSigma(Sigma); }, what);
    }
  }
};
} // namespace

TEST_F(CudaDeviceMemoryPeakGpu, Recursive_filters_hold_images_and_workspace)
{
  const CudaGaussianParameters parameters = MakeParameters(true);
  using Gradient = Image<CovariantVector<float, 3>, 3>;
  using Tensors = Image<SymmetricSecondRankTensor<float, 3>, 3>;
  const CudaGaussianPlan smoothing = MakeSmoothingPlan(parameters);
  this->ExpectSumOfRecursive<CudaSmoothingRecursiveGaussianImageFilter, FloatImage, FloatImage>(smoothing, "smoothing");
  this->ExpectSumOfRecursive<CudaSmoothingRecursiveGaussianImageFilter, ShortImage, ShortImage>(smoothing,
                                                                                                "smoothing of short");
  this->ExpectSumOfRecursive<CudaSmoothingRecursiveGaussianImageFilter, ByteImage, FloatImage>(
    smoothing, "smoothing of unsigned char to float");
  this->ExpectSumOfRecursive<CudaGradientMagnitudeRecursiveGaussianImageFilter, FloatImage, FloatImage>(
    MakeGradientMagnitudePlan(parameters), "magnitude");
  this->ExpectSumOfRecursive<CudaLaplacianRecursiveGaussianImageFilter, FloatImage, FloatImage>(
    MakeLaplacianPlan(parameters), "Laplacian");
  this->ExpectSumOfRecursive<CudaGradientRecursiveGaussianImageFilter, FloatImage, Gradient>(
    MakeGradientPlan(parameters), "gradient");
  this->ExpectSumOfRecursive<CudaHessianRecursiveGaussianImageFilter, FloatImage, Tensors>(MakeHessianPlan(parameters),
                                                                                           "Hessian");
  this->ExpectSumOfRecursive<CudaRecursiveGaussianImageFilter, FloatImage, FloatImage>(
    MakeGaussianLinePlan(0,
                         MakeGaussianImpulseResponse(CudaFiltersEnums::Approximation::Deriche, 0, Sigma, 0.75, false)),
    "one axis");
}

TEST_F(CudaDeviceMemoryPeakGpu, Discrete_filter_holds_images_and_workspace)
{
  for (unsigned int turn = 0; turn < 4; ++turn)
  {
    const auto set = [](auto & filter) {
      filter.SetVariance(1.0);
      filter.SetMaximumKernelWidth(5);
    };
    auto size = this->RandomSize<3>(100);
    for (auto & length : size)
    {
      length += 5; // so that no axis is shorter than the kernels
    }
    this->ExpectSum<CudaDiscreteGaussianImageFilter, FloatImage, FloatImage>(MakeFirPlan(), size, set, "discrete");
  }
}

TEST_F(CudaDeviceMemoryPeakGpu, Partitioned_filter_holds_images_and_workspace)
{
  for (unsigned int turn = 0; turn < 4; ++turn)
  {
    const auto size = this->RandomSize<3>(120);
    this->ExpectSum<CudaPartitionedRecursiveGaussianImageFilter, FloatImage, FloatImage>(
      MakePartitionedPlan(size), size, [](auto & filter) { filter.SetSigma(Sigma); }, "partitioned");
  }
}

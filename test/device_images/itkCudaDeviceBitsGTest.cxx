// SPDX-License-Identifier: Apache-2.0

// Filters of device images, and of one image on the device and one on the host: the bits of filters of host images, for
// random images and parameters; the input is left alone. All device memory is poisoned with NaN.

#include "itkConstantBoundaryCondition.h"
#include "itkCovariantVector.h"
#include "support/itkCudaDeviceFilterTest.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkPeriodicBoundaryCondition.h"
#include "itkZeroFluxNeumannBoundaryCondition.h"

#include <limits>
#include <sstream>
#include <typeinfo>
#include <utility>

namespace
{
using itk::CudaDiscreteGaussianImageFilter;
using itk::CudaPartitionedRecursiveGaussianImageFilter;
using itk::CudaSmoothingRecursiveGaussianImageFilter;
using namespace itk::cuda::test;

using FloatImage = itk::Image<float, 3>;
using ByteImage = itk::Image<unsigned char, 3>;
using VectorsImage = itk::Image<itk::Vector<float, 3>, 3>;

class CudaDeviceBitsGpu : public DeviceFilterTest
{
protected:
  /** Compares the bits of a filter whose parameters `set` sets. */
  template <template <typename, typename> class TFilter, typename TInput, typename TOutput, typename TSet>
  void
  CheckTurn(const typename TInput::SizeType & size, unsigned int turn, unsigned int components, const TSet & set)
  {
    const auto         image = MakeRandomImage<TInput>(size, turn, components);
    std::ostringstream text;
    text << typeid(TFilter<TInput, TOutput>).name() << ", turn " << turn << ", size " << size;
    ExpectSameBits<TFilter, TInput, TOutput>(image.GetPointer(), set, text.str());
  }

  template <template <typename, typename> class TFilter, typename TInput, typename TOutput = TInput>
  void
  CheckRecursive(size_t limit)
  {
    for (unsigned int turn = 0; turn < 8; ++turn)
    {
      const double sigma = 0.3 + 0.1 * static_cast<double>(this->Random(0, 60));
      const bool   normalize = this->Random(0, 1) == 1;
      const auto   set = [&](auto & filter) {
        filter.SetSigma(sigma);
        filter.SetNormalizeAcrossScale(normalize);
        filter.SetApproximation(turn % 2 == 0 ? "Deriche" : "Accurate");
      };
      this->CheckTurn<TFilter, TInput, TOutput>(this->RandomSize<TInput::ImageDimension>(limit), turn, 1, set);
    }
  }

  /** The first size is `least` at least: from 2048 on, blocks of the partition Exact are tiles. */
  template <typename TInput, typename TOutput = TInput>
  void
  CheckPartitioned(size_t limit, unsigned int components = 1, size_t least = 0)
  {
    constexpr const char * partitions[] = { "Exact", "OneWay", "TwoWay" };
    for (unsigned int turn = 0; turn < 9; ++turn)
    {
      auto         size = this->RandomSize<TInput::ImageDimension>(limit);
      const double sigma = 0.3 + 0.1 * static_cast<double>(this->Random(0, 60));
      const auto   lines = 4u << this->Random(0, 4);
      const auto   borders = this->Random(0, 1) == 1 ? "Exact" : "AsPublished";
      const auto   storage = this->Random(0, 1) == 1 ? "Local" : "Global";
      const auto   set = [&](auto & filter) {
        filter.SetSigma(sigma);
        filter.SetPartition(partitions[turn % 3]);
        filter.SetLineBorders(borders);
        filter.SetIntermediateStorage(storage);
        filter.SetLinesPerBlock(lines);
      };
      size[0] = std::max<size_t>(size[0], least);
      this->CheckTurn<CudaPartitionedRecursiveGaussianImageFilter, TInput, TOutput>(size, turn, components, set);
    }
  }

  template <typename TInput, typename TOutput = TInput>
  void
  CheckDiscrete(size_t limit, unsigned int width = 11)
  {
    itk::ZeroFluxNeumannBoundaryCondition<TInput>  inputEnd;
    itk::ZeroFluxNeumannBoundaryCondition<TOutput> outputEnd;
    itk::ConstantBoundaryCondition<TInput>         inputConstant;
    itk::ConstantBoundaryCondition<TOutput>        outputConstant;
    itk::PeriodicBoundaryCondition<TInput>         inputPeriodic;
    itk::PeriodicBoundaryCondition<TOutput>        outputPeriodic;
    inputConstant.SetConstant(50);
    outputConstant.SetConstant(70);
    const std::pair<itk::ImageBoundaryCondition<TInput> *, itk::ImageBoundaryCondition<TOutput> *> conditions[] = {
      { &inputEnd, &outputEnd }, { &inputConstant, &outputConstant }, { &inputPeriodic, &outputPeriodic }
    };
    for (unsigned int turn = 0; turn < 9; ++turn)
    {
      auto size = this->RandomSize<TInput::ImageDimension>(limit);
      for (auto & length : size)
      {
        length += width + 1; // no narrower than the kernels
      }
      const double variance =
        std::min(0.01 * width * width * this->Random(0, 50) / 12.0, 200.0); // ITK's limit is 709 square pixels
      const auto dimensionality = static_cast<unsigned int>(this->Random(1, TInput::ImageDimension));
      const bool spacing = this->Random(0, 1) == 1;
      const auto set = [&](auto & filter) {
        filter.SetVariance(variance);
        filter.SetMaximumError(0.05);
        filter.SetMaximumKernelWidth(width);
        filter.SetFilterDimensionality(dimensionality);
        filter.SetUseImageSpacing(spacing);
        filter.SetInputBoundaryCondition(conditions[turn % 3].first);
        filter.SetRealBoundaryCondition(conditions[turn % 3].second);
      };
      this->CheckTurn<CudaDiscreteGaussianImageFilter, TInput, TOutput>(size, turn, 1, set);
    }
  }
};
} // namespace

// Computation in float and in double, conversion on both ways, rounding, planes of components, and all numbers of axes.
// The transfer of each type has tests of its own.
TEST_F(CudaDeviceBitsGpu, Smoothing_has_the_bits_of_host_images)
{
  this->CheckRecursive<CudaSmoothingRecursiveGaussianImageFilter, FloatImage>(70);
  this->CheckRecursive<CudaSmoothingRecursiveGaussianImageFilter, itk::Image<double, 3>>(50);
  this->CheckRecursive<CudaSmoothingRecursiveGaussianImageFilter, itk::Image<short, 2>>(400);
  this->CheckRecursive<CudaSmoothingRecursiveGaussianImageFilter, ByteImage, FloatImage>(60);
  this->CheckRecursive<CudaSmoothingRecursiveGaussianImageFilter, VectorsImage>(30);
  this->CheckRecursive<CudaSmoothingRecursiveGaussianImageFilter, itk::Image<float, 4>>(16);
}

TEST_F(CudaDeviceBitsGpu, Derivatives_have_the_bits_of_host_images)
{
  this->CheckRecursive<itk::CudaGradientMagnitudeRecursiveGaussianImageFilter, FloatImage>(60);
  this->CheckRecursive<itk::CudaLaplacianRecursiveGaussianImageFilter, FloatImage>(60);
  this->CheckRecursive<itk::CudaRecursiveGaussianImageFilter, FloatImage>(60);
  using Gradient = itk::Image<itk::CovariantVector<float, 3>, 3>;
  this->CheckRecursive<itk::CudaGradientRecursiveGaussianImageFilter, FloatImage, Gradient>(50);
  using Tensors = itk::Image<itk::SymmetricSecondRankTensor<float, 3>, 3>;
  this->CheckRecursive<itk::CudaHessianRecursiveGaussianImageFilter, FloatImage, Tensors>(50);
}

TEST_F(CudaDeviceBitsGpu, Partitioned_filter_has_the_bits_of_host_images)
{
  this->CheckPartitioned<FloatImage>(70);
  this->CheckPartitioned<FloatImage>(70, 1, 2048);
  this->CheckPartitioned<itk::Image<double, 3>>(40);
  this->CheckPartitioned<itk::Image<short, 2>>(300);
  this->CheckPartitioned<itk::Image<float, 1>>(5000);
  this->CheckPartitioned<itk::Image<float, 4>>(12);
  this->CheckPartitioned<itk::VectorImage<float, 2>>(60, 5);
}

TEST_F(CudaDeviceBitsGpu, Discrete_filter_has_the_bits_of_host_images)
{
  this->CheckDiscrete<FloatImage>(60);
  this->CheckDiscrete<itk::Image<double, 3>>(40);
  this->CheckDiscrete<FloatImage, ByteImage>(50);
  this->CheckDiscrete<itk::Image<int, 2>>(200);
  this->CheckDiscrete<itk::Image<int, 2>>(200, 401); // kernels of many weights
  this->CheckDiscrete<itk::Image<float, 1>>(5000);
  this->CheckDiscrete<itk::Image<float, 4>>(8);
}

TEST_F(CudaDeviceBitsGpu, Discrete_filter_of_no_axis_copies_on_the_device)
{
  using DeviceFloats = DeviceOf<FloatImage>;
  const auto image = MakeRandomImage<FloatImage>({ { 37, 20, 9 } });
  image->SetPixel({ { 1, 1, 1 } }, -0.0f);
  image->SetPixel({ { 2, 1, 1 } }, std::numeric_limits<float>::quiet_NaN());
  image->SetPixel({ { 3, 1, 1 } }, 1e-42f);
  const auto filter = CudaDiscreteGaussianImageFilter<DeviceFloats>::New();
  filter->SetInput(itk::CudaUpload(image, device));
  filter->SetFilterDimensionality(0);
  filter->Update();
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(filter->GetOutput()), image));
  EXPECT_EQ(filter->GetBackendUsed(), itk::CudaFiltersEnums::Backend::Cuda);
}

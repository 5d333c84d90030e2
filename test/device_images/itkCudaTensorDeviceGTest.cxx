// SPDX-License-Identifier: Apache-2.0

// Eigenvalues, measures and multi-scale responses on the device: the bits of the host twins for pointwise work, of
// hostile tensors too; all device memory is poisoned with NaN.

#include "itkCudaDetailTensorEngine.h"
#include "support/itkCudaDeviceFilterTest.h"
#include "itkCudaHessianToObjectnessMeasureImageFilter.h"
#include "itkCudaMultiScaleHessianBasedMeasureImageFilter.h"
#include "itkCudaSymmetricEigenAnalysisImageFilter.h"
#include "itkMultiThreaderBase.h"
#include "itkSymmetricSecondRankTensor.h"
#include "itkVector.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::test;

class TensorDeviceGpuTest : public DeviceFilterTest
{
protected:
  /** Random tensors, some of them zero, equal, of rank one, tiny, huge or not finite. */
  template <typename T>
  std::vector<T>
  MakeTensors(size_t count, unsigned int dimension)
  {
    const unsigned int                     components = CudaTensorComponents(dimension);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    std::vector<T>                         tensors(count * components);
    for (size_t i = 0; i < count; ++i)
    {
      T * const    tensor = &tensors[i * components];
      const size_t kind = this->Random(0, 15);
      const double scale = kind == 0 ? 0.0 : kind == 1 ? 1e-30 : kind == 2 ? 1e30 : 10.0;
      const double noise = kind < 8 ? 1.0 : std::pow(10.0, -static_cast<double>(kind - 6));
      const double u[] = { uniform(m_Generator), uniform(m_Generator), uniform(m_Generator) };
      unsigned int element = 0;
      for (unsigned int row = 0; row < dimension; ++row)
      {
        for (unsigned int column = row; column < dimension; ++column)
        {
          const double line = kind < 8 ? 0.0 : kind < 12 ? -u[row] * u[column] : row == column ? -1.0 : 0.0;
          tensor[element++] = static_cast<T>(scale * (line + noise * uniform(m_Generator)));
        }
      }
      if (this->Random(0, 99) == 0)
      {
        tensor[this->Random(0, components - 1)] =
          kind % 2 == 0 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
      }
    }
    return tensors;
  }

  template <typename T, typename TPlan>
  void
  CheckThatBitsAreThoseOfTheHost(const TPlan & plan, size_t results, const std::string & what)
  {
    const Extent size{ this->Random(1, 70), this->Random(1, 40), this->Random(1, 20), 1 };
    HostImage<T> input(size, CudaTensorComponents(plan.Dimension));
    HostImage<T> onDevice(size, results);
    HostImage<T> onHost(size, results);
    input.Pixels = this->MakeTensors<T>(GetProduct(size), plan.Dimension);
    input.View.Data = input.Pixels.data();
    std::fill(onDevice.Pixels.begin(), onDevice.Pixels.end(), std::numeric_limits<T>::quiet_NaN());

    CudaFilterBackend backend;
    backend.Requested = CudaFiltersEnums::Backend::Cuda;
    backend.DeviceIndex = device;
    ASSERT_TRUE(backend.SelectDevice(nullptr, CudaWorkingSet(plan, input.View, onDevice.View)));
    ASSERT_TRUE(CudaRunOnDevice(plan, input.View, onDevice.View, backend, nullptr));
    CudaRunOnHost(plan, input.View, onHost.View, MultiThreaderBase::New(), nullptr);
    // NaN has many bits.
    for (size_t i = 0; i < onHost.Pixels.size(); ++i)
    {
      if (std::isnan(onHost.Pixels[i]) && std::isnan(onDevice.Pixels[i]))
      {
        onDevice.Pixels[i] = onHost.Pixels[i];
      }
    }
    ExpectSamePixels(onDevice.Pixels, onHost.Pixels, what);
  }

  template <typename T>
  void
  CheckAllPlans()
  {
    for (const unsigned int dimension : { 2u, 3u })
    {
      const std::string name = std::to_string(dimension) + " rows of " + (sizeof(T) == 4 ? "float" : "double");
      for (const auto order :
           { CudaEigenValueOrder::ByValue, CudaEigenValueOrder::ByMagnitude, CudaEigenValueOrder::None })
      {
        for (const bool withVectors : { false, true })
        {
          const auto plan = MakeEigenPlan(dimension, order, withVectors);
          this->CheckThatBitsAreThoseOfTheHost<T>(plan, CudaResultComponents(plan), "eigenvalues, " + name);
        }
      }
      for (unsigned int repeat = 0; repeat < 20; ++repeat)
      {
        const bool bright = repeat % 2 == 0;
        const auto random = [this] { return 0.1 * static_cast<double>(this->Random(0, 20)); };
        const auto measure = MakeObjectnessMeasure(
          dimension, random(), random(), random(), repeat % dimension, bright, this->Random(0, 1) == 0);
        this->CheckThatBitsAreThoseOfTheHost<T>(measure, 1, "objectness, " + name);
        const double halves = 0.5 * static_cast<double>(this->Random(0, 2));
        this->CheckThatBitsAreThoseOfTheHost<T>(
          MakeSatoMeasure(dimension, 0.25, halves, 1.0 - halves, bright), 1, "Sato, " + name);
        this->CheckThatBitsAreThoseOfTheHost<T>(MakeJermanMeasure(dimension, random(), bright), 1, "Jerman, " + name);
        this->CheckThatBitsAreThoseOfTheHost<T>(MakeMeijeringMeasure(dimension, bright), 1, "Meijering, " + name);
      }
    }
  }

  /** The multi-scale filter on both backends. The Gaussian filters differ in roundings, so a bound is stated. */
  template <typename T, unsigned int VDimension>
  void
  CheckScales(double bound)
  {
    using ImageType = Image<T, VDimension>;
    using HessianType = Image<SymmetricSecondRankTensor<T, VDimension>, VDimension>;
    using Filter = CudaMultiScaleHessianBasedMeasureImageFilter<ImageType, HessianType>;
    Size<VDimension> size;
    size.Fill(29);
    size[0] = 45;
    const auto image = MakeRandomImage<ImageType>(size);
    const auto run = [&image](const char * backend, bool withScales) {
      const auto filter = Filter::New();
      filter->SetHessianToMeasureFilter(CudaHessianToObjectnessMeasureImageFilter<HessianType, ImageType>::New());
      filter->SetInput(image);
      filter->SetSigmaMinimum(1.0);
      filter->SetSigmaMaximum(2.5);
      filter->SetNumberOfSigmaSteps(3);
      filter->SetGenerateScalesOutput(withScales);
      filter->SetGenerateHessianOutput(withScales);
      filter->SetBackend(backend);
      filter->Update();
      return filter;
    };
    const auto   onDevice = run("cuda", true);
    const auto   onHost = run("host", true);
    const auto   alone = run("cuda", false);
    const T *    found = onDevice->GetOutput()->GetBufferPointer();
    const T *    expected = onHost->GetOutput()->GetBufferPointer();
    const size_t count = image->GetBufferedRegion().GetNumberOfPixels();
    EXPECT_TRUE(AreSame<ImageType>(onDevice->GetOutput(), alone->GetOutput()));
    const double largest = static_cast<double>(*std::max_element(expected, expected + count));
    ASSERT_GT(largest, 0.0);
    size_t others = 0, scales = 0;
    for (size_t i = 0; i < count; ++i)
    {
      const double error = std::fabs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
      others += error <= bound * largest ? 0 : 1;
      const bool isSameScale =
        onDevice->GetScalesOutput()->GetBufferPointer()[i] == onHost->GetScalesOutput()->GetBufferPointer()[i];
      scales += isSameScale || static_cast<double>(expected[i]) <= bound * largest ? 0 : 1;
    }
    const double allowed = std::max(2.0, 1e-4 * static_cast<double>(count));
    EXPECT_LE(static_cast<double>(others), allowed);
    EXPECT_LE(static_cast<double>(scales), allowed);
  }
};
} // namespace

TEST_F(TensorDeviceGpuTest, FloatHasTheBitsOfTheHost)
{
  this->CheckAllPlans<float>();
}

TEST_F(TensorDeviceGpuTest, DoubleHasTheBitsOfTheHost)
{
  this->CheckAllPlans<double>();
}

TEST_F(TensorDeviceGpuTest, FiltersHaveTheBitsOfTheHost)
{
  using TensorType = Image<SymmetricSecondRankTensor<float, 3>, 3>;
  using OutputType = Image<float, 3>;
  using ValuesType = Image<Vector<float, 3>, 3>;
  const auto image = MakeRandomImage<TensorType>({ { 37, 21, 11 } });
  const auto run = [&image](auto filter, const char * backend) {
    filter->SetInput(image);
    filter->SetBackend(backend);
    filter->Update();
    return filter;
  };
  using Objectness = CudaHessianToObjectnessMeasureImageFilter<TensorType, OutputType>;
  using Eigen = CudaSymmetricEigenAnalysisImageFilter<TensorType, ValuesType>;
  const auto objectness = run(Objectness::New(), "cuda");
  EXPECT_EQ(objectness->GetBackendUsed(), CudaFiltersEnums::Backend::Cuda);
  EXPECT_TRUE(AreSame<OutputType>(objectness->GetOutput(), run(Objectness::New(), "host")->GetOutput()));
  EXPECT_TRUE(AreSame<ValuesType>(run(Eigen::New(), "cuda")->GetOutput(), run(Eigen::New(), "host")->GetOutput()));
}

TEST_F(TensorDeviceGpuTest, ScalesAreThoseOfTheHost)
{
  this->CheckScales<float, 2>(1e-5);
  this->CheckScales<float, 3>(1e-5);
  this->CheckScales<double, 2>(1e-9);
  this->CheckScales<double, 3>(1e-9);
}

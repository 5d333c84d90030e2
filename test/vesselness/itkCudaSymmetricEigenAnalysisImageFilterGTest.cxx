// SPDX-License-Identifier: Apache-2.0

// The filter of eigenvalues on the host against ITK's class: orders, types, what the superclass runs.

#include "itkCudaSymmetricEigenAnalysisImageFilter.h"

#include "itkCudaDetailTensorEngine.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaTestSeed.h"
#include "itkImage.h"
#include "itkMultiThreaderBase.h"
#include "itkSymmetricSecondRankTensor.h"
#include "itkVector.h"
#include "vnl/algo/vnl_symmetric_eigensystem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace
{
using Backend = itk::CudaFiltersEnums::Backend;
using Order = itk::EigenValueOrderEnum;

template <typename T, unsigned int VDimension>
using TensorImage = itk::Image<itk::SymmetricSecondRankTensor<T, VDimension>, VDimension>;
template <typename T, unsigned int VDimension>
using ValueImage = itk::Image<itk::Vector<T, VDimension>, VDimension>;

template <typename T, unsigned int VDimension>
typename TensorImage<T, VDimension>::Pointer
MakeTensors()
{
  std::mt19937_64                        random(itk::cuda::test::GetSeed());
  std::uniform_real_distribution<double> uniform(-100.0, 100.0);
  const auto                             image = TensorImage<T, VDimension>::New();
  itk::Size<VDimension>                  size;
  size.Fill(9);
  size[0] = 21;
  image->SetRegions(size);
  image->Allocate();
  for (size_t i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    for (T & x : image->GetBufferPointer()[i])
    {
      x = static_cast<T>(uniform(random));
    }
  }
  return image;
}

template <typename TOutput, typename TFilter, typename TInput>
typename TOutput::Pointer
RunFilter(const typename TFilter::Pointer & filter, const TInput * image, Order order)
{
  filter->SetInput(image);
  filter->OrderEigenValuesBy(order);
  filter->Update();
  return filter->GetOutput();
}

template <typename T, unsigned int VDimension>
void
CheckOrders(double bound)
{
  using InputType = TensorImage<T, VDimension>;
  using OutputType = ValueImage<T, VDimension>;
  using ReferenceType = ValueImage<double, VDimension>;
  const auto image = MakeTensors<T, VDimension>();
  for (const Order order : { Order::OrderByValue, Order::OrderByMagnitude, Order::DoNotOrder })
  {
    using Filter = itk::CudaSymmetricEigenAnalysisImageFilter<InputType, OutputType>;
    const auto filter = Filter::New();
    filter->SetBackend("host");
    const auto found = RunFilter<OutputType, Filter>(filter, image.GetPointer(), order);
    EXPECT_EQ(filter->GetBackendUsed(), Backend::Host);
    EXPECT_EQ(filter->GetOrderEigenValuesBy(), order);
    using ItkFilter = itk::SymmetricEigenAnalysisImageFilter<InputType, ReferenceType>;
    const auto expected = RunFilter<ReferenceType, ItkFilter>(ItkFilter::New(), image.GetPointer(), order);
    for (size_t i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
    {
      auto a = found->GetBufferPointer()[i];
      auto b = expected->GetBufferPointer()[i];
      if (order == Order::DoNotOrder)
      {
        std::sort(a.Begin(), a.End());
        std::sort(b.Begin(), b.End());
      }
      double norm = 0.0;
      for (unsigned int k = 0; k < VDimension; ++k)
      {
        norm = std::max(norm, std::fabs(b[k]));
      }
      for (unsigned int k = 0; k < VDimension; ++k)
      {
        EXPECT_LE(std::fabs(static_cast<double>(a[k]) - b[k]), bound * norm) << i;
      }
    }
  }
}

template <typename T, unsigned int VDimension>
void
CheckVectorsOfTheEngine()
{
  // Random tensors at positions with gaps: A v = l v in double.
  using namespace itk::CudaDetail;
  const unsigned int components = CudaTensorComponents(VDimension);
  const auto         image = MakeTensors<T, VDimension>();
  const size_t       count = image->GetBufferedRegion().GetNumberOfPixels();
  const auto         plan = MakeEigenPlan(VDimension, CudaEigenValueOrder::ByMagnitude, true);
  std::vector<T>     results(count * CudaResultComponents(plan), std::numeric_limits<T>::quiet_NaN());
  CudaImageView      input =
    MakeCudaImageView(static_cast<const TensorImage<T, VDimension> *>(image.GetPointer()), image->GetBufferedRegion());
  CudaImageView output = input;
  output.Data = results.data();
  output.NumberOfComponents = CudaResultComponents(plan);
  for (size_t & stride : output.Stride)
  {
    stride = stride / components * output.NumberOfComponents;
  }
  CudaRunOnHost(plan, input, output, itk::MultiThreaderBase::New(), nullptr);
  const double bound = sizeof(T) == 4 ? 1e-6 : 1e-13;
  for (size_t i = 0; i < count; ++i)
  {
    const auto & tensor = image->GetBufferPointer()[i];
    const T *    result = &results[i * output.NumberOfComponents];
    const double norm = std::fabs(static_cast<double>(result[VDimension - 1]));
    for (unsigned int k = 0; k < VDimension; ++k)
    {
      const T * vector = result + VDimension * (k + 1);
      for (unsigned int row = 0; row < VDimension; ++row)
      {
        double product = 0.0;
        for (unsigned int column = 0; column < VDimension; ++column)
        {
          product += static_cast<double>(tensor(row, column)) * static_cast<double>(vector[column]);
        }
        EXPECT_LE(std::fabs(product - static_cast<double>(result[k]) * static_cast<double>(vector[row])),
                  2.0 * bound * norm);
      }
    }
  }
}

/** Unit vectors v, the largest component positive, with A v = l v for the l of the smallest magnitude, in both orders
 * of the components. */
template <typename T, unsigned int VDimension>
void
CheckDirectionsOfTheEngine()
{
  using namespace itk::CudaDetail;
  const unsigned int components = CudaTensorComponents(VDimension);
  const auto         image = MakeTensors<T, VDimension>();
  const size_t       count = image->GetBufferedRegion().GetNumberOfPixels();
  image->GetBufferPointer()[1].Fill(T{ 0 });
  image->GetBufferPointer()[2].Fill(std::numeric_limits<T>::quiet_NaN());
  CudaImageView input =
    MakeCudaImageView(static_cast<const TensorImage<T, VDimension> *>(image.GetPointer()), image->GetBufferedRegion());
  std::vector<T> directions[2];
  for (const bool lastAxisFirst : { false, true })
  {
    directions[lastAxisFirst].resize(count * VDimension);
    CudaImageView output = input;
    output.Data = directions[lastAxisFirst].data();
    output.NumberOfComponents = VDimension;
    for (size_t & stride : output.Stride)
    {
      stride = stride / components * VDimension;
    }
    CudaRunOnHost(
      CudaLineDirectionPlan{ VDimension, lastAxisFirst }, input, output, itk::MultiThreaderBase::New(), nullptr);
  }
  const double bound = sizeof(T) == 4 ? 1e-6 : 1e-13;
  for (size_t i = 0; i < count; ++i)
  {
    const auto &       tensor = image->GetBufferPointer()[i];
    const T * const    found = &directions[0][VDimension * i];
    vnl_vector<double> v(VDimension);
    for (unsigned int k = 0; k < VDimension; ++k)
    {
      const T reversed = directions[1][VDimension * i + VDimension - 1 - k];
      EXPECT_EQ(found[k], reversed);
      v[k] = static_cast<double>(found[k]);
    }
    if (i == 1 || i == 2)
    {
      EXPECT_TRUE(v.is_zero()) << i;
      continue;
    }
    vnl_matrix<double> matrix(VDimension, VDimension);
    for (unsigned int row = 0; row < VDimension; ++row)
    {
      for (unsigned int column = 0; column < VDimension; ++column)
      {
        matrix(row, column) = static_cast<double>(tensor(row, column));
      }
    }
    const vnl_symmetric_eigensystem<double> system(matrix);
    double                                  smallest = system.get_eigenvalue(0);
    double                                  norm = 0.0;
    for (unsigned int k = 0; k < VDimension; ++k)
    {
      const double value = system.get_eigenvalue(k);
      smallest = std::fabs(value) < std::fabs(smallest) ? value : smallest;
      norm = std::max(norm, std::fabs(value));
    }
    EXPECT_NEAR(v.two_norm(), 1.0, 10.0 * bound);
    EXPECT_GE(v.max_value(), -v.min_value());
    EXPECT_LE((matrix * v - smallest * v).two_norm(), 4.0 * bound * norm);
  }
}
} // namespace

TEST(CudaSymmetricEigenAnalysisImageFilterTest, EigenValuesAreITKsInAllOrders)
{
  CheckOrders<float, 2>(1e-6);
  CheckOrders<float, 3>(1e-6);
  CheckOrders<double, 2>(1e-13);
  CheckOrders<double, 3>(1e-13);
}

TEST(CudaSymmetricEigenAnalysisImageFilterTest, TheEngineGivesEigenvectors)
{
  CheckVectorsOfTheEngine<float, 2>();
  CheckVectorsOfTheEngine<float, 3>();
  CheckVectorsOfTheEngine<double, 2>();
  CheckVectorsOfTheEngine<double, 3>();
}

TEST(CudaSymmetricEigenAnalysisImageFilterTest, TheEngineGivesDirectionsOfLines)
{
  CheckDirectionsOfTheEngine<float, 2>();
  CheckDirectionsOfTheEngine<float, 3>();
  CheckDirectionsOfTheEngine<double, 2>();
  CheckDirectionsOfTheEngine<double, 3>();
}

TEST(CudaSymmetricEigenAnalysisImageFilterTest, OutputsOfOtherLengthsRunInTheSuperclass)
{
  using InputType = TensorImage<double, 3>;
  const auto filter = itk::CudaSymmetricEigenAnalysisImageFilter<InputType>::New(); // tensors for eigenvalues
  filter->SetInput(MakeTensors<double, 3>());
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), Backend::Host);
  EXPECT_NE(filter->GetBackendReason().find("as many components"), std::string::npos) << filter->GetBackendReason();
}

TEST(CudaSymmetricEigenAnalysisImageFilterTest, ComponentsOfOtherNumbersAreNamed)
{
  using namespace itk::CudaDetail;
  using itk::cuda::test::ExpectContains;
  using itk::cuda::test::GetException;
  ExpectContains(GetException([] { CudaVerifyTensorComponents(3, 1, 5, 1); }), "symmetric tensors of 3 rows have 6");
  ExpectContains(GetException([] { CudaVerifyTensorComponents(2, 1, 3, 4); }), "it must have 1");
}

// SPDX-License-Identifier: Apache-2.0

// Eigenvalues and eigenvectors of symmetric matrices against ITK's in double, of random and of hostile matrices:
// multiple and nearly multiple roots, rank one, zero, values from 1e-38 to 1e38, NaN and infinity. The filter of
// eigenvalues on the host against ITK's class: orders, types, what the superclass runs. Directions of lines.

#include "itkCudaDetailTensorEngine.h"
#include "itkCudaSymmetricEigenAnalysisImageFilter.h"
#include "runtime/image/NegativeExponential.h"
#include "runtime/image/Math.h"
#include "pointwise/SymmetricEigen.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaHessianMeasureReference.h"
#include "support/itkCudaTestSeed.h"
#include "itkImage.h"
#include "itkMultiThreaderBase.h"
#include "itkVector.h"
#include "vnl/algo/vnl_svd.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <string>

namespace
{
using namespace itk::CudaDetail;
using namespace itk::cuda::pointwise;
using itk::cuda::GetPowerOfTwo;
using itk::cuda::NegativeExponential;

template <unsigned int VDimension>
using Matrix = std::array<std::array<double, VDimension>, VDimension>;

template <typename T, unsigned int VDimension>
using Tensor = std::array<T, CudaTensorComponents(VDimension)>;

template <typename T>
constexpr double Bound = sizeof(T) == 4 ? 1e-6 : 1e-13;

template <typename T, unsigned int VDimension>
Tensor<T, VDimension>
ToTensor(const Matrix<VDimension> & matrix)
{
  Tensor<T, VDimension> tensor{};
  unsigned int          element = 0;
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    for (unsigned int j = i; j < VDimension; ++j)
    {
      tensor[element++] = static_cast<T>(matrix[i][j]);
    }
  }
  return tensor;
}

template <typename T, unsigned int VDimension>
Matrix<VDimension>
ToMatrix(const Tensor<T, VDimension> & tensor)
{
  Matrix<VDimension> matrix{};
  unsigned int       element = 0;
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    for (unsigned int j = i; j < VDimension; ++j)
    {
      matrix[i][j] = matrix[j][i] = static_cast<double>(tensor[element++]);
    }
  }
  return matrix;
}

/** Ascending eigenvalues of the tensor as it is stored, by ITK in double. The matrix is scaled by a power of two first,
 * because ITK's method squares elements. */
template <typename T, unsigned int VDimension>
std::array<double, VDimension>
GetReference(const Tensor<T, VDimension> & tensor)
{
  double largest = 0.0;
  for (const T x : tensor)
  {
    largest = std::max(largest, std::fabs(static_cast<double>(x)));
  }
  const int                      exponent = largest > 0.0 ? std::ilogb(largest) : 0;
  std::array<double, VDimension> result{};
  Tensor<double, VDimension>     scaled{};
  std::transform(tensor.begin(), tensor.end(), scaled.begin(), [exponent](T x) {
    return std::ldexp(static_cast<double>(x), -exponent);
  });
  const auto values = itk::cuda::test::GetEigenvalues<VDimension>(scaled.data());
  std::transform(
    values.begin(), values.end(), result.begin(), [exponent](double x) { return std::ldexp(x, exponent); });
  return result;
}

template <typename T, unsigned int VDimension>
double
GetSpectralNorm(const std::array<double, VDimension> & values)
{
  // Below the normal numbers one unit of the type is larger than the bound.
  const double norm = std::max(std::fabs(values.front()), std::fabs(values.back()));
  return std::max(norm, static_cast<double>(std::numeric_limits<T>::min()));
}

/** Checks values, residuals |A v - l v| and orthonormality. Returns the largest error of a value over the norm. */
template <typename T, unsigned int VDimension>
double
CheckSystem(const Tensor<T, VDimension> & tensor, const std::string & what)
{
  EigenSystem<T, VDimension> system;
  SolveEigenSystem<true>(tensor.data(), CudaEigenValueOrder::ByValue, system);
  EigenSystem<T, VDimension> withoutVectors;
  SolveEigenSystem<false>(tensor.data(), CudaEigenValueOrder::ByValue, withoutVectors);

  const auto   expected = GetReference<T, VDimension>(tensor);
  const double norm = GetSpectralNorm<T, VDimension>(expected);
  const auto   matrix = ToMatrix<T, VDimension>(tensor);
  double       worst = 0.0;
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    EXPECT_EQ(system.GetValue(i), withoutVectors.GetValue(i)) << what;
    const double value = static_cast<double>(system.Values[i]) * static_cast<double>(system.Scale);
    worst = std::max(worst, std::fabs(value - expected[i]) / norm);
    for (unsigned int j = 0; j < VDimension; ++j)
    {
      double product = 0.0; // row j of A v
      double cosine = 0.0;  // of vectors i and j
      for (unsigned int k = 0; k < VDimension; ++k)
      {
        product += matrix[j][k] * static_cast<double>(system.Vectors[i][k]);
        cosine += static_cast<double>(system.Vectors[i][k]) * static_cast<double>(system.Vectors[j][k]);
      }
      EXPECT_LE(std::fabs(product - value * static_cast<double>(system.Vectors[i][j])), 2.0 * Bound<T> * norm) << what;
      EXPECT_LE(std::fabs(cosine - (i == j ? 1.0 : 0.0)), 2.0 * Bound<T>) << what;
    }
  }
  EXPECT_LE(worst, Bound<T>) << what;
  return worst;
}

/** Returns Q diag(values) Q' with the rotation or reflection Q of a random matrix. */
template <unsigned int VDimension>
Matrix<VDimension>
MakeMatrix(const std::array<double, VDimension> & values, std::mt19937_64 & random)
{
  std::normal_distribution<double> normal;
  vnl_matrix<double>               elements(VDimension, VDimension);
  std::generate(elements.begin(), elements.end(), [&] { return normal(random); });
  const vnl_matrix<double> q = vnl_svd<double>(elements).U();
  Matrix<VDimension>       matrix{};
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    for (unsigned int j = 0; j < VDimension; ++j)
    {
      for (unsigned int k = 0; k < VDimension; ++k)
      {
        matrix[i][j] += q(i, k) * values[k] * q(j, k);
      }
    }
  }
  return matrix;
}

/** Spectra of norm about 1 that closed forms get wrong. */
template <unsigned int VDimension>
std::vector<std::array<double, VDimension>>
GetHostileSpectra(std::mt19937_64 & random)
{
  std::uniform_real_distribution<double>      uniform(-1.0, 1.0);
  std::vector<std::array<double, VDimension>> spectra;
  const auto                                  add = [&](double a, double b, double c) {
    std::array<double, VDimension> values{};
    const double                   all[] = { a, b, c };
    std::copy(all, all + VDimension, values.begin());
    spectra.push_back(values);
  };
  for (int i = 0; i < 4; ++i)
  {
    add(uniform(random), uniform(random), uniform(random));
  }
  add(0.0, 0.0, 0.0);
  add(1.0, 1.0, 1.0);
  add(-1.0, 0.0, 0.0); // rank one
  add(1.0, 1.0, 0.0);
  add(1.0, -1.0, 1.0);
  add(0.0, 1.0, -1.0);
  for (const double gap : { 1e-3, 1e-6, 1e-8, 1e-12, 1e-15 })
  {
    add(1.0, 1.0 + gap, 1.0 - gap);
    add(1.0, 1.0 + gap, uniform(random));
    add(1.0, gap, -gap);
    add(1.0, gap, gap * gap);
    add(-1.0, 1.0 + gap, gap);
  }
  return spectra;
}

template <typename T, unsigned int VDimension>
void
CheckHostileMatrices()
{
  std::mt19937_64 random(itk::cuda::test::GetSeed());
  double          worst = 0.0;
  const int       largestExponent = std::numeric_limits<T>::max_exponent10 - 1;
  for (int repeat = 0; repeat < 100; ++repeat)
  {
    for (const auto & values : GetHostileSpectra<VDimension>(random))
    {
      const auto matrix = MakeMatrix<VDimension>(values, random);
      for (const int exponent : { 0, -30, 30, -largestExponent, largestExponent })
      {
        const double scale = std::pow(10.0, exponent);
        auto         scaled = matrix;
        for (auto & row : scaled)
        {
          for (double & x : row)
          {
            x *= scale;
          }
        }
        worst =
          std::max(worst, CheckSystem<T, VDimension>(ToTensor<T, VDimension>(scaled), "1e" + std::to_string(exponent)));
      }
    }
  }
  std::cout << "largest error over the norm: " << worst << std::endl;
}

template <typename T, unsigned int VDimension>
void
CheckSmallIntegers()
{
  // All matrices with elements -1, 0 and 1, among them diagonal ones and ones with equal diagonals.
  Tensor<T, VDimension> tensor;
  unsigned int          count = 1;
  for (unsigned int i = 0; i < tensor.size(); ++i)
  {
    count *= 3;
  }
  for (unsigned int number = 0; number < count; ++number)
  {
    unsigned int rest = number;
    for (T & x : tensor)
    {
      x = static_cast<T>(static_cast<int>(rest % 3) - 1);
      rest /= 3;
    }
    CheckSystem<T, VDimension>(tensor, "number " + std::to_string(number));
  }
}

template <typename T, unsigned int VDimension>
void
CheckNonFinite()
{
  for (const T bad :
       { std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity() })
  {
    for (unsigned int i = 0; i < CudaTensorComponents(VDimension); ++i)
    {
      Tensor<T, VDimension> tensor{};
      tensor[i] = bad;
      for (const auto order :
           { CudaEigenValueOrder::ByValue, CudaEigenValueOrder::ByMagnitude, CudaEigenValueOrder::None })
      {
        EigenSystem<T, VDimension> system;
        SolveEigenSystem<true>(tensor.data(), order, system);
        for (unsigned int k = 0; k < VDimension; ++k)
        {
          EXPECT_TRUE(std::isnan(system.GetValue(k)));
          EXPECT_TRUE(std::isnan(system.Vectors[k][0]));
        }
      }
    }
  }
}

template <typename T, unsigned int VDimension>
void
CheckOrders()
{
  std::mt19937_64                        random(itk::cuda::test::GetSeed());
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (int repeat = 0; repeat < 1000; ++repeat)
  {
    std::array<double, VDimension> values{};
    for (double & x : values)
    {
      x = uniform(random);
    }
    const auto                 tensor = ToTensor<T, VDimension>(MakeMatrix<VDimension>(values, random));
    EigenSystem<T, VDimension> byValue, byMagnitude, unordered;
    SolveEigenSystem<true>(tensor.data(), CudaEigenValueOrder::ByValue, byValue);
    SolveEigenSystem<true>(tensor.data(), CudaEigenValueOrder::ByMagnitude, byMagnitude);
    SolveEigenSystem<true>(tensor.data(), CudaEigenValueOrder::None, unordered);
    for (unsigned int i = 0; i + 1 < VDimension; ++i)
    {
      EXPECT_LE(byValue.Values[i], byValue.Values[i + 1]);
      EXPECT_LE(std::fabs(byMagnitude.Values[i]), std::fabs(byMagnitude.Values[i + 1]));
    }
    // A value has the same vector in all orders.
    for (unsigned int i = 0; i < VDimension; ++i)
    {
      for (const auto * other : { &byMagnitude, &unordered })
      {
        const T * const found = std::find(other->Values, other->Values + VDimension, byValue.Values[i]);
        ASSERT_NE(found, other->Values + VDimension);
        const T * const vector = other->Vectors[found - other->Values];
        EXPECT_TRUE(std::equal(vector, vector + VDimension, byValue.Vectors[i]));
      }
    }
  }
}
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
CheckFilter(double bound)
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

/** Unit vectors v, the largest component positive, with A v = l v for the l of the smallest magnitude, in both orders
 * of the components. */
template <typename T, unsigned int VDimension>
void
CheckDirectionsOfTheEngine()
{
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
    const auto   values = itk::cuda::test::SortByMagnitude(itk::cuda::test::GetEigenvalues<VDimension>(tensor.Begin()));
    const double smallest = values.front();
    const double norm = std::fabs(values.back());
    double       residual = 0.0;
    for (unsigned int row = 0; row < VDimension; ++row)
    {
      double product = -smallest * v[row];
      for (unsigned int column = 0; column < VDimension; ++column)
      {
        product += static_cast<double>(tensor(row, column)) * v[column];
      }
      residual = std::hypot(residual, product);
    }
    EXPECT_NEAR(v.two_norm(), 1.0, 10.0 * bound);
    EXPECT_GE(v.max_value(), -v.min_value());
    EXPECT_LE(residual, 4.0 * bound * norm);
  }
}
} // namespace

TEST(CudaSymmetricEigenTest, HostileMatricesAreWithinTheBound)
{
  CheckHostileMatrices<float, 2>();
  CheckHostileMatrices<float, 3>();
  CheckHostileMatrices<double, 2>();
  CheckHostileMatrices<double, 3>();
}

TEST(CudaSymmetricEigenTest, MatricesOfSmallIntegersAreWithinTheBound)
{
  CheckSmallIntegers<float, 2>();
  CheckSmallIntegers<float, 3>();
  CheckSmallIntegers<double, 2>();
  CheckSmallIntegers<double, 3>();
}

TEST(CudaSymmetricEigenTest, AnElementThatIsNotFiniteGivesNaN)
{
  CheckNonFinite<float, 2>();
  CheckNonFinite<float, 3>();
  CheckNonFinite<double, 2>();
  CheckNonFinite<double, 3>();
}

TEST(CudaSymmetricEigenTest, OrdersDifferInTheOrderAlone)
{
  CheckOrders<float, 2>();
  CheckOrders<float, 3>();
  CheckOrders<double, 2>();
  CheckOrders<double, 3>();
}

TEST(CudaSymmetricEigenTest, PowersOfTwoScaleWithoutRounding)
{
  for (const float x : { 0.0f, 1e-45f, 1e-38f, 1e-30f, 0.75f, 1.0f, 3.0f, 1e30f, 3.4e38f })
  {
    const float power = GetPowerOfTwo(x);
    EXPECT_EQ(power, std::ldexp(1.0f, std::ilogb(power))) << x;
    EXPECT_EQ(1.0f / (1.0f / power), power) << x;
    EXPECT_LT(x / power, 4.0f) << x;
    if (x >= std::numeric_limits<float>::min())
    {
      EXPECT_GE(x / power, 1.0f) << x;
    }
  }
}

TEST(CudaSymmetricEigenTest, ExponentialsAreThoseOfTheLibrary)
{
  std::mt19937_64 random(itk::cuda::test::GetSeed());
  const auto      check = [](auto x) {
    using T = decltype(x);
    const NegativeExponential<T> found(x);
    const double                 unit = static_cast<double>(std::numeric_limits<T>::epsilon());
    const double                 exact = std::exp(-static_cast<double>(x));
    const double                 oneMinus = -std::expm1(-static_cast<double>(x));
    EXPECT_LE(std::fabs(static_cast<double>(found.Get()) - exact), 4.0 * unit * exact) << x;
    EXPECT_LE(std::fabs(static_cast<double>(found.GetOneMinus()) - oneMinus), 4.0 * unit * oneMinus) << x;
  };
  for (int i = 0; i < 100000; ++i)
  {
    const double exponent = std::uniform_real_distribution<double>(-30.0, 1.93)(random);
    check(static_cast<float>(std::pow(10.0, exponent)));
    check(std::pow(10.0, exponent));
  }
  EXPECT_EQ(NegativeExponential<float>(0.0f).Get(), 1.0f);
  EXPECT_EQ(NegativeExponential<float>(0.0f).GetOneMinus(), 0.0f);
  EXPECT_EQ(NegativeExponential<double>(std::numeric_limits<double>::infinity()).Get(), 0.0);
  EXPECT_EQ(NegativeExponential<double>(std::numeric_limits<double>::infinity()).GetOneMinus(), 1.0);
  EXPECT_TRUE(std::isnan(NegativeExponential<float>(std::numeric_limits<float>::quiet_NaN()).Get()));
  EXPECT_TRUE(std::isnan(NegativeExponential<float>(std::numeric_limits<float>::quiet_NaN()).GetOneMinus()));
}

// Float and double, and two and three rows.
TEST(CudaSymmetricEigenAnalysisImageFilterTest, EigenValuesAreITKsInAllOrders)
{
  CheckFilter<float, 3>(1e-6);
  CheckFilter<double, 2>(1e-13);
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
  using itk::cuda::test::ExpectContains;
  using itk::cuda::test::GetException;
  ExpectContains(GetException([] { CudaVerifyTensorComponents(3, 1, 5, 1); }), "symmetric tensors of 3 rows have 6");
  ExpectContains(GetException([] { CudaVerifyTensorComponents(2, 1, 3, 4); }), "it must have 1");
}

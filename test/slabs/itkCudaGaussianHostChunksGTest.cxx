// SPDX-License-Identifier: Apache-2.0

// Plans on the host: along axes other than the first, lines are sequences of chunks that depend on the chunks around
// them alone, as on the device. Random lines against the filter of whole lines.

#include "itkCudaDetailGaussianEngine.h"
#include "gaussian/host/HostPlan.h"
#include "gaussian/plan/Schedule.h"
#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::gaussian;

using ApproximationEnum = CudaFiltersEnums::Approximation;

constexpr size_t Columns = 5;

template <typename T>
CudaImageView
MakeView(std::vector<T> & pixels)
{
  CudaImageView view;
  view.Data = pixels.data();
  view.ComponentType = sizeof(T) == 4 ? CudaComponentType::Float : CudaComponentType::Double;
  view.NumberOfComponents = 1;
  view.Size = { { Columns, pixels.size() / Columns, 1, 1 } };
  view.Stride = { { 1, Columns, pixels.size(), pixels.size() } };
  return view;
}

/** An image of a few columns, filtered along them. */
template <typename T>
std::vector<T>
FilterColumns(const CudaGaussianImpulseResponse & kernel, std::vector<T> pixels)
{
  std::vector<T> output(pixels.size());
  const auto     threader = MultiThreaderBase::New();
  CudaRunOnHost(MakeGaussianLinePlan(1, kernel), MakeView(pixels), MakeView(output), threader, nullptr);
  return output;
}

template <typename T>
std::vector<T>
GetColumn(const std::vector<T> & pixels, size_t column)
{
  std::vector<T> line(pixels.size() / Columns);
  for (size_t n = 0; n < line.size(); ++n)
  {
    line[n] = pixels[n * Columns + column];
  }
  return line;
}

template <typename T>
class GaussianHostChunks : public testing::Test
{
protected:
  explicit GaussianHostChunks()
    : m_Generator(sizeof(T))
  {}

  void
  Draw()
  {
    const auto uniform = [this](double a, double b) {
      return std::uniform_real_distribution<double>(a, b)(m_Generator);
    };
    const auto approximation = uniform(0, 1) < 0.5 ? ApproximationEnum::Deriche : ApproximationEnum::Accurate;
    const auto order = static_cast<unsigned int>(uniform(0, 3));
    m_Kernel =
      MakeGaussianImpulseResponse(approximation, order, std::exp(uniform(std::log(0.5), std::log(60.0))), 1.0, false);
    m_Pixels.resize(Columns * static_cast<size_t>(uniform(100, 2000)));
    for (T & pixel : m_Pixels)
    {
      pixel = static_cast<T>(uniform(0, 1));
    }
  }

  /** Chunks that a chunk depends on. */
  unsigned int
  GetLookAheadOfLine() const
  {
    LineProblem problem;
    problem.Kind = AxisKind::Strided;
    problem.Length = m_Pixels.size() / Columns;
    problem.SigmaInPixels = m_Kernel.SigmaInPixels;
    problem.BytesPerComponent = sizeof(T);
    problem.NumberOfPolePairs = m_Kernel.NumberOfPolePairs;
    return GetLookAhead(problem);
  }

  std::mt19937                m_Generator;
  CudaGaussianImpulseResponse m_Kernel;
  std::vector<T>              m_Pixels;
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GaussianHostChunks, Types);

TYPED_TEST(GaussianHostChunks, LeaveOutLessThanRoundingShows)
{
  for (unsigned int i = 0; i < 200; ++i)
  {
    this->Draw();
    const auto output = FilterColumns(this->m_Kernel, this->m_Pixels);
    const auto found = GetColumn(output, 3);
    const auto line = GetColumn(this->m_Pixels, 3);

    std::vector<double> expected(line.begin(), line.end());
    FilterLine(this->m_Kernel, expected.data(), expected.data(), expected.size());
    // Derivatives of noise of range 1 are below 2 / sigma and 4 / sigma^2, but for the smallest sigmas.
    const double sigma = std::min(1.0, this->m_Kernel.SigmaInPixels);
    const double scale = std::pow(2.0 / sigma, this->m_Kernel.Order);
    const double bound = (sizeof(TypeParam) == 4 ? 3e-7 : 1e-12) * scale;
    for (size_t n = 0; n < line.size(); ++n)
    {
      ASSERT_NEAR(found[n], expected[n], bound)
        << "draw " << i << ", pixel " << n << " of " << line.size() << ", order " << this->m_Kernel.Order << ", sigma "
        << this->m_Kernel.SigmaInPixels;
    }
  }
}

TYPED_TEST(GaussianHostChunks, DoNotDependOnWhatIsFarther)
{
  unsigned int checked = 0;
  for (unsigned int i = 0; i < 200; ++i)
  {
    this->Draw();
    const size_t       length = this->m_Pixels.size() / Columns;
    const unsigned int lookAhead = this->GetLookAheadOfLine();
    const size_t       reach = (lookAhead + 1) * size_t{ ChunkLength };
    if (lookAhead == 0 || length <= reach + ChunkLength)
    {
      continue;
    }
    const auto before = FilterColumns(this->m_Kernel, this->m_Pixels);
    this->m_Pixels[(length - 1) * Columns] += TypeParam(1000);
    const auto after = FilterColumns(this->m_Kernel, this->m_Pixels);
    // The last chunk's first pixel is that far from the end at most.
    const size_t end = ((length - 1) / ChunkLength - lookAhead) * ChunkLength;
    for (size_t n = 0; n < end; ++n)
    {
      ASSERT_EQ(before[n * Columns], after[n * Columns]) << "draw " << i << ", pixel " << n << " of " << length;
    }
    EXPECT_NE(before[(length - 1) * Columns], after[(length - 1) * Columns]);
    ++checked;
  }
  EXPECT_GT(checked, 50u);
}

TYPED_TEST(GaussianHostChunks, ConstantsComeOutExactly)
{
  for (unsigned int i = 0; i < 50; ++i)
  {
    this->Draw();
    std::fill(this->m_Pixels.begin(), this->m_Pixels.end(), TypeParam(0.1));
    const auto      output = FilterColumns(this->m_Kernel, this->m_Pixels);
    const TypeParam expected = this->m_Kernel.Order == 0 ? TypeParam(0.1) : TypeParam(0);
    EXPECT_EQ(std::count(output.begin(), output.end(), expected), static_cast<long>(output.size())) << "draw " << i;
  }
}
} // namespace

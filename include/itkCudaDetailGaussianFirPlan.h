// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailGaussianFirPlan_h
#define itkCudaDetailGaussianFirPlan_h

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace itk::CudaDetail
{
/** How a line continues beyond its ends: with its end value, with a constant, or from its other end. */
enum class CudaLineContinuation : uint8_t
{
  EndValue,
  Constant,
  Periodic
};

/** Convolves every line of the image along one axis with a symmetric kernel. */
struct CudaGaussianFirPass
{
  unsigned int         Axis{ 0 };
  std::vector<double>  Weights; // 2 * radius + 1, their sum is 1
  CudaLineContinuation Continuation{ CudaLineContinuation::EndValue };
  double               Constant{ 0.0 };

  size_t
  GetRadius() const
  {
    return Weights.size() / 2;
  }
};

/** Passes, one after the other. */
struct CudaGaussianFirPlan
{
  std::vector<CudaGaussianFirPass> Passes;

  /** If true, every pass sums in double, from the first weight to the last, and truncates its result to an integer.
   * This is the arithmetic of itk::DiscreteGaussianImageFilter with integer outputs, bit for bit. If false, pixels are
   * summed relative to the one in the middle; where that sum is not finite, the pixels themselves are summed. */
  bool TruncatePasses{ false };

  /** On the device the input is not overwritten. Two passes or more then need another image. */
  bool KeepInput{ false };

  /** First pixel of the output in the input, along each axis. */
  std::array<size_t, 4> OutputOffset{ { 0, 0, 0, 0 } };
};
} // end namespace itk::CudaDetail

#endif

// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailGaussianFirEngine_h
#define itkCudaDetailGaussianFirEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDeviceImageView.h"

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

/** Passes that run one after the other. */
struct CudaGaussianFirPlan
{
  std::vector<CudaGaussianFirPass> Passes;

  /** If true, every pass sums in double, from the first weight to the last, and truncates its result to an integer.
   * This is the arithmetic of itk::DiscreteGaussianImageFilter with integer outputs, bit for bit. If false, differences
   * from the pixel in the middle are summed; where that sum is not finite, the pixels themselves are summed. */
  bool TruncatePasses{ false };

  /** If true, a run on the device does not overwrite its input, so that two or more passes need another image. */
  bool KeepInput{ false };

  /** Index of the output's first pixel in the input, along each axis. */
  std::array<size_t, 4> OutputOffset{ { 0, 0, 0, 0 } };
};

/** Returns whether the image can be cut between planes of its last axis with more than one pixel. It cannot if the
 * lines along this axis continue from their other end. */
CudaFilters_EXPORT bool
CudaCanRunInSlabs(const CudaGaussianFirPlan & plan, const CudaImageView & output);

/** Works as CudaRunOnDevice(), but slab by slab, each as large as the backend's working set allows. A slab is uploaded
 * with as many further planes on either side as the kernel reaches. The result is bit-identical. `backend` gets the
 * report. */
CudaFilters_EXPORT bool
CudaRunInSlabs(const CudaGaussianFirPlan & plan,
               const CudaImageView &       input,
               const CudaImageView &       output,
               CudaFilterBackend &         backend,
               MultiThreaderBase *,
               const CudaProgressFunction & progress);
} // end namespace itk::CudaDetail

#endif

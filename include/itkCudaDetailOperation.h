// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailOperation_h
#define itkCudaDetailOperation_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDeviceImageView.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace itk
{
class MultiThreaderBase;
}

namespace itk::cuda
{
class DeviceAlgorithm;
}

namespace itk::CudaDetail
{
class CudaFilterBackend;
struct CudaEigenPlan;
struct CudaGaussianFirPlan;
struct CudaGaussianPlan;
struct CudaHessianMeasure;
struct CudaPartitionedGaussianPlan;
struct CudaStructureTensorPlan;

/** Receives the share of the work done, 0 to 1. It is called from the thread that runs the operation, and may throw to
 * abort. */
using CudaProgressFunction = std::function<void(float)>;

/** The computation of a plan, wherever the pixels are: on the host, on the device, or on their way between the two.
 *
 * A plan converts to an operation where one of the functions below takes it. The operation refers to the plan, which
 * must exist as long as the operation. */
class CudaFilters_EXPORT CudaOperation
{
public:
  using HostRun = std::function<void(const CudaImageView &        input,
                                     const CudaImageView &        output,
                                     MultiThreaderBase *          threader,
                                     const CudaProgressFunction & progress)>;

  CudaOperation(const CudaEigenPlan & plan);
  CudaOperation(const CudaGaussianFirPlan & plan);
  CudaOperation(const CudaGaussianPlan & plan);
  CudaOperation(const CudaHessianMeasure & plan);
  CudaOperation(const CudaPartitionedGaussianPlan & plan);
  CudaOperation(const CudaStructureTensorPlan & plan);

  const HostRun &
  GetHostRun() const
  {
    return m_HostRun;
  }

  /** Returns the part that runs on the device, or nullptr in a build without CUDA. */
  const cuda::DeviceAlgorithm *
  GetAlgorithm() const
  {
    return m_Algorithm.get();
  }

private:
  HostRun                                      m_HostRun;
  std::shared_ptr<const cuda::DeviceAlgorithm> m_Algorithm;
};

/** Returns the largest number of bytes of device memory that CudaRunOnDevice() needs for these views. */
CudaFilters_EXPORT size_t
CudaWorkingSet(const CudaOperation & operation, const CudaImageView & input, const CudaImageView & output);

/** Runs the operation on the host, on the threads of `threader`. The result does not depend on the number of threads.
 * A CudaGaussianFirPlan has the sums of itk::DiscreteGaussianImageFilter in double; its output may be a part of the
 * input.
 *
 * Input and output are different memory. A Gaussian plan may also read and write the same memory if it has a mask, or
 * if only its first pass reads the plan's input. This holds for plans of MakeGaussianLinePlan(), and for plans of
 * MakeGaussianPlan() for two or more axes whose terms have the same sigmas.
 * \exception ExceptionObject if the numbers of components do not match
 * \exception any exception that `progress` throws */
CudaFilters_EXPORT void
CudaRunOnHost(const CudaOperation &        operation,
              const CudaImageView &        input,
              const CudaImageView &        output,
              MultiThreaderBase *          threader,
              const CudaProgressFunction & progress);

/** Uploads `input`, runs the operation on the device and downloads the result to `output`, which is complete on return.
 * The output of a CudaGaussianFirPlan may be a part of the input (OutputOffset); other outputs have its size. For each
 * component of the input, the output of a Gaussian plan has as many components as the plan has results.
 *
 * Pixels are computed in float, or in double if either component type is double, int or unsigned int. For integer
 * outputs, results are truncated toward zero and clamped to the type's range, and NaN becomes 0.
 * \exception CudaError, or any exception that `progress` throws */
CudaFilters_EXPORT void
CudaRunOnDevice(const CudaOperation &        operation,
                const CudaImageView &        input,
                const CudaImageView &        output,
                int                          device,
                const CudaProgressFunction & progress);

/** Runs the operation on the device that `backend` selected, with the same result. A large image of a Gaussian plan
 * runs in slabs if this is expected to take less time and Streaming is not Off.
 *
 * \return false if the device ran out of memory and the backend allows the host, which it then names as used
 *
 * \exception CudaError, or any exception that `progress` throws */
CudaFilters_EXPORT bool
CudaRunOnDevice(const CudaOperation &        operation,
                const CudaImageView &        input,
                const CudaImageView &        output,
                CudaFilterBackend &          backend,
                const CudaProgressFunction & progress);

/** Queues the operation on the calling thread's stream and returns. The output becomes bit-identical to the result of
 * CudaRunOnDevice() for the same images on the host.
 *
 * Input and output have the same size. If a Gaussian plan's only result is image 0, `output` is `input`. The input is
 * overwritten unless the plan was made with KeepInput. If it is overwritten, input and output must be laid out as
 * CudaAllocateDeviceImage() does, and must be of the same type, float or double.
 * \exception CudaError if the memory has run out, or a CUDA call failed */
CudaFilters_EXPORT void
CudaQueueOnDevice(const CudaOperation &       operation,
                  const CudaDeviceImageView & input,
                  const CudaDeviceImageView & output);
} // end namespace itk::CudaDetail

#endif

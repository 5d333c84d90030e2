// SPDX-License-Identifier: Apache-2.0
#include "gaussian/slabs/Slabs.h"
#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "itkCudaDetailDetectionEngine.h"
#include "itkCudaDetailRegionPartitionEngine.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "itkCudaDetailStatisticsEngine.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/device/DeviceQuery.h"
#include "runtime/memory/MemoryQuery.h"
#include "runtime/run/Operation.h"

#include <string>

// Takes the place of all code for the device in a build without CUDA. There is no usable device, so filters run on the
// host, and what needs a device throws.

namespace itk
{
namespace
{
[[noreturn]] void
ThrowWithoutCuda(const std::string & what)
{
  throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, what + ": CudaFilters was built without CUDA");
}
} // namespace
} // end namespace itk

namespace itk::cuda
{
namespace
{
constexpr const char * noCuda = "built without CUDA";
}

std::vector<CudaDeviceInformation>
FindDevices(std::string & reason)
{
  reason = noCuda;
  return {};
}

bool
IsDeviceUsable(int, std::string & reason)
{
  reason = noCuda;
  return false;
}

bool
IsDeviceUsableNow(int device, std::string & reason)
{
  return IsDeviceUsable(device, reason);
}

size_t
GetAvailableDeviceMemory(int)
{
  return 0;
}

std::string
GetDeviceName(int)
{
  return noCuda;
}

size_t
GetTotalDeviceMemory(int)
{
  return 0;
}

void
ReleaseUnusedMemory()
{}

std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaEigenPlan &)
{
  return nullptr;
}

std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaGaussianFirPlan &)
{
  return nullptr;
}

std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaGaussianPlan &)
{
  return nullptr;
}

std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaHessianMeasure &)
{
  return nullptr;
}

std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaPartitionedGaussianPlan &)
{
  return nullptr;
}

std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaStructureTensorPlan &)
{
  return nullptr;
}

namespace gaussian
{
std::unique_ptr<SlabRun>
MakeDeviceSlabRun(const SlabRunArguments &)
{
  ThrowWithoutCuda("Slabs");
}
} // namespace gaussian
} // end namespace itk::cuda

namespace itk
{
bool
CudaFiltersConfiguration::GetBuiltWithCuda()
{
  return false;
}

int
CudaFiltersConfiguration::GetDriverVersion()
{
  return 0;
}

int
CudaFiltersConfiguration::GetRequiredDriverVersion()
{
  return 0;
}

CudaDeviceImageMemory::~CudaDeviceImageMemory() = default;

CudaDeviceImageMemory::Pointer
CudaDeviceImageMemory::Allocate(size_t bytes, int device)
{
  ThrowWithoutCuda("Allocation of " + std::to_string(bytes) + " bytes on device " + std::to_string(device));
}

CudaDeviceImageMemory::Pointer
CudaDeviceImageMemory::Adopt(void *, size_t, int, ReleaseFunction)
{
  ThrowWithoutCuda("Adoption of device memory");
}
} // end namespace itk

namespace itk::CudaDetail
{
size_t
CudaWorkingSet(const CudaOperation &, const CudaImageView &, const CudaImageView &)
{
  return 0;
}

void
CudaRunOnDevice(const CudaOperation &, const CudaImageView &, const CudaImageView &, int, const CudaProgressFunction &)
{
  ThrowWithoutCuda("A run on the device");
}

bool
CudaRunOnDevice(const CudaOperation &,
                const CudaImageView &,
                const CudaImageView &,
                CudaFilterBackend &,
                const CudaProgressFunction &)
{
  ThrowWithoutCuda("A run on the device");
}

void
CudaQueueOnDevice(const CudaOperation &, const CudaDeviceImageView &, const CudaDeviceImageView &)
{
  ThrowWithoutCuda("A run on the device");
}

bool
CudaCanRunInSlabs(const CudaGaussianFirPlan &, const CudaImageView &)
{
  return false;
}

bool
CudaRunInSlabs(const CudaGaussianFirPlan &,
               const CudaImageView &,
               const CudaImageView &,
               CudaFilterBackend &,
               MultiThreaderBase *,
               const CudaProgressFunction &)
{
  ThrowWithoutCuda("Slabs");
}

void
CudaQueueOnStream(const std::vector<CudaArrayPass> &, const CudaArrayMemory &, void *)
{
  ThrowWithoutCuda("A run on a stream");
}

void
CudaQueueMaskedOnStream(const std::vector<CudaArrayPass> &, const CudaArrayMask &, const CudaArrayMemory &, void *)
{
  ThrowWithoutCuda("A run on a stream");
}

void
CudaQueueTermsOnStream(const CudaArrayTerms &, const CudaArrayMemory &, void *)
{
  ThrowWithoutCuda("A run on a stream");
}

bool
CudaQueueAndFindNonFinite(const std::vector<CudaArrayPass> &, const CudaArrayMemory &, void *)
{
  ThrowWithoutCuda("A run on a stream");
}

bool
CudaFindNonFinite(const CudaArrayMemory &, size_t)
{
  ThrowWithoutCuda("A run on a stream");
}

bool
CudaRunAndFindNonFinite(const CudaGaussianPlan &,
                        const CudaImageView &,
                        const CudaImageView &,
                        CudaFilterBackend &,
                        const CudaProgressFunction &,
                        bool &)
{
  ThrowWithoutCuda("A recursive Gaussian filter");
}

size_t
CudaWorkingSet(const CudaHostArrays &, size_t)
{
  return 0;
}

bool
CudaRunOnDevice(const CudaHostArrays &, CudaFilterBackend &, const CudaQueueArrays &, const CudaProgressFunction &)
{
  ThrowWithoutCuda("A run of arrays");
}

void
CudaQueueOnStream(const CudaStructureTensorPlan &, const CudaArrayImage &, void *)
{
  ThrowWithoutCuda("A run on a stream");
}

size_t
CudaMultiScaleWorkingSet(const CudaMultiScalePlan &, const CudaImageView &, const CudaMultiScaleOutputs &)
{
  return 0;
}

bool
CudaRunOnDevice(const CudaMultiScalePlan &,
                const CudaImageView &,
                const CudaMultiScaleOutputs &,
                CudaFilterBackend &,
                const CudaProgressFunction &)
{
  ThrowWithoutCuda("A run on the device");
}

bool
CudaRunWholeOnDevice(const CudaMultiScalePlan &,
                     const CudaScaleParameter &,
                     const CudaImageView &,
                     const CudaMultiScaleOutputs &,
                     CudaFilterBackend &,
                     const CudaProgressFunction &)
{
  ThrowWithoutCuda("A run on the device");
}

void
CudaQueueOnDevice(const CudaMultiScalePlan &, const CudaDeviceImageView &, const CudaMultiScaleDeviceOutputs &)
{
  ThrowWithoutCuda("A run on the device");
}

void
CudaQueueOnStream(const CudaMultiScalePlan &,
                  const std::optional<CudaScaleParameter> &,
                  const CudaArrayImage &,
                  const CudaMultiScaleArrays &)
{
  ThrowWithoutCuda("A run on a stream");
}

CudaImageStatistics
CudaComputeStatisticsOnDevice(const CudaDeviceImageView &, const CudaHistogramBins &)
{
  ThrowWithoutCuda("Statistics of a device image");
}

const char *
CudaDetectionUnsupportedReason(const CudaDetectionInput &)
{
  return cuda::noCuda;
}

size_t
CudaDetectionWorkingSet(const CudaDetectionInput &)
{
  return 0;
}

std::optional<CudaDetectionResult>
CudaDetectOnDevice(const CudaDetectionInput &,
                   const CudaDetectionParameters &,
                   const CudaImageView &,
                   int,
                   const CudaDetectionProgress &,
                   const CudaDetectionDeviceImages &)
{
  ThrowWithoutCuda("A detection on the device");
}

const char *
CudaRegionPartitionUnsupportedReason(const CudaRegionPartitionInput &)
{
  return cuda::noCuda;
}

size_t
CudaRegionPartitionWorkingSet(const CudaRegionPartitionInput &, const CudaRegionPartitionParameters &)
{
  return 0;
}

CudaRegionPartitionResult
CudaRegionPartitionOnDevice(const CudaRegionPartitionInput &,
                            const CudaRegionPartitionParameters &,
                            const CudaImageView &,
                            unsigned int,
                            int,
                            const CudaRegionPartitionObserver &,
                            const CudaRegionPartitionDeviceImages &)
{
  ThrowWithoutCuda("A partition on the device");
}

const char *
CudaRegionSnakeUnsupportedReason(const CudaRegionSnakeInput &, const CudaRegionSnakeParameters &)
{
  return cuda::noCuda;
}

size_t
CudaRegionSnakeWorkingSet(const CudaRegionSnakeInput &, const CudaRegionSnakeParameters &)
{
  return 0;
}

CudaRegionSnakeResult
CudaRegionSnakeOnDevice(const CudaRegionSnakeInput &,
                        const CudaRegionSnakeParameters &,
                        int,
                        unsigned int,
                        const CudaRegionSnakeObserver &)
{
  ThrowWithoutCuda("A snake on the device");
}

CudaRegionSnakeResult
CudaRegionSnakeOfDeviceImage(const CudaDeviceImageView &,
                             const CudaRegionSnakeInput &,
                             const CudaRegionSnakeParameters &,
                             const CudaRegionSnakeObserver &)
{
  ThrowWithoutCuda("A snake on the device");
}

std::unique_ptr<CudaPreparedSnakeImage>
CudaPrepareSnakeImageOnDevice(const CudaRegionSnakeInput &, const CudaRegionSnakeParameters &, int, unsigned int)
{
  ThrowWithoutCuda("A snake on the device");
}

size_t
CudaRegionSnakeBatchWorkingSet(const CudaRegionSnakeInput &, const CudaRegionSnakeParameters &, unsigned int)
{
  return 0;
}

CudaRegionSnakeBatch
CudaRegionSnakeBatchOnDevice(const CudaRegionSnakeInput &,
                             const CudaRegionSnakeStarts &,
                             const CudaRegionSnakeParameters &,
                             int,
                             unsigned int,
                             const CudaRegionSnakeObserver &)
{
  ThrowWithoutCuda("Snakes on the device");
}

CudaRegionSnakeBatch
CudaRegionSnakeBatchOfDeviceImage(const CudaDeviceImageView &,
                                  const CudaRegionSnakeInput &,
                                  const CudaRegionSnakeStarts &,
                                  const CudaRegionSnakeParameters &,
                                  unsigned int,
                                  const CudaRegionSnakeObserver &)
{
  ThrowWithoutCuda("Snakes on the device");
}

void
CudaQueueRegionSnakeLabels(const CudaSnakePolygon &, uint32_t, uint32_t, const CudaDeviceImageView &)
{
  ThrowWithoutCuda("Labels on the device");
}

int
CudaFindDeviceOfMemory(const void *)
{
  ThrowWithoutCuda("The device of an array");
}

CudaDeviceImageView
CudaAllocateDeviceImage(const std::array<size_t, CudaDeviceImageView::NumberOfAxes> &, CudaComponentType, int, bool)
{
  ThrowWithoutCuda("Allocation of a device image");
}

std::function<void()>
CudaQueueUpload(const CudaImageView &, const CudaDeviceImageView &, const CudaProgressFunction &)
{
  ThrowWithoutCuda("Upload");
}

void
CudaDownloadFromDevice(const CudaDeviceImageView &,
                       const CudaImageView &,
                       const CudaPixelConversion &,
                       const CudaProgressFunction &)
{
  ThrowWithoutCuda("Download");
}

void
CudaMapOnDevice(const CudaDeviceImageView &, const CudaDeviceImageView &, const CudaPixelConversion &)
{
  ThrowWithoutCuda("Mapping of a device image");
}
} // end namespace itk::CudaDetail

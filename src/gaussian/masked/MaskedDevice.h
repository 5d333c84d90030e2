// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_masked_MaskedDevice_h
#define CudaFilters_gaussian_masked_MaskedDevice_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "gaussian/Core.h"
#include "runtime/DetailNames.h"
#include "runtime/device/Stream.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/PinnedMemory.h"
#include "runtime/memory/Workspace.h"
#include "runtime/run/HostToHost.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace itk::cuda::gaussian
{
/** Returns the algorithm of a plan that has a mask, for images on the host and on the device. It copies the plan. */
std::shared_ptr<const DeviceAlgorithm>
MakeMaskedAlgorithm(const CudaGaussianPlan & plan);

/** Returns the bytes of the workspace that RunMaskedGaussian() needs. \exception CudaError */
CudaFilters_EXPORT size_t
GetMaskedGaussianWorkspace(const CudaGaussianPlan & plan, const DeviceView & input, int device);

/** Queues smoothing over the pixels that the mask `valid`, an image of UChar, marks as valid: the quotient of the
 * smoothed valid pixels and the smoothed weights (CudaGaussianMask). The plan is one of MakeSmoothingPlan(), without
 * its Mask. Output and input may be the same image. A reference value is subtracted from the pixels before they are
 * smoothed: one of the valid pixels or, in the mode Constant, the boundary value.
 * \exception CudaError */
CudaFilters_EXPORT void
RunMaskedGaussian(const CudaGaussianPlan & plan,
                  const CudaGaussianMask & mask,
                  const DeviceView &       valid,
                  const DeviceView &       input,
                  const DeviceView &       output,
                  Workspace                workspace,
                  const Context &          context);
} // namespace itk::cuda::gaussian

// The pixelwise steps of smoothing with a mask. All images have one component and the same size. `valid` is of type
// UChar, and the other images are all float or all double.

namespace itk::cuda::gaussian
{
/** Bytes that are reserved on the device for a ReferenceValue. */
constexpr size_t ReferenceValueBytes = 32;

/** Queues the search for a pixel that is not valid. If there is no such pixel, AllValid is set, and the quotient is
 * simply the smoothed image. This must be queued before the functions below that find the reference value. */
void
QueueFindAllValid(const DeviceView & valid, CudaComponentType type, void * referenceValue, const Context & context);

/** Clears the "all pixels valid" flag, so that the quotient is always computed. */
void
QueueClearAllValid(CudaComponentType type, void * referenceValue, const Context & context);

/** Queues the search for the first valid pixel that is finite. Its value becomes the reference value, which is 0 if
 * there is no such pixel or if all pixels are valid. */
void
QueueReferenceValueOfValid(const DeviceView & image,
                           const DeviceView & valid,
                           void *             referenceValue,
                           const Context &    context);

/** Queues a write of `value` as the reference value of images of this type. */
void
QueueReferenceValue(double value, CudaComponentType type, void * referenceValue, const Context & context);

/** Queues the computation of a mask that is 1 at pixels that are valid and finite. `valid` without data stands for a
 * mask of ones. */
void
QueueFiniteMask(const DeviceView & image,
                const DeviceView & valid,
                const DeviceView & numbers,
                const Context &    context);

/** Queues a pass that sets the output to NaN where the image is valid and is NaN or infinite; `valid` is as for
 * QueueFiniteMask(). */
void
QueueNaN(const DeviceView & image, const DeviceView & valid, const DeviceView & output, const Context & context);

/** Queues a search for NaN and infinity in an image of float or double, which sets *found to 1 if there is one. `found`
 * is in page-locked memory; the host reads it when the work has completed. Unless the pixels are adjacent, the rows
 * begin at multiples of 16 bytes, as those of a DeviceImage. */
void
QueueFindNonFinite(const DeviceView & image, unsigned int * found, const Context & context);

/** Queues the computation of the weights, 1 where a pixel is valid and 0 elsewhere. */
void
QueueWeights(const DeviceView & valid, const DeviceView & weights, const Context & context);

/** Queues the computation of the values: valid pixels less the reference value, and 0 elsewhere. */
void
QueueValues(const DeviceView & image,
            const DeviceView & valid,
            const void *       referenceValue,
            const DeviceView & values,
            const Context &    context);

/** Queues the computation of values / weights + reference value, or fillValue where the weight is below smallestWeight.
 * Values and output may be the same image. */
void
QueueQuotient(const DeviceView & values,
              const DeviceView & weights,
              const void *       referenceValue,
              const DeviceView & output,
              double             fillValue,
              double             smallestWeight,
              const Context &    context);
/** \class NonFiniteScan
 * \brief A search for NaN and infinite pixels in images on the device. Its result arrives in page-locked memory. The
 * destructor waits for the search, because it writes to this memory.
 */
class NonFiniteScan
{
public:
  NonFiniteScan();
  ~NonFiniteScan();

  NonFiniteScan(const NonFiniteScan &) = delete;
  NonFiniteScan &
  operator=(const NonFiniteScan &) = delete;

  /** Queues the search of one more image. \exception CudaError */
  void
  Queue(const DeviceView & image, const Context & context);

  /** Returns whether the searches have found a pixel so far. Does not wait. */
  bool
  HasAnswer() const;

  /** Waits for the searches, and returns whether they have found a pixel. \exception CudaError */
  bool
  HasFound();

private:
  struct Search
  {
    Context On;
    Event   Over; // after the last search on this stream
  };

  unsigned int *
  GetAnswer() const;

  const PinnedBuffer  m_Memory;
  std::vector<Search> m_Searches;
};
} // namespace itk::cuda::gaussian

#endif

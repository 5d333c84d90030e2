// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_Device_h
#define CudaFilters_gaussian_device_Device_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianPlan.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "gaussian/plan/Schedule.h"
#include "runtime/memory/Workspace.h"
#include "itkCudaDetailDeviceRun.h"

#include <cstddef>
#include <vector>

namespace itk::cuda
{
class Context;
}

namespace itk::cuda::gaussian
{
/** The kind of `axis` in an image of rows. */
inline AxisKind
GetAxisKind(unsigned int axis)
{
  return axis == 0 ? AxisKind::Contiguous : AxisKind::Strided;
}

/** \struct LineCut
 * \brief What a part of an image needs from the rest of the image. The part was cut out across the last axis, between
 * two chunks of ChunkLength pixels.
 *
 * Next to a cut, the results of as many chunks as the schedule's LookAhead are invalid. All other results have the bits
 * of the whole image's. If LookAhead is 0, all results are valid, and states at the cuts are needed.
 */
struct LineCut
{
  size_t       WholeLength{ 0 };  // pixels of the whole image along the axis; 0: there is no cut
  DeviceView   First{};           // its first plane, if this part does not begin with it: a size of 1 along the axis
  bool         EndIsCut{ false }; // the whole image goes on behind this part
  const void * StatesBefore{ nullptr }; // device memory, [pole pair][line] {U, V}: causal states before the first pixel
  const void * StatesBehind{ nullptr }; // anticausal states behind the last one

  bool
  IsCut() const
  {
    return WholeLength != 0;
  }

  bool
  BeginIsCut() const
  {
    return First.Data != nullptr;
  }
};

/** The schedule that RunPlan() takes on the device. */
CudaFilters_EXPORT LineSchedule
GetLineSchedule(const CudaGaussianLinePass &    pass,
                const std::vector<DeviceView> & images,
                int                             device,
                const LineCut &                 cut = {});

/** Whether the edge states of a pass's lines follow from totals within the pass (EdgeClosure). */
bool
FollowFromTotals(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source);

/** Bytes of the edge states of a pass's lines that are summed before the pass; 0 if none are. */
size_t
GetEdgeBytes(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source);

/** Bytes of the states that a Partition of a pass keeps. */
size_t
GetStateBytes(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source);

/** Bytes of device memory that a pass needs beside source and destination. */
CudaFilters_EXPORT size_t
GetLinePassWorkspace(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source);

/** Queues one pass. `images` are those of the plan; they have the same size, strides and type, rows follow each other
 * at Stride[1], and each further axis where the one before ends. The padding of the destinations may be written.
 * `workspace` has GetLinePassWorkspace() bytes.
 *
 * \exception CudaError, ExceptionObject if a cut is not as for RunPlan() */
CudaFilters_EXPORT void
RunLinePass(const CudaGaussianLinePass &    pass,
            const LineSchedule &            schedule,
            const std::vector<DeviceView> & images,
            Workspace                       workspace,
            const Context &                 context,
            const LineCut &                 cut = {});

/** Bytes that RunPlan() needs beside the plan's images: a sixteenth of an image for states, or more if the states of a
 * few lines take more. Lines whose states would take more are filtered in groups. In other boundary modes than Nearest
 * edge states take GetMaximumEdgeBytes() beside them. */
CudaFilters_EXPORT size_t
GetPlanWorkspace(const CudaGaussianPlan &        plan,
                 const std::vector<DeviceView> & images,
                 int                             device,
                 const std::vector<LineCut> &    cuts = {});

/** Queues a plan's passes, and then its rotation, on the plan's images, which must be as for RunLinePass(). `cuts`
 * holds one cut for each pass along the axis across which the image was cut. Passes beyond its length have no cut.
 *
 * \exception CudaError, ExceptionObject if a cut is not between chunks or lacks states that it needs, or lines that are
 * cut continue otherwise than with their edge values */
CudaFilters_EXPORT void
RunPlan(const CudaGaussianPlan &        plan,
        const std::vector<DeviceView> & images,
        Workspace                       workspace,
        const Context &                 context,
        const std::vector<LineCut> &    cuts = {});

/** Largest number of bytes of edge states that a plan needs at a time for images of that size. */
size_t
GetMaximumEdgeBytes(const CudaGaussianPlan & plan, const DeviceImage::SizeType & size, CudaComponentType type);

/** Bytes of the workspace that RunGaussian() needs. \exception CudaError */
CudaFilters_EXPORT size_t
GetGaussianWorkspace(const CudaGaussianPlan &     plan,
                     const DeviceView &           input,
                     const DeviceView &           output,
                     int                          device,
                     const std::vector<LineCut> & cuts = {});

/** Queues a plan's work on the device. The output has the input's rows and, for each of its components, as many planes
 * as the plan has results. If the plan's only result is image 0, the output is the input. The input is overwritten
 * unless the plan was made with KeepInput. The function never waits, allocates or transfers.
 *
 * `cuts` are as for RunPlan(). \exception CudaError, ExceptionObject */
CudaFilters_EXPORT void
RunGaussian(const CudaGaussianPlan &     plan,
            const DeviceView &           input,
            const DeviceView &           output,
            Workspace                    workspace,
            const Context &              context,
            const std::vector<LineCut> & cuts = {});

/** Queues the first pass of the smoothing of a mask's weights, if there is a kernel for it: along another axis than the
 * first, of lines that continue with their edge values and stay whole. `valid`, an image of UChar, has the size and
 * strides of `destination`. \return whether there is */
bool
RunMaskPass(const CudaGaussianLinePass & pass,
            const CudaGaussianBoundary & boundary,
            const DeviceView &           valid,
            const DeviceView &           destination,
            const Context &              context);

/** The same of the first pass of the smoothing of an image's valid pixels, less the value at `subtracted` in device
 * memory. `image` has the size and strides of `destination`, and may be it. \return whether there is a kernel */
bool
RunValidPass(const CudaGaussianLinePass & pass,
             const CudaGaussianBoundary & boundary,
             const DeviceView &           image,
             const DeviceView &           valid,
             const void *                 subtracted,
             const DeviceView &           destination,
             const Context &              context);

/** The last pass of smoothing with a mask, which divides as well. */
struct QuotientPass
{
  CudaGaussianLinePass    Pass; // of images 0, weights, and 1, values, to 2, the output
  LineSchedule            Schedule;
  std::vector<DeviceView> Images; // of the same size, strides and type
};

/** Whether there is a kernel for it: along axis 0, of lines that tiles of a block hold, one of weights and one of
 * values, and that need no states from before the pass. */
bool
HasQuotientKernel(const QuotientPass & pass, int device);

/** \param pass any pass of the plan's last axis */
QuotientPass
MakeQuotientPass(const CudaGaussianLinePass & pass,
                 const CudaGaussianBoundary & boundary,
                 const DeviceView &           weights,
                 const DeviceView &           values,
                 const DeviceView &           output,
                 int                          device);

/** Queues it. \param subtracted the Offset of the values, in device memory and of the images' type */
void
RunQuotientPass(const QuotientPass &     pass,
                const CudaGaussianMask & mask,
                const void *             subtracted,
                const Context &          context);

/** Passes along axis 0, one for each of two or three images, of whose results only the products are written. */
struct ProductPass
{
  std::vector<CudaGaussianLinePass> Passes;   // their sources are among Images
  std::vector<DeviceView>           Images;   // of the same size, strides and type, as the products
  std::vector<DeviceView>           Products; // of the first result with itself, with the second, and so on
};

/** Whether there is a kernel for it: of passes with the same poles, and of lines that tiles of a block hold whole. */
CudaFilters_EXPORT bool
HasProductKernel(const ProductPass & pass, int device);

/** Queues it. Lines continue with their edge values. A product may lie where a source lies. \exception CudaError */
CudaFilters_EXPORT void
RunProductPass(const ProductPass & pass, const Context & context);

/** Bytes of the workspace that RunMaskedGaussian() needs. \exception CudaError */
CudaFilters_EXPORT size_t
GetMaskedGaussianWorkspace(const CudaGaussianPlan & plan, const DeviceView & input, int device);

/** Queues smoothing over the pixels that `valid`, an image of UChar, says are valid: the quotient of the smooth valid
 * pixels and the smooth weights (RunMaskedGaussianPlanOnHost()). The plan is one of MakeSmoothingPlan(), without its
 * Mask. Output and input may be the same. Less one of the valid pixels, or the boundary value in the mode Constant, the
 * pixels are smoothed. \exception CudaError */
CudaFilters_EXPORT void
RunMaskedGaussian(const CudaGaussianPlan & plan,
                  const CudaGaussianMask & mask,
                  const DeviceView &       valid,
                  const DeviceView &       input,
                  const DeviceView &       output,
                  Workspace                workspace,
                  const Context &          context);
} // namespace itk::cuda::gaussian

namespace itk::cuda
{
class Context;
}

namespace itk::cuda::gaussian
{
/** Queues the passes of an array in memory that the caller keeps, as CudaQueueOnStream() does, on the array's stream:
 * the stream of a context that was opened before. \exception CudaError */
void
QueuePasses(const std::vector<CudaArrayPass> & passes,
            const CudaArrayMemory &            input,
            void *                             output,
            const Context &                    context);
} // namespace itk::cuda::gaussian

#endif

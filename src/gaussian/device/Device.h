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

// Runs line passes and plans on the device: chooses schedules, computes the workspace that the passes need, and
// queues their kernels.

namespace itk::cuda
{
class Context;
}

namespace itk::cuda::gaussian
{
/** Returns the kind of `axis` in an image that consists of rows. */
inline AxisKind
GetAxisKind(unsigned int axis)
{
  return axis == 0 ? AxisKind::Contiguous : AxisKind::Strided;
}

/** \struct LineCut
 * \brief What a part of an image needs from the rest of the image. The part was cut out across the last axis, between
 * two chunks of ChunkLength pixels.
 *
 * The results of the LookAhead chunks next to a cut (LineSchedule) are invalid. All other results have the bits of the
 * whole image's. If LookAhead is 0, all results are valid, but the states at the cuts must be given. */
struct LineCut
{
  size_t       WholeLength{ 0 }; // pixels of the whole image along the axis; 0: the image is not cut
  DeviceView   First{}; // first plane of the whole image (size 1 along the axis), unless this part begins with it
  bool         EndIsCut{ false };       // whether the whole image continues behind this part
  const void * StatesBefore{ nullptr }; // causal, before the first pixel: device memory, [pole pair][line] {U, V}
  const void * StatesBehind{ nullptr }; // anticausal, behind the last pixel, likewise

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

/** Returns the schedule that RunPlan() uses on the device. */
CudaFilters_EXPORT LineSchedule
GetLineSchedule(const CudaGaussianLinePass &    pass,
                const std::vector<DeviceView> & images,
                int                             device,
                const LineCut &                 cut = {});

/** Returns whether the edge states of a pass's lines are computed from end states within the pass (EdgeStateSolver). */
bool
SolvesBoundaryStates(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source);

/** Returns the bytes of one state for each sweep, pole pair and line of a pass. They hold the states of one chunk, or
 * the states with which both sweeps enter the lines. */
size_t
GetLineStateBytes(const CudaGaussianLinePass & pass, const DeviceView & source);

/** Returns the bytes of the edge states of a pass's lines if they are summed before the pass, otherwise 0. */
size_t
GetEdgeBytes(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source);

/** Returns the bytes of the states that a TileScan stores for a pass. */
size_t
GetStateBytes(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source);

/** Returns the bytes of device memory that a pass needs in addition to source and destination. */
CudaFilters_EXPORT size_t
GetLinePassWorkspace(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source);

/** Queues one pass. `images` are those of the plan. They have the same size, strides and type; rows are Stride[1]
 * apart, and each further axis is packed. The padding of the destinations' rows may be written. `workspace` has
 * GetLinePassWorkspace() bytes.
 *
 * \exception CudaError, ExceptionObject if a cut is not as for RunPlan() */
CudaFilters_EXPORT void
RunLinePass(const CudaGaussianLinePass &    pass,
            const LineSchedule &            schedule,
            const std::vector<DeviceView> & images,
            Workspace                       workspace,
            const Context &                 context,
            const LineCut &                 cut = {});

/** Returns the bytes that RunPlan() needs in addition to the plan's images. This is a sixteenth of an image for states,
 * or more if the states of a few lines take more. Lines whose states would take more than that are filtered in groups.
 * In other boundary modes than Nearest, GetMaximumEdgeBytes() bytes for edge states are added. */
CudaFilters_EXPORT size_t
GetPlanWorkspace(const CudaGaussianPlan &        plan,
                 const std::vector<DeviceView> & images,
                 int                             device,
                 const std::vector<LineCut> &    cuts = {});

/** Queues a plan's passes and then its rotation, on the plan's images, which must be as for RunLinePass(). `cuts` has
 * one cut for each pass along the axis across which the image was cut. Passes beyond its length have no cut.
 *
 * \exception CudaError, ExceptionObject if a cut is not between chunks, if it lacks states that it needs, or if lines
 * that are cut continue otherwise than with their edge values */
CudaFilters_EXPORT void
RunPlan(const CudaGaussianPlan &        plan,
        const std::vector<DeviceView> & images,
        Workspace                       workspace,
        const Context &                 context,
        const std::vector<LineCut> &    cuts = {});

/** Returns the largest number of bytes of edge states that a plan needs at a time for images of this size. */
size_t
GetMaximumEdgeBytes(const CudaGaussianPlan & plan, const DeviceImage::SizeType & size, CudaComponentType type);

/** Returns the bytes of the workspace that RunGaussian() needs. \exception CudaError */
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
 * `cuts` are as for RunPlan().
 * \exception CudaError, ExceptionObject */
CudaFilters_EXPORT void
RunGaussian(const CudaGaussianPlan &     plan,
            const DeviceView &           input,
            const DeviceView &           output,
            Workspace                    workspace,
            const Context &              context,
            const std::vector<LineCut> & cuts = {});

/** Queues the first pass over the weights of smoothing with a mask, if there is a kernel for it. There is one for all
 * axes except the first, for lines that continue with their edge values and that a block holds whole. `valid`, an image
 * of UChar, has the size and strides of `destination`. \return whether there is a kernel */
bool
RunMaskPass(const CudaGaussianLinePass & pass,
            const CudaGaussianBoundary & boundary,
            const DeviceView &           valid,
            const DeviceView &           destination,
            const Context &              context);

/** Queues the first pass over the values of smoothing with a mask, under the conditions of RunMaskPass(). The values
 * are the valid pixels less the value at `subtracted`, which is in device memory. `image` has the size and strides of
 * `destination`, and may be the same image. \return whether there is a kernel */
bool
RunValidPass(const CudaGaussianLinePass & pass,
             const CudaGaussianBoundary & boundary,
             const DeviceView &           image,
             const DeviceView &           valid,
             const void *                 subtracted,
             const DeviceView &           destination,
             const Context &              context);

/** The last pass of smoothing with a mask. It also divides the values by the weights. */
struct QuotientPass
{
  CudaGaussianLinePass    Pass; // reads images 0 (weights) and 1 (values), writes image 2 (the output)
  LineSchedule            Schedule;
  std::vector<DeviceView> Images; // of the same size, strides and type
};

/** Returns whether there is a kernel for the pass. There is one along axis 0, for lines that tiles of a block hold (one
 * tile of weights and one of values) and that need no states computed before the pass. */
bool
HasQuotientKernel(const QuotientPass & pass, int device);

/** Makes a quotient pass.
 * \param pass any pass along the plan's last axis */
QuotientPass
MakeQuotientPass(const CudaGaussianLinePass & pass,
                 const CudaGaussianBoundary & boundary,
                 const DeviceView &           weights,
                 const DeviceView &           values,
                 const DeviceView &           output,
                 int                          device);

/** Queues the pass.
 * \param subtracted the Offset of the values, in device memory and of the images' type */
void
RunQuotientPass(const QuotientPass &     pass,
                const CudaGaussianMask & mask,
                const void *             subtracted,
                const Context &          context);

/** Passes along axis 0 over two or three images. Only the products of their results are written. */
struct ProductPass
{
  std::vector<CudaGaussianLinePass> Passes;   // their sources are among Images
  std::vector<DeviceView>           Images;   // of the same size, strides and type as the products
  std::vector<DeviceView>           Products; // of the first result with itself, the first with the second, and so on
};

/** Returns whether there is a kernel for the pass. There is one for passes with the same poles, along lines that the
 * tiles of a block hold whole. */
CudaFilters_EXPORT bool
HasProductKernel(const ProductPass & pass, int device);

/** Queues the pass. Lines continue with their edge values. A product may overwrite a source. \exception CudaError */
CudaFilters_EXPORT void
RunProductPass(const ProductPass & pass, const Context & context);

/** Returns the bytes of the workspace that RunMaskedGaussian() needs. \exception CudaError */
CudaFilters_EXPORT size_t
GetMaskedGaussianWorkspace(const CudaGaussianPlan & plan, const DeviceView & input, int device);

/** Queues smoothing over the pixels that the mask `valid`, an image of UChar, marks as valid: the quotient of the
 * smoothed valid pixels and the smoothed weights (CudaGaussianMask). The plan is one of
 * MakeSmoothingPlan(), without its Mask. Output and input may be the same image. A reference value is subtracted from
 * the pixels before they are smoothed: one of the valid pixels or, in the mode Constant, the boundary value. \exception
 * CudaError */
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
/** Queues the passes of an array in the caller's memory, as CudaQueueOnStream() does, on the array's stream. `context`
 * was opened for this stream. \exception CudaError */
void
QueuePasses(const std::vector<CudaArrayPass> & passes,
            const CudaArrayMemory &            input,
            void *                             output,
            const Context &                    context);
} // namespace itk::cuda::gaussian

#endif

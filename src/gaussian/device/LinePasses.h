// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_LinePasses_h
#define CudaFilters_gaussian_device_LinePasses_h

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
// queues their kernels. The definitions are in LinePasses.cu.

namespace itk::cuda::gaussian
{
/** Returns the kind of `axis` in an image that consists of rows. */
inline AxisKind
GetAxisKind(unsigned int axis)
{
  return axis == 0 ? AxisKind::Contiguous : AxisKind::Strided;
}

/** \struct LineCut
 * \brief Describes a part of an image to the passes along its last axis, across which it was cut out at boundaries of
 * chunks of ChunkLength pixels, and holds the data that these passes need from the rest of the image.
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
SolvesEdgeStates(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source);

/** Returns the bytes of the states of one chunk of a pass's lines, one for each sweep, pole pair and line. The states
 * with which the sweeps enter the lines take the same number of bytes. */
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
 * \exception CudaError, ExceptionObject if a cut is not between chunks, if it lacks states that it needs, or if
 * lines that are cut continue with other values than their edge values */
CudaFilters_EXPORT void
RunPlan(const CudaGaussianPlan &        plan,
        const std::vector<DeviceView> & images,
        Workspace                       workspace,
        const Context &                 context,
        const std::vector<LineCut> &    cuts = {});

/** Returns the largest number of bytes of edge states that a plan needs at a time for images of this size. */
size_t
GetMaximumEdgeBytes(const CudaGaussianPlan & plan, const DeviceView::SizeType & size, CudaComponentType type);

/** Queues the first pass over the weights of smoothing with a mask, if there is a kernel for it. Kernels exist for all
 * axes except the first. They filter lines that continue with their edge values and that a block can hold as a whole.
 * `valid`, an image of UChar, has the size and strides of `destination`. \return whether there is a kernel */
bool
RunMaskPass(const CudaGaussianLinePass & pass,
            const CudaGaussianBoundary & boundary,
            const DeviceView &           valid,
            const DeviceView &           destination,
            const Context &              context);

/** Queues the first pass over the values of smoothing with a mask, under the conditions of RunMaskPass(). The values
 * are the valid pixels less the value at `referenceValue`, which is in device memory. `image` has the size and strides
 * of `destination`, and may be the same image. \return whether there is a kernel */
bool
RunValidPass(const CudaGaussianLinePass & pass,
             const CudaGaussianBoundary & boundary,
             const DeviceView &           image,
             const DeviceView &           valid,
             const void *                 referenceValue,
             const DeviceView &           destination,
             const Context &              context);

/** The last pass of smoothing with a mask. It also divides the values by the weights. */
struct QuotientPass
{
  CudaGaussianLinePass    Pass; // reads images 0 (weights) and 1 (values), writes image 2 (the output)
  LineSchedule            Schedule;
  std::vector<DeviceView> Images; // of the same size, strides and type
};

/** Returns whether there is a kernel for the pass. The pass must be along axis 0, a block must be able to hold a tile
 * of weights and a tile of values, and no states may have to be computed before the pass. */
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
 * \param referenceValue the reference value of the pixels (ReferenceValue), in device memory */
void
RunQuotientPass(const QuotientPass &     pass,
                const CudaGaussianMask & mask,
                const void *             referenceValue,
                const Context &          context);

/** Passes along axis 0 over two or three images. Only the products of their results are written. */
struct ProductPass
{
  std::vector<CudaGaussianLinePass> Passes;   // their sources are among Images
  std::vector<DeviceView>           Images;   // of the same size, strides and type as the products
  std::vector<DeviceView>           Products; // of the first result with itself, the first with the second, and so on
};

/** Returns whether there is a kernel for the pass. Its passes must have the same poles, and a block must be able to
 * hold their whole lines in its tiles. */
CudaFilters_EXPORT bool
HasProductKernel(const ProductPass & pass, int device);

/** Queues the pass. Lines continue with their edge values. A product may overwrite a source. \exception CudaError */
CudaFilters_EXPORT void
RunProductPass(const ProductPass & pass, const Context & context);

/** Returns whether the pass's lines go through shared memory chunk by chunk. */
inline bool
RunsInStrips(const LineSchedule & schedule)
{
  return schedule.Method == LineMethod::Strip || schedule.Method == LineMethod::StripScan;
}

/** Queues the computation of the end states of the source's chunks, one of the steps of a pass across slabs
 * (gaussian/slabs/SlabsDevice.h). `images` are those of one component, as for RunLinePass(), and have whole chunks
 * unless the line ends with them. States are stored as [chunk][sweep and pole pair][line]. `cut` must have First and
 * EndIsCut. */
CudaFilters_EXPORT void
RunChunkEndStates(const CudaGaussianLinePass &    pass,
                  const LineSchedule &            schedule,
                  const std::vector<DeviceView> & images,
                  const LineCut &                 cut,
                  void *                          endStates,
                  const Context &                 context);

/** Queues the computation of the results of the source's chunks from their start states, under the conditions of
 * RunChunkEndStates(). A single result may be stored in place. */
CudaFilters_EXPORT void
RunChunksFromStates(const CudaGaussianLinePass &    pass,
                    const LineSchedule &            schedule,
                    const std::vector<DeviceView> & images,
                    const LineCut &                 cut,
                    const void *                    starts,
                    const Context &                 context);
} // namespace itk::cuda::gaussian

#endif

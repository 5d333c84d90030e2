// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_multiscale_MultiScaleDevice_h
#define CudaFilters_multiscale_MultiScaleDevice_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "gaussian/device/Device.h"
#include "pointwise/TensorDevice.h"
#include "runtime/memory/Workspace.h"

#include <cstddef>
#include <functional>
#include <optional>

// Numbers only. No result depends on them.

namespace itk::cuda::multiscale
{
/** Groups of planes that an image's Hessians are made in. Three groups of 512^3 pixels fill a GPU, and their Hessians
 * and intermediate images take the memory of three images instead of nine. A pass along x of 512^3 pixels takes 0.31 ms
 * in one group and 0.34 ms in four. */
constexpr size_t NumberOfGroups = 3;

/** Least number of pixels of a group: with less the launches take longer than the kernels. */
constexpr size_t LeastGroupPixels = size_t{ 1 } << 22;
} // namespace itk::cuda::multiscale

namespace itk::cuda
{
class Context;
}

namespace itk::cuda::multiscale
{
/** \struct Slab
 * \brief The part of an image that a run computes, between planes across the image's last axis.
 *
 * The run's input is these planes with their context, as `Cut` describes it: the part of a whole image.
 */
struct Slab
{
  gaussian::LineCut Cut{};
  size_t            FirstPlane{ 0 }; // of the results, counted from the first plane of the input
  size_t            Planes{ 0 };     // of the results
};

/** The whole image as one slab. */
CudaFilters_EXPORT Slab
MakeWholeSlab(const CudaMultiScalePlan & plan, const DeviceView & input);

/** Planes on either side of a slab that its results depend on, in whole chunks; none if they depend on all planes. */
std::optional<size_t>
GetContextPlanes(const CudaMultiScalePlan & plan, size_t length, CudaComponentType type);

/** Bytes of the images that a run takes from its workspace, for an input of that shape. */
size_t
GetScaleImageBytes(const CudaMultiScalePlan & plan, const DeviceView & input, size_t planes);

/** Bytes of the workspace that RunMultiScale() needs. \exception CudaError */
CudaFilters_EXPORT size_t
GetMultiScaleWorkspace(const CudaMultiScalePlan & plan, const DeviceView & input, const Slab & slab, int device);

/** Takes planes of a slab, from `first` on, whose results are complete with the work queued so far. */
using CompletePlanesFunction = std::function<void(size_t first, size_t planes)>;

/** Queues all scales. The images of `best` have the rows and the type of the input, and the slab's planes; its Lowest
 * is set by the plan, and its Parameter is the first of one for each scale. The input is kept. Calls `progress` between
 * scales, and `complete` for one group of planes after the other. The function never waits, allocates or transfers.
 *
 * Passes along the last axis write its derivatives for all planes. The other passes and the measure follow for a group
 * of planes at a time. The bits do not depend on groups and slabs. \exception CudaError, or what `progress` throws */
CudaFilters_EXPORT void
RunMultiScale(const CudaMultiScalePlan &     plan,
              const DeviceView &             input,
              const Slab &                   slab,
              pointwise::BestScale           best,
              Workspace                      workspace,
              const Context &                context,
              const CudaProgressFunction &   progress,
              const CompletePlanesFunction & complete = nullptr);
} // namespace itk::cuda::multiscale

#endif

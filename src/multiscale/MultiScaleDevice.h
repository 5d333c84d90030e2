// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_multiscale_MultiScaleDevice_h
#define CudaFilters_multiscale_MultiScaleDevice_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "gaussian/device/LinePasses.h"
#include "pointwise/TensorDevice.h"
#include "runtime/memory/Workspace.h"

#include <cstddef>
#include <functional>
#include <optional>

// Computes the largest measure of several scales on the device, for an image or a slab of it. No result depends on the
// tuning constants.

namespace itk::cuda::multiscale
{
/** Number of groups of planes in which the Hessians of an image are computed. In an image of 512^3 pixels, each of
 * three groups still fills a GPU, and the Hessians and intermediate images take the memory of three images instead of
 * nine. A pass along x over 512^3 pixels takes 0.31 ms in one group and 0.34 ms in four. */
constexpr size_t NumberOfGroups = 3;

/** Minimum number of pixels of a group. With fewer pixels, the launches take longer than the kernels. */
constexpr size_t MinimumGroupPixels = size_t{ 1 } << 22;

/** \struct Slab
 * \brief The part of an image that a run computes: a range of planes perpendicular to the image's last axis.
 *
 * The input of the run has these planes and their context. `Cut` describes which part of the whole image it is.
 */
struct Slab
{
  gaussian::LineCut Cut{};
  size_t            FirstPlane{ 0 }; // first plane of the results, relative to the first plane of the input
  size_t            Planes{ 0 };     // number of planes of the results
};

/** Returns the whole image as one slab. */
CudaFilters_EXPORT Slab
MakeWholeSlab(const CudaMultiScalePlan & plan, const DeviceView & input);

/** Returns the number of planes on either side of a slab on which its results depend, rounded up to whole chunks, or
 * std::nullopt if the results depend on all planes. */
std::optional<size_t>
GetContextPlanes(const CudaMultiScalePlan & plan, size_t length, CudaComponentType type);

/** Returns the bytes of the images that a run takes from its workspace, for an input with the shape of `input` and a
 * slab of `planes` planes. With a parameter that is computed from the Hessians, these are in memory as a whole. */
size_t
GetScaleImageBytes(const CudaMultiScalePlan & plan, const DeviceView & input, size_t planes, bool hasParameter);

/** Returns the bytes of the workspace that RunMultiScale() needs. \exception CudaError */
CudaFilters_EXPORT size_t
GetMultiScaleWorkspace(const CudaMultiScalePlan & plan,
                       const DeviceView &         input,
                       const Slab &               slab,
                       const CudaScaleParameter * parameter,
                       int                        device);

/** Callback for `planes` planes of a slab, from `first` on, whose results are complete when the work queued so far is
 * done. */
using CompletePlanesFunction = std::function<void(size_t first, size_t planes)>;

/** Queues the computation of all scales. The images of `best` must have the rows and the type of the input, and the
 * slab's planes. The function sets best.Lowest according to the plan. `parameter` is the parameter of the measure that
 * is computed from each scale's Hessians, or nullptr; the slab is then the whole image, whose Hessians stay in memory
 * until their largest value is known. The input is not changed. Calls `progress` after each scale, and `complete` after
 * each group of planes of the last scale. The function never waits, allocates or transfers.
 *
 * For each scale, the passes along the last axis first compute the derivatives along this axis for all planes. The
 * other passes and the measure then process one group of planes at a time. The results do not depend on groups and
 * slabs, bit for bit. \exception CudaError, or what `progress` throws */
CudaFilters_EXPORT void
RunMultiScale(const CudaMultiScalePlan &     plan,
              const DeviceView &             input,
              const Slab &                   slab,
              const CudaScaleParameter *     parameter,
              pointwise::BestScale           best,
              Workspace                      workspace,
              const Context &                context,
              const CudaProgressFunction &   progress,
              const CompletePlanesFunction & complete = nullptr);
} // namespace itk::cuda::multiscale

#endif

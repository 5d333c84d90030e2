// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_LabelMaker_h
#define CudaFilters_partition_labels_LabelMaker_h

#include "partition/Model.h"
#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "partition/Scene.h"
#include "partition/refine/Work.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace itk::cuda::partition
{
/** The region of each pixel. Regions are numbered from 1 in the order of their first pixels and are 4-connected. Every
 * pixel belongs to a region; invalid pixels do not contribute to its sums. */
struct LabelMap
{
  int32_t               Width{ 0 };
  int32_t               Height{ 0 };
  std::vector<uint32_t> Labels;  // row by row
  std::vector<Moments>  Regions; // sums of region number label; [0] is unused
};

/** Called by the calling thread with the completed fraction; returns whether to continue. May be empty. */
using ProgressFunction = std::function<bool(float)>;

/** A label map, and whether it is finished. If not, it is the map after the last completed stage. */
struct LabelOutcome
{
  LabelMap Map;
  bool     Finished{ true };
};

/** Finds regions: blocks of pixels merge, then cells of blockSize, blockSize / 2, ... 1 pixels compete, and finally the
 * connected components merge again. \param blockSize a power of 2 \exception ExceptionObject for an image of more
 * blocks than 32-bit labels tell apart */
LabelOutcome
MakeLabelMap(const Scene &            scene,
             const Model &            model,
             int32_t                  blockSize,
             const Work &             work,
             const ProgressFunction & progress = {});

/** Finds the regions of given labels: their 4-connected components. Regions without valid pixels join others.
 * \param labels UInt, of the image's size \exception ExceptionObject as CheckNumberOfRegions()
 */
LabelMap
MakeLabelMapOf(const CudaImageView & labels, const Scene & scene, const Model & model, const Work & work);
} // namespace itk::cuda::partition

#endif

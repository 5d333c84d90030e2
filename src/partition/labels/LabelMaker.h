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
/** Which region each pixel belongs to. Regions count from 1, in the order of their first pixels, and are connected over
 * sides of pixels. Every pixel has a region: those that are not valid have no samples, and count nowhere. */
struct LabelMap
{
  int32_t               Width{ 0 };
  int32_t               Height{ 0 };
  std::vector<uint32_t> Labels;  // row by row
  std::vector<Moments>  Regions; // sums of region number label; [0] is unused
};

/** Called by the calling thread with the share of the work done; returns whether to go on. May be empty. */
using ProgressFunction = std::function<bool(float)>;

/** A map, and whether it is finished: if not, it is that of the last stage that was. */
struct LabelOutcome
{
  LabelMap Map;
  bool     Finished{ true };
};

/** Finds regions: blocks of pixels merge, cells of blockSize, blockSize / 2, ... 1 pixels compete, and what is
 * connected then merges again. \param blockSize a power of 2 \exception ExceptionObject for an image of more blocks
 * than 32-bit labels tell apart */
LabelOutcome
MakeLabelMap(const Scene &            scene,
             const Model &            model,
             int32_t                  blockSize,
             const Work &             work,
             const ProgressFunction & progress = {});

/** The regions of given labels: what is connected over sides and has one label. Those without valid pixels join others.
 * \param labels UInt, of the image's size \exception ExceptionObject as CheckNumberOfRegions() */
LabelMap
MakeLabelMapOf(const CudaImageView & labels, const Scene & scene, const Model & model, const Work & work);
} // namespace itk::cuda::partition

#endif

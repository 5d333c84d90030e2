// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionLabelMaker_h
#define itkCudaPartitionLabelMaker_h

#include "itkCudaDetailImageView.h"
#include "itkCudaDetailNames.h"
#include "itkCudaPartitionLabels.h"
#include "itkCudaPartitionModel.h"
#include "itkCudaPartitionScene.h"
#include "itkCudaPartitionWork.h"

#include <functional>

namespace itk::cuda::partition
{
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

// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionRun_h
#define itkCudaPartitionRun_h

#include "itkCudaDetailNames.h"
#include "itkCudaDetailRegionPartitionEngine.h"
#include "itkCudaPartitionLabelMaker.h"
#include "itkCudaPartitionModel.h"
#include "itkCudaPartitionScene.h"
#include "itkCudaPartitionWork.h"
#include "itkCudaRegionSamples.h"

#include <cstdint>
#include <functional>

namespace itk::cuda::partition
{
/** What the label map of a run is made of. */
struct LabelRequest
{
  const region::Samples &  Pixels;
  const Scene &            Image; // the same with the sums of its rows, in host memory
  const Model &            Law;
  const Work &             Loops;
  const CudaImageView *    InitialLabels; // nullptr: none
  int32_t                  BlockSize;
  const ProgressFunction & Progress;
};

/** Makes the label map, on the host or on a device, with the same bits, and says who computes gains afterwards. */
using LabelFunction = std::function<LabelOutcome(const LabelRequest &)>;

LabelOutcome
MakeLabelsOnHost(const LabelRequest & request);

/** Checks the input and runs all stages, as CudaRegionPartitionOnHost(). All but the label map and the gains of changes
 * is made on the host. */
CudaRegionPartitionResult
RunPartition(const CudaRegionPartitionInput &      input,
             const CudaRegionPartitionParameters & parameters,
             const CudaImageView &                 labels,
             unsigned int                          numberOfThreads,
             const CudaRegionPartitionObserver &   observer,
             const LabelFunction &                 makeLabels);
} // namespace itk::cuda::partition

#endif

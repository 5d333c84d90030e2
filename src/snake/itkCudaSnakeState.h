// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeState_h
#define itkCudaSnakeState_h

#include "itkCudaHostDevice.h"
#include "itkCudaRegionLaws.h"
#include "itkCudaSnakeControl.h"
#include "itkCudaSnakeRegion.h"

#include <cstdint>

namespace itk::cuda::snake
{
/** What a run of the snake goes on from, as plain data: of the host, or of the device. */
struct SnakeState
{
  SnakePlan      Plan;
  LawDescription Law;
  Moments        Total;

  SnakeControl Control;
  Moments      Sums;
  double       Criterion{ 0.0 };
  double       RecordedCriterion{ 0.0 }; // of the last entry of the record, or where the run began
  LinearForm   Gain;                     // of what moves into the target
  int32_t      NumberOfNodes{ 0 };
  bool         AllStale{ true }; // whether the last phase left no node's candidates as they were

  CudaRegionSnakeStep * Record{ nullptr };
  uint32_t              RecordCapacity{ 0 };
  uint32_t              NumberOfEntries{ 0 };

  /** Takes the sums of a polygon, with what follows from them. */
  ITK_CUDA_HOST_DEVICE void
  TakeSums(const Moments & sums)
  {
    Sums = sums;
    Criterion = region::Criterion(Law, Sums, Total);
    Gain = Linearize(Law, Sums, Total);
  }

  /** Begins with the removal of nodes of a polygon in pixels that has these sums. */
  ITK_CUDA_HOST_DEVICE void
  BeginRemoval(const Moments & sums)
  {
    this->TakeSums(sums);
    RecordedCriterion = Criterion;
    Control.BeginRemoval();
  }
};
} // namespace itk::cuda::snake

#endif

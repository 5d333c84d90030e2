// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeDeviceMath_h
#define itkCudaSnakeDeviceMath_h

#include "region/Laws.h"

#include <vector>

// The room's arithmetic as the device does it, for tests that compare its bits with the host's.
namespace itk::cuda::region
{
/** Two regions and the law that judges them. */
struct CriterionCase
{
  LawDescription Law;
  Moments        Target;
  Moments        Total;
};

struct CriterionValue
{
  double     Criterion;
  LinearForm Form;
};

inline ITK_CUDA_HOST_DEVICE CriterionValue
Evaluate(const CriterionCase & input)
{
  return { Criterion(input.Law, input.Target, input.Total), Linearize(input.Law, input.Target, input.Total) };
}

/** \exception CudaError */
std::vector<double>
LogOnDevice(const std::vector<double> & values, int device);

/** \exception CudaError */
std::vector<CriterionValue>
EvaluateOnDevice(const std::vector<CriterionCase> & cases, int device);
} // namespace itk::cuda::region

#endif

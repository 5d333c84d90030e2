// SPDX-License-Identifier: Apache-2.0
#ifndef snake_paper_parameters_h
#define snake_paper_parameters_h

#include "itkCudaDetailRegionSnakeEngine.h"

namespace benchmark_filters
{
/** Returns the parameters for the scenes of the region snake paper. `side` is the side of the square image in pixels.
 */
inline itk::CudaDetail::CudaRegionSnakeParameters
PaperSnakeParameters(itk::SizeValueType side, itk::CudaFiltersEnums::Schedule schedule, bool removal)
{
  const bool                                 asPublished = schedule == itk::CudaFiltersEnums::Schedule::AsPublished;
  itk::CudaDetail::CudaRegionSnakeParameters parameters;
  parameters.NoiseLaw = itk::CudaFiltersEnums::NoiseLaw::Gaussian;
  parameters.Start = itk::CudaFiltersEnums::Start::MarginRectangle;
  parameters.Schedule = schedule;
  parameters.MinimumEdgeLength = asPublished ? 16.0 : (side < 10000 ? 32.0 : 64.0);
  parameters.UseDescriptionLength = removal;
  return parameters;
}
} // namespace benchmark_filters

#endif

// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianHost.h"
#include "itkCudaGaussianCoefficients.h"

#include <vector>

namespace itk::cuda::gaussian
{
namespace
{
LineState<double>
SteadyLineState(const LineDynamics<double> & dynamics, double x)
{
  LineState<double> state;
  for (unsigned int j = 0; j < NumberOfPolePairs; ++j)
  {
    state.Pair[j] = SteadyState(dynamics.Section[j], x);
  }
  return state;
}
} // namespace

void
FilterLine(const CudaGaussianKernel & kernel, const double * input, double * output, size_t length)
{
  if (length == 0)
  {
    return;
  }
  const auto          dynamics = MakeLineDynamics<double>(kernel);
  const auto          response = MakeLineResponse<double>(kernel);
  const double        first = input[0];
  std::vector<double> x(length);
  for (size_t n = 0; n < length; ++n)
  {
    x[n] = input[n] - first;
  }

  LineState<double> causal = SteadyLineState(dynamics, x.front());
  for (size_t n = 0; n < length; ++n)
  {
    output[n] = response.CentralValue * x[n] + Contribution(causal, response);
    Advance(causal, dynamics, x[n]);
  }

  LineState<double> anticausal = SteadyLineState(dynamics, x.back());
  for (size_t n = length; n-- > 0;)
  {
    output[n] += response.AnticausalSign * Contribution(anticausal, response) + response.OffsetResponse * first;
    Advance(anticausal, dynamics, x[n]);
  }
}
} // namespace itk::cuda::gaussian

// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianHost.h"
#include "itkCudaGaussianCoefficients.h"

#include <vector>

namespace itk::cuda::gaussian
{
namespace
{
LineState<double>
SteadyLineState(const LineCoefficients<double> & coefficients, double x)
{
  LineState<double> state;
  for (unsigned int j = 0; j < NumberOfPolePairs; ++j)
  {
    state.Pair[j] = SteadyState(coefficients.Section[j], x);
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
  const LineCoefficients<double> coefficients = MakeLineCoefficients<double>(kernel);
  const double                   first = input[0];
  std::vector<double>            x(length);
  for (size_t n = 0; n < length; ++n)
  {
    x[n] = input[n] - first;
  }

  LineState<double> causal = SteadyLineState(coefficients, x.front());
  for (size_t n = 0; n < length; ++n)
  {
    output[n] = coefficients.CentralValue * x[n] + Response(causal, coefficients);
    Advance(causal, coefficients, x[n]);
  }

  LineState<double> anticausal = SteadyLineState(coefficients, x.back());
  for (size_t n = length; n-- > 0;)
  {
    output[n] += coefficients.AnticausalSign * Response(anticausal, coefficients) + coefficients.OffsetResponse * first;
    Advance(anticausal, coefficients, x[n]);
  }
}
} // namespace itk::cuda::gaussian

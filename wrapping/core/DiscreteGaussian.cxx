// SPDX-License-Identifier: Apache-2.0
// Discrete Gaussian filters of arrays, for itk_cudafilters/_downsample.py.
#include "Functions.h"
#include "Settings.h"
#include "itkCudaDetailGaussianFirEngine.h"
#include "itkGaussianOperator.h"

#include <type_traits>
#include <vector>

namespace cudafilters
{
namespace
{
using itk::CudaDetail::CudaGaussianFirPass;
using itk::CudaDetail::CudaGaussianFirPlan;
using itk::CudaDetail::CudaImageView;

/** Returns the weights of itk::DiscreteGaussianImageFilter with its default MaximumError and MaximumKernelWidth. */
std::vector<double>
MakeWeights(double variance)
{
  itk::GaussianOperator<double, 1> kernel;
  kernel.SetVariance(variance);
  kernel.SetMaximumError(0.01);
  kernel.SetMaximumKernelWidth(32);
  kernel.CreateDirectional();
  return { kernel.Begin(), kernel.End() };
}

constexpr const char * DiscreteGaussianDocumentation =
  "discrete_gaussian(input, output, variances, backend, settings={})\n--\n\n"
  "Convolves a host array of two to four axes as itk::DiscreteGaussianImageFilter does with its default kernels, "
  "without the\n"
  "interpreter's lock. `output` has adjacent elements and the shape of `input`; if its elements are integers, each "
  "pass\n"
  "truncates. `variances` has one for each axis, in square pixels; along an axis with 0 there is no pass. `settings` "
  "is that of\n"
  "filter().";

void
DiscreteGaussian(PyObject * arguments)
{
  PyObject *                         input;
  PyObject *                         output;
  PyObject *                         tuple;
  const char *                       backendName;
  PyObject *                         settings = nullptr;
  itk::CudaDetail::CudaFilterBackend backend;
  ParseTuple(arguments, "OOOs|O!:discrete_gaussian", &input, &output, &tuple, &backendName, &PyDict_Type, &settings);
  const Buffer source(input, 0);
  const Buffer target(output, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS);
  const auto   variances = ReadNumbers<double>(tuple);
  backend.Requested = itk::CudaBackendFromString(backendName);
  if (settings)
  {
    ReadSettings(settings, backend);
  }
  PyObject * const    show = GetProgress(settings);
  const CudaImageView result = MakeView(target.Get());
  CudaGaussianFirPlan plan;
  VisitType(result.ComponentType, [&plan](auto zero) { plan.TruncatePasses = std::is_integral_v<decltype(zero)>; });
  for (size_t axis = 0; axis < variances.size(); ++axis)
  {
    if (variances[axis] > 0.0)
    {
      CudaGaussianFirPass pass;
      pass.Axis = static_cast<unsigned int>(variances.size() - 1 - axis);
      pass.Weights = MakeWeights(variances[axis]);
      plan.Passes.push_back(pass);
    }
  }
  const HostArray pixels = source.Get();
  {
    WithoutLock        without;
    const auto         threader = itk::MultiThreaderBase::New();
    const auto         progress = [&](float share) { without.ReportProgress(show, share); };
    const Transferable from(pixels, threader);
    const bool         onDevice =
      backend.SelectDevice(nullptr, CudaWorkingSet(plan, from.Get(), result), CudaCanRunInSlabs(plan, result));
    const bool isDone =
      onDevice && (backend.RunsInSlabs() ? CudaRunInSlabs(plan, from.Get(), result, backend, threader, progress)
                                         : CudaRunOnDevice(plan, from.Get(), result, backend, progress));
    if (!isDone)
    {
      CudaRunOnHost(plan, from.Get(), result, threader, progress);
    }
  }
  if (settings)
  {
    StoreRun(settings, backend);
  }
}
} // namespace

PyMethodDef DiscreteGaussianMethods[] = {
  { "discrete_gaussian", Call<DiscreteGaussian>, METH_VARARGS, DiscreteGaussianDocumentation },
  { nullptr, nullptr, 0, nullptr }
};
} // namespace cudafilters

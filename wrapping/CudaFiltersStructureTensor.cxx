// SPDX-License-Identifier: Apache-2.0
#include "CudaFiltersStructureTensor.h"

#include "CudaFiltersArrays.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "itkMacro.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cudafilters
{
namespace
{
using QuantityEnum = itk::CudaStructureTensorEnums::Quantity;

/** The parameters of a call from Python. */
struct TensorCall
{
  itk::CudaDetail::CudaStructureTensorPlan Plan;
  itk::CudaDetail::CudaArrayImage          Image; // without memory

  unsigned int
  GetComponents() const
  {
    return itk::CudaDetail::CudaStructureTensorComponents(Plan.Quantity, Plan.Dimension);
  }

  /** Returns a view of an image in host memory with that number of components per pixel. */
  itk::CudaDetail::CudaImageView
  View(void * data, unsigned int components) const
  {
    itk::CudaDetail::CudaImageView view;
    view.Data = data;
    view.ComponentType = Image.Memory.ComponentType;
    view.NumberOfComponents = components;
    for (unsigned int axis = 0; axis < view.MaximumDimension; ++axis)
    {
      view.Size[axis] = Image.Size[axis];
      view.Stride[axis] = Image.Stride[axis] * components;
    }
    return view;
  }
};

TensorCall
ReadCall(PyObject * call)
{
  PyObject *   size;
  PyObject *   spacing;
  double       sigma, integrationSigma;
  int          withEigenvalues, isDouble;
  const char * approximation;
  if (!PyArg_ParseTuple(
        call, "OOddpps", &size, &spacing, &sigma, &integrationSigma, &withEigenvalues, &isDouble, &approximation))
  {
    PyErr_Clear();
    itkGenericExceptionMacro("The call is none of a structure tensor");
  }
  std::vector<double> steps;
  TensorCall          read;
  read.Image.Memory.ComponentType = isDouble ? itk::CudaComponentType::Double : itk::CudaComponentType::Float;
  read.Image.Size.fill(1);
  read.Image.Stride.fill(1);
  for (Py_ssize_t axis = 0; axis < PyTuple_Size(size); ++axis)
  {
    read.Image.Size.at(axis) = PyLong_AsSize_t(PyTuple_GetItem(size, axis));
    steps.push_back(PyFloat_AsDouble(PyTuple_GetItem(spacing, axis)));
  }
  for (size_t axis = 1; axis < read.Image.Stride.size(); ++axis)
  {
    read.Image.Stride[axis] = read.Image.Stride[axis - 1] * read.Image.Size[axis - 1];
  }
  const auto quantity = withEigenvalues ? QuantityEnum::Eigenvalues : QuantityEnum::Components;
  read.Plan = itk::CudaDetail::MakeStructureTensorPlan(
    sigma, integrationSigma, steps, quantity, itk::CudaApproximationFromString(approximation));
  return read;
}

void
RunOnHost(const TensorCall & call, void * input, void * output)
{
  itk::CudaDetail::CudaRunOnHost(
    call.Plan, call.View(input, 1), call.View(output, call.GetComponents()), itk::MultiThreaderBase::New(), nullptr);
}

/** For tests: does the work of a GPU in host memory. */
template <typename T>
void
RunOnHostInPlanes(const TensorCall & call, void * input, void * output)
{
  const size_t   components = call.GetComponents();
  const size_t   pixels = call.Image.Stride.back();
  std::vector<T> tensors(pixels * components);
  RunOnHost(call, input, tensors.data());
  for (size_t i = 0; i < tensors.size(); ++i)
  {
    static_cast<T *>(output)[i % components * pixels + i / components] = tensors[i];
  }
}
} // namespace
} // namespace cudafilters

void
cudafilters_run_structure_tensor(PyObject *          call,
                                 const std::string & backend,
                                 unsigned long long  input,
                                 unsigned long long  output)
{
  using namespace cudafilters;
  const TensorCall                   read = ReadCall(call);
  itk::CudaDetail::CudaFilterBackend choice;
  choice.Requested = itk::CudaBackendFromString(backend);
  const WithoutLock without;
  const auto        source = read.View(reinterpret_cast<void *>(input), 1);
  const auto        result = read.View(reinterpret_cast<void *>(output), read.GetComponents());
  if (!choice.SelectDevice(nullptr, itk::CudaDetail::CudaWorkingSet(read.Plan, source, result)) ||
      !itk::CudaDetail::CudaRunOnDevice(read.Plan, source, result, choice, nullptr))
  {
    RunOnHost(read, source.Data, result.Data);
  }
}

void
cudafilters_queue_structure_tensor(PyObject *         call,
                                   unsigned long long input,
                                   unsigned long long output,
                                   int                device,
                                   unsigned long long stream)
{
  using namespace cudafilters;
  TensorCall read = ReadCall(call);
  read.Image.Memory.Data = reinterpret_cast<void *>(input);
  read.Image.Memory.Device = device;
  read.Image.Memory.Stream = stream;
  const WithoutLock without;
  void * const      result = reinterpret_cast<void *>(output);
  if (!cudafilters_is_host_used_as_device())
  {
    itk::CudaDetail::CudaQueueOnStream(read.Plan, read.Image, result);
    return;
  }
  const bool isDouble = read.Image.Memory.ComponentType == itk::CudaComponentType::Double;
  const auto run = isDouble ? RunOnHostInPlanes<double> : RunOnHostInPlanes<float>;
  run(read, read.Image.Memory.Data, result);
}

// SPDX-License-Identifier: Apache-2.0
#include "Tensors.h"

#include "GpuArrays.h"
#include "Settings.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailMultiScaleEngine.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

namespace cudafilters
{
namespace
{
using itk::CudaDetail::CudaArrayImage;
using itk::CudaDetail::CudaFilterBackend;
using itk::CudaDetail::CudaImageView;
using itk::CudaDetail::CudaMultiScaleArrays;
using itk::CudaDetail::CudaMultiScalePlan;
using itk::CudaDetail::CudaProgressFunction;
using itk::CudaDetail::CudaStructureTensorPlan;
using itk::CudaDetail::CudaVesselnessMeasure;

/** An array of rows of adjacent pixels in the memory of a GPU. */
struct InputOnGpu
{
  CudaImageView  View; // as if it were in the memory of the host, for tests
  CudaArrayImage Image;
};

/** Reads (address, whether pixels are double, shape and strides in pixels, x last, device, stream). */
InputOnGpu
ReadImage(PyObject * tuple)
{
  unsigned long long data, stream;
  int                isDouble, device;
  PyObject *         shape;
  PyObject *         strides;
  ParseTuple(tuple, "KpOOiK", &data, &isDouble, &shape, &strides, &device, &stream);
  const auto type = isDouble ? itk::CudaComponentType::Double : itk::CudaComponentType::Float;
  InputOnGpu input{
    MakeView({ reinterpret_cast<void *>(data), type, ReadNumbers<size_t>(shape), ReadNumbers<size_t>(strides) }),
    { { reinterpret_cast<void *>(data), type, device, static_cast<uintptr_t>(stream) }, {}, {} }
  };
  const CudaImageView & view = input.View;
  std::copy_n(view.Size.begin(), view.Size.size(), input.Image.Size.begin());
  std::copy_n(view.Stride.begin(), view.Stride.size(), input.Image.Stride.begin());
  input.Image.Size.back() = 1;
  input.Image.Stride.back() = view.Stride.back() * view.Size.back();
  return input;
}

/** Returns a view of adjacent pixels with adjacent components, of the size of another image. Without data it is that of
 * an image that is not wanted. */
CudaImageView
ViewAdjacent(const CudaImageView & image, void * data, itk::CudaComponentType type, unsigned int components)
{
  if (!data)
  {
    return {};
  }
  CudaImageView view = image;
  view.Data = data;
  view.ComponentType = type;
  view.NumberOfComponents = components;
  size_t stride = components;
  for (size_t axis = 0; axis < view.Size.size(); ++axis)
  {
    view.Stride[axis] = stride;
    stride *= view.Size[axis];
  }
  return view;
}

CudaStructureTensorPlan
ReadTensorPlan(PyObject * tuple)
{
  using QuantityEnum = itk::CudaStructureTensorEnums::Quantity;
  PyObject *   spacing;
  double       sigma, integrationSigma;
  int          withEigenvalues;
  const char * approximation;
  ParseTuple(tuple, "Oddps", &spacing, &sigma, &integrationSigma, &withEigenvalues, &approximation);
  return itk::CudaDetail::MakeStructureTensorPlan(sigma,
                                                  integrationSigma,
                                                  ReadNumbers<double>(spacing),
                                                  withEigenvalues ? QuantityEnum::Eigenvalues
                                                                  : QuantityEnum::Components,
                                                  itk::CudaApproximationFromString(approximation));
}

/** Returns component `index` of adjacent pixels as an array. */
HostArray
TakeComponent(const CudaImageView & image, size_t index)
{
  const size_t bytes = index * itk::CudaComponentSize(image.ComponentType);
  return { static_cast<char *>(image.Data) + bytes,
           image.ComponentType,
           { image.GetNumberOfPixels() },
           { image.NumberOfComponents } };
}

/** Brings the upper triangle of tensors from the order with x first to the order of an array's axes, with x last, by
 * exchanging pairs of components. */
void
ReverseAxes(const CudaImageView & tensors, unsigned int dimension, itk::MultiThreaderBase * threader)
{
  const auto getPlace = [dimension](unsigned int i, unsigned int j) { return i * (2 * dimension - 1 - i) / 2 + j; };
  for (unsigned int i = 0; i < dimension; ++i)
  {
    for (unsigned int j = i; j < dimension; ++j)
    {
      const unsigned int place = getPlace(i, j);
      const unsigned int other = getPlace(dimension - 1 - j, dimension - 1 - i);
      if (place < other)
      {
        SwapPixels(TakeComponent(tensors, place), TakeComponent(tensors, other), threader);
      }
    }
  }
}

constexpr const char * StructureTensorDocumentation =
  "structure_tensor(input, output, plan, backend)\n--\n\n"
  "Computes structure tensors of a host array of two or three axes, without the interpreter's lock. `output` has\n"
  "elements of float or double, adjacent, with the components as its last axis. `plan` is (spacing, x first, sigma,\n"
  "integration sigma, whether to return eigenvalues, approximation). Components are in the order of the array's axes.";

void
StructureTensor(PyObject * arguments)
{
  PyObject *        input;
  PyObject *        output;
  PyObject *        tuple;
  const char *      backendName;
  CudaFilterBackend backend;
  ParseTuple(arguments, "OOOs:structure_tensor", &input, &output, &tuple, &backendName);
  const Buffer                  source(input, 0);
  const Buffer                  target(output, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS);
  const CudaStructureTensorPlan plan = ReadTensorPlan(tuple);
  backend.Requested = itk::CudaBackendFromString(backendName);
  const HostArray     pixels = source.Get();
  const HostArray     to = target.Get();
  WithoutLock         without;
  const auto          progress = [&](float) { without.CheckSignals(); };
  const auto          threader = itk::MultiThreaderBase::New();
  const Transferable  from(pixels, threader);
  const unsigned int  components = itk::CudaDetail::CudaStructureTensorComponents(plan.Quantity, plan.Dimension);
  const CudaImageView result = ViewAdjacent(from.Get(), to.Data, to.Type, components);
  if (!backend.SelectDevice(nullptr, CudaWorkingSet(plan, from.Get(), result)) ||
      !CudaRunOnDevice(plan, from.Get(), result, backend, progress))
  {
    CudaRunOnHost(plan, from.Get(), result, threader, progress);
  }
  if (plan.Quantity == itk::CudaStructureTensorEnums::Quantity::Components)
  {
    ReverseAxes(result, plan.Dimension, threader);
  }
}

constexpr const char * QueueStructureTensorDocumentation =
  "queue_structure_tensor(image, output, plan)\n--\n\n"
  "Queues the computation of structure tensors in GPU memory on the stream of the arrays' owner. `image` is (address,\n"
  "whether pixels are double, shape and strides in pixels, x last, device, stream). At the address `output` each\n"
  "component is an image, one after the other, with x first. `plan` is that of structure_tensor().";

void
QueueStructureTensor(PyObject * arguments)
{
  PyObject *         tuple;
  unsigned long long output;
  PyObject *         planTuple;
  ParseTuple(arguments, "OKO:queue_structure_tensor", &tuple, &output, &planTuple);
  const InputOnGpu              input = ReadImage(tuple);
  const CudaStructureTensorPlan plan = ReadTensorPlan(planTuple);
  const WithoutLock             without;
  if (!IsHostUsedAsDevice())
  {
    CudaQueueOnStream(plan, input.Image, reinterpret_cast<void *>(output));
  }
  else
  {
    const CudaImageView & source = input.View;
    const size_t          components = itk::CudaDetail::CudaStructureTensorComponents(plan.Quantity, plan.Dimension);
    const Scratch         tensors({ source.GetNumberOfPixels(), components }, source.ComponentType);
    const CudaImageView   result =
      ViewAdjacent(source, tensors.Get().Data, source.ComponentType, static_cast<unsigned int>(components));
    const CudaImageView planes = ViewAdjacent(source, reinterpret_cast<void *>(output), source.ComponentType, 1);
    const auto          threader = itk::MultiThreaderBase::New();
    CudaRunOnHost(plan, source, result, threader, nullptr);
    for (size_t i = 0; i < components; ++i)
    {
      CopyPixels(TakeComponent(result, i), TakeComponent(planes, i * source.GetNumberOfPixels()), threader);
    }
  }
}

/** A plan without measures, and its measure. */
struct Vesselness
{
  CudaMultiScalePlan    Plan;
  CudaVesselnessMeasure Measure;
};

Vesselness
ReadVesselness(PyObject * tuple)
{
  Vesselness              read;
  CudaMultiScalePlan &    plan = read.Plan;
  CudaVesselnessMeasure & measure = read.Measure;
  PyObject *              sigmas;
  PyObject *              spacing;
  const char *            name;
  const char *            approximation;
  const char *            mode;
  int                     isBright, normalize;
  ParseTuple(tuple,
             "sIppddddO(ddd)Ossd",
             &name,
             &measure.ObjectDimension,
             &isBright,
             &normalize,
             &measure.Alpha,
             &measure.Beta,
             &measure.Gamma,
             &measure.Tau,
             &sigmas,
             &measure.SatoAlpha,
             &measure.SatoGamma12,
             &measure.SatoGamma23,
             &spacing,
             &approximation,
             &mode,
             &plan.Boundary.Value);
  plan.Sigmas = ReadNumbers<double>(sigmas);
  plan.Spacing = ReadNumbers<double>(spacing);
  plan.NormalizeAcrossScale = normalize != 0;
  plan.Approximation = itk::CudaApproximationFromString(approximation);
  plan.Boundary.Mode = itk::CudaBoundaryModeFromString(mode);
  measure.Kind = itk::CudaHessianMeasureFromString(name);
  measure.Dimension = static_cast<unsigned int>(plan.Spacing.size());
  measure.BrightObject = isBright != 0;
  plan.Measure = measure.Make();
  return read;
}

/** Runs the plan from and to host memory. The outputs have the type `type`. */
void
RunVesselness(const Vesselness &           vesselness,
              const CudaImageView &        input,
              const CudaMultiScaleArrays & outputs,
              itk::CudaComponentType       type,
              CudaFilterBackend &          backend,
              itk::MultiThreaderBase *     threader,
              const CudaProgressFunction & progress)
{
  const unsigned int     dimension = vesselness.Measure.Dimension;
  std::optional<Scratch> hessians;
  CudaImageView          hessian;
  if (outputs.Directions)
  {
    const unsigned int components = itk::CudaDetail::CudaTensorComponents(dimension);
    hessians.emplace(std::vector<size_t>{ input.GetNumberOfPixels(), components }, type);
    hessian = ViewAdjacent(input, hessians->Get().Data, type, components);
  }
  CudaRunVesselness(
    vesselness.Plan,
    vesselness.Measure,
    input,
    { ViewAdjacent(input, outputs.Response, type, 1), ViewAdjacent(input, outputs.Scale, type, 1), hessian },
    backend,
    threader,
    progress);
  if (outputs.Directions)
  {
    CudaRunOnHost(
      outputs.DirectionPlan, hessian, ViewAdjacent(input, outputs.Directions, type, dimension), threader, nullptr);
  }
}

constexpr const char * VesselnessDocumentation =
  "vesselness(input, response, scale, directions, axes, plan, backend, settings={})\n--\n\n"
  "Computes the largest response of a Hessian measure over several scales of a host array of two or three axes, "
  "without\n"
  "the interpreter's lock. The outputs have adjacent elements of one type, float or double; `scale` and `directions` "
  "may\n"
  "be None. `axes` are those of the array, x last. `plan` is (measure, object\n"
  "dimension, whether objects are bright, whether to normalize, alpha, beta, gamma, tau, sigmas, (alpha, gamma12, "
  "gamma23)\n"
  "of Sato, spacing, x first, approximation, mode, value beyond the ends). Components of directions are in the order "
  "of\n"
  "the array's axes. `settings` is that of filter().";

void
RunVesselnessOfArray(PyObject * arguments)
{
  PyObject *        input;
  PyObject *        outputs[3];
  PyObject *        axesTuple;
  PyObject *        plan;
  const char *      backendName;
  PyObject *        settings = nullptr;
  CudaFilterBackend backend;
  ParseTuple(arguments,
             "OOOOOOs|O!:vesselness",
             &input,
             &outputs[0],
             &outputs[1],
             &outputs[2],
             &axesTuple,
             &plan,
             &backendName,
             &PyDict_Type,
             &settings);
  const Buffer                source(input, 0);
  std::optional<const Buffer> targets[3];
  void *                      results[3] = { nullptr, nullptr, nullptr };
  for (size_t i = 0; i < 3; ++i)
  {
    if (outputs[i] != Py_None)
    {
      targets[i].emplace(outputs[i], PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS);
      results[i] = targets[i]->Get().Data;
    }
  }
  const auto       axes = ReadNumbers<size_t>(axesTuple);
  const Vesselness vesselness = ReadVesselness(plan);
  backend.Requested = itk::CudaBackendFromString(backendName);
  if (settings)
  {
    ReadSettings(settings, backend);
  }
  PyObject * const             show = GetProgress(settings);
  const HostArray              pixels = source.Get(axes);
  const itk::CudaComponentType type = targets[0].value().Get().Type;
  {
    WithoutLock        without;
    const auto         threader = itk::MultiThreaderBase::New();
    const Transferable from(pixels, threader);
    RunVesselness(vesselness,
                  from.Get(),
                  { results[0], results[1], results[2], { vesselness.Measure.Dimension, axes.front() == 0 } },
                  type,
                  backend,
                  threader,
                  [&](float share) { without.ReportProgress(show, share); });
  }
  if (settings)
  {
    StoreRun(settings, backend);
  }
}

constexpr const char * MeasureDocumentation =
  "hessian_measure(tensors, output, plan, largest)\n--\n\n"
  "Computes the measure of vesselness() with this plan from Hessians, whose components are the last axis of `tensors`: "
  "the\n"
  "upper triangle row by row. `largest` is the largest value in the image of the quantity that sets the measure's "
  "parameter at\n"
  "this scale. With None, `output` gets that quantity, if the measure has such a parameter, and the function returns\n"
  "whether it has one.";

PyObject *
RunMeasure(PyObject * arguments)
{
  PyObject * input;
  PyObject * output;
  PyObject * plan;
  PyObject * largest;
  ParseTuple(arguments, "OOOO:hessian_measure", &input, &output, &plan, &largest);
  const Buffer                source(input, PyBUF_C_CONTIGUOUS);
  const Buffer                target(output, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS);
  const CudaVesselnessMeasure measure = ReadVesselness(plan).Measure;
  const auto                  parameter = measure.MakeScaleParameter();
  if (largest == Py_None && !parameter)
  {
    Py_RETURN_FALSE;
  }
  const double value = largest == Py_None ? 0.0 : PyFloat_AsDouble(largest);
  if (PyErr_Occurred())
  {
    throw PythonError();
  }
  const HostArray to = target.Get();
  CudaImageView   pixels;
  pixels.Size[0] = std::accumulate(to.Shape.begin(), to.Shape.end(), size_t{ 1 }, std::multiplies<size_t>());
  {
    const WithoutLock without;
    const auto        threader = itk::MultiThreaderBase::New();
    CudaRunOnHost(
      largest == Py_None ? parameter->Quantity : measure.Make(parameter ? parameter->Get(value) : 1.0),
      ViewAdjacent(
        pixels, source.Get().Data, source.Get().Type, itk::CudaDetail::CudaTensorComponents(measure.Dimension)),
      ViewAdjacent(pixels, to.Data, to.Type, 1),
      threader,
      nullptr);
  }
  Py_RETURN_TRUE;
}

constexpr const char * EigenvaluesDocumentation = "eigenvalues(tensors, output)\n--\n\n"
                                                  "Computes the eigenvalues of symmetric matrices, in ascending order, "
                                                  "with the bits of structure_tensor(). The last axis\n"
                                                  "of `tensors` has the upper triangle row by row, and that of "
                                                  "`output` the eigenvalues; both have adjacent elements of\n"
                                                  "one type, float or double.";

void
Eigenvalues(PyObject * arguments)
{
  PyObject * input;
  PyObject * output;
  ParseTuple(arguments, "OO:eigenvalues", &input, &output);
  const Buffer    source(input, PyBUF_C_CONTIGUOUS);
  const Buffer    target(output, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS);
  const HostArray from = source.Get();
  const HostArray to = target.Get();
  const auto      dimension = static_cast<unsigned int>(to.Shape.back());
  const auto      plan = itk::CudaDetail::MakeEigenPlan(dimension, itk::CudaDetail::CudaEigenValueOrder::ByValue);
  CudaImageView   pixels;
  pixels.Size[0] = std::accumulate(to.Shape.begin(), to.Shape.end() - 1, size_t{ 1 }, std::multiplies<size_t>());
  const WithoutLock without;
  const auto        threader = itk::MultiThreaderBase::New();
  CudaRunOnHost(plan,
                ViewAdjacent(pixels, from.Data, from.Type, itk::CudaDetail::CudaTensorComponents(dimension)),
                ViewAdjacent(pixels, to.Data, to.Type, dimension),
                threader,
                nullptr);
}

constexpr const char * QueueVesselnessDocumentation =
  "queue_vesselness(image, response, scale, directions, last_axis_first, plan)\n--\n\n"
  "Queues the computation of vesselness() in GPU memory on the stream of the arrays' owner. `image` is that of\n"
  "queue_structure_tensor(). The outputs are addresses of adjacent elements, or 0. With last_axis_first the components "
  "of\n"
  "directions are in the order z, y, x.";

void
QueueVesselness(PyObject * arguments)
{
  PyObject *         tuple;
  unsigned long long response, scale, directions;
  int                lastAxisFirst;
  PyObject *         plan;
  ParseTuple(arguments, "OKKKpO:queue_vesselness", &tuple, &response, &scale, &directions, &lastAxisFirst, &plan);
  const InputOnGpu           input = ReadImage(tuple);
  const Vesselness           vesselness = ReadVesselness(plan);
  const CudaMultiScaleArrays outputs{ reinterpret_cast<void *>(response),
                                      reinterpret_cast<void *>(scale),
                                      reinterpret_cast<void *>(directions),
                                      { vesselness.Measure.Dimension, lastAxisFirst != 0 } };
  const WithoutLock          without;
  if (IsHostUsedAsDevice())
  {
    CudaFilterBackend backend;
    backend.Requested = itk::CudaFiltersEnums::Backend::Host;
    const auto threader = itk::MultiThreaderBase::New();
    RunVesselness(vesselness, input.View, outputs, input.View.ComponentType, backend, threader, nullptr);
  }
  else
  {
    CudaQueueOnStream(vesselness.Plan, vesselness.Measure.MakeScaleParameter(), input.Image, outputs);
  }
}
} // namespace

PyMethodDef TensorMethods[] = {
  { "structure_tensor", Call<StructureTensor>, METH_VARARGS, StructureTensorDocumentation },
  { "queue_structure_tensor", Call<QueueStructureTensor>, METH_VARARGS, QueueStructureTensorDocumentation },
  { "eigenvalues", Call<Eigenvalues>, METH_VARARGS, EigenvaluesDocumentation },
  { "hessian_measure", Call<RunMeasure>, METH_VARARGS, MeasureDocumentation },
  { "vesselness", Call<RunVesselnessOfArray>, METH_VARARGS, VesselnessDocumentation },
  { "queue_vesselness", Call<QueueVesselness>, METH_VARARGS, QueueVesselnessDocumentation },
  { nullptr, nullptr, 0, nullptr }
};
} // namespace cudafilters

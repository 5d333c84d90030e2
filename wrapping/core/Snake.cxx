// SPDX-License-Identifier: Apache-2.0
// The region snake of arrays, for itk_cudafilters/_segmentation.py.
#include "Interpreter.h"

#include "Dictionaries.h"
#include "Functions.h"
#include "Plane.h"
#include "itkCudaDetailRegionSnakeEngine.h"

namespace cudafilters
{
namespace
{
using itk::CudaDetail::CudaRegionSnakeInput;
using itk::CudaDetail::CudaRegionSnakeParameters;

/** Reads corners of pixels, an array of N x 2. */
itk::CudaSnakePolygon
ReadPolygon(PyObject * array)
{
  const Plane           corners(array);
  itk::CudaSnakePolygon polygon;
  for (size_t i = 0; corners.Get() && i < corners.Get()->Size[1]; ++i)
  {
    const auto * const corner = static_cast<const int32_t *>(corners.Get()->Data) + i * corners.Get()->Stride[1];
    polygon.push_back({ corner[0], corner[1] });
  }
  return polygon;
}

PyObject *
Segment(PyObject * arguments)
{
  PyObject *                imageArray;
  PyObject *                labelArray;
  PyObject *                validArray;
  PyObject *                startArray;
  PyObject *                startCorners;
  const char *              law;
  const char *              schedule;
  const char *              start;
  int                       usesDescription;
  unsigned char             inside;
  unsigned char             outside;
  const char *              backendName;
  int                       device;
  PyObject *                progress;
  CudaRegionSnakeParameters parameters;
  CudaRegionSnakeInput      input;
  ParseTuple(arguments,
             "OOOOO(ll)sddssIddpIIkbbsiO:segment",
             &imageArray,
             &labelArray,
             &validArray,
             &startArray,
             &startCorners,
             &input.FirstIndex[0],
             &input.FirstIndex[1],
             &law,
             &parameters.NumberOfLooks,
             &parameters.ForegroundThreshold,
             &schedule,
             &start,
             &parameters.MaximumStep,
             &parameters.MinimumEdgeLength,
             &parameters.MinimumGain,
             &usesDescription,
             &parameters.MaximumNumberOfNodes,
             &parameters.MaximumNumberOfIterations,
             &parameters.MinimumRegionSize,
             &inside,
             &outside,
             &backendName,
             &device,
             &progress);
  parameters.NoiseLaw = itk::CudaNoiseLawFromString(law);
  parameters.Schedule = itk::CudaScheduleFromString(schedule);
  parameters.Start = itk::CudaStartFromString(start);
  parameters.UseDescriptionLength = usesDescription != 0;
  itk::CudaDetail::VerifyCudaRegionSnakeParameters(parameters);
  if (inside == outside)
  {
    itkGenericExceptionMacro("InsideValue is " << +inside << "; it must be another value than OutsideValue");
  }
  itk::CudaDetail::CudaFilterBackend backend;
  SetBackend(backend, backendName, device);

  const Plane                 image(imageArray);
  const Plane                 label(labelArray, PyBUF_WRITABLE);
  const Plane                 valid(validArray);
  const Plane                 startMask(startArray);
  const itk::CudaSnakePolygon polygon = ReadPolygon(startCorners);
  input.Image = *image.Get();
  input.ValidMask = valid.Get();
  input.StartMask = startMask.Get();
  input.StartPolygon = startCorners == Py_None ? nullptr : &polygon;
  itk::CudaRegionSnakeResult result;
  {
    WithoutLock                              without;
    const auto                               threader = itk::MultiThreaderBase::New();
    const auto                               threads = threader->GetNumberOfWorkUnits();
    itk::CudaDetail::CudaRegionSnakeObserver observer;
    observer.Progress = [&](float share) {
      without.ReportProgress(progress, share);
      return true;
    };
    observer.ReportsLevels = progress != Py_None;
    backend.Run(
      itk::CudaDetail::CudaRegionSnakeUnsupportedReason(input, parameters),
      itk::CudaDetail::CudaRegionSnakeWorkingSet(input, parameters),
      observer.Progress,
      [&](int index) {
        result = itk::CudaDetail::CudaRegionSnakeOnDevice(input, parameters, index, threads, observer);
      },
      [&] { result = itk::CudaDetail::CudaRegionSnakeOnHost(input, parameters, threads, observer); });
    const auto spans = itk::CudaDetail::ComputeCudaSnakeRowSpans(
      result.SignificantBoundary ? result.Polygon : itk::CudaSnakePolygon(), static_cast<int32_t>(input.Image.Size[1]));
    const itk::CudaDetail::CudaSnakeLabels<unsigned char> labels{ spans, input.Image.Size[0], inside, outside };
    labels.Write(static_cast<unsigned char *>(label.Get()->Data), *threader);
    without.ReportProgress(progress, 1.0f);
  }
  return Py_BuildValue(
    "(Nss)", AsPython(result), itk::CudaBackendToString(backend.Used).c_str(), backend.Reason.c_str());
}

PyObject *
GetNoiseLaws(PyObject *)
{
  return AsPython(itk::CudaNoiseLaws());
}
} // namespace

PyMethodDef SnakeMethods[] = {
  { "noise_laws", Call<GetNoiseLaws>, METH_NOARGS, "noise_laws()\n--\n\nReturns the laws as dictionaries." },
  { "segment",
    Call<Segment>,
    METH_VARARGS,
    "segment(image, label, valid_mask, initial_mask, initial_corners, first_index, law, number_of_looks, "
    "foreground_threshold, schedule, start, maximum_step, minimum_edge_length, minimum_gain, use_description_length, "
    "maximum_number_of_nodes, maximum_number_of_iterations, minimum_region_size, inside_value, outside_value, backend, "
    "device_index, progress)\n--\n\n"
    "Runs CudaRegionSnakeImageFilter's search on an array, and writes the label image, of contiguous uint8.\n\n"
    "Masks are of uint8, or None. `initial_corners` is None or corners of pixels, N x 2 of int32. `progress` is None "
    "or\n"
    "a function of the share that is done. Returns (result, backend used, reason)." },
  { nullptr, nullptr, 0, nullptr }
};
} // namespace cudafilters

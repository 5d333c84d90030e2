// SPDX-License-Identifier: Apache-2.0
// Targets of arrays, for itk_cudafilters/_detection.py.
#include "Interpreter.h"

#include "Dictionaries.h"
#include "Functions.h"
#include "Plane.h"
#include "itkCudaDetailDetectionEngine.h"
#include "itkMultiThreaderBase.h"

#include <functional>

namespace cudafilters
{
namespace
{
using itk::CudaDetail::CudaDetectionInput;
using itk::CudaDetail::CudaDetectionParameters;

PyObject *
Detect(PyObject * arguments)
{
  PyObject *              imageArray;
  PyObject *              labelArray;
  PyObject *              validArray;
  const char *            law;
  unsigned long           windows[6];
  const char *            backendName;
  int                     device;
  PyObject *              progress;
  CudaDetectionParameters parameters;
  CudaDetectionInput      input;
  ParseTuple(arguments,
             "OOO(ll)sddd(kk)(kk)(kk)kksiO:detect",
             &imageArray,
             &labelArray,
             &validArray,
             &input.FirstIndex[0],
             &input.FirstIndex[1],
             &law,
             &parameters.NumberOfLooks,
             &parameters.ForegroundThreshold,
             &parameters.ProbabilityOfFalseAlarm,
             &windows[0],
             &windows[1],
             &windows[2],
             &windows[3],
             &windows[4],
             &windows[5],
             &parameters.MinimumNumberOfPixels,
             &parameters.MaximumNumberOfPixels,
             &backendName,
             &device,
             &progress);
  parameters.NoiseLaw = itk::CudaNoiseLawFromString(law);
  parameters.TargetWindow = { { windows[0], windows[1] } };
  parameters.GuardWindow = { { windows[2], windows[3] } };
  parameters.BackgroundWindow = { { windows[4], windows[5] } };
  itk::CudaDetail::VerifyCudaDetectionParameters(parameters);
  itk::CudaDetail::CudaFilterBackend backend;
  SetBackend(backend, backendName, device);

  const Plane image(imageArray);
  const Plane labels(labelArray, PyBUF_WRITABLE);
  const Plane valid(validArray);
  input.Image = *image.Get();
  input.ValidMask = valid.Get();
  itk::CudaDetectionResult result;
  {
    WithoutLock                      without;
    const auto                       threads = itk::MultiThreaderBase::New()->GetNumberOfWorkUnits();
    const std::function<bool(float)> observer = [&](float share) {
      without.ReportProgress(progress, share);
      return true;
    };
    backend.Run(
      itk::CudaDetail::CudaDetectionUnsupportedReason(input),
      itk::CudaDetail::CudaDetectionWorkingSet(input),
      observer,
      [&](int index) {
        result = itk::CudaDetail::CudaDetectOnDevice(input, parameters, *labels.Get(), index, observer).value();
      },
      [&] { result = itk::CudaDetail::CudaDetectOnHost(input, parameters, *labels.Get(), threads, observer).value(); });
    without.ReportProgress(progress, 1.0f);
  }
  return Py_BuildValue("(NKKss)",
                       AsPython(result.Detections),
                       static_cast<unsigned long long>(result.NumberOfTestedPixels),
                       static_cast<unsigned long long>(result.NumberOfPixelsAboveThreshold),
                       itk::CudaBackendToString(backend.Used).c_str(),
                       backend.Reason.c_str());
}
} // namespace

PyMethodDef DetectionMethods[] = {
  { "detect",
    Call<Detect>,
    METH_VARARGS,
    "detect(image, labels, valid_mask, first_index, law, number_of_looks, foreground_threshold, "
    "probability_of_false_alarm, target_window, guard_window, background_window, minimum_size, maximum_size, backend, "
    "device_index, progress)\n--\n\n"
    "Runs CudaConstantFalseAlarmRateImageFilter's search on an array, and writes the labels, of contiguous uint32.\n\n"
    "Windows are (width, height) in pixels. `progress` is None or a function of the share that is done. Returns\n"
    "(list of dictionaries, tested pixels, pixels above the threshold, backend used, reason)." },
  { nullptr, nullptr, 0, nullptr }
};
} // namespace cudafilters

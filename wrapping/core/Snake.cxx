// SPDX-License-Identifier: Apache-2.0
// The region snake of arrays, for itk_cudafilters/_segmentation.py.
#include "Interpreter.h"

#include "Dictionaries.h"
#include "Functions.h"
#include "Plane.h"
#include "itkCudaDetailRegionSnakeEngine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

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

/** Reads the parameters of the search. \exception ExceptionObject if one of them is out of range */
CudaRegionSnakeParameters
ReadParameters(PyObject * tuple)
{
  CudaRegionSnakeParameters parameters;
  const char *              law;
  const char *              schedule;
  const char *              start;
  int                       usesDescription;
  ParseTuple(tuple,
             "sddssIddpIIk:parameters",
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
             &parameters.MinimumRegionSize);
  parameters.NoiseLaw = itk::CudaNoiseLawFromString(law);
  parameters.Schedule = itk::CudaScheduleFromString(schedule);
  parameters.Start = itk::CudaStartFromString(start);
  parameters.UseDescriptionLength = usesDescription != 0;
  itk::CudaDetail::VerifyCudaRegionSnakeParameters(parameters);
  return parameters;
}

PyObject *
Segment(PyObject * arguments)
{
  PyObject *           imageArray;
  PyObject *           labelArray;
  PyObject *           validArray;
  PyObject *           startArray;
  PyObject *           startCorners;
  PyObject *           parameterTuple;
  unsigned char        inside;
  unsigned char        outside;
  const char *         backendName;
  int                  device;
  PyObject *           progress;
  CudaRegionSnakeInput input;
  ParseTuple(arguments,
             "OOOOO(ll)ObbsiO:segment",
             &imageArray,
             &labelArray,
             &validArray,
             &startArray,
             &startCorners,
             &input.FirstIndex[0],
             &input.FirstIndex[1],
             &parameterTuple,
             &inside,
             &outside,
             &backendName,
             &device,
             &progress);
  const CudaRegionSnakeParameters parameters = ReadParameters(parameterTuple);
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
        input.DevicesOfBands = backend.RunsInSlabs() ? &backend.GetSelectedDevices() : nullptr;
        result = itk::CudaDetail::CudaRegionSnakeOnDevice(input, parameters, index, threads, observer);
      },
      [&] { result = itk::CudaDetail::CudaRegionSnakeOnHost(input, parameters, threads, observer); },
      true);
    const auto spans = itk::CudaDetail::ComputeCudaSnakeRowSpans(
      result.SignificantBoundary ? result.Polygon : itk::CudaSnakePolygon(), static_cast<int32_t>(input.Image.Size[1]));
    const itk::CudaDetail::CudaSnakeLabels<unsigned char> labels{ spans, input.Image.Size[0], inside, outside };
    labels.Write(static_cast<unsigned char *>(label.Get()->Data), *threader);
    without.ReportProgress(progress, 1.0f);
  }
  return Py_BuildValue(
    "(Nss)", AsPython(result), itk::CudaBackendToString(backend.Used).c_str(), backend.Reason.c_str());
}

/** Reads the polygons of all starts. */
std::vector<itk::CudaSnakePolygon>
ReadPolygons(PyObject * cornerArray, PyObject * countArray)
{
  const itk::CudaSnakePolygon        corners = ReadPolygon(cornerArray);
  const Plane                        counts(countArray);
  std::vector<itk::CudaSnakePolygon> polygons;
  auto                               next = corners.begin();
  for (size_t i = 0; counts.Get() && i < counts.Get()->Size[0]; ++i)
  {
    const int32_t count = static_cast<const int32_t *>(counts.Get()->Data)[i];
    polygons.emplace_back(next, next + count);
    next += count;
  }
  return polygons;
}

/** Runs the searches of polygons on several devices. Each device makes its own sums of the image and takes a contiguous
 * part of the searches. Only the calling thread calls `progress`, which may throw. Starts of labels, and starts in an
 * image whose sums lie in host memory, are searched on the first device. */
itk::CudaDetail::CudaRegionSnakeBatch
SearchOnDevices(const CudaRegionSnakeInput &                   input,
                const itk::CudaDetail::CudaRegionSnakeStarts & starts,
                const CudaRegionSnakeParameters &              parameters,
                const std::vector<int> &                       devices,
                unsigned int                                   threads,
                const std::function<void(float)> &             progress)
{
  using Batch = itk::CudaDetail::CudaRegionSnakeBatch;
  itk::CudaDetail::CudaRegionSnakeObserver observer;
  const size_t                             count = starts.Polygons.size();
  const size_t parts = input.DevicesOfBands != nullptr ? 1 : std::min(devices.size(), count);
  if (parts < 2)
  {
    observer.Progress = [&progress](float share) {
      progress(share);
      return true;
    };
    return itk::CudaDetail::CudaRegionSnakeBatchOnDevice(input, starts, parameters, devices.front(), threads, observer);
  }
  std::vector<std::atomic<float>> shares(parts);
  std::atomic<bool>               stops{ false };
  std::vector<std::future<Batch>> running; // their destructors wait
  try
  {
    for (size_t part = 0; part < parts; ++part)
    {
      const auto                             begin = starts.Polygons.begin();
      itk::CudaDetail::CudaRegionSnakeStarts own;
      own.Polygons.assign(begin + part * count / parts, begin + (part + 1) * count / parts);
      own.Margin = starts.Margin;
      observer.Progress = [&share = shares[part], &stops](float done) {
        share = done;
        return !stops;
      };
      running.push_back(
        std::async(std::launch::async, [&input, &parameters, &devices, own, observer, part, threads, parts] {
          return itk::CudaDetail::CudaRegionSnakeBatchOnDevice(
            input, own, parameters, devices[part], std::max<unsigned int>(1, threads / parts), observer);
        }));
    }
    for (const std::future<Batch> & batch : running)
    {
      while (batch.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready)
      {
        float sum = 0.0f;
        for (const std::atomic<float> & share : shares)
        {
          sum += share;
        }
        progress(sum / static_cast<float>(parts));
      }
    }
    Batch all;
    for (std::future<Batch> & batch : running)
    {
      Batch found = batch.get();
      std::move(found.Regions.begin(), found.Regions.end(), std::back_inserter(all.Regions));
    }
    return all;
  }
  catch (...)
  {
    stops = true;
    throw;
  }
}

PyObject *
SegmentRegions(PyObject * arguments)
{
  PyObject *                             imageArray;
  PyObject *                             labelArray;
  PyObject *                             validArray;
  PyObject *                             startArray;
  PyObject *                             cornerArray;
  PyObject *                             countArray;
  PyObject *                             parameterTuple;
  int                                    keepsRecords;
  const char *                           backendName;
  PyObject *                             deviceTuple;
  PyObject *                             progress;
  CudaRegionSnakeInput                   input;
  itk::CudaDetail::CudaRegionSnakeStarts starts;
  ParseTuple(arguments,
             "OOOOOO(ll)IOpsO!O:segment_regions",
             &imageArray,
             &labelArray,
             &validArray,
             &startArray,
             &cornerArray,
             &countArray,
             &input.FirstIndex[0],
             &input.FirstIndex[1],
             &starts.Margin,
             &parameterTuple,
             &keepsRecords,
             &backendName,
             &PyTuple_Type,
             &deviceTuple,
             &progress);
  const CudaRegionSnakeParameters parameters = ReadParameters(parameterTuple);
  std::vector<int>                devices;
  ForEachItem(deviceTuple, [&](PyObject * item) { devices.push_back(static_cast<int>(PyLong_AsLong(item))); });
  itk::CudaDetail::CudaFilterBackend backend;
  SetBackend(backend, backendName, devices.front());

  const Plane image(imageArray);
  const Plane labels(labelArray, PyBUF_WRITABLE);
  const Plane valid(validArray);
  const Plane startLabels(startArray);
  input.Image = *image.Get();
  input.ValidMask = valid.Get();
  starts.Labels = startLabels.Get();
  starts.Polygons = ReadPolygons(cornerArray, countArray);
  itk::CudaDetail::CudaRegionSnakeBatch    batch;
  std::vector<itk::CudaRegionSnakeOverlap> overlaps;
  {
    WithoutLock                              without;
    const auto                               threads = itk::MultiThreaderBase::New()->GetNumberOfWorkUnits();
    itk::CudaDetail::CudaRegionSnakeObserver observer;
    observer.Progress = [&](float share) {
      without.ReportProgress(progress, share);
      return true;
    };
    backend.Run(
      itk::CudaDetail::CudaRegionSnakeUnsupportedReason(input, parameters),
      itk::CudaDetail::CudaRegionSnakeBatchWorkingSet(input, parameters, threads),
      observer.Progress,
      [&](int index) {
        devices.front() = index; // -1 stands for the configuration's
        input.DevicesOfBands = backend.RunsInSlabs() ? &devices : nullptr;
        batch = SearchOnDevices(
          input, starts, parameters, devices, threads, [&](float share) { without.ReportProgress(progress, share); });
      },
      [&] { batch = itk::CudaDetail::CudaRegionSnakeBatchOnHost(input, starts, parameters, threads, observer); },
      true);
    overlaps = itk::CudaDetail::CudaWriteRegionSnakeLabels(batch.Regions, *labels.Get(), threads);
    without.ReportProgress(progress, 1.0f);
  }
  for (itk::CudaRegionSnakeRegion & region : batch.Regions)
  {
    region.Record.resize(keepsRecords != 0 ? region.Record.size() : 0);
  }
  return Py_BuildValue("(NNss)",
                       AsPython(batch.Regions),
                       AsPython(overlaps),
                       itk::CudaBackendToString(backend.Used).c_str(),
                       backend.Reason.c_str());
}

constexpr char PreparedName[] = "itk_cudafilters snake image";

/** An image that is prepared for runs. On the host it may use pixels in place, which are those of a copy: the array
 * may hold the next frame of a camera while this one is searched. */
struct PreparedImage
{
  std::vector<char>                                        Pixels;
  std::unique_ptr<itk::CudaDetail::CudaPreparedSnakeImage> Image;

  /** Copies the pixels of an image, and returns a view of the copy. */
  itk::CudaDetail::CudaImageView
  Copy(itk::CudaDetail::CudaImageView view)
  {
    const size_t bytes = itk::CudaComponentSize(view.ComponentType);
    const auto * row = static_cast<const char *>(view.Data);
    for (size_t y = 0; y < view.Size[1]; ++y, row += view.Stride[1] * bytes)
    {
      Pixels.insert(Pixels.end(), row, row + view.Size[0] * bytes);
    }
    view.Data = Pixels.data();
    view.Stride[1] = view.Size[0];
    return view;
  }
};

PyObject *
PrepareSnakeImage(PyObject * arguments)
{
  PyObject *           imageArray;
  PyObject *           validArray;
  PyObject *           parameterTuple;
  const char *         backendName;
  int                  device;
  CudaRegionSnakeInput input;
  ParseTuple(arguments,
             "OO(ll)Osi:prepare_snake_image",
             &imageArray,
             &validArray,
             &input.FirstIndex[0],
             &input.FirstIndex[1],
             &parameterTuple,
             &backendName,
             &device);
  const CudaRegionSnakeParameters    parameters = ReadParameters(parameterTuple);
  itk::CudaDetail::CudaFilterBackend backend;
  SetBackend(backend, backendName, device);
  auto        prepared = std::make_unique<PreparedImage>();
  const Plane image(imageArray);
  const Plane valid(validArray);
  input.Image = *image.Get();
  input.ValidMask = valid.Get();
  {
    WithoutLock without;
    const auto  threads = itk::MultiThreaderBase::New()->GetNumberOfWorkUnits();
    backend.Run(
      itk::CudaDetail::CudaRegionSnakeUnsupportedReason(input, parameters),
      itk::CudaDetail::CudaRegionSnakeWorkingSet(input, parameters),
      {},
      [&](int index) {
        prepared->Image = itk::CudaDetail::CudaPrepareSnakeImageOnDevice(input, parameters, index, threads);
      },
      [&] {
        // Samples of floats are a copy in any case.
        if (input.Image.ComponentType != itk::CudaComponentType::Float)
        {
          input.Image = prepared->Copy(input.Image);
        }
        prepared->Image = itk::CudaDetail::CudaPrepareSnakeImageOnHost(input, parameters, threads);
      });
  }
  PyObject * const capsule = PyCapsule_New(prepared.get(), PreparedName, [](PyObject * object) {
    delete static_cast<PreparedImage *>(PyCapsule_GetPointer(object, PreparedName));
  });
  if (capsule == nullptr)
  {
    throw PythonError();
  }
  prepared.release();
  return Py_BuildValue("(Nss)", capsule, itk::CudaBackendToString(backend.Used).c_str(), backend.Reason.c_str());
}

PyObject *
RunPreparedSnake(PyObject * arguments)
{
  PyObject *                            capsule;
  PyObject *                            startCorners;
  int                                   startsOnPixels;
  PyObject *                            parameterTuple;
  itk::CudaDetail::CudaPreparedSnakeRun run;
  ParseTuple(arguments,
             "O(iiii)OpO:run_prepared_snake",
             &capsule,
             &run.WindowCorner.X,
             &run.WindowCorner.Y,
             &run.WindowSize.X,
             &run.WindowSize.Y,
             &startCorners,
             &startsOnPixels,
             &parameterTuple);
  const auto * const prepared = static_cast<const PreparedImage *>(PyCapsule_GetPointer(capsule, PreparedName));
  if (prepared == nullptr)
  {
    throw PythonError();
  }
  run.Parameters = ReadParameters(parameterTuple);
  const itk::CudaSnakePolygon polygon = ReadPolygon(startCorners);
  run.StartPolygon = startCorners == Py_None ? nullptr : &polygon;
  run.StartsOnPixels = startsOnPixels != 0;
  itk::CudaRegionSnakeResult result;
  {
    WithoutLock without;
    run.Observer.Progress = [&](float share) {
      without.ReportProgress(Py_None, share);
      return true;
    };
    run.Observer.ReportsLevels = false;
    result = prepared->Image->Run(run);
  }
  return AsPython(result);
}

PyObject *
DrawPolygon(PyObject * arguments)
{
  PyObject *    labelArray;
  PyObject *    cornerArray;
  unsigned char inside;
  unsigned char outside;
  ParseTuple(arguments, "OObb:draw_polygon", &labelArray, &cornerArray, &inside, &outside);
  const Plane label(labelArray, PyBUF_WRITABLE);
  const auto  spans =
    itk::CudaDetail::ComputeCudaSnakeRowSpans(ReadPolygon(cornerArray), static_cast<int32_t>(label.Get()->Size[1]));
  const itk::CudaDetail::CudaSnakeLabels<unsigned char> labels{ spans, label.Get()->Size[0], inside, outside };
  labels.WriteRows(static_cast<unsigned char *>(label.Get()->Data), 0, label.Get()->Size[1]);
  Py_RETURN_NONE;
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
    "segment(image, label, valid_mask, initial_mask, initial_corners, first_index, parameters, inside_value, "
    "outside_value, backend, device_index, progress)\n--\n\n"
    "Runs CudaRegionSnakeImageFilter's search on an array, and writes the label image, of contiguous uint8.\n\n"
    "Masks are of uint8, or None. `initial_corners` is None or corners of pixels, N x 2 of int32. `progress` is None "
    "or\n"
    "a function of the share that is done. `parameters` is the tuple (law, number_of_looks, foreground_threshold,\n"
    "schedule, start, maximum_step, minimum_edge_length, minimum_gain, use_description_length,\n"
    "maximum_number_of_nodes, maximum_number_of_iterations, minimum_region_size). Returns (result, backend used,\n"
    "reason)." },
  { "segment_regions",
    Call<SegmentRegions>,
    METH_VARARGS,
    "segment_regions(image, labels, valid_mask, initial_labels, initial_corners, corner_counts, first_index, margin, "
    "parameters, keep_records, backend, devices, progress)\n--\n\n"
    "Runs the searches of CudaRegionSnakeBatchFilter on an array, and writes the label image, of contiguous uint32.\n\n"
    "`initial_labels` is None or labels of uint32. Without them, `initial_corners` has the corners of all starting\n"
    "polygons, N x 2 of int32, and `corner_counts` the number of corners of each, 1 x M of int32. `parameters` is "
    "that\n"
    "of segment(). `devices` is a tuple of one index or several, which share the starting polygons; -1 is the\n"
    "configuration's. Without `keep_records` the results have empty records. Returns (regions, overlaps, backend "
    "used,\n"
    "reason)." },
  { "prepare_snake_image",
    Call<PrepareSnakeImage>,
    METH_VARARGS,
    "prepare_snake_image(image, valid_mask, first_index, parameters, backend, device_index)\n--\n\n"
    "Prepares an array for any number of runs. Returns (prepared image, backend used, reason)." },
  { "run_prepared_snake",
    Call<RunPreparedSnake>,
    METH_VARARGS,
    "run_prepared_snake(prepared, window, initial_corners, starts_on_pixels, parameters)\n--\n\n"
    "Runs the search in a window, (x, y, width, height) or zeros for the whole image, and returns its result.\n"
    "`initial_corners` is None or corners of the image's pixels, N x 2 of int32, which the search then starts from, "
    "at\n"
    "once on the level of pixels with `starts_on_pixels`." },
  { "draw_polygon",
    Call<DrawPolygon>,
    METH_VARARGS,
    "draw_polygon(label, corners, inside_value, outside_value)\n--\n\n"
    "Writes the label image of a polygon, contiguous uint8. The corners are N x 2 of int32, and may be none." },
  { nullptr, nullptr, 0, nullptr }
};
} // namespace cudafilters

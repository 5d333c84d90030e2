// SPDX-License-Identifier: Apache-2.0
#include "CudaFiltersArrays.h"

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkMacro.h"
#include "itkMultiThreaderBase.h"

#include <dlpack/dlpack.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace cudafilters
{
namespace
{
using MemoryPointer = itk::CudaDeviceImageMemory::Pointer;
using StreamType = itk::CudaDeviceImageMemory::StreamType;

constexpr const char * HandleName = "itk_cudafilters.array";
constexpr const char * PassesName = "itk_cudafilters.passes";
constexpr const char * VersionedName = "dltensor_versioned";
constexpr const char * UsedVersionedName = "used_dltensor_versioned";
constexpr const char * UnversionedName = "dltensor";
constexpr const char * UsedUnversionedName = "used_dltensor";
constexpr const char * ExchangeAttribute = "__dlpack_c_exchange_api__";
constexpr const char * ExchangeName = "dlpack_exchange_api";

std::atomic<bool> usesHostAsDevice{ false };

/** An opened array of another library. */
struct Array
{
  void *                Data;
  DLDevice              Device;
  DLDataType            Type;
  std::vector<int64_t>  Shape;
  std::vector<int64_t>  Strides; // in elements
  bool                  IsReadOnly;
  std::shared_ptr<void> Owner;       // gives the memory back
  StreamType            Stream{ 0 }; // on which the owner works; 0: its work comes before that of CUDA's default stream
};

/** \class HostMemory
 * \brief Host memory that tests use in place of GPU memory. Work on it is synchronous. */
class HostMemory : public itk::CudaDeviceImageMemory
{
public:
  HostMemory(void * data, size_t bytes, int device, ReleaseFunction && release)
    : CudaDeviceImageMemory(data, bytes, device)
    , m_Release(std::move(release))
  {}
  ~HostMemory() override { m_Release(); }

  bool
  IsPrivate() const override
  {
    return false;
  }
  void
  Wait(StreamType) const override
  {}
  void
  WaitToWrite(StreamType) const override
  {}
  void
  MarkRead(StreamType) const noexcept override
  {}
  void
  MarkWritten(StreamType) noexcept override
  {}
  void
  Publish(StreamType) override
  {}
  void
  Synchronize() const override
  {}

private:
  const ReleaseFunction m_Release;
};

MemoryPointer
MakeMemory(const Array & array, size_t bytes)
{
  auto      release = [owner = array.Owner]() mutable { owner.reset(); };
  const int device = array.Device.device_id;
  if (usesHostAsDevice)
  {
    return std::make_shared<HostMemory>(array.Data, bytes, device, std::move(release));
  }
  const WithoutLock without; // because the initialization of CUDA may take long
  MemoryPointer     memory = itk::CudaDeviceImageMemory::Adopt(array.Data, bytes, device, std::move(release));
  if (array.Stream != 0)
  {
    memory->MarkWritten(array.Stream);
  }
  return memory;
}

/** Returns the tensor as an array that owns it. If the tensor is not supported, it sets a Python error and does not
 * take ownership. */
template <typename TManaged>
std::unique_ptr<Array>
TakeTensor(TManaged * managed, uint64_t flags)
{
  const DLTensor & tensor = managed->dl_tensor;
  if (tensor.ndim < 0 || (tensor.ndim > 0 && !tensor.shape) || tensor.dtype.lanes != 1)
  {
    PyErr_Format(PyExc_BufferError,
                 "the array has %d axes and %d numbers in an element; it must have one number",
                 static_cast<int>(tensor.ndim),
                 static_cast<int>(tensor.dtype.lanes));
    return nullptr;
  }
  auto array = std::make_unique<Array>();
  array->Data = tensor.data ? static_cast<unsigned char *>(tensor.data) + tensor.byte_offset : nullptr;
  array->Device = tensor.device;
  array->Type = tensor.dtype;
  array->IsReadOnly = (flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  array->Shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  array->Strides.assign(array->Shape.size(), 1);
  for (size_t axis = array->Shape.size(); axis-- > 0;)
  {
    if (tensor.strides)
    {
      array->Strides[axis] = tensor.strides[axis];
    }
    else if (axis + 1 < array->Shape.size())
    {
      array->Strides[axis] = array->Strides[axis + 1] * array->Shape[axis + 1];
    }
  }
  array->Owner.reset(managed, [](TManaged * owned) {
    if (owned->deleter)
    {
      owned->deleter(owned);
    }
  });
  return array;
}

/** Takes a versioned tensor as TakeTensor(). Only version and deleter have fixed offsets in all versions of DLPack. */
std::unique_ptr<Array>
TakeVersioned(DLManagedTensorVersioned * managed)
{
  if (managed->version.major != DLPACK_MAJOR_VERSION)
  {
    PyErr_Format(PyExc_BufferError,
                 "the array is of DLPack %d.%d; version %d is understood",
                 static_cast<int>(managed->version.major),
                 static_cast<int>(managed->version.minor),
                 DLPACK_MAJOR_VERSION);
    return nullptr;
  }
  return TakeTensor(managed, managed->flags);
}

/** Takes the tensor out of a capsule. Renames the capsule, as DLPack requires, so that its destructor does nothing. */
std::unique_ptr<Array>
TakeCapsule(PyObject * capsule)
{
  std::unique_ptr<Array> array;
  if (PyCapsule_IsValid(capsule, VersionedName))
  {
    // If the tensor is not supported, the capsule remains its owner and calls the deleter.
    array = TakeVersioned(static_cast<DLManagedTensorVersioned *>(PyCapsule_GetPointer(capsule, VersionedName)));
    if (array)
    {
      PyCapsule_SetName(capsule, UsedVersionedName);
    }
    return array;
  }
  if (PyCapsule_IsValid(capsule, UnversionedName))
  {
    array = TakeTensor(static_cast<DLManagedTensor *>(PyCapsule_GetPointer(capsule, UnversionedName)), 0);
    if (array)
    {
      PyCapsule_SetName(capsule, UsedUnversionedName);
    }
    return array;
  }
  PyErr_SetString(PyExc_BufferError, "__dlpack__() gave no capsule of DLPack, or one that has been used already");
  return nullptr;
}

PyObject *
AsTuple(const std::vector<int64_t> & numbers)
{
  PyObject * const tuple = PyTuple_New(static_cast<Py_ssize_t>(numbers.size()));
  for (size_t i = 0; tuple && i < numbers.size(); ++i)
  {
    PyTuple_SetItem(tuple, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(numbers[i]));
  }
  return tuple;
}

/** Returns a Python capsule that owns an opened array. */
PyObject *
MakeHandle(std::unique_ptr<Array> array)
{
  PyObject * const handle = PyCapsule_New(array.get(), HandleName, [](PyObject * self) {
    delete static_cast<Array *>(PyCapsule_GetPointer(self, HandleName));
  });
  if (handle)
  {
    array.release();
  }
  return handle;
}

/** Returns the tuple of cudafilters_open_dlpack(). */
PyObject *
DescribeOpened(std::unique_ptr<Array> array)
{
  const Array &    opened = *array;
  PyObject * const handle = MakeHandle(std::move(array));
  if (!handle)
  {
    return nullptr;
  }
  return Py_BuildValue("(NiiiiNNNK)",
                       handle,
                       static_cast<int>(opened.Device.device_type),
                       static_cast<int>(opened.Device.device_id),
                       static_cast<int>(opened.Type.code),
                       static_cast<int>(opened.Type.bits),
                       AsTuple(opened.Shape),
                       AsTuple(opened.Strides),
                       PyBool_FromLong(opened.IsReadOnly),
                       reinterpret_cast<unsigned long long>(opened.Data));
}

/** Returns a holder of a reference to a Python object. It may be released by any thread. */
std::shared_ptr<void>
KeepObject(PyObject * object)
{
  Py_IncRef(object);
  return { object, [](void * kept) {
            if (Py_IsInitialized())
            {
              const PyGILState_STATE state = PyGILState_Ensure();
              Py_DecRef(static_cast<PyObject *>(kept));
              PyGILState_Release(state);
            }
          } };
}

/** Returns the integers of a tuple. Sets a Python error if it holds other objects. */
std::vector<int64_t>
TakeNumbers(PyObject * tuple)
{
  std::vector<int64_t> numbers;
  const Py_ssize_t     size = PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < size; ++i)
  {
    numbers.push_back(PyLong_AsLongLong(PyTuple_GetItem(tuple, i)));
  }
  return numbers;
}

/** Returns the C functions of the array's package, in the version that is supported, or nullptr if it has no such
 * functions. In packages from before DLPack 1.3 the attribute may be something other than a capsule. */
const DLPackExchangeAPI *
FindExchange(PyObject * array)
{
  PyObject * const capsule = PyObject_GetAttrString(reinterpret_cast<PyObject *>(Py_TYPE(array)), ExchangeAttribute);
  if (!capsule)
  {
    PyErr_Clear();
    return nullptr;
  }
  // The pointer remains valid, because the functions exist for the life of the process.
  auto * header = PyCapsule_IsValid(capsule, ExchangeName)
                    ? static_cast<const DLPackExchangeAPIHeader *>(PyCapsule_GetPointer(capsule, ExchangeName))
                    : nullptr;
  Py_DecRef(capsule);
  while (header && header->version.major != DLPACK_MAJOR_VERSION)
  {
    header = header->prev_api;
  }
  return reinterpret_cast<const DLPackExchangeAPI *>(header);
}

/** Opens an array through its package's C functions. Returns nullptr with a Python error set if the package refuses. */
std::unique_ptr<Array>
OpenExchanged(const DLPackExchangeAPI & exchange, PyObject * array)
{
  DLManagedTensorVersioned * managed = nullptr;
  if (exchange.managed_tensor_from_py_object_no_sync(array, &managed) != 0)
  {
    return nullptr;
  }
  std::unique_ptr<Array> opened = TakeVersioned(managed);
  if (!opened && managed->deleter)
  {
    // Set the error aside: the deleter may be Python code, which must not run with an error set.
    PyObject * type = nullptr;
    PyObject * value = nullptr;
    PyObject * traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    managed->deleter(managed);
    PyErr_Restore(type, value, traceback);
  }
  return opened;
}

/** Allocates an array of adjacent elements. Returns nullptr with a Python error set if the allocation failed. */
PyObject *
NewExchanged(const DLPackExchangeAPI & exchange, const Array & prototype)
{
  std::vector<int64_t> shape = prototype.Shape;
  DLTensor             wanted{};
  wanted.device = prototype.Device;
  wanted.dtype = prototype.Type;
  wanted.ndim = static_cast<int32_t>(shape.size());
  wanted.shape = shape.data();
  const auto fail = [](void *, const char * kind, const char * message) {
    PyErr_Format(PyExc_MemoryError, "the package of the array made none for the result: %s: %s", kind, message);
  };
  DLManagedTensorVersioned * managed = nullptr;
  void *                     made = nullptr;
  if (exchange.managed_tensor_allocator(&wanted, &managed, nullptr, fail) != 0 ||
      exchange.managed_tensor_to_py_object_no_sync(managed, &made) != 0)
  {
    return nullptr;
  }
  return static_cast<PyObject *>(made);
}

DLDataType
GetDLPackType(itk::CudaComponentType type)
{
  const auto bits = static_cast<uint8_t>(8 * itk::CudaComponentSize(type));
  switch (type)
  {
    case itk::CudaComponentType::Float:
    case itk::CudaComponentType::Double:
      return { kDLFloat, bits, 1 };
    case itk::CudaComponentType::Char:
    case itk::CudaComponentType::Short:
    case itk::CudaComponentType::Int:
      return { kDLInt, bits, 1 };
    default:
      return { kDLUInt, bits, 1 };
  }
}

/** Returns the number of elements from the first to the last one of a view, with gaps. */
size_t
GetExtent(const itk::CudaDeviceImageView & view)
{
  if (view.GetNumberOfElements() == 0)
  {
    return 0;
  }
  size_t extent = 1;
  for (unsigned int axis = 0; axis < view.NumberOfAxes; ++axis)
  {
    extent += (view.Size[axis] - 1) * view.Stride[axis];
  }
  return extent;
}

/** The data that the consumer of an exported image owns. */
struct Exported
{
  MemoryPointer            Memory;
  std::vector<int64_t>     Shape;
  std::vector<int64_t>     Strides;
  DLManagedTensorVersioned Versioned;
  DLManagedTensor          Unversioned;
};

std::vector<int64_t>
InReverse(const std::array<size_t, itk::CudaDeviceImageView::NumberOfAxes> & numbers, unsigned int count)
{
  std::vector<int64_t> reversed;
  for (unsigned int axis = count; axis-- > 0;)
  {
    reversed.push_back(static_cast<int64_t>(numbers[axis]));
  }
  return reversed;
}

void
RequireMemory(const itk::CudaDeviceImageView & view)
{
  if (!view.Memory)
  {
    itkGenericExceptionMacro("The device image has no pixels: it was not allocated, or released; Update() its filter");
  }
}

/** Destroys a capsule with its tensor, unless it was consumed: then it has another name. Called with the lock held. */
template <typename TManaged>
void
DeleteCapsule(PyObject * capsule, const char * name)
{
  if (PyCapsule_IsValid(capsule, name))
  {
    auto * const managed = static_cast<TManaged *>(PyCapsule_GetPointer(capsule, name));
    managed->deleter(managed);
  }
}

template <typename TManaged>
void
DeleteExported(TManaged * managed)
{
  delete static_cast<Exported *>(managed->manager_ctx);
}

using Passes = std::vector<itk::CudaDetail::CudaArrayPass>;

/** Returns a pass along the middle axis of `outer` x `length` x `inner` pixels. */
itk::CudaDetail::CudaArrayPass
MakePass(size_t                                               outer,
         size_t                                               length,
         size_t                                               inner,
         const itk::CudaDetail::CudaGaussianImpulseResponse & kernel,
         const itk::CudaDetail::CudaGaussianBoundary &        boundary)
{
  // With inner 1 the lines are contiguous, which the filter expects along its first axis.
  if (inner == 1)
  {
    return { MakeGaussianLinePlan(0, kernel, boundary), { { length, outer, 1, 1, 1 } } };
  }
  return { MakeGaussianLinePlan(1, kernel, boundary), { { inner, length, outer, 1, 1 } } };
}

/** Runs passes on the host. The first one writes to the output, and the others work there in place. */
void
RunOnHost(const Passes & passes, const itk::CudaDetail::CudaArrayMemory & input, void * output)
{
  itk::CudaDetail::CudaImageView source;
  itk::CudaDetail::CudaImageView result;
  source.ComponentType = result.ComponentType = input.ComponentType;
  source.Data = input.Data;
  result.Data = output;
  const auto threader = itk::MultiThreaderBase::New();
  for (const itk::CudaDetail::CudaArrayPass & pass : passes)
  {
    size_t stride = 1;
    for (unsigned int axis = 0; axis < source.MaximumDimension; ++axis)
    {
      source.Size[axis] = result.Size[axis] = pass.Size[axis];
      source.Stride[axis] = result.Stride[axis] = stride;
      stride *= pass.Size[axis];
    }
    itk::CudaDetail::CudaRunOnHost(pass.Plan, source, result, threader, {});
    source.Data = output;
  }
}
/** The parameters of cudafilters_run_masked_passes() for one item. */
struct MaskedItem
{
  const void *          Input;
  const unsigned char * Valid; // or nullptr
  void *                Output;
  size_t                Count;
};

Passes
WithBoundaryValue(Passes passes, double value)
{
  for (itk::CudaDetail::CudaArrayPass & pass : passes)
  {
    pass.Plan.Boundary.Value = value;
  }
  return passes;
}

/** Returns the mask of pixels that count. */
template <typename T>
std::vector<unsigned char>
FindNumbers(const MaskedItem & item, bool keepsNaN)
{
  const auto * const         input = static_cast<const T *>(item.Input);
  std::vector<unsigned char> counts(item.Count);
  for (size_t i = 0; i < item.Count; ++i)
  {
    counts[i] = (!item.Valid || item.Valid[i] != 0) && !(keepsNaN && !std::isfinite(input[i])) ? 1 : 0;
  }
  return counts;
}

/** Returns the reference value that is subtracted: the first pixel that counts and is finite, or 0. */
template <typename T>
T
FindOffset(const Passes & passes, const T * input, const std::vector<unsigned char> & counts)
{
  for (const itk::CudaDetail::CudaArrayPass & pass : passes)
  {
    if (pass.Plan.Boundary.Mode == itk::CudaFiltersEnums::BoundaryMode::Constant)
    {
      return T(0);
    }
  }
  for (size_t i = 0; i < counts.size(); ++i)
  {
    if (counts[i] != 0 && std::isfinite(input[i]))
    {
      return input[i];
    }
  }
  return T(0);
}

/** Does the work of CudaQueueMaskedOnStream() on the host. */
template <typename T>
void
RunMaskedOnHost(const Passes &                           passes,
                const itk::CudaDetail::CudaArrayMask &   mask,
                const itk::CudaDetail::CudaArrayMemory & memory,
                const MaskedItem &                       item)
{
  const std::vector<unsigned char> counts = FindNumbers<T>(item, mask.KeepsNaN);
  itk::CudaDetail::CudaArrayMemory source = memory;
  if (std::find(counts.begin(), counts.end(), 0) == counts.end())
  {
    RunOnHost(passes, source, item.Output);
    return;
  }
  const auto * const input = static_cast<const T *>(item.Input);
  auto * const       output = static_cast<T *>(item.Output);
  const T            offset = FindOffset(passes, input, counts);
  std::vector<T>     weights(counts.begin(), counts.end());
  std::vector<T>     values(item.Count, T(0));
  for (size_t i = 0; i < item.Count; ++i)
  {
    if (counts[i] != 0)
    {
      values[i] = input[i] - offset;
    }
  }
  source.Data = weights.data();
  RunOnHost(WithBoundaryValue(passes, 1.0), source, weights.data());
  source.Data = values.data();
  RunOnHost(passes, source, values.data());
  for (size_t i = 0; i < item.Count; ++i)
  {
    const bool isNaN = mask.KeepsNaN && !std::isfinite(input[i]) && (!item.Valid || item.Valid[i] != 0);
    const bool isKnown = weights[i] >= static_cast<T>(mask.MinimumWeight) && !isNaN;
    output[i] = isKnown ? values[i] / weights[i] + offset : static_cast<T>(mask.FillValue);
  }
}

size_t
GetNumberOfPixels(const Passes & passes)
{
  const auto & size = passes.front().Size;
  return std::accumulate(size.begin(), size.end(), size_t{ 1 }, std::multiplies<>());
}

/** Runs the masked passes item by item, because each item has its own reference value. */
void
RunMaskedItems(const Passes &                   passes,
               itk::CudaDetail::CudaArrayMask   mask,
               itk::CudaDetail::CudaArrayMemory memory,
               void *                           output,
               size_t                           items)
{
  const size_t count = GetNumberOfPixels(passes);
  const size_t bytes = count * itk::CudaComponentSize(memory.ComponentType);
  for (size_t i = 0; i < items; ++i)
  {
    if (usesHostAsDevice)
    {
      const MaskedItem item{ memory.Data, static_cast<const unsigned char *>(mask.Valid), output, count };
      const auto       run =
        memory.ComponentType == itk::CudaComponentType::Double ? RunMaskedOnHost<double> : RunMaskedOnHost<float>;
      run(passes, mask, memory, item);
    }
    else
    {
      itk::CudaDetail::CudaQueueMaskedOnStream(passes, mask, memory, output);
    }
    memory.Data = static_cast<unsigned char *>(memory.Data) + bytes;
    output = static_cast<unsigned char *>(output) + bytes;
    mask.Valid = mask.Valid ? static_cast<const unsigned char *>(mask.Valid) + count : nullptr;
  }
}

/** Returns the content of a capsule of that name, or throws. \param maker the function that makes such capsules */
template <typename T>
const T &
GetFromCapsule(PyObject * handle, const char * name, const char * maker)
{
  const auto * const held = static_cast<const T *>(PyCapsule_GetPointer(handle, name));
  if (!held)
  {
    PyErr_Clear();
    itkGenericExceptionMacro("The handle is none that " << maker << " made");
  }
  return *held;
}

const Array &
GetArray(PyObject * handle)
{
  return GetFromCapsule<Array>(handle, HandleName, "cudafilters_open_dlpack()");
}

const Passes &
GetPasses(PyObject * handle)
{
  return GetFromCapsule<Passes>(handle, PassesName, "cudafilters_make_passes()");
}

itk::CudaDetail::CudaArrayMemory
MakeArrayMemory(unsigned long long data, bool isDouble, int device, unsigned long long stream)
{
  return { reinterpret_cast<void *>(data),
           isDouble ? itk::CudaComponentType::Double : itk::CudaComponentType::Float,
           device,
           static_cast<StreamType>(stream) };
}

void
RunPasses(const Passes & passes, const itk::CudaDetail::CudaArrayMemory & memory, void * output)
{
  if (usesHostAsDevice)
  {
    RunOnHost(passes, memory, output);
    return;
  }
  itk::CudaDetail::CudaQueueOnStream(passes, memory, output);
}

template <typename T>
bool
HoldsNonFinite(const void * data, size_t count)
{
  const auto * const pixels = static_cast<const T *>(data);
  return std::any_of(pixels, pixels + count, [](T pixel) { return !std::isfinite(pixel); });
}

/** Calls RunPasses(), and returns whether the input has pixels that are NaN or infinite. */
bool
RunPassesAndLook(const Passes & passes, const itk::CudaDetail::CudaArrayMemory & memory, void * output)
{
  if (!usesHostAsDevice)
  {
    return itk::CudaDetail::CudaQueueAndFindNonFinite(passes, memory, output);
  }
  const auto look =
    memory.ComponentType == itk::CudaComponentType::Double ? HoldsNonFinite<double> : HoldsNonFinite<float>;
  const bool found = look(memory.Data, GetNumberOfPixels(passes));
  RunOnHost(passes, memory, output);
  return found;
}
} // namespace

itk::CudaDeviceImageView
ViewArray(PyObject * handle, unsigned int dimension, itk::CudaComponentType type)
{
  const auto * const array = static_cast<const Array *>(PyCapsule_GetPointer(handle, HandleName));
  const DLDataType   expected = GetDLPackType(type);
  if (!array || array->Shape.size() != dimension || array->Type.code != expected.code ||
      array->Type.bits != expected.bits)
  {
    PyErr_Clear();
    itkGenericExceptionMacro("The array has not " << dimension << " axes and elements of the image's type");
  }
  const bool               isEmpty = std::find(array->Shape.begin(), array->Shape.end(), 0) != array->Shape.end();
  itk::CudaDeviceImageView view;
  view.ComponentType = type;
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    const size_t  place = dimension - 1 - axis;
    const int64_t stride = array->Strides[place];
    view.Size[axis] = static_cast<size_t>(array->Shape[place]);
    if (isEmpty || view.Size[axis] <= 1)
    {
      // Replace the stride, because exporters may use any value along an axis of one pixel.
      view.Stride[axis] = axis == 0 ? 1 : view.Stride[axis - 1] * view.Size[axis - 1];
      continue;
    }
    if (stride < 0 || (axis == 0 && stride != 1))
    {
      itkGenericExceptionMacro("The array has the stride "
                               << stride << " along axis " << place
                               << "; pixels of the last axis must be adjacent, and no stride negative: make a "
                                  "contiguous copy of the array");
    }
    view.Stride[axis] = static_cast<size_t>(stride);
  }
  view.Memory = MakeMemory(*array, GetExtent(view) * itk::CudaComponentSize(type));
  return view;
}

PyObject *
ExportDLPack(const itk::CudaDeviceImageView & view, unsigned int dimension, unsigned long long stream, bool versioned)
{
  RequireMemory(view);
  view.Memory->Publish(static_cast<StreamType>(stream));
  auto exported = std::make_unique<Exported>();
  exported->Memory = view.Memory;
  exported->Shape = InReverse(view.Size, dimension);
  exported->Strides = InReverse(view.Stride, dimension);
  DLTensor tensor{};
  tensor.data = view.GetNumberOfElements() == 0 ? nullptr : view.GetPointer();
  tensor.device = { kDLCUDA, view.Memory->GetDevice() };
  tensor.ndim = static_cast<int32_t>(dimension);
  tensor.dtype = GetDLPackType(view.ComponentType);
  tensor.shape = exported->Shape.data();
  tensor.strides = exported->Strides.data();
  exported->Versioned = {
    { DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION }, exported.get(), DeleteExported<DLManagedTensorVersioned>, 0, tensor
  };
  exported->Unversioned = { tensor, exported.get(), DeleteExported<DLManagedTensor> };
  PyObject * const capsule =
    versioned ? PyCapsule_New(&exported->Versioned,
                              VersionedName,
                              [](PyObject * self) { DeleteCapsule<DLManagedTensorVersioned>(self, VersionedName); })
              : PyCapsule_New(&exported->Unversioned, UnversionedName, [](PyObject * self) {
                  DeleteCapsule<DLManagedTensor>(self, UnversionedName);
                });
  if (capsule)
  {
    exported.release();
  }
  return capsule;
}

PyObject *
GetByteStrides(const itk::CudaDeviceImageView & view, unsigned int dimension)
{
  std::vector<int64_t> strides = InReverse(view.Stride, dimension);
  for (int64_t & stride : strides)
  {
    stride *= static_cast<int64_t>(itk::CudaComponentSize(view.ComponentType));
  }
  return AsTuple(strides);
}

void
BeginWriting(const itk::CudaDeviceImageView & view, unsigned long long stream)
{
  RequireMemory(view);
  view.Memory->WaitToWrite(static_cast<StreamType>(stream));
}

void
FinishWriting(const itk::CudaDeviceImageView & view, unsigned long long stream)
{
  RequireMemory(view);
  const WithoutLock without;
  view.Memory->MarkWritten(static_cast<StreamType>(stream));
  view.Memory->Synchronize();
}

void
Publish(const itk::CudaDeviceImageView & view, unsigned long long stream)
{
  RequireMemory(view);
  view.Memory->Publish(static_cast<StreamType>(stream));
}

itk::CudaDeviceImageView
AllocateAdjacent(const itk::CudaDeviceImageView & view, int device)
{
  itk::CudaDeviceImageView adjacent = view;
  for (unsigned int axis = 1; axis < adjacent.NumberOfAxes; ++axis)
  {
    adjacent.Stride[axis] = adjacent.Stride[axis - 1] * adjacent.Size[axis - 1];
  }
  const size_t bytes = view.GetNumberOfElements() * itk::CudaComponentSize(view.ComponentType);
  if (usesHostAsDevice)
  {
    auto         pixels = std::make_shared<std::vector<unsigned char>>(bytes);
    void * const data = pixels->data();
    adjacent.Memory = std::make_shared<HostMemory>(data, bytes, device, [pixels]() mutable { pixels.reset(); });
    return adjacent;
  }
  const WithoutLock without; // because the initialization of CUDA may take long
  adjacent.Memory = itk::CudaDeviceImageMemory::Allocate(bytes, device);
  return adjacent;
}

void
Filter(const itk::CudaDeviceImageView & result,
       PyObject *                       passes,
       PyObject *                       input,
       PyObject *                       valid,
       bool                             keepsNaN,
       size_t                           items,
       double                           smallestWeight)
{
  constexpr StreamType defaultStream = 1;
  RequireMemory(result);
  const Passes &      made = GetPasses(passes);
  const size_t        count = result.GetNumberOfElements();
  const MemoryPointer source = MakeMemory(GetArray(input), count * itk::CudaComponentSize(result.ComponentType));
  const MemoryPointer mask = valid == Py_None ? nullptr : MakeMemory(GetArray(valid), count);
  const itk::CudaDetail::CudaArrayMemory memory{
    source->GetPointer(), result.ComponentType, result.Memory->GetDevice(), defaultStream
  };
  const WithoutLock without;
  source->Wait(defaultStream);
  result.Memory->WaitToWrite(defaultStream);
  if (mask)
  {
    mask->Wait(defaultStream);
  }
  const bool looks = !mask && keepsNaN && items == 1;
  if (mask || (keepsNaN && (!looks || RunPassesAndLook(made, memory, result.GetPointer()))))
  {
    RunMaskedItems(
      made,
      { mask ? mask->GetPointer() : nullptr, keepsNaN, std::numeric_limits<double>::quiet_NaN(), smallestWeight },
      memory,
      result.GetPointer(),
      items);
  }
  else if (!looks)
  {
    RunPasses(made, memory, result.GetPointer());
  }
  result.Memory->MarkWritten(defaultStream);
  // Wait, because the exporters may reuse their memory as soon as it is returned.
  result.Memory->Synchronize();
}
} // namespace cudafilters

PyObject *
cudafilters_open_dlpack(PyObject * capsule)
{
  std::unique_ptr<cudafilters::Array> array = cudafilters::TakeCapsule(capsule);
  return array ? cudafilters::DescribeOpened(std::move(array)) : nullptr;
}

PyObject *
cudafilters_open_exchanged(PyObject * array)
{
  using namespace cudafilters;
  const DLPackExchangeAPI * const exchange = FindExchange(array);
  if (!exchange)
  {
    Py_RETURN_NONE;
  }
  std::unique_ptr<Array> opened = OpenExchanged(*exchange, array);
  void *                 stream = nullptr;
  if (!opened || exchange->current_work_stream(opened->Device.device_type, opened->Device.device_id, &stream) != 0)
  {
    return nullptr;
  }
  PyObject * const description = DescribeOpened(std::move(opened));
  return description ? Py_BuildValue("(NK)", description, reinterpret_cast<unsigned long long>(stream)) : nullptr;
}

PyObject *
cudafilters_new_exchanged(PyObject * array, PyObject * opened)
{
  using namespace cudafilters;
  const Array &                   prototype = GetArray(opened);
  const DLPackExchangeAPI * const exchange = FindExchange(array);
  if (!exchange)
  {
    itkGenericExceptionMacro("The array's type has no " << ExchangeAttribute);
  }
  PyObject * const made = NewExchanged(*exchange, prototype);
  if (!made)
  {
    return nullptr;
  }
  std::unique_ptr<Array> result = OpenExchanged(*exchange, made);
  const auto             address = reinterpret_cast<unsigned long long>(result ? result->Data : nullptr);
  PyObject * const       handle = result ? MakeHandle(std::move(result)) : nullptr;
  if (!handle)
  {
    Py_DecRef(made);
    return nullptr;
  }
  return Py_BuildValue("(NNK)", made, handle, address);
}

PyObject *
cudafilters_open_interface(PyObject * owner, PyObject * layout)
{
  using namespace cudafilters;
  unsigned long long data, stream;
  int                code, bits, isReadOnly;
  PyObject *         shape;
  PyObject *         strides;
  if (!PyArg_ParseTuple(layout, "KiiOOpK", &data, &code, &bits, &shape, &strides, &isReadOnly, &stream))
  {
    return nullptr;
  }
  auto opened = std::make_unique<Array>();
  opened->Data = reinterpret_cast<void *>(data);
  opened->Type = { static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1 };
  opened->Shape = TakeNumbers(shape);
  opened->Strides = TakeNumbers(strides);
  if (PyErr_Occurred())
  {
    return nullptr;
  }
  opened->IsReadOnly = isReadOnly != 0;
  opened->Owner = KeepObject(owner);
  opened->Stream = static_cast<StreamType>(stream);
  opened->Device = { kDLCUDA,
                     usesHostAsDevice || data == 0 ? 0 : itk::CudaDetail::CudaFindDeviceOfMemory(opened->Data) };
  return DescribeOpened(std::move(opened));
}

PyObject *
cudafilters_make_passes(PyObject * passes, double value, const std::string & approximation)
{
  using namespace itk::CudaDetail;
  const auto       kind = itk::CudaApproximationFromString(approximation);
  auto             made = std::make_unique<cudafilters::Passes>();
  const Py_ssize_t count = PyTuple_Size(passes);
  if (count < 0)
  {
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < count; ++i)
  {
    unsigned long long outer, length, inner;
    double             sigma;
    unsigned int       order;
    const char *       mode;
    if (!PyArg_ParseTuple(PyTuple_GetItem(passes, i), "KKKdIs", &outer, &length, &inner, &sigma, &order, &mode))
    {
      return nullptr;
    }
    const CudaGaussianBoundary boundary{ itk::CudaBoundaryModeFromString(mode), value };
    made->push_back(cudafilters::MakePass(
      outer, length, inner, MakeGaussianImpulseResponse(kind, order, sigma, 1.0, false), boundary));
  }
  PyObject * const handle = PyCapsule_New(made.get(), cudafilters::PassesName, [](PyObject * self) {
    delete static_cast<cudafilters::Passes *>(PyCapsule_GetPointer(self, cudafilters::PassesName));
  });
  if (handle)
  {
    made.release();
  }
  return handle;
}

void
cudafilters_run_passes(PyObject *         passes,
                       unsigned long long input,
                       unsigned long long output,
                       bool               is_double,
                       int                device,
                       unsigned long long stream)
{
  using namespace cudafilters;
  const Passes &    made = GetPasses(passes);
  const auto        memory = MakeArrayMemory(input, is_double, device, stream);
  const WithoutLock without;
  RunPasses(made, memory, reinterpret_cast<void *>(output));
}

bool
cudafilters_run_passes_and_look(PyObject *         passes,
                                unsigned long long input,
                                unsigned long long output,
                                bool               is_double,
                                int                device,
                                unsigned long long stream)
{
  using namespace cudafilters;
  const Passes &    made = GetPasses(passes);
  const auto        memory = MakeArrayMemory(input, is_double, device, stream);
  const WithoutLock without;
  return RunPassesAndLook(made, memory, reinterpret_cast<void *>(output));
}

void
cudafilters_run_masked_passes(PyObject *         passes,
                              unsigned long long input,
                              unsigned long long valid,
                              bool               keeps_nan,
                              unsigned long long output,
                              size_t             items,
                              double             smallest_weight,
                              bool               is_double,
                              int                device,
                              unsigned long long stream)
{
  using namespace cudafilters;
  const Passes &                       made = GetPasses(passes);
  const auto                           memory = MakeArrayMemory(input, is_double, device, stream);
  const itk::CudaDetail::CudaArrayMask mask{
    reinterpret_cast<const void *>(valid), keeps_nan, std::numeric_limits<double>::quiet_NaN(), smallest_weight
  };
  const WithoutLock without;
  RunMaskedItems(made, mask, memory, reinterpret_cast<void *>(output), items);
}

void
cudafilters_use_host_as_device(bool use)
{
  cudafilters::usesHostAsDevice = use;
}

bool
cudafilters_is_host_used_as_device()
{
  return cudafilters::usesHostAsDevice;
}

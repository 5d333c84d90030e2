// SPDX-License-Identifier: Apache-2.0
#include "GpuArrays.h"

#include "Terms.h"
#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkMacro.h"

#include <dlpack/dlpack.h>

#include <algorithm>
#include <atomic>
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

constexpr const char * HandleName = "itk_cudafilters._core.array";
constexpr const char * PassesName = "itk_cudafilters._core.passes";
constexpr const char * VersionedName = "dltensor_versioned";
constexpr const char * UsedVersionedName = "used_dltensor_versioned";
constexpr const char * UnversionedName = "dltensor";
constexpr const char * UsedUnversionedName = "used_dltensor";
constexpr const char * ExchangeAttribute = "__dlpack_c_exchange_api__";
constexpr const char * ExchangeName = "dlpack_exchange_api";

constexpr StreamType DefaultStream = 1;

std::atomic<bool> usesHostAsDevice{ false };

/** An opened array of another library, or a new one of adjacent elements. */
struct Array
{
  void *                Data;
  DLDevice              Device;
  DLDataType            Type;
  std::vector<int64_t>  Shape;
  std::vector<int64_t>  Strides; // in elements
  bool                  IsReadOnly{ false };
  std::shared_ptr<void> Owner{};  // gives the memory back
  MemoryPointer         Memory{}; // nullptr until GetMemory() needs it
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

/** Returns the number of bytes from the first to the last element, with gaps. */
size_t
GetExtent(const Array & array)
{
  int64_t extent = 1;
  for (size_t axis = 0; axis < array.Shape.size(); ++axis)
  {
    extent = array.Shape[axis] == 0 || extent == 0 ? 0 : extent + (array.Shape[axis] - 1) * array.Strides[axis];
  }
  return static_cast<size_t>(extent) * array.Type.bits / 8;
}

const MemoryPointer &
GetMemory(Array & array)
{
  if (!array.Memory)
  {
    auto         release = [owner = array.Owner]() mutable { owner.reset(); };
    const size_t bytes = GetExtent(array);
    if (usesHostAsDevice)
    {
      array.Memory = std::make_shared<HostMemory>(array.Data, bytes, array.Device.device_id, std::move(release));
      return array.Memory;
    }
    const WithoutLock without; // because the initialization of CUDA may take long
    array.Memory = itk::CudaDeviceImageMemory::Adopt(array.Data, bytes, array.Device.device_id, std::move(release));
  }
  return array.Memory;
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
  array->Strides = GetAdjacentStrides(array->Shape);
  if (tensor.strides)
  {
    array->Strides.assign(tensor.strides, tensor.strides + tensor.ndim);
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

/** Returns the content of a capsule of that name, or throws. \param maker the function that makes such capsules */
template <typename T>
T &
GetFromCapsule(PyObject * handle, const char * name, const char * maker)
{
  auto * const held = static_cast<T *>(PyCapsule_GetPointer(handle, name));
  if (!held)
  {
    PyErr_Clear();
    itkGenericExceptionMacro("The handle is none that " << maker << " made");
  }
  return *held;
}

Array &
GetArray(PyObject * handle)
{
  return GetFromCapsule<Array>(handle, HandleName, "open_dlpack()");
}

/** Returns the tuple that open_dlpack() returns. */
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
OpenByExchange(const DLPackExchangeAPI & exchange, PyObject * array)
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
MakeByExchange(const DLPackExchangeAPI & exchange, const Array & prototype)
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

/** Returns a DLPack capsule with the elements of an array, for a consumer that uses them on `stream`. */
PyObject *
Export(const Array & array, unsigned long long stream, bool versioned)
{
  array.Memory->Publish(static_cast<StreamType>(stream));
  auto     exported = std::make_unique<Exported>(Exported{ array.Memory, array.Shape, array.Strides, {}, {} });
  DLTensor tensor{};
  tensor.data = array.Data;
  tensor.device = array.Device;
  tensor.ndim = static_cast<int32_t>(array.Shape.size());
  tensor.dtype = array.Type;
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

/** Passes over arrays of adjacent pixels of one shape. */
struct Passes
{
  std::vector<itk::CudaDetail::CudaArrayPass> OnDevice;
  std::vector<size_t>                         Shape;
  itk::CudaComponentType                      Type;
  ArrayFilter                                 OnHost; // the same passes, where tests use the host as the device
};

/** Returns the shape of `items` arrays of the passes' shape. */
std::vector<size_t>
GetBatchShape(const Passes & passes, size_t items)
{
  std::vector<size_t> shape = passes.Shape;
  shape.insert(shape.begin(), items);
  return shape;
}
const Passes &
GetPasses(PyObject * handle)
{
  return GetFromCapsule<Passes>(handle, PassesName, "make_passes()");
}

constexpr const char * OpenDLPackDocumentation =
  "open_dlpack(capsule)\n--\n\n"
  "Consumes a capsule and returns its array: (handle, device type, device, code of the type, bits of the type, shape,\n"
  "strides in elements, whether it is read-only, address of the first element). The handle keeps the memory alive.";

PyObject *
OpenDLPack(PyObject * capsule)
{
  std::unique_ptr<Array> array = TakeCapsule(capsule);
  return array ? DescribeOpened(std::move(array)) : nullptr;
}

constexpr const char * OpenExchangedDocumentation =
  "open_exchanged(array)\n--\n\n"
  "Opens an array through the C functions that its type has in `__dlpack_c_exchange_api__`. Returns a pair of what\n"
  "open_dlpack() returns and the stream on which the array's package works, or None if the type has no such "
  "functions.\n"
  "No streams are synchronized, so the array must be used on the returned stream.";

PyObject *
OpenExchanged(PyObject * array)
{
  const DLPackExchangeAPI * const exchange = FindExchange(array);
  if (!exchange)
  {
    Py_RETURN_NONE;
  }
  std::unique_ptr<Array> opened = OpenByExchange(*exchange, array);
  void *                 stream = nullptr;
  if (!opened || exchange->current_work_stream(opened->Device.device_type, opened->Device.device_id, &stream) != 0)
  {
    return nullptr;
  }
  PyObject * const description = DescribeOpened(std::move(opened));
  return description ? Py_BuildValue("(NK)", description, reinterpret_cast<unsigned long long>(stream)) : nullptr;
}

constexpr const char * NewExchangedDocumentation = "new_exchanged(array, handle)\n--\n\n"
                                                   "Lets the package of `array`, which must have those C functions, "
                                                   "allocate an array of the size, type and device of an\n"
                                                   "opened one. Returns (array, handle, address of the first element).";

PyObject *
NewExchanged(PyObject * arguments)
{
  PyObject * array;
  PyObject * opened;
  ParseTuple(arguments, "OO:new_exchanged", &array, &opened);
  const Array &                   prototype = GetArray(opened);
  const DLPackExchangeAPI * const exchange = FindExchange(array);
  if (!exchange)
  {
    itkGenericExceptionMacro("The array's type has no " << ExchangeAttribute);
  }
  const Reference        made(MakeByExchange(*exchange, prototype));
  std::unique_ptr<Array> result = OpenByExchange(*exchange, made.Get());
  const auto             address = reinterpret_cast<unsigned long long>(result ? result->Data : nullptr);
  PyObject * const       handle = result ? MakeHandle(std::move(result)) : nullptr;
  return handle ? Py_BuildValue("(ONK)", made.Get(), handle, address) : nullptr;
}

constexpr const char * OpenInterfaceDocumentation =
  "open_interface(owner, layout)\n--\n\n"
  "Opens an array with a CUDA Array Interface for use on CUDA's default stream, and returns it as open_dlpack() does.\n"
  "`layout` is (address, code of the type, bits of the type, shape, strides in elements, whether it is read-only, the\n"
  "stream on which `owner` works or 0).";

PyObject *
OpenInterface(PyObject * arguments)
{
  unsigned long long data, stream;
  int                code, bits, isReadOnly;
  PyObject *         owner;
  PyObject *         shape;
  PyObject *         strides;
  ParseTuple(
    arguments, "O(KiiOOpK):open_interface", &owner, &data, &code, &bits, &shape, &strides, &isReadOnly, &stream);
  void * const pointer = reinterpret_cast<void *>(data);
  const int    device = usesHostAsDevice || data == 0 ? 0 : itk::CudaDetail::CudaFindDeviceOfMemory(pointer);
  auto         opened = std::make_unique<Array>(Array{ pointer,
                                               { kDLCUDA, device },
                                               { static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1 },
                                               ReadNumbers<int64_t>(shape),
                                               ReadNumbers<int64_t>(strides),
                                               isReadOnly != 0,
                                               KeepObject(owner) });
  if (stream != 0 && data != 0)
  {
    GetMemory(*opened)->MarkWritten(static_cast<StreamType>(stream));
    GetMemory(*opened)->Wait(DefaultStream);
  }
  return DescribeOpened(std::move(opened));
}

constexpr const char * NewArrayDocumentation = "new_array(handle, shape)\n--\n\n"
                                               "Allocates an array of that shape from the library's pool, of the type "
                                               "and on the device of an opened one. Returns it\n"
                                               "as open_dlpack() does.";

PyObject *
NewArray(PyObject * arguments)
{
  PyObject * opened;
  PyObject * shape;
  ParseTuple(arguments, "OO:new_array", &opened, &shape);
  auto made = std::make_unique<Array>();
  made->Device = GetArray(opened).Device;
  made->Type = GetArray(opened).Type;
  made->Shape = ReadNumbers<int64_t>(shape);
  made->Strides = GetAdjacentStrides(made->Shape);
  const size_t bytes = GetExtent(*made);
  if (usesHostAsDevice)
  {
    auto         pixels = std::make_shared<std::vector<unsigned char>>(bytes);
    void * const data = pixels->data();
    made->Memory =
      std::make_shared<HostMemory>(data, bytes, made->Device.device_id, [pixels]() mutable { pixels.reset(); });
  }
  else
  {
    const WithoutLock without; // because the initialization of CUDA may take long
    made->Memory = itk::CudaDeviceImageMemory::Allocate(bytes, made->Device.device_id);
  }
  made->Data = made->Memory->GetPointer();
  return DescribeOpened(std::move(made));
}

constexpr const char * ExportArrayDocumentation =
  "export_dlpack(handle, stream, is_versioned)\n--\n\n"
  "Returns a DLPack capsule with the elements of a new array, for a consumer that uses them on `stream`.";

PyObject *
ExportArray(PyObject * arguments)
{
  PyObject *         handle;
  unsigned long long stream;
  int                isVersioned;
  ParseTuple(arguments, "OKp:export_dlpack", &handle, &stream, &isVersioned);
  GetMemory(GetArray(handle));
  return Export(GetArray(handle), stream, isVersioned != 0);
}

constexpr const char * BeginWritingDocumentation = "begin_writing(handle)\n--\n\n"
                                                   "Orders CUDA's default stream after earlier work on the array. To "
                                                   "be called before work that writes it is queued there.";

void
BeginWriting(PyObject * handle)
{
  GetMemory(GetArray(handle))->WaitToWrite(DefaultStream);
}

constexpr const char * FinishWritingDocumentation = "finish_writing(handle)\n--\n\n"
                                                    "Marks the end of that work, and waits until it is done.";

void
FinishWriting(PyObject * handle)
{
  const MemoryPointer & memory = GetMemory(GetArray(handle));
  const WithoutLock     without;
  memory->MarkWritten(DefaultStream);
  memory->Synchronize();
}

constexpr const char * MakePassesDocumentation =
  "make_passes(shape, is_double, passes, value, approximation)\n--\n\n"
  "Returns a capsule of passes over arrays of adjacent pixels of that shape, to be run any number of times. Each pass "
  "is\n"
  "a tuple (axis, sigma in pixels, order, mode). `value` continues the lines in the mode constant.";

PyObject *
MakePasses(PyObject * arguments)
{
  PyObject *    shape;
  PyObject *    passes;
  int           isDouble;
  const char *  approximation;
  auto          made = std::make_unique<Passes>();
  ArrayFilter & filter = made->OnHost;
  ParseTuple(arguments, "OpOds:make_passes", &shape, &isDouble, &passes, &filter.BoundaryValue, &approximation);
  filter.Approximation = itk::CudaApproximationFromString(approximation);
  filter.Backend = itk::CudaFiltersEnums::Backend::Host;
  made->Type = isDouble ? itk::CudaComponentType::Double : itk::CudaComponentType::Float;
  made->Shape = ReadNumbers<size_t>(shape);
  filter.NumberOfItemAxes = made->Shape.size();
  filter.Terms.emplace_back();
  ForEachItem(passes, [&](PyObject * item) {
    LinePass     pass;
    const char * mode;
    ParseTuple(item, "ndIs", &pass.Axis, &pass.Sigma, &pass.Order, &mode);
    pass.Mode = itk::CudaBoundaryModeFromString(mode);
    filter.Terms.front().Passes.push_back(pass);
    made->OnDevice.push_back(MakeArrayPass(made->Shape, pass, filter));
  });
  PyObject * const handle = PyCapsule_New(made.get(), PassesName, [](PyObject * self) {
    delete static_cast<Passes *>(PyCapsule_GetPointer(self, PassesName));
  });
  if (handle)
  {
    made.release();
  }
  return handle;
}

constexpr const char * RunPassesDocumentation =
  "run_passes(passes, input, output, device, stream, looks)\n--\n\n"
  "Queues passes, each of which filters the result of the previous one, on the stream of the arrays' owner. Input and\n"
  "output are addresses. The caller keeps both arrays alive until the work is queued.\n\n"
  "Returns whether the input has pixels that are NaN or infinite, if `looks` is set; the host then waits for the "
  "answer.";

bool
RunPasses(PyObject * arguments)
{
  PyObject *         handle;
  unsigned long long input, output, stream;
  int                device, looks;
  ParseTuple(arguments, "OKKiKp:run_passes", &handle, &input, &output, &device, &stream, &looks);
  const Passes &                         passes = GetPasses(handle);
  void * const                           result = reinterpret_cast<void *>(output);
  const itk::CudaDetail::CudaArrayMemory memory{
    reinterpret_cast<void *>(input), passes.Type, device, static_cast<StreamType>(stream)
  };
  const WithoutLock without;
  if (usesHostAsDevice)
  {
    const auto  strides = GetAdjacentStrides(passes.Shape);
    ArrayFilter filter = passes.OnHost;
    filter.KeepsNaN = looks != 0;
    return !RunOnAll(
      filter, { memory.Data, passes.Type, passes.Shape, strides }, { result, passes.Type, passes.Shape, strides }, {});
  }
  if (looks)
  {
    return CudaQueueAndFindNonFinite(passes.OnDevice, memory, result);
  }
  CudaQueueOnStream(passes.OnDevice, memory, result);
  return false;
}

constexpr const char * RunMaskedPassesDocumentation =
  "run_masked_passes(passes, input, valid, keeps_nan, output, items, minimum_weight, device, stream)\n--\n\n"
  "Queues the smoothing of `items` consecutive arrays, each separately and over its valid pixels only. `valid` is the\n"
  "address of a mask of one byte per pixel, or 0. With keeps_nan, pixels that are NaN or infinite do not count. The\n"
  "output is NaN where the weight is below minimum_weight. See itk::CudaDetail::CudaQueueMaskedOnStream().";

void
RunMaskedPasses(PyObject * arguments)
{
  PyObject *         handle;
  unsigned long long input, valid, output, stream;
  int                keepsNaN, device;
  size_t             items;
  double             minimumWeight;
  ParseTuple(arguments,
             "OKKpKndiK:run_masked_passes",
             &handle,
             &input,
             &valid,
             &keepsNaN,
             &output,
             &items,
             &minimumWeight,
             &device,
             &stream);
  const Passes &    passes = GetPasses(handle);
  void * const      source = reinterpret_cast<void *>(input);
  void * const      mask = reinterpret_cast<void *>(valid);
  void * const      result = reinterpret_cast<void *>(output);
  const WithoutLock without;
  if (usesHostAsDevice)
  {
    ArrayFilter filter = passes.OnHost;
    filter.KeepsNaN = keepsNaN != 0;
    filter.MinimumWeight = minimumWeight;
    const std::vector<size_t> shape = GetBatchShape(passes, items);
    const std::vector<size_t> strides = GetAdjacentStrides(shape);
    const HostArray           flags{ mask, itk::CudaComponentType::UChar, shape, strides };
    RunOnValid(filter,
               { source, passes.Type, shape, strides },
               mask ? &flags : nullptr,
               { result, passes.Type, shape, strides },
               {});
  }
  else
  {
    QueueMaskedItems(passes.OnDevice,
                     { mask, keepsNaN != 0, std::numeric_limits<double>::quiet_NaN(), minimumWeight },
                     { source, passes.Type, device, static_cast<StreamType>(stream) },
                     result,
                     items);
  }
}

constexpr const char * RunTermsDocumentation =
  "run_terms(image, output, terms, combination, value, approximation)\n--\n\n"
  "Queues Gaussian filters of the items of a contiguous array in GPU memory, and the combination of their results, on "
  "the\n"
  "stream of the array's owner. `image` is (address, whether pixels are double, shape, device, stream), where the "
  "first\n"
  "axis counts the items. `output` is the address of the result, of the same shape and type. `terms` and "
  "`combination`\n"
  "are those of filter(), with a pass for each axis of an item, but components. The number of terms is at most 8.";

void
RunTerms(PyObject * arguments)
{
  unsigned long long input, output, stream;
  int                isDouble, device;
  PyObject *         sizes;
  PyObject *         terms;
  const char *       combination;
  const char *       approximation;
  ArrayFilter        filter;
  ParseTuple(arguments,
             "(KpOiK)KOsds:run_terms",
             &input,
             &isDouble,
             &sizes,
             &device,
             &stream,
             &output,
             &terms,
             &combination,
             &filter.BoundaryValue,
             &approximation);
  const auto shape = ReadNumbers<size_t>(sizes);
  filter.Terms = ReadTerms(terms);
  filter.Output = ReadOutput(combination);
  filter.Approximation = itk::CudaApproximationFromString(approximation);
  filter.Backend = itk::CudaFiltersEnums::Backend::Host;
  filter.NumberOfItemAxes = shape.size() - 1;
  void * const                           result = reinterpret_cast<void *>(output);
  const itk::CudaDetail::CudaArrayMemory memory{ reinterpret_cast<void *>(input),
                                                 isDouble ? itk::CudaComponentType::Double
                                                          : itk::CudaComponentType::Float,
                                                 device,
                                                 static_cast<StreamType>(stream) };
  const WithoutLock                      without;
  if (usesHostAsDevice)
  {
    const auto type = memory.ComponentType;
    RunOnAll(filter,
             HostArray{ memory.Data, type, shape, GetAdjacentStrides(shape) },
             HostArray{ result, type, shape, GetAdjacentStrides(shape) },
             {});
  }
  else
  {
    CudaQueueTermsOnStream(MakeArrayTerms(filter, shape), memory, result);
  }
}

constexpr const char * UseHostAsDeviceDocumentation =
  "use_host_as_device(use)\n--\n\n"
  "For tests: treats host memory as GPU memory, and runs the filters' work on it synchronously on the host.";

void
UseHostAsDevice(PyObject * use)
{
  usesHostAsDevice = PyObject_IsTrue(use) == 1;
}
} // namespace

PyMethodDef GpuArrayMethods[] = {
  { "open_dlpack", Call<OpenDLPack>, METH_O, OpenDLPackDocumentation },
  { "open_exchanged", Call<OpenExchanged>, METH_O, OpenExchangedDocumentation },
  { "new_exchanged", Call<NewExchanged>, METH_VARARGS, NewExchangedDocumentation },
  { "open_interface", Call<OpenInterface>, METH_VARARGS, OpenInterfaceDocumentation },
  { "new_array", Call<NewArray>, METH_VARARGS, NewArrayDocumentation },
  { "export_dlpack", Call<ExportArray>, METH_VARARGS, ExportArrayDocumentation },
  { "begin_writing", Call<BeginWriting>, METH_O, BeginWritingDocumentation },
  { "finish_writing", Call<FinishWriting>, METH_O, FinishWritingDocumentation },
  { "make_passes", Call<MakePasses>, METH_VARARGS, MakePassesDocumentation },
  { "run_passes", Call<RunPasses>, METH_VARARGS, RunPassesDocumentation },
  { "run_masked_passes", Call<RunMaskedPasses>, METH_VARARGS, RunMaskedPassesDocumentation },
  { "run_terms", Call<RunTerms>, METH_VARARGS, RunTermsDocumentation },
  { "use_host_as_device", Call<UseHostAsDevice>, METH_O, UseHostAsDeviceDocumentation },
  { nullptr, nullptr, 0, nullptr }
};

bool
IsHostUsedAsDevice()
{
  return usesHostAsDevice;
}

itk::CudaDeviceImageView
ViewArray(PyObject * handle, unsigned int dimension, itk::CudaComponentType type)
{
  auto * const     array = static_cast<Array *>(PyCapsule_GetPointer(handle, HandleName));
  const DLDataType expected = GetDLPackType(type);
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
  view.Memory = GetMemory(*array);
  return view;
}

PyObject *
ExportDLPack(const itk::CudaDeviceImageView & view, unsigned int dimension, unsigned long long stream, bool versioned)
{
  RequireMemory(view);
  return Export({ view.GetNumberOfElements() == 0 ? nullptr : view.GetPointer(),
                  { kDLCUDA, view.Memory->GetDevice() },
                  GetDLPackType(view.ComponentType),
                  InReverse(view.Size, dimension),
                  InReverse(view.Stride, dimension),
                  false,
                  nullptr,
                  view.Memory },
                stream,
                versioned);
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
Publish(const itk::CudaDeviceImageView & view, unsigned long long stream)
{
  RequireMemory(view);
  view.Memory->Publish(static_cast<StreamType>(stream));
}
} // namespace cudafilters

# SPDX-License-Identifier: Apache-2.0
"""An exporter and a consumer of DLPack, written against its specification. Memory of the host stands for that of a GPU."""
import ctypes

import numpy as np

CUDA = 2
READ_ONLY = 1
# numpy.dtype.kind to DLPack's codes of types.
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Unversioned(ctypes.Structure):
    pass


class Versioned(ctypes.Structure):
    pass


UnversionedDeleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(Unversioned))
VersionedDeleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(Versioned))
CapsuleDestructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Unversioned._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", UnversionedDeleter)]
Versioned._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("context", ctypes.c_void_p),
    ("deleter", VersionedDeleter),
    ("flags", ctypes.c_uint64),
    ("tensor", Tensor),
]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, CapsuleDestructor]
is_valid = ctypes.pythonapi.PyCapsule_IsValid
is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype = ctypes.c_void_p
get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
# In a destructor the capsule has no reference any more.
is_valid_address = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))

VERSIONED, UNVERSIONED = b"dltensor_versioned", b"dltensor"
USED = {VERSIONED: b"used_dltensor_versioned", UNVERSIONED: b"used_dltensor"}

# Tensors that are not given back yet, with what they point to.
alive = {}


class FakeArray:
    """A NumPy array that says that it lies on a GPU. `deleted` counts the memory that was given back."""

    def __init__(self, array, *, device=(CUDA, 0), version=(1, 3), offset=0, flags=0, without_strides=False):
        self.array = array
        self.device = device
        self.version = version
        self.offset = offset
        self.flags = flags
        self.without_strides = without_strides
        self.streams = []
        self.deleted = 0

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        is_versioned = self.version is not None and max_version is not None and max_version[0] >= 1
        return self.make_capsule(is_versioned)

    def make_capsule(self, is_versioned):
        return new_capsule(self.make_managed(is_versioned), VERSIONED if is_versioned else UNVERSIONED, destroy_capsule)

    def make_managed(self, is_versioned):
        """The address of a tensor."""
        managed = Versioned() if is_versioned else Unversioned()
        array = self.array
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
        key = ctypes.addressof(managed)

        def delete(_):
            self.deleted += 1
            del alive[key]

        deleter = (VersionedDeleter if is_versioned else UnversionedDeleter)(delete)
        managed.tensor = Tensor(
            data=(array.ctypes.data - self.offset) if array.size else None,
            device_type=self.device[0],
            device_id=self.device[1],
            ndim=array.ndim,
            code=CODES[array.dtype.kind],
            bits=8 * array.itemsize,
            lanes=1,
            shape=ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)),
            strides=None if self.without_strides else ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64)),
            byte_offset=self.offset,
        )
        managed.deleter = deleter
        if is_versioned:
            managed.major, managed.minor = self.version
            managed.flags = self.flags
        alive[key] = (managed, shape, strides, deleter, array)
        return key


@CapsuleDestructor
def destroy_capsule(capsule):
    for name, kind in ((VERSIONED, Versioned), (UNVERSIONED, Unversioned)):
        if is_valid_address(capsule, name):
            address = get_pointer_of_address(capsule, name)
            managed = kind.from_address(address)
            managed.deleter(ctypes.pointer(managed))


get_pointer_of_address = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class InterfaceArray:
    """A NumPy array that says by a CUDA Array Interface alone that it lies on a GPU."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, not array.flags.writeable),
            "strides": None if array.flags.c_contiguous else array.strides,
            "stream": None,
            **changes,
        }


class Api(ctypes.Structure):
    """DLPackExchangeAPI of DLPack 1.3."""


SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
Allocate = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, SetError
)
FromObject = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
ToObject = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Versioned), ctypes.POINTER(ctypes.c_void_p))
CurrentStream = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
Api._fields_ = [
    ("major", ctypes.c_uint32),
    ("minor", ctypes.c_uint32),
    ("previous", ctypes.POINTER(Api)),
    ("allocate", Allocate),
    ("from_object", FromObject),
    ("to_object", ToObject),
    ("tensor_from_object", ctypes.c_void_p),
    ("current_stream", CurrentStream),
]
NO_DESTRUCTOR = CapsuleDestructor()
# A capsule keeps the address of its name.
EXCHANGE = b"dlpack_exchange_api"


class ExchangingArray(FakeArray):
    """One whose type has the C functions of DLPack 1.3. Its package works on the stream `stream`."""

    stream = 4711
    asked = []
    """The functions that were called."""

    def __dlpack__(self, *, stream=None, max_version=None):
        self.asked.append("__dlpack__")
        return super().__dlpack__(stream=stream, max_version=max_version)


@Allocate
def allocate(prototype, out, _, set_error):
    ExchangingArray.asked.append("allocate")
    tensor = prototype.contents
    code = next(kind for kind, code in CODES.items() if code == tensor.code)
    assert not tensor.strides and not tensor.data and tensor.lanes == 1
    array = np.full(tensor.shape[: tensor.ndim], 77, f"{code}{tensor.bits // 8}")
    made = ExchangingArray(array, device=(tensor.device_type, tensor.device_id))
    out[0] = made.make_managed(True)
    made_by_address[out[0]] = made
    return 0


@FromObject
def from_object(array, out):
    ExchangingArray.asked.append("from_object")
    out[0] = array.make_managed(True)
    return 0


@ToObject
def to_object(managed, out):
    ExchangingArray.asked.append("to_object")
    made = made_by_address.pop(ctypes.addressof(managed.contents))
    managed.contents.deleter(managed)
    made.deleted = 0
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    out[0] = id(made)
    return 0


@CurrentStream
def current_stream(kind, index, out):
    ExchangingArray.asked.append("current_stream")
    assert (kind, index) == (CUDA, 0)
    out[0] = ExchangingArray.stream
    return 0


made_by_address = {}
API = Api(1, 3, None, allocate, from_object, to_object, None, current_stream)
# A later version in front of it, of which nothing else is known.
NEWER_API = Api(2, 0, ctypes.pointer(API))
ExchangingArray.__dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(API), EXCHANGE, NO_DESTRUCTOR)


class Imported:
    """What a consumer has of a capsule: its pixels as a NumPy array, until release()."""

    def __init__(self, capsule):
        name = VERSIONED if is_valid(capsule, VERSIONED) else UNVERSIONED
        kind = Versioned if name == VERSIONED else Unversioned
        self.managed = kind.from_address(get_pointer(capsule, name))
        assert set_name(capsule, USED[name]) == 0
        self.is_versioned = name == VERSIONED
        tensor = self.managed.tensor
        self.device = (tensor.device_type, tensor.device_id)
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.shape = tuple(tensor.shape[: tensor.ndim])
        self.strides = tuple(tensor.strides[: tensor.ndim])
        code = next(kind for kind, code in CODES.items() if code == tensor.code)
        self.dtype = np.dtype(f"{code}{tensor.bits // 8}")

    def pixels(self):
        """A copy; only where the memory is that of the host."""
        extent = 1 + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True))
        address = ctypes.cast(self.address, ctypes.POINTER(ctypes.c_uint8))
        memory = np.ctypeslib.as_array(address, (extent * self.dtype.itemsize,))
        strides = [stride * self.dtype.itemsize for stride in self.strides]
        return np.lib.stride_tricks.as_strided(memory.view(self.dtype), self.shape, strides).copy()

    def release(self):
        self.managed.deleter(ctypes.pointer(self.managed))

# SPDX-License-Identifier: Apache-2.0
"""Access to arrays of other packages in GPU memory through DLPack: their type, device, layout and memory."""
from __future__ import annotations

import contextlib
import math
import operator
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._images import describe, is_instance
from ._library import core
from ._operations import require_no_gradient

CUDA = 2
_CUDA_MANAGED = 13
# DLPack identifies a type by its code and its number of bits.
_TYPES = {
    (0, 8): "int8",
    (0, 16): "int16",
    (0, 32): "int32",
    (0, 64): "int64",
    (1, 8): "uint8",
    (1, 16): "uint16",
    (1, 32): "uint32",
    (1, 64): "uint64",
    (2, 16): "float16",
    (2, 32): "float32",
    (2, 64): "float64",
    (4, 16): "bfloat16",
    (5, 64): "complex64",
    (5, 128): "complex128",
    (6, 8): "bool",
}

# Streams as DLPack numbers them: CUDA's default stream, and -1 as an unsigned number, with which no stream is named.
DEFAULT_STREAM = 1
UNKNOWN_STREAM = 2**64 - 1


def device_of(array: Any) -> int | None:
    """Returns the index of the GPU that holds the array, or None if it is elsewhere or does not implement DLPack."""
    method = getattr(array, "__dlpack_device__", None)
    if not callable(method):
        return None
    kind, index = method()
    return int(index) if int(kind) in (CUDA, _CUDA_MANAGED) else None


@dataclass(frozen=True)
class DeviceArray:
    """An array in the memory of a GPU."""

    handle: Any
    """Keeps the memory."""
    device: int
    type: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements."""
    is_read_only: bool
    pointer: int
    """Address of the first element."""
    stream: int | None = None
    """The handle of the stream on which its package works, where the package was asked for it."""


def exchange_array(array: Any, name: str) -> DeviceArray | None:
    """Opens an array for work on the current stream of its package, through the C functions of its type
    (`__dlpack_c_exchange_api__`). No synchronization is needed because the stream is the package's own. Returns None if
    the type has no such functions."""
    require_no_gradient(array, name)
    exchanged = core().open_exchanged(array)
    return None if exchanged is None else _described(array, name, *exchanged)


def interface_of(array: Any) -> dict[str, Any] | None:
    """Returns the CUDA Array Interface of an array that does not implement DLPack, otherwise None."""
    if callable(getattr(array, "__dlpack_device__", None)):
        return None
    interface = getattr(array, "__cuda_array_interface__", None)
    return interface if isinstance(interface, dict) else None


def _open_interface(array: Any, name: str, interface: dict[str, Any]) -> DeviceArray:
    """Opens memory for work on the default stream, ordered after the work on the stream that the interface names."""
    if interface.get("version", 0) < 3 or "stream" not in interface:
        raise BufferError(
            f"{name} is {describe(array)}, whose __cuda_array_interface__ of version {interface.get('version')} says nothing of "
            "streams; it must be of version 3"
        )
    if interface.get("mask") is not None:
        raise BufferError(f"{name} is {describe(array)} with a mask of its own: give it as valid_mask")
    dtype = np.dtype(interface["typestr"])
    code = next((code for (code, _), known in _TYPES.items() if known == dtype.name), -1)
    if code == -1 or not dtype.isnative:
        raise TypeError(f"{name} is {describe(array)} with pixels of type {interface['typestr']}, which is not known")
    shape = tuple(int(size) for size in interface["shape"])
    strides = interface.get("strides")
    if strides is None:
        strides = [math.prod(shape[axis + 1 :]) * dtype.itemsize for axis in range(len(shape))]
    if any(stride % dtype.itemsize for stride in strides):
        raise BufferError(f"{name} is {describe(array)} with the strides {strides} in bytes; they must be of whole pixels")
    pointer, is_read_only = interface["data"]
    elements = tuple(int(stride) // dtype.itemsize for stride in strides)
    layout = (pointer, code, 8 * dtype.itemsize, shape, elements, is_read_only, interface["stream"] or 0)
    return _described(array, name, core().open_interface(array, layout))


def open_array(array: Any, name: str, stream: int) -> DeviceArray:
    """Opens an array for work on `stream`, which the exporter orders after its own work on the array. Arrays without
    DLPack are opened for the default stream instead."""
    require_no_gradient(array, name)
    interface = interface_of(array)
    if interface is not None:
        return _open_interface(array, name, interface)
    with _current_device_of(array):
        try:
            capsule = array.__dlpack__(stream=stream, max_version=(1, 3))
        except TypeError:
            capsule = array.__dlpack__(stream=stream)  # DLPack before 1.0
    return _described(array, name, core().open_dlpack(capsule))


def new_array(shape: Sequence[int], like: DeviceArray) -> DeviceArray:
    """Returns a new array of adjacent elements, of the type and on the device of another one."""
    return _described(None, "the result", core().new_array(like.handle, tuple(shape)))


def stream_handle(stream: Any) -> int:
    """Returns the handle of the stream that a consumer of DLPack names."""
    if stream is None:
        return DEFAULT_STREAM
    handle = operator.index(stream)
    if handle == -1:
        return UNKNOWN_STREAM
    if handle <= 0:
        raise ValueError(f"stream is {handle}; it must be 1 for CUDA's default stream, 2 for a thread's, a handle, or -1")
    return handle


def is_versioned(max_version: Any) -> bool:
    """Returns whether a consumer of DLPack that names this version takes versioned capsules."""
    return max_version is not None and int(max_version[0]) >= 1


@contextlib.contextmanager
def writing(*arrays: DeviceArray | None) -> Iterator[None]:
    """Returns a context for work on CUDA's default stream that writes arrays. At its end the host waits for the work."""
    written = [array for array in arrays if array is not None]
    for array in written:
        core().begin_writing(array.handle)
    try:
        yield
    finally:
        for array in written:
            core().finish_writing(array.handle)


def _described(array: Any, name: str, opened: Sequence[Any], stream: int | None = None) -> DeviceArray:
    handle, kind, device, code, bits, shape, strides, is_read_only, pointer = opened
    if kind not in (CUDA, _CUDA_MANAGED):
        raise BufferError(f"{name} is {describe(array)}, which gave memory of the type {kind} of DLPack; it must be of CUDA")
    found = _TYPES.get((code, bits), f"{bits} bits")
    return DeviceArray(handle, device, found, shape, strides, is_read_only, pointer, stream)


@contextlib.contextmanager
def _current_device_of(array: Any) -> Iterator[None]:
    """Makes the device of a tensor current, because torch exports only tensors on its current device."""
    if is_instance(array, "torch", "Tensor"):
        with sys.modules["torch"].cuda.device(array.device):
            yield
    else:
        yield

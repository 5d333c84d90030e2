# SPDX-License-Identifier: Apache-2.0
"""Arrays in GPU memory of packages other than CuPy and torch: JAX, and any package with `__dlpack__` or, like Numba,
with only a CUDA Array Interface.

Array operations of these packages are not known here, so that only filter passes can run over their arrays. If a
package gives its stream (`__dlpack_c_exchange_api__`), the passes run on that stream, and the package allocates the
result."""
from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _dlpack
from ._device import image_of
from ._dlpack import DeviceArray
from ._images import describe, is_instance
from ._library import core
from ._line_passes import MOST_MASKED_ITEMS, DevicePasses, Pass
from ._operations import NumpyOperations, operations_of

_TYPES = ("float32", "float64")
_DIMENSIONS = (2, 3, 4)
_MASKS = ("bool", "uint8", "int8")


class _ShapesOnGpu(NumpyOperations):
    """Operations on NumPy arrays that represent arrays on a GPU: they have their shape and type, but not their
    pixels."""

    is_on_gpu = True


SHAPES = _ShapesOnGpu()


def is_foreign(array: Any) -> bool:
    """Returns whether an array is on a GPU and belongs to a package whose operations are not known."""
    if operations_of(array) is not None:
        return False
    has_dlpack = hasattr(array, "__dlpack__") and _dlpack.device_of(array) is not None
    return has_dlpack or _dlpack.interface_of(array) is not None


def open_foreign(array: Any, name: str, beside: Mapping[str, Any]) -> DeviceArray:
    """Opens an array of adjacent pixels for work on its package's stream, or on CUDA's default stream. The package's
    stream is used if the array and all arrays in `beside` that are not None give the same one."""
    exchanged = _dlpack.exchange_array(array, name)
    others = [(each, other) for each, other in beside.items() if other is not None]
    if exchanged is not None and all(_stream_of(other, each) == exchanged.stream for each, other in others):
        return _require_fitting(array, name, exchanged, _TYPES)
    return open_on_default_stream(array, name)


def open_on_default_stream(array: Any, name: str) -> DeviceArray:
    """Opens an array of adjacent pixels for work on CUDA's default stream."""
    return _require_fitting(array, name, _dlpack.open_array(array, name, _dlpack.DEFAULT_STREAM), _TYPES)


def _stream_of(array: Any, name: str) -> int | None:
    exchanged = _dlpack.exchange_array(array, name)
    return None if exchanged is None else exchanged.stream


def _require_fitting(array: Any, name: str, opened: DeviceArray, types: Sequence[str]) -> DeviceArray:
    if opened.type not in types:
        raise TypeError(
            f"{name} is {describe(array)} with pixels of type {opened.type}; of that package they must be "
            f"{', '.join(types[:-1])} or {types[-1]}{_otherwise(name)}"
        )
    if len(opened.shape) not in _DIMENSIONS:
        raise ValueError(
            f"{name} is {describe(array)} with {len(opened.shape)} axes; of that package it must have two to four{_otherwise(name)}"
        )
    if not _is_adjacent(opened):
        raise ValueError(
            f"{name} is {describe(array)} with the strides {opened.strides} in elements; of that package it must be "
            f"contiguous: make a copy{_otherwise(name)}"
        )
    return opened


def _otherwise(name: str) -> str:
    return f", or call cupy.from_dlpack({name}) or torch.from_dlpack({name})"


def _is_adjacent(opened: DeviceArray) -> bool:
    if 0 in opened.shape:
        return True
    expected = 1
    for size, stride in zip(reversed(opened.shape), reversed(opened.strides), strict=True):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


def shape_of(opened: DeviceArray) -> Any:
    """Returns an array that represents the opened one where only shape and type matter. It takes the memory of one
    pixel."""
    return np.broadcast_to(np.empty((), opened.type), opened.shape)


def filter_foreign(
    input: Any,
    opened: DeviceArray,
    passes: Sequence[Pass] | None,
    output: Any,
    valid_mask: Any,
    preserve_nan: bool,
    cval: float,
    approximation: str,
) -> Any:
    """Runs passes over an opened array, or over its valid pixels, and returns the result.

    The result is `output` if that is given; otherwise an array of the package, for JAX and for packages that give their
    stream; otherwise an itk.CudaDeviceImage. `passes` is None for a call that passes alone cannot compute, which raises
    ValueError. The host waits for the work unless the package gives its stream."""
    if passes is None:
        raise ValueError(
            f"input is {describe(input)}; arrays of that package are filtered along their last axes in the order of the array, "
            f"in their own type, by sigmas above 0, and by derivatives per pixel: call cupy.from_dlpack(input) or "
            "torch.from_dlpack(input)"
        )
    valid = None if valid_mask is None else _open_beside(valid_mask, "valid_mask", opened, _MASKS)
    target = None if output is None else _open_output(output, input, opened)
    is_empty = 0 in opened.shape
    made = None if is_empty else DevicePasses(passes, opened.shape, opened.type, cval, approximation)
    is_masked = preserve_nan or valid is not None
    masked = _of_items(made, input) if made is not None and is_masked else None
    held = _Held(input, opened)
    result = _PLACES.empty_like(held) if target is None else _Held(output, target)
    if made is not None:
        with _dlpack.writing(result.opened if opened.stream is None else None):
            if masked is not None and valid is not None:
                masked.mask(held, _Held(valid_mask, valid), preserve_nan, result, made.number_of_items, _PLACES)
            else:
                run = made.run_keeping_nan if preserve_nan else made.run
                run(held, _PLACES, result)
    return result_for(input, result.opened) if result.array is None else result.array


def _of_items(made: DevicePasses, input: Any) -> DevicePasses:
    if made.of_items is None:
        raise ValueError(
            f"input is {describe(input)}; masks and preserve_nan of arrays of that package are for smoothing, for "
            f"{MOST_MASKED_ITEMS} items at most, and in the mode constant for cval 0: give preserve_nan=False and no valid_mask, or "
            "call cupy.from_dlpack(input) or torch.from_dlpack(input)"
        )
    return made.of_items


@dataclass(frozen=True)
class _Held:
    """An array of another package, with its opened memory."""

    array: Any
    """None for a new array that no package knows yet."""
    opened: DeviceArray


class _HeldPlaces:
    def empty_like(self, held: _Held) -> _Held:
        if held.opened.stream is None:
            return _Held(None, _dlpack.new_array(held.opened.shape, held.opened))
        array, handle, pointer = core().new_exchanged(held.array, held.opened.handle)
        return _Held(array, replace(held.opened, handle=handle, pointer=pointer))

    def pointer(self, held: _Held) -> int:
        return held.opened.pointer

    def device(self, held: _Held) -> int:
        return held.opened.device

    def stream(self, held: _Held) -> int:
        return _dlpack.DEFAULT_STREAM if held.opened.stream is None else held.opened.stream


_PLACES = _HeldPlaces()


def _open_beside(array: Any, name: str, opened: DeviceArray, types: Sequence[str]) -> DeviceArray:
    """Opens another array, which must have the shape and the device of the input, for work on the same stream."""
    where = f"{name} is {describe(array)}; it must be an array on the GPU {opened.device}, where input is"
    if not is_foreign(array) and _dlpack.device_of(array) is None:
        raise TypeError(where)
    exchanged = None if opened.stream is None else _dlpack.exchange_array(array, name)
    other = exchanged or _dlpack.open_array(array, name, _dlpack.DEFAULT_STREAM)
    if other.device != opened.device:
        raise TypeError(where)
    _require_fitting(array, name, other, types)
    if other.shape != opened.shape:
        raise ValueError(f"{name} has the shape {other.shape}; it must be that of input, {opened.shape}")
    return other


def _open_output(output: Any, input: Any, opened: DeviceArray) -> DeviceArray:
    """Opens the array that receives the result. Raises ValueError if it cannot be written or overlaps the input."""
    if is_instance(output, "jax", "Array"):
        raise ValueError("output is an array of JAX, whose pixels never change: JAX's arrays are results without output")
    target = _open_beside(output, "output", opened, (opened.type,))
    if target.is_read_only:
        raise ValueError("output is read-only; it must be an array that can be written")
    size = math.prod(opened.shape) * np.dtype(opened.type).itemsize
    if abs(target.pointer - opened.pointer) < size:
        raise ValueError(f"output lies in the memory of input, {describe(input)}; it must be other memory")
    return target


class _Exporter:
    """A new array, for the function from_dlpack() of a package."""

    def __init__(self, array: DeviceArray) -> None:
        self._array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return _dlpack.CUDA, self._array.device

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, **_: Any) -> Any:
        handle = _dlpack.stream_handle(stream)
        return core().export_dlpack(self._array.handle, handle, _dlpack.is_versioned(max_version))


def result_for(array: Any, result: DeviceArray, like: Any = None) -> Any:
    """Returns a new array as an array of JAX if `array` is one, otherwise as an itk.CudaDeviceImage, with the geometry of
    the image `like`."""
    if not is_instance(array, "jax", "Array"):
        return image_of(result, like)
    return importlib.import_module("jax.dlpack").from_dlpack(_Exporter(result))

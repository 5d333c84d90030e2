# SPDX-License-Identifier: Apache-2.0
"""Arrays in the memory of a GPU that are neither CuPy's nor torch's: JAX's, and those of any other package with `__dlpack__`.
There are no operations on them here, so passes over them are all that they get."""
from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import itk
import numpy as np

from . import _dlpack
from ._dlpack import DeviceArray
from ._images import describe
from ._line_passes import MOST_MASKED_ITEMS, SMALLEST_WEIGHT, DevicePasses, Pass, can_mask
from ._operations import NumpyOperations, operations_of

_TYPES = {"float32": itk.F, "float64": itk.D}
_DIMENSIONS = (2, 3, 4)
_MASKS = ("bool", "uint8", "int8")


class _ShapesOnGpu(NumpyOperations):
    """Of arrays of NumPy that have the shape and the type of one on a GPU, and no pixels."""

    is_on_gpu = True


SHAPES = _ShapesOnGpu()


def is_foreign(array: Any) -> bool:
    """Whether it lies on a GPU, and belongs to a package whose operations are not known."""
    return operations_of(array) is None and hasattr(array, "__dlpack__") and _dlpack.device_of(array) is not None


def open_foreign(array: Any, name: str, types: Sequence[str] = tuple(_TYPES)) -> DeviceArray:
    """Takes hold of adjacent pixels, for work on CUDA's default stream."""
    opened = _dlpack.open_array(array, name, _dlpack.DEFAULT_STREAM)
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
    """In the place of the array where only shape and type count."""
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
    """The result of passes over an opened array, or over its valid pixels: in `output`, or for JAX in an array of JAX, else in an
    itk.CudaDeviceImage. `passes` is None for a call that needs more than them. The host waits for the work."""
    if passes is None:
        raise ValueError(
            f"input is {describe(input)}; arrays of that package are filtered along their last axes in the order of the array, "
            f"in their own type, by sigmas above 0, and by derivatives per pixel: call cupy.from_dlpack(input) or "
            "torch.from_dlpack(input)"
        )
    is_masked = preserve_nan or valid_mask is not None
    items = _require_maskable(input, opened, passes, cval) if is_masked else 1
    valid = None if valid_mask is None else _open_beside(valid_mask, "valid_mask", opened, _MASKS)
    result = image_of(opened.shape, opened) if output is None else _image_in(output, input, opened)
    if 0 not in opened.shape:
        batch = len(opened.shape) - len(passes) if is_masked else 0
        lines = [each._replace(axis=each.axis - batch) for each in passes]
        made = DevicePasses(lines, opened.shape[batch:], opened.type, cval, approximation)
        weight = SMALLEST_WEIGHT[approximation]
        result._filter(made.handle, opened.handle, valid and valid.handle, preserve_nan, items, weight)
    if output is not None:
        return output
    return from_image(input)(result)


def _require_maskable(input: Any, opened: DeviceArray, passes: Sequence[Pass], cval: float) -> int:
    """The number of items that the axes which are not filtered count."""
    batch = len(opened.shape) - len(passes)
    items = math.prod(opened.shape[:batch])
    lines = [each._replace(axis=each.axis - batch) for each in passes]
    if 0 in opened.shape or (items <= MOST_MASKED_ITEMS and can_mask(lines, opened.shape[batch:], cval)):
        return items
    raise ValueError(
        f"input is {describe(input)}; masks and preserve_nan of arrays of that package are for smoothing, for {MOST_MASKED_ITEMS} "
        "items at most, and in the mode constant for cval 0: give preserve_nan=False and no valid_mask, or call "
        "cupy.from_dlpack(input) or torch.from_dlpack(input)"
    )


def _open_beside(array: Any, name: str, opened: DeviceArray, types: Sequence[str]) -> DeviceArray:
    """Another array, of the size and on the device of the input."""
    if _dlpack.device_of(array) != opened.device:
        raise TypeError(f"{name} is {describe(array)}; it must be an array on the GPU {opened.device}, where input is")
    other = open_foreign(array, name, types)
    if other.shape != opened.shape:
        raise ValueError(f"{name} has the shape {other.shape}; it must be that of input, {opened.shape}")
    return other


def _new_image(shape: Sequence[int], dtype: str) -> Any:
    image = itk.CudaDeviceImage[_TYPES[dtype], len(shape)].New()
    image.SetRegions([int(size) for size in reversed(shape)])
    return image


def image_of(shape: Sequence[int], opened: DeviceArray) -> Any:
    """An image of the type and on the device of an opened array, whose pixels are adjacent."""
    image = _new_image(shape, opened.type)
    image._allocate(opened.device)
    return image


def _image_in(output: Any, input: Any, opened: DeviceArray) -> Any:
    """An image in the memory of an array that takes the result."""
    if _is_of_jax(output):
        raise ValueError("output is an array of JAX, whose pixels never change: JAX's arrays are results without output")
    target = _open_beside(output, "output", opened, (opened.type,))
    if target.is_read_only:
        raise ValueError("output is read-only; it must be an array that can be written")
    size = math.prod(opened.shape) * np.dtype(opened.type).itemsize
    if abs(target.pointer - opened.pointer) < size:
        raise ValueError(f"output lies in the memory of input, {describe(input)}; it must be other memory")
    image = _new_image(opened.shape, opened.type)
    image._adopt(target.handle)
    return image


def _is_of_jax(array: Any) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(array, jax.Array)


def from_image(array: Any) -> Callable[[Any], Any]:
    """What makes a result for the package of `array` of a device image."""
    if not _is_of_jax(array):
        return lambda image: image
    function: Callable[[Any], Any] = importlib.import_module("jax.dlpack").from_dlpack
    return function

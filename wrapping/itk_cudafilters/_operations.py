# SPDX-License-Identifier: Apache-2.0
"""Array operations of NumPy, CuPy and torch behind one interface. Results are on the device of the operands."""
from __future__ import annotations

import functools
import math
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np

from ._image import Image
from ._images import describe, is_instance, is_xarray, name_of
from ._itk import is_itk_object
from ._library import core, takes


class Places(Protocol):
    """Memory, device and stream of the arrays of one package."""

    def empty_like(self, array: Any) -> Any:
        """Returns an uninitialized array like a contiguous one, on its device even if another device is current."""

    def pointer(self, array: Any) -> int: ...
    def device(self, array: Any) -> int: ...
    def stream(self, array: Any) -> int:
        """Returns the handle of the package's current stream on the device of the array."""


class Operations(Places, Protocol):
    """Operations on the arrays of one package. Types of elements are identified by their names in NumPy."""

    is_on_gpu: bool

    def type_of(self, array: Any) -> str: ...
    def type_named(self, asked: Any) -> str:
        """Returns the name of a type that the user gave in any form. Raises TypeError for other objects."""

    def transpose(self, array: Any, axes: Sequence[int]) -> Any: ...
    def contiguous(self, array: Any, dtype: str) -> Any:
        """Returns the array itself if it is contiguous and of that type, otherwise a copy."""

    def copy(self, array: Any) -> Any: ...
    def where(self, condition: Any, a: Any, b: Any) -> Any: ...
    def isnan(self, array: Any) -> Any: ...
    def isfinite(self, array: Any) -> Any: ...
    def sqrt(self, array: Any) -> Any: ...
    def hypot(self, a: Any, b: Any) -> Any: ...
    def stack_last(self, arrays: Sequence[Any]) -> Any: ...
    def concatenate(self, arrays: Sequence[Any], axis: int) -> Any: ...
    def first_true(self, flags: Any) -> Any:
        """Returns the index of the first true element of each row of a matrix, or 0 if a row has no true element."""

    def truncate(self, values: Any, dtype: str) -> Any:
        """Converts values to a type as the filters do: to integers by truncation towards 0 and clamping to the range,
        with NaN as 0. The range of 64-bit integers ends at the last number that float64 represents."""

    def mean(self, array: Any, flags: Any) -> Any:
        """Returns the mean of the elements whose flags are true, rounded to 24 binary digits, as a zero-dimensional
        array of the type of `array`. The host does not wait."""

    def empty(self, shape: Sequence[int], array: Any) -> Any:
        """Returns an uninitialized array of the type and on the device of `array`."""

    def is_contiguous(self, array: Any) -> bool: ...
    def is_finite(self, array: Any) -> bool:
        """Returns whether all pixels are finite. The host waits for the answer."""

    def current(self, array: Any) -> AbstractContextManager[Any]:
        """Returns a context in which the package's work runs on the device of the array."""


@functools.cache
def _range_of(dtype: str) -> tuple[float, float]:
    """Returns the least and the largest number of an integer type that float64 represents."""
    if dtype == "bool":
        return 0.0, 1.0
    limits = np.iinfo(dtype)
    largest = float(limits.max)
    return float(limits.min), largest if int(largest) <= limits.max else math.nextafter(largest, 0.0)


def _with_24_digits(number: Any, where: Any) -> Any:
    """Rounds a float64 to 24 binary digits (Veltkamp's splitting), unless that would overflow. This makes the packages
    agree, whose sums differ in the last digits because each adds in its own order. `where` is the package's
    function."""
    is_small = abs(number) < 1e290
    small = where(is_small, number, 0.0)
    shifted = small * float((1 << 29) + 1)
    return where(is_small, shifted - (shifted - small), number)


class NumpyOperations:
    """Operations on NumPy arrays. CuPy has the same functions."""

    is_on_gpu = False

    def __init__(self, package: Any = np) -> None:
        self._np = package

    def type_of(self, array: Any) -> str:
        return name_of(array.dtype)

    def type_named(self, asked: Any) -> str:
        return str(np.dtype(asked).newbyteorder("=").name)

    def transpose(self, array: Any, axes: Sequence[int]) -> Any:
        return self._np.transpose(array, tuple(axes))

    def contiguous(self, array: Any, dtype: str) -> Any:
        # Not ascontiguousarray(), which would add an axis to a zero-dimensional array.
        found = self._np.asarray(array, dtype=np.dtype(dtype), order="C")
        return found if getattr(found.flags, "aligned", True) else found.copy()  # only NumPy's arrays can be unaligned

    def copy(self, array: Any) -> Any:
        return array.copy()

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        return self._np.where(condition, a, b)

    def isnan(self, array: Any) -> Any:
        return self._np.isnan(array)

    def isfinite(self, array: Any) -> Any:
        return self._np.isfinite(array)

    def sqrt(self, array: Any) -> Any:
        return self._np.sqrt(array)

    def hypot(self, a: Any, b: Any) -> Any:
        return self._np.hypot(a, b)

    def stack_last(self, arrays: Sequence[Any]) -> Any:
        return self._np.stack(list(arrays), axis=-1)

    def concatenate(self, arrays: Sequence[Any], axis: int) -> Any:
        return self._np.concatenate(list(arrays), axis=axis)

    def first_true(self, flags: Any) -> Any:
        return self._np.argmax(flags, axis=1)

    def truncate(self, values: Any, dtype: str) -> Any:
        kind = np.dtype(dtype)
        if kind.kind not in "biu" or values.dtype == kind:
            return self._np.asarray(values, dtype=kind)
        whole = self._np.nan_to_num(self._np.trunc(values.astype(np.float64)), nan=0.0)
        return self._np.asarray(self._np.clip(whole, *_range_of(dtype)), dtype=kind)

    def mean(self, array: Any, flags: Any) -> Any:
        total = self._np.where(flags, array, 0.0).sum(dtype=np.float64)
        return _with_24_digits(total / self._np.maximum(flags.sum(), 1), self._np.where).astype(array.dtype)

    def empty_like(self, array: Any) -> Any:
        return self._np.empty_like(array)

    def empty(self, shape: Sequence[int], array: Any) -> Any:
        return self._np.empty(tuple(shape), array.dtype)

    def is_contiguous(self, array: Any) -> bool:
        return bool(array.flags.c_contiguous)

    def is_finite(self, array: Any) -> bool:
        if array.size > 0 and takes(array):
            return bool(core().is_finite(array))
        return bool(self._np.isfinite(array).all())

    def pointer(self, array: Any) -> int:
        return int(array.ctypes.data)

    def device(self, array: Any) -> int:
        return 0

    def stream(self, array: Any) -> int:
        return 0

    def current(self, array: Any) -> AbstractContextManager[Any]:
        return nullcontext()


class CupyOperations(NumpyOperations):
    is_on_gpu = True

    def __init__(self, cupy: Any) -> None:
        super().__init__(cupy)
        self._current_device = cupy.cuda.runtime.getDevice
        self._current_stream = cupy.cuda.get_current_stream

    def empty_like(self, array: Any) -> Any:
        # Call the constructor, because cupy.empty_like() takes longer than a kernel launch to find the order of axes.
        # If the device is current already, also skip the context manager, which makes four CUDA calls to switch and
        # restore it.
        if array.data.device_id == self._current_device():
            return self._np.ndarray(array.shape, array.dtype)
        with array.device:
            return self._np.ndarray(array.shape, array.dtype)

    def empty(self, shape: Sequence[int], array: Any) -> Any:
        with array.device:
            return self._np.empty(tuple(shape), array.dtype)

    def is_finite(self, array: Any) -> bool:
        with array.device:
            return _is_finite_by_sum(array, self._np)

    def pointer(self, array: Any) -> int:
        return int(array.data.ptr)

    def device(self, array: Any) -> int:
        return int(array.data.device_id)

    def stream(self, array: Any) -> int:
        return int(self._current_stream(array.data.device_id).ptr)

    def current(self, array: Any) -> AbstractContextManager[Any]:
        context: AbstractContextManager[Any] = array.device
        return context


class TorchOperations:
    is_on_gpu = True

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        # torch's own compiler calls this function, too. The public one constructs an object, which takes longer than a
        # kernel launch.
        self._raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def type_of(self, array: Any) -> str:
        return str(array.dtype).rpartition(".")[2]

    def type_named(self, asked: Any) -> str:
        if isinstance(asked, self._torch.dtype):
            return str(asked).rpartition(".")[2]
        return str(np.dtype(asked).name)

    def _type(self, dtype: str) -> Any:
        return getattr(self._torch, dtype)

    def transpose(self, array: Any, axes: Sequence[int]) -> Any:
        return array.permute(*axes)

    def contiguous(self, array: Any, dtype: str) -> Any:
        return array.to(self._type(dtype)).contiguous()

    def copy(self, array: Any) -> Any:
        return array.clone()

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        return self._torch.where(condition, a, b)

    def isnan(self, array: Any) -> Any:
        return self._torch.isnan(array)

    def isfinite(self, array: Any) -> Any:
        return self._torch.isfinite(array)

    def sqrt(self, array: Any) -> Any:
        return self._torch.sqrt(array)

    def hypot(self, a: Any, b: Any) -> Any:
        return self._torch.hypot(a, b)

    def stack_last(self, arrays: Sequence[Any]) -> Any:
        return self._torch.stack(list(arrays), dim=-1)

    def concatenate(self, arrays: Sequence[Any], axis: int) -> Any:
        return self._torch.cat(list(arrays), dim=axis)

    def first_true(self, flags: Any) -> Any:
        return self._torch.argmax(flags.to(self._torch.int8), dim=1)

    def truncate(self, values: Any, dtype: str) -> Any:
        kind = self._type(dtype)
        if kind.is_floating_point or values.dtype == kind:
            return values.to(kind)
        whole = self._torch.nan_to_num(self._torch.trunc(values.to(self._torch.float64)), nan=0.0)
        return self._torch.clamp(whole, *_range_of(dtype)).to(kind)

    def mean(self, array: Any, flags: Any) -> Any:
        total = self._torch.where(flags, array, 0.0).sum(dtype=self._torch.float64)
        return _with_24_digits(total / flags.sum().clamp(min=1), self._torch.where).to(array.dtype)

    def empty_like(self, array: Any) -> Any:
        return self._torch.empty_like(array)

    def empty(self, shape: Sequence[int], array: Any) -> Any:
        return self._torch.empty(tuple(shape), dtype=array.dtype, device=array.device)

    def is_contiguous(self, array: Any) -> bool:
        return bool(array.is_contiguous())

    def is_finite(self, array: Any) -> bool:
        return _is_finite_by_sum(array, self._torch)

    def pointer(self, array: Any) -> int:
        return int(array.data_ptr())

    def device(self, array: Any) -> int:
        return int(array.get_device())

    def stream(self, array: Any) -> int:
        if self._raw_stream is not None:
            return int(self._raw_stream(array.get_device()))
        return int(self._torch.cuda.current_stream(array.device).cuda_stream)

    def current(self, array: Any) -> AbstractContextManager[Any]:
        context: AbstractContextManager[Any] = self._torch.cuda.device(array.device)
        return context


def _is_finite_by_sum(array: Any, package: Any) -> bool:
    """Returns whether all pixels are finite. It first checks the sum, which reads the array once and needs no temporary
    array. If the sum is not finite, which overflow may also cause, each pixel is checked."""
    return math.isfinite(float(array.sum())) or bool(package.isfinite(array).all())


OF_HOST: Operations = NumpyOperations()
# Operations of the classes whose arrays all have the same ones. Tests add classes that they declare to be on a GPU.
OF_CLASSES: dict[type, Operations] = {}


def operations_of(array: Any) -> Operations | None:
    """Returns the operations of CuPy or torch for their arrays in GPU memory, the ones of NumPy for images on the host,
    and None for other objects."""
    if type(array) in OF_CLASSES:
        return OF_CLASSES[type(array)]
    if isinstance(array, (np.ndarray, Image)) or is_itk_object(array) or is_xarray(array):
        return OF_HOST
    if is_instance(array, "torch", "Tensor") and array.is_cuda:
        return _of_torch(sys.modules["torch"])
    if is_instance(array, "cupy", "ndarray"):
        return OF_CLASSES.setdefault(type(array), _of_cupy(sys.modules["cupy"]))
    return None


_of_torch = functools.cache(TorchOperations)
_of_cupy = functools.cache(CupyOperations)


def image_on_gpu(array: Any, shape: Sequence[int], dtype: str, places: Places) -> tuple[Any, ...]:
    """Returns a contiguous array as an image for `_core`. The last axis of the shape is x."""
    strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return places.pointer(array), dtype == "float64", tuple(shape), strides, places.device(array), places.stream(array)


def current_device_of(image: Any) -> AbstractContextManager[Any]:
    """Returns a context in which the GPU of an array is its package's current device. For other objects it does
    nothing."""
    ops = operations_of(image)
    return nullcontext() if ops is None or not ops.is_on_gpu else ops.current(image)


def require_no_gradient(array: Any, name: str) -> None:
    if getattr(array, "requires_grad", False):
        raise BufferError(
            f"{name} is {describe(array)} that requires a gradient, which the filters do not compute: call {name}.detach()"
        )

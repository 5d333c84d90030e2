# SPDX-License-Identifier: Apache-2.0
"""Gaussian filters for images that are larger than memory: a few planes at a time are read from a source, filtered, and
written to a target.

A source is a NumPy array, a memory map, or any object with `shape`, `dtype` and slices of whole planes, such as a
dataset of h5py or an array of zarr. A target is such an object that can be written. A plane is the part of the image
with one index along the first axis. The result does not depend, bit for bit, on the amount of memory or on the grouping
of planes.
"""
from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ._arrays import axes_to_filter, axis_of, number, per_axis, truncate
from ._gaussian import Approximation, Mode, _mode, _order, sigmas_of
from ._images import describe
from ._info import Backend
from ._library import core
from ._parameters import bytes_of, known_name, library_errors, switch

__all__ = ["gaussian_filter", "gaussian_gradient_magnitude", "gaussian_laplace"]

# Types that the filters read and write. Planes of other types are converted to these and back.
_NATIVE = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64")
_CONVERTED = {"bool": "uint8", "float16": "float32", "int64": "float64", "uint64": "float64"}

Progress = Callable[[float], object]


@library_errors
def gaussian_filter(
    source: Any,
    target: Any,
    sigma: float | Sequence[float] | None = None,
    order: int | Sequence[int] = 0,
    mode: Mode = "reflect",
    cval: float = 0.0,
    *,
    fwhm: float | Sequence[float] | None = None,
    spacing: float | Sequence[float] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: None = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
    memory_limit: int | str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Runs itk_cudafilters.gaussian_filter() from a source to a target, in slabs of planes.

    On the GPU each plane is downloaded once. It is uploaded once for a sigma up to about 32 pixels along the first axis
    (46 with accurate, 17 for float64), because the planes that the next results need are kept in device memory, and
    twice for a larger sigma. The source is read as often, in the order of its planes.

    Parameters
    ----------
    source
        Image to filter, of 2 to 4 axes and possibly a channel axis, of real numbers. It is read by source[first:last].
    target
        Destination, of the shape of the source. It is written by target[first:last] = planes. Integers are truncated
        towards 0; int64 and uint64 are computed in float64, which is exact for integers up to 2^53. The target must not
        be the source, nor share pixels with it.
    sigma, order, mode, cval, fwhm, spacing, axes, approximation, backend
        As in itk_cudafilters.gaussian_filter(), with these limits. One mode holds for all axes. The mode wrap is not
        possible, because it needs the last plane before the first. spacing "image" is not possible. For derivatives in
        the mode constant, cval must be 0 unless only one axis is filtered: slabs are filtered along their planes first,
        so that other values would give other results than for arrays.
    channel_axis
        None, or the last axis.
    valid_mask
        Must be None. Masks are supported for arrays in memory.
    preserve_nan
        With True (default) all pixels of the source must be finite, or ValueError is raised, because slabs cannot leave
        pixels out. With False, pixels that are NaN or infinite spread along their lines.
    dtype
        None, or the type of the target.
    memory_limit
        Largest number of bytes of device memory to use, or text such as "8G". None: the free memory, within the limit
        of the configuration.
    progress
        Function that is called with the fraction of the work that is done, from 0 to 1. An exception that it raises
        ends the run.

    Returns
    -------
    dict
        used (OneSweep, TwoSweeps, ...), on_host, number_of_slabs, bytes_up, bytes_down and other entries of
        GetSlabReport(), and backend_used and backend_reason.

    Raises
    ------
    TypeError, ValueError
        The kind or type of the source, of the target or of a parameter is not supported, or a value or shape is wrong.
    RuntimeError
        The GPU was requested and cannot be used.

    Notes
    -----
    If an exception is raised during the run, a part of the target has been written.

    Examples
    --------
    >>> import numpy as np
    >>> volume = np.ones((300, 8, 9), np.uint16)
    >>> smoothed = np.empty((300, 8, 9), np.float32)
    >>> report = gaussian_filter(volume, smoothed, sigma=2, mode="nearest", backend="host")
    >>> report["used"], bool((smoothed == 1).all())
    ('OneSweep', True)
    """
    run = _Run(
        "filter", source, target, sigma, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, memory_limit,
    )
    run.set_orders(order)
    return run(progress)


@library_errors
def gaussian_gradient_magnitude(
    source: Any,
    target: Any,
    sigma: float | Sequence[float] | None = None,
    mode: Mode = "reflect",
    cval: float = 0.0,
    *,
    fwhm: float | Sequence[float] | None = None,
    spacing: float | Sequence[float] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: None = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
    memory_limit: int | str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Runs itk_cudafilters.gaussian_gradient_magnitude() from a source to a target, in slabs of planes.

    The parameters, the result and the errors are those of gaussian_filter() of this module, except `order`. The last
    axis before the channel axis must be one of `axes`.
    """
    run = _Run(
        "gradient_magnitude", source, target, sigma, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, memory_limit,
    )
    run.require_derivatives()
    return run(progress)


@library_errors
def gaussian_laplace(
    source: Any,
    target: Any,
    sigma: float | Sequence[float] | None = None,
    mode: Mode = "reflect",
    cval: float = 0.0,
    *,
    fwhm: float | Sequence[float] | None = None,
    spacing: float | Sequence[float] | None = None,
    axes: int | Sequence[int] | None = None,
    channel_axis: int | None = None,
    valid_mask: None = None,
    preserve_nan: bool = True,
    dtype: npt.DTypeLike | None = None,
    approximation: Approximation = "accurate",
    backend: Backend = "automatic",
    memory_limit: int | str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Runs itk_cudafilters.gaussian_laplace() from a source to a target, in slabs of planes.

    The parameters, the result and the errors are those of gaussian_filter() of this module, except `order`. The last
    axis before the channel axis must be one of `axes`.
    """
    run = _Run(
        "laplace", source, target, sigma, mode, cval, fwhm, spacing, axes, channel_axis,
        valid_mask, preserve_nan, dtype, approximation, backend, memory_limit,
    )
    run.require_derivatives()
    return run(progress)


class _Planes:
    """A source or a target, with its checked shape and type."""

    def __init__(self, planes: Any, name: str) -> None:
        shape, dtype = getattr(planes, "shape", None), getattr(planes, "dtype", None)
        if shape is None or dtype is None or not hasattr(type(planes), "__getitem__"):
            raise TypeError(f"{name} is {describe(planes)}; it must have shape, dtype and slices, as arrays of NumPy, h5py and zarr do")
        if hasattr(planes, "__cuda_array_interface__"):
            raise TypeError(f"{name} is {describe(planes)} in the memory of a GPU; call itk_cudafilters.gaussian_filter()")
        if isinstance(planes, np.ma.MaskedArray):
            raise TypeError(f"{name} is a masked array; masks are for itk_cudafilters.gaussian_filter()")
        self.planes = planes
        self.name = name
        self.shape = tuple(int(length) for length in shape)
        self.dtype = np.dtype(dtype)
        if self.dtype.name not in (*_NATIVE, *_CONVERTED):
            raise TypeError(f"{name} has pixels of type {self.dtype}; they must be real numbers of at most 64 bits")
        if math.prod(self.shape) == 0:
            raise ValueError(f"{name} has the shape {self.shape}; it must have pixels")

    @property
    def native(self) -> np.dtype[Any]:
        """The type of the planes as the filters process them."""
        seen: np.dtype[Any] = np.dtype(_CONVERTED.get(self.dtype.name, self.dtype.name))
        return seen

    def buffer(self, memory: memoryview, count: int) -> npt.NDArray[Any]:
        return np.frombuffer(memory, self.native).reshape((count, *self.shape[1:]))


class _Source(_Planes):
    def __init__(self, planes: Any, refuses_nan: bool) -> None:
        super().__init__(planes, "source")
        self._must_be_finite = refuses_nan and self.dtype.kind == "f"

    def read(self, first: int, count: int) -> npt.NDArray[Any]:
        """Reads planes from the source, in its own type. Raises ValueError if they must be finite and are not."""
        read = np.asarray(self.planes[first : first + count])
        if read.shape != (count, *self.shape[1:]):
            raise ValueError(
                f"source[{first}:{first + count}] has the shape {read.shape}; it must be {(count, *self.shape[1:])}, as source.shape says"
            )
        if self._must_be_finite:
            # Check the sum first, which is fast: it is not finite if a pixel is not. Check the pixels if the sum is not
            # finite, because it may also overflow.
            for i in range(count):
                with np.errstate(over="ignore", invalid="ignore"):
                    total = read[i].sum(dtype=np.float64)
                if not np.isfinite(total) and not np.isfinite(read[i]).all():
                    raise ValueError(
                        f"plane {first + i} of source has pixels that are NaN or infinite; they must be finite, or preserve_nan False"
                    )
        return read

    def __call__(self, first: int, count: int, memory: memoryview) -> None:
        read = self.read(first, count)
        # Assign in a single expression, so that no traceback can keep an array that refers to this memory.
        self.buffer(memory, count)[...] = read


class _Target(_Planes):
    def __init__(self, planes: Any) -> None:
        super().__init__(planes, "target")
        if not hasattr(type(planes), "__setitem__"):
            raise TypeError(f"target is {describe(planes)}; it must be one that can be written: target[0:2] = planes")
        if isinstance(planes, np.ndarray) and not planes.flags.writeable:
            raise ValueError("target is read-only; it must be an array that can be written")

    def __call__(self, first: int, count: int, memory: memoryview) -> None:
        if self.dtype.kind in "bui" and self.dtype.name in _CONVERTED:
            self.planes[first : first + count] = truncate(self.buffer(memory, count), self.dtype)
        elif type(self.planes) in (np.ndarray, np.memmap):
            self.planes[first : first + count] = self.buffer(memory, count)
        else:
            # Pass a copy, because other kinds of targets may keep the array that they are given.
            self.planes[first : first + count] = self.buffer(memory, count).astype(self.dtype)


# Largest number of steps of the search for a byte that two arrays share. Slices of one array take a few steps, but the
# problem is hard in general. The type is Any because NumPy's annotations only permit two named values.
_SHARING_EFFORT: Any = 100_000


def _share_pixels(source: Any, target: Any) -> bool:
    """Returns whether writing to the target may change the source. If the search takes too many steps, it returns
    True."""
    if not (isinstance(source, np.ndarray) and isinstance(target, np.ndarray)):
        return False
    try:
        return bool(np.shares_memory(source, target, max_work=_SHARING_EFFORT))
    except RuntimeError:  # TooHardError, whose module differs between versions of NumPy
        return True


class _Run:
    """One call of a function: its checked parameters, and the conversion to the library's parameters."""

    def __init__(
        self,
        kind: Literal["filter", "gradient_magnitude", "laplace"],
        source: Any,
        target: Any,
        sigma: Any,
        mode: Any,
        cval: float,
        fwhm: Any,
        spacing: Any,
        axes: Any,
        channel_axis: int | None,
        valid_mask: Any,
        preserve_nan: bool,
        dtype: Any,
        approximation: str,
        backend: str,
        memory_limit: int | str | None,
    ) -> None:
        if valid_mask is not None:
            raise ValueError("valid_mask is given; images in slabs have none: call itk_cudafilters.gaussian_filter()")
        self._kind = kind
        self._source = _Source(source, switch(preserve_nan, "preserve_nan"))
        self._target = _Target(target)
        if self._target.shape != self._source.shape:
            raise ValueError(f"target has the shape {self._target.shape}; it must be that of source, {self._source.shape}")
        if target is source or _share_pixels(source, target):
            raise ValueError("target and source have the same memory; planes of the source are needed after results are written")
        if dtype is not None and self._read_type(dtype) != self._target.dtype:
            raise ValueError(f"dtype is {np.dtype(dtype)}; it must be that of target, {self._target.dtype}")
        dimension = len(self._source.shape)
        self._channels = self._read_channels(channel_axis, dimension)
        self._dimension = dimension - (channel_axis is not None)
        if not 2 <= self._dimension <= 4:
            raise ValueError(
                f"source has {self._dimension} axes" + (" without that of the channels" if channel_axis is not None else "")
                + "; it must have 2, 3 or 4"
            )
        self._axes = axes_to_filter(axes, None if channel_axis is None else dimension - 1, dimension)
        count = len(self._axes)
        self._sigma = self._along(sigmas_of(sigma, fwhm, count), 0.0)
        self._spacing = self._along(self._read_spacing(spacing), 1.0)
        self._orders = [0] * self._dimension
        self._mode = self._read_mode(mode)
        self._cval = number(cval, "cval")
        if self._mode == "constant" and not math.isfinite(self._cval):
            raise ValueError(f"cval is {cval}; it must be finite")
        self._approximation = known_name("approximation", approximation, get_args(Approximation))
        self._backend = known_name("backend", backend, get_args(Backend))
        self._limit = 0 if memory_limit is None else bytes_of(memory_limit)

    @staticmethod
    def _read_type(dtype: Any) -> np.dtype[Any]:
        try:
            found: np.dtype[Any] = np.dtype(dtype)
            return found
        except (TypeError, ValueError):
            raise TypeError(f"dtype is {describe(dtype)}; it must be None, or the type of target") from None

    def _read_channels(self, channel_axis: int | None, dimension: int) -> int:
        if channel_axis is None:
            return 1
        if axis_of(channel_axis, dimension, "channel_axis") != dimension - 1:
            raise ValueError(f"channel_axis is {channel_axis}; in slabs it must be the last axis, {dimension - 1}, or None")
        return self._source.shape[-1]

    def _read_spacing(self, spacing: Any) -> list[float]:
        if spacing is None:
            return [1.0] * len(self._axes)
        if isinstance(spacing, str):
            raise ValueError(f"spacing is '{spacing}'; here it must be None, a number, or one for each axis")
        values = per_axis(spacing, "spacing", len(self._axes), lambda value: number(value, "spacing"))
        if not all(math.isfinite(value) and value > 0.0 for value in values):
            raise ValueError(f"spacing is {spacing}; it must be finite and above 0")
        return values

    def _read_mode(self, mode: Any) -> str:
        modes = set(per_axis(mode, "mode", len(self._axes), _mode)) or {"nearest"}
        if len(modes) > 1:
            raise ValueError(f"mode is {mode!r}; in slabs it must be one for all axes")
        (found,) = modes
        if found == "wrap":
            raise ValueError("mode is 'wrap', which needs the last plane before the first; in slabs it must be reflect, nearest, "
                             "mirror or constant")
        return found

    def _along(self, values: Sequence[Any], other: Any) -> list[Any]:
        """Expands values of the filtered axes to all axes of the array. The other axes get the value `other`."""
        found = [other] * self._dimension
        for axis, value in zip(self._axes, values, strict=True):
            found[axis] = value
        return found

    def set_orders(self, order: Any) -> None:
        self._orders = self._along(per_axis(order, "order", len(self._axes), _order), 0)
        for axis, (sigma, each) in enumerate(zip(self._sigma, self._orders, strict=True)):
            if each > 0 and sigma == 0.0:
                raise ValueError(f"sigma of axis {axis} is 0 and its order {each}; a derivative needs a sigma above 0")

    def require_derivatives(self) -> None:
        for axis in self._axes:
            if self._sigma[axis] == 0.0:
                raise ValueError(f"sigma of axis {axis} is 0; leave the axis out by axes=, or give it a sigma above 0")
        if self._dimension - 1 not in self._axes:
            raise ValueError(f"axes is {tuple(self._axes)}; in slabs axis {self._dimension - 1} must be one of them")

    def __call__(self, progress: Progress | None) -> dict[str, Any]:
        if progress is not None and not callable(progress):
            raise TypeError(f"progress is {describe(progress)}; it must be None, or a function of the share that is done")
        if not any(self._sigma):
            return self._copy(progress)
        takes_derivatives = self._kind != "filter" or any(self._orders)
        if self._mode == "constant" and self._cval != 0.0 and takes_derivatives and sum(map(bool, self._sigma)) > 1:
            raise ValueError(
                f"cval is {self._cval}; in slabs it must be 0 for derivatives, which depend on the order of the axes: "
                "call the function of itk_cudafilters for arrays"
            )
        if self._source.shape[0] == 1 and self._sigma[0] == 0.0:
            return self._filter_within_plane(progress)
        shape = self._source.shape[: self._dimension]
        job = (
            self._kind,
            *(tuple(reversed(values)) for values in (shape, self._sigma, self._spacing, self._orders)),  # ITK's x comes first
            self._channels,
            self._source.native.char,
            self._target.native.char,
            self._mode,
            self._cval,
            self._approximation,
            self._backend,
            self._limit,
        )
        report, used, reason = core().filter_slabs(job, self._source, self._target, progress)
        return {**report, "backend_used": used.lower(), "backend_reason": reason}

    def _filter_within_plane(self, progress: Progress | None) -> dict[str, Any]:
        """Filters an image of a single plane whose lines lie within that plane. The library cuts images along the last
        axis of more than one pixel, so that the rows of this plane are passed as planes."""
        plane = self._source.read(0, 1).astype(self._source.native, copy=False)
        result = np.empty(self._target.shape, self._target.native)
        rows = copy.copy(self)
        # The library needs two axes or more. An image of two axes is transposed instead of dropping its first axis.
        is_line = self._dimension == 2
        order = slice(None, None, -1) if is_line else slice(1, None)
        rows._source = _Source(np.swapaxes(plane, 0, 1) if is_line else plane[0], refuses_nan=False)
        rows._target = _Target(np.swapaxes(result, 0, 1) if is_line else result[0])
        rows._sigma, rows._spacing, rows._orders = self._sigma[order], self._spacing[order], self._orders[order]
        rows._dimension = len(rows._sigma)
        report = rows(progress)
        self._target.planes[0:1] = truncate(result, self._target.dtype)
        return report

    def _copy(self, progress: Progress | None) -> dict[str, Any]:
        """Copies the source to the target, because no axis is filtered."""
        length, planes = self._source.shape[0], 128
        for first in range(0, length, planes):
            read = self._source.read(first, min(planes, length - first))
            self._target.planes[first : first + planes] = truncate(read, self._target.dtype)
            if progress is not None:
                progress(min(1.0, (first + planes) / length))
        return {"used": "Whole", "on_host": True, "backend_used": "host", "backend_reason": "no axis is filtered"}

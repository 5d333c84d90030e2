# SPDX-License-Identifier: Apache-2.0
"""Sources and targets of images that are filtered in slabs: any object with shape, dtype and slices of whole planes.

Stores are the objects among them whose planes lie in chunks that are read or written as a whole: arrays of zarr and
datasets of h5py. Each of their chunks is read once in a run, and written once. Stores and memory maps are read and
written by a thread of their own, while planes are filtered.
"""
from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ._arrays import truncate
from ._images import describe

# Types that the filters read and write. Planes of other types are converted to these and back.
_NATIVE = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64")
_CONVERTED = {"bool": "uint8", "float16": "float32", "int64": "float64", "uint64": "float64"}

_STORES = ("h5py", "zarr")
# Most planes behind those asked for that are kept because they are in the same chunks, in bytes.
_KEPT_BYTES = 512 << 20
# Most threads that copy planes, and the least bytes of each. A single thread copies slower than a GPU filters.
_COPYING_THREADS = 8
_COPIED_BYTES = 8 << 20

_T = TypeVar("_T")


def native_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Returns the type of the planes as the filters process them."""
    name = np.dtype(dtype).name
    native: np.dtype[Any] = np.dtype(_CONVERTED.get(name, name))
    return native


def require_planes(planes: Any, name: str) -> None:
    """Raises TypeError or ValueError unless the object can be a source or a target."""
    shape, dtype = getattr(planes, "shape", None), getattr(planes, "dtype", None)
    if shape is None or dtype is None or not hasattr(type(planes), "__getitem__"):
        raise TypeError(f"{name} is {describe(planes)}; it must have shape, dtype and slices, as arrays of NumPy, h5py and zarr do")
    if hasattr(planes, "__cuda_array_interface__"):
        raise TypeError(f"{name} is {describe(planes)} in the memory of a GPU; call itk_cudafilters.gaussian_filter()")
    if isinstance(planes, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; masks are for itk_cudafilters.gaussian_filter()")
    if np.dtype(dtype).name not in (*_NATIVE, *_CONVERTED):
        raise TypeError(f"{name} has pixels of type {np.dtype(dtype)}; they must be real numbers of at most 64 bits")
    if math.prod(shape) == 0:
        raise ValueError(f"{name} has the shape {tuple(shape)}; it must have pixels")


def require_writable(planes: Any) -> None:
    if not hasattr(type(planes), "__setitem__"):
        raise TypeError(f"target is {describe(planes)}; it must be one that can be written: target[0:2] = planes")
    if isinstance(planes, np.ndarray):
        read_only = not planes.flags.writeable
    elif _kind(planes) == "h5py":
        read_only = planes.file.mode == "r"
    else:
        read_only = getattr(planes, "read_only", False) is True
    if read_only:
        raise ValueError("target is read-only; it must be an array that can be written")


# Largest number of steps of the search for a byte that two arrays share. Slices of one array take a few steps, but the
# problem is hard in general. The type is Any because NumPy's annotations only permit two named values.
_SHARING_EFFORT: Any = 100_000


def share_pixels(source: Any, target: Any) -> bool:
    """Returns whether writing to the target may change the source. If the search takes too many steps, it returns
    True."""
    if source is target:
        return True
    if _is_map(source) and _is_map(target) and source.filename is not None and source.filename == target.filename:
        maps = [_whole_map(each) for each in (source, target)]
        if maps[0] is not maps[1]:
            return bool(max(each.offset for each in maps) < min(each.offset + each.nbytes for each in maps))
    if isinstance(source, np.ndarray) and isinstance(target, np.ndarray):
        try:
            return bool(np.shares_memory(source, target, max_work=_SHARING_EFFORT))
        except RuntimeError:  # TooHardError, whose module differs between versions of NumPy
            return True
    return _kind(source) == _kind(target) != "" and place_of(source) == place_of(target)


def place_of(store: Any) -> str:
    """Returns where the pixels of a store are."""
    return f"{store.file.filename}{store.name}" if _kind(store) == "h5py" else str(store.store_path)


def _kind(planes: Any) -> str:
    """Returns the package of a store, or an empty text."""
    package = type(planes).__module__.partition(".")[0]
    return package if package in _STORES else ""


def _is_map(planes: Any) -> bool:
    return type(planes) is np.memmap


def _whole_map(planes: Any) -> Any:
    """Returns the memory map of which a map is a part."""
    while _is_map(planes.base):
        planes = planes.base
    return planes


class Reopened:
    """A source or a target that every process opens for itself."""

    def __init__(self, kind: type, *arguments: Any) -> None:
        self._kind = kind
        self._arguments = arguments

    @contextmanager
    def open(self) -> Iterator[Any]:
        if self._kind is np.memmap:
            filename, dtype, mode, offset, shape, order = self._arguments
            yield np.memmap(filename, dtype, mode, offset, shape, order)
        else:
            filename, name = self._arguments
            with self._kind(filename, "r") as file:
                yield file[name]


@contextmanager
def opened(planes: Any) -> Iterator[Any]:
    """Opens what for_other_processes() returned."""
    if isinstance(planes, Reopened):
        with planes.open() as found:
            yield found
    else:
        yield planes


def for_other_processes(planes: Any, name: str) -> Any:
    """Returns an object that stands for a source or a target in other processes.

    Raises ValueError if they cannot reach its pixels, or could not write them at the same time."""
    if _is_map(planes) and planes.filename is not None and _whole_map(planes) is planes:
        order: Any = "C" if planes.flags.c_contiguous else "F"
        mode: Any = "r+" if name == "target" else "r"
        return Reopened(np.memmap, planes.filename, planes.dtype, mode, planes.offset, planes.shape, order)
    kind = _kind(planes)
    if kind == "h5py":
        if name == "target":
            raise ValueError("target is a dataset of an HDF5 file, which one process alone can write: give an array of zarr")
        return Reopened(type(planes.file), planes.file.filename, planes.name)
    if kind == "zarr" and not place_of(planes).startswith("memory:"):
        return planes
    raise ValueError(
        f"{name} is {describe(planes)} in the memory of this process; for tasks in other processes it must be an array of zarr"
        + (", a dataset of h5py" if name == "source" else "") + " or a memory map of a whole file"
    )


class _Planes:
    """The image of a source or a target, or one item of it: `item` has the indices along its first axes."""

    def __init__(self, planes: Any, item: tuple[int, ...]) -> None:
        self._planes = planes
        self._item = item
        self.shape = tuple(int(length) for length in planes.shape[len(item) :])
        self.dtype = np.dtype(planes.dtype)
        self._native = native_type(self.dtype)
        self._is_store = _kind(planes) != ""
        is_slow = self._is_store or _is_map(planes) or hasattr(planes, "layers")
        self._worker = ThreadPoolExecutor(1) if is_slow else None

    def __enter__(self: _T) -> _T:
        return self

    def __exit__(self, *_: object) -> None:
        if self._worker is not None:
            self._worker.shutdown(cancel_futures=True)

    def _at(self, first: int, last: int) -> Any:
        planes = slice(first, last)
        return (*self._item, planes) if self._item else planes

    def _buffer(self, memory: memoryview, count: int) -> npt.NDArray[Any]:
        return np.frombuffer(memory, self._native).reshape((count, *self.shape[1:]))

    def _in_parts(self, count: int, function: Callable[[slice], object]) -> None:
        """Calls a function for parts of planes, by several threads if they are large. When this returns, and also if it raises, no
        thread uses the planes any more."""
        size = count * math.prod(self.shape[1:]) * self._native.itemsize
        threads = min(_COPYING_THREADS, os.cpu_count() or 1, count, size // _COPIED_BYTES)
        if threads < 2:
            function(slice(0, count))
            return
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(function, (slice(count * i // threads, count * (i + 1) // threads) for i in range(threads))):
                pass

    def _call(self, what: str, first: int, last: int, function: Callable[[], _T]) -> _T:
        """Calls a function that reads or writes planes. Errors of stores, which often do not tell what failed, become
        OSError."""
        try:
            return function()
        except MemoryError:
            raise
        except Exception as error:
            if not self._is_store:
                raise
            text = str(error) or type(error).__name__
            raise OSError(f"planes {first} to {last - 1} of {what}, in '{place_of(self._planes)}': {text}") from error


class Source(_Planes):
    """Reads the planes of a source. No plane from `end` on is read before it is asked for."""

    def __init__(self, planes: Any, item: tuple[int, ...] = (), refuses_nan: bool = True, end: int | None = None) -> None:
        super().__init__(planes, item)
        self._must_be_finite = refuses_nan and self.dtype.kind == "f"
        self._end = self.shape[0] if end is None else min(end, self.shape[0])
        self._layers = self._find_layers()
        self._kept_first = 0
        self._kept: npt.NDArray[Any] | None = None
        self._next: tuple[int, int, Future[npt.NDArray[Any]]] | None = None

    def _find_layers(self) -> list[int] | int:
        """Returns the ends of the layers of chunks, or the planes of a layer if these are all alike."""
        layers = getattr(self._planes, "layers", None)
        if layers is not None:
            return list(layers)
        chunks = getattr(self._planes, "chunks", None) if self._is_store else None
        return int(chunks[len(self._item)]) if chunks else 1

    def _end_of_layer(self, last: int) -> int:
        """Returns the end of the last layer of which planes before `last` are part, if its other planes are to be
        kept."""
        if isinstance(self._layers, int):
            end = -(-last // self._layers) * self._layers
        else:
            end = next((each for each in self._layers if each >= last), last)
        end = max(last, min(end, self._end))
        plane = math.prod(self.shape[1:]) * self.dtype.itemsize
        return end if (end - last) * plane <= _KEPT_BYTES else last

    def _load(self, first: int, last: int) -> npt.NDArray[Any]:
        if self._next is not None and self._next[:2] == (first, last):
            ahead, self._next = self._next[2], None
            return ahead.result()
        if self._next is not None and last - first > 1:
            self._next[2].cancel()  # the order has changed
            self._next = None
        return self._load_now(first, last)

    def _load_now(self, first: int, last: int) -> npt.NDArray[Any]:
        def load() -> npt.NDArray[Any]:
            planes = self._planes[self._at(first, last)]
            return np.array(planes) if _is_map(self._planes) else np.asarray(planes)

        return self._call("source could not be read", first, last, load)

    def _load_ahead(self, first: int, last: int) -> None:
        if self._worker is not None and self._next is None and first < last <= self._end:
            self._next = first, last, self._worker.submit(self._load_now, first, last)

    def _take(self, first: int, count: int) -> npt.NDArray[Any]:
        last, begin = first + count, first
        parts = []
        if self._kept is not None and self._kept_first <= first < self._kept_first + len(self._kept):
            parts.append(self._kept[first - self._kept_first : last - self._kept_first])
            begin += len(parts[0])
        if begin < last:
            end = self._end_of_layer(last)
            read = self._load(begin, end)
            self._require_shape(read, begin, end)
            parts.append(read[: last - begin])
            self._kept_first, self._kept = last, read[last - begin :].copy() if end > last else None
            if count > 1:
                self._load_ahead(end, self._end_of_layer(min(last + count, max(end, self._end))))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _require_shape(self, read: npt.NDArray[Any], first: int, last: int) -> None:
        shape = (last - first, *self.shape[1:])
        if read.shape != shape:
            raise ValueError(f"source[{first}:{last}] has the shape {read.shape}; it must be {shape}, as source.shape says")

    def read(self, first: int, count: int) -> npt.NDArray[Any]:
        """Reads planes from the source, in its own type. Raises ValueError if they must be finite and are not."""
        read = self._take(first, count)
        if self._must_be_finite:
            self._in_parts(count, lambda part: self._require_finite(read[part], first + part.start))
        return read

    def _require_finite(self, planes: npt.NDArray[Any], first: int) -> None:
        """Checks the sum first, which is fast: it is not finite if a pixel is not. Checks the pixels if the sum is not finite,
        because it may also overflow."""
        sum_type = np.float32 if planes.dtype.itemsize == 2 else None
        for i, plane in enumerate(planes):
            with np.errstate(over="ignore", invalid="ignore"):
                total = plane.sum(dtype=sum_type)
            if not np.isfinite(total) and not np.isfinite(plane).all():
                of = f" of item {self._item}" if self._item else ""
                raise ValueError(
                    f"plane {first + i}{of} of source has pixels that are NaN or infinite; they must be finite, or preserve_nan False"
                )

    def copy(self, planes: npt.NDArray[Any], first: int, count: int, memory: memoryview) -> None:
        """Copies planes to the memory of `count` planes, from its plane `first` on."""
        self._buffer(memory, count)[first : first + len(planes)] = planes

    def __call__(self, first: int, count: int, memory: memoryview) -> None:
        read = self._take(first, count)

        def pass_on(part: slice) -> None:
            if self._must_be_finite:
                self._require_finite(read[part], first + part.start)
            # Assign in a single expression, so that no traceback can keep an array that refers to this memory.
            self._buffer(memory, count)[part] = read[part]

        self._in_parts(count, pass_on)


class Target(_Planes):
    """Writes planes to a target, in their order. Those of a store are collected until they fill a layer of chunks.

    The object is a context manager, which writes what is left when its block ends without an exception. `offset` is the
    index of the image's plane that is the first one of the target."""

    def __init__(self, planes: Any, item: tuple[int, ...] = (), offset: int = 0) -> None:
        super().__init__(planes, item)
        self._offset = offset
        self._layer = planes_of_written_chunk(planes, len(item))
        self._first = 0  # of the collected planes
        self._collected: list[npt.NDArray[Any]] = []
        self._written: Future[None] | None = None

    def __exit__(self, *error: object) -> None:
        try:
            if error[0] is None:
                self._write_collected()
                self._wait()
        finally:
            super().__exit__(*error)

    def __call__(self, first: int, count: int, memory: memoryview) -> None:
        if self.dtype.kind in "bui" and self._native != self.dtype.newbyteorder("="):
            self.write(first, truncate(self._buffer(memory, count), self.dtype))
        elif type(self._planes) is np.ndarray:
            first -= self._offset
            self._copy_to(self._planes[self._at(first, first + count)], memory)
        else:
            # Pass a copy, because other kinds of targets may keep the array that they are given.
            planes = np.empty((count, *self.shape[1:]), self.dtype)
            self._copy_to(planes, memory)
            self.write(first, planes)

    def _copy_to(self, planes: npt.NDArray[Any], memory: memoryview) -> None:
        def copy(part: slice) -> None:
            planes[part] = self._buffer(memory, len(planes))[part]

        self._in_parts(len(planes), copy)

    def write(self, first: int, planes: npt.NDArray[Any]) -> None:
        """Writes planes that nobody changes later."""
        while len(planes):
            if not self._collected:
                self._first = first
            at = first % self._layer
            taken = planes[: self._layer - at] if at else planes[: max(1, len(planes) // self._layer) * self._layer]
            self._collected.append(taken)
            first, planes = first + len(taken), planes[len(taken) :]
            if first % self._layer == 0:
                self._write_collected()

    def _write_collected(self) -> None:
        if not self._collected:
            return
        planes = self._collected[0] if len(self._collected) == 1 else np.concatenate(self._collected)
        self._collected = []
        first, last = self._first - self._offset, self._first - self._offset + len(planes)

        def store() -> None:
            self._planes[self._at(first, last)] = planes

        self._wait()
        if self._worker is None:
            store()
        else:
            self._written = self._worker.submit(self._call, "target could not be written", first, last, store)

    def _wait(self) -> None:
        written, self._written = self._written, None
        if written is not None:
            written.result()


def planes_of_written_chunk(planes: Any, axis: int) -> int:
    """Returns the length of the chunks along an axis that are written as a whole; 1 if there are none."""
    if _kind(planes) == "":
        return 1
    chunks = getattr(planes, "shards", None) or planes.chunks
    return min(int(chunks[axis]), int(planes.shape[axis])) if chunks else 1

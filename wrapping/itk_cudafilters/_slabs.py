# SPDX-License-Identifier: Apache-2.0
"""Filters of slabs of planes, as data: their checked parameters, which other processes can be given, and the runs over
the slabs of an image."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from ._arrays import axes_to_filter, axis_of, number, per_axis, truncate
from ._gaussian import Approximation, Mode, _mode, _order, sigmas_of
from ._images import describe
from ._info import Backend
from ._library import core
from ._parameters import bytes_of, devices_of, known_name, switch
from ._planes import Source, Target, native_type

CHUNK = 128
"""Planes of a chunk, the unit in which images are cut."""

Progress = Callable[[float], object]
Report = dict[str, Any]

_COPIED: Report = {
    "used": "Whole", "on_host": True, "number_of_slabs": 1, "chunks_per_slab": 0, "look_ahead": 0, "devices": (),
    "bytes_up": 0, "bytes_down": 0, "bytes_between": 0, "peak_device_bytes": 0,
}


@dataclass(frozen=True)
class Slab:
    """Planes of one item of the source."""

    item: tuple[int, ...]
    first: int
    count: int

    def __str__(self) -> str:
        of = f" of item {self.item}" if self.item else ""
        return f"planes {self.first} to {self.first + self.count - 1}{of}"


@dataclass(frozen=True)
class SlabFilter:
    """A filter of images in slabs. An image may have items, which are filtered by themselves: `items` has the lengths of
    the axes that count them, and `shape` those of the others, along whose first one an item is cut.

    What a slab needs to know of the whole item, if needs_whole is True, is computed by measure() from each slab, and by
    combine() for each slab from these. It is given to run(), which computes it itself if it runs the whole item."""

    items: tuple[int, ...]
    shape: tuple[int, ...]
    source_type: np.dtype[Any]
    target_type: np.dtype[Any]
    refuses_nan: bool
    backend: Backend
    devices: tuple[int, ...] = field(default=(), kw_only=True)
    """The GPUs that slabs are dealt to; empty: that of the configuration."""

    @property
    def whole_shape(self) -> tuple[int, ...]:
        """The shape of the source."""
        return (*self.items, *self.shape)

    @property
    def components(self) -> tuple[int, ...]:
        """The axes that the target has behind those of the source."""
        return ()

    @property
    def reach(self) -> tuple[int, int]:
        """The number of chunks on either side of a slab that its results depend on, or -1 if they depend on all, and the
        number of planes by which the image is continued beyond its ends."""
        raise NotImplementedError

    @property
    def needs_whole(self) -> bool:
        return self.reach[0] < 0

    def require_parts(self) -> None:
        """Raises ValueError if slabs cannot be filtered by themselves."""

    def measure(self, planes: Any, slab: Slab) -> Any:
        raise NotImplementedError

    def combine(self, measured: Sequence[Any], slabs: Sequence[Slab]) -> list[Any]:
        raise NotImplementedError

    def run(self, source: Source, target: Target, slab: Slab, whole: Any, progress: Progress | None) -> Report:
        raise NotImplementedError

    def slabs(self, planes: int) -> list[Slab]:
        """Cuts all items into slabs of that many planes, a multiple of the planes of a chunk."""
        length = self.shape[0]
        return [
            Slab(item, first, min(planes, length - first)) for item in np.ndindex(*self.items) for first in range(0, length, planes)
        ]

    def open_source(self, planes: Any, slab: Slab) -> Source:
        ahead = self.reach[0]
        return Source(planes, slab.item, self.refuses_nan, slab.first + slab.count + max(0, ahead) * CHUNK)

    def reads(self, slab: Slab) -> list[tuple[int, int]]:
        """Returns the ranges of planes that measure() and run() may read of a slab, if it is not the whole item."""
        length, (ahead, padding) = self.shape[0], self.reach
        if length <= 2 * padding:
            return [(0, length)]
        end = slab.first + slab.count
        ranges = [(max(0, slab.first - max(0, ahead) * CHUNK), min(length, end + max(0, ahead) * CHUNK)), (0, 1)]
        if padding > 0:
            ranges.append((padding - 1, padding + 1))  # where the first plane of the continued image comes from
            if slab.first == 0:
                ranges.append((0, padding + 1))
            if end + max(0, ahead) * CHUNK >= length:
                ranges.append((max(0, length - 2 * padding - 1), length))
        return ranges

    def filter(self, source: Any, target: Any, slab: Slab, whole: Any = None, progress: Progress | None = None) -> Report:
        """Filters a slab from a source to a target."""
        with self.open_source(source, slab) as planes, Target(target, slab.item) as results:
            return self.run(planes, results, slab, whole, progress)

    def compute(self, source: Any, slab: Slab, whole: Any = None) -> npt.NDArray[Any]:
        """Returns a filtered slab."""
        result = np.empty((slab.count, *self.shape[1:], *self.components), self.target_type)
        with self.open_source(source, slab) as planes, Target(result, offset=slab.first) as results:
            self.run(planes, results, slab, whole, None)
        return result

    def filter_all(self, source: Any, target: Any, progress: Progress | None) -> Report:
        """Filters all items in this process, one after the other."""
        reports = []
        items = self.slabs(self.shape[0])
        for i, slab in enumerate(items):
            part = None if progress is None else _part_of(progress, i, len(items))
            reports.append(self.filter(source, target, slab, None, part))
        return sum_of(reports)


def _part_of(progress: Progress, i: int, count: int) -> Progress:
    return lambda share: progress((i + share) / count)


def sum_of(reports: Sequence[Report]) -> Report:
    """Returns the report of several runs with one filter."""
    summed = dict(reports[0])
    for name in ("number_of_slabs", "bytes_up", "bytes_down", "bytes_between"):
        summed[name] = sum(report[name] for report in reports)
    summed["peak_device_bytes"] = max(report["peak_device_bytes"] for report in reports)
    return summed


# Bytes of the results that are computed together: one chunk of planes, or as many as these hold.
_GROUP_BYTES = 256 << 20


@dataclass(frozen=True)
class SlabChain(SlabFilter):
    """A filter that runs Gaussian filters of images of its source's size, and keeps what lies between them in memory."""

    spacing: tuple[float, ...]
    mode: str
    cval: float
    approximation: str
    memory_limit: int

    @property
    def real(self) -> np.dtype[Any]:
        """The type between the filters."""
        wide = any(each.name in ("uint32", "int32", "uint64", "int64", "float64") for each in (self.source_type, self.target_type))
        found: np.dtype[Any] = np.dtype("float64" if wide else "float32")
        return found

    def gaussian(self, kind: Kind, sigma: float, source_type: np.dtype[Any], channels: int = 1) -> GaussianSlabs:
        dimension = len(self.shape)
        return GaussianSlabs(
            items=self.items, shape=self.shape if channels == 1 else (*self.shape, channels), source_type=source_type,
            target_type=self.real, refuses_nan=self.refuses_nan, backend=self.backend, kind=kind, sigma=(sigma,) * dimension,
            spacing=self.spacing, orders=(0,) * dimension, channels=channels, mode=self.mode, cval=self.cval,
            approximation=self.approximation, memory_limit=self.memory_limit, devices=self.devices,
        )

    def groups(self, slab: Slab, components: int = 1) -> list[Slab]:
        """Divides a slab into parts that are computed together."""
        plane = math.prod(self.shape[1:]) * components * self.real.itemsize
        planes = max(1, _GROUP_BYTES // (plane * CHUNK)) * CHUNK
        end = slab.first + slab.count
        return [Slab(slab.item, first, min(planes, end - first)) for first in range(slab.first, end, planes)]

    def chunks_around(self, group: Slab, ahead: int) -> range:
        """Returns the chunks of a group, and as many others on either side."""
        last = -(-(group.first + group.count) // CHUNK) + ahead
        return range(max(0, group.first // CHUNK - ahead), min(last, -(-self.shape[0] // CHUNK)))


class KeptChunks:
    """Chunks of planes that several runs read: `read` is a source of `_core`. `load` returns planes, and `copy` puts them into
    the memory of a run. Those of the chunks in `range` are loaded once, and single planes beside them."""

    def __init__(
        self,
        length: int,
        load: Callable[[int, int], npt.NDArray[Any]],
        copy: Callable[[npt.NDArray[Any], int, int, memoryview], None],
    ) -> None:
        self._length = length
        self._load = load
        self._copy = copy
        self._range = range(0)
        self._planes: dict[int, npt.NDArray[Any]] = {}
        self.chunks: dict[int, npt.NDArray[Any]] = {}

    def keep(self, wanted: range) -> None:
        """Sets the range, and drops the chunks that are not in it."""
        self._range = wanted
        self.chunks = {i: planes for i, planes in self.chunks.items() if i in wanted}

    def has_plane(self, plane: int) -> bool:
        return plane in self._planes

    def keep_plane(self, plane: int, pixels: npt.NDArray[Any]) -> None:
        self._planes[plane] = pixels

    def read(self, first: int, count: int, memory: memoryview) -> None:
        at = 0
        while at < count:
            chunk = (first + at) // CHUNK
            inside = first + at - chunk * CHUNK
            taken = min(count - at, CHUNK - inside)
            self._copy(self._take(chunk, inside, taken), at, count, memory)
            at += taken

    def _take(self, chunk: int, inside: int, count: int) -> npt.NDArray[Any]:
        if chunk in self._range:
            if chunk not in self.chunks:
                self.chunks[chunk] = self._load(chunk * CHUNK, min(CHUNK, self._length - chunk * CHUNK))
            return self.chunks[chunk][inside : inside + count]
        plane = chunk * CHUNK + inside
        if count > 1:
            return self._load(plane, count)
        if plane not in self._planes:
            self._planes[plane] = self._load(plane, 1).copy()
        return self._planes[plane]


Kind = Literal["filter", "gradient", "gradient_magnitude", "laplace", "hessian", "normalized_hessian"]


@dataclass(frozen=True)
class GaussianSlabs(SlabFilter):
    """A Gaussian filter. What there is one of for each axis is in the order of `shape`, without the channels. The mode,
    the value beyond the ends, the approximation and the limit of device memory are those of `_core`."""

    kind: Kind
    sigma: tuple[float, ...]
    spacing: tuple[float, ...]
    orders: tuple[int, ...]
    channels: int
    mode: str
    cval: float
    approximation: str
    memory_limit: int

    @property
    def job(self) -> tuple[Any, ...]:
        """The job of `_core`, where x comes first."""
        shape = self.shape[: len(self.sigma)]
        return (
            self.kind,
            *(tuple(reversed(values)) for values in (shape, self.sigma, self.spacing, self.orders)),
            self.channels,
            native_type(self.source_type).char,
            native_type(self.target_type).char,
            self.mode,
            self.cval,
            self.approximation,
            self.backend,
            self.memory_limit,
            self.devices,
        )

    @property
    def is_copy(self) -> bool:
        return not any(self.sigma)

    @property
    def is_within_plane(self) -> bool:
        return self.shape[0] == 1 and self.sigma[0] == 0.0

    @property
    def reach(self) -> tuple[int, int]:
        if self.is_copy or self.sigma[0] == 0.0:
            return 0, 0
        ahead, padding = core().slab_shape(self.job)
        return ahead, padding

    def measure(self, planes: Any, slab: Slab) -> bytes:
        with Source(planes, slab.item, self.refuses_nan, slab.first + slab.count) as source:
            states: bytes = core().slab_end_states(self.job, source, slab.first, slab.count)
        return states

    def combine(self, measured: Sequence[bytes], slabs: Sequence[Slab]) -> list[bytes]:
        starts: list[bytes] = core().slab_start_states(self.job, tuple(measured), tuple(slab.first for slab in slabs))
        return starts

    def run(self, source: Source, target: Target, slab: Slab, whole: Any, progress: Progress | None) -> Report:
        if self.is_copy:
            return _copy(source, target, slab, progress)
        if self.is_within_plane:
            return self._run_within_plane(source, target, progress)
        report, used, reason = core().filter_slabs(self.job, source, target, progress, slab.first, slab.count, whole)
        return {**report, "backend_used": used.lower(), "backend_reason": reason}

    def _run_within_plane(self, source: Source, target: Target, progress: Progress | None) -> Report:
        """Filters an image of a single plane whose lines lie within that plane. The library cuts images along the last
        axis of more than one pixel, so that the rows of this plane are passed as planes."""
        plane = source.read(0, 1).astype(native_type(self.source_type), copy=False)
        result = np.empty(self.shape, native_type(self.target_type))
        # The library needs two axes or more. An image of two axes is transposed instead of dropping its first axis.
        is_line = len(self.sigma) == 2
        order = slice(None, None, -1) if is_line else slice(1, None)
        pixels, rows = (np.swapaxes(plane, 0, 1), np.swapaxes(result, 0, 1)) if is_line else (plane[0], result[0])
        of_rows = replace(
            self, items=(), shape=rows.shape, refuses_nan=False, sigma=self.sigma[order], spacing=self.spacing[order],
            orders=self.orders[order], source_type=plane.dtype, target_type=result.dtype,
        )
        report = of_rows.filter(pixels, rows, Slab((), 0, len(rows)), None, progress)
        target.write(0, truncate(result, self.target_type))
        return report


def _copy(source: Source, target: Target, slab: Slab, progress: Progress | None) -> Report:
    """Copies the source to the target, because no axis is filtered."""
    end = slab.first + slab.count
    for first in range(slab.first, end, CHUNK):
        read = source.read(first, min(CHUNK, end - first))
        target.write(first, np.array(truncate(read, target.dtype)))
        if progress is not None:
            progress(min(1.0, (first + CHUNK - slab.first) / slab.count))
    return {**_COPIED, "backend_used": "host", "backend_reason": "no axis is filtered"}


def gaussian_slabs(
    kind: Literal["filter", "gradient_magnitude", "laplace"],
    shape: tuple[int, ...],
    source_type: np.dtype[Any],
    target_type: np.dtype[Any],
    sigma: Any,
    order: Any,
    mode: Any,
    cval: Any,
    fwhm: Any,
    spacing: Any,
    axes: Any,
    channel_axis: int | None,
    valid_mask: Any,
    preserve_nan: Any,
    approximation: str,
    backend: str,
    memory_limit: int | str | None,
    name: str = "source",
    devices: Any = None,
) -> GaussianSlabs:
    """Checks the parameters of a Gaussian function of an image in slabs."""
    if valid_mask is not None:
        raise ValueError("valid_mask is given; images in slabs have none: call itk_cudafilters.gaussian_filter()")
    dimension = len(shape)
    channels = 1 if channel_axis is None else shape[_last_axis(channel_axis, dimension)]
    filtered = axes_to_filter(axes, None if channel_axis is None else dimension - 1, dimension)
    count = len(filtered)
    sigmas = sigmas_of(sigma, fwhm, count)
    spacings = spacings_of_slabs(spacing, count)
    rank = dimension - (channel_axis is not None)
    # Leading axes that are not filtered count items, as long as the others are three, of which one may be channels.
    items = 0
    while rank - items > 3 and all(axis != items or value == 0.0 for axis, value in zip(filtered, sigmas, strict=True)):
        items += 1
    if not 2 <= rank - items <= 4:
        raise ValueError(
            f"{name} has {rank} axes" + (" without that of the channels" if channel_axis is not None else "")
            + ("; it must have 2, 3 or 4" if rank < 2 else f", of which {rank - items} from the first filtered one on; these may be 2, 3 or 4: give axes=")
        )

    def along(values: Sequence[Any], other: Any) -> tuple[Any, ...]:
        """Expands values of the filtered axes to all axes of an item. The other axes get the value `other`."""
        found = dict(zip(filtered, values, strict=True))
        return tuple(found.get(axis, other) for axis in range(items, rank))

    modes = set(per_axis(mode, "mode", count, _mode)) or {"nearest"}
    if len(modes) > 1:
        raise ValueError(f"mode is {mode!r}; in slabs it must be one for all axes")
    (found_mode,) = modes
    if found_mode == "wrap":
        raise ValueError(
            "mode is 'wrap', which needs the last plane before the first; in slabs it must be reflect, nearest, mirror or constant"
        )
    found_cval = number(cval, "cval")
    if found_mode == "constant" and not math.isfinite(found_cval):
        raise ValueError(f"cval is {cval}; it must be finite")
    found_backend: Any = known_name("backend", backend, get_args(Backend))
    made = GaussianSlabs(
        items=shape[:items],
        shape=shape[items:],
        source_type=source_type,
        target_type=target_type,
        refuses_nan=switch(preserve_nan, "preserve_nan"),
        backend=found_backend,
        kind=kind,
        sigma=along(sigmas, 0.0),
        spacing=along(spacings, 1.0),
        orders=along(per_axis(order, "order", count, _order), 0),
        channels=channels,
        mode=found_mode,
        cval=found_cval,
        approximation=known_name("approximation", approximation, get_args(Approximation)),
        memory_limit=0 if memory_limit is None else bytes_of(memory_limit),
        devices=devices_of(devices),
    )
    _require_derivatives(made, filtered, rank, items)
    return made


def items_and_shape(axes: Any, shape: tuple[int, ...], name: str) -> tuple[tuple[int, ...], tuple[int, ...], list[int]]:
    """Returns the lengths of the axes that count items, those of the last two or three ones, which are filtered, and the
    filtered axes in the order in which they are given."""
    rank = len(shape)
    filtered = axes_to_filter(axes, None, rank)
    dimension = len(filtered)
    if dimension not in (2, 3):
        raise ValueError(f"{name} has {dimension} axes; it must have 2 or 3, or axes must name 2 or 3 of them")
    if sorted(filtered) != list(range(rank - dimension, rank)):
        raise ValueError(f"axes is {tuple(filtered)}; in slabs it must be the last axes of {name}, whose others count items")
    return shape[: rank - dimension], shape[rank - dimension :], filtered


def ordered_spacings(spacing: Any, filtered: Sequence[int]) -> tuple[float, ...]:
    """Returns the spacings, which are given in the order of the filtered axes, in the order of the array's axes."""
    spacings = dict(zip(filtered, spacings_of_slabs(spacing, len(filtered)), strict=True))
    return tuple(spacings[axis] for axis in sorted(filtered))


def _last_axis(channel_axis: int, dimension: int) -> int:
    if axis_of(channel_axis, dimension, "channel_axis") != dimension - 1:
        raise ValueError(f"channel_axis is {channel_axis}; in slabs it must be the last axis, {dimension - 1}, or None")
    return dimension - 1


def spacings_of_slabs(spacing: Any, count: int) -> list[float]:
    if spacing is None:
        return [1.0] * count
    if isinstance(spacing, str):
        raise ValueError(f"spacing is '{spacing}'; here it must be None, a number, or one for each axis")
    values = per_axis(spacing, "spacing", count, lambda value: number(value, "spacing"))
    if not all(math.isfinite(value) and value > 0.0 for value in values):
        raise ValueError(f"spacing is {spacing}; it must be finite and above 0")
    return values


def _require_derivatives(filter: GaussianSlabs, axes: Sequence[int], rank: int, items: int) -> None:
    """Raises ValueError for derivatives that slabs do not have."""
    if filter.kind == "filter":
        for axis, (sigma, order) in enumerate(zip(filter.sigma, filter.orders, strict=True), items):
            if order > 0 and sigma == 0.0:
                raise ValueError(f"sigma of axis {axis} is 0 and its order {order}; a derivative needs a sigma above 0")
    else:
        for axis in axes:
            if axis < items or filter.sigma[axis - items] == 0.0:
                raise ValueError(f"sigma of axis {axis} is 0; leave the axis out by axes=, or give it a sigma above 0")
        if rank - 1 not in axes:
            raise ValueError(f"axes is {tuple(axes)}; in slabs axis {rank - 1} must be one of them")
    takes_derivatives = filter.kind != "filter" or any(filter.orders)
    if filter.mode == "constant" and filter.cval != 0.0 and takes_derivatives and sum(map(bool, filter.sigma)) > 1:
        raise ValueError(
            f"cval is {filter.cval}; in slabs it must be 0 for derivatives, which depend on the order of the axes: "
            "call the function of itk_cudafilters for arrays"
        )

# SPDX-License-Identifier: Apache-2.0
"""Vesselness of images in slabs: the Hessians of each scale in slabs, and of their pixels the measures."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from ._arrays import axes_to_filter, number, positive, truncate
from ._gaussian import Approximation, _mode
from ._info import Backend
from ._library import core
from ._parameters import bytes_of, known_name, switch
from ._planes import Source, Target
from ._slabs import CHUNK, GaussianSlabs, Progress, Report, Slab, SlabFilter, spacings_of_slabs, sum_of
from ._vesselness import _SATO, Measure, _object_dimension, _sigmas, _tau

# Bytes of the responses that are computed together: one chunk of planes, or as many as these hold.
_GROUP_BYTES = 256 << 20


@dataclass(frozen=True)
class VesselnessSlabs(SlabFilter):
    """The largest response of a measure over several scales. `measure_plan` is that of `_core.vesselness`, without its
    scales, spacing, approximation and boundary."""

    measure_plan: tuple[Any, ...]
    sato: tuple[float, float, float]
    normalize: bool
    sigmas: tuple[float, ...]
    spacing: tuple[float, ...]
    mode: str
    cval: float
    approximation: str
    memory_limit: int

    @property
    def plan(self) -> tuple[Any, ...]:
        return (
            *self.measure_plan, self.sigmas, self.sato, tuple(reversed(self.spacing)), self.approximation, self.mode, self.cval,
        )

    @property
    def real(self) -> np.dtype[Any]:
        """The type in which Hessians and responses are computed."""
        wide = any(each.name in ("uint32", "int32", "uint64", "int64", "float64") for each in (self.source_type, self.target_type))
        found: np.dtype[Any] = np.dtype("float64" if wide else "float32")
        return found

    @property
    def components(self) -> int:
        dimension = len(self.shape)
        return dimension * (dimension + 1) // 2

    def hessian(self, sigma: float) -> GaussianSlabs:
        dimension = len(self.shape)
        return GaussianSlabs(
            items=self.items, shape=self.shape, source_type=self.source_type, target_type=self.real, refuses_nan=self.refuses_nan,
            backend=self.backend, kind="normalized_hessian" if self.normalize else "hessian", sigma=(sigma,) * dimension,
            spacing=self.spacing, orders=(0,) * dimension, channels=1, mode=self.mode, cval=self.cval,
            approximation=self.approximation, memory_limit=self.memory_limit,
        )

    @property
    def reach(self) -> tuple[int, int]:
        reaches = [self.hessian(sigma).reach for sigma in self.sigmas]
        return -1 if min(reaches)[0] < 0 else max(reaches)[0], max(padding for _, padding in reaches)

    @property
    def needs_whole(self) -> bool:
        """Whether the measure has a parameter that follows from the largest value of all Hessians of a scale."""
        needs: bool = core().hessian_measure(np.zeros((1, self.components)), np.zeros(1), self.plan, None)
        return needs

    def require_parts(self) -> None:
        for sigma in self.sigmas:
            if self.hessian(sigma).reach[0] < 0:
                raise ValueError(
                    f"sigmas has {sigma}, which reaches further than three chunks of {CHUNK} planes; in tasks all slabs of vesselness "
                    "need a smaller one along the first axis, which has spacing "
                    f"{self.spacing[0]}: call stream.vesselness() without scheduler"
                )

    def measure(self, planes: Any, slab: Slab) -> list[float]:
        with self.open_source(planes, slab) as source:
            return self._largest(source, slab, None)[0]

    def combine(self, measured: Sequence[list[float]], slabs: Sequence[Slab]) -> list[list[float]]:
        return [[max(of_scale) for of_scale in zip(*measured, strict=True)]] * len(slabs)

    def _groups(self, slab: Slab) -> list[Slab]:
        plane = math.prod(self.shape[1:]) * self.real.itemsize
        planes = max(1, _GROUP_BYTES // (plane * CHUNK)) * CHUNK
        end = slab.first + slab.count
        return [Slab(slab.item, first, min(planes, end - first)) for first in range(slab.first, end, planes)]

    def _largest(self, source: Source, slab: Slab, progress: Progress | None) -> tuple[list[float], list[Report]]:
        """Returns the largest value of the quantity that sets the measure's parameter, at each scale."""
        largest = [0.0] * len(self.sigmas)
        reports = []
        for sweep in _Sweep(self, source, self._groups(slab), progress):
            for i, sigma in enumerate(self.sigmas):

                def compare(first: int, values: npt.NDArray[Any], i: int = i) -> None:
                    finite = values[np.isfinite(values)]
                    largest[i] = max(largest[i], float(finite.max(initial=0.0)))

                reports.append(sweep.run(i, sigma, None, compare))
        return largest, reports

    def run(self, source: Source, target: Target, slab: Slab, whole: Any, progress: Progress | None) -> Report:
        reports: list[Report] = []
        begin = 0.0
        if whole is None and self.needs_whole:
            begin = 0.5
            whole, reports = self._largest(source, slab, None if progress is None else lambda share: progress(0.5 * share))
        part = None if progress is None else lambda share: progress(begin + (1.0 - begin) * share)
        for sweep in _Sweep(self, source, self._groups(slab), part):
            group = sweep.group
            best = np.zeros((group.count, *self.shape[1:]), self.real)

            def keep(first: int, values: npt.NDArray[Any], best: npt.NDArray[Any] = best, group: Slab = group) -> None:
                so_far = best[first - group.first : first - group.first + len(values)]
                np.copyto(so_far, values, where=values > so_far)

            for i, sigma in enumerate(self.sigmas):
                reports.append(sweep.run(i, sigma, whole[i] if whole else 0.0, keep))
            target.write(group.first, truncate(best, target.dtype).astype(target.dtype, copy=False))
        return sum_of(reports)


class _Sweep:
    """Runs the scales of groups of planes. It keeps the planes that several scales and the next group read, so that each
    plane of the source is read once, unless all of a line counts."""

    def __init__(self, filter: VesselnessSlabs, source: Source, groups: list[Slab], progress: Progress | None) -> None:
        self._filter = filter
        self._source = source
        self._groups = groups
        self._progress = progress
        self._states = [core().slab_states() if filter.hessian(sigma).reach[0] < 0 else None for sigma in filter.sigmas]
        self._ahead = max(0, max(filter.hessian(sigma).reach[0] for sigma in filter.sigmas))
        self._chunks: dict[int, npt.NDArray[Any]] = {}
        self._planes: dict[int, npt.NDArray[Any]] = {}
        self._done = 0

    def __iter__(self) -> Any:
        for self.group in self._groups:
            first = self.group.first // CHUNK - self._ahead
            last = -(-(self.group.first + self.group.count) // CHUNK) + self._ahead
            self._range = range(max(0, first), last)
            self._chunks = {i: planes for i, planes in self._chunks.items() if i in self._range}
            yield self

    def run(self, number: int, sigma: float, largest: float | None, take: Any) -> Report:
        """Calls take(first plane, values) with the measure of the Hessians of a scale, or with the quantity that sets its
        parameter if `largest` is None."""
        filter, group = self._filter, self.group

        def measure(first: int, count: int, memory: memoryview) -> None:
            values = np.empty((count, *filter.shape[1:]), filter.real)
            core().hessian_measure(
                np.frombuffer(memory, filter.real).reshape(-1, filter.components), values, filter.plan, largest
            )
            take(first, values)

        steps = len(filter.sigmas) * len(self._groups)
        progress = None
        if self._progress is not None:
            show, done = self._progress, self._done
            progress = lambda share: show((done + share) / steps)  # noqa: E731
        job = filter.hessian(sigma).job
        report, used, reason = core().filter_slabs(job, self._read, measure, progress, group.first, group.count, self._states[number])
        self._done += 1
        return {**report, "backend_used": used.lower(), "backend_reason": reason}

    def _read(self, first: int, count: int, memory: memoryview) -> None:
        at = 0
        while at < count:
            chunk = (first + at) // CHUNK
            inside = first + at - chunk * CHUNK
            taken = min(count - at, CHUNK - inside)
            self._source.copy(self._take(chunk, inside, taken), at, count, memory)
            at += taken

    def _take(self, chunk: int, inside: int, count: int) -> npt.NDArray[Any]:
        if chunk in self._range:
            if chunk not in self._chunks:
                self._chunks[chunk] = self._source.read(chunk * CHUNK, min(CHUNK, self._source.shape[0] - chunk * CHUNK))
            return self._chunks[chunk][inside : inside + count]
        plane = chunk * CHUNK + inside
        if count > 1:
            return self._source.read(plane, count)
        if plane not in self._planes:
            self._planes[plane] = self._source.read(plane, 1).copy()
        return self._planes[plane]


def vesselness_slabs(
    shape: tuple[int, ...],
    source_type: np.dtype[Any],
    target_type: np.dtype[Any],
    sigmas: Any,
    measure: Any,
    object_dimension: Any,
    bright: Any,
    normalize: Any,
    alpha: Any,
    beta: Any,
    gamma: Any,
    tau: Any,
    mode: Any,
    cval: Any,
    spacing: Any,
    axes: Any,
    preserve_nan: Any,
    approximation: str,
    backend: str,
    memory_limit: int | str | None,
    name: str = "source",
) -> VesselnessSlabs:
    """Checks the parameters of vesselness of an image in slabs."""
    rank = len(shape)
    filtered = axes_to_filter(axes, None, rank)
    dimension = len(filtered)
    if dimension not in (2, 3):
        raise ValueError(f"{name} has {dimension} axes; it must have 2 or 3, or axes must name 2 or 3 of them")
    if sorted(filtered) != list(range(rank - dimension, rank)):
        raise ValueError(f"axes is {tuple(filtered)}; in slabs it must be the last axes of {name}, whose others count items")
    found_mode = _mode(mode)
    if found_mode == "wrap":
        raise ValueError(
            "mode is 'wrap', which needs the last plane before the first; in slabs it must be reflect, nearest, mirror or constant"
        )
    found_cval = number(cval, "cval")
    if found_mode == "constant" and not math.isfinite(found_cval):
        raise ValueError(f"cval is {cval}; it must be finite")
    if found_mode == "constant" and found_cval != 0.0:
        raise ValueError(f"cval is {cval}; in slabs it must be 0 for derivatives, which depend on the order of the axes")
    found_backend: Any = known_name("backend", backend, get_args(Backend))
    spacings = dict(zip(filtered, spacings_of_slabs(spacing, dimension), strict=True))
    return VesselnessSlabs(
        items=shape[: rank - dimension],
        shape=shape[rank - dimension :],
        source_type=source_type,
        target_type=target_type,
        refuses_nan=switch(preserve_nan, "preserve_nan"),
        backend=found_backend,
        measure_plan=(
            known_name("measure", measure, get_args(Measure)),
            _object_dimension(object_dimension, dimension),
            switch(bright, "bright"),
            switch(normalize, "normalize"),
            positive(alpha, "alpha"),
            positive(beta, "beta"),
            math.nan if gamma is None else positive(gamma, "gamma"),
            _tau(tau),
        ),
        sato=getattr(measure, "parameters", _SATO),
        normalize=bool(normalize),
        sigmas=tuple(_sigmas(sigmas)),
        spacing=tuple(spacings[axis] for axis in sorted(filtered)),
        mode=found_mode,
        cval=found_cval,
        approximation=known_name("approximation", approximation, get_args(Approximation)),
        memory_limit=0 if memory_limit is None else bytes_of(memory_limit),
    )

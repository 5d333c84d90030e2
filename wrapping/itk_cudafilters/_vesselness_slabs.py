# SPDX-License-Identifier: Apache-2.0
"""Vesselness of images in slabs: the Hessians of each scale in slabs, and of their pixels the measures."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from ._arrays import number, positive, truncate
from ._gaussian import Approximation, _mode
from ._info import Backend
from ._library import core
from ._parameters import bytes_of, devices_of, known_name, switch
from ._planes import Source, Target
from ._slabs import CHUNK, GaussianSlabs, KeptChunks, Progress, Report, Slab, SlabChain, items_and_shape, ordered_spacings, sum_of
from ._vesselness import _SATO, Measure, _object_dimension, _sigmas, _tau


@dataclass(frozen=True)
class VesselnessSlabs(SlabChain):
    """The largest response of a measure over several scales. `measure_plan` is that of `_core.vesselness`, without its
    scales, spacing, approximation and boundary."""

    measure_plan: tuple[Any, ...]
    sato: tuple[float, float, float]
    normalize: bool
    sigmas: tuple[float, ...]

    @property
    def plan(self) -> tuple[Any, ...]:
        return (
            *self.measure_plan, self.sigmas, self.sato, tuple(reversed(self.spacing)), self.approximation, self.mode, self.cval,
        )

    @property
    def tensor_components(self) -> int:
        dimension = len(self.shape)
        return dimension * (dimension + 1) // 2

    def hessian(self, sigma: float) -> GaussianSlabs:
        return self.gaussian("normalized_hessian" if self.normalize else "hessian", sigma, self.source_type)

    @property
    def reach(self) -> tuple[int, int]:
        reaches = [self.hessian(sigma).reach for sigma in self.sigmas]
        return -1 if min(reaches)[0] < 0 else max(reaches)[0], max(padding for _, padding in reaches)

    @property
    def needs_whole(self) -> bool:
        """Whether the measure has a parameter that follows from the largest value of all Hessians of a scale."""
        needs: bool = core().hessian_measure(np.zeros((1, self.tensor_components)), np.zeros(1), self.plan, None)
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

    def _largest(self, source: Source, slab: Slab, progress: Progress | None) -> tuple[list[float], list[Report]]:
        """Returns the largest value of the quantity that sets the measure's parameter, at each scale."""
        largest = [0.0] * len(self.sigmas)
        reports = []
        for sweep in _Sweep(self, source, self.groups(slab), progress):
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
        for sweep in _Sweep(self, source, self.groups(slab), part):
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
        self._kept = KeptChunks(filter.shape[0], source.read, source.copy)
        self._groups = groups
        self._progress = progress
        self._states = [core().slab_states() if filter.hessian(sigma).reach[0] < 0 else None for sigma in filter.sigmas]
        self._ahead = max(0, max(filter.hessian(sigma).reach[0] for sigma in filter.sigmas))
        self._done = 0

    def __iter__(self) -> Any:
        for self.group in self._groups:
            self._kept.keep(self._filter.chunks_around(self.group, self._ahead))
            yield self

    def run(self, number: int, sigma: float, largest: float | None, take: Any) -> Report:
        """Calls take(first plane, values) with the measure of the Hessians of a scale, or with the quantity that sets its
        parameter if `largest` is None."""
        filter, group = self._filter, self.group

        def measure(first: int, count: int, memory: memoryview) -> None:
            values = np.empty((count, *filter.shape[1:]), filter.real)
            core().hessian_measure(
                np.frombuffer(memory, filter.real).reshape(-1, filter.tensor_components), values, filter.plan, largest
            )
            take(first, values)

        steps = len(filter.sigmas) * len(self._groups)
        progress = None
        if self._progress is not None:
            show, done = self._progress, self._done
            progress = lambda share: show((done + share) / steps)  # noqa: E731
        job = filter.hessian(sigma).job
        report, used, reason = core().filter_slabs(job, self._kept.read, measure, progress, group.first, group.count, self._states[number])
        self._done += 1
        return {**report, "backend_used": used.lower(), "backend_reason": reason}


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
    devices: Any = None,
) -> VesselnessSlabs:
    """Checks the parameters of vesselness of an image in slabs."""
    items, of_item, filtered = items_and_shape(axes, shape, name)
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
    return VesselnessSlabs(
        items=items,
        shape=of_item,
        source_type=source_type,
        target_type=target_type,
        refuses_nan=switch(preserve_nan, "preserve_nan"),
        backend=found_backend,
        measure_plan=(
            known_name("measure", measure, get_args(Measure)),
            _object_dimension(object_dimension, len(of_item)),
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
        spacing=ordered_spacings(spacing, filtered),
        mode=found_mode,
        cval=found_cval,
        approximation=known_name("approximation", approximation, get_args(Approximation)),
        memory_limit=0 if memory_limit is None else bytes_of(memory_limit),
        devices=devices_of(devices),
    )

# SPDX-License-Identifier: Apache-2.0
"""Structure tensors of images in slabs: derivatives in slabs, their products, and these smoothed in slabs."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from ._arrays import positive, truncate
from ._gaussian import Approximation
from ._info import Backend
from ._library import core
from ._parameters import bytes_of, devices_of, known_name
from ._planes import Source, Target
from ._slabs import CHUNK, GaussianSlabs, KeptChunks, Progress, Report, Slab, SlabChain, items_and_shape, ordered_spacings, sum_of
from ._structure_tensor import components_of, require_long_lines


@dataclass(frozen=True)
class StructureTensorSlabs(SlabChain):
    """Structure tensors, or their eigenvalues. The library's tensors have x first."""

    sigma: float
    integration_sigma: float
    with_eigenvalues: bool

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The axes of the components."""
        return components_of(len(self.shape))

    @property
    def components(self) -> tuple[int, ...]:
        return (len(self.shape) if self.with_eigenvalues else len(self.pairs),)

    @property
    def gradient(self) -> GaussianSlabs:
        return self.gaussian("gradient", self.sigma, self.source_type)

    @property
    def smoothing(self) -> GaussianSlabs:
        return self.gaussian("filter", self.integration_sigma, self.real, len(self.pairs))

    @property
    def reach(self) -> tuple[int, int]:
        return self.gradient.reach[0] + self.smoothing.reach[0], 0

    def reads(self, slab: Slab) -> list[tuple[int, int]]:
        """Lines begin with their first value, so that a slab needs the derivatives at the first plane."""
        return [*super().reads(slab), (0, min(self.shape[0], (1 + self.gradient.reach[0]) * CHUNK))]

    def require_parts(self) -> None:
        for name, sigma, filter in (
            ("sigma", self.sigma, self.gradient),
            ("integration_sigma", self.integration_sigma, self.smoothing),
        ):
            if filter.reach[0] < 0:
                raise ValueError(
                    f"{name} is {sigma}, which reaches further than three chunks of {CHUNK} planes; slabs of structure tensors need a "
                    f"smaller one along the first axis, which has spacing {self.spacing[0]}: call itk_cudafilters.structure_tensor() with "
                    "an array of NumPy"
                )

    def run(self, source: Source, target: Target, slab: Slab, whole: Any, progress: Progress | None) -> Report:
        self.require_parts()
        run = _Run(self, source)
        reports: list[Report] = []
        groups = self.groups(slab, len(self.pairs))
        for number, group in enumerate(groups):
            reports += run.derive(group)
            tensors, report = run.smooth(group)
            reports.append(report)
            target.write(group.first, self._results(tensors))
            if progress is not None:
                progress((number + 1) / len(groups))
        return sum_of(reports)

    def _results(self, tensors: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns what the target gets, of tensors with x first."""
        last = len(self.shape) - 1
        if self.with_eigenvalues:
            results = np.empty((*tensors.shape[:-1], last + 1), self.real)
            core().eigenvalues(tensors, results)
        else:
            results = tensors[..., [self.pairs.index((last - j, last - i)) for i, j in self.pairs]]
        stored: npt.NDArray[Any] = truncate(results, self.target_type).astype(self.target_type, copy=False)
        return stored


class _Run:
    """Runs the groups of a slab. It keeps the planes and the products that two groups need."""

    def __init__(self, filter: StructureTensorSlabs, source: Source) -> None:
        self._filter = filter
        self._planes = KeptChunks(filter.shape[0], source.read, source.copy)
        self._products = KeptChunks(filter.shape[0], self._load, self._copy)

    def _load(self, first: int, count: int) -> npt.NDArray[Any]:
        raise AssertionError(f"the products of planes {first} to {first + count - 1} are not computed")

    def _copy(self, products: npt.NDArray[Any], first: int, count: int, memory: memoryview) -> None:
        filter = self._filter
        shape = (count, *filter.shape[1:], len(filter.pairs))
        np.frombuffer(memory, filter.real).reshape(shape)[first : first + len(products)] = products

    def derive(self, group: Slab) -> list[Report]:
        """Computes the products of derivatives in the chunks that the group's results depend on, and are not there yet."""
        filter = self._filter
        wanted = filter.chunks_around(group, filter.smoothing.reach[0])
        self._products.keep(wanted)
        missing = [chunk for chunk in wanted if chunk not in self._products.chunks]
        reports = []
        if wanted[0] > 0 and not self._products.has_plane(0):
            first: dict[int, npt.NDArray[Any]] = {}
            reports.append(self._derive(range(1), first))
            self._products.keep_plane(0, first[0][:1].copy())
        if missing:
            reports.append(self._derive(range(missing[0], missing[-1] + 1), self._products.chunks))
        if 0 in self._products.chunks:
            self._products.keep_plane(0, self._products.chunks[0][:1].copy())
        return reports

    def _derive(self, chunks: range, found: dict[int, npt.NDArray[Any]]) -> Report:
        filter = self._filter
        first = chunks[0] * CHUNK
        count = min(filter.shape[0], (chunks[-1] + 1) * CHUNK) - first
        dimension = len(filter.shape)
        for chunk in chunks:
            planes = min(CHUNK, filter.shape[0] - chunk * CHUNK)
            found[chunk] = np.empty((planes, *filter.shape[1:], len(filter.pairs)), filter.real)

        def multiply(begin: int, planes: int, memory: memoryview) -> None:
            gradient = np.frombuffer(memory, filter.real).reshape(planes, *filter.shape[1:], dimension)
            at = 0
            while at < planes:
                chunk, inside = divmod(begin + at, CHUNK)
                taken = min(planes - at, CHUNK - inside)
                products, part = found[chunk][inside : inside + taken], gradient[at : at + taken]
                for component, (i, j) in enumerate(filter.pairs):
                    np.multiply(part[..., i], part[..., j], out=products[..., component])
                at += taken

        group = Slab((), first, count)
        self._planes.keep(filter.chunks_around(group, filter.gradient.reach[0]))
        return _filter_slabs(filter.gradient, self._planes, multiply, group)

    def smooth(self, group: Slab) -> tuple[npt.NDArray[Any], Report]:
        filter = self._filter
        tensors = np.empty((group.count, *filter.shape[1:], len(filter.pairs)), filter.real)

        def keep(begin: int, planes: int, memory: memoryview) -> None:
            at = begin - group.first
            tensors[at : at + planes] = np.frombuffer(memory, filter.real).reshape(planes, *tensors.shape[1:])

        report = _filter_slabs(filter.smoothing, self._products, keep, group)
        return tensors, report


def _filter_slabs(filter: GaussianSlabs, kept: KeptChunks, take: Any, slab: Slab) -> Report:
    report, used, reason = core().filter_slabs(filter.job, kept.read, take, None, slab.first, slab.count, None)
    return {**report, "backend_used": used.lower(), "backend_reason": reason}


def structure_tensor_slabs(
    shape: tuple[int, ...],
    source_type: np.dtype[Any],
    target_type: np.dtype[Any],
    sigma: Any,
    integration_sigma: Any,
    with_eigenvalues: bool,
    spacing: Any,
    axes: Any,
    approximation: Any,
    backend: Any,
    memory_limit: int | str | None,
    name: str = "source",
    devices: Any = None,
) -> StructureTensorSlabs:
    """Checks the parameters of structure tensors of an image in slabs."""
    items, of_item, filtered = items_and_shape(axes, shape, name)
    require_long_lines(of_item, name)
    found_backend: Any = known_name("backend", backend, get_args(Backend))
    made = StructureTensorSlabs(
        items=items,
        shape=of_item,
        source_type=source_type,
        target_type=target_type,
        refuses_nan=True,
        backend=found_backend,
        spacing=ordered_spacings(spacing, filtered),
        mode="nearest",
        cval=0.0,
        approximation=known_name("approximation", approximation, get_args(Approximation)),
        memory_limit=0 if memory_limit is None else bytes_of(memory_limit),
        devices=devices_of(devices),
        sigma=positive(sigma, "sigma"),
        integration_sigma=positive(integration_sigma, "integration_sigma"),
        with_eigenvalues=with_eigenvalues,
    )
    made.require_parts()
    return made

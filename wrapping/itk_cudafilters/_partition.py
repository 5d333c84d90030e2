# SPDX-License-Identifier: Apache-2.0
"""Whole images divided into polygonal regions."""
from __future__ import annotations

import importlib
import inspect
import math
import operator
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, get_args

import itk
import numpy as np
import numpy.typing as npt

from ._arrays import number as as_number
from ._images import (
    as_itk_image,
    as_itk_labels,
    as_itk_mask,
    describe,
    first_index_of,
    is_xarray,
    like,
    pixels_of,
    with_first_index,
    with_geometry_of,
)
from ._info import Backend, _backend_name, may_use_gpu
from ._parameters import library_errors, set_parameter
from ._progress import progress_bar
from ._segmentation import ImageLike, _snake_case, known_name, noise_laws, one_looks, plain_name, threshold_of

IMAGES_AT_ONCE_ON_GPU = 48
"""A run waits for the host between launches, and the GPU works on other images meanwhile. On an H200 a hundred images of
500 x 500 pixels take 71 ms with 16 at once, 58 with 32, 55 with 48, 53 with 64 and 55 with 100."""

Rings = list[npt.NDArray[np.float64]]
"""Vertices of a polygon, N x 2: the outer ring, then the holes. The first vertex is not repeated."""


@dataclass(frozen=True)
class PartitionStatistics:
    """What is known of a partition besides its labels, polygons and table."""

    law: str
    number_of_looks: float
    """The number given, or estimated; 1 for laws without looks."""
    description: float
    """D, the length of the image's description by this partition, in nats."""
    description_of_one_region: float
    """D of the image as one region."""
    number_of_iterations: int
    stop: str
    """converged, maximum_number_of_iterations or labels_only."""
    backend: Backend
    """Where the label map and the gains of changes were computed: cuda or host."""
    backend_reason: str


@dataclass(frozen=True)
class _Geometry:
    """Where pixels lie: a corner of pixels, (0, 0) being the first pixel's outer one, has the physical place offset + matrix @
    corner."""

    offset: npt.NDArray[np.float64] = field(default_factory=lambda: np.full(2, -0.5))
    matrix: npt.NDArray[np.float64] = field(default_factory=lambda: np.eye(2))

    @classmethod
    def of(cls, image: Any) -> _Geometry:
        matrix = itk.array_from_matrix(image.GetDirection()) * np.array(image.GetSpacing())
        first = np.array(list(image.GetLargestPossibleRegion().GetIndex()), np.float64)
        return cls(np.array(image.GetOrigin()) + matrix @ (first - 0.5), matrix)

    @property
    def is_mirrored(self) -> bool:
        return bool(np.linalg.det(self.matrix) < 0.0)

    def place(self, corners: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(self.offset + corners @ self.matrix.T)


@dataclass(frozen=True, eq=False, repr=False)
class Partition(Generic[ImageLike]):
    """An image divided into regions, which count from 1."""

    labels: ImageLike
    """The number of each pixel's region, uint32, and 0 where pixels are not valid; of the kind of the image that was divided, with
    its geometry or coordinates."""
    statistics: PartitionStatistics
    _map: Any = field(repr=False)
    """The itk.CudaRegionPartition."""
    _geometry: _Geometry = field(repr=False)
    _means_of_pixels: npt.NDArray[np.float64] | None = field(default=None, repr=False)
    """By region, for the law bernoulli: with a threshold its table has the shares of ones."""

    def __reduce__(self) -> tuple[Any, ...]:
        """The parts that pickle, copy.deepcopy() and process pools make an equal partition of."""
        state = self._map._get_state()
        parts = self.labels, first_index_of(self.labels), self.statistics, state, self._geometry, self._means_of_pixels
        return _restore_partition, parts

    def __len__(self) -> int:
        """The number of regions."""
        return int(self._map.GetNumberOfRegions())

    @property
    def table(self) -> dict[str, npt.NDArray[Any]]:
        """A row for each region, as a dictionary of columns; pandas.DataFrame() takes it.

        region; pixels (valid ones); mean, mean_square and variance of the pixels, for the law log_normal of their logarithm, for
        bernoulli with a foreground_threshold the share of ones;
        area and perimeter of the polygon in pixels; x_min, y_min, x_max, y_max of its corners, so that an array's rows from y_min
        to y_max - 1 and columns from x_min to x_max - 1 hold it; number_of_neighbours; description in nats, without the boundary,
        and not a number for regions that merge() has made.
        """
        regions = self._map.GetRegions()

        def column(name: str, kind: Any = np.float64) -> npt.NDArray[Any]:
            return np.array([region[name] for region in regions], kind)

        boxes = np.array([region["bounding_box"] for region in regions], np.int64).reshape(-1, 4)
        return {
            "region": np.arange(1, len(regions) + 1),
            "pixels": column("number_of_pixels", np.int64),
            **{name: column(name) for name in ("mean", "mean_square", "variance", "area", "perimeter")},
            **dict(zip(("x_min", "y_min", "x_max", "y_max"), boxes.T.copy())),
            "number_of_neighbours": np.array([len(region["neighbors"]) for region in regions], np.int64),
            "description": column("description"),
        }

    @property
    def neighbours(self) -> list[list[int]]:
        """The numbers of each region's neighbours, ascending; those of region 1 come first."""
        return [list(region["neighbors"]) for region in self._map.GetRegions()]

    @property
    def polygons(self) -> list[Rings]:
        """The rings of each region, N x 2: x and y in physical space. Those of region 1 come first.

        The outer ring goes counter-clockwise in x, y, holes go clockwise, and neighbours have the same vertices along their
        boundary. `shapely.Polygon(rings[0], rings[1:])` is the polygon in shapely. Without polygons (labels_only) the lists are
        empty.
        """
        return list(self._rings("physical"))

    @property
    def polygons_in_pixels(self) -> list[Rings]:
        """The same as x and y in pixels: (0, 0) is the centre of the first pixel, whatever the spacing and origin."""
        return list(self._rings("pixel"))

    @property
    def nodes(self) -> npt.NDArray[np.float64]:
        """The vertices of all polygons, N x 2: x and y in physical space."""
        return self._geometry.place(np.array(self._map.GetNodes(), np.float64).reshape(-1, 2))

    @property
    def nodes_in_pixels(self) -> npt.NDArray[np.float64]:
        """The same in pixels, as `polygons_in_pixels`."""
        return np.array(self._map.GetNodes(), np.float64).reshape(-1, 2) - 0.5

    @property
    def edges(self) -> npt.NDArray[np.uint32]:
        """The straight boundaries, N x 4: start and end, as indices of nodes, and the regions on the left and on the right with x
        to the right and y upwards, as indices of pixels go. Region 0 is outside of the image."""
        return np.array(self._map.GetEdges(), np.uint32).reshape(-1, 4)

    @property
    def merges(self) -> dict[str, npt.NDArray[Any]]:
        """The tree: region `second` becomes a part of region `first`, and the description changes by `change` nats."""
        steps = self._map.GetMerges()
        first, second, change = zip(*steps) if steps else ((), (), ())
        return {
            "first": np.array(first, np.uint32),
            "second": np.array(second, np.uint32),
            "change": np.array(change, np.float64),
        }

    @property
    def means(self) -> ImageLike:
        """The image with each pixel replaced by the mean of its region, float32; not a number where pixels are not valid.

        For the law log_normal, whose means are those of logarithms, the geometric mean. For bernoulli the mean of the image's values,
        also with a foreground_threshold.
        """
        means = self.table["mean"] if self._means_of_pixels is None else self._means_of_pixels
        values = np.concatenate([[np.nan], np.exp(means) if self.statistics.law == "log_normal" else means])
        means_of_pixels: ImageLike = self._like_labels(values.astype(np.float32)[pixels_of(self.labels)], "means")
        return means_of_pixels

    @library_errors
    def merge(self, nats: float | None = None, number: int | None = None) -> Partition[ImageLike]:
        """A partition of fewer regions, by the tree of merges.

        With `nats`, regions are merged in the order of the tree until a merge would add more than that to the description. With
        `number`, until so many regions are left. One of them has to be given. Merged regions have the place of their smallest
        number, and regions count from 1 without gaps.
        """
        if (nats is None) == (number is None):
            raise ValueError("merge() takes nats or number, one of them")
        if nats is not None:
            most = as_number(nats, "nats")
            if math.isnan(most):
                raise ValueError(f"nats is {nats}; it must be a number")
            regions, merged = self._map.GetRegionsAfterMerges(most), self._map.GetMerged(most)
        else:
            left = _whole(number, "number")
            if left < 1:
                raise ValueError(f"number is {number}; it must be 1 or more")
            left = min(left, max(1, len(self)))  # more are not merged, either
            regions, merged = self._map.GetRegionsAfterMergesTo(left), self._map.GetMergedTo(left)
        # Numbers that are left, 0 among them, become 0, 1, 2, ...
        numbers = np.unique(np.array(regions), return_inverse=True)[1].reshape(-1).astype(np.uint32)
        means = self._means_of_pixels
        if means is not None:
            pixels = self.table["pixels"]
            sums, counts = (np.bincount(numbers[1:], weights=each)[1:] for each in (means * pixels, pixels))
            means = sums / counts
        return replace(
            self,
            labels=self._like_labels(numbers[pixels_of(self.labels)], "labels"),
            statistics=replace(self.statistics, description=merged.GetDescription()),
            _map=merged,
            _means_of_pixels=means,
        )

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """A GeoJSON collection of the polygons in physical units, with the table."""
        return {"type": "FeatureCollection", "features": self._features("physical")}

    def _rings(self, coordinates: str) -> Iterator[Rings]:
        physical = coordinates == "physical"
        for number in range(1, len(self) + 1):
            rings = [np.array(ring, np.float64).reshape(-1, 2) for ring in self._map.GetRings(number)]
            if physical and self._geometry.is_mirrored:
                rings = [np.concatenate([ring[:1], ring[:0:-1]]) for ring in rings]
            yield [self._geometry.place(ring) if physical else ring - 0.5 for ring in rings]

    def _features(self, coordinates: str) -> list[dict[str, Any]]:
        table = {name: column.tolist() for name, column in self.table.items()}
        neighbours = self.neighbours
        features = []
        for index, rings in enumerate(self._rings(coordinates)):
            properties = {name: _json_number(column[index]) for name, column in table.items()}
            properties["neighbours"] = neighbours[index]
            features.append({"type": "Feature", "properties": properties, "geometry": _geometry_of(rings)})
        return features

    def _summary(self) -> dict[str, Any]:
        """What files and reports say of the whole."""
        return {
            "law": self.statistics.law,
            "number_of_looks": self.statistics.number_of_looks,
            "regions": len(self),
            "nodes": int(self._map.GetNumberOfNodes()),
            "edges": int(self._map.GetNumberOfEdges()),
            "description": self.statistics.description,
            "description_of_one_region": self.statistics.description_of_one_region,
        }

    def _like_labels(self, pixels: npt.NDArray[Any], name: str) -> Any:
        if is_xarray(self.labels):
            labels: Any = self.labels
            return labels.copy(data=pixels).rename(name)
        return with_geometry_of(self.labels, np.ascontiguousarray(pixels)) if isinstance(self.labels, itk.Object) else pixels

    def __repr__(self) -> str:
        return (
            f"<Partition by the law {self.statistics.law}: {len(self)} regions, {self._map.GetNumberOfNodes()} nodes, "
            f"{self.statistics.description:.0f} nats instead of {self.statistics.description_of_one_region:.0f}>"
        )


def _restore_partition(
    labels: Any,
    index: tuple[int, ...] | None,
    statistics: PartitionStatistics,
    state: bytes,
    geometry: _Geometry,
    means: npt.NDArray[np.float64] | None,
) -> Partition[Any]:
    restored: Any = itk.CudaRegionPartition.New()
    restored._set_state(state)
    return Partition(with_first_index(labels, index), statistics, restored, geometry, means)


def _whole(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it must be a whole number") from None


def _json_number(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _geometry_of(rings: Rings) -> dict[str, Any] | None:
    """A GeoJSON polygon, or one of several parts, of which each begins with an outer ring."""
    parts: list[list[list[list[float]]]] = []
    for ring in rings:
        closed = np.concatenate([ring, ring[:1]])
        x, y = (closed - closed[0]).T
        if np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]) > 0.0:
            parts.append([])
        parts[-1].append(closed.tolist())
    if len(parts) > 1:
        return {"type": "MultiPolygon", "coordinates": parts}
    return {"type": "Polygon", "coordinates": parts[0]} if parts else None


@library_errors
def partition_image(
    image: ImageLike,
    law: str,
    looks: float | None = None,
    segment_cost: float = 9.0,
    *,
    number_of_looks: float | None = None,
    foreground_threshold: float | None = None,
    block_size: int = 4,
    minimum_number_of_pixels: int = 8,
    maximum_number_of_iterations: int = 12,
    allow_merging: bool = True,
    labels_only: bool = False,
    valid_mask: Any = None,
    initial_labels: Any = None,
    backend: Backend = "automatic",
    device_index: int = -1,
    progress: bool = False,
) -> Partition[ImageLike]:
    """Divides a whole image into homogeneous polygonal regions by the shortest description.

    The pixels of each region are taken as independent samples of one distribution, the law, whose parameters are estimated.
    How many regions there are, and how many nodes their boundaries have, follows from the length of a description of the
    image. itk.CudaRegionPartitionImageFilter computes it; its documentation has the formula and the references.

    Names of laws and backends are compared without case, '_' and '-'.

    Parameters
    ----------
    image
        Two-dimensional itk.Image, NumPy array (spacing 1, origin 0) or xarray.DataArray, of uint8, uint16, int16 or
        float32; bool and float64 are converted. Coordinates of a DataArray are evenly spaced and rise or fall; an axis
        without coordinates counts from 0.
    law
        Name of one of noise_laws(): for example gamma for the intensity of radar images, rayleigh for their amplitude,
        gaussian for photographs and magnetic resonance.
    looks
        The number of independent looks per pixel, for the laws gamma and rayleigh. It is below 1 where the speckle of
        neighbouring pixels is correlated. None, or 0, estimates it from the image. A number that is too large makes regions
        of speckle.
    number_of_looks
        Another name of `looks`.
    segment_cost
        What a straight boundary between two regions costs, in nats. A larger cost gives fewer nodes and fewer small regions.
    foreground_threshold
        For the law bernoulli: pixels above it are ones. None for images of 0 and one other value.
    block_size
        Side of the blocks that the search starts from, in pixels; 2 is right for magnetic resonance.
    minimum_number_of_pixels
        Pixels below which no move of a boundary may bring a region.
    maximum_number_of_iterations
        Iterations on the polygons.
    allow_merging
        Whether polygons may be merged; False keeps every part of initial_labels.
    labels_only
        Whether to stop before the polygons, with a label map whose boundaries follow the sides of pixels.
    valid_mask
        Image or array of the same size: pixels where it is 0 belong to no region. A DataArray is aligned with that of the image by its
        coordinates, or refused. The geometry of an itk.Image must be that of the image within ITK's tolerances; one of origin 0,
        spacing 1 and no rotation takes the image's.
    initial_labels
        Image or array of the same size, of integers: a segmentation to start from. Each of its 4-connected parts is a region.
        With allow_merging=False and maximum_number_of_iterations=1 it becomes polygons that share their edges.
    backend, device_index
        Where to compute: automatic, cuda or host. With cuda the label map and what changes of the polygons gain are computed on the
        GPU. The result is the same.
    progress
        Whether to show a progress bar, for which the package tqdm is needed.

    Returns
    -------
    Partition
        labels, polygons, table, merges, means and statistics.

    Raises
    ------
    TypeError, ValueError
        The image is of a kind, a dimension or a pixel type that cannot be divided, or a name is unknown.
        A parameter is wrong, or pixels are out of the law's range.
    RuntimeError
        The GPU was demanded and cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> mean = np.ones((100, 120), np.float32)
    >>> mean[30:70, 40:80] = 4
    >>> found = partition_image(rng.exponential(mean).astype(np.float32), law="gamma", looks=1)
    >>> len(found), len(found.polygons[0])
    (2, 2)
    """
    divider = _Divider(
        image,
        {
            "law": law,
            "looks": one_looks(looks, number_of_looks),
            "segment_cost": segment_cost,
            "foreground_threshold": foreground_threshold,
            "block_size": block_size,
            "minimum_number_of_pixels": minimum_number_of_pixels,
            "maximum_number_of_iterations": maximum_number_of_iterations,
            "allow_merging": allow_merging,
            "labels_only": labels_only,
            "valid_mask": valid_mask,
            "initial_labels": initial_labels,
            "backend": backend,
            "device_index": device_index,
        },
    )
    return divider.divide(progress)


@library_errors
def partition_images(
    images: Sequence[ImageLike],
    law: str,
    looks: float | None = None,
    segment_cost: float = 9.0,
    *,
    valid_mask: Sequence[Any] | None = None,
    initial_labels: Sequence[Any] | None = None,
    **parameters: Any,
) -> list[Partition[ImageLike]]:
    """Divides each of several images, as partition_image() does, some at the same time.

    `valid_mask` and `initial_labels` hold one for each image. The other parameters are those of partition_image(), but for
    `progress`, and hold for all images. Results do not depend on the company. That is faster than a loop for many small images,
    which leave most threads idle. There are as many at the same time as ITK has threads; on the GPU 48 at least, which share its
    memory.
    """
    defaults = {name: parameter.default for name, parameter in inspect.signature(partition_image).parameters.items()}
    unknown = sorted(set(parameters) - set(defaults) | set(parameters) & {"image", "progress"})
    if unknown:
        raise TypeError(f"partition_images() has no parameter {unknown[0]}")
    images = _list_of(images, "images")
    each = {
        name: None if values is None else _list_of(values, name)
        for name, values in {"valid_mask": valid_mask, "initial_labels": initial_labels}.items()
    }
    for name, values in each.items():
        if values is not None and len(values) != len(images):
            raise ValueError(f"{name} has {len(values)} entries; it must have one for each of the {len(images)} images")
    if not images:
        return []
    looks = one_looks(looks, parameters.pop("number_of_looks", None))
    common = {**defaults, "law": law, "looks": looks, "segment_cost": segment_cost, **parameters}

    def make_divider(index: int) -> _Divider[ImageLike]:
        own = {name: values[index] for name, values in each.items() if values is not None}
        return _Divider(images[index], {**common, **own})

    first = make_divider(0)  # it says where all of them run
    threads = int(itk.MultiThreaderBase.GetGlobalDefaultNumberOfThreads())
    at_once = max(threads, IMAGES_AT_ONCE_ON_GPU) if may_use_gpu(first.filter) else threads
    work_units = max(1, threads // min(len(images), at_once))
    native = importlib.import_module("itk.itkCudaRegionPartitionImageFilterPython")
    updates = native.cudafilters_new_updates(at_once)
    waiting: deque[_Divider[ImageLike]] = deque()

    def finish() -> Partition[ImageLike]:
        native.cudafilters_finish_update(updates)
        return waiting.popleft().get_partition()

    found = []
    try:
        for index in range(len(images)):
            # Filters may hold copies of their images. So there are no more of them than keep the threads at work.
            if len(waiting) == 2 * at_once:
                found.append(finish())
            divider = first if index == 0 else make_divider(index)
            divider.filter.SetNumberOfWorkUnits(work_units)
            divider.filter._start_update(updates)
            waiting.append(divider)
        while waiting:
            found.append(finish())
    finally:
        native.cudafilters_end_updates(updates)
    return found


def _list_of(images: Any, name: str) -> list[Any]:
    """Several images. One of them would be taken for its rows."""
    is_one = isinstance(images, (str, bytes, itk.Object, Mapping))
    if is_one or not isinstance(images, Iterable):
        raise TypeError(f"{name} is {describe(images)}; it must be a list of images")
    return list(images)


class _Divider(Generic[ImageLike]):
    """The filter of an image, with the parameters of partition_image()."""

    def __init__(self, image: ImageLike, parameters: Mapping[str, Any]) -> None:
        input_image = as_itk_image(image, "image")
        if input_image is image:
            # An update writes the regions of its input, and updates its source. Other filters may have the same image at this time.
            input_image = type(image).New()
            input_image.Graft(image)
        law = known_name("law", parameters["law"], noise_laws())
        looks, threshold = parameters["looks"], parameters["foreground_threshold"]
        divider: Any = itk.CudaRegionPartitionImageFilter[type(input_image), itk.Image[itk.UI, 2]].New()
        divider.SetInput(input_image)
        divider.SetBackend(known_name("backend", parameters["backend"], get_args(Backend)))
        divider.SetNoiseLaw(plain_name(law))
        set_parameter(divider.SetNumberOfLooks, "looks", 0.0 if looks is None else looks)
        set_parameter(divider.SetForegroundThreshold, "foreground_threshold", threshold_of(threshold))
        for name, setter in {
            "device_index": divider.SetDeviceIndex,
            "segment_cost": divider.SetSegmentCost,
            "block_size": divider.SetBlockSize,
            "minimum_number_of_pixels": divider.SetMinimumNumberOfPixels,
            "maximum_number_of_iterations": divider.SetMaximumNumberOfIterations,
            "allow_merging": divider.SetAllowMerging,
            "labels_only": divider.SetLabelsOnly,
        }.items():
            set_parameter(setter, name, parameters[name])
        if parameters["valid_mask"] is not None:
            divider.SetValidMask(as_itk_mask(parameters["valid_mask"], "valid_mask", input_image, image))
        if parameters["initial_labels"] is not None:
            divider.SetInitialLabels(as_itk_labels(parameters["initial_labels"], "initial_labels", input_image, image))
        self.image = image
        self.input_image = input_image
        self.law = law
        self.filter = divider

    def divide(self, shows_progress: bool) -> Partition[ImageLike]:
        with progress_bar(self.filter, "partition_image", shows_progress):
            self.filter.Update()
        return self.get_partition()

    def get_partition(self) -> Partition[ImageLike]:
        """After the filter's Update()."""
        divider = self.filter
        statistics = PartitionStatistics(
            law=self.law,
            number_of_looks=divider.GetNumberOfLooksUsed(),
            description=divider.GetDescription(),
            description_of_one_region=divider.GetDescriptionOfOneRegion(),
            number_of_iterations=divider.GetNumberOfIterations(),
            stop=_snake_case(divider.GetStop()),
            backend=_backend_name(divider.GetBackendUsed()),
            backend_reason=divider.GetBackendReason(),
        )
        labels, found = divider.GetOutput(), divider.GetPartition()
        for output in (labels, found):
            output.DisconnectPipeline()
        geometry = _Geometry() if isinstance(self.image, np.ndarray) else _Geometry.of(self.input_image)
        means = self._find_means(labels) if self.law == "bernoulli" else None
        return Partition(like(labels, self.image, "labels"), statistics, found, geometry, means)

    def _find_means(self, labels: Any) -> npt.NDArray[np.float64]:
        """The means of the image's pixels, by region."""
        numbers = itk.array_view_from_image(labels).reshape(-1)
        pixels = itk.array_view_from_image(self.input_image).reshape(-1)
        # Pixels without a region may be no numbers.
        values = np.where(numbers == 0, 0.0, pixels)
        return np.bincount(numbers, weights=values)[1:] / np.bincount(numbers)[1:]

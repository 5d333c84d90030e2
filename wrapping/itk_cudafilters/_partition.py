# SPDX-License-Identifier: Apache-2.0
"""Partition of whole images into polygonal regions."""
from __future__ import annotations

import inspect
import math
import operator
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, get_args

import numpy as np
import numpy.typing as npt

from ._arrays import number as as_number
from ._features import Place, place_of, signed_area, to_geodataframe
from ._image import Image
from ._images import Geometry, axes_of, describe, first_index_of, is_xarray, labels_beside, like, mask_beside
from ._images import pixels_of, plane_of, valid_pixels_of, with_first_index, with_geometry_of
from ._info import Backend, backend_name
from ._itk import is_itk_object
from ._library import core
from ._parameters import LARGEST_UNSIGNED, LARGEST_UNSIGNED_LONG, Devices, device_number, devices_of, known_name, library_errors
from ._parameters import plain_name, snake_case, switch, whole_number
from ._progress import progress_bar
from ._radar import Quantity, as_law_needs
from ._segmentation import ImageLike, contrast_of, json_number, new_labels, noise_laws, one_looks, threshold_of

IMAGES_AT_ONCE_ON_GPU = 48
"""A run waits for the host between launches, and the GPU works on other images meanwhile. On an H200 a hundred images of
500 x 500 pixels take 71 ms with 16 at once, 58 with 32, 55 with 48, 53 with 64 and 55 with 100."""

Rings = list[npt.NDArray[np.float64]]
"""Vertices of a polygon, N x 2: the outer ring, then the holes. The first vertex is not repeated."""


@dataclass(frozen=True)
class PartitionStatistics:
    """The properties of a whole partition: law, lengths of the description, iterations and backend."""

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
    quantity: str | None = None
    """What the law describes, to which the pixels were converted: intensity, amplitude or db; None if nobody said what they were."""


@dataclass(frozen=True, eq=False, repr=False)
class Partition(Generic[ImageLike]):
    """The partition of an image into regions, which are numbered from 1.

    Returned by partition_image(). `labels` holds the number of each pixel's region, `polygons` and `table` the
    boundaries and statistics of the regions, and `statistics` the properties of the whole. Partitions can be pickled
    and copied.
    """

    labels: ImageLike
    """The number of each pixel's region, uint32, and 0 where pixels are not valid; of the kind of the image that was divided, with
    its geometry or coordinates."""
    statistics: PartitionStatistics
    _map: Any = field(repr=False)
    """The planar map, of which functions of `_core` tell the parts."""
    _geometry: Geometry = field(repr=False)
    _means_of_pixels: npt.NDArray[np.float64] | None = field(default=None, repr=False)
    """By region, for the law bernoulli: with a threshold its table has the shares of ones."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns the parts of which pickle, copy.deepcopy() and process pools construct an equal partition."""
        state = core().partition_state(self._map)
        parts = self.labels, first_index_of(self.labels), self.statistics, state, self._geometry, self._means_of_pixels
        return _restore_partition, parts

    def __len__(self) -> int:
        """The number of regions."""
        return self._counts[0]

    @property
    def _counts(self) -> tuple[int, int, int]:
        """The numbers of regions, nodes and edges."""
        counts: tuple[int, int, int] = core().partition_counts(self._map)
        return counts

    @property
    def table(self) -> dict[str, npt.NDArray[Any]]:
        """The table of regions as a dictionary of columns, with a row for each region. pandas.DataFrame() accepts it.

        The columns are:

        * region: the number of the region
        * pixels: the number of its valid pixels
        * mean, mean_square, variance: of the pixels; of their logarithm for the law log_normal; of ones and zeros for
          bernoulli with a foreground_threshold, so that the mean is the fraction of ones. The variance is NaN for laws
          that need no squares.
        * area, perimeter: of the polygon, in pixels
        * x_min, y_min, x_max, y_max: of the polygon's corners. Rows y_min to y_max - 1 and columns x_min to x_max - 1
          of the array contain the region.
        * number_of_neighbours
        * description: the length of the region's description in nats, without the boundary; NaN for regions that
          merge() made
        * mean_outside: of the pixels of all neighbours; contrast: the mean divided by it. Under log_normal the contrast is
          that of the geometric means. They are NaN without neighbours.
        * gain: how much longer the description becomes by the merge that ends the region, in nats: the change of its
          first step in `merges`. It is NaN for a region without neighbours.
        * physical_area, physical_perimeter: of the polygon, in the physical units of the image
        """
        regions = core().partition_regions(self._map)

        def column(name: str, kind: Any = np.float64) -> npt.NDArray[Any]:
            return np.array([region[name] for region in regions], kind)

        boxes = np.array([region["bounding_box"] for region in regions], np.int64).reshape(-1, 4)
        pixels, mean, area = column("number_of_pixels", np.int64), column("mean"), column("area")
        around = self._means_around([region["neighbors"] for region in regions], mean, pixels)
        return {
            "region": np.arange(1, len(regions) + 1),
            "pixels": pixels,
            "mean": mean,
            **{name: column(name) for name in ("mean_square", "variance")},
            "area": area,
            "perimeter": column("perimeter"),
            **dict(zip(("x_min", "y_min", "x_max", "y_max"), boxes.T.copy())),
            "number_of_neighbours": np.array([len(region["neighbors"]) for region in regions], np.int64),
            "description": column("description"),
            "mean_outside": around,
            "contrast": contrast_of(mean, around, self.statistics.law),
            "gain": self._gains(),
            "physical_area": area * abs(float(np.linalg.det(self._geometry.direction * self._geometry.spacing))),
            "physical_perimeter": self._physical_perimeters(),
        }

    def _means_around(
        self, neighbours: Sequence[Sequence[int]], mean: npt.NDArray[np.float64], pixels: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """Returns the mean of the pixels of each region's neighbours."""
        own = np.repeat(np.arange(len(neighbours)), [len(numbers) for numbers in neighbours])
        others = np.array([number for numbers in neighbours for number in numbers], np.int64) - 1
        sums, counts = (np.bincount(own, each[others], len(neighbours)) for each in (mean * pixels, pixels))
        with np.errstate(invalid="ignore"):
            return np.asarray(sums / counts)

    def _gains(self) -> npt.NDArray[np.float64]:
        """Returns by how much the first merge of each region changes the description."""
        merges, gains = self.merges, np.full(len(self), np.nan)
        regions = np.stack([merges["first"], merges["second"]], axis=1).astype(np.int64)
        # The last assignment of an index wins, so that the merges are taken from the last to the first.
        gains[regions[::-1].ravel() - 1] = np.repeat(merges["change"][::-1], 2)
        return gains

    def _physical_perimeters(self) -> npt.NDArray[np.float64]:
        edges, nodes = self.edges.astype(np.int64), self.nodes
        lengths = np.linalg.norm(nodes[edges[:, 1]] - nodes[edges[:, 0]], axis=1)
        # Region 0 is outside of the image.
        left, right = (np.bincount(edges[:, side], lengths, len(self) + 1) for side in (2, 3))
        return np.asarray((left + right)[1:])

    @property
    def neighbours(self) -> list[list[int]]:
        """The numbers of each region's neighbours, in ascending order. The list begins with region 1."""
        return [list(region["neighbors"]) for region in core().partition_regions(self._map)]

    @property
    def polygons(self) -> list[Rings]:
        """The rings of each region, arrays of N x 2: x and y in physical space. The list begins with region 1.

        The outer ring comes first and is counter-clockwise in x, y; holes are clockwise. Neighbours have the same
        vertices along their common boundary. `shapely.Polygon(rings[0], rings[1:])` makes a polygon of shapely. With
        labels_only the lists are empty.
        """
        return list(self._rings("physical"))

    @property
    def polygons_in_pixels(self) -> list[Rings]:
        """The rings of each region with x and y in pixels. (0, 0) is the centre of the first pixel for any spacing and
        origin; see `polygons`."""
        return list(self._rings("pixel"))

    @property
    def nodes(self) -> npt.NDArray[np.float64]:
        """The vertices of all polygons, N x 2: x and y in physical space."""
        return self._geometry.place(_corners(core().partition_nodes(self._map)))

    @property
    def nodes_in_pixels(self) -> npt.NDArray[np.float64]:
        """The vertices of all polygons, N x 2: x and y in pixels, as in `polygons_in_pixels`."""
        return _corners(core().partition_nodes(self._map)) - 0.5

    @property
    def edges(self) -> npt.NDArray[np.uint32]:
        """The straight edges, N x 4: the indices of the start and end nodes, and the regions to the left and to the
        right of the edge if x, y in pixels are drawn with x to the right and y upwards. Region 0 is outside the
        image."""
        return np.frombuffer(core().partition_edges(self._map), np.uint32).reshape(-1, 4).copy()

    @property
    def merges(self) -> dict[str, npt.NDArray[Any]]:
        """The merge tree as columns, in the order of the merges: region `second` becomes a part of region `first`, and
        the length of the description changes by `change` nats."""
        names = {"first": np.uint32, "second": np.uint32, "change": np.float64}
        steps = np.frombuffer(core().partition_merges(self._map), np.dtype(list(names.items())))
        return {name: steps[name].copy() for name in names}

    @property
    def means(self) -> ImageLike:
        """The image with each pixel replaced by the mean of its region, as float32; NaN where pixels are not valid.

        For the law log_normal, whose table has means of logarithms, it is the geometric mean. For bernoulli it is the
        mean of the image's values, also with a foreground_threshold.
        """
        means = self.table["mean"] if self._means_of_pixels is None else self._means_of_pixels
        values = np.concatenate([[np.nan], np.exp(means) if self.statistics.law == "log_normal" else means])
        means_of_pixels: ImageLike = self._like_labels(values.astype(np.float32)[pixels_of(self.labels)], "means")
        return means_of_pixels

    @library_errors
    def merge(self, nats: float | None = None, number: int | None = None) -> Partition[ImageLike]:
        """Returns a partition of fewer regions, by merging regions in the order of the merge tree.

        The regions of the result are numbered from 1 without gaps; a merged region takes the place of the smallest
        number of its parts. This partition does not change.

        Parameters
        ----------
        nats
            Regions are merged until a merge would lengthen the description by more than this.
        number
            Regions are merged until this number of regions is left, 1 or more. One of `nats` and `number` must be
            given.

        Raises
        ------
        TypeError, ValueError
            Both or neither of the parameters are given, or the value is wrong.
        """
        if (nats is None) == (number is None):
            raise ValueError("merge() takes nats or number, one of them")
        most, left = 0.0, 0
        if nats is not None:
            most = as_number(nats, "nats")
            if math.isnan(most):
                raise ValueError(f"nats is {nats}; it must be a number")
        else:
            left = _whole(number, "number")
            if left < 1:
                raise ValueError(f"number is {number}; it must be 1 or more")
            left = min(left, max(1, len(self)))  # a larger number also merges no region
        regions, merged, description = core().partition_merge(self._map, most, left)
        # Number the remaining regions consecutively; 0, for pixels that are not valid, remains 0.
        numbers = np.unique(np.frombuffer(regions, np.uint32), return_inverse=True)[1].reshape(-1).astype(np.uint32)
        means = self._means_of_pixels
        if means is not None:
            pixels = self.table["pixels"]
            sums, counts = (np.bincount(numbers[1:], weights=each)[1:] for each in (means * pixels, pixels))
            means = sums / counts
        return replace(
            self,
            labels=self._like_labels(numbers[pixels_of(self.labels)], "labels"),
            statistics=replace(self.statistics, description=description),
            _map=merged,
            _means_of_pixels=means,
        )

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """A GeoJSON collection of the polygons in physical units, with the table."""
        return {"type": "FeatureCollection", "features": self._features("physical")}

    def to_geodataframe(self, crs: str | None = None, *, clip: bool = False) -> Any:
        """Returns the polygons with the table as a geopandas.GeoDataFrame, in the reference system of the image; see
        itk_cudafilters.to_geodataframe()."""
        return to_geodataframe(self, crs=crs, clip=clip)

    @property
    def _place(self) -> Place:
        return place_of(self.labels)

    def _clipping_mask(self) -> npt.NDArray[np.bool_]:
        """Returns the pixels that belong to regions, by [y, x]. Boundaries run across the others."""
        return np.asarray(np.transpose(pixels_of(self.labels), axes_of(self.labels)) != 0)

    def _rings(self, coordinates: str) -> Iterator[Rings]:
        physical = coordinates == "physical"
        for number in range(1, len(self) + 1):
            rings = [_corners(ring) for ring in core().partition_rings(self._map, number)]
            if physical and self._geometry.is_mirrored:
                rings = [np.concatenate([ring[:1], ring[:0:-1]]) for ring in rings]
            yield [self._geometry.place(ring) if physical else ring - 0.5 for ring in rings]

    def _features(self, coordinates: str) -> list[dict[str, Any]]:
        table = {name: column.tolist() for name, column in self.table.items()}
        neighbours = self.neighbours
        features = []
        for index, rings in enumerate(self._rings(coordinates)):
            properties = {name: json_number(column[index]) for name, column in table.items()}
            properties["neighbours"] = neighbours[index]
            features.append({"type": "Feature", "properties": properties, "geometry": _geometry_of(rings)})
        return features

    def _example(self) -> dict[str, Any]:
        properties = {name: column.dtype.type().item() for name, column in self.table.items()}
        return {"type": "Feature", "properties": properties, "geometry": None}

    def _summary(self) -> dict[str, Any]:
        """Returns the properties of the whole partition for files and reports."""
        return {
            "law": self.statistics.law,
            "number_of_looks": self.statistics.number_of_looks,
            **dict(zip(("regions", "nodes", "edges"), self._counts)),
            "description": self.statistics.description,
            "description_of_one_region": self.statistics.description_of_one_region,
        }

    def _like_labels(self, pixels: npt.NDArray[Any], name: str) -> Any:
        if is_xarray(self.labels):
            labels: Any = self.labels
            return labels.copy(data=pixels).rename(name)
        if isinstance(self.labels, Image):
            return self.labels.with_array(pixels)
        return with_geometry_of(self.labels, np.ascontiguousarray(pixels)) if is_itk_object(self.labels) else pixels

    def __repr__(self) -> str:
        return (
            f"<Partition by the law {self.statistics.law}: {len(self)} regions, {self._counts[1]} nodes, "
            f"{self.statistics.description:.0f} nats instead of {self.statistics.description_of_one_region:.0f}>"
        )


def _restore_partition(
    labels: Any,
    index: tuple[int, ...] | None,
    statistics: PartitionStatistics,
    state: bytes,
    geometry: Geometry,
    means: npt.NDArray[np.float64] | None,
) -> Partition[Any]:
    return Partition(with_first_index(labels, index), statistics, core().partition_restore(state), geometry, means)


def _corners(of_bytes: bytes) -> npt.NDArray[np.float64]:
    return np.frombuffer(of_bytes, np.int32).reshape(-1, 2).astype(np.float64)


def _whole(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it must be a whole number") from None


def _geometry_of(rings: Rings) -> dict[str, Any] | None:
    """Returns a GeoJSON Polygon, or a MultiPolygon if there are several outer rings. Each outer ring starts a new
    part."""
    parts: list[list[list[list[float]]]] = []
    for ring in rings:
        if signed_area(ring) > 0.0:
            parts.append([])
        parts[-1].append(np.concatenate([ring, ring[:1]]).tolist())
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
    quantity: Quantity | None = None,
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
    """Divides a whole image into homogeneous polygonal regions that minimize the length of its description.

    The pixels of each region are modelled as independent samples of one distribution, the law, whose parameters are
    estimated. The number of regions, and the number of nodes on their boundaries, follow from the description length of
    the image. The computation is that of itk.CudaRegionPartitionImageFilter, whose documentation has the formula and
    the references.

    Names of laws and backends are compared without case, '_' and '-'.

    Parameters
    ----------
    image
        Two-dimensional itk.Image, NumPy array (spacing 1, origin 0) or xarray.DataArray, of uint8, uint16, int16 or
        float32; bool and float64 are converted. The coordinates of a DataArray must be evenly spaced, and may ascend or
        descend; an axis without coordinates counts from 0. Polygons have the image's physical coordinates: those of the
        map for one band that rioxarray.open_rasterio() reads of a GeoTIFF, pixels for a NumPy array.
    law
        Distribution of the pixels of each region: for example gamma for the intensity of radar images, rayleigh for
        their amplitude, gaussian for photographs and magnetic resonance images.

        The name of one of noise_laws().
    looks
        Number of independent looks per pixel, for the laws gamma and rayleigh. By default it is estimated from the
        image.

        It is below 1 if the speckle of neighbouring pixels is correlated. With None or 0 it is estimated. If the number
        is too large, speckle is divided into regions.
    number_of_looks
        Another name of `looks`.
    segment_cost
        Cost of a straight edge between two regions, in nats. A larger cost gives fewer nodes and fewer small regions.
    foreground_threshold
        For the law bernoulli: pixels above it are ones. Images that hold only 0 and one other value need none.
    quantity
        What the pixels of a radar image are: intensity, amplitude, or db for decibels. They are converted to what the law
        describes: intensity for gamma, amplitude for rayleigh.

        By default an Image says it, and other pixels are taken as they are. Decibels become intensities under log_normal, and
        stay what they are under the other laws. The means of the statistics are those of the converted pixels.
    block_size
        Side of the blocks that the search starts from, in pixels. 2 suits magnetic resonance images.
    minimum_number_of_pixels
        Smallest number of pixels that a move of a boundary may leave in a region.
    maximum_number_of_iterations
        Largest number of iterations on the polygons.
    allow_merging
        Whether polygons may be merged. With False every connected part of `initial_labels` is kept.
    labels_only
        Whether to stop before the polygons, with a label map whose boundaries follow the sides of pixels.
    valid_mask
        Image of the same size: pixels where it is 0 belong to no region.

        An array, or an image of the same kind. A DataArray is aligned with the image
        by its coordinates, and refused if that is not possible. The geometry of an itk.Image must equal that of the
        image within ITK's tolerances; a mask of origin 0, spacing 1 and no rotation is taken to have the image's
        geometry.
    initial_labels
        Image of integers of the same size: a segmentation to start from, each of whose 4-connected parts is a region.

        An array, or an image of the same kind. With allow_merging=False and maximum_number_of_iterations=1 it is converted to polygons with common
        edges.
    backend
        automatic: the GPU if one can be used, otherwise the host. cuda: the GPU, or an error. host: the host.

        With cuda the label map and the gains of changes of the polygons are computed on the GPU. The result is the
        same.
    device_index
        Index of the GPU; -1: the configuration's, which is ITK_CUDAFILTERS_DEVICE or 0.

        The configuration is itk.CudaFiltersConfiguration.
    progress
        Whether to show a progress bar, by the package tqdm if it is installed.

    Returns
    -------
    Partition
        labels, polygons, table, merges, means and statistics.

    Raises
    ------
    TypeError, ValueError
        The kind, dimension or pixel type of the image is not supported, a name is unknown, a parameter is wrong, or
        pixels are outside the range of the law.
    RuntimeError
        The GPU was requested and cannot be used.

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
    division = _Division(
        image,
        {
            "law": law,
            "looks": one_looks(looks, number_of_looks),
            "segment_cost": segment_cost,
            "foreground_threshold": foreground_threshold,
            "quantity": quantity,
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
    return division.divide(progress)


@library_errors
def partition_images(
    images: Sequence[ImageLike],
    law: str,
    looks: float | None = None,
    segment_cost: float = 9.0,
    *,
    valid_mask: Sequence[Any] | None = None,
    initial_labels: Sequence[Any] | None = None,
    devices: Devices | None = None,
    **parameters: Any,
) -> list[Partition[ImageLike]]:
    """Divides several images, as partition_image() does, some of them concurrently.

    This is faster than a loop for many small images, because one of these leaves most threads idle. As many images are
    processed concurrently as ITK has threads, and at least 48 on the GPU, which share its memory. The result of an
    image does not depend on the other images.

    Parameters
    ----------
    images
        Images as in partition_image().
    law, looks, segment_cost, **parameters
        Parameters of partition_image() except `progress`. They apply to all images.
    valid_mask, initial_labels
        Sequences with a mask, or labels, for each image.
    devices
        Indices of the GPUs that share the images, for example [0, 1], or "all" for all usable ones of the compute capability
        of the first. The next image goes to the one that has the fewest. None: the GPU of `device_index`, -1 if it is not
        given either.

    Returns
    -------
    list of Partition, in the order of the images.

    Raises
    ------
    TypeError, ValueError
        `images` is a single image, a sequence has another length than `images`, a parameter is unknown, or
        partition_image() would raise the exception.
    RuntimeError
        The GPU was requested and cannot be used.
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
    if devices is not None and common["device_index"] != -1:
        raise ValueError(f"device_index is {common['device_index']}, and devices is {devices!r}; only one of them can say the GPUs")
    dealt_to = devices_of(devices) or (common["device_index"],)
    waiting: deque[_Division[ImageLike]] = deque()

    def make_division(index: int) -> _Division[ImageLike]:
        own = {name: values[index] for name, values in each.items() if values is not None}
        busy = Counter(division.device for division in waiting)
        device = min(dealt_to, key=lambda each: busy[each] / dealt_to.count(each))
        return _Division(images[index], {**common, **own, "device_index": device})

    first = make_division(0)  # determines the backend of all
    threads = core().number_of_threads()
    on_gpus = IMAGES_AT_ONCE_ON_GPU * len(set(dealt_to))
    at_once = max(threads, on_gpus) if core().may_use_gpu(first.backend, first.device) else threads
    threads_of_each = max(1, threads // min(len(images), at_once))
    divisions = core().new_divisions(at_once)

    def finish() -> Partition[ImageLike]:
        return waiting.popleft().get_partition(*core().finish_division(divisions))

    found = []
    try:
        for index in range(len(images)):
            # Limit the number of divisions, which may hold copies of their images, to what keeps the threads busy.
            if len(waiting) == 2 * at_once:
                found.append(finish())
            division = first if index == 0 else make_division(index)
            core().start_division(divisions, (*division.job, threads_of_each))
            waiting.append(division)
        while waiting:
            found.append(finish())
    finally:
        core().end_divisions(divisions)
    return found


def _list_of(images: Any, name: str) -> list[Any]:
    """Returns a sequence of images as a list. Raises TypeError for a single itk.Image, text or mapping."""
    is_one = isinstance(images, (str, bytes, Mapping)) or is_itk_object(images)
    if is_one or not isinstance(images, Iterable):
        raise TypeError(f"{name} is {describe(images)}; it must be a list of images")
    return list(images)


class _Division(Generic[ImageLike]):
    """The partition of one image, with the parameters of partition_image()."""

    def __init__(self, image: ImageLike, parameters: Mapping[str, Any]) -> None:
        self.law = known_name("law", parameters["law"], noise_laws())
        valid_mask = valid_pixels_of(image, parameters["valid_mask"])
        image, self.quantity = as_law_needs(image, self.law, parameters["quantity"], valid_mask)
        self.image = image
        self.pixels = plane_of(image, "image")
        self.geometry = Geometry.of(image)
        self.labels = new_labels(image, self.pixels.shape, "uint32")
        self.backend = known_name("backend", parameters["backend"], get_args(Backend))
        self.device = device_number(parameters["device_index"])

        def whole(name: str, largest: int = LARGEST_UNSIGNED) -> int:
            return whole_number(parameters[name], name, 0, largest)

        looks = parameters["looks"]
        numbers = (
            plain_name(self.law),
            0.0 if looks is None else as_number(looks, "looks"),
            threshold_of(parameters["foreground_threshold"]),
            as_number(parameters["segment_cost"], "segment_cost"),
            whole("block_size"),
            whole("minimum_number_of_pixels", LARGEST_UNSIGNED_LONG),
            whole("maximum_number_of_iterations"),
            *(switch(parameters[name], name) for name in ("allow_merging", "labels_only")),
            self.backend,
            self.device,
        )
        valid, initial = (
            None if value is None else read(value, name, image, self.pixels.shape)
            for name, value, read in (
                ("valid_mask", valid_mask, mask_beside),
                ("initial_labels", parameters["initial_labels"], labels_beside),
            )
        )
        first = tuple(self.geometry.first.tolist())
        self.job = (self.pixels, pixels_of(self.labels), valid, initial, first, *numbers)
        """The arguments of _core.divide(), without the number of threads."""

    def divide(self, shows_progress: bool) -> Partition[ImageLike]:
        with progress_bar("partition_image", shows_progress) as update:
            found = core().divide((*self.job, 0), update)
        return self.get_partition(*found)

    def get_partition(self, found: Any, looks: float, description: float, of_one_region: float, iterations: int,
                      stop: str, backend: str, reason: str) -> Partition[ImageLike]:
        """Returns the partition of which the arguments are the result of _core.divide()."""
        statistics = PartitionStatistics(
            law=self.law,
            number_of_looks=looks,
            description=description,
            description_of_one_region=of_one_region,
            number_of_iterations=iterations,
            stop=snake_case(stop),
            backend=backend_name(backend),
            backend_reason=reason,
            quantity=self.quantity,
        )
        means = self._find_means() if self.law == "bernoulli" else None
        return Partition(like(self.labels, self.image, "labels"), statistics, found, self.geometry, means)

    def _find_means(self) -> npt.NDArray[np.float64]:
        """Returns the mean of the image's pixels of each region."""
        numbers = pixels_of(self.labels).reshape(-1)
        # Pixels without a region may be NaN.
        values = np.where(numbers == 0, 0.0, self.pixels.reshape(-1))
        return np.bincount(numbers, weights=values)[1:] / np.bincount(numbers)[1:]

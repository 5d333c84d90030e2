# SPDX-License-Identifier: Apache-2.0
"""Segmentation of many targets in one image."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, get_args, overload

import numpy as np
import numpy.typing as npt

from ._features import Place, attributes_of, place_of, to_geodataframe
from ._images import Geometry, axes_of, describe, first_index_of, labels_beside, like, mask_beside, pixels_of, plane_of
from ._images import valid_pixels_of, with_first_index
from ._info import Backend
from ._library import core
from ._parameters import Devices, device_number, devices_of, known_name, library_errors
from ._planes import held_in_scratch
from ._progress import progress_bar
from ._radar import Quantity, as_law_needs
from ._segmentation import ImageLike, RegionStatistics, Schedule, Statistics, contour_of, corners_of_contour
from ._segmentation import corners_of_region, feature_of, looks_for, margin_of, new_labels, noise_laws, one_looks, search_parameters
from ._segmentation import statistics_of


@dataclass(frozen=True, eq=False, repr=False)
class SegmentedRegion:
    """One of the regions of segment_regions()."""

    number: int
    """Its number, from 1, in the order of the starts. Its pixels have this label if its boundary is significant."""
    contour: npt.NDArray[np.float64]
    """Vertices of the polygon, N x 2: x and y in physical space, counter-clockwise in x, y, the first one not repeated. There are
    none if the start had too few valid pixels."""
    contour_in_pixels: npt.NDArray[np.float64]
    """The vertices as x and y in pixels, N x 2. (0, 0) is the centre of the first pixel for any spacing and origin."""
    statistics: Statistics
    """As of a Segmentation, of the pixels of the window. Its `stop` is region_too_small if the start had too few valid pixels."""
    window: tuple[int, int, int, int]
    """The rectangle that the search saw: x, y, width and height in pixels, counted from 0."""
    start_label: int
    """Label of the start in the label image of the starts; 0 for other starts."""
    hidden_pixels: int
    """Number of its pixels that have the label of a region with a smaller number."""

    @property
    def significant_boundary(self) -> bool:
        return self.statistics.significant_boundary

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """A GeoJSON feature of the polygon in physical units, with the statistics."""
        return self._feature("physical")

    def _feature(self, coordinates: str) -> dict[str, Any]:
        feature = feature_of(self.contour, self.contour_in_pixels, self.statistics, coordinates)
        own = {"region": self.number, "start_label": self.start_label, "hidden_pixels": self.hidden_pixels}
        feature["properties"] = {**own, **feature["properties"]}
        return feature

    def __repr__(self) -> str:
        kind = "" if self.significant_boundary else ", no significant boundary"
        return f"<region {self.number}: {len(self.contour)} nodes, {self.statistics.inside.number_of_pixels} pixels{kind}>"


@dataclass(frozen=True, eq=False, repr=False)
class Segmentations(Generic[ImageLike], Sequence[SegmentedRegion]):
    """The regions that segment_regions() found, as a sequence in the order of the starts.

    write_geojson() and write_geopackage() write the polygons with significant boundaries, as `features` has them.
    """

    labels: ImageLike
    """The number of each pixel's region, uint32, and 0 where there is none; of the kind of the image that was segmented, with its
    geometry or coordinates. Where regions overlap, the smaller number wins."""
    regions: tuple[SegmentedRegion, ...] = field(repr=False)
    overlaps: tuple[tuple[int, int, int], ...] = field(repr=False)
    """The pairs of regions that overlap: the smaller number, the larger one, and the number of common pixels."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns the parts of which pickle, copy.deepcopy() and process pools construct equal regions."""
        return _restore, (self.labels, first_index_of(self.labels), self.regions, self.overlaps)

    def __len__(self) -> int:
        return len(self.regions)

    @overload
    def __getitem__(self, index: int) -> SegmentedRegion: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[SegmentedRegion]: ...

    def __getitem__(self, index: int | slice) -> SegmentedRegion | Sequence[SegmentedRegion]:
        return self.regions[index]

    def __iter__(self) -> Iterator[SegmentedRegion]:
        return iter(self.regions)

    @property
    def contours_rc(self) -> list[npt.NDArray[np.float64]]:
        """The vertices of each region as rows and columns of the array, N x 2, with scikit-image's convention: [0, 0] is
        the centre of the first pixel."""
        is_transposed = axes_of(self.labels) == (1, 0)
        contours = (region.contour_in_pixels for region in self.regions)
        return [np.ascontiguousarray(contour if is_transposed else contour[:, ::-1]) for contour in contours]

    @property
    def table(self) -> dict[str, npt.NDArray[Any]]:
        """The table of the regions with significant boundaries as a dictionary of columns. pandas.DataFrame() accepts it.

        The columns are the attributes that write_geopackage() writes: the number of the region and of its start's label,
        pixels, means inside and outside, contrast, gain of the description length in nats, area and perimeter in pixels
        and in physical units, and more. Without such regions the columns are empty.
        """
        return attributes_of([self], self._features("pixel"))

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """A GeoJSON collection of the polygons with significant boundaries in physical units, with their statistics."""
        return {"type": "FeatureCollection", "features": self._features("physical")}

    def to_geodataframe(self, crs: str | None = None, *, clip: bool = False) -> Any:
        """Returns the polygons with significant boundaries and their attributes as a geopandas.GeoDataFrame, in the
        reference system of the image; see itk_cudafilters.to_geodataframe()."""
        return to_geodataframe(self, crs=crs, clip=clip)

    @property
    def _place(self) -> Place:
        return place_of(self.labels)

    def _features(self, coordinates: str) -> list[dict[str, Any]]:
        return [region._feature(coordinates) for region in self.regions if region.significant_boundary]

    def _example(self) -> dict[str, Any]:
        return region_of_nothing()._feature("pixel")

    def __repr__(self) -> str:
        found = sum(region.significant_boundary for region in self.regions)
        return f"<{found} regions of {len(self.regions)} starts, {len(self.overlaps)} overlaps>"


def region_of_nothing() -> SegmentedRegion:
    """Returns a region without pixels, whose feature has the properties of others."""
    nothing, nowhere = RegionStatistics(0, 0.0, 0.0), np.empty((0, 2))
    statistics = Statistics("", nothing, nothing, 0.0, 0.0, 0.0, False, 0, "", (), "host", "", {})
    return SegmentedRegion(1, nowhere, nowhere, statistics, (0, 0, 0, 0), 0, 0)


def _restore(
    labels: Any, index: tuple[int, ...] | None, regions: tuple[SegmentedRegion, ...], overlaps: tuple[tuple[int, int, int], ...]
) -> Segmentations[Any]:
    return Segmentations(with_first_index(labels, index), regions, overlaps)


@library_errors
def segment_regions(
    image: ImageLike,
    law: str,
    starts: Any,
    looks: float | None = None,
    *,
    margin: int | None = None,
    number_of_looks: float | None = None,
    foreground_threshold: float | None = None,
    quantity: Quantity | None = None,
    valid_mask: Any = None,
    schedule: Schedule = "coarse_to_fine",
    maximum_step: int = 4,
    minimum_edge_length: float = 3.0,
    minimum_gain: float = 1e-6,
    use_description_length: bool = True,
    maximum_number_of_nodes: int = 4096,
    maximum_number_of_iterations: int = 10000,
    minimum_region_size: int = 16,
    backend: Backend = "automatic",
    device_index: int = -1,
    devices: Devices | None = None,
    progress: bool = False,
) -> Segmentations[ImageLike]:
    """Finds the outlines of many targets in one image, each by the polygon that explains its surroundings best.

    Each start is the beginning of one search of segment_region() in a window around the start, so that the background of
    a target is what surrounds it. Each polygon is that of segment_region() on the window alone, with the same start and
    parameters: bit for bit for images of integers, unless the law is log_normal. Pixels of other images are put on one
    grid of integers for the whole image. The searches run concurrently.

    Parameters
    ----------
    image, law, looks, number_of_looks, foreground_threshold, quantity, valid_mask
        As of segment_region(). The number of looks, if it is not given, is estimated once, from the whole image.
    starts
        Where the targets are:

        * rectangles: x, y, width and height in pixels, counted from 0; N x 4 integers
        * contours: a list of arrays of N x 2, x and y in physical space
        * a label image of the image's size, of integers: each value above 0 is a start. The search begins at the outer
          boundary of the largest connected part of its pixels. Results are in the order of the labels.
    margin
        Pixels that a window extends beyond the bounding box of its start. By default as many as the longer side of the box,
        and at least 16. A window ends at the edges of the image.
    maximum_step, minimum_edge_length
        As of segment_region(), with defaults for targets of some dozens to some thousands of pixels.
    schedule, minimum_gain, use_description_length, maximum_number_of_nodes, maximum_number_of_iterations, minimum_region_size
        As of segment_region(), for each search.
    backend, device_index, progress
        As of segment_region().
    devices
        Indices of the GPUs that share the starts, for example [0, 1], or "all" for all usable ones of the compute capability of
        the first. Each has a part of the rectangles or contours and the sums of the whole image, so that they pay for many
        starts; the starts of a label image are searched on the first one. None: the GPU of `device_index`.

    Returns
    -------
    Segmentations
        A sequence of SegmentedRegion, one for each start, with the label image and the pairs of regions that overlap.

    Raises
    ------
    TypeError, ValueError
        As segment_region(), and if `starts` is of another kind or has a start outside of the image; the message has its
        number, which begins at 0. A start with too few valid pixels in it, or in its window around it, is no error: it
        has no polygon, and its `statistics.stop` is region_too_small.
    RuntimeError
        The GPU was requested and cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> mean = np.ones((200, 300), np.float32)
    >>> mean[40:60, 50:70] = mean[120:140, 200:230] = 5
    >>> found = segment_regions(rng.exponential(mean).astype(np.float32), "gamma", [(52, 42, 12, 12), (205, 125, 15, 10)], looks=1)
    >>> [abs(region.statistics.inside.number_of_pixels - area) < 80 for region, area in zip(found, (400, 600))]
    [True, True]
    """
    if devices is not None and device_index != -1:
        raise ValueError(f"device_index is {device_index}, and devices is {devices!r}; only one of them can say the GPUs")
    on_devices = devices_of(devices) or (device_number(device_index),)
    law = known_name("law", law, noise_laws())
    image = held_in_scratch(image)
    valid_mask = valid_pixels_of(image, valid_mask)
    image, quantity_of_law = as_law_needs(image, law, quantity, valid_mask)
    pixels = plane_of(image, "image")
    looks = looks_for(law, one_looks(looks, number_of_looks), image, valid_mask, backend, on_devices[0])
    geometry = Geometry.of(image)
    areas, corners, counts = _starts_of(starts, image, geometry, pixels.shape)
    parameters = search_parameters(
        law,
        looks,
        foreground_threshold,
        schedule,
        maximum_step,
        minimum_edge_length,
        minimum_gain,
        use_description_length,
        maximum_number_of_nodes,
        maximum_number_of_iterations,
        minimum_region_size,
    )
    where = known_name("backend", backend, get_args(Backend)), on_devices
    valid = None if valid_mask is None else mask_beside(valid_mask, "valid_mask", image, pixels.shape)
    labels = new_labels(image, pixels.shape, "uint32")
    first = tuple(geometry.first.tolist())
    with progress_bar("segment_regions", progress) as update:
        found, overlaps, *ran = core().segment_regions(
            pixels, pixels_of(labels), valid, areas, corners, counts, first, margin_of(margin), parameters, False, *where, update
        )
    regions = []
    for number, region in enumerate(found, 1):
        result = region["result"]
        contour = contour_of(result, geometry)
        in_pixels = np.round(geometry.corners_at(contour) - 0.5, 6) + 0.0 if len(contour) else contour
        statistics = statistics_of(law, looks, quantity_of_law, result, *ran)
        regions.append(
            SegmentedRegion(number, contour, in_pixels, statistics, region["window"], region["start_label"], region["hidden_pixels"])
        )
    return Segmentations(like(labels, image, "labels"), tuple(regions), tuple(overlaps))


def _starts_of(
    starts: Any, image: Any, geometry: Geometry, shape: tuple[int, ...]
) -> tuple[npt.NDArray[np.uint32] | None, npt.NDArray[np.int32] | None, npt.NDArray[np.int32] | None]:
    """Returns the label image of the starts, or the corners of all polygons and the number of corners of each."""
    if not isinstance(starts, (list, tuple)) and (not isinstance(starts, np.ndarray) or starts.shape == shape and starts.dtype.kind in "bui"):
        return labels_beside(starts, "starts", image, shape), None, None
    if isinstance(starts, np.ndarray) and (starts.ndim != 2 or starts.shape[1] != 4 or starts.dtype.kind not in "ui"):
        raise ValueError(
            f"starts is {describe(starts)} of the shape {starts.shape}; it must be N x 4 integers (x, y, width, height), integers of the "
            f"image's shape {shape}, or a list of contours"
        )
    polygons = []
    for index, start in enumerate(starts):
        name = f"starts[{index}]"
        if np.ndim(start) == 0:
            raise TypeError(f"{name} is {start!r}; it must be a rectangle (x, y, width, height) or a contour of N x 2")
        is_rectangle = np.ndim(start) == 1
        polygons.append(corners_of_region(start, shape, name) if is_rectangle else corners_of_contour(start, geometry, shape, name))
    corners = np.concatenate(polygons) if polygons else np.empty((0, 2), np.int32)
    return None, corners, np.array([[len(polygon) for polygon in polygons]], np.int32).reshape(1, -1)

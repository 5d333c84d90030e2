# SPDX-License-Identifier: Apache-2.0
"""Detection of targets with a constant rate of false alarms."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, get_args, overload

import numpy as np
import numpy.typing as npt

from ._arrays import number as as_number
from ._features import Place, crs_of_image, place_of, to_geodataframe
from ._images import Geometry, axes_of, first_index_of, is_xarray, like, mask_beside, pixels_of, plane_of, valid_pixels_of
from ._images import with_first_index
from ._info import Backend, backend_name
from ._library import core
from ._parameters import LARGEST_UNSIGNED_LONG, device_number, known_name, library_errors, plain_name, switch, whole_number
from ._polygons import is_polygons, rasterize
from ._progress import progress_bar
from ._radar import Quantity, as_law_needs
from ._segment_regions import SegmentedRegion, region_of_nothing, segment_regions
from ._segmentation import ImageLike, RegionStatistics, laws_of_looks, looks_for, new_labels, noise_laws, threshold_of

Window = float | tuple[float, float]
"""The side of a square window, or its width and height."""
WindowUnits = Literal["pixels", "physical"]

_DEFAULT_WINDOWS = {"target_window": 3, "guard_window": 15, "background_window": 31}
_LARGEST_WINDOW = 16383
_PROPERTIES_OF_OUTLINE = ("area", "perimeter", "physical_area", "physical_perimeter", "contrast", "gain")
_SMALLEST_OUTLINE = 4  # pixels; targets are smaller than the regions that segment_regions() expects


@dataclass(frozen=True)
class Detection:
    """A target: connected pixels above the threshold."""

    number: int
    """Its number in the label image, from 1."""
    number_of_pixels: int
    centroid: tuple[float, float]
    """x and y of the mean of its pixels' centres, in physical space."""
    centroid_in_pixels: tuple[float, float]
    """x and y in pixels; (0, 0) is the centre of the first pixel."""
    region: tuple[int, int, int, int]
    """x, y, width and height of the smallest rectangle of pixels that holds it, counted from 0: what segment_region() takes as
    initial_region."""
    peak: tuple[int, int]
    """x and y of its most significant pixel, counted from 0; the members below are of this pixel's windows."""
    significance: float
    """-log10 of the probability that noise alone makes such a target window."""
    statistic: float
    """Logarithm of the likelihood ratio: target window and ring with parameters of their own, against common ones, in nats."""
    target: RegionStatistics
    """Statistics of the target window."""
    background: RegionStatistics
    """Statistics of the ring: the background window without the guard window."""
    outline: SegmentedRegion | None
    """The polygon of the target, if outlines were asked for."""
    _rectangle: tuple[tuple[float, float], ...] = field(repr=False)
    """The corners of `region` in physical space."""

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """A GeoJSON feature with the target's properties: its outline in physical units, or without a significant one the rectangle
        that holds it."""
        return self._feature("physical")

    def _feature(self, coordinates: str) -> dict[str, Any]:
        properties: dict[str, Any] = {
            "target": self.number,
            "pixels": self.number_of_pixels,
            "x": self.centroid[0],
            "y": self.centroid[1],
            "column": self.centroid_in_pixels[0],
            "row": self.centroid_in_pixels[1],
            "significance": self.significance,
            "statistic": self.statistic,
            "target_mean": self.target.mean,
            "background_mean": self.background.mean,
        }
        if self.outline is not None:
            feature, is_found = self.outline._feature(coordinates), self.outline.significant_boundary
            properties |= {f"outline_{name}": feature["properties"][name] if is_found else None for name in _PROPERTIES_OF_OUTLINE}
            if is_found:
                return {"type": "Feature", "properties": properties, "geometry": feature["geometry"]}
        left, top, width, height = self.region
        in_pixels = [(x - 0.5, y - 0.5) for x in (left, left + width) for y in (top, top + height)]
        corners = self._rectangle if coordinates == "physical" else [in_pixels[index] for index in (0, 2, 3, 1)]
        ring = [list(corner) for corner in corners]
        return {"type": "Feature", "properties": properties, "geometry": {"type": "Polygon", "coordinates": [ring + ring[:1]]}}


@dataclass(frozen=True)
class DetectionStatistics:
    """How targets were searched, and how many pixels were above the threshold."""

    law: str
    number_of_looks: float
    """The number given, or estimated; 1 for laws without looks."""
    probability_of_false_alarm: float
    target_window: tuple[int, int]
    """Width and height in pixels."""
    guard_window: tuple[int, int]
    background_window: tuple[int, int]
    number_of_tested_pixels: int
    """Valid pixels with a valid pixel in their ring."""
    number_of_pixels_above_threshold: int
    """Of these, with those of components that are too small or too large for a target."""
    backend: Backend
    """Where it was computed: cuda or host."""
    backend_reason: str
    quantity: str | None = None
    """What the means are of: intensity, amplitude, or as the pixels are."""


@dataclass(frozen=True, eq=False, repr=False)
class Detections(Sequence[Detection], Generic[ImageLike]):
    """The targets of an image, a sequence of Detection in the order of their first pixels. Returned by detect_targets().

    write_geojson(), write_geopackage() and to_geodataframe() take it: the outlines of the targets, or the rectangles that hold them.
    """

    labels: ImageLike
    """The number of each pixel's target, uint32, and 0 elsewhere; of the kind of the image that was searched, with its geometry or
    coordinates."""
    statistics: DetectionStatistics
    _targets: tuple[Detection, ...] = field(repr=False)
    _has_outlines: bool = field(repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns the parts of which pickle, copy.deepcopy() and process pools construct equal detections."""
        return _restore_detections, (self.labels, first_index_of(self.labels), self.statistics, self._targets, self._has_outlines)

    def __len__(self) -> int:
        """The number of targets."""
        return len(self._targets)

    @overload
    def __getitem__(self, index: int) -> Detection: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Detection, ...]: ...

    def __getitem__(self, index: int | slice) -> Detection | tuple[Detection, ...]:
        return self._targets[index]

    def __iter__(self) -> Iterator[Detection]:
        return iter(self._targets)

    @property
    def regions(self) -> npt.NDArray[np.int64]:
        """The rectangles of the targets, N x 4: x, y, width and height in pixels, counted from 0."""
        return np.array([target.region for target in self], np.int64).reshape(-1, 4)

    @property
    def table(self) -> dict[str, npt.NDArray[Any]]:
        """The targets as a dictionary of columns, with a row for each target. pandas.DataFrame() accepts it.

        The columns are:

        * target: the number of the target
        * pixels: the number of its pixels
        * x, y: its centroid in physical space
        * column, row: its centroid in pixels, counted from 0
        * x_min, y_min, x_max, y_max: corners of pixels. Rows y_min to y_max - 1 and columns x_min to x_max - 1 of the array contain
          it.
        * peak_column, peak_row: its most significant pixel
        * significance, statistic: of this pixel
        * target_mean, background_mean: means of this pixel's target window and of its ring; of logarithms for the law log_normal,
          of ones and zeros for bernoulli with a foreground_threshold
        """

        def columns(names: str, values: list[Any], kind: Any) -> dict[str, npt.NDArray[Any]]:
            found = names.split()
            return dict(zip(found, np.array(values, kind).reshape(-1, len(found)).T.copy()))

        regions = self.regions
        return {
            **columns("target pixels", [(each.number, each.number_of_pixels) for each in self], np.int64),
            **columns("x y column row", [each.centroid + each.centroid_in_pixels for each in self], np.float64),
            **dict(zip(("x_min", "y_min", "x_max", "y_max"), np.hstack([regions[:, :2], regions[:, :2] + regions[:, 2:]]).T.copy())),
            **columns("peak_column peak_row", [each.peak for each in self], np.int64),
            **columns(
                "significance statistic target_mean background_mean",
                [(each.significance, each.statistic, each.target.mean, each.background.mean) for each in self],
                np.float64,
            ),
        }

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """A GeoJSON collection of the targets' outlines or rectangles in physical units, with their properties."""
        return {"type": "FeatureCollection", "features": self._features("physical")}

    def to_geodataframe(self, crs: str | None = None, *, clip: bool = False) -> Any:
        """Returns the targets' outlines or rectangles and their properties as a geopandas.GeoDataFrame, in the reference system of the
        image; see itk_cudafilters.to_geodataframe()."""
        return to_geodataframe(self, crs=crs, clip=clip)

    @property
    def _place(self) -> Place:
        return place_of(self.labels)

    def _features(self, coordinates: str) -> list[dict[str, Any]]:
        return [target._feature(coordinates) for target in self]

    def _example(self) -> dict[str, Any]:
        nothing, outline = RegionStatistics(0, 0.0, 0.0), region_of_nothing() if self._has_outlines else None
        target = Detection(1, 0, (0.0, 0.0), (0.0, 0.0), (0, 0, 0, 0), (0, 0), 0.0, 0.0, nothing, nothing, outline, ())
        return target._feature("pixel")

    def __repr__(self) -> str:
        statistics = self.statistics
        return (
            f"<Detections by the law {statistics.law}: {len(self)} targets, {statistics.number_of_pixels_above_threshold} of "
            f"{statistics.number_of_tested_pixels} pixels above the threshold at {statistics.probability_of_false_alarm:g}>"
        )


def _restore_detections(
    labels: Any, index: tuple[int, ...] | None, statistics: DetectionStatistics, targets: tuple[Detection, ...], has_outlines: bool
) -> Detections[Any]:
    return Detections(with_first_index(labels, index), statistics, targets, has_outlines)


@library_errors
def detect_targets(
    image: ImageLike,
    law: str,
    looks: float | None = None,
    *,
    probability_of_false_alarm: float = 1e-6,
    target_window: Window | None = None,
    guard_window: Window | None = None,
    background_window: Window | None = None,
    window_units: WindowUnits = "pixels",
    minimum_size: int = 1,
    maximum_size: int | None = None,
    outlines: bool = False,
    foreground_threshold: float | None = None,
    quantity: Quantity | None = None,
    valid_mask: Any = None,
    land_mask: Any = None,
    backend: Backend = "automatic",
    device_index: int = -1,
    progress: bool = False,
) -> Detections[ImageLike]:
    """Detects bright targets, such as ships on a radar image, with a constant rate of false alarms (CFAR).

    Around each pixel, the mean of the target window is compared with that of a ring: the background window without the guard
    window. The pixel is above the threshold if noise of one distribution, the law, makes such a difference with a probability of at
    most `probability_of_false_alarm`. The probabilities are exact for the law and for the numbers of valid pixels in the windows,
    also at the border of the image and of masks. Connected pixels above the threshold, through sides and corners, are a target. The
    computation is that of itk::CudaConstantFalseAlarmRateImageFilter in C++, whose documentation has the distributions and the references.

    Names of laws, units and backends are compared without case, '_' and '-'.

    Parameters
    ----------
    image
        Two-dimensional itk.Image, NumPy array (spacing 1, origin 0) or xarray.DataArray, of uint8, uint16, int16 or
        float32; bool and float64 are converted.
    law
        Distribution of the noise: for example gamma for the intensity of radar images, rayleigh for their amplitude.

        The name of one of noise_laws().
    looks
        Number of independent looks per pixel, for the laws gamma and rayleigh. By default it is estimated from the
        image.

        It need not be an integer. Too large a number makes more false alarms than requested; the speckle of neighbouring pixels that
        is correlated has fewer independent looks in a window than the product's number. With None or 0 it is estimated as in
        segment_region().
    probability_of_false_alarm
        Probability that a pixel of noise alone is above the threshold: above 0 and at most 0.1.
    target_window
        Side of the target window, or its width and height. By default 3 pixels.

        The width of the smallest target suits. A larger window finds fainter targets, and makes targets look larger.
    guard_window
        Side of the guard window, or its width and height. By default 15 pixels.

        It should be twice as large as the largest target, whose pixels must not be in the ring.
    background_window
        Side of the background window, or its width and height. By default 31 pixels.

        It should not reach further than the background is uniform.
    window_units
        pixels: sides are odd numbers of pixels. physical: lengths in the units of the image's coordinates, such as metres, which
        become the nearest odd number of pixels by its spacing.
    minimum_size
        Smallest number of pixels of a target.
    maximum_size
        Largest number of pixels of a target. By default there is no limit.
    outlines
        Whether to find the polygon of each target, by segment_regions() from the rectangle that holds it.

        A faint target may have no significant boundary.
    foreground_threshold
        For the law bernoulli: pixels above it are ones. Images that hold only 0 and one other value need none.
    quantity
        What the pixels are: intensity, amplitude or db. They are converted to what the law describes, as in segment_region().
    valid_mask
        Image of the same size: pixels where it is 0 are in no window and in no target.

        An array, an image of the same kind, or polygons, inside which pixels are valid: a mapping of GeoJSON, an object with
        __geo_interface__ such as those of shapely and geopandas, or a list of these. Their coordinates are those of the image; a
        pixel is inside if its centre is.
    land_mask
        Where no targets are searched, such as land: an image that is not 0 there, or polygons, as of GeoJSON.

        The reverse of valid_mask, of the same kinds.
    backend
        automatic: the GPU if one can be used, otherwise the host. cuda: the GPU, or an error. host: the host.

        The results are the same.
    device_index
        Index of the GPU; -1: the configuration's, which is ITK_CUDAFILTERS_DEVICE or 0.

        The configuration is itk.CudaFiltersConfiguration.
    progress
        Whether to show a progress bar, by the package tqdm if it is installed.

    Returns
    -------
    Detections
        A sequence of Detection, with labels, table and statistics.

    Raises
    ------
    TypeError, ValueError
        The kind, dimension or pixel type of the image is not supported, a name is unknown, a parameter is wrong, windows do not
        nest or are larger than the image, or pixels are outside the range of the law.
    RuntimeError
        The GPU was requested and cannot be used.

    Notes
    -----
    The time is proportional to the number of pixels, and hardly depends on the windows. Sums of the laws poisson and bernoulli take
    steps: the rate of false alarms is right on the average, if the target window has some tens of counts.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> mean = np.ones((200, 300), np.float32)
    >>> mean[50:55, 100:109] = mean[150:153, 200:206] = 20
    >>> found = detect_targets(rng.gamma(4, mean / 4).astype(np.float32), law="gamma", looks=4)
    >>> [tuple(round(x) for x in target.centroid) for target in found]
    [(104, 52), (203, 151)]
    """
    law = known_name("law", law, noise_laws())
    shape = plane_of(image, "image").shape
    geometry = Geometry.of(image)
    valid = pixels_to_search(image, geometry, shape, valid_mask, land_mask)
    beside = np.transpose(valid, np.argsort(axes_of(image))) if valid is not None and is_xarray(image) else valid
    image, quantity_of_law = as_law_needs(image, law, quantity, beside)
    pixels = plane_of(image, "image")
    number_of_looks = looks_for(law, looks, image, beside, backend, device_index)
    units = known_name("window_units", window_units, get_args(WindowUnits))
    given = {"target_window": target_window, "guard_window": guard_window, "background_window": background_window}
    windows = {name: _window_of(value, name, units, geometry) for name, value in given.items()}
    probability = as_number(probability_of_false_alarm, "probability_of_false_alarm")
    finds_outlines = switch(outlines, "outlines")
    labels = new_labels(image, pixels.shape, "uint32")
    arguments = (
        tuple(geometry.first.tolist()),
        plain_name(law),
        number_of_looks,
        threshold_of(foreground_threshold),
        probability,
        *windows.values(),
        whole_number(minimum_size, "minimum_size", 1, LARGEST_UNSIGNED_LONG),
        0 if maximum_size is None else whole_number(maximum_size, "maximum_size", 1, LARGEST_UNSIGNED_LONG),
        known_name("backend", backend, get_args(Backend)),
        device_number(device_index),
    )
    with progress_bar("detect_targets", progress) as update:
        found, tested, above, used, reason = core().detect(pixels, pixels_of(labels), valid, *arguments, update)
    statistics = DetectionStatistics(
        law=law,
        number_of_looks=number_of_looks if law in laws_of_looks() else 1.0,
        probability_of_false_alarm=probability,
        **windows,
        number_of_tested_pixels=tested,
        number_of_pixels_above_threshold=above,
        backend=backend_name(used),
        backend_reason=reason,
        quantity=quantity_of_law,
    )
    shapes: Sequence[SegmentedRegion | None] = [None] * len(found)
    if finds_outlines and found:
        shapes = segment_regions(
            image,
            law,
            [_region_of(entry) for entry in found],
            number_of_looks,
            foreground_threshold=foreground_threshold,
            valid_mask=beside,
            minimum_region_size=_SMALLEST_OUTLINE,
            backend=backend,
            device_index=device_index,
            progress=progress,
        )
    targets = tuple(_target_of(number, entry, geometry, outline) for number, (entry, outline) in enumerate(zip(found, shapes), 1))
    return Detections(like(labels, image, "labels"), statistics, targets, finds_outlines)


def _window_of(value: Any, name: str, units: str, geometry: Geometry) -> tuple[int, int]:
    """Returns the width and the height of a window in pixels."""
    if value is None:
        return (_DEFAULT_WINDOWS[name],) * 2
    sides = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else (value, value)
    if len(sides) != 2:
        raise ValueError(f"{name} is {value!r}; it must be a number, or a width and a height")
    found = []
    for side, spacing in zip(sides, geometry.spacing.tolist()):
        if units == "pixels":
            found.append(whole_number(side, name, 1, _LARGEST_WINDOW))
            continue
        length = as_number(side, name)
        if not (0.0 < length and length / spacing <= _LARGEST_WINDOW):
            raise ValueError(f"{name} is {value!r}; it must be a length above 0 and of at most {_LARGEST_WINDOW} pixels")
        found.append(2 * math.floor(0.5 * length / spacing) + 1)
    return found[0], found[1]


def pixels_to_search(
    image: Any, geometry: Geometry, shape: tuple[int, ...], valid_mask: Any, land_mask: Any
) -> npt.NDArray[np.uint8] | None:
    """Returns the pixels to search, by [y, x]; None for all."""
    _require_same_crs(valid_mask, image, "valid_mask")
    _require_same_crs(land_mask, image, "land_mask")
    inside = rasterize(valid_mask, geometry, shape, "valid_mask") if is_polygons(valid_mask) else None
    if inside is not None and not inside.any():
        first, last = geometry.place(np.array([[0, 0], shape[::-1]])).tolist()
        raise ValueError(
            f"valid_mask has no polygon with a pixel of the image inside: the image's corners are at {first} and {last} in x and y"
        )
    mask = valid_pixels_of(image, None if inside is not None else valid_mask)
    valid = None if mask is None else mask_beside(mask, "valid_mask", image, shape) != 0
    parts = [valid, inside]
    if is_polygons(land_mask):
        parts.append(~rasterize(land_mask, geometry, shape, "land_mask"))
    elif land_mask is not None:
        parts.append(mask_beside(land_mask, "land_mask", image, shape) == 0)
    given = [part for part in parts if part is not None]
    return np.logical_and.reduce(given).view(np.uint8) if given else None


def _require_same_crs(polygons: Any, image: Any, name: str) -> None:
    """Raises ValueError if polygons of geopandas are of another reference system than the image."""
    own, wanted = getattr(polygons, "crs", None), crs_of_image(image)
    if own is not None and hasattr(own, "equals") and wanted is not None and not own.equals(wanted, ignore_axis_order=True):
        raise ValueError(f"{name} has the reference system {own}; it must be that of the image, {wanted}: call {name}.to_crs({wanted!r})")


def _region_of(entry: dict[str, Any]) -> tuple[int, int, int, int]:
    left, top, right, bottom = entry["bounding_box"]
    return left, top, right - left, bottom - top


def _target_of(number: int, entry: dict[str, Any], geometry: Geometry, outline: SegmentedRegion | None) -> Detection:
    def statistics(name: str) -> RegionStatistics:
        values = entry[name]
        return RegionStatistics(values["number_of_pixels"], values["mean"], values["variance"])

    left, top, right, bottom = entry["bounding_box"]
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    if geometry.is_mirrored:
        corners[1:] = corners[:0:-1].copy()
    column, row = entry["centroid"]
    x, y = geometry.place(np.array([[column + 0.5, row + 0.5]]))[0].tolist()
    return Detection(
        number=number,
        number_of_pixels=entry["number_of_pixels"],
        centroid=(x, y),
        centroid_in_pixels=(column, row),
        region=_region_of(entry),
        peak=entry["peak"],
        significance=entry["significance"],
        statistic=entry["statistic"],
        target=statistics("target"),
        background=statistics("background"),
        outline=outline,
        _rectangle=tuple((x, y) for x, y in geometry.place(corners).tolist()),
    )

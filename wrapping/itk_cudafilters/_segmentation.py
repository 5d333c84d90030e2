# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from ._arrays import number as as_number
from ._features import Place, length_of, place_of, signed_area, to_geodataframe
from ._images import Geometry, axes_of, describe, empty_like, first_index_of, like, mask_beside, pixels_of, plane_of
from ._images import valid_pixels_of, with_first_index
from ._info import Backend, backend_name
from ._itk import is_itk_object
from ._library import core, empty
from ._parameters import LARGEST_UNSIGNED, LARGEST_UNSIGNED_LONG, device_number, known_name, library_errors, plain_name, snake_case
from ._parameters import switch, whole_number
from ._planes import held_in_scratch
from ._progress import progress_bar
from ._radar import Quantity, as_law_needs

# In 20 images of 64 x 64 pixels with one look the estimates ranged from 0.79 to 1.27. The factor is larger, so that
# this spread does not cause a warning.
_FACTOR_OF_ONE_LOOK = 1.5

Schedule = Literal["coarse_to_fine", "as_published"]
Start = Literal["automatic", "margin_rectangle"]
ImageLike = TypeVar("ImageLike")
"""itk.Image, numpy.ndarray or xarray.DataArray."""


@dataclass(frozen=True)
class NoiseLaw:
    """A distribution that models the pixels of a region."""

    name: str
    description: str
    """Which pixels it describes."""
    allowed_values: str
    """Images with other values are refused."""
    parameter: str
    """What else it needs to know: number_of_looks, foreground_threshold, or nothing."""
    uses_squares: bool
    """Of pixels; otherwise variances of regions are not a number."""


def noise_laws() -> dict[str, NoiseLaw]:
    """Returns the laws that segment_region() and partition_image() know, by their names.

    Examples
    --------
    >>> noise_laws()["rayleigh"].description
    'amplitude of radar images'
    """
    return dict(_noise_laws())


@functools.cache
def _noise_laws() -> dict[str, NoiseLaw]:
    laws: dict[str, NoiseLaw] = {}
    for values in core().noise_laws():
        name = snake_case(values["name"])
        laws[name] = NoiseLaw(**{**values, "name": name, "parameter": snake_case(values["parameter"])})
    return laws


@dataclass(frozen=True)
class RegionStatistics:
    """Statistics of the pixels on one side of the boundary."""

    number_of_pixels: int
    mean: float
    """Mean of the pixels; of their logarithm for the law log_normal, of ones and zeros for bernoulli with a foreground_threshold."""
    variance: float
    """Their variance; not a number for laws that need no squares of pixels, see noise_laws()."""


@dataclass(frozen=True)
class Step:
    """A recorded change of the polygon."""

    what: Literal["level", "iteration", "insertion", "removal"]
    level_exponent: int
    """The step worked on blocks of 2**level_exponent pixels a side."""
    step: int
    """Distance of the moves that were tried, in blocks."""
    number_of_nodes: int
    number_of_pixels: int
    """Inside."""
    criterion: float
    change: float
    """How much the step changed the criterion, in nats."""


@dataclass(frozen=True)
class Statistics:
    """The properties of a segmentation: law, statistics of both regions, criterion, iterations, backend and times."""

    law: str
    inside: RegionStatistics
    outside: RegionStatistics
    criterion: float
    """J, the negative log-likelihood of the image given the boundary, in nats."""
    criterion_of_one_region: float
    """J of the image without a boundary."""
    description_length: float
    """J + k log N, for a polygon of k nodes in an image of N pixels."""
    significant_boundary: bool
    """Whether that is shorter than the description by one region. If not, the label image is empty."""
    number_of_iterations: int
    stop: str
    """converged, or the limit that was reached, such as maximum_number_of_iterations."""
    record: tuple[Step, ...] = field(repr=False)
    """All changes of the polygon, in order."""
    backend: Backend
    """Where it was computed: cuda or host."""
    backend_reason: str
    seconds: dict[str, float]
    """Time of the parts: samples, sums, start, moves, removal."""
    number_of_looks: float = 1.0
    """The number given, or estimated; 1 for laws without looks."""
    quantity: str | None = None
    """What the law describes, to which the pixels were converted: intensity, amplitude or db; None if nobody said what they were."""

    @property
    def gain(self) -> float:
        """How much shorter the description by the polygon is than that by one region, in nats. It is above 0 if the boundary
        is significant."""
        return self.criterion_of_one_region - self.description_length


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation(Generic[ImageLike]):
    """The segmentation of an image into a region and its background. Returned by segment_region()."""

    label: ImageLike
    """inside_value inside, outside_value outside; of the kind of the image that was segmented, with its geometry or coordinates."""
    contour: npt.NDArray[np.float64]
    """Vertices of the polygon, N x 2: x and y in physical space, counter-clockwise in x, y, the first one not repeated."""
    statistics: Statistics
    window: tuple[int, int, int, int]
    """The rectangle that the search saw: x, y, width and height in pixels, counted from 0. It is the whole image unless
    local_background was set."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns the parts of which pickle, copy.deepcopy() and process pools construct an equal segmentation."""
        return _restore_segmentation, (self.label, first_index_of(self.label), self.contour, self.statistics, self.window)

    @property
    def contour_rc(self) -> npt.NDArray[np.float64]:
        """The vertices as rows and columns of the array, N x 2, with scikit-image's convention: [0, 0] is the centre of
        the first pixel.

        For a DataArray these are the indices along its first and its second axis.
        """
        indices = self.contour_in_pixels
        return np.ascontiguousarray(indices if axes_of(self.label) == (1, 0) else indices[:, ::-1])

    @property
    def contour_in_pixels(self) -> npt.NDArray[np.float64]:
        """The vertices as x and y in pixels, N x 2. (0, 0) is the centre of the first pixel for any spacing and
        origin."""
        # The vertices are corners of pixels. Rounding removes the error of the conversion from physical space.
        return np.asarray(np.round(Geometry.of(self.label).corners_at(self.contour) - 0.5, 6) + 0.0)

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """A GeoJSON feature of the polygon in physical units, with the statistics. shapely.geometry.shape() accepts
        it."""
        return self._features("physical")[0]

    def to_geodataframe(self, crs: str | None = None, *, clip: bool = False) -> Any:
        """Returns the polygon with its attributes as a geopandas.GeoDataFrame of one row, in the reference system of the
        image; see itk_cudafilters.to_geodataframe()."""
        return to_geodataframe(self, crs=crs, clip=clip)

    @property
    def _place(self) -> Place:
        return place_of(self.label)

    def _features(self, coordinates: str) -> list[dict[str, Any]]:
        """Returns the polygon as the only feature, counter-clockwise in the coordinates."""
        return [feature_of(self.contour, self.contour_in_pixels, self.statistics, coordinates)]

    def __repr__(self) -> str:
        inside, outside = self.statistics.inside.number_of_pixels, self.statistics.outside.number_of_pixels
        boundary = "" if self.statistics.significant_boundary else ", no significant boundary"
        return (
            f"<Segmentation by the law {self.statistics.law}: {len(self.contour)} nodes, "
            f"{inside} of {inside + outside} pixels inside{boundary}>"
        )


def _restore_segmentation(
    label: Any, index: tuple[int, ...] | None, contour: npt.NDArray[np.float64], statistics: Statistics, window: tuple[int, int, int, int]
) -> Segmentation[Any]:
    return Segmentation(with_first_index(label, index), contour, statistics, window)


def feature_of(
    contour: npt.NDArray[np.float64], in_pixels: npt.NDArray[np.float64], statistics: Statistics, coordinates: str
) -> dict[str, Any]:
    """Returns a contour, which is given in physical space and in pixels, as a feature with its statistics. Without vertices its
    geometry is None, as GeoJSON has features without a place."""
    written = contour if coordinates == "physical" else in_pixels
    if signed_area(written) < 0.0:
        written = np.roll(written[::-1], 1, axis=0)  # RFC 7946: outer rings go counter-clockwise
    ring = written.tolist()
    inside, outside = statistics.inside.mean, statistics.outside.mean
    properties = {
        "law": statistics.law,
        "significant_boundary": statistics.significant_boundary,
        "nodes": len(ring),
        "inside": _describe(statistics.inside),
        "outside": _describe(statistics.outside),
        "criterion": statistics.criterion,
        "criterion_of_one_region": statistics.criterion_of_one_region,
        "description_length": statistics.description_length,
        "pixels": statistics.inside.number_of_pixels,
        "mean_inside": inside,
        "mean_outside": outside,
        "contrast": json_number(float(contrast_of(inside, outside, statistics.law))),
        "gain": statistics.gain,
        "area": abs(signed_area(in_pixels)),
        "perimeter": length_of(in_pixels),
        "physical_area": abs(signed_area(contour)),
        "physical_perimeter": length_of(contour),
    }
    geometry = {"type": "Polygon", "coordinates": [ring + ring[:1]]} if ring else None
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def contrast_of(inside: Any, outside: Any, law: str) -> npt.NDArray[np.float64]:
    """Returns means divided by those of what surrounds them. Under the law log_normal, whose means are of logarithms, these
    are geometric means."""
    with np.errstate(all="ignore"):
        return np.asarray(np.exp(np.subtract(inside, outside)) if law == "log_normal" else np.divide(inside, outside))


def json_number(value: Any) -> Any:
    """Returns a value as JSON can hold it, which has no NaN and no infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _describe(region: RegionStatistics) -> dict[str, int | float | None]:
    # Laws that need no squares have the variance NaN, which JSON cannot hold.
    variance = None if math.isnan(region.variance) else region.variance
    return {"pixels": region.number_of_pixels, "mean": region.mean, "variance": variance}


@library_errors
def segment_region(
    image: ImageLike,
    law: str,
    looks: float | None = None,
    *,
    number_of_looks: float | None = None,
    foreground_threshold: float | None = None,
    quantity: Quantity | None = None,
    initial_contour: npt.ArrayLike | None = None,
    initial_mask: Any = None,
    initial_region: Sequence[int] | None = None,
    local_background: bool = False,
    margin: int | None = None,
    start: Start = "automatic",
    valid_mask: Any = None,
    schedule: Schedule = "coarse_to_fine",
    maximum_step: int = 32,
    minimum_edge_length: float = 32.0,
    minimum_gain: float = 1e-6,
    use_description_length: bool = True,
    maximum_number_of_nodes: int = 4096,
    maximum_number_of_iterations: int = 10000,
    minimum_region_size: int = 16,
    inside_value: int = 1,
    outside_value: int = 0,
    backend: Backend = "automatic",
    device_index: int = -1,
    progress: bool = False,
) -> Segmentation[ImageLike]:
    """Divides an image into a target and a background by the simple polygon that explains it best.

    The pixels of each region are modelled as independent samples of one distribution, the law, whose parameters are
    estimated. Nodes of the polygon are moved and inserted as long as that increases the likelihood of the image, and
    removed as long as that shortens its description. The computation is that of itk.CudaRegionSnakeImageFilter, whose
    documentation has the references.

    Names of laws, starts, schedules and backends are compared without case, '_' and '-'.

    Parameters
    ----------
    image
        Two-dimensional itk.Image, NumPy array (spacing 1, origin 0) or xarray.DataArray, of uint8, uint16, int16 or
        float32; bool and float64 are converted. The coordinates of a DataArray must be evenly spaced, and may ascend or
        descend; an axis without coordinates counts from 0.

        An image may be larger than the memory: if the environment variable ITK_CUDAFILTERS_SCRATCH names a folder on a disk,
        large arrays of the host lie there. An array of zarr or a dataset of h5py is then taken, too, and copied to that
        folder. The label image is a file there as well, and vanishes with the array.
    law
        Distribution of the pixels of each region: for example gamma for the intensity of radar images, rayleigh for
        their amplitude, gaussian for photographs and magnetic resonance images.

        The name of one of noise_laws().
    looks
        Number of independent looks per pixel, for the laws gamma and rayleigh. By default it is estimated from the
        image.

        It need not be an integer, and is below 1 if the speckle of neighbouring pixels is correlated. With None or 0 it
        is estimated as in partition_image(), and a warning is issued if the estimate is below 1 / 1.5 or above 1.5. The estimate
        reads the whole image: for a megapixel on two cores it takes 27 ms, while the search takes 15 ms. Give the
        number if it is known, to save this time.
    number_of_looks
        Another name of `looks`.
    foreground_threshold
        For the law bernoulli: pixels above it are ones. Images that hold only 0 and one other value need none.
    quantity
        What the pixels of a radar image are: intensity, amplitude, or db for decibels. They are converted to what the law
        describes: intensity for gamma, amplitude for rayleigh.

        By default an Image says it, and other pixels are taken as they are. Decibels become intensities under log_normal, and
        stay what they are under the other laws. The means of the statistics are those of the converted pixels.
    initial_contour
        Polygon that the search starts from, in physical space.

        An array of N x 2, x and y.
    initial_mask
        Image of the same size: the search starts from its largest connected part that is not 0.

        An array, or an image of the same kind.
    initial_region
        Rectangle that the search starts from: x, y, width and height in pixels, counted from 0.

        At most one of these three may be given.
    local_background
        Whether the search sees only a window around the start, so that the background is what surrounds the target. Needs
        one of the three starts. segment_regions() does this for many starts.
    margin
        Pixels that the window extends beyond the bounding box of the start. By default as many as the longer side of the
        box, and at least 16.
    start
        Start of the search without an initial contour, mask or region. automatic: the best of many rectangles.
        margin_rectangle: the image without a margin of a tenth on each side.
    valid_mask
        Image of the same size: pixels where it is 0 belong to no region.

        An array, or an image of the same kind. A DataArray is aligned with the image
        by its coordinates, and refused if that is not possible. The geometry of an itk.Image must equal that of the
        image within ITK's tolerances; a mask of origin 0, spacing 1 and no rotation is taken to have the image's
        geometry.
    schedule
        coarse_to_fine: the search works on blocks of pixels first. as_published: it works on the whole image
        at once (Perrot, Domas and Couturier, 2011).
    maximum_step
        Distance of the first moves, in blocks of the coarsest level; with as_published in pixels.
    minimum_edge_length
        Length in pixels above which an edge gets a node in its middle.
    minimum_gain
        Amount by which a move must lower the criterion, in nats.
    use_description_length
        Whether nodes are finally removed as long as that shortens the description.
    maximum_number_of_nodes
        Largest number of nodes of the polygon at any time.
    maximum_number_of_iterations
        Largest number of iterations, in each of which every node is tried once.
    minimum_region_size
        Number of pixels that each of the two regions must keep.
    inside_value
        Value of the label image inside the region, from 0 to 255.
    outside_value
        Value of the label image outside the region, from 0 to 255. It must differ from the one inside.
    backend
        automatic: the GPU if one can be used, otherwise the host. cuda: the GPU, or an error. host: the host.
    device_index
        Index of the GPU; -1: the configuration's, which is ITK_CUDAFILTERS_DEVICE or 0.

        The configuration is itk.CudaFiltersConfiguration.
    progress
        Whether to show a progress bar, by the package tqdm if it is installed.

    Returns
    -------
    Segmentation
        label, contour and statistics.

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
    >>> found = segment_region(rng.exponential(mean).astype(np.float32), law="gamma")
    >>> abs(int(found.label.sum()) - 1600) < 80
    True
    """
    law = known_name("law", law, noise_laws())
    image = held_in_scratch(image)
    valid_mask = valid_pixels_of(image, valid_mask)
    image, quantity_of_law = as_law_needs(image, law, quantity, valid_mask)
    pixels = plane_of(image, "image")
    looks = looks_for(law, one_looks(looks, number_of_looks), image, valid_mask, backend, device_index)
    starts = {"initial_contour": initial_contour, "initial_mask": initial_mask, "initial_region": initial_region}
    given = [name for name, value in starts.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} are given; the search has one start")

    if switch(local_background, "local_background") and not given:
        raise ValueError("local_background is True without a start, around which it would look: a contour, a mask or a region")
    if margin is not None and not local_background:
        raise ValueError(f"margin is {margin}, and local_background is not set; only windows have a margin")

    geometry = Geometry.of(image)
    label = new_labels(image, pixels.shape, "uint8")
    corners = None
    if initial_contour is not None:
        corners = corners_of_contour(initial_contour, geometry, pixels.shape)
    elif initial_region is not None:
        corners = corners_of_region(initial_region, pixels.shape)
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
        start,
    )
    values = whole_number(inside_value, "inside_value", 0, 255), whole_number(outside_value, "outside_value", 0, 255)
    where = known_name("backend", backend, get_args(Backend)), device_number(device_index)
    valid, start_mask = (
        None if mask is None else mask_beside(mask, name, image, pixels.shape)
        for name, mask in (("valid_mask", valid_mask), ("initial_mask", initial_mask))
    )
    first = tuple(geometry.first.tolist())
    with progress_bar("segment_region", progress) as update:
        if local_background:
            counts = None if corners is None else np.array([[len(corners)]], np.int32)
            areas = None if start_mask is None else (start_mask != 0).astype(np.uint32)
            labels = empty(pixels.shape, "uint32")
            margin_or_0 = margin_of(margin)
            regions, _, *ran = core().segment_regions(
                pixels, labels, valid, areas, corners, counts, first, margin_or_0, parameters, True, where[0], where[1:], update
            )
            if not regions:
                raise ValueError("initial_mask is 0 everywhere; it must have pixels to start from")
            result = contour_of_start(regions[0], pixels.shape)
            x, y, width, height = window = regions[0]["window"]
            inside = slice(y, y + height), slice(x, x + width)
            pixels_of(label)[...] = values[1]
            pixels_of(label)[inside] = np.where(labels[inside] != 0, *np.array(values, np.uint8))
        else:
            window = 0, 0, pixels.shape[1], pixels.shape[0]
            result, *ran = core().segment(
                pixels, pixels_of(label), valid, start_mask, corners, first, parameters, *values, *where, update
            )
    statistics = statistics_of(law, looks, quantity_of_law, result, *ran)
    return Segmentation(like(label, image, "label"), contour_of(result, geometry), statistics, window)


def margin_of(margin: int | None) -> int:
    """Returns the margin for the library, which is 0 for None."""
    return 0 if margin is None else whole_number(margin, "margin", 1, LARGEST_UNSIGNED)


def contour_of_start(region: dict[str, Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """Returns the result of a region. Raises ValueError if its start had too few pixels, so that it has no polygon."""
    result: dict[str, Any] = region["result"]
    if not result["polygon"]:
        x, y, width, height = region["window"]
        raise ValueError(
            f"the start has less than minimum_region_size valid pixels inside, or outside in its window of {width} x {height} pixels at "
            f"x = {x}, y = {y} of the image of {shape[1]} x {shape[0]}"
        )
    return result


def new_labels(image: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """Returns pixels for the labels of an image, or for an itk.Image an image with its geometry. They are not
    initialized."""
    return empty_like(image, dtype) if is_itk_object(image) else empty(shape, dtype)


def search_parameters(
    law: str,
    number_of_looks: float,
    foreground_threshold: float | None,
    schedule: str,
    maximum_step: int,
    minimum_edge_length: float,
    minimum_gain: float,
    use_description_length: bool,
    maximum_number_of_nodes: int,
    maximum_number_of_iterations: int,
    minimum_region_size: int,
    start: str = "automatic",
) -> tuple[Any, ...]:
    """Returns the parameters of the search as the library takes them. Raises TypeError or ValueError if one is wrong."""
    return (
        plain_name(law),
        number_of_looks,
        threshold_of(foreground_threshold),
        plain_name(known_name("schedule", schedule, get_args(Schedule))),
        plain_name(known_name("start", start, get_args(Start))),
        whole_number(maximum_step, "maximum_step", 0, LARGEST_UNSIGNED),
        as_number(minimum_edge_length, "minimum_edge_length"),
        as_number(minimum_gain, "minimum_gain"),
        switch(use_description_length, "use_description_length"),
        whole_number(maximum_number_of_nodes, "maximum_number_of_nodes", 0, LARGEST_UNSIGNED),
        whole_number(maximum_number_of_iterations, "maximum_number_of_iterations", 0, LARGEST_UNSIGNED),
        whole_number(minimum_region_size, "minimum_region_size", 0, LARGEST_UNSIGNED_LONG),
    )


def laws_of_looks() -> list[str]:
    """Returns the names of the laws that depend on the number of looks."""
    return [name for name, law in noise_laws().items() if law.parameter == "number_of_looks"]


def one_looks(looks: float | None, number_of_looks: float | None) -> float | None:
    """Returns the number of looks from its two parameters. Raises TypeError if both are given."""
    if looks is not None and number_of_looks is not None:
        raise TypeError("looks and number_of_looks are given; they are two names of one parameter")
    return number_of_looks if looks is None else looks


def looks_for(law: str, looks: float | None, image: Any, valid_mask: Any, backend: Backend, device_index: int) -> float:
    """Returns the number of looks for the library. Without one, or with 0, it is what a partition of the image estimates,
    which stops after its first, coarse labels, and 1 for laws that do not depend on it. Warns if an estimate is not about 1."""
    given = 0.0 if looks is None else as_number(looks, "looks")
    if given != 0.0:
        return given
    if law not in laws_of_looks():
        return 1.0
    from ._partition import partition_image

    found = partition_image(
        image, law, labels_only=True, block_size=64, valid_mask=valid_mask, backend=backend, device_index=device_index
    )
    estimate = found.statistics.number_of_looks
    if not 1.0 / _FACTOR_OF_ONE_LOOK <= estimate <= _FACTOR_OF_ONE_LOOK:
        warnings.warn(
            f"looks is not given, and {estimate:.3g} per pixel are estimated from the image; looks={estimate:.3g} says so without a warning",
            stacklevel=4,
        )
    return estimate


def threshold_of(value: Any) -> Any:
    """Returns the threshold for the library, which is NaN for None. Raises an exception unless other values are
    finite numbers."""
    if value is None:
        return math.nan
    found = as_number(value, "foreground_threshold")
    if not math.isfinite(found):
        raise ValueError(f"foreground_threshold is {value}; it must be finite, or None")
    return found


def corners_of_contour(
    contour: npt.ArrayLike, geometry: Geometry, shape: tuple[int, ...], name: str = "initial_contour"
) -> npt.NDArray[np.int32]:
    """Returns the corners of pixels that are next to the points of a contour."""
    try:
        points = np.asarray(contour, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {describe(contour)}; it must be numbers, N x 2") from None
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3:
        raise ValueError(f"{name} has the shape {points.shape}; it must be N x 2, of three points or more")
    if not np.isfinite(points).all():
        raise ValueError(f"{name} has the point {points[~np.isfinite(points).all(axis=1)][0]}; all must be finite")
    corners = np.floor(geometry.corners_at(points) + 0.5)
    is_outside = ((corners < 0.0) | (corners > shape[::-1])).any(axis=1)
    if is_outside.any():
        raise ValueError(
            f"{name} has the point {points[is_outside][0]}; it must lie in the image of {shape[1]} x {shape[0]} pixels"
        )
    return corners.astype(np.int32, order="C")


def corners_of_region(
    region: Sequence[int], shape: tuple[int, ...], name: str = "initial_region"
) -> npt.NDArray[np.int32]:
    """Returns the corners of a rectangle."""
    try:
        numbers = [operator.index(number) for number in region]
    except TypeError:
        raise TypeError(f"{name} is {region!r}; it must be whole numbers (x, y, width, height)") from None
    if len(numbers) != 4:
        raise ValueError(f"{name} is {tuple(numbers)}; it must be (x, y, width, height)")
    x, y, width, height = numbers
    if min(x, y) < 0 or min(width, height) < 1 or x + width > shape[1] or y + height > shape[0]:
        raise ValueError(
            f"{name} is {tuple(numbers)}; it must be (x, y, width, height) of a rectangle in the image of {shape[1]} x {shape[0]} "
            "pixels, its width and height 1 or more"
        )
    return np.array([[x, y], [x + width, y], [x + width, y + height], [x, y + height]], np.int32)


def contour_of(result: dict[str, Any], geometry: Geometry) -> npt.NDArray[np.float64]:
    corners = np.array(result["polygon"], np.int64).reshape(-1, 2)
    if geometry.is_mirrored:
        corners[1:] = corners[:0:-1].copy()
    return geometry.place(corners)


def statistics_of(
    law: str, number_of_looks: float, quantity: str | None, result: dict[str, Any], backend: str, reason: str
) -> Statistics:
    def region(name: str) -> RegionStatistics:
        values = result[name]
        return RegionStatistics(values["number_of_pixels"], values["mean"], values["variance"])

    return Statistics(
        law=law,
        inside=region("inside"),
        outside=region("outside"),
        criterion=result["criterion"],
        criterion_of_one_region=result["criterion_of_one_region"],
        description_length=result["description_length"],
        significant_boundary=result["significant_boundary"],
        number_of_iterations=result["number_of_iterations"],
        stop=snake_case(result["stop"]),
        record=tuple(Step(**step) for step in result["record"]),
        backend=backend_name(backend),
        backend_reason=reason,
        seconds=result["seconds"],
        number_of_looks=number_of_looks if law in laws_of_looks() else 1.0,
        quantity=quantity,
    )

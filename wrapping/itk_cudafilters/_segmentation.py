# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import math
import operator
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from ._arrays import number as as_number
from ._images import as_itk_image, as_itk_mask, axes_of, describe, first_index_of, like, with_first_index
from ._info import Backend, _backend_name
from ._itk import itk
from ._parameters import library_errors, set_parameter
from ._progress import progress_bar

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


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


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
    for values in itk.CudaRegionSnakeImageFilter[itk.Image[itk.F, 2], itk.Image[itk.UC, 2]].GetNoiseLaws():
        name = _snake_case(values["name"])
        laws[name] = NoiseLaw(**{**values, "name": name, "parameter": _snake_case(values["parameter"])})
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


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation(Generic[ImageLike]):
    """The segmentation of an image into a region and its background. Returned by segment_region()."""

    label: ImageLike
    """inside_value inside, outside_value outside; of the kind of the image that was segmented, with its geometry or coordinates."""
    contour: npt.NDArray[np.float64]
    """Vertices of the polygon, N x 2: x and y in physical space, counter-clockwise in x, y, the first one not repeated."""
    statistics: Statistics

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns the parts of which pickle, copy.deepcopy() and process pools construct an equal segmentation."""
        return _restore_segmentation, (self.label, first_index_of(self.label), self.contour, self.statistics)

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
        label = as_itk_image(self.label, "label")
        first = label.GetLargestPossibleRegion().GetIndex()
        indices = [tuple(label.TransformPhysicalPointToContinuousIndex(point)) for point in self.contour.tolist()]
        # The vertices are corners of pixels. Rounding removes the error of the conversion from physical space.
        return np.asarray(np.round(np.reshape(indices, (-1, 2)) - [first[0], first[1]], 6) + 0.0)

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """A GeoJSON feature of the polygon in physical units, with the statistics. shapely.geometry.shape() accepts
        it."""
        return self._feature(self.contour)

    def _feature(self, contour: npt.NDArray[np.float64]) -> dict[str, Any]:
        ring = contour.tolist()
        statistics = self.statistics
        return {
            "type": "Feature",
            "properties": {
                "law": statistics.law,
                "significant_boundary": statistics.significant_boundary,
                "nodes": len(ring),
                "inside": _describe(statistics.inside),
                "outside": _describe(statistics.outside),
                "criterion": statistics.criterion,
                "criterion_of_one_region": statistics.criterion_of_one_region,
                "description_length": statistics.description_length,
            },
            "geometry": {"type": "Polygon", "coordinates": [ring + ring[:1]]},
        }

    def __repr__(self) -> str:
        inside, outside = self.statistics.inside.number_of_pixels, self.statistics.outside.number_of_pixels
        boundary = "" if self.statistics.significant_boundary else ", no significant boundary"
        return (
            f"<Segmentation by the law {self.statistics.law}: {len(self.contour)} nodes, "
            f"{inside} of {inside + outside} pixels inside{boundary}>"
        )


def _restore_segmentation(
    label: Any, index: tuple[int, ...] | None, contour: npt.NDArray[np.float64], statistics: Statistics
) -> Segmentation[Any]:
    return Segmentation(with_first_index(label, index), contour, statistics)


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
    initial_contour: npt.ArrayLike | None = None,
    initial_mask: Any = None,
    initial_region: Sequence[int] | None = None,
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
    law
        Name of one of noise_laws(): for example gamma for the intensity of radar images, rayleigh for their amplitude,
        gaussian for photographs and magnetic resonance images.
    looks
        Number of independent looks per pixel, for the laws gamma and rayleigh. It need not be an integer, and is below
        1 if the speckle of neighbouring pixels is correlated. With None (default) or 0 it is estimated from the image,
        as in partition_image(), and a warning is issued if the estimate is below 1 / 1.5 or above 1.5. The estimate
        reads the whole image: for a megapixel on two cores it takes 27 ms, while the search takes 15 ms. Give the
        number if it is known, to save this time.
    number_of_looks
        Another name of `looks`.
    foreground_threshold
        For the law bernoulli: pixels above it are ones. It may be None for images that hold only 0 and one other value.
    initial_contour
        Polygon that the search starts from: N x 2, x and y in physical space.
    initial_mask
        Image or array of the same size. The search starts from its largest connected part that is not 0.
    initial_region
        Rectangle that the search starts from: (x, y, width, height) in pixels, counted from 0. At most one of these
        three may be given.
    start
        Start of the search if none of the three is given. automatic (default): the best of many rectangles.
        margin_rectangle: the image without a margin of a tenth on each side.
    valid_mask
        Image or array of the same size. Pixels where it is 0 belong to no region. A DataArray is aligned with the image
        by its coordinates, and refused if that is not possible. The geometry of an itk.Image must equal that of the
        image within ITK's tolerances; a mask of origin 0, spacing 1 and no rotation is taken to have the image's
        geometry.
    schedule
        coarse_to_fine (default): the search works on blocks of pixels first. as_published: it works on the whole image
        at once (Perrot, Domas and Couturier, 2011).
    maximum_step
        Distance of the first moves, in blocks of the coarsest level; with as_published in pixels.
    minimum_edge_length
        Length in pixels above which an edge gets a node in its middle.
    minimum_gain
        Amount by which a move must lower the criterion, in nats.
    use_description_length
        Whether nodes are finally removed as long as that shortens the description.
    maximum_number_of_nodes, maximum_number_of_iterations
        Limits of the search.
    minimum_region_size
        Number of pixels that each of the two regions must keep.
    inside_value, outside_value
        Values of the label image inside and outside the region, from 0 to 255. They must differ.
    backend
        automatic (default): the GPU if one can be used, otherwise the host. cuda: the GPU, or an error. host: the host.
    device_index
        Index of the GPU. The default, -1, takes the index that itk.CudaFiltersConfiguration holds.
    progress
        Whether to show a progress bar. This needs the package tqdm.

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
    input_image = as_itk_image(image, "image")
    law = known_name("law", law, noise_laws())
    looks = one_looks(looks, number_of_looks)
    if law in laws_of_looks() and looks in (None, 0):
        looks = _estimate_looks(image, law, valid_mask, backend, device_index)
    starts = {"initial_contour": initial_contour, "initial_mask": initial_mask, "initial_region": initial_region}
    given = [name for name, value in starts.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} are given; the search has one start")

    snake: Any = itk.CudaRegionSnakeImageFilter[type(input_image), itk.Image[itk.UC, 2]].New(input_image)
    snake.SetBackend(known_name("backend", backend, get_args(Backend)))
    snake.SetNoiseLaw(plain_name(law))
    snake.SetStart(plain_name(known_name("start", start, get_args(Start))))
    snake.SetSchedule(plain_name(known_name("schedule", schedule, get_args(Schedule))))
    for setter, name, value in (
        (snake.SetDeviceIndex, "device_index", device_index),
        (snake.SetNumberOfLooks, "looks", 1.0 if looks is None else looks),
        (snake.SetForegroundThreshold, "foreground_threshold", threshold_of(foreground_threshold)),
        (snake.SetMaximumStep, "maximum_step", maximum_step),
        (snake.SetMinimumEdgeLength, "minimum_edge_length", minimum_edge_length),
        (snake.SetMinimumGain, "minimum_gain", minimum_gain),
        (snake.SetUseDescriptionLength, "use_description_length", use_description_length),
        (snake.SetMaximumNumberOfNodes, "maximum_number_of_nodes", maximum_number_of_nodes),
        (snake.SetMaximumNumberOfIterations, "maximum_number_of_iterations", maximum_number_of_iterations),
        (snake.SetMinimumRegionSize, "minimum_region_size", minimum_region_size),
        (snake.SetInsideValue, "inside_value", inside_value),
        (snake.SetOutsideValue, "outside_value", outside_value),
    ):
        set_parameter(setter, name, value)
    if initial_contour is not None:
        snake.SetInitialPath(_make_path(input_image, initial_contour))
    if initial_mask is not None:
        snake.SetInitialMask(as_itk_mask(initial_mask, "initial_mask", input_image, image))
    if initial_region is not None:
        snake.SetInitialRegion(_make_region(input_image, initial_region))
    if valid_mask is not None:
        snake.SetValidMask(as_itk_mask(valid_mask, "valid_mask", input_image, image))
    with progress_bar(snake, "segment_region", progress):
        snake.Update()

    label = snake.GetOutput()
    label.DisconnectPipeline()
    return Segmentation(like(label, image, "label"), _contour_of(snake), _statistics_of(snake, law))


def laws_of_looks() -> list[str]:
    """Returns the names of the laws that depend on the number of looks."""
    return [name for name, law in noise_laws().items() if law.parameter == "number_of_looks"]


def one_looks(looks: float | None, number_of_looks: float | None) -> float | None:
    """Returns the number of looks from its two parameters. Raises TypeError if both are given."""
    if looks is not None and number_of_looks is not None:
        raise TypeError("looks and number_of_looks are given; they are two names of one parameter")
    return number_of_looks if looks is None else looks


def _estimate_looks(image: Any, law: str, valid_mask: Any, backend: Backend, device_index: int) -> float:
    """Returns the number of looks that a partition of the image estimates, and warns if it is not about 1. The
    partition stops after its first, coarse labels."""
    from ._partition import partition_image

    found = partition_image(
        image, law, labels_only=True, block_size=64, valid_mask=valid_mask, backend=backend, device_index=device_index
    )
    looks = found.statistics.number_of_looks
    if not 1.0 / _FACTOR_OF_ONE_LOOK <= looks <= _FACTOR_OF_ONE_LOOK:
        warnings.warn(
            f"looks is not given, and {looks:.3g} per pixel are estimated from the image; looks={looks:.3g} says so without a warning",
            stacklevel=4,
        )
    return looks


def threshold_of(value: Any) -> Any:
    """Returns the threshold for the wrapped classes, which is NaN for None. Raises an exception unless other values are
    finite numbers."""
    if value is None:
        return math.nan
    found = as_number(value, "foreground_threshold")
    if not math.isfinite(found):
        raise ValueError(f"foreground_threshold is {value}; it must be finite, or None")
    return found


def plain_name(name: str) -> str:
    """Returns a name in the form in which names are compared: lower case, without '_' and '-'."""
    return name.replace("_", "").replace("-", "").lower()


def known_name(parameter: str, name: str, known: Iterable[str]) -> str:
    """Returns the known name that equals `name`, compared without case, '_' and '-'. Raises ValueError if there is
    none."""
    if not isinstance(name, str):
        raise TypeError(f"{parameter} is {describe(name)}; it must be one of the names {', '.join(known)}")
    for candidate in known:
        if plain_name(candidate) == plain_name(name):
            return candidate
    raise ValueError(f'{parameter} is "{name}"; it must be one of {", ".join(known)}')


def _make_path(image: Any, contour: npt.ArrayLike) -> Any:
    try:
        points = np.asarray(contour, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"initial_contour is {describe(contour)}; it must be numbers, N x 2") from None
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3:
        raise ValueError(f"initial_contour has the shape {points.shape}; it must be N x 2, of three points or more")
    if not np.isfinite(points).all():
        raise ValueError(f"initial_contour has the point {points[~np.isfinite(points).all(axis=1)][0]}; all must be finite")
    path = itk.PolyLineParametricPath[2].New()
    for point in points:
        path.AddVertex(image.TransformPhysicalPointToContinuousIndex(point.tolist()))
    return path


def _make_region(image: Any, region: Sequence[int]) -> Any:
    try:
        numbers = [operator.index(number) for number in region]
    except TypeError:
        raise TypeError(f"initial_region is {region!r}; it must be whole numbers (x, y, width, height)") from None
    if len(numbers) != 4:
        raise ValueError(f"initial_region is {tuple(region)}; it must be (x, y, width, height)")
    x, y, width, height = numbers
    whole = image.GetLargestPossibleRegion()
    first, size = whole.GetIndex(), whole.GetSize()
    if min(x, y) < 0 or min(width, height) < 1 or x + width > size[0] or y + height > size[1]:
        raise ValueError(
            f"initial_region is {tuple(region)}; it must be (x, y, width, height) of a rectangle in the image of {size[0]} x {size[1]} "
            "pixels, its width and height 1 or more"
        )
    return itk.ImageRegion[2]([first[0] + x, first[1] + y], [width, height])


def _contour_of(snake: Any) -> npt.NDArray[np.float64]:
    points = [tuple(snake.GetContourPoint(index)) for index in range(snake.GetNumberOfContourPoints())]
    return np.array(points, dtype=np.float64).reshape(-1, 2)


def _statistics_of(snake: Any, law: str) -> Statistics:
    result: dict[str, Any] = snake.GetResult()

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
        stop=_snake_case(result["stop"]),
        record=tuple(Step(**step) for step in result["record"]),
        backend=_backend_name(snake.GetBackendUsed()),
        backend_reason=snake.GetBackendReason(),
        seconds=result["seconds"],
    )

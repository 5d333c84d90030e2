# SPDX-License-Identifier: Apache-2.0
"""One target through the frames of a sequence, or through the slices of a volume."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, get_args

import numpy as np
import numpy.typing as npt

from ._features import Place, place_of
from ._image import Image
from ._images import Geometry, axes_of, describe, is_xarray, like, mask_beside, pixels_of, plane_of, require_known_kind, valid_pixels_of
from ._images import with_geometry_of
from ._info import Backend
from ._itk import is_itk_object
from ._library import core
from ._parameters import device_number, known_name, library_errors, plain_error, switch, whole_number
from ._progress import progress_bar
from ._radar import Quantity, as_law_needs
from ._segmentation import ImageLike, Schedule, Start, Statistics, contour_of, feature_of, margin_of, noise_laws, search_parameters
from ._segmentation import segment_region, statistics_of

_LEAST_MARGIN = 16


@dataclass(frozen=True, eq=False, repr=False)
class TrackedRegion:
    """The target in one frame of track_region(), or in one slice of segment_volume()."""

    frame: int
    """Number of the frame, or index of the slice, from 0."""
    is_lost: bool
    """Whether the target was not found: the boundary is not significant, or it holds fewer pixels than minimum_region_size."""
    contour: npt.NDArray[np.float64]
    """Vertices of the polygon, N x 2: x and y in physical space, counter-clockwise in x, y, the first one not repeated. If the
    target is lost, it is the polygon that was judged, or has no vertices."""
    contour_in_pixels: npt.NDArray[np.float64]
    """The vertices as x and y in pixels, N x 2. (0, 0) is the centre of the first pixel for any spacing and origin."""
    statistics: Statistics
    """As of a Segmentation, of the pixels of the window."""
    window: tuple[int, int, int, int]
    """The rectangle that the search saw: x, y, width and height in pixels, counted from 0."""
    _shape: tuple[int, ...] = field(repr=False)
    _place: Place = field(repr=False)

    @property
    def contour_rc(self) -> npt.NDArray[np.float64]:
        """The vertices as rows and columns, N x 2, with scikit-image's convention: [0, 0] is the centre of the first
        pixel."""
        return np.ascontiguousarray(self.contour_in_pixels[:, ::-1])

    @property
    def label(self) -> npt.NDArray[np.uint8]:
        """The label image, 1 inside and 0 outside; 0 everywhere if the target is lost. It is drawn at each call."""
        drawn = np.empty(self._shape, np.uint8)
        corners = np.empty((0, 2), np.int32) if self.is_lost else _corners(self.contour_in_pixels)
        core().draw_polygon(drawn, corners, 1, 0)
        return drawn

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """A GeoJSON feature of the polygon in physical units, with the statistics."""
        return self._features("physical")[0]

    def _features(self, coordinates: str) -> list[dict[str, Any]]:
        feature = feature_of(self.contour, self.contour_in_pixels, self.statistics, coordinates)
        feature["properties"] = {"frame": self.frame, "is_lost": self.is_lost, **feature["properties"]}
        return [feature]

    def __repr__(self) -> str:
        found = "lost" if self.is_lost else f"{len(self.contour)} nodes, {self.statistics.inside.number_of_pixels} pixels"
        return f"<target in frame {self.frame}: {found}>"


@dataclass(frozen=True, eq=False, repr=False)
class VolumeSegmentation(Generic[ImageLike]):
    """The target in the slices of a volume. Returned by segment_volume()."""

    label: ImageLike
    """1 inside and 0 outside, uint8; of the kind of the volume, with its geometry or coordinates."""
    slices: tuple[TrackedRegion, ...]
    """The slices in which the target was looked for, in ascending order. At either end may be one in which it is lost."""

    @property
    def contours(self) -> dict[int, npt.NDArray[np.float64]]:
        """The vertices in each slice with the target, N x 3: x, y and z in physical space."""
        geometry = Geometry.of(self.label)
        matrix = geometry.direction * geometry.spacing
        found = {}
        for each in self.slices:
            if not each.is_lost:
                z = np.full((len(each.contour_in_pixels), 1), float(each.frame))
                found[each.frame] = (np.hstack([each.contour_in_pixels, z]) + geometry.first) @ matrix.T + geometry.origin
        return found

    @property
    def volume(self) -> float:
        """The volume of the target in physical units: its pixels times the size of a pixel."""
        pixels = sum(each.statistics.inside.number_of_pixels for each in self.slices if not each.is_lost)
        return float(pixels * np.prod(Geometry.of(self.label).spacing))

    def __repr__(self) -> str:
        found = [each.frame for each in self.slices if not each.is_lost]
        return f"<target in {len(found)} slices" + (f", {found[0]} to {found[-1]}>" if found else ">")


@dataclass(frozen=True)
class _Prepared:
    """A frame whose sums are made."""

    frame: int
    shape: tuple[int, ...]
    place: Place
    handle: Any
    ran: Sequence[str]


class _Follower:
    """Searches a target in one frame, and then in others, each from the polygon before it."""

    def __init__(
        self,
        law: str,
        looks: float | None,
        quantity: Quantity | None,
        valid_mask: Any,
        local_background: bool,
        margin: int | None,
        backend: Backend,
        device_index: int,
        settings: dict[str, Any],
    ) -> None:
        self._law = known_name("law", law, noise_laws())
        self._looks = looks
        self._image_options: dict[str, Any] = {"quantity": quantity, "valid_mask": valid_mask}
        self._window_options: dict[str, Any] = {"local_background": switch(local_background, "local_background"), "margin": margin}
        if margin is not None and not local_background:
            raise ValueError(f"margin is {margin}, and local_background is not set; only windows have a margin")
        self._where: dict[str, Any] = {
            "backend": known_name("backend", backend, get_args(Backend)), "device_index": device_number(device_index)
        }
        self._settings = settings
        self._shape: tuple[int, ...] = ()
        self._quantity_of_law: str | None = None

    def begin(self, frame: int, image: Any, starts: dict[str, Any]) -> tuple[TrackedRegion, npt.NDArray[np.int32]]:
        """Returns the target in the first frame and its corners."""
        has_start = any(starts[name] is not None for name in ("initial_contour", "initial_mask", "initial_region"))
        window_options: dict[str, Any] = self._window_options if has_start else {}
        with _names(frame):
            found = segment_region(
                image,
                self._law,
                self._looks,
                **starts,
                **self._image_options,
                **window_options,
                **self._settings,
                **self._where,
            )
        self._looks = found.statistics.number_of_looks
        self._quantity_of_law = found.statistics.quantity
        labels = plane_of(found.label, "label")
        self._shape = labels.shape
        corners = _corners(found.contour_in_pixels)
        is_lost = not found.statistics.significant_boundary
        place = place_of(found.label)
        return TrackedRegion(
            frame, is_lost, found.contour, found.contour_in_pixels, found.statistics, found.window, self._shape, place
        ), corners

    def follow(self, frames: Iterable[tuple[int, Any]], corners: npt.NDArray[np.int32]) -> Iterator[TrackedRegion]:
        """Yields the target in each of the frames. A frame is prepared while the one before it is searched."""
        for prepared in _one_ahead(frames, self._prepare):
            region, found = self._run(prepared, corners)
            corners = corners if region.is_lost else found
            yield region

    def _prepare(self, numbered: tuple[int, Any]) -> _Prepared:
        frame, image = numbered
        with _names(frame):
            place = place_of(image)
            valid = valid_pixels_of(image, self._image_options["valid_mask"])
            image, _ = as_law_needs(image, self._law, self._image_options["quantity"], valid)
            pixels = plane_of(image, "image")
            if pixels.shape != self._shape:
                raise ValueError(f"image has the shape {pixels.shape}; it must be that of the first frame, {self._shape}")
            valid = None if valid is None else mask_beside(valid, "valid_mask", image, pixels.shape)
            first = tuple(place.geometry.first.tolist())
            handle, *ran = core().prepare_snake_image(pixels, valid, first, self._parameters, *self._where.values())
        return _Prepared(frame, pixels.shape, place, handle, ran)

    @functools.cached_property
    def _parameters(self) -> tuple[Any, ...]:
        return search_parameters(self._law, self._looks or 1.0, **self._settings)

    def _run(self, prepared: _Prepared, corners: npt.NDArray[np.int32]) -> tuple[TrackedRegion, npt.NDArray[np.int32]]:
        """Returns the target in a frame and its corners."""
        is_local = self._window_options["local_background"]
        window = self._window(corners) if is_local else self._whole
        with _names(prepared.frame):
            result = core().run_prepared_snake(prepared.handle, window, corners, True, self._parameters)
        statistics = statistics_of(self._law, self._looks or 1.0, self._quantity_of_law, result, *prepared.ran)
        contour = contour_of(result, prepared.place.geometry)
        found = np.array(result["polygon"], np.int32).reshape(-1, 2)
        in_pixels = found.astype(np.float64) - 0.5
        if prepared.place.geometry.is_mirrored:
            in_pixels[1:] = in_pixels[:0:-1].copy()
        is_lost = not statistics.significant_boundary
        return TrackedRegion(prepared.frame, is_lost, contour, in_pixels, statistics, window, prepared.shape, prepared.place), found

    @property
    def _whole(self) -> tuple[int, int, int, int]:
        height, width = self._shape
        return 0, 0, width, height

    def _window(self, corners: npt.NDArray[np.int32]) -> tuple[int, int, int, int]:
        """Returns the bounding box of a polygon with its margin, as CudaRegionSnakeBatchFilter has it."""
        least, most = corners.min(axis=0), corners.max(axis=0)
        around = margin_of(self._window_options["margin"]) or max(int((most - least).max()), _LEAST_MARGIN)
        (left, top), (right, bottom) = np.maximum(least - around, 0), np.minimum(most + around, self._shape[::-1])
        return int(left), int(top), int(right - left), int(bottom - top)


def _mask_of_volume(mask: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    values = np.asarray(mask)
    if values.shape != shape:
        raise ValueError(f"valid_mask has the shape {values.shape}; it must be that of the volume, {shape}, or of a slice, {shape[1:]}")
    if values.dtype.kind not in "biuf":
        raise TypeError(f"valid_mask has pixels of type {values.dtype.name}; they must be numbers or truth values: give valid_mask != 0")
    return np.asarray(values != 0, bool)


def _corners(contour_in_pixels: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
    return np.rint(contour_in_pixels + 0.5).astype(np.int32, order="C")


@contextmanager
def _names(frame: int) -> Iterator[None]:
    """Lets exceptions of the block say the number of the frame."""
    try:
        yield
    except (TypeError, ValueError, RuntimeError) as error:
        found = plain_error(error)
        raise type(found)(f"frame {frame}: {found}") from None


def _one_ahead(items: Iterable[Any], prepare: Callable[[Any], Any]) -> Iterator[Any]:
    """Yields prepare(item) of each item. A thread takes and prepares the next item meanwhile."""
    iterator = iter(items)
    end = object()

    def next_one() -> Any:
        item = next(iterator, end)
        return end if item is end else prepare(item)

    with ThreadPoolExecutor(1, "itk_cudafilters frame") as pool:
        ahead = pool.submit(next_one)
        while (prepared := ahead.result()) is not end:
            ahead = pool.submit(next_one)
            yield prepared


def track_region(
    frames: Iterable[Any],
    law: str,
    looks: float | None = None,
    *,
    initial_contour: npt.ArrayLike | None = None,
    initial_mask: Any = None,
    initial_region: Sequence[int] | None = None,
    start: Start = "automatic",
    local_background: bool = False,
    margin: int | None = None,
    quantity: Quantity | None = None,
    foreground_threshold: float | None = None,
    valid_mask: Any = None,
    schedule: Schedule = "coarse_to_fine",
    maximum_step: int = 32,
    minimum_edge_length: float = 32.0,
    minimum_gain: float = 1e-6,
    use_description_length: bool = True,
    maximum_number_of_nodes: int = 4096,
    maximum_number_of_iterations: int = 10000,
    minimum_region_size: int = 16,
    backend: Backend = "automatic",
    device_index: int = -1,
) -> Iterator[TrackedRegion]:
    """Follows one target through the frames of a sequence.

    The target is found in the first frame as by segment_region(). In each further frame the search starts from the
    polygon of the frame before, at once on the level of pixels, so that it takes a few iterations as long as the target
    moves by less than its width. The next frame is converted and summed, and on a GPU uploaded, while this one is
    searched.

    Parameters
    ----------
    frames
        Two-dimensional images of one shape, as segment_region() takes them: an array whose first axis is time, a list, or
        a generator, which a thread asks for the next frame while this one is searched.
    law, looks, quantity, foreground_threshold
        As of segment_region(). The number of looks, if it is not given, is estimated from the first frame.
    initial_contour, initial_mask, initial_region, start
        The start in the first frame, as of segment_region(). If the target is not found there, the next frame is searched
        from the same start.
    local_background
        Whether a search sees only a window around the polygon before, so that the background is what surrounds the target,
        and the time does not depend on the size of the frame. The first frame is searched as a whole unless it has a start.
    margin
        Pixels that a window extends beyond the bounding box of the polygon, as of segment_region(). The target must not
        move farther from one frame to the next.
    valid_mask
        Image of the size of a frame: pixels where it is 0 belong to no region in any frame.
    schedule, maximum_step
        As of segment_region(), for the first frame.
    minimum_edge_length, minimum_gain, use_description_length, maximum_number_of_nodes
        As of segment_region(), for each frame.
    maximum_number_of_iterations, minimum_region_size
        As of segment_region(), for each frame.
    backend, device_index
        As of segment_region().

    Yields
    ------
    TrackedRegion
        The target in each frame. If its `is_lost` is true, the boundary is not significant, or the polygon before has too
        few valid pixels in this frame; the next frame is then searched from the last polygon that was found.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As segment_region(), and if a frame has another shape than the first one; the message has the number of the frame,
        which begins at 0. The exception comes when the frame's result is asked for.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> frames = rng.normal(10.0, 3.0, (4, 90, 120)).astype(np.float32)
    >>> for time, frame in enumerate(frames):
    ...     frame[30:60, 20 + 5 * time : 60 + 5 * time] += 8.0
    >>> [abs(region.contour_in_pixels[:, 0].min() - 20 - 5 * region.frame) < 3 for region in track_region(frames, "gaussian")]
    [True, True, True, True]
    """
    starts = {"initial_contour": initial_contour, "initial_mask": initial_mask, "initial_region": initial_region, "start": start}
    settings = {
        "foreground_threshold": foreground_threshold,
        "schedule": schedule,
        "maximum_step": maximum_step,
        "minimum_edge_length": minimum_edge_length,
        "minimum_gain": minimum_gain,
        "use_description_length": use_description_length,
        "maximum_number_of_nodes": maximum_number_of_nodes,
        "maximum_number_of_iterations": maximum_number_of_iterations,
        "minimum_region_size": minimum_region_size,
    }
    if isinstance(frames, (str, bytes)) or not isinstance(frames, Iterable):
        raise TypeError(f"frames is {describe(frames)}; it must be a sequence of two-dimensional images")
    follower = _Follower(law, looks, quantity, valid_mask, local_background, margin, backend, device_index, settings)
    return _track(follower, enumerate(frames), starts)


def _track(follower: _Follower, frames: Iterator[tuple[int, Any]], starts: dict[str, Any]) -> Iterator[TrackedRegion]:
    for frame, image in frames:
        region, corners = follower.begin(frame, image, starts)
        yield region
        if not region.is_lost:
            yield from follower.follow(frames, corners)


@library_errors
def segment_volume(
    volume: ImageLike,
    law: str,
    looks: float | None = None,
    *,
    start_slice: int,
    initial_contour: npt.ArrayLike | None = None,
    initial_mask: Any = None,
    initial_region: Sequence[int] | None = None,
    start: Start = "automatic",
    local_background: bool = False,
    margin: int | None = None,
    quantity: Quantity | None = None,
    foreground_threshold: float | None = None,
    valid_mask: Any = None,
    schedule: Schedule = "coarse_to_fine",
    maximum_step: int = 32,
    minimum_edge_length: float = 32.0,
    minimum_gain: float = 1e-6,
    use_description_length: bool = True,
    maximum_number_of_nodes: int = 4096,
    maximum_number_of_iterations: int = 10000,
    minimum_region_size: int = 16,
    backend: Backend = "automatic",
    device_index: int = -1,
    progress: bool = False,
) -> VolumeSegmentation[ImageLike]:
    """Follows one target through the slices of a volume, from one slice in both directions, until it is lost.

    Each slice is searched from the polygon of the slice before, as track_region() does it with frames. The result is a
    stack of polygons, one in each slice: the target may change its outline from slice to slice, but it is one part
    without holes in each.

    Parameters
    ----------
    volume
        Three-dimensional itk.Image, Image, NumPy array [z, y, x] or xarray.DataArray, of the pixel types of
        segment_region(). Slices are planes of constant z.
    law, looks, quantity, foreground_threshold
        As of segment_region(). The number of looks, if it is not given, is estimated from the first slice.
    start_slice
        Index of the slice that is searched first, from 0; negative ones count from the last.
    initial_contour
        Polygon in that slice that the search starts from: N x 2, x and y in pixels, counted from the centre of the first
        pixel.
    initial_mask, initial_region, start
        As of segment_region(), in that slice: a two-dimensional array, or x, y, width and height in pixels.
    local_background, margin
        As of track_region().
    valid_mask
        Array of the size of a slice: pixels where it is 0 belong to no region in any slice. Or of the size of the volume: voxels
        where it is 0, and those that hold no data in an Image, belong to none in their slice.
    schedule, maximum_step, minimum_edge_length, minimum_gain, use_description_length, maximum_number_of_nodes
        As of segment_region().
    maximum_number_of_iterations, minimum_region_size, backend, device_index, progress
        As of segment_region().

    Returns
    -------
    VolumeSegmentation
        The label image, the polygons in physical space, and what was found in each slice.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As segment_region(), for the slice that the message names as a frame; or the volume has not three axes, or
        `start_slice` is not in it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> volume = rng.normal(10.0, 3.0, (9, 60, 80)).astype(np.float32)
    >>> volume[2:7, 20:45, 25:60] += 9.0
    >>> found = segment_volume(volume, "gaussian", start_slice=4)
    >>> sorted(found.contours)
    [2, 3, 4, 5, 6]
    >>> abs(found.volume / (5 * 25 * 35) - 1.0) < 0.05
    True
    """
    require_known_kind(volume, "volume", of_mask="give {name}.data, and valid_mask for all slices")
    if np.ndim(pixels_of(volume)) != 3:
        raise ValueError(f"volume has {np.ndim(pixels_of(volume))} axes; it must have three, [z, y, x]")
    planes = np.transpose(pixels_of(volume), axes_of(volume))
    if planes.size == 0:
        raise ValueError(f"volume has the shape {planes.shape}; it must have pixels")
    index = whole_number(start_slice, "start_slice", -len(planes), len(planes) - 1) % len(planes)
    settings = {
        "foreground_threshold": foreground_threshold,
        "schedule": schedule,
        "maximum_step": maximum_step,
        "minimum_edge_length": minimum_edge_length,
        "minimum_gain": minimum_gain,
        "use_description_length": use_description_length,
        "maximum_number_of_nodes": maximum_number_of_nodes,
        "maximum_number_of_iterations": maximum_number_of_iterations,
        "minimum_region_size": minimum_region_size,
    }
    # Slices are searched in pixels, so that a mask has no place.
    initial_mask, valid_mask = (
        np.transpose(pixels_of(mask), axes_of(mask)) if isinstance(mask, Image) or is_xarray(mask) or is_itk_object(mask) else mask
        for mask in (initial_mask, valid_mask)
    )
    of_slices = np.ndim(valid_mask) == 3
    masks = [_mask_of_volume(valid_mask, planes.shape)] if of_slices else []
    if isinstance(volume, Image) and volume.valid_mask is not None:
        masks.append(volume.valid_mask)
    starts = {"initial_contour": initial_contour, "initial_mask": initial_mask, "initial_region": initial_region, "start": start}
    valid_mask = None if of_slices else valid_mask
    follower = _Follower(law, looks, quantity, valid_mask, local_background, margin, backend, device_index, settings)

    def slice_at(z: int) -> Any:
        """Returns a slice with its mask; of an Image with its pixels without data and with what its pixels are."""
        if not isinstance(volume, Image) and not masks:
            return planes[z]
        known: dict[str, Any] = {"no_data": volume.no_data, "quantity": volume.quantity} if isinstance(volume, Image) else {}
        return Image(planes[z], valid_mask=np.logical_and.reduce([mask[z] for mask in masks]) if masks else None, **known)

    slices = {}
    with progress_bar("segment_volume", progress) as update:
        slices[index], corners = follower.begin(index, slice_at(index), starts)
        for direction in (range(index - 1, -1, -1), range(index + 1, len(planes))):
            for region in follower.follow(((z, slice_at(z)) for z in direction), corners) if not slices[index].is_lost else ():
                slices[region.frame] = region
                if update is not None:
                    update(len(slices) / len(planes))
                if region.is_lost:
                    break
    label = np.zeros(planes.shape, np.uint8)
    for z, region in slices.items():
        label[z] = region.label
    made: Any = like(with_geometry_of(volume, label) if is_itk_object(volume) else label, volume, "label")
    if isinstance(made, Image):
        made.quantity = None
    return VolumeSegmentation(made, tuple(slices[z] for z in sorted(slices)))

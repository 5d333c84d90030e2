# SPDX-License-Identifier: Apache-2.0
"""The widgets of the plugin for napari, which `napari.yaml` lists. napari imports this module when a widget is first opened.

magicgui makes the widgets of the annotations. It resolves only those that are strings without names of this module.
"""

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from ._detection import detect_targets
from ._gaussian import gaussian_filter
from ._partition import partition_image
from ._segmentation import noise_laws
from ._vesselness import Measure, vesselness as vesselness_of

if TYPE_CHECKING:
    import napari

Extent = Literal["volumes", "planes"]
_COUNTS = {"volumes": 3, "planes": 2}
"""How many axes are filtered together. A layer may have fewer."""
_LAYERS = "list[napari.types.LayerDataTuple]"


Length = Annotated[float, {"min": 1e-9, "max": 1e9, "step": 0.5}]
Law = Annotated[str, {"choices": lambda _: list(noise_laws())}]
Looks = Annotated[float, {"min": 0.0, "max": 1e6}]
Window = Annotated[int, {"min": 1, "max": 16383, "step": 2}]


def _in_thread(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function that napari starts in a thread of its own of one that returns the data of layers.

    The window stays alive meanwhile. napari adds the layers when they are ready, and shows an exception as a notification.
    """

    @functools.wraps(compute)
    def start(*arguments: Any, **keywords: Any) -> Any:
        from napari.qt.threading import create_worker

        return create_worker(compute, *arguments, **keywords, _start_thread=True, _progress={"desc": compute.__name__})

    start.__annotations__ = {**compute.__annotations__, "return": f"napari.qt.threading.FunctionWorker[{_LAYERS}]"}
    signature = inspect.signature(compute)
    setattr(start, "__signature__", signature.replace(return_annotation=start.__annotations__["return"]))
    return start


@_in_thread
def smooth(image: "napari.layers.Image", sigma: Length = 2.0, extent: Extent = "volumes") -> "list[napari.types.LayerDataTuple]":
    """Smooths the pixels of a layer with a Gaussian.

    Parameters
    ----------
    image
        The layer. Colours and leading axes, such as time, are filtered one by one.
    sigma
        Standard deviation in the units of the layer's scale.
    extent
        volumes: along the last three axes, or both of a plane image. planes: along the last two.
    """
    pixels = _pixels(image)
    axes = range(image.ndim)[-_COUNTS[extent] :]
    smoothed = gaussian_filter(pixels, [sigma / abs(image.scale[axis]) for axis in axes], axes=tuple(axes))
    return [_layer(smoothed, image, f"smooth {sigma:g}", "image", contrast_limits=tuple(image.contrast_limits), rgb=image.rgb)]


@_in_thread
def vesselness(
    image: "napari.layers.Image",
    smallest_sigma: Length = 1.0,
    largest_sigma: Length = 4.0,
    number_of_sigmas: Annotated[int, {"min": 1, "max": 50}] = 3,
    measure: Measure = "objectness",
    bright: bool = True,
    extent: Extent = "volumes",
) -> "list[napari.types.LayerDataTuple]":
    """Enhances vessels and other lines.

    Parameters
    ----------
    image
        The layer. Leading axes, such as time, are filtered one by one.
    smallest_sigma
        Radius of the thinnest lines, in the units of the layer's scale.
    largest_sigma
        Radius of the thickest lines.
    number_of_sigmas
        Number of scales. They are a geometric series from the smallest to the largest.
    measure
        What tells lines from other things.
    bright
        Whether lines are brighter than their surroundings.
    extent
        volumes: lines of the last three axes, or of a plane image. planes: lines in each plane.
    """
    pixels, count = _grey_pixels(image), min(image.ndim, _COUNTS[extent])
    sigmas = np.geomspace(smallest_sigma, largest_sigma, number_of_sigmas).tolist()
    spacing = np.abs(image.scale[-count:]).tolist()
    found = [vesselness_of(part, sigmas, measure, bright=bright, spacing=spacing) for part in _parts(pixels, count)]
    return [_layer(np.stack(found).reshape(pixels.shape), image, measure, "image", colormap="inferno")]


@_in_thread
def partition(
    image: "napari.layers.Image", law: Law = "gaussian", looks: Looks = 0.0, segment_cost: Annotated[float, {"min": 0.0}] = 9.0
) -> "list[napari.types.LayerDataTuple]":
    """Divides each plane of a layer into all its homogeneous regions.

    Parameters
    ----------
    image
        The layer. Its last two axes are a plane.
    law
        Distribution of the pixels of each region.
    looks
        Independent looks per pixel, for gamma and rayleigh; 0: estimated.
    segment_cost
        Cost of a straight edge between two regions in nats. A larger cost gives fewer regions.
    """
    pixels, labels, tables = _grey_pixels(image), [], []
    number = 0  # of the regions of the planes before
    for part in _parts(pixels, 2):
        found = partition_image(part, law, looks, segment_cost)
        labels.append(np.where(found.labels == 0, 0, found.labels + number))
        table = found.table
        tables.append({"index": table.pop("region") + number, **table})
        number += len(found)
    features = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    return [_layer(np.stack(labels).reshape(pixels.shape), image, f"{law} regions", "labels", features=features)]


@_in_thread
def detect(
    image: "napari.layers.Image",
    law: Law = "gaussian",
    looks: Looks = 0.0,
    false_alarms: Annotated[int, {"min": 1, "max": 300, "label": "false alarms, 1e-"}] = 6,
    target_window: Window = 3,
    guard_window: Window = 15,
    background_window: Window = 31,
) -> "list[napari.types.LayerDataTuple]":
    """Finds small bright targets in each plane of a layer, with a constant rate of false alarms.

    Parameters
    ----------
    image
        The layer. Its last two axes are a plane.
    law
        Distribution of the background.
    looks
        Independent looks per pixel, for gamma and rayleigh; 0: estimated.
    false_alarms
        6: a pixel of background is above the threshold with a probability of 1e-6.
    target_window
        Side of the smallest target in pixels.
    guard_window
        Twice the side of the largest target in pixels.
    background_window
        Side of the surroundings that a target is compared with, in pixels.
    """
    pixels, places, sizes, tables = _grey_pixels(image), [], [], []
    for index, part in zip(np.ndindex(pixels.shape[:-2]), _parts(pixels, 2)):
        found = detect_targets(
            part, law, looks, probability_of_false_alarm=10.0**-false_alarms, target_window=target_window,
            guard_window=guard_window, background_window=background_window,
        )
        tables.append(found.table)
        places += [(*index, row, column) for column, row in (target.centroid_in_pixels for target in found)]
        sizes += [max(target.region[2:]) + 4 for target in found]
    features = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    shown = {"face_color": "transparent", "border_color": "red", "size": sizes or 10}
    return [_layer(np.array(places).reshape(-1, pixels.ndim), image, f"{law} targets", "points", features=features, **shown)]


def _pixels(image: Any) -> npt.NDArray[Any]:
    """Returns the pixels of a layer, of the finest level if it has several."""
    return np.asarray(image.data[0] if image.multiscale else image.data)


def _grey_pixels(image: Any) -> npt.NDArray[Any]:
    if image.rgb:
        raise ValueError(f"the layer {image.name!r} has colours; it must have one value per pixel: split its channels first")
    return _pixels(image)


def _parts(pixels: npt.NDArray[Any], count: int) -> list[npt.NDArray[Any]]:
    """Returns the parts along the last axes, one for each index of the others."""
    return list(pixels.reshape(-1, *pixels.shape[-count:]))


def _layer(data: Any, image: Any, name: str, kind: str, **attributes: Any) -> tuple[Any, dict[str, Any], str]:
    """Returns the data of a new layer, which lies where the image lies."""
    place = {key: getattr(image, key) for key in ("scale", "translate", "rotate", "shear", "affine", "units", "axis_labels")}
    return data, {"name": f"{image.name} {name}", **place, **attributes}, kind

# SPDX-License-Identifier: Apache-2.0
"""Every parameter of every public function, with values that are wrong: each is refused by a TypeError or a ValueError that names the
parameter and its value, and says what would be right. Values at the ends of the ranges are taken.

A function or a parameter that has no row here fails a test.
"""
import importlib.util
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from conftest import HAS_CLASSES

import itk_cudafilters
from itk_cudafilters._images import describe

NAN, INF = math.nan, math.inf
BEYOND_FLOAT64 = 10**400
THING = object()
SHAPE = (16, 18)
SEED = 4


def make_image():
    """A bright rectangle on a dark ground, of gamma noise, as laws of radar images want it."""
    mean = np.ones(SHAPE)
    mean[4:12, 5:13] = 9.0
    return np.random.default_rng(SEED).gamma(8.0, mean / 8.0).astype(np.float32)


IMAGE = make_image()
PICTURE = itk_cudafilters.Image(IMAGE)


@dataclass(frozen=True)
class Bad:
    value: Any
    error: type[Exception]
    words: str
    """What would be right."""
    shown: str | None = None
    """How the message shows the value; by default as Python does, or by its type."""

    def is_shown(self, message):
        return any(text in message for text in ([self.shown] if self.shown else [repr(self.value), str(self.value), describe(self.value)]))


@dataclass(frozen=True)
class Row:
    bad: list[Bad]
    taken: list[Any] = field(default_factory=list)
    beside: dict[str, Any] = field(default_factory=dict)
    """Other arguments that the value needs; ... leaves one out."""
    name: str | None = None
    """What messages call the parameter."""

    def __add__(self, bad):
        return replace(self, bad=self.bad + bad)

    def without(self, *values):
        return replace(self, bad=[each for each in self.bad if not any(each.value is value for value in values)])


def refused(error, words, *values, shown=None):
    return [Bad(value, error, words, shown) for value in values]


NO_NUMBERS = refused(TypeError, "must be a number", "thing", b"1", 1j, THING, None) + refused(ValueError, "", BEYOND_FLOAT64, shown="1000")


def real(words, *values, taken=()):
    """A number; `values` are out of its range."""
    return Row(NO_NUMBERS + refused(ValueError, words, *values), list(taken))


def whole(wanted, *no_integers_of_that_type, words="", out=(), taken=()):
    """An integer of a type of C++; `out` are integers of the type that are out of the range."""
    kinds = refused(TypeError, wanted, 2.5, NAN, "thing", None, THING, [1])
    return Row(kinds + refused(ValueError, wanted, *no_integers_of_that_type) + refused(ValueError, words, *out), list(taken))


def name_of(*taken):
    """One of several names."""
    return Row(refused(ValueError, "must be one of", "thing", "") + refused(TypeError, "must be one of", None, 3, NAN, THING), list(taken))


SWITCH = Row(refused(TypeError, "must be True or False", None, 1, 0, "no", NAN, THING), [True, False, np.True_])
IMAGES = refused(TypeError, "must be an itk.Image", None, "thing", 3.5, THING) + refused(
    TypeError, "must be", np.zeros(SHAPE, complex), shown="complex128"
)
MASK = Row(
    refused(TypeError, "must be an itk.Image", "thing", 3.5, THING)
    + refused(ValueError, "must be", np.ones((3, 3)), shown="(3, 3)"),
    [None, np.ones(SHAPE, bool)],
)
COUNT = [Bad([1.0] * 5, ValueError, "must have one, or one for each", "5 values")]
WIDTH = real("must be finite, and 0 or more", NAN, INF, -INF, -1, -1e-300, taken=[0, 1, 2.5, np.float32(1.5), (1.0, 2.0)]) + COUNT
WIDTH += refused(ValueError, "must be finite, and 0 or more", (1.0, NAN), (1.0, -1.0), shown=" is ")
POSITIVE = real("must be finite and above 0", NAN, INF, -INF, 0, -1, taken=[0.5, 3])
TYPE = Row(refused(TypeError, "must be", "thing", THING, 3.5, complex, shown=" is "), [None, "float32", np.float64])
OUTPUT = Row(
    refused(TypeError, "must be", "thing", THING, 3.5, complex, shown=" is ")
    + refused(ValueError, "must be that of the result", np.zeros((3, 3), np.float32), shown="(3, 3)"),
    [None, "float64"],
)
ORDER = Row(
    refused(ValueError, "must be 0, 1 or 2", 3, -1, 0.5, NAN, INF, "thing", None, THING, BEYOND_FLOAT64)
    + [Bad([1] * 5, ValueError, "must have one, or one for each", "5 values")],
    [0, 1, 2, (1, 0)],
)
MODE = name_of("nearest", "grid-wrap", "Mirror")
CVAL = replace(real("must be finite", NAN, INF, -INF, taken=[0, -1.0, 1e30]), beside={"mode": "constant"})
FWHM = replace(WIDTH.without(None), beside={"sigma": ...})
SPACING = Row(
    [each for each in POSITIVE.bad if each.value not in ("thing", None)]
    + refused(ValueError, "must be None, 'image', a number, or one for each axis", "thing")
    + refused(ValueError, "which has none", "image")
    + COUNT,
    [None, 0.5, (1.0, 2.0)],
)
AXES = Row(
    refused(ValueError, "must be from -2 to 1", 2, -3, BEYOND_FLOAT64)
    + refused(TypeError, "must be a whole number", 0.5, NAN, "thing", THING)
    + refused(ValueError, "twice", (0, 0), (0, -2)),
    [None, 0, -1, (1, 0)],
)
AXIS = Row(
    refused(ValueError, "must be from -2 to 1", 2, -3, BEYOND_FLOAT64) + refused(TypeError, "must be a whole number", 0.5, NAN, "thing", THING),
    [0, -1],
    name="ax",
)
CHANNEL_AXIS = replace(AXIS, taken=[None, 0], beside={"sigma": 1.0})
BACKEND = name_of("automatic", "host", "Host")
APPROXIMATION = name_of("accurate", "deriche")
PROGRESS = replace(SWITCH, taken=[False])
DEVICE = whole(
    "an integer from -2147483648 to 2147483647", 2**40, BEYOND_FLOAT64, words="must be a device's index or -1", out=[-2], taken=[-1, 0]
)
NOTHING = Row([], [])

SMOOTHING = {
    "sigma": WIDTH.without(None) + refused(TypeError, "sigma or fwhm must be given", None, shown="given"),
    "mode": MODE,
    "cval": CVAL,
    "fwhm": FWHM,
    "spacing": SPACING,
    "axes": AXES,
    "channel_axis": CHANNEL_AXIS,
    "preserve_nan": SWITCH,
    "dtype": TYPE,
    "approximation": APPROXIMATION,
    "backend": BACKEND,
}
OF_ARRAYS = {"input": Row(IMAGES, [IMAGE]), "output": OUTPUT, "valid_mask": MASK}
DERIVATIVES = {**SMOOTHING, **OF_ARRAYS, "sigma": replace(SMOOTHING["sigma"], taken=[1.0, (1.0, 2.0)]), "fwhm": replace(FWHM, taken=[2.0])}
COMPONENTS = {**DERIVATIVES, "output": replace(OUTPUT, taken=[None])}
SMOOTHING_WITHOUT_FWHM = {name: row for name, row in {**SMOOTHING, **OF_ARRAYS}.items() if name not in ("sigma", "fwhm")}
OF_SCIPY = {
    **{name: DERIVATIVES[name] for name in ("mode", "cval", "output")},
    "input": Row([bad for bad in IMAGES if not isinstance(bad.value, np.ndarray)], [IMAGE, np.zeros(SHAPE, complex)]),
    "sigma": replace(WIDTH.without(None), taken=[1.0]),
    "axes": AXES,
    "truncate": Row([], [4.0, None, 7]),  # no effect, as there is no window
    "radius": Row(refused(ValueError, "must be None, or whole numbers of 0 or more", -1, 4.0, NAN, "thing", THING), [None, 7]),
}

LINES = {
    "image": Row(IMAGES, [IMAGE]),
    "sigmas": real("each finite and above 0", NAN, INF, -INF, 0, -1, taken=[1, (1, 2), (1.5, 1.5), range(1, 3)])
    + refused(ValueError, "must be one number or several, each finite and above 0", (), (1.0, NAN), (1.0, 0)),
    "mode": MODE,
    "cval": CVAL,
}
FACTOR = replace(POSITIVE, taken=[1e-300, 0.5, 1e300])
VESSELNESS = {
    **LINES,
    "measure": name_of("objectness", "Jerman"),
    "object_dimension": Row(refused(ValueError, "must be a whole number from 0 to 1", 2, -1, 0.5, NAN, "thing", None, THING), [0, 1]),
    "bright": SWITCH,
    "normalize": SWITCH,
    "alpha": FACTOR,
    "beta": FACTOR,
    "gamma": replace(FACTOR.without(None), taken=[None, 5.0]),
    "tau": real("must be from 0 to 1", NAN, INF, -INF, -1e-9, 1.5, taken=[0, 0.5, 1]),
    "spacing": SPACING,
    "valid_mask": MASK,
    "preserve_nan": SWITCH,
    "return_scale": SWITCH,
    "return_directions": SWITCH,
    "dtype": TYPE,
    "approximation": APPROXIMATION,
    "backend": BACKEND,
}
TENSOR = {
    "image": Row(IMAGES, [IMAGE]),
    "sigma": POSITIVE,
    "integration_sigma": POSITIVE,
    "spacing": SPACING,
    "dtype": TYPE,
    "approximation": APPROXIMATION,
    "backend": BACKEND,
}

QUANTITY = Row(
    refused(ValueError, "must be one of", "thing", "") + refused(TypeError, "must be one of", 3, NAN, THING), [None, "Intensity"]
)
REGION = {
    "image": Row(IMAGES, [IMAGE]),
    "law": name_of("gamma", "Log-Normal"),
    "foreground_threshold": Row(
        [each for each in real("must be finite, or None", NAN, INF, -INF).bad if each.value is not None], [None, 0.5]
    ),
    "quantity": QUANTITY,
    "valid_mask": MASK,
    "backend": BACKEND,
    "device_index": DEVICE,
    "progress": PROGRESS,
}
RECTANGLE = (6, 5, 6, 6)
UNSIGNED = "an integer from 0 to 4294967295"
UNSIGNED_LONG = "an integer from 0 to 18446744073709551615"
BYTE = "an integer from 0 to 255"
CORNERS = [[2.0, 2.0], [12.0, 2.0], [12.0, 12.0], [2.0, 12.0]]
# Two names of one parameter; None and 0 estimate it.
LOOKS_OF_A_PIXEL = replace(real("must be a number above 0", NAN, INF, -1, taken=[None, 0, 0.5, 100]), name="looks").without(None)
LOOKS = {"looks": LOOKS_OF_A_PIXEL, "number_of_looks": LOOKS_OF_A_PIXEL}
SEARCH = {
    **REGION,
    "schedule": name_of("coarse_to_fine", "as-published"),
    "maximum_step": whole(UNSIGNED, -1, 2**32, words="must be from 1 to", out=[0, 2**32 - 1], taken=[1, 32]),
    "minimum_edge_length": real("must be from 1 to 1e9", NAN, INF, 0, -1, taken=[1, 8.5]),
    "minimum_gain": real("must be 1e-6 or more", NAN, INF, 0, -1, taken=[1e-6, 1]),
    "use_description_length": Row(refused(TypeError, "must be True or False", None, 1, "no", THING), [True, False]),
    "maximum_number_of_nodes": whole(UNSIGNED, -1, 2**32, words="must be from 4 to", out=[0, 3, 2**32 - 1], taken=[4, 4096]),
    "maximum_number_of_iterations": whole(UNSIGNED, -1, 2**32, words="must be from 1 to", out=[0, 2**32 - 1], taken=[1]),
    "minimum_region_size": whole(UNSIGNED_LONG, -1, 2**64, words="must be 1 or more", out=[0], taken=[1, 16]),
}
MARGIN = Row(refused(TypeError, "must be", 2.5, NAN, "thing", THING, [1]) + refused(ValueError, "must be", 0, -1, 2**32), [None, 1, 100])
SEARCH_IN_WINDOWS = {
    **SEARCH,
    "local_background": replace(SWITCH, beside={"initial_region": RECTANGLE}),
    "margin": replace(MARGIN, beside={"local_background": True, "initial_region": RECTANGLE}),
}
SEGMENT = {
    **SEARCH_IN_WINDOWS,
    **LOOKS,
    "initial_contour": Row(
        refused(TypeError, "must be numbers, N x 2", "thing", THING)
        + refused(ValueError, "must be N x 2, of three points or more", [[1.0, 2.0]], CORNERS[0], [[1.0, 2.0, 3.0]] * 4, shown=" has the shape ")
        + refused(ValueError, "must be finite", [*CORNERS[:3], [2.0, NAN]], [*CORNERS[:3], [INF, 2.0]], shown="point"),
        [None, CORNERS],
    ),
    "initial_mask": replace(MASK, taken=[None]),
    "initial_region": Row(
        refused(TypeError, "must be whole numbers (x, y, width, height)", "thing", 3, THING, (0, 0, NAN, 3), (0.5, 0, 3, 3))
        + refused(ValueError, "must be (x, y, width, height)", (1, 2, 3), ())
        + refused(
            ValueError,
            "must be (x, y, width, height) of a rectangle in the image of 18 x 16 pixels",
            (-1, 0, 3, 3), (0, 0, 0, 3), (0, 0, 3, -3), (0, 0, 19, 3), (10, 10, 3, 7), (0, 0, BEYOND_FLOAT64, 3),
        ),
        [None, (0, 0, 18, 14), np.array([4, 4, 8, 8])],
    ),
    "start": name_of("automatic", "MarginRectangle"),
    "minimum_region_size": SEARCH["minimum_region_size"] + refused(ValueError, "need at least", 145),
    "inside_value": whole(BYTE, -1, 256, words="must be another value than OutsideValue", out=[0], taken=[1, 255]),
    "outside_value": whole(BYTE, -1, 256, words="must be another value than OutsideValue", out=[1], taken=[0, 255]),
}
FOLLOWED = {
    **{name: row for name, row in SEGMENT.items() if name not in ("image", "inside_value", "outside_value", "number_of_looks", "progress")},
    "initial_region": replace(SEGMENT["initial_region"], taken=[None, RECTANGLE]),
}
LABELS = np.where(np.arange(SHAPE[1]) < 9, 1, 2) * np.ones((SHAPE[0], 1), int)
PARTITION = {
    **REGION,
    **LOOKS,
    "segment_cost": real("must be 0 or more nats", NAN, INF, -1, taken=[0, 9.0]),
    "block_size": whole(UNSIGNED, -1, 2**32, words="must be 1, 2, 4, 8, 16, 32 or 64", out=[0, 3, 128], taken=[1, 64]),
    "minimum_number_of_pixels": whole(UNSIGNED_LONG, -1, 2**64, words="must be 1 or more", out=[0], taken=[1, 8]),
    "maximum_number_of_iterations": whole(UNSIGNED, -1, 2**32, words="must be from 1 to", out=[0, 2**32 - 1], taken=[1, 12]),
    "allow_merging": Row(refused(TypeError, "must be True or False", None, 1, "no", THING), [True, False]),
    "labels_only": Row(refused(TypeError, "must be True or False", None, 1, "no", THING), [True, False]),
    "initial_labels": Row(
        refused(TypeError, "must be an itk.Image", "thing", 3.5, THING)
        + refused(TypeError, "must be integers", LABELS + 0.5, shown="float64")
        + refused(ValueError, "must be from 0 to 4294967295", LABELS - 5, shown="-4")
        + refused(ValueError, "must be the image's", LABELS[1:], shown="(15, 18)"),
        [None, LABELS],
    ),
}
LIST = refused(TypeError, "must be a list of images", 3, "thing", THING, *(PICTURE.to_itk() for _ in range(HAS_CLASSES)))
DEVICES = Row(
    refused(ValueError, "must be None", "thing", [])
    + refused(TypeError, "must be None", 3, THING)
    + refused(TypeError, "must be an integer", [0.5], [None], shown="devices[0]")
    + refused(ValueError, "must be an integer", [-1], [2**31], shown="devices[0]"),
    [None, "all", [0], (0, 0), np.array([0])],
)
SEVERAL = {
    "devices": DEVICES,
    **{name: PARTITION[name] for name in ("law", "looks", "segment_cost")},
    "images": Row(LIST + refused(TypeError, "must be a list of images", None), [[], [IMAGE, IMAGE], np.stack([IMAGE, IMAGE])]),
    "valid_mask": Row(LIST + refused(ValueError, "must have one for each of the 1 images", [], [None, None], shown="entries"), [None, [None]]),
    "initial_labels": Row(LIST + refused(ValueError, "must have one for each of the 1 images", [], shown="entries"), [None, [LABELS]]),
}

SIDE = f"an integer from 1 to {2**14 - 1}"
WINDOWS = {"target_window": 3, "guard_window": 5, "background_window": 9}


def window(least_odd, *taken):
    """Sides of a window, which lies within the next larger one."""
    return Row(
        refused(TypeError, SIDE, 2.5, NAN, "thing", THING)
        + refused(ValueError, SIDE, 0, -1, BEYOND_FLOAT64, (3, 0), shown=" is ")
        + refused(ValueError, "must be a number, or a width and a height", (), (3, 3, 3))
        + refused(ValueError, "must be of odd numbers", least_odd + 1, shown=f"{least_odd + 1}"),
        list(taken),
    )


DETECT = {
    **REGION,
    "looks": LOOKS_OF_A_PIXEL,
    "probability_of_false_alarm": real("must be above 0 and at most 0.1", NAN, INF, -1, 0, 0.2, taken=[1e-300, 0.1]),
    "target_window": window(3, 1, 3, (3, 1)),
    "guard_window": window(5, 3, (5, 3)),
    "background_window": window(9, 7, (9, 7)),
    "window_units": name_of("pixels", "Physical"),
    "minimum_size": whole(UNSIGNED_LONG.replace("from 0", "from 1"), 0, -1, 2**64, taken=[1, 9]),
    "maximum_size": whole(UNSIGNED_LONG.replace("from 0", "from 1"), 0, -1, 2**64, taken=[None, 1, 9]).without(None),
    "outlines": SWITCH,
    "land_mask": replace(MASK, taken=[None, np.zeros(SHAPE, bool)]),
}

RESULT = refused(TypeError, "must be a Segmentation or a Partition", None, "thing", IMAGE, THING)
RESULTS = refused(TypeError, "must be a result of segment_region", None, "thing", IMAGE, THING)
REGIONS = refused(TypeError, "must be a Partition", None, "thing", IMAGE, THING)
CLIP = SWITCH
CRS = Row(refused(TypeError, "must be text", 3, THING, b"red"), [None])
CRS_OF_TABLE = replace(CRS, taken=[None, "EPSG:32633"])
PATH = Row(refused(TypeError, "must be the name of a file", None, 3.5, THING))
TEXT = refused(TypeError, "must be text", 3, THING, b"red")
COORDINATES = name_of("pixel", "Physical")

PLANES = refused(TypeError, "must have shape, dtype and slices", None, "thing", 3.5, THING) + refused(
    TypeError, "must be real numbers", np.zeros(SHAPE, complex), shown="complex128"
)
STREAM = {
    **SMOOTHING,
    "source": Row(PLANES, [IMAGE]),
    "target": Row(PLANES + refused(ValueError, "must be that of source", np.zeros((3, 3), np.float32), shown="(3, 3)")),
    "mode": replace(MODE, taken=["nearest", "Mirror"]),
    "spacing": Row([each for each in SPACING.bad if each.value != "image"] + refused(ValueError, "must be None, a number", "image")),
    "channel_axis": replace(CHANNEL_AXIS, taken=[None], bad=[each for each in CHANNEL_AXIS.bad if each.error is TypeError]),
    "valid_mask": Row(refused(ValueError, "have none", IMAGE, "thing", shown="given"), [None]),
    "dtype": Row(refused(TypeError, "must be", "thing", THING, 3.5) + refused(ValueError, "must be that of target", "int16"), [None, "float32"]),
    "devices": DEVICES,
    "memory_limit": Row(
        refused(TypeError, "must be a number of bytes", 2.5, NAN, THING, True, [1])
        + refused(ValueError, "must be a number of bytes above 0", 0, -1, "0", "thing", "", "nan", "-8G", 2**63, "9E", BEYOND_FLOAT64),
        [None, "8G", 2**40],
    ),
    "progress": Row(refused(TypeError, "must be None, or a function", 3, "thing", THING, True), [None, lambda share: None]),
}
WITH_SCHEDULER = {
    "scheduler": Row(
        refused(ValueError, "must be threads, processes, synchronous, a client", "thing")
        + refused(TypeError, "must be threads, processes, synchronous, a client", 3, NAN, THING),
        [None, "threads"],
    ),
    "slab_planes": replace(
        Row(
            refused(TypeError, "must be", 2.5, NAN, "thing", THING) + refused(ValueError, "must be", 0, -128),
            [None, 128, 256],
        ),
        beside={"scheduler": "synchronous"},
    ),
    "timeout": replace(
        Row(refused(TypeError, "must be", "thing", THING) + refused(ValueError, "must be", 0, -1, NAN), [None, 60.0]),
        beside={"scheduler": "synchronous"},
    ),
}
WITHOUT_SCHEDULER = {
    "scheduler": NOTHING,
    **{name: Row([Bad(1, ValueError, "scheduler is not given")], [None]) for name in ("slab_planes", "timeout")},
}
STREAM |= WITH_SCHEDULER if importlib.util.find_spec("dask") else WITHOUT_SCHEDULER
for each in ("spacing", "sigma"):
    STREAM[each] = replace(STREAM[each], taken=[1.0, (1.0, 2.0)])
STREAM["spacing"] = replace(STREAM["spacing"], bad=[
    Bad("thing", ValueError, "must be None, a number") if each.value == "thing" else each for each in STREAM["spacing"].bad
])
STREAM["axes"] = replace(AXES, taken=[None, (1, 0)])
STREAM["fwhm"] = replace(FWHM, taken=[2.0])
DERIVATIVES_OF_STREAMS = {**STREAM, "cval": replace(CVAL, taken=[0])}


@dataclass(frozen=True)
class Function:
    call: Callable[..., Any]
    good: Callable[[Any], dict[str, Any]]
    """Arguments that are right, from a folder."""
    rows: dict[str, Row]


def given(**arguments):
    return lambda folder: dict(arguments)


def planes(folder):
    return {"source": IMAGE, "target": np.empty(SHAPE, np.float32), "sigma": 1.0}


def written(**arguments):
    return lambda folder: {**arguments, "path": folder / "out"}


FOUND = itk_cudafilters.partition_image(IMAGE, "gamma", 8.0)
CONTOUR = itk_cudafilters.segment_region(IMAGE, "gamma", 8.0, minimum_edge_length=4.0)
OBJECTS = {
    "Image": PICTURE,
    "Partition": FOUND,
    "Segmentation": CONTOUR,
    "Segmentations": itk_cudafilters.segment_regions(IMAGE, "gamma", [RECTANGLE], 8.0),
    "Detections": itk_cudafilters.detect_targets(IMAGE, "gamma", 8.0, **WINDOWS),
}
SMOOTH = given(input=IMAGE, sigma=1.0)
LINE = given(image=IMAGE, sigmas=1.0)
PARTS = {
    "band": Row(refused(ValueError, "must be the number of a band", 0, 2, -1, "thing", THING, True, []), [None, 1, [1, 1]]),
    "window": Row(
        refused(ValueError, "must be four whole numbers", 3, "thing", THING, (1, 2, 3), (0.5, 0, 3, 3), (0, 0, NAN, 3))
        + refused(ValueError, "of a part of the 18 x 16 pixels", (-1, 0, 3, 3), (0, 0, 0, 3), (0, 0, 19, 3)),
        [None, (0, 0, 18, 16), [2, 3, 4, 5]],
    ),
    "bounds": Row(
        refused(ValueError, "must be four numbers", 3, "thing", THING, (1, 2, 3), (0, 0, NAN, 3))
        + refused(ValueError, "of a rectangle that meets the raster", (3, 0, 3, 3), (0, 5, 3, 4), (100, 100, 101, 101), shown=" is "),
        [None, (0, 0, 5, 5), (-10, -10, 3, 3.5)],
    ),
}
if not importlib.util.find_spec("rasterio"):
    PARTS = dict.fromkeys(PARTS, NOTHING)
SPECKLE = np.random.default_rng(SEED).gamma(8.0, 1.0 / 8.0, (96, 96)).astype(np.float32)


def picture_in(folder):
    itk_cudafilters.write_image(IMAGE, folder / "image.tif")
    return {"path": folder / "image.tif"}


EACH = {
    "difference_of_gaussians": (
        given(input=IMAGE, low_sigma=1.0),
        {
            **SMOOTHING_WITHOUT_FWHM,
            "low_sigma": replace(WIDTH, taken=[1.0, (1.0, 2.0)]),
            "high_sigma": replace(WIDTH.without(None), taken=[None, 2.0])
            + refused(ValueError, "may not be less along any axis", 0.5, (0.5, 2.0)),
            "channel_axis": replace(CHANNEL_AXIS, beside={}),
        },
    ),
    "detect_targets": (given(image=IMAGE, law="gamma", looks=8.0, **WINDOWS), DETECT),
    "disable": (given(), {}),
    "enable": (given(), {}),
    "estimate_looks": (
        given(image=SPECKLE),
        {
            "image": Row(IMAGES, [SPECKLE]),
            "quantity": QUANTITY,
            "correlated": replace(SWITCH, taken=[False]),
            "valid_mask": replace(MASK, taken=[None, np.ones(SPECKLE.shape, bool)]),
        },
    ),
    "frangi": (
        LINE,
        {
            **LINES,
            **{name: VESSELNESS[name] for name in ("alpha", "beta", "gamma")},
            "scale_range": Row(refused(ValueError, "give sigmas=range", (1, 10), shown="not known"), [None]),
            "scale_step": Row(refused(ValueError, "give sigmas=range", 2, shown="not known"), [None]),
            "black_ridges": SWITCH,
        },
    ),
    "from_dlpack": (
        given(array=IMAGE),
        {
            "array": Row(refused(TypeError, "must be an array in the memory of a GPU", None, "thing", 3.5, THING, IMAGE)),
            "like": NOTHING,  # it is read beside an array on a GPU alone: test_device_images.py
        },
    ),
    "gaussian_filter": (SMOOTH, {**SMOOTHING, **OF_ARRAYS, "order": ORDER}),
    "gaussian_filter1d": (
        SMOOTH,
        {
            **{name: row for name, row in {**SMOOTHING, **OF_ARRAYS}.items() if name not in ("axes", "channel_axis")},
            "axis": AXIS,
            "order": replace(ORDER, taken=[0, 1, 2]),
            "sigma": replace(SMOOTHING["sigma"], taken=[0, 1.0]),
            "fwhm": replace(FWHM, taken=[0, 1.0]),
            "spacing": replace(SPACING, taken=[None, 0.5]),
        },
    ),
    "gaussian_gradient": (SMOOTH, COMPONENTS),
    "gaussian_gradient_magnitude": (SMOOTH, DERIVATIVES),
    "gaussian_hessian": (SMOOTH, COMPONENTS),
    "gaussian_laplace": (SMOOTH, DERIVATIVES),
    "info": (given(), {}),
    "map_devices": (
        given(function=itk_cudafilters.partition_image, items=[IMAGE], law="gamma", looks=8.0),
        {
            "function": Row(refused(TypeError, "must be a function", None, 3, "thing") + refused(TypeError, "has no parameter device_index", len, shown="len")),
            "items": Row(refused(TypeError, "must be a list", None, 3, "thing", THING), [[], [IMAGE], (IMAGE, IMAGE)]),
            "devices": DEVICES,
            "arguments": NOTHING,
        },
    ),
    "meijering": (
        LINE,
        {
            **LINES,
            "alpha": Row(
                refused(TypeError, "must be a number", "thing", 1j, THING) + refused(ValueError, "must be None", NAN, INF, 0, 0.5), [None, 1 / 3]
            ),
            "black_ridges": SWITCH,
        },
    ),
    "noise_laws": (given(), {}),
    "override": (given(), {}),
    "partition_image": (given(image=IMAGE, law="gamma"), PARTITION),
    "partition_images": (given(images=[IMAGE], law="gamma"), SEVERAL),
    "sato": (LINE, {**LINES, "black_ridges": SWITCH}),
    "segment_region": (given(image=IMAGE, law="gamma"), SEGMENT),
    "segment_regions": (
        given(image=IMAGE, law="gamma", starts=[RECTANGLE], looks=8.0),
        {
            **SEARCH,
            "looks": LOOKS_OF_A_PIXEL,
            "number_of_looks": replace(LOOKS_OF_A_PIXEL, beside={"looks": ...}),
            "margin": MARGIN,
            "devices": DEVICES,
            "starts": Row(
                refused(TypeError, "must be", "thing", None, 3, THING)
                + refused(ValueError, "must be", np.zeros((2, 3), int), [(1, 2, 3)], [(0, 0, 19, 3)], LABELS[1:], shown="starts"),
                [[], [RECTANGLE, (2, 2, 9, 9)], np.array([RECTANGLE]), [CORNERS], LABELS],
            ),
        },
    ),
    "segment_volume": (
        given(volume=np.stack([IMAGE] * 3), law="gamma", looks=8.0, start_slice=1, minimum_edge_length=4.0),
        {
            **FOLLOWED,
            "volume": Row(
                refused(TypeError, "must be an itk.Image", None, "thing", 3.5, THING) + refused(ValueError, "must have three", IMAGE, shown="2 axes")
            ),
            "start_slice": whole("an integer from -3 to 2", 3, -4, taken=[0, -1, 2]),
            "progress": PROGRESS,
        },
    ),
    "structure_tensor": (given(image=IMAGE), TENSOR),
    "structure_tensor_eigenvalues": (given(image=IMAGE), TENSOR),
    "to_device": (given(image=IMAGE), {"image": Row(IMAGES), "device": replace(DEVICE, taken=[])}),
    "to_host": (given(), {"image": Row(refused(TypeError, "must be an itk.CudaDeviceImage", None, "thing", 3.5, THING, IMAGE))}),
    "to_geodataframe": (
        given(results=FOUND),
        {
            "results": Row(RESULTS, [FOUND, CONTOUR, [FOUND, CONTOUR]]),
            "crs": CRS_OF_TABLE,
            "coordinates": COORDINATES,
            "clip": CLIP,
        },
    ),
    "track_region": (
        given(frames=[IMAGE, IMAGE], law="gamma", looks=8.0, minimum_edge_length=4.0),
        {
            **FOLLOWED,
            "frames": Row(refused(TypeError, "must be a sequence of two-dimensional images", None, "thing", 3.5, THING), [[], np.stack([IMAGE] * 2)]),
        },
    ),
    "unsharp_mask": (
        given(input=IMAGE),
        {
            **SMOOTHING_WITHOUT_FWHM,
            "radius": WIDTH,
            "amount": real("must be finite", NAN, INF, -INF, taken=[0, -1.0, 1e30]),
            "channel_axis": replace(CHANNEL_AXIS, beside={}),
        },
    ),
    "vesselness": (LINE, VESSELNESS),
    "write_geojson": (
        written(results=FOUND),
        {
            "results": Row(RESULTS, [FOUND, CONTOUR, [FOUND, CONTOUR]]),
            "crs": CRS,
            "clip": CLIP,
            "path": PATH,
            "properties": Row(refused(TypeError, "must be a dictionary, or None", 3, "thing", THING, [1]), [None, {"scene": 7}]),
            "coordinates": COORDINATES.without(None),
        },
    ),
    "write_geopackage": (
        written(results=FOUND),
        {
            "results": Row(RESULTS),
            "path": PATH,
            "layer": Row(TEXT),
            "crs": replace(CRS, taken=[]),
            "coordinates": replace(COORDINATES, taken=[]),
            "clip": replace(CLIP, taken=[]),
        },
    ),
    "write_svg": (
        written(segmentation=FOUND),
        {
            "segmentation": Row(RESULT, [FOUND, CONTOUR]),
            "path": PATH,
            "image": Row(
                [each for each in IMAGES if each.value is not None] + refused(ValueError, "the segmentation's is", IMAGE[1:], shown="(15, 18)"),
                [None, IMAGE],
            ),
            "colour": Row(TEXT, ["red"]),
            "title": Row(TEXT, ["", "<A>"]),
        },
    ),
    "write_table": (written(partition=FOUND), {"partition": Row(REGIONS, [FOUND]), "path": PATH}),
    "ndimage.gaussian_filter": (SMOOTH, {**OF_SCIPY, "order": ORDER}),
    "ndimage.gaussian_filter1d": (
        SMOOTH,
        {
            **{name: row for name, row in OF_SCIPY.items() if name != "axes"},
            "axis": AXIS,
            "order": replace(ORDER, taken=[0, 1, 2]),
        },
    ),
    "ndimage.gaussian_gradient_magnitude": (SMOOTH, OF_SCIPY),
    "ndimage.gaussian_laplace": (SMOOTH, OF_SCIPY),
    "stream.gaussian_filter": (planes, {**STREAM, "order": ORDER}),
    "stream.gaussian_gradient_magnitude": (planes, DERIVATIVES_OF_STREAMS),
    "stream.gaussian_laplace": (planes, DERIVATIVES_OF_STREAMS),
    **{
        f"stream.{name}": (
            lambda folder, components=components: {"source": IMAGE, "target": np.empty((*SHAPE, components), np.float32)},
            {
                **{each: row for each, row in STREAM.items() if each in inspect.signature(itk_cudafilters.stream.structure_tensor).parameters},
                **{each: TENSOR[each] for each in ("sigma", "integration_sigma")},
            },
        )
        for name, components in (("structure_tensor", 3), ("structure_tensor_eigenvalues", 2))
    },
    "stream.vesselness": (
        lambda folder: {"source": IMAGE, "target": np.empty(SHAPE, np.float32), "sigmas": 1.0},
        {
            **{name: row for name, row in STREAM.items() if name in inspect.signature(itk_cudafilters.stream.vesselness).parameters},
            "cval": DERIVATIVES_OF_STREAMS["cval"],
            **{name: VESSELNESS[name] for name in ("sigmas", "measure", "object_dimension", "bright", "normalize", "alpha", "beta", "gamma", "tau")},
        },
    ),
    "read_image": (picture_in, {"path": Row(PATH.bad), "quantity": QUANTITY, **PARTS}),
    "write_image": (
        lambda folder: {"image": IMAGE, "path": folder / "image.mha"},
        {
            "image": Row(refused(TypeError, "must be an image or an array of numbers", None, THING, shown="of type"), [IMAGE, PICTURE]),
            "path": PATH,
            "compress": Row(refused(TypeError, "must be True, False or None", 3, "thing"), [None, True, False]),
        },
    ),
    "Image.with_array": (
        given(array=IMAGE),
        {
            "array": Row(
                refused(TypeError, "must be an array of numbers", "thing", None, THING, shown="of type")
                + refused(ValueError, "must have 2 axes", np.ones(3), shown="(3,)"),
                [IMAGE, IMAGE.astype(np.uint8)],
            ),
            "has_components": Row(refused(TypeError, "must be True, False or None", 3, "thing"), [None, False]),
        },
    ),
    "Image.to_physical": (
        given(places=[[1.0, 2.0]]),
        {"places": Row(refused(ValueError, "must be numbers, 2 in a row", "thing", None, THING, 3.0, [1.0, 2.0, 3.0]), [[1.0, 2.0], [[1, 2]]])},
    ),
    **{f"{kind}.to_geodataframe": (given(), {"crs": CRS_OF_TABLE, "clip": CLIP}) for kind in OBJECTS if kind != "Image"},
    **{f"Image.to_{kind}": (given(), {}) for kind in ("itk", "nibabel", "simpleitk", "xarray")},
    "Partition.merge": (
        given(nats=1.0),
        {
            "nats": replace(real("must be a number", NAN, taken=[-1, 0, INF]).without(None)),
            "number": replace(
                Row(
                    refused(ValueError, "must be 1 or more", 0, -1) + refused(TypeError, "must be a whole number", 2.5, NAN, "thing", THING, [1]),
                    [1, 2, BEYOND_FLOAT64],
                ),
                beside={"nats": ...},
            ),
        },
    ),
}


def public_functions():
    """Functions and methods by name."""
    found = {}
    for module in (itk_cudafilters, itk_cudafilters.ndimage, itk_cudafilters.stream):
        prefix = module.__name__.removeprefix("itk_cudafilters").removeprefix(".")
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value):
                found[f"{prefix}.{name}" if prefix else name] = value
            elif inspect.isclass(value):
                for method, function in vars(value).items():
                    if inspect.isfunction(function) and not method.startswith("_"):
                        found[f"{name}.{method}"] = getattr(OBJECTS[name], method)
    return found


PUBLIC = public_functions()
FUNCTIONS = {name: Function(PUBLIC[name], good, rows) for name, (good, rows) in EACH.items() if name in PUBLIC}


def test_each_public_function_has_rows():
    assert set(EACH) == set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_each_parameter_has_a_row(name):
    parameters = inspect.signature(PUBLIC[name]).parameters
    assert set(EACH[name][1]) == {key for key, each in parameters.items() if each.kind is not inspect.Parameter.VAR_KEYWORD}


def call(name, parameter, value, folder):
    function = FUNCTIONS[name]
    arguments = {**function.good(folder), **function.rows[parameter].beside, parameter: value}
    try:
        result = function.call(**{key: each for key, each in arguments.items() if each is not ...})
    except ModuleNotFoundError as missing:
        pytest.skip(f"needs the package {missing.name}")
    return list(result) if inspect.isgenerator(result) else result


def plain(text):
    return text.replace("_", "").lower()


BAD = [(name, parameter) for name, function in FUNCTIONS.items() for parameter, row in function.rows.items() if row.bad]
TAKEN = [(name, parameter) for name, function in FUNCTIONS.items() for parameter, row in function.rows.items() if row.taken]


@pytest.mark.parametrize(("name", "parameter"), BAD)
def test_wrong_values_are_refused_by_name(name, parameter, tmp_path):
    row = FUNCTIONS[name].rows[parameter]
    wrong = []
    for bad in row.bad:
        shown = f"{bad.value!r:.60}"
        try:
            call(name, parameter, bad.value, tmp_path)
        except Exception as error:  # other exceptions than the right one are what is looked for
            message = str(error)
            if type(error) is not bad.error:
                wrong.append(f"{shown}: {type(error).__name__} in the place of {bad.error.__name__}: {message:.200}")
            elif plain(row.name or parameter) not in plain(message) or not bad.is_shown(message) or bad.words not in message:
                wrong.append(f"{shown}: {message:.300}; expected: {bad.words}")
        else:
            wrong.append(f"{shown}: is taken")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("name", "parameter"), TAKEN)
def test_right_values_are_taken(name, parameter, tmp_path):
    for value in FUNCTIONS[name].rows[parameter].taken:
        call(name, parameter, value, tmp_path)

# SPDX-License-Identifier: Apache-2.0
"""The part vesselness of the command: vesselness() of an image file."""
from __future__ import annotations

import argparse

import numpy as np

from .. import _image_files as files
from .._library import run_with
from .._pictures import stretch, write_picture
from .._progress import progress_bar
from .._vesselness import vesselness
from ._common import AS_ITK, READS, Clock, add_device_index, add_report, check_names, finish, in_pixels, open_volume
from ._common import progress_is_shown, require_one_component, write_each, write_image
from ._parser import Parser, WrongArguments, option_of

EPILOG = (
    "The response is the largest of all sigmas, 0 where nothing is found. Sigmas are in the physical units of the image's spacing: "
    f"millimetres for most medical formats; pixels for files that say nothing about it. {READS}: 2-D and 3-D, with one value per "
    "pixel; of RGB colours the luminance is taken, and of a 3-D file with a single slice that slice. Writes the same formats but PNG. "
    "Pixels that are NaN or infinite, or that hold no data, do not count."
)
_MEASURE = ("sigmas", "measure", "object_dimension", "bright", "normalize", "alpha", "beta", "gamma", "tau")
_LINES = ("approximation", "mode", "cval")


def add_arguments(part: Parser) -> None:
    part.add_argument("input", metavar="IN", help="image to read")
    part.add_argument("output", metavar="OUT", help="image to write, of float; its extension says the format")
    part.add_keywords(vesselness, *_MEASURE, *_LINES, "valid_mask", "backend", **AS_ITK, bright={"flags": ["--bright", "--dark"]})
    add_device_index(part)
    part.add("--scale-image", "FILE", "image to write: the sigma that gave each response")
    part.add("--mip", "FILE.png", "picture to write: the largest response along the last axis of a volume, or the response of an image")
    add_report(part)


def run(arguments: argparse.Namespace) -> None:
    _require_used(arguments)
    file = open_volume(arguments)
    require_one_component(file)
    widths = [in_pixels(arguments, [sigma] * file.axes, file.place[0]) for sigma in arguments.sigmas]
    dtype = np.dtype(np.float64 if file.dtype.name in ("uint32", "int32", "float64") else np.float32)
    for name in filter(None, (arguments.output, arguments.scale_image)):
        if files.format_of(name) == "PNG":
            raise ValueError(
                f"'{name}': PNG holds no floating-point numbers; write TIFF, MetaImage, NRRD or NIfTI, or a picture by --mip"
            )
        files.require_format(name, dtype.name, file.axes)
    check_names(arguments, file, ("valid_mask",), **{name: getattr(arguments, name) for name in ("output", "scale_image", "mip")})

    clock = Clock()
    image = files.read_slice(file)
    keywords = {name: getattr(arguments, name) for name in arguments.keywords}
    if arguments.valid_mask is not None:
        keywords["valid_mask"] = files.read_mask(arguments.valid_mask, like=image, axes=file.axes)
    seconds = {"read": clock.look()}
    with (
        progress_bar("enhancing", progress_is_shown()) as progress,
        run_with(device_index=arguments.device_index, progress=progress) as ran,
    ):
        found = vesselness(image, spacing="image", return_scale=arguments.scale_image is not None, dtype=dtype, **keywords)
    seconds["filter"] = clock.look()
    response, scale = found if isinstance(found, tuple) else (found, found)
    pixels = response.array
    write_each(
        (arguments.output, lambda name: write_image(arguments, response, name, True)),
        (arguments.scale_image, lambda name: write_image(arguments, scale, name, True)),
        (arguments.mip, lambda name: write_picture(name, stretch(np.fmax.reduce(pixels, axis=0) if pixels.ndim == 3 else pixels))),
    )
    seconds["write"] = clock.look()
    largest = float(np.fmax.reduce(pixels, axis=None, initial=0.0))
    report = {
        **{name: getattr(arguments, name) for name in ("output", *_MEASURE, "approximation")},
        "boundary_mode": arguments.mode,
        "boundary_value": arguments.cval,
        "largest_response": largest,
    }
    done = f"vessels enhanced|; {', '.join(widths)}\nlargest response {largest:g}"
    finish(arguments, file, file.axes, done, (ran["backend_used"], ran["backend_reason"]), seconds, report)


def _require_used(arguments: argparse.Namespace) -> None:
    """Raises WrongArguments for parameters of other measures."""
    others = {"alpha": ("objectness", "frangi"), "beta": ("objectness", "frangi"), "gamma": ("objectness", "frangi")}
    for name, measures in {**others, "tau": ("jerman",), "object_dimension": ("objectness",)}.items():
        if name in arguments.given and arguments.measure not in measures:
            raise WrongArguments(f"argument {option_of(name)}: it is for --measure {' and '.join(measures)}")

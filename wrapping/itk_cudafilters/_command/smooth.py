# SPDX-License-Identifier: Apache-2.0
"""The part smooth of the command: gaussian_filter() of an image file."""
from __future__ import annotations

import argparse
from typing import Any

from .. import _image_files as files
from .._gaussian import gaussian_filter
from .._library import core, run_with
from .._parameters import snake_case
from .._progress import progress_bar
from ._common import AS_ITK, READS, UNITS, Clock, add_device_index, add_report, check_names, finish, in_pixels, open_volume
from ._common import progress_is_shown, sigma_of_axes, write_image
from ._parser import SIZE, SIZE_OR_ZERO, Parser, WrongArguments, name_of

EPILOG = (
    f"{UNITS} {READS}, and writes them: 2-D and 3-D, with one or several components per pixel. The output has the pixel type of the "
    "input; integers are truncated, which is half a grey level less on average. Pixels that are NaN or infinite, or that hold no data, "
    "do not spread: they are NaN, or hold no data, in the output. A 3-D file with a single slice is smoothed within that slice. "
    "IN may also be a store of Zarr, the folder of an array or of an OME-Zarr image, whose largest array is smoothed in slabs along "
    "its axes in space to the store OUT.zarr; its pixels must be finite."
)
_SLABS = ("number_of_slabs", "look_ahead", "devices", "bytes_up", "bytes_down", "peak_device_bytes")


def add_arguments(part: Parser) -> None:
    part.add_argument("input", metavar="IN", help="image to read")
    part.add_argument("output", metavar="OUT", help="image to write; its extension says the format")
    keywords = ("sigma", "approximation", "mode", "cval", "valid_mask", "backend")
    part.add_keywords(gaussian_filter, *keywords, **AS_ITK, sigma={"flags": ["-s", "--sigma"], "required": True})
    add_device_index(part)
    text = "whether the GPU gets the image in slabs: on, off, or automatic if it does not fit into the GPU's memory or slabs are faster"
    part.add("--streaming", "NAME", text, name_of(("automatic", "on", "off")), "automatic")
    text = "bytes of the GPU's memory to take at most: 6G, 512M, ...; 0: the configuration's"
    part.add("--device-memory-limit", "SIZE", text, SIZE_OR_ZERO, 0)
    text = "memory for pixels, on the host and on the GPU: 8G, 512M, ... With it a file is read, smoothed and written in parts"
    part.add("--memory", "SIZE", text, SIZE)
    text = "scheduler of Dask that smooths a store of Zarr slab by slab: its address, tcp://HOST:8786, or threads or processes of this machine"
    part.add("--scheduler", "ADDRESS", text, str)
    text = "seconds after which a cluster that completes no slab is given up; without it there is no limit"
    part.add("--timeout", "SECONDS", text, float)
    part.add_argument("--overwrite", nargs=0, default=False, help="replace OUT if it is a store of Zarr that exists")
    add_report(part)


def run(arguments: argparse.Namespace) -> None:
    from .._stores import is_zarr

    if is_zarr(arguments.input):
        from ._stores import smooth

        smooth(arguments)
        return
    for name in ("scheduler", "timeout", "overwrite"):
        if name in getattr(arguments, "given", ()):
            raise WrongArguments(f"argument --{name}: it is for stores of Zarr, and '{arguments.input}' is none")
    _run_on_file(arguments)


def _run_on_file(arguments: argparse.Namespace) -> None:
    if arguments.memory and arguments.valid_mask:
        raise WrongArguments("argument --valid-mask: not allowed with argument --memory, by which the image is read in parts")
    file = open_volume(arguments)
    if file.pixel_type == "complex":
        raise ValueError(f"'{file.name}' holds complex numbers; smooth the real and the imaginary part instead")
    sigma = sigma_of_axes(arguments.sigma, file.axes)
    widths = in_pixels(arguments, sigma, file.place[0])
    files.require_format(arguments.output, file.dtype.name, len(file.size), file.components)
    check_names(arguments, file, ("valid_mask",), output=arguments.output)

    smooth = _smooth
    if arguments.memory:
        from .. import _file_parts as parts

        if parts.can_smooth(file, arguments.output, arguments.memory):
            smooth = _smooth_in_parts
    ran, seconds = smooth(file, sigma, arguments)
    rate = 2.0 * file.size_in_bytes / sum(seconds.values())
    slabs = f"; {ran['number_of_slabs']} slabs, {rate / 1e9:.3g} GB/s read and written" if arguments.memory or ran["number_of_slabs"] > 1 else ""
    names = ("output", "approximation", "streaming", "device_memory_limit")
    report = {
        **{name: getattr(arguments, name) for name in names},
        "components_per_pixel": file.components,
        "sigma": sigma,
        "boundary_mode": arguments.mode,
        "boundary_value": arguments.cval,
        "memory": arguments.memory or 0,
        "bytes_per_second": rate,
        "slabs": {"used": snake_case(ran["used"]), **{key: ran[key] for key in _SLABS}},
    }
    backend = (ran["backend_used"], ran["backend_reason"])
    finish(arguments, file, len(file.size), f"smoothed|; {widths}{slabs}", backend, seconds, report)


_Smoothed = tuple[dict[str, Any], dict[str, float]]
"""Where the filter ran, and its slabs; seconds."""


def _smooth(file: files.ImageFile, sigma: list[float], arguments: argparse.Namespace) -> _Smoothed:
    clock = Clock()
    image = file.read()
    valid = None if arguments.valid_mask is None else files.read_mask(arguments.valid_mask, like=image, axes=file.axes)
    seconds = {"read": clock.look() + file.seconds}
    # ITK's filter begins with the last axis of the image, which is the first one of the array, and goes on with x.
    order = (file.axes - 1, *range(file.axes - 1))
    settings = {name: getattr(arguments, name) for name in ("device_index", "streaming", "device_memory_limit")}
    with progress_bar("smoothing", progress_is_shown()) as progress, run_with(**settings, progress=progress) as ran:
        smoothed = gaussian_filter(
            image,
            [sigma[axis] for axis in order],
            spacing="image",
            axes=[len(file.size) - 1 - axis for axis in order],
            valid_mask=valid,
            dtype=image.dtype,
            **_how(arguments),
        )
    seconds["filter"] = clock.look()
    write_image(arguments, smoothed, arguments.output)
    seconds["write"] = clock.look()
    return ran, seconds


def _smooth_in_parts(file: files.ImageFile, sigma: list[float], arguments: argparse.Namespace) -> _Smoothed:
    from .. import _file_parts as parts

    core()  # load the library outside the measured time
    clock = Clock()
    with progress_bar("smoothing", progress_is_shown(), 2.0 * file.size_in_bytes) as progress:
        ran, read, written = parts.smooth(
            file,
            arguments.output,
            sigma,
            arguments.memory,
            progress,
            **_how(arguments),
            memory_limit=min(size for size in (arguments.memory, arguments.device_memory_limit) if size),
        )
    return ran, {"read": read, "filter": clock.look() - read - written, "write": written}


def _how(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in ("mode", "cval", "approximation", "backend")}

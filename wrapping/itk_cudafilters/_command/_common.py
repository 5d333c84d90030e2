# SPDX-License-Identifier: Apache-2.0
"""What the parts of the command have in common: options, checks of their files, and reports."""
from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import _image_files as files
from .._image import Image
from .._library import core
from .._output import is_stream, print_text, require_writable, write_text
from .._rasters import RasterFile
from ._parser import STANDARD_OUTPUT, Parser, WrongArguments, option_of

UNITS = (
    "Physical units are those of the image's spacing and origin: millimetres for most medical formats; pixels, with the centre of "
    "the first at 0, for files that say nothing about it."
)
READS = f"Reads {files.FORMATS}"
# The names and the defaults of ITK's filters for the keywords of gaussian_filter() and vesselness().
AS_ITK: dict[str, dict[str, Any]] = {
    "mode": {"flags": ["--boundary-mode"], "default": "nearest"},
    "cval": {"flags": ["--boundary-value"]},
    "approximation": {"default": "deriche"},
}
# Of a larger sigma ITK's approximation of a Gaussian is off by more than 2.5e-4 of the image's range.
_LARGEST_SIGMA = 1e4
# Names of types of pixels, as ITK's.
_TYPE_NAMES = {
    "uint8": "unsigned_char", "int8": "char", "uint16": "unsigned_short", "int16": "short", "uint32": "unsigned_int", "int32": "int",
    "float32": "float", "float64": "double",
}


def add_device_index(part: Parser) -> None:
    text = "index of the GPU; -1: the configuration's, which is ITK_CUDAFILTERS_DEVICE or 0"
    part.add("--device-index", "INT", text, int, -1)


def add_report(part: Parser) -> None:
    part.add("--report", "FILE.json", "JSON file to write: what was done and found, and how long it took; '-' is the standard output")


def progress_is_shown() -> bool:
    return sys.stderr.isatty()


class Clock:
    """A stopwatch: look() returns the seconds since its last call."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def look(self) -> float:
        last, self._start = self._start, time.perf_counter()
        return self._start - last


# Files


def open_volume(arguments: argparse.Namespace) -> files.ImageFile:
    """Opens the input of a filter along lines, and checks that it and the options of these fit."""
    if "cval" in arguments.given and arguments.mode != "constant":
        raise WrongArguments("argument --boundary-value: it is for --boundary-mode constant")
    file = files.ImageFile(arguments.input)
    if len(file.size) < 2 or file.axes > 3:
        raise ValueError(f"'{file.name}' has {len(file.size)} dimensions; 2 and 3 are supported")
    return file


def require_one_component(file: files.ImageFile | RasterFile) -> None:
    # Grey images with a palette are also read as colours, whose luminance is taken.
    if file.components != 1 and file.pixel_type != "rgb":
        raise ValueError(f"'{file.name}' has {file.components} components per pixel; extract one of them first")


def type_name(dtype: np.dtype[Any]) -> str:
    return _TYPE_NAMES.get(dtype.name, dtype.name)


def check_names(arguments: argparse.Namespace, file: files.ImageFile | RasterFile, masks: Iterable[str], **outputs: str | None) -> None:
    """Checks the files to write before the work begins. `output` may replace the input.

    Raises WrongArguments if two of them, or one of them and an input, are the same file, and OSError if one cannot be
    written."""
    names = [*file.paths, *(Path(getattr(arguments, name)) for name in masks if getattr(arguments, name) is not None)]
    taken = {_identity_of(path): f"the input '{path}'" for path in reversed(names)}
    for option, name in {**outputs, "report": arguments.report}.items():
        if name is None or is_stream(name):
            continue
        is_image = Path(name).suffix.lower() in (".mhd", ".nhdr", ".hdr", ".img", ".gz")
        paths = files.paths_of(name) if is_image else [Path(name)]
        replaced = set()
        if option == "output" and _identity_of(paths[0]) == _identity_of(file.paths[0]):
            replaced = {_identity_of(path) for path in file.paths}
        for path in paths:
            identity = _identity_of(path)
            named = "OUT" if option in ("output", "features") else option_of(option)
            if identity in taken and identity not in replaced:
                raise WrongArguments(f"'{path}' of {named} is {taken[identity]} too: name another file")
            require_writable(path)
            taken[identity] = f"that of {named}"


def _identity_of(path: Path) -> Any:
    """Returns a value that identifies a file, whatever path or link names it."""
    try:
        found = os.stat(path)
        return found.st_dev, found.st_ino
    except OSError:
        return os.path.realpath(path)


def write_image(arguments: argparse.Namespace, image: Image, name: str, compress: bool | None = None) -> None:
    for loss in files.losses_of(image, name):
        print(f"{arguments.parser.prog}: {loss}", file=sys.stderr)
    files.write_checked(image, name, compress)


def write_each(*outputs: tuple[str | None, Callable[[str], None]]) -> None:
    """Writes the outputs that have a name. One that cannot be written does not prevent the others; its exception is raised
    at the end."""
    errors = []
    for name, write in outputs:
        if name is not None:
            try:
                write(name)
            except OSError as error:
                errors.append(error)
    if errors:
        raise OSError("; ".join(map(str, errors)))


# Sigmas


def sigma_of_axes(sigma: Sequence[float], axes: int) -> list[float]:
    if len(sigma) not in (1, axes):
        raise WrongArguments(
            f"argument --sigma: {len(sigma)} values are given; it takes one, or one for each of the {axes} axes of the image"
        )
    return [*sigma] * (axes // len(sigma))


def in_pixels(arguments: argparse.Namespace, sigma: Sequence[float], steps: Sequence[float]) -> str:
    """Returns what the sigmas of the axes are in pixels, as text.

    Raises WrongArguments for one at which ITK's approximation does not follow a Gaussian."""
    widths = [width / step for width, step in zip(sigma, steps)]
    text = product(sigma[:1] if len(set(sigma)) == 1 else sigma)
    if getattr(arguments, "approximation", None) == "deriche" and max(widths) > _LARGEST_SIGMA:
        raise WrongArguments(
            f"sigma {text} is {product(widths)} pixels; --approximation deriche is inaccurate above {_LARGEST_SIGMA:g}: "
            "give --approximation accurate"
        )
    return f"sigma {text} = {product(widths)} pixels"


def product(numbers: Sequence[float]) -> str:
    return " x ".join(f"{number:.4g}" for number in numbers)


# Results


def finish(
    arguments: argparse.Namespace, file: files.ImageFile | RasterFile, axes: int, done: str, backend: tuple[str, str], seconds: dict[str, float],
    report: dict[str, Any],
) -> None:
    """Prints what was done, where and why there, and writes the report, to which this is added."""
    used, reason = backend[0].lower(), backend[1]
    verb, _, rest = done.partition("|")
    name = getattr(arguments, "output", None) or arguments.input
    say(arguments, f"{name}: {verb} with backend {used} in {seconds['filter']:.3g} s ({reason}){rest}")
    of_file = {"input": arguments.input, "size": file.size[:axes], "spacing": file.spacing[:axes], "component_type": type_name(file.dtype)}
    of_run = {"backend_asked": arguments.backend, "backend_used": used, "backend_reason": reason, "seconds": seconds}
    write_report(arguments, of_file | report | of_run)


def say(arguments: argparse.Namespace, text: str) -> None:
    """Prints what was done; on the standard error if the standard output is one of the files to write."""
    if STANDARD_OUTPUT in vars(arguments).values():
        print(text, file=sys.stderr)
    else:
        print_text(text + "\n")


def write_report(arguments: argparse.Namespace, report: dict[str, Any]) -> None:
    """Writes the report, if it is asked for, with what holds for all of them."""
    if arguments.report is None:
        return
    whole = {**report, "host_threads": core().number_of_threads(), "itk_version": core().itk_version}
    text = json.dumps(_json_value(whole), indent=2, ensure_ascii=False, allow_nan=False)
    # File names may be arbitrary bytes, which Python represents by surrogates. JSON must be UTF-8.
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    write_text(arguments.report, clean + "\n")


def _json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _json_value(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

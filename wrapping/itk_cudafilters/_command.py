# SPDX-License-Identifier: Apache-2.0
"""The command itk-cudafilters. docs/user/parameters.md describes its arguments, which are the same as the C++
command's."""
from __future__ import annotations

import argparse
import importlib.util
import inspect
import json
import math
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, get_args

import numpy as np
import numpy.typing as npt

from . import _file_parts as parts
from . import _image_files as files
from ._arrays import truncate
from ._files import draw_boundaries, draw_overlay, stretch, write_geojson, write_picture, write_table
from ._image import Image
from ._info import Backend, backend_name, info
from ._itk import itk
from ._library import core, empty, takes_type
from ._line_passes import HostLineFilter, Pass, Term
from ._output import require_writable, write_text
from ._partition import Partition, partition_image
from ._progress import progress_bar, progress_of
from ._segmentation import Schedule, Segmentation, Start, known_name, noise_laws, segment_region
from ._vesselness import Measure
from .stream import bytes_of



def _defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}


# Without --looks the command segment assumes one look, while the function segment_region() estimates the number.
_DEFAULTS = _defaults_of(segment_region) | {"looks": 1.0}
# partition_image() estimates the looks for None and for 0.
_PARTITION_DEFAULTS = _defaults_of(partition_image) | {"looks": 0.0}
_UNITS = (
    "Physical units are those of the image's spacing and origin: millimetres for most medical formats; pixels, with the centre of "
    "the first at 0, for files that say nothing about it."
)
_READS = "Reads and writes PNG, TIFF, MetaImage (.mha, .mhd), NRRD and NIfTI"


class WrongArguments(Exception):
    """Raised for arguments that do not fit the image."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status: 0 if it succeeded, 1 if it failed. Wrong arguments raise SystemExit
    with status 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = make_parser(given)
    parsed = parser.parse_args(given)
    try:
        with _ended_by_signals():
            parsed.run(parsed)
    except WrongArguments as error:
        parsed.parser.error(str(error))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except (OSError, RuntimeError, TypeError, ValueError, MemoryError) as error:
        reason = files.reason_of(error)
        if isinstance(error, MemoryError) or "Resource temporarily unavailable" in reason:
            # The libraries may not end properly without their threads.
            print(f"{parsed.parser.prog}: not enough memory{' for threads' if reason else ''}", file=sys.stderr, flush=True)
            os._exit(1)
        print(f"{parsed.parser.prog}: {reason}", file=sys.stderr)
        return 1
    return 0


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Lets signals that would end the process end the block by SystemExit instead, so that what it has begun is removed."""

    def end(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def make_parser(parts: Iterable[str]) -> argparse.ArgumentParser:
    """Returns the parser. Only the commands in `parts` get their options, because some options need the names of laws
    from the library, which takes time to load."""
    parser = _Parser(
        prog="itk-cudafilters",
        description="Gaussian filters, vesselness and segmentation of image files, on the GPU if there is one, else on the host.",
        epilog="'itk-cudafilters smooth --help' describes smooth, and so on. "
        "Exit status: 0 done; 1 an image could not be read, processed or written; 2 wrong arguments.",
        allow_abbrev=False,
    )
    _add_version(parser)
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)
    for name, (description, epilog, add, run) in _PARTS.items():
        part = subparsers.add_parser(
            name, help=description, description=description, epilog=epilog, allow_abbrev=False, formatter_class=_HelpFormatter
        )
        _add_version(part)
        part.set_defaults(run=run, parser=part)
        if name in parts:
            add(part)
    return parser


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        self.exit(2, f"{self.prog}: {message}\n'{self.prog} --help' lists the arguments.\n")


class _HelpFormatter(argparse.HelpFormatter):
    """Adds the defaults to the help texts."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.required or action.default is None or action.default == argparse.SUPPRESS or not action.option_strings:
            return action.help
        default = {True: "on", False: "off"}.get(action.default, action.default) if action.nargs == 0 else action.default
        return f"{action.help} (default: {_number(default)})" if action.nargs != 0 or default == "on" else action.help


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


class _PrintVersion(argparse.Action):
    """Prints the versions, which are looked up only for this option."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"itk-cudafilters {version('itk-cudafilters')}, ITK {core().itk_version}")
        parser.exit()


def _add_version(parser: argparse.ArgumentParser) -> None:
    text = "show the versions of this program and of ITK"
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help=text)


# Types of arguments


def _name_of(known: Sequence[str]) -> Callable[[str], str]:
    def convert(text: str) -> str:
        try:
            return known_name("the value", text, known)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def _sigmas(text: str) -> list[float]:
    values = _numbers(text, float)
    if not all(value > 0.0 and math.isfinite(value) for value in values):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number greater than 0, or one for each axis: x,y[,z]")
    return values


def _rectangle(text: str) -> tuple[int, ...]:
    values = tuple(_numbers(text, int))
    if len(values) != 4 or min(values) < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not X,Y,WIDTH,HEIGHT in pixels")
    return values


def _numbers(text: str, kind: Callable[[str], Any]) -> list[Any]:
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers divided by ','") from None


def _size(text: str) -> int:
    try:
        return bytes_of(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of bytes above 0, or one with K, M, G or T as in 8G") from None


def _size_or_zero(text: str) -> int:
    return 0 if text == "0" else _size(text)


def _float(text: str) -> float:
    """Converts text to a number. Returns NaN if it is not a number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _above_zero(text: str) -> float:
    value = _float(text)
    if not (value > 0.0 and math.isfinite(value)):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number greater than 0")
    return value


def _from_zero_to_one(text: str) -> float:
    value = _float(text)
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0 to 1")
    return value


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of 0 or more")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of 1 or more")
    return int(text)


def _byte(text: str) -> int:
    if not text.isdecimal() or int(text) > 255:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0 to 255")
    return int(text)


def _picture(text: str) -> str:
    if Path(text).suffix.lower() != ".png":
        raise argparse.ArgumentTypeError(f"'{text}' does not end in .png")
    return text


# Options of several commands


def _add_sigma(part: argparse.ArgumentParser, default: list[float] | None) -> None:
    part.add_argument(
        "-s",
        "--sigma",
        type=_sigmas,
        required=default is None,
        default=default,
        metavar="S[,S...]",
        help="standard deviation of the Gaussian in the physical units of the image: one value, or one for each axis x,y[,z]"
        + ("" if default is None else f" (default: {_number(default[0])})"),
    )


def _add_lines(part: argparse.ArgumentParser, deriche: str) -> None:
    """Adds the options of the recursive filters: approximation and continuation of lines."""
    part.add_argument(
        "--approximation",
        type=_name_of(("deriche", "accurate")),
        default="deriche",
        metavar="NAME",
        help=f"deriche: {deriche}",
    )
    part.add_argument(
        "--boundary-mode",
        type=_name_of(("nearest", "reflect", "mirror", "wrap", "constant")),
        default="nearest",
        metavar="NAME",
        help="how lines continue beyond their ends, as in scipy.ndimage: nearest, reflect, mirror, wrap or constant",
    )
    part.add_argument(
        "--boundary-value",
        type=float,
        default=0.0,
        metavar="VALUE",
        help="constant: what lies beyond the ends of the lines",
    )


def _add_backend(part: argparse.ArgumentParser) -> None:
    part.add_argument(
        "--backend",
        type=_name_of(get_args(Backend)),
        default=_DEFAULTS["backend"],
        metavar="NAME",
        help="automatic: the GPU if one can be used, else the host; cuda: the GPU or an error; host: never the GPU",
    )
    part.add_argument(
        "--device-index",
        type=int,
        default=_DEFAULTS["device_index"],
        metavar="INT",
        help="index of the GPU; -1: the configuration's, which is ITK_CUDAFILTERS_DEVICE or 0",
    )


def _add_report(part: argparse.ArgumentParser) -> None:
    part.add_argument("--report", metavar="FILE.json", help="JSON file to write: what was done and found, and how long it took")


def _sigma_of_axes(sigma: list[float], axes: int) -> list[float]:
    if len(sigma) not in (1, axes):
        raise WrongArguments(
            f"argument --sigma: {len(sigma)} values are given; it takes one, or one for each of the {axes} axes of the image"
        )
    return sigma * axes if len(sigma) == 1 else sigma


def _write_report(name: str | None, report: dict[str, Any]) -> None:
    if name is None:
        return
    text = json.dumps(_json_value(report), indent=2, ensure_ascii=False, allow_nan=False)
    # File names may be arbitrary bytes, which Python represents by surrogates. JSON must be UTF-8.
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    write_text(name, clean + "\n")


def _json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _json_value(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _surroundings() -> dict[str, Any]:
    return {"host_threads": core().number_of_threads(), "itk_version": core().itk_version}


def _progress_is_shown() -> bool:
    return sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None


def _check_names(arguments: argparse.Namespace, inputs: Iterable[Path], **outputs: str | None) -> None:
    """Checks the files to write before the work begins. The first of `outputs` may replace the first of the inputs.

    Raises WrongArguments if two of them, or one of them and an input, are the same file, and OSError if one cannot be
    written."""
    names = list(inputs)
    taken = {_identity_of(path): f"the input '{path}'" for path in reversed(names)}
    for i, (option, name) in enumerate({**outputs, "report": arguments.report}.items()):
        if name is None:
            continue
        is_image = Path(name).suffix.lower() in (".mhd", ".nhdr", ".hdr", ".img", ".gz")
        paths = files.paths_of(name) if is_image else [Path(name)]
        replaced = set()
        if i == 0 and names and _identity_of(paths[0]) == _identity_of(names[0]):
            replaced = {_identity_of(path) for path in names}
        for path in paths:
            identity = _identity_of(path)
            if identity in taken and identity not in replaced:
                raise WrongArguments(f"'{path}' of {'OUT' if i == 0 and option == 'output' else _option(option)} is {taken[identity]} too: name another file")
            require_writable(path)
            taken[identity] = f"that of {_option(option)}"


def _identity_of(path: Path) -> Any:
    """Returns what is the same for all names of a file."""
    try:
        found = os.stat(path)
        return found.st_dev, found.st_ino
    except OSError:
        return os.path.realpath(path)


def _print_losses(arguments: argparse.Namespace, image: Image, name: str) -> None:
    for loss in files.losses_of(image, name):
        print(f"{arguments.parser.prog}: {loss}", file=sys.stderr)


def _write_image(arguments: argparse.Namespace, image: Image, name: str, compress: bool | None = None) -> None:
    _print_losses(arguments, image, name)
    files.write_checked(image, name, compress)


class _Clock:
    """A stopwatch: look() returns the seconds since its last call."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def look(self) -> float:
        last, self._start = self._start, time.perf_counter()
        return self._start - last


# smooth


def _add_smooth(part: argparse.ArgumentParser) -> None:
    part.add_argument("input", metavar="IN", help="image to read")
    part.add_argument("output", metavar="OUT", help="image to write; its extension says the format")
    _add_sigma(part, None)
    _add_lines(part, "ITK's results; accurate: closer to a Gaussian")
    _add_backend(part)
    part.add_argument(
        "--streaming",
        type=_name_of(("automatic", "on", "off")),
        default="automatic",
        metavar="NAME",
        help="automatic: in slabs if the image does not fit into the GPU's memory; on: in slabs; off: never",
    )
    part.add_argument(
        "--device-memory-limit",
        type=_size_or_zero,
        default=0,
        metavar="SIZE",
        help="bytes of the GPU's memory to take at most: 6G, 512M, ...; 0: the configuration's",
    )
    part.add_argument(
        "--memory",
        type=_size,
        metavar="SIZE",
        help="memory for pixels, on the host and on the GPU: 8G, 512M, ... With it a file is read, smoothed and written in parts",
    )
    _add_report(part)


def _smooth(arguments: argparse.Namespace) -> None:
    file = files.ImageFile(arguments.input)
    if file.pixel_type == "complex":
        raise ValueError(f"'{file.name}' holds complex numbers; smooth the real and the imaginary part instead")
    if len(file.size) < 2 or file.axes > 3:
        raise ValueError(f"'{file.name}' has {len(file.size)} dimensions; 2 and 3 are supported")
    sigma = _sigma_of_axes(arguments.sigma, file.axes)
    files.require_format(arguments.output, file.dtype.name, len(file.size), file.components)
    _check_names(arguments, file.paths, output=arguments.output)
    in_parts = arguments.memory and parts.can_smooth(file, arguments.output, arguments.memory)
    done, slabs, seconds = (_smooth_in_parts if in_parts else _smooth_whole)(file, sigma, arguments)
    rate = 2.0 * file.size_in_bytes / sum(seconds.values())
    count = slabs["number_of_slabs"]
    in_pixels = [width / abs(step) for width, step in zip(sigma, file.spacing)]
    print(
        f"{arguments.output}: smoothed with backend {done['backend_used']} in {seconds['filter']:g} s, {rate / 1e9:g} GB/s read and "
        f"written ({done['backend_reason']}; {slabs['used']}, {count} slab{'' if count == 1 else 's'}); "
        f"sigma {_product(sigma)} is {_product(in_pixels)} pixels"
    )
    report = {
        "input": arguments.input,
        "output": arguments.output,
        "size": file.size,
        "spacing": file.spacing,
        "component_type": _type_name(file.dtype),
        "components_per_pixel": file.components,
        "sigma": sigma,
        "approximation": arguments.approximation,
        "boundary_mode": arguments.boundary_mode,
        "boundary_value": arguments.boundary_value,
        "streaming": arguments.streaming,
        "device_memory_limit": arguments.device_memory_limit,
        "memory": arguments.memory or 0,
        "backend_asked": arguments.backend,
        **done,
        "seconds": seconds,
        "bytes_per_second": rate,
        "slabs": {"used": _snake_case(slabs["used"]), **{key: slabs[key] for key in _SLABS}},
        **_surroundings(),
    }
    _write_report(arguments.report, report)


def _product(numbers: Sequence[float]) -> str:
    return " x ".join(f"{number:.4g}" for number in (numbers if len(set(numbers)) > 1 else numbers[:1]))


_SLABS = ("number_of_slabs", "look_ahead", "devices", "bytes_up", "bytes_down", "peak_device_bytes")
_Smoothed = tuple[dict[str, str], dict[str, Any], dict[str, float]]
"""The backend, what GetSlabReport() says, and seconds."""


def _smooth_whole(file: files.ImageFile, sigma: list[float], arguments: argparse.Namespace) -> _Smoothed:
    clock = _Clock()
    image = file.read()
    seconds = {"read": clock.look() + file.seconds}
    settings: dict[str, Any] = {key: getattr(arguments, key) for key in ("device_index", "streaming", "device_memory_limit")}
    with progress_bar("smoothing", _progress_is_shown()) as settings["progress"]:
        smoothed = _smooth_pixels(file, image, sigma, arguments, settings)
    seconds["filter"] = clock.look()
    _write_image(arguments, image._with_result(smoothed, False), arguments.output)
    seconds["write"] = clock.look()
    settings["backend_used"] = settings["backend_used"].lower()
    return {key: settings[key] for key in ("backend_used", "backend_reason")}, settings, seconds


def _smooth_pixels(
    file: files.ImageFile, image: Image, sigma: list[float], arguments: argparse.Namespace, settings: dict[str, Any]
) -> npt.NDArray[Any]:
    """Smooths each component in float, or in double for pixel types that float cannot represent exactly. Adds to the
    settings how it went."""
    lines = HostLineFilter(arguments.approximation, arguments.backend, settings)
    shape = (*reversed(file.size[: file.axes]), file.components)
    pixels = image.array.reshape(shape)
    if not takes_type(pixels.dtype.name):
        pixels = pixels.astype(np.float64)
    smoothed = empty(shape, pixels.dtype.name)
    valid = None if image.valid is None or image.valid.all() else image.valid.reshape(shape)
    # ITK's filter begins with the last axis of the image, which is the first one of the array, and goes on with x.
    passes = [
        Pass(file.axes - 1 - axis, sigma[axis] / abs(file.spacing[axis]), 0, arguments.boundary_mode)
        for axis in (file.axes - 1, *range(file.axes - 1))
    ]
    is_short = any(each.needs_padding(shape) for each in passes)
    for component in range(file.components):
        source, result = pixels[..., component], smoothed[..., component]
        if is_short:
            values = source.astype(np.float64 if pixels.dtype in (np.int32, np.uint32, np.float64) else np.float32)
            for each in passes:
                values = lines.run(values, each.axis, each.sigma, 0, each.mode, arguments.boundary_value)
            result[...] = truncate(values, result.dtype)
            continue
        lines.filter(
            source,
            result,
            tuple(each.axis for each in passes),
            [Term(tuple((each.sigma, 0, each.mode) for each in passes))],
            "components",
            arguments.boundary_value,
            valid=None if valid is None else np.ascontiguousarray(valid[..., component]),
            can_mask=valid is not None,
        )
    return truncate(smoothed.reshape(image.shape), image.dtype) if smoothed.dtype != image.dtype else smoothed.reshape(image.shape)


def _smooth_in_parts(file: files.ImageFile, sigma: list[float], arguments: argparse.Namespace) -> _Smoothed:
    limit = min(size for size in (arguments.memory, arguments.device_memory_limit) if size)
    core()  # load the library outside the measured time
    clock = _Clock()
    with parts.Progress(2.0 * file.size_in_bytes) as progress:
        done, read, written = parts.smooth(
            file,
            arguments.output,
            sigma,
            arguments.memory,
            progress,
            mode=arguments.boundary_mode,
            cval=arguments.boundary_value,
            approximation=arguments.approximation,
            backend=arguments.backend,
            memory_limit=limit,
        )
    seconds = {"read": read, "filter": clock.look() - read - written, "write": written}
    return {key: done[key] for key in ("backend_used", "backend_reason")}, done, seconds


def _snake_case(name: str) -> str:
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower()


# segment


def _laws_with(parameter: str) -> str:
    return ", ".join(law.name for law in noise_laws().values() if law.parameter == parameter)


def _adder_of(part: argparse.ArgumentParser, defaults: dict[str, Any]) -> Callable[..., None]:
    """Returns a function that adds an option for a keyword of a function, with the keyword's default."""

    def add(keyword: str, kind: Callable[[str], Any], metavar: str, help: str, *others: str) -> None:
        part.add_argument(_option(keyword), *others, type=kind, default=defaults[keyword], metavar=metavar, help=help)

    return add


def _add_model(part: argparse.ArgumentParser, add: Callable[..., None]) -> None:
    """Adds the options that segment and partition have in common, except the number of looks."""
    laws = noise_laws()
    part.add_argument("input", metavar="IN", help="image to read")
    described = ", ".join(f"{law.name} ({law.description})" for law in laws.values())
    part.add_argument(
        "--law",
        type=_name_of(tuple(laws)),
        required=True,
        metavar="NAME",
        help=f"distribution of the pixels of each region: {described}",
    )
    add(
        "foreground_threshold",
        float,
        "FLOAT",
        f"{_laws_with('foreground_threshold')}: pixels above this value are ones, the others zeros; needed unless the image holds "
        "0 and one other value",
    )
    add("valid_mask", str, "FILE", "image of the same size: pixels where it is 0 belong to no region")


def _add_segment(part: argparse.ArgumentParser) -> None:
    add = _adder_of(part, _DEFAULTS)
    _add_model(part, add)
    looks = f"{_laws_with('number_of_looks')}: number of independent looks per pixel, above 0"
    add("looks", float, "FLOAT", looks, "--number-of-looks")
    _add_starts(part)
    add(
        "start",
        _name_of(get_args(Start)),
        "NAME",
        "the start if none of these is given; automatic: the best of many rectangles; margin_rectangle: the image without a tenth "
        "on each side",
    )
    add(
        "schedule",
        _name_of(get_args(Schedule)),
        "NAME",
        "coarse_to_fine: blocks of pixels first; as_published: the full image at once, as Perrot et al. (2011)",
    )
    add("maximum_step", _whole, "INT", "distance of the first moves, in blocks of the coarsest level")
    add("minimum_edge_length", float, "FLOAT", "longer edges get a node in the middle; in pixels")
    add("minimum_gain", float, "FLOAT", "what a move has to lower the criterion by, in nats")
    part.add_argument(
        "--use-description-length",
        action=argparse.BooleanOptionalAction,
        default=_DEFAULTS["use_description_length"],
        help="whether nodes are removed in the end, as long as that shortens the description",
    )
    add("maximum_number_of_nodes", _whole, "INT", "nodes that the polygon may have at any time")
    add("maximum_number_of_iterations", _whole, "INT", "iterations, in each of which every node is tried once")
    add("minimum_region_size", _whole, "INT", "pixels that each region has to have")
    add("inside_value", _byte, "INT", "value of the target in the label image")
    add("outside_value", _byte, "INT", "value of all other pixels in the label image")
    _add_outputs(part)
    _add_backend(part)
    _add_report(part)


def _option(keyword: str) -> str:
    return "--" + keyword.replace("_", "-")


def _add_starts(part: argparse.ArgumentParser) -> None:
    starts = part.add_mutually_exclusive_group()
    starts.add_argument(
        "--initial-contour",
        metavar="FILE.geojson",
        help="the search starts from the outer ring of the first polygon of this file, in the physical units of the image, as "
        "--contour writes it",
    )
    starts.add_argument(
        "--initial-mask",
        metavar="FILE",
        help="image of the same size: the search starts from its largest connected part that is not 0",
    )
    starts.add_argument(
        "--initial-region",
        type=_rectangle,
        metavar="X,Y,WIDTH,HEIGHT",
        help="the search starts from this rectangle of pixels; X and Y are counted from 0 at the first pixel",
    )


def _add_outputs(part: argparse.ArgumentParser) -> None:
    part.add_argument("--label", metavar="FILE", help="label image to write; its extension says the format")
    part.add_argument(
        "--contour",
        metavar="FILE.geojson",
        help="file to write: the polygon in the physical units of the image, counter-clockwise in x, y",
    )
    part.add_argument(
        "--overlay",
        type=_picture,
        metavar="FILE.png",
        help="picture to write: the enlarged image, the boundary, and the nodes on it",
    )


def _segment(arguments: argparse.Namespace) -> None:
    file = files.ImageFile(arguments.input)
    _require_segmentable(file, "segmented")
    if arguments.label is not None:
        files.require_format(arguments.label, "uint8", 2)
    given = [Path(name) for name in (arguments.initial_contour, arguments.initial_mask, arguments.valid_mask) if name is not None]
    outputs = {name: getattr(arguments, name) for name in ("label", "contour", "overlay")}
    _check_names(arguments, file.paths + given, input=None, **outputs)

    clock = _Clock()
    image = files.read_slice(file)
    seconds = {"read": clock.look()}
    found = _find_region(image, arguments)
    seconds["filter"] = clock.look()
    _print_region(arguments, found, seconds["filter"])
    _write_region(arguments, image, found)
    _write_report(arguments.report, _report_region(arguments, file, found, seconds))


# Names of types of pixels, as ITK's.
_TYPE_NAMES = {
    "uint8": "unsigned_char", "int8": "char", "uint16": "unsigned_short", "int16": "short", "uint32": "unsigned_int", "int32": "int",
    "float32": "float", "float64": "double",
}
_SEGMENTABLE = ("uint8", "uint16", "int16", "float32")


def _type_name(dtype: np.dtype[Any]) -> str:
    return _TYPE_NAMES.get(dtype.name, dtype.name)


def _require_segmentable(file: files.ImageFile, done: str) -> None:
    if file.axes != 2:
        raise ValueError(f"'{file.name}' has {file.axes} dimensions; images of 2, or single slices, can be {done}")
    _require_one_component(file)
    if file.dtype.name not in _SEGMENTABLE:
        raise ValueError(
            f"'{file.name}' has pixels of type {_type_name(file.dtype)}, which are not supported; convert the image to "
            "unsigned char, unsigned short, short or float"
        )


def _require_one_component(file: files.ImageFile) -> None:
    # Grey images with a palette are also read as colours, whose luminance is taken.
    if file.components != 1 and file.pixel_type != "rgb":
        raise ValueError(f"'{file.name}' has {file.components} components per pixel; extract one of them first")


def _parameters_of(arguments: argparse.Namespace, defaults: dict[str, Any]) -> dict[str, Any]:
    """Returns the keywords of a function that the arguments give. File names of images are replaced by the images."""
    given = vars(arguments)
    parameters = {name: given[name] for name in defaults if name in given}
    for name in ("initial_mask", "valid_mask", "initial_labels"):
        if parameters.get(name) is not None:
            parameters[name] = files.read_mask(parameters[name], is_label=name == "initial_labels")
    return parameters


def _find_region(image: Image, arguments: argparse.Namespace) -> Segmentation[Any]:
    parameters = _parameters_of(arguments, _DEFAULTS)
    if arguments.initial_contour is not None:
        parameters["initial_contour"] = _read_contour(arguments.initial_contour, image)
    return segment_region(image, progress=_progress_is_shown(), **parameters)


def _read_contour(name: str, image: Image) -> npt.NDArray[np.float64]:
    """Returns the outer ring of the first polygon in a GeoJSON file, in physical space."""
    try:
        geometry = json.loads(Path(name).read_text(encoding="utf-8"))
        coordinates = "physical"
        if geometry["type"] == "FeatureCollection":
            geometry = geometry["features"][0]
        if geometry["type"] == "Feature":
            coordinates = (geometry.get("properties") or {}).get("coordinates", coordinates)
            geometry = geometry["geometry"]
        if geometry["type"] != "Polygon":
            raise ValueError(f"its first geometry is of type {geometry['type']}; a Polygon is needed")
        ring = np.array([position[:2] for position in geometry["coordinates"][0]], dtype=np.float64)
    except OSError:
        raise OSError(f"'{name}' does not exist or cannot be opened") from None
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"'{name}' is no GeoJSON file with a polygon: {error}") from None
    if len(ring) > 1 and (ring[0] == ring[-1]).all():
        ring = ring[:-1]
    return image.to_physical(ring) if coordinates == "pixel" else ring


def _print_region(arguments: argparse.Namespace, found: Segmentation[Any], seconds: float) -> None:
    result = found.statistics
    print(
        f"{arguments.input}: segmented with backend {result.backend} in {seconds:g} s ({result.backend_reason})\n"
        f"polygon of {len(found.contour)} nodes, {result.number_of_iterations} iterations; "
        f"inside {result.inside.number_of_pixels} pixels of mean {result.inside.mean:g}, "
        f"outside {result.outside.number_of_pixels} of mean {result.outside.mean:g}"
    )
    if not result.significant_boundary:
        print("no significant boundary: one region describes the image at least as well; the label image is empty")
    if result.stop != "converged":
        print(f"not converged: stopped by {result.stop}")


def _write_region(arguments: argparse.Namespace, image: Image, found: Segmentation[Any]) -> None:
    _write_each(
        (arguments.label, lambda name: _write_image(arguments, _without_no_data(found.label), name, True)),
        (arguments.overlay, lambda name: write_picture(name, draw_overlay(image, found))),
        (arguments.contour, lambda name: write_geojson(found, name, {"input": arguments.input})),
    )


def _without_no_data(image: Image) -> Image:
    """Returns an image of labels or means, whose values are all data."""
    image = image.with_array(image.array)
    image.no_data = None
    return image


def _write_each(*outputs: tuple[str | None, Callable[[str], None]]) -> None:
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


def _report_region(
    arguments: argparse.Namespace, file: files.ImageFile, found: Segmentation[Any], seconds: dict[str, float]
) -> dict[str, Any]:
    result = found.statistics
    record = [
        {
            "what": step.what,
            "block_side": 2**step.level_exponent,
            "step": step.step,
            "nodes": step.number_of_nodes,
            "pixels_inside": step.number_of_pixels,
            "criterion": step.criterion,
            "change": step.change,
        }
        for step in result.record
    ]
    return {
        "input": arguments.input,
        **found.__geo_interface__["properties"],
        "size": file.size[:2],
        "spacing": file.spacing[:2],
        "component_type": _type_name(file.dtype),
        "schedule": arguments.schedule,
        "converged": result.stop == "converged",
        "stop": result.stop,
        "iterations": result.number_of_iterations,
        "record": record,
        "backend_asked": arguments.backend,
        "backend_used": result.backend,
        "backend_reason": result.backend_reason,
        "seconds": {**seconds, **result.seconds},
        **_surroundings(),
    }


# partition


def _add_partition(part: argparse.ArgumentParser) -> None:
    add = _adder_of(part, _PARTITION_DEFAULTS)
    _add_model(part, add)
    looks = f"{_laws_with('number_of_looks')}: number of independent looks per pixel; 0: estimated from the image"
    add("looks", float, "FLOAT", looks, "--number-of-looks")
    add("segment_cost", float, "FLOAT", "what a straight edge between two regions costs, in nats")
    add("initial_labels", str, "FILE", "image of the same size: the search starts from its 4-connected parts of one value")
    add("block_size", _whole, "INT", "side of the blocks that the search starts from, in pixels")
    add("minimum_number_of_pixels", _whole, "INT", "pixels below which no move of a boundary may bring a region")
    add("maximum_number_of_iterations", _whole, "INT", "iterations on the polygons")
    part.add_argument(
        "--allow-merging",
        action=argparse.BooleanOptionalAction,
        default=_PARTITION_DEFAULTS["allow_merging"],
        help="whether polygons may be merged; without, every part of --initial-labels is kept",
    )
    part.add_argument(
        "--labels", metavar="FILE", help="label image to write: regions count from 1; 16 bit for up to 65535 regions, else 32"
    )
    ends = part.add_mutually_exclusive_group()
    ends.add_argument(
        "--polygons",
        metavar="FILE.geojson",
        help="file to write: the polygons of all regions in the physical units of the image, outer rings counter-clockwise in x, y",
    )
    ends.add_argument("--labels-only", action="store_true", help="stop before the polygons")
    part.add_argument("--table", metavar="FILE.csv", help="file to write: a line for each region")
    part.add_argument(
        "--means",
        metavar="FILE",
        help="image to write: each pixel replaced by the mean of its region, in the pixel type of the image",
    )
    part.add_argument(
        "--overlay", type=_picture, metavar="FILE.png", help="picture to write: the enlarged image and the boundaries on it"
    )
    _add_backend(part)
    _add_report(part)


def _partition(arguments: argparse.Namespace) -> None:
    file = files.ImageFile(arguments.input)
    _require_segmentable(file, "divided")
    for name, dtype in ((arguments.labels, "uint16"), (arguments.means, file.dtype.name)):
        if name is not None:
            files.require_format(name, dtype, 2)
    given = [Path(name) for name in (arguments.valid_mask, arguments.initial_labels) if name is not None]
    outputs = {name: getattr(arguments, name) for name in ("labels", "means", "overlay", "polygons", "table")}
    _check_names(arguments, file.paths + given, input=None, **outputs)

    clock = _Clock()
    image = files.read_slice(file)
    seconds = {"read": clock.look()}
    parameters = _parameters_of(arguments, _PARTITION_DEFAULTS)
    found = partition_image(image, progress=_progress_is_shown(), **parameters)
    seconds["filter"] = clock.look()
    _print_partition(arguments, found, seconds["filter"])
    _write_partition(arguments, image, found)
    result = found.statistics
    report = {
        "input": arguments.input,
        **found._summary(),
        "size": file.size[:2],
        "spacing": file.spacing[:2],
        "component_type": _type_name(file.dtype),
        "converged": result.stop == "converged",
        "stop": result.stop,
        "iterations": result.number_of_iterations,
        "backend_asked": arguments.backend,
        "backend_used": result.backend,
        "backend_reason": result.backend_reason,
        "seconds": seconds,
        **_surroundings(),
    }
    _write_report(arguments.report, report)


def _print_partition(arguments: argparse.Namespace, found: Partition[Any], seconds: float) -> None:
    result, nodes = found.statistics, found._summary()["nodes"]
    print(
        f"{arguments.input}: divided with backend {result.backend} in {seconds:g} s ({result.backend_reason})\n"
        f"{len(found)} regions, {nodes} nodes, {result.number_of_iterations} iterations; "
        f"{result.number_of_looks:g} looks per pixel; description of {result.description:g} nats, as one region "
        f"{result.description_of_one_region:g}"
    )
    if result.stop == "maximum_number_of_iterations":
        print(f"not converged: stopped by {result.stop}")


def _write_partition(arguments: argparse.Namespace, image: Image, found: Partition[Any]) -> None:
    _write_each(
        (arguments.labels, lambda name: _write_image(arguments, _with_16_bits(_without_no_data(found.labels)), name, True)),
        (arguments.means, lambda name: _write_image(arguments, _with_pixels_like(_without_no_data(found.means), image), name, True)),
        (arguments.overlay, lambda name: write_picture(name, draw_boundaries(image, found.labels))),
        (arguments.polygons, lambda name: write_geojson(found, name, {"input": arguments.input})),
        (arguments.table, lambda name: write_table(found, name)),
    )


def _with_16_bits(labels: Image) -> Image:
    """Converts labels to 16 bits if their values fit, because many formats cannot store 32-bit integers."""
    fits = labels.array.max(initial=0) <= np.iinfo(np.uint16).max
    return labels.with_array(labels.array.astype(np.uint16)) if fits else labels


def _with_pixels_like(means: Image, image: Image) -> Image:
    """Converts means to the pixel type of an image. For integer types they are rounded, halves up, and NaN becomes 0."""
    values = means.array.astype(np.float64)
    if image.dtype.kind != "f":
        values = np.floor(np.nan_to_num(values) + 0.5)
    return means.with_array(values.astype(image.dtype))


# vesselness


class _BrightOrDark(argparse.Action):
    """Stores True for --bright and False for --dark."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, option_string == "--bright")


def _add_vesselness(part: argparse.ArgumentParser) -> None:
    part.add_argument("input", metavar="IN", help="image to read")
    part.add_argument("output", metavar="OUT", help="image to write, of float; its extension says the format")
    part.add_argument(
        "--sigmas",
        type=_sigmas,
        required=True,
        metavar="S[,S...]",
        help="standard deviations of the scales in the physical units of the image, each above 0",
    )
    part.add_argument(
        "--measure",
        type=_name_of(get_args(Measure)),
        default="objectness",
        metavar="NAME",
        help=f"what is made of the Hessian: {', '.join(get_args(Measure))}",
    )
    part.add_argument(
        "--object-dimension", type=_whole, default=1, metavar="INT", help="objectness: 0 finds blobs, 1 lines, 2 plates"
    )
    part.add_argument(
        "--bright",
        "--dark",
        action=_BrightOrDark,
        nargs=0,
        default=True,
        help="bright objects on dark ground, or dark ones on bright ground",
    )
    part.add_argument(
        "--normalize",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="second derivatives times sigma squared: thick and thin objects respond alike",
    )
    _add_measure(part)
    _add_lines(part, "ITK's Hessians; accurate: closer to a Gaussian's")
    part.add_argument("--scale-image", metavar="FILE", help="image to write: the sigma that gave each response")
    part.add_argument(
        "--mip",
        type=_picture,
        metavar="FILE.png",
        help="picture to write: the largest response along the last axis of a volume, or the response of an image",
    )
    _add_backend(part)
    _add_report(part)


def _add_measure(part: argparse.ArgumentParser) -> None:
    """Adds the numerical parameters of the measures."""
    gamma = "objectness, frangi: norms of Hessians below it fade; above 0; without it half of the largest norm of each scale"
    for name, kind, default, help in (
        ("--alpha", _above_zero, 0.5, "objectness, frangi: smaller values keep lines that are nearly plates; above 0"),
        ("--beta", _above_zero, 0.5, "objectness, frangi: smaller values suppress blobs; above 0"),
        ("--gamma", _above_zero, None, gamma),
        ("--tau", _from_zero_to_one, 0.5, "jerman: eigenvalues below this part of the largest one fade; from 0 to 1"),
    ):
        part.add_argument(name, type=kind, default=default, metavar="FLOAT", help=help)


def _vesselness(arguments: argparse.Namespace) -> None:
    file = files.ImageFile(arguments.input)
    if len(file.size) < 2 or file.axes > 3:
        raise ValueError(f"'{file.name}' has {len(file.size)} dimensions; 2 and 3 are supported")
    _require_one_component(file)
    precise = file.dtype.name in ("uint32", "int32", "float64")
    for name in filter(None, (arguments.output, arguments.scale_image)):
        if files.format_of(name) == "PNG":
            raise ValueError(
                f"'{name}': PNG holds no floating-point numbers; write TIFF, MetaImage, NRRD or NIfTI, or a picture by --mip"
            )
        files.require_format(name, "float64" if precise else "float32", file.axes)
    _check_names(arguments, file.paths, output=arguments.output, scale_image=arguments.scale_image, mip=arguments.mip)

    clock = _Clock()
    given = files.read_slice(file)
    image = given.with_array(given.array.astype(np.float64 if precise else np.float32)).to_itk()
    seconds = {"read": clock.look()}
    enhancer = _make_enhancer(image, arguments)
    if given.valid is not None and not given.valid.all():
        enhancer.SetValidMask(given.with_array(given.valid.astype(np.uint8)).to_itk())
    clock.look()
    with progress_of(enhancer, "enhancing", _progress_is_shown()):
        enhancer.Update()
    seconds["filter"] = clock.look()
    response = itk.array_view_from_image(enhancer.GetOutput())
    picture = response.max(axis=0) if response.ndim == 3 else response
    _write_each(
        (arguments.output, lambda name: _write_image(arguments, given._with_result(response.copy(), False), name, True)),
        (
            arguments.scale_image,
            lambda name: _write_image(arguments, given.with_array(itk.array_view_from_image(enhancer.GetScaleOutput())), name, True),
        ),
        (arguments.mip, lambda name: write_picture(name, stretch(picture))),
    )
    seconds["write"] = clock.look()

    backend, reason = backend_name(enhancer.GetBackendUsed()), enhancer.GetBackendReason()
    largest = float(response.max())
    print(
        f"{arguments.output}: vessels enhanced with backend {backend} in {seconds['filter']:g} s ({reason})\n"
        f"largest response {largest:g}"
    )
    parameters = ("sigmas", "measure", "object_dimension", "bright", "normalize", "alpha", "beta", "gamma", "tau")
    lines = ("approximation", "boundary_mode", "boundary_value")
    report = {
        "input": arguments.input,
        "output": arguments.output,
        "size": file.size[: file.axes],
        "spacing": file.spacing[: file.axes],
        "component_type": _type_name(file.dtype),
        **{name: getattr(arguments, name) for name in (*parameters, *lines)},
        "largest_response": largest,
        "backend_asked": arguments.backend,
        "backend_used": backend,
        "backend_reason": reason,
        "seconds": seconds,
        **_surroundings(),
    }
    _write_report(arguments.report, report)


def _make_enhancer(image: Any, arguments: argparse.Namespace) -> Any:
    enhancer: Any = itk.CudaVesselnessImageFilter[type(image), type(image)].New(
        image,
        HessianMeasure=arguments.measure,
        ObjectDimension=arguments.object_dimension,
        BrightObject=arguments.bright,
        NormalizeAcrossScale=arguments.normalize,
        Alpha=arguments.alpha,
        Beta=arguments.beta,
        Gamma=math.nan if arguments.gamma is None else arguments.gamma,
        Tau=arguments.tau,
        Approximation=arguments.approximation,
        BoundaryMode=arguments.boundary_mode,
        BoundaryValue=arguments.boundary_value,
        GenerateScaleOutput=arguments.scale_image is not None,
        Backend=arguments.backend,
        DeviceIndex=arguments.device_index,
    )
    for sigma in arguments.sigmas:
        enhancer.AddSigma(sigma)
    return enhancer


# compare


def _add_compare(part: argparse.ArgumentParser) -> None:
    part.add_argument("input", nargs="?", metavar="IN", help="image to read, as float; without it a cube of random values is made")
    _add_sigma(part, [4.0])
    part.add_argument("--size", type=_count, default=256, metavar="PIXELS", help="without IN: pixels a side of the cube")
    part.add_argument("--runs", type=_count, default=5, metavar="INT", help="timed runs of each filter")
    _add_backend(part)
    part.add_argument(
        "--raw",
        metavar="PREFIX",
        help="write PREFIXinput.raw, PREFIXresult.raw and PREFIXdifference.raw in float32: the difference is the result minus "
        "that of ITK's filter in float64",
    )
    _add_report(part)


def _compare(arguments: argparse.Namespace) -> None:
    image = _compared_image(arguments)
    sigma = _sigma_of_axes(arguments.sigma, image.GetImageDimension())
    smoother = itk.CudaSmoothingRecursiveGaussianImageFilter.New(
        image, SigmaArray=sigma, Backend=arguments.backend, DeviceIndex=arguments.device_index
    )
    with_itk = itk.SmoothingRecursiveGaussianImageFilter.New(image, SigmaArray=sigma)
    seconds, itk_seconds = _median_seconds((smoother, with_itk), arguments.runs)

    result = itk.array_view_from_image(smoother.GetOutput())
    difference = result - _smooth_in_float64(image, sigma)
    from_itk = result.astype(np.float64) - itk.array_view_from_image(with_itk.GetOutput())
    if arguments.raw is not None:
        for name, values in {"input": itk.array_view_from_image(image), "result": result, "difference": difference}.items():
            np.asarray(values, dtype=np.float32).tofile(f"{arguments.raw}{name}.raw")

    backend = backend_name(smoother.GetBackendUsed())
    index = arguments.device_index if arguments.device_index >= 0 else itk.CudaFiltersConfiguration.GetDeviceIndex()
    report = {
        "input": arguments.input,
        "size": [int(length) for length in itk.size(image)],
        "spacing": [float(step) for step in itk.spacing(image)],
        "sigma": sigma,
        "runs": arguments.runs,
        "backend_asked": arguments.backend,
        "backend_used": backend,
        "backend_reason": smoother.GetBackendReason(),
        "device": info().devices[index].name if backend == "cuda" else "",
        "host_threads": _surroundings()["host_threads"],
        "milliseconds": 1e3 * seconds,
        "itk_milliseconds": 1e3 * itk_seconds,
        "largest_difference_from_float32": float(np.abs(from_itk).max()),
        "largest_difference_from_float64": float(np.abs(difference).max()),
        "itk_version": itk.Version.GetITKVersion(),
    }
    _print_comparison(report)
    _write_report(arguments.report, report)


def _compared_image(arguments: argparse.Namespace) -> Any:
    if arguments.input is None:
        rng = np.random.default_rng(1)
        return itk.image_from_array(rng.random((arguments.size,) * 3, dtype=np.float32) * np.float32(255.0))
    file = files.ImageFile(arguments.input)
    if file.axes not in (2, 3):
        raise ValueError(f"'{file.name}' has {file.axes} dimensions; 2 and 3 are supported")
    image = files.read_slice(file)
    return image.with_array(image.array.astype(np.float32)).to_itk()


def _median_seconds(filters: Sequence[Any], runs: int) -> list[float]:
    """Returns the median time of each filter, without its first run. The filters run in turn, so that other load on the
    machine slows all of them."""
    seconds: list[list[float]] = [[] for _ in filters]
    for run in range(runs + 1):
        for times, process in zip(seconds, filters):
            process.Modified()
            start = time.perf_counter()
            process.Update()
            if run > 0:
                times.append(time.perf_counter() - start)
    return [float(np.median(times)) for times in seconds]


def _smooth_in_float64(image: Any, sigma: list[float]) -> npt.NDArray[np.float64]:
    """Smooths an image by ITK's filter in float64. It filters along one axis at a time, because ITK's filter for all
    axes stores float between them."""
    smoothed = itk.image_from_array(itk.array_from_image(image).astype(np.float64))
    smoothed.SetSpacing(image.GetSpacing())
    for axis, width in enumerate(sigma):
        smoothed = itk.recursive_gaussian_image_filter(smoothed, direction=axis, sigma=width)
    return np.asarray(itk.array_from_image(smoothed))


def _print_comparison(report: dict[str, Any]) -> None:
    size = " x ".join(map(str, report["size"]))
    sigma = ", ".join(f"{value:g}" for value in report["sigma"])
    print(
        f"{size} pixels of float, sigma {sigma}, medians of {report['runs']} runs\n"
        f"this module's filter: {report['milliseconds']:g} ms on {report['device'] or 'the host'} ({report['backend_reason']})\n"
        f"ITK's filter: {report['itk_milliseconds']:g} ms on {report['host_threads']} threads\n"
        f"largest difference from ITK's result: {report['largest_difference_from_float32']:g}; "
        f"from ITK's in float64: {report['largest_difference_from_float64']:g}"
    )


# info


def _add_info(part: argparse.ArgumentParser) -> None:
    part.add_argument(
        "--overrides",
        action="store_true",
        help="print the classes of ITK that CudaGaussianImageFilterFactory overrides instead, one a line",
    )


def _info(arguments: argparse.Namespace) -> None:
    factory: Any = itk.CudaGaussianImageFilterFactory
    if arguments.overrides:
        print(*sorted(factory.New().GetClassOverrideDescriptions()), sep="\n")
        return
    print(f"{info()}Override:  CudaGaussianImageFilterFactory is {'' if factory.IsRegistered() else 'not '}registered")


_PARTS: dict[str, tuple[str, str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], None]]] = {
    "smooth": (
        "Smooths an image with a Gaussian.",
        f"{_UNITS} {_READS}, 2-D and 3-D, with one or several components per pixel; the output has the pixel type of the input. "
        "A 3-D file with a single slice is smoothed within that slice.",
        _add_smooth,
        _smooth,
    ),
    "segment": (
        "Finds the polygon that divides an image into a target and a background and explains it best.",
        f"{_UNITS} {_READS}; 2-D, with one value per pixel, of unsigned char, unsigned short, short or float. Of RGB colours the "
        "luminance is taken, and of a 3-D file with a single slice that slice.",
        _add_segment,
        _segment,
    ),
    "partition": (
        "Divides an image into all its homogeneous regions, with polygons for boundaries.",
        f"{_UNITS} {_READS}; 2-D, with one value per pixel, of unsigned char, unsigned short, short or float. Of RGB colours the "
        "luminance is taken, and of a 3-D file with a single slice that slice.",
        _add_partition,
        _partition,
    ),
    "vesselness": (
        "Enhances vessels and other lines by the Hessians of several scales.",
        "The response is the largest of all sigmas, 0 where nothing is found. Physical units are those of the image's spacing: "
        "millimetres for most medical formats; pixels for files that say nothing about it. Reads PNG, TIFF, MetaImage (.mha, "
        ".mhd), NRRD and NIfTI, 2-D and 3-D, with one value per pixel; of RGB colours the luminance is taken, and of a 3-D file "
        "with a single slice that slice. Writes the same formats but PNG.",
        _add_vesselness,
        _vesselness,
    ),
    "compare": (
        "Compares this module's smoothing with that of ITK's own filter.",
        f"{_UNITS} The times are from image to image in host memory.",
        _add_compare,
        _compare,
    ),
    "info": (
        "Prints the GPUs and the driver that were found, and where filters run and why.",
        "Environment variables: ITK_CUDAFILTERS_BACKEND (automatic, cuda or host), ITK_CUDAFILTERS_DEVICE (index of the GPU), "
        "ITK_CUDAFILTERS_KEEP_ON_DEVICE (1: between two filters, results that are released after use stay on the GPU), "
        "ITK_CUDAFILTERS_SYNCHRONOUS (1: each filter waits for its kernels and names itself if they failed).",
        _add_info,
        _info,
    ),
}

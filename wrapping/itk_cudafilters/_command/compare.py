# SPDX-License-Identifier: Apache-2.0
"""The part compare of the command: gaussian_filter() beside ITK's own filter."""
from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _image_files as files
from .._gaussian import gaussian_filter
from .._image import Image
from .._info import info
from .._itk import itk
from .._library import core, run_with
from .._output import replacing, require_writable
from ._common import UNITS, add_device_index, add_report, in_pixels, product, say, sigma_of_axes, write_report
from ._parser import COUNT, Parser, WrongArguments

EPILOG = (
    f"{UNITS} The times are from image to image in host memory. Needs the package itk, whose own filter it runs: pip install 'itk==5.4.*'."
)


def add_arguments(part: Parser) -> None:
    part.add_argument("input", nargs="?", metavar="IN", help="image to read, as float; without it a cube of random values is made")
    part.add_keywords(gaussian_filter, "sigma", "backend", sigma={"flags": ["-s", "--sigma"], "default": "4"})
    add_device_index(part)
    part.add("--size", "PIXELS", "without IN: pixels a side of the cube", COUNT, 256)
    part.add("--runs", "INT", "timed runs of each filter", COUNT, 5)
    text = "write PREFIXinput.raw, PREFIXresult.raw and PREFIXdifference.raw in float32: the difference is the result minus that of "
    part.add("--raw", "PREFIX", text + "ITK's filter in float64")
    add_report(part)


def run(arguments: argparse.Namespace) -> None:
    if arguments.input is not None and "size" in arguments.given:
        raise WrongArguments("argument --size: not allowed with IN, which has a size")
    raw = {} if arguments.raw is None else {name: f"{arguments.raw}{name}.raw" for name in ("input", "result", "difference")}
    for path in raw.values():
        require_writable(path)
    image = _read(arguments)
    sigma = sigma_of_axes(arguments.sigma, image.dimension)
    of_itk = image.to_itk()
    smoother = itk.SmoothingRecursiveGaussianImageFilter.New(of_itk, SigmaArray=sigma)
    results: list[npt.NDArray[Any]] = []

    def smooth() -> None:
        axes = (0, *range(image.dimension - 1, 0, -1))  # ITK's filter begins with the last axis of the image
        widths = [sigma[image.dimension - 1 - axis] for axis in axes]
        how: Any = {"mode": "nearest", "approximation": "deriche", "backend": arguments.backend, "preserve_nan": False}
        results[:] = [gaussian_filter(image, widths, spacing="image", axes=axes, **how).array]

    def smooth_by_itk() -> None:
        smoother.Modified()
        smoother.Update()

    with run_with(device_index=arguments.device_index) as ran:
        seconds, itk_seconds = _median_seconds((smooth, smooth_by_itk), arguments.runs)
    (result,) = results
    difference = result - _smooth_in_float64(of_itk, sigma)
    from_itk = result.astype(np.float64) - itk.array_view_from_image(smoother.GetOutput())
    values = {"input": image.array, "result": result, "difference": difference}
    for name, path in raw.items():
        with replacing(path) as written:
            written.write(np.ascontiguousarray(values[name], np.float32).tobytes())

    backend, found = ran["backend_used"].lower(), info()
    index = arguments.device_index if arguments.device_index >= 0 else found.device_index
    report = {
        "input": arguments.input,
        "size": list(image.shape[::-1]),
        "spacing": list(image.spacing),
        "sigma": sigma,
        "runs": arguments.runs,
        "backend_asked": arguments.backend,
        "backend_used": backend,
        "backend_reason": ran["backend_reason"],
        "device": found.devices[index].name if backend == "cuda" else "",
        "milliseconds": 1e3 * seconds,
        "itk_milliseconds": 1e3 * itk_seconds,
        "largest_difference_from_float32": float(np.abs(from_itk).max()),
        "largest_difference_from_float64": float(np.abs(difference).max()),
    }
    say(
        arguments,
        f"{product(image.shape[::-1])} pixels of float, {in_pixels(arguments, sigma, image.spacing)}, medians of {arguments.runs} runs\n"
        f"this package: {report['milliseconds']:.4g} ms on {report['device'] or 'the host'} ({ran['backend_reason']})\n"
        f"ITK's filter: {report['itk_milliseconds']:.4g} ms on {core().number_of_threads()} threads\n"
        f"largest difference from ITK's result: {report['largest_difference_from_float32']:.4g}; "
        f"from ITK's in float64: {report['largest_difference_from_float64']:.4g}",
    )
    write_report(arguments, report)


def _read(arguments: argparse.Namespace) -> Image:
    if arguments.input is None:
        rng = np.random.default_rng(1)
        return Image(rng.random((arguments.size,) * 3, dtype=np.float32) * np.float32(255.0))
    file = files.ImageFile(arguments.input)
    if file.axes not in (2, 3):
        raise ValueError(f"'{file.name}' has {file.axes} dimensions; 2 and 3 are supported")
    image = files.read_slice(file)
    return Image(image.array.astype(np.float32), image.spacing, image.origin, image.direction)


def _median_seconds(functions: Sequence[Callable[[], None]], runs: int) -> list[float]:
    """Returns the median time of each function, without its first run. They run in turn, so that other load on the
    machine slows all of them."""
    seconds: list[list[float]] = [[] for _ in functions]
    for run in range(runs + 1):
        for times, function in zip(seconds, functions):
            start = time.perf_counter()
            function()
            if run > 0:
                times.append(time.perf_counter() - start)
    return [float(np.median(times)) for times in seconds]


def _smooth_in_float64(image: Any, sigma: Sequence[float]) -> npt.NDArray[np.float64]:
    """Smooths an image by ITK's filter in float64. It filters along one axis at a time, because ITK's filter for all
    axes stores float between them."""
    smoothed = itk.image_from_array(itk.array_from_image(image).astype(np.float64))
    smoothed.SetSpacing(image.GetSpacing())
    for axis, width in enumerate(sigma):
        smoothed = itk.recursive_gaussian_image_filter(smoothed, direction=axis, sigma=width)
    return np.asarray(itk.array_from_image(smoothed))

# SPDX-License-Identifier: Apache-2.0
"""Smoothing of stores of Zarr, by this process or by a scheduler of Dask."""
from __future__ import annotations

import argparse
import math
import resource
import sys
from typing import Any

from .. import _stores as stores
from .. import stream
from .._library import core
from .._parameters import snake_case
from .._progress import progress_bar
from .._slabs import CHUNK, gaussian_slabs
from ._common import Clock, in_pixels, progress_is_shown, say, sigma_of_axes, write_report
from ._parser import WrongArguments

_MARGIN = 64 << 20
"""Bytes that are no planes."""
# Chunks of planes beside the look-ahead: two as they are read, two that are filtered, three of results.
_CHUNKS = 7


def smooth(arguments: argparse.Namespace) -> None:
    if arguments.valid_mask is not None:
        raise WrongArguments("argument --valid-mask: not allowed with a store of Zarr, which is read in parts")
    if "cval" in arguments.given and arguments.mode != "constant":
        raise WrongArguments("argument --boundary-value: it is for --boundary-mode constant")
    if not stores.is_zarr(arguments.output) or not arguments.output.rstrip("/").lower().endswith(".zarr"):
        raise WrongArguments(f"argument OUT: '{arguments.output}' must be a folder NAME.zarr, as IN is a store of Zarr")
    image = stores.open_image(arguments.input)
    axes = len(image.space)
    sigma = sigma_of_axes(arguments.sigma, axes)
    widths = in_pixels(arguments, sigma, image.spacing[::-1])
    limits = [size for size in (arguments.memory, arguments.device_memory_limit) if size]
    parameters: dict[str, Any] = {
        "sigma": sigma[::-1],  # x comes first on the command line, as in ITK
        "mode": arguments.mode,
        "cval": arguments.cval,
        "spacing": image.spacing,
        "axes": image.space,
        "preserve_nan": True,
        "approximation": arguments.approximation,
        "backend": arguments.backend,
    }
    limit = min(limits) if limits else None
    if arguments.memory:
        _require_memory(image, parameters, arguments.memory)
    core()  # load the library outside the measured time
    clock = Clock()
    scheduler, client = arguments.scheduler, None
    if scheduler is not None and ":" in scheduler:
        client = scheduler = _client(scheduler)
    with (
        stores.creating_like(image, arguments.output, arguments.overwrite) as target,
        progress_bar("smoothing", progress_is_shown(), 2.0 * image.size_in_bytes) as progress,
    ):
        ran = stream.gaussian_filter(
            image.array, target, **parameters, memory_limit=limit, progress=progress, scheduler=scheduler,
            timeout=arguments.timeout if client is not None else None,
        )
        peak = max(client.run(_peak).values()) if client is not None else _peak()
    seconds = clock.look()
    read, written = ran["bytes_up"] if ran["on_host"] else image.size_in_bytes, image.size_in_bytes
    rate = (read + written) / seconds
    used, reason = ran["backend_used"], ran["backend_reason"]
    whose = "a worker's" if client is not None else "this process's"
    say(
        arguments,
        f"{arguments.output}: smoothed with backend {used} in {seconds:.3g} s ({reason}); {widths}; {ran['number_of_slabs']} slabs; "
        f"{read / 1e9:.3g} GB read, {written / 1e9:.3g} GB written, {rate / 1e9:.3g} GB/s; {whose} memory at most {peak / 1e9:.3g} GB",
    )
    write_report(
        arguments,
        {
            "input": arguments.input,
            "output": arguments.output,
            "size": list(image.array.shape[::-1]),
            "spacing": list(image.spacing[::-1]),
            "unit": image.unit,
            "component_type": image.array.dtype.name,
            "sigma": sigma,
            "boundary_mode": arguments.mode,
            "boundary_value": arguments.cval,
            "approximation": arguments.approximation,
            "scheduler": arguments.scheduler,
            "memory": arguments.memory or 0,
            "bytes_read": read,
            "bytes_written": written,
            "bytes_per_second": rate,
            "peak_memory": peak,
            "slabs": {"used": snake_case(ran["used"]), "number_of_slabs": ran["number_of_slabs"], "look_ahead": ran["look_ahead"]},
            "backend_asked": arguments.backend,
            "backend_used": used,
            "backend_reason": reason,
            "seconds": {"all": seconds},
        },
    )


def _client(address: str) -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError("--scheduler needs the package distributed: pip install 'itk-cudafilters[dask]'") from None
    connect: Any = distributed.Client
    try:
        return connect(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise OSError(f"there is no scheduler at '{address}': {error}") from None


def _peak() -> int:
    """Returns the most memory that this process has held, in bytes."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1 << 10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _require_memory(image: stores.StoredImage, parameters: dict[str, Any], memory: int) -> None:
    """Raises OSError if the planes that a process holds at the same time need more than `memory` bytes."""
    array = image.array
    filter = gaussian_slabs(
        "filter", array.shape, array.dtype, array.dtype, parameters["sigma"], 0, parameters["mode"], parameters["cval"], None,
        parameters["spacing"], parameters["axes"], None, None, True, parameters["approximation"], parameters["backend"], None,
    )
    ahead = filter.reach[0]
    length = filter.shape[0]
    plane = math.prod(filter.shape[1:])
    layer = min(length, (getattr(array, "shards", None) or array.chunks)[image.space[0]])
    needed = min((_CHUNKS + max(0, ahead)) * CHUNK, length + 2 * CHUNK) * plane * max(4, array.dtype.itemsize)
    needed += 3 * layer * plane * array.dtype.itemsize + _MARGIN
    if ahead < 0:
        needed += length * plane // 2  # the states of all chunks, in double
    if needed > memory:
        raise OSError(
            f"--memory allows {memory / 1e9:.3g} GB; this sigma needs {needed / 1e9:.3g} GB for the planes of '{image.name}' that it "
            "holds at a time"
        )

# SPDX-License-Identifier: Apache-2.0
"""Several GPUs for the items of a list."""
from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ._images import describe
from ._parameters import Devices, devices_of

_T = TypeVar("_T")


def map_devices(
    function: Callable[..., _T], items: Iterable[Any], *arguments: Any, devices: Devices = "all", **parameters: Any
) -> list[_T]:
    """Calls a function for each item, on several GPUs at the same time.

    Each GPU has a thread, which takes the next item when it is done with one, so that items may take different times. The
    results are those of a loop, in the order of the items.

    Parameters
    ----------
    function
        A function with the parameter `device_index`: detect_targets(), segment_region(), segment_regions(),
        segment_volume(), partition_image(), track_region(), or one of the program. It is called as
        `function(item, *arguments, device_index=..., **parameters)`. If it returns an iterator, as track_region() does, its
        thread makes a list of it.
    items
        Images, sequences of frames, or what else the function takes. They may be a generator, which is asked for the next
        item when a GPU is free, by one thread at a time.
    devices
        Indices of the GPUs, for example [0, 1], or "all" for all usable ones of the compute capability of the first. A GPU
        that is named several times has several threads. Without a usable GPU "all" stands for one thread, and the backend
        of the function decides.
    arguments, parameters
        Further arguments of the function. They are the same for all items.

    Returns
    -------
    list
        What the function returned, in the order of the items.

    Raises
    ------
    TypeError, ValueError
        `function` has no parameter device_index, or `devices` are no indices.
    Exception
        The first exception of the function or of the items. Calls that have begun end first, and no others begin.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> images = [rng.exponential(1.0, (100, 100)).astype(np.float32) for _ in range(3)]
    >>> images[1][50, 50] = 1000
    >>> from itk_cudafilters import detect_targets, map_devices
    >>> [len(found) for found in map_devices(detect_targets, images, "gamma", looks=1)]
    [0, 1, 0]
    """
    if not callable(function):
        raise TypeError(f"function is {describe(function)}; it must be a function with the parameter device_index")
    accepted = inspect.signature(function).parameters.values()
    if not any(each.name == "device_index" or each.kind is each.VAR_KEYWORD for each in accepted):
        name = getattr(function, "__name__", describe(function))
        raise TypeError(f"function is {name}, which has no parameter device_index")
    if "device_index" in parameters:
        raise ValueError(f"device_index is {parameters['device_index']}; devices says the GPUs")
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise TypeError(f"items is {describe(items)}; it must be a list of what the function takes")
    indices = devices_of(devices) or (-1,)
    source = enumerate(items)
    lock = threading.Lock()
    results: dict[int, Any] = {}
    stop = threading.Event()

    def work(device: int) -> None:
        try:
            while not stop.is_set():
                with lock:
                    number, item = next(source, (-1, None))
                if number < 0:
                    return
                result: Any = function(item, *arguments, device_index=device, **parameters)
                results[number] = list(result) if isinstance(result, Iterator) else result
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(len(indices), "itk_cudafilters.map_devices") as threads:
        running = [threads.submit(work, device) for device in indices]
        try:
            for each in running:
                each.result()
        finally:
            stop.set()
    return [results[number] for number in range(len(results))]

# SPDX-License-Identifier: Apache-2.0
"""Cache of calls with arrays of the same shape and type, of NumPy or in GPU memory. The first call determines the passes;
later calls only allocate the result and run or queue the passes."""
from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ._line_passes import DevicePasses, HostPasses
from ._operations import operations_of, require_no_gradient
from ._parameters import switch


class _Unknown:
    """Marks passes that have not been determined yet."""


_UNKNOWN = _Unknown()
# The value is None if passes alone do not suffice for the call.
_found: dict[Hashable, DevicePasses | HostPasses | None] = {}
_LARGEST_NUMBER = 1024


_PLAIN = frozenset({int, float, bool, str, type, type(None)})


def _plain(value: Any) -> Any:
    """Converts a parameter to a part of a key. Raises TypeError for mutable objects, such as arrays."""
    if type(value) in _PLAIN or isinstance(value, (np.generic, np.dtype)):
        return value
    if type(value) in (tuple, list):
        return tuple(map(_plain, value))
    raise TypeError


def run_repeated(
    image: Any,
    preserve_nan: bool,
    parameters: Sequence[Any],
    find_passes: Callable[[], DevicePasses | HostPasses | None],
) -> Any:
    """Runs the cached passes of a call and returns the result, or None if passes alone do not suffice.

    None is returned for images that are no arrays of NumPy, CuPy or torch, for arrays that are not contiguous, on a GPU
    for axes in another order, and for derivatives if some pixels are NaN or infinite. Smoothing such pixels is possible.

    `find_passes` returns the passes of a call with these parameters, or raises an exception if a parameter is wrong. It
    is called only for the first call with the same parameters and with an array of the same class, shape and type.
    """
    ops = operations_of(image)
    if ops is None or not (ops.is_on_gpu or (type(image) is np.ndarray and image.flags.aligned)) or not ops.is_contiguous(image):
        return None
    try:
        given = parameters if _PLAIN.issuperset(map(type, parameters)) else map(_plain, parameters)
        key = (type(image), image.dtype, image.shape, *given)
    except TypeError:
        return None
    passes = _found.get(key, _UNKNOWN)
    if isinstance(passes, _Unknown):
        passes = find_passes()
        if len(_found) >= _LARGEST_NUMBER:
            _found.clear()
        _found[key] = passes
    if passes is None:
        return None
    require_no_gradient(image, "input")
    return passes.run_keeping_nan(image, ops) if switch(preserve_nan, "preserve_nan") else passes.run(image, ops)

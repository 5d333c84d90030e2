# SPDX-License-Identifier: Apache-2.0
"""Calls that have been made before, with arrays of the same shape and type in the memory of a GPU. What a call does was found
out the first time; from then on it allocates the result and queues the passes."""
from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ._line_passes import DevicePasses
from ._operations import operations_of, require_no_gradient


class _Unknown:
    """In the place of passes that were not looked for yet."""


_UNKNOWN = _Unknown()
# None: the call needs more than passes.
_found: dict[Hashable, DevicePasses | None] = {}
_LARGEST_NUMBER = 1024


_PLAIN = frozenset({int, float, bool, str, type, type(None)})


def _plain(value: Any) -> Any:
    """The parameter as part of a key. Raises TypeError for objects that may change, such as arrays."""
    if type(value) in _PLAIN or isinstance(value, (np.generic, np.dtype)):
        return value
    if type(value) in (tuple, list):
        return tuple(map(_plain, value))
    raise TypeError


def run_repeated(
    image: Any,
    preserve_nan: bool,
    parameters: Sequence[Any],
    find_passes: Callable[[], DevicePasses | None],
) -> Any:
    """The result of passes, also over pixels of which some are NaN or infinite, or None where a call needs more: derivatives of
    such pixels, arrays of the host, axes in another order.

    `find_passes` gives the passes of a call with these parameters, and raises what is wrong with them. It is called for the
    first of all calls with the same parameters, and with arrays of the same kind, shape and type.
    """
    ops = operations_of(image)
    if ops is None or not ops.is_on_gpu or not ops.is_contiguous(image):
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
    return passes.run_keeping_nan(image, ops) if preserve_nan else passes.run(image, ops)

# SPDX-License-Identifier: Apache-2.0
"""What the filters' functions in itk do with their inputs before ITK sees them."""
from __future__ import annotations

import functools
import sys
from typing import Any, Callable

import itk
import numpy as np

from ._device import add_methods
from ._dlpack import device_of
from ._images import as_gaussian_input, describe, is_xarray, like

_INPUTS = {"input", "inputimage"}


def check_inputs(functions: dict[str, Any]) -> None:
    """Gives the functions of this module's filters, by name, checks of their inputs, and device images their methods.

    The wrapped library calls it with its own namespace when it is loaded. ITK's generator writes the functions.
    """
    add_methods(functions)
    for name, function in list(functions.items()):
        if name.startswith("cuda_") and name.endswith("_image_filter"):
            functions[name] = _with_checked_inputs(function)
            # ITK sets the function's documentation where it was written.
            setattr(sys.modules[function.__module__], name, functions[name])


def _with_checked_inputs(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        named = {key: value for key, value in kwargs.items() if key.lower().replace("_", "") in _INPUTS}
        arrays = [value for value in (*args, *named.values()) if is_xarray(value) or isinstance(value, np.ndarray)]
        outputs = function(*map(_convert, args), **{**kwargs, **{key: _convert(value) for key, value in named.items()}})
        if not arrays:
            return outputs
        if isinstance(outputs, tuple):
            return tuple(_like(output, arrays[0]) for output in outputs)
        return _like(outputs, arrays[0])

    return call


def _convert(image: Any) -> Any:
    # Filters stand for their outputs in ITK's functions.
    if isinstance(image, itk.LightObject):
        return image
    if device_of(image) is not None:
        raise TypeError(
            f"image is {describe(image)} in the memory of a GPU: call itk_cudafilters.gaussian_filter() or a function beside "
            "it, or give itk_cudafilters.from_dlpack(image)"
        )
    return as_gaussian_input(image, "image")


def _like(output: Any, array: Any) -> Any:
    if isinstance(output, itk.Image):
        return like(output, array, getattr(array, "name", None))
    return np.asarray(_Held(output)) if isinstance(output, np.ndarray) else output


class _Held:
    """The pixels of ITK's view of an image, which lives as long as the arrays that NumPy makes of this. ITK's view holds its image, but
    what np.asarray() makes of the view does not hold the view: its pixels are those of other images once the view is gone."""

    def __init__(self, view: Any) -> None:
        self._view = view
        self.__array_interface__ = view.__array_interface__

# SPDX-License-Identifier: Apache-2.0
"""Checks and conversions of the inputs of itk's functions for this module's filters."""
from __future__ import annotations

import functools
import sys
from typing import Any, Callable

import numpy as np

from ._device import add_methods
from ._dlpack import device_of
from ._images import as_gaussian_input, describe, is_xarray, like
from ._itk import itk

_INPUTS = {"input", "inputimage"}


def check_inputs(functions: dict[str, Any]) -> None:
    """Wraps the functions of this module's filters so that their inputs are checked, and adds the methods of device
    images.

    `functions` is the namespace of the wrapped library, which calls this when it is loaded. The functions in it were
    written by ITK's generator.
    """
    add_methods(functions)
    for name, function in list(functions.items()):
        if name.startswith("cuda_") and name.endswith("_image_filter"):
            functions[name] = _with_checked_inputs(function)
            # ITK sets the function's documentation later, on the attribute of the module that defines it.
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
    # ITK's functions also accept a filter in place of its output.
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
    """The pixels of ITK's view of an image. Arrays that NumPy makes of this object keep it, and thus the view and the
    image, alive. An array that np.asarray() makes of the view itself does not keep the view: once that is gone, the
    memory belongs to other images."""

    def __init__(self, view: Any) -> None:
        self._view = view
        self.__array_interface__ = view.__array_interface__

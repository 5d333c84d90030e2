# SPDX-License-Identifier: Apache-2.0
"""The extension module `_core`, which filters host arrays by the library alone, and what arrays it takes."""
from __future__ import annotations

import functools
import importlib
import importlib.util
import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._images import name_of
from ._scratch import scratch_array

_TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64")

_NAME = f"{__package__}._core"
# The file that also holds `_core`, in wheels with wrapped classes. It needs nothing of the package itk beside it.
_WRAPPED = Path(__file__).parents[1] / "itk" / "_CudaFiltersPython.abi3.so"


@functools.cache
def core() -> Any:
    """Returns `_core`. It is a file of this package, or a second module in the file of the wrapped classes, so that they
    share one library. In neither case is the package itk imported."""
    try:
        return importlib.import_module(_NAME)
    except ModuleNotFoundError as error:
        if error.name != _NAME:
            raise
    if not has_wrapped_classes():
        raise ModuleNotFoundError(f"{_NAME} is missing: install the package itk-cudafilters again", name=_NAME)
    spec = importlib.util.spec_from_file_location(_NAME, _WRAPPED, loader=ExtensionFileLoader(_NAME, str(_WRAPPED)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def has_wrapped_classes() -> bool:
    return _WRAPPED.exists()


def require_wrapped_classes() -> None:
    """Raises ImportError unless this installation has the wrapped classes."""
    if not has_wrapped_classes():
        raise ImportError(
            "the classes of ITK are not in this installation of itk-cudafilters, which pip built from the sources: a wheel that "
            "scripts/build-wheel.sh builds has them"
        )


@functools.cache
def require_same_version(itk_version: str) -> None:
    """Raises ImportError if the wrapped classes are for another version of the package itk. The libraries of both share
    objects, and would show that later by messages that nobody understands."""
    built, found = (version.split(".")[:2] for version in (core().itk_version, itk_version))
    if built != found:
        version = ".".join(built)
        raise ImportError(
            f"itk {itk_version} is installed, and the classes of itk-cudafilters are for itk {version}: pip install 'itk=={version}.*'"
        )


def takes_type(dtype: str) -> bool:
    return dtype in _TYPES


def takes(array: npt.NDArray[Any]) -> bool:
    """Returns whether `_core` reads and writes the array as it lies in memory."""
    size = array.itemsize
    return (
        takes_type(name_of(array.dtype))
        and array.dtype.isnative
        and array.flags.aligned
        and all(step >= 0 and step % size == 0 for step in array.strides)
    )


# Smaller arrays are left to NumPy, as the library's pool leaves them to the system.
_POOLED = 1 << 20


def empty(shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any]:
    """Returns an uninitialized array. Large ones are in memory of the library's pool, which has been used already, or in a file
    if the user has named a folder for them."""
    kind = np.dtype(dtype)
    bytes = math.prod(shape) * kind.itemsize
    if bytes < _POOLED:
        return np.empty(shape, kind)
    array = scratch_array(shape, dtype)
    return np.ndarray(shape, kind, core().allocate(bytes)) if array is None else array


_settings: ContextVar[dict[str, Any] | None] = ContextVar("settings", default=None)


@contextmanager
def run_with(**settings: Any) -> Iterator[dict[str, Any]]:
    """Gives the filters of host arrays within the block settings that the functions have no keywords for, and returns the
    dictionary to which the filters add where they ran: see `_core.filter`."""
    token = _settings.set(settings)
    try:
        yield settings
    finally:
        _settings.reset(token)


def settings_of_run() -> list[dict[str, Any]]:
    """Returns the last argument of `_core.filter` and `_core.vesselness`, if there is one."""
    found = _settings.get()
    return [] if found is None else [found]

# SPDX-License-Identifier: Apache-2.0
"""The package itk, imported when something of it is first used. Its import takes seconds, and arrays do not need it."""
from __future__ import annotations

import functools
import importlib
from typing import Any


@functools.cache
def _package() -> Any:
    """Imports itk. Without it, Python takes the folder with the wrapped classes of this package for a package."""
    try:
        package = importlib.import_module("itk")
    except ModuleNotFoundError as error:
        if error.name != "itk":
            raise
        package = None
    if getattr(package, "__file__", None) is None:
        raise ModuleNotFoundError(
            "this needs the package itk, which is not installed: pip install 'itk==5.4.*'; arrays do without", name="itk"
        )
    return package


class _Package:
    def __getattr__(self, name: str) -> Any:
        if not name.startswith(("Cuda", "cuda_")):
            return getattr(_package(), name)
        from . import _library

        _library.require_wrapped_classes()
        _library.require_same_version(_package().__version__)
        return getattr(_package(), name)


itk: Any = _Package()


# Names of ITK's pixel types by those of NumPy.
_PIXELS = {"uint8": "UC", "uint16": "US", "int16": "SS", "uint32": "UI", "float32": "F", "float64": "D"}


def pixel_type(dtype: str) -> Any:
    """Returns ITK's type of pixels for the name of the type in NumPy."""
    return getattr(itk, _PIXELS[dtype])


def is_itk_object(image: Any) -> bool:
    """Returns whether `image` is an itk.Object. For objects of classes of other packages it does not load ITK."""
    is_of_itk = any(base.__module__.partition(".")[0] == "itk" for base in type(image).__mro__)
    return is_of_itk and isinstance(image, itk.Object)

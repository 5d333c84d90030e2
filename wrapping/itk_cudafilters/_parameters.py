# SPDX-License-Identifier: Apache-2.0
"""Passes parameters to the setters of wrapped classes, and converts the library's exceptions."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

_P = ParamSpec("_P")
_T = TypeVar("_T")

# The format of the text of ITK's exceptions. It contains "ITK ERROR" if an argument or pixels are wrong, but not if a
# GPU failed or a filter was aborted.
_LIBRARY_ERROR = re.compile(r"\A[^\n]+:\d+:\n(?P<argument>ITK ERROR: (?:\w+\(0x[0-9a-f]+\): )?)?(?P<sentence>.*)\Z", re.DOTALL)

# The Python values that a C++ type accepts, in words.
_WANTED = {
    "bool": "True or False",
    "double": "a number",
    "int": "an integer from -2147483648 to 2147483647",
    "unsigned char": "an integer from 0 to 255",
    "unsigned int": "an integer from 0 to 4294967295",
    "unsigned long": "an integer from 0 to 18446744073709551615",
}


def set_parameter(setter: Callable[[Any], None], name: str, value: Any) -> None:
    """Calls the setter, with NumPy numbers converted to Python's. SWIG's errors name a C++ type; this function raises
    errors that name the parameter, its value and the values that are allowed instead."""
    try:
        setter(value.item() if isinstance(value, np.generic) else value)
    except (TypeError, OverflowError) as error:
        found = re.search("of type '([a-z ]+)'", str(error))
        wanted = found and _WANTED.get(found[1])
        if not wanted:
            raise
        is_beyond = wanted == _WANTED["double"] and isinstance(value, int)
        if is_beyond:
            wanted = "a number that float64 holds, below 1.8e308"
        kind = ValueError if is_beyond or isinstance(error, OverflowError) else TypeError
        raise kind(f"{name} is {value!r}; it must be {wanted}") from None


def library_errors(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Decorates a function that calls the library so that its exceptions hold only the library's sentence, without the
    location in its sources.

    ITK raises RuntimeError for all errors. It becomes ValueError if the library refused arguments or pixels, and
    remains RuntimeError if a GPU failed or a filter was aborted.
    """

    @functools.wraps(function)
    def call(*arguments: _P.args, **keywords: _P.kwargs) -> _T:
        try:
            return function(*arguments, **keywords)
        except RuntimeError as error:
            found = _LIBRARY_ERROR.match(str(error))
            if found is None:
                raise
            of_callable = "CommandCallable" in found["sentence"]  # raised by a Python observer
            kind = ValueError if found["argument"] and not of_callable else RuntimeError
            raise kind(found["sentence"].rstrip("\n")) from None

    return call


def switch(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is {value!r}; it must be True or False")
    return bool(value)

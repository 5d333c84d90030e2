# SPDX-License-Identifier: Apache-2.0
"""Parameters of functions on their way to the setters of a wrapped class, and the library's errors on their way back."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

_P = ParamSpec("_P")
_T = TypeVar("_T")

# How ITK puts the text of its exceptions together. The words "ITK ERROR" stand in those of arguments and pixels, and not in those of
# a GPU or of a filter that was aborted.
_LIBRARY_ERROR = re.compile(r"\A[^\n]+:\d+:\n(?P<argument>ITK ERROR: (?:\w+\(0x[0-9a-f]+\): )?)?(?P<sentence>.*)\Z", re.DOTALL)

# What values of a type of C++ are in Python.
_WANTED = {
    "bool": "True or False",
    "double": "a number",
    "int": "an integer from -2147483648 to 2147483647",
    "unsigned char": "an integer from 0 to 255",
    "unsigned int": "an integer from 0 to 4294967295",
    "unsigned long": "an integer from 0 to 18446744073709551615",
}


def set_parameter(setter: Callable[[Any], None], name: str, value: Any) -> None:
    """Calls the setter. Numbers of NumPy become Python's. SWIG's errors name a type of C++; the errors raised here name the parameter of
    the function, its value and what would be right."""
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
    """Decorates a function that calls the library: what it raises is the library's sentence alone, without the place in its sources.

    ITK raises RuntimeError for everything. Arguments and pixels that the library refuses become ValueError; failures of a GPU and
    aborted filters remain RuntimeError.
    """

    @functools.wraps(function)
    def call(*arguments: _P.args, **keywords: _P.kwargs) -> _T:
        try:
            return function(*arguments, **keywords)
        except RuntimeError as error:
            found = _LIBRARY_ERROR.match(str(error))
            if found is None:
                raise
            of_callable = "CommandCallable" in found["sentence"]  # what a filter in Python above has raised
            kind = ValueError if found["argument"] and not of_callable else RuntimeError
            raise kind(found["sentence"].rstrip("\n")) from None

    return call


def switch(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is {value!r}; it must be True or False")
    return bool(value)

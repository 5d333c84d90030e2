# SPDX-License-Identifier: Apache-2.0
"""Checks parameters, and converts the library's exceptions."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np

from ._images import describe
from ._library import core

Devices = Literal["all"] | Sequence[int]

_P = ParamSpec("_P")
_T = TypeVar("_T")

# The format of the text of ITK's exceptions. It contains "ITK ERROR" if an argument or pixels are wrong, but not if a
# GPU failed or a filter was aborted.
_LIBRARY_ERROR = re.compile(r"\A[^\n]+:\d+:\n(?P<argument>ITK ERROR: (?:\w+\(0x[0-9a-f]+\): )?)?(?P<sentence>.*)\Z", re.DOTALL)

# The advice of C++ for decibels, which these functions convert.
_IN_DECIBELS = re.compile(r"Then compute 10\^\(pixel / \d+\) first")

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

LARGEST_UNSIGNED, LARGEST_UNSIGNED_LONG = 2**32 - 1, 2**64 - 1


def whole_number(value: Any, name: str, least: int, largest: int) -> int:
    found = value.item() if isinstance(value, np.generic) else value
    is_whole = isinstance(found, int)
    if not is_whole or not least <= found <= largest:
        kind = ValueError if is_whole else TypeError
        raise kind(f"{name} is {value!r}; it must be an integer from {least} to {largest}")
    return int(found)


def device_number(value: Any, name: str = "device_index") -> int:
    return whole_number(value, name, -(2**31), 2**31 - 1)


def devices_of(value: Any, name: str = "devices") -> tuple[int, ...]:
    """Returns the indices of GPUs of a parameter: None, "all" or a sequence of indices. "all" stands for the usable GPUs of
    the compute capability of the first one, because the results of others may differ by rounding. It is empty if there are
    none, so that the backend decides."""
    if value is None:
        return ()
    if isinstance(value, str) and value == "all":
        usable = [device for device in core().info()["devices"] if device["usable"]]
        return tuple(each["index"] for each in usable if each["compute_capability"] == usable[0]["compute_capability"])
    is_list = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
    indices = tuple(whole_number(index, f"{name}[{i}]", 0, 2**31 - 1) for i, index in enumerate(value)) if is_list else ()
    if not indices:
        kind = ValueError if is_list or isinstance(value, str) else TypeError
        raise kind(f'{name} is {value!r}; it must be None, "all", or a list of indices of GPUs, such as [0, 1]')
    return indices


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
            found = plain_error(error)
            if found is error:
                raise
            raise found from None

    return call


def plain_error(error: Exception) -> Exception:
    """Returns an exception of the library as library_errors() raises it, and other exceptions unchanged."""
    found = _LIBRARY_ERROR.match(str(error)) if isinstance(error, RuntimeError) else None
    if found is None:
        return error
    of_callable = "CommandCallable" in found["sentence"]  # raised by a Python observer
    kind = ValueError if found["argument"] and not of_callable else RuntimeError
    return kind(_IN_DECIBELS.sub('Then give quantity="db"', found["sentence"]).rstrip("\n"))


def switch(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is {value!r}; it must be True or False")
    return bool(value)


def plain_name(name: str) -> str:
    """Returns a name in the form in which names are compared: lower case, without '_' and '-'."""
    return name.replace("_", "").replace("-", "").lower()


def known_name(parameter: str, name: str, known: Iterable[str]) -> str:
    """Returns the known name that equals `name`, compared without case, '_' and '-'. Raises ValueError if there is
    none."""
    if not isinstance(name, str):
        raise TypeError(f"{parameter} is {describe(name)}; it must be one of the names {', '.join(known)}")
    for candidate in known:
        if plain_name(candidate) == plain_name(name):
            return candidate
    raise ValueError(f'{parameter} is "{name}"; it must be one of {", ".join(known)}')


def snake_case(name: str) -> str:
    """Returns a name of C++ in the form of Python's."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def bytes_of(text: int | str, name: str = "memory_limit") -> int:
    """Returns a number of bytes from a number, or from text such as 8G, which is 8 times 2^30."""
    if isinstance(text, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
        value: float = float(match[1]) * _UNITS[match[2].upper()] if match else 0.0
    elif isinstance(text, (int, np.integer)) and not isinstance(text, bool):
        value = int(text)
    else:
        raise TypeError(f"{name} is {describe(text)}; it must be a number of bytes, or text as 8G")
    if not 1 <= value < 2**63:
        raise ValueError(f"{name} is '{text}'; it must be a number of bytes above 0, or one with K, M, G or T: 8G")
    return int(value)

# SPDX-License-Identifier: Apache-2.0
"""Parameters of functions on their way to the setters of a wrapped class."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

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
        kind = ValueError if isinstance(error, OverflowError) else TypeError
        raise kind(f"{name} is {value!r}; it must be {wanted}") from None

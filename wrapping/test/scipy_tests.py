# SPDX-License-Identifier: Apache-2.0
"""Runs the tests that the installed scipy has of its Gaussian filters on those of itk_cudafilters.ndimage.

    python wrapping/test/scipy_tests.py [PYTEST_ARGUMENT...]

Tests of other filters are left out. What a message says is not compared; which exception it is, is. DIFFERENCES lists the tests that
must fail, and why: docs/user/python.md names each of these differences. A test of the list that passes is a failure too.
"""
import contextlib
import re
import sys
import types
import unittest.mock

import pytest
import scipy.ndimage

from itk_cudafilters import ndimage

NAMES = ndimage.__all__
OWN = {getattr(ndimage, name): name for name in NAMES}

_WINDOW = "the filters have no window: the kernel goes on where scipy's ends, and truncate has no effect"
_LENGTHS = "a sequence of the wrong length raises ValueError, in scipy RuntimeError; that of radius is not looked at"
_ORDER = "orders above 2 are refused"
_INTEGERS = "integers are truncated once, in the end, and within their range; in scipy after each axis, and unsigned ones wrap"
_FLOAT16 = "float16 is filtered, in scipy it raises RuntimeError"

DIFFERENCES = {
    r"test_gaussian_truncate": _WINDOW,
    r"test_multiple_modes_gaussian_": _WINDOW,
    r"test_filter_tuple_length_mismatch": _LENGTHS,
    r"test_orders_gauss": _ORDER,
    r"test_(gaussian_laplace|gaussian_gradient_magnitude|generic_laplace).*int\d+\]": _INTEGERS,
    r"test_gaussian_filter_float16": _FLOAT16,
}


def replace_functions():
    """Puts the functions in the place of scipy's, for the tests that are imported afterwards."""
    from scipy._lib import _array_api

    # Tests look up there which packages a function takes arrays of.
    table = getattr(_array_api, "xp_capabilities_table", {})
    for own, name in OWN.items():
        if getattr(scipy.ndimage, name) in table:
            table[own] = table[getattr(scipy.ndimage, name)]
        setattr(scipy.ndimage, name, own)


def replace_hypothesis():
    """Without the package hypothesis its tests, which are none of Gaussians, become None. The others can be imported then."""
    with contextlib.suppress(ImportError):
        import hypothesis  # noqa: F401

        return
    absent = unittest.mock.MagicMock()
    absent.given = lambda *_, **__: lambda test: None
    for name in ("hypothesis", "hypothesis.strategies", "hypothesis.extra", "hypothesis.extra.numpy"):
        sys.modules[name] = absent


def names_in(code):
    """The names that a function and those within it use."""
    return set(code.co_names).union(*(names_in(each) for each in code.co_consts if isinstance(each, types.CodeType)))


def is_of_gaussians(item):
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    functions = [value for value in parameters if callable(value) and not isinstance(value, type)]
    if functions:
        return any(function in OWN for function in functions)
    return not names_in(item.function.__code__).isdisjoint(NAMES)


def pytest_collection_modifyitems(config, items):
    chosen = [item for item in items if is_of_gaussians(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
    for item in items:
        for pattern, reason in DIFFERENCES.items():
            if re.search(pattern, item.nodeid):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(autouse=True)
def any_message(monkeypatch):
    raises = pytest.raises
    monkeypatch.setattr(pytest, "raises", lambda error, *arguments, match=None, **options: raises(error, *arguments, **options))


if __name__ == "__main__":
    replace_functions()
    replace_hypothesis()
    options = ["--pyargs", "scipy.ndimage.tests.test_filters", "-p", "no:cacheprovider", "-rxXs", *sys.argv[1:]]
    sys.exit(pytest.main(options, plugins=[sys.modules[__name__]]))

# SPDX-License-Identifier: Apache-2.0
"""itk_cudafilters.ndimage beside scipy.ndimage: one import changes."""
import inspect

import numpy as np
import pytest

from itk_cudafilters import ndimage

scipy = pytest.importorskip("scipy.ndimage")
pytestmark = pytest.mark.usefixtures("host_allowed")

NAMES = ("gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace")
MODES = ("reflect", "nearest", "mirror", "wrap", "constant")
# Largest order of derivatives: see test_gaussian_functions.py.
BOUND = {"gaussian_filter": 2e-5, "gaussian_filter1d": 2e-5, "gaussian_gradient_magnitude": 2e-4, "gaussian_laplace": 1e-3}
ALL_NAMES = pytest.mark.parametrize("name", NAMES)


def both(name):
    return getattr(ndimage, name), getattr(scipy, name)


def assert_near(found, expected, bound):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=bound * np.abs(expected).max())


@ALL_NAMES
def test_signature_is_that_of_scipy(name):
    own, other = (inspect.signature(function).parameters for function in both(name))
    for key, parameter in other.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            assert {"truncate", "radius"} <= set(own)  # what scipy hands on
        else:
            assert own[key].default == parameter.default and own[key].kind == parameter.kind, key
    # Newer versions of scipy have axes.
    assert set(own) - set(other) <= {"truncate", "radius", "axes"}


@ALL_NAMES
@pytest.mark.parametrize("mode", [*MODES, "grid-mirror", "grid-wrap", "grid-constant"])
def test_results_are_those_of_scipy(name, mode):
    function, expected = both(name)
    array = scipy.gaussian_filter(np.random.default_rng(1).random((31, 26)), 1.0, mode=mode, cval=0.5)
    for sigma in (2.0, 4.0):
        options = {"sigma": sigma, "mode": mode, "cval": 0.5}
        assert_near(function(array, **options), expected(array, **options, truncate=8), BOUND[name])


@pytest.mark.parametrize("name", [name for name in NAMES if name != "gaussian_filter1d"])
def test_sequences(name):
    function, expected = both(name)
    array = scipy.gaussian_filter(np.random.default_rng(2).random((21, 26)), 1.0)
    options = {"sigma": (2.0, 3.0), "mode": ("wrap", "mirror")}
    assert_near(function(array, **options), expected(array, **options, truncate=8), BOUND[name])


@ALL_NAMES
def test_truncate_and_radius_have_no_effect(name):
    array = np.random.default_rng(3).random((21, 26))
    expected = getattr(ndimage, name)(array, 2.0)
    np.testing.assert_array_equal(getattr(ndimage, name)(array, 2.0, truncate=1.0, radius=2), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64])
def test_results_have_the_type_of_the_input(dtype):
    array = (200 * np.random.default_rng(4).random((21, 26))).astype(dtype)
    found, expected = ndimage.gaussian_filter(array, 2.0), scipy.gaussian_filter(array, 2.0, truncate=8)
    assert found.dtype == dtype
    # scipy truncates integers after each axis.
    assert np.abs(found.astype(np.float64) - expected).max() <= (2.0 if np.issubdtype(dtype, np.integer) else 2e-5 * 200)
    output = np.empty(array.shape)
    assert ndimage.gaussian_filter(array, 2.0, output=output) is output
    assert ndimage.gaussian_filter(array, 2.0, output=np.float32).dtype == np.float32


def test_positions_of_arguments():
    array = np.random.default_rng(5).random((21, 26))
    found = ndimage.gaussian_filter1d(array, 2.0, 0, 1, None, "constant", 0.5, 8.0)
    assert_near(found, scipy.gaussian_filter1d(array, 2.0, 0, 1, None, "constant", 0.5, 8.0), 2e-4)


def test_orders_above_2_are_refused():
    with pytest.raises(ValueError, match="order is 3; it must be 0, 1 or 2"):
        ndimage.gaussian_filter(np.zeros((8, 8)), 2, 3)

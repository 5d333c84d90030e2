# SPDX-License-Identifier: Apache-2.0
"""itk_cudafilters.ndimage beside scipy.ndimage: one import changes."""
import inspect
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import itk_cudafilters
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


def smooth_array(seed, shape):
    return scipy.gaussian_filter(np.random.default_rng(seed).random(shape), 1.0)


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


@ALL_NAMES
@pytest.mark.parametrize("dtype", ["int64", "uint64", "bool"])
def test_lists_and_arrays_of_other_integers_have_the_types_of_scipy(name, dtype):
    function, expected = both(name)
    # A ramp with steps: most sums over whole numbers lie between two of them.
    array = np.add.outer(3 * np.arange(24), np.arange(30)).astype(dtype)
    for given in (array, array.tolist()):
        found, wanted = function(given, 2.0), expected(given, 2.0, truncate=8)
        assert type(found) is type(wanted) and found.dtype == wanted.dtype and found.shape == wanted.shape
        if name in ("gaussian_filter", "gaussian_filter1d") and dtype != "bool":
            # scipy truncates integers after each axis.
            assert np.abs(found.astype(np.float64) - wanted).max() <= 2.0
    floats = [[1.0, 2.0, 4.0], [3.0, 8.0, 5.0]]
    assert_near(function(floats, 1.5), expected(floats, 1.5, truncate=8), BOUND[name])
    output = np.empty(array.shape, np.int64)
    assert function(array, 2.0, output=output) is output


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


@pytest.mark.parametrize("sigma, order", [((0, 1.5), (1, 0)), ((1.5, 0), (1, 2)), ((1e-16, 1.5), (2, 1)), (0, 1), (0, (2, 1))])
def test_orders_of_axes_that_are_left(sigma, order):
    array = smooth_array(7, (21, 26))
    expected = scipy.gaussian_filter(array, sigma, order, truncate=8)
    assert_near(ndimage.gaussian_filter(array, sigma, order), expected, 1e-3)


@pytest.mark.parametrize("name", ["gaussian_gradient_magnitude", "gaussian_laplace"])
@pytest.mark.parametrize("options", [{"sigma": (0, 2.0)}, {"sigma": 0}, {"sigma": 2.0, "axes": ()}])
def test_derivatives_along_axes_that_are_left(name, options):
    function, expected = both(name)
    array = smooth_array(8, (21, 26))
    assert_near(function(array, **options), expected(array, **options, truncate=8), BOUND[name])


@pytest.mark.parametrize("name", ["gaussian_gradient_magnitude", "gaussian_laplace"])
def test_order_of_axes_is_that_of_the_array(name):
    """Where it counts: lines of derivatives continue with cval again."""
    function, expected = both(name)
    array = 3 * smooth_array(9, (21, 26))
    options = {"sigma": 2.0, "mode": "constant", "cval": -20.0}
    for axes in ((0, 1), (1, 0), (-1, -2)):
        assert_near(function(array, **options, axes=axes), expected(array, **options, axes=axes, truncate=8), BOUND[name])


@ALL_NAMES
@pytest.mark.parametrize("mode, cval", [("reflect", 0.0), ("constant", 0.5)])
def test_complex_numbers(name, mode, cval):
    function, expected = both(name)
    array = smooth_array(10, (21, 26)) + 1j * smooth_array(11, (21, 26))
    options = {"sigma": 2.0, "mode": mode, "cval": cval}
    wanted = expected(array, **options, truncate=8)
    assert_near(function(array, **options), wanted, BOUND[name])
    assert_near(function(array.astype(np.complex64), **options), wanted.astype(np.complex64), BOUND[name])
    output = np.empty_like(array)
    assert function(array, **options, output=output) is output
    assert_near(output, wanted, BOUND[name])
    with pytest.raises(TypeError, match="output is float64; for an input of complex numbers it must be complex"):
        function(array, **options, output=np.float64)


@pytest.mark.parametrize("axis", [None, (0, 1), [1], 0.5, "x"])
def test_one_axis_of_one_dimension(axis):
    with pytest.raises(TypeError):
        scipy.gaussian_filter1d(np.zeros((8, 8)), 1, axis=axis)
    for function in (ndimage.gaussian_filter1d, itk_cudafilters.gaussian_filter1d):
        with pytest.raises(TypeError, match="axis is .*; it must be a whole number"):
            function(np.zeros((8, 8)), 1, axis=axis)


@ALL_NAMES
@pytest.mark.parametrize("radius", [-1, 1.5, "wide"])
def test_a_radius_that_is_none(name, radius):
    with pytest.raises(ValueError, match="radius is .*; it must be None, or whole numbers of 0 or more"):
        getattr(ndimage, name)(np.zeros((8, 8)), 1, radius=radius)


def test_scipys_own_tests(tmp_path):
    """They pass, but for those of the documented differences."""
    pytest.importorskip("scipy.ndimage.tests")
    script = pathlib.Path(__file__).with_name("scipy_tests.py")
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) >= 50, done.stdout


def test_orders_above_2_are_refused():
    with pytest.raises(ValueError, match="order is 3; it must be 0, 1 or 2"):
        ndimage.gaussian_filter(np.zeros((8, 8)), 2, 3)

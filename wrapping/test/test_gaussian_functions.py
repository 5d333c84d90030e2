# SPDX-License-Identifier: Apache-2.0
"""gaussian_filter() and the functions beside it: against scipy in float64, and the conventions of arrays."""
import inspect
import itertools
import math

import itk
import numpy as np
import pytest

import itk_cudafilters
from itk_cudafilters import (
    difference_of_gaussians,
    gaussian_filter,
    gaussian_filter1d,
    gaussian_gradient,
    gaussian_gradient_magnitude,
    gaussian_hessian,
    gaussian_laplace,
    unsharp_mask,
)

pytestmark = pytest.mark.usefixtures("host_allowed")

MODES = ("reflect", "nearest", "mirror", "wrap", "constant")
FUNCTIONS = {
    "gaussian_filter": gaussian_filter,
    "gaussian_filter1d": gaussian_filter1d,
    "gaussian_gradient_magnitude": gaussian_gradient_magnitude,
    "gaussian_laplace": gaussian_laplace,
    "gaussian_gradient": gaussian_gradient,
    "gaussian_hessian": gaussian_hessian,
    "difference_of_gaussians": difference_of_gaussians,
    "unsharp_mask": unsharp_mask,
}
# Of scipy's results in float64, whose window ends at 8 sigma, relative to the largest value, by order. Those of derivatives
# hold for sigmas from 1.5 pixels on and details as wide as a pixel and a quarter of sigma (docs/developer/numerics.md).
BOUND = (2e-5, 2e-4, 1e-3)
ALL_MODES = pytest.mark.parametrize("mode", MODES)


def generator(seed=20240601):
    print(f"seed {seed}")
    return np.random.default_rng(seed)


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def assert_near(found, expected, bound):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=bound * np.abs(expected).max())


# scipy


def test_derivatives_follow_the_order_of_the_array():
    """Against scipy's lines along the first axis of the array first. In the mode constant the order counts: lines of a
    derivative continue with cval again."""
    scipy = pytest.importorskip("scipy.ndimage")
    rng = generator()
    array = 3 * scipy.gaussian_filter(rng.random((13, 21, 24)), 1.0)
    sigma = dict(enumerate((1.5, 2.0, 2.5)))
    cval = -20.0

    def derivative(*orders):
        result = array
        for axis in range(3):
            result = scipy.gaussian_filter1d(result, sigma[axis], axis, orders[axis], mode="constant", cval=cval, truncate=8)
        return result

    unit = np.eye(3, dtype=int)
    for axes in itertools.permutations(range(3)):
        options = {"sigma": [sigma[axis] for axis in axes], "mode": "constant", "cval": cval, "axes": axes}
        gradient = [derivative(*unit[axis]) for axis in axes]
        second = [[derivative(*(unit[a] + unit[b])) for b in axes] for a in axes]
        hessian = [second[i][j] for i in range(3) for j in range(i, 3)]
        assert_near(gaussian_gradient(array, **options), np.stack(gradient, -1), BOUND[1])
        assert_near(gaussian_gradient_magnitude(array, **options), np.sqrt(sum(each**2 for each in gradient)), BOUND[1])
        assert_near(gaussian_hessian(array, **options), np.stack(hessian, -1), BOUND[2])
        assert_near(gaussian_laplace(array, **options), sum(second[i][i] for i in range(3)), BOUND[2])
        # As in scipy, one derivative follows the axes as they are named.
        wanted = array
        for axis, order in zip(axes, (1, 0, 2)):
            wanted = scipy.gaussian_filter1d(wanted, sigma[axis], axis, order, mode="constant", cval=cval, truncate=8)
        assert_near(gaussian_filter(array, order=(1, 0, 2), **options), wanted, 2 * BOUND[2])


@ALL_MODES
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(61,), (30, 41), (12, 17, 23), (5, 7, 9, 8)], ids=len)
def test_smoothing_is_that_of_scipy(mode, dtype, shape):
    scipy = pytest.importorskip("scipy.ndimage")
    rng = generator()
    array = rng.random(shape).astype(dtype)
    for _ in range(3):
        sigma = rng.uniform(1.0, 10.0, len(shape)).tolist()
        expected = scipy.gaussian_filter(array.astype(np.float64), sigma, mode=mode, cval=0.75, truncate=8)
        found = gaussian_filter(array, sigma, mode=mode, cval=0.75)
        assert found.dtype == dtype
        assert_near(found, expected, BOUND[0])


@ALL_MODES
def test_derivatives_are_those_of_scipy(mode):
    scipy = pytest.importorskip("scipy.ndimage")
    array = scipy.gaussian_filter(generator().random((41, 33)), 1.0, mode=mode, cval=0.5)
    for order in ((1, 0), (0, 2), (1, 1), 2):
        expected = scipy.gaussian_filter(array, (2.0, 3.5), order=order, mode=mode, cval=0.5, truncate=8)
        found = gaussian_filter(array, (2.0, 3.5), order=order, mode=mode, cval=0.5)
        assert_near(found, expected, BOUND[max(np.atleast_1d(order))])


@ALL_MODES
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (2, 3), (3, 1), (3, 2, 1)], ids=str)
def test_axes_of_few_pixels(mode, shape):
    scipy = pytest.importorskip("scipy.ndimage")
    array = generator().random(shape)
    for sigma in (1.0, 2.5, 7.0):
        for approximation, bound in (("accurate", 2e-5), ("deriche", 5e-3)):
            expected = scipy.gaussian_filter(array, sigma, mode=mode, cval=0.25, truncate=8)
            found = gaussian_filter(array, sigma, mode=mode, cval=0.25, approximation=approximation)
            assert_near(found, expected, bound)


@pytest.mark.parametrize("one, other", [("grid-mirror", "reflect"), ("grid-wrap", "wrap"), ("grid-constant", "constant")])
def test_second_names_of_modes(one, other):
    array = generator().random((9, 8))
    assert same_bits(gaussian_filter(array, 3, mode=one, cval=2.0), gaussian_filter(array, 3, mode=other, cval=2.0))


# axes


def test_axes_count_as_in_the_array():
    impulse = np.zeros((41, 51, 61), np.float32)
    impulse[20, 25, 30] = 1.0
    smoothed = gaussian_filter(impulse, (1.0, 2.0, 4.0))
    for axis, sigma in enumerate((1.0, 2.0, 4.0)):
        line = smoothed.sum(axis=tuple(other for other in range(3) if other != axis))
        place = np.arange(line.size) - line.size // 2
        assert np.sqrt((line * place**2).sum()) == pytest.approx(sigma, rel=1e-3)


def test_modes_by_axis():
    scipy = pytest.importorskip("scipy.ndimage")
    array = generator().random((12, 14))
    expected = scipy.gaussian_filter(array, 3, mode=("wrap", "constant"), truncate=8)
    assert_near(gaussian_filter(array, 3, mode=("wrap", "constant")), expected, BOUND[0])


def test_sigma_0_leaves_an_axis_as_it_is():
    array = generator().random((6, 7, 8)).astype(np.float32)
    assert same_bits(gaussian_filter(array, (0, 2, 0)), gaussian_filter(array, 2, axes=1))
    unfiltered = gaussian_filter(array, 0)
    assert same_bits(unfiltered, array) and not np.shares_memory(unfiltered, array)


def test_items_of_a_batch_have_the_bits_that_they_have_alone():
    rng = generator()
    for number in range(40):
        dimension = int(rng.integers(2, 5))
        shape = tuple(int(n) for n in rng.integers(1, 12, dimension))
        array = rng.random(shape).astype(rng.choice([np.float32, np.float64]))
        count = int(rng.integers(1, dimension))
        axes = sorted(rng.choice(dimension, count, replace=False).tolist())
        sigma = rng.uniform(0.6, 6.0, count).tolist()
        order = rng.integers(0, 3, count).tolist()
        mode = MODES[number % len(MODES)]
        approximation = ("accurate", "deriche")[number % 2]
        options = {"order": order, "mode": mode, "cval": 0.5, "approximation": approximation}
        whole = gaussian_filter(array, sigma, axes=axes, **options)
        others = [axis for axis in range(dimension) if axis not in axes]
        for index in itertools.product(*(range(shape[axis]) for axis in others)):
            place = [slice(None)] * dimension
            for axis, value in zip(others, index, strict=True):
                place[axis] = value
            alone = gaussian_filter(array[tuple(place)], sigma, **options)
            assert alone.tobytes() == np.ascontiguousarray(whole[tuple(place)]).tobytes(), (shape, axes, options)


def test_channels_are_filtered_by_themselves():
    array = generator().random((3, 20, 21))
    for axis in (0, -3):
        smoothed = gaussian_filter(array, (1.5, 3.0), channel_axis=axis)
        for channel in range(3):
            assert same_bits(smoothed[channel], gaussian_filter(array[channel], (1.5, 3.0)))


def test_one_axis():
    array = generator().random((10, 20, 30))
    assert same_bits(gaussian_filter1d(array, 2.0), gaussian_filter(array, 2.0, axes=2))
    assert same_bits(gaussian_filter1d(array, 2.0, 0, 1), gaussian_filter(array, 2.0, 1, axes=0))


def test_layouts_of_memory():
    array = generator().random((12, 13, 14)).astype(np.float32)
    expected = gaussian_filter(array, (1, 2, 3))
    read_only = array.copy()
    read_only.flags.writeable = False
    swapped = array.astype(array.dtype.newbyteorder())
    for other in (np.asfortranarray(array), np.repeat(array, 2, axis=1)[:, ::2], array[::-1][::-1], read_only, swapped):
        assert same_bits(gaussian_filter(other, (1, 2, 3)), expected)
    assert same_bits(gaussian_filter(array[::-1], (1, 2, 3)), gaussian_filter(array[::-1].copy(), (1, 2, 3)))


def test_no_axes():
    assert same_bits(gaussian_filter(np.array(3.0), 2), np.array(3.0))


def test_six_axes():
    scipy = pytest.importorskip("scipy.ndimage")
    array = generator().random((3, 4, 2, 5, 3, 4))
    assert_near(gaussian_filter(array, 1.5), scipy.gaussian_filter(array, 1.5, truncate=8), BOUND[0])
    assert gaussian_gradient(array, 1.5, axes=(5, 0)).shape == (*array.shape, 2)
    assert gaussian_hessian(array, 1.5, channel_axis=2).shape == (3, 4, 2, 15, 5, 3, 4)


def test_no_pixels():
    assert gaussian_filter(np.zeros((0, 5)), 2).shape == (0, 5)
    assert gaussian_gradient(np.zeros((4, 0)), 2).shape == (4, 0, 2)
    assert gaussian_filter(np.zeros((2, 0)), 2, valid_mask=np.ones((2, 0))).shape == (2, 0)


# units


def test_full_width_at_half_maximum():
    array = generator().random((20, 20))
    width = 2.0 * math.sqrt(2.0 * math.log(2.0))
    np.testing.assert_allclose(gaussian_filter(array, fwhm=width * 2.0), gaussian_filter(array, 2.0), rtol=1e-12)
    np.testing.assert_allclose(gaussian_filter(array, fwhm=(width, 2 * width)), gaussian_filter(array, (1, 2)), rtol=1e-12)


def test_spacing_as_numbers():
    array = generator().random((20, 25))
    found = gaussian_filter(array, 3.0, spacing=(0.5, 2.0), order=(0, 1))
    np.testing.assert_allclose(found, gaussian_filter(array, (6.0, 1.5), order=(0, 1)) / 2.0, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(gaussian_laplace(array, 4.0, spacing=2.0), gaussian_laplace(array, 2.0) / 4.0, rtol=1e-12)


def test_spacing_of_an_itk_image():
    array = generator().random((20, 25)).astype(np.float32)
    image = itk.image_from_array(array)
    image.SetSpacing((2.0, 0.5))  # x, y
    image.SetOrigin((3.0, 4.0))
    for options in ({}, {"spacing": "image"}):
        found = gaussian_filter(image, 3.0, order=(0, 1), **options)
        expected = gaussian_filter(array, 3.0, order=(0, 1), spacing=(0.5, 2.0) if options else None)
        np.testing.assert_array_equal(itk.array_from_image(found), expected)
        assert tuple(found.GetSpacing()) == (2.0, 0.5) and tuple(found.GetOrigin()) == (3.0, 4.0)


def test_coordinates_of_a_data_array():
    xarray = pytest.importorskip("xarray")
    pixels = generator().random((20, 25))
    array = xarray.DataArray(
        pixels,
        dims=("y", "time"),
        coords={"y": 10.0 - 0.5 * np.arange(20), "time": 2.0 * np.arange(25)},
        attrs={"units": "K"},
        name="temperature",
    )
    plain = gaussian_filter(array, 2.0)
    np.testing.assert_array_equal(plain.data, gaussian_filter(pixels, 2.0))
    assert plain.dims == array.dims and plain.attrs == array.attrs and plain.name == "temperature"
    assert plain.coords.identical(array.coords)
    gradient = gaussian_gradient(array, 2.0, spacing="image")
    assert gradient.dims == ("y", "time", "component")
    expected = gaussian_gradient(pixels, 2.0, spacing=(0.5, 2.0))
    np.testing.assert_allclose(gradient.data, expected * (-1.0, 1.0), rtol=1e-12, atol=1e-15)  # y falls


def test_spacing_of_an_array():
    with pytest.raises(ValueError, match="spacing is 'image' and input is of type numpy.ndarray, which has none"):
        gaussian_filter(np.zeros((5, 5)), 2, spacing="image")


# types


@pytest.mark.parametrize("name", ["uint8", "int8", "uint16", "int16", "uint32", "int32"])
def test_integers_give_float32(name):
    limits = np.iinfo(name)
    array = generator().integers(limits.min, limits.max, (20, 21), name, endpoint=True)
    found = gaussian_filter(array, 2.0)
    precise = gaussian_filter(array.astype(np.float64), 2.0)
    assert found.dtype == np.float32
    # Rounding is relative to the values that are summed.
    np.testing.assert_allclose(found, precise, rtol=0.0, atol=3e-7 * np.abs(array.astype(np.float64)).max())
    whole = gaussian_filter(array, 2.0, dtype=name)
    assert whole.dtype == name
    far_from_steps = np.abs(precise - np.round(precise)) > 1e-6 * np.abs(precise).max()
    np.testing.assert_array_equal(whole[far_from_steps], np.trunc(precise)[far_from_steps])


def test_results_beyond_the_range_of_a_type():
    array = np.array([-300.0, np.nan, 300.0])
    found = gaussian_filter(array, 0, dtype=np.uint8)
    np.testing.assert_array_equal(found, [0, 0, 255])


def test_half_precision_is_computed_in_float32():
    array = generator().random((30, 31)).astype(np.float16)
    found = gaussian_filter(array, 20.0)
    assert same_bits(found, gaussian_filter(array.astype(np.float32), 20.0).astype(np.float16))


def test_bfloat16_is_computed_in_float32():
    types = pytest.importorskip("ml_dtypes")
    array = generator().random((30, 31)).astype(types.bfloat16)
    assert same_bits(gaussian_filter(array, 3.0), gaussian_filter(array.astype(np.float32), 3.0).astype(types.bfloat16))


@pytest.mark.parametrize("name", ["int64", "uint64"])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_integers_of_64_bits_are_computed_in_float64(function, name):
    array = generator().integers(0, 2**53, (20, 21)).astype(name)
    for given in (array, array.astype(">" + array.dtype.str[1:]), array.T.copy().T):
        found = function(given, 2.0)
        assert same_bits(found, function(array.astype(np.float64), 2.0, dtype=np.float32)) and found.dtype == np.float32
    exact = function(array, 2.0, dtype=np.float64)
    assert same_bits(exact, function(array.astype(np.float64), 2.0))
    whole = function(array, 2.0, dtype=name)
    assert same_bits(whole, np.trunc(np.maximum(exact, np.iinfo(name).min)).astype(name))
    output = np.empty(exact.shape, name)
    assert function(array, 2.0, output=output) is output and same_bits(output, whole)


def test_range_of_integers_of_64_bits():
    """The largest results are the last numbers of float64 in the range; no number wraps."""
    found = gaussian_filter(np.array([-1e300, -(2.0**63), 2.0**53 + 2, 2.0**63, 1e300]), 0, dtype=np.int64)
    np.testing.assert_array_equal(found, [-(2**63), -(2**63), 2**53 + 2, 2**63 - 1024, 2**63 - 1024])
    found = gaussian_filter(np.array([-1.0, 2.0**63, 2.0**64, 1e300]), 0, dtype=np.uint64)
    np.testing.assert_array_equal(found, np.array([0, 2**63, 2**64 - 2048, 2**64 - 2048], np.uint64))


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_bool_is_0_and_1(function):
    array = generator().random((20, 21)) < 0.5
    assert same_bits(function(array, 2.0), function(array.astype(np.uint8), 2.0))
    np.testing.assert_array_equal(gaussian_filter(array, 0, dtype=bool), array)
    np.testing.assert_array_equal(gaussian_filter(np.array([-3.0, 0.9, 1.0, 7.0]), 0, dtype=bool), [False, False, True, True])


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_lists_are_arrays(function):
    for values in ([[1, 2, 7], [4, 5, 6]], ((1.0, 2.0), (3.0, 9.0)), [[True, False], [False, False]]):
        assert same_bits(function(values, 1.0), function(np.array(values), 1.0))
    mask = [[1, 0], [1, 1]]
    np.testing.assert_array_equal(
        function([[1.0, 2.0], [3.0, 9.0]], 1.0, valid_mask=mask), function(np.array([[1.0, 2.0], [3.0, 9.0]]), 1.0, valid_mask=np.array(mask))
    )
    with pytest.raises(ValueError, match="input is of type list of which NumPy makes no array: .*inhomogeneous"):
        function([[1.0, 2.0], [3.0]], 1.0)
    with pytest.raises(TypeError, match="input has pixels of type str"):
        function(["a", "b"], 1.0)


@pytest.mark.parametrize("name", ["complex64", "longdouble", "datetime64[s]"])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_other_types_are_refused(function, name):
    with pytest.raises(TypeError, match=r"input has pixels of type .*; they must be of bool, .* or float64: convert to float32 by"):
        function(np.zeros((5, 5), name), 2.0)


def test_output():
    array = generator().random((8, 9)).astype(np.float32)
    expected = gaussian_filter(array, 2.0)
    output = np.empty((9, 8), np.float64).T
    assert gaussian_filter(array, 2.0, output=output) is output
    np.testing.assert_array_equal(output, gaussian_filter(array, 2.0, dtype=np.float64))
    assert same_bits(gaussian_filter(array, 2.0, output="float32"), expected)
    assert gaussian_filter(array, 2.0, output=array) is array
    assert same_bits(array, expected)
    components = np.empty((8, 9, 2))
    assert gaussian_gradient(array, 2.0, output=components) is components


def test_wrong_output():
    array = np.zeros((8, 9))
    with pytest.raises(ValueError, match=r"output has the shape \(9, 8\); it must be that of the result, \(8, 9\)"):
        gaussian_filter(array, 2, output=np.zeros((9, 8)))
    read_only = np.zeros((8, 9))
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="output is read-only"):
        gaussian_filter(array, 2, output=read_only)
    with pytest.raises(ValueError, match="output and dtype are given"):
        gaussian_filter(array, 2, output=np.zeros((8, 9)), dtype="f4")
    with pytest.raises(TypeError, match="output has pixels of type complex64"):
        gaussian_filter(array, 2, output=np.zeros((8, 9), np.complex64))
    with pytest.raises(TypeError, match="dtype is complex128; it must be bool, uint8"):
        gaussian_filter(array, 2, dtype=complex)
    with pytest.raises(TypeError, match="dtype is of type object; it must be a type of pixels"):
        gaussian_filter(array, 2, dtype=object())


# kinds


def test_itk_images():
    rng = generator()
    for pixel in (np.uint8, np.int16, np.float32, np.float64):
        array = (200 * rng.random((9, 10, 11))).astype(pixel)
        found = gaussian_filter(itk.image_from_array(array), 1.5)
        assert isinstance(found, itk.Image) and found.GetImageDimension() == 3
        np.testing.assert_array_equal(itk.array_from_image(found), gaussian_filter(array, 1.5))
    gradient = gaussian_gradient(itk.image_from_array(array), 1.5)
    assert gradient.GetNumberOfComponentsPerPixel() == 3
    np.testing.assert_array_equal(itk.array_from_image(gradient), gaussian_gradient(array, 1.5))
    with pytest.raises(TypeError, match="dtype is float16; it must be uint8, uint16, int16, float32 or float64"):
        gaussian_filter(itk.image_from_array(array), 1.5, dtype=np.float16)
    with pytest.raises(TypeError, match="of more than one number per pixel: extract a component of it first"):
        gaussian_filter(gradient, 1.5)


class GpuArray:
    """What of an array in the memory of a GPU is looked at."""

    shape = (8, 8)

    def __init__(self, device_type):
        self._device_type = device_type
        if device_type is None:
            self.__cuda_array_interface__ = {"shape": self.shape}

    def __dlpack_device__(self):
        return self._device_type or 2, 0


@pytest.mark.parametrize("module", ["cupy", "program"])
@pytest.mark.parametrize("device_type", [None, 2, 13])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_arrays_of_unknown_packages_on_a_gpu_are_refused(function, device_type, module):
    array = type("ndarray", (GpuArray,), {"__module__": module})(device_type)
    advice = r"it must be of CuPy or torch, or in that of the host: call cupy.from_dlpack\(input\)"
    with pytest.raises(TypeError, match=rf"input is of type {module}\.ndarray in the memory of a GPU; {advice}"):
        function(array, 2.0)


def test_other_arrays_on_a_gpu_are_refused():
    with pytest.raises(TypeError, match="valid_mask is of type .*GpuArray in the memory of a GPU"):
        gaussian_filter(np.zeros((8, 8)), 2, valid_mask=GpuArray(2))
    with pytest.raises(TypeError, match="output is of type .*GpuArray in the memory of a GPU"):
        gaussian_filter(np.zeros((8, 8)), 2, output=GpuArray(2))


def test_other_kinds_are_refused():
    with pytest.raises(TypeError, match=r'input is of type dict; .*: call numpy.asarray\(input, dtype="float32"\)'):
        gaussian_filter({1.0: 2.0}, 2.0)
    masked = np.ma.masked_less(np.zeros((4, 4)), 1.0)
    with pytest.raises(TypeError, match=r"give input.data, and valid_mask=~numpy.ma.getmaskarray\(input\)"):
        gaussian_filter(masked, 2.0)
    with pytest.raises(TypeError, match=r"input is of type .*GpuArray; it must be an itk.Image, a NumPy array"):
        gaussian_filter(GpuArray(1), 2.0)  # an unknown class in host memory


# derivatives


def test_gradient_and_hessian_are_derivatives():
    array = generator().random((9, 10, 11))
    gradient, hessian = gaussian_gradient(array, (1, 2, 3)), gaussian_hessian(array, (1, 2, 3))
    assert gradient.shape == (9, 10, 11, 3) and hessian.shape == (9, 10, 11, 6)
    for axis in range(3):
        orders = np.eye(3, dtype=int)[axis]
        assert same_bits(np.ascontiguousarray(gradient[..., axis]), gaussian_filter(array, (1, 2, 3), orders))
    for component, (i, j) in enumerate([(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]):
        orders = np.eye(3, dtype=int)[i] + np.eye(3, dtype=int)[j]
        assert same_bits(np.ascontiguousarray(hessian[..., component]), gaussian_filter(array, (1, 2, 3), orders))
    magnitude, laplace = gaussian_gradient_magnitude(array, (1, 2, 3)), gaussian_laplace(array, (1, 2, 3))
    np.testing.assert_allclose(magnitude, np.linalg.norm(gradient, axis=-1), rtol=1e-12)
    np.testing.assert_allclose(laplace, hessian[..., 0] + hessian[..., 3] + hessian[..., 5], rtol=0, atol=1e-13)


DIFFERENCES = {1: [-0.5, 0.0, 0.5], 2: [1.0, -2.0, 1.0]}


@pytest.mark.parametrize("approximation", ["accurate", "deriche"])
@pytest.mark.parametrize("mode", ["reflect", "nearest", "mirror", "wrap", "constant"])
def test_derivatives_at_tiny_sigma_are_differences(mode, approximation):
    """As sigma goes to 0, derivatives are central and second differences: scipy's correlation with these three weights."""
    ndimage = pytest.importorskip("scipy.ndimage")
    array = 100.0 + generator().standard_normal((20, 7))
    for dtype, digits in ((np.float64, 1e-12), (np.float32, 1e-4)):
        for sigma in (1e-12, 1e-3, 0.01, 0.05, 0.1, 0.2):
            for order, weights in DIFFERENCES.items():
                given = array.astype(dtype)
                expected = ndimage.correlate1d(given.astype(np.float64), weights, axis=0, mode=mode, cval=5.0)
                options = {"mode": mode, "cval": 5.0, "axes": 0, "approximation": approximation}
                found = gaussian_filter(given, sigma, order, **options)
                np.testing.assert_allclose(found, expected, rtol=0, atol=digits, err_msg=f"sigma {sigma}, order {order}")


@pytest.mark.parametrize("approximation", ["accurate", "deriche"])
@pytest.mark.parametrize("distance", [12.0, 15.0, 20.0, 50.0])
def test_gradients_of_thick_slices(distance, approximation):
    """A ramp across slices that are far apart has its slope, whatever sigma is in slices."""
    ramp = np.zeros((8, 9, 9)) + 45.0 * distance * np.arange(8.0)[:, np.newaxis, np.newaxis]
    options = {"spacing": (distance, 1.0, 1.0), "mode": "nearest", "approximation": approximation}
    np.testing.assert_allclose(gaussian_gradient_magnitude(ramp, 0.5, **options)[1:-1], 45.0, rtol=1e-9)


@pytest.mark.parametrize("dtype, units", [(np.float32, (1e-32, 1e-22, 1e20, 1e30)), (np.float64, (1e-200, 1e-22, 1e20, 1e200))])
@pytest.mark.parametrize("axes", [None, 1])
def test_lengths_of_gradients_have_the_unit_of_the_grey_values(dtype, units, axes):
    """The squares are out of the range of their type. The bound is a few roundings."""
    array = (100.0 * generator().random((20, 30))).astype(dtype)
    expected = gaussian_gradient_magnitude(array, 1.5, axes=axes)
    for unit in units:
        found = gaussian_gradient_magnitude(array * dtype(unit), 1.5, axes=axes) / dtype(unit)
        bound = 64 * np.finfo(dtype).eps * expected.max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=bound, err_msg=str(unit))


def test_deriche_keeps_its_digits_at_large_sigma():
    """ITK's code loses them from 1,000 pixels on: its results leave the range of the image at 100,000. With sigma far beyond
    the image half of each line's kernel lies before it and half behind it."""
    array = 200.0 * generator().random((30, 40))
    for sigma in (1e4, 1e5, 1e6, 1e9):
        found = gaussian_filter(array, sigma, mode="nearest", approximation="deriche", axes=1)
        expected = (array[:, :1] + array[:, -1:]) / 2
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=0, atol=200.0 * 40 / sigma)


def test_place_of_the_components():
    array = generator().random((2, 9, 10))
    channels_first = gaussian_gradient(array, 2.0, channel_axis=0)
    assert channels_first.shape == (2, 2, 9, 10)
    channels_last = gaussian_gradient(np.moveaxis(array, 0, -1), 2.0, channel_axis=-1)
    assert channels_last.shape == (9, 10, 2, 2)
    np.testing.assert_array_equal(channels_last, np.transpose(channels_first, (2, 3, 0, 1)))
    np.testing.assert_array_equal(channels_first[1, 0], gaussian_filter(array[1], 2.0, (1, 0)))
    chosen = gaussian_gradient(array[0], 2.0, axes=(1, 0))
    np.testing.assert_allclose(chosen, gaussian_gradient(array[0], 2.0)[..., ::-1], rtol=0.0, atol=1e-14)


def test_difference_of_gaussians():
    array = generator().random((20, 21)).astype(np.float32)
    found = difference_of_gaussians(array, 1.5, (2.0, 3.0))
    assert same_bits(found, gaussian_filter(array, 1.5) - gaussian_filter(array, (2.0, 3.0)))
    assert same_bits(difference_of_gaussians(array, 1.5), difference_of_gaussians(array, 1.5, 1.6 * 1.5))
    assert same_bits(difference_of_gaussians(array, (0, 1), (2, 3)), gaussian_filter(array, (0, 1)) - gaussian_filter(array, (2, 3)))
    with pytest.raises(ValueError, match="high_sigma is 1 and low_sigma 2; high_sigma may not be less"):
        difference_of_gaussians(array, 2, 1)


def test_unsharp_mask():
    array = generator().random((20, 21)).astype(np.float32)
    smoothed = gaussian_filter(array, 2.0)
    assert same_bits(unsharp_mask(array, 2.0, 0.5), array + np.float32(0.5) * (array - smoothed))
    bytes_ = (255 * array).astype(np.uint8)
    assert unsharp_mask(bytes_, 2.0).dtype == np.float32
    assert unsharp_mask(bytes_, 2.0, dtype=np.uint8).dtype == np.uint8


# masks and NaN


@ALL_MODES
@pytest.mark.parametrize("approximation", ["accurate", "deriche"])
def test_smoothing_with_a_mask_is_a_quotient(mode, approximation):
    rng = generator()
    limit = 1e-3 if approximation == "accurate" else 1e-2
    for share in (0.02, 0.5, 0.9):
        array = 100.0 + rng.random((40, 45))
        valid = rng.random(array.shape) < share
        options = {"sigma": (1.5, 2.5), "mode": mode, "approximation": approximation}
        weight = gaussian_filter(valid.astype(np.float64), **options, cval=1.0)
        expected = gaussian_filter(np.where(valid, array, 0.0), **options, cval=100.5) / weight
        found = gaussian_filter(array.astype(np.float32), **options, cval=100.5, valid_mask=valid)
        enough = weight >= limit
        assert np.isnan(found[weight < limit - 1e-6]).all()
        sure = weight >= limit + 1e-6
        assert sure.any() and (np.abs(found - expected)[sure] <= 1e-6 * 101.0 / weight[sure]).all()
        assert (~enough).any() or share > 0.02


def test_derivatives_with_a_mask_are_those_of_the_quotient():
    rng = generator()
    array, valid = rng.random((60, 60)), rng.random((60, 60)) < 0.6
    n, d = ({order: gaussian_filter(image, 3.0, order) for order in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0))} for image in
            (np.where(valid, array, 0.0), valid.astype(np.float64)))
    zero, x, y = (0, 0), (1, 0), (0, 1)
    first = (n[x] * d[zero] - n[zero] * d[x]) / d[zero] ** 2
    mixed = n[1, 1] / d[zero] - (n[x] * d[y] + n[y] * d[x] + n[zero] * d[1, 1]) / d[zero] ** 2
    mixed += 2 * n[zero] * d[x] * d[y] / d[zero] ** 3
    second = n[2, 0] / d[zero] - (2 * n[x] * d[x] + n[zero] * d[2, 0]) / d[zero] ** 2 + 2 * n[zero] * d[x] ** 2 / d[zero] ** 3
    for order, expected in ((x, first), ((1, 1), mixed), ((2, 0), second)):
        np.testing.assert_allclose(gaussian_filter(array, 3.0, order, valid_mask=valid), expected, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(gaussian_gradient(array, 3.0, valid_mask=valid)[..., 0], first, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(gaussian_hessian(array, 3.0, valid_mask=valid)[..., 1], mixed, rtol=0.0, atol=1e-12)
    # The same by differences of the smoothed array.
    smoothed = gaussian_filter(array, 3.0, valid_mask=valid)
    np.testing.assert_allclose(np.gradient(smoothed, axis=0)[5:-5], first[5:-5], rtol=0.0, atol=0.05 * np.abs(first).max())
    with pytest.raises(ValueError, match=r"order is \(2, 1\); with a mask or NaN the orders may add up to 2"):
        gaussian_filter(array, 3.0, (2, 1), valid_mask=valid)


@pytest.mark.parametrize("hidden", [np.nan, np.inf, -np.inf, 1e30])
def test_nothing_under_a_mask_changes_a_bit(hidden):
    rng = generator()
    array, valid = rng.random((3, 30, 31)).astype(np.float32), rng.random((3, 30, 31)) < 0.7
    for function in (gaussian_filter, gaussian_gradient, gaussian_laplace):
        expected = function(np.where(valid, array, 0), 2.0, channel_axis=0, valid_mask=valid)
        spoilt = np.where(valid, array, np.float32(hidden))
        assert same_bits(function(spoilt, 2.0, channel_axis=0, valid_mask=valid), expected)


@ALL_MODES
def test_constants_stay_constant_under_any_mask(mode):
    rng = generator()
    for dtype in (np.float32, np.float64):
        array = np.full((5, 20, 21), 1234.567, dtype)
        for share in (0.0, 0.01, 0.5, 1.0):
            valid = rng.random(array.shape) < share
            smoothed = gaussian_filter(array, (1, 2, 3), valid_mask=valid, mode=mode, cval=float(array[0, 0, 0]))
            seen = ~np.isnan(smoothed)
            assert (np.abs(smoothed[seen] - array[seen]) <= 1e-6 * 1234.567).all()
            assert seen.all() or share < 0.5
            if mode == "constant" and valid.all():
                continue  # as in scipy, the value lies beyond the ends of derivatives too
            gradient = gaussian_gradient_magnitude(array, 2, valid_mask=valid, mode=mode, cval=float(array[0, 0, 0]))
            assert (np.nan_to_num(gradient) == 0).all()


def test_no_valid_pixel():
    assert np.isnan(gaussian_filter(np.ones((9, 9)), 2, valid_mask=np.zeros((9, 9)))).all()
    assert (gaussian_filter(np.ones((9, 9)), 2, valid_mask=np.zeros((9, 9)), dtype="uint8") == 0).all()


def test_nan_is_preserved_and_does_not_count():
    array = generator().random((30, 31)).astype(np.float32)
    nan = np.zeros(array.shape, bool)
    nan[10:13, 5] = nan[20, 20] = True
    gaps = np.where(nan, np.float32(np.nan), array)
    found = gaussian_filter(gaps, 2.0)
    np.testing.assert_array_equal(np.isnan(found), nan)
    filled = gaussian_filter(array, 2.0, valid_mask=~nan)
    assert not np.isnan(filled).any()
    np.testing.assert_array_equal(found[~nan], filled[~nan])
    np.testing.assert_array_equal(gaussian_filter(gaps, 2.0, valid_mask=~nan), filled)
    assert np.isnan(gaussian_filter(gaps, 2.0, preserve_nan=False)).all()
    assert same_bits(gaussian_filter(array, 2.0, preserve_nan=False), gaussian_filter(array, 2.0))
    sharp = unsharp_mask(gaps, 2.0)
    np.testing.assert_array_equal(np.isnan(sharp), nan)
    np.testing.assert_array_equal(np.isnan(gaussian_gradient(gaps, 2.0)), np.repeat(nan[..., np.newaxis], 2, axis=-1))


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_infinite_pixels_are_left_out_as_those_that_are_nan(function, bad):
    array = generator().random((24, 25)).astype(np.float32)
    array[4, 7] = array[15, 2] = np.nan
    expected = function(array, 2.0)
    found = function(np.where(np.isnan(array), np.float32(bad), array), 2.0)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype and np.isfinite(found).mean() > 0.99
    # An axis that is not filtered stays as it is.
    assert gaussian_filter(np.array([1.0, bad]), 0)[1] == bad


def test_items_with_masks_have_the_bits_that_they_have_alone():
    rng = generator()
    array, valid = rng.random((4, 12, 13)).astype(np.float32), rng.random((4, 12, 13)) < 0.5
    for mode in MODES:
        whole = gaussian_filter(array, 2.0, axes=(1, 2), valid_mask=valid, mode=mode, cval=0.5)
        for item in range(4):
            assert same_bits(whole[item], gaussian_filter(array[item], 2.0, valid_mask=valid[item], mode=mode, cval=0.5))


def test_items_without_nan_have_the_bits_that_they_have_alone():
    array = generator().random((4, 12, 13)).astype(np.float32)
    array[2, 3, 4] = np.nan
    for function in (gaussian_filter, gaussian_gradient_magnitude):
        whole = function(array, 2.0, axes=(1, 2))
        for item in range(4):
            assert same_bits(whole[item], function(array[item], 2.0))
    assert same_bits(gaussian_filter(array[0], 2.0, valid_mask=np.ones((12, 13))), gaussian_filter(array[0], 2.0))


def test_kinds_of_masks():
    rng = generator()
    array, valid = rng.random((12, 13)).astype(np.float32), rng.random((12, 13)) < 0.5
    expected = gaussian_filter(array, 2.0, valid_mask=valid)
    masks = [valid.astype(np.uint8) * 7, valid.astype(np.float64), itk.image_from_array(valid.astype(np.uint8))]
    for mask in masks:
        assert same_bits(gaussian_filter(array, 2.0, valid_mask=mask), expected)
    stacked = np.stack([array, array], axis=-1)
    np.testing.assert_array_equal(gaussian_filter(stacked, 2.0, channel_axis=-1, valid_mask=valid)[..., 1], expected)
    with pytest.raises(ValueError, match=r"valid_mask has the shape \(13, 12\); it must be that of input, \(12, 13\)"):
        gaussian_filter(array, 2.0, valid_mask=valid.T)
    xarray = pytest.importorskip("xarray")
    data, mask = (xarray.DataArray(pixels, dims=("y", "x")) for pixels in (array, valid))
    np.testing.assert_array_equal(gaussian_filter(data, 2.0, valid_mask=mask.transpose("x", "y")).data, expected)


# wrong use

WRONG = [
    ({}, TypeError, "sigma or fwhm must be given"),
    ({"sigma": 1, "fwhm": 2}, TypeError, "sigma and fwhm are given"),
    ({"sigma": -1}, ValueError, "sigma is -1.0; it must be finite, and 0 or more"),
    ({"sigma": math.nan}, ValueError, "sigma is nan"),
    ({"sigma": "2"}, TypeError, "sigma is '2'; it must be a number"),
    ({"sigma": (1, None)}, TypeError, "sigma is of type NoneType; it must be a number"),
    ({"sigma": (1, 2, 3)}, ValueError, "sigma has 3 values; it must have one, or one for each of the 2 axes"),
    ({"sigma": 1, "order": 3}, ValueError, "order is 3; it must be 0, 1 or 2"),
    ({"sigma": (1, 0), "order": 1}, ValueError, "sigma of axis 1 is 0 and its order 1"),
    ({"sigma": 1, "mode": "edge"}, ValueError, 'mode is "edge"; it must be one of reflect, nearest, mirror'),
    ({"sigma": 1, "mode": ("wrap",) * 3}, ValueError, "mode has 3 values"),
    ({"sigma": 1, "mode": "constant", "cval": math.inf}, ValueError, "cval is inf; it must be finite"),
    ({"sigma": 1, "spacing": 0}, ValueError, "spacing is 0; it must be finite and above 0"),
    ({"sigma": 1, "spacing": "pixels"}, ValueError, "spacing is 'pixels'; it must be None, 'image', a number"),
    ({"sigma": 1, "axes": 0.5}, TypeError, "axes is 0.5; it must be a whole number"),
    ({"sigma": 1, "axes": 2}, ValueError, "axes is 2; it must be from -2 to 1 for an array of 2 axes"),
    ({"sigma": 1, "axes": (0, -2)}, ValueError, "no axis may stand there twice"),
    ({"sigma": 1, "axes": 0, "channel_axis": 0}, ValueError, "channels are not filtered across"),
    ({"sigma": 1, "channel_axis": 5}, ValueError, "channel_axis is 5"),
    ({"sigma": 1, "approximation": "exact"}, ValueError, 'approximation is "exact"; it must be one of accurate, deriche'),
    ({"sigma": 1, "backend": "gpu"}, ValueError, 'backend is "gpu"'),
]


@pytest.mark.parametrize("options, error, text", WRONG, ids=[text for _, _, text in WRONG])
def test_wrong_use(options, error, text):
    with pytest.raises(error) as failure:
        gaussian_filter(np.zeros((8, 9)), **options)
    assert text in str(failure.value)


def test_derivatives_need_a_sigma_for_each_axis():
    for function in (gaussian_gradient, gaussian_hessian, gaussian_laplace, gaussian_gradient_magnitude):
        with pytest.raises(ValueError, match="sigma of axis 1 is 0; leave the axis out by axes="):
            function(np.zeros((8, 9)), (1, 0))
        with pytest.raises(ValueError, match="there is no axis to filter along"):
            function(np.zeros((8, 9)), 1, axes=())


@ALL_MODES
def test_backend(mode):
    array = generator().random((16, 17)).astype(np.float32)
    expected = gaussian_filter(array, 2.0, mode=mode, backend="host")
    np.testing.assert_allclose(gaussian_filter(array, 2.0, mode=mode), expected, rtol=0, atol=1e-6)
    if itk.CudaFiltersConfiguration.IsDeviceUsable(-1, "")[0]:
        np.testing.assert_allclose(gaussian_filter(array, 2.0, mode=mode, backend="cuda"), expected, rtol=0, atol=1e-6)
    else:
        with pytest.raises(RuntimeError, match="The backend of the filter is Cuda, but it cannot be used"):
            gaussian_filter(array, 2.0, mode=mode, backend="cuda")


def test_functions_are_documented():
    for name, function in FUNCTIONS.items():
        assert getattr(itk_cudafilters, name) is function and name in itk_cudafilters.__all__
        assert ">>>" in inspect.getdoc(function)
        defaults = {key: p.default for key, p in inspect.signature(function).parameters.items()}
        assert defaults["mode"] == "reflect" and defaults["approximation"] == "accurate" and defaults["backend"] == "automatic"

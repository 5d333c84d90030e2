# SPDX-License-Identifier: Apache-2.0
"""DataArrays: coordinates that rise, fall or are missing, names of axes, directions, attributes."""
import itk
import numpy as np
import pytest
from filters import DISCRETE, GRADIENT, HESSIAN, SMOOTHING
from scenes import ORIGIN, SHAPE, SPACING, draw, draw_image, overlap, truth

from itk_cudafilters import segment_region

xarray = pytest.importorskip("xarray")

Y = ORIGIN[1] + SPACING[1] * np.arange(SHAPE[0])
X = ORIGIN[0] + SPACING[0] * np.arange(SHAPE[1])


def array_of(coords=None, dims=("y", "x"), pixels=None, attrs=None):
    return xarray.DataArray(draw("gamma") if pixels is None else pixels, dims=dims, coords=coords, attrs=attrs, name="intensity")


def expect_coordinates_of(result, array):
    assert isinstance(result, xarray.DataArray)
    assert result.dims[: array.ndim] == array.dims and set(result.coords) == set(array.coords)
    for name in array.coords:
        xarray.testing.assert_identical(result.coords[name], array.coords[name])
    assert str(result.attrs) == str(array.attrs)


def places(found, array):
    """The contour by the array's coordinates: last axis, first axis."""
    rows, columns = found.contour_rc.T
    first, last = (
        np.interp(index, np.arange(-1, length + 1), values[0] + (values[1] - values[0]) * np.arange(-1, length + 1))
        for index, length, values in zip(
            (rows, columns), array.shape, (array.coords[dim].values.astype(float) for dim in array.dims)
        )
    )
    return np.stack([last, first], axis=1)


@pytest.fixture(scope="module")
def expected(backend):
    return segment_region(draw_image("gamma"), "gamma")


@pytest.mark.parametrize("falls_y", [False, True])
@pytest.mark.parametrize("falls_x", [False, True])
@pytest.mark.parametrize("dims", [("y", "x"), ("lat", "lon"), ("row", "column")])
def test_segmentation_has_the_coordinates_of_the_image(dims, falls_x, falls_y):
    pixels = draw("gamma")
    array = array_of({dims[0]: Y[::-1] if falls_y else Y, dims[1]: X[::-1] if falls_x else X, "time": 7}, dims)
    found = segment_region(array, "gamma")
    expect_coordinates_of(found.label, array)
    assert found.label.name == "label" and found.label.dtype == np.uint8
    assert overlap(found.label) > 0.93
    np.testing.assert_array_equal(found.label.values, segment_region(pixels, "gamma").label)
    np.testing.assert_allclose(found.contour, places(found, array), rtol=0.0, atol=1e-9)


def test_rising_coordinates_are_those_of_an_itk_image(expected):
    found = segment_region(array_of({"y": Y, "x": X}), "gamma")
    np.testing.assert_allclose(found.contour, expected.contour, rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(found.contour_rc, expected.contour_rc)


def test_missing_coordinates_count_from_zero():
    array = array_of()
    found = segment_region(array, "gamma")
    expect_coordinates_of(found.label, array)
    np.testing.assert_allclose(found.contour, found.contour_rc[:, ::-1], rtol=0.0, atol=1e-9)
    half = segment_region(array_of({"y": Y}), "gamma")
    np.testing.assert_allclose(half.contour[:, 1], ORIGIN[1] + SPACING[1] * half.contour_rc[:, 0], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(half.contour[:, 0], half.contour_rc[:, 1], rtol=0.0, atol=1e-9)


def test_single_coordinates():
    array = xarray.DataArray(np.ones((1, 20, 30), np.float32), dims=("z", "y", "x"), coords={"z": [5.0], "y": range(20)})
    with pytest.raises(RuntimeError, match="(?i)pixels along|has 1 pixel"):
        SMOOTHING.function(array, sigma=2.0)
    expect_coordinates_of(DISCRETE.function(array, sigma=2.0), array)
    taken = array.isel(z=0)
    expect_coordinates_of(SMOOTHING.function(taken, sigma=2.0), taken)
    line = xarray.DataArray(np.arange(800.0).reshape(1, 800), dims=("y", "x"), coords={"y": [5.0], "x": 2.0 * np.arange(800)})
    path = itk.image_from_array(line.values.astype(np.float32))
    path.SetOrigin([0.0, 5.0])
    path.SetSpacing([2.0, 1.0])
    found, expected = (segment_region(image, "gaussian", minimum_edge_length=4.0) for image in (line, path))
    expect_coordinates_of(found.label, line)
    np.testing.assert_allclose(found.contour, expected.contour, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounded_coordinates_are_evenly_spaced(dtype):
    longitude = np.linspace(179.0, 181.0, SHAPE[1]).astype(dtype)
    array = array_of({"lat": np.linspace(60.0, 58.0, SHAPE[0]).astype(dtype), "lon": longitude}, ("lat", "lon"))
    found = segment_region(array, "gamma")
    expect_coordinates_of(found.label, array)
    assert overlap(found.label) > 0.93


@pytest.mark.parametrize(
    "coords, message",
    [
        ({"y": Y**2}, r"image has coordinates 'y' in steps from -?[0-9.]+ to [0-9.]+; they must be evenly spaced: .*image.interp\(y="),
        ({"y": np.zeros(SHAPE[0])}, "image has coordinates 'y' in steps from 0 to 0; they must be evenly spaced"),
        ({"x": np.where(X > 5.0, np.nan, X)}, "image has coordinates 'x' that are not finite"),
        (
            {"x": np.datetime64("2026-01-01", "ns") + np.arange(SHAPE[1])},
            r"image has coordinates 'x' of type datetime64\[ns\]; they must be numbers: call image.drop_vars\('x'\)",
        ),
    ],
    ids=["uneven", "constant", "nan", "times"],
)
def test_coordinates_that_cannot_be_used(coords, message):
    for entrance in (lambda array: segment_region(array, "gamma"), lambda array: SMOOTHING.function(array, sigma=2.0)):
        with pytest.raises(ValueError, match=message):
            entrance(array_of(coords))


@pytest.mark.parametrize(
    "bands, coords, message",
    [
        (1, {"band": [1]}, r"""image has an axis 'band' of 1; choose one of them by \.squeeze\("band"\) or \.sel\(band=1\)"""),
        (3, {"band": [1, 2, 3]}, r"image has an axis 'band' of 3; choose one of them by \.sel\(band=1\)"),
        (3, {}, r"image has an axis 'band' of 3; choose one of them by \.isel\(band=0\)"),
    ],
)
def test_bands(bands, coords, message):
    array = array_of(coords, ("band", "y", "x"), np.stack([draw("gamma")] * bands))
    for entrance in (lambda image: segment_region(image, "gamma"), lambda image: SMOOTHING.function(image, sigma=2.0)):
        with pytest.raises(ValueError, match=message):
            entrance(array)
    chosen = array.sel(band=1) if coords else array.isel(band=0)
    found = segment_region(chosen, "gamma")
    expect_coordinates_of(found.label, chosen)


def test_names_of_axes_tell_their_order():
    array = array_of({"y": Y, "x": X}).transpose("x", "y")
    found = segment_region(array, "gamma")
    expect_coordinates_of(found.label, array)
    assert overlap(found.label.transpose("y", "x")) > 0.93
    expected = segment_region(array.transpose("y", "x"), "gamma")
    np.testing.assert_array_equal(found.contour, expected.contour)
    np.testing.assert_array_equal(found.contour_rc, expected.contour_rc[:, ::-1])
    smoothed = SMOOTHING.function(array, sigma=2.0)
    expect_coordinates_of(smoothed, array)
    np.testing.assert_array_equal(smoothed.values.T, SMOOTHING.function(array.transpose("y", "x"), sigma=2.0).values)


def test_masks_have_the_axes_of_the_image():
    valid = np.ones(SHAPE, bool)
    valid[:, :30] = False
    expected = segment_region(draw("gamma"), "gamma", valid_mask=valid)
    array = array_of({"y": Y[::-1], "x": X}).transpose("x", "y")
    for mask in (valid.T, xarray.DataArray(valid.T, dims=array.dims, coords=array.coords)):
        found = segment_region(array, "gamma", valid_mask=mask)
        np.testing.assert_array_equal(found.label.values.T, expected.label)


def test_direction_is_kept():
    direction = [[0.0, -1.0], [1.0, 0.0]]
    image = draw_image("gamma", direction=direction)
    array = itk.xarray_from_image(image)
    found = segment_region(array, "gamma")
    expect_coordinates_of(found.label, array)
    np.testing.assert_allclose(found.contour, segment_region(image, "gamma").contour, rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(itk.array_from_matrix(itk.image_from_xarray(found.label).GetDirection()), direction)
    gradient = GRADIENT.function(array, sigma=2.0)
    expect_coordinates_of(gradient.isel(c=0).drop_vars("c", errors="ignore"), array)
    np.testing.assert_array_equal(gradient.values, itk.array_from_image(GRADIENT.function(image, sigma=2.0)))


def test_slice_of_a_volume_with_a_direction():
    angle = np.deg2rad(10.0)
    turned = [[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]]
    volume = itk.image_from_array(np.stack([draw("gamma")] * 4))
    volume.SetDirection(itk.matrix_from_array(np.array(turned)))
    found = segment_region(itk.xarray_from_image(volume).isel(z=2), "gamma")
    expected = found.contour_rc[:, ::-1] @ np.array(turned)[:2, :2].T
    np.testing.assert_allclose(found.contour, expected, rtol=0.0, atol=1e-5)
    # Where the slice lies across the volume's axes, no direction of two dimensions is left of three.
    tilted = [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    volume.SetDirection(itk.matrix_from_array(np.array(tilted)))
    found = segment_region(itk.xarray_from_image(volume).isel(z=2), "gamma")
    np.testing.assert_allclose(found.contour, found.contour_rc[:, ::-1], rtol=0.0, atol=1e-9)


def test_attributes_are_kept():
    array = array_of({"y": Y, "x": X}, attrs={"units": "1", "direction": "ascending", "nested": {"a": [1, 2]}})
    expect_coordinates_of(segment_region(array, "gamma").label, array)
    smoothed = SMOOTHING.function(array, sigma=2.0)
    expect_coordinates_of(smoothed, array)
    assert smoothed.name == "intensity" and smoothed.dtype == np.float32


@pytest.mark.parametrize("dims", [("z", "y", "x"), ("height", "lat", "lon")])
def test_filters_take_falling_coordinates(dims):
    pixels = np.random.default_rng(4).random((12, 20, 30)).astype(np.float32)
    coords = {dims[0]: np.arange(12.0)[::-1], dims[1]: 10.0 - 0.5 * np.arange(20), dims[2]: 2.0 * np.arange(30)}
    array = xarray.DataArray(pixels, dims=dims, coords=coords)
    smoothed = SMOOTHING.function(array, sigma=2.0)
    expect_coordinates_of(smoothed, array)
    image = itk.image_from_array(pixels)
    image.SetSpacing([2.0, 0.5, 1.0])
    np.testing.assert_array_equal(smoothed.values, itk.array_from_image(SMOOTHING.function(image, sigma=2.0)))
    # Gradients are those by the coordinates.
    gradient = GRADIENT.function(array, sigma=2.0)
    expect_coordinates_of(gradient, array) if "c" in gradient.coords else expect_coordinates_of(gradient.isel(c=0), array)
    of_image = itk.array_from_image(GRADIENT.function(image, sigma=2.0))
    np.testing.assert_allclose(gradient.values, of_image * [1.0, -1.0, -1.0], rtol=0.0, atol=1e-6)
    assert HESSIAN.function(array, sigma=2.0).dims == (*dims, "c")


def test_truth_is_found_in_a_map():
    """As rioxarray gives it: y falls, a band, a reference system."""
    array = array_of({"band": [1], "y": Y[::-1], "x": X, "spatial_ref": 0}, ("band", "y", "x"), draw("gamma")[None])
    found = segment_region(array.squeeze("band"), "gamma")
    assert (found.label.values == truth()).mean() > 0.97
    assert set(found.label.coords) == {"band", "y", "x", "spatial_ref"}

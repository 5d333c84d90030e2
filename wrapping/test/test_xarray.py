# SPDX-License-Identifier: Apache-2.0
"""DataArrays: coordinates that rise, fall or are missing, names of axes, directions, attributes."""
import itk
import numpy as np
import pytest
from filters import DISCRETE, GRADIENT, HESSIAN, SMOOTHING
from scenes import ORIGIN, SHAPE, SPACING, draw, draw_image, overlap, truth

from itk_cudafilters import gaussian_filter, gaussian_gradient, gaussian_hessian, partition_image, segment_region, vesselness

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


def smooth(image, valid_mask, axes=None):
    return gaussian_filter(image, 2.0, axes=axes, valid_mask=valid_mask)


def vessels(image, valid_mask):
    return vesselness(image, 2.0, valid_mask=valid_mask)


def segment(image, valid_mask):
    return segment_region(image, "gaussian", valid_mask=valid_mask).label


def divide(image, valid_mask):
    return partition_image(image, "gaussian", valid_mask=valid_mask).labels


MASKED = pytest.mark.parametrize("function", [smooth, vessels, segment, divide])


def masked_scene():
    """An image by its coordinates, and where it is valid."""
    valid = np.ones(SHAPE, bool)
    valid[:30, 20:90] = valid[100:130, 150:] = False
    return array_of({"y": 0.1 * np.arange(SHAPE[0]), "x": X}), valid


@MASKED
def test_masks_are_aligned_by_coordinates(host_allowed, function):
    """The same pixels of the mask count, in whatever order and within whatever frame it has them."""
    image, valid = masked_scene()
    expected = function(image, valid)
    mask = image.copy(data=valid)
    larger = mask.pad(y=(3, 4), x=(5, 2), constant_values=True)
    larger = larger.assign_coords(
        y=0.1 * np.arange(-3, SHAPE[0] + 4), x=ORIGIN[0] + SPACING[0] * np.arange(-5, SHAPE[1] + 2)
    )
    rounded = mask.assign_coords(y=(0.1 * np.arange(SHAPE[0])).astype(np.float32), x=np.linspace(X[0], X[-1], SHAPE[1]))
    plain = mask.drop_vars(["y", "x"])
    for other in (mask[::-1], mask[:, ::-1].transpose("x", "y"), larger, rounded, plain, plain.assign_coords(y=image.y)):
        np.testing.assert_array_equal(function(image, other).values, expected.values)


def test_masks_of_batches_are_aligned_by_names_and_dates(host_allowed):
    pixels = np.random.default_rng(5).random((4, 20, 30)).astype(np.float32)
    valid = np.random.default_rng(6).random(pixels.shape) < 0.7
    for values in (np.datetime64("2026-01-01", "ns") + np.array([0, 1, 5, 7], "m8[D]"), ["red", "green", "blue", "nir"]):
        image = xarray.DataArray(pixels, dims=("item", "y", "x"), coords={"item": values})
        mask = image.copy(data=valid)
        expected = smooth(image, valid, axes=(1, 2))
        np.testing.assert_array_equal(smooth(image, mask[[2, 0, 3, 1]], axes=(1, 2)).values, expected.values)
        with pytest.raises(ValueError, match="valid_mask has 3 coordinates 'item' from .*; they must hold those of input"):
            smooth(image, mask[:3], axes=(1, 2))


@MASKED
def test_masks_elsewhere_are_refused_by_name(host_allowed, function):
    image, valid = masked_scene()
    mask = image.copy(data=valid)
    where = r"; they must hold those of (input|image), from 0.0 to 15.9[0-9]*: give valid_mask.values"
    with pytest.raises(ValueError, match=r"valid_mask has 160 coordinates 'y' from 100.0 to 115.9[0-9]*, without 0.0" + where):
        function(image, mask.assign_coords(y=100.0 + image.y))
    with pytest.raises(ValueError, match=r"valid_mask has 160 coordinates 'y' from 0.05 to 15.95[0-9]*, without 0.0" + where):
        function(image, mask.assign_coords(y=0.05 + image.y))
    with pytest.raises(ValueError, match="valid_mask has 159 coordinates 'y'"):
        function(image, mask[1:])
    with pytest.raises(ValueError, match="valid_mask has 161 coordinates 'y' .*some of them twice"):
        function(image, xarray.concat([mask, mask[:1]], "y"))
    with pytest.raises(ValueError, match=r"valid_mask has the dimensions \('row', 'x'\); they must be among those of"):
        function(image, mask.rename(y="row"))


@MASKED
def test_geometry_of_masks_is_compared_as_in_itk(host_allowed, function):
    """Within ITK's tolerances masks are taken. So are masks without a geometry of their own, as those of files of pictures."""
    _, valid = masked_scene()
    pixels = valid.astype(np.uint8)
    image = draw_image("gamma", direction=[[0.0, -1.0], [1.0, 0.0]])

    def mask(origin=0.0, spacing=0.0, direction=0.0):
        made = itk.image_from_array(pixels)
        made.SetOrigin(np.array(image.GetOrigin()) + origin)
        made.SetSpacing(np.array(image.GetSpacing()) + spacing)
        made.SetDirection(itk.matrix_from_array(itk.array_from_matrix(image.GetDirection()) + direction * np.eye(2)))
        return made

    expected = np.asarray(function(image, pixels))
    tolerance = 1e-6 * image.GetSpacing()[0]
    for same in (mask(), mask(0.9 * tolerance), mask(0.0, 0.9 * tolerance), mask(0.0, 0.0, 0.9e-6), itk.image_from_array(pixels)):
        np.testing.assert_array_equal(np.asarray(function(image, same)), expected)
    for key, other in (
        ("origin", mask(1.2 * tolerance)),
        ("spacing", mask(0.0, 1.2 * tolerance)),
        ("direction", mask(0.0, 0.0, 1.2e-6)),
    ):
        with pytest.raises(ValueError, match=rf"valid_mask has the {key} .*; it must be that of (input|image), "):
            function(image, other)
    # Of an array the mask has no geometry to be compared with.
    np.testing.assert_array_equal(function(itk.array_from_image(image), mask()), function(itk.array_from_image(image), pixels))


@MASKED
def test_masks_of_the_other_kind_are_compared_too(host_allowed, function):
    _, valid = masked_scene()
    image, mask = draw_image("gamma"), draw_image("gamma")
    itk.array_view_from_image(mask)[...] = valid
    expected = np.asarray(function(image, valid))
    as_data, as_mask = itk.xarray_from_image(image), itk.xarray_from_image(mask)
    np.testing.assert_array_equal(np.asarray(function(image, as_mask)), expected)
    np.testing.assert_array_equal(function(as_data, mask).values, expected)
    if function is smooth:  # whose axes are those of the array, whatever their names
        turned = as_data.transpose("x", "y")
        np.testing.assert_array_equal(function(turned, mask).values, function(turned, valid.T).values)
    mask.SetOrigin(np.array(mask.GetOrigin()) + 1.0)
    for given, other in ((as_data, mask), (image, as_mask.assign_coords(x=as_mask.x + 1.0))):
        with pytest.raises(ValueError, match="valid_mask has the origin .*; it must be that of (input|image), "):
            function(given, other)


@pytest.mark.parametrize(
    "times",
    [np.datetime64("2026-01-01", "ns") + np.arange(4) ** 2, ["a", "b", "c", "d"], [0.0, 1.0, 5.0, 6.0]],
    ids=["dates", "names", "uneven"],
)
def test_axes_that_are_not_filtered_need_no_spacing(host_allowed, times):
    pixels = np.random.default_rng(7).random((4, 20, 30))
    array = xarray.DataArray(pixels, dims=("t", "y", "x"), coords={"t": times, "y": 10.0 - 0.5 * np.arange(20), "x": 2.0 * np.arange(30)})
    expected = gaussian_filter(pixels, 3.0, order=(0, 1), axes=(1, 2), spacing=(0.5, 2.0))
    for sigma, order, axes in ((3.0, (0, 1), (1, 2)), ((0.0, 3.0, 3.0), (0, 0, 1), None)):
        found = gaussian_filter(array, sigma, order, axes=axes, spacing="image")
        np.testing.assert_array_equal(found.values, expected)
        assert found.coords.identical(array.coords)
    channels = gaussian_filter(array, 3.0, (0, 1), channel_axis=0, spacing="image")
    np.testing.assert_array_equal(channels.values, expected)
    with pytest.raises(ValueError, match="input has coordinates 't'"):
        gaussian_filter(array, 3.0, spacing="image")


def test_components_of_components_have_names_of_their_own(host_allowed):
    array = array_of({"y": Y, "x": X})
    gradient = gaussian_gradient(array, 2.0)
    twice = gaussian_gradient(gradient, 2.0, channel_axis=-1)
    assert twice.dims == ("y", "x", "component", "component_2") and set(twice.coords) == {"y", "x"}
    hessian = gaussian_hessian(twice, 2.0, axes=(0, 1))
    assert hessian.dims == (*twice.dims, "component_3")
    of_pixels = gaussian_gradient(gaussian_gradient(array.values, 2.0), 2.0, channel_axis=-1)
    np.testing.assert_array_equal(twice.values, of_pixels)
    assert twice.sel(y=Y[3]).dims == ("x", "component", "component_2")


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

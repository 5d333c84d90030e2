# SPDX-License-Identifier: Apache-2.0
"""vesselness(), frangi(), sato() and meijering(): against the formulas in float64, and the conventions of arrays."""
import inspect
import math

import itk
import numpy as np
import pytest

from itk_cudafilters import frangi, gaussian_hessian, meijering, sato, vesselness
from itk_cudafilters._operations import OF_HOST

pytestmark = pytest.mark.usefixtures("host_allowed")

MEASURES = ("objectness", "frangi", "sato", "jerman", "meijering")
ALL_MEASURES = pytest.mark.parametrize("measure", MEASURES)
ALL_DIMENSIONS = pytest.mark.parametrize("dimension", [2, 3])
SHAPES = {2: (41, 36), 3: (22, 25, 28)}


def generator(seed=20240601):
    print(f"seed {seed}")
    return np.random.default_rng(seed)


def tube(dimension, width=2.0, noise=0.02):
    """A bright oblique line of that width, of axes 0 and 1, in noise."""
    places = np.meshgrid(*(np.arange(n) - n // 2 for n in SHAPES[dimension]), indexing="ij")
    across = 0.8 * places[0] - 0.6 * places[1]
    squares = across**2 + (places[2] ** 2 if dimension == 3 else 0.0)
    return np.exp(-squares / (2 * width**2)) + noise * generator().standard_normal(SHAPES[dimension])


def crossing(dimension):
    """Two crossing lines of different heights, in noise."""
    line = tube(dimension, noise=0.0)
    noise = 0.2 * generator(20240602).standard_normal(SHAPES[dimension])
    return line + 0.6 * line[::-1] + noise


def eigenvalues(array, sigma, bright, **options):
    """Of the normalised Hessians in float64, with the signs of a dark object, by their magnitudes."""
    dimension = array.ndim
    components = gaussian_hessian(np.asarray(array, np.float64), sigma, **options)
    matrices = np.empty((*array.shape, dimension, dimension))
    rows, columns = np.triu_indices(dimension)
    matrices[..., rows, columns] = matrices[..., columns, rows] = components
    values = np.linalg.eigvalsh(matrices * sigma**2) * (-1.0 if bright else 1.0)
    return np.take_along_axis(values, np.argsort(np.abs(values), axis=-1), axis=-1)


def formula(measure, values, gamma=None):
    """The measure of eigenvalues with the signs of a dark object, as docs/user/vesselness.md has it."""
    dimension = values.shape[-1]
    last, second = values[..., -1], values[..., 1]
    norm = np.sqrt((values**2).sum(axis=-1))
    is_line = (second > 0) & (last > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if measure in ("objectness", "frangi"):
            plate = second / last if dimension == 3 else np.inf
            blob = values[..., 0] / (np.sqrt(second * last) if dimension == 3 else last)
            gamma = norm.max() / 2 if gamma is None else gamma
            result = (1 - np.exp(-2 * plate**2)) * np.exp(-2 * blob**2) * (1 - np.exp(-(norm**2) / (2 * gamma**2)))
            return np.where(is_line, result * (last if measure == "objectness" else 1.0), 0.0)
        if measure == "jerman":
            regular = np.maximum(last, 0.5 * last.max())
            result = second**2 * (regular - second) * (3 / (second + regular)) ** 3
            return np.where(is_line, np.where(second >= regular / 2, 1.0, result), 0.0)
        if measure == "sato":
            ordered = np.sort(values, axis=-1)
            along, across = -ordered[..., 0], ordered[..., 1]
            factor = np.where(along > 0, 1 - along / (4 * across), 1 + along / across)
            return np.where((across > 0) & (factor > 0), across * factor, 0.0)
    modified = values - (values.sum(axis=-1, keepdims=True) - values) / (dimension + 1)
    largest = np.take_along_axis(modified, np.argmax(np.abs(modified), axis=-1)[..., np.newaxis], axis=-1)[..., 0]
    return np.maximum(largest, 0.0)


def expected(measure, array, sigmas, bright=True, **options):
    """The response and the scale that gives it."""
    responses = np.stack([formula(measure, eigenvalues(array, sigma, bright, **options)) for sigma in sigmas])
    best = responses.max(axis=0)
    return best, np.where(best > 0, np.asarray(sigmas)[responses.argmax(axis=0)], 0.0), responses


def assert_near(found, wanted, bound, share=1e-3):
    """But for `share` of the pixels, where a rounding decides the sign of an eigenvalue."""
    assert found.shape == wanted.shape
    far = np.abs(found - wanted) > bound * wanted.max()
    assert far.mean() <= share, f"{far.sum()} of {far.size}, largest {np.abs(found - wanted).max() / wanted.max()}"


@ALL_DIMENSIONS
@ALL_MEASURES
@pytest.mark.parametrize("bright", [True, False])
@pytest.mark.parametrize("dtype, bound", [(np.float32, 2e-4), (np.float64, 1e-6)])
def test_formulas(dimension, measure, bright, dtype, bound):
    array = (tube(dimension) * (1 if bright else -1)).astype(dtype)
    sigmas = (1.5, 2.5)
    response, scale = vesselness(array, sigmas, measure, bright=bright, return_scale=True)
    wanted, wanted_scale, responses = expected(measure, array, sigmas, bright)
    assert response.dtype == dtype and (response >= 0).all()
    assert_near(response, wanted, bound)
    clear = np.abs(np.diff(responses, axis=0))[0] > 2 * bound * wanted.max()
    assert (scale[clear] != wanted_scale[clear].astype(dtype)).mean() <= 1e-3


@ALL_MEASURES
def test_spacing_is_the_unit_of_sigmas(measure):
    array, spacing = tube(3), (2.0, 0.5, 1.25)
    response = vesselness(array, (1.5, 3.0), measure, spacing=spacing)
    wanted, _, _ = expected(measure, array, (1.5, 3.0), spacing=spacing)
    assert_near(response, wanted, 1e-6)


def test_spacing_of_an_itk_image():
    image = itk.image_from_array(tube(3).astype(np.float32))
    image.SetSpacing([1.25, 0.5, 2.0])
    image.SetOrigin([3.0, -4.0, 10.0])
    response, scale, directions = vesselness(
        image, (1.5, 3.0), spacing="image", return_scale=True, return_directions=True
    )
    array = itk.array_from_image(image)
    wanted = vesselness(array, (1.5, 3.0), spacing=(2.0, 0.5, 1.25), return_scale=True, return_directions=True)
    for found, values in zip((response, scale, directions), wanted, strict=True):
        np.testing.assert_array_equal(itk.array_from_image(found), values)
        assert list(found.GetSpacing()) == [1.25, 0.5, 2.0] and list(found.GetOrigin()) == [3.0, -4.0, 10.0]
    assert directions.GetNumberOfComponentsPerPixel() == 3


def test_xarray():
    xarray = pytest.importorskip("xarray")
    values = tube(2)
    falling = {"y": -0.5 * np.arange(values.shape[0]), "x": 2.0 * np.arange(values.shape[1])}
    array = xarray.DataArray(values, dims=("y", "x"), coords=falling, name="retina")
    response, directions = vesselness(array, 2.0, spacing="image", return_directions=True)
    assert response.dims == ("y", "x") and response.name == "retina"
    np.testing.assert_array_equal(response.y, array.y)
    plain, along = vesselness(values, 2.0, spacing=(0.5, 2.0), return_directions=True)
    np.testing.assert_array_equal(response.values, plain)
    np.testing.assert_array_equal(directions.values, along * (-1, 1))
    with pytest.raises(ValueError, match="axis 'band' of 3"):
        vesselness(xarray.DataArray(np.zeros((3, 9, 9)), dims=("band", "y", "x")), 1.0)


@ALL_DIMENSIONS
@ALL_MEASURES
def test_directions_are_those_of_the_line(dimension, measure):
    array = tube(dimension, noise=0.0)
    response, directions = vesselness(array, 2.0, measure, return_directions=True)
    centre = tuple(n // 2 for n in array.shape)
    along = np.zeros(dimension)
    along[:2] = 0.6, 0.8
    assert abs(directions[centre] @ along) > np.cos(np.radians(1.0))
    lengths = np.linalg.norm(directions, axis=-1)
    np.testing.assert_allclose(lengths[response > 0], 1.0, atol=1e-6)
    assert (lengths[response == 0] == 0).all()


@pytest.mark.parametrize("width", [1.0, 1.5, 2.0])
@ALL_DIMENSIONS
def test_the_scale_grows_with_the_line(dimension, width):
    """The normalised second derivative across a Gaussian line of width w is largest at w in space, at sqrt(2) w in the plane."""
    best = width * (1.0 if dimension == 3 else np.sqrt(2.0))
    _, scale = vesselness(tube(dimension, width, 0.0), best * np.array([0.5, 0.75, 1.0, 1.5, 2.0]), "sato", return_scale=True)
    assert scale[tuple(n // 2 for n in scale.shape)] == pytest.approx(best, rel=1e-6)


def test_without_normalisation_single_scales_are_divided_by_their_square():
    array = tube(2)
    for sigma in (1.5, 3.0):
        normalised = vesselness(array, sigma, "meijering")
        np.testing.assert_allclose(vesselness(array, sigma, "meijering", normalize=False) * sigma**2, normalised, atol=1e-6)


def test_gamma():
    array = tube(3)
    values = eigenvalues(array, 2.0, True)
    norm = float(np.sqrt((values**2).sum(axis=-1)).max())
    np.testing.assert_allclose(vesselness(array, 2.0), vesselness(array, 2.0, gamma=norm / 2), atol=1e-9)
    assert_near(vesselness(array, 2.0, gamma=0.3), formula("objectness", values, 0.3), 1e-6)


def test_pixels_of_integers():
    counts = np.clip(100 * tube(2) + 20, 0, 255)
    for dtype in ("uint8", "int8", "uint16", "int16", "uint32", "int32"):
        array = np.clip(counts, 0, 127).astype(dtype)
        response = vesselness(array, 2.0, "sato")
        assert response.dtype == np.float32
        np.testing.assert_allclose(response, vesselness(array.astype(np.float64), 2.0, "sato"), atol=1e-3)
    assert vesselness(counts.astype(np.uint8), 2.0, dtype="float64").dtype == np.float64


def test_layouts_of_memory():
    array = tube(3).astype(np.float32)
    wanted = vesselness(array, 2.0)
    read_only = array.copy()
    read_only.flags.writeable = False
    for other in (np.asfortranarray(array), np.repeat(array, 2, axis=1)[:, ::2], read_only, array.astype(">f4")):
        np.testing.assert_array_equal(vesselness(other, 2.0), wanted)


@pytest.mark.parametrize("shape", [(9, 1), (1, 9), (9, 1, 1), (1, 9, 1), (1, 1, 9), (1, 1)], ids=str)
def test_lines_of_pixels(shape):
    """ITK takes them in the other order of axes."""
    values = np.exp(-((np.arange(9.0) - 4) ** 2) / 4)[: np.prod(shape)]
    options = {"measure": "sato", "spacing": tuple(1.0 + 0.5 * axis for axis in range(len(shape)))}
    response, directions = vesselness(values.reshape(shape), 1.5, return_directions=True, **options)
    assert response.shape == shape and directions.shape == (*shape, len(shape))
    # In 3-D the middle eigenvalue is zero but for the rounding of eigenvalues near 1.
    found = response > 1e-12
    assert found.any() == (max(shape) > 1 and len(shape) == 2)
    axis = int(np.argmax(shape))
    assert (np.abs(directions[found])[:, axis] < 1e-6).all()


@pytest.mark.parametrize("shape", [(1, 30), (3, 30), (2, 1), (3, 2, 20), (1, 1, 1)])
@pytest.mark.parametrize("approximation", ["accurate", "deriche"])
def test_short_axes_in_the_mode_nearest(shape, approximation):
    """Lines that continue with the values of their ends are the same lines if they have some of these values themselves."""
    seed = 20261129
    print(f"seed {seed}")
    array = np.random.default_rng(seed).random(shape) * 100
    arguments = {"measure": "sato", "mode": "nearest", "approximation": approximation}
    found = vesselness(array, (1.0, 2.0), **arguments)
    expected = vesselness(np.pad(array, 5, mode="edge"), (1.0, 2.0), **arguments)
    inside = expected[tuple(slice(5, 5 + length) for length in shape)]
    # Some hundred roundings of float64.
    np.testing.assert_allclose(found, inside, rtol=0.0, atol=1e-10)


# masks


@ALL_DIMENSIONS
@ALL_MEASURES
def test_what_masked_pixels_hold_changes_nothing(dimension, measure):
    array = tube(dimension).astype(np.float32)
    valid = np.ones(array.shape, bool)
    valid[:, :6] = valid[3:5, 12:15] = False
    results = []
    for value in (0.0, -1e6, np.nan, np.inf):
        changed = array.copy()
        changed[~valid] = value
        response, scale, directions = vesselness(
            changed, (1.5, 2.5), measure, valid_mask=valid, preserve_nan=False, return_scale=True, return_directions=True
        )
        assert (response[~valid] == 0).all() and (scale[~valid] == 0).all() and (directions[~valid] == 0).all()
        results.append((response.tobytes(), scale.tobytes(), directions.tobytes()))
    assert len(set(results)) == 1
    # Where the mask is far, the response is that without it: the line's own contrast sets gamma and Jerman's floor.
    far = np.zeros(array.shape, bool)
    far[12:, 24:] = True
    whole = vesselness(array, (1.5, 2.5), measure, gamma=1.0)
    masked = vesselness(array, (1.5, 2.5), measure, gamma=1.0, valid_mask=valid)
    assert np.abs(masked - whole)[far].max() <= 0.02 * whole.max()


def test_a_mask_makes_no_vessels():
    """The edge of a mask on an even ground is no line."""
    array = np.full((60, 70), 100.0, np.float32)
    valid = np.hypot(*np.meshgrid(np.arange(60) - 30, np.arange(70) - 35, indexing="ij")) < 25
    array[~valid] = 0.0
    assert vesselness(array, (1, 2, 4), "sato", bright=False).max() > 10
    assert vesselness(array, (1, 2, 4), "sato", bright=False, valid_mask=valid).max() < 1e-3


def test_nan_remains():
    array = tube(2).astype(np.float32)
    array[7, 9] = np.nan
    response, scale = vesselness(array, 2.0, return_scale=True)
    assert np.isnan(response[7, 9]) and np.isnan(response).sum() == 1 and scale[7, 9] == 0
    valid = ~np.isnan(array)
    np.testing.assert_array_equal(response[valid], vesselness(array, 2.0, valid_mask=valid, preserve_nan=False)[valid])
    through = vesselness(array, 2.0, preserve_nan=False)
    assert np.isfinite(through).all() and through[7, 9] == 0


@ALL_MEASURES
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_pixels_that_are_not_finite_do_not_count(measure, bad):
    """Beside a mask they are 0 where it leaves them out and NaN where it does not; the others have the values that a mask gives."""
    array = tube(2).astype(np.float32)
    array[7, 9] = array[12, 20] = bad
    finite = np.isfinite(array)
    arguments = {"sigmas": (1.5, 2.5), "measure": measure}
    expected = vesselness(array, valid_mask=finite, preserve_nan=False, **arguments)
    assert np.isfinite(expected).all() and (expected[~finite] == 0).all() and expected.max() > 0
    found = vesselness(array, **arguments)
    np.testing.assert_array_equal(np.isnan(found), ~finite)
    np.testing.assert_array_equal(found[finite], expected[finite])
    valid = np.ones(array.shape, bool)
    valid[7, 9] = False
    found, scale = vesselness(array, valid_mask=valid, return_scale=True, **arguments)
    assert found[7, 9] == 0 and np.isnan(found[12, 20]) and np.isnan(found).sum() == 1 and scale[7, 9] == 0
    np.testing.assert_array_equal(found[finite], expected[finite])


def test_no_valid_pixels():
    assert (vesselness(tube(2), 2.0, valid_mask=np.zeros(SHAPES[2])) == 0).all()


# scikit-image


def test_signatures_are_those_of_scikit_image():
    filters = pytest.importorskip("skimage.filters")
    for ours, theirs in ((frangi, filters.frangi), (sato, filters.sato), (meijering, filters.meijering)):
        found, wanted = (inspect.signature(function).parameters for function in (ours, theirs))
        common = [name for name in wanted if name in found]
        assert [name for name in found if name in wanted] == common
        assert {name: found[name].default for name in common} == {name: wanted[name].default for name in common}


@ALL_DIMENSIONS
def test_names_of_scikit_image(dimension):
    array = -tube(dimension)
    for function, measure in ((frangi, "frangi"), (meijering, "meijering")):
        np.testing.assert_array_equal(function(array, (1, 2)), vesselness(array, (1, 2), measure, bright=False))
        bright = function(-array, (1, 2), black_ridges=False, mode="nearest")
        np.testing.assert_array_equal(bright, vesselness(-array, (1, 2), measure, mode="nearest"))
    np.testing.assert_array_equal(meijering(array, (1, 2), alpha=1 / (dimension + 1)), meijering(array, (1, 2)))
    spaced = frangi(array, (1, 2), spacing=0.5, return_scale=True)
    assert len(spaced) == 2


@ALL_DIMENSIONS
@pytest.mark.parametrize("black_ridges", [False, True])
def test_sato_is_the_formula_of_scikit_image(dimension, black_ridges):
    """sigma^2 times the geometric mean of all eigenvalues but the one along the line, each at least 0: at crossings and on noise
    too. The tolerance is that of float64 eigenvalues."""
    array = crossing(dimension) * (-1.0 if black_ridges else 1.0)
    across = [np.maximum(np.sort(eigenvalues(array, sigma, not black_ridges), axis=-1)[..., 1:], 0.0) for sigma in (1.0, 2.0)]
    wanted = np.max([values.prod(axis=-1) ** (1 / (dimension - 1)) for values in across], axis=0)
    found = sato(array, (1.0, 2.0), black_ridges=black_ridges)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-7 * wanted.max())
    if dimension == 2:
        assert np.abs(vesselness(array, (1.0, 2.0), "sato", bright=not black_ridges) - wanted).max() > 0.1 * wanted.max()


@ALL_DIMENSIONS
def test_sato_gives_the_values_of_scikit_image(dimension):
    """scikit-image smooths with a window of a sampled Gaussian and differentiates that: away from the image's rim its Hessians are
    within a few hundredths of the largest response."""
    filters = pytest.importorskip("skimage.filters")
    array = crossing(dimension)
    wanted = filters.sato(array, (2.0,), black_ridges=False, mode="reflect")
    found = sato(array, (2.0,), black_ridges=False)
    middle = (slice(6, -6),) * dimension
    np.testing.assert_allclose(found[middle], wanted[middle], rtol=0, atol=0.05 * wanted.max())


@pytest.mark.parametrize("dtype, units", [(np.float32, (1e-32, 1e-22, 1e20, 1e30)), (np.float64, (1e-200, 1e-22, 1e20, 1e200))])
@pytest.mark.parametrize("measure", ["frangi", "objectness"])
def test_grey_units_do_not_change_measures(dtype, units, measure):
    """gamma is half of the largest norm. The squares of these pixels are out of the range of their type."""
    array = tube(2).astype(dtype)
    expected = vesselness(array, (1.0, 2.0), measure)
    for unit in units:
        found = vesselness(array * dtype(unit), (1.0, 2.0), measure)
        found = found if measure == "frangi" else found / dtype(unit)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * expected.max(), err_msg=str(unit))


def test_sato_finds_a_line_across_thick_slices():
    """With slices 100 sigmas apart, second differences take the place of the derivatives along them."""
    array = np.zeros((5, 30, 30))
    array[2, 15] = 1.0
    response = sato(array, (1.0,), black_ridges=False, spacing=(100.0, 1.0, 1.0))
    assert response[2, 15, 15] > 0.0
    # Across the line -G''(0) = 1 / sqrt(2 pi), along the slices 2 G(0) / 100^2; the derivative's samples cost 2 %.
    assert response[2, 15, 15] == pytest.approx(math.sqrt(2.0) / 100.0 / math.sqrt(2.0 * math.pi), rel=0.03)


# wrong use


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"sigmas": ()}, ValueError, "sigmas is"),
        ({"sigmas": (1, 0)}, ValueError, "each finite and above 0"),
        ({"sigmas": (1, np.inf)}, ValueError, "each finite and above 0"),
        ({"sigmas": "wide"}, TypeError, "must be a number"),
        ({"measure": "ridge"}, ValueError, "objectness, frangi, sato, jerman, meijering"),
        ({"object_dimension": 2}, ValueError, "object_dimension is 2; it must be a whole number from 0 to 1"),
        ({"object_dimension": -1}, ValueError, "object_dimension is -1"),
        *(
            ({"measure": measure, name: value}, ValueError, f"{name} is {value}; it must be finite and above 0")
            for measure in ("objectness", "frangi", "sato")
            for name in ("alpha", "beta", "gamma")
            for value in (math.nan, math.inf, 0, -1)
        ),
        ({"measure": "jerman", "tau": 1.5}, ValueError, "tau is 1.5; it must be from 0 to 1"),
        ({"mode": "edge"}, ValueError, "reflect"),
        ({"spacing": -1}, ValueError, "spacing is -1"),
        ({"spacing": "image"}, ValueError, "which has none"),
        ({"valid_mask": np.ones((3, 3))}, ValueError, "valid_mask has the shape"),
        ({"backend": "gpu"}, ValueError, "automatic, cuda, host"),
        ({"dtype": "complex64"}, TypeError, "dtype is complex64"),
        ({"image": np.zeros(9)}, ValueError, "image has 1 axes; it must have 2 or 3"),
        ({"image": np.zeros((9, 9, 9, 9))}, ValueError, "image has 4 axes"),
        ({"image": np.zeros((0, 9))}, ValueError, "each axis must have pixels"),
        ({"image": np.zeros((9, 9), complex)}, TypeError, "complex128"),
        ({"image": {1.0: 2.0}}, TypeError, "image is of type dict"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_wrong_use(arguments, error, message):
    with pytest.raises(error, match=message):
        vesselness(**{"image": np.zeros((9, 9)), "sigmas": 1.0, **arguments})


def test_wrong_use_of_the_names_of_scikit_image():
    with pytest.raises(ValueError, match="give sigmas=range"):
        frangi(np.zeros((9, 9)), scale_range=(1, 10))
    with pytest.raises(ValueError, match="alpha is 0.5; it must be None"):
        meijering(np.zeros((9, 9)), alpha=0.5)
    with pytest.raises(TypeError, match="unexpected keyword"):
        sato(np.zeros((9, 9)), black_ridge=True)


def test_fill_of_masked_pixels_does_not_depend_on_the_order_of_the_sum():
    """The fill is the mean of the valid pixels. Each package adds them in an order of its own."""
    rng = np.random.default_rng(12)
    print("seed 12")
    for scale in (1e-30, 1.0, 1e30):
        values, flags = rng.uniform(1.0, 9.0, 10007) * scale, rng.random(10007) < 0.5
        orders = [np.arange(10007), np.arange(10007)[::-1], *(rng.permutation(10007) for _ in range(20))]
        means = {float(OF_HOST.mean(values[order], flags[order])) for order in orders}
        assert len(means) == 1
        np.testing.assert_allclose(means.pop(), values[flags].mean(), rtol=2.0**-24)
    assert float(OF_HOST.mean(np.full(3, 1e300), np.ones(3, bool))) == pytest.approx(1e300)
    assert float(OF_HOST.mean(np.ones(3, np.float32), np.zeros(3, bool))) == 0.0


def test_random_parameters_do_not_crash():
    rng = generator()
    for _ in range(200):
        dimension = int(rng.integers(2, 4))
        array = rng.standard_normal(tuple(rng.integers(1, 12, dimension))).astype(rng.choice(["f4", "f8", "i2", "u1"]))
        response = vesselness(
            array,
            rng.uniform(0.3, 5.0, int(rng.integers(1, 4))).tolist(),
            str(rng.choice(MEASURES)),
            int(rng.integers(0, dimension)),
            bool(rng.integers(2)),
            bool(rng.integers(2)),
            alpha=float(rng.uniform(0.1, 2)),
            beta=float(rng.uniform(0.1, 2)),
            gamma=None if rng.integers(2) else float(rng.uniform(0.1, 10)),
            tau=float(rng.uniform(0, 1)),
            mode=str(rng.choice(["reflect", "mirror", "wrap", "constant"])),
            valid_mask=None if rng.integers(2) else rng.integers(0, 2, array.shape),
        )
        assert response.shape == array.shape and (response >= 0).all() and np.isfinite(response).all()

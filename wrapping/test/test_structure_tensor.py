# SPDX-License-Identifier: Apache-2.0
"""structure_tensor() and structure_tensor_eigenvalues(): against their definition in float64, the conventions of arrays, and arrays
in the memory of a GPU."""
import itk
import numpy as np
import pytest
from exporters import FakeArray
from gpu_arrays import LIBRARIES, on_gpu, require_same

from itk_cudafilters import gaussian_filter, gaussian_gradient, structure_tensor, structure_tensor_eigenvalues

pytestmark = pytest.mark.usefixtures("host_allowed")

FUNCTIONS = [structure_tensor, structure_tensor_eigenvalues]
ALL_FUNCTIONS = pytest.mark.parametrize("function", FUNCTIONS)
SHAPES = {2: (31, 42), 3: (14, 21, 25)}
ALL_DIMENSIONS = pytest.mark.parametrize("dimension", SHAPES)


def texture(dimension, seed=20261124):
    print(f"seed {seed}")
    return np.random.default_rng(seed).standard_normal(SHAPES[dimension]).cumsum(axis=0).cumsum(axis=1)


def definition(array, sigma, integration_sigma, smooth, derive):
    """The components, one pair of axes after the other."""
    gradient = [derive(array, sigma, axis) for axis in range(array.ndim)]
    pairs = [(i, j) for i in range(array.ndim) for j in range(i, array.ndim)]
    return np.stack([smooth(gradient[i] * gradient[j], integration_sigma) for i, j in pairs], axis=-1)


def as_matrices(components):
    dimension = {3: 2, 6: 3}[components.shape[-1]]
    matrices = np.empty((*components.shape[:-1], dimension, dimension))
    rows, columns = np.triu_indices(dimension)
    matrices[..., rows, columns] = matrices[..., columns, rows] = components
    return matrices


@ALL_DIMENSIONS
@pytest.mark.parametrize("approximation", ["accurate", "deriche"])
@pytest.mark.parametrize("dtype, bound", [(np.float32, 1e-5), (np.float64, 1e-11)])
def test_components_are_those_of_the_definition(dimension, dtype, bound, approximation):
    array = texture(dimension).astype(dtype)
    options = {"mode": "nearest", "approximation": approximation, "spacing": (1.0, 0.5, 2.0)[:dimension]}
    gradient = gaussian_gradient(array.astype(np.float64), 1.5, **options)
    wanted = definition(
        array, 1.5, 2.5, lambda each, sigma: gaussian_filter(each, sigma, **options), lambda _, __, axis: gradient[..., axis]
    )
    found = structure_tensor(array, 1.5, 2.5, spacing=options["spacing"], approximation=approximation)
    assert found.dtype == dtype and found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= bound * np.abs(wanted).max()


@ALL_DIMENSIONS
@pytest.mark.parametrize("options, bound", [({}, 2e-4), ({"approximation": "deriche"}, 2e-2)])
def test_components_are_those_of_scipy(dimension, options, bound):
    """But for the approximation of the Gaussian: derivatives are within 6e-5, with deriche within 4.1e-3 of the largest one
    (docs/developer/numerics.md), two of them make a product, and that is smoothed again."""
    ndimage = pytest.importorskip("scipy.ndimage")
    array = texture(dimension)
    lines = {"mode": "nearest", "truncate": 8.0}

    def derive(array, sigma, axis):
        return ndimage.gaussian_filter(array, sigma, order=[int(i == axis) for i in range(array.ndim)], **lines)

    wanted = definition(array, 2.0, 3.0, lambda each, sigma: ndimage.gaussian_filter(each, sigma, **lines), derive)
    error = np.abs(structure_tensor(array, 2.0, 3.0, **options) - wanted).max() / np.abs(wanted).max()
    assert error <= bound
    values = structure_tensor_eigenvalues(array, 2.0, 3.0, **options)
    matrices = as_matrices(wanted)
    # An eigenvalue moves by no more than the norm of what is added to a matrix.
    assert np.abs(values - np.linalg.eigvalsh(matrices)).max() <= dimension * bound * np.abs(wanted).max()


@ALL_DIMENSIONS
@pytest.mark.parametrize("dtype, bound", [(np.float32, 2e-6), (np.float64, 1e-12)])
def test_eigenvalues(dimension, dtype, bound):
    array = texture(dimension).astype(dtype)
    matrices = as_matrices(structure_tensor(array, 1.0, 2.0).astype(np.float64))
    found, wanted = structure_tensor_eigenvalues(array, 1.0, 2.0), np.linalg.eigvalsh(matrices)
    assert found.dtype == dtype and found.shape == wanted.shape
    assert (np.diff(found, axis=-1) >= 0).all()
    assert np.abs(found - wanted).max() <= bound * np.abs(wanted).max()


def test_the_direction_of_stripes():
    across = np.array([0.8, 0.6])
    places = np.stack(np.meshgrid(np.arange(50), np.arange(60), indexing="ij"), axis=-1)
    tensor = structure_tensor(np.sin(places @ across), 1.0, 4.0)[25, 30]
    _, vectors = np.linalg.eigh([[tensor[0], tensor[1]], [tensor[1], tensor[2]]])
    assert abs(vectors[:, 1] @ across) > np.cos(np.radians(1.0))


@ALL_FUNCTIONS
def test_images(function):
    array = texture(3).astype(np.float32)
    image = itk.image_from_array(array)
    image.SetSpacing([2.0, 0.5, 1.5])
    wanted = function(array, spacing=(1.5, 0.5, 2.0))
    found = function(image, spacing="image")
    np.testing.assert_array_equal(itk.array_from_image(found), wanted)
    assert list(found.GetSpacing()) == [2.0, 0.5, 1.5] and found.GetNumberOfComponentsPerPixel() == wanted.shape[-1]
    np.testing.assert_array_equal(function(np.asfortranarray(array)), function(array))
    np.testing.assert_array_equal(function(array.astype("u1")), function(array.astype("u1").astype("f")))
    assert function(array, dtype="float64").dtype == np.float64


def test_coordinates_that_fall():
    xarray = pytest.importorskip("xarray")
    values = texture(2)
    coordinates = {"y": -0.5 * np.arange(values.shape[0]), "x": 2.0 * np.arange(values.shape[1])}
    array = xarray.DataArray(values, dims=("y", "x"), coords=coordinates)
    found = structure_tensor(array, spacing="image")
    assert found.dims == ("y", "x", "component")
    np.testing.assert_array_equal(found.values, structure_tensor(values, spacing=(0.5, 2.0)) * (1, -1, 1))
    plain = structure_tensor_eigenvalues(values, spacing=(0.5, 2.0))
    np.testing.assert_array_equal(structure_tensor_eigenvalues(array, spacing="image").values, plain)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"sigma": 0}, ValueError, "sigma is 0; it must be finite and above 0"),
        ({"integration_sigma": np.inf}, ValueError, "integration_sigma is inf"),
        ({"sigma": "wide"}, TypeError, "sigma is 'wide'; it must be a number"),
        ({"spacing": -1}, ValueError, "spacing is -1"),
        ({"spacing": "image"}, ValueError, "which has none"),
        ({"backend": "gpu"}, ValueError, "automatic, cuda, host"),
        ({"approximation": "exact"}, ValueError, 'approximation is "exact"; it must be one of accurate, deriche'),
        ({"dtype": "complex64"}, TypeError, "dtype is complex64"),
        ({"image": np.zeros(9)}, ValueError, "image has 1 axes; it must have 2 or 3"),
        ({"image": np.zeros((9, 3))}, ValueError, r"image has the shape \(9, 3\); each axis must have 4 pixels or more"),
        ({"image": np.zeros((9, 9), complex)}, TypeError, "complex128"),
        ({"image": FakeArray(np.zeros((9, 9), "f"))}, TypeError, r"call cupy.from_dlpack\(image\)"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
@ALL_FUNCTIONS
def test_wrong_use(function, arguments, error, message):
    with pytest.raises(error, match=message):
        function(**{"image": np.zeros((9, 9)), **arguments})


# arrays in the memory of a GPU


@ALL_FUNCTIONS
def test_arrays_on_a_gpu_have_the_bits_of_numpy(operations, function):
    rng = np.random.default_rng(31)
    for _ in range(60):
        array = rng.standard_normal(rng.integers(4, 12, int(rng.integers(2, 4)))) * 30 + 60
        array = array.astype(rng.choice(["uint8", "int16", "float16", "float32", "float64"]))
        array = array.T if rng.random() < 0.5 else array
        parameters = {
            "sigma": float(rng.uniform(0.5, 3.0)),
            "integration_sigma": float(rng.uniform(0.5, 3.0)),
            "spacing": rng.uniform(0.5, 2.0, array.ndim).tolist(),
            "approximation": str(rng.choice(["accurate", "deriche"])),
        }
        require_same(function(on_gpu(array), **parameters), function(array, backend="host", **parameters))
    assert operations.streams == 60


def test_wrong_arrays_on_a_gpu(operations):
    array = on_gpu(np.zeros((8, 8), "f"))
    with pytest.raises(ValueError, match="backend is host, and image is in the memory of a GPU"):
        structure_tensor(array, backend="host")
    array.requires_grad = True
    with pytest.raises(BufferError, match=r"requires a gradient.*call image.detach\(\)"):
        structure_tensor(array)


@LIBRARIES
@ALL_FUNCTIONS
@pytest.mark.parametrize("pixel", ["uint8", "float16", "float32", "float64"])
def test_libraries_have_the_bits_of_numpy(gpu, library, function, pixel):
    for shape in ((20, 33, 41), (48, 64)):
        array = (np.random.default_rng(8).standard_normal(shape) * 20 + 60).astype(pixel)
        given, back = library(array)
        for approximation in ("accurate", "deriche"):
            options = {"approximation": approximation}
            found = function(given, 1.0, 2.0, **options)
            assert type(found) is type(given)
            np.testing.assert_array_equal(back(found), function(array, 1.0, 2.0, backend="cuda", **options))

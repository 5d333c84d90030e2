# SPDX-License-Identifier: Apache-2.0
"""The Gaussian functions of arrays in the memory of a GPU. Where there is no GPU, NumPy arrays of a class of their own stand for
them, and the work is done on the host."""
import numpy as np
import pytest
from exporters import FakeArray

import itk_cudafilters
from itk_cudafilters import _dlpack, _operations
from itk_cudafilters._operations import NumpyOperations

MODES = ["reflect", "nearest", "mirror", "wrap", "constant"]


class Array(np.ndarray):
    """Says that it lies on a GPU; not even NumPy gets its pixels unasked."""

    def __dlpack_device__(self):
        return (2, 0)


class ArrayOperations(NumpyOperations):
    is_on_gpu = True

    def __init__(self):
        super().__init__()
        self.streams = 0

    def contiguous(self, array, dtype):
        return on_gpu(super().contiguous(array, dtype))

    def where(self, condition, a, b):
        return on_gpu(super().where(condition, a, b))

    def truncate(self, values, dtype):
        return on_gpu(super().truncate(values, dtype))

    def stack_last(self, arrays):
        return on_gpu(super().stack_last(arrays))

    def stream(self, array):
        self.streams += 1
        return 4711


def on_gpu(array):
    return np.asarray(array).view(Array)


@pytest.fixture
def operations():
    native = _dlpack.native()
    native.cudafilters_use_host_as_device(True)
    _operations.OF_TESTS[Array] = ArrayOperations()
    yield _operations.OF_TESTS[Array]
    del _operations.OF_TESTS[Array]
    native.cudafilters_use_host_as_device(False)


def require_same(found, expected):
    assert type(found) is Array and found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(found), expected)


def test_results_have_the_bits_of_numpy(operations):
    """Random types, axes, modes, orders and layouts, without masks, with them, and with NaN: 60 calls from one seed."""
    rng = np.random.default_rng(2311)
    for _ in range(60):
        dimension = int(rng.integers(1, 5))
        array = rng.standard_normal(rng.integers(1, 9, dimension)) * 30 + 60
        array = array.astype(rng.choice(["uint8", "int16", "float16", "float32", "float64"]))
        if rng.random() < 0.5:
            array = array.T
        if array.dtype.kind == "f" and rng.random() < 0.3:
            array = np.where(rng.random(array.shape) < 0.2, array.dtype.type(np.nan), array)
        parameters = {
            "sigma": rng.uniform(0.5, 4.0, dimension).tolist(),
            "order": np.isin(np.arange(dimension), rng.integers(0, dimension, 2)).astype(int).tolist(),
            "mode": rng.choice(MODES, dimension).tolist(),
            "cval": 7.0,
            "approximation": "accurate",
        }
        expected = itk_cudafilters.gaussian_filter(array, backend="host", **parameters)
        require_same(itk_cudafilters.gaussian_filter(on_gpu(array), **parameters), expected)
    assert operations.streams > 60


FUNCTIONS = {
    "filter1d": lambda array, backend: itk_cudafilters.gaussian_filter1d(array, 1.5, axis=1, backend=backend),
    "magnitude": lambda array, backend: itk_cudafilters.gaussian_gradient_magnitude(array, 1.5, backend=backend),
    "laplace": lambda array, backend: itk_cudafilters.gaussian_laplace(
        array, 1.5, mode=("wrap", "mirror", "reflect"), backend=backend
    ),
    "gradient": lambda array, backend: itk_cudafilters.gaussian_gradient(array, 1.5, channel_axis=0, backend=backend),
    "hessian": lambda array, backend: itk_cudafilters.gaussian_hessian(array, 1.5, spacing=(1.0, 2.0, 0.5), backend=backend),
    "difference": lambda array, backend: itk_cudafilters.difference_of_gaussians(array, 1.0, backend=backend),
    "unsharp": lambda array, backend: itk_cudafilters.unsharp_mask(array, 2.0, 0.7, backend=backend),
    "type": lambda array, backend: itk_cudafilters.gaussian_filter(array, 1.5, dtype="uint8", backend=backend),
    "sigma 0": lambda array, backend: itk_cudafilters.gaussian_filter(array, (0, 0, 0), backend=backend),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_every_function(operations, function):
    array = np.random.default_rng(5).standard_normal((6, 7, 8)).astype("f") * 40 + 50
    given = on_gpu(array.copy())
    found = function(given, "cuda")
    require_same(found, function(array, "host"))
    assert not np.may_share_memory(found, given)
    np.testing.assert_array_equal(np.asarray(given), array)


def test_masks(operations):
    rng = np.random.default_rng(6)
    array, valid = rng.standard_normal((3, 9, 10)).astype("f"), rng.random((9, 10)) < 0.7
    parameters = {"sigma": 1.5, "channel_axis": 0}
    expected = itk_cudafilters.gaussian_filter(array, valid_mask=valid, backend="host", **parameters)
    require_same(itk_cudafilters.gaussian_filter(on_gpu(array), valid_mask=on_gpu(valid), **parameters), expected)
    with pytest.raises(TypeError, match="valid_mask is of type numpy.ndarray; it must be of the package and on the device"):
        itk_cudafilters.gaussian_filter(on_gpu(array), valid_mask=valid, **parameters)


def test_output(operations):
    array = np.random.default_rng(7).standard_normal((9, 10)).astype("f")
    output = on_gpu(np.full((9, 20), np.nan, "d"))[:, ::2]
    assert itk_cudafilters.gaussian_filter(on_gpu(array), 1.5, output=output) is output
    np.testing.assert_array_equal(np.asarray(output), itk_cudafilters.gaussian_filter(array, 1.5, dtype="d", backend="host"))
    output.flags.writeable = False
    with pytest.raises(ValueError, match="output is read-only"):
        itk_cudafilters.gaussian_filter(on_gpu(array), 1.5, output=output)
    with pytest.raises(TypeError, match="output is of type numpy.ndarray; it must be of the package and on the device"):
        itk_cudafilters.gaussian_filter(on_gpu(array), 1.5, output=np.zeros((9, 10), "f"))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 5, 2)])
def test_empty_arrays(operations, shape):
    found = itk_cudafilters.gaussian_filter(on_gpu(np.zeros(shape, "f")), 1.0)
    assert found.shape == shape


def test_wrong_arrays(operations):
    array = on_gpu(np.zeros((8, 8), "f"))
    with pytest.raises(ValueError, match="backend is host, and input is in the memory of a GPU"):
        itk_cudafilters.gaussian_filter(array, 1.0, backend="host")
    with pytest.raises(TypeError, match="input has pixels of type complex64"):
        itk_cudafilters.gaussian_filter(on_gpu(np.zeros((8, 8), "c8")), 1.0)
    with pytest.raises(ValueError, match="spacing is 'image' and input is"):
        itk_cudafilters.gaussian_filter(array, 1.0, spacing="image")
    array.requires_grad = True
    with pytest.raises(BufferError, match=r"requires a gradient.*call input.detach\(\)"):
        itk_cudafilters.gaussian_filter(array, 1.0)
    with pytest.raises(TypeError, match=r"in the memory of a GPU; it must be of CuPy or torch.*cupy.from_dlpack\(input\)"):
        itk_cudafilters.gaussian_filter(FakeArray(np.zeros((8, 8), "f")), 1.0)


@pytest.fixture
def gpu(on_gpu):
    if not on_gpu:
        pytest.skip("needs a GPU")


def make_libraries():
    def cupy_pair(array):
        cupy = pytest.importorskip("cupy")
        return cupy.asarray(array), cupy.asnumpy

    def torch_pair(array):
        torch = pytest.importorskip("torch")
        return torch.from_numpy(np.ascontiguousarray(array)).cuda(), lambda found: found.cpu().numpy()

    return {"cupy": cupy_pair, "torch": torch_pair}


LIBRARIES = pytest.mark.parametrize("library", make_libraries().values(), ids=make_libraries())


@LIBRARIES
@pytest.mark.parametrize("pixel", ["uint8", "int16", "float16", "float32", "float64"])
@pytest.mark.parametrize("mode", MODES)
def test_libraries_have_the_bits_of_numpy(gpu, library, mode, pixel):
    array = (np.random.default_rng(8).standard_normal((20, 33, 41)) * 40 + 50).astype(pixel)
    given, back = library(array)
    found = itk_cudafilters.gaussian_filter(given, (1.0, 2.0, 4.0), mode=mode)
    assert type(found) is type(given)
    expected = itk_cudafilters.gaussian_filter(array, (1.0, 2.0, 4.0), mode=mode, backend="cuda")
    np.testing.assert_array_equal(back(found), expected)


@LIBRARIES
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_every_function_of_libraries(gpu, library, function):
    array = np.random.default_rng(9).standard_normal((12, 17, 18)).astype("f") * 40 + 50
    array[3, 4, 5] = np.nan
    given, back = library(array)
    np.testing.assert_array_equal(back(function(given, "cuda")), function(array, "cuda"))


def test_torch_on_a_stream_that_is_held_back(gpu):
    torch = pytest.importorskip("torch")
    with torch.cuda.stream(torch.cuda.Stream()):
        tensor = torch.full((64, 64), float("nan"), device="cuda")
        torch.cuda._sleep(200_000_000)
        tensor.fill_(3.0)
        found = itk_cudafilters.gaussian_filter(tensor, 2.0, preserve_nan=False)
        del tensor
        torch.full((64, 64), float("nan"), device="cuda")
        torch.testing.assert_close(found, torch.full_like(found, 3.0))


def test_torch_graphs_and_gradients_are_refused(gpu):
    torch = pytest.importorskip("torch")
    tensor = torch.zeros((64, 64), device="cuda")
    itk_cudafilters.gaussian_filter(tensor, 2.0)
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="recorded for a CUDA graph"), torch.cuda.graph(graph):
        itk_cudafilters.gaussian_filter(tensor, 2.0, preserve_nan=False)
    with pytest.raises(BufferError, match="detach"):
        itk_cudafilters.gaussian_filter(tensor.clone().requires_grad_(), 2.0)


def test_torch_result_is_torchs_memory(gpu):
    torch = pytest.importorskip("torch")
    tensor = torch.rand((64, 64, 64), device="cuda")
    itk_cudafilters.gaussian_filter(tensor, 2.0)
    before = torch.cuda.memory_allocated()
    found = itk_cudafilters.gaussian_filter(tensor, 2.0)
    assert torch.cuda.memory_allocated() - before == found.numel() * 4

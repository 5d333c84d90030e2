# SPDX-License-Identifier: Apache-2.0
"""The Gaussian functions of arrays in the memory of a GPU, or of arrays that stand for them (gpu_arrays.py)."""
import ctypes
import gc
import pathlib
import resource
import sys

import itk
import numpy as np
import pytest
from exporters import API, EXCHANGE, NEWER_API, NO_DESTRUCTOR, ExchangingArray, FakeArray, InterfaceArray, alive, new_capsule
from gpu_arrays import LIBRARIES, ArrayOperations, on_gpu, pixels_of, require_same, run_in_threads, stream_of

import itk_cudafilters
from itk_cudafilters import _dlpack, _exporters, _gaussian, _library, _line_passes, _operations, _repeated

MODES = ["reflect", "nearest", "mirror", "wrap", "constant"]


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


@pytest.fixture
def finds(operations, monkeypatch):
    """The types of the arrays of which it is found out what a call does."""
    monkeypatch.setattr(_repeated, "_found", {})
    found = []
    passes_of = _gaussian._passes_of
    monkeypatch.setattr(_gaussian, "_passes_of", lambda image, *more: found.append(type(image)) or passes_of(image, *more))
    return found


SAME_CALLS = [
    {"sigma": 1.5},
    {"sigma": [1.5, 0.0, 2]},
    {"sigma": (np.float32(1.5), 2, 0.7), "order": [0, 1, 2], "mode": ["wrap", "nearest", "constant"], "cval": 2},
    {"fwhm": 3.0, "axes": (1, 2), "mode": "mirror", "approximation": "deriche"},
    {"sigma": 1.5, "axes": -1, "dtype": "float32"},
    {"sigma": 2.0, "spacing": 0.5},
]


@pytest.mark.parametrize("parameters", SAME_CALLS, ids=str)
def test_the_same_call_again(operations, finds, parameters):
    rng = np.random.default_rng(12)
    for _ in range(3):
        array = rng.standard_normal((5, 8, 9)).astype("f")
        given = on_gpu(array.copy())
        expected = itk_cudafilters.gaussian_filter(array, backend="host", **parameters)
        require_same(itk_cudafilters.gaussian_filter(given, **parameters), expected)
        np.testing.assert_array_equal(np.asarray(given), array)
    assert finds == [np.ndarray, type(given)]


def test_a_call_is_not_remembered_for_arrays_that_are_not_aligned(finds):
    array = np.random.default_rng(15).standard_normal((9, 11)).astype("f")
    expected = itk_cudafilters.gaussian_filter(array, 1.5, backend="host")
    shifted = np.frombuffer(b"x" + array.tobytes(), np.uint8)[1:].view("f").reshape(array.shape)
    assert not shifted.flags.aligned
    np.testing.assert_array_equal(itk_cudafilters.gaussian_filter(shifted, 1.5, backend="host"), expected)
    assert finds == [np.ndarray]


def test_other_calls_are_other_calls(operations, finds):
    array = np.random.default_rng(13).standard_normal((6, 8, 9))
    sigma = [1.0, 2.0, 3.0]
    for change in (lambda: None, lambda: sigma.reverse(), lambda: sigma.__setitem__(0, 0.0)):
        change()
        expected = itk_cudafilters.gaussian_filter(array, sigma, backend="host")
        require_same(itk_cudafilters.gaussian_filter(on_gpu(array), sigma), expected)
    assert finds == [np.ndarray, type(on_gpu(array))] * 3
    for other in (array[::-1], array.T, array[:5], array.astype("f"), np.where(array > 1.0, np.nan, array)):
        expected = itk_cudafilters.gaussian_filter(other, sigma, backend="host")
        require_same(itk_cudafilters.gaussian_filter(on_gpu(other), sigma), expected)
    expected = itk_cudafilters.gaussian_filter(array, np.array(sigma), backend="host")
    require_same(itk_cudafilters.gaussian_filter(on_gpu(array), np.array(sigma)), expected)


def test_what_is_wrong_is_said_each_time(operations):
    array = on_gpu(np.zeros((8, 8), "f"))
    for _ in range(2):
        with pytest.raises(ValueError, match="sigma is -1"):
            itk_cudafilters.gaussian_filter(array, -1.0)
    itk_cudafilters.gaussian_filter(array, 1.0)
    array.requires_grad = True
    with pytest.raises(BufferError, match="requires a gradient"):
        itk_cudafilters.gaussian_filter(array, 1.0)


def test_calls_that_are_remembered_are_few(operations, finds, monkeypatch):
    monkeypatch.setattr(_repeated, "_LARGEST_NUMBER", 5)
    array = np.random.default_rng(14).standard_normal((7, 8)).astype("f")
    for sigma in np.linspace(1.0, 2.0, 23):
        expected = itk_cudafilters.gaussian_filter(array, sigma, backend="host")
        require_same(itk_cudafilters.gaussian_filter(on_gpu(array), sigma), expected)
        assert len(_repeated._found) <= 5


COMBINED = [
    {"sigma": 1.5},
    {"sigma": (1.0, 2.0, 3.0), "mode": ("wrap", "constant", "reflect"), "cval": 5.0},
    {"sigma": (2.0, 1.0), "axes": (2, 0), "spacing": (0.5, 2.0)},
    {"sigma": 1.2, "channel_axis": 1, "dtype": "float64", "approximation": "deriche"},
    {"sigma": 1.2, "axes": 1, "dtype": "uint8"},
]


@pytest.mark.parametrize("parameters", COMBINED, ids=str)
def test_combined_derivatives_are_one_call(operations, monkeypatch, parameters):
    core, calls = _library.core(), []
    for name in ("run_passes", "run_terms"):
        run = getattr(core, name)
        monkeypatch.setattr(core, name, lambda *arguments, name=name, run=run: calls.append(name) or run(*arguments))
    rng = np.random.default_rng(33)
    for function in (itk_cudafilters.gaussian_gradient_magnitude, itk_cudafilters.gaussian_laplace):
        for scale in (1.0, 1e-28, 1e28):  # squares underflow and overflow
            array = (scale * rng.standard_normal((6, 7, 8))).astype("f")
            expected = function(array, backend="host", **parameters)
            require_same(function(on_gpu(array), **parameters), expected)
    assert calls == ["run_terms"] * 6


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


@pytest.fixture
def masked_calls(operations, monkeypatch):
    """Counts the calls that smooth valid pixels by themselves."""
    core = _library.core()
    run, counts = core.run_masked_passes, []
    monkeypatch.setattr(core, "run_masked_passes", lambda *arguments: counts.append(1) or run(*arguments))
    return counts


def make_masked_call(rng):
    """Of random type, shape, layout, modes, mask and NaN: array, mask and the other parameters."""
    dimension = int(rng.integers(1, 5))
    array = rng.standard_normal(rng.integers(1, 9, dimension)) * 30 + 60
    array = array.astype(rng.choice(["uint8", "int16", "float16", "float32", "float64"]))
    valid = rng.random(array.shape) < rng.choice([0.0, 0.05, 0.5, 1.0])
    if array.dtype.kind == "f" and rng.random() < 0.5:
        array = np.where(rng.random(array.shape) < 0.2, array.dtype.type(rng.choice([np.nan, np.inf, -np.inf])), array)
    if rng.random() < 0.5:
        array, valid = array.T, valid.T
    if rng.random() < 0.3:
        valid = valid.astype("uint8") * 7
    axes = rng.permutation(dimension)[: rng.integers(1, dimension + 1)].tolist()
    approximation = str(rng.choice(["accurate", "deriche"]))
    return array, valid, {
        "sigma": rng.uniform(0.5, 4.0, len(axes)).tolist(),
        "mode": rng.choice(MODES, len(axes)).tolist(),
        "cval": float(rng.choice([0.0, 7.0])),
        "axes": axes,
        "approximation": approximation,
        "preserve_nan": bool(rng.random() < 0.7),
    }


def run_masked_calls(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        array, valid, parameters = make_masked_call(rng)
        with np.errstate(invalid="ignore"):
            expected = itk_cudafilters.gaussian_filter(array, valid_mask=valid, backend="host", **parameters)
            found = itk_cudafilters.gaussian_filter(on_gpu(array), valid_mask=on_gpu(valid), **parameters)
            require_same(found, expected)
            expected = itk_cudafilters.gaussian_filter(array, backend="host", **parameters)
            require_same(itk_cudafilters.gaussian_filter(on_gpu(array), **parameters), expected)


def test_masked_results_have_the_bits_of_numpy(masked_calls):
    run_masked_calls(2312, 150)
    assert len(masked_calls) > 80


def test_masked_calls_of_threads(masked_calls):
    run_in_threads(lambda seed: run_masked_calls(seed, 25), range(8))
    assert len(masked_calls) > 80


@pytest.mark.parametrize("preserve_nan", [False, True])
@pytest.mark.parametrize("kind", ["bool", "uint8"])
def test_masks_take_one_call_that_nothing_waits_for(masked_calls, monkeypatch, kind, preserve_nan):
    """The package itself is asked for nothing that the host would wait for, or that reads pixels once more."""
    rng = np.random.default_rng(15)
    array, valid = rng.standard_normal((9, 10, 11)).astype("f"), (rng.random((9, 10, 11)) < 0.6).astype(kind)
    expected = itk_cudafilters.gaussian_filter(array, 1.5, valid_mask=valid, backend="host")

    def refuse(*_):
        raise AssertionError("an operation of the package")

    for name in ("where", "isnan", "isfinite", "first_true", "is_finite", "concatenate"):
        monkeypatch.setattr(ArrayOperations, name, refuse)
    found = itk_cudafilters.gaussian_filter(on_gpu(array), 1.5, valid_mask=on_gpu(valid), preserve_nan=preserve_nan)
    require_same(found, expected)
    assert len(masked_calls) == 1


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"axes": (1, 2)}, {"axes": -1, "mode": "wrap"}, {"mode": "constant"}, {"mode": "nearest"}, {"approximation": "deriche"}],
    ids=str,
)
def test_looking_for_nan_takes_one_call(operations, masked_calls, monkeypatch, parameters, dtype):
    """The package itself is asked for nothing; where a pixel is not finite one more call fills the result."""
    rng = np.random.default_rng(28)
    arrays = [rng.standard_normal((4, 7, 10)).astype(dtype) for _ in range(4)]
    arrays[1][1, 2, 3] = np.nan
    arrays[2][:] = np.nan
    arrays[3][3, 6, 9] = np.inf
    with np.errstate(invalid="ignore"):
        expected = [itk_cudafilters.gaussian_filter(each, 1.5, backend="host", **parameters) for each in arrays]

    def refuse(*_):
        raise AssertionError("an operation of the package")

    for name in ("where", "isnan", "isfinite", "first_true", "is_finite", "concatenate"):
        monkeypatch.setattr(ArrayOperations, name, refuse)
    for each, result in zip(arrays, expected, strict=True):
        calls = len(masked_calls)
        require_same(itk_cudafilters.gaussian_filter(on_gpu(each), 1.5, **parameters), result)
        assert len(masked_calls) - calls == bool(not np.isfinite(each).all())


def test_looking_for_nan_beside_derivatives_and_many_items(operations, masked_calls):
    """Where a pixel is NaN or infinite they take the operations of the package."""
    rng = np.random.default_rng(29)
    for shape, parameters in (((33, 9), {"axes": 1}), ((5, 9), {"order": (0, 1)}), ((5, 9), {"mode": "constant", "cval": 2.0})):
        array = rng.standard_normal(shape).astype("f")
        for value in (1.0, np.nan, np.inf):
            array[2, 3] = value
            expected = itk_cudafilters.gaussian_filter(array, 1.5, backend="host", **parameters)
            require_same(itk_cudafilters.gaussian_filter(on_gpu(array), 1.5, **parameters), expected)
    assert not masked_calls


def test_masks_of_many_items_and_of_short_lines(masked_calls):
    """They take the operations of the package."""
    rng = np.random.default_rng(16)
    for shape, parameters in (((33, 9), {"axes": 1}), ((3, 9), {"mode": "nearest"}), ((5, 9), {"mode": "constant", "cval": 2.0})):
        array, valid = rng.standard_normal(shape).astype("f"), rng.random(shape) < 0.6
        expected = itk_cudafilters.gaussian_filter(array, 1.5, valid_mask=valid, backend="host", **parameters)
        require_same(itk_cudafilters.gaussian_filter(on_gpu(array), 1.5, valid_mask=on_gpu(valid), **parameters), expected)
    assert not masked_calls


def test_masked_derivatives(operations):
    rng = np.random.default_rng(17)
    array, valid = rng.standard_normal((9, 10)).astype("f"), rng.random((9, 10)) < 0.7
    array[3, 4] = np.nan
    for function in (itk_cudafilters.gaussian_gradient, itk_cudafilters.gaussian_hessian, itk_cudafilters.unsharp_mask):
        for mask in (None, valid):
            expected = function(array, 1.5, valid_mask=mask, backend="host")
            require_same(function(on_gpu(array), 1.5, valid_mask=None if mask is None else on_gpu(mask)), expected)


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
        itk_cudafilters.gaussian_laplace(FakeArray(np.zeros((8, 8), "f")), 1.0)


# arrays of packages whose operations are not known


def test_results_of_exporters_are_device_images(operations):
    rng = np.random.default_rng(21)
    for dimension in (2, 3, 4):
        for dtype in ("f", "d"):
            array = rng.standard_normal(rng.integers(4, 9, dimension)).astype(dtype)
            given = FakeArray(array.copy())
            found = itk_cudafilters.gaussian_filter(given, 1.5, preserve_nan=False)
            expected = itk_cudafilters.gaussian_filter(array, 1.5, backend="host")
            assert isinstance(found, itk.CudaDeviceImage[{"f": itk.F, "d": itk.D}[dtype], dimension])
            np.testing.assert_array_equal(pixels_of(found), expected)
            np.testing.assert_array_equal(given.array, array)
            assert given.streams == [1] and given.deleted == 1


EXPORTED_CALLS = [
    {"sigma": 1.5, "mode": "wrap"},
    {"sigma": (1.0, 2.0), "axes": (1, 2), "mode": ("mirror", "nearest"), "approximation": "accurate"},
    {"sigma": 1.5, "axes": -1, "fwhm": None},
    {"sigma": 1.5, "order": (0, 1, 2), "preserve_nan": False},
    {"sigma": 1.5, "mode": "constant", "cval": 3.0, "preserve_nan": False},
    {"sigma": 1.0, "spacing": 0.5},
]


@pytest.mark.parametrize("parameters", EXPORTED_CALLS, ids=str)
def test_exporters_with_an_output(operations, parameters):
    array = np.random.default_rng(22).standard_normal((5, 6, 7)).astype("f")
    if parameters.get("preserve_nan", True):
        array[2, 3, 4] = np.nan
    output = FakeArray(np.zeros((5, 6, 7), "f"))
    assert itk_cudafilters.gaussian_filter(FakeArray(array), output=output, **parameters) is output
    np.testing.assert_array_equal(output.array, itk_cudafilters.gaussian_filter(array, backend="host", **parameters))
    assert output.deleted == 1


@pytest.mark.parametrize("keeps_nan", [False, True])
@pytest.mark.parametrize("kind", ["bool", "u1", "i1"])
def test_exporters_with_masks(operations, kind, keeps_nan):
    rng = np.random.default_rng(23)
    array, valid = rng.standard_normal((3, 9, 10)).astype("d"), (rng.random((3, 9, 10)) < 0.6).astype(kind)
    valid[1] = 1
    array[0, 2, 3] = np.nan
    valid[0, 2, 3] = keeps_nan
    mask = FakeArray(valid)
    parameters = {"sigma": 2.0, "axes": (1, 2), "preserve_nan": keeps_nan}
    found = itk_cudafilters.gaussian_filter(FakeArray(array), valid_mask=mask, **parameters)
    expected = itk_cudafilters.gaussian_filter(array, valid_mask=valid, backend="host", **parameters)
    np.testing.assert_array_equal(pixels_of(found), expected)
    assert mask.streams == [1] and mask.deleted == 1


def test_exporters_of_no_pixels(operations):
    for preserve_nan in (False, True):
        found = itk_cudafilters.gaussian_filter(FakeArray(np.zeros((3, 0), "f")), 1.0, preserve_nan=preserve_nan)
        assert isinstance(found, itk.CudaDeviceImage[itk.F, 2]) and found.shape == (3, 0)


def test_exporters_that_are_refused_get_their_memory_back(operations):
    array = np.zeros((8, 9), "f")

    def refused(error, match, *, of=array, with_=(), **parameters):
        given = FakeArray(of)
        with pytest.raises(error, match=match):
            itk_cudafilters.gaussian_filter(given, **{"sigma": 1.0, **parameters})
        for each in (given, *with_):
            assert each.deleted == len(each.streams)

    refused(TypeError, "input is .* with pixels of type int16; of that package they must be float32 or float64", of=array.astype("i2"))
    refused(ValueError, r"with 1 axes; of that package it must have two to four.*cupy.from_dlpack\(input\)", of=array[0])
    refused(ValueError, r"with the strides \(1, 9\) in elements; .*must be contiguous", of=array.T)
    refused(ValueError, "filtered along their last axes in the order of the array", axes=0)
    refused(ValueError, "filtered along their last axes in the order of the array", sigma=(1.0, 0.0))
    refused(ValueError, "in their own type", dtype="float64")
    refused(ValueError, "masks and preserve_nan of arrays of that package are for smoothing", order=1)
    refused(ValueError, "in the mode constant for cval 0", mode="constant", cval=1.0)
    refused(ValueError, "for 32 items", of=np.zeros((33, 9), "f"), axes=1)
    refused(ValueError, "backend is host, and input is in the memory of a GPU", backend="host")
    refused(ValueError, "sigma is -1", sigma=-1.0)
    refused(TypeError, "valid_mask is of type numpy.ndarray; it must be an array on the GPU 0", valid_mask=array)
    for name, other, error, match in (
        ("valid_mask", FakeArray(array), TypeError, "valid_mask is .* with pixels of type float32"),
        ("valid_mask", FakeArray(np.ones((9, 8), bool)), ValueError, r"valid_mask has the shape \(9, 8\)"),
        ("output", FakeArray(array.astype("d")), TypeError, "output is .* with pixels of type float64"),
        ("output", FakeArray(np.zeros((8, 9), "f"), flags=1), ValueError, "output is read-only"),
        ("output", FakeArray(np.zeros((8, 9), "f"), device=(2, 1)), TypeError, "it must be an array on the GPU 0"),
        ("output", FakeArray(array), ValueError, "output lies in the memory of input"),
    ):
        refused(error, match, with_=[other], **{name: other})
    refused(TypeError, "output is of type numpy.ndarray; it must be an array on the GPU 0", output=np.zeros((8, 9), "f"))


def test_arrays_with_a_cuda_array_interface_alone(operations):
    array = np.random.default_rng(33).standard_normal((5, 6, 7))
    array[1, 2, 3] = np.nan
    valid = np.random.default_rng(34).random((5, 6, 7)) < 0.7
    expected = itk_cudafilters.gaussian_filter(array, 1.5, backend="host")
    given = InterfaceArray(array.copy())
    references = sys.getrefcount(given)
    found = itk_cudafilters.gaussian_filter(given, 1.5)
    assert isinstance(found, itk.CudaDeviceImage[itk.D, 3]) and sys.getrefcount(given) == references
    np.testing.assert_array_equal(pixels_of(found), expected)
    output = InterfaceArray(np.zeros((5, 6, 7)))
    assert itk_cudafilters.gaussian_filter(given, 1.5, output=output) is output
    np.testing.assert_array_equal(output.array, expected)
    np.testing.assert_array_equal(given.array, array)
    for mask in (InterfaceArray(valid), FakeArray(valid)):
        found = itk_cudafilters.gaussian_filter(given, 1.5, valid_mask=mask)
        expected = itk_cudafilters.gaussian_filter(array, 1.5, valid_mask=valid, backend="host")
        np.testing.assert_array_equal(pixels_of(found), expected)


def test_interfaces_that_are_refused(operations):
    array = np.zeros((8, 9), "f")

    def refused(error, match, given):
        references = sys.getrefcount(given)
        with pytest.raises(error, match=match):
            itk_cudafilters.gaussian_filter(given, 1.0)
        gc.collect()
        assert sys.getrefcount(given) == references

    refused(BufferError, "version 2 says nothing of streams; it must be of version 3", InterfaceArray(array, version=2))
    refused(BufferError, "with a mask of its own: give it as valid_mask", InterfaceArray(array, mask=array))
    refused(TypeError, "pixels of type <M8, which is not known", InterfaceArray(array.astype("M8"), typestr="<M8"))
    refused(TypeError, "pixels of type >f4, which is not known", InterfaceArray(array.astype(">f4")))
    refused(TypeError, "with pixels of type int16; of that package they must be float32", InterfaceArray(array.astype("i2")))
    refused(ValueError, r"with the strides \(1, 9\) in elements; .*must be contiguous", InterfaceArray(array.T))
    refused(BufferError, r"the strides \(37, 4\) in bytes; they must be of whole pixels", InterfaceArray(array, strides=(37, 4)))
    read_only = np.zeros((8, 9), "f")
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="output is read-only"):
        itk_cudafilters.gaussian_filter(InterfaceArray(array), 1.0, output=InterfaceArray(read_only))


@pytest.fixture
def exchange(operations, monkeypatch):
    """Arrays whose package gives its stream; the names of its functions that were called, and the streams that got work."""
    core, streams = _library.core(), []
    monkeypatch.setattr(ExchangingArray, "asked", [])
    for name, place in {"run_passes": -2, "run_masked_passes": -1}.items():
        run = getattr(core, name)
        monkeypatch.setattr(
            core, name, lambda *arguments, run=run, place=place: streams.append(arguments[place]) or run(*arguments)
        )
    return ExchangingArray.asked, streams


@pytest.mark.parametrize("parameters", EXPORTED_CALLS, ids=str)
def test_packages_that_give_their_stream(exchange, parameters):
    """The work runs there, and the result is an array of the package."""
    asked, streams = exchange
    array = np.random.default_rng(25).standard_normal((5, 6, 7)).astype("f")
    if parameters.get("preserve_nan", True):
        array[2, 3, 4] = np.nan
    expected = itk_cudafilters.gaussian_filter(array, backend="host", **parameters)
    given = ExchangingArray(array.copy())
    found = itk_cudafilters.gaussian_filter(given, **parameters)
    assert type(found) is ExchangingArray
    np.testing.assert_array_equal(found.array, expected)
    np.testing.assert_array_equal(given.array, array)
    output = ExchangingArray(np.zeros((5, 6, 7), "f"))
    assert itk_cudafilters.gaussian_filter(given, output=output, **parameters) is output
    np.testing.assert_array_equal(output.array, expected)
    assert set(streams) == {ExchangingArray.stream} and "__dlpack__" not in asked
    assert asked.count("allocate") == 1 and given.deleted == asked.count("current_stream") - 2
    assert not alive


@pytest.mark.parametrize("keeps_nan", [False, True])
def test_masks_of_packages_that_give_their_stream(exchange, keeps_nan):
    asked, streams = exchange
    rng = np.random.default_rng(26)
    array, valid = rng.standard_normal((3, 9, 10)), rng.random((3, 9, 10)) < 0.6
    array[0, 2, 3] = np.nan
    valid[0, 2, 3] = keeps_nan
    parameters = {"sigma": 2.0, "axes": (1, 2), "preserve_nan": keeps_nan}
    expected = itk_cudafilters.gaussian_filter(array, valid_mask=valid, backend="host", **parameters)
    found = itk_cudafilters.gaussian_filter(ExchangingArray(array), valid_mask=ExchangingArray(valid), **parameters)
    np.testing.assert_array_equal(found.array, expected)
    assert streams == [ExchangingArray.stream] and "__dlpack__" not in asked
    # A mask of a package that does not: all are used by the methods.
    found = itk_cudafilters.gaussian_filter(ExchangingArray(array), valid_mask=FakeArray(valid), **parameters)
    np.testing.assert_array_equal(pixels_of(found), expected)
    assert streams == [ExchangingArray.stream, _dlpack.DEFAULT_STREAM] and asked.count("__dlpack__") == 1
    assert not alive


def test_versions_of_exchange(exchange, monkeypatch):
    asked, streams = exchange
    array = np.random.default_rng(27).standard_normal((8, 9)).astype("f")
    expected = itk_cudafilters.gaussian_filter(array, 1.5, backend="host")

    def give(api, name=EXCHANGE):
        asked.clear()
        capsule = new_capsule(ctypes.addressof(api), name, NO_DESTRUCTOR)
        monkeypatch.setattr(ExchangingArray, "__dlpack_c_exchange_api__", capsule)

    give(NEWER_API)
    found = itk_cudafilters.gaussian_filter(ExchangingArray(array), 1.5)
    np.testing.assert_array_equal(found.array, expected)
    assert "__dlpack__" not in asked
    give(API, b"another")
    found = itk_cudafilters.gaussian_filter(ExchangingArray(array), 1.5)
    np.testing.assert_array_equal(pixels_of(found), expected)
    assert asked == ["__dlpack__"]
    # What is no capsule, as the number that packages gave before.
    asked.clear()
    monkeypatch.setattr(ExchangingArray, "__dlpack_c_exchange_api__", ctypes.addressof(API))
    found = itk_cudafilters.gaussian_filter(ExchangingArray(array), 1.5)
    np.testing.assert_array_equal(pixels_of(found), expected)
    assert asked == ["__dlpack__"]
    give(API)
    given = ExchangingArray(array, version=(2, 0))
    with pytest.raises(BufferError, match=r"the array is of DLPack 2.0; version 1 is understood"):
        itk_cudafilters.gaussian_filter(given, 1.5)
    assert given.deleted == 1 and not alive


def test_calls_leave_no_memory(exchange):
    """Ten thousand calls of arrays whose operations are known, of packages that give their stream, and of others; with NaN, and with
    masks."""
    array = np.random.default_rng(32).standard_normal((6, 7)).astype("f")
    array[2, 3] = np.nan
    valid = np.ones((6, 7), bool)
    given = ExchangingArray(array), on_gpu(array), FakeArray(array)
    masks = ExchangingArray(valid), on_gpu(valid), FakeArray(valid)

    def call(count):
        for i in range(count):
            sigma = 1.0 + 1e-6 * (i // 100)
            itk_cudafilters.gaussian_filter(given[i % 3], sigma)
            itk_cudafilters.gaussian_filter(given[i % 3], sigma, valid_mask=masks[i % 3])
            exchange[0].clear()
            exchange[1].clear()
            for each in (*given, *masks):
                getattr(each, "streams", []).clear()

    call(1000)
    before = resident_memory()
    call(5000)
    assert resident_memory() - before < 4 * 2**20
    assert not alive


def resident_memory():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def test_exchange_of_a_gradient(exchange):
    given = ExchangingArray(np.zeros((8, 9), "f"))
    given.requires_grad = True
    with pytest.raises(BufferError, match=r"requires a gradient.*call input.detach\(\)"):
        itk_cudafilters.gaussian_filter(given, 1.5)
    assert exchange[0] == []


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


@pytest.mark.parametrize("threads", [1, 8])
@LIBRARIES
def test_random_arrays_have_the_bits_of_numpy(gpu, library, threads):
    """200 calls from one seed: types, dimensions, axes, strides, modes; with eight threads each on a stream of its own."""

    def run(seed, count):
        rng = np.random.default_rng(seed)
        for _ in range(count):
            dimension = int(rng.integers(1, 5))
            array = rng.standard_normal(rng.integers(1, {1: 3000, 2: 300, 3: 90, 4: 30}[dimension], dimension)) * 30 + 60
            array = array.astype(rng.choice(["uint8", "int16", "float16", "float32", "float64"]))
            parameters = {
                "sigma": rng.uniform(0.5, 12.0, dimension).tolist(),
                "order": np.isin(np.arange(dimension), rng.integers(0, dimension, 2)).astype(int).tolist(),
                "mode": rng.choice(MODES, dimension).tolist(),
                "axes": rng.permutation(dimension)[: rng.integers(1, dimension + 1)].tolist(),
                "approximation": str(rng.choice(["accurate", "deriche"])),
            }
            for name in ("sigma", "order", "mode"):
                parameters[name] = parameters[name][: len(parameters["axes"])]
            given, back = library(array)
            if dimension > 1 and rng.random() < 0.5:
                given, array = given.swapaxes(0, 1), array.swapaxes(0, 1)
            found = back(itk_cudafilters.gaussian_filter(given, **parameters))
            expected = itk_cudafilters.gaussian_filter(array, backend="cuda", **parameters)
            np.testing.assert_array_equal(found, expected, err_msg=f"{array.dtype}, {array.shape}, {parameters}")

    def run_on_stream(seed):
        with stream_of(library):
            run(seed, 200 // threads)

    run_in_threads(run_on_stream, range(threads))


@LIBRARIES
def test_masks_of_libraries_have_the_bits_of_numpy(gpu, library):
    """150 calls from one seed, with masks and NaN; on a GPU the mode nearest of Deriche has the same bits too."""
    rng = np.random.default_rng(2313)
    for _ in range(150):
        array, valid, parameters = make_masked_call(rng)
        given, back = library(array)
        mask, _ = library(valid)
        found = back(itk_cudafilters.gaussian_filter(given, valid_mask=mask, **parameters))
        with np.errstate(invalid="ignore"):
            expected = itk_cudafilters.gaussian_filter(array, valid_mask=valid, backend="cuda", **parameters)
        np.testing.assert_array_equal(found, expected, err_msg=f"{array.dtype}, {array.shape}, {parameters}")


@LIBRARIES
def test_nan_in_arrays_of_libraries(gpu, library):
    """At the first pixel and the last, in parts of memory at any multiple of a pixel, and none: bits of NumPy."""
    rng = np.random.default_rng(30)
    for case in range(60):
        array = rng.standard_normal((rng.integers(1, 40), rng.integers(1, 90), rng.integers(1, 200)))
        array = array.astype(rng.choice(["float32", "float64"]))
        if case % 3 > 0:
            array.flat[[0, -1, rng.integers(0, array.size)][case % 4 % 3]] = [np.nan, np.inf][case % 3 == 2]
        parameters = {"sigma": (1.0, 2.0, 4.0), "mode": str(rng.choice(MODES)), "axes": (0, 1, 2)}
        wide, back = library(np.concatenate([np.zeros(case % 5, array.dtype), array.reshape(-1)]))
        given = wide[case % 5 :].reshape(array.shape)
        found = back(itk_cudafilters.gaussian_filter(given, **parameters))
        with np.errstate(invalid="ignore"):
            expected = itk_cudafilters.gaussian_filter(array, backend="cuda", **parameters)
        np.testing.assert_array_equal(found, expected, err_msg=f"{case}: {array.dtype}, {array.shape}, {parameters}")


def test_exchange_with_torch(gpu):
    """torch from 2.10 on has the C functions; by them its tensors take the way of packages whose operations are not known."""
    torch = pytest.importorskip("torch")
    if type(getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)).__name__ != "PyCapsule":
        pytest.skip(f"torch {torch.__version__} has no __dlpack_c_exchange_api__")
    array = np.random.default_rng(31).standard_normal((30, 40, 50)).astype("f")
    stream = torch.cuda.Stream()
    for nan in (False, True):
        array[3, 4, 5] = np.nan if nan else 0.0
        passes = [_line_passes.Pass(axis, sigma, 0, "reflect") for axis, sigma in enumerate((1.0, 2.0, 4.0))]
        with torch.cuda.stream(stream):
            tensor = torch.from_numpy(array).cuda()
            opened = _exporters.open_foreign(tensor, "input", {})
            assert opened.stream == stream.cuda_stream and opened.pointer == tensor.data_ptr()
            found = _exporters.filter_foreign(tensor, opened, passes, None, None, True, 0.0, "accurate")
            assert type(found) is torch.Tensor and found.is_cuda
            expected = itk_cudafilters.gaussian_filter(array, (1.0, 2.0, 4.0), backend="cuda")
            np.testing.assert_array_equal(found.cpu().numpy(), expected)


def test_numba(gpu):
    cuda = pytest.importorskip("numba.cuda")
    array = np.random.default_rng(35).standard_normal((30, 40, 50)).astype("f")
    array[3, 4, 5] = np.nan
    expected = itk_cudafilters.gaussian_filter(array, (1.0, 2.0, 4.0), backend="cuda")
    for stream in (0, cuda.stream()):
        given = cuda.to_device(array, stream=stream)
        output = cuda.device_array(array.shape, np.float32, stream=stream)
        assert itk_cudafilters.gaussian_filter(given, (1.0, 2.0, 4.0), output=output) is output
        np.testing.assert_array_equal(output.copy_to_host(), expected)
        found = itk_cudafilters.gaussian_filter(given, (1.0, 2.0, 4.0))
        np.testing.assert_array_equal(cuda.as_cuda_array(found).copy_to_host(), expected)


def test_jax(gpu):
    jax = pytest.importorskip("jax")
    if not any(device.platform == "gpu" for device in jax.devices()):
        pytest.skip("this JAX has no GPU")
    array = np.random.default_rng(24).standard_normal((30, 40, 50)).astype("f")
    given = jax.device_put(array, jax.devices("gpu")[0])
    for preserve_nan in (False, True):
        found = itk_cudafilters.gaussian_filter(given, (1.0, 2.0, 4.0), preserve_nan=preserve_nan)
        assert isinstance(found, jax.Array) and found.devices() == given.devices()
        expected = itk_cudafilters.gaussian_filter(array, (1.0, 2.0, 4.0), backend="cuda")
        np.testing.assert_array_equal(np.asarray(found), expected)
    with pytest.raises(ValueError, match="output is an array of JAX"):
        itk_cudafilters.gaussian_filter(given, 1.0, output=given)


def filter_behind_a_held_stream():
    """A constant image that is written late, filtered on the same stream, and overwritten."""
    torch = pytest.importorskip("torch")
    with torch.cuda.stream(torch.cuda.Stream()):
        tensor = torch.full((256, 256), float("nan"), device="cuda")
        torch.cuda._sleep(200_000_000)
        tensor.fill_(3.0)
        found = itk_cudafilters.gaussian_filter(tensor, 2.0, preserve_nan=False)
        tensor.fill_(float("nan"))
        del tensor
        torch.full((256, 256), float("nan"), device="cuda")
        return bool((found - 3.0).abs().max() < 1e-5)


def test_torch_on_a_stream_that_is_held_back(gpu):
    assert filter_behind_a_held_stream()


def test_control_of_the_order(gpu, monkeypatch):
    """Without the order of its stream the same call reads pixels that are not written yet: the test above would see it."""
    torch = pytest.importorskip("torch")
    other = torch.cuda.Stream()
    monkeypatch.setattr(_operations.TorchOperations, "stream", lambda self, array: other.cuda_stream)
    assert not filter_behind_a_held_stream()


def test_results_of_another_stream(gpu):
    torch = pytest.importorskip("torch")
    tensor = torch.rand((128, 128, 128), device="cuda")
    expected = itk_cudafilters.gaussian_filter(tensor, 3.0)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(100_000_000)
        found = itk_cudafilters.gaussian_filter(tensor, 3.0, preserve_nan=False)
        done = torch.cuda.Event()
        done.record()
    reader = torch.cuda.Stream()
    reader.wait_event(done)
    with torch.cuda.stream(reader):
        assert torch.equal(found, expected)


def test_metadata_of_monai_is_kept(gpu):
    monai = pytest.importorskip("monai.data")
    torch = pytest.importorskip("torch")
    given = monai.MetaTensor(torch.rand((2, 20, 21, 22), device="cuda"), meta={"patient": "7"})
    for _ in range(2):
        found = itk_cudafilters.gaussian_filter(given, 1.5, channel_axis=0)
        assert isinstance(found, monai.MetaTensor) and found.meta["patient"] == "7"
    expected = itk_cudafilters.gaussian_filter(given.as_tensor(), 1.5, channel_axis=0)
    assert torch.equal(found.as_tensor(), expected)


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
    torch.cuda.synchronize()
    before, of_module = torch.cuda.memory_allocated(), itk.CudaFiltersConfiguration.GetDeviceBytesInUse()
    found = itk_cudafilters.gaussian_filter(tensor, 2.0)
    assert torch.cuda.memory_allocated() - before == found.numel() * 4
    assert itk.CudaFiltersConfiguration.GetDeviceBytesInUse() == of_module

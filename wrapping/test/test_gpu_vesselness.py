# SPDX-License-Identifier: Apache-2.0
"""vesselness() of arrays in the memory of a GPU, or of arrays that stand for them (gpu_arrays.py)."""
import math

import itk
import numpy as np
import pytest
from exporters import FakeArray
from gpu_arrays import LIBRARIES, ArrayOperations, on_gpu, pixels_of, require_same, run_in_threads, stream_of

import itk_cudafilters
from itk_cudafilters import vesselness

MEASURES = ["objectness", "frangi", "sato", "jerman", "meijering"]
MODES = ["reflect", "mirror", "wrap", "constant"]
PIXELS = ["uint8", "int8", "uint16", "int16", "float16", "float32", "float64"]
OUTPUTS = {"return_scale": True, "return_directions": True}


def make_call(rng, longest=12):
    """Of random type, shape, layout, mask, NaN and parameters: array, mask and the other parameters."""
    dimension = int(rng.integers(2, 4))
    array = rng.standard_normal(rng.integers(1, longest, dimension)) * 20 + 60
    array = array.astype(rng.choice(PIXELS))
    valid = None
    if rng.random() < 0.4:
        valid = rng.random(array.shape) < rng.choice([0.0, 0.1, 0.7, 1.0])
    if array.dtype.kind == "f" and rng.random() < 0.3:
        array = np.where(rng.random(array.shape) < 0.2, array.dtype.type(rng.choice([np.nan, np.inf, -np.inf])), array)
    if rng.random() < 0.5:
        array, valid = array.T, None if valid is None else valid.T
    return array, valid, {
        "sigmas": rng.uniform(0.4, 4.0, int(rng.integers(1, 4))).tolist(),
        "measure": str(rng.choice(MEASURES)),
        "object_dimension": int(rng.integers(0, dimension)),
        "bright": bool(rng.integers(2)),
        "normalize": bool(rng.integers(2)),
        "alpha": float(rng.uniform(0.1, 2.0)),
        "beta": float(rng.uniform(0.1, 2.0)),
        "gamma": None if rng.integers(2) else float(rng.uniform(0.1, 10.0)),
        "tau": float(rng.uniform(0.0, 1.0)),
        "mode": str(rng.choice(MODES)),
        "cval": float(rng.choice([0.0, 50.0])),
        "spacing": None if rng.integers(2) else rng.uniform(0.5, 2.0, dimension).tolist(),
        "preserve_nan": bool(rng.random() < 0.7),
        "approximation": str(rng.choice(["accurate", "deriche"])),
        **OUTPUTS,
    }


def run_calls(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        array, valid, parameters = make_call(rng)
        with np.errstate(invalid="ignore"):
            expected = vesselness(array, valid_mask=valid, backend="host", **parameters)
            found = vesselness(on_gpu(array), valid_mask=None if valid is None else on_gpu(valid), **parameters)
        for each, wanted in zip(found, expected, strict=True):
            require_same(each, wanted)


def test_results_have_the_bits_of_numpy(operations):
    run_calls(2611, 300)
    assert operations.streams >= 300


def test_calls_of_threads(operations):
    run_in_threads(lambda seed: run_calls(seed, 30), range(8))


@pytest.mark.parametrize("shape", [(9, 1), (1, 9), (9, 1, 1), (1, 9, 1), (1, 1, 9), (1, 1)], ids=str)
def test_lines_of_pixels(operations, shape):
    values = np.exp(-((np.arange(9.0) - 4) ** 2) / 4)[: np.prod(shape)].reshape(shape)
    options = {"measure": "sato", "spacing": tuple(1.0 + 0.5 * axis for axis in range(len(shape))), **OUTPUTS}
    expected = vesselness(values, 1.5, backend="host", **options)
    for each, wanted in zip(vesselness(on_gpu(values), 1.5, **options), expected, strict=True):
        require_same(each, wanted)


def test_names_of_scikit_image(operations):
    array = np.random.default_rng(4).standard_normal((20, 22)).astype("f")
    for function in (itk_cudafilters.frangi, itk_cudafilters.sato, itk_cudafilters.meijering):
        require_same(function(on_gpu(array), (1, 2)), function(array, (1, 2), backend="host"))
    require_same(
        itk_cudafilters.meijering(on_gpu(array), (1, 2), alpha=1 / 3), itk_cudafilters.meijering(array, (1, 2), backend="host")
    )
    with pytest.raises(ValueError, match="alpha is 0.5; it must be None"):
        itk_cudafilters.meijering(on_gpu(array), alpha=0.5)


def test_the_input_is_kept(operations):
    array = np.random.default_rng(5).standard_normal((12, 13)).astype("f")
    given = on_gpu(array.copy())
    found = vesselness(given, 1.5, "sato")
    assert not np.may_share_memory(found, given)
    np.testing.assert_array_equal(np.asarray(given), array)
    require_same(vesselness(given, 1.5, "sato", dtype="uint8"), vesselness(array, 1.5, "sato", dtype="uint8", backend="host"))


@pytest.mark.parametrize("kind", ["bool", "uint8"])
@pytest.mark.parametrize("measure", MEASURES)
def test_nothing_waits(operations, monkeypatch, measure, kind):
    """With a mask, or where NaN is not looked for, the package is asked for nothing that the host would wait for."""
    rng = np.random.default_rng(15)
    array, valid = rng.standard_normal((9, 10, 11)).astype("f"), (rng.random((9, 10, 11)) < 0.6).astype(kind)
    array[2, 3, 4] = np.nan
    expected = vesselness(array, (1.5, 2.0), measure, valid_mask=valid, backend="host", **OUTPUTS)
    plain = vesselness(array, (1.5, 2.0), measure, preserve_nan=False, backend="host")

    def refuse(*_):
        raise AssertionError("the host would wait")

    for name in ("first_true", "is_finite"):
        monkeypatch.setattr(ArrayOperations, name, refuse)
    monkeypatch.setattr(type(on_gpu(array)), "__bool__", refuse, raising=False)
    found = vesselness(on_gpu(array), (1.5, 2.0), measure, valid_mask=on_gpu(valid), **OUTPUTS)
    for each, wanted in zip(found, expected, strict=True):
        require_same(each, wanted)
    require_same(vesselness(on_gpu(array), (1.5, 2.0), measure, preserve_nan=False), plain)


def test_wrong_arrays(operations):
    array = on_gpu(np.zeros((8, 8), "f"))

    def refused(error, match, image=array, **parameters):
        with pytest.raises(error, match=match):
            vesselness(image, **{"sigmas": 1.0, **parameters})

    refused(ValueError, "backend is host, and image is in the memory of a GPU", backend="host")
    refused(TypeError, "image has pixels of type complex64", on_gpu(np.zeros((8, 8), "c8")))
    refused(ValueError, "image has 1 axes; it must have 2 or 3", on_gpu(np.zeros(8, "f")))
    refused(ValueError, "each axis must have pixels", on_gpu(np.zeros((0, 8), "f")))
    refused(ValueError, "spacing is 'image' and image is", spacing="image")
    refused(ValueError, "sigmas is", sigmas=())
    refused(ValueError, "valid_mask has the shape", valid_mask=on_gpu(np.ones((8, 9), bool)))
    refused(TypeError, "valid_mask is of type numpy.ndarray; it must be of the package and on the device", valid_mask=np.ones((8, 8)))
    refused(ValueError, "tau is 1.5", measure="jerman", tau=1.5)
    array.requires_grad = True
    refused(BufferError, r"requires a gradient.*call image.detach\(\)")


# arrays of packages whose operations are not known, and device images


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_results_of_exporters_are_device_images(operations, dimension, dtype):
    array = np.random.default_rng(21).standard_normal((9, 10, 11)[:dimension]).astype(dtype)
    for measure in MEASURES:
        given = FakeArray(array.copy())
        found = vesselness(given, (1.0, 2.0), measure, preserve_nan=False, **OUTPUTS)
        expected = vesselness(array, (1.0, 2.0), measure, backend="host", **OUTPUTS)
        for each, wanted, axes in zip(found, expected, (dimension, dimension, dimension + 1), strict=True):
            assert isinstance(each, itk.CudaDeviceImage[{"f": itk.F, "d": itk.D}[dtype], axes])
            np.testing.assert_array_equal(pixels_of(each), wanted)
        np.testing.assert_array_equal(given.array, array)
        assert given.streams == [1] and given.deleted == 1


def test_device_images_keep_their_geometry(operations):
    """Rows of a device image may lie apart."""
    array = np.random.default_rng(22).standard_normal((9, 10, 16)).astype("f")[:, :, :11]
    image = itk_cudafilters.from_dlpack(FakeArray(array))
    image.SetSpacing([0.5, 1.0, 2.0])
    image.SetOrigin([3.0, -4.0, 10.0])
    found = vesselness(image, (1.0, 2.0), spacing="image", preserve_nan=False, **OUTPUTS)
    expected = vesselness(array, (1.0, 2.0), spacing=(2.0, 1.0, 0.5), backend="host", **OUTPUTS)
    for each, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(pixels_of(each), wanted)
    for each in found[:2]:
        assert list(each.GetSpacing()) == [0.5, 1.0, 2.0] and list(each.GetOrigin()) == [3.0, -4.0, 10.0]


def test_exporters_that_are_refused_get_their_memory_back(operations):
    array = np.zeros((8, 9), "f")

    def refused(error, match, *, of=array, **parameters):
        given = FakeArray(of)
        with pytest.raises(error, match=match):
            vesselness(given, **{"sigmas": 1.0, "preserve_nan": False, **parameters})
        assert given.deleted == len(given.streams)

    refused(ValueError, "give preserve_nan=False and no valid_mask", preserve_nan=True)
    refused(ValueError, "give preserve_nan=False and no valid_mask", valid_mask=FakeArray(np.ones((8, 9), bool)))
    refused(TypeError, "of that package they must be float32 or float64", of=array.astype("i2"))
    refused(ValueError, "of that package it must be contiguous", of=array.T)
    refused(ValueError, "image has 4 axes; it must have 2 or 3", of=np.zeros((2, 3, 4, 5), "f"))
    refused(ValueError, "each axis must have pixels", of=np.zeros((0, 9), "f"))
    refused(ValueError, "dtype is float64; .* it must be float32", dtype="float64")
    refused(ValueError, "backend is host", backend="host")
    refused(ValueError, "tau is 2", measure="jerman", tau=2)
    image = itk_cudafilters.from_dlpack(FakeArray(array.astype("i2")))
    with pytest.raises(TypeError, match="pixels of type int16; they must be float32 or float64"):
        vesselness(image, 1.0, preserve_nan=False)


# on a GPU


@LIBRARIES
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("pixel", PIXELS)
def test_libraries_have_the_bits_of_numpy(gpu, library, pixel, measure):
    rng = np.random.default_rng(8)
    for shape in ((20, 33, 41), (48, 64)):
        array = (rng.standard_normal(shape) * 20 + 60).astype(pixel)
        given, back = library(array)
        found = vesselness(given, (1.0, 2.0, 4.0), measure, **OUTPUTS)
        expected = vesselness(array, (1.0, 2.0, 4.0), measure, backend="cuda", **OUTPUTS)
        for each, wanted in zip(found, expected, strict=True):
            assert type(each) is type(given)
            np.testing.assert_array_equal(back(each), wanted)


@pytest.mark.parametrize("threads", [1, 8])
@LIBRARIES
def test_random_calls_of_libraries(gpu, library, threads):
    """200 calls; with eight threads each on a stream of its own."""

    def run(seed, count):
        rng = np.random.default_rng(seed)
        for _ in range(count):
            array, valid, parameters = make_call(rng, 60)
            given, back = library(array)
            mask = None if valid is None else library(valid)[0]
            found = vesselness(given, valid_mask=mask, **parameters)
            with np.errstate(invalid="ignore"):
                expected = vesselness(array, valid_mask=valid, backend="cuda", **parameters)
            for each, wanted in zip(map(back, found), expected, strict=True):
                same = (each == wanted) | (np.isnan(each) & np.isnan(wanted))
                assert same.all(), f"{(~same).sum()} of {array.dtype}, {array.shape}, {parameters}"

    def run_on_stream(seed):
        with stream_of(library):
            run(seed, 200 // threads)

    run_in_threads(run_on_stream, range(threads))


@pytest.mark.parametrize("measure", ["frangi", "jerman", "sato"])
def test_torch_on_a_stream_that_is_held_back(gpu, measure):
    """An image that is written late on the stream, and overwritten behind the call."""
    torch = pytest.importorskip("torch")
    pixels = torch.rand((64, 70, 80), device="cuda")
    expected = vesselness(pixels, (1.0, 2.0), measure, preserve_nan=False, **OUTPUTS)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        tensor = torch.full_like(pixels, math.nan)
        torch.cuda._sleep(200_000_000)
        tensor.copy_(pixels)
        found = vesselness(tensor, (1.0, 2.0), measure, preserve_nan=False, **OUTPUTS)
        waited = torch.cuda.current_stream().query()
        tensor.fill_(math.nan)
        del tensor
        torch.full_like(pixels, math.nan)
        assert not waited, "the call waited for the stream"
        assert all(torch.equal(each, wanted) for each, wanted in zip(found, expected, strict=True))


def test_torch_graphs_and_gradients_are_refused(gpu):
    torch = pytest.importorskip("torch")
    tensor = torch.zeros((64, 64), device="cuda")
    vesselness(tensor, 2.0)
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="recorded for a CUDA graph"), torch.cuda.graph(graph):
        vesselness(tensor, 2.0, preserve_nan=False)
    with pytest.raises(BufferError, match="detach"):
        vesselness(tensor.clone().requires_grad_(), 2.0)


def test_device_images_on_a_gpu(gpu):
    array = np.random.default_rng(9).standard_normal((20, 21, 23)).astype("f")
    image = itk_cudafilters.to_device(array)
    found = vesselness(image, (1.0, 2.0), preserve_nan=False, **OUTPUTS)
    expected = vesselness(array, (1.0, 2.0), backend="cuda", **OUTPUTS)
    for each, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(itk.array_from_image(itk_cudafilters.to_host(each)), wanted)

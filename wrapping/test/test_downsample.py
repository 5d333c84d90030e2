# SPDX-License-Identifier: Apache-2.0
"""Downsampling for ngff-zarr's pyramids: the pixels and the geometry of itkwasm's WebAssembly and of a formula, the entry point
by which itkwasm finds it, and what is refused."""
import importlib.metadata
import math
import subprocess
import sys

import numpy as np
import pytest

itkwasm = pytest.importorskip("itkwasm")
itkwasm_downsample = pytest.importorskip("itkwasm_downsample")
itkwasm_downsample_wasi = pytest.importorskip("itkwasm_downsample_wasi")

from itk_cudafilters import _downsample  # noqa: E402
from itk_cudafilters._downsample import downsample  # noqa: E402

SEED = 20261201
GROUP = "itkwasm_downsample.downsample"
needs_entry_point = pytest.mark.skipif(
    not any(each.value.startswith("itk_cudafilters") for each in importlib.metadata.entry_points(group=GROUP)),
    reason="the package is not installed, so that it has no entry points",
)


def image_of(pixels, generator=None, components=False):
    """An image, whose spacing, origin and directions are random if there is a generator."""
    image = itkwasm.image_from_array(pixels, is_vector=components)
    if generator is not None:
        dimension = image.imageType.dimension
        image.spacing = (generator.random(dimension) + 0.5).tolist()
        image.origin = (generator.random(dimension) * 100 - 50).tolist()
        image.direction = np.linalg.qr(generator.random((dimension, dimension)))[0]
    return image


def pixels_of(generator, shape, dtype):
    """Random pixels over the whole range of small types, with negative ones where there are any."""
    if np.dtype(dtype).kind == "f":
        return (generator.standard_normal(shape) * 1000).astype(dtype)
    range = np.iinfo(dtype)
    return generator.integers(max(range.min, -(2**20)), min(range.max, 2**20), shape, dtype, endpoint=True)


def require_equal(found, expected):
    """One grey level, or rounding of the sums; the place in space is the same."""
    assert found.imageType == expected.imageType and list(found.size) == list(expected.size)
    for name in ("origin", "spacing", "direction"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, atol=1e-10)
    assert found.data.dtype == expected.data.dtype and found.data.shape == expected.data.shape
    wide = found.data.astype(float) - expected.data.astype(float)
    largest = np.abs(expected.data.astype(float)).max(initial=1.0)
    assert np.abs(wide).max(initial=0.0) <= (1.0 if found.data.dtype.kind != "f" else 1e-6 * largest)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64"])
def test_pixels_and_geometry_are_those_of_the_webassembly(dtype):
    """Random shapes of two to four axes, factors of 1 to 5, crops and directions."""
    generator = np.random.default_rng([SEED, len(dtype), np.dtype(dtype).num])
    for dimension in (2, 2, 3, 3, 4):
        shape = tuple(int(each) for each in generator.integers(9, {2: 90, 3: 30, 4: 14}[dimension], dimension))
        image = image_of(pixels_of(generator, shape, dtype), generator)
        for factor in (2, 4, None):
            factors = [factor] * dimension if factor else generator.integers(1, 6, dimension).tolist()
            crop = None if generator.random() < 0.3 else generator.integers(0, 4, dimension).tolist()
            print(f"seed {SEED}: {shape} {factors} {crop}")
            given = {"shrink_factors": factors, "crop_radius": crop}
            require_equal(downsample(image, **given), itkwasm_downsample_wasi.downsample(image, **given))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32", "float64"])
def test_components_are_images_of_their_own(dtype):
    generator = np.random.default_rng([SEED, np.dtype(dtype).num])
    for shape in ((31, 40, 3), (12, 17, 20, 2)):
        image = image_of(pixels_of(generator, shape, dtype), generator, components=True)
        given = {"shrink_factors": [2, 3, 4][: len(shape) - 1], "crop_radius": [2, 0, 1][: len(shape) - 1]}
        found = downsample(image, **given)
        require_equal(found, itkwasm_downsample_wasi.downsample(image, **given))
        for component in range(shape[-1]):
            alone = downsample(image_of(np.ascontiguousarray(image.data[..., component])), **given)
            np.testing.assert_array_equal(found.data[..., component], alone.data)


def test_floats_in_the_order_of_a_gpu(monkeypatch):
    """All axes smoothed before the first one is interpolated, which is done where a GPU is, gives the same but for rounding."""
    generator = np.random.default_rng(SEED)
    for shape in ((61, 83), (22, 31, 40), (9, 10, 11, 12)):
        image = image_of(pixels_of(generator, shape, "float32"), generator)
        given = {"shrink_factors": generator.integers(1, 5, len(shape)).tolist(), "crop_radius": [1] * len(shape)}
        expected = itkwasm_downsample_wasi.downsample(image, **given)
        for order in (True, False):
            monkeypatch.setattr(_downsample, "gpu_is_default", lambda order=order: order)
            require_equal(downsample(image, **given), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32"])
def test_integers_are_equal_where_centres_are_pixels(dtype):
    """Passes truncate as ITK's do, to the bit. With odd factors nothing is interpolated, and with spacing 1 ITK's places in the
    input are whole numbers."""
    generator = np.random.default_rng([SEED, np.dtype(dtype).num, 1])
    for shape, factors in (((61, 83), [3, 5]), ((22, 31, 40), [5, 1, 3]), ((9, 10, 11, 12), [3, 3, 3, 3])):
        image = image_of(pixels_of(generator, shape, dtype))
        expected = itkwasm_downsample_wasi.downsample(image, shrink_factors=factors)
        np.testing.assert_array_equal(downsample(image, factors).data, expected.data)


def test_formula():
    """Lindeberg's discrete Gaussian exp(-t) I_n(t), cut off where 99 % are reached, and the mean at the centres of bins."""
    ndimage, special = pytest.importorskip("scipy.ndimage"), pytest.importorskip("scipy.special")
    generator = np.random.default_rng(SEED)
    for shape, factors, radius in (((40, 53), (2, 5), 0), ((25, 31, 22), (4, 2, 3), 1), ((120, 3001), (11, 16), 2)):
        values = generator.standard_normal(shape)
        expected = values
        for axis, factor in enumerate(factors):
            variance = (factor**2 - 1) / (8 * math.log(2))
            half = special.ive(np.arange(60), variance)
            reach = int(np.argmax(2 * np.cumsum(half) - half[0] >= 0.99))
            weights = np.concatenate([half[reach:0:-1], half[: reach + 1]])
            expected = ndimage.convolve1d(expected, weights / weights.sum(), axis, mode="nearest")
        sizes = [(length - 2 * radius) // factor for length, factor in zip(shape, factors)]
        places = np.meshgrid(*(radius + (f - 1) / 2 + f * np.arange(n) for n, f in zip(sizes, factors)), indexing="ij")
        expected = ndimage.map_coordinates(expected, places, order=1)
        found = downsample(image_of(values), factors[::-1], [radius] * len(shape)).data
        np.testing.assert_allclose(found, expected, atol=2e-6)


def test_constants_layouts_and_pixels_that_are_nan():
    generator = np.random.default_rng(SEED)
    constant = downsample(image_of(np.full((30, 40), 7.25, np.float32)), [2, 2]).data
    np.testing.assert_allclose(constant, 7.25, rtol=1e-6)
    values = generator.random((20, 24, 28)).astype(np.float32)
    whole = downsample(image_of(values), [2, 2, 2]).data
    for other in (np.asfortranarray(values), np.repeat(values, 2, axis=2)[:, :, ::2], np.flip(np.flip(values).copy()), values.astype(">f4")):
        image = image_of(values)
        image.data = other
        np.testing.assert_array_equal(downsample(image, [2, 2, 2]).data, whole)
    values[10, 12, 14] = np.nan
    image = image_of(values)
    found, expected = downsample(image, [2, 2, 2]).data, itkwasm_downsample_wasi.downsample(image, shrink_factors=[2, 2, 2]).data
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    read_only = generator.random((20, 24)).astype(np.float32)
    read_only.flags.writeable = False
    before = read_only.copy()
    assert downsample(image_of(read_only), [1, 1]).data is not read_only and (read_only == before).all()


def test_what_is_left_to_the_webassembly():
    """64-bit integers, and four axes with components."""
    generator = np.random.default_rng(SEED)
    for pixels, components in ((generator.integers(0, 1000, (20, 24)), False), (pixels_of(generator, (8, 9, 10, 11, 2), "float32"), True)):
        image = image_of(pixels, components=components)
        factors = [2] * image.imageType.dimension
        found, expected = downsample(image, factors), itkwasm_downsample_wasi.downsample(image, shrink_factors=factors)
        np.testing.assert_array_equal(found.data, expected.data)


def test_what_is_refused():
    image = image_of(np.ones((20, 24), np.float32))
    for message, arguments in (
        (r"shrink_factors is \[2\]; it must have 2 values, one for each axis", {"shrink_factors": [2]}),
        (r"shrink_factors is \[\]; it must have 2 values", {}),
        (r"crop_radius is \[1, 2, 3\]; it must have 2 values", {"shrink_factors": [2, 2], "crop_radius": [1, 2, 3]}),
        ("shrink_factors is 0", {"shrink_factors": [0, 2]}),
        ("crop_radius is -1", {"shrink_factors": [2, 2], "crop_radius": [-1, 0]}),
    ):
        with pytest.raises(ValueError, match=message):
            downsample(image, **arguments)
    with pytest.raises(TypeError, match="shrink_factors is 1.5"):
        downsample(image, [1.5, 2])
    for arguments in ({"shrink_factors": [30, 2]}, {"shrink_factors": [2, 2], "crop_radius": [13, 0]}):
        found = downsample(image, **arguments)
        assert found.data.size == 0 and list(found.size) == list(itkwasm_downsample_wasi.downsample(image, **arguments).size)


def test_the_module_does_not_import_itk():
    program = "import sys, itk_cudafilters._downsample; sys.exit('itk' in sys.modules or 'itkwasm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.fixture
def factory():
    """The function factory of itkwasm, which has found the function, and gets its priority back."""
    factory = itkwasm.function_factory
    factory.lookup("itkwasm_downsample", "downsample")
    yield factory
    factory.set_priority(downsample, 10)


@needs_entry_point
def test_itkwasm_finds_the_function_and_turns_it_off(factory):
    assert itkwasm.environment_dispatch("itkwasm_downsample", "downsample") is downsample
    assert factory.get_priority(downsample) == 10
    factory.disable("itkwasm_downsample", "downsample")
    assert itkwasm.environment_dispatch("itkwasm_downsample", "downsample") is itkwasm_downsample_wasi.downsample


@needs_entry_point
@pytest.mark.parametrize(
    "dims, shape, dtype",
    [
        ("yx", (301, 422), "uint16"),
        ("yx", (512, 300), "uint8"),
        ("zyx", (61, 150, 97), "int16"),
        ("zyx", (140, 130, 135), "float32"),
        ("zyxc", (33, 80, 70, 3), "uint8"),
        ("tcyx", (2, 2, 90, 140), "uint16"),
    ],
)
def test_pyramids_of_ngff_zarr(monkeypatch, factory, dims, shape, dtype):
    """The same call before and after: one grey level at the first scale, and at each further one, which is made from the one
    before, one more; equal metadata and tasks. The pixels of a pyramid are all made by the function."""
    ngff_zarr = pytest.importorskip("ngff_zarr")
    generator = np.random.default_rng([SEED, len(shape), shape[0]])
    values = pixels_of(generator, shape, dtype)
    scale = {dim: 0.5 + i for i, dim in enumerate(dims) if dim in "zyx"}
    calls = []

    def make():
        image = ngff_zarr.to_ngff_image(values, dims=dims, scale=scale, translation=dict.fromkeys(scale, 10.0))
        made = ngff_zarr.to_multiscales(image, scale_factors=[2, 4], chunks=64, cache=False)
        return made, [np.asarray(each.data.compute(scheduler="synchronous")) for each in made.images]

    run = itkwasm_downsample_wasi.downsample
    monkeypatch.setattr(itkwasm_downsample_wasi, "downsample", lambda *given, **named: calls.append(0) or run(*given, **named))
    found, pixels = make()
    assert not calls
    factory.disable("itkwasm_downsample", "downsample")
    expected, expected_pixels = make()
    assert calls
    assert found.metadata == expected.metadata
    for number, (each, other) in enumerate(zip(found.images, expected.images, strict=True)):
        assert (each.scale, each.translation, each.data.chunks) == (other.scale, other.translation, other.data.chunks)
        assert len(dict(each.data.__dask_graph__())) == len(dict(other.data.__dask_graph__()))
        apart = np.abs(pixels[number].astype(float) - expected_pixels[number].astype(float)).max()
        assert apart <= (number if values.dtype.kind != "f" else 1e-2), f"seed {SEED}, scale {number}"


@needs_entry_point
def test_command_of_ngff_zarr(tmp_path):
    """The command, in a process of its own, writes what the function makes."""
    ngff_zarr, tifffile = pytest.importorskip("ngff_zarr"), pytest.importorskip("tifffile")
    values = pixels_of(np.random.default_rng(SEED), (700, 900), "uint16")
    tifffile.imwrite(tmp_path / "in.tif", values)
    program = "import sys; from ngff_zarr.cli import main; main(); sys.exit('itk_cudafilters._downsample' not in sys.modules)"
    names = ["-i", str(tmp_path / "in.tif"), "-o", str(tmp_path / "out.ome.zarr"), "-q", "--input-backend", "tifffile"]
    done = subprocess.run([sys.executable, "-c", program, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    made = ngff_zarr.to_multiscales(ngff_zarr.to_ngff_image(values, dims="yx")).images
    written = ngff_zarr.from_ngff_zarr(str(tmp_path / "out.ome.zarr")).images
    assert len(written) == len(made) > 1
    for each, other in zip(written, made, strict=True):
        np.testing.assert_array_equal(each.data.compute(), other.data.compute())

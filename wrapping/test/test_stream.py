# SPDX-License-Identifier: Apache-2.0
"""itk_cudafilters.stream: planes from any source to any target, against scipy in float64."""
import inspect
import threading
import traceback

import numpy as np
import pytest

import itk_cudafilters
from itk_cudafilters import _planes, _slabs, stream
from itk_cudafilters._parameters import bytes_of

pytestmark = pytest.mark.usefixtures("host_allowed")
ndimage = pytest.importorskip("scipy.ndimage")

FUNCTIONS = {name: getattr(stream, name) for name in stream.__all__ if name.startswith("gaussian")}
# As in test_gaussian_functions.py: of scipy's results, relative to the largest value, by order.
BOUND = (2e-5, 2e-4, 1e-3)
SHAPE = (300, 14, 17)
# All of a line counts where the window is longer than three chunks of 128 planes.
LONG = (700, 6, 7)
WIDE = 60.0


class Planes:
    """What h5py and zarr have in common: shape, dtype and slices by whole planes, which are copies."""

    def __init__(self, array):
        self._array = array
        self.shape = array.shape
        self.dtype = array.dtype
        self.read = []
        self.written = []

    def __getitem__(self, planes):
        self.read.append(self._range_of(planes))
        return self._array[planes].copy()

    def __setitem__(self, planes, values):
        self.written.append(self._range_of(planes))
        self._array[planes] = values

    @staticmethod
    def _range_of(planes):
        """The range of the planes, whose item of a batch may be given before it."""
        *item, planes = planes if isinstance(planes, tuple) else (planes,)
        assert all(isinstance(index, int) for index in item) and isinstance(planes, slice) and planes.step is None
        return planes.start, planes.stop


class Keeping(Planes):
    """A target that keeps what it is given, and looks at it later."""

    def __init__(self, array):
        super().__init__(array)
        self.kept = []

    def __setitem__(self, planes, values):
        self.kept.append((planes, values))


def volume(shape=SHAPE, dtype=np.float32, seed=20261124):
    print(f"seed {seed}")
    return (np.random.default_rng(seed).random(shape) * 200).astype(dtype)


def smooth(source, sigma=2.0, dtype=np.float32, **arguments):
    target = np.full(source.shape, np.nan, dtype) if np.dtype(dtype).kind == "f" else np.full(source.shape, 77, dtype)
    stream.gaussian_filter(source, target, sigma, mode=arguments.pop("mode", "nearest"), **arguments)
    return target


def deviation(result, expected):
    return abs(np.asarray(result, np.float64) - expected).max() / abs(expected).max()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_are_those_of_the_function_of_arrays(name):
    ours = inspect.signature(FUNCTIONS[name]).parameters
    theirs = inspect.signature(getattr(itk_cudafilters, name)).parameters
    own = ["memory_limit", "devices", "progress", "scheduler", "slab_planes", "timeout"]
    assert list(ours)[:2] == ["source", "target"] and list(ours)[-6:] == own
    assert {key: ours[key].default for key in list(ours)[2:-6]} == {
        key: theirs[key].default for key in theirs if key not in ("input", "output")
    }


@pytest.mark.parametrize("order", [0, 1, 2, (1, 0, 0), (0, 2, 1)])
def test_filter_is_that_of_scipy(order):
    values = volume()
    expected = ndimage.gaussian_filter(values.astype(np.float64), 2.5, order, mode="nearest", truncate=8.0)
    assert deviation(smooth(values, 2.5, order=order), expected) < BOUND[np.max(order)]


@pytest.mark.parametrize("sigma", [2.0, 40.0])
def test_magnitude_and_laplacian_are_those_of_scipy(sigma):
    values = volume()
    values[140:150] += 500.0
    exact = values.astype(np.float64)
    result = np.empty(SHAPE, np.float32)
    stream.gaussian_gradient_magnitude(values, result, sigma, mode="nearest")
    assert deviation(result, ndimage.gaussian_gradient_magnitude(exact, sigma, mode="nearest", truncate=8.0)) < BOUND[1]
    stream.gaussian_laplace(values, result, sigma, mode="nearest")
    assert deviation(result, ndimage.gaussian_laplace(exact, sigma, mode="nearest", truncate=8.0)) < BOUND[2]


def test_spacing_gives_units():
    values = volume()
    result = np.empty(SHAPE, np.float32)
    stream.gaussian_gradient_magnitude(values, result, 4.0, mode="nearest", spacing=(2.0, 2.0, 2.0))
    expected = ndimage.gaussian_gradient_magnitude(values.astype(np.float64), 2.0, mode="nearest", truncate=8.0) / 2.0
    assert deviation(result, expected) < BOUND[1]
    assert deviation(smooth(values, 4.0, order=1, spacing=2.0), smooth(values, 2.0, order=1).astype(np.float64) / 8.0) < 1e-6


def test_axes_that_are_left_out_stay():
    values = volume()
    for sigma, axes in (((0, 2, 2), None), ((2, 2), (1, 2)), (3.0, 0), ((3, 0, 1), None)):
        full = list(sigma) if np.ndim(sigma) else [sigma]
        every = full if axes is None else [dict(zip(np.atleast_1d(axes), full)).get(axis, 0) for axis in range(3)]
        expected = ndimage.gaussian_filter(values.astype(np.float64), every, mode="nearest", truncate=8.0)
        assert deviation(smooth(values, sigma, axes=axes), expected) < BOUND[0]
    assert (smooth(values, 0.0) == values).all()


@pytest.mark.parametrize("shape", [(1, 40, 50), (1, 1, 50), (1, 40, 1), (1, 1, 1), (1, 1, 30, 20), (1, 50), (1, 1)])
@pytest.mark.parametrize("dtype", ["float32", "uint16", "float16"])
def test_an_image_of_one_plane(shape, dtype):
    """The source is asked for the plane that it has, and the target gets it in one piece. Against scipy in float64."""
    source, target = Planes(volume(shape, dtype)), Planes(np.full(shape, np.nan, np.float32))
    exact = source._array.astype(np.float64)
    for sigma, order in (((0, *[2.5] * (len(shape) - 1)), 0), ((0,) * (len(shape) - 1) + (2.0,), (*[0] * (len(shape) - 1), 1))):
        source.read, target.written = [], []
        report = stream.gaussian_filter(source, target, sigma, order, mode="nearest")
        expected = ndimage.gaussian_filter(exact, sigma, order, mode="nearest", truncate=8.0)
        bound = BOUND[np.max(order)] * abs(exact).max()
        np.testing.assert_allclose(target._array, expected, rtol=0.0, atol=bound)
        assert source.read == [(0, 1)] and target.written == [(0, 1)] and report["used"] == "OneSweep"
    if len(shape) > 2:
        stream.gaussian_gradient_magnitude(source, target, 2.5, mode="nearest", axes=tuple(range(1, len(shape))))
        expected = ndimage.gaussian_gradient_magnitude(exact[0], 2.5, mode="nearest", truncate=8.0)
        np.testing.assert_allclose(target._array[0], expected, rtol=0.0, atol=BOUND[1] * abs(exact).max())
    channels = np.stack([exact, 2.0 * exact], axis=-1)
    result = np.empty(channels.shape, np.float32)
    stream.gaussian_filter(channels, result, (0, *[2.5] * (len(shape) - 1)), mode="nearest", channel_axis=-1)
    expected = ndimage.gaussian_filter(channels, (0, *[2.5] * (len(shape) - 1), 0), mode="nearest", truncate=8.0)
    np.testing.assert_allclose(result, expected, rtol=0.0, atol=BOUND[0] * abs(channels).max())


def test_pixels_that_are_not_finite_in_an_image_of_one_plane():
    values = volume((1, 20, 30))
    values[0, 3, 4] = np.inf
    with pytest.raises(ValueError, match="plane 0 of source has pixels that are NaN or infinite"):
        stream.gaussian_filter(values, np.empty_like(values), (0, 2, 2), mode="nearest")


def test_source_and_target_may_lie_between_each_other():
    """No pixel of one is a pixel of the other, though their memory overlaps."""
    both = volume((20, 14, 17, 2))
    expected = smooth(both[..., 0].copy())
    stream.gaussian_filter(both[..., 0], both[..., 1], 2.0, mode="nearest")
    assert both[..., 1].tobytes() == expected.tobytes()
    pixels = volume((20, 14, 17))
    for target in (pixels, pixels[::-1], pixels.T.T, pixels.view(np.uint8)[..., ::4]):
        with pytest.raises(ValueError, match="target and source have the same memory"):
            stream.gaussian_filter(pixels, target, 2.0, mode="nearest")


@pytest.mark.parametrize("dtype", ["int64", "uint64", "bool"])
def test_targets_of_other_integers(dtype):
    """As itk_cudafilters.gaussian_filter() converts: towards 0, within the range. Planes that are copied keep all digits."""
    source = volume((9, 14, 17), np.float64) - 50.0
    for sigma in (2.0, (0, 2, 2), 0.0):
        for values in (source, source[:1]):
            kept = Keeping(np.empty(values.shape, dtype))
            stream.gaussian_filter(values, kept, sigma if np.ndim(sigma) == 0 else sigma, mode="nearest")
            result = np.concatenate([planes for _, planes in kept.kept])
            exact = np.empty(values.shape)
            stream.gaussian_filter(values, exact, sigma, mode="nearest")
            limits = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, 1000)
            np.testing.assert_array_equal(result, np.clip(np.trunc(exact), *limits).astype(dtype))
            assert result.dtype == dtype
    large = np.full((2, 3, 4), 2**60 + 1, "int64")
    np.testing.assert_array_equal(smooth(large, 0.0, "int64"), large)


def test_channels_are_filtered_by_themselves():
    values = volume((260, 9, 11, 3))
    result = smooth(values, 1.5, channel_axis=-1)
    for channel in range(3):
        assert (result[..., channel] == smooth(np.ascontiguousarray(values[..., channel]), 1.5)).all()


@pytest.mark.parametrize("shape", [(700, 31), (5, 40, 6), (260, 3, 4, 5)])
def test_images_of_two_to_four_axes(shape):
    values = volume(shape)
    expected = ndimage.gaussian_filter(values.astype(np.float64), 1.5, mode="nearest", truncate=8.0)
    assert deviation(smooth(values, 1.5), expected) < BOUND[0]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "int64", "float16", "float32", "float64"])
def test_types_of_pixels(dtype):
    values = (volume() / 2).astype(dtype)
    exact = ndimage.gaussian_filter(values.astype(np.float64), 2.0, mode="nearest", truncate=8.0)
    assert deviation(smooth(values, dtype=np.float64), exact) < BOUND[0]
    if dtype not in ("int64", "float16", "float32", "float64"):
        result = smooth(values, dtype=dtype)
        assert result.dtype == dtype and abs(result - exact).max() < 1.01  # truncated towards 0
        assert (result == np.trunc(smooth(values, dtype=np.float64))).mean() > 0.999


def test_every_kind_of_source_and_target_gives_the_same_bits(tmp_path):
    values = volume(LONG)
    for sigma, times in ((2.0, 1), (WIDE, 2)):
        expected = smooth(values, sigma)
        source, target = Planes(values), Planes(np.zeros(LONG, np.float32))
        stream.gaussian_filter(source, target, sigma, mode="nearest")
        assert (target._array == expected).all()
        counts = np.zeros(LONG[0], int)
        for first, last in source.read:
            counts[first:last] += 1
        assert (counts == times).all()
        assert target.written == sorted(target.written) and target.written[0][0] == 0 and target.written[-1][1] == LONG[0]
    on_disk = np.memmap(tmp_path / "planes", np.float32, "w+", shape=LONG)
    stream.gaussian_filter(np.asfortranarray(values), on_disk, WIDE, mode="nearest")
    assert (on_disk == expected).all()
    strided = np.zeros((LONG[0], LONG[1], 2 * LONG[2]), np.float32)
    stream.gaussian_filter(values[:, ::-1][:, ::-1], strided[:, :, ::2], WIDE, mode="nearest")
    assert (strided[:, :, ::2] == expected).all() and (strided[:, :, 1::2] == 0).all()


def test_a_target_may_keep_what_it_gets():
    values = volume()
    target = Keeping(np.zeros(SHAPE, np.float32))
    stream.gaussian_filter(values, target, 2.0, mode="nearest")
    assert (np.concatenate([pixels for _, pixels in target.kept]) == smooth(values)).all()


def test_report():
    values, target = volume(), np.empty(SHAPE, np.float32)
    report = stream.gaussian_filter(values, target, 2.0, mode="nearest", backend="host")
    assert report["used"] == "OneSweep" and report["on_host"] and report["backend_used"] == "host"
    assert report["number_of_slabs"] == 3 and report["look_ahead"] == 1 and report["backend_reason"]
    long = volume(LONG)
    report = stream.gaussian_filter(long, np.empty_like(long), WIDE, mode="nearest", backend="host")
    assert report["used"] == "TwoSweeps" and report["number_of_slabs"] == 6


def test_progress_rises_to_one():
    shares = []
    values = volume()
    stream.gaussian_filter(values, np.empty(SHAPE, np.float32), 2.0, mode="nearest", progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) > 2


class Broken(Exception):
    pass


class Breaking(Planes):
    def __getitem__(self, planes):
        if planes.stop > 200:
            raise Broken(f"plane {planes.start}")
        return super().__getitem__(planes)

    def __setitem__(self, planes, values):
        if planes.stop > 200:
            raise Broken(f"result {planes.start}")
        super().__setitem__(planes, values)


@pytest.mark.parametrize("sigma", [2.0, WIDE])
def test_exceptions_travel_and_the_next_run_is_right(sigma):
    values = volume(LONG)
    expected = smooth(values, sigma)
    target = np.empty(LONG, np.float32)

    def stop(share):
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(Broken, match="plane 128") as caught:
        stream.gaussian_filter(Breaking(values), target, sigma, mode="nearest")
    text = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "__getitem__" in text  # and the memory of the planes, which is gone, is not read
    with pytest.raises(Broken, match="result 128"):
        stream.gaussian_filter(values, Breaking(np.zeros(LONG, np.float32)), sigma, mode="nearest")
    with pytest.raises(KeyboardInterrupt):
        stream.gaussian_filter(values, target, sigma, mode="nearest", progress=stop)
    assert (smooth(values, sigma) == expected).all()


def test_other_threads_run_meanwhile():
    values = volume((1500, 60, 60))
    counts, stopped = [0], threading.Event()

    def count():
        while not stopped.is_set():
            counts[0] += 1

    seen = []
    thread = threading.Thread(target=count)
    thread.start()
    try:
        stream.gaussian_filter(
            values, np.empty_like(values), 2.0, mode="nearest", progress=lambda share: seen.append(counts[0])
        )
    finally:
        stopped.set()
        thread.join()
    assert seen[-1] > seen[0]


def test_threads_run_at_the_same_time():
    values = volume()
    expected = [smooth(values, 2.0 + i) for i in range(4)]
    results = [np.empty(SHAPE, np.float32) for _ in range(4)]
    threads = [
        threading.Thread(target=stream.gaussian_filter, args=(Planes(values), results[i], 2.0 + i), kwargs={"mode": "nearest"})
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((results[i] == expected[i]).all() for i in range(4))


def test_constant_values_beyond_the_ends():
    """As of arrays: smoothed with any value, and derivatives with 0 or along one axis."""
    values = volume()
    found = np.empty(SHAPE, np.float32)
    for options in ({"cval": -20.0}, {"cval": 0.0, "order": (1, 0, 2)}, {"cval": -20.0, "sigma": (0, 2.0, 0), "order": (0, 1, 0)}):
        options = {"sigma": 2.0, "mode": "constant", **options}
        stream.gaussian_filter(values, found, **options)
        wanted = itk_cudafilters.gaussian_filter(values.astype(np.float64), **options)
        assert deviation(found, wanted) < BOUND[max(options.get("order", (0,)))], options


def refused(message, source=None, target=None, sigma=2.0, error=ValueError, **arguments):
    source = volume() if source is None else source
    target = np.empty(getattr(source, "shape", SHAPE), np.float32) if target is None else target
    with pytest.raises(error, match=message):
        stream.gaussian_filter(source, target, sigma, **{"mode": "nearest", **arguments})


@pytest.mark.parametrize("measure, options", [("objectness", {}), ("frangi", {"gamma": 3.0}), ("sato", {"bright": False}), ("jerman", {})])
@pytest.mark.parametrize("dtype", ["uint16", "float64"])
def test_vesselness_is_that_of_arrays(measure, options, dtype):
    """To the bit in the mode nearest. Other modes continue the image by planes and are equal within rounding."""
    values = volume((300, 11, 13), dtype)
    values[:, 4:7, 5:8] += 300
    for mode in ("nearest", "reflect"):
        for sigmas in ((1.0, 2.5), (1.5, 50.0)):
            expected = itk_cudafilters.vesselness(values, sigmas, measure, mode=mode, backend="host", **options)
            found = np.full(values.shape, np.nan, expected.dtype)
            source = Planes(values)
            report = stream.vesselness(source, found, sigmas, measure, mode=mode, backend="host", **options)
            bound = 0.0 if mode == "nearest" else 1e-4 * abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=bound)
            assert report["backend_used"] == "host"
    items = np.stack([values, values[::-1]])
    found = np.empty(items.shape, np.float64)
    stream.vesselness(items, found, 2.0, measure, axes=(1, 2, 3), backend="host", **options)
    for item, of in zip(found, items):
        alone = np.empty(of.shape)
        stream.vesselness(of, alone, 2.0, measure, backend="host", **options)
        np.testing.assert_array_equal(item, alone)


def test_vesselness_of_what_slabs_cannot():
    values, target = volume(), np.empty(SHAPE, np.float32)
    for message, arguments in (
        ("mode is 'wrap'", {"mode": "wrap"}),
        ("axes is .0, 1.; in slabs it must be the last axes", {"axes": (0, 1)}),
        ("source has 1 axes; it must have 2 or 3", {"axes": 2}),
        ("sigmas is -1", {"sigmas": -1}),
        ("timeout is 3.0, and scheduler is not given", {"timeout": 3}),
    ):
        with pytest.raises(ValueError, match=message):
            stream.vesselness(values, target, **{"sigmas": 2.0, **arguments})


TENSORS = ("structure_tensor", "structure_tensor_eigenvalues")


@pytest.mark.parametrize("dtype", ["uint8", "float32", "int32", "float64"])
@pytest.mark.parametrize("name", TENSORS)
def test_structure_tensors_are_those_of_arrays(name, dtype):
    """To the bit, of two and three axes, from one chunk of planes to several, with windows of one to three chunks of either
    Gaussian; and of axes that count items."""
    generator = np.random.default_rng([7, len(name), np.dtype(dtype).num])
    for shape in ((300, 11, 13), (int(generator.integers(4, 128)), 9, 10), (520, 14)):
        values = (generator.random(shape) * 200).astype(dtype)
        for sigma, integration_sigma in ((1.0, 2.0), (20.0, 7.5), (6.0, 30.0 if dtype in ("uint8", "float32") else 12.0)):
            spacing = (1.0, 0.5, 2.0)[: len(shape)]
            given = {"sigma": sigma, "integration_sigma": integration_sigma, "spacing": spacing, "backend": "host"}
            expected = getattr(itk_cudafilters, name)(values, **given)
            found = np.full(expected.shape, np.nan, expected.dtype)
            shares = []
            report = getattr(stream, name)(Planes(values), found, progress=shares.append, **given)
            np.testing.assert_array_equal(found, expected, err_msg=f"{shape} {sigma} {integration_sigma}")
            assert report["backend_used"] == "host" and shares == sorted(shares) and shares[-1] == 1.0
    items = (generator.random((2, 140, 8, 9)) * 200).astype(dtype)
    found = np.empty((*items.shape, 6 if name == TENSORS[0] else 3))
    getattr(stream, name)(items, found, axes=(1, 2, 3), backend="host")
    for item, of in zip(found, items):
        np.testing.assert_array_equal(item, getattr(itk_cudafilters, name)(of, dtype="float64", backend="host"))


def test_structure_tensors_in_groups_of_planes(monkeypatch):
    """Groups of one chunk, which keep what the next one needs, have the bits of one group, and read each plane once but the first,
    with which all lines begin."""
    values = volume((700, 5, 6))
    expected = itk_cudafilters.structure_tensor(values, 2.0, 3.0, backend="host")
    monkeypatch.setattr(_slabs, "_GROUP_BYTES", 1)
    source = Planes(values)
    found = np.empty(expected.shape, np.float32)
    stream.structure_tensor(source, found, 2.0, 3.0, backend="host")
    np.testing.assert_array_equal(found, expected)
    assert sorted(plane for first, last in source.read for plane in range(first, last)) == [0, *range(700)]


def test_structure_tensors_of_what_slabs_cannot():
    values, target = volume((700, 14, 17)), np.empty((700, 14, 17, 6), np.float32)
    for message, arguments in (
        ("sigma is 100.0, which reaches further than three chunks of 128 planes", {"sigma": 100}),
        ("integration_sigma is 60.0, which reaches further than three chunks of 128 planes", {"integration_sigma": 60}),
        ("target has the shape .700, 14, 17.; it must be that of source, followed by 6 components", {"target": np.empty(values.shape, np.float32)}),
        ("axes is .0, 1.; in slabs it must be the last axes", {"axes": (0, 1)}),
        ("source has the shape .3, 14, 17.; each axis must have 4 pixels or more", {"source": values[:3]}),
        ("timeout is 3.0, and scheduler is not given", {"timeout": 3}),
    ):
        given = {"source": values, "target": target, **arguments}
        with pytest.raises(ValueError, match=message):
            stream.structure_tensor(given.pop("source"), given.pop("target"), **given)
    values[200, 3, 4] = np.nan
    with pytest.raises(ValueError, match="plane 200 of source has pixels that are NaN or infinite"):
        stream.structure_tensor(values, target, backend="host")


def test_what_is_refused_is_told_in_words():
    values = volume()
    refused("mode is 'wrap', which needs the last plane before the first", mode="wrap")
    refused("mode is 'wrap'", mode="grid-wrap")
    refused("in slabs it must be one for all axes", mode=("nearest", "reflect", "nearest"))
    refused("cval is -20.0; in slabs it must be 0 for derivatives", mode="constant", cval=-20, order=(0, 1, 0))
    for function in (stream.gaussian_gradient_magnitude, stream.gaussian_laplace):
        with pytest.raises(ValueError, match="cval is 0.5; in slabs it must be 0 for derivatives"):
            function(values, np.empty(SHAPE, np.float32), 2.0, mode="constant", cval=0.5)
    refused("valid_mask is given; images in slabs have none", valid_mask=values > 3)
    refused("channel_axis is 0; in slabs it must be the last axis", channel_axis=0)
    refused("spacing is 'image'", spacing="image")
    refused("sigma is -1.0; it must be finite, and 0 or more", sigma=-1)
    refused("sigma or fwhm must be given", sigma=None, error=TypeError)
    refused("target has the shape", target=np.empty((300, 14, 18), np.float32))
    refused("target and source have the same memory", source=values, target=values)
    refused("target and source have the same memory", source=values, target=values[::-1])
    refused("target is read-only", target=np.broadcast_to(np.float32(0), SHAPE))
    refused("dtype is float64; it must be that of target, float32", dtype="float64")
    refused("source has pixels of type complex64", source=values.astype(np.complex64), error=TypeError)
    refused("target has pixels of type complex64", target=np.empty(SHAPE, np.complex64), error=TypeError)
    refused("source is .*; it must have shape, dtype and slices", source=[1, 2], target=values, error=TypeError)
    refused("source is a masked array", source=np.ma.masked_array(values), error=TypeError)
    refused("source has the shape .0, 3, 4.; it must have pixels", source=np.empty((0, 3, 4), np.float32))
    refused("source has 1 axes; it must have 2, 3 or 4", source=np.ones(9, np.float32))
    refused("progress is .*; it must be None, or a function", progress=3, error=TypeError)
    refused("sigma of axis 0 is 0 and its order 1", sigma=(0, 1, 1), order=1)
    with pytest.raises(ValueError, match="in slabs axis 2 must be one of them"):
        stream.gaussian_laplace(values, np.empty_like(values), 2.0, mode="nearest", axes=(0, 1))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8"])
def test_planes_that_several_threads_copy(monkeypatch, dtype):
    """The bits of a single thread, NaN that is named, and sums of finite pixels that overflow."""
    values = volume(SHAPE, dtype)
    if values.dtype.kind == "f":
        values[:] = np.finfo(dtype).max / 4  # a plane's sum is beyond the type
        values[::3] = 1
    expected = smooth(values)
    monkeypatch.setattr(_planes, "_COPIED_BYTES", 64)
    monkeypatch.setattr(_planes.os, "cpu_count", lambda: 8)
    np.testing.assert_array_equal(smooth(values), expected)
    target = Planes(np.zeros(SHAPE, np.float32))
    stream.gaussian_filter(Planes(values), target, 2.0, mode="nearest")
    np.testing.assert_array_equal(target[:], expected)
    if values.dtype.kind == "f":
        values[200, 3, 4] = np.nan
        with pytest.raises(ValueError, match="plane 200 of source has pixels that are NaN or infinite"):
            smooth(values)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_pixels_that_are_not_finite_are_refused_or_spread(bad):
    values = volume(LONG)
    values[211, 3, 4] = bad
    message = "plane 211 of source has pixels that are NaN or infinite; they must be finite, or preserve_nan False"
    refused(message, source=values)
    refused(message, source=values, sigma=0.0)  # where planes are copied
    spread = smooth(values, preserve_nan=False)
    assert not np.isfinite(spread[211, 3, 4]) and np.isfinite(spread[400:]).all()
    np.testing.assert_array_equal(smooth(values, 0.0, preserve_nan=False), values)


def test_finite_pixels_whose_sum_overflows_are_taken():
    values = np.full((3, 4, 5), 1e308)
    assert (smooth(values, 0.0, np.float64) == values).all()


def test_a_source_that_says_another_shape_is_told():
    class Short(Planes):
        def __getitem__(self, planes):
            return super().__getitem__(planes)[:-1]

    refused(r"source\[0:128\] has the shape .127, 14, 17.; it must be .128, 14, 17.", source=Short(volume()))


@pytest.mark.parametrize(
    "text, size", [("8G", 8 << 30), ("512m", 512 << 20), ("1.5K", 1536), ("100", 100), (7, 7), ("2T", 2 << 40), ("3GiB", 3 << 30)]
)
def test_sizes(text, size):
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["8Q", "", "G", "-3", "0", 0, -1, "1e9", "nan"])
def test_wrong_sizes(text):
    refused("memory_limit is .*; it must be a number of bytes above 0, or one with K, M, G or T: 8G", memory_limit=text)


def test_sizes_of_another_kind():
    refused("memory_limit is .*; it must be a number of bytes, or text", memory_limit=2.5, error=TypeError)

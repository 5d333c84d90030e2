# SPDX-License-Identifier: Apache-2.0
"""The functions of host arrays, which run in the extension module `_core`."""
import itertools
import os
import pickle
import signal
import sys
import textwrap
import threading
import time
import tracemalloc
import types

import itk
import numpy as np
import pytest
from interpreter import path_with, run_python

import itk_cudafilters
from exporters import ExchangingArray
from filters import PARTITION, SNAKE
from itk_cudafilters import _library, gaussian_filter, gaussian_gradient, gaussian_gradient_magnitude, gaussian_laplace
from itk_cudafilters import partition_image, partition_images, segment_region, stream

MODES = ("reflect", "nearest", "mirror", "wrap", "constant")


def run(program):
    """Runs a program in a process of its own, which can import the helpers of the tests, and returns what it prints."""
    return run_python(textwrap.dedent(program), PYTHONPATH=path_with(os.path.dirname(__file__)))


def test_arrays_do_not_load_itk():
    found = run(
        """
        import sys
        import numpy as np
        import itk_cudafilters as package

        array = np.random.default_rng(1).random((20, 30), dtype="f")
        gaps = np.where(array > 0.9, np.float32(np.nan), array)
        for function in (package.gaussian_filter, package.gaussian_gradient_magnitude, package.gaussian_laplace,
                         package.gaussian_gradient, package.gaussian_hessian, package.unsharp_mask, package.ndimage.gaussian_filter):
            function(array, 2.0)
            function(gaps, 2.0)
        package.difference_of_gaussians(array.astype("u1"), 2.0, valid_mask=array < 0.5)
        assert package.info().reason or package.info().gpu_usable
        try:
            package.gaussian_filter("scan.png", 2.0)
        except TypeError as error:
            print(error)
        print([name for name in sys.modules if name.partition(".")[0] == "itk"])
        """
    )
    assert "input is of type str; it must be an itk.Image" in found and found.endswith("\n[]\n")


OF_ARRAYS_ON_A_GPU = """
    import sys
    import numpy as np
    import itk_cudafilters as package
    from exporters import ExchangingArray, FakeArray, InterfaceArray
    from gpu_arrays import Array, ArrayOperations, on_gpu
    from itk_cudafilters import _library, _operations

    def require_no_itk(name):
        loaded = [module for module in sys.modules if module.partition(".")[0] == "itk"]
        assert not loaded, (name, loaded)

    _library.core().use_host_as_device(True)
    _operations.OF_CLASSES[Array] = ArrayOperations()
    array = np.random.default_rng(1).random((12, 13, 14), dtype="f")
    gaps = np.where(array > 0.9, np.float32(np.nan), array)
    calls = {
        **{name: {"sigma": 1.5} for name in (
            "gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude", "gaussian_laplace", "gaussian_gradient",
            "gaussian_hessian",
        )},
        "difference_of_gaussians": {"low_sigma": 1.5},
        "unsharp_mask": {},
        "vesselness": {"sigmas": (1.0, 2.0), "return_scale": True, "return_directions": True},
        **{name: {"sigmas": (1.0, 2.0)} for name in ("frangi", "sato", "meijering")},
        "structure_tensor": {},
        "structure_tensor_eigenvalues": {},
    }
    for name, parameters in calls.items():
        function = getattr(package, name)
        for pixels in (array,) if name.startswith("structure") else (array, gaps):
            for each in (pixels, pixels[:, ::2], pixels[0].T, pixels.astype("d"), pixels[:4].astype("f2")):
                expected = function(each, **parameters)
                require_no_itk(name)
                found = function(on_gpu(each), **parameters)
                require_no_itk(name)
                for one, other in zip(*(result if type(result) is tuple else (result,) for result in (found, expected)), strict=True):
                    assert type(one) is Array
                    np.testing.assert_array_equal(np.asarray(one), other)
"""


def test_arrays_on_a_gpu_do_not_load_itk():
    run(OF_ARRAYS_ON_A_GPU)


def test_arrays_of_other_packages_do_not_load_itk():
    run(
        OF_ARRAYS_ON_A_GPU
        + """
    expected = package.gaussian_filter(array, 1.5)
    for kind in (ExchangingArray, FakeArray, InterfaceArray):
        given, output = kind(array), kind(np.zeros_like(array))
        mask = kind(np.ones(array.shape, "?"))
        for options in ({}, {"valid_mask": mask}, {"preserve_nan": False}):
            output.array[...] = 0.0
            assert package.gaussian_filter(given, 1.5, output=output, **options) is output
            require_no_itk(kind)
            np.testing.assert_array_equal(output.array, expected)
    np.testing.assert_array_equal(package.gaussian_filter(ExchangingArray(array), 1.5).array, expected)
    require_no_itk("a result of the package")
    """
    )


@pytest.mark.parametrize("package", ["xarray", "torch", "cupy", "jax", "itk"])
def test_another_thread_may_be_importing_a_package(monkeypatch, package):
    """A module whose import has begun is in sys.modules without its classes."""
    array = np.random.default_rng(3).random((20, 30))
    image = itk_cudafilters.Image(array, spacing=(2.0, 2.0))
    mask = itk_cudafilters.Image(np.ones(array.shape, "?"), spacing=(2.0, 2.0))

    def filtered():
        exported = ExchangingArray(np.zeros(array.shape))
        _library.core().use_host_as_device(True)
        try:
            gaussian_filter(ExchangingArray(array), 1.5, output=exported)
        finally:
            _library.core().use_host_as_device(False)
        outline = segment_region(array, "gamma", looks=1.0, initial_region=(5, 5, 10, 10)).contour
        return exported.array, gaussian_filter(array, 1.5), gaussian_filter(image, 3.0, valid_mask=mask).array, outline

    expected = filtered()
    monkeypatch.setitem(sys.modules, package, types.ModuleType(package))
    for one, other in zip(filtered(), expected):
        np.testing.assert_array_equal(one, other)


def test_an_array_of_jax_does_not_load_itk():
    """Its package gets the result by DLPack."""
    run(
        """
        import sys, types
        import numpy as np
        import itk_cudafilters as package
        from exporters import FakeArray, Imported
        from itk_cudafilters import _library

        class JaxArray(FakeArray):
            pass

        def from_dlpack(exporter):
            assert exporter.__dlpack_device__() == (2, 0)
            return Imported(exporter.__dlpack__(max_version=(1, 3)))

        sys.modules["jax"] = types.SimpleNamespace(Array=JaxArray)
        sys.modules["jax.dlpack"] = types.SimpleNamespace(from_dlpack=from_dlpack)
        _library.core().use_host_as_device(True)
        array = np.random.default_rng(2).random((12, 13, 14))
        calls = (package.gaussian_filter, 1.5, {}), (package.vesselness, (1.0, 2.0), {"preserve_nan": False})
        for function, sigma, options in calls:
            given = JaxArray(array)
            found = function(given, sigma, **options)
            np.testing.assert_array_equal(found.pixels(), function(array, sigma, **options))
            found.release()
            assert given.deleted == len(given.streams)
        found = package.vesselness(JaxArray(array), 1.5, return_directions=True, preserve_nan=False)
        for one, other in zip(found, package.vesselness(array, 1.5, return_directions=True, preserve_nan=False)):
            np.testing.assert_array_equal(one.pixels(), other)
        assert not [module for module in sys.modules if module.partition(".")[0] == "itk"]
        """
    )


REGIONS = """
import pathlib, pickle, sys, tempfile
import numpy as np
import itk_cudafilters as package

def itk_is_loaded():
    return any(name.partition(".")[0] == "itk" for name in sys.modules)

image = np.random.default_rng(1).exponential(np.kron([[1.0, 4.0], [9.0, 1.0]], np.ones((24, 31)))).astype("f")
mask = image < 30
folder = pathlib.Path(tempfile.mkdtemp())
"""
CALLS = {
    "info": "package.info()",
    "noise_laws": "package.noise_laws()",
    "segment_region": """
        found = package.segment_region(image, "gamma", valid_mask=mask)
        found.contour_rc, found.__geo_interface__, repr(found), pickle.loads(pickle.dumps(found)).contour
        package.write_geojson(found, folder / "a.json")
        package.write_svg(found, folder / "a.svg", image)
        package.segment_region(image[::2, :], "gaussian", initial_mask=image[::2] > 2)
        package.segment_region(image.astype(">f8"), "gamma", looks=1, initial_region=(5, 5, 20, 20))
        package.segment_region(mask, "bernoulli", initial_contour=[[3, 3], [30, 3], [30, 30]])
        """,
    "partition_image": """
        found = package.partition_image(image, "gamma", looks=1, valid_mask=mask)
        found.table, found.polygons, found.polygons_in_pixels, found.nodes, found.edges, found.merges, found.means, found.neighbours
        found.merge(number=2).__geo_interface__, repr(found), pickle.loads(pickle.dumps(found)).polygons
        package.partition_image(mask, "bernoulli", initial_labels=np.arange(image.size).reshape(image.shape) // 500).means
        package.write_geojson(found, folder / "a.json")
        package.write_svg(found, folder / "a.svg", image)
        package.write_table(found, folder / "a.csv")
        """,
    "partition_images": "package.partition_images([image] * 5, 'gamma', looks=1)",
    "stream": """
        components = {"structure_tensor": (6,), "structure_tensor_eigenvalues": (3,)}
        for name in package.stream.__all__:
            target = np.empty((200, *image.shape, *components.get(name, ())), "f")
            getattr(package.stream, name)(np.stack([image] * 200), target, 2.0)
        """,
    "exceptions": """
        for wrong in ({"law": "cauchy"}, {"looks": "one"}, {"backend": "gpu"}, {"valid_mask": image[1:]}, {"device_index": -2}, {"looks": -1}):
            for function in (package.segment_region, package.partition_image):
                try:
                    function(image, **{"law": "gamma", **wrong})
                except (TypeError, ValueError):
                    continue
                raise AssertionError(wrong)
        """,
    "DataArray": """
        xarray = __import__("xarray")
        array = xarray.DataArray(image, {"y": 9.0 - 0.5 * np.arange(48), "x": np.arange(62.0)}, dims=("y", "x"))
        package.segment_region(array, "gamma", valid_mask=array < 30).contour_rc
        package.partition_image(array, "gamma", valid_mask=array < 30).means
        """,
}


@pytest.mark.parametrize("call", CALLS)
def test_regions_streams_and_info_do_not_load_itk(call):
    if call == "DataArray":
        pytest.importorskip("xarray")
    assert run(REGIONS + textwrap.dedent(CALLS[call]) + "\nprint(itk_is_loaded())") == "False\n"


def speckle(dtype="f4", shape=(90, 120)):
    y, x = np.mgrid[: shape[0], : shape[1]]
    return np.rint(np.random.default_rng(8).gamma(6.0, np.where(np.hypot(y - 40, x - 60) < 25, 20.0, 5.0) + 30.0 * (x > 100))).astype(dtype)


@pytest.mark.parametrize("dtype", ["u1", "u2", "i2", "f4"])
def test_regions_are_those_of_the_classes(dtype):
    pixels, valid = speckle(dtype), np.ones((90, 120), np.uint8)
    valid[:7, 3:50] = 0
    image, mask = itk.image_from_array(pixels), itk.image_from_array(valid)
    for start in ({}, {"Start": "MarginRectangle", "Schedule": "AsPublished"}):
        snake = SNAKE.wrapped.New(image, NoiseLaw="poisson", ValidMask=mask, **start)
        snake.Update()
        found = segment_region(
            pixels, "poisson", valid_mask=valid != 0, **{name.lower(): value for name, value in start.items()}
        )
        np.testing.assert_array_equal(found.label, itk.array_from_image(snake.GetOutput()))
        np.testing.assert_array_equal(found.contour, [snake.GetContourPoint(i) for i in range(snake.GetNumberOfContourPoints())])
        assert [step.criterion for step in found.statistics.record] == [step["criterion"] for step in snake.GetRecord()]
        assert found.statistics.criterion == snake.GetCriterion()
    for law in ("gamma", "gaussian"):
        divider = PARTITION.wrapped.New(image, NoiseLaw=law, ValidMask=mask)
        divider.Update()
        partition, expected = partition_image(pixels, law, valid_mask=valid), divider.GetPartition()
        np.testing.assert_array_equal(partition.labels, itk.array_from_image(divider.GetOutput()))
        assert [[(ring + 0.5).tolist() for ring in rings] for rings in partition.polygons] == [
            [np.array(ring, float).tolist() for ring in expected.GetRings(number)] for number in range(1, len(partition) + 1)
        ]
        np.testing.assert_array_equal(partition.edges, expected.GetEdges())
        assert list(zip(*partition.merges.values())) == expected.GetMerges()
        np.testing.assert_array_equal(partition.table["mean"], [region["mean"] for region in expected.GetRegions()])
        assert partition.statistics.description == divider.GetDescription()
        assert partition.statistics.number_of_looks == divider.GetNumberOfLooksUsed()


def test_polygons_of_a_turned_image_are_those_of_the_classes():
    image = itk.image_from_array(speckle())
    image.SetOrigin([5.0, -3.1])
    image.SetSpacing([0.7, 0.3])
    angle = 0.4
    image.SetDirection(itk.matrix_from_array(np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])))
    divider = PARTITION.wrapped.New(image, NoiseLaw="gamma")
    divider.Update()
    partition = partition_image(image, "gamma")
    for number, rings in enumerate(partition.polygons, 1):
        for ring, expected in zip(rings, divider.GetPartition().GetPhysicalRings(number), strict=True):
            np.testing.assert_array_equal(ring, expected)
    snake = SNAKE.wrapped.New(image, NoiseLaw="gamma", NumberOfLooks=6)
    snake.Update()
    found = segment_region(image, "gamma", looks=6)
    np.testing.assert_array_equal(found.contour, [list(snake.GetContourPoint(i)) for i in range(snake.GetNumberOfContourPoints())])
    again = segment_region(image, "gamma", looks=6, initial_contour=found.contour)
    assert again.statistics.record[0].what == "level"


def test_layouts_of_images_and_masks_of_regions():
    pixels = speckle()
    valid, start, labels = pixels > 2, pixels > 40, (pixels > 40).astype("u4")
    expected = segment_region(pixels, "gamma", looks=6, valid_mask=valid, initial_mask=start)
    divided = partition_image(pixels, "gamma", looks=6, valid_mask=valid, initial_labels=labels)
    frozen = pixels.copy()
    frozen.flags.writeable = False
    wide = np.zeros((90, 200), "f4")
    wide[:, 11:131] = pixels
    for each, mask, first, given in zip(
        [*layouts(pixels), frozen, wide[:, 11:131]],
        [*layouts(valid.view("u1")), valid, valid],
        [*layouts(start.view("u1")), start, start],
        [*layouts(labels), labels, labels],
    ):
        before = each.copy()
        found = segment_region(each, "gamma", looks=6, valid_mask=mask, initial_mask=first)
        np.testing.assert_array_equal(found.label, expected.label)
        np.testing.assert_array_equal(found.contour, expected.contour)
        parts = partition_image(each, "gamma", looks=6, valid_mask=mask, initial_labels=given)
        np.testing.assert_array_equal(parts.labels, divided.labels)
        np.testing.assert_array_equal(parts.nodes, divided.nodes)
        np.testing.assert_array_equal(each, before)


def test_numpy_copies_no_pixels_of_regions():
    wide = np.tile(speckle(), (12, 12))
    pixels, valid = wide[:, 5:-3], np.ones((wide.shape[0], wide.shape[1]), bool)[:, 5:-3]
    tracemalloc.start()
    try:
        segment_region(pixels, "gamma", looks=6, valid_mask=valid)
        partition_image(pixels, "gamma", looks=6, valid_mask=valid, labels_only=True, block_size=64)
        assert tracemalloc.get_traced_memory()[1] < pixels.size / 2
    finally:
        tracemalloc.stop()


def test_a_partition_is_its_own_copy():
    partition = partition_image(speckle(), "gamma", looks=6)
    for array in (partition.edges, partition.nodes, *partition.merges.values(), *partition.table.values()):
        array[...] = 7
    moved = pickle.loads(pickle.dumps(partition))
    np.testing.assert_array_equal(moved.edges, partition.edges)
    assert not (partition.edges == 7).all()


def test_an_image_of_which_a_part_is_in_memory_is_refused():
    image = itk.Image[itk.F, 2].New()
    image.SetLargestPossibleRegion(itk.ImageRegion[2]([0, 0], [30, 20]))
    image.SetBufferedRegion(itk.ImageRegion[2]([0, 0], [30, 10]))
    image.Allocate()
    for function in (segment_region, partition_image):
        with pytest.raises(ValueError, match=r"image has the pixels of a part of shape \(10, 30\) in memory; it must have all of \(20, 30\)"):
            function(image, "gaussian")


def test_wrapped_classes_and_core_are_one_library():
    """Where the package has both, so that they have one pool of memory and one configuration."""
    itk.CudaFiltersConfiguration.GetBackend()
    core = _library.core().__file__
    if core.startswith(itk_cudafilters.__path__[0]):
        pytest.skip("_core is a file of its own")
    assert core == sys.modules["itk._CudaFiltersPython"].__file__
    backend = itk.CudaFiltersConfiguration.GetBackend()
    itk.CudaFiltersConfiguration.SetBackend("cuda")
    try:
        if not itk_cudafilters.info().gpu_usable:
            with pytest.raises(RuntimeError, match="cannot be used"):
                gaussian_filter(np.zeros((8, 8)), 1.0)
    finally:
        itk.CudaFiltersConfiguration.SetBackend(backend)


def test_a_process_ends_where_arrays_come_before_classes():
    itk.CudaFiltersConfiguration.GetBackend()
    program = """
        import numpy as np
        import itk_cudafilters

        itk_cudafilters.gaussian_filter(np.zeros((8, 8)), 1.0)
        import itk

        with itk_cudafilters.override():
            print(itk.SmoothingRecursiveGaussianImageFilter[itk.Image[itk.F, 2], itk.Image[itk.F, 2]].New().GetNameOfClass())
        """
    assert run(program) == "CudaSmoothingRecursiveGaussianImageFilter\n"


def test_messages_where_itk_is_missing():
    text = "the package itk, which is not installed" if _library.has_wrapped_classes() else "pip built from the sources"
    program = """
        import sys, types
        sys.modules["itk"] = types.ModuleType("itk")  # as the folder of the wrapped classes is
        import itk_cudafilters

        try:
            itk_cudafilters.enable()
        except ImportError as error:
            print(error)
        """
    assert text in run(program)


def test_message_where_monai_is_missing():
    found = run(
        """
        import sys

        sys.modules["monai"] = None
        try:
            import itk_cudafilters.monai
        except ImportError as failure:
            print(failure)
        """
    )
    assert "pip install 'itk-cudafilters[monai]'" in found


def test_message_for_another_version_of_itk():
    major, minor = _library.core().itk_version.split(".")[:2]
    _library.require_same_version(f"{major}.{minor}.99")
    with pytest.raises(ImportError, match=rf"itk 4.13.1 is installed, .* for itk {major}\.{minor}: pip install"):
        _library.require_same_version("4.13.1")


def layouts(array):
    """The same pixels in other places of memory."""
    wide = np.zeros([2 * n for n in array.shape], array.dtype)
    every_second = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    every_second[...] = array
    record = np.zeros(array.shape, [("flag", "u1"), ("pixel", array.dtype)])["pixel"]
    record[...] = array
    return [array, np.asfortranarray(array), every_second, array[::-1].copy()[::-1], array.astype(array.dtype.newbyteorder()), record]


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4"])
@pytest.mark.parametrize("shape", [(40,), (9, 12), (5, 1, 7), (4, 5, 6, 7), (3, 4, 2, 5, 3, 4)], ids=len)
def test_layouts_of_arrays_and_outputs(shape, dtype):
    rng = np.random.default_rng(3)
    array = (100 * rng.random(shape)).astype(dtype)
    for axes, mode in itertools.product({None, 0, len(shape) - 1, (len(shape) - 1, 0) if len(shape) > 1 else 0}, ("reflect", "mixed")):
        count = len(shape) if axes is None else len(np.atleast_1d(axes))
        options = {"sigma": 1.5, "axes": axes, "mode": mode if mode == "reflect" else MODES[-count:], "cval": 3.0}
        if mode == "mixed" and count > len(MODES):
            continue
        for function in (gaussian_filter, gaussian_gradient_magnitude, gaussian_gradient):
            for kind in ("f4", "u1"):
                expected = function(array, dtype=kind, **options)
                for each in layouts(array):
                    np.testing.assert_array_equal(function(each, dtype=kind, **options), expected)
                for output in layouts(np.zeros_like(expected)):
                    assert function(array, output=output, **options) is output
                    np.testing.assert_array_equal(output, expected)


def test_an_output_that_overlaps_the_input():
    rng = np.random.default_rng(4)
    for function in (gaussian_filter, gaussian_gradient_magnitude, gaussian_laplace):
        memory = rng.random((21, 30), dtype="f")
        array = memory[:20].copy()
        expected = function(array, 2.0)
        assert function(array, 2.0, output=array) is array
        np.testing.assert_array_equal(array, expected)
        expected = function(memory[:20].copy(), 2.0)
        function(memory[:20], 2.0, output=memory[1:])
        np.testing.assert_array_equal(memory[1:], expected)
    valid = (rng.random((20, 30)) < 0.7).astype("u1")
    expected = gaussian_filter(array, 2.0, valid_mask=valid, dtype="u1")
    np.testing.assert_array_equal(gaussian_filter(array, 2.0, valid_mask=valid, output=valid), expected)


def test_nothing_is_written_outside_the_output():
    frame = np.full((14, 17), 7.0)
    gaussian_filter(np.random.default_rng(5).random((10, 12)), 2.0, output=frame[2:12, 3:15])
    frame[2:12, 3:15] = 7.0
    assert (frame == 7.0).all()


def test_numpy_copies_no_pixels():
    array = np.random.default_rng(6).integers(0, 255, (128, 128, 128), np.uint8)
    output = np.empty(array.shape, np.float32)
    tracemalloc.start()
    try:
        for function in (gaussian_filter, gaussian_gradient_magnitude, gaussian_laplace):
            function(array.T, 1.5, output=output)
        assert tracemalloc.get_traced_memory()[1] < array.nbytes / 4
    finally:
        tracemalloc.stop()


def test_large_results_are_arrays_as_others():
    array = np.random.default_rng(7).random((600, 700), dtype="f")
    found = gaussian_filter(array, 1.0)
    assert type(found) is np.ndarray and found.flags.writeable and found.flags.c_contiguous and found.flags.aligned
    part = found[100:200]
    expected = found.copy()
    del found
    for _ in range(3):
        gaussian_filter(array, 5.0)
    np.testing.assert_array_equal(part, expected[100:200])


CUBE = np.zeros((160, 160, 160))
FIELD = np.random.default_rng(9).exponential(np.kron(np.random.default_rng(10).uniform(1, 9, (14, 14)), np.ones((80, 80)))).astype("f")
LONG_RUNS = {
    "gaussian_gradient_magnitude": lambda: gaussian_gradient_magnitude(CUBE, 2.0, backend="host"),
    "segment_region": lambda: segment_region(FIELD, "gamma", looks=1, backend="host", minimum_edge_length=6.0),
    "partition_image": lambda: partition_image(FIELD, "gamma", looks=1, backend="host"),
    "partition_images": lambda: partition_images([FIELD] * 3, "gamma", looks=1, backend="host"),
    "stream": lambda: stream.gaussian_filter(CUBE, np.empty(CUBE.shape), 2.0, backend="host"),
}


@pytest.mark.parametrize("name", LONG_RUNS)
def test_signals_end_a_run(name):
    class Stopped(Exception):
        pass

    def stop(*_):
        raise Stopped

    # In seconds of the processor, which other programs do not change.
    start = time.process_time()
    LONG_RUNS[name]()
    whole = time.process_time() - start
    before = signal.signal(signal.SIGPROF, stop)
    try:
        signal.setitimer(signal.ITIMER_PROF, whole / 10)
        start = time.process_time()
        with pytest.raises(Stopped):
            LONG_RUNS[name]()
        assert time.process_time() - start < 0.8 * whole
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    LONG_RUNS[name]()


@pytest.mark.parametrize("name", LONG_RUNS)
def test_other_threads_run_meanwhile(name):
    ticks, done = 0, threading.Event()

    def work():
        LONG_RUNS[name]()
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 5


WRONG = [
    ((np.zeros(4), np.zeros(4).astype("f2")), "format e"),
    ((np.zeros(8)[::-2], np.zeros(4)), "stride -16"),
    ((np.zeros(4), memoryview(b"1234")), "read-only|writable"),
    ((3, np.zeros(4)), "buffer|bytes-like"),
]


@pytest.mark.parametrize("arrays, text", WRONG, ids=[text for _, text in WRONG])
def test_arrays_that_core_refuses(arrays, text):
    """The package converts them before; the module itself refuses them."""
    with pytest.raises((TypeError, ValueError, BufferError), match=text):
        _library.core().filter(*arrays, None, (0,), ((1.0, ((2.0, 0, "reflect"),)),), "components", 0.0, "accurate", "host", False, 0.0)

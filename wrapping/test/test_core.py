# SPDX-License-Identifier: Apache-2.0
"""The functions of host arrays, which run in the extension module `_core`."""
import itertools
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc

import itk
import numpy as np
import pytest

import itk_cudafilters
from itk_cudafilters import _library, gaussian_filter, gaussian_gradient, gaussian_gradient_magnitude, gaussian_laplace

MODES = ("reflect", "nearest", "mirror", "wrap", "constant")


def run(program):
    """Runs a program in a process of its own, and returns what it prints."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


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


def test_signals_end_a_run():
    class Stopped(Exception):
        pass

    def stop(*_):
        raise Stopped

    array = np.zeros((160, 160, 160))
    start = time.perf_counter()
    gaussian_gradient_magnitude(array, 2.0, backend="host")
    whole = time.perf_counter() - start
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, whole / 10)
        start = time.perf_counter()
        with pytest.raises(Stopped):
            gaussian_gradient_magnitude(array, 2.0, backend="host")
        assert time.perf_counter() - start < 0.8 * whole + 0.1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert (gaussian_gradient_magnitude(array, 2.0, backend="host") == 0.0).all()


def test_other_threads_run_meanwhile():
    array = np.zeros((128, 128, 128))
    ticks, done = 0, threading.Event()

    def filter_array():
        gaussian_gradient_magnitude(array, 2.0, backend="host")
        done.set()

    thread = threading.Thread(target=filter_array)
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

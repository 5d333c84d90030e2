# SPDX-License-Identifier: Apache-2.0
"""Pipelines through classes of both wheels: updates, observers, abort, exceptions, threads."""
import threading
import time

import itk
import numpy as np
import pytest
from filters import (
    ALL_FILTERS,
    ALL_SCALAR_GAUSSIANS,
    DISCRETE,
    FILTERS,
    GRADIENT,
    HESSIAN,
    REGION_FILTERS,
    SCALAR_GAUSSIANS,
    some_image,
)
from images import image_type, random_image
from interpreter import run_python

IMAGE = image_type(itk.F, 2)


def pixels(image):
    return itk.array_from_image(image)


@ALL_SCALAR_GAUSSIANS
def test_between_filters_of_the_itk_wheel(tested):
    image = random_image(itk.F, 2)
    median = itk.MedianImageFilter[IMAGE, IMAGE].New(Input=image, Radius=1)
    smoother = tested.new(Input=median.GetOutput(), Sigma=1.5)
    threshold = itk.BinaryThresholdImageFilter[IMAGE, image_type(itk.UC, 2)].New(Input=smoother.GetOutput(), InsideValue=1)
    level = float(np.median(pixels(tested.run(itk.median_image_filter(image, radius=1), Sigma=1.5).GetOutput())))
    threshold.SetLowerThreshold(level)

    def expect_result(radius, sigma):
        threshold.Update()
        expected = pixels(tested.run(itk.median_image_filter(image, radius=radius), Sigma=sigma).GetOutput()) >= level
        result = pixels(threshold.GetOutput())
        np.testing.assert_array_equal(result, expected)
        assert 0 < result.sum() < result.size

    expect_result(radius=1, sigma=1.5)
    first, smoothed_first = (f.GetOutput().GetUpdateMTime() for f in (threshold, smoother))
    threshold.Update()
    assert threshold.GetOutput().GetUpdateMTime() == first, "ran again though nothing had changed"
    median.SetRadius(2)
    expect_result(radius=2, sigma=1.5)
    assert smoother.GetOutput().GetUpdateMTime() > smoothed_first
    smoother.SetSigma(2.0)
    expect_result(radius=2, sigma=2.0)


def test_gradient_between_filters_of_the_itk_wheel():
    volume = image_type(itk.F, 3)
    gradients = GRADIENT.key(itk.F, 3)[1]
    median = itk.MedianImageFilter[volume, volume].New(Input=random_image(itk.F, 3), Radius=1)
    gradient = GRADIENT.new(itk.F, 3, Input=median.GetOutput(), Sigma=2.0)
    length = itk.VectorMagnitudeImageFilter[gradients, volume].New(Input=gradient.GetOutput())
    magnitude = itk.CudaGradientMagnitudeRecursiveGaussianImageFilter[volume, volume].New(median.GetOutput(), Sigma=2.0)
    for sigma in (2.0, 3.0):
        gradient.SetSigma(sigma)
        magnitude.SetSigma(sigma)
        length.Update()
        magnitude.Update()
        expected = pixels(magnitude.GetOutput())
        np.testing.assert_allclose(pixels(length.GetOutput()), expected, rtol=0.0, atol=1e-5 * expected.max())


def test_hessian_between_filters_of_the_itk_wheel():
    volume = image_type(itk.F, 3)
    median = itk.MedianImageFilter[volume, volume].New(Input=random_image(itk.F, 3), Radius=1)
    results = []
    for superclass in (HESSIAN.wrapped, itk.HessianRecursiveGaussianImageFilter):
        hessian = superclass[volume].New(Input=median.GetOutput(), Sigma=2.0)
        vesselness = itk.Hessian3DToVesselnessMeasureImageFilter[itk.F].New(Input=hessian.GetOutput())
        vesselness.Update()
        results.append(pixels(vesselness.GetOutput()))
    assert results[1].max() > 0.0
    # The ratio of eigenvalues that the measure is made of amplifies rounding where they vanish.
    assert np.abs(results[0] - results[1]).max() < 1e-3 * results[1].max()


def test_modification_times_of_both_wheels_come_from_one_clock():
    ours, theirs = itk.CudaRecursiveGaussianImageFilter.New(), itk.MedianImageFilter.New()
    times = []
    for _ in range(3):
        for instance in (ours, theirs):
            instance.Modified()
            times.append(instance.GetMTime())
    assert times == sorted(set(times))


@ALL_SCALAR_GAUSSIANS
def test_files_in_and_out(tested, tmp_path):
    image = random_image(itk.F, 2)
    itk.imwrite(image, str(tmp_path / "in.mha"))
    reader = itk.ImageFileReader[IMAGE].New(FileName=str(tmp_path / "in.mha"))
    smoother = tested.new(Input=reader.GetOutput(), Sigma=2.0)
    itk.imwrite(smoother.GetOutput(), str(tmp_path / "out.nrrd"))
    written = itk.imread(str(tmp_path / "out.nrrd"), itk.F)
    smoother.SetInput(image)
    smoother.Update()
    np.testing.assert_array_equal(pixels(written), pixels(smoother.GetOutput()))
    assert np.allclose(written.GetSpacing(), image.GetSpacing())


@ALL_FILTERS
def test_output_outlives_its_filter(tested):
    smoother = tested.run(some_image(tested))
    output = smoother.GetOutput()
    expected = pixels(output)
    output.DisconnectPipeline()
    view = itk.array_view_from_image(output)
    del smoother, output
    itk.CudaFiltersConfiguration.ReleaseMemory()
    np.testing.assert_array_equal(view, expected)


@ALL_FILTERS
def test_thread_pool_and_its_size_are_shared_with_the_itk_wheel(tested):
    threads = itk.MultiThreaderBase.GetGlobalDefaultNumberOfThreads()
    threader = itk.MultiThreaderBase.GetGlobalDefaultThreader()
    try:
        for kind in (itk.MultiThreaderBaseEnums.Threader_Pool, itk.MultiThreaderBaseEnums.Threader_TBB):
            itk.MultiThreaderBase.SetGlobalDefaultThreader(kind)
            ours, theirs = tested.new(), itk.MedianImageFilter[IMAGE, IMAGE].New()
            assert ours.GetMultiThreader().GetNameOfClass() == theirs.GetMultiThreader().GetNameOfClass()
            ours.SetInput(random_image(itk.F, 2))
            ours.Update()
        itk.MultiThreaderBase.SetGlobalDefaultNumberOfThreads(1)
        assert tested.new().GetMultiThreader().GetMaximumNumberOfThreads() == 1
    finally:
        itk.MultiThreaderBase.SetGlobalDefaultThreader(threader)
        itk.MultiThreaderBase.SetGlobalDefaultNumberOfThreads(threads)


ARRAYS_FIRST = """
import threading
import time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import itk_cudafilters as icf

array = np.random.default_rng(7).normal(size=(200, 300)).astype("f")
expected = icf.gaussian_filter(array, 2.0)
done, ended = [], threading.Event()

def filter_arrays():
    while not ended.is_set():
        done.append(np.array_equal(icf.gaussian_filter(array, 2.0), expected))

def require_running(calls):
    for call in calls:
        if call.done():
            call.result()
            raise AssertionError("ended too early")

pool = ThreadPoolExecutor(3)
calls = [pool.submit(filter_arrays) for _ in range(3)]
try:
    import itk
    IMAGE = itk.Image[itk.F, 2]
    ours = itk.CudaSmoothingRecursiveGaussianImageFilter[IMAGE, IMAGE].New(Sigma=2.0)
    count = len(done)
    while len(done) < count + 20:
        require_running(calls)
        time.sleep(0.01)
finally:
    ended.set()
    pool.shutdown()
print(all(done))
"""


@pytest.mark.parametrize("override", ["0", "1"])
def test_global_objects_are_shared_with_the_itk_wheel_if_arrays_came_first(override):
    """The clock of modified times, the settings of threads and the factories are those of the package itk, though the
    library has run before it was imported and while it was."""
    code = ARRAYS_FIRST + (
        "theirs = itk.MedianImageFilter[IMAGE, IMAGE].New()\n"
        "times = []\n"
        "for i in range(3):\n"
        "    for filter in (ours, theirs):\n"
        "        filter.Modified()\n"
        "        times.append(filter.GetMTime())\n"
        "print([t - times[0] for t in times])\n"
        "base = itk.MultiThreaderBase\n"
        "for kind in (itk.MultiThreaderBaseEnums.Threader_Pool, itk.MultiThreaderBaseEnums.Threader_TBB):\n"
        "    base.SetGlobalDefaultThreader(kind)\n"
        "    new = itk.CudaSmoothingRecursiveGaussianImageFilter[IMAGE, IMAGE].New()\n"
        "    print(new.GetMultiThreader().GetNameOfClass())\n"
        "base.SetGlobalDefaultNumberOfThreads(1)\n"
        "print(itk.CudaRecursiveGaussianImageFilter[IMAGE, IMAGE].New().GetMultiThreader().GetMaximumNumberOfThreads())\n"
        "print('Cuda' in itk.RecursiveGaussianImageFilter[IMAGE, IMAGE].New().GetNameOfClass())\n"
        "print(np.array_equal(icf.gaussian_filter(array, 2.0), expected))\n"
    )
    assert run_python(code, ITK_CUDAFILTERS_OVERRIDE=override).split("\n") == [
        "True",
        "[0, 1, 2, 3, 4, 5]",
        "PoolMultiThreader",
        "TBBMultiThreader",
        "1",
        str(override == "1"),
        "True",
        "",
    ]


def test_the_wrapped_classes_can_be_imported_in_a_progress_function():
    code = (
        "import numpy as np, itk, itk_cudafilters\n"
        "from itk_cudafilters._library import run_with\n"
        "shown = []\n"
        "def show(share):\n"
        "    image = itk.Image[itk.F, 2]\n"
        "    shown.append(itk.CudaSmoothingRecursiveGaussianImageFilter[image, image].New().GetNameOfClass())\n"
        "array = np.ones((300, 400), 'f')\n"
        "with run_with(progress=show):\n"
        "    itk_cudafilters.gaussian_filter(array, 2.0)\n"
        "print(set(shown))\n"
    )
    assert run_python(code) == "{'CudaSmoothingRecursiveGaussianImageFilter'}\n"


@ALL_FILTERS
def test_observers(tested):
    smoother = tested.wrapped.New(some_image(tested), **tested.parameters)
    smoother.SetNumberOfWorkUnits(1)  # ITK reports progress from one of several threads, which need not be the last one to end
    events, progress = [], []
    smoother.AddObserver(itk.StartEvent(), lambda: events.append("start"))
    smoother.AddObserver(itk.EndEvent(), lambda: events.append("end"))
    smoother.AddObserver(itk.ProgressEvent(), lambda: progress.append(smoother.GetProgress()))
    smoother.Update()
    assert events == ["start", "end"]
    assert progress == sorted(progress)
    # ITK's accumulation of the progress of inner filters falls a little short.
    assert progress[-1] == pytest.approx(1.0, abs=0.06)


def test_progress_in_the_functional_form():
    printed = run_python(
        "import os, itk, numpy\n"
        "os.dup2(1, 2)\n"  # it goes to the standard error
        "itk.cuda_smoothing_recursive_gaussian_image_filter(numpy.ones((40, 50), 'f'), sigma=2.0, auto_progress=True)"
    )
    assert "CudaSmoothingRecursiveGaussianImageFilter" in printed


@ALL_FILTERS
def test_abort_from_an_observer_and_run_again(tested):
    image = some_image(tested)
    smoother = tested.wrapped.New(image, **tested.parameters)
    smoother.AddObserver(itk.ProgressEvent(), smoother.AbortGenerateDataOn)
    with pytest.raises(RuntimeError, match="(?i)abort"):
        smoother.Update()
    smoother.RemoveAllObservers()
    smoother.AbortGenerateDataOff()
    smoother.Update()
    again = tested.run(image)
    np.testing.assert_array_equal(pixels(smoother.GetOutput()), pixels(again.GetOutput()))


@pytest.mark.parametrize("tested", [f for f in SCALAR_GAUSSIANS if f is not DISCRETE], ids=str)
def test_exception_of_ours_reaches_python_through_a_filter_of_the_itk_wheel(tested):
    smoother = tested.new(Input=random_image(itk.F, 2), Sigma=0.0)
    median = itk.MedianImageFilter[IMAGE, IMAGE].New(Input=smoother.GetOutput())
    with pytest.raises(RuntimeError, match="(?i)sigma"):
        median.Update()
    smoother.SetSigma(1.0)
    median.Update()


@ALL_FILTERS
def test_exception_of_the_itk_wheel_reaches_python_through_ours(tested):
    reader = itk.ImageFileReader[IMAGE].New(FileName="no-such-file.mha")
    smoother = tested.new(Input=reader.GetOutput())
    with pytest.raises(RuntimeError, match="no-such-file.mha"):
        smoother.Update()


@ALL_FILTERS
def test_exception_of_a_python_observer(tested):
    smoother = tested.wrapped.New(some_image(tested), **tested.required)

    def fail():
        raise ValueError("from an observer")

    smoother.AddObserver(itk.StartEvent(), fail)
    with pytest.raises(RuntimeError):
        smoother.Update()


class Ticks:
    """A thread that notes the time as often as Python lets it."""

    def __enter__(self):
        self.times, self._stop = [], threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def _run(self):
        while not self._stop.wait(0.0005):
            self.times.append(time.perf_counter())

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


@ALL_FILTERS
@pytest.mark.parametrize("method", ["Update", "UpdateLargestPossibleRegion"])
def test_other_python_threads_run_during_update(tested, method, on_gpu):
    shape = (1500, 1500) if tested in REGION_FILTERS else (128, 512, 512) if on_gpu else (32, 256, 256)
    image = itk.image_from_array(np.random.default_rng(1).random(shape, dtype=np.float32))
    smoother = tested.wrapped.New(image, **tested.parameters)
    with Ticks() as ticks:
        time.sleep(0.01)
        start = time.perf_counter()
        getattr(smoother, method)()
        end = time.perf_counter()
    # Without the lock released none could fall between, but one on the way into the method and one on the way out.
    during = [t for t in ticks.times if start < t < end]
    assert len(during) > 4, f"{len(during)} steps of another thread in {end - start:.3f} s"


@ALL_FILTERS
def test_two_threads_at_once(tested):
    images = [some_image(tested, seed=seed) for seed in (1, 2)]
    expected = [pixels(tested.run(image).GetOutput()) for image in images]
    failures, events = [], []

    def work(index):
        try:
            for _ in range(20):
                smoother = tested.wrapped.New(images[index], **tested.parameters)
                smoother.AddObserver(itk.EndEvent(), lambda: events.append(index))
                smoother.Update()
                np.testing.assert_array_equal(pixels(smoother.GetOutput()), expected[index])
        except BaseException as failure:  # to be reported by the main thread
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert events.count(0) == events.count(1) == 20


def test_filters_of_different_kinds_at_once():
    images = {tested: some_image(tested) for tested in FILTERS}
    expected = {tested: pixels(tested.run(images[tested]).GetOutput()) for tested in FILTERS}
    results = {}
    threads = [
        threading.Thread(target=lambda tested=tested: results.update({tested: pixels(tested.run(images[tested]).GetOutput())}))
        for tested in FILTERS
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for tested in FILTERS:
        np.testing.assert_array_equal(results[tested], expected[tested])

# SPDX-License-Identifier: Apache-2.0
"""Pipelines through classes of both wheels: updates, observers, abort, exceptions, threads."""
import threading
import time

import itk
import numpy as np
import pytest
from images import image_type, random_image
from interpreter import run_python

IMAGE = image_type(itk.F, 2)
CLASSES = (itk.CudaRecursiveGaussianImageFilter, itk.CudaSmoothingRecursiveGaussianImageFilter)
ALL_CLASSES = pytest.mark.parametrize("filter_class", CLASSES, ids=lambda c: c.__name__)


def pixels(image):
    return itk.array_from_image(image)


@ALL_CLASSES
def test_between_filters_of_the_itk_wheel(filter_class):
    image = random_image(itk.F, 2)
    median = itk.MedianImageFilter[IMAGE, IMAGE].New(Input=image, Radius=1)
    smoother = filter_class[IMAGE, IMAGE].New(Input=median.GetOutput(), Sigma=1.5)
    threshold = itk.BinaryThresholdImageFilter[IMAGE, image_type(itk.UC, 2)].New(
        Input=smoother.GetOutput(), LowerThreshold=5000.0, InsideValue=1
    )

    def expect_result(radius, sigma):
        threshold.Update()
        smoothed = filter_class.New(itk.median_image_filter(image, radius=radius), Sigma=sigma)
        smoothed.Update()
        result = pixels(threshold.GetOutput())
        np.testing.assert_array_equal(result, pixels(smoothed.GetOutput()) >= 5000.0)
        assert 0 < result.sum() < result.size

    expect_result(radius=1, sigma=1.5)
    first, smoothed_first = (f.GetOutput().GetUpdateMTime() for f in (threshold, smoother))
    threshold.Update()
    assert threshold.GetOutput().GetUpdateMTime() == first, "ran again though nothing had changed"
    median.SetRadius(2)
    expect_result(radius=2, sigma=1.5)
    assert smoother.GetOutput().GetUpdateMTime() > smoothed_first
    smoother.SetSigma(3.0)
    expect_result(radius=2, sigma=3.0)


def test_modification_times_of_both_wheels_come_from_one_clock():
    ours, theirs = itk.CudaRecursiveGaussianImageFilter.New(), itk.MedianImageFilter.New()
    times = []
    for _ in range(3):
        for instance in (ours, theirs):
            instance.Modified()
            times.append(instance.GetMTime())
    assert times == sorted(set(times))


@ALL_CLASSES
def test_files_in_and_out(filter_class, tmp_path):
    image = random_image(itk.F, 2)
    itk.imwrite(image, str(tmp_path / "in.mha"))
    reader = itk.ImageFileReader[IMAGE].New(FileName=str(tmp_path / "in.mha"))
    smoother = filter_class[IMAGE, IMAGE].New(Input=reader.GetOutput(), Sigma=2.0)
    itk.imwrite(smoother.GetOutput(), str(tmp_path / "out.nrrd"))
    written = itk.imread(str(tmp_path / "out.nrrd"), itk.F)
    smoother.SetInput(image)
    smoother.Update()
    np.testing.assert_array_equal(pixels(written), pixels(smoother.GetOutput()))
    assert np.allclose(written.GetSpacing(), image.GetSpacing())


@ALL_CLASSES
def test_output_outlives_its_filter(filter_class):
    smoother = filter_class.New(random_image(itk.F, 2), Sigma=1.5)
    smoother.Update()
    output = smoother.GetOutput()
    expected = pixels(output)
    output.DisconnectPipeline()
    view = itk.array_view_from_image(output)
    del smoother, output
    itk.CudaFiltersConfiguration.ReleaseMemory()
    np.testing.assert_array_equal(view, expected)


@ALL_CLASSES
def test_thread_pool_and_its_size_are_shared_with_the_itk_wheel(filter_class):
    threads = itk.MultiThreaderBase.GetGlobalDefaultNumberOfThreads()
    threader = itk.MultiThreaderBase.GetGlobalDefaultThreader()
    try:
        for kind in (itk.MultiThreaderBaseEnums.Threader_Pool, itk.MultiThreaderBaseEnums.Threader_TBB):
            itk.MultiThreaderBase.SetGlobalDefaultThreader(kind)
            ours, theirs = (c[IMAGE, IMAGE].New() for c in (filter_class, itk.MedianImageFilter))
            assert ours.GetMultiThreader().GetNameOfClass() == theirs.GetMultiThreader().GetNameOfClass()
            ours.SetInput(random_image(itk.F, 2))
            ours.Update()
        itk.MultiThreaderBase.SetGlobalDefaultNumberOfThreads(1)
        assert filter_class[IMAGE, IMAGE].New().GetMultiThreader().GetMaximumNumberOfThreads() == 1
    finally:
        itk.MultiThreaderBase.SetGlobalDefaultThreader(threader)
        itk.MultiThreaderBase.SetGlobalDefaultNumberOfThreads(threads)


@ALL_CLASSES
def test_observers(filter_class):
    smoother = filter_class.New(random_image(itk.F, 3), Sigma=2.0)
    smoother.SetNumberOfWorkUnits(1)  # ITK reports progress from one of several threads, which need not be the last one to end
    events, progress = [], []
    smoother.AddObserver(itk.StartEvent(), lambda: events.append("start"))
    smoother.AddObserver(itk.EndEvent(), lambda: events.append("end"))
    smoother.AddObserver(itk.ProgressEvent(), lambda: progress.append(smoother.GetProgress()))
    smoother.Update()
    assert events == ["start", "end"]
    assert progress == sorted(progress)
    assert progress[-1] == pytest.approx(1.0, abs=1e-4)


def test_progress_in_the_functional_form():
    printed = run_python(
        "import os, itk, numpy\n"
        "os.dup2(1, 2)\n"  # it goes to the standard error
        "itk.cuda_smoothing_recursive_gaussian_image_filter(numpy.ones((40, 50), 'f'), sigma=2.0, auto_progress=True)"
    )
    assert "CudaSmoothingRecursiveGaussianImageFilter" in printed


@ALL_CLASSES
def test_abort_from_an_observer_and_run_again(filter_class):
    image = random_image(itk.F, 3)
    smoother = filter_class.New(image, Sigma=2.0)
    smoother.AddObserver(itk.ProgressEvent(), smoother.AbortGenerateDataOn)
    with pytest.raises(RuntimeError, match="(?i)abort"):
        smoother.Update()
    smoother.RemoveAllObservers()
    smoother.AbortGenerateDataOff()
    smoother.Update()
    again = filter_class.New(image, Sigma=2.0)
    again.Update()
    np.testing.assert_array_equal(pixels(smoother.GetOutput()), pixels(again.GetOutput()))


@ALL_CLASSES
def test_exception_of_ours_reaches_python_through_a_filter_of_the_itk_wheel(filter_class):
    smoother = filter_class[IMAGE, IMAGE].New(Input=random_image(itk.F, 2), Sigma=0.0)
    median = itk.MedianImageFilter[IMAGE, IMAGE].New(Input=smoother.GetOutput())
    with pytest.raises(RuntimeError, match="(?i)sigma"):
        median.Update()
    smoother.SetSigma(1.0)
    median.Update()


@ALL_CLASSES
def test_exception_of_the_itk_wheel_reaches_python_through_ours(filter_class):
    reader = itk.ImageFileReader[IMAGE].New(FileName="no-such-file.mha")
    smoother = filter_class[IMAGE, IMAGE].New(Input=reader.GetOutput())
    with pytest.raises(RuntimeError, match="no-such-file.mha"):
        smoother.Update()


@ALL_CLASSES
def test_exception_of_a_python_observer(filter_class):
    smoother = filter_class.New(random_image(itk.F, 2))

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


@ALL_CLASSES
@pytest.mark.parametrize("method", ["Update", "UpdateLargestPossibleRegion"])
def test_other_python_threads_run_during_update(filter_class, method, on_gpu):
    shape = (128, 512, 512) if on_gpu else (32, 256, 256)
    image = itk.image_from_array(np.random.default_rng(1).random(shape, dtype=np.float32))
    smoother = filter_class.New(image, Sigma=2.0)
    with Ticks() as ticks:
        time.sleep(0.01)
        start = time.perf_counter()
        getattr(smoother, method)()
        end = time.perf_counter()
    # Without the lock released none could fall between, but one on the way into the method and one on the way out.
    during = [t for t in ticks.times if start < t < end]
    assert len(during) > 4, f"{len(during)} steps of another thread in {end - start:.3f} s"


@ALL_CLASSES
def test_two_threads_at_once(filter_class):
    images = [random_image(itk.F, 3, seed) for seed in (1, 2)]
    expected = []
    for image in images:
        smoother = filter_class.New(image, Sigma=2.0)
        smoother.Update()
        expected.append(pixels(smoother.GetOutput()))
    failures, events = [], []

    def work(index):
        try:
            for _ in range(20):
                smoother = filter_class.New(images[index], Sigma=2.0)
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

# SPDX-License-Identifier: Apache-2.0
"""Pipelines with filters in Python. test_python_pipelines.py runs each of these functions in a process of its own, because a filter
that runs Python without the interpreter's lock ends the process."""
import contextlib
import gc
import random
import signal
import threading
import time

import itk
import numpy as np
from filters import DISCRETE, FILTERS, LAPLACIAN, MAGNITUDE, RECURSIVE, SMOOTHING, VESSELNESS, some_image
from images import image_type, random_array, random_image

import itk_cudafilters
from itk_cudafilters import stream

gc.freeze()  # collections look at what the pipelines make, and not each time at what all the imports made

IMAGE = image_type(itk.F, 2)
VOLUME = image_type(itk.F, 3)


def pixels(image):
    return itk.array_from_image(image)


class InPython:
    """An itk.PyImageFilter that gives `function` of its input's pixels."""

    def __init__(self, image, function):
        self.function, self.calls, self.ended = function, 0, 0.0
        self.filter = itk.PyImageFilter[type(image), type(image)].New(image)
        self.filter.SetPyGenerateData(self._generate)
        self.filter.UpdateOutputInformation()  # tells ITK the object that it passes (docs/developer/upstream/py_image_filter.md)

    def _generate(self, instance):
        self.calls += 1
        source, result = instance.GetInput(), instance.GetOutput()
        region, held = result.GetRequestedRegion(), source.GetBufferedRegion()
        result.SetBufferedRegion(region)
        result.Allocate()
        starts = [region.GetIndex()[d] - held.GetIndex()[d] for d in reversed(range(source.GetImageDimension()))]
        sizes = [region.GetSize()[d] for d in reversed(range(source.GetImageDimension()))]
        part = tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))
        values = itk.array_view_from_image(source, update=False)[part]
        itk.array_view_from_image(result, update=False)[:] = self.function(values)
        gc.collect()  # whatever thread made what is collected
        self.ended = time.perf_counter()

    @property
    def output(self):
        return self.filter.GetOutput()


def doubled(values):
    return 2 * values + 1


def image_of(array, like):
    image = itk.image_from_array(np.ascontiguousarray(array))
    image.CopyInformation(like)
    return image


def raises(kind, words, function):
    try:
        function()
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"{function} raised no {kind}")


class Vesselness:
    """VESSELNESS, whose scales are no parameter of New()."""

    def run(self, image):
        instance = VESSELNESS.wrapped.New(image)
        instance.AddSigma(1.5)
        instance.Update()
        return instance

    def __str__(self):
        return str(VESSELNESS)


def above_each_filter():
    """Directly, behind a filter of ITK, and between two of ours."""
    for tested in (*FILTERS, Vesselness()):
        print(tested, flush=True)
        image = some_image(tested) if tested in FILTERS else random_image(itk.F, 2)
        kind = type(image)
        above = image_of(doubled(pixels(image)), image)
        expected = pixels(tested.run(above).GetOutput())
        source = InPython(image, doubled)
        for _ in range(2):
            np.testing.assert_array_equal(pixels(tested.run(source.output).GetOutput()), expected)
        assert source.calls == 1

        source = InPython(image, doubled)
        median = itk.MedianImageFilter[kind, kind].New(source.output, Radius=1)
        expected = pixels(tested.run(itk.median_image_filter(above, radius=1)).GetOutput())
        np.testing.assert_array_equal(pixels(tested.run(median.GetOutput()).GetOutput()), expected)

        first = SMOOTHING.wrapped[kind, kind].New(source.output, Sigma=1.5)
        between = InPython(first.GetOutput(), doubled)
        smoothed = pixels(SMOOTHING.run(above, Sigma=1.5).GetOutput())
        expected = pixels(tested.run(image_of(doubled(smoothed), image)).GetOutput())
        np.testing.assert_array_equal(pixels(tested.run(between.output).GetOutput()), expected)


def observers():
    image = random_image(itk.F, 2)
    for tested in (SMOOTHING, LAPLACIAN, DISCRETE):
        print(tested, flush=True)
        expected = pixels(tested.run(image_of(doubled(pixels(image)), image)).GetOutput())
        source = InPython(image, doubled)
        smoother = tested.wrapped.New(source.output, **tested.parameters)
        noted = []

        def note(name, noted=noted, image=image):
            gc.collect()
            noted.append(name)
            if name == "progress" and noted.count(name) == 1:  # a pipeline within the run of another one
                inner = InPython(image, doubled)
                np.testing.assert_array_equal(
                    pixels(SMOOTHING.run(inner.output).GetOutput()),
                    pixels(SMOOTHING.run(image_of(doubled(pixels(image)), image)).GetOutput()),
                )

        for instance in (source.filter, smoother):
            for name in ("start", "progress", "end", "abort"):
                instance.AddObserver(getattr(itk, name.capitalize() + "Event")(), lambda name=name: note(name))
        smoother.Update()
        np.testing.assert_array_equal(pixels(smoother.GetOutput()), expected)
        assert noted.count("start") == noted.count("end") == 2 and "progress" in noted, noted

        command = smoother.AddObserver(itk.ProgressEvent(), smoother.AbortGenerateDataOn)
        smoother.Modified()
        raises(RuntimeError, "bort", smoother.Update)
        assert "abort" in noted
        smoother.RemoveObserver(command)
        smoother.AbortGenerateDataOff()

        # ITK reports progress from destructors too, from where an exception ends the process. Ours do not.
        smoother.SetNumberOfWorkUnits(1)
        reports_by_itk = tested is DISCRETE
        if not reports_by_itk:
            smoother.SetApproximation("accurate")
        for event in ("Start", "End") if reports_by_itk else ("Start", "Progress", "End"):
            command = smoother.AddObserver(getattr(itk, event + "Event")(), lambda: 1 // 0)
            smoother.Modified()
            raises(RuntimeError, "CommandCallable", smoother.Update)
            smoother.RemoveObserver(command)
            smoother.ResetPipeline()
        if not reports_by_itk:
            smoother.SetApproximation("deriche")
        smoother.Modified()
        smoother.Update()
        np.testing.assert_array_equal(pixels(smoother.GetOutput()), expected)


def exceptions():
    """Raised in Python above: ITK prints them, and raises RuntimeError. The next update is right."""
    image = random_image(itk.F, 2)
    expected = pixels(SMOOTHING.run(image_of(doubled(pixels(image)), image)).GetOutput())
    for error in (ValueError("of a callable"), KeyboardInterrupt("of a callable")):

        def fail(values, error=error):
            raise error

        source = InPython(image, fail)
        smoother = SMOOTHING.wrapped.New(source.output, **SMOOTHING.parameters)
        raises(RuntimeError, "CommandCallable", smoother.Update)
        source.function = doubled
        smoother.ResetPipeline()
        smoother.Update()
        np.testing.assert_array_equal(pixels(smoother.GetOutput()), expected)


def interrupted_by_the_keyboard():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background of a shell ignore it
    source = InPython(itk.image_from_array(np.random.default_rng(1).random((64, 256, 256), dtype=np.float32)), doubled)
    smoother = SMOOTHING.wrapped.New(source.output, Sigma=3.0)
    smoother.SetNumberOfWorkUnits(1)
    began = threading.Event()
    smoother.AddObserver(itk.StartEvent(), began.set)
    interrupter = threading.Thread(target=lambda: began.wait() and signal.raise_signal(signal.SIGINT))
    interrupter.start()
    try:
        smoother.Update()
        for _ in range(1000):  # the signal waits for a step of Python
            time.sleep(0.01)
        raise AssertionError("no KeyboardInterrupt")
    except KeyboardInterrupt:
        pass
    interrupter.join()
    smoother.ResetPipeline()
    smoother.Modified()
    smoother.Update()
    expected = pixels(SMOOTHING.run(image_of(pixels(source.output), source.output), Sigma=3.0).GetOutput())
    np.testing.assert_array_equal(pixels(smoother.GetOutput()), expected)


@contextlib.contextmanager
def ticks():
    """The times at which another thread got its turn."""
    times, ended = [], threading.Event()

    def run():
        while not ended.wait(0.0005):
            times.append(time.perf_counter())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield times
    finally:
        ended.set()
        thread.join()


def others_run_meanwhile():
    """While our filter works behind Python: updated itself, as the override gave it for ITK's, and updated by a filter of ITK."""
    planes = 400 if itk_cudafilters.info().gpu_usable else 48  # some milliseconds of work: a turn takes half of one
    image = itk.image_from_array(np.random.default_rng(1).random((planes, 256, 256), dtype=np.float32))
    source = InPython(image, doubled)
    ours = SMOOTHING.wrapped.New(source.output, Sigma=3.0)
    with itk_cudafilters.override():
        of_itk = itk.SmoothingRecursiveGaussianImageFilter.New(source.output, Sigma=3.0)
    below = itk.ShiftScaleImageFilter[VOLUME, VOLUME].New(ours.GetOutput())
    source.filter.Update()
    for updated in (ours, of_itk, below):
        source.filter.Modified()
        ours.Modified()
        with ticks() as times:
            time.sleep(0.01)
            updated.Update()
            end = time.perf_counter()
        during = [t for t in times if source.ended < t < end]
        assert len(during) > 4, f"{updated.GetNameOfClass()}: {len(during)} turns in {end - source.ended:.3f} s"


def streaming():
    array = np.random.default_rng(3).random((600, 20, 24), dtype=np.float32)
    image = itk.image_from_array(array)
    for sigma in (4.0, 40.0):  # one sweep over the planes, and two
        print(sigma, flush=True)
        source = InPython(image, doubled)
        smoother = SMOOTHING.wrapped.New(source.output, Sigma=sigma)
        smoother.SetStreaming("on")
        smoother.Update()
        expected = pixels(smoother.GetOutput())
        smoother.Modified()
        before = source.calls
        below = InPython(smoother.GetOutput(), doubled)
        pieces = itk.StreamingImageFilter[VOLUME, VOLUME].New(below.output, NumberOfStreamDivisions=5)
        pieces.Update()
        np.testing.assert_array_equal(pixels(pieces.GetOutput()), doubled(expected))
        assert source.calls > before + 4 and below.calls == 5, (source.calls, below.calls)

        def fail_later(values, source=source, before=source.calls):
            if source.calls > before + 2:
                raise ValueError("of a plane")
            return doubled(values)

        source.function = fail_later
        source.filter.Modified()
        raises(RuntimeError, "CommandCallable", pieces.Update)
        source.function = doubled
        pieces.ResetPipeline()
        pieces.Update()
        np.testing.assert_array_equal(pixels(pieces.GetOutput()), doubled(expected))

    source = InPython(image, doubled)
    recursive = RECURSIVE.wrapped[VOLUME, VOLUME].New(source.output, Sigma=2.0, Direction=0)
    pieces = itk.StreamingImageFilter[VOLUME, VOLUME].New(recursive.GetOutput(), NumberOfStreamDivisions=4)
    pieces.Update()
    expected = RECURSIVE.wrapped[VOLUME, VOLUME].New(itk.image_from_array(doubled(array)), Sigma=2.0, Direction=0)
    expected.Update()
    np.testing.assert_array_equal(pixels(pieces.GetOutput()), pixels(expected.GetOutput()))


class PlanesOfPipelines:
    """A source of planes whose pixels a pipeline makes when they are asked for."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, planes):
        source = InPython(itk.image_from_array(self.array[planes]), doubled)
        shift = itk.ShiftScaleImageFilter[VOLUME, VOLUME].New(source.output, Shift=1.0)
        shift.Update()
        return pixels(shift.GetOutput())


def sources_of_stream():
    array = np.random.default_rng(4).random((300, 24, 20), dtype=np.float32)
    expected, failures = np.empty_like(array), []
    stream.gaussian_filter(doubled(array) + 1, expected, sigma=3.0)

    def run():
        try:
            result = np.empty_like(array)
            stream.gaussian_filter(PlanesOfPipelines(array), result, sigma=3.0, progress=lambda share: gc.collect())
            np.testing.assert_array_equal(result, expected)
        except BaseException as failure:  # to be reported by the main thread
            failures.append(failure)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def partitions():
    """Images and masks of partition_images() whose source is Python."""
    scenes = []
    for seed in range(4):
        noise = np.random.default_rng(seed).normal(0.0, 3.0, (60, 70))
        noise[10:40, 15 : 30 + 5 * seed] += 40.0
        scenes.append(itk.image_from_array(noise.astype(np.float32)))
    arrays = [doubled(pixels(scene)) for scene in scenes]
    masks = [np.ones(array.shape, np.uint8) for array in arrays]
    for mask in masks:
        mask[:, :8] = 0
    expected = itk_cudafilters.partition_images(arrays, law="gaussian", valid_mask=masks)
    sources = [InPython(scene, doubled) for scene in scenes]
    mask_sources = [InPython(itk.image_from_array(mask), lambda values: values) for mask in masks]
    found = itk_cudafilters.partition_images(
        [source.output for source in sources], law="gaussian", valid_mask=[source.output for source in mask_sources]
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(pixels(one.labels), other.labels)

    def fail(values):
        raise ValueError("of a callable")

    broken = [InPython(scenes[0], fail), *sources[1:]]
    raises(RuntimeError, "CommandCallable", lambda: itk_cudafilters.partition_images([b.output for b in broken], law="gaussian"))


def second_interpreter():
    """Python then says of every thread that it has the lock."""
    try:
        import _xxsubinterpreters as interpreters
    except ModuleNotFoundError:
        import _interpreters as interpreters
    interpreters.create()
    above_each_filter()


STEPS = {
    "median": lambda image: itk.MedianImageFilter[IMAGE, IMAGE].New(image, Radius=1),
    "shift": lambda image: itk.ShiftScaleImageFilter[IMAGE, IMAGE].New(image, Shift=3.0, Scale=0.5),
    "smoothing": lambda image: SMOOTHING.wrapped[IMAGE, IMAGE].New(image, Sigma=1.5),
    "accurate": lambda image: SMOOTHING.wrapped[IMAGE, IMAGE].New(image, Sigma=2.5, Approximation="accurate"),
    "recursive": lambda image: RECURSIVE.wrapped[IMAGE, IMAGE].New(image, Sigma=2.0, Direction=1),
    "laplacian": lambda image: LAPLACIAN.wrapped[IMAGE, IMAGE].New(image, Sigma=2.0),
    "magnitude": lambda image: MAGNITUDE.wrapped[IMAGE, IMAGE].New(image, Sigma=1.0),
    "discrete": lambda image: DISCRETE.wrapped[IMAGE, IMAGE].New(image, Variance=2.0),
    "streaming": lambda image: itk.StreamingImageFilter[IMAGE, IMAGE].New(image, NumberOfStreamDivisions=3),
}


def random_pipeline(chance):
    """Updates a pipeline of random steps, and compares it with the steps one after the other."""
    array = random_array(itk.F, 2, chance.randrange(1000))
    image, expected, kept = itk.image_from_array(array), array, []
    names = [chance.choice(["python", *STEPS]) for _ in range(chance.randint(2, 7))]
    fails = chance.random() < 0.2

    def observe(may_fail):
        if chance.random() < 0.2:
            gc.collect()
        if may_fail and fails and chance.random() < 0.3:
            raise ValueError("of an observer")

    for name in names:
        if name == "python":
            in_python = InPython(image, doubled)
            step, expected = in_python.filter, doubled(expected)
            kept.append(in_python)
        else:
            step = STEPS[name](image)
            alone = STEPS[name](itk.image_from_array(expected))
            alone.Update()
            expected = pixels(alone.GetOutput())
        for event in (itk.StartEvent, itk.ProgressEvent, itk.EndEvent):
            if chance.random() < 0.3:
                # ITK reports progress from destructors too, from where an exception ends the process.
                step.AddObserver(event(), lambda may_fail=event is not itk.ProgressEvent: observe(may_fail))
        kept.append(step)  # an image does not keep what makes it
        image = step.GetOutput()
    for _ in range(3):
        try:
            step.Update()
        except RuntimeError as error:
            if not fails:
                raise AssertionError(" ".join(names)) from error
            step.ResetPipeline()
            return
        np.testing.assert_array_equal(pixels(image), expected, err_msg=" ".join(names))
        step.Modified()


def random_pipelines(seed, threads=6, pipelines=25):
    failures = []

    def run(number):
        chance = random.Random(f"{seed} {number}")
        try:
            for _ in range(pipelines):
                random_pipeline(chance)
        except BaseException as failure:  # to be reported by the main thread
            failures.append(f"thread {number}: {failure!r} {failure.__cause__!r}")

    running = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failures, failures

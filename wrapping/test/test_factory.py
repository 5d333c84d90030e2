# SPDX-License-Identifier: Apache-2.0
"""The object factory: functions of the itk wheel give this module's classes, with ITK's results."""
import threading

import itk
import numpy as np
import pytest
from images import image_type, random_image
from interpreter import run_python

from itk_cudafilters import disable, enable, override

FILTERS = (
    "RecursiveGaussianImageFilter",
    "SmoothingRecursiveGaussianImageFilter",
    "GradientMagnitudeRecursiveGaussianImageFilter",
    "LaplacianRecursiveGaussianImageFilter",
    "DiscreteGaussianImageFilter",
)


@pytest.fixture
def factory():
    itk.CudaGaussianImageFilterFactory.RegisterFactories()
    yield itk.CudaGaussianImageFilterFactory
    itk.CudaGaussianImageFilterFactory.UnRegisterFactories()


def instantiate(name, pixel_type, dimension):
    image = image_type(pixel_type, dimension)
    return getattr(itk, name)[image, image].New()


def test_nothing_is_overridden_before():
    assert not itk.CudaGaussianImageFilterFactory.IsRegistered()
    for name in FILTERS:
        assert instantiate(name, itk.F, 2).GetNameOfClass() == name


def test_registering_twice_and_unregistering_twice(factory):
    factory.RegisterFactories()
    assert factory.IsRegistered()
    factory.UnRegisterFactories()
    assert not factory.IsRegistered()
    assert instantiate(FILTERS[0], itk.F, 2).GetNameOfClass() == FILTERS[0]
    factory.UnRegisterFactories()


@pytest.mark.parametrize("dimension", (2, 3, 4))
@pytest.mark.parametrize("pixel_type", (itk.UC, itk.US, itk.SS, itk.F, itk.D), ids=str)
@pytest.mark.parametrize("name", FILTERS)
def test_every_class_of_the_wheel_is_overridden(factory, name, pixel_type, dimension):
    assert instantiate(name, pixel_type, dimension).GetNameOfClass() == f"Cuda{name}"


def test_hessian_is_overridden(factory):
    hessian = itk.HessianRecursiveGaussianImageFilter[image_type(itk.F, 3)].New()
    assert hessian.GetNameOfClass() == "CudaHessianRecursiveGaussianImageFilter"


def test_gradient_of_two_components_in_three_dimensions_stays_itks(factory):
    classes = {
        dimension: {
            cls.New().GetNameOfClass()
            for (input_type, _), cls in itk.GradientRecursiveGaussianImageFilter.items()
            if input_type == image_type(itk.F, dimension)
        }
        for dimension in (2, 3)
    }
    assert classes[2] == {"CudaGradientRecursiveGaussianImageFilter"}
    assert classes[3] == {"GradientRecursiveGaussianImageFilter"}


@pytest.mark.parametrize("function", ("smoothing_recursive_gaussian_image_filter", "laplacian_recursive_gaussian_image_filter"))
def test_functions_of_the_wheel_give_itks_results(factory, function, on_gpu):
    image = random_image(itk.F, 3)
    overridden = itk.array_from_image(getattr(itk, function)(image, sigma=1.5))
    factory.UnRegisterFactories()
    expected = itk.array_from_image(getattr(itk, function)(image, sigma=1.5))
    # On the host ITK's code runs. On the GPU both are within 1e-6 of the largest value that the filter can give: for sums of
    # second derivatives that is 1e4 times the kernel's norm, below 3 per squared unit for the smallest spacing.
    tolerance = 3 * 2e-6 * 1e4 * 3 if on_gpu else 0.0
    np.testing.assert_allclose(overridden, expected, rtol=0.0, atol=tolerance)


@pytest.fixture
def nothing_registered():
    yield
    disable()


def is_overridden():
    itself = instantiate(FILTERS[1], itk.F, 2).GetNameOfClass() == f"Cuda{FILTERS[1]}"
    assert itk.CudaGaussianImageFilterFactory.IsRegistered() == itself
    return itself


def test_enable_and_disable(nothing_registered):
    disable()
    assert not is_overridden(), "to disable what is not enabled is no error"
    enable()
    enable()
    assert is_overridden()
    image = random_image(itk.F, 2)
    assert itk.SmoothingRecursiveGaussianImageFilter.New(image).GetNameOfClass() == "CudaSmoothingRecursiveGaussianImageFilter"
    disable()
    assert not is_overridden(), "to enable twice is to enable once"


def test_override_ends_with_its_block(nothing_registered):
    with override():
        assert is_overridden()
        existing = instantiate(FILTERS[1], itk.F, 2)
    assert not is_overridden()
    assert existing.GetNameOfClass() == f"Cuda{FILTERS[1]}"


def test_override_in_override(nothing_registered):
    with override():
        with override():
            assert is_overridden()
        assert is_overridden()
        with pytest.raises(KeyError):
            with override():
                raise KeyError
        assert is_overridden()
    assert not is_overridden()


def test_override_ends_with_an_exception(nothing_registered):
    with pytest.raises(ZeroDivisionError):
        with override():
            1 / 0
    assert not is_overridden()


def test_override_leaves_what_was_enabled_before(nothing_registered):
    enable()
    with override():
        assert is_overridden()
    assert is_overridden()


def test_disable_ends_an_open_block(nothing_registered):
    with override():
        disable()
        assert not is_overridden()
        with override():
            assert is_overridden()
    assert not is_overridden()


def test_override_as_a_decorator(nothing_registered):
    @override()
    def smooth():
        return is_overridden()

    assert smooth() and smooth()
    assert not is_overridden()


def test_overrides_of_several_threads(nothing_registered):
    """Each thread sees the filters of this module within its block, whichever thread's block ends first."""
    barrier, pause, seen = threading.Barrier(4, timeout=60), threading.Event(), []

    def run(index):
        for turn in range(50):
            barrier.wait()
            with override():
                seen.append(itk.CudaGaussianImageFilterFactory.IsRegistered())
                if (turn + index) % 4 == 0:
                    pause.wait(0.001)
                seen.append(itk.CudaGaussianImageFilterFactory.IsRegistered())

    threads = [threading.Thread(target=run, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert len(seen) == 400 and all(seen)
    assert not is_overridden()


def test_results_in_a_block(on_gpu):
    image = random_image(itk.F, 3)
    expected = itk.array_from_image(itk.smoothing_recursive_gaussian_image_filter(image, sigma=1.5))
    with override():
        found = itk.array_from_image(itk.smoothing_recursive_gaussian_image_filter(image, sigma=1.5))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=2e-6 * 1e4 if on_gpu else 0.0)


def test_override_of_the_environment_is_left_by_a_block():
    code = (
        "import itk, itk_cudafilters\n"
        "with itk_cudafilters.override():\n"
        "    pass\n"
        "print(itk.CudaGaussianImageFilterFactory.IsRegistered())\n"
        "itk_cudafilters.disable()\n"
        "print(itk.CudaGaussianImageFilterFactory.IsRegistered())"
    )
    assert run_python(code, ITK_CUDAFILTERS_OVERRIDE="1") == "True\nFalse\n"
    assert run_python(code, ITK_CUDAFILTERS_OVERRIDE="0") == "False\nFalse\n"

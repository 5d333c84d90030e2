# SPDX-License-Identifier: Apache-2.0
"""The object factory: functions of the itk wheel give this module's classes, with ITK's results."""
import itk
import numpy as np
import pytest
from images import image_type, random_image

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

# SPDX-License-Identifier: Apache-2.0
"""Wrong use is answered in words."""
import itk
import numpy as np
import pytest
from images import random_image

import itk_cudafilters

FUNCTIONS = (itk.cuda_recursive_gaussian_image_filter, itk.cuda_smoothing_recursive_gaussian_image_filter)
ALL_FUNCTIONS = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)


def smoother():
    return itk.CudaSmoothingRecursiveGaussianImageFilter.New(random_image(itk.F, 2))


@ALL_FUNCTIONS
def test_sigma_zero(function):
    with pytest.raises(RuntimeError, match="(?i)sigma.*must be greater than zero"):
        function(random_image(itk.F, 2), sigma=0.0)


@ALL_FUNCTIONS
def test_string_for_a_number(function):
    with pytest.raises(TypeError, match="SetSigma.*argument 2 of type 'double'"):
        function(random_image(itk.F, 2), sigma="two")


@ALL_FUNCTIONS
def test_unknown_parameter(function):
    with pytest.raises(AttributeError, match="SetSgima"):
        function(random_image(itk.F, 2), sgima=2.0)


@ALL_FUNCTIONS
@pytest.mark.parametrize("image", [itk.Image[itk.RGBPixel[itk.UC], 2], itk.VectorImage[itk.F, 3]], ids=["colour", "vector"])
def test_pixel_types_that_are_not_wrapped(function, image):
    with pytest.raises(itk.TemplateTypeError, match="(?s)is not wrapped for input type.*itk.Image\\[itk.F,2\\]"):
        function(image.New(), sigma=2.0)


@ALL_FUNCTIONS
@pytest.mark.parametrize("pixels", [np.complex64, np.int64], ids=str)
def test_numpy_types_that_are_not_wrapped(function, pixels):
    with pytest.raises((itk.TemplateTypeError, RuntimeError), match="is not wrapped for|No suitable template parameter"):
        function(np.zeros((10, 10), pixels), sigma=2.0)


@ALL_FUNCTIONS
def test_fewer_than_four_pixels(function):
    with pytest.raises(RuntimeError, match="(?i)number of pixels along (direction|dimension) 0 is .*four"):
        function(np.zeros((10, 3), np.float32), sigma=2.0)


def test_direction_out_of_range():
    with pytest.raises(RuntimeError, match="(?i)direction"):
        itk.cuda_recursive_gaussian_image_filter(random_image(itk.F, 2), direction=2)


def test_unknown_backend():
    with pytest.raises(RuntimeError, match='(?i)"gpu".*automatic, cuda.*host'):
        smoother().SetBackend("gpu")
    with pytest.raises(RuntimeError, match='(?i)"gpu".*automatic, cuda.*host'):
        itk.CudaFiltersConfiguration.SetBackend("gpu")


def test_backend_of_a_wrong_type():
    with pytest.raises(TypeError, match="SetBackend"):
        smoother().SetBackend(1.5)


def test_number_that_is_no_backend():
    for set_backend in (smoother().SetBackend, itk.CudaFiltersConfiguration.SetBackend):
        with pytest.raises(ValueError, match="Backend is 7; it must be automatic, cuda or host"):
            set_backend(7)


def test_device_index_below_minus_one():
    with pytest.raises(RuntimeError, match="DeviceIndex is -2; it must be a device's index or -1"):
        smoother().SetDeviceIndex(-2)


def test_device_that_does_not_exist():
    instance = smoother()
    instance.SetBackend("cuda")
    instance.SetDeviceIndex(99)
    with pytest.raises(RuntimeError, match="The backend of the filter is Cuda, but it cannot be used"):
        instance.Update()
    instance.SetBackend("host")
    instance.Update()


def test_cuda_without_a_gpu():
    found = itk_cudafilters.info()
    if found.gpu_usable:
        pytest.skip("this machine has a GPU")
    instance = smoother()
    instance.SetBackend("cuda")
    with pytest.raises(RuntimeError) as failure:
        instance.Update()
    assert "The backend of the filter is Cuda, but it cannot be used" in str(failure.value)
    assert found.reason in str(failure.value)
    if found.built_with_cuda and found.driver_version is None:
        assert "no NVIDIA driver" in found.reason
        assert "needs a driver for CUDA {}.{}".format(*found.required_driver_version) in found.status
    instance.SetBackend("automatic")
    instance.Update()
    assert found.reason in instance.GetBackendReason()

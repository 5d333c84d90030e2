# SPDX-License-Identifier: Apache-2.0
"""Wrong use is answered in words."""
import os
import shutil
import subprocess

import itk
import numpy as np
import pytest
from filters import ALL_FILTERS, DISCRETE, FILTERS, GAUSSIANS, SNAKE
from images import random_image
from interpreter import run_python

import itk_cudafilters

OLD_DRIVER = """
int cuInit(unsigned int flags) { return 0; }
int cuDriverGetVersion(int * version) { *version = 11040; return 0; }
"""


def smoother():
    return itk.CudaSmoothingRecursiveGaussianImageFilter.New(random_image(itk.F, 2))


@pytest.mark.parametrize("tested", [f for f in GAUSSIANS if f is not DISCRETE], ids=str)
def test_sigma_zero(tested):
    with pytest.raises(RuntimeError, match="(?i)sigma.*must be greater than zero"):
        tested.function(random_image(itk.F, 2), sigma=0.0)


@pytest.mark.parametrize("tested", GAUSSIANS, ids=str)
def test_string_for_a_number(tested):
    with pytest.raises(TypeError, match="SetSigma"):
        tested.function(random_image(itk.F, 2), sigma="two")


@ALL_FILTERS
def test_unknown_parameter(tested):
    with pytest.raises(AttributeError, match="SetSgima"):
        tested.function(random_image(itk.F, 2), sgima=2.0)


@ALL_FILTERS
@pytest.mark.parametrize("image", [itk.Image[itk.RGBPixel[itk.UC], 2], itk.VectorImage[itk.F, 3]], ids=["colour", "vector"])
def test_pixel_types_that_are_not_wrapped(tested, image):
    with pytest.raises(itk.TemplateTypeError, match="(?s)is not wrapped for input type.*itk.Image\\[itk.F,2\\]"):
        tested.function(image.New())


@ALL_FILTERS
@pytest.mark.parametrize("pixels", [np.complex64, np.int64], ids=lambda t: t.__name__)
def test_numpy_types_that_are_not_wrapped(tested, pixels):
    with pytest.raises(TypeError, match=f"image has pixels of type {pixels.__name__}; .*: convert to float32 by .*image"):
        tested.function(np.zeros((10, 10), pixels))


@pytest.mark.parametrize("tested", [f for f in GAUSSIANS if f is not DISCRETE], ids=str)
def test_fewer_than_four_pixels(tested):
    with pytest.raises(RuntimeError, match="(?i)(pixels along (direction|dimension|axis) 0|axis 0 has 3 pixels).*(four|4)"):
        tested.function(np.zeros((10, 3), np.float32), sigma=2.0)


@pytest.mark.parametrize("pixel_type", [itk.UC, itk.F], ids=str)
def test_volume_for_the_snake(pixel_type):
    with pytest.raises(itk.TemplateTypeError, match="(?s)is not wrapped for input type.*itk.Image\\[itk.UC,2\\]"):
        SNAKE.function(random_image(pixel_type, 3))


def test_images_of_double_for_the_snake():
    with pytest.raises(itk.TemplateTypeError, match="(?s)is not wrapped for input type.*itk.Image\\[itk.F,2\\]"):
        SNAKE.function(random_image(itk.D, 2))


def known_names(names):
    *others, last = names
    return ", ".join(others) + " or " + last


UNKNOWN_NAMES = {
    "NoiseLaw": known_names(law["name"] for law in SNAKE.new().GetNoiseLaws()),
    "Schedule": "CoarseToFine or AsPublished",
    "Start": "Automatic or MarginRectangle",
    "Partition": "OneWay, TwoWay or Exact",
    "LineBorders": "AsPublished or Exact",
    "IntermediateStorage": "Local or Global",
}


@pytest.mark.parametrize(
    "tested, parameter",
    [(f, name) for f in FILTERS for name in UNKNOWN_NAMES if hasattr(f.new(), f"Set{name}")],
    ids=str,
)
def test_unknown_names_are_answered_with_the_known_ones(tested, parameter):
    instance = tested.new()
    words = UNKNOWN_NAMES[parameter].replace(" or ", ", ").split(", ")
    with pytest.raises(RuntimeError) as failure:
        getattr(instance, f"Set{parameter}")("thing")
    assert parameter in str(failure.value) and '"thing"' in str(failure.value)
    assert all(word.lower() in str(failure.value).lower() for word in words)
    with pytest.raises(ValueError, match=f"{parameter} is 77; it must be {UNKNOWN_NAMES[parameter]}"):
        getattr(instance, f"Set{parameter}")(77)


def test_values_that_the_law_does_not_know():
    array = np.full((40, 50), 3.0, np.float32)
    array[10, 20] = -1.0
    with pytest.raises(RuntimeError, match=r"(?i)-1.*gamma|gamma.*-1"):
        SNAKE.function(array, noise_law="gamma")


def test_images_in_decibels():
    array = np.full((40, 50), -3.0, np.float32)
    with pytest.raises(RuntimeError, match=r"Is the image in decibels\? Then compute 10\^\(pixel / 10\) first"):
        SNAKE.function(array, noise_law="gamma")
    with pytest.raises(RuntimeError, match=r"Is the image in decibels\? Then compute 10\^\(pixel / 20\) first"):
        SNAKE.function(array, noise_law="rayleigh")


def test_snake_without_a_law():
    with pytest.raises(RuntimeError, match=r"NoiseLaw is not set; call SetNoiseLaw\(\) with .*Gaussian, .* or LogNormal"):
        itk.cuda_region_snake_image_filter(random_image(itk.F, 2))
    with pytest.raises(RuntimeError, match="NoiseLaw is not set"):
        SNAKE.wrapped.New(random_image(itk.F, 2)).GetNoiseLaw()
    with pytest.raises(TypeError, match="law"):
        itk_cudafilters.segment_region(np.ones((40, 50), np.float32))


@pytest.mark.parametrize(
    ("function", "parameter", "value", "wanted"),
    [
        (itk_cudafilters.segment_region, "maximum_step", -1, "an integer from 0 to 4294967295"),
        (itk_cudafilters.segment_region, "minimum_region_size", 2.5, "an integer from 0 to 18446744073709551615"),
        (itk_cudafilters.segment_region, "inside_value", 256, "an integer from 0 to 255"),
        (itk_cudafilters.segment_region, "looks", "one", "a number"),
        (itk_cudafilters.segment_region, "use_description_length", 1, "True or False"),
        (itk_cudafilters.segment_region, "device_index", None, "an integer from -2147483648 to 2147483647"),
        (itk_cudafilters.partition_image, "block_size", -1, "an integer from 0 to 4294967295"),
        (itk_cudafilters.partition_image, "block_size", np.array([4]), "an integer from 0 to 4294967295"),
        (itk_cudafilters.partition_image, "looks", "one", "a number"),
        (itk_cudafilters.partition_image, "labels_only", None, "True or False"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_numbers_of_wrong_kinds(function, parameter, value, wanted):
    with pytest.raises((TypeError, ValueError)) as caught:
        function(np.ones((30, 30), np.float32), "gamma", **{parameter: value})
    assert str(caught.value) == f"{parameter} is {value!r}; it must be {wanted}"


@pytest.mark.parametrize("number", [np.uint8(2), np.int64(2), np.float32(2), np.float64(2)], ids=lambda n: type(n).__name__)
def test_numbers_of_numpy(number):
    image = np.random.default_rng(7).gamma(4, size=(40, 40)).astype(np.float32)
    name = "block_size" if isinstance(number, np.integer) else "looks"
    found, expected = (itk_cudafilters.partition_image(image, "gamma", **{name: value}) for value in (number, number.item()))
    np.testing.assert_array_equal(found.labels, expected.labels)


def test_two_starts_for_the_snake():
    mask = itk.image_from_array(np.ones((37, 53), np.uint8))
    region = itk.ImageRegion[2]([5, 5], [10, 10])
    with pytest.raises(RuntimeError, match="InitialPath, InitialMask and InitialRegion"):
        SNAKE.function(random_image(itk.F, 2), initial_mask=mask, initial_region=region, noise_law="gaussian")


def test_contour_point_that_is_not_there():
    with pytest.raises(RuntimeError, match="Contour point 7 was asked for; there are 0"):
        SNAKE.new().GetContourPoint(7)


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


def test_cuda_without_a_gpu(backend):
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
    # The process-wide setting comes before what was found.
    assert ("the backend of CudaFiltersConfiguration is Host" if backend == "host" else found.reason) in instance.GetBackendReason()


@pytest.mark.skipif(not itk_cudafilters.info().built_with_cuda, reason="built without CUDA")
def test_driver_too_old(tmp_path):
    """A library in the place of the driver that says that it is of CUDA 11.4."""
    compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
    if not compiler:
        pytest.skip("no C compiler to make a driver with")
    (tmp_path / "driver.c").write_text(OLD_DRIVER)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", tmp_path / "driver.c"], check=True)
    text = run_python(
        "import itk, itk_cudafilters, numpy\n"
        "found = itk_cudafilters.info()\n"
        "print(found.driver_version, found.reason)\n"
        "try:\n"
        "    itk.cuda_smoothing_recursive_gaussian_image_filter(numpy.ones((8, 8), 'f'), backend='cuda')\n"
        "except RuntimeError as failure:\n"
        "    print(failure)",
        LD_LIBRARY_PATH=os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]),
    )
    needed = "{}.{}".format(*itk_cudafilters.info().required_driver_version)
    assert text.startswith("(11, 4) ")
    assert text.count("11.4") >= 2 and text.count(needed) >= 2


def test_functions_say_what_is_wrong_in_one_sentence():
    """ITK's classes give RuntimeError with a place in the sources; the functions of the package give ValueError without it."""
    image = np.random.default_rng(1).exponential(1.0, (40, 50)).astype(np.float32)
    calls = [
        lambda: itk_cudafilters.segment_region(image, "gamma", looks=-1),
        lambda: itk_cudafilters.partition_image(image, "gamma", block_size=3),
        lambda: itk_cudafilters.partition_images([image, image], "gamma", block_size=3),
        lambda: itk_cudafilters.partition_image(-image, "gamma", looks=1),
        lambda: itk_cudafilters.vesselness(image, [1], "jerman", tau=1.5),
    ]
    for call in calls:
        with pytest.raises(ValueError) as failure:
            call()
        sentence = str(failure.value)
        assert "\n" not in sentence and "ITK ERROR" not in sentence and ".h:" not in sentence and ".hxx:" not in sentence
        assert sentence.split()[0] in ("NumberOfLooks", "BlockSize", "Pixel", "tau") and "0x" not in sentence


@pytest.mark.skipif(itk_cudafilters.info().gpu_usable, reason="a GPU can be used here")
def test_a_gpu_that_is_missing_remains_a_runtime_error():
    for call in (
        lambda: itk_cudafilters.gaussian_filter(np.zeros((8, 9), np.float32), 1, backend="cuda"),
        lambda: itk_cudafilters.partition_image(np.ones((8, 9), np.float32), "gaussian", backend="cuda"),
        lambda: itk_cudafilters.to_device(np.zeros((8, 9), np.float32)),
    ):
        with pytest.raises(RuntimeError, match=r"\A[^\n]*cannot be used[^\n]*\Z|\A[^\n]*no NVIDIA driver[^\n]*\Z|\A[^\n]*built without CUDA[^\n]*\Z"):
            call()

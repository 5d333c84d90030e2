# SPDX-License-Identifier: Apache-2.0
"""Arrays of the pixels of images: those of itk's views, and they hold what they show."""
import gc

import itk
import numpy as np
import pytest
from itk_cudafilters import gaussian_filter, partition_image, segment_region
from itk_cudafilters._images import like, pixels_of

SCALARS = [np.uint8, np.int16, np.uint16, np.uint32, np.float32, np.float64]
VECTORS = {
    "VectorImage": lambda: itk.VectorImage[itk.F, 3],
    "RGB": lambda: itk.Image[itk.RGBPixel[itk.UC], 2],
    "CovariantVector": lambda: itk.Image[itk.CovariantVector[itk.F, 3], 3],
    "tensor": lambda: itk.Image[itk.SymmetricSecondRankTensor[itk.D, 3], 3],
}


def overwrite_free_memory(like_this):
    """Gives memory that nobody holds to other arrays for a moment."""
    gc.collect()
    return len([np.full_like(like_this, 77) for _ in range(40)])


@pytest.mark.parametrize("dtype", SCALARS)
@pytest.mark.parametrize("shape", [(3, 4), (7, 1), (2, 3, 4)])
def test_numbers(dtype, shape):
    values = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    image = itk.image_from_array(values)
    pixels = pixels_of(image)
    expected = itk.array_view_from_image(image)
    assert type(pixels) is np.ndarray and pixels.dtype == expected.dtype and np.array_equal(pixels, expected)
    pixels[...] = 1
    assert np.all(itk.array_view_from_image(image) == 1)


@pytest.mark.parametrize("name", VECTORS)
def test_several_numbers(name):
    image = VECTORS[name]().New()
    image.SetRegions([3] * image.GetImageDimension())
    if name == "VectorImage":
        image.SetNumberOfComponentsPerPixel(1)
    image.Allocate(True)
    expected = itk.array_view_from_image(image)
    assert pixels_of(image).shape == expected.shape and pixels_of(image).dtype == expected.dtype


def test_output_of_a_filter_is_brought_up_to_date():
    first = itk.image_from_array(np.full((5, 6), 3, np.float32))
    square = itk.SquareImageFilter.New(first)
    assert np.all(pixels_of(square.GetOutput()) == 9)


@pytest.mark.parametrize("region", [None, [5, 6]])
@pytest.mark.parametrize("image_type", [lambda: itk.Image[itk.F, 2], VECTORS["RGB"]], ids=["numbers", "RGB"])
def test_images_without_pixels_are_refused(region, image_type):
    image = image_type().New()
    if region is not None:
        image.SetRegions(region)
    with pytest.raises(ValueError, match=r"image is an itk.Image without pixels in memory: call Update\(\)"):
        pixels_of(image)


@pytest.mark.parametrize("function", [gaussian_filter, partition_image, segment_region])
def test_functions_refuse_the_output_of_a_filter_that_went_away(function):
    image = itk.SquareImageFilter.New(itk.image_from_array(np.ones((5, 6), np.float32))).GetOutput()
    second = 1.0 if function is gaussian_filter else "gaussian"
    with pytest.raises(ValueError, match=r"(image|input) is an itk.Image without pixels in memory"):
        function(image, second)


@pytest.mark.parametrize("dtype", SCALARS)
def test_pixels_outlive_their_image(dtype):
    arrays = [pixels_of(itk.image_from_array(np.full((300, 400), i, dtype))) for i in range(20)]
    arrays += [like(itk.image_from_array(np.full((300, 400), i, dtype)), arrays[0], None) for i in range(20)]
    overwrite_free_memory(arrays[0])
    assert all(np.all(array == i % 20) for i, array in enumerate(arrays))


def test_results_outlive_their_filters():
    rng = np.random.default_rng(6)
    means = np.full((60, 80), 20.0)
    means[20:40, 30:60] = 90.0
    images = [rng.poisson(means).astype(np.uint16) for _ in range(8)]
    originals = [image.copy() for image in images]
    for image in images:
        image.flags.writeable = False
    labels = [partition_image(image, "poisson").labels for image in images]
    labels += [segment_region(image, "poisson", initial_region=(20, 10, 40, 40)).label for image in images]
    copies = [np.array(label) for label in labels]
    overwrite_free_memory(copies[0])
    assert all(np.array_equal(label, copy) for label, copy in zip(labels, copies, strict=True))
    assert all(label.flags.writeable and type(label) is np.ndarray for label in labels)
    assert all(np.array_equal(image, original) for image, original in zip(images, originals, strict=True))

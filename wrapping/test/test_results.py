# SPDX-License-Identifier: Apache-2.0
"""Results, against ITK's filters of the itk wheel; images of all wrapped types, NumPy and xarray arrays."""
import itk
import numpy as np
import pytest
from images import DIMENSIONS, DTYPES, expect_equal_to_itk, image_type, kernel_norm, random_array, random_image

SIGMA = 1.75  # 0.9 to 3.5 pixels
ALL_TYPES = pytest.mark.parametrize("pixel_type", DTYPES, ids=str)
ALL_DIMENSIONS = pytest.mark.parametrize("dimension", DIMENSIONS)
FUNCTIONS = {
    itk.cuda_recursive_gaussian_image_filter: itk.CudaRecursiveGaussianImageFilter,
    itk.cuda_smoothing_recursive_gaussian_image_filter: itk.CudaSmoothingRecursiveGaussianImageFilter,
}
ALL_FUNCTIONS = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)


def in_float64(image):
    # By way of an array: CastImageFilter of the itk wheel knows no images of four dimensions.
    precise = itk.image_from_array(itk.array_from_image(image).astype(np.float64))
    precise.CopyInformation(image)
    return precise


def largest_of(image):
    return float(np.abs(itk.array_view_from_image(image).astype(np.float64)).max())


@ALL_TYPES
@ALL_DIMENSIONS
def test_smoothing(pixel_type, dimension):
    image = random_image(pixel_type, dimension)
    sigma_array = [1.0, 2.5, 1.75, 1.25][:dimension]
    results = [
        itk.array_from_image(function(input_image, sigma_array=sigma_array))
        for function, input_image in (
            (itk.cuda_smoothing_recursive_gaussian_image_filter, image),
            (itk.smoothing_recursive_gaussian_image_filter, image),
            (itk.smoothing_recursive_gaussian_image_filter, in_float64(image)),
        )
    ]
    assert results[0].dtype == DTYPES[pixel_type]
    expect_equal_to_itk(*results, largest=largest_of(image))


@ALL_TYPES
@ALL_DIMENSIONS
@pytest.mark.parametrize("order", [0, 1, 2])
def test_derivatives_along_each_axis(pixel_type, dimension, order):
    image = random_image(pixel_type, dimension)
    for direction in range(dimension):
        parameters = {"sigma": SIGMA, "direction": direction, "order": order}
        results = [
            itk.array_from_image(function(input_image, **parameters))
            for function, input_image in (
                (itk.cuda_recursive_gaussian_image_filter, image),
                (itk.recursive_gaussian_image_filter, image),
                (itk.recursive_gaussian_image_filter, in_float64(image)),
            )
        ]
        expect_equal_to_itk(*results, largest=largest_of(image), norm=kernel_norm(order, SIGMA))


@pytest.mark.parametrize("order", [1, 2])
def test_normalisation_across_scale(order):
    image = random_image(itk.F, 2)
    parameters = {"sigma": SIGMA, "order": order, "normalize_across_scale": True}
    results = [
        itk.array_from_image(function(input_image, **parameters))
        for function, input_image in (
            (itk.cuda_recursive_gaussian_image_filter, image),
            (itk.recursive_gaussian_image_filter, image),
            (itk.recursive_gaussian_image_filter, in_float64(image)),
        )
    ]
    expect_equal_to_itk(*results, largest=largest_of(image), norm=kernel_norm(order, SIGMA) * SIGMA**order)


@ALL_TYPES
def test_constant_images_come_out_exactly(pixel_type):
    image = itk.image_from_array(np.full((20, 30), 117, DTYPES[pixel_type]))
    result = itk.array_from_image(itk.cuda_smoothing_recursive_gaussian_image_filter(image, sigma=3.0, backend="automatic"))
    if itk.CudaFiltersConfiguration.GetBackend() == itk.CudaFiltersEnums.Backend_Cuda:
        np.testing.assert_array_equal(result, 117)
    else:  # ITK's own code rounds a little
        np.testing.assert_allclose(result, 117, atol=1 if pixel_type in (itk.UC, itk.US, itk.SS) else 1e-4)


@ALL_FUNCTIONS
@ALL_TYPES
@ALL_DIMENSIONS
def test_spacing_origin_and_direction_are_kept(function, pixel_type, dimension):
    image = random_image(pixel_type, dimension)
    result = function(image, sigma=SIGMA)
    assert type(result) is image_type(pixel_type, dimension)
    assert result.GetSpacing() == image.GetSpacing()
    assert result.GetOrigin() == image.GetOrigin()
    np.testing.assert_array_equal(itk.array_from_matrix(result.GetDirection()), itk.array_from_matrix(image.GetDirection()))
    assert result.GetLargestPossibleRegion() == image.GetLargestPossibleRegion()


@ALL_FUNCTIONS
@ALL_TYPES
@ALL_DIMENSIONS
def test_numpy_in_numpy_out(function, pixel_type, dimension):
    array = random_array(pixel_type, dimension)
    before = array.copy()
    result = function(array, sigma=SIGMA)
    assert isinstance(result, np.ndarray)
    assert result.dtype == array.dtype and result.shape == array.shape
    np.testing.assert_array_equal(array, before)
    np.testing.assert_array_equal(result, itk.array_from_image(function(itk.image_from_array(array), sigma=SIGMA)))


@ALL_FUNCTIONS
def test_xarray_in_xarray_out(function):
    xarray = pytest.importorskip("xarray")
    image = random_image(itk.F, 3)
    array = itk.xarray_from_image(image)
    result = function(array, sigma=SIGMA)
    assert isinstance(result, xarray.DataArray)
    assert result.dims == array.dims
    for name in array.coords:
        np.testing.assert_array_equal(result.coords[name], array.coords[name])
    np.testing.assert_array_equal(result.values, itk.array_from_image(function(image, sigma=SIGMA)))


@ALL_FUNCTIONS
def test_images_with_an_index_that_is_not_zero(function):
    image = random_image(itk.F, 2)
    region = itk.ImageRegion[2]([5, 7], [30, 20])
    cropped = itk.region_of_interest_image_filter(image, region_of_interest=region)
    extracted = itk.extract_image_filter(image, extraction_region=region, direction_collapse_to_strategy=1)
    assert list(extracted.GetLargestPossibleRegion().GetIndex()) == [5, 7]
    result = function(extracted, sigma=SIGMA)
    assert list(result.GetLargestPossibleRegion().GetIndex()) == [5, 7]
    np.testing.assert_array_equal(itk.array_from_image(result), itk.array_from_image(function(cropped, sigma=SIGMA)))


@ALL_FUNCTIONS
@pytest.mark.parametrize("divisions", [1, 3, 7])
def test_streaming_changes_no_bit(function, divisions):
    image = random_image(itk.F, 3)
    source = FUNCTIONS[function].New(image, Sigma=SIGMA)
    streamed = itk.streaming_image_filter(source.GetOutput(), number_of_stream_divisions=divisions)
    np.testing.assert_array_equal(itk.array_from_image(streamed), itk.array_from_image(function(image, sigma=SIGMA)))


def test_in_place():
    image = random_image(itk.F, 2)
    expected = itk.array_from_image(itk.cuda_recursive_gaussian_image_filter(image, sigma=SIGMA))
    smoother = itk.CudaRecursiveGaussianImageFilter.New(image, Sigma=SIGMA, InPlace=True)
    smoother.Update()
    np.testing.assert_array_equal(itk.array_from_image(smoother.GetOutput()), expected)

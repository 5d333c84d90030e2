# SPDX-License-Identifier: Apache-2.0
"""Results, against ITK's filters of the itk wheel; images of all wrapped types, NumPy and xarray arrays."""
import gc
import itertools
import math

import itk
import numpy as np
import pytest
from filters import (
    ALL_FILTERS,
    ALL_GAUSSIANS,
    ALL_INPUTS,
    DISCRETE,
    FILTERS,
    GAUSSIANS,
    GRADIENT,
    HESSIAN,
    LAPLACIAN,
    MAGNITUDE,
    PARTITION,
    PARTITIONED,
    SNAKE,
    some_image,
)
from images import (
    DIMENSIONS,
    DTYPES,
    RELATIVE_ERROR,
    expect_equal_to_itk,
    image_type,
    in_float64,
    kernel_norm,
    largest_of,
    random_array,
    random_image,
    rotation,
)

SIGMA = 1.75  # 0.9 to 3.5 pixels
ALL_TYPES = pytest.mark.parametrize("pixel_type", DTYPES, ids=str)
ALL_DIMENSIONS = pytest.mark.parametrize("dimension", DIMENSIONS)


def derivative(image, orders):
    """Gaussian derivative in float64, of these orders along the axes, by ITK's filter along one axis after the other, whose
    derivatives are those by the index."""
    spacing = np.array(image.GetSpacing())
    for direction, order in enumerate(orders):
        image = itk.recursive_gaussian_image_filter(image, sigma=SIGMA, direction=direction, order=order)
    return itk.array_from_image(image) / np.prod(spacing ** np.array(orders))


def unit(dimension, axis):
    return tuple(int(axis == other) for other in range(dimension))


def gradient(image):
    dimension = image.GetImageDimension()
    return np.stack([derivative(image, unit(dimension, axis)) for axis in range(dimension)], axis=-1)


def second_derivatives(image):
    """Upper half, row after row."""
    dimension = image.GetImageDimension()
    pairs = itertools.combinations_with_replacement(range(dimension), 2)
    orders = [np.add(unit(dimension, i), unit(dimension, j)).tolist() for i, j in pairs]
    return np.stack([derivative(image, order) for order in orders], axis=-1)


def laplacian(image):
    dimension = image.GetImageDimension()
    return sum(derivative(image, [2 * order for order in unit(dimension, axis)]) for axis in range(dimension))


def both(tested, image, **parameters):
    """Results of a filter and of its superclass in the itk wheel."""
    theirs = getattr(itk, tested.superclass).New(image, **parameters)
    theirs.Update()
    return itk.array_from_image(tested.function(image, **parameters)), itk.array_from_image(theirs.GetOutput())


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
    expect_equal_to_itk(*results, bound=RELATIVE_ERROR * largest_of(image))


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
        expect_equal_to_itk(*results, bound=RELATIVE_ERROR * largest_of(image) * kernel_norm(order, SIGMA))


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
    expect_equal_to_itk(*results, bound=RELATIVE_ERROR * largest_of(image) * kernel_norm(order, SIGMA) * SIGMA**order)


# The reference in float64 and the L1 norm of the kernels behind a value, in D dimensions. ITK's own code, which is what runs
# without a GPU, rounds to float between the axes: its distance from the reference is added to the bound.
DERIVATIVES = {
    MAGNITUDE: (lambda image: np.linalg.norm(gradient(image), axis=-1), lambda d: math.sqrt(d) * kernel_norm(1, SIGMA)),
    LAPLACIAN: (laplacian, lambda d: d * kernel_norm(2, SIGMA)),
    HESSIAN: (second_derivatives, lambda d: kernel_norm(2, SIGMA)),
}


@pytest.mark.parametrize("tested", DERIVATIVES, ids=str)
@ALL_TYPES
@ALL_DIMENSIONS
def test_composites_of_derivatives(tested, pixel_type, dimension):
    image = random_image(pixel_type, dimension)
    ours, theirs = both(tested, image, sigma=SIGMA)
    reference, norm = DERIVATIVES[tested]
    precise = reference(in_float64(image))
    as_float = image
    if pixel_type not in (itk.F, itk.D):
        as_float = itk.image_from_array(itk.array_from_image(image).astype(np.float32))
        as_float.CopyInformation(image)
    of_itk = np.abs(both(tested, as_float, sigma=SIGMA)[1] - precise).max()
    bound = RELATIVE_ERROR * largest_of(image) * norm(dimension)
    assert of_itk < 3.0 * bound, "ITK's own rounding"
    expect_equal_to_itk(ours, theirs, precise, bound + of_itk)


@ALL_TYPES
@ALL_DIMENSIONS
@pytest.mark.parametrize("use_image_direction", [True, False], ids=["physical", "along_axes"])
def test_gradient(pixel_type, dimension, use_image_direction):
    image = random_image(pixel_type, dimension)
    ours = GRADIENT.function(image, sigma=SIGMA, use_image_direction=use_image_direction)
    assert type(ours) is GRADIENT.output(pixel_type, dimension)
    ours = itk.array_from_image(ours)
    assert ours.shape[-1] == dimension
    precise = gradient(in_float64(image))
    if use_image_direction:
        precise = precise @ rotation(dimension).T
    # Twice the bound: see above; for these types ITK wraps no filter to compare with.
    bound = 2.0 * RELATIVE_ERROR * largest_of(image) * math.sqrt(dimension) * kernel_norm(1, SIGMA)
    np.testing.assert_allclose(ours, precise, rtol=0.0, atol=bound)
    if dimension == 2:
        theirs = itk.GradientRecursiveGaussianImageFilter[GRADIENT.key(pixel_type, 2)].New(
            image, Sigma=SIGMA, UseImageDirection=use_image_direction
        )
        theirs.Update()
        np.testing.assert_allclose(ours, itk.array_from_image(theirs.GetOutput()), rtol=0.0, atol=bound)


def test_gradient_of_an_image_of_vectors():
    arrays = [random_array(itk.F, 2, seed) for seed in (1, 2)]
    vectors = itk.image_from_array(np.stack(arrays, axis=-1), ttype=itk.Image[itk.Vector[itk.F, 2], 2])
    result = itk.array_from_image(GRADIENT.function(vectors, sigma=SIGMA))
    for index, array in enumerate(arrays):
        np.testing.assert_allclose(
            result[..., 2 * index : 2 * index + 2],
            itk.array_from_image(GRADIENT.function(itk.image_from_array(array), sigma=SIGMA)),
            rtol=0.0,
            atol=RELATIVE_ERROR * array.max() * kernel_norm(1, SIGMA),
        )


@ALL_TYPES
@ALL_DIMENSIONS
def test_discrete_gaussian(pixel_type, dimension):
    image = random_image(pixel_type, dimension)
    ours, theirs = both(DISCRETE, image, variance=2.0, maximum_error=0.02)
    if pixel_type in (itk.F, itk.D):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=RELATIVE_ERROR * largest_of(image))
    else:
        np.testing.assert_array_equal(ours, theirs)


@ALL_TYPES
@ALL_DIMENSIONS
def test_partition_changes_nothing_but_rounding(pixel_type, dimension):
    image = itk.image_from_array(np.resize(random_array(pixel_type, dimension), (70,) * (dimension - 1) + (80,))[:35])
    one_way, exact = (
        itk.array_from_image(PARTITIONED.function(image, sigma=SIGMA, partition=partition, **blocks))
        for partition, blocks in (("oneway", {}), ("exact", {"number_of_blocks": 2}))
    )
    assert one_way.dtype == DTYPES[pixel_type]
    atol = 2.0 * RELATIVE_ERROR * largest_of(image) if pixel_type in (itk.F, itk.D) else 1.0
    np.testing.assert_allclose(exact.astype(np.float64), one_way.astype(np.float64), rtol=0.0, atol=atol)


@pytest.mark.parametrize("partition", ["oneway", "twoway", "exact"])
def test_partitioned_filter_is_near_itks_gaussian(partition):
    # Young and van Vliet's and Deriche's recursions approximate the same Gaussian.
    y, x = np.mgrid[:128, :128]
    array = (1000.0 * np.exp(-((x - 60) ** 2 + (y - 70) ** 2) / 800.0)).astype(np.float32)
    ours = PARTITIONED.function(array, sigma=4.0, partition=partition)
    difference = np.abs(ours - itk.smoothing_recursive_gaussian_image_filter(array, sigma=4.0))
    # An approximation around the central pixels: 32 dB or more on the images of docs/developer/two_way_paper.md.
    if partition == "twoway":
        assert 20.0 * np.log10(1000.0 / np.sqrt(np.mean(difference.astype(np.float64) ** 2))) > 32.0
    else:
        assert difference.max() < 10.0
    assert np.abs(ours - array).max() > 20.0


@ALL_TYPES
@pytest.mark.parametrize("tested", [f for f in GAUSSIANS if f not in DERIVATIVES and f is not GRADIENT], ids=str)
def test_constant_images_come_out_exactly(tested, pixel_type, on_gpu):
    image = itk.image_from_array(np.full((20, 30), 117, DTYPES[pixel_type]))
    result = itk.array_from_image(tested.function(image, sigma=3.0))
    if tested is PARTITIONED or (on_gpu and tested is not DISCRETE):
        np.testing.assert_array_equal(result, 117)
    else:  # ITK's own code rounds a little, and truncates
        np.testing.assert_allclose(result, 117, atol=1 if pixel_type in (itk.UC, itk.US, itk.SS) else 1e-4)


@ALL_INPUTS
def test_spacing_origin_and_direction_are_kept(tested, pixel_type, dimension):
    image = random_image(pixel_type, dimension)
    result = tested.run(image).GetOutput()
    assert type(result) is tested.output(pixel_type, dimension)
    assert result.GetSpacing() == image.GetSpacing()
    assert result.GetOrigin() == image.GetOrigin()
    np.testing.assert_array_equal(itk.array_from_matrix(result.GetDirection()), itk.array_from_matrix(image.GetDirection()))
    assert result.GetLargestPossibleRegion() == image.GetLargestPossibleRegion()


@ALL_INPUTS
def test_numpy_in_numpy_out(tested, pixel_type, dimension):
    array = random_array(pixel_type, dimension)
    before = array.copy()
    result = tested.function(array)
    assert isinstance(result, np.ndarray)
    assert result.shape[:dimension] == array.shape
    np.testing.assert_array_equal(array, before)
    np.testing.assert_array_equal(result, itk.array_from_image(tested.function(itk.image_from_array(array))))


@ALL_FILTERS
def test_xarray_in_xarray_out(tested):
    xarray = pytest.importorskip("xarray")
    image = some_image(tested)
    array = itk.xarray_from_image(image)
    result = tested.function(array)
    assert isinstance(result, xarray.DataArray)
    assert result.dims[: array.ndim] == array.dims
    for name in array.coords:
        np.testing.assert_array_equal(result.coords[name], array.coords[name])
    np.testing.assert_array_equal(result.values, itk.array_from_image(tested.function(image)))


@ALL_FILTERS
def test_images_with_an_index_that_is_not_zero(tested):
    image = random_image(itk.F, 2)
    region = itk.ImageRegion[2]([5, 7], [30, 20])
    cropped = itk.region_of_interest_image_filter(image, region_of_interest=region)
    extracted = itk.extract_image_filter(image, extraction_region=region, direction_collapse_to_strategy=1)
    assert list(extracted.GetLargestPossibleRegion().GetIndex()) == [5, 7]
    result = tested.function(extracted)
    assert list(result.GetLargestPossibleRegion().GetIndex()) == [5, 7]
    np.testing.assert_array_equal(itk.array_from_image(result), itk.array_from_image(tested.function(cropped)))


@pytest.mark.parametrize("tested", [f for f in FILTERS if f not in (HESSIAN, PARTITION)], ids=str)
@pytest.mark.parametrize("divisions", [1, 3, 7])
def test_streaming_changes_no_bit(tested, divisions):
    # itk::StreamingImageFilter is not wrapped for images of tensors and of unsigned int.
    image = some_image(tested)
    source = tested.wrapped.New(image, **tested.required)
    output = source.GetOutput()
    if type(output) is image_type(itk.F, 3) or type(output) is image_type(itk.UC, 2):
        streamed = itk.StreamingImageFilter[type(output), type(output)].New(output, NumberOfStreamDivisions=divisions)
    else:
        assert tested is GRADIENT
        length = itk.VectorMagnitudeImageFilter[type(output), image_type(itk.F, 3)].New(output)
        streamed = itk.StreamingImageFilter[image_type(itk.F, 3), image_type(itk.F, 3)].New(
            length, NumberOfStreamDivisions=divisions
        )
    streamed.Update()
    whole = itk.array_from_image(tested.function(image))
    result = itk.array_from_image(streamed.GetOutput())
    if tested is GRADIENT:
        np.testing.assert_allclose(result, np.linalg.norm(whole.astype(np.float64), axis=-1), rtol=1e-6)
    else:
        np.testing.assert_array_equal(result, whole)


def test_in_place():
    image = random_image(itk.F, 2)
    expected = itk.array_from_image(itk.cuda_recursive_gaussian_image_filter(image, sigma=SIGMA))
    smoother = itk.CudaRecursiveGaussianImageFilter.New(image, Sigma=SIGMA, InPlace=True)
    smoother.Update()
    np.testing.assert_array_equal(itk.array_from_image(smoother.GetOutput()), expected)


LAYOUTS = {
    "contiguous": lambda array: array,
    "Fortran's order": np.asfortranarray,
    "strided": lambda array: np.repeat(np.repeat(array, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda array: array[::-1, ::-1].copy()[::-1, ::-1],
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@ALL_GAUSSIANS
def test_arrays_of_results_keep_their_memory(tested, layout):
    """Whatever the layout of the input, the results are the same, and all that NumPy makes of a result without a copy stays when the
    result, the input and images that were made since are gone."""
    image = some_image(tested)
    pixels = itk.array_from_image(image)
    expected = np.array(tested.function(pixels.copy()))
    array = layout(pixels)
    result = tested.function(array)
    kept = [np.asarray(result), np.asarray(result).T.T, result[...], result.view(np.ndarray), np.asarray(np.asarray(result)[1:])]
    del result, array
    gc.collect()
    others = [tested.function(np.zeros_like(pixels) + 1) for _ in range(3)]
    for each in kept[:4]:
        np.testing.assert_array_equal(each, expected)
    np.testing.assert_array_equal(kept[4], expected[1:])
    assert len(others) == 3

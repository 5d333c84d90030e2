# SPDX-License-Identifier: Apache-2.0
"""Images that the tests share, and how results are compared."""
import math

import itk
import numpy as np

DTYPES = {itk.UC: np.uint8, itk.US: np.uint16, itk.SS: np.int16, itk.F: np.float32, itk.D: np.float64}
DIMENSIONS = (2, 3, 4)
SHAPES = {2: (37, 53), 3: (11, 17, 23), 4: (5, 7, 9, 13)}
SPACING = (0.5, 2.0, 1.25, 0.75)
ORIGIN = (3.0, -4.0, 10.0, 0.5)

# Documented for sigma up to 50 pixels, in units of the largest absolute pixel value times the kernel's L1 norm.
RELATIVE_ERROR = 1e-6


def random_array(pixel_type, dimension, seed=0):
    largest = 200.0 if pixel_type == itk.UC else 10000.0
    return (np.random.default_rng(seed).random(SHAPES[dimension]) * largest).astype(DTYPES[pixel_type])


def rotation(dimension):
    """Swaps the first two axes and turns one of them round."""
    matrix = np.eye(dimension)
    matrix[:2, :2] = [[0.0, -1.0], [1.0, 0.0]]
    return matrix


def random_image(pixel_type, dimension, seed=0):
    image = itk.image_from_array(random_array(pixel_type, dimension, seed))
    image.SetSpacing(SPACING[:dimension])
    image.SetOrigin(ORIGIN[:dimension])
    image.SetDirection(itk.matrix_from_array(rotation(dimension)))
    return image


def image_type(pixel_type, dimension):
    return itk.Image[pixel_type, dimension]


def kernel_norm(order, sigma):
    """L1 norm of a Gaussian's derivative."""
    return (
        1.0,
        math.sqrt(2.0 / math.pi) / sigma,
        4.0 * math.exp(-0.5) / math.sqrt(2.0 * math.pi) / sigma**2,
    )[order]


def in_float64(image):
    # The cast goes through an array, because CastImageFilter of the itk wheel has no images of four dimensions.
    precise = itk.image_from_array(itk.array_from_image(image).astype(np.float64))
    precise.CopyInformation(image)
    return precise


def largest_of(image):
    return float(np.abs(itk.array_view_from_image(image).astype(np.float64)).max())


def expect_equal_to_itk(result, itk_result, precise, bound):
    """Floating-point pixels are within `bound` of the result in float64, and of ITK's. Integer pixels are ITK's, but where the
    result in float64 is so near to a step that it may fall on either side."""
    if np.issubdtype(result.dtype, np.floating):
        np.testing.assert_allclose(result, precise, rtol=0.0, atol=bound)
        np.testing.assert_allclose(result, itk_result, rtol=0.0, atol=2.0 * bound)
        return
    # Values out of range: conversion by ITK is undefined.
    limits = np.iinfo(result.dtype)
    in_range = (precise > limits.min) & (precise < limits.max)
    assert in_range.any()
    difference = np.abs(result.astype(np.int64) - itk_result.astype(np.int64))[in_range]
    from_step = np.abs(precise - np.round(precise))[in_range]
    assert difference.max(initial=0) <= 1
    assert from_step[difference > 0].max(initial=0.0) <= bound

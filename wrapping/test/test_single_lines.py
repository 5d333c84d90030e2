# SPDX-License-Identifier: Apache-2.0
"""Arrays of a single row or column of pixels. ITK takes a column for an array in the order of Fortran, and exchanges its sides."""
import itk
import numpy as np
import pytest

import itk_cudafilters
from itk_cudafilters import partition_image, segment_region


def arrangements(array):
    """The same pixels with the strides that NumPy's arrays may have."""
    any_strides = tuple(stride if size > 1 else array.itemsize for stride, size in zip(array.strides, array.shape))
    every_second = np.zeros((2 * array.shape[0], *array.shape[1:]), array.dtype)
    every_second[::2] = array
    return {
        "as it is": array,
        "a small stride along axes of one pixel": np.lib.stride_tricks.as_strided(array, array.shape, any_strides),
        "transposed": array.T.copy().T,
        "not contiguous": every_second[::2],
    }


def pixels(shape, seed=20261127):
    return (10 * np.random.default_rng(seed).gamma(4, size=shape)).astype(np.float32)


@pytest.mark.parametrize("shape", [(70, 1), (1, 70), (1, 1)], ids=str)
def test_partition(shape):
    image = pixels(shape)
    mask = np.arange(image.size).reshape(shape) % 9 < 8
    labels = np.arange(image.size).reshape(shape) // 20
    expected = partition_image(image.reshape(1, -1), "gamma", valid_mask=mask.reshape(1, -1), initial_labels=labels.reshape(1, -1))
    for name, array in arrangements(image).items():
        for masked, labelled in zip(arrangements(mask).values(), arrangements(labels).values()):
            found = partition_image(array, "gamma", valid_mask=masked, initial_labels=labelled)
            assert found.labels.shape == shape, name
            np.testing.assert_array_equal(found.labels.ravel(), expected.labels.ravel(), name)
        assert partition_image(array, "gamma").means.shape == shape, name


@pytest.mark.parametrize("shape", [(400, 1), (1, 400)], ids=str)
def test_region(shape):
    image = pixels(shape)
    image.ravel()[100:250] *= 20
    inside = np.zeros(400, dtype=bool)
    inside[90:260] = True
    expected = segment_region(image.reshape(1, 400), "gamma", initial_mask=inside.reshape(1, 400)).label
    for name, array in arrangements(image).items():
        for mask in arrangements(inside.reshape(shape)).values():
            label = segment_region(array, "gamma", initial_mask=mask).label
            assert label.shape == shape, name
            np.testing.assert_array_equal(label.ravel(), expected.ravel(), name)


@pytest.mark.parametrize("shape", [(7, 1), (1, 7), (7, 1, 1), (1, 7, 1), (1, 1, 7)], ids=str)
def test_functions_of_itk(shape):
    """Each axis has a variance of its own. If two axes are exchanged, the line is smoothed with the variance of another axis."""
    image = pixels(shape)
    variances = [1.0 + axis for axis in range(image.ndim)]
    own = variances[image.ndim - 1 - image.shape.index(7)]
    line = itk.cuda_discrete_gaussian_image_filter(np.repeat(image.reshape(1, 7), 3, axis=0), variance=[own, 0.0])[1]
    for name, array in arrangements(image).items():
        found = itk.cuda_discrete_gaussian_image_filter(array, variance=variances)
        assert isinstance(found, np.ndarray) and found.shape == shape, name
        np.testing.assert_allclose(found.ravel(), line, rtol=1e-5, err_msg=name)


@pytest.mark.parametrize("shape", [(7, 1), (1, 7), (1, 7, 1)], ids=str)
def test_gaussian_filter(shape):
    image = pixels(shape)
    expected = itk_cudafilters.gaussian_filter(image.ravel(), 1.5)
    for name, array in arrangements(image).items():
        found = itk_cudafilters.gaussian_filter(array, 1.5, axes=shape.index(7))
        assert found.shape == shape, name
        np.testing.assert_array_equal(found.ravel(), expected, name)


@pytest.mark.parametrize("shape", [(7, 1), (1, 7)], ids=str)
def test_upload(gpu, shape):
    image = pixels(shape)
    for name, array in arrangements(image).items():
        np.testing.assert_array_equal(itk_cudafilters.to_host(itk_cudafilters.to_device(array)), image, name)

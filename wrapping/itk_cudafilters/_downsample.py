# SPDX-License-Identifier: Apache-2.0
"""Downsampling for itkwasm-downsample, whose function factory finds it by an entry point.

ngff-zarr's pyramids of OME-Zarr images call itkwasm_downsample.downsample() with their default method. Where this package is
installed, that function calls downsample() here.
"""
from __future__ import annotations

import functools
import importlib.metadata
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._library import core, empty, settings_of_run, takes, takes_type
from ._images import name_of
from ._info import gpu_is_default
from ._parameters import library_errors, whole_number

# The library's images have at most four axes.
_MOST_AXES = 4


@library_errors
def downsample(input: Any, shrink_factors: Sequence[int] = (), crop_radius: Sequence[int] | None = None) -> Any:
    """Smooths an image and takes every k-th pixel of it, as itkwasm_downsample.downsample() does.

    Along each axis the image is convolved with ITK's discrete Gaussian of variance (k^2 - 1) / (8 ln 2) for its factor k (Cardoso
    et al., MICCAI 2015), and interpolated linearly at the centres of bins of k pixels. Beyond the ends lines continue with the
    values of the ends. For integers each pass, and the interpolation, truncates. A GPU convolves if one can be used, and
    otherwise the host.

    The result is within one grey level of that of itkwasm-downsample-wasi, and nearly always equal; for floating-point pixels
    within 1e-6 of the largest pixel. Images of 64-bit integers, and those of five axes with the one of the components, are left
    to itkwasm-downsample-wasi, and so is all that an itkwasm-downsample before version 2 asks for, whose bins have other centres.

    Parameters
    ----------
    input
        Image of itkwasm, of two axes or more, of numbers or of vectors of them.
    shrink_factors
        The factor k of each axis, x first, 1 or more.
    crop_radius
        Pixels that are left out of the result at both ends of each axis, x first. They serve the smoothing. None: no pixels.

    Returns
    -------
    itkwasm.Image
        With floor((n - 2 r) / k) pixels along an axis of n pixels and radius r, and k times the spacing.

    Raises
    ------
    TypeError, ValueError
        A factor or a radius is wrong, or there is not one for each axis.
    RuntimeError
        The configuration asks for a GPU, and none can be used.
    """
    import itkwasm

    dimension = input.imageType.dimension
    factors = _numbers(shrink_factors, "shrink_factors", dimension, 1)
    radii = [0] * dimension if crop_radius is None else _numbers(crop_radius, "crop_radius", dimension, 0)
    pixels = itkwasm.array_like_to_numpy_array(input.data)
    if pixels.ndim > _MOST_AXES or not takes_type(name_of(pixels.dtype)) or _version() < 2:
        from itkwasm_downsample_wasi import downsample as general

        return general(input, shrink_factors=factors, crop_radius=None if crop_radius is None else radii)
    spacing = np.asarray(input.spacing, float)
    centres = np.array([radius + (factor - 1) / 2 for factor, radius in zip(factors, radii, strict=True)])
    data = _downsampled(pixels, factors[::-1], radii[::-1])
    return itkwasm.Image(
        imageType=itkwasm.ImageType(**vars(input.imageType)),
        name="",
        origin=(np.asarray(input.origin, float) + np.asarray(input.direction, float) @ (spacing * centres)).tolist(),
        spacing=(spacing * factors).tolist(),
        direction=np.array(input.direction, float),
        size=list(data.shape[:dimension][::-1]),
        data=data,
    )


def _numbers(values: Any, name: str, dimension: int, least: int) -> list[int]:
    found = [whole_number(value, name, least, 2**31 - 1) for value in values]
    if len(found) != dimension:
        raise ValueError(f"{name} is {list(values)}; it must have {dimension} values, one for each axis of input")
    return found


@functools.cache
def _version() -> int:
    """Returns the major version of the interface, or that of its first one with the same centres if it is not installed."""
    try:
        return int(importlib.metadata.version("itkwasm-downsample").partition(".")[0])
    except importlib.metadata.PackageNotFoundError:
        return 2


def _downsampled(pixels: npt.NDArray[Any], factors: Sequence[int], radii: Sequence[int]) -> npt.NDArray[Any]:
    """Returns the pixels of the result. Factors and radii are in the order of the array's axes, without that of components."""
    lengths = [max(0, length - 2 * radius) // factor for length, factor, radius in zip(pixels.shape, factors, radii)]
    components = pixels.shape[len(factors) :]
    if 0 in lengths or 0 in components:
        return np.empty((*lengths, *components), pixels.dtype)
    dtype = name_of(pixels.dtype)
    variances = [(factor * factor - 1) / (8.0 * math.log(2.0)) for factor in factors]
    found: npt.NDArray[Any] = pixels if takes(pixels) else np.ascontiguousarray(pixels, dtype)
    if pixels.dtype.kind == "f" and not gpu_is_default():
        # The host interpolates each axis before it smooths along the next one, which then has fewer pixels.
        for axis, variance in enumerate(variances):
            found = _smoothed(found, {axis: variance})
            found = _centres(found, axis, lengths[axis], factors[axis], radii[axis])
    else:
        # Passes that truncate do not commute with the interpolation. A GPU smooths along all axes in one call, so that the image
        # crosses the link once each way and not once for each axis.
        found = _smoothed(found, dict(enumerate(variances)))
        for axis, (length, factor, radius) in enumerate(zip(lengths, factors, radii, strict=True)):
            found = _centres(found, axis, length, factor, radius)
    return np.ascontiguousarray(found, dtype)


def _smoothed(pixels: npt.NDArray[Any], variances: dict[int, float]) -> npt.NDArray[Any]:
    """Convolves along axes, in their order, with Gaussians of these variances."""
    if not any(variances.values()):
        return pixels
    result = empty(pixels.shape, name_of(pixels.dtype))
    of_axes = tuple(variances.get(axis, 0.0) for axis in range(pixels.ndim))
    core().discrete_gaussian(pixels, result, of_axes, "automatic", *settings_of_run())
    return result


def _centres(pixels: npt.NDArray[Any], axis: int, length: int, factor: int, radius: int) -> npt.NDArray[Any]:
    """Interpolates along an axis at the centres of bins. The mean of two integers is exact in double."""
    first = radius + (factor - 1) // 2

    def every(begin: int) -> npt.NDArray[Any]:
        part: npt.NDArray[Any] = pixels[(slice(None),) * axis + (slice(begin, begin + factor * (length - 1) + 1, factor),)]
        return part

    if factor % 2 == 1:
        return every(first)
    real = np.float32 if pixels.dtype == np.float32 else np.float64
    means: npt.NDArray[Any] = np.multiply(every(first), 0.5, dtype=real)
    means += np.multiply(every(first + 1), 0.5, dtype=real)
    return means

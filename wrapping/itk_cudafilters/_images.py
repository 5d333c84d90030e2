# SPDX-License-Identifier: Apache-2.0
"""Two-dimensional images of the three kinds that ITK's functions take: itk.Image, NumPy and xarray arrays."""
from __future__ import annotations

import sys
from typing import Any

import itk
import numpy as np

# Of the pixels that the region snake takes; bool and float64 are converted.
_KNOWN = {"uint8": itk.UC, "uint16": itk.US, "int16": itk.SS, "float32": itk.F}
_CONVERTED = {"bool": np.uint8, "float64": np.float32}


def is_xarray(image: Any) -> bool:
    # Nobody has an array of a package that is not loaded.
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(image, xarray.DataArray)


def describe(image: Any) -> str:
    """Kind, dimensions and pixels, for messages."""
    if hasattr(image, "GetNameOfClass"):
        return f"an itk.{image.GetNameOfClass()}"
    if hasattr(image, "dtype") and hasattr(image, "ndim"):
        return f"an array of {image.ndim} dimensions and type {image.dtype}"
    return f"of type {type(image).__name__}"


def pixels_of(image: Any) -> np.ndarray[Any, Any]:
    """The pixels, indexed [y, x]; a view where there can be one."""
    if isinstance(image, itk.Object):
        return np.asarray(itk.array_view_from_image(image))
    return np.asarray(image)


def as_itk_image(image: Any, name: str) -> Any:
    """An itk.Image of two dimensions of pixels that the region snake takes, with the geometry of `image`.

    `name` is that of the parameter, for messages.
    """
    if not (hasattr(image, "GetImageDimension") or isinstance(image, np.ndarray) or is_xarray(image)):
        raise TypeError(f"{name} is {describe(image)}; it must be an itk.Image, a NumPy array or an xarray.DataArray")
    is_image = isinstance(image, itk.Object)
    if is_image and (image.GetNameOfClass() != "Image" or image.GetNumberOfComponentsPerPixel() != 1):
        raise TypeError(f"{name} is {describe(image)} of more than one number per pixel: extract a component of it first")
    dimension = image.GetImageDimension() if is_image else image.ndim
    if dimension != 2:
        raise ValueError(f"{name} has {dimension} dimensions; it must have 2: take a slice of it")
    dtype = str(pixels_of(image).dtype)
    if dtype not in _KNOWN and dtype not in _CONVERTED:
        raise TypeError(
            f"{name} has pixels of type {dtype}, which are not supported; convert them to uint8, uint16, int16 or float32"
        )
    if is_image and dtype in _KNOWN:
        return image
    pixels = np.ascontiguousarray(pixels_of(image), dtype=_CONVERTED.get(dtype))
    if is_image:
        return with_geometry_of(image, pixels)
    return itk.image_from_xarray(image.copy(data=pixels)) if is_xarray(image) else itk.image_from_array(pixels)


def with_geometry_of(image: Any, pixels: np.ndarray[Any, Any]) -> Any:
    """An itk.Image of these pixels with the region, spacing, origin and direction of another one."""
    result = itk.image_from_array(pixels)
    result.SetRegions(image.GetLargestPossibleRegion())
    result.SetSpacing(image.GetSpacing())
    result.SetOrigin(image.GetOrigin())
    result.SetDirection(image.GetDirection())
    return result


def as_itk_mask(mask: Any, name: str, image: Any) -> Any:
    """An itk.Image that is 1 where `mask` is not 0, for the itk.Image `image`. NumPy arrays have its geometry."""
    checked = as_itk_image(mask, name)
    pixels = (pixels_of(checked) != 0).astype(np.uint8)
    if pixels.shape != pixels_of(image).shape:
        raise ValueError(f"{name} has the shape {pixels.shape}; it must be the image's, {pixels_of(image).shape}")
    return with_geometry_of(image if isinstance(mask, np.ndarray) else checked, pixels)


def like(result: Any, image: Any) -> Any:
    """The itk.Image `result`, which has the size of `image`, as the kind of `image`."""
    if isinstance(image, itk.Object):
        return result
    array = itk.array_from_image(result)
    if not is_xarray(image):
        return array
    labelled = image.copy(data=array)
    labelled.name = "label"
    return labelled

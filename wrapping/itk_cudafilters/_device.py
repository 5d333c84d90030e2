# SPDX-License-Identifier: Apache-2.0
"""Images that stay on the GPU: the Python side of itk.CudaDeviceImage, and conversions to and from it."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from . import _dlpack
from ._images import as_gaussian_input, describe, image_view_of, is_xarray
from ._itk import is_itk_object, itk, pixel_type
from ._parameters import device_number, library_errors

# The pixel types of itk.CudaDeviceImage.
_PIXELS = ("uint8", "uint16", "int16", "float32", "float64")
_DIMENSIONS = (2, 3, 4)
_NAME_OF_CLASS = re.compile(r"itkCudaDeviceImage[A-Z]+\d")


def is_device_image(image: Any) -> bool:
    return is_itk_object(image) and image.GetNameOfClass() == "CudaDeviceImage"


@library_errors
def to_device(image: Any, device: int = -1) -> Any:
    """Copies an image to the memory of a GPU.

    Parameters
    ----------
    image
        itk.Image, NumPy array or xarray.DataArray of two to four dimensions, of uint8, uint16, int16, float32 or
        float64.
    device
        Index of the GPU. The default, -1, takes the index that itk.CudaFiltersConfiguration holds.

    Returns
    -------
    itk.CudaDeviceImage with the geometry of the itk.Image or the DataArray. For a NumPy array the spacing is 1 and the
    origin 0.

    Raises
    ------
    TypeError, ValueError
        The kind, pixel type or dimension of the image is not supported, or the image is on a GPU already.
    RuntimeError
        No GPU can be used (the message says why), or the GPU has too little memory.

    Examples
    --------
    >>> volume = to_device(np.zeros((20, 30, 40), np.float32))  # doctest: +SKIP
    >>> smoothed = itk.cuda_smoothing_recursive_gaussian_image_filter(volume, sigma=2.0)  # doctest: +SKIP
    >>> to_host(smoothed).shape  # doctest: +SKIP
    (20, 30, 40)
    """
    if is_device_image(image):
        raise TypeError("image is an itk.CudaDeviceImage, whose pixels are on a GPU already")
    if not (is_itk_object(image) or isinstance(image, np.ndarray)) and _dlpack.device_of(image) is not None:
        raise TypeError(f"image is {describe(image)} in the memory of a GPU: call itk_cudafilters.from_dlpack(image)")
    host = as_gaussian_input(image, "image")
    if isinstance(host, np.ndarray):
        _require_dimension(host.ndim, "image")
        host = image_view_of(host)
    upload: Any = itk.CudaUploadImageFilter.New(host)
    upload.SetDeviceIndex(device_number(device, "device"))
    upload.Update()
    return _disconnected(upload.GetOutput())


@library_errors
def to_host(image: Any) -> Any:
    """Copies an itk.CudaDeviceImage to an itk.Image with the same pixels and geometry.

    If the image is the output of a filter, that filter is updated first. The function waits until the pixels are on the
    host.

    Raises
    ------
    TypeError
        The image is not an itk.CudaDeviceImage.
    RuntimeError
        The image holds no pixels, or work on the GPU failed.
    """
    if not is_device_image(image):
        raise TypeError(f"image is {describe(image)}; it must be an itk.CudaDeviceImage")
    download: Any = itk.CudaDownloadImageFilter.New(image)
    download.Update()
    return _disconnected(download.GetOutput())


@library_errors
def from_dlpack(array: Any, like: Any = None) -> Any:
    """Wraps an array in GPU memory as an itk.CudaDeviceImage, without a copy.

    The last axis of the array is x. The image keeps the array's memory alive. The owner may continue to use the array
    on CUDA's default stream. Work that was queued on the array before the call is ordered before all work on the image.
    No filter writes to the array.

    Parameters
    ----------
    array
        Array of CuPy, PyTorch, JAX or another package that implements DLPack (`__dlpack__`), of two to four axes, of
        uint8, uint16, int16, float32 or float64. Pixels along the last axis must be adjacent.
    like
        itk.Image or itk.CudaDeviceImage of the same size whose region, spacing, origin and direction the image gets.
        By default the spacing is 1 and the origin 0.

    Returns
    -------
    itk.CudaDeviceImage that shares the array's memory.

    Raises
    ------
    TypeError, ValueError
        The array is not in GPU memory, its type or dimension is not supported, or `like` has another size.
    BufferError
        The array cannot be shared because it requires a gradient or its pixels are not adjacent.
    RuntimeError
        The GPU cannot be used. The message says why.
    """
    if is_device_image(array):
        raise TypeError("array is an itk.CudaDeviceImage already")
    if _dlpack.device_of(array) is None:
        of_host = isinstance(array, np.ndarray) or is_itk_object(array) or is_xarray(array)
        advice = ": call itk_cudafilters.to_device(array)" if of_host else ""
        raise TypeError(f"array is {describe(array)}; it must be an array in the memory of a GPU with __dlpack__(){advice}")
    opened = _dlpack.open_array(array, "array", _dlpack.DEFAULT_STREAM)
    _require_dimension(len(opened.shape), "array")
    if opened.type not in _PIXELS:
        names = list(_PIXELS)
        raise TypeError(
            f"array has pixels of type {opened.type}; they must be of {', '.join(names[:-1])} or {names[-1]}: "
            "convert it to float32 first"
        )
    _require_adjacent_pixels(opened)
    return image_of(opened, like)


def image_of(opened: _dlpack.DeviceArray, like: Any) -> Any:
    """Returns an itk.CudaDeviceImage that shares the memory of an opened array, with the geometry of `like` if that is an
    image."""
    image = itk.CudaDeviceImage[pixel_type(opened.type), len(opened.shape)].New()
    image.SetRegions([int(size) for size in reversed(opened.shape)])
    if like is not None:
        _copy_geometry(like, image)
    image._adopt(opened.handle)
    return image


def _require_dimension(dimension: int, name: str) -> None:
    if dimension not in _DIMENSIONS:
        raise ValueError(f"{name} has {dimension} axes; a device image has two, three or four")


def _require_adjacent_pixels(opened: _dlpack.DeviceArray) -> None:
    if 0 in opened.shape:
        return
    strides = [stride for stride, size in zip(opened.strides, opened.shape, strict=True) if size > 1]
    if any(stride < 0 for stride in strides) or (opened.shape[-1] > 1 and opened.strides[-1] != 1):
        raise BufferError(
            f"array has the strides {opened.strides}; those of a device image are positive, and 1 along the last axis: "
            "make a contiguous copy first"
        )


def _copy_geometry(like: Any, image: Any) -> None:
    if not hasattr(like, "GetLargestPossibleRegion"):
        raise TypeError(f"like is {describe(like)}; it must be an itk.Image or an itk.CudaDeviceImage")
    sizes = [tuple(int(size) for size in itk.size(each)) for each in (like, image)]
    if sizes[0] != sizes[1]:
        raise ValueError(f"like has the size {sizes[0]}; it must be that of the array, {sizes[1]} with x first")
    image.SetRegions(like.GetLargestPossibleRegion())
    image.SetSpacing(like.GetSpacing())
    image.SetOrigin(like.GetOrigin())
    image.SetDirection(like.GetDirection())


def _disconnected(image: Any) -> Any:
    image.DisconnectPipeline()
    return image


# Methods that itk.CudaDeviceImage has in addition to its superclass's.


def _export(
    self: Any, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
) -> Any:
    """Exports the pixels to another package without a copy; from_dlpack() of CuPy and PyTorch calls this. The last axis
    is x.

    The work that produces the pixels is ordered before the consumer's work on `stream`.
    """
    if dl_device is not None and tuple(map(int, dl_device)) != _device_of_image(self):
        raise BufferError(
            f"the pixels are on the GPU {self.GetDeviceIndex()}, and the consumer wants them elsewhere: "
            "itk_cudafilters.to_host() copies them"
        )
    if copy:
        raise BufferError("copy is True; the pixels are shared: copy the array that from_dlpack() gives")
    return self._export_dlpack(_dlpack.stream_handle(stream), _dlpack.is_versioned(max_version))


def _device_of_image(self: Any) -> tuple[int, int]:
    """Returns DLPack's device type, CUDA, and the index of the GPU."""
    if not self.IsAllocated():
        raise BufferError("the image holds no pixels: Update() its filter")
    return _dlpack.CUDA, int(self.GetDeviceIndex())


def _interface(self: Any) -> dict[str, Any]:
    """Describes the pixels by the CUDA Array Interface, version 3, for Numba and others. The host waits for the work
    that produces the pixels."""
    if not self.IsAllocated():
        raise AttributeError("the image holds no pixels: Update() its filter")
    self._publish(_dlpack.UNKNOWN_STREAM)
    self.Synchronize()
    return {
        "version": 3,
        "shape": tuple(self.shape),
        "typestr": np.dtype(self.dtype).str,
        "data": (int(self._pointer()), False),
        "strides": self._strides(),
        "stream": None,
    }


def _refuse(what: str) -> Callable[..., NoReturn]:
    def refuse(self: Any, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"{what}: the pixels of an itk.CudaDeviceImage are on a GPU; itk_cudafilters.to_host() copies them")

    return refuse


def _item(of_superclass: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps an item method of the superclass: access by names of metadata remains, access to pixels raises
    TypeError."""

    def item(self: Any, key: Any, *value: Any) -> Any:
        if not isinstance(key, str):
            _refuse("indexing")(self)
        return of_superclass(self, key, *value)

    return item


def add_methods(classes: dict[str, Any]) -> None:
    """Adds the methods above to the classes of device images, which are found by name. The wrapped library calls this
    when it is loaded."""
    for name, image in classes.items():
        if not _NAME_OF_CLASS.fullmatch(name):
            continue
        image.__dlpack__ = _export
        image.__dlpack_device__ = _device_of_image
        image.__cuda_array_interface__ = property(_interface)
        image.__array__ = _refuse("a NumPy array")
        image.astype = _refuse("astype()")
        image.__reduce_ex__ = _refuse("pickling and copying")
        image.__getstate__ = _refuse("pickling and copying")
        image.__iter__ = _refuse("iteration")
        image.__getitem__ = _item(image.__getitem__)
        image.__setitem__ = _item(image.__setitem__)

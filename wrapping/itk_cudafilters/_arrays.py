# SPDX-License-Identifier: Apache-2.0
"""What the Gaussian functions take and give: kinds of arrays, types of pixels, axes."""
from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import itk
import numpy as np
import numpy.typing as npt

from ._images import conversion_of, describe, is_xarray, pixels_of, require_known_kind, require_known_pixels, steps_of
from ._images import with_geometry_of

_PIXELS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "bfloat16", "float32", "float64")
# float32 has too few digits for them.
_COMPUTED_IN_FLOAT64 = ("uint32", "int32", "float64")
_ITK_PIXELS = ("uint8", "uint16", "int16", "float32", "float64")
# Types of devices in DLPack: CUDA, and memory that CUDA manages.
_DLPACK_CUDA = (2, 13)

_T = TypeVar("_T")


def require_host_memory(array: Any, name: str) -> None:
    """Raises TypeError for an array in the memory of a GPU."""
    if isinstance(array, (np.ndarray, itk.Object)) or is_xarray(array):
        return
    device = getattr(array, "__dlpack_device__", None)
    if hasattr(array, "__cuda_array_interface__") or (callable(device) and int(device()[0]) in _DLPACK_CUDA):
        conversion = conversion_of(array)
        call = f"call {conversion.format(name=name)}" if conversion else "copy it there first"
        raise TypeError(f"{name} is {describe(array)} in the memory of a GPU; it must be in that of the host: {call}")


def truncate(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """As the filters convert to integers: towards 0, within the type's range."""
    if dtype.kind not in "iu":
        return np.asarray(values, dtype=dtype)
    limits = np.iinfo(dtype)
    whole = np.nan_to_num(np.trunc(values.astype(np.float64)), nan=0.0)
    return np.asarray(np.clip(whole, limits.min, limits.max), dtype=dtype)


def number(value: Any, name: str) -> float:
    if isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; it must be a number")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {describe(value)}; it must be a number") from None


def per_axis(value: Any, name: str, count: int, convert: Callable[[Any], _T]) -> list[_T]:
    """One value for each of `count` axes, from one for all or a sequence."""
    if isinstance(value, str) or np.ndim(value) == 0:
        return [convert(value)] * count
    values = [convert(element) for element in value]
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} values; it must have one, or one for each of the {count} axes")
    return values


def axis_of(axis: Any, dimension: int, name: str) -> int:
    """An axis counted from 0."""
    try:
        index = operator.index(axis)
    except TypeError:
        raise TypeError(f"{name} is {axis!r}; it must be a whole number") from None
    if not -dimension <= index < dimension:
        raise ValueError(f"{name} is {index}; it must be from {-dimension} to {dimension - 1} for an array of {dimension} axes")
    return index % dimension


def axes_to_filter(axes: Any, channel_axis: int | None, dimension: int) -> list[int]:
    """The axes in the order in which the user gives them: all but that of the channels for None."""
    if axes is None:
        return [axis for axis in range(dimension) if axis != channel_axis]
    given = [axes] if np.ndim(axes) == 0 else list(axes)
    found = [axis_of(axis, dimension, "axes") for axis in given]
    if len(set(found)) < len(found):
        raise ValueError(f"axes is {tuple(given)}; no axis may stand there twice")
    if channel_axis in found:
        raise ValueError(f"axes is {tuple(given)} and channel_axis {channel_axis}; channels are not filtered across")
    return found


@dataclass(frozen=True)
class Given:
    """An input: the object, and its pixels as an array."""

    image: Any
    array: npt.NDArray[Any]
    name: str

    @classmethod
    def read(cls, image: Any, name: str) -> Given:
        require_host_memory(image, name)
        require_known_kind(image, name, of_mask="give {name}.data, and valid_mask=~numpy.ma.getmaskarray({name})")
        if isinstance(image, itk.Object) and (image.GetNameOfClass() != "Image" or image.GetNumberOfComponentsPerPixel() != 1):
            raise TypeError(f"{name} is {describe(image)} of more than one number per pixel: extract a component of it first")
        array = pixels_of(image)
        require_known_pixels(array.dtype, name, _PIXELS)
        return cls(image, array, name)

    @property
    def is_itk_image(self) -> bool:
        return isinstance(self.image, itk.Object)

    def spacing_of(self, axis: int) -> float:
        """Of an itk.Image or a DataArray; negative where coordinates fall."""
        if is_xarray(self.image):
            return steps_of(self.image, self.name)[axis]
        if self.is_itk_image:
            return float(self.image.GetSpacing()[self.array.ndim - 1 - axis])
        raise ValueError(f"spacing is 'image' and {self.name} is {describe(self.image)}, which has none: give its numbers")

    def like(self, result: npt.NDArray[Any], component_axis: int | None) -> Any:
        """The result as the kind of the input. It may have one axis more, of components."""
        if is_xarray(self.image):
            dims = list(self.image.dims)
            if component_axis is not None:
                dims.insert(component_axis, "component")
            return type(self.image)(
                result, dims=dims, coords=self.image.coords, attrs=self.image.attrs, name=self.image.name
            )
        if self.is_itk_image:
            return with_geometry_of(self.image, result, is_vector=component_axis is not None)
        return result


def read_mask(mask: Any, given: Given, channel_axis: int | None) -> npt.NDArray[np.bool_]:
    """True where `mask` is not 0, in the shape of the input."""
    require_host_memory(mask, "valid_mask")
    require_known_kind(mask, "valid_mask", of_mask="give {name}.filled(0)")
    if is_xarray(mask) and is_xarray(given.image) and set(mask.dims) <= set(given.image.dims):
        mask = mask.transpose(*(dim for dim in given.image.dims if dim in mask.dims))
    valid = np.asarray(pixels_of(mask) != 0)
    shape = given.array.shape
    if valid.shape == shape:
        return valid
    if channel_axis is not None and valid.shape == shape[:channel_axis] + shape[channel_axis + 1 :]:
        return np.broadcast_to(np.expand_dims(valid, channel_axis), shape)
    raise ValueError(f"valid_mask has the shape {valid.shape}; it must be that of {given.name}, {shape}")


@dataclass(frozen=True)
class Items:
    """Arrays as a batch of items: the axes that are not filtered first, as one, then those that are filtered."""

    shape: tuple[int, ...]
    filtered: tuple[int, ...]

    @property
    def _batch(self) -> tuple[int, ...]:
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.filtered)

    def take(self, array: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """The items of an array."""
        lines = tuple(self.shape[axis] for axis in self.filtered)
        batch = math.prod(self.shape[axis] for axis in self._batch)
        items = np.transpose(array, (*self._batch, *self.filtered)).reshape((batch, *lines))
        return np.ascontiguousarray(items, dtype=dtype)

    def give(self, items: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The array of these items, which may have one axis more at the end."""
        order = (*self._batch, *self.filtered)
        more = items.shape[1 + len(self.filtered) :]
        array = items.reshape((*(self.shape[axis] for axis in order), *more))
        return np.transpose(array, (*(order.index(axis) for axis in range(len(order))), *range(len(order), array.ndim)))


@dataclass(frozen=True)
class Target:
    """Where a result goes, or of what type it is."""

    dtype: np.dtype[Any]
    array: npt.NDArray[Any] | None

    @classmethod
    def of(cls, given: Given, output: Any, dtype: Any) -> Target:
        """`output` is an array or a type. Without a type, that of the input; for integers float32."""
        if output is not None and dtype is not None:
            raise ValueError("output and dtype are given; the result has one type")
        require_host_memory(output, "output")
        if isinstance(output, np.ndarray):
            require_known_pixels(output.dtype, "output", _PIXELS)
            if not output.flags.writeable:
                raise ValueError("output is read-only; it must be an array that can be written")
            return cls(output.dtype, output)
        asked = dtype if output is None else output
        if asked is None:
            own = given.array.dtype.newbyteorder("=")
            return cls(np.dtype(np.float32) if own.kind in "iu" else own, None)
        name = "dtype" if output is None else "output"
        try:
            found = np.dtype(asked).newbyteorder("=")
        except TypeError:
            raise TypeError(f"{name} is {describe(asked)}; it must be a type of pixels, or for output an array") from None
        known = _ITK_PIXELS if given.is_itk_image else _PIXELS
        if found.name not in known:
            raise TypeError(f"{name} is {found.name}; it must be {', '.join(known[:-1])} or {known[-1]}")
        return cls(found, None)

    def compute_type(self, given: Given) -> np.dtype[Any]:
        precise = {given.array.dtype.name, self.dtype.name} & set(_COMPUTED_IN_FLOAT64)
        return np.dtype(np.float64 if precise else np.float32)

    def store(self, result: npt.NDArray[Any], given: Given, component_axis: int | None) -> Any:
        """The result as the user gets it."""
        pixels = truncate(result, self.dtype)
        if self.array is None:
            pixels = np.asarray(pixels, order="C")
            return given.like(pixels.copy() if np.may_share_memory(pixels, given.array) else pixels, component_axis)
        if self.array.shape != pixels.shape:
            raise ValueError(f"output has the shape {self.array.shape}; it must be that of the result, {pixels.shape}")
        self.array[...] = pixels
        return self.array


def spacings_of(spacing: Any, given: Given, axes: Sequence[int]) -> list[float]:
    """Of each axis; 1 where lengths are in pixels."""
    if spacing is None:
        return [1.0] * len(axes)
    if isinstance(spacing, str):
        if spacing != "image":
            raise ValueError(f"spacing is '{spacing}'; it must be None, 'image', a number, or one for each axis")
        return [given.spacing_of(axis) for axis in axes]
    values = per_axis(spacing, "spacing", len(axes), lambda value: number(value, "spacing"))
    if not all(math.isfinite(value) and value > 0.0 for value in values):
        raise ValueError(f"spacing is {spacing}; it must be finite and above 0")
    return values

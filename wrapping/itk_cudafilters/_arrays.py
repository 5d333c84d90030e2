# SPDX-License-Identifier: Apache-2.0
"""Inputs and results of the Gaussian functions: kinds of arrays, pixel types and axes."""
from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _operations
from ._dlpack import device_of
from ._image import Image
from ._images import conversion_of, describe, is_xarray, pixels_beside, pixels_of, require_known_kind, require_known_type, step_of
from ._images import name_of, require_scalar, with_geometry_of
from ._itk import is_itk_object
from ._operations import Operations, operations_of, require_no_gradient

_PIXELS = (
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16", "float32", "float64",
)
# float32 has too few digits for these types. float64 represents integers up to 2^53 exactly.
_COMPUTED_IN_FLOAT64 = ("uint32", "int32", "uint64", "int64", "float64")
_ITK_PIXELS = ("uint8", "uint16", "int16", "float32", "float64")

_T = TypeVar("_T")


def require_known_memory(array: Any, name: str) -> None:
    """Raises TypeError for an array in GPU memory, unless it belongs to a package that is supported (CuPy or torch)."""
    if operations_of(array) is not None:
        return
    if hasattr(array, "__cuda_array_interface__") or device_of(array) is not None:
        has_dlpack = device_of(array) is not None
        cupy, torch = ("from_dlpack", "from_dlpack") if has_dlpack else ("asarray", "as_tensor")
        call = f"call cupy.{cupy}({name}) or torch.{torch}({name})"
        raise TypeError(
            f"{name} is {describe(array)} in the memory of a GPU; it must be of CuPy or torch, or in that of the host: {call}"
        )


def require_same_memory(array: Any, name: str, given: Given) -> None:
    """Raises TypeError unless an array is on the same device as the input and belongs to the same package."""
    require_known_memory(array, name)
    ops = operations_of(array)
    is_on_gpu = ops is not None and ops.is_on_gpu
    if is_on_gpu == given.ops.is_on_gpu and (ops is None or type(ops) is type(given.ops)):
        if ops is None or ops.device(array) == given.ops.device(given.array):
            return
    conversion = conversion_of(array) if is_on_gpu else None
    call = f": call {conversion.format(name=name)}" if conversion and not given.ops.is_on_gpu else ""
    raise TypeError(f"{name} is {describe(array)}; it must be of the package and on the device of {given.name}{call}")


def truncate(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Converts values as the filters do: integers are truncated towards 0 and clamped to the range of the type."""
    return np.asarray(_operations.OF_HOST.truncate(values, dtype.name))


def array_of(value: Any, name: str) -> Any:
    """Returns a list or a tuple of numbers as an array, and any other object unchanged."""
    if not isinstance(value, (list, tuple)):
        return value
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} is {describe(value)} of which NumPy makes no array: {error}") from None


def number(value: Any, name: str) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} is {value!r}; it must be a number")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {describe(value)}; it must be a number") from None
    except OverflowError:
        raise ValueError(f"{name} is {value}; it must be a number that float64 holds, below 1.8e308") from None


def positive(value: Any, name: str) -> float:
    found = number(value, name)
    if not (math.isfinite(found) and found > 0.0):
        raise ValueError(f"{name} is {value}; it must be finite and above 0")
    return found


def is_single(value: Any) -> bool:
    """Returns whether `value` is a single value rather than a sequence, whose elements may be of any type."""
    return isinstance(value, (str, bytes)) or not (isinstance(value, Sequence) or np.ndim(value) > 0)


def per_axis(value: Any, name: str, count: int, convert: Callable[[Any], _T]) -> list[_T]:
    """Returns one converted value for each of `count` axes. `value` is one value for all axes, or a sequence."""
    if is_single(value):
        return [convert(value)] * count
    values = [convert(element) for element in value]
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} values; it must have one, or one for each of the {count} axes")
    return values


def axis_of(axis: Any, dimension: int, name: str) -> int:
    """Returns the index of an axis, counted from 0. Negative axes count from the last one, as in NumPy."""
    try:
        index = operator.index(axis)
    except TypeError:
        raise TypeError(f"{name} is {axis!r}; it must be a whole number") from None
    if not -dimension <= index < dimension:
        raise ValueError(f"{name} is {index}; it must be from {-dimension} to {dimension - 1} for an array of {dimension} axes")
    return index % dimension


def axes_to_filter(axes: Any, channel_axis: int | None, dimension: int) -> list[int]:
    """Returns the axes to filter, in the order in which the user gives them. None means all axes but the channel
    axis."""
    if axes is None:
        return [axis for axis in range(dimension) if axis != channel_axis]
    given = [axes] if is_single(axes) else list(axes)
    found = [axis_of(axis, dimension, "axes") for axis in given]
    if len(set(found)) < len(found):
        raise ValueError(f"axes is {tuple(given)}; no axis may stand there twice")
    if channel_axis in found:
        raise ValueError(f"axes is {tuple(given)} and channel_axis {channel_axis}; channels are not filtered across")
    return found


@dataclass(frozen=True)
class Given:
    """An input: the object that the user passed, and its pixels as an array."""

    image: Any
    array: Any
    name: str
    ops: Operations

    @classmethod
    def read(cls, image: Any, name: str, *, takes_components: bool = False) -> Given:
        image = array_of(image, name)
        require_known_memory(image, name)
        ops = operations_of(image)
        if ops is not None and ops.is_on_gpu:
            require_no_gradient(image, name)
            require_known_type(ops.type_of(image), name, _PIXELS)
            return cls(image, ops.contiguous(image, "uint8") if ops.type_of(image) == "bool" else image, name, ops)
        require_known_kind(image, name, of_mask="give {name}.data, and valid_mask=~numpy.ma.getmaskarray({name})")
        if is_itk_object(image) and (image.GetNameOfClass() != "Image" or image.GetNumberOfComponentsPerPixel() != 1):
            raise TypeError(f"{name} is {describe(image)} of more than one number per pixel: extract a component of it first")
        if isinstance(image, Image) and not takes_components:
            require_scalar(image, name)
        array = pixels_of(image, name)
        require_known_type(name_of(array.dtype), name, _PIXELS)
        return cls(image, array.view(np.uint8) if array.dtype == bool else array, name, _operations.OF_HOST)

    @property
    def type(self) -> str:
        """The name of the pixel type in NumPy."""
        return self.ops.type_of(self.array)

    @property
    def is_integer(self) -> bool:
        return "int" in self.type

    @property
    def is_itk_image(self) -> bool:
        return is_itk_object(self.image)

    def spacing_of(self, axis: int) -> float:
        """Returns the spacing of an itk.Image or a DataArray along an axis. It is negative where coordinates
        descend."""
        if is_xarray(self.image):
            return step_of(self.image, axis, self.name)
        if isinstance(self.image, Image):
            return self.image.spacing[self.image.dimension - 1 - axis] if axis < self.image.dimension else 1.0
        if self.is_itk_image:
            return float(self.image.GetSpacing()[self.array.ndim - 1 - axis])
        raise ValueError(f"spacing is 'image' and {self.name} is {describe(self.image)}, which has none: give its numbers")

    def like(self, result: Any, component_axis: int | None) -> Any:
        """Converts the result to the kind of the input. The result may have one more axis, which holds components."""
        if is_xarray(self.image):
            dims = list(self.image.dims)
            if component_axis is not None:
                # The gradient of a gradient has two component axes, so that the name "component" may be taken.
                names = ("component", *(f"component_{count}" for count in range(2, len(dims) + 2)))
                dims.insert(component_axis, next(name for name in names if name not in dims))
            return type(self.image)(
                result, dims=dims, coords=self.image.coords, attrs=self.image.attrs, name=self.image.name
            )
        if self.is_itk_image:
            return with_geometry_of(self.image, result, is_vector=component_axis is not None)
        if isinstance(self.image, Image):
            if component_axis is not None and self.image.has_components:
                raise ValueError(f"{self.name} has components, so that its derivatives have two axes of them: take one component")
            return self.image._with_result(result, component_axis is not None)
        return result


def read_mask(mask: Any, given: Given, channel_axis: int | None) -> Any:
    """Returns a boolean array of the shape of the input that is True where `mask` is not 0."""
    mask = array_of(mask, "valid_mask")
    require_same_memory(mask, "valid_mask", given)
    if given.ops.is_on_gpu:
        valid = mask if given.ops.type_of(mask) == "bool" else mask != 0
    else:
        require_known_kind(mask, "valid_mask", of_mask="give {name}.filled(0)")
        pixels = pixels_beside(mask, given.image, "valid_mask", given.name)
        valid = np.asarray(pixels if getattr(pixels, "dtype", None) == np.bool_ else pixels != 0)
    shape, found = tuple(given.array.shape), tuple(valid.shape)
    if found == shape:
        return valid
    if channel_axis is not None and found == shape[:channel_axis] + shape[channel_axis + 1 :]:
        return given.ops.concatenate([valid[(slice(None),) * channel_axis + (None,)]] * shape[channel_axis], channel_axis)
    raise ValueError(f"valid_mask has the shape {found}; it must be that of {given.name}, {shape}")


@dataclass(frozen=True)
class Items:
    """A view of arrays as a batch of items: the unfiltered axes, merged into one, come first; the filtered axes
    follow."""

    shape: tuple[int, ...]
    filtered: tuple[int, ...]

    @property
    def _batch(self) -> tuple[int, ...]:
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.filtered)

    def take(self, array: Any, dtype: str, ops: Operations) -> Any:
        """Returns the items of an array, contiguous."""
        lines = tuple(self.shape[axis] for axis in self.filtered)
        batch = math.prod(self.shape[axis] for axis in self._batch)
        items = ops.transpose(array, (*self._batch, *self.filtered)).reshape((batch, *lines))
        return ops.contiguous(items, dtype)

    def give(self, items: Any, ops: Operations) -> Any:
        """Returns the items as an array with the original axes. The items may have one more axis at the end."""
        order = (*self._batch, *self.filtered)
        more = tuple(items.shape[1 + len(self.filtered) :])
        array = items.reshape((*(self.shape[axis] for axis in order), *more))
        return ops.transpose(array, (*(order.index(axis) for axis in range(len(order))), *range(len(order), array.ndim)))


@dataclass(frozen=True)
class Target:
    """The type of a result, and the array that receives it, if the user gave one."""

    type: str
    array: Any

    @classmethod
    def of(cls, given: Given, output: Any, dtype: Any) -> Target:
        """Returns the target for `output`, which is an array or a type. The default type is the input's, or float32 for
        integers."""
        if output is not None and dtype is not None:
            raise ValueError("output and dtype are given; the result has one type")
        if operations_of(output) is not None and not (isinstance(output, Image) or is_itk_object(output) or is_xarray(output)):
            return cls._of_array(given, output)
        require_known_memory(output, "output")
        asked = dtype if output is None else output
        if asked is None:
            return cls("float32" if given.is_integer else given.type, None)
        name = "dtype" if output is None else "output"
        try:
            found = given.ops.type_named(asked)
        except TypeError:
            raise TypeError(f"{name} is {describe(asked)}; it must be a type of pixels, or for output an array") from None
        known = _ITK_PIXELS if given.is_itk_image else _PIXELS
        if found not in known:
            raise TypeError(f"{name} is {found}; it must be {', '.join(known[:-1])} or {known[-1]}")
        return cls(found, None)

    @classmethod
    def _of_array(cls, given: Given, output: Any) -> Target:
        require_same_memory(output, "output", given)
        require_no_gradient(output, "output")
        found = given.ops.type_of(output)
        require_known_type(found, "output", _PIXELS)
        flags = getattr(output, "flags", None)
        if not getattr(flags, "writeable", True):
            raise ValueError("output is read-only; it must be an array that can be written")
        return cls(found, output)

    def compute_type(self, given: Given) -> str:
        return "float64" if {given.type, self.type} & set(_COMPUTED_IN_FLOAT64) else "float32"

    def store(self, result: Any, given: Given, component_axis: int | None) -> Any:
        """Converts the result to the target's type, and writes it to the target's array or returns it as the input's
        kind."""
        ops = given.ops
        pixels = ops.truncate(result, self.type)
        if self.array is None:
            pixels = ops.contiguous(pixels, self.type)
            return given.like(ops.copy(pixels) if ops.pointer(pixels) == ops.pointer(given.array) else pixels, component_axis)
        if tuple(self.array.shape) != tuple(pixels.shape):
            raise ValueError(
                f"output has the shape {tuple(self.array.shape)}; it must be that of the result, {tuple(pixels.shape)}"
            )
        self.array[...] = pixels
        return self.array


def spacings_of(spacing: Any, given: Given, axes: Sequence[int | None]) -> list[float]:
    """Returns the spacing of each axis. It is 1 where lengths are in pixels, and with `spacing="image"` also for the
    axes that are None: these are not filtered, and need not have a spacing."""
    if spacing is None:
        return [1.0] * len(axes)
    if isinstance(spacing, str):
        if spacing != "image":
            raise ValueError(f"spacing is '{spacing}'; it must be None, 'image', a number, or one for each axis")
        return [1.0 if axis is None else given.spacing_of(axis) for axis in axes]
    values = per_axis(spacing, "spacing", len(axes), lambda value: number(value, "spacing"))
    if not all(math.isfinite(value) and value > 0.0 for value in values):
        raise ValueError(f"spacing is {spacing}; it must be finite and above 0")
    return values

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

from . import _operations
from ._dlpack import device_of
from ._images import conversion_of, describe, is_xarray, pixels_beside, pixels_of, require_known_kind, require_known_type, step_of
from ._images import with_geometry_of
from ._operations import Operations, operations_of, require_no_gradient

_PIXELS = (
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16", "float32", "float64",
)
# float32 has too few digits for them. float64 has those of integers up to 2^53.
_COMPUTED_IN_FLOAT64 = ("uint32", "int32", "uint64", "int64", "float64")
_ITK_PIXELS = ("uint8", "uint16", "int16", "float32", "float64")

_T = TypeVar("_T")


def require_known_memory(array: Any, name: str) -> None:
    """Raises TypeError for an array in the memory of a GPU, unless it is of a package whose arrays are taken."""
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
    """Raises TypeError unless an array lies where the input lies, and is of the same package."""
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
    """As the filters convert to integers: towards 0, within the type's range."""
    return np.asarray(_operations.OF_HOST.truncate(values, dtype.name))


def array_of(value: Any, name: str) -> Any:
    """The array of a list or a tuple of numbers; other objects as they are."""
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
    """Whether it is one value and no sequence. Sequences may hold anything."""
    return isinstance(value, (str, bytes)) or not (isinstance(value, Sequence) or np.ndim(value) > 0)


def per_axis(value: Any, name: str, count: int, convert: Callable[[Any], _T]) -> list[_T]:
    """One value for each of `count` axes, from one for all or a sequence."""
    if is_single(value):
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
    given = [axes] if is_single(axes) else list(axes)
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
    array: Any
    name: str
    ops: Operations

    @classmethod
    def read(cls, image: Any, name: str) -> Given:
        image = array_of(image, name)
        require_known_memory(image, name)
        ops = operations_of(image)
        if ops is not None and ops.is_on_gpu:
            require_no_gradient(image, name)
            require_known_type(ops.type_of(image), name, _PIXELS)
            return cls(image, ops.contiguous(image, "uint8") if ops.type_of(image) == "bool" else image, name, ops)
        require_known_kind(image, name, of_mask="give {name}.data, and valid_mask=~numpy.ma.getmaskarray({name})")
        if isinstance(image, itk.Object) and (image.GetNameOfClass() != "Image" or image.GetNumberOfComponentsPerPixel() != 1):
            raise TypeError(f"{name} is {describe(image)} of more than one number per pixel: extract a component of it first")
        array = pixels_of(image, name)
        require_known_type(array.dtype.name, name, _PIXELS)
        return cls(image, array.astype(np.uint8) if array.dtype == bool else array, name, _operations.OF_HOST)

    @property
    def type(self) -> str:
        """NumPy's name of the type of the pixels."""
        return self.ops.type_of(self.array)

    @property
    def is_integer(self) -> bool:
        return "int" in self.type

    @property
    def is_itk_image(self) -> bool:
        return isinstance(self.image, itk.Object)

    def spacing_of(self, axis: int) -> float:
        """Of an itk.Image or a DataArray; negative where coordinates fall."""
        if is_xarray(self.image):
            return step_of(self.image, axis, self.name)
        if self.is_itk_image:
            return float(self.image.GetSpacing()[self.array.ndim - 1 - axis])
        raise ValueError(f"spacing is 'image' and {self.name} is {describe(self.image)}, which has none: give its numbers")

    def like(self, result: Any, component_axis: int | None) -> Any:
        """The result as the kind of the input. It may have one axis more, of components."""
        if is_xarray(self.image):
            dims = list(self.image.dims)
            if component_axis is not None:
                # The gradient of a gradient has two axes of components.
                names = ("component", *(f"component_{count}" for count in range(2, len(dims) + 2)))
                dims.insert(component_axis, next(name for name in names if name not in dims))
            return type(self.image)(
                result, dims=dims, coords=self.image.coords, attrs=self.image.attrs, name=self.image.name
            )
        if self.is_itk_image:
            return with_geometry_of(self.image, result, is_vector=component_axis is not None)
        return result


def read_mask(mask: Any, given: Given, channel_axis: int | None) -> Any:
    """True where `mask` is not 0, in the shape of the input."""
    mask = array_of(mask, "valid_mask")
    require_same_memory(mask, "valid_mask", given)
    if given.ops.is_on_gpu:
        valid = mask if given.ops.type_of(mask) == "bool" else mask != 0
    else:
        require_known_kind(mask, "valid_mask", of_mask="give {name}.filled(0)")
        valid = np.asarray(pixels_beside(mask, given.image, "valid_mask", given.name) != 0)
    shape, found = tuple(given.array.shape), tuple(valid.shape)
    if found == shape:
        return valid
    if channel_axis is not None and found == shape[:channel_axis] + shape[channel_axis + 1 :]:
        return given.ops.concatenate([valid[(slice(None),) * channel_axis + (None,)]] * shape[channel_axis], channel_axis)
    raise ValueError(f"valid_mask has the shape {found}; it must be that of {given.name}, {shape}")


@dataclass(frozen=True)
class Items:
    """Arrays as a batch of items: the axes that are not filtered first, as one, then those that are filtered."""

    shape: tuple[int, ...]
    filtered: tuple[int, ...]

    @property
    def _batch(self) -> tuple[int, ...]:
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.filtered)

    def take(self, array: Any, dtype: str, ops: Operations) -> Any:
        """The items of an array, contiguous."""
        lines = tuple(self.shape[axis] for axis in self.filtered)
        batch = math.prod(self.shape[axis] for axis in self._batch)
        items = ops.transpose(array, (*self._batch, *self.filtered)).reshape((batch, *lines))
        return ops.contiguous(items, dtype)

    def give(self, items: Any, ops: Operations) -> Any:
        """The array of these items, which may have one axis more at the end."""
        order = (*self._batch, *self.filtered)
        more = tuple(items.shape[1 + len(self.filtered) :])
        array = items.reshape((*(self.shape[axis] for axis in order), *more))
        return ops.transpose(array, (*(order.index(axis) for axis in range(len(order))), *range(len(order), array.ndim)))


@dataclass(frozen=True)
class Target:
    """Where a result goes, or of what type it is."""

    type: str
    array: Any

    @classmethod
    def of(cls, given: Given, output: Any, dtype: Any) -> Target:
        """`output` is an array or a type. Without a type, that of the input; for integers float32."""
        if output is not None and dtype is not None:
            raise ValueError("output and dtype are given; the result has one type")
        if operations_of(output) is not None and not isinstance(output, itk.Object) and not is_xarray(output):
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
        """The result as the user gets it."""
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
    """Of each axis; 1 where lengths are in pixels, and for None: an axis that is not filtered, which may have no spacing."""
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

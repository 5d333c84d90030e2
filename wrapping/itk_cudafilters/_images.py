# SPDX-License-Identifier: Apache-2.0
"""Images of the three kinds that this package takes: itk.Image, NumPy and xarray arrays. Other kinds are refused in words."""
from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import itk
import numpy as np
import numpy.typing as npt

# What the region filters take. Pixels of bool and float64 are converted.
_SNAKE_PIXELS = ("uint8", "uint16", "int16", "float32")
_CONVERTED = {"bool": np.uint8, "float64": np.float32}
_GAUSSIAN_PIXELS = ("uint8", "uint16", "int16", "float32", "float64")

# How to convert an object of a class of this package. The keys are the first parts of the names of modules.
_CONVERSIONS = {
    "PIL": "numpy.asarray({name})",
    "SimpleITK": "itk.image_from_array(SimpleITK.GetArrayViewFromImage({name})), then set spacing, origin and direction",
    "builtins": 'numpy.asarray({name}, dtype="float32")',
    "cupy": "{name}.get()",
    "dask": "{name}.compute()",
    "h5py": "{name}[...]",
    "jax": "numpy.asarray({name})",
    "jaxlib": "numpy.asarray({name})",
    "nibabel": "itk.imread({name}.get_filename())",
    "pandas": "{name}.to_numpy()",
    "rasterio": "{name}.read(1)",
    "tensorflow": "{name}.numpy()",
    "torch": "{name}.detach().cpu().numpy()",
    "vtk": "itk.image_from_vtk_image({name})",
    "vtkmodules": "itk.image_from_vtk_image({name})",
    "xarray": "{name}[VARIABLE], one of its variables",
    "zarr": "{name}[...]",
}

# Names that tell the order of axes, slowest first. Axes of other names are taken as they come.
_AXES = ("t", "z", "y", "x")


def is_xarray(image: Any) -> bool:
    # Nobody has an array of a package that is not loaded.
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(image, xarray.DataArray)


def describe(image: Any) -> str:
    """Kind of an object, for messages."""
    if hasattr(image, "GetNameOfClass"):
        return f"an itk.{image.GetNameOfClass()}"
    module, name = type(image).__module__.split(".")[0], type(image).__qualname__
    return f"of type {name if module == 'builtins' else f'{module}.{name}'}"


def conversion_of(image: Any) -> str | None:
    """How to convert an object of another package; {name} stands for the object."""
    packages = [base.__module__.split(".")[0] for base in type(image).__mro__ if base is not object]
    return next((_CONVERSIONS[package] for package in packages if package in _CONVERSIONS), None)


def require_known_kind(image: Any, name: str, *, of_mask: str) -> None:
    """Raises TypeError unless `image` is an itk.Image, a NumPy array or an xarray.DataArray.

    `name` is that of the parameter. `of_mask` says what to do with a masked array.
    """
    if isinstance(image, np.ma.MaskedArray):
        raise TypeError(f"{name} is a numpy.ma.MaskedArray, whose mask would be lost: {of_mask.format(name=name)}")
    if isinstance(image, np.ndarray) or is_xarray(image) or hasattr(image, "GetImageDimension"):
        return
    kinds = f"{name} is {describe(image)}; it must be an itk.Image, a NumPy array or an xarray.DataArray"
    if isinstance(image, str) or hasattr(image, "__fspath__"):
        raise TypeError(f"{kinds}: call itk.imread({name})")
    if hasattr(image, "GetOutput"):
        raise TypeError(f"{kinds}: call {name}.GetOutput()")
    conversion = conversion_of(image)
    if conversion is None and hasattr(image, "__array__"):
        conversion = "numpy.asarray({name})"
    raise TypeError(kinds + (f": call {conversion.format(name=name)}" if conversion else ""))


def require_known_pixels(dtype: np.dtype[Any], name: str, known: tuple[str, ...]) -> None:
    require_known_type(dtype.name, name, known)


def require_known_type(dtype: str, name: str, known: tuple[str, ...]) -> None:
    """Raises TypeError unless NumPy's name of a type of pixels is among the known ones."""
    if dtype in known:
        return
    conversion = f'numpy.abs({name}).astype("float32")' if dtype.startswith("complex") else f'{name}.astype("float32")'
    raise TypeError(
        f"{name} has pixels of type {dtype}; they must be of {', '.join(known[:-1])} or {known[-1]}: "
        f"convert to float32 by {conversion}"
    )


def _require_no_bands(array: Any, name: str) -> None:
    """An axis that counts values of one pixel is no axis of space."""
    for axis in ("band", "c"):
        if axis in array.dims:
            label = array.coords[axis].values.flat[0] if axis in array.coords else None
            choice = f".isel({axis}=0)" if label is None else f".sel({axis}={label})"
            if array.sizes[axis] == 1:
                choice = f'.squeeze("{axis}") or {choice}'
            raise ValueError(f"{name} has an axis '{axis}' of {array.sizes[axis]}; choose one of them by {choice}")


class _HeldPixels:
    """The pixels of an itk.Image, which lives as long as the array that NumPy makes of this. What np.asarray() makes of
    itk.array_view_from_image() does not hold the image."""

    def __init__(self, image: Any, name: str) -> None:
        self._image = image
        if source := image.GetSource():
            source.UpdateLargestPossibleRegion()
        pointer = image.GetBufferPointer()
        if pointer is None:
            raise ValueError(
                f"{name} is {describe(image)} without pixels in memory: call Update() of the filter that makes it, and keep that "
                "filter until then, or Allocate()"
            )
        dtype = _scalar_type_of(image.__class__)
        if dtype is None:
            self.__array_interface__ = itk.array_view_from_image(image).__array_interface__
            return
        # As ITK does, without its search among the types of all images.
        self.__array_interface__ = {
            "version": 3,
            "shape": tuple(image.GetBufferedRegion().GetSize())[::-1],
            "typestr": dtype.str,
            "data": (int(pointer), False),
        }


@functools.cache
def _name_of(dtype: np.dtype[Any]) -> str:
    """dtype.name, which NumPy puts together at each call."""
    return dtype.name


@functools.cache
def _scalar_type_of(image_type: Any) -> np.dtype[Any] | None:
    """The type of pixels that are single numbers."""
    image = image_type.New()
    if isinstance(image, itk.VectorImage):
        return None
    image.SetRegions([1] * image.GetImageDimension())
    image.Allocate()
    pixels = itk.array_view_from_image(image)
    return pixels.dtype if pixels.ndim == image.GetImageDimension() else None


def pixels_of(image: Any, name: str = "image") -> npt.NDArray[Any]:
    """The pixels, indexed as the array or, for an itk.Image, [y, x]; a view where there can be one. `name` is that of the
    parameter, for messages."""
    return np.asarray(_HeldPixels(image, name) if isinstance(image, itk.Object) else image)


def is_column(shape: Sequence[int]) -> bool:
    """Whether ITK exchanges the sides of a contiguous array of this shape. It takes the array for one in the order of Fortran, as both
    orders give the same memory where all axes but the first one have one pixel (docs/developer/upstream/array_of_a_column.md)."""
    return len(shape) > 1 and math.prod(shape[1:]) == 1


def image_of(pixels: npt.NDArray[Any]) -> Any:
    """The itk.Image of a contiguous array, which may be a column. The image has a copy of the pixels."""
    return _with_sides_of(pixels, itk.image_from_array(pixels))


def image_view_of(pixels: npt.NDArray[Any]) -> Any:
    """The same, but the image shares the array's memory."""
    return _with_sides_of(pixels, _view_maker_of(pixels.dtype, pixels.ndim)(pixels))


def _with_sides_of(pixels: npt.NDArray[Any], image: Any) -> Any:
    if is_column(pixels.shape):
        image.SetRegions(pixels.shape[::-1])
    return image


@functools.cache
def _view_maker_of(dtype: np.dtype[Any], dimension: int) -> Callable[[npt.NDArray[Any]], Any]:
    """The function that itk.image_view_from_array() calls for arrays of this type and dimension. ITK searches the types of all images
    for it at each call."""
    image_type = type(itk.image_view_from_array(np.zeros((1,) * dimension, dtype)))
    make_view: Callable[[npt.NDArray[Any]], Any] = itk.PyBuffer[image_type].GetImageViewFromArray
    return make_view


def as_itk_image(
    image: Any, name: str, *, known: tuple[str, ...] = _SNAKE_PIXELS, converted: Mapping[str, Any] = _CONVERTED
) -> Any:
    """An itk.Image of two dimensions of pixels that the region filters take, with the geometry of `image`.

    `name` is that of the parameter, for messages. Pixels of the types `known` are taken as they are; those of the types
    `converted` become what that says. The image may share the memory of an array.
    """
    require_known_kind(image, name, of_mask="give {name}.data, and valid_mask=~numpy.ma.getmaskarray({name})")
    is_image = isinstance(image, itk.Object)
    if is_image and (image.GetNameOfClass() != "Image" or image.GetNumberOfComponentsPerPixel() != 1):
        raise TypeError(f"{name} is {describe(image)} of more than one number per pixel: extract a component of it first")
    if is_xarray(image):
        _require_no_bands(image, name)
    dimension = image.GetImageDimension() if is_image else image.ndim
    if dimension != 2:
        raise ValueError(f"{name} has {dimension} dimensions; it must have 2: take a slice of it")
    pixels = pixels_of(image, name)
    dtype = _name_of(pixels.dtype)
    if dtype not in converted:
        require_known_type(dtype, name, known)
        if is_image:
            return image
    pixels = pixels.astype(converted.get(dtype, pixels.dtype.newbyteorder("=")), copy=False)
    if is_image:
        return with_geometry_of(image, np.ascontiguousarray(pixels))
    if is_xarray(image):
        return _image_from_xarray(image, pixels, name)
    return image_view_of(np.ascontiguousarray(pixels))


def as_gaussian_input(image: Any, name: str) -> Any:
    """What ITK's functions take of the Gaussian filters' inputs: an itk.Image, or a NumPy array that is no column."""
    require_known_kind(image, name, of_mask="fill its gaps first, by {name}.filled(VALUE)")
    if hasattr(image, "GetImageDimension"):
        return image
    if is_xarray(image):
        _require_no_bands(image, name)
    pixels = pixels_of(image)
    require_known_pixels(pixels.dtype, name, _GAUSSIAN_PIXELS)
    pixels = np.ascontiguousarray(pixels, dtype=pixels.dtype.newbyteorder("="))
    if is_xarray(image):
        return _image_from_xarray(image, pixels, name)
    return image_of(pixels) if is_column(pixels.shape) else pixels


def with_geometry_of(image: Any, pixels: npt.NDArray[Any], *, is_vector: bool = False) -> Any:
    """An itk.Image of these pixels with the region, spacing, origin and direction of another one.

    An itk.VectorImage if the last axis is that of components.
    """
    result = itk.image_from_array(pixels, is_vector=is_vector)
    result.SetRegions(image.GetLargestPossibleRegion())
    result.SetSpacing(image.GetSpacing())
    result.SetOrigin(image.GetOrigin())
    result.SetDirection(image.GetDirection())
    return result


def first_index_of(image: Any) -> tuple[int, ...] | None:
    """The index of the first pixel of an itk.Image, which pickle and copy.deepcopy() of ITK lose; None for arrays."""
    return tuple(image.GetLargestPossibleRegion().GetIndex()) if isinstance(image, itk.Object) else None


def with_first_index(image: Any, index: tuple[int, ...] | None) -> Any:
    """The image, whose first pixel gets the index that first_index_of() gave. Origin, and thus what the index means, stay."""
    if index is not None and first_index_of(image) != index:
        region = image.GetLargestPossibleRegion()
        region.SetIndex(index)
        image.SetRegions(region)
    return image


def as_itk_mask(mask: Any, name: str, image: Any, given: Any) -> Any:
    """An itk.Image that is 1 where `mask` is not 0.

    `image` is the itk.Image of the image that was `given`, whose geometry and order of axes NumPy arrays have.
    """
    return _beside(image, given, mask, name, as_itk_image, lambda pixels: (pixels != 0).astype(np.uint8))


def as_itk_labels(labels: Any, name: str, image: Any, given: Any) -> Any:
    """An itk.Image of uint32 of labels, which are integers of any type; see as_itk_mask()."""
    return _beside(image, given, labels, name, _as_label_image, lambda pixels: pixels)


def _as_label_image(labels: Any, name: str) -> Any:
    require_known_kind(labels, name, of_mask="give {name}.filled(VALUE)")
    values = pixels_of(labels, name)
    if values.dtype.kind not in "bui":
        raise TypeError(f"{name} has pixels of type {values.dtype.name}; they must be integers: call {name}.astype(int)")
    largest = np.iinfo(np.uint32).max
    if values.size and (values.min() < 0 or values.max() > largest):
        raise ValueError(
            f"{name} has values from {values.min()} to {values.max()}; they must be from 0 to {largest}: number them by "
            f"numpy.unique({name}, return_inverse=True)[1].reshape({name}.shape)"
        )
    converted = {values.dtype.name: np.uint32} if values.dtype != np.uint32 else {}
    return as_itk_image(labels, name, known=("uint32",), converted=converted)


def _beside(
    image: Any,
    given: Any,
    other: Any,
    name: str,
    convert: Callable[[Any, str], Any],
    change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
) -> Any:
    """The itk.Image of another image or array of the same size, with changed pixels."""
    placed = _aligned(other, given, name, "image") if is_xarray(other) and is_xarray(given) else other
    if is_xarray(given) and not isinstance(placed, itk.Object) and placed.shape == given.shape:
        placed = given.copy(data=np.asarray(placed))
    checked = convert(placed, name)
    pixels = change(pixels_of(checked))
    if pixels.shape != pixels_of(image).shape:
        raise ValueError(f"{name} has the shape {pixels.shape}; it must be the image's, {pixels_of(image).shape}")
    if not isinstance(other, np.ndarray) and not isinstance(given, np.ndarray):
        _require_same_geometry(checked, image, name, "image")
    return with_geometry_of(image, pixels)


def pixels_beside(other: Any, given: Any, name: str, of: str) -> npt.NDArray[Any]:
    """The pixels of an image, array or DataArray in the order of the axes of `given`, whose parameter is `of`. Raises ValueError where it
    does not lie where `given` lies. What has no geometry of its own takes that of `given`."""
    if is_xarray(other) and is_xarray(given):
        return pixels_of(_aligned(other, given, name, of), name)
    pixels = pixels_of(other, name)
    if not all(is_xarray(each) or isinstance(each, itk.Object) for each in (other, given)) or pixels.ndim != pixels_of(given).ndim:
        return pixels
    placed, place = (
        _image_from_xarray(each, pixels_of(each), known) if is_xarray(each) else each for each, known in ((other, name), (given, of))
    )
    _require_same_geometry(placed, place, name, of)
    return np.transpose(pixels_of(placed), np.argsort(axes_of(given)))


def _aligned(other: Any, given: Any, name: str, of: str) -> Any:
    """A DataArray as it lies beside another one: axes by their names, pixels by their coordinates where both have them."""
    if not set(other.dims) <= set(given.dims):
        raise ValueError(
            f"{name} has the dimensions {other.dims}; they must be among those of {of}, {given.dims}: rename them, or give {name}.values"
        )
    for dim in other.dims:
        if dim in other.coords and dim in given.coords:
            other = _with_coordinates_of(other, given, dim, name, of)
    return other.transpose(*(dim for dim in given.dims if dim in other.dims))


def _with_coordinates_of(other: Any, given: Any, dim: Any, name: str, of: str) -> Any:
    """The pixels of a DataArray at the coordinates of another one along an axis. Numbers may differ by what ITK allows of a step, and by
    the last digits of their types."""
    if other.get_index(dim).equals(given.get_index(dim)):
        return other
    own, wanted = other.coords[dim].values, given.coords[dim].values
    order = np.argsort(own, kind="stable")
    first, tolerance = wanted, 0.0
    if own.dtype.kind in "iuf" and wanted.dtype.kind in "iuf" and len(wanted) > 0:
        digits = max((float(np.finfo(each.dtype).eps) for each in (own, wanted) if each.dtype.kind == "f"), default=0.0)
        step = np.ptp(wanted) / max(1, len(wanted) - 1)
        tolerance = _COORDINATE_TOLERANCE() * float(step) + 2.0 * digits * float(np.abs(wanted).max())
        own, wanted = own.astype(np.float64), wanted.astype(np.float64)
        first = wanted - tolerance
    rising = own[order]
    places = np.searchsorted(rising, first)
    is_found = places < len(own)
    if tolerance > 0.0:
        is_found[is_found] = rising[places[is_found]] <= wanted[is_found] + tolerance
    else:
        is_found[is_found] = rising[places[is_found]] == wanted[is_found]
    if not is_found.all() or (rising[1:] == rising[:-1]).any():
        missing = f"without {wanted[~is_found][0]}" if not is_found.all() else "some of them twice"
        raise ValueError(
            f"{name} has {len(own)} coordinates '{dim}' from {own[0]} to {own[-1]}, {missing}; they must hold those of {of}, from "
            f"{wanted[0]} to {wanted[-1]}: give {name}.values if its pixels belong to those of {of} as they lie"
        )
    return other.isel({dim: order[places]})


_COORDINATE_TOLERANCE: Callable[[], float] = itk.ImageToImageFilterCommon.GetGlobalDefaultCoordinateTolerance


def _require_same_geometry(other: Any, image: Any, name: str, of: str) -> None:
    """Raises ValueError unless an itk.Image lies where another one lies, within ITK's tolerances, or has no geometry of its own: that of
    an array, or of a file without one."""
    geometries = [
        {
            "origin": np.array(each.GetOrigin()),
            "spacing": np.array(each.GetSpacing()),
            "direction": itk.array_from_matrix(each.GetDirection()),
        }
        for each in (other, image)
    ]
    none = {"origin": 0.0, "spacing": 1.0, "direction": np.eye(other.GetImageDimension())}
    if all((value == none[key]).all() for key, value in geometries[0].items()):
        return
    directions = itk.ImageToImageFilterCommon.GetGlobalDefaultDirectionTolerance()
    tolerances = {"direction": directions}
    for key, value in geometries[0].items():
        expected = geometries[1][key]
        if (np.abs(value - expected) > tolerances.get(key, _COORDINATE_TOLERANCE() * image.GetSpacing()[0])).any():
            raise ValueError(
                f"{name} has the {key} {value.tolist()}; it must be that of {of}, {expected.tolist()}: resample it, or give its pixels "
                f"alone, itk.array_view_from_image({name})"
            )


def like(result: Any, image: Any, name: str | None) -> Any:
    """The itk.Image `result`, which has the size of `image`, as the kind of `image`. A DataArray gets the name `name`."""
    if not is_xarray(image):
        return result if isinstance(image, itk.Object) else pixels_of(result)
    pixels = pixels_of(result)
    components = ["c"] if pixels.ndim > image.ndim else []
    order = np.argsort(axes_of(image)).tolist() + [image.ndim] * len(components)
    return type(image)(
        np.transpose(pixels, order), dims=[*image.dims, *components], coords=image.coords, attrs=image.attrs, name=name
    )


def axes_of(array: Any) -> tuple[int, ...]:
    """The axes of an array in the order of an image's pixels, [y, x]: as they are but for names that say otherwise."""
    if is_xarray(array) and set(array.dims) <= set(_AXES):
        return tuple(sorted(range(array.ndim), key=lambda axis: _AXES.index(array.dims[axis])))
    return tuple(range(array.ndim))


def _image_from_xarray(array: Any, pixels: npt.NDArray[Any], name: str) -> Any:
    """An itk.Image of `pixels`, which are those of `array`, where the coordinates and attributes of `array` place it.

    Coordinates that fall become a direction, as ITK's spacing is positive. The attribute `direction` is the one that
    itk.xarray_from_image() writes.
    """
    dims = [array.dims[axis] for axis in axes_of(array)]
    result = image_of(np.ascontiguousarray(np.transpose(pixels, axes_of(array))))
    lines = [_first_and_step(array, dim, name) for dim in reversed(dims)]
    result.SetOrigin([first for first, _ in lines])
    result.SetSpacing([abs(step) for _, step in lines])
    signs = np.sign([step for _, step in lines])
    result.SetDirection(itk.matrix_from_array(np.ascontiguousarray(_direction_of(array, dims) * signs)))
    return result


def _first_and_step(array: Any, dim: str, name: str) -> tuple[float, float]:
    """The coordinate of an axis's first pixel, and the difference to that of the next one."""
    if dim not in array.coords:
        return 0.0, 1.0
    values = array.coords[dim].values
    if values.dtype.kind not in "iuf":
        raise ValueError(
            f"{name} has coordinates '{dim}' of type {values.dtype}; they must be numbers: call {name}.drop_vars('{dim}')"
        )
    places = values.astype(np.float64)
    if not np.isfinite(places).all():
        raise ValueError(f"{name} has coordinates '{dim}' that are not finite")
    if len(places) == 1:
        return float(places[0]), 1.0
    step = (places[-1] - places[0]) / (len(places) - 1)
    # Coordinates of float32 are rounded to their last digit.
    rounding = np.finfo(values.dtype).eps * np.abs(places).max() if values.dtype.kind == "f" else 0.0
    deviation = np.abs(places - (places[0] + step * np.arange(len(places)))).max()
    if step == 0.0 or deviation > 1e-3 * abs(step) + 2.0 * rounding:
        steps = np.diff(places)
        raise ValueError(
            f"{name} has coordinates '{dim}' in steps from {steps.min():g} to {steps.max():g}; they must be evenly spaced: "
            f"resample it by {name}.interp({dim}=...)"
        )
    return float(places[0]), float(step)


def step_of(array: Any, axis: int, name: str) -> float:
    """The spacing of a DataArray along one of its axes; negative where coordinates fall."""
    return _first_and_step(array, array.dims[axis], name)[1]


def _direction_of(array: Any, dims: list[str]) -> npt.NDArray[np.float64]:
    """The matrix of directions, with x first; one unless the attribute `direction` holds one for all the axes."""
    identity = np.eye(len(dims))
    try:
        matrix = np.asarray(array.attrs.get("direction"), dtype=np.float64)
    except (TypeError, ValueError):
        return identity
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < len(dims) or len(matrix) > len(_AXES):
        return identity
    if len(matrix) > len(dims):
        # A slice of a volume keeps the volume's attributes.
        names = _AXES[-len(matrix) :]
        if not set(dims) <= set(names):
            return identity
        chosen = [names.index(dim) for dim in dims]
        matrix = matrix[np.ix_(chosen, chosen)]
    return np.flip(matrix) if math.isclose(abs(np.linalg.det(matrix)), 1.0, rel_tol=1e-3) else identity

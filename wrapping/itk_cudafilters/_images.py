# SPDX-License-Identifier: Apache-2.0
"""Conversions between the three kinds of images that this package accepts: itk.Image, NumPy array and xarray.DataArray.
Messages for other kinds say how to convert them."""
from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._itk import is_itk_object, itk

# Pixel types of the region filters. bool and float64 are converted to them.
_SNAKE_PIXELS = ("uint8", "uint16", "int16", "float32")
_CONVERTED = {"bool": np.uint8, "float64": np.float32}
_GAUSSIAN_PIXELS = ("uint8", "uint16", "int16", "float32", "float64")

# How to convert objects of other packages. The keys are the top-level names of their modules.
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

# Names that define the order of axes, slowest first. Axes with other names keep the order of the array.
_AXES = ("t", "z", "y", "x")


def is_xarray(image: Any) -> bool:
    # If xarray is not loaded, the image cannot be one of its arrays. This check avoids importing xarray.
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(image, xarray.DataArray)


def describe(image: Any) -> str:
    """Returns the kind of an object, for messages."""
    if hasattr(image, "GetNameOfClass"):
        return f"an itk.{image.GetNameOfClass()}"
    module, name = type(image).__module__.split(".")[0], type(image).__qualname__
    return f"of type {name if module == 'builtins' else f'{module}.{name}'}"


def conversion_of(image: Any) -> str | None:
    """Returns how to convert an object of another package, with {name} in place of the object; None if that is
    unknown."""
    packages = [base.__module__.split(".")[0] for base in type(image).__mro__ if base is not object]
    return next((_CONVERSIONS[package] for package in packages if package in _CONVERSIONS), None)


def require_known_kind(image: Any, name: str, *, of_mask: str) -> None:
    """Raises TypeError unless `image` is an itk.Image, a NumPy array or an xarray.DataArray.

    `name` is the name of the parameter. `of_mask` is the advice for a masked array.
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
    """Raises TypeError unless a pixel type, given by its name in NumPy, is among the known ones."""
    if dtype in known:
        return
    conversion = f'numpy.abs({name}).astype("float32")' if dtype.startswith("complex") else f'{name}.astype("float32")'
    raise TypeError(
        f"{name} has pixels of type {dtype}; they must be of {', '.join(known[:-1])} or {known[-1]}: "
        f"convert to float32 by {conversion}"
    )


def _require_no_bands(array: Any, name: str) -> None:
    """Raises ValueError if a DataArray has an axis of bands or components, which is not a spatial axis."""
    for axis in ("band", "c"):
        if axis in array.dims:
            label = array.coords[axis].values.flat[0] if axis in array.coords else None
            choice = f".isel({axis}=0)" if label is None else f".sel({axis}={label})"
            if array.sizes[axis] == 1:
                choice = f'.squeeze("{axis}") or {choice}'
            raise ValueError(f"{name} has an axis '{axis}' of {array.sizes[axis]}; choose one of them by {choice}")


class _HeldPixels:
    """The pixels of an itk.Image. An array that NumPy makes of this object keeps the image alive, which an array that
    np.asarray() makes of itk.array_view_from_image() does not."""

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
        # Do what itk.array_view_from_image() does, without its search through all image types.
        self.__array_interface__ = {
            "version": 3,
            "shape": tuple(image.GetBufferedRegion().GetSize())[::-1],
            "typestr": dtype.str,
            "data": (int(pointer), False),
        }


@functools.cache
def name_of(dtype: np.dtype[Any]) -> str:
    """Returns dtype.name. It is cached because NumPy composes it at each access."""
    return dtype.name


@functools.cache
def _scalar_type_of(image_type: Any) -> np.dtype[Any] | None:
    """Returns the NumPy type of an image type's pixels, or None if a pixel has several components."""
    image = image_type.New()
    if isinstance(image, itk.VectorImage):
        return None
    image.SetRegions([1] * image.GetImageDimension())
    image.Allocate()
    pixels = itk.array_view_from_image(image)
    return pixels.dtype if pixels.ndim == image.GetImageDimension() else None


def pixels_of(image: Any, name: str = "image") -> npt.NDArray[Any]:
    """Returns the pixels, indexed as the array or, for an itk.Image, by [y, x]; as a view if possible. `name` is the
    name of the parameter, for messages."""
    return np.asarray(_HeldPixels(image, name) if is_itk_object(image) else image)


def is_column(shape: Sequence[int]) -> bool:
    """Returns whether ITK would exchange the sides of a contiguous array of this shape. ITK takes such an array for one
    in Fortran order, because both orders have the same memory layout if all axes but the first one have one pixel
    (docs/developer/upstream/array_of_a_column.md)."""
    return len(shape) > 1 and math.prod(shape[1:]) == 1


def image_of(pixels: npt.NDArray[Any]) -> Any:
    """Returns an itk.Image with a copy of the pixels of a contiguous array, which may be a column."""
    return _with_sides_of(pixels, itk.image_from_array(pixels))


def image_view_of(pixels: npt.NDArray[Any]) -> Any:
    """Returns an itk.Image that shares the memory of a contiguous array, which may be a column."""
    return _with_sides_of(pixels, _view_maker_of(pixels.dtype, pixels.ndim)(pixels))


def _with_sides_of(pixels: npt.NDArray[Any], image: Any) -> Any:
    if is_column(pixels.shape):
        image.SetRegions(pixels.shape[::-1])
    return image


@functools.cache
def _view_maker_of(dtype: np.dtype[Any], dimension: int) -> Callable[[npt.NDArray[Any]], Any]:
    """Returns the function that itk.image_view_from_array() calls for arrays of this type and dimension. It is cached
    because ITK searches it through all image types at each call."""
    image_type = type(itk.image_view_from_array(np.zeros((1,) * dimension, dtype)))
    make_view: Callable[[npt.NDArray[Any]], Any] = itk.PyBuffer[image_type].GetImageViewFromArray
    return make_view


def as_itk_image(
    image: Any, name: str, *, known: tuple[str, ...] = _SNAKE_PIXELS, converted: Mapping[str, Any] = _CONVERTED
) -> Any:
    """Converts `image` to a two-dimensional itk.Image of a pixel type of the region filters, with the same geometry.

    `name` is the name of the parameter, for messages. Pixels of the types in `known` are not converted; pixels of the
    types in `converted` get the type that this maps them to. The result may share the memory of an array.
    """
    require_known_kind(image, name, of_mask="give {name}.data, and valid_mask=~numpy.ma.getmaskarray({name})")
    is_image = is_itk_object(image)
    if is_image and (image.GetNameOfClass() != "Image" or image.GetNumberOfComponentsPerPixel() != 1):
        raise TypeError(f"{name} is {describe(image)} of more than one number per pixel: extract a component of it first")
    if is_xarray(image):
        _require_no_bands(image, name)
    dimension = image.GetImageDimension() if is_image else image.ndim
    if dimension != 2:
        raise ValueError(f"{name} has {dimension} dimensions; it must have 2: take a slice of it")
    pixels = pixels_of(image, name)
    dtype = name_of(pixels.dtype)
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
    """Converts an input of the Gaussian filters to what ITK's functions accept: an itk.Image, or a NumPy array that is
    not a column."""
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
    """Returns an itk.Image of these pixels with the region, spacing, origin and direction of `image`.

    With `is_vector` the last axis of the pixels holds components, and the result is an itk.VectorImage.
    """
    result = itk.image_from_array(pixels, is_vector=is_vector)
    result.SetRegions(image.GetLargestPossibleRegion())
    result.SetSpacing(image.GetSpacing())
    result.SetOrigin(image.GetOrigin())
    result.SetDirection(image.GetDirection())
    return result


def first_index_of(image: Any) -> tuple[int, ...] | None:
    """Returns the index of the first pixel of an itk.Image, which ITK's pickle and copy.deepcopy() lose; None for
    arrays."""
    return tuple(image.GetLargestPossibleRegion().GetIndex()) if is_itk_object(image) else None


def with_first_index(image: Any, index: tuple[int, ...] | None) -> Any:
    """Sets the index of an image's first pixel to the one that first_index_of() returned, and returns the image. The
    origin is not changed."""
    if index is not None and first_index_of(image) != index:
        region = image.GetLargestPossibleRegion()
        region.SetIndex(index)
        image.SetRegions(region)
    return image


def as_itk_mask(mask: Any, name: str, image: Any, given: Any) -> Any:
    """Returns an itk.Image that is 1 where `mask` is not 0, and 0 elsewhere.

    `image` is the itk.Image that was made of `given`, the user's image. A mask that is a NumPy array has the geometry
    and the order of axes of `given`.
    """
    return _beside(image, given, mask, name, as_itk_image, lambda pixels: (pixels != 0).astype(np.uint8))


def as_itk_labels(labels: Any, name: str, image: Any, given: Any) -> Any:
    """Returns labels, which are integers of any type, as an itk.Image of uint32; see as_itk_mask()."""
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
    """Converts another image or array of the same size by `convert`, maps its pixels by `change`, and returns an
    itk.Image with the geometry of `image`."""
    placed = _aligned(other, given, name, "image") if is_xarray(other) and is_xarray(given) else other
    if is_xarray(given) and not is_itk_object(placed) and placed.shape == given.shape:
        placed = given.copy(data=np.asarray(placed))
    checked = convert(placed, name)
    pixels = change(pixels_of(checked))
    if pixels.shape != pixels_of(image).shape:
        raise ValueError(f"{name} has the shape {pixels.shape}; it must be the image's, {pixels_of(image).shape}")
    if not isinstance(other, np.ndarray) and not isinstance(given, np.ndarray):
        _require_same_geometry(checked, image, name, "image")
    return with_geometry_of(image, pixels)


def pixels_beside(other: Any, given: Any, name: str, of: str) -> npt.NDArray[Any]:
    """Returns the pixels of an image, array or DataArray in the order of the axes of `given`, whose parameter is named
    `of`.

    Raises ValueError if its geometry differs from that of `given`. If it has no geometry, it has that of `given`."""
    if is_xarray(other) and is_xarray(given):
        return pixels_of(_aligned(other, given, name, of), name)
    pixels = pixels_of(other, name)
    if not all(is_xarray(each) or is_itk_object(each) for each in (other, given)) or pixels.ndim != pixels_of(given).ndim:
        return pixels
    placed, place = (
        _image_from_xarray(each, pixels_of(each), known) if is_xarray(each) else each for each, known in ((other, name), (given, of))
    )
    _require_same_geometry(placed, place, name, of)
    return np.transpose(pixels_of(placed), np.argsort(axes_of(given)))


def _aligned(other: Any, given: Any, name: str, of: str) -> Any:
    """Aligns a DataArray with another one: axes by their names, and pixels by their coordinates if both arrays have
    some."""
    if not set(other.dims) <= set(given.dims):
        raise ValueError(
            f"{name} has the dimensions {other.dims}; they must be among those of {of}, {given.dims}: rename them, or give {name}.values"
        )
    for dim in other.dims:
        if dim in other.coords and dim in given.coords:
            other = _with_coordinates_of(other, given, dim, name, of)
    return other.transpose(*(dim for dim in given.dims if dim in other.dims))


def _with_coordinates_of(other: Any, given: Any, dim: Any, name: str, of: str) -> Any:
    """Selects the pixels of a DataArray at the coordinates of another one along an axis. Numbers are equal within ITK's
    coordinate tolerance, as a fraction of the step, plus the rounding of their types."""
    if other.get_index(dim).equals(given.get_index(dim)):
        return other
    own, wanted = other.coords[dim].values, given.coords[dim].values
    order = np.argsort(own, kind="stable")
    first, tolerance = wanted, 0.0
    if own.dtype.kind in "iuf" and wanted.dtype.kind in "iuf" and len(wanted) > 0:
        digits = max((float(np.finfo(each.dtype).eps) for each in (own, wanted) if each.dtype.kind == "f"), default=0.0)
        step = np.ptp(wanted) / max(1, len(wanted) - 1)
        tolerance = _coordinate_tolerance() * float(step) + 2.0 * digits * float(np.abs(wanted).max())
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


def _coordinate_tolerance() -> float:
    return float(itk.ImageToImageFilterCommon.GetGlobalDefaultCoordinateTolerance())


def _require_same_geometry(other: Any, image: Any, name: str, of: str) -> None:
    """Raises ValueError unless `other` has the geometry of `image` within ITK's tolerances, or no geometry of its own:
    origin 0, spacing 1 and no rotation, as an array or a file without geometry has."""
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
        if (np.abs(value - expected) > tolerances.get(key, _coordinate_tolerance() * image.GetSpacing()[0])).any():
            raise ValueError(
                f"{name} has the {key} {value.tolist()}; it must be that of {of}, {expected.tolist()}: resample it, or give its pixels "
                f"alone, itk.array_view_from_image({name})"
            )


def like(result: Any, image: Any, name: str | None) -> Any:
    """Converts the itk.Image `result`, which has the size of `image`, to the kind of `image`. A DataArray gets the name
    `name`."""
    if not is_xarray(image):
        return result if is_itk_object(image) else pixels_of(result)
    pixels = pixels_of(result)
    components = ["c"] if pixels.ndim > image.ndim else []
    order = np.argsort(axes_of(image)).tolist() + [image.ndim] * len(components)
    return type(image)(
        np.transpose(pixels, order), dims=[*image.dims, *components], coords=image.coords, attrs=image.attrs, name=name
    )


def axes_of(array: Any) -> tuple[int, ...]:
    """Returns the axes of an array in the order of an image's pixels, [y, x]. They keep their order, except for a
    DataArray whose dimensions are all named t, z, y or x."""
    if is_xarray(array) and set(array.dims) <= set(_AXES):
        return tuple(sorted(range(array.ndim), key=lambda axis: _AXES.index(array.dims[axis])))
    return tuple(range(array.ndim))


def _image_from_xarray(array: Any, pixels: npt.NDArray[Any], name: str) -> Any:
    """Returns an itk.Image of `pixels`, which belong to `array`, with the geometry of the array's coordinates and
    attributes.

    Descending coordinates become a negative direction, because ITK's spacing is positive. The attribute `direction` is
    the one that itk.xarray_from_image() writes.
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
    """Returns the coordinate of an axis's first pixel and the step between coordinates; 0 and 1 without coordinates."""
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
    # Coordinates of a floating-point type may deviate from even spacing by their rounding.
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
    """Returns the spacing of a DataArray along one of its axes. It is negative where coordinates descend."""
    return _first_and_step(array, array.dims[axis], name)[1]


def _direction_of(array: Any, dims: list[str]) -> npt.NDArray[np.float64]:
    """Returns the direction matrix, with x first. It is the identity unless the attribute `direction` holds a matrix of
    determinant 1 or -1 that covers all axes."""
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

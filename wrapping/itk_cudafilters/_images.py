# SPDX-License-Identifier: Apache-2.0
"""Conversions between the kinds of images that this package accepts: its own Image, itk.Image, NumPy array and
xarray.DataArray. Messages for other kinds say how to convert them."""
from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._image import Image
from ._itk import is_itk_object, itk, pixel_type

# Pixel types of the region filters. bool and float64 are converted to them.
_SNAKE_PIXELS = ("uint8", "uint16", "int16", "float32")
_CONVERTED = {"bool": np.uint8, "float64": np.float32}
_GAUSSIAN_PIXELS = ("uint8", "uint16", "int16", "float32", "float64")

# How to convert objects of other packages. The keys are the top-level names of their modules.
_CONVERSIONS = {
    "PIL": "numpy.asarray({name})",
    "SimpleITK": "itk_cudafilters.Image.of({name})",
    "builtins": 'numpy.asarray({name}, dtype="float32")',
    "cupy": "{name}.get()",
    "dask": "{name}.compute(), or the function by dask.delayed(), which makes a task of it",
    "h5py": "{name}[...]",
    "jax": "numpy.asarray({name})",
    "jaxlib": "numpy.asarray({name})",
    "nibabel": "itk_cudafilters.Image.of({name})",
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


def is_instance(value: Any, package: str, name: str) -> bool:
    """Returns whether `value` is an instance of the class `name` of a package, which is not imported for the answer: a
    package that is not loaded, or whose import another thread has begun, has made no instance yet."""
    kind = getattr(sys.modules.get(package), name, None)
    return kind is not None and isinstance(value, kind)


def is_xarray(image: Any) -> bool:
    return is_instance(image, "xarray", "DataArray")


def is_dask(image: Any) -> bool:
    return is_instance(image, "dask.array", "Array")


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
    """Raises TypeError unless `image` is an itk.Image, an Image, a NumPy array or an xarray.DataArray.

    `name` is the name of the parameter. `of_mask` is the advice for a masked array.
    """
    if isinstance(image, np.ma.MaskedArray):
        raise TypeError(f"{name} is a numpy.ma.MaskedArray, whose mask would be lost: {of_mask.format(name=name)}")
    if isinstance(image, (np.ndarray, Image)) or is_xarray(image) or hasattr(image, "GetImageDimension"):
        return
    kinds = f"{name} is {describe(image)}; it must be an itk.Image, a NumPy array or an xarray.DataArray"
    if isinstance(image, str) or hasattr(image, "__fspath__"):
        raise TypeError(f"{kinds}: call itk_cudafilters.read_image({name})")
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


def plane_of(
    image: Any, name: str, *, known: tuple[str, ...] = _SNAKE_PIXELS, converted: Mapping[str, Any] = _CONVERTED
) -> npt.NDArray[Any]:
    """Returns the pixels of a two-dimensional image as the region filters read them: by [y, x], of a native type, and
    adjacent in each row. They are not copied unless the image has another type or another layout.

    `name` is the name of the parameter, for messages. Pixels of the types in `known` are not converted; pixels of the
    types in `converted` get the type that this maps them to.
    """
    require_known_kind(image, name, of_mask="give {name}.data, and valid_mask=~numpy.ma.getmaskarray({name})")
    is_image = is_itk_object(image)
    if is_image and (image.GetNameOfClass() != "Image" or image.GetNumberOfComponentsPerPixel() != 1):
        raise TypeError(f"{name} is {describe(image)} of more than one number per pixel: extract a component of it first")
    if is_xarray(image):
        _require_no_bands(image, name)
    if isinstance(image, Image):
        require_scalar(image, name)
    dimension = image.GetImageDimension() if is_image else image.ndim
    if dimension != 2:
        raise ValueError(f"{name} has {dimension} dimensions; it must have 2: take a slice of it")
    pixels = pixels_of(image, name)
    if is_image and pixels.shape != (whole := tuple(image.GetLargestPossibleRegion().GetSize())[::-1]):
        raise ValueError(f"{name} has the pixels of a part of shape {pixels.shape} in memory; it must have all of {whole}")
    if pixels.size == 0:
        raise ValueError(f"{name} has the shape {pixels.shape}; it must have pixels")
    dtype = name_of(pixels.dtype)
    if dtype not in converted:
        require_known_type(dtype, name, known)
    pixels = pixels.view(np.uint8) if dtype == "bool" else pixels
    pixels = np.transpose(pixels, axes_of(image)).astype(converted.get(dtype, pixels.dtype.newbyteorder("=")), copy=False)
    row, size = pixels.strides[0], pixels.itemsize
    is_taken = pixels.flags.aligned and pixels.strides[1] == size and row >= size * pixels.shape[1] and row % size == 0
    return pixels if is_taken else np.require(pixels, requirements=["C", "A"])


@dataclass(frozen=True)
class Geometry:
    """Where the pixels of an image lie in physical space. All members have x first."""

    origin: npt.NDArray[np.float64]
    spacing: npt.NDArray[np.float64]
    direction: npt.NDArray[np.float64]
    first: npt.NDArray[np.int64]
    """The index of the first pixel."""

    @classmethod
    def of(cls, image: Any, name: str = "image") -> Geometry:
        """Returns the geometry of an itk.Image, of an Image, or of a DataArray's coordinates and attributes. An array has origin 0
        and spacing 1.

        Descending coordinates become a negative direction, because ITK's spacing is positive. The attribute `direction`
        is the one that itk.xarray_from_image() writes.
        """
        if is_itk_object(image):
            first = np.array(list(image.GetLargestPossibleRegion().GetIndex()), np.int64)
            direction = itk.array_from_matrix(image.GetDirection())
            return cls(np.array(image.GetOrigin()), np.array(image.GetSpacing()), direction, first)
        if isinstance(image, Image):
            return cls(np.array(image.origin), np.array(image.spacing), image.direction, np.zeros(image.dimension, np.int64))
        first = np.zeros(image.ndim, np.int64)
        if not is_xarray(image):
            return cls(np.zeros(image.ndim), np.ones(image.ndim), np.eye(image.ndim), first)
        dims = [image.dims[axis] for axis in axes_of(image)]
        origin, steps = np.array([_first_and_step(image, dim, name) for dim in reversed(dims)]).T
        return cls(origin, abs(steps), _direction_of(image, dims) * np.sign(steps), first)

    @property
    def is_mirrored(self) -> bool:
        return bool(np.linalg.det(self.direction) < 0.0)

    def place(self, corners: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Returns the points of pixel corners in a plane, N x 2. Corner (0, 0) is the outer one of the first pixel."""
        (x, y), matrix = (self.first + corners - 0.5).T[..., None], self.direction * self.spacing
        # The order of ITK's operations, so that the points are those of itk.CudaRegionPartition.
        return np.asarray(x * matrix[:, 0] + y * matrix[:, 1] + self.origin)

    def corners_at(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Inverts place(). Points between corners have fractions."""
        indices = np.linalg.solve(self.direction * self.spacing, (points - self.origin).T).T
        return np.asarray(indices - self.first + 0.5)


def require_scalar(image: Image, name: str) -> None:
    if image.has_components:
        raise TypeError(f"{name} is an Image of more than one number per pixel: extract a component of it first")


def valid_pixels_of(image: Any, valid_mask: Any, name: str = "image") -> Any:
    """Returns a mask without the pixels of an Image that hold no data. Other images have none of these."""
    valid = image.valid if isinstance(image, Image) else None
    if valid is None or valid.all():
        return valid_mask
    return valid if valid_mask is None else (pixels_beside(valid_mask, image, "valid_mask", name) != 0) & valid


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
    if isinstance(image, Image):
        return image.with_array(pixels).to_itk()
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


def empty_like(image: Any, dtype: str) -> Any:
    """Returns an itk.Image with the geometry of `image` and pixels that are not initialized."""
    result = itk.Image[pixel_type(dtype), image.GetImageDimension()].New()
    result.CopyInformation(image)
    result.SetRegions(image.GetLargestPossibleRegion())
    result.Allocate()
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


def mask_beside(mask: Any, name: str, given: Any, shape: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """Returns an array of bytes that are 0 where `mask` is 0.

    `given` is the user's image, whose plane has that shape. A mask that is a NumPy array has the geometry and the order
    of axes of `given`.
    """
    return _plane_beside(mask, name, given, shape, _plane_of_mask).view(np.uint8)


def _plane_of_mask(mask: Any, name: str) -> npt.NDArray[Any]:
    require_known_kind(mask, name, of_mask="give {name}.filled(0)")
    dtype = pixels_of(mask, name).dtype
    if dtype.kind not in "biuf":
        raise TypeError(f"{name} has pixels of type {dtype.name}; they must be numbers or truth values: give {name} != 0")
    converted = {"bool": np.uint8} if dtype == np.bool_ else {} if dtype == np.uint8 else {dtype.name: np.bool_}
    return plane_of(mask, name, known=("uint8",), converted=converted)


def labels_beside(labels: Any, name: str, given: Any, shape: tuple[int, ...]) -> npt.NDArray[np.uint32]:
    """Returns labels, which are integers of any type, as an array of uint32; see mask_beside()."""
    return _plane_beside(labels, name, given, shape, _plane_of_labels)


def _plane_of_labels(labels: Any, name: str) -> npt.NDArray[Any]:
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
    return plane_of(labels, name, known=("uint32",), converted={values.dtype.name: np.uint32})


def _plane_beside(
    other: Any, name: str, given: Any, shape: tuple[int, ...], convert: Callable[[Any, str], npt.NDArray[Any]]
) -> npt.NDArray[Any]:
    """Returns the pixels of another image or array by `convert`. Raises ValueError unless they have that shape, and the
    geometry of `given`."""
    placed = _aligned(other, given, name, "image") if is_xarray(other) and is_xarray(given) else other
    has_place = is_itk_object(placed) or isinstance(placed, Image)
    if is_xarray(given) and not has_place and placed.shape == given.shape:
        placed = given.copy(data=np.asarray(placed))
    pixels = convert(placed, name)
    if pixels.shape != shape:
        raise ValueError(f"{name} has the shape {pixels.shape}; it must be the image's, {shape}")
    if not isinstance(other, np.ndarray) and not isinstance(given, np.ndarray):
        _require_same_geometry(Geometry.of(placed, name), Geometry.of(given), name, "image")
    return pixels


def pixels_beside(other: Any, given: Any, name: str, of: str) -> npt.NDArray[Any]:
    """Returns the pixels of an image, array or DataArray in the order of the axes of `given`, whose parameter is named
    `of`.

    Raises ValueError if its geometry differs from that of `given`. If it has no geometry, it has that of `given`."""
    if is_xarray(other) and is_xarray(given):
        return pixels_of(_aligned(other, given, name, of), name)
    pixels = pixels_of(other, name)
    if isinstance(other, np.ndarray) or isinstance(given, np.ndarray) or pixels.ndim != pixels_of(given).ndim:
        return pixels
    _require_same_geometry(Geometry.of(other, name), Geometry.of(given, of), name, of)
    return np.transpose(pixels, axes_of(other)).transpose(np.argsort(axes_of(given)))


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
        tolerance = _tolerance("Coordinate") * float(step) + 2.0 * digits * float(np.abs(wanted).max())
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


def _tolerance(of: str) -> float:
    """Returns ITK's global tolerance of coordinates or directions."""
    common = getattr(sys.modules.get("itk"), "ImageToImageFilterCommon", None)
    # Without the package, the default has not been changed.
    return 1e-6 if common is None else float(getattr(common, f"GetGlobalDefault{of}Tolerance")())


def _require_same_geometry(other: Geometry, geometry: Geometry, name: str, of: str) -> None:
    """Raises ValueError unless `other` equals `geometry` within ITK's tolerances, or is no geometry of its own: origin
    0, spacing 1 and no rotation, as an array or a file without geometry has."""
    none = {"origin": 0.0, "spacing": 1.0, "direction": np.eye(len(other.origin))}
    if all((getattr(other, key) == value).all() for key, value in none.items()):
        return
    coordinates = _tolerance("Coordinate") * geometry.spacing[0]
    for key in none:
        value, expected = getattr(other, key), getattr(geometry, key)
        if (np.abs(value - expected) > (_tolerance("Direction") if key == "direction" else coordinates)).any():
            raise ValueError(
                f"{name} has the {key} {value.tolist()}; it must be that of {of}, {expected.tolist()}: resample it, or give its pixels "
                f"alone, as an array"
            )


def like(result: Any, image: Any, name: str | None) -> Any:
    """Converts `result`, an itk.Image of the size of `image` or its pixels, to the kind of `image`. A DataArray gets the
    name `name`."""
    if is_itk_object(image) and is_itk_object(result):
        return result
    pixels = pixels_of(result)
    if isinstance(image, Image):
        return image.with_array(pixels, has_components=pixels.ndim > image.dimension)
    if not is_xarray(image):
        return pixels
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


def crs_of_array(array: Any) -> str | None:
    """Returns the reference system of a DataArray, which rioxarray keeps as CF's conventions have it: in the attributes of a
    coordinate without a dimension; None if there is none."""
    name = array.encoding.get("grid_mapping") or array.attrs.get("grid_mapping") or "spatial_ref"
    attributes = array.coords[name].attrs if name in array.coords else {}
    text = attributes.get("crs_wkt") or attributes.get("spatial_ref")
    return None if text is None else str(text)


def _image_from_xarray(array: Any, pixels: npt.NDArray[Any], name: str) -> Any:
    """Returns an itk.Image of `pixels`, which belong to `array`, with the geometry of the array."""
    geometry = Geometry.of(array, name)
    result = image_of(np.ascontiguousarray(np.transpose(pixels, axes_of(array))))
    result.SetOrigin(geometry.origin.tolist())
    result.SetSpacing(geometry.spacing.tolist())
    result.SetDirection(itk.matrix_from_array(np.ascontiguousarray(geometry.direction)))
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

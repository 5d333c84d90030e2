# SPDX-License-Identifier: Apache-2.0
"""An array of pixels with its place in space."""
from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._map_tags import corner_of, matrix_of, tags_at
from ._scratch import empty_or_scratch


class Image:
    """An array with its place in physical space, as image files describe it.

    The functions of this package take it and return it, as they do with an itk.Image: `sigma` is in the units of the
    spacing where it is for that. NumPy's functions take it as the array of its pixels. read_image() returns one.

    Parameters
    ----------
    array
        The pixels, indexed [y, x] or [z, y, x], and with components [..., component].
    spacing, origin, direction
        As in ITK, x comes first: pixel (i, j, k) is at origin + direction @ (spacing * (i, j, k)). The columns of
        `direction` are the directions of the axes. By default the spacing is 1, the origin 0 and nothing is turned.
    has_components
        Whether the last axis of the array holds the components of a pixel, such as colours.
    no_data
        Pixels of this value hold no data. The Gaussian functions leave them out, and give their results this value.
    valid_mask
        An array without the axis of components: pixels where it is 0 hold no data, either. Files of images do not keep it.
    quantity
        What the pixels of a radar image are: "intensity", "amplitude" or "db" for decibels. segment_region(), partition_image()
        and estimate_looks() convert them to what they need. By default the pixels are taken as they are.
    metadata
        What else a file says, by names. write_image() writes what the format has a place for.

    Examples
    --------
    >>> import numpy as np
    >>> image = Image(np.zeros((3, 4), np.float32), spacing=(0.5, 2.0))
    >>> image.spacing, image.origin, image.direction.tolist()
    ((0.5, 2.0), (0.0, 0.0), [[1.0, 0.0], [0.0, 1.0]])
    """

    def __init__(
        self,
        array: npt.ArrayLike,
        spacing: Sequence[float] | None = None,
        origin: Sequence[float] | None = None,
        direction: npt.ArrayLike | None = None,
        *,
        has_components: bool = False,
        no_data: float | None = None,
        valid_mask: npt.ArrayLike | None = None,
        quantity: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.array: npt.NDArray[Any] = np.asarray(array)
        self.has_components = bool(has_components)
        count = self.dimension
        if count < 0:
            raise ValueError("array has no axis; with has_components it must have one")
        self.spacing = _numbers(spacing, "spacing", count, 1.0)
        if not all(step > 0.0 for step in self.spacing):
            raise ValueError(f"spacing is {self.spacing}; it must be above 0: turn an axis round by its direction")
        self.origin = _numbers(origin, "origin", count, 0.0)
        self.direction = np.eye(count) if direction is None else np.array(direction, np.float64)
        if self.direction.shape != (count, count) or not np.isfinite(self.direction).all():
            raise ValueError(f"direction has the shape {self.direction.shape}; it must be a matrix of {count} finite rows and columns")
        self.no_data = None if no_data is None else float(no_data)
        self.valid_mask = None if valid_mask is None else np.asarray(valid_mask) != 0
        if self.valid_mask is not None and self.valid_mask.shape != self.array.shape[:count]:
            raise ValueError(f"valid_mask has the shape {self.valid_mask.shape}; it must be that of the pixels, {self.array.shape[:count]}")
        self.quantity = quantity_of(quantity)
        self.metadata: dict[str, Any] = dict(metadata or {})

    @property
    def dimension(self) -> int:
        """Number of axes in space."""
        return self.array.ndim - self.has_components

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def ndim(self) -> int:
        return self.array.ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    @property
    def valid(self) -> npt.NDArray[np.bool_] | None:
        """True where a pixel holds data, in the shape of the array; None without a value for no data and a mask."""
        mask = self.valid_mask
        if mask is not None and self.has_components:
            mask = np.broadcast_to(mask[..., None], self.array.shape)
        if self.no_data is None:
            return mask
        valid = empty_or_scratch(self.array.shape, "bool")
        if math.isnan(self.no_data):
            np.logical_not(np.isnan(self.array, out=valid), out=valid)
        else:
            # The files' text of a value of float32 may have the digits of another type.
            value = np.asarray(self.no_data).astype(self.array.dtype) if self.array.dtype.kind == "f" else self.no_data
            np.not_equal(self.array, value, out=valid)
        return valid if mask is None else np.logical_and(valid, mask, out=valid)

    @property
    def crs(self) -> str | None:
        """The coordinate reference system of the map, by its number at EPSG or as WKT; None if it is not known."""
        return self.metadata.get("crs")

    @property
    def transform(self) -> tuple[float, float, float, float, float, float]:
        """The six numbers a to f of the affine map from corners of pixels to the physical plane, in the order of rasterio's
        Affine: x = a column + b row + c, y = d column + e row + f. The outer corner of the first pixel is (c, f).

        Of a map that was read from a file these are the file's own numbers."""
        if self.dimension != 2:
            raise ValueError(f"the image has {self.dimension} axes in space; a map has 2")
        tags = tags_at((self.spacing, self.origin, self.direction), self.metadata)
        matrix, corner = matrix_of(tags), corner_of(tags)
        matrix[:2, 3] -= matrix[:2, :2] @ [corner, corner]
        a, b, c, d, e, f = matrix[:2, [0, 1, 3]].ravel().tolist()
        return a, b, c, d, e, f

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.array, dtype=dtype, copy=True) if copy else np.asarray(self.array, dtype=dtype)

    def __repr__(self) -> str:
        return f"Image({self.dtype.name} {self.shape}, spacing={self.spacing}, origin={self.origin})"

    def with_array(self, array: npt.ArrayLike, *, has_components: bool | None = None) -> Image:
        """Returns an image of other pixels in the same place."""
        components = self.has_components if has_components is None else has_components
        if not isinstance(components, (bool, np.bool_)):
            raise TypeError(f"has_components is {has_components!r}; it must be True, False or None")
        pixels = np.asarray(array)
        if pixels.dtype.kind not in "biufc":
            raise TypeError(f"array is of type {type(array).__qualname__}; it must be an array of numbers")
        if pixels.ndim != self.dimension + components:
            raise ValueError(f"array has the shape {pixels.shape}; it must have {self.dimension} axes, and one more for components")
        return Image(
            pixels, self.spacing, self.origin, self.direction, has_components=bool(components), no_data=self.no_data,
            valid_mask=self.valid_mask, quantity=self.quantity, metadata=self.metadata,
        )

    def _with_result(self, array: npt.NDArray[Any], adds_components: bool) -> Image:
        """Returns a result of a filter in the place of this image. Pixels that hold no data hold none there either, unless
        the type of the result has no such value."""
        valid = self.valid
        if valid is not None and self.no_data is not None and not valid.all() and _holds(array.dtype, self.no_data):
            array[~valid] = self.no_data
        return self.with_array(array, has_components=self.has_components or adds_components)

    def to_physical(self, places: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Returns the physical points of places in pixels, x first, which are the rows of an array."""
        found = np.asarray(places)
        if found.dtype.kind not in "biuf" or found.ndim == 0 or found.shape[-1] != self.dimension:
            raise ValueError(f"places is {places!r:.60}; it must be numbers, {self.dimension} in a row, x first")
        offsets = found * self.spacing
        return np.asarray(offsets @ self.direction.T + self.origin)

    @classmethod
    def of(cls, image: Any) -> Image:
        """Returns an image of the kind of another package as an Image: of itk, SimpleITK, nibabel or xarray, or an array.

        Pixels are shared where that is possible. The coordinates of nibabel, in which x goes to the right and y to the
        front, become those of ITK, in which they go to the left and to the back."""
        if isinstance(image, Image):
            return image
        if hasattr(image, "GetNumberOfComponentsPerPixel") and hasattr(image, "GetDirection"):
            return cls._of_itk(image)
        if hasattr(image, "dataobj") and hasattr(image, "affine"):
            return cls._of_nibabel(image)
        if hasattr(image, "dims") and hasattr(image, "coords"):
            return cls._of_xarray(image)
        if isinstance(image, str) or hasattr(image, "__fspath__"):
            raise TypeError("image is the name of a file: call read_image()")
        array = np.asarray(image)
        if array.dtype.kind not in "biufc":
            raise TypeError(f"image is of type {type(image).__qualname__}; it must be an image or an array of numbers")
        return cls(array)

    @classmethod
    def _of_itk(cls, image: Any) -> Image:
        packages = [base.__module__.partition(".")[0] for base in type(image).__mro__]
        if "SimpleITK" in packages:
            pixels = sys.modules["SimpleITK"].GetArrayFromImage(image)
            direction, origin = np.array(image.GetDirection()), image.GetOrigin()
        else:
            from ._images import pixels_of

            pixels = pixels_of(image)
            direction = np.asarray(sys.modules["itk"].array_from_matrix(image.GetDirection()))
            # A region may begin at another index than 0, which arrays do not have.
            origin = image.TransformIndexToPhysicalPoint(image.GetLargestPossibleRegion().GetIndex())
        dimension = len(origin)
        direction = direction.reshape((dimension, dimension))
        return cls(pixels, tuple(image.GetSpacing()), tuple(origin), direction, has_components=pixels.ndim > dimension)

    @classmethod
    def _of_nibabel(cls, image: Any) -> Image:
        array = np.asanyarray(image.dataobj)
        components = array.ndim > 4 and array.shape[3] == 1  # NIfTI's fourth axis is time, and the fifth holds components
        axes = min(array.ndim, 3)
        steps = np.asarray(image.affine, np.float64)[:3, :axes] * np.array([[-1.0], [-1.0], [1.0]])
        spacing = np.linalg.norm(steps, axis=0)
        origin = np.asarray(image.affine, np.float64)[:3, 3] * (-1.0, -1.0, 1.0)
        direction = steps / np.where(spacing == 0.0, 1.0, spacing)
        if components:
            array = array[:, :, :, 0]
        elif array.ndim > 3:
            raise ValueError(f"image has {array.ndim} axes; images of 2 and 3 axes have a place in space")
        pixels = np.moveaxis(array, range(axes), range(axes - 1, -1, -1))
        return cls(pixels, tuple(spacing), tuple(origin[:axes]), direction[:axes, :axes], has_components=components)

    @classmethod
    def _of_xarray(cls, image: Any) -> Image:
        from ._images import Geometry, axes_of, crs_of_array

        place = Geometry.of(image, "image")
        attributes = dict(image.attrs)
        no_data = attributes.pop("_FillValue", None)
        for key in ("direction", "spacing", "origin"):
            attributes.pop(key, None)
        crs = crs_of_array(image)
        if crs is not None:
            attributes["crs"] = crs
        pixels = np.transpose(image.values, axes_of(image))
        return cls(pixels, tuple(place.spacing), tuple(place.origin), place.direction, no_data=no_data, metadata=attributes)

    def to_itk(self) -> Any:
        """Returns an itk.Image of the same pixels, or with components an itk.VectorImage. Needs the package itk."""
        from ._images import image_of
        from ._itk import itk

        pixels = np.ascontiguousarray(self.array)
        image = itk.image_from_array(pixels, is_vector=True) if self.has_components else image_of(pixels)
        image.SetSpacing(self.spacing)
        image.SetOrigin(self.origin)
        image.SetDirection(itk.matrix_from_array(np.ascontiguousarray(self.direction)))
        return image

    def to_simpleitk(self) -> Any:
        """Returns a SimpleITK.Image of a copy of the pixels. Needs the package SimpleITK."""
        image = importlib.import_module("SimpleITK").GetImageFromArray(self.array, isVector=self.has_components)
        image.SetSpacing(self.spacing)
        image.SetOrigin(self.origin)
        image.SetDirection(self.direction.ravel().tolist())
        return image

    def to_nibabel(self) -> Any:
        """Returns a nibabel.Nifti1Image. Needs the package nibabel."""
        count = self.dimension
        if not 1 <= count <= 3:
            raise ValueError(f"the image has {count} axes in space; NIfTI has up to 3")
        affine = np.eye(4)
        affine[:count, :count] = self.direction * self.spacing
        affine[:count, 3] = self.origin
        affine[:2] *= -1.0
        if count < 3:
            affine[2, 2] = 1.0
        pixels = np.moveaxis(self.array, range(count), range(count - 1, -1, -1))
        if self.has_components:
            pixels = pixels.reshape((*pixels.shape[:-1], *[1] * (4 - count), pixels.shape[-1]))
        return importlib.import_module("nibabel").Nifti1Image(pixels, affine)

    def to_xarray(self) -> Any:
        """Returns an xarray.DataArray of the dimensions z, y, x with coordinates, and `c` for components.

        A direction that is not along the axes goes into the attribute of that name, as in itk.xarray_from_image(). Needs
        the package xarray."""
        count = self.dimension
        dims = [*("z", "y", "x")[-count:], *(["c"] if self.has_components else [])] if count <= 3 else None
        attributes = {**self.metadata}
        signs = np.diag(self.direction)
        if (self.direction == np.diag(signs)).all() and (abs(signs) == 1.0).all():
            steps = signs * self.spacing
        else:
            steps = np.array(self.spacing)
            attributes["direction"] = np.flip(self.direction)
        if self.no_data is not None:
            attributes["_FillValue"] = self.no_data
        coordinates = {}
        if dims is not None:
            for axis, dim in enumerate(reversed(dims[:count])):
                coordinates[dim] = self.origin[axis] + steps[axis] * np.arange(self.array.shape[count - 1 - axis])
        return importlib.import_module("xarray").DataArray(self.array, dims=dims, coords=coordinates, attrs=attributes)


QUANTITIES = ("intensity", "amplitude", "db")


def quantity_of(name: Any) -> str | None:
    """Returns the name of what the pixels of a radar image are, in lower case. Raises TypeError or ValueError if there is none
    such."""
    if name is None or (isinstance(name, str) and name.lower() in QUANTITIES):
        return None if name is None else name.lower()
    kind = ValueError if isinstance(name, str) else TypeError
    raise kind(f"quantity is {name!r}; it must be one of {', '.join(QUANTITIES)}, or None")


def _holds(dtype: np.dtype[Any], value: Any) -> bool:
    """Returns whether pixels of this type can have the value."""
    if dtype.kind == "f":
        return True
    limits = np.iinfo(dtype)
    return float(value).is_integer() and limits.min <= value <= limits.max


def _numbers(values: Sequence[float] | None, name: str, count: int, default: float) -> tuple[float, ...]:
    found = (default,) * count if values is None else tuple(float(value) for value in values)
    if len(found) != count or not all(map(math.isfinite, found)):
        raise ValueError(f"{name} is {found}; it must be {count} finite numbers, one for each axis, x first")
    return found

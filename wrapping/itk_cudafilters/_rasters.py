# SPDX-License-Identifier: Apache-2.0
"""Rasters that GDAL reads, by the package rasterio: windows, chosen bands and masks of large scenes, on disks and on servers."""
from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._image import Image
from ._library import core, empty
from ._map_tags import MAP, Place, place_of
from ._output import Scratch

PACKAGES = "rasterio pyogrio"
"""The extra [geo] of this package."""


def require_package(name: str, what: str) -> Any:
    """Returns a package that is not needed otherwise. `what` is the part of this package that needs it, for the message."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        package = name.partition(".")[0]
        if missing.name not in (name, package):
            raise
        wanted = PACKAGES if package in PACKAGES.split() else package
        raise ModuleNotFoundError(f"{what} needs the package {package}: pip install {wanted}", name=package) from missing


def is_remote(path: str | os.PathLike[str]) -> bool:
    """Returns whether GDAL takes the name for an address or for one of its own file systems."""
    name = os.fspath(path)
    return "://" in name or name.startswith("/vsi")


class RasterFile:
    """A window of a raster. It has the members of ImageFile that describe a file and read it whole."""

    def __init__(
        self,
        name: str | os.PathLike[str],
        band: int | Sequence[int] | None = None,
        window: Sequence[int] | None = None,
        bounds: Sequence[float] | None = None,
        quantity: str | None = None,
    ) -> None:
        start_time = time.perf_counter()
        self._rasterio = require_package("rasterio", f"reading '{os.fspath(name)}'")
        import_module("rasterio.windows")
        self.name = os.fspath(name)
        self.paths = [] if is_remote(name) else [Path(self.name)]
        self.format = "raster"
        with self._open() as source:
            self._bands = _bands_of(band, source.count, self.name)
            self._window = self._window_of(source, window, bounds)
            column, row, width, height = self._window
            self.size = [width, height]
            self.axes = 2
            self.components = len(self._bands)
            of_bands = list(zip(source.dtypes, source.scales, source.offsets, source.nodatavals, source.mask_flag_enums))
            kinds, scales, offsets, no_data, flags = zip(*(of_bands[number - 1] for number in self._bands))
            stored = np.result_type(*{"complex64" if kind.startswith("complex_") else kind for kind in kinds})
            self._scales = None if set(scales) == {1.0} and set(offsets) == {0.0} else np.array([scales, offsets])
            self._stored = stored
            self._is_complex = stored.kind == "c"
            self._quantity = quantity
            if self._is_complex and quantity not in ("amplitude", "intensity"):
                raise OSError(f"'{self.name}' has complex pixels, of which amplitude or intensity is read: give quantity")
            self.dtype = np.dtype(np.float32) if self._is_complex or self._scales is not None else stored
            self.pixel_type = "scalar" if self.components == 1 else "vector"
            self.metadata: dict[str, Any] = {}
            # GDAL has a local reference system for a file that says only that its coordinates are those of pixels' centres.
            crs = source.crs if source.crs is not None and (source.crs.is_projected or source.crs.is_geographic) else None
            self.place: Place = (1.0, 1.0), (float(column), float(row)), np.eye(2)
            if crs is not None:
                self.metadata["crs"] = _text_of(crs)
            if crs is not None or not source.transform.is_identity:
                transform = source.window_transform(self._rasterio.windows.Window(*self._window))
                self.metadata |= {**({} if crs is None else geo_keys(crs)), **_tags_of(transform)}
                place = place_of(self.metadata)
                if place is None:
                    raise OSError(f"'{self.name}' has pixels without extent on its map: {tuple(transform)[:6]}")
                self.place = place
            # What all_valid and a value for no data do not say is in a mask of its own, or in a band of transparency.
            masks = {flag.name for own in flags for flag in own}
            is_scaled = self._scales is not None and "nodata" in masks
            self._has_mask = not masks <= {"all_valid", "nodata"} or is_scaled or len(set(no_data)) > 1
            self._no_data = None if self._has_mask else no_data[0]
        self.spacing = list(self.place[0])
        self.seconds = time.perf_counter() - start_time

    @contextmanager
    def _open(self) -> Iterator[Any]:
        """Opens the dataset, and converts the exceptions of GDAL within the block."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", self._rasterio.errors.NotGeoreferencedWarning)
                with self._rasterio.open(self.name) as source:
                    yield source
        except self._rasterio.errors.RasterioError as error:
            raise OSError(f"'{self.name}' could not be read: {error}") from error

    def _window_of(
        self, source: Any, window: Sequence[int] | None, bounds: Sequence[float] | None
    ) -> tuple[int, int, int, int]:
        """Returns the first column and row, the width and the height of the part to read."""
        whole = (0, 0, source.width, source.height)
        if window is not None and bounds is not None:
            raise TypeError("window and bounds are given; they are two ways to name a part of the raster")
        if window is not None:
            column, row, width, height = _four(window, "window", "whole numbers (x, y, width, height)", int)
            if min(column, row) < 0 or min(width, height) < 1 or column + width > source.width or row + height > source.height:
                raise ValueError(
                    f"window is {(column, row, width, height)}; it must be (x, y, width, height) of a part of the "
                    f"{source.width} x {source.height} pixels, its width and height 1 or more"
                )
            return column, row, width, height
        if bounds is None:
            return whole
        left, bottom, right, top = _four(bounds, "bounds", "numbers (left, bottom, right, top) on the map", float)
        a, b, c, d, e, f = tuple(~source.transform)[:6]
        x, y = np.array([[left, left, right, right], [bottom, top, bottom, top]])
        columns, rows = a * x + b * y + c, d * x + e * y + f
        # A digit that rounding leaves must not add a row or a column.
        first = [max(0, math.floor(min(each) + 1e-6)) for each in (columns, rows)]
        last = [min(size, math.ceil(max(each) - 1e-6)) for each, size in ((columns, source.width), (rows, source.height))]
        if not (left < right and bottom < top) or last[0] <= first[0] or last[1] <= first[1]:
            extent = ", ".join(f"{value:.10g}" for value in source.bounds)
            raise ValueError(
                f"bounds is {(left, bottom, right, top)}; it must be (left, bottom, right, top) of a rectangle that meets the raster, "
                f"whose bounds are ({extent})"
            )
        return first[0], first[1], last[0] - first[0], last[1] - first[1]

    def read(self) -> Image:
        """Reads the window as an image."""
        with self._open() as source:
            window = self._rasterio.windows.Window(*self._window)
            *_, width, height = self._window
            pixels = source.read(self._bands, window=window, out=empty((len(self._bands), height, width), self._stored.name))
            valid = (source.read_masks(self._bands, window=window) != 0).all(axis=0) if self._has_mask else None
        if self._is_complex:
            pixels = np.abs(pixels) ** (2 if self._quantity == "intensity" else 1)
        if self._scales is not None:
            scale, offset = self._scales[:, :, None, None]
            pixels = pixels * scale + offset
        pixels = np.moveaxis(pixels, 0, -1) if self.components > 1 else pixels[0]
        return Image(
            np.ascontiguousarray(pixels, self.dtype),
            *self.place,
            has_components=self.components > 1,
            no_data=self._no_data,
            valid_mask=valid,
            quantity=self._quantity,
            metadata=self.metadata,
        )


def _tags_of(transform: Any) -> dict[str, Any]:
    """Returns the tags of GeoTIFF for an affine map of pixels, without the loss of a digit."""
    a, b, c, d, e, f = tuple(transform)[:6]
    if b == 0.0 and d == 0.0 and a > 0.0 > e:
        return {"ModelPixelScale": (a, -e, 0.0), "ModelTiepoint": (0.0, 0.0, 0.0, c, f, 0.0)}
    return {"ModelTransformation": (a, b, 0.0, c, d, e, 0.0, f, *[0.0] * 7, 1.0)}


def geo_keys(crs: Any) -> dict[str, Any]:
    """Returns the tags by which GeoTIFF files name a reference system, as GDAL writes them."""
    memory = require_package("rasterio.io", "writing a reference system").MemoryFile
    with memory() as file, Scratch() as scratch:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", import_module("rasterio.errors").NotGeoreferencedWarning)
            try:
                with file.open(driver="GTiff", width=1, height=1, count=1, dtype="uint8", crs=crs):
                    pass
            except import_module("rasterio.errors").CRSError as error:
                raise ValueError(f"crs is '{crs}'; it must be a reference system of coordinates that GDAL knows: {error}") from None
        copy = scratch.create("map.tif")
        copy.write(file.getbuffer())
        copy.flush()
        (page,) = core().read_tiff_pages(scratch.path("map.tif"))
    return {name: page[name] for name in MAP[3:] if name in page}


def _bands_of(band: Any, count: int, name: str) -> list[int]:
    """Returns the numbers of the bands to read, from 1."""
    found = range(1, count + 1) if band is None else [band] if isinstance(band, (int, np.integer)) else band
    try:
        bands = [int(number) for number in found]
    except (TypeError, ValueError):
        bands = []
    if not bands or not all(1 <= number <= count for number in bands) or isinstance(band, bool):
        raise ValueError(f"band is {band!r}; it must be the number of a band of '{name}', from 1 to {count}, or several of these")
    return bands


def _four(values: Any, name: str, kind: str, convert: Any) -> tuple[Any, Any, Any, Any]:
    try:
        a, b, c, d = (convert(value) for value in values)
        if all(math.isfinite(value) for value in (a, b, c, d)) and [a, b, c, d] == list(values):
            return a, b, c, d
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} is {values!r}; it must be four {kind}")


def _text_of(crs: Any) -> str:
    """Returns the code of a reference system if it names exactly this one, otherwise its WKT."""
    authority = crs.to_authority(confidence_threshold=100)
    text = ":".join(authority) if authority else ""
    return text if authority and type(crs).from_string(text) == crs else str(crs.to_wkt())

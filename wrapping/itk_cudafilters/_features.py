# SPDX-License-Identifier: Apache-2.0
"""Polygons of results with their attributes, in pixels, in the coordinates of the image, or in longitude and latitude.

A result is of a class with two members: `_features(coordinates)` returns its polygons as features of GeoJSON, in "physical"
or in "pixel" coordinates, and `_place` is the geometry and the reference system of its image, which they have. If it has
`_clipping_mask()`, this returns the pixels that polygons are cut to on request. If it may have no polygons, it has `_example()`,
a feature whose properties are those of its polygons. Files and tables are written of any such results, and of sequences of them.
"""
from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ._image import Image
from ._images import Geometry, crs_of_array, describe, is_xarray
from ._parameters import known_name, switch
from ._rasters import require_package

Coordinates = Literal["physical", "pixel", "geographic"]
COORDINATES: dict[str, str] = {
    "physical": "x and y in the physical units of the image, by its origin, spacing and direction",
    "pixel": "x and y in pixels; the centre of the first pixel is at 0, 0, and y goes along the second axis",
    "geographic": "longitude and latitude in degrees (WGS 84), as RFC 7946 has them",
}
LONGITUDE_LATITUDE = "EPSG:4326"
"""The reference system of RFC 7946. rasterio and geopandas have longitude first."""

Feature = dict[str, Any]
"""A feature of GeoJSON."""

_RESULTS = "a result of segment_region(), segment_regions(), partition_image(), detect_targets() or track_region(), or a list of these"


@dataclass(frozen=True)
class Place:
    """Where an image lies."""

    geometry: Geometry
    crs: str | None


@runtime_checkable
class Result(Protocol):
    """What segment_region() and partition_image() return, and other functions that find polygons."""

    @property
    def _place(self) -> Place: ...

    def _features(self, coordinates: str) -> list[Feature]: ...


def results_of(results: Any, name: str) -> list[Result]:
    """Returns results as a list. Raises TypeError if there is something else among them."""
    found = [results] if isinstance(results, Result) else results
    if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
        raise TypeError(f"{name} is {describe(results)}; it must be {_RESULTS}")
    found = list(found)
    for each in found:
        if not isinstance(each, Result):
            raise TypeError(f"{name} holds a value {describe(each)}; it must be {_RESULTS}")
    return found


def coordinates_of(coordinates: Any) -> Coordinates:
    found: Any = known_name("coordinates", coordinates, COORDINATES)
    known: Coordinates = found
    return known


def crs_of_image(image: Any) -> str | None:
    """Returns the reference system of an Image, or of a DataArray as rioxarray keeps it; None if there is none."""
    if isinstance(image, Image):
        return image.crs
    return crs_of_array(image) if is_xarray(image) else None


def place_of(image: Any) -> Place:
    return Place(Geometry.of(image), crs_of_image(image))


def crs_of(results: Sequence[Result], crs: str | None) -> str | None:
    """Returns the reference system of results: the given one, or that of their images.

    Raises ValueError if the images have different ones."""
    if crs is not None:
        if not isinstance(crs, str):
            raise TypeError(f"crs is {describe(crs)}; it must be text, such as EPSG:32632, or None")
        return crs
    found = {result._place.crs for result in results}
    if len(found) > 1:
        names = ", ".join(sorted(map(str, found)))
        raise ValueError(f"the results have {len(found)} reference systems, {names}; they must have one: give crs")
    return found.pop() if found else None


def features_of(results: Sequence[Result], coordinates: Coordinates, crs: str | None = None, clip: bool = False) -> list[Feature]:
    """Returns the polygons of results, with the number of the result as a property if there are several. With `clip` what lies
    in pixels without data is cut off.

    Raises ValueError if longitudes are asked for, and the reference system is not known."""
    is_geographic = coordinates == "geographic"
    in_plane = "physical" if is_geographic else coordinates
    is_clipped = switch(clip, "clip")
    features = []
    for number, result in enumerate(results, 1):
        mask = result._clipping_mask() if is_clipped and hasattr(result, "_clipping_mask") else None
        own = result._features(in_plane) if mask is None or mask.all() else _clipped(result, mask, in_plane)
        for feature in own if len(results) > 1 else ():
            feature["properties"] = {"result": number, **feature["properties"]}
        features += own
    if is_geographic:
        geometries = [feature["geometry"] for feature in features]
        for feature, geometry in zip(features, _geographic(geometries, crs)):
            feature["geometry"] = geometry
    return features


def _clipped(result: Result, mask: npt.NDArray[np.bool_], coordinates: str) -> list[Feature]:
    """Returns the polygons of a result without what lies outside of a mask, and with areas and perimeters of the rest. Their
    edges there are sides of pixels."""
    shapely = require_package("shapely", "clip")
    shapes_of = require_package("rasterio.features", "clip").shapes
    features, place = result._features("pixel"), result._place.geometry
    valid = shapely.unary_union([shapely.geometry.shape(each) for each, value in shapes_of(mask.astype(np.uint8)) if value == 1])
    whole = shapely.from_wkb(well_known_binary(polygons_of(features))[1])
    # Corners of pixels are whole numbers. On a grid, neighbours keep the same vertices where the mask cuts their common edge.
    rest = shapely.intersection(shapely.transform(whole, lambda corners: corners + 0.5), valid, grid_size=2.0**-20)
    for feature, shape in zip(features, rest):
        if shape is None:  # a feature without a place
            continue
        # Where a polygon only touches the mask there are points and lines besides.
        parts = [part for part in shapely.get_parts(shape).tolist() if part.geom_type == "Polygon"]
        cut = shapely.multipolygons(parts) if len(parts) != 1 else parts[0]
        placed = shapely.transform(cut, place.place)
        chosen = placed if coordinates == "physical" else shapely.transform(cut, lambda corners: corners - 0.5)
        feature["geometry"] = _wound(shapely.geometry.mapping(chosen))
        feature["properties"] |= {
            "area": cut.area, "perimeter": cut.length, "physical_area": placed.area, "physical_perimeter": placed.length
        }
    return features


def _geographic(geometries: list[Any], crs: str | None) -> list[Any]:
    """Returns polygons in longitude and latitude. Those across the meridian of 180 degrees are cut there, and outer rings go
    counter-clockwise."""
    if crs is None:
        raise ValueError(
            "crs is not given, and the image has no reference system, so that longitudes are not known: give it, such as EPSG:32632, or "
            "take physical or pixel coordinates. A scene with ground control points alone must be warped first, for example by gdalwarp"
        )
    if crs == LONGITUDE_LATITUDE:
        return geometries
    known = [geometry for geometry in geometries if geometry is not None]
    with _known_crs(crs) as warp:
        moved = iter(warp.transform_geom(crs, LONGITUDE_LATITUDE, known, antimeridian_cutting=True) if known else ())
    return [None if geometry is None else _wound(next(moved)) for geometry in geometries]


@contextmanager
def _known_crs(crs: str) -> Iterator[Any]:
    """Gives the module rasterio.warp to a block, and converts its exceptions for a reference system."""
    warp = require_package("rasterio.warp", "the conversion of coordinates")
    try:
        yield warp
    except Exception as error:
        if not type(error).__module__.startswith("rasterio"):
            raise
        raise ValueError(f"crs is '{crs}'; it must be a reference system of coordinates that GDAL knows: {error}") from None


def transform_points(points: npt.NDArray[np.float64], crs: str, to: str) -> npt.NDArray[np.float64]:
    """Returns points, N x 2, in the coordinates of another reference system. Longitude comes first in both."""
    with _known_crs(crs) as warp:
        return np.stack(warp.transform(crs, to, *points.T.tolist()), axis=-1)


def _wound(geometry: Any) -> dict[str, Any]:
    """Returns a polygon, or several, of lists, whose outer rings go counter-clockwise and whose holes go clockwise."""
    is_one = geometry["type"] == "Polygon"
    parts = []
    for rings in [geometry["coordinates"]] if is_one else geometry["coordinates"]:
        points = [np.array(ring, np.float64) for ring in rings]
        right = [(signed_area(ring[:-1]) > 0.0) == (index == 0) for index, ring in enumerate(points)]
        parts.append([(ring if is_right else ring[::-1]).tolist() for ring, is_right in zip(points, right)])
    return {"type": geometry["type"], "coordinates": parts[0] if is_one else parts}


def signed_area(ring: npt.NDArray[np.float64]) -> float:
    """Returns the area of a polygon whose first vertex is not repeated: above 0 if it goes counter-clockwise in x, y, and 0 without
    vertices."""
    x, y = (ring - ring[:1]).T
    return float(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def length_of(ring: npt.NDArray[np.float64]) -> float:
    """Returns the length of a closed polygon whose first vertex is not repeated."""
    return float(np.linalg.norm(np.roll(ring, -1, axis=0) - ring, axis=1).sum())


def columns_of(features: Sequence[Feature]) -> dict[str, npt.NDArray[Any]]:
    """Returns the properties of features that are numbers, words or truth values as columns. What a feature does not have is
    NaN, or None among words."""
    names = dict.fromkeys(name for feature in features for name in feature["properties"])
    columns = {}
    for name in names:
        values = [feature["properties"].get(name) for feature in features]
        kinds = {type(value) for value in values} - {type(None)}
        if kinds & {dict, list}:
            continue
        if kinds <= {bool} and kinds and None not in values:
            columns[name] = np.array(values, np.bool_)
        elif kinds == {int} and None not in values:
            columns[name] = np.array(values, np.int64)
        elif str in kinds:
            columns[name] = np.array([None if value is None else str(value) for value in values], object)
        else:
            columns[name] = np.array([np.nan if value is None else float(value) for value in values], np.float64)
    return columns


def attributes_of(results: Sequence[Result], features: Sequence[Feature]) -> dict[str, npt.NDArray[Any]]:
    """Returns the properties of the features of results as columns. Without features they are the columns that there would be, with
    their types."""
    return {name: column[: len(features)] for name, column in columns_of(features or _examples_of(results)).items()}


def _examples_of(results: Sequence[Result]) -> list[Feature]:
    examples = [result._example() for result in results if hasattr(result, "_example")]
    for feature in examples if len(results) > 1 else ():
        feature["properties"] = {"result": 1, **feature["properties"]}
    return examples


def well_known_binary(geometries: Sequence[Any]) -> tuple[str, npt.NDArray[Any]]:
    """Returns the type of polygons, which is Polygon or for all of them MultiPolygon, and their well-known binary, or None for
    features without a place."""
    is_multiple = any(geometry is not None and geometry["type"] == "MultiPolygon" for geometry in geometries)
    encoded: list[bytes | None] = []
    for geometry in geometries:
        if geometry is None:
            encoded.append(None)
            continue
        parts = geometry["coordinates"] if geometry["type"] == "MultiPolygon" else [geometry["coordinates"]]
        polygons = [b"".join([struct.pack("<BII", 1, 3, len(rings)), *map(_encoded_ring, rings)]) for rings in parts]
        encoded.append(struct.pack("<BII", 1, 6, len(polygons)) + b"".join(polygons) if is_multiple else polygons[0])
    return "MultiPolygon" if is_multiple else "Polygon", np.array(encoded, object)


def _encoded_ring(ring: Any) -> bytes:
    return struct.pack("<I", len(ring)) + np.asarray(ring, "<f8").tobytes()


def to_geodataframe(
    results: Any, *, crs: str | None = None, coordinates: Coordinates = "physical", clip: bool = False
) -> Any:
    """Returns the polygons of results with their attributes as a GeoDataFrame. Needs the package geopandas.

    Parameters
    ----------
    results
        Result of segment_region(), segment_regions(), partition_image() or detect_targets(), a track of track_region(), or a
        list of results. If a list is given, the column `result` has the number of each result, counted from 1.
    crs
        Reference system of the physical coordinates, such as "EPSG:32632". By default that of the image.
    coordinates
        "physical" (default), "pixel" or "geographic", as in write_geojson().
    clip
        Whether to cut off what lies in pixels without data, as in write_geojson().

    Returns
    -------
    geopandas.GeoDataFrame
        A row for each polygon, with its attributes as write_geopackage() writes them. Without polygons there are the same columns,
        with their types.

    Raises
    ------
    TypeError, ValueError
        A parameter is of the wrong kind, `coordinates` is unknown, the reference systems of the results differ, or it is
        not known where it is needed.
    ModuleNotFoundError
        geopandas is not installed, or for geographic coordinates rasterio.

    Examples
    --------
    >>> import numpy as np
    >>> from itk_cudafilters import partition_image
    >>> fields = partition_image(np.repeat([[1, 4]], 50, axis=1).repeat(80, axis=0).astype(np.uint8), "gaussian")
    >>> to_geodataframe(fields, crs="EPSG:32633").area.tolist()
    [4000.0, 4000.0]
    """
    found, coordinates = results_of(results, "results"), coordinates_of(coordinates)
    crs = crs_of(found, crs)
    geopandas = require_package("geopandas", "to_geodataframe()")
    features = features_of(found, coordinates, crs, clip)
    systems = {"physical": crs, "pixel": None, "geographic": LONGITUDE_LATITUDE}
    shapes = geopandas.GeoSeries.from_wkb(list(well_known_binary(polygons_of(features))[1]), crs=systems[coordinates])
    # pandas knows the type of a column of words by its values.
    table = geopandas.GeoDataFrame(columns_of(features or _examples_of(found)))
    return geopandas.GeoDataFrame(table[: len(features)], geometry=shapes)


def polygons_of(features: Sequence[Feature]) -> list[Any]:
    """Returns the geometries of features. Raises ValueError if there are features, and none has a polygon."""
    found = [feature["geometry"] for feature in features]
    if found and not any(found):
        raise ValueError("the results have no polygons; make a partition without labels_only")
    return found

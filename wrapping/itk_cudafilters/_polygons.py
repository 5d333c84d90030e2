# SPDX-License-Identifier: Apache-2.0
"""Polygons as masks: which pixels have their centres in polygons of GeoJSON."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._images import Geometry, describe

Rings = list[npt.NDArray[np.float64]]


def is_polygons(value: Any) -> bool:
    """Returns whether a value is meant as polygons: a mapping, an object with __geo_interface__ such as those of shapely
    and geopandas, or a list of these."""
    if isinstance(value, (list, tuple)):
        return all(is_polygons(each) for each in value)
    return isinstance(value, Mapping) or hasattr(value, "__geo_interface__")


def rasterize(polygons: Any, geometry: Geometry, shape: tuple[int, ...], name: str) -> npt.NDArray[np.bool_]:
    """Returns which pixels, by [y, x], have their centre in one of the polygons.

    Coordinates are x and y in the physical space of the image. The rings of a polygon alternate between inside and outside, so
    that holes need no orientation. A centre on an edge belongs to the pixels' side of larger x, or of larger y.

    Raises TypeError or ValueError, with the parameter's name, unless these are polygons of finite coordinates.
    """
    mask = np.zeros(shape, np.bool_)
    for rings in _polygons_of(polygons, name):
        if rings:  # GeoJSON has polygons without one
            _add_polygon([geometry.corners_at(ring) for ring in rings], mask)
    return mask


def _polygons_of(value: Any, name: str) -> Iterator[Rings]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _polygons_of(each, name)
        return
    found = value if isinstance(value, Mapping) else value.__geo_interface__
    kind = found.get("type")
    if kind in ("FeatureCollection", "GeometryCollection"):
        for each in _list_in(found, "features" if kind == "FeatureCollection" else "geometries", name):
            yield from _polygons_of(each, name)
    elif kind == "Feature":
        if found.get("geometry") is not None:  # RFC 7946: a feature without a place
            yield from _polygons_of(found["geometry"], name)
    elif kind == "Polygon":
        yield [_ring_of(ring, name) for ring in _list_in(found, "coordinates", name)]
    elif kind == "MultiPolygon":
        for rings in _list_in(found, "coordinates", name):
            yield [_ring_of(ring, name) for ring in rings]
    else:
        raise ValueError(f"{name} has a geometry of type {kind}; it must be made of Polygon and MultiPolygon")


def _list_in(geometry: Mapping[str, Any], member: str, name: str) -> Sequence[Any]:
    found = geometry.get(member)
    if not isinstance(found, (list, tuple)):
        raise TypeError(f"{name} has a {geometry['type']} whose member {member} is {describe(found)}; it must be a list")
    return found


def _ring_of(points: Any, name: str) -> npt.NDArray[np.float64]:
    try:
        ring = np.array([point[:2] for point in points], np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} has a ring {describe(points)}; it must be a list of points [x, y]") from None
    if ring.ndim != 2 or ring.shape[1] != 2 or len(ring) < 3:
        raise ValueError(f"{name} has a ring of shape {ring.shape}; it must be N x 2, of three points or more")
    if not np.isfinite(ring).all():
        raise ValueError(f"{name} has the point {ring[~np.isfinite(ring).all(axis=1)][0].tolist()}; all must be finite")
    return ring


def _add_polygon(rings: Rings, mask: npt.NDArray[np.bool_]) -> None:
    """Sets the pixels of a polygon. An edge flips all pixels on its right in the rows whose centres it crosses."""
    starts = np.concatenate(rings)
    ends = np.concatenate([np.roll(ring, -1, axis=0) for ring in rings])
    rising = starts[:, 1] <= ends[:, 1]
    lower, upper = np.where(rising[:, None], starts, ends), np.where(rising[:, None], ends, starts)

    # Row j has its centre at j + 1/2. An edge crosses the centres in [lower y, upper y), so that each end counts once.
    def first_centre(coordinates: npt.NDArray[np.float64], size: int) -> npt.NDArray[np.int64]:
        return np.clip(np.ceil(coordinates - 0.5), 0, size).astype(np.int64)

    height, width = mask.shape
    first, end = first_centre(lower[:, 1], height), first_centre(upper[:, 1], height)
    if not (first < end).any():
        return
    top, bottom = int(first[first < end].min()), int(end.max())
    edges = np.repeat(np.arange(len(first)), end - first)
    rows = np.arange(len(edges)) - np.repeat(np.cumsum(end - first) - (end - first), end - first) + first[edges]
    slope = (upper[edges, 0] - lower[edges, 0]) / (upper[edges, 1] - lower[edges, 1])
    columns = first_centre(lower[edges, 0] + (rows + 0.5 - lower[edges, 1]) * slope, width)
    flips = np.zeros((bottom - top, width + 1), np.bool_)
    np.logical_xor.at(flips, (rows - top, columns), True)
    mask[top:bottom] |= np.logical_xor.accumulate(flips, axis=1)[:, :-1]

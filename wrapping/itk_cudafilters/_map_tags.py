# SPDX-License-Identifier: Apache-2.0
"""The tags by which GeoTIFF files say where their pixels lie on a map, and the place in space that follows."""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

MAP = ("ModelPixelScale", "ModelTiepoint", "ModelTransformation", "GeoKeyDirectory", "GeoDoubleParams", "GeoAsciiParams")
GDAL = ("GDAL_METADATA", "GDAL_NODATA")

Place = tuple[tuple[float, ...], tuple[float, ...], npt.NDArray[np.float64]]
"""Spacing, origin and direction of an image of two axes."""


def is_on_map(tags: Mapping[str, Any]) -> bool:
    """Returns whether the tags place an image. A list of ground control points alone does not."""
    return "ModelTransformation" in tags or {"ModelPixelScale", "ModelTiepoint"} <= tags.keys()


def keys_of(tags: Mapping[str, Any]) -> dict[int, int]:
    """Returns the keys of GeoTIFF that are short integers."""
    numbers = [int(number) for number in tags.get("GeoKeyDirectory", ())]
    entries = [numbers[i : i + 4] for i in range(4, len(numbers) - 3, 4)]
    return {key: value for key, place, _, value in entries if place == 0}


def crs_of(tags: Mapping[str, Any]) -> str | None:
    """Returns the reference system that is named by a code: a projected one, or one of longitude and latitude."""
    keys = keys_of(tags)
    return next((f"EPSG:{keys[key]}" for key in (3072, 2048) if 1024 <= keys.get(key, 0) < 32767), None)


def names_no_code(tags: Mapping[str, Any]) -> bool:
    """Returns whether the tags describe a reference system by its parameters, not by a code."""
    return 1024 in keys_of(tags) and crs_of(tags) is None


def corner_of(tags: Mapping[str, Any]) -> float:
    """Returns where in a pixel its coordinates are, counted from its outer corner: there, or in the middle."""
    return 0.5 if keys_of(tags).get(1025) == 2 else 0.0


def matrix_of(tags: Mapping[str, Any]) -> npt.NDArray[np.float64]:
    """Returns the matrix of 4 x 4 from columns and rows of pixels to coordinates on the map, of the tags of an image that
    is_on_map()."""
    if len(tags.get("ModelTransformation", ())) == 16:
        return np.reshape(tags["ModelTransformation"], (4, 4)).astype(np.float64)
    (i, j, _, x, y, _), scale = tags["ModelTiepoint"][:6], tags["ModelPixelScale"]
    matrix = np.diag([scale[0], -scale[1], 1.0, 1.0])
    matrix[:2, 3] = x - scale[0] * i, y + scale[1] * j
    return matrix


def place_of(tags: Mapping[str, Any]) -> Place | None:
    """Returns the place of an image of these tags, whose axes may be turned and skew; None if its pixels have no extent."""
    matrix = matrix_of(tags)
    steps = matrix[:2, :2]
    lengths = np.linalg.norm(steps, axis=0)
    if not (lengths > 0.0).all():
        return None
    middle = 0.5 - corner_of(tags)
    origin = steps @ [middle, middle] + matrix[:2, 3]
    return tuple(lengths.tolist()), tuple(origin.tolist()), steps / lengths


def tags_at(place: Place, tags: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the tags of an image in a place: those that are given, if they say the same place, so that no digit of a file
    is lost; otherwise with the numbers of the place."""
    spacing, origin, direction = place
    if is_on_map(tags):
        known = place_of(tags)
        if known is not None and known[:2] == (tuple(spacing), tuple(origin)) and (known[2] == direction).all():
            return {name: tags[name] for name in MAP if name in tags}
    found = {name: tags[name] for name in MAP[3:] if name in tags}
    steps = direction * spacing
    middle = 0.5 - corner_of(tags)
    x, y = (np.array(origin) - steps @ [middle, middle]).tolist()
    if (direction == [[1.0, 0.0], [0.0, -1.0]]).all():
        return found | {"ModelPixelScale": (*spacing, 0.0), "ModelTiepoint": (0.0, 0.0, 0.0, x, y, 0.0)}
    matrix = np.eye(4)
    matrix[:2, :2], matrix[:2, 3], matrix[2, 2] = steps, (x, y), 0.0
    return found | {"ModelTransformation": tuple(matrix.ravel().tolist())}


def is_scaled(tags: Mapping[str, Any]) -> bool:
    """Returns whether the file says, as GDAL does, that its pixels are to be multiplied or that something is added."""
    return re.search(r'role="(scale|offset)"', str(tags.get("GDAL_METADATA", ""))) is not None

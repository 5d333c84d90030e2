# SPDX-License-Identifier: Apache-2.0
"""Segmentations as files."""
from __future__ import annotations

import base64
import html
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Literal, Mapping

import itk
import numpy as np
import numpy.typing as npt

from ._images import as_itk_image, pixels_of
from ._segmentation import Segmentation

# Grey values beyond these percentiles are black and white.
_BLACK, _WHITE = 0.5, 99.5


_COORDINATES = {
    "physical": "x and y in the physical units of the image, by its origin, spacing and direction",
    "pixel": "x and y in pixels; the centre of the first pixel is at 0, 0, and y goes along the second axis",
}


def write_geojson(
    segmentation: Segmentation[Any],
    path: str | os.PathLike[str],
    properties: Mapping[str, Any] | None = None,
    *,
    coordinates: Literal["physical", "pixel"] = "physical",
) -> None:
    """Writes the contour as a file in the form of GeoJSON: a collection of one polygon.

    Its properties are the law, the statistics of both regions and the criterion, and `properties`. The command
    `itk-cudafilters segment --contour` writes the same, and `--initial-contour` reads it.

    `coordinates` says which coordinates the polygon has: "physical", by the image's origin, spacing and direction, as
    `segmentation.contour`; or "pixel", counted from the centre of the first pixel, as `segmentation.contour_in_pixels`. The
    feature's property `coordinates` keeps that word, and the collection's member `description` explains it.

    RFC 7946 knows longitude and latitude in degrees (WGS 84) alone, without any other reference system. So a program for maps
    places the polygon rightly only if those are the image's physical coordinates, as in a DataArray with coordinates of
    longitude and latitude. For other reference systems transform `segmentation.contour` first, by pyproj for example.
    """
    if coordinates not in _COORDINATES:
        raise ValueError(f'coordinates is "{coordinates}"; it must be physical or pixel')
    contour = segmentation.contour
    if coordinates == "pixel":
        contour = segmentation.contour_in_pixels
        x, y = contour.T
        if np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) < 0.0:
            contour = np.roll(contour[::-1], 1, axis=0)  # RFC 7946: outer rings go counter-clockwise
    feature = segmentation._feature(contour)
    feature["properties"] |= {"coordinates": coordinates, **(properties or {})}
    collection = {
        "type": "FeatureCollection",
        "description": _COORDINATES[coordinates],
        "features": [feature],
    }
    Path(path).write_text(json.dumps(collection, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def write_svg(
    segmentation: Segmentation[Any],
    path: str | os.PathLike[str],
    image: Any = None,
    *,
    colour: str = "#ff8c00",
    title: str = "",
) -> None:
    """Writes a picture of the contour and its nodes, over `image` if that is given, as an SVG file.

    One unit is one pixel; the picture shows the image's own axes, x to the right and y downwards, however it lies in
    space. `image` is the one that was segmented, in any of the kinds that segment_region() takes; it is stretched from its
    0.5 % darkest to its 0.5 % brightest pixels.
    """
    height, width = pixels_of(as_itk_image(segmentation.label, "label")).shape
    corners = segmentation.contour_in_pixels + 0.5  # the first pixel's outer corner is at 0, 0
    thickness = max(1.0, max(width, height) / 500.0)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f"<title>{html.escape(title)}</title>" if title else "",
    ]
    if image is not None:
        pixels = pixels_of(as_itk_image(image, "image"))
        if pixels.shape != (height, width):
            raise ValueError(f"image has the shape {pixels.shape}; the segmentation's is {(height, width)}")
        lines.append(
            f'<image width="{width}" height="{height}" style="image-rendering:pixelated" '
            f'xlink:href="data:image/png;base64,{_encode_png(pixels)}"/>'
        )
    points = " ".join(f"{x:g},{y:g}" for x, y in corners)
    paint = html.escape(colour, quote=True)
    lines.append(
        f'<polygon points="{points}" fill="none" stroke="{paint}" stroke-width="{thickness:g}" stroke-linejoin="round"/>'
    )
    lines.append(f'<g fill="{paint}">')
    lines += [f'<circle cx="{x:g}" cy="{y:g}" r="{1.5 * thickness:g}"/>' for x, y in corners]
    lines += ["</g>", "</svg>", ""]
    Path(path).write_text("\n".join(line for line in lines[:-1] if line) + "\n", encoding="utf-8")


def stretch(pixels: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Grey values from black, the 0.5 % darkest pixels, to white, the 0.5 % brightest ones."""
    values = pixels.astype(np.float64)
    finite = values[np.isfinite(values)]
    black, white = np.percentile(finite, [_BLACK, _WHITE]) if finite.size else (0.0, 0.0)
    if not white > black:
        return np.zeros(values.shape, np.uint8)
    grey = np.where(np.isfinite(values), 255.0 * (values - black) / (white - black), 0.0)
    return np.floor(np.clip(grey, 0.0, 255.0) + 0.5).astype(np.uint8)


def _encode_png(pixels: npt.NDArray[Any]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "image.png"
        itk.imwrite(itk.image_from_array(np.ascontiguousarray(stretch(pixels))), str(file))
        return base64.b64encode(file.read_bytes()).decode("ascii")

# SPDX-License-Identifier: Apache-2.0
"""Segmentations as files."""
from __future__ import annotations

import base64
import html
import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any, Mapping

import itk
import numpy as np
import numpy.typing as npt

from ._images import as_itk_image, pixels_of
from ._segmentation import RegionStatistics, Segmentation

# Grey values beyond these percentiles are black and white.
_BLACK, _WHITE = 0.5, 99.5


def write_geojson(
    segmentation: Segmentation[Any], path: str | os.PathLike[str], properties: Mapping[str, Any] | None = None
) -> None:
    """Writes the contour as a GeoJSON file (RFC 7946): a collection of one polygon, in the physical units of the image.

    Its properties are the law, the statistics of both regions and the criterion, and `properties`. The example program
    segment_region writes and reads the same.
    """
    statistics = segmentation.statistics
    ring = segmentation.contour.tolist()
    feature = {
        "type": "Feature",
        "properties": {
            "law": statistics.law,
            "significant_boundary": statistics.significant_boundary,
            "nodes": len(ring),
            "inside": _describe(statistics.inside),
            "outside": _describe(statistics.outside),
            "criterion": statistics.criterion,
            "criterion_of_one_region": statistics.criterion_of_one_region,
            "description_length": statistics.description_length,
            **(properties or {}),
        },
        "geometry": {"type": "Polygon", "coordinates": [ring + ring[:1]]},
    }
    text = json.dumps({"type": "FeatureCollection", "features": [feature]}, indent=2, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def _describe(region: RegionStatistics) -> dict[str, int | float | None]:
    # JSON has no number for the variance of laws that need none.
    variance = None if math.isnan(region.variance) else region.variance
    return {"pixels": region.number_of_pixels, "mean": region.mean, "variance": variance}


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
    height, width = pixels_of(segmentation.label).shape
    corners = _contour_in_pixels(segmentation)
    thickness = max(1.0, max(width, height) / 500.0)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f"<title>{html.escape(title)}</title>" if title else "",
    ]
    if image is not None:
        if pixels_of(image).shape != (height, width):
            raise ValueError(f"image has the shape {pixels_of(image).shape}; the segmentation's is {(height, width)}")
        lines.append(
            f'<image width="{width}" height="{height}" style="image-rendering:pixelated" '
            f'xlink:href="data:image/png;base64,{_encode_png(pixels_of(image))}"/>'
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


def _contour_in_pixels(segmentation: Segmentation[Any]) -> npt.NDArray[np.float64]:
    """The contour with the first pixel's outer corner at (0, 0)."""
    label = as_itk_image(segmentation.label, "label")
    first = label.GetLargestPossibleRegion().GetIndex()
    indices = [tuple(label.TransformPhysicalPointToContinuousIndex(point)) for point in segmentation.contour.tolist()]
    corners = np.array(indices, dtype=np.float64).reshape(-1, 2) - [first[0], first[1]] + 0.5
    # They are whole numbers, but for the rounding of the geometry.
    return np.asarray(np.round(corners, 6) + 0.0)


def _encode_png(pixels: npt.NDArray[Any]) -> str:
    values = pixels.astype(np.float64)
    black, white = np.percentile(values, [_BLACK, _WHITE])
    if not white > black:
        black, white = values.min(), max(values.max(), values.min() + 1.0)
    grey = np.round(255.0 * np.clip((values - black) / (white - black), 0.0, 1.0)).astype(np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "image.png"
        itk.imwrite(itk.image_from_array(np.ascontiguousarray(grey)), str(file))
        return base64.b64encode(file.read_bytes()).decode("ascii")

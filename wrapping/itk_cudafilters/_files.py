# SPDX-License-Identifier: Apache-2.0
"""Output of segmentations and partitions to files."""
from __future__ import annotations

import base64
import csv
import html
import io
import json
import math
import os
import tempfile
from typing import Any, Literal, Mapping

import numpy as np
import numpy.typing as npt

from ._images import axes_of, describe, pixels_of, plane_of
from ._output import path_of, require_writable, write_text
from ._partition import Partition
from ._pictures import encode_png, stretch
from ._parameters import known_name
from ._segmentation import Segmentation

Coordinates = Literal["physical", "pixel"]
_COORDINATES = {
    "physical": "x and y in the physical units of the image, by its origin, spacing and direction",
    "pixel": "x and y in pixels; the centre of the first pixel is at 0, 0, and y goes along the second axis",
}


def write_geojson(
    segmentation: Segmentation[Any] | Partition[Any],
    path: str | os.PathLike[str],
    properties: Mapping[str, Any] | None = None,
    *,
    coordinates: Coordinates = "physical",
) -> None:
    """Writes the contour of a segmentation, or the polygons of a partition, as a GeoJSON file.

    The file holds a collection of polygons. The commands `itk-cudafilters segment --contour` and
    `itk-cudafilters partition --polygons` write the same file, and `segment --initial-contour` reads it.

    Parameters
    ----------
    segmentation
        Result of segment_region() or partition_image(). A contour has the law, the statistics of both regions and the
        criterion as its properties. A region of a partition has its row of the table and its neighbours, and the
        collection's member `partition` holds the properties of the whole partition.
    path
        File to write. An existing file is replaced.
    properties
        Additional properties of each polygon: a dictionary of numbers, text, lists and dictionaries.
    coordinates
        "physical" (default): x and y in physical space by the image's origin, spacing and direction, as
        `segmentation.contour`. "pixel": x and y in pixels, counted from the centre of the first pixel, as
        `segmentation.contour_in_pixels`. Each feature repeats the word as its property `coordinates`, and the
        collection's member `description` explains it.

    Raises
    ------
    TypeError, ValueError
        A parameter is of the wrong kind, or `coordinates` is unknown.
    OSError
        The file cannot be written.

    Notes
    -----
    RFC 7946 permits only longitude and latitude in degrees (WGS 84). Map programs therefore place the polygons correctly
    only if the image's physical coordinates are longitude and latitude, as those of a DataArray can be. For other
    reference systems use write_geopackage(), or transform `segmentation.contour` first, for example with pyproj.
    """
    segmentation = _result(segmentation, "segmentation", (Segmentation, Partition))
    coordinates = _coordinates(coordinates)
    if not isinstance(properties, (Mapping, type(None))):
        raise TypeError(f"properties is {describe(properties)}; it must be a dictionary, or None")
    collection: dict[str, Any] = {"type": "FeatureCollection", "description": _COORDINATES[coordinates]}
    if isinstance(segmentation, Partition):
        collection["partition"] = segmentation._summary()
        features = segmentation._features(coordinates)
    else:
        features = [segmentation._feature(_contour_of(segmentation, coordinates))]
    for feature in features:
        feature["properties"] |= {"coordinates": coordinates, **(properties or {})}
    collection["features"] = features
    # No indentation for partitions, because json would write each number of their many polygons on a line of its own.
    indent = None if isinstance(segmentation, Partition) else 2
    text = json.dumps(collection, indent=indent, allow_nan=False, default=_plain_number)
    write_text(path_of(path), text + "\n")


def _plain_number(value: Any) -> Any:
    """Converts a NumPy number or array to the number or list that JSON can hold."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"properties holds a value {describe(value)}; it must be a number, text, a list or a dictionary")


def _coordinates(coordinates: Any) -> Coordinates:
    found: Any = known_name("coordinates", coordinates, _COORDINATES)
    known: Coordinates = found
    return known


def _result(value: Any, name: str, kinds: tuple[type, ...]) -> Any:
    if not isinstance(value, kinds):
        raise TypeError(f"{name} is {describe(value)}; it must be a {' or a '.join(kind.__name__ for kind in kinds)}")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {describe(value)}; it must be text")
    return value


def _contour_of(segmentation: Segmentation[Any], coordinates: Coordinates) -> npt.NDArray[np.float64]:
    if coordinates == "physical":
        return segmentation.contour
    contour = segmentation.contour_in_pixels
    x, y = contour.T
    if np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) < 0.0:
        contour = np.roll(contour[::-1], 1, axis=0)  # RFC 7946: outer rings go counter-clockwise
    return contour


def write_geopackage(
    partition: Partition[Any],
    path: str | os.PathLike[str],
    *,
    layer: str = "regions",
    crs: str | None = None,
    coordinates: Coordinates = "physical",
) -> None:
    """Writes the polygons and the table of a partition as a layer of a GeoPackage file, which map programs read.

    Needs the packages pyogrio and shapely: pip install pyogrio shapely.

    Parameters
    ----------
    partition
        Result of partition_image() with polygons.
    path
        File to write. An existing file is replaced.
    layer
        Name of the layer.
    crs
        Reference system of the physical coordinates, for example "EPSG:32632"; of a DataArray of rioxarray
        `image.rio.crs.to_string()`. Without it the file declares the reference system as unknown.
    coordinates
        "physical" (default) or "pixel", as in write_geojson(). The layer's metadata repeat and explain the word.

    Raises
    ------
    TypeError, ValueError
        A parameter is of the wrong kind, `coordinates` is unknown, or the partition has no polygons (labels_only).
    ModuleNotFoundError
        pyogrio or shapely is not installed.
    """
    _result(partition, "partition", (Partition,))
    coordinates = _coordinates(coordinates)
    _text(layer, "layer")
    _text("" if crs is None else crs, "crs")
    path_of(path)
    try:
        import pyogrio
        import shapely
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"write_geopackage() needs the package {missing.name}: pip install pyogrio shapely", name=missing.name
        ) from missing
    if len(partition.edges) == 0:
        raise ValueError("the partition has no polygons: make it without labels_only")
    geometries = [shapely.geometry.shape(feature["geometry"]) for feature in partition._features(coordinates)]
    table = partition.table
    target = require_writable(path)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as folder:
        new = os.path.join(folder, "new.gpkg")
        pyogrio.raw.write(
            new,
            np.array([shapely.to_wkb(geometry) for geometry in geometries], dtype=object),
            list(table.values()),
            list(table),
            layer=layer,
            driver="GPKG",
            geometry_type="Polygon",
            crs=crs,
            layer_metadata={"COORDINATES": coordinates, "DESCRIPTION": _COORDINATES[coordinates]},
        )
        os.replace(new, target)


def write_table(partition: Partition[Any], path: str | os.PathLike[str]) -> None:
    """Writes the table of a partition as a CSV file: a line of column names, then a line for each region.

    The columns are the ones of `partition.table`, and `neighbours`: the numbers of the neighbours, separated by spaces.
    Fields whose number does not exist are empty, for example the variance under laws that need no squares. An existing
    file is replaced.

    Raises
    ------
    TypeError
        `partition` is not a Partition, or `path` is not the name of a file.
    OSError
        The file cannot be written.
    """
    _result(partition, "partition", (Partition,))
    table = {name: column.tolist() for name, column in partition.table.items()}
    table["neighbours"] = [" ".join(map(str, numbers)) for numbers in partition.neighbours]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    for row in zip(*table.values()):
        writer.writerow("" if isinstance(value, float) and not math.isfinite(value) else value for value in row)
    write_text(path_of(path), text.getvalue())


def write_svg(
    segmentation: Segmentation[Any] | Partition[Any],
    path: str | os.PathLike[str],
    image: Any = None,
    *,
    colour: str = "#ff8c00",
    title: str = "",
) -> None:
    """Draws the contour and its nodes, or the boundaries of a partition, as an SVG file.

    One unit of the picture is one pixel. x goes to the right and y downwards, regardless of the image's direction in
    space.

    Parameters
    ----------
    segmentation
        Result of segment_region() or partition_image().
    path
        File to write. An existing file is replaced.
    image
        The image that was segmented, of any kind that segment_region() accepts, as the background. Its grey values are
        stretched between the 0.5 and the 99.5 percentile. By default there is no background.
    colour
        Colour of the lines, as a CSS colour.
    title
        Title of the picture.

    Raises
    ------
    TypeError, ValueError
        A parameter is of the wrong kind, or the image has another shape than the segmentation.
    OSError
        The file cannot be written.
    """
    segmentation = _result(segmentation, "segmentation", (Segmentation, Partition))
    paint = html.escape(_text(colour, "colour"), quote=True)
    _text(title, "title")
    height, width = _shape_of(segmentation)
    thickness = max(1.0, max(width, height) / 500.0)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f"<title>{html.escape(title)}</title>" if title else "",
    ]
    if image is not None:
        pixels = plane_of(image, "image")
        if pixels.shape != (height, width):
            raise ValueError(f"image has the shape {pixels.shape}; the segmentation's is {(height, width)}")
        lines.append(
            f'<image width="{width}" height="{height}" style="image-rendering:pixelated" '
            f'xlink:href="data:image/png;base64,{base64.b64encode(encode_png(stretch(pixels))).decode()}"/>'
        )
    # In the picture (0, 0) is the outer corner of the first pixel, not its centre.
    if isinstance(segmentation, Partition):
        lines.append(_draw_edges(segmentation, paint, 0.6 * thickness))
    else:
        lines += _draw_contour(segmentation.contour_in_pixels + 0.5, paint, thickness)
    lines.append("</svg>")
    write_text(path_of(path), "\n".join(line for line in lines if line) + "\n")


def _shape_of(segmentation: Segmentation[Any] | Partition[Any]) -> tuple[int, int]:
    """Returns the numbers of rows and columns of the picture. Rows are y, also for a DataArray whose first axis is
    x."""
    labels = segmentation.labels if isinstance(segmentation, Partition) else segmentation.label
    shape = pixels_of(labels).shape
    rows, columns = axes_of(labels)
    return shape[rows], shape[columns]


def _draw_contour(corners: npt.NDArray[np.float64], paint: str, thickness: float) -> list[str]:
    points = " ".join(f"{x:g},{y:g}" for x, y in corners)
    return [
        f'<polygon points="{points}" fill="none" stroke="{paint}" stroke-width="{thickness:g}" stroke-linejoin="round"/>',
        f'<g fill="{paint}">',
        *(f'<circle cx="{x:g}" cy="{y:g}" r="{1.5 * thickness:g}"/>' for x, y in corners),
        "</g>",
    ]


def _draw_edges(partition: Partition[Any], paint: str, thickness: float) -> str:
    """Returns a path of the boundaries between regions, without the border of the image."""
    corners = partition.nodes_in_pixels + 0.5
    inner = partition.edges[(partition.edges[:, 2:] != 0).all(axis=1), :2]
    lines = "".join(f"M{x:.10g} {y:.10g}L{u:.10g} {v:.10g}" for (x, y), (u, v) in corners[inner].tolist())
    return f'<path d="{lines}" fill="none" stroke="{paint}" stroke-width="{thickness:g}" stroke-linecap="round"/>'

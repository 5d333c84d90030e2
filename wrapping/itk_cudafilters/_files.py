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
import warnings
from typing import Any, Mapping

import numpy as np
import numpy.typing as npt

from ._features import COORDINATES, LONGITUDE_LATITUDE, Coordinates, attributes_of, coordinates_of, crs_of, features_of, polygons_of
from ._features import results_of, well_known_binary
from ._images import axes_of, describe, pixels_of, plane_of
from ._output import path_of, replacing, require_writable, write_text
from ._partition import Partition
from ._pictures import encode_png, stretch
from ._rasters import require_package
from ._segmentation import Segmentation


def write_geojson(
    results: Any,
    path: str | os.PathLike[str],
    properties: Mapping[str, Any] | None = None,
    *,
    coordinates: Coordinates | None = None,
    crs: str | None = None,
    clip: bool = False,
) -> None:
    """Writes the contour of a segmentation, the polygons of a partition, or those of a list of results, as a GeoJSON file.

    The file holds a collection of polygons. The commands `itk-cudafilters segment` and `itk-cudafilters partition` write
    such files, and `segment --initial-contour` reads them.

    Parameters
    ----------
    results
        Result of segment_region(), segment_regions(), partition_image() or detect_targets(), a track of track_region(), or a
        list of results. A contour has the law, the statistics of both regions and the criterion as its properties. A target
        has its number, place and significance, with an outline or the rectangle that holds it. A region of a partition has
        its row of the table and its neighbours, and if it is the only result the collection's member `partition` holds the
        properties of the whole partition. In a list the property `result` counts from 1.
    path
        File to write. An existing file is replaced.
    properties
        Additional properties of each polygon: a dictionary of numbers, text, lists and dictionaries.
    coordinates
        "geographic": longitude and latitude in degrees (WGS 84), as RFC 7946 demands, converted from the map by the package
        rasterio. It is the default if the reference system is known. "physical": x and y in physical space by the image's
        origin, spacing and direction, as `segmentation.contour`. It is the default otherwise. "pixel": x and y in pixels,
        counted from the centre of the first pixel, as `segmentation.contour_in_pixels`. Each feature repeats the word as
        its property `coordinates`, and the collection's member `description` explains it.
    crs
        Reference system of the physical coordinates, such as "EPSG:32632". By default that of the image: of an Image, or of
        a DataArray of rioxarray.
    clip
        Whether to cut off the parts of polygons that lie in pixels without data, along the sides of pixels; areas and perimeters
        are then those of the rest. The polygons of a partition fill the whole image otherwise. Needs rasterio and shapely.

    Raises
    ------
    TypeError, ValueError
        A parameter is of the wrong kind, `coordinates` is unknown, or longitudes are asked for and the reference system is
        not known.
    OSError
        The file cannot be written.
    ModuleNotFoundError
        Longitudes are needed, and rasterio is not installed.

    Notes
    -----
    Polygons that cross the meridian of 180 degrees are cut there, as RFC 7946 advises. Vertices alone are converted: edges
    are straight in longitude and latitude, where those of the map would be slightly bent.
    """
    found = results_of(results, "results")
    crs = crs_of(found, crs)
    if coordinates is None:
        coordinates = "physical" if crs is None else "geographic"
    coordinates = coordinates_of(coordinates)
    if not isinstance(properties, (Mapping, type(None))):
        raise TypeError(f"properties is {describe(properties)}; it must be a dictionary, or None")
    collection: dict[str, Any] = {"type": "FeatureCollection", "description": COORDINATES[coordinates]}
    if len(found) == 1 and isinstance(found[0], Partition):
        collection["partition"] = found[0]._summary()
    collection["features"] = features_of(found, coordinates, crs, clip)
    for feature in collection["features"]:
        feature["properties"] |= {"coordinates": coordinates, **(properties or {})}
    # No indentation for many polygons, because json would write each of their numbers on a line of its own.
    indent = 2 if len(found) == 1 and not isinstance(found[0], Partition) else None
    text = json.dumps(collection, indent=indent, allow_nan=False, default=_plain_number)
    write_text(path_of(path), text + "\n")


def _plain_number(value: Any) -> Any:
    """Converts a NumPy number or array to the number or list that JSON can hold."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"properties holds a value {describe(value)}; it must be a number, text, a list or a dictionary")


def _result(value: Any, name: str, kinds: tuple[type, ...]) -> Any:
    if not isinstance(value, kinds):
        raise TypeError(f"{name} is {describe(value)}; it must be a {' or a '.join(kind.__name__ for kind in kinds)}")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {describe(value)}; it must be text")
    return value


def write_geopackage(
    results: Any,
    path: str | os.PathLike[str],
    *,
    layer: str = "regions",
    crs: str | None = None,
    coordinates: Coordinates = "physical",
    clip: bool = False,
) -> None:
    """Writes the polygons of results and their attributes as a layer of a GeoPackage file, which map programs read.

    Needs the package pyogrio: pip install rasterio pyogrio.

    The attributes of a contour are the law, whether the boundary is significant, the nodes, the criteria, the pixels
    inside, the means inside and outside, their ratio `contrast`, the `gain` of the description by the boundary in nats, and
    area and perimeter in pixels and in physical units. Those of a region are the columns of `partition.table`.

    Parameters
    ----------
    results
        Result of segment_region(), segment_regions(), detect_targets(), or of partition_image() with polygons, a track of
        track_region(), or a list of results. In a list the attribute `result` counts from 1.
    path
        File to write. An existing file is replaced when the new one is complete and on the disk.
    layer
        Name of the layer.
    crs
        Reference system of the physical coordinates, for example "EPSG:32632". By default that of the image: of an Image,
        or of a DataArray of rioxarray. Without one the file declares the reference system as unknown.
    coordinates
        "physical" (default), "pixel" or "geographic", as in write_geojson(). The layer's metadata repeat and explain the
        word.

    Raises
    ------
    TypeError, ValueError
        A parameter is of the wrong kind, `coordinates` is unknown, the reference system is unknown, or a partition has no
        polygons (labels_only).
    OSError
        The file cannot be written.
    ModuleNotFoundError
        pyogrio is not installed.

    Examples
    --------
    >>> import os, tempfile, numpy as np
    >>> from itk_cudafilters import Image, partition_image
    >>> rng = np.random.default_rng(1)
    >>> mean = np.repeat([[1.0, 4.0]], 50, axis=1)
    >>> place = {"spacing": (10, 10), "origin": (600005, 5399995), "direction": [[1, 0], [0, -1]]}
    >>> scene = Image(rng.exponential(mean, (80, 100)), **place, quantity="intensity", metadata={"crs": "EPSG:32633"})
    >>> fields = partition_image(scene, "gamma", looks=1)
    >>> folder = tempfile.TemporaryDirectory()
    >>> write_geopackage(fields, os.path.join(folder.name, "fields.gpkg"))
    >>> fields.table["physical_area"].round(-4).tolist()
    [400000.0, 400000.0]
    """
    found = results_of(results, "results")
    coordinates = coordinates_of(coordinates)
    _text(layer, "layer")
    crs = crs_of(found, crs)
    require_writable(path_of(path))
    pyogrio = require_package("pyogrio", "write_geopackage()")
    features = features_of(found, coordinates, crs, clip)
    kind, geometries = well_known_binary(polygons_of(features))
    columns = attributes_of(found, features)
    # The file is made in memory, where no full disk makes it incomplete.
    made = io.BytesIO()
    system = {"physical": crs, "pixel": None, "geographic": LONGITUDE_LATITUDE}[coordinates]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "'crs' was not provided")
            pyogrio.raw.write(
                made,
                geometries,
                list(columns.values()),
                list(columns),
                layer=layer,
                driver="GPKG",
                geometry_type=kind,
                crs=system,
                layer_metadata={"COORDINATES": coordinates, "DESCRIPTION": COORDINATES[coordinates]},
            )
    except pyogrio.errors.CRSError as error:
        raise ValueError(f"crs is '{crs}'; it must be a reference system of coordinates that GDAL knows: {error}") from error
    with replacing(path) as file:
        file.write(made.getbuffer())


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

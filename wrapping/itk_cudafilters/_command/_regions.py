# SPDX-License-Identifier: Apache-2.0
"""What segment, partition and detect have in common: the scene that they read, and the polygons that they write."""
from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _image_files as files
from .._detection import pixels_to_search
from .._features import COORDINATES, LONGITUDE_LATITUDE, Coordinates, crs_of_image, transform_points
from .._files import write_geojson, write_geopackage
from .._image import Image
from .._images import Geometry
from .._radar import estimate_looks, quantity_of_law
from .._rasters import RasterFile, require_package
from .._segmentation import laws_of_looks, noise_laws
from ._common import READS, UNITS, require_one_component, type_name
from ._parser import BOUNDS, COUNT, FEATURES, LOOKS, RECTANGLE, STANDARD_OUTPUT, Parser, WrongArguments, descriptions_of, name_of

EPILOG = (
    f"{UNITS} {READS}, and by the package rasterio whatever GDAL reads: 2-D, with one value per pixel, of unsigned char, unsigned short, "
    "short, float or double. Of RGB colours the luminance is taken, and of a 3-D file with a single slice that slice. Pixels that hold no "
    "data belong to no region. OUT.gpkg needs the package pyogrio, and longitude and latitude need rasterio: pip install rasterio pyogrio."
)
_PIXELS = ("uint8", "uint16", "int16", "float32", "float64")


def add_model(part: Parser, function: Callable[..., Any], *names: str, **changes: Any) -> None:
    """Adds the options of the law, and those for other keywords of the function."""
    laws = noise_laws()
    described = ", ".join(f"{law.name} ({law.description})" for law in laws.values())
    law = {"type": name_of(tuple(laws)), "metavar": "NAME", "help": f"{descriptions_of(function)['law']}. The laws are {described}"}
    text = "; estimate: by estimate_looks(), for speckle that may be correlated"
    text = descriptions_of(function)["looks"] + text
    looks = {"flags": ["--looks", "--number-of-looks"], "type": LOOKS, "metavar": "N|estimate", "help": text}
    part.add_argument("input", metavar="IN", help="image to read")
    text = "file to write: the polygons with their attributes, as GeoPackage (.gpkg) in the reference system of the image, or as GeoJSON "
    text += "(.geojson, or '-' for the standard output) in longitude and latitude if that is known"
    part.add_argument("features", metavar="OUT", nargs="?", type=FEATURES, help=text)
    part.add_keywords(function, "law", "looks", "quantity", "foreground_threshold", "valid_mask", *names, law=law, looks=looks, **changes)
    add_scene(part)


def add_scene(part: Parser) -> None:
    """Adds the options for the part of a scene to read, and for the coordinates of polygons. Parts of the command that find
    polygons share them."""
    part.add("--band", "INT", "number of the band to read, from 1", COUNT)
    pieces = part.add_mutually_exclusive_group()
    text = "part of the image to read, in pixels. Rectangles and pixel coordinates of other options count from its corner; of masks the "
    text += "same part is read"
    pieces.add_argument("--window", type=RECTANGLE, metavar="X,Y,WIDTH,HEIGHT", help=text)
    text = "part of the image to read, in coordinates of the map: all pixels that the rectangle meets"
    pieces.add_argument("--bounds", type=BOUNDS, metavar="LEFT,BOTTOM,RIGHT,TOP", help=text)
    part.add("--crs", "NAME", "reference system of the image's coordinates, such as EPSG:32632; by default the file says it", str)
    text = f"coordinates of OUT: {', '.join(COORDINATES)}; by default physical for .gpkg, geographic for .geojson if the reference system "
    text += "is known"
    part.add("--coordinates", "NAME", text, name_of(tuple(COORDINATES)))
    part.options |= {name: f"--{name}" for name in ("band", "window", "bounds", "crs", "coordinates")}


def open_scene(arguments: argparse.Namespace) -> files.ImageFile | RasterFile:
    """Opens the input, or the part of it that is asked for, and checks the arguments for OUT."""
    if arguments.features is None:
        # The reference system is also that of a contour to start from.
        for name in ("crs", "coordinates", "clip"):
            if name in arguments.given and not (name == "crs" and "initial_contour" in arguments.given):
                raise WrongArguments(f"argument --{name}: it is for OUT, the file of polygons, which is not given")
    elif getattr(arguments, "labels_only", False):
        raise WrongArguments("argument --labels-only: not allowed with OUT, the file of polygons")
    return files.open_file(arguments.input, arguments.band, arguments.window, arguments.bounds, getattr(arguments, "quantity", None))


def open_image(arguments: argparse.Namespace, done: str) -> files.ImageFile | RasterFile:
    """Opens the input, and checks that it and the arguments fit."""
    for name, laws in (("looks", laws_of_looks()), ("foreground_threshold", ["bernoulli"])):
        if name in arguments.given and arguments.law not in laws:
            raise WrongArguments(f"argument {arguments.parser.options[name]}: it is for --law {' and '.join(laws)}")
    file = open_scene(arguments)
    if file.axes != 2:
        raise ValueError(f"'{file.name}' has {file.axes} dimensions; images of 2, or single slices, can be {done}")
    if file.components > 1 and file.pixel_type != "rgb":
        raise ValueError(f"'{file.name}' has {file.components} components per pixel: name one of them by --band")
    require_one_component(file)
    if file.dtype.name not in _PIXELS:
        raise ValueError(
            f"'{file.name}' has pixels of type {type_name(file.dtype)}, which are not supported; convert the image to "
            "unsigned char, unsigned short, short or float"
        )
    return file


def keywords_of(arguments: argparse.Namespace, image: Image) -> dict[str, Any]:
    """Returns the keywords that the arguments give, with images for their files."""
    keywords = {name: getattr(arguments, name) for name in arguments.keywords}
    for name in ("initial_mask", "valid_mask", "land_mask", "initial_labels"):
        if name == "land_mask" and is_polygon_file(keywords.get(name)):
            keywords[name] = read_polygons(keywords[name], image, arguments.crs)
        elif keywords.get(name) is not None:
            keywords[name] = files.read_mask(_open_mask(keywords[name], arguments), like=image, is_label=name == "initial_labels")
    if keywords["looks"] == "estimate":
        quantity = keywords["quantity"] or quantity_of_law(arguments.law)
        masks = keywords["valid_mask"], keywords.get("land_mask")
        valid = pixels_to_search(image, Geometry.of(image), image.array.shape, *masks)
        keywords["looks"] = estimate_looks(image, quantity, correlated=True, valid_mask=valid)
    return keywords


def is_polygon_file(name: str | None) -> bool:
    """Returns whether a file is of polygons by its name, and no image."""
    return name is not None and name.lower().endswith((".geojson", ".json"))


def read_polygons(name: str, image: Image, crs: str | None, *, ignores_others: bool = False) -> list[dict[str, Any]]:
    """Returns the polygons of a GeoJSON file as geometries in the physical space of the image.

    A feature's property `coordinates` says what its coordinates are, as write_geojson() writes it. Without it they are physical if the
    image has no reference system. Otherwise they are of the system that the member `crs` of the file names, which GDAL and QGIS write,
    and without that member in longitude and latitude, as RFC 7946 has them. Geometries that are no polygons are refused, or ignored."""
    crs = crs or crs_of_image(image)
    sources: list[str] = []
    rings: list[npt.NDArray[np.float64]] = []
    lengths: list[int] = []
    try:
        content = json.loads(Path(name).read_text(encoding="utf-8"))
        system = content["crs"]["properties"]["name"] if content.get("crs") is not None else LONGITUDE_LATITUDE
        for geometry, coordinates in _geometries_in(content):
            if geometry["type"] not in ("Polygon", "MultiPolygon"):
                if ignores_others:
                    continue
                raise _NoPolygon(f"'{name}' has a geometry of type {geometry['type']}; it must be made of Polygon and MultiPolygon")
            of_map = "physical" if crs is None else system
            for polygon in [geometry["coordinates"]] if geometry["type"] == "Polygon" else geometry["coordinates"]:
                found = [np.array([position[:2] for position in ring], np.float64).reshape(-1, 2) for ring in polygon]
                sources.append({"physical": "physical", "pixel": "pixel", "geographic": system}.get(coordinates, of_map))
                lengths.append(len(found))
                rings += found
    except OSError as error:
        raise OSError(f"'{name}' does not exist or cannot be opened: {error.strerror}") from None
    except _NoPolygon:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise ValueError(f"'{name}' is no GeoJSON file with polygons") from None
    of_rings = [source for source, length in zip(sources, lengths) for _ in range(length)]
    for source in dict.fromkeys(of_rings):
        own = [index for index, each in enumerate(of_rings) if each == source]
        moved = _to_physical(np.concatenate([rings[index] for index in own]), source, name, image, crs)
        ends = np.cumsum([len(rings[index]) for index in own])
        for index, ring in zip(own, np.split(moved, ends[:-1])):
            rings[index] = ring
    parts = iter(rings)
    return [{"type": "Polygon", "coordinates": [next(parts).tolist() for _ in range(length)]} for length in lengths]


class _NoPolygon(ValueError):
    """A geometry that is no polygon."""


def _geometries_in(content: Any) -> Iterator[tuple[Any, Any]]:
    """Yields the geometries of GeoJSON, and what their coordinates are as their feature says it."""
    features = content["features"] if content["type"] == "FeatureCollection" else [content]
    for feature in features:
        is_feature = feature["type"] == "Feature"
        waiting = [feature["geometry"] if is_feature else feature]
        while waiting:
            geometry = waiting.pop(0)
            if geometry is not None and geometry["type"] == "GeometryCollection":
                waiting = [*geometry["geometries"], *waiting]
            elif geometry is not None:
                yield geometry, (feature.get("properties") or {}).get("coordinates") if is_feature else None


def _to_physical(
    points: npt.NDArray[np.float64], source: str, name: str, image: Image, crs: str | None
) -> npt.NDArray[np.float64]:
    """Returns points of a file in the physical space of the image."""
    if source == "physical":
        return points
    if source == "pixel":
        return image.to_physical(points)
    if crs is None:
        raise ValueError(f"'{name}' holds longitude and latitude, and the image has no reference system: give --crs")
    if source == LONGITUDE_LATITUDE:
        beyond = (np.abs(points) > (360.0, 90.0)).any(axis=1)
        if beyond.any():
            raise ValueError(
                f"'{name}' has the point {points[beyond][0].tolist()}, which is no longitude and latitude in degrees: another reference "
                "system has to be named by the member crs, as GDAL writes it"
            )
    return transform_points(points, source, crs)


def _open_mask(name: str, arguments: argparse.Namespace) -> files.ImageFile | RasterFile:
    """Opens a second image of the input's size. The same part of both images is read."""
    return files.open_file(name, None, arguments.window, arguments.bounds)


def _coordinates_of(arguments: argparse.Namespace, image: Image) -> tuple[Coordinates, str | None]:
    """Returns which coordinates the file OUT has, and the reference system of the image."""
    crs = arguments.crs or crs_of_image(image)
    is_package = arguments.features.lower().endswith(".gpkg")
    return arguments.coordinates or ("physical" if is_package or crs is None else "geographic"), crs


def write_features(arguments: argparse.Namespace, results: Any, image: Image) -> None:
    """Writes the polygons of results as the file OUT, whose name says the format."""
    name, clip = arguments.features, getattr(arguments, "clip", False)
    coordinates, crs = _coordinates_of(arguments, image)
    if not name.lower().endswith(".gpkg"):
        write_geojson(results, name, {"input": arguments.input}, coordinates=coordinates, crs=crs, clip=clip)
        return
    if crs is None and coordinates == "physical":
        text = f"{arguments.parser.prog}: '{name}': the image has no reference system, and the file says so: --crs names one"
        print(text, file=sys.stderr)
    write_geopackage(results, name, crs=crs, coordinates=coordinates, clip=clip)


def describe_features(arguments: argparse.Namespace, count: int, image: Image) -> str:
    """Returns what was written as OUT, as a line of the message; nothing without OUT."""
    if arguments.features in (None, STANDARD_OUTPUT):
        return ""
    coordinates, crs = _coordinates_of(arguments, image)
    of_map = f"coordinates of {'the image' if crs is None else _short(crs)}"
    where = {"physical": of_map, "pixel": "pixels", "geographic": "longitude and latitude"}[coordinates]
    return f"\n{arguments.features}: {count} polygon{'s' if count != 1 else ''} in {where}"


def _short(crs: str) -> str:
    """Returns a code, or the name in a WKT."""
    return crs if len(crs) < 40 else crs.split('"')[1] if '"' in crs else crs[:40]


def describe_quantity(arguments: argparse.Namespace, image: Image, quantity: str | None) -> str:
    """Returns what the pixels were converted to, as a line of the message; nothing if they were not."""
    found = arguments.quantity or image.quantity
    return f"\nconverted from {found} to {quantity} for the law {arguments.law}" if found != quantity else ""


def require_writer(arguments: argparse.Namespace) -> None:
    """Imports what the file OUT needs before the work begins."""
    name = arguments.features
    if name is not None and name != STANDARD_OUTPUT and name.lower().endswith(".gpkg"):
        require_package("pyogrio", f"'{name}'")
    if arguments.coordinates == "geographic":
        require_package("rasterio", "--coordinates geographic")
    if getattr(arguments, "clip", False):
        require_package("rasterio", "--clip")
        require_package("shapely", "--clip")


def with_16_bits(labels: Image) -> Image:
    """Converts labels to 16 bits if their values fit, because many formats cannot store 32-bit integers."""
    fits = labels.array.max(initial=0) <= np.iinfo(np.uint16).max
    return labels.with_array(labels.array.astype(np.uint16)) if fits else labels


def without_no_data(image: Image) -> Image:
    """Returns an image of labels or means, whose values are all data."""
    image = image.with_array(image.array)
    image.no_data, image.valid_mask = None, None
    return image

# SPDX-License-Identifier: Apache-2.0
"""The part segment of the command: segment_region() of an image file."""
from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _image_files as files
from .._files import write_geojson
from .._image import Image
from .._pictures import draw_overlay, write_picture
from .._segmentation import Segmentation, laws_of_looks, segment_region
from ._common import Clock, add_report, check_names, finish, progress_is_shown, write_each, write_image
from ._parser import RECTANGLE, Parser
from ._regions import EPILOG as EPILOG
from ._regions import add_model, describe_features, describe_quantity, keywords_of, open_image, read_polygons, require_writer
from ._regions import without_no_data, write_features


def add_arguments(part: Parser) -> None:
    starts = part.add_mutually_exclusive_group()
    changes: dict[str, Any] = {
        "initial_contour": {"metavar": "FILE.geojson", "group": starts},
        "initial_mask": {"group": starts},
        "initial_region": {"type": RECTANGLE, "metavar": "X,Y,WIDTH,HEIGHT", "group": starts},
        "start": {"group": starts},
    }
    search = (
        "local_background", "margin", "schedule", "maximum_step", "minimum_edge_length", "minimum_gain", "use_description_length", "maximum_number_of_nodes",
        "maximum_number_of_iterations", "minimum_region_size", "inside_value", "outside_value", "backend", "device_index",
    )
    add_model(part, segment_region, *changes, *search, **changes)
    part.add("--label", "FILE", "label image to write; its extension says the format")
    text = "file to write: the polygon in the physical units of the image, counter-clockwise in x, y; '-' is the standard output"
    part.add("--contour", "FILE.geojson", text)
    part.add("--overlay", "FILE.png", "picture to write: the enlarged image, the boundary, and the nodes on it")
    add_report(part)


def run(arguments: argparse.Namespace) -> None:
    file = open_image(arguments, "segmented")
    if arguments.label is not None:
        files.require_format(arguments.label, "uint8", 2)
    outputs = {name: getattr(arguments, name) for name in ("features", "label", "contour", "overlay")}
    require_writer(arguments)
    check_names(arguments, file, ("initial_contour", "initial_mask", "valid_mask"), **outputs)

    clock = Clock()
    image = files.read_slice(file)
    keywords = keywords_of(arguments, image)
    if arguments.initial_contour is not None:
        keywords["initial_contour"] = _read_contour(arguments.initial_contour, image, arguments.crs)
    seconds = {"read": clock.look()}
    found = segment_region(image, progress=progress_is_shown(), **keywords)
    seconds["filter"] = clock.look()
    write_each(
        (arguments.features, lambda _: write_features(arguments, found, image)),
        (arguments.label, lambda name: write_image(arguments, without_no_data(found.label), name, True)),
        (arguments.overlay, lambda name: write_picture(name, draw_overlay(image, found))),
        (arguments.contour, lambda name: write_geojson(found, name, {"input": arguments.input}, coordinates="physical")),
    )
    backend = (found.statistics.backend, found.statistics.backend_reason)
    done = f"segmented|{_describe(found)}{describe_quantity(arguments, image, found.statistics.quantity)}"
    done += describe_features(arguments, 1, image)
    finish(arguments, file, 2, done, backend, {**seconds, **found.statistics.seconds}, _report(arguments, found))


def _read_contour(name: str, image: Image, crs: str | None) -> npt.NDArray[np.float64]:
    """Returns the outer ring of the first polygon in a GeoJSON file, in physical space."""
    ring = next((polygon["coordinates"][0] for polygon in read_polygons(name, image, crs, ignores_others=True) if polygon["coordinates"]), None)
    if ring is None:
        raise ValueError(f"'{name}' is no GeoJSON file with polygons")
    return np.array(ring[:-1] if len(ring) > 1 and ring[0] == ring[-1] else ring)


def _describe(found: Segmentation[Any]) -> str:
    result = found.statistics
    looks = f"; {result.number_of_looks:.4g} looks per pixel" if result.law in laws_of_looks() else ""
    text = (
        f"\npolygon of {len(found.contour)} nodes, {result.number_of_iterations} iterations; "
        f"inside {result.inside.number_of_pixels} pixels of mean {result.inside.mean:g}, "
        f"outside {result.outside.number_of_pixels} of mean {result.outside.mean:g}{looks}"
    )
    if not result.significant_boundary:
        text += "\nno significant boundary: one region describes the image at least as well; the label image is empty"
    return text if result.stop == "converged" else f"{text}\nnot converged: stopped by {result.stop}"


def _report(arguments: argparse.Namespace, found: Segmentation[Any]) -> dict[str, Any]:
    result = found.statistics
    record = [
        {
            "what": step.what,
            "block_side": 2**step.level_exponent,
            "step": step.step,
            "nodes": step.number_of_nodes,
            "pixels_inside": step.number_of_pixels,
            "criterion": step.criterion,
            "change": step.change,
        }
        for step in result.record
    ]
    return {
        **found.__geo_interface__["properties"],
        "number_of_looks": result.number_of_looks,
        "quantity": result.quantity,
        "schedule": arguments.schedule,
        "converged": result.stop == "converged",
        "stop": result.stop,
        "iterations": result.number_of_iterations,
        "record": record,
    }

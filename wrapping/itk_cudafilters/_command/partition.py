# SPDX-License-Identifier: Apache-2.0
"""The part partition of the command: partition_image() of an image file."""
from __future__ import annotations

import argparse

import numpy as np

from .. import _image_files as files
from .._files import write_geojson, write_table
from .._image import Image
from .._partition import partition_image
from .._pictures import draw_boundaries, write_picture
from ._common import Clock, add_report, check_names, finish, progress_is_shown, write_each, write_image
from ._parser import DOCUMENT, Parser
from ._regions import EPILOG as EPILOG
from ._regions import add_model, describe_features, describe_quantity, keywords_of, open_image, require_writer, with_16_bits
from ._regions import without_no_data, write_features


def add_arguments(part: Parser) -> None:
    ends = part.add_mutually_exclusive_group()
    names = (
        "segment_cost", "initial_labels", "block_size", "minimum_number_of_pixels", "maximum_number_of_iterations", "allow_merging",
        "labels_only", "backend", "device_index",
    )
    add_model(part, partition_image, *names, labels_only={"flags": ["--labels-only"], "group": ends})
    text = "cut off the parts of the polygons of OUT that lie in pixels without data; needs the packages rasterio and shapely"
    part.add_argument("--clip", nargs=0, default=False, help=text)
    part.add("--labels", "FILE", "label image to write: regions count from 1; 16 bit for up to 65535 regions, else 32")
    text = "file to write: the polygons of all regions in the physical units of the image, outer rings counter-clockwise in x, y"
    ends.add_argument("--polygons", type=DOCUMENT, metavar="FILE.geojson", help=text)
    part.add("--table", "FILE.csv", "file to write: a line for each region")
    part.add("--means", "FILE", "image to write: each pixel replaced by the mean of its region, in the pixel type of the image")
    part.add("--overlay", "FILE.png", "picture to write: the enlarged image and the boundaries on it")
    add_report(part)


def run(arguments: argparse.Namespace) -> None:
    file = open_image(arguments, "divided")
    for name, dtype in ((arguments.labels, "uint16"), (arguments.means, file.dtype.name)):
        if name is not None:
            files.require_format(name, dtype, 2)
    outputs = {name: getattr(arguments, name) for name in ("features", "labels", "means", "overlay", "polygons", "table")}
    require_writer(arguments)
    check_names(arguments, file, ("valid_mask", "initial_labels"), **outputs)

    clock = Clock()
    image = files.read_slice(file)
    keywords = keywords_of(arguments, image)
    seconds = {"read": clock.look()}
    found = partition_image(image, progress=progress_is_shown(), **keywords)
    seconds["filter"] = clock.look()
    write_each(
        (arguments.features, lambda _: write_features(arguments, found, image)),
        (arguments.labels, lambda name: write_image(arguments, with_16_bits(without_no_data(found.labels)), name, True)),
        (arguments.means, lambda name: write_image(arguments, _with_pixels_like(without_no_data(found.means), image), name, True)),
        (arguments.overlay, lambda name: write_picture(name, draw_boundaries(image, found.labels))),
        (arguments.polygons, lambda name: write_geojson(found, name, {"input": arguments.input}, coordinates="physical")),
        (arguments.table, lambda name: write_table(found, name)),
    )
    result, summary = found.statistics, found._summary()
    done = (
        f"divided|\n{len(found)} regions, {summary['nodes']} nodes, {result.number_of_iterations} iterations; "
        f"{result.number_of_looks:g} looks per pixel; description of {result.description:g} nats, as one region "
        f"{result.description_of_one_region:g}"
        + (f"\nnot converged: stopped by {result.stop}" if result.stop == "maximum_number_of_iterations" else "")
        + describe_quantity(arguments, image, result.quantity)
        + describe_features(arguments, len(found), image)
    )
    own = {"quantity": result.quantity, "converged": result.stop == "converged", "stop": result.stop, "iterations": result.number_of_iterations}
    finish(arguments, file, 2, done, (result.backend, result.backend_reason), seconds, {**summary, **own})


def _with_pixels_like(means: Image, image: Image) -> Image:
    """Converts means to the pixel type of an image. For integer types they are rounded, halves up, and NaN becomes 0."""
    values = means.array.astype(np.float64)
    if image.dtype.kind != "f":
        values = np.floor(np.nan_to_num(values) + 0.5)
    return means.with_array(values.astype(image.dtype))

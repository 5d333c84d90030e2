# SPDX-License-Identifier: Apache-2.0
"""The part detect of the command: detect_targets() of an image file."""
from __future__ import annotations

import argparse
import csv
import io
from typing import Any

from .. import _image_files as files
from .._detection import Detections, detect_targets
from .._output import path_of, write_text
from .._pictures import draw_boundaries, write_picture
from .._segmentation import laws_of_looks
from ._common import Clock, add_report, check_names, finish, progress_is_shown, write_each, write_image
from ._parser import WINDOW, Parser
from ._regions import EPILOG as EPILOG
from ._regions import add_model, describe_features, describe_quantity, keywords_of, open_image, require_writer, with_16_bits
from ._regions import without_no_data, write_features


def add_arguments(part: Parser) -> None:
    windows = ("target_window", "guard_window", "background_window")
    changes: dict[str, Any] = {name: {"type": WINDOW, "metavar": "N[,N]"} for name in windows}
    names = ("window_units", "minimum_size", "maximum_size", "outlines", "land_mask", "backend", "device_index")
    add_model(part, detect_targets, "probability_of_false_alarm", *windows, *names, outlines={"flags": ["--outlines"]}, **changes)
    part.add("--labels", "FILE", "label image to write: targets count from 1; 16 bit for up to 65535 targets, else 32")
    part.add("--table", "FILE.csv", "file to write: a line for each target")
    part.add("--overlay", "FILE.png", "picture to write: the enlarged image and the boundaries of the targets on it")
    add_report(part)


def run(arguments: argparse.Namespace) -> None:
    file = open_image(arguments, "searched")
    if arguments.labels is not None:
        files.require_format(arguments.labels, "uint16", 2)
    outputs = {name: getattr(arguments, name) for name in ("features", "labels", "overlay", "table")}
    require_writer(arguments)
    check_names(arguments, file, ("valid_mask", "land_mask"), **outputs)

    clock = Clock()
    image = files.read_slice(file)
    keywords = keywords_of(arguments, image)
    seconds = {"read": clock.look()}
    found = detect_targets(image, progress=progress_is_shown(), **keywords)
    seconds["filter"] = clock.look()
    write_each(
        (arguments.features, lambda _: write_features(arguments, found, image)),
        (arguments.labels, lambda name: write_image(arguments, with_16_bits(without_no_data(found.labels)), name, True)),
        (arguments.overlay, lambda name: write_picture(name, draw_boundaries(image, found.labels))),
        (arguments.table, lambda name: _write_table(found, name)),
    )
    result = found.statistics
    report = {
        "law": result.law,
        "number_of_looks": result.number_of_looks,
        "quantity": result.quantity,
        "probability_of_false_alarm": result.probability_of_false_alarm,
        "target_window": list(result.target_window),
        "guard_window": list(result.guard_window),
        "background_window": list(result.background_window),
        "targets": len(found),
        "tested_pixels": result.number_of_tested_pixels,
        "pixels_above_threshold": result.number_of_pixels_above_threshold,
    }
    looks = f"; {result.number_of_looks:.4g} looks per pixel" if result.law in laws_of_looks() else ""
    done = (
        f"searched|\n{len(found)} targets; {result.number_of_pixels_above_threshold} of {result.number_of_tested_pixels} pixels above the "
        f"threshold at {result.probability_of_false_alarm:g}{looks}"
        + describe_quantity(arguments, image, result.quantity)
        + describe_features(arguments, len(found), image)
    )
    finish(arguments, file, 2, done, (result.backend, result.backend_reason), seconds, report)


def _write_table(found: Detections[Any], name: str) -> None:
    table = {column: values.tolist() for column, values in found.table.items()}
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values()))
    write_text(path_of(name), text.getvalue())


#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws input, result and difference from ITK's filter, side by side. Usage: draw-demo.py FOLDER PICTURE

FOLDER holds, for each image, what 'itk-cudafilters compare' wrote: NAME.json, NAME-input.raw, NAME-result.raw and
NAME-difference.raw. The three panels of a row have one scale.
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

IMAGES = (
    ("sar", "Radar image of fields"),
    ("mr", "Magnetic resonance slice of a head"),
)
WIDTH = 5.6  # inches, of a panel
GAP = 0.12
TITLE = 0.78
BAR = 0.9


def read(folder, name):
    report = json.loads((folder / f"{name}.json").read_text())
    shape = tuple(reversed(report["size"]))
    pictures = [np.fromfile(folder / f"{name}-{kind}.raw", dtype="<f4").reshape(shape) for kind in ("input", "result", "difference")]
    return report, pictures


def round_up(value):
    """Returns a round number that is not below the value, for the colour scale."""
    if value <= 0.0:
        return 1e-6
    power = 10.0 ** np.floor(np.log10(value))
    return next(factor * power for factor in (1.0, 1.5, 2.0, 3.0, 5.0, 10.0) if factor * power >= value)


def grey_levels(value):
    """Describes a difference. Exactly zero gets its own words, because on the host the filter is ITK's own code."""
    return "no difference" if value == 0.0 else f"at most {value:.1e} of 255 grey levels"


def describe_place(report):
    return report["device"] if report["backend_used"] == "cuda" else "the host"


def titles(name, report):
    width, height = report["size"]
    sigma = ", ".join(f"{value:g}" for value in sorted(set(report["sigma"])))
    return (
        f"{name}\n{width} × {height} pixels, 8 bit",
        f"Smoothed with sigma {sigma}: {report['milliseconds']:.2f} ms on {describe_place(report)}\n"
        f"ITK's own filter: {report['itk_milliseconds']:.2f} ms on {report['host_threads']} threads",
        f"Difference from ITK's filter in float64: {grey_levels(report['largest_difference_from_float64'])}\n"
        f"From ITK's filter in float32: {grey_levels(report['largest_difference_from_float32'])}",
    )


def panel_heights(images):
    return [WIDTH * report["size"][1] / report["size"][0] for _, report, _ in images]


def draw_row(figure, bottom, height, name, report, pictures):
    total_width, total_height = figure.get_size_inches()
    low, high = np.percentile(pictures[0], (0.5, 99.5))
    limit = round_up(report["largest_difference_from_float64"])
    grey = {"cmap": "gray", "vmin": low, "vmax": high}
    shades = (grey, grey, {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit})
    for column, (picture, shade, title) in enumerate(zip(pictures, shades, titles(name, report))):
        left = GAP + column * (WIDTH + GAP)
        axis = figure.add_axes((left / total_width, bottom / total_height, WIDTH / total_width, height / total_height))
        shown = axis.imshow(picture, interpolation="nearest", **shade)
        axis.set_title(title, fontsize=10)
        axis.set_xticks([])
        axis.set_yticks([])
    beside = (left + WIDTH + GAP) / total_width
    bar = figure.colorbar(shown, cax=figure.add_axes((beside, bottom / total_height, 0.15 / total_width, height / total_height)))
    bar.set_label("grey levels")
    bar.formatter.set_powerlimits((0, 0))


def main():
    folder, picture = pathlib.Path(sys.argv[1]), sys.argv[2]
    images = [(title, *read(folder, name)) for name, title in IMAGES]
    heights = panel_heights(images)
    figure = plt.figure(figsize=(3 * WIDTH + 4 * GAP + BAR, sum(heights) + TITLE * len(images) + GAP))
    bottom = GAP
    for image, height in reversed(list(zip(images, heights))):
        draw_row(figure, bottom, height, *image)
        bottom += height + TITLE
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the regions that were found in two images, side by side and at one scale.

Usage: draw-segmentation.py FOLDER PICTURE --initial-region X,Y,WIDTH,HEIGHT

FOLDER holds, for each image, what itk-cudafilters wrote: NAME-input.raw (compare), NAME-segmentation.json and
NAME-contour.geojson (segment). The rectangle is the one that the search in the radar image started from.
"""
import argparse
import json
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

FIELD = "#ff961e"
START = "#5ad2ff"
INCH = 36  # pixels of the image


def read(folder, name):
    report = json.loads((folder / f"{name}-segmentation.json").read_text())
    shape = tuple(reversed(report["size"]))
    pixels = np.fromfile(folder / f"{name}-input.raw", dtype="<f4").reshape(shape)
    collection = json.loads((folder / f"{name}-contour.geojson").read_text())
    ring = np.array(collection["features"][0]["geometry"]["coordinates"][0]) / report["spacing"]
    return report, pixels, ring


def describe(title, report):
    place = "GPU" if report["backend_used"] == "cuda" else f"host, {report['host_threads']} threads"
    return (
        f"{title}\n{report['nodes']} nodes around {report['inside']['pixels']:,} pixels, "
        f"found in {1000 * report['seconds']['filter']:.1f} ms ({place})"
    )


def draw(axis, title, report, pixels, ring):
    low, high = np.percentile(pixels, (0.5, 99.5))
    axis.imshow(pixels, cmap="gray", vmin=low, vmax=high, interpolation="nearest")
    axis.plot(*ring.T, color=FIELD, linewidth=1.6)
    axis.plot(*ring.T, "s", color="white", markeredgecolor="black", markersize=4)
    axis.set_title(describe(title, report), fontsize=10)
    axis.set_xticks([])
    axis.set_yticks([])


def show_window(axis, centre, size):
    x, y = (middle - side / 2 for middle, side in zip(centre, size))
    axis.set_xlim(x, x + size[0])
    axis.set_ylim(y + size[1], y)


def draw_start(axis, region):
    x, y, width, height = region
    axis.add_patch(
        plt.Rectangle((x - 0.5, y - 0.5), width, height, fill=False, color=START, linewidth=1.4, linestyle=(0, (4, 3)))
    )
    axis.annotate("start", (x + width + 2, y + 2), color=START, va="top", fontsize=10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("picture")
    parser.add_argument("--initial-region", required=True, type=lambda text: [int(number) for number in text.split(",")])
    arguments = parser.parse_args()

    radar, slice_ = read(arguments.folder, "sar"), read(arguments.folder, "mr")
    height, slice_width = slice_[1].shape
    width = round(1.4 * height)  # of the part of the radar image
    figure, axes = plt.subplots(
        1,
        2,
        figsize=((width + slice_width) / INCH + 0.3, height / INCH + 0.7),
        gridspec_kw={"width_ratios": (width, slice_width)},
        layout="constrained",
    )
    draw(axes[0], f"Radar image of fields (part of {radar[1].shape[1]} × {radar[1].shape[0]} pixels): one bright field", *radar)
    x, y, side_x, side_y = arguments.initial_region
    show_window(axes[0], (x + side_x / 2, y + side_y / 2), (width, height))
    draw_start(axes[0], arguments.initial_region)
    draw(axes[1], "Magnetic resonance slice of a head: the brain", *slice_)
    figure.savefig(arguments.picture, dpi=100, bbox_inches="tight", pad_inches=0.06)


if __name__ == "__main__":
    main()

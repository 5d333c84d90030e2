#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Outlines the object in a magnetic resonance slice, and draws the contour and the grey values of both regions.

Needs the package itk-cudafilters, and matplotlib.

    python segment_mr.py slice.png outline.png --svg outline.svg
"""
import argparse
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Polygon

from itk_cudafilters import read_image, segment_region, write_svg

SAMPLE = pathlib.Path(__file__).parent.parent / "data" / "BrainProtonDensitySlice.png"
CONTOUR = "#ff8c00"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("input", nargs="?", default=SAMPLE, help="slice: PNG, TIFF, MetaImage or NRRD (default: a brain)")
    parser.add_argument("figure", nargs="?", default="segment_mr.png", help="picture to write (default: %(default)s)")
    parser.add_argument("--law", default="gaussian", help="distribution of the pixels (default: %(default)s)")
    parser.add_argument("--svg", help="SVG file to write: the slice and the contour")
    parser.add_argument("--backend", default="automatic", help="automatic, cuda or host (default: %(default)s)")
    return parser.parse_args()


def draw_slice(axes, pixels, found):
    axes.imshow(pixels, cmap="gray")
    rows, columns = found.contour_rc.T
    axes.add_patch(Polygon(np.stack([columns, rows], axis=1), fill=False, edgecolor=CONTOUR, linewidth=1.6))
    axes.plot(columns, rows, ".", color=CONTOUR, markersize=5)
    axes.set_title("Outline and its nodes")
    axes.set_axis_off()


def draw_values(axes, pixels, label):
    bins = np.linspace(pixels.min(), pixels.max(), 64)
    for name, value, colour in (("inside", 1, CONTOUR), ("outside", 0, "0.45")):
        axes.hist(pixels[label == value], bins, color=colour, histtype="step", linewidth=1.6, label=name)
    axes.set_yscale("log")
    axes.set_xlabel("grey value")
    axes.set_ylabel("pixels")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("Grey values of both regions")


def main():
    arguments = parse_arguments()
    image = read_image(arguments.input)
    if image.has_components:  # colours, which become grey values
        image = image.with_array(image.array.mean(axis=-1), has_components=False)
    if image.dimension != 2:
        raise SystemExit(f"{arguments.input} has {image.dimension} dimensions; a slice has two")

    found = segment_region(image, law=arguments.law, backend=arguments.backend)
    milliseconds = 1000 * sum(found.statistics.seconds.values())
    place = "GPU" if found.statistics.backend == "cuda" else "host"
    print(f"Segmented on the {place} in {milliseconds:.1f} ms: {found.statistics.backend_reason}")
    print(found)
    if arguments.svg:
        write_svg(found, arguments.svg, image, title=pathlib.Path(arguments.input).name)

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained")
    draw_slice(left, image.array, found)
    draw_values(right, image.array, np.asarray(found.label))
    figure.savefig(arguments.figure, dpi=100)
    print(f"Drawn: {arguments.figure}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Outlines what lies in a magnetic resonance slice, and draws the contour over it and the grey values of both regions.

    pip install itk-cudafilters matplotlib
    python segment_mr.py slice.png outline.png --svg outline.svg
"""
import argparse
import pathlib

import itk
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Polygon

from itk_cudafilters import segment_region, write_svg

SAMPLE = pathlib.Path(__file__).parent.parent / "data" / "BrainProtonDensitySlice.png"
CONTOUR = "#ff8c00"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("input", nargs="?", default=SAMPLE, help="slice in any format that ITK reads (default: a brain)")
    parser.add_argument("figure", nargs="?", default="segment_mr.png", help="picture to write (default: %(default)s)")
    parser.add_argument("--law", default="gaussian", help="distribution of the pixels (default: %(default)s)")
    parser.add_argument("--svg", help="SVG file to write: the slice and the contour")
    parser.add_argument("--backend", default="automatic", help="automatic, cuda or host (default: %(default)s)")
    return parser.parse_args()


def draw_slice(axes, image, found):
    """The slice in millimetres, as the contour is."""
    pixels = itk.array_view_from_image(image)
    first = [origin - 0.5 * step for origin, step in zip(image.GetOrigin(), image.GetSpacing())]
    last = [edge + step * length for edge, step, length in zip(first, image.GetSpacing(), itk.size(image))]
    axes.imshow(pixels, cmap="gray", extent=(first[0], last[0], last[1], first[1]), interpolation="bicubic")
    axes.add_patch(Polygon(found.contour, fill=False, edgecolor=CONTOUR, linewidth=1.6, joinstyle="round"))
    axes.plot(*found.contour.T, ".", color=CONTOUR, markersize=5)
    axes.set_xlabel("x (mm)")
    axes.set_ylabel("y (mm)")
    axes.set_title(f"{len(found.contour)} nodes")


def draw_values(axes, image, found):
    pixels, label = itk.array_view_from_image(image), itk.array_view_from_image(found.label)
    bins = np.linspace(pixels.min(), pixels.max(), 64)
    for name, value, colour in (("inside", 1, CONTOUR), ("outside", 0, "0.45")):
        region = getattr(found.statistics, name)
        axes.hist(
            pixels[label == value], bins, color=colour, alpha=0.65, label=f"{name}: {region.number_of_pixels} pixels"
        )
    axes.set_yscale("log")
    axes.set_xlabel("grey value")
    axes.set_ylabel("pixels")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("grey values of both regions")


def main():
    arguments = parse_arguments()
    image = itk.imread(str(arguments.input), itk.F)
    if image.GetImageDimension() != 2:
        raise SystemExit(f"{arguments.input} has {image.GetImageDimension()} dimensions; a slice has two")

    found = segment_region(image, law=arguments.law, backend=arguments.backend)
    milliseconds = 1000 * sum(found.statistics.seconds.values())
    place = "on the GPU" if found.statistics.backend == "cuda" else "on the host"
    print(f"Segmented {place} in {milliseconds:.1f} ms: {found.statistics.backend_reason}")
    if not found.statistics.significant_boundary:
        print("One region describes the slice at least as well as two.")
    if arguments.svg:
        write_svg(found, arguments.svg, image, title=pathlib.Path(arguments.input).name)

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained")
    draw_slice(left, image, found)
    draw_values(right, image, found)
    figure.suptitle(f"{pathlib.Path(arguments.input).name}, {arguments.law.capitalize()} law, {place} in {milliseconds:.1f} ms")
    figure.savefig(arguments.figure, dpi=100)
    print(f"Drawn: {arguments.figure}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Divides a SAR image into two regions with the Gamma law, and draws the contour and the criterion over the iterations.

    pip install itk-cudafilters matplotlib
    python segment_sar.py amplitude.png fields.png --contour fields.geojson
"""
import argparse
import pathlib

import itk
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Polygon

from itk_cudafilters import segment_region, write_geojson

SAMPLE = pathlib.Path(__file__).parent.parent / "data" / "sar_fields_1000x500.png"
CONTOUR = "#ff8c00"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("input", nargs="?", default=SAMPLE, help="amplitude image, any format that ITK reads (default: fields)")
    parser.add_argument("figure", nargs="?", default="segment_sar.png", help="picture to write (default: %(default)s)")
    parser.add_argument("--looks", type=float, default=1.0, help="looks averaged in the image (default: %(default)s)")
    parser.add_argument("--contour", help="GeoJSON file to write")
    parser.add_argument("--backend", default="automatic", help="automatic, cuda or host (default: %(default)s)")
    parser.add_argument("--progress", action="store_true", help="show a progress bar")
    return parser.parse_args()


def draw_image(axes, amplitude, found):
    axes.imshow(amplitude, cmap="gray", vmin=0, vmax=np.percentile(amplitude, 99.5), interpolation="antialiased")
    axes.add_patch(Polygon(found.contour, fill=False, edgecolor=CONTOUR, linewidth=1.6, joinstyle="round"))
    axes.plot(*found.contour.T, ".", color=CONTOUR, markersize=4)
    axes.set_axis_off()


def draw_criterion(axes, record):
    criterion = np.array([step.criterion for step in record]) / 1e6
    axes.plot(criterion, color="0.35", linewidth=1.2)
    changes = {"level": ("s", "finer blocks"), "insertion": ("^", "nodes inserted"), "removal": ("v", "nodes removed")}
    for what, (marker, label) in changes.items():
        places = [index for index, step in enumerate(record) if step.what == what]
        if places:
            axes.plot(places, criterion[places], marker, markersize=5, label=label)
    axes.set_xlabel("change of the polygon")
    axes.set_ylabel("criterion (10⁶ nats)")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def main():
    arguments = parse_arguments()
    amplitude = itk.array_from_image(itk.imread(str(arguments.input), itk.F))
    if amplitude.ndim != 2:
        raise SystemExit(f"{arguments.input} has {amplitude.ndim} dimensions; a SAR image has two")

    # The Gamma law is that of the intensity, the square of the amplitude.
    found = segment_region(
        amplitude**2, law="gamma", number_of_looks=arguments.looks, backend=arguments.backend, progress=arguments.progress
    )
    statistics = found.statistics
    milliseconds = 1000 * sum(statistics.seconds.values())
    place = "on the GPU" if statistics.backend == "cuda" else "on the host"
    print(f"Segmented {place} in {milliseconds:.1f} ms: {statistics.backend_reason}")
    print(f"{len(found.contour)} nodes, {statistics.number_of_iterations} iterations, {statistics.stop}")
    for name, region in (("inside", statistics.inside), ("outside", statistics.outside)):
        print(f"{name}: {region.number_of_pixels} pixels, mean intensity {region.mean:.1f}")
    if not statistics.significant_boundary:
        print("One region describes the image at least as well as two.")
    if arguments.contour:
        write_geojson(found, arguments.contour)

    height = 10 * amplitude.shape[0] / amplitude.shape[1]
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(10, height + 3.2), height_ratios=(height, 2.4), layout="constrained"
    )
    draw_image(above, amplitude, found)
    draw_criterion(below, statistics.record)
    above.set_title(
        f"{pathlib.Path(arguments.input).name}, Gamma law of order {arguments.looks:g}: "
        f"{len(found.contour)} nodes, {place} in {milliseconds:.1f} ms"
    )
    figure.savefig(arguments.figure, dpi=100)
    print(f"Drawn: {arguments.figure}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds one target of a SAR image by the Gamma law, and draws its contour over the image.

The search starts from a rectangle on the target, with short first moves. Without a rectangle it starts from the best of
many, and the polygon encloses all bright fields, which it connects by corridors.

Needs the package itk-cudafilters, and matplotlib.

    python segment_sar.py amplitude.png target.png --region 690,130,50,115 --contour target.geojson
"""
import argparse
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Polygon

from itk_cudafilters import read_image, segment_region, write_geojson

SAMPLE = pathlib.Path(__file__).parent.parent / "data" / "sar_fields_1000x500.png"
REGION = "690,130,50,115"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("input", nargs="?", default=SAMPLE, help="amplitude image: PNG, TIFF, MetaImage or NRRD (default: fields)")
    parser.add_argument("figure", nargs="?", default="segment_sar.png", help="picture to write (default: %(default)s)")
    parser.add_argument("--region", default=REGION, help="x,y,width,height of the start, in pixels (default: %(default)s)")
    parser.add_argument("--looks", type=float, default=1.0, help="looks averaged in the image (default: %(default)s)")
    parser.add_argument("--contour", help="GeoJSON file to write")
    parser.add_argument("--backend", default="automatic", help="automatic, cuda or host (default: %(default)s)")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    amplitude = read_image(arguments.input).array.astype(np.float32)
    if amplitude.ndim != 2:
        raise SystemExit(f"{arguments.input} has {amplitude.ndim} dimensions; a SAR image has two")

    region = [int(number) for number in arguments.region.split(",")]
    intensity = amplitude**2  # the Gamma law describes the intensity
    found = segment_region(
        intensity, "gamma", number_of_looks=arguments.looks, initial_region=region, maximum_step=2, backend=arguments.backend
    )
    milliseconds = 1000 * sum(found.statistics.seconds.values())
    place = "GPU" if found.statistics.backend == "cuda" else "host"
    print(f"Segmented on the {place} in {milliseconds:.1f} ms: {found.statistics.backend_reason}")
    print(found)
    if arguments.contour:
        write_geojson(found, arguments.contour)

    figure, axes = plt.subplots(figsize=(10, 10 * amplitude.shape[0] / amplitude.shape[1] + 0.4), layout="constrained")
    axes.imshow(amplitude, cmap="gray", vmin=0, vmax=np.percentile(amplitude, 99.5))
    corner, size = np.subtract(region[:2], 0.5), region[2:]
    axes.add_patch(plt.Rectangle(corner, *size, fill=False, edgecolor="white", linestyle=":", label="start"))
    axes.add_patch(Polygon(found.contour, fill=False, edgecolor="#ff8c00", linewidth=1.6, label="target"))
    axes.set_title("Radar image of fields: a target and the rectangle that the search started from")
    axes.set_axis_off()
    axes.legend(loc="upper right", facecolor="black", labelcolor="white")
    figure.savefig(arguments.figure, dpi=100)
    print(f"Drawn: {arguments.figure}")


if __name__ == "__main__":
    main()

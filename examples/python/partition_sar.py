#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Divides a SAR image into its fields, and draws the boundaries over the image beside the mean of each region.

Needs the package itk-cudafilters, and matplotlib.

    python partition_sar.py amplitude.png fields.png --polygons fields.geojson --nats 50
"""
import argparse
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from itk_cudafilters import partition_image, read_image, write_geojson

SAMPLE = pathlib.Path(__file__).parent.parent / "data" / "sar_fields_1000x500.png"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("input", nargs="?", default=SAMPLE, help="amplitude image: PNG, TIFF, MetaImage or NRRD (default: fields)")
    parser.add_argument("figure", nargs="?", default="partition_sar.png", help="picture to write (default: %(default)s)")
    parser.add_argument("--looks", type=float, default=0.0, help="independent looks per pixel; 0: estimated (default: %(default)s)")
    parser.add_argument("--nats", type=float, help="join regions whose boundary is worth no more than this")
    parser.add_argument("--polygons", help="GeoJSON file to write")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    amplitude = read_image(arguments.input).array
    if amplitude.ndim != 2:
        raise SystemExit(f"{arguments.input} has {amplitude.ndim} dimensions; a SAR image has two")

    found = partition_image(amplitude, "rayleigh", looks=arguments.looks)
    print(found)
    print(f"{found.statistics.number_of_looks:.2f} independent looks per pixel")
    if arguments.nats is not None:
        found = found.merge(nats=arguments.nats)
        print(found)
    if arguments.polygons:
        write_geojson(found, arguments.polygons)

    # Edges with a region on either side; the others are the border of the image.
    inner = found.edges[(found.edges[:, 2:] != 0).all(axis=1), :2]
    height, width = amplitude.shape
    figure, (left, right) = plt.subplots(1, 2, figsize=(20, 10 * height / width + 0.5), layout="constrained")
    white = np.percentile(amplitude, 99.5)
    left.imshow(amplitude, cmap="gray", vmin=0, vmax=white)
    left.add_collection(LineCollection(found.nodes[inner], colors="#ff8c00", linewidths=1.2))
    left.set_title(f"Radar image of fields and the boundaries of its {len(found)} regions")
    right.imshow(found.means, cmap="gray", vmin=0, vmax=white)
    right.set_title("The mean of each region")
    for axes in (left, right):
        axes.set_axis_off()
    figure.savefig(arguments.figure, dpi=100)
    print(f"Drawn: {arguments.figure}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what the example programs made of two sample images. Usage: draw-demo.py IMAGES FOLDER

FOLDER holds what scripts/demo.sh wrote for the images sar and mr of IMAGES. Draws smoothing.png, segmentation.png and
partition.png into it. The coordinates of the sample images are pixels.
"""
import json
import pathlib
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

FILES = {"sar": "sar_fields_1000x500.png", "mr": "BrainProtonDensitySlice.png"}
TITLES = {"sar": "A radar image of fields", "mr": "A slice of a head"}
CONTOUR = "#ff8c00"
DETAIL = (600, 840, 110, 290)  # left, right, top and bottom of the part of the radar image around the outlined field


def read_picture(path):
    """Returns the pixels of a grey picture of 8 bits, which the file may hold as three equal channels."""
    pixels = 255.0 * plt.imread(path)
    return pixels if pixels.ndim == 2 else pixels[..., 0]


def read_meta_image(path):
    """Returns the pixels of a two-dimensional MetaImage of float."""
    header, pixels = path.read_bytes().split(b"ElementDataFile = LOCAL\n", 1)
    width, height = map(int, re.search(rb"DimSize = (\d+) (\d+)", header).groups())
    return np.frombuffer(pixels, "<f4").reshape(height, width)


def read_rings(path):
    """Returns all rings of a file of polygons."""
    features = json.loads(path.read_text(encoding="utf-8"))["features"]
    return [np.array(ring) for feature in features for part in feature["geometry"]["coordinates"] for ring in part]


def show(axis, pixels, title, like):
    """Shows pixels in the grey values of the image `like`."""
    low, high = np.percentile(like, (0.5, 99.5))
    axis.imshow(pixels, cmap="gray", vmin=low, vmax=high, interpolation="nearest")
    axis.set_title(title, fontsize=10)
    axis.set_xticks([])
    axis.set_yticks([])


def panels(images, rows, height):
    """Returns a figure and rows of panels of this height in inches, one for each image."""
    ratios = [pixels.shape[1] / pixels.shape[0] for pixels in images]
    size = (height * sum(ratios) + 0.4, rows * (height + 0.5))
    return plt.subplots(rows, len(images), figsize=size, gridspec_kw={"width_ratios": ratios}, layout="constrained")


def describe_smoothing(folder, name, smoothed):
    ours, itk = ((folder / f"{name}-{kind}.txt").read_text() for kind in ("smoothed", "itk"))
    sigma, milliseconds, backend = re.search(r"sigma (\S+) in (\S+) ms by (\w+)", ours).groups()
    of_itk, threads = re.search(r"in (\S+) ms by ITK's filter, (\d+)", itk).groups()
    difference = np.abs(smoothed - read_meta_image(folder / f"{name}-itk.mha")).max()
    place = "the GPU" if backend == "Cuda" else "the CPU"
    return (
        f"smoothed, sigma {sigma}, on {place}: {float(milliseconds):.2f} ms\nITK's own filter: {float(of_itk):.2f} ms, {threads} threads\n"
        + ("the same values" if difference == 0.0 else f"difference at most {difference:.1e} grey levels")
    )


def draw_smoothing(folder, images):
    figure, axes = panels(images.values(), 2, 3.2)
    for (name, pixels), (above, below) in zip(images.items(), axes.T):
        smoothed = read_meta_image(folder / f"{name}-smoothed.mha")
        show(above, pixels, TITLES[name], pixels)
        show(below, smoothed, describe_smoothing(folder, name, smoothed), pixels)
    return figure


def draw_segmentation(folder, images):
    left, right, top, bottom = DETAIL
    shown = {"sar": images["sar"][top:bottom, left:right], "mr": images["mr"]}
    figure, axes = panels(shown.values(), 1, 5.0)
    titles = {"sar": "One field of the radar image", "mr": "The brain"}
    for (name, pixels), axis in zip(images.items(), axes):
        text = (folder / f"{name}-segmented.txt").read_text()
        ring = np.array(re.findall(r"^\[(\S+), (\S+)\]$", text, re.MULTILINE), float)
        count = int(re.search(r"(\d+) pixels of mean .* inside", text)[1])
        show(axis, pixels, f"{titles[name]}: {len(ring)} nodes around {count:,} pixels", pixels)
        axis.plot(*np.vstack((ring, ring[:1])).T, "o-", color=CONTOUR, linewidth=1.8, markersize=4)
    axes[0].set_xlim(left - 0.5, right - 0.5)
    axes[0].set_ylim(bottom - 0.5, top - 0.5)
    return figure


def draw_partition(folder, images):
    figure, axes = panels(images.values(), 2, 3.2)
    for (name, pixels), (above, below) in zip(images.items(), axes.T):
        labels = np.round(65535 * plt.imread(folder / f"{name}-labels.png")).astype(int)
        counts = np.bincount(labels.ravel())
        means = np.bincount(labels.ravel(), pixels.ravel()) / np.maximum(counts, 1)
        show(above, pixels, f"{TITLES[name]}: {np.count_nonzero(counts[1:])} regions", pixels)
        for ring in read_rings(folder / f"{name}.geojson"):
            above.plot(*ring.T, color=CONTOUR, linewidth=0.8)
        show(below, means[labels], "the mean of each region", pixels)
    return figure


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, folder = map(pathlib.Path, sys.argv[1:])
    images = {name: read_picture(source / file) for name, file in FILES.items()}
    for name, draw in (("smoothing", draw_smoothing), ("segmentation", draw_segmentation), ("partition", draw_partition)):
        draw(folder, images).savefig(folder / f"{name}.png", dpi=100, bbox_inches="tight", pad_inches=0.06)


if __name__ == "__main__":
    main()

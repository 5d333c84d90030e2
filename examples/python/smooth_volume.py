#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Smooths a volume, on the GPU if there is one, and draws its three middle slices before and after.

Needs the package itk-cudafilters, and matplotlib.

    python smooth_volume.py head.nii.gz head.png --sigma 3
"""
import argparse
import pathlib
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from itk_cudafilters import gaussian_filter, info, read_image

SAMPLE = pathlib.Path(__file__).parent.parent / "data" / "HeadT1Volume.nii.gz"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("input", nargs="?", default=SAMPLE, help="volume: NIfTI, MetaImage, NRRD or TIFF (default: a head)")
    parser.add_argument("figure", nargs="?", default="smooth_volume.png", help="picture to write (default: %(default)s)")
    parser.add_argument("--sigma", type=float, default=3.0, help="in the units of the volume's spacing (default: %(default)s)")
    parser.add_argument("--backend", default="automatic", help="automatic, cuda or host (default: %(default)s)")
    return parser.parse_args()


def draw_slices(axes, volume, name, greys):
    """Draws the middle slice across each axis of the image, with pixels of their physical aspect ratio."""
    pixels = volume.array  # indexed z, y, x
    spacing = volume.spacing  # x, y, z
    for axis in range(3):
        across, down = [other for other in (0, 1, 2) if other != axis]
        place = pixels.shape[2 - axis] // 2
        aspect = spacing[down] / spacing[across]
        axes[axis].imshow(np.take(pixels, place, axis=2 - axis), cmap="gray", vmin=0, vmax=greys, aspect=aspect)
        axes[axis].set_title(f"{name}, {'xyz'[axis]} = {place}")
        axes[axis].set_axis_off()


def main():
    arguments = parse_arguments()
    volume = read_image(arguments.input)
    if volume.dimension != 3:
        raise SystemExit(f"{arguments.input} has {volume.dimension} dimensions; a volume has three")

    start = time.perf_counter()
    smoothed = gaussian_filter(volume, arguments.sigma, spacing="image", backend=arguments.backend)
    milliseconds = 1000 * (time.perf_counter() - start)
    print(f"Smoothed in {milliseconds:.1f} ms; {info().reason or 'a GPU can be used'}")

    figure, rows = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
    greys = np.percentile(volume, 99.5)
    draw_slices(rows[0], volume, "Input", greys)
    draw_slices(rows[1], smoothed, f"Sigma {arguments.sigma:g}", greys)
    figure.suptitle(pathlib.Path(arguments.input).name)
    figure.savefig(arguments.figure, dpi=100)
    print(f"Drawn: {arguments.figure}")


if __name__ == "__main__":
    main()

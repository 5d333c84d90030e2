#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Enhances the vessels of a volume, and draws projections of the input, of the response and of its sigma.

Runs on the GPU if there is one. Needs the package itk-cudafilters, and matplotlib. The sample is a phantom: tubes drawn
by a program.

    python vesselness.py angiogram.nii.gz vessels.png --sigmas 0.5,1,2 --measure jerman
"""
import argparse
import pathlib
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from itk_cudafilters import read_image, vesselness

SAMPLE = pathlib.Path(__file__).parent.parent / "data" / "VesselPhantom.nii.gz"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("input", nargs="?", default=SAMPLE, help="volume: NIfTI, MetaImage, NRRD or TIFF (default: a phantom)")
    parser.add_argument("figure", nargs="?", default="vesselness.png", help="picture to write (default: %(default)s)")
    parser.add_argument("--sigmas", default="0.5,1,2", help="in the units of the volume's spacing (default: %(default)s)")
    parser.add_argument("--measure", default="objectness", help="or frangi, sato, jerman, meijering (default: %(default)s)")
    parser.add_argument("--backend", default="automatic", help="automatic, cuda or host (default: %(default)s)")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    volume = read_image(arguments.input)
    if volume.dimension != 3:
        raise SystemExit(f"{arguments.input} has {volume.dimension} dimensions; a volume has three")

    sigmas = [float(sigma) for sigma in arguments.sigmas.split(",")]
    start = time.perf_counter()
    enhanced, scale = vesselness(
        volume, sigmas, arguments.measure, spacing="image", return_scale=True, backend=arguments.backend
    )
    print(f"Enhanced in {1000 * (time.perf_counter() - start):.0f} ms with sigmas {sigmas}")

    before, after, sigma = (image.array for image in (volume, enhanced, scale))  # indexed z, y, x
    # Show the sigma of the brightest voxel along each line of projection.
    winning = np.take_along_axis(sigma, after.argmax(axis=0)[np.newaxis], axis=0)[0]
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    panels = (("Before", before.max(axis=0), "gray"), (arguments.measure, after.max(axis=0), "gray"), ("Sigma", winning, "viridis"))
    for axis, (title, picture, colours) in zip(axes, panels):
        white = None if title == "Sigma" else np.percentile(picture, 99.5)
        shown = axis.imshow(picture, cmap=colours, vmax=white, aspect=volume.spacing[1] / volume.spacing[0])
        axis.set_title(title)
        axis.set_axis_off()
    figure.colorbar(shown, ax=axes[2], shrink=0.8)
    figure.savefig(arguments.figure, dpi=100)
    print(f"Drawn: {arguments.figure}")


if __name__ == "__main__":
    main()

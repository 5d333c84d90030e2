#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes examples/data/NucleiPhantom.tif: a synthetic confocal stack of cell nuclei, as a microscope would image them.
Usage: make-nuclei-phantom.py FILE.tif. Needs NumPy and Pillow. The pixels are the same in each run.
"""
import sys

import numpy as np
from PIL import Image

SHAPE = (30, 144, 144)  # z, y, x
SPACING = np.array([1.0, 0.3, 0.3])  # micrometres
BLUR = np.array([0.9, 0.28, 0.28])  # standard deviations of the point spread function, micrometres
NUCLEI = 60
PHOTONS = 30.0  # of a pixel in a nucleus
GREY_LEVELS = 2.8  # of a photon
RADII = (2.2, 3.4)  # micrometres


def blur(volume):
    """Convolves with the point spread function, by Fourier transforms."""
    frequencies = np.meshgrid(*(np.fft.fftfreq(n, step) for n, step in zip(SHAPE, SPACING)), indexing="ij", sparse=True)
    exponent = sum((2.0 * np.pi * sigma * f) ** 2 for sigma, f in zip(BLUR, frequencies)) / 2.0
    return np.fft.ifftn(np.fft.fftn(volume) * np.exp(-exponent)).real


def make_centres(rng, size):
    """Returns random centres whose distances are large enough that nuclei do not touch."""
    centres = []
    while len(centres) < NUCLEI:
        place = rng.uniform(0.06, 0.94, 3) * size
        if all(np.linalg.norm(place - other) > 1.7 * RADII[1] for other in centres):
            centres.append(place)
    return centres


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rng = np.random.default_rng(7)
    size = np.array(SHAPE) * SPACING
    z, y, x = np.meshgrid(*(np.arange(n) * step for n, step in zip(SHAPE, SPACING)), indexing="ij", sparse=True)
    light = np.zeros(SHAPE)
    for centre in make_centres(rng, size):
        axes, turn = rng.uniform(*RADII, 3), rng.uniform(0.0, np.pi)
        across, along = x - centre[2], y - centre[1]
        u = (np.cos(turn) * across + np.sin(turn) * along) / axes[0]
        v = (np.cos(turn) * along - np.sin(turn) * across) / axes[1]
        w = (z - centre[0]) / axes[2]
        # Chromatin is brighter in places; the nucleolus is dark.
        texture = 1.0 + 0.35 * np.sin(4.0 * u + 2.0) * np.cos(5.0 * v) - 0.6 * np.exp(-8.0 * ((u - 0.2) ** 2 + v**2 + w**2))
        light = np.where(u**2 + v**2 + w**2 < 1.0, rng.uniform(0.6, 1.0) * texture, light)
    # Light from outside of the focus, brighter at one corner, and less light from deep within.
    haze = 0.2 + 0.5 * (x / size[2]) * (y / size[1])
    photons = rng.poisson(PHOTONS * (blur(light) + haze).clip(0.0) * np.exp(-z / 60.0))
    pixels = np.clip(np.round(GREY_LEVELS * photons), 0, 255).astype(np.uint8)
    pages = [Image.fromarray(page) for page in pixels]
    pages[0].save(sys.argv[1], save_all=True, append_images=pages[1:], compression="tiff_adobe_deflate")
    print(f"{sys.argv[1]}: {NUCLEI} nuclei, pixels from {pixels.min()} to {pixels.max()}")


if __name__ == "__main__":
    main()

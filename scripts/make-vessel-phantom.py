#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes examples/data/VesselPhantom.nii.gz: a tree of curved, branching tubes with noise. It is no image of a patient.
Usage: make-vessel-phantom.py FILE.nii.gz. Needs NumPy. The same bytes each time.
"""
import gzip
import struct
import sys

import numpy as np

SIZE = np.array([112, 96, 64])  # x, y, z
SPACING = np.array([0.5, 0.5, 0.8])  # millimetres
ROOT_RADIUS, SMALLEST_RADIUS = 2.4, 0.45  # millimetres
STEP = 0.25  # millimetres along a centre line
NOISE = 7.0  # grey levels


def grow(rng, place, heading, radius, places, radii):
    """Appends the points of a vessel and of its branches. Radii at a branching follow Murray: r^3 = a^3 + b^3."""
    length = 7.0 * radius * rng.uniform(0.8, 1.3) + 3.0
    bend = rng.normal(size=3)
    for _ in range(int(length / STEP)):
        bend += 0.15 * rng.normal(size=3) - 0.05 * bend
        heading = heading + 0.035 / np.sqrt(radius) * bend
        # Turn back towards the middle before a vessel leaves the volume.
        heading -= 0.03 * np.sign(place / (SIZE * SPACING) - 0.5) * (np.abs(place / (SIZE * SPACING) - 0.5) > 0.38)
        heading /= np.linalg.norm(heading)
        place = place + STEP * heading
        places.append(place)
        radii.append(radius)
    if radius <= SMALLEST_RADIUS * 1.1:
        return
    share = rng.uniform(0.3, 0.7)
    side = np.cross(heading, rng.normal(size=3))
    side /= np.linalg.norm(side)
    for part, sign in ((share, 1.0), (1.0 - share, -1.0)):
        child = radius * part ** (1.0 / 3.0)
        if child >= SMALLEST_RADIUS:
            # The thinner branch turns away more.
            grow(rng, place, heading + sign * (1.1 - part) * 1.2 * side, child, places, radii)


def render(places, radii):
    """Returns the coverage of each pixel by the vessels, with edges that are one pixel wide."""
    coverage = np.zeros(SIZE[::-1])
    edge = float(SPACING.mean())
    for place, radius in zip(places, radii):
        reach = radius + edge
        low = np.maximum(np.ceil((place - reach) / SPACING), 0).astype(int)
        high = np.minimum(np.floor((place + reach) / SPACING) + 1, SIZE).astype(int)
        if (low >= high).any():
            continue
        x, y, z = (np.arange(low[i], high[i]) * SPACING[i] - place[i] for i in range(3))
        distance = np.sqrt(z[:, None, None] ** 2 + y[:, None] ** 2 + x**2)
        part = coverage[low[2] : high[2], low[1] : high[1], low[0] : high[0]]
        np.maximum(part, np.clip((radius - distance) / edge + 0.5, 0.0, 1.0), out=part)
    return coverage


def write_nifti(path, pixels):
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, *(int(n) for n in SIZE), 1, 1, 1, 1)
    struct.pack_into("<2h", header, 70, 2, 8)  # unsigned char
    struct.pack_into("<8f", header, 76, 1.0, *SPACING, 0.0, 0.0, 0.0, 0.0)
    struct.pack_into("<3f", header, 108, 352.0, 1.0, 0.0)
    header[123] = 2  # millimetres
    struct.pack_into("<80s", header, 148, b"phantom of vessels, drawn by a program")
    struct.pack_into("<h", header, 252, 1)
    struct.pack_into("<3f", header, 256, 0.0, 0.0, 1.0)  # half a turn about z: the identity in ITK's directions
    header[344:348] = b"n+1\0"
    with open(path, "wb") as file:
        file.write(gzip.compress(bytes(header) + pixels.tobytes(), 9, mtime=0))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rng = np.random.default_rng(11)
    places, radii = [], []
    start = SIZE * SPACING * (0.5, 0.04, 0.5)
    grow(rng, start, np.array([0.05, 1.0, 0.1]), ROOT_RADIUS, places, radii)
    grow(rng, SIZE * SPACING * (0.08, 0.9, 0.3), np.array([1.0, -0.7, 0.3]), 1.3, places, radii)
    z, y, x = np.meshgrid(*(np.linspace(0.0, 1.0, n) for n in SIZE[::-1]), indexing="ij")
    ground = 55.0 + 25.0 * x + 15.0 * np.sin(3.0 * y + 2.0 * z)
    pixels = ground + 70.0 * render(places, radii) + NOISE * rng.standard_normal(SIZE[::-1])
    write_nifti(sys.argv[1], np.clip(np.round(pixels), 0, 255).astype(np.uint8))
    print(f"{sys.argv[1]}: {len(places)} points, radii from {min(radii):.2f} to {max(radii):.2f} mm")


if __name__ == "__main__":
    main()

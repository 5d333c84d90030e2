#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times vesselness over five scales by this module, CuPy, scikit-image and ITK, on the same machine in the same run.

usage: vesselness_peers.py PATH/TO/gaussian_benchmark [--output record.json] [--time S]

CuPy: six Gaussian derivatives, its eigvalsh, and the formula of objectness, on a resident image. scikit-image: frangi()
on the processor. ITK: its multi-scale filter on all cores. Sigmas are 1 to 4 pixels. The factors compare times per
voxel, because the peers process smaller images. Compare only times, not responses, because scikit-image normalises
differently.
"""

import argparse
import sys

import peers

SIGMAS = tuple(4.0 ** (i / 4) for i in range(5))
ROWS = "^(resident|host_to_host|itk)/scales/side:[0-9]+/scales:5/"


def run_cupy(budget, side):
    import cupy
    from cupyx.scipy import ndimage

    batch = 1 << 15  # cuSOLVER refuses 1 << 22 matrices at once

    def derivative(image, sigma, a, b):
        order = [0, 0, 0]
        order[a] += 1
        order[b] += 1
        return ndimage.gaussian_filter(image, sigma, order=order, mode="nearest") * sigma**2

    def objectness(values):
        """Returns the objectness of bright lines, with ITK's defaults."""
        order = cupy.argsort(abs(values), axis=-1)
        small, middle, large = cupy.moveaxis(cupy.take_along_axis(values, order, axis=-1), -1, 0)
        plate = (middle / large) ** 2
        blob = small**2 / abs(middle * large)
        norm = (values**2).sum(axis=-1)
        response = (1 - cupy.exp(-2 * plate)) * cupy.exp(-2 * blob) * (1 - cupy.exp(-norm / 50)) * abs(large)
        return cupy.where((middle < 0) & (large < 0), response, 0)

    def run(image):
        best = cupy.zeros(image.size, dtype=cupy.float32)
        for sigma in SIGMAS:
            hessian = cupy.empty((image.size, 3, 3), dtype=cupy.float32)
            for a in range(3):
                for b in range(a, 3):
                    hessian[:, a, b] = hessian[:, b, a] = derivative(image, sigma, a, b).ravel()
            for begin in range(0, image.size, batch):
                part = slice(begin, begin + batch)
                cupy.maximum(best[part], objectness(cupy.linalg.eigvalsh(hessian[part])), out=best[part])
        return best

    image = cupy.asarray(peers.random_image(3, side))
    return peers.measure(lambda: run(image), budget, cupy.cuda.runtime.deviceSynchronize, samples=3)


def run_skimage(budget, side):
    from skimage import filters

    image = peers.random_image(3, side)
    return peers.measure(lambda: filters.frangi(image, sigmas=SIGMAS, black_ridges=False), budget, samples=3)


def add_factors(record):
    """Adds the ratios of the time per voxel to this module's time on the device, which is taken from its largest
    image."""

    def per_voxel(ms, side):
        return ms / side**3

    def side_of(row):
        return int(row["name"].split("side:")[1].split("/")[0])

    resident = max((row for row in record["module"] if row["name"].startswith("resident/") and "ms" in row), key=side_of, default=None)
    if not resident:
        return
    base = per_voxel(resident["ms"], side_of(resident))
    for row in record["module"]:
        if row["name"].startswith("itk/") and "ms" in row:
            record["factors"]["ITK"] = round(per_voxel(row["ms"], side_of(row)) / base, 1)
    for row in record["peers"]:
        if "ms" in row:
            record["factors"][row["library"]] = round(per_voxel(row["ms"], row["side"]) / base, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built gaussian_benchmark")
    parser.add_argument("--output", default="vesselness-peers.json", help="the record (default: %(default)s)")
    parser.add_argument("--time", type=float, default=60, metavar="S", help="of each library (default: %(default)s)")
    arguments = parser.parse_args()
    record = {
        "commit": peers.find_commit(arguments.program, ""),
        "machine": peers.describe_machine(),
        "module": [],
        "peers": [],
        "factors": {},
        "left_out": [],
    }

    def save():
        add_factors(record)
        peers.write_record(arguments.output, record)

    peers.GROUPS["scales"] = ROWS
    peers.run_module(arguments.program, peers.Budget(arguments.time), ["scales"], record)
    save()
    for library, name, run, side in (("CuPy", "objectness", run_cupy, 256), ("scikit-image", "frangi", run_skimage, 128)):
        rows = peers.Rows(library)
        budget = peers.Budget(arguments.time)
        where = "resident" if library == "CuPy" else "host_to_host"
        rows.add(name, where, 3, side, list(SIGMAS), lambda run=run, side=side, budget=budget: run(budget, side))
        record["peers"] += rows.rows
        save()
    print(record["factors"])
    return 0


if __name__ == "__main__":
    sys.exit(main())

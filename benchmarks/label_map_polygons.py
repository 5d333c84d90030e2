#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts a label map to polygons with few nodes, by partition_image() and by rasterio's shapes() with simplified
outlines.

    python benchmarks/label_map_polygons.py --side 2048 --regions 10000

Makes an image of Voronoi cells with Gaussian noise, and converts its label map by
  * partition_image(initial_labels=..., allow_merging=False, maximum_number_of_iterations=1), including the polygons;
  * rasterio.features.shapes(), whose outlines follow the sides of pixels, and shapely.simplify() of each polygon;
  * shapely.coverage_simplify() of these outlines, which keeps common boundaries of neighbours equal.
Prints for each method the time of a second call, the number of nodes, the areas of gaps and overlaps between neighbours
in pixels, and the number of pixels that have another label in a raster of the polygons than in the map. Needs the
packages itk-cudafilters, rasterio, shapely 2.1 and SciPy.
"""
import argparse
import json
import time

import numpy as np
import rasterio.features
import shapely
from scipy.spatial import cKDTree

from itk_cudafilters import partition_image

TOLERANCE = 1.0  # of simplified outlines, in pixels
NOISE = 10.0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=2048, metavar="N", help="of the image, in pixels (default: %(default)s)")
    parser.add_argument("--regions", type=int, default=10000, metavar="N", help="cells (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--output", metavar="FILE.json", help="file for the figures")
    arguments = parser.parse_args()
    if min(arguments.side, arguments.regions) < 2:
        parser.error(f"--side is {arguments.side}, --regions {arguments.regions}; both must be at least 2")
    return arguments


def make_scene(side, regions, seed):
    """Returns labels from 1 on, and an image whose cells differ in their means."""
    rng = np.random.default_rng(seed)
    sites = rng.random((regions, 2)) * side
    pixels = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1) + 0.5
    labels = cKDTree(sites).query(pixels.reshape(-1, 2), workers=-1)[1].reshape(side, side).astype(np.uint32)
    image = rng.uniform(0, 255, regions)[labels] + rng.normal(0, NOISE, labels.shape)
    return labels + 1, image.astype(np.float32)


def polygons_of_partition(labels, image):
    found = partition_image(image, "gaussian", initial_labels=labels, allow_merging=False, maximum_number_of_iterations=1)
    # rasterio counts from the outer corner of the first pixel, half a pixel from its centre.
    rings = [[ring + 0.5 for ring in polygon] for polygon in found.polygons_in_pixels]
    return np.array([shapely.Polygon(polygon[0], polygon[1:]) for polygon in rings])


def outlines(labels):
    shapes = rasterio.features.shapes(labels.astype(np.int32), connectivity=4)
    return np.array([shapely.geometry.shape(shape) for shape, _ in shapes])


METHODS = {
    "partition_image, one iteration": polygons_of_partition,
    "rasterio shapes, shapely simplify": lambda labels, _: shapely.simplify(outlines(labels), TOLERANCE),
    "rasterio shapes, shapely coverage_simplify": lambda labels, _: shapely.coverage_simplify(outlines(labels), TOLERANCE),
}


def describe(polygons, labels):
    """Returns the figures of a method's polygons. The gaps are the area of the image minus the area of the polygons'
    union."""
    union = shapely.area(shapely.union_all(polygons))
    raster = rasterio.features.rasterize(zip(polygons, range(1, len(polygons) + 1)), out_shape=labels.shape, dtype="int32")
    # Each polygon takes the label that most of its pixels have.
    pairs, counts = np.unique(np.stack([raster.ravel(), labels.ravel().astype(np.int32)]), axis=1, return_counts=True)
    agreeing = np.zeros(len(polygons) + 1, np.int64)
    np.maximum.at(agreeing, pairs[0], counts)
    return {
        "polygons": len(polygons),
        "nodes": int(shapely.get_num_coordinates(polygons).sum() - shapely.get_num_interior_rings(polygons).sum() - len(polygons)),
        "valid": int(shapely.is_valid(polygons).sum()),
        "coverage_is_valid": bool(shapely.coverage_is_valid(polygons)),
        "gaps": float(labels.size - union),
        "overlaps": float(shapely.area(polygons).sum() - union),
        "other_pixels": int(labels.size - agreeing[1:].sum()),
    }


def main():
    arguments = parse_arguments()
    labels, image = make_scene(arguments.side, arguments.regions, arguments.seed)
    # The first call loads ITK's modules.
    for make in METHODS.values():
        make(labels[:32, :32].copy(), image[:32, :32].copy())
    results = {}
    for name, make in METHODS.items():
        begin = time.perf_counter()
        polygons = make(labels, image)
        results[name] = {"seconds": time.perf_counter() - begin, **describe(polygons, labels)}
        print(name)
        for key, value in results[name].items():
            print(f"  {key:18} {value:.6g}" if isinstance(value, float) else f"  {key:18} {value}")
    if arguments.output:
        record = {"side": arguments.side, "regions": arguments.regions, "seed": arguments.seed, "results": results}
        with open(arguments.output, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=2)


if __name__ == "__main__":
    main()

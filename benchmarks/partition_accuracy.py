#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how well partition_image() and methods of scikit-image find the fields of synthetic radar scenes.

    python benchmarks/partition_accuracy.py --scenes 3 --output accuracy.json

A scene has 768 x 512 pixels and 60 fields, unions of Voronoi cells, under Gamma speckle. Means of neighbours differ at
least by the contrast. In each scene
  * partition_image() gets the law and the looks, nothing else;
  * felzenszwalb() and slic() followed by merging of neighbours (regions of a graph whose means differ least) run on the
    logarithm of the intensity. The best of all combinations of their parameters is taken by the adjusted Rand index,
    for which the truth must be known.
Prints for each looks and contrast the means over the scenes: the adjusted Rand index, recall and precision of the
boundaries within two pixels, the distance of the boundaries in pixels, the number of regions and the time of one run.
Needs scikit-image and SciPy, and the package itk-cudafilters for the first method.
"""
import argparse
import itertools
import json
import time

import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.spatial import cKDTree
from skimage import graph
from skimage.segmentation import felzenszwalb, slic

WIDTH, HEIGHT, CELLS, FIELDS, MOST_CELLS = 768, 512, 110, 60, 4
LOOKS, CONTRASTS = (1, 4), (1.5, 2.0, 3.0)
TOLERANCE = 2.0  # pixels between a boundary and the true one
FELZENSZWALB = list(itertools.product((30, 100, 300, 1000, 3000), (1.0, 2.0, 4.0), (50, 200)))  # scale, sigma, smallest size
SLIC = list(itertools.product((300, 1000), (0.03, 0.3), (0.1, 0.2, 0.4, 0.6)))  # segments, compactness, threshold of merges


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=3, metavar="N", help="for each looks and contrast (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--output", metavar="FILE.json", help="file for the figures")
    arguments = parser.parse_args()
    if arguments.scenes < 1:
        parser.error(f"--scenes is {arguments.scenes}; it must be at least 1")
    return arguments


def neighbors_of(labels):
    """Returns the pairs of labels of horizontally or vertically adjacent pixels, with the smaller label first."""
    pairs = np.concatenate(
        [
            np.stack([labels[:, :-1].ravel(), labels[:, 1:].ravel()], axis=1),
            np.stack([labels[:-1].ravel(), labels[1:].ravel()], axis=1),
        ]
    )
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return [(int(first), int(second)) for first, second in pairs]


def make_truth(rng):
    sites = rng.random((CELLS, 2)) * (HEIGHT, WIDTH)
    pixels = np.stack(np.meshgrid(np.arange(HEIGHT), np.arange(WIDTH), indexing="ij"), axis=-1) + 0.5
    cells = cKDTree(sites).query(pixels.reshape(-1, 2))[1].reshape(HEIGHT, WIDTH)
    fields = np.arange(CELLS)
    left = CELLS
    for first, second in rng.permutation(neighbors_of(cells)):
        kept, gone = fields[first], fields[second]
        if left > FIELDS and kept != gone and np.isin(fields, (kept, gone)).sum() <= MOST_CELLS:
            fields[fields == gone] = kept
            left -= 1
    return np.unique(fields, return_inverse=True)[1][cells]


def make_image(truth, looks, contrast, rng):
    """Returns an image with speckle on intensities of 100 contrast^level. Each field has another level than its
    neighbours."""
    number = truth.max() + 1
    neighbors = {field: set() for field in range(number)}
    for first, second in neighbors_of(truth):
        neighbors[first].add(second)
        neighbors[second].add(first)
    levels = {}
    for field in sorted(neighbors, key=lambda f: -len(neighbors[f])):
        taken = {levels[other] for other in neighbors[field] if other in levels}
        levels[field] = int(rng.choice([level for level in range(len(taken) + 3) if level not in taken][:3]))
    means = np.array([100.0 * contrast ** levels[field] for field in range(number)])
    return (means[truth] * rng.gamma(looks, 1.0 / looks, truth.shape)).astype(np.float32)


def boundary_of(labels):
    boundary = np.zeros(labels.shape, bool)
    boundary[:, 1:] |= labels[:, 1:] != labels[:, :-1]
    boundary[1:] |= labels[1:] != labels[:-1]
    return boundary


def rand_index(truth, labels):
    """Returns the adjusted Rand index (Hubert and Arabie, Journal of Classification 2, 1985)."""
    numbers = np.unique(labels, return_inverse=True)[1].reshape(truth.shape)
    table = np.bincount(truth.ravel() * (numbers.max() + 1) + numbers.ravel()).astype(float)
    pairs = lambda counts: (counts * (counts - 1) / 2).sum()
    of_truth, of_labels = pairs(np.bincount(truth.ravel()).astype(float)), pairs(np.bincount(numbers.ravel()).astype(float))
    expected = of_truth * of_labels / pairs(np.array([float(truth.size)]))
    return (pairs(table) - expected) / ((of_truth + of_labels) / 2 - expected)


def score(truth, labels):
    true, found = boundary_of(truth), boundary_of(labels)
    if not found.any():
        return {"ari": rand_index(truth, labels), "recall": 0.0, "precision": 0.0, "distance": np.nan, "regions": 1}
    to_found, to_true = distance_transform_edt(~found)[true], distance_transform_edt(~true)[found]
    return {
        "ari": rand_index(truth, labels),
        "recall": np.mean(to_found <= TOLERANCE),
        "precision": np.mean(to_true <= TOLERANCE),
        "distance": (to_found.mean() + to_true.mean()) / 2,
        "regions": len(np.unique(labels)),
    }


def timed(truth, segment):
    start = time.perf_counter()
    labels = segment()
    seconds = time.perf_counter() - start
    return {**score(truth, np.asarray(labels)), "seconds": seconds}


def by_slic(log_image, segments, compactness, threshold):
    labels = slic(log_image, n_segments=segments, compactness=compactness, channel_axis=None, start_label=0)
    if labels.min() == labels.max():
        return labels  # one region has no graph
    means = np.stack([log_image] * 3, axis=-1)  # the graph asks for colours
    return graph.cut_threshold(labels, graph.rag_mean_color(means, labels), threshold * np.sqrt(3.0))


def methods(image, looks):
    """Returns the runs of each method. Only the best run of a method counts."""
    log_image = np.log(np.maximum(image, 1e-3)).astype(np.float64)
    runs = {
        "felzenszwalb": [
            lambda p=p: felzenszwalb(log_image, scale=p[0], sigma=p[1], min_size=p[2], channel_axis=None) for p in FELZENSZWALB
        ],
        "slic and merging": [lambda p=p: by_slic(log_image, *p) for p in SLIC],
    }
    try:
        from itk_cudafilters import partition_image

        runs["partition_image"] = [lambda: partition_image(image, "gamma", looks=looks).labels]
    except ImportError:
        print("itk-cudafilters is not installed: scikit-image alone")
    return runs


def main():
    arguments = parse_arguments()
    results = []
    for looks, contrast in itertools.product(LOOKS, CONTRASTS):
        best = {}
        for scene in range(arguments.scenes):
            rng = np.random.default_rng([arguments.seed, looks, int(10 * contrast), scene])
            truth = make_truth(rng)
            image = make_image(truth, looks, contrast, rng)
            for name, runs in methods(image, looks).items():
                best.setdefault(name, []).append(max((timed(truth, run) for run in runs), key=lambda result: result["ari"]))
        for name, scenes in best.items():
            means = {key: float(np.mean([scene[key] for scene in scenes])) for key in scenes[0]}
            results.append({"looks": looks, "contrast": contrast, "method": name, **means})
            print(looks, contrast, name, {key: round(value, 3) for key, value in means.items()}, flush=True)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()

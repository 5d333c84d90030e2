# SPDX-License-Identifier: Apache-2.0
"""Times a hundred small radar images in one call of partition_images(), and one of them with partition_image().

    python benchmarks/partition_images_times.py [--side 500] [--number 100] [--backend cuda]

Prints medians in milliseconds, and their ratio.
"""
import argparse
import statistics
import time

import numpy as np
from itk_cudafilters import partition_image, partition_images


def fields(side, seed):
    """Returns an 8-bit image of rectangular fields with different means under speckle of one look."""
    rng = np.random.default_rng(seed)
    side_of_field = max(side // 9, 1)
    means = rng.choice([10.0, 20.0, 40.0], (side // side_of_field + 1,) * 2)
    means = np.kron(means, np.ones((side_of_field,) * 2))[:side, :side]
    return np.clip(rng.exponential(means), 1, 255).astype(np.uint8)


def median_ms(call, repetitions):
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=500, metavar="N", help="pixels along each side (default: %(default)s)")
    parser.add_argument("--number", type=int, default=100, metavar="N", help="of images (default: %(default)s)")
    parser.add_argument("--backend", choices=("cuda", "host"), default="cuda", help="default: %(default)s")
    arguments = parser.parse_args()
    for name in ("side", "number"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name} is {getattr(arguments, name)}; it must be at least 1")
    images = [fields(arguments.side, seed) for seed in range(arguments.number)]
    common = {"law": "gamma", "looks": 1.0, "backend": arguments.backend}
    found = partition_images(images, **common)  # warm up: starts CUDA and fills the memory pools
    partition_image(images[0], **common)
    one = median_ms(lambda: partition_image(images[0], **common), 21)
    together = median_ms(lambda: partition_images(images, **common), 9)
    regions = statistics.mean(len(partition) for partition in found)
    print(f"{arguments.number} images of {arguments.side} x {arguments.side}, {regions:.0f} regions each: {together:.1f} ms")
    print(f"one of them: {one:.2f} ms; ratio {together / one:.2f}")


if __name__ == "__main__":
    main()

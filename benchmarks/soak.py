#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls random functions of the Python package with small random arrays, a great many times, and measures whether memory grows.

usage: soak.py [--calls 100000] [--seed 1] [--backend automatic|cuda|host] [--output soak.json] [--plot soak.png]

Arrays, types, parameters and functions are random; one call in ten is one that must be refused. The resident memory is read
from /proc after every thousandth part of the calls, when Python's garbage has been collected. Memory that caches fill at first does
not count: the verdict is about the second half. Memory is flat if the straight line through it rises there by at most three times the
standard deviation of the values around it, or by less than a mebibyte. Exit status 1: it is not.
"""
import argparse
import collections
import gc
import json
import pathlib
import resource
import sys
import tempfile
import time
import warnings

import numpy as np

import itk_cudafilters

MEBIBYTE = 2.0**20
LAWS = ("gaussian", "gamma", "poisson", "log-normal", "rayleigh")
MODES = ("reflect", "nearest", "mirror", "wrap", "constant")


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def any_array(rng):
    shape = rng.integers(4, 20, rng.integers(2, 4))
    array = (rng.random(shape) * 200).astype(rng.choice(("uint8", "int16", "uint16", "float32", "float64")))
    return array[::-1] if rng.random() < 0.2 else array


def scene(rng):
    """Returns a bright square in noise of whole numbers that every law describes."""
    height, width = rng.integers(16, 40, 2)
    pixels = rng.gamma(4.0, 5.0, (height, width)) + 1.0
    pixels[height // 3 : 2 * height // 3, width // 3 : 2 * width // 3] *= 4.0
    return np.minimum(np.floor(pixels), 255.0).astype(rng.choice(("uint8", "uint16", "float32")))


def looks(rng, law):
    return rng.uniform(1.0, 4.0) if law in ("gamma", "rayleigh") else None


def make_calls(folder, backend):
    """Returns functions of a random generator, by name."""
    c = itk_cudafilters

    def gaussian(function):
        return lambda rng: getattr(c, function)(
            any_array(rng), rng.uniform(0.5, 4.0), mode=str(rng.choice(MODES)), backend=backend)

    def with_mask(rng):
        array = any_array(rng).astype(np.float32)
        c.gaussian_filter(array, 1.5, valid_mask=rng.random(array.shape) < 0.9, backend=backend)

    def with_nan(rng):
        array = any_array(rng).astype(np.float32)
        array[tuple(rng.integers(0, array.shape))] = np.nan
        c.gaussian_filter(array, 1.5, backend=backend)

    def partition(rng):
        law = str(rng.choice(LAWS))
        result = c.partition_image(scene(rng), law, looks(rng, law), backend=backend)
        len(result.polygons) + len(result.merge(number=2).table)

    def snake(rng):
        law = str(rng.choice(LAWS))
        result = c.segment_region(scene(rng), law, looks(rng, law), backend=backend)
        result.contour.sum()

    def snakes(rng):
        image = scene(rng)
        labels = np.zeros(image.shape, np.uint32)
        labels[5:9, 5:9], labels[10:14, 8:12] = 1, 4
        len(c.segment_regions(image, "gaussian", labels, backend=backend))

    def detect(rng):
        law = str(rng.choice(LAWS))
        c.detect_targets(scene(rng), law, looks(rng, law), probability_of_false_alarm=1e-3, target_window=1, guard_window=5,
                         background_window=9, backend=backend)

    def files(rng):
        path = folder / f"image.{rng.choice(('png', 'tif', 'mha', 'nrrd', 'nii', 'nii.gz'))}"
        c.write_image(scene(rng).astype(np.uint8), path)
        c.read_image(path)

    def exports(rng):
        result = c.partition_image(scene(rng), "gaussian", backend=backend)
        c.write_geojson(result, folder / "regions.json")
        c.write_svg(result, folder / "regions.svg")

    def refused(rng):
        kind = rng.integers(0, 5)
        try:
            if kind == 0:
                c.gaussian_filter(any_array(rng), -1.0, backend=backend)
            elif kind == 1:
                c.partition_image(scene(rng), "unknown law", backend=backend)
            elif kind == 2:
                c.segment_region(-scene(rng).astype(np.float32), "gamma", 1.0, backend=backend)
            elif kind == 3:
                (folder / "broken.tif").write_bytes(bytes(rng.integers(0, 256, 200, np.uint8)))
                c.read_image(folder / "broken.tif")
            else:
                c.detect_targets(scene(rng), "gaussian", background_window=999, backend=backend)
        except (OSError, TypeError, ValueError):
            return
        raise AssertionError(f"refused call number {kind} was not refused")

    names = ("gaussian_filter", "gaussian_gradient", "gaussian_gradient_magnitude", "gaussian_laplace", "gaussian_hessian",
             "gaussian_filter1d", "unsharp_mask", "difference_of_gaussians")
    calls = {name: gaussian(name) for name in names}
    calls |= {
        "gaussian_filter, mask": with_mask,
        "gaussian_filter, NaN": with_nan,
        "vesselness": lambda rng: c.vesselness(any_array(rng), [1.0, 2.0], backend=backend),
        "sato": lambda rng: c.sato(any_array(rng).astype(np.float32), [1.0, 2.0], backend=backend),
        "structure_tensor_eigenvalues": lambda rng: c.structure_tensor_eigenvalues(any_array(rng), 1.0, 2.0, backend=backend),
        "partition_image": partition,
        "segment_region": snake,
        "segment_regions": snakes,
        "detect_targets": detect,
        "estimate_looks": lambda rng: c.estimate_looks(rng.gamma(3.0, 1.0, (64, 64)).astype(np.float32), "intensity"),
        "read_image, write_image": files,
        "write_geojson, write_svg": exports,
    }
    return calls, refused


def run(number, seed, backend, folder):
    """Returns the numbers of calls, and pairs of calls and resident bytes."""
    calls, refused = make_calls(folder, backend)
    rng = np.random.default_rng(seed)
    counts, samples = collections.Counter(), []
    for i in range(number):
        name = "refused" if rng.random() < 0.1 else str(rng.choice(list(calls)))
        counts[name] += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (refused if name == "refused" else calls[name])(rng)
        if (i + 1) % max(1, number // 1000) == 0:
            gc.collect()
            samples.append((i + 1, resident_bytes()))
    return counts, samples


def judge(samples):
    """Returns the rise of the line through the second half and the standard deviation around it, in bytes, and whether
    memory is flat."""
    calls, values = np.array(samples[len(samples) // 2 :], np.float64).T
    line = np.polyfit(calls, values, 1)
    rise = line[0] * (calls[-1] - calls[0])
    deviation = float(np.std(values - np.polyval(line, calls)))
    return float(rise), deviation, bool(rise <= max(3.0 * deviation, MEBIBYTE))


def plot(samples, rise, path):
    import plot_style

    calls, values = np.array(samples, np.float64).T
    figure, axis = plot_style.pyplot.subplots(figsize=(plot_style.WIDTH, 3.2), layout="constrained")
    axis.plot(calls, values / MEBIBYTE, color="tab:blue", linewidth=1.0)
    axis.axvline(calls[len(calls) // 2], color="0.6", linewidth=0.8, linestyle="--")
    axis.set(xlabel="calls", ylabel="resident memory, MiB", ylim=(0.0, 1.2 * values.max() / MEBIBYTE),
             title=f"{int(calls[-1]):,} mixed calls: the second half changes by {rise / MEBIBYTE:+.2f} MiB")
    plot_style.save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=100000, help="default: 100000")
    parser.add_argument("--seed", type=int, default=1, help="of all random numbers (default: 1)")
    parser.add_argument("--backend", choices=("automatic", "cuda", "host"), default="automatic")
    parser.add_argument("--output", type=pathlib.Path, help="file for the numbers")
    parser.add_argument("--plot", type=pathlib.Path, help="file for the picture")
    options = parser.parse_args()
    if options.calls < 20:
        parser.error(f"--calls is {options.calls}; a curve needs 20 or more")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        counts, samples = run(options.calls, options.seed, options.backend, pathlib.Path(folder))
    seconds = time.monotonic() - start
    rise, deviation, is_flat = judge(samples)
    for name, count in sorted(counts.items()):
        print(f"{count:8} {name}")
    print(f"{options.calls} calls in {seconds:.0f} s; resident {samples[0][1] / MEBIBYTE:.1f} MiB at first, "
          f"{samples[len(samples) // 2][1] / MEBIBYTE:.1f} MiB after half, {samples[-1][1] / MEBIBYTE:.1f} MiB at the end")
    print(f"second half: {rise / MEBIBYTE:+.3f} MiB along the line, {deviation / MEBIBYTE:.3f} MiB around it: "
          f"{'flat' if is_flat else 'GROWING'}")
    if options.output:
        facts = {"calls": counts, "seconds": seconds, "samples": samples, "rise": rise, "deviation": deviation, "flat": is_flat}
        options.output.write_text(json.dumps(facts) + "\n", encoding="utf-8")
    if options.plot:
        plot(samples, rise, options.plot)
    return 0 if is_flat else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures calls of itk_cudafilters with NumPy arrays and with arrays of CuPy, beside cupyx.scipy.ndimage.

    python benchmarks/numpy_calls.py --output numpy-calls.json

Times are medians in milliseconds of a process, each from the call until its result can be read. For a NumPy array
cupyx is given a copy of the array, and its result is copied back. Rows whose names begin with cupy have their arrays in
GPU memory. It needs a GPU and NumPy; without CuPy it leaves out what needs CuPy. With --backend host it measures the
host, beside scipy.ndimage where that is installed.
"""
import argparse
import importlib
import json
import statistics
import time

import numpy as np

import itk_cudafilters as package

SECONDS = 0.6  # of a row, at least
LEAST_RUNS = 5
FAST = {"mode": "nearest", "approximation": "deriche"}
SCALES = (1.0, 1.5, 2.0, 3.0, 4.0)


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def measure(call):
    call()
    call()
    times = []
    end = time.perf_counter() + SECONDS
    while len(times) < LEAST_RUNS or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return float(f"{statistics.median(times):.4g}")


class Table:
    def __init__(self, selected):
        self.rows = []
        self._selected = selected

    def add(self, name, call, other=None):
        """Measures a call, and another package's call for the same result."""
        if self._selected and self._selected not in name:
            return
        row = {"name": name, "ms": measure(call)}
        if other is not None:
            row["other_ms"] = measure(other)
        self.rows.append(row)
        print(f"{name:60} {row['ms']:10.4g}" + (f" {row['other_ms']:10.4g}" if other is not None else ""), flush=True)


def add_numpy_rows(table, gpu, backend, random):
    """`gpu` is CuPy and its filters, or None."""
    cupy, filters = gpu or (None, None)

    def on_gpu(name, array, *arguments):
        if gpu is None:
            return None
        return lambda: cupy.asnumpy(getattr(filters, name)(cupy.asarray(array), *arguments))

    def call(name, array, *arguments, **options):
        return lambda: getattr(package, name)(array, *arguments, backend=backend, **options)

    shapes = [(256, 256), (512, 512), (2048, 2048), (256,) * 3] + [(8192, 8192), (512,) * 3] * (backend != "host")
    for shape in shapes:
        array = random(shape)
        size = "x".join(str(length) for length in shape)
        table.add(f"gaussian_filter {size}", call("gaussian_filter", array, 4.0), on_gpu("gaussian_filter", array, 4.0))
        table.add(f"gaussian_filter {size}, deriche, nearest", call("gaussian_filter", array, 4.0, **FAST))
    for side in (256, 512) if backend != "host" else (256,):
        array = random((side,) * 3)
        size = f"{side}x{side}x{side}"
        for name in ("gaussian_gradient_magnitude", "gaussian_laplace"):
            table.add(f"{name} {size}", call(name, array, 4.0), on_gpu(name, array, 4.0))
        for kind in ("uint8", "uint16"):
            table.add(f"gaussian_filter {size}, {kind}", call("gaussian_filter", (array * 200).astype(kind), 4.0))
        table.add(f"gaussian_filter {size}, mask", call("gaussian_filter", array, 4.0, valid_mask=array > 0.1))
        with_nan = array.copy()
        with_nan[::7, ::5, ::3] = np.nan
        table.add(f"gaussian_filter {size}, NaN", call("gaussian_filter", with_nan, 4.0))
    array = random((256,) * 3)
    table.add("frangi 256x256x256, five scales", call("frangi", array, SCALES))
    table.add("structure_tensor 256x256x256", call("structure_tensor", array, 1.0, 2.0))


def add_cupy_rows(table, cupy, filters):
    wait = cupy.cuda.Device().synchronize

    def waiting(function):
        return lambda: (function(), wait())

    array = cupy.random.random((512,) * 3, dtype=cupy.float32)
    for name in ("gaussian_filter", "gaussian_gradient_magnitude", "gaussian_laplace"):
        ours, theirs = getattr(package, name), getattr(filters, name)
        table.add(f"cupy {name} 512x512x512", waiting(lambda: ours(array, 4.0)), waiting(lambda: theirs(array, 4.0)))
    table.add("cupy frangi 512x512x512, five scales", waiting(lambda: package.frangi(array, SCALES)))
    small = array[:256, :256, :256].copy()
    table.add("cupy structure_tensor 256x256x256", waiting(lambda: package.structure_tensor(small, 1.0, 2.0)))


def add_scipy_rows(table, filters, random):
    for shape in ((512, 512), (2048, 2048), (256,) * 3):
        for sigma in (1.0, 8.0):
            array = random(shape)
            size = "x".join(str(length) for length in shape)
            table.add(
                f"host gaussian_filter {size}, sigma {sigma:g}",
                lambda: package.gaussian_filter(array, sigma, backend="host"),
                lambda: filters.gaussian_filter(array, sigma),
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=("cuda", "host"), default="cuda", help="default: %(default)s")
    parser.add_argument("--select", metavar="TEXT", help="only rows whose names contain this text")
    parser.add_argument("--output", metavar="FILE", help="writes the rows as JSON")
    arguments = parser.parse_args()

    generator = np.random.default_rng(1)

    def random(shape):
        return generator.random(shape, dtype=np.float32)

    table = Table(arguments.select)
    cupy, filters = (optional("cupy"), optional("cupyx.scipy.ndimage")) if arguments.backend == "cuda" else (None, None)
    gpu = (cupy, filters) if cupy and filters else None
    add_numpy_rows(table, gpu, arguments.backend, random)
    if gpu:
        add_cupy_rows(table, *gpu)
    scipy = optional("scipy.ndimage") if arguments.backend == "host" else None
    if scipy:
        add_scipy_rows(table, scipy, random)
    if arguments.output:
        devices = [device.name for device in package.info().devices]
        with open(arguments.output, "w", encoding="utf-8") as file:
            json.dump({"rows": table.rows, "device": devices[0] if devices else ""}, file, indent=1)


if __name__ == "__main__":
    main()

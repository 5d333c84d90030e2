#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of the Python package: its share of `import itk`, and a call of a function compared with Update()
of a filter.

    python benchmarks/python_times.py --backend cuda

prints milliseconds, the minimum of the repetitions. The function takes a NumPy array and creates its filter. It runs
with one thread, because with several the time depends on the other load of the processors. Needs the packages itk and
itk-cudafilters.
"""
import argparse
import pathlib
import runpy
import time

import itk
import numpy as np


def measure(function, repetitions):
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        function()
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=("automatic", "cuda", "host"), default="automatic", help="default: %(default)s")
    parser.add_argument("--side", type=int, default=256, metavar="N", help="of the image, in pixels (default: %(default)s)")
    parser.add_argument("--repetitions", type=int, default=200, metavar="N", help="default: %(default)s")
    arguments = parser.parse_args()
    if min(arguments.side, arguments.repetitions) < 1:
        parser.error(f"--side is {arguments.side}, --repetitions {arguments.repetitions}; both must be at least 1")

    files = sorted((pathlib.Path(itk.__file__).parent / "Configuration").glob("CudaFilters*.py"))
    itk.CudaFiltersConfiguration.SetBackend(arguments.backend)
    array = np.random.default_rng(0).random((arguments.side, arguments.side), dtype=np.float32)
    settings = {"sigma": 2.0, "number_of_work_units": 1}
    smoother = itk.CudaSmoothingRecursiveGaussianImageFilter.New(itk.image_from_array(array), Sigma=2.0, NumberOfWorkUnits=1)

    def update():
        smoother.Modified()
        smoother.Update()

    read = measure(lambda: [runpy.run_path(str(file)) for file in files], 20)
    updated = measure(update, arguments.repetitions)
    called = measure(lambda: itk.cuda_smoothing_recursive_gaussian_image_filter(array, **settings), arguments.repetitions)
    print(f"read by import itk:       {read:8.3f}  ({len(files)} files)")
    print(f"Update(), {arguments.side} x {arguments.side}: {updated:13.3f}  (on the {'GPU' if smoother.GetBackendUsed() == itk.CudaFiltersEnums.Backend_Cuda else 'host'})")
    print(f"function:                 {called:8.3f}  ({called - updated:.3f} more)")


if __name__ == "__main__":
    main()

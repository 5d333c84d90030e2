#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the first call of a smoothing filter in a new process, and the first call with another sigma, for this module
and CuPy.

usage: first_call.py --output first_call.json [--side 256]

The filters run on the GPU, from NumPy array to NumPy array. Needs the Python package itk-cudafilters and CuPy. The time
of `import` is not counted. CuPy's folder of compiled kernels is empty at the start of its process.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SIGMAS = (4.0, 6.0)
KEYS = ("first", "again", "new_sigma", "new_sigma_again")
# Defines smooth(array, sigma) and name_device(). The latter is called last, because it may initialize the driver.
LIBRARIES = {
    "this module": """\
        import itk, itk_cudafilters
        itk.CudaFiltersConfiguration.SetBackend("cuda")
        def name_device():
            return itk_cudafilters.info().devices[0].name
        def smooth(array, sigma):
            return itk.cuda_smoothing_recursive_gaussian_image_filter(array, sigma=sigma)
        """,
    "CuPy": """\
        import cupy
        from cupyx.scipy.ndimage import gaussian_filter
        def name_device():
            return cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        def smooth(array, sigma):
            return cupy.asnumpy(gaussian_filter(cupy.asarray(array), sigma, mode="nearest"))
        """,
}
TIMING = """
import json, time
import numpy
array = numpy.random.default_rng(1).random(3 * ({side},), dtype=numpy.float32)
times = []
for sigma in {sigmas}:
    for _ in range(2):
        begin = time.perf_counter()
        smooth(array, sigma)
        times.append(1e3 * (time.perf_counter() - begin))
print(json.dumps(dict(device=name_device(), times=times)))
"""


def measure(library, side):
    """Runs a new Python process and returns its answer: the device's name and the times of KEYS in milliseconds."""
    lines = [line[8:] for line in LIBRARIES[library].splitlines()]
    program = "\n".join(lines) + TIMING.format(side=side, sigmas=SIGMAS)
    with tempfile.TemporaryDirectory() as cache:
        process = subprocess.run(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, env=dict(os.environ, CUPY_CACHE_DIR=cache), check=False
        )
    if process.returncode:
        raise SystemExit(f"error: the program for {library} ended with exit status {process.returncode}")
    return json.loads(process.stdout.decode().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--side", type=int, default=256, help="of the cube in pixels (default: %(default)s)")
    arguments = parser.parse_args()
    answers = {library: measure(library, arguments.side) for library in LIBRARIES}
    record = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": answers["this module"]["device"],
        "side": arguments.side,
        "sigmas": SIGMAS,
        "rows": [{"library": library, **dict(zip(KEYS, answer["times"]))} for library, answer in answers.items()],
    }
    arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for row in record["rows"]:
        print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the start of the Python package: its import, the command's help, the first call of a smoothing filter in a new
process, and the first call with another sigma, for this module and CuPy.

usage: first_call.py --output first_call.json [--backend cuda|host] [--side 256]

The filters run from NumPy array to NumPy array, with `--backend host` without CuPy. Needs the Python package
itk-cudafilters; the row "this module" also needs its classes and itk, and is left out without. The time of `import` is
not counted in the rows, but in "startup": processor seconds of whole processes, the least of several. CuPy's folder of
compiled kernels is empty at the start of its process.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SIGMAS = (4.0, 6.0)
KEYS = ("first", "again", "new_sigma", "new_sigma_again")
# Defines smooth(array, sigma) and name_device(). The latter is called last, because it may initialize the driver.
LIBRARIES = {
    "this module": """\
        import itk, itk_cudafilters
        itk.CudaFiltersConfiguration.SetBackend("{backend}")
        def name_device():
            return next((device.name for device in itk_cudafilters.info().devices), "host")
        def smooth(array, sigma):
            return itk.cuda_smoothing_recursive_gaussian_image_filter(array, sigma=sigma)
        """,
    "this module, arrays": """\
        import itk_cudafilters
        def name_device():
            return next((device.name for device in itk_cudafilters.info().devices), "host")
        def smooth(array, sigma):
            return itk_cudafilters.gaussian_filter(array, sigma, mode="nearest", backend="{backend}")
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


STARTS = {
    "python": ["-c", ""],
    "numpy": ["-c", "import numpy"],
    "itk_cudafilters": ["-c", "import itk_cudafilters"],
    "first filter on the host": ["-c", "import numpy, itk_cudafilters as i; i.gaussian_filter(numpy.ones((64, 64)), 2.0, backend='host')"],
    "itk-cudafilters --help": ["-m", "itk_cudafilters", "--help"],
}


def measure_start(arguments, repetitions=7):
    """Returns the processor seconds of a process, which other load of the machine changes little: the least of the
    repetitions, so that its files are in the system's cache."""
    times = []
    for _ in range(repetitions):
        process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"error: {' '.join(arguments)} ended with exit status {process.returncode}")
        times.append(usage.ru_utime + usage.ru_stime)
    return round(min(times), 3)


def measure(library, side, backend):
    """Runs a new Python process and returns its answer: the device's name and the times of KEYS in milliseconds. Returns
    None without the packages."""
    lines = [line[8:] for line in LIBRARIES[library].replace("{backend}", backend).splitlines()]
    program = "\n".join(lines) + TIMING.format(side=side, sigmas=SIGMAS)
    with tempfile.TemporaryDirectory() as cache:
        process = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ, CUPY_CACHE_DIR=cache), check=False
        )
    if process.returncode and "Error: " in process.stderr and "itk" in process.stderr.splitlines()[-1] and library == "this module":
        return None
    if process.returncode:
        raise SystemExit(f"error: the program for {library} ended with exit status {process.returncode}: {process.stderr}")
    return json.loads(process.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--backend", choices=("cuda", "host"), default="cuda", help="default: %(default)s")
    parser.add_argument("--side", type=int, default=256, help="of the cube in pixels (default: %(default)s)")
    arguments = parser.parse_args()
    libraries = [library for library in LIBRARIES if arguments.backend == "cuda" or library != "CuPy"]
    answers = {library: measure(library, arguments.side, arguments.backend) for library in libraries}
    answers = {library: answer for library, answer in answers.items() if answer is not None}
    record = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": answers["this module, arrays"]["device"],
        "side": arguments.side,
        "sigmas": SIGMAS,
        "startup": {name: measure_start(command) for name, command in STARTS.items()},
        "rows": [{"library": library, **dict(zip(KEYS, answer["times"]))} for library, answer in answers.items()],
    }
    arguments.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for row in (record["startup"], *record["rows"]):
        print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())

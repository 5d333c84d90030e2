#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times this module and other libraries on the same machine in the same run, and writes a report as JSON,
which records.py adds to benchmarks/records/GPU/peers.json.

usage: peers.py PATH/TO/gaussian_benchmark --output peers.json

Resident: images that lie on the GPU; medians of event samples. Host to host: from an ordinary array to an ordinary
array, medians of wall-clock samples after a warm-up. Libraries that cannot be imported are left out and named in the
record with the reason, and so are rows for which no time was left. Needs Python 3.8; NumPy for the peers.
"""

import argparse
import datetime
import functools
import importlib
import json
import math
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

# The rows of gaussian_benchmark, in this order until the time is over; each group is a call of its own, because a call
# that runs out of time leaves no report.
MAIN_SIGMAS = "(400|6400)"
GROUPS = {
    "resident": f"^resident/x:.*/sigma_percent:{MAIN_SIGMAS}/",
    "smoothing": "^host_to_host/(smoothing|pinned)/",
    "resident_large": "^resident/x:.*/sigma_percent:(2000|25000|50000)/",
    "resident_family": "^resident/(gradient|magnitude|laplacian|hessian|one_axis)/",
    "sweep_sigmas": "^sweep/sigmas/",
    "sweep_sides": "^sweep/sides/.*/z:1/",
    "resident_discrete": "^resident/discrete/",
    "resident_partitioned": "^resident/partitioned/",
    "sweep_cubes": "^sweep/sides/.*/z:1[0-9]+/",
    "itk_smoothing": "^itk/smoothing/",
    "family": "^(host_to_host|itk)/(one_axis|magnitude|laplacian|gradient|hessian)/",
    "partitioned": "^(host_to_host|host)/partitioned/",
    "discrete": "^(host_to_host|itk)/discrete/",
    "resident_small": "^resident/x:.*/sigma_percent:(50|100)/",
}
SAMPLES = 9


class Budget:
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def left(self):
        return self.end - time.monotonic()


def measure(run, budget, synchronise=lambda: None, samples=SAMPLES):
    """Returns the median wall-clock time in milliseconds, or None if no time is left. Slow functions run less often."""
    if budget.left() <= 0:
        return None
    run()  # warm up, because the library may initialize or compile
    synchronise()
    begin = time.perf_counter()
    run()
    synchronise()
    first = time.perf_counter() - begin
    if first > 2.0:
        return first * 1e3
    times = []
    for _ in range(max(3, min(samples, int(1.0 / max(first, 1e-6))))):
        begin = time.perf_counter()
        run()
        synchronise()
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def measure_events(run, make_event, elapsed, budget):
    """Returns the median time in milliseconds by events. `make_event()` returns an event with record() and
    synchronize()."""
    if budget.left() <= 0:
        return None
    run()
    run()
    begin, end = make_event(), make_event()
    begin.record()
    run()
    end.record()
    end.synchronize()
    first = elapsed(begin, end)
    repeat = 4 if first < 50 else 1
    times = []
    for _ in range(max(3, min(SAMPLES, int(1000 / (repeat * max(first, 1e-3)))))):
        begin.record()
        for _ in range(repeat):
            run()
        end.record()
        end.synchronize()
        times.append(elapsed(begin, end) / repeat)
    return statistics.median(times)


class Rows:
    """Rows {library, filter, where, dimension, side, sigma, ms}, or a reason instead of ms."""

    def __init__(self, library):
        self.library = library
        self.rows = []

    def add(self, name, where, dimension, side, sigma, function, **extra):
        row = {"library": self.library, "filter": name, "where": where, "dimension": dimension, "side": side}
        row.update(sigma=sigma, **extra)
        try:
            ms = function()
            row.update({"ms": ms} if ms is not None else {"left_out": "no time left"})
        except Exception as error:  # record the failure of a peer and go on
            row["left_out"] = f"{type(error).__name__}: {error}"[:200]
        self.rows.append(row)
        print(json.dumps(row), flush=True)


@functools.lru_cache(maxsize=2)
def random_image(dimension, side):
    """Returns an image of a repeated random block, because random numbers for gigabytes would take longer than the
    measurement."""
    import numpy

    block = numpy.random.default_rng(1).random(1 << 20, dtype=numpy.float32)
    return numpy.resize(block, (side,) * dimension)


SMALL_IMAGES = ((2, 128), (2, 256), (2, 512), (2, 1024), (2, 2048))


def run_cupy(budget):
    import cupy
    from cupyx.scipy import ndimage

    rows = Rows("CuPy")
    filters = {
        "smoothing": ndimage.gaussian_filter,
        "magnitude": ndimage.gaussian_gradient_magnitude,
        "laplacian": ndimage.gaussian_laplace,
    }

    def resident(name, dimension, side, sigma, **options):
        image = cupy.asarray(random_image(dimension, side))
        output = cupy.empty_like(image)

        def run():
            filters[name](image, sigma, output=output, mode="nearest", **options)

        return measure_events(run, cupy.cuda.Event, cupy.cuda.get_elapsed_time, budget)

    def host_to_host(name, dimension, side, sigma):
        image = random_image(dimension, side)
        return measure(lambda: cupy.asnumpy(filters[name](cupy.asarray(image), sigma, mode="nearest")), budget)

    def add(where, function, name, dimension, side, sigma, **extra):
        rows.add(name, where, dimension, side, sigma, lambda: function(name, dimension, side, sigma), **extra)
        cupy.get_default_memory_pool().free_all_blocks()

    # What the report's goals need comes first.
    for dimension, side in ((2, 8192), (3, 512), *SMALL_IMAGES):
        add("host_to_host", host_to_host, "smoothing", dimension, side, 4.0)
    for sigma in (4.0, 64.0, 1.0, 16.0):
        for dimension, side in ((2, 8192), (3, 512)):
            add("resident", resident, "smoothing", dimension, side, sigma)
    for dimension, side in ((2, 256), (2, 1024), (2, 4096), (2, 16384), (3, 64), (3, 256)):
        for sigma in (4.0, 64.0):
            add("resident", resident, "smoothing", dimension, side, sigma)
    for dimension, side in ((2, 4096), (3, 64), (3, 256), (2, 16384)):
        add("host_to_host", host_to_host, "smoothing", dimension, side, 4.0)
    for name in ("magnitude", "laplacian"):
        add("resident", resident, name, 3, 256, 4.0)
        add("resident", resident, name, 3, 512, 4.0)
        add("host_to_host", host_to_host, name, 3, 256, 4.0)
    # The convolution of equal radius as resident/discrete: truncate * sigma + 0.5, rounded down, is the radius.
    for dimension, side, sigma, radius in ((2, 4096, 1.0, 5), (3, 256, 1.0, 5), (2, 4096, 4.0, 16), (3, 256, 4.0, 16)):
        rows.add(
            "discrete",
            "resident",
            dimension,
            side,
            sigma,
            lambda: resident("smoothing", dimension, side, sigma, truncate=radius / sigma),
            radius=radius,
        )
    for sigma in (0.5, 2.0, 8.0, 32.0, 128.0, 250.0):
        add("resident", resident, "smoothing", 2, 8192, sigma)
    for sigma in (0.5, 2.0, 8.0, 32.0):
        add("resident", resident, "smoothing", 3, 512, sigma)
    return rows.rows


def run_torch(budget):
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("no CUDA device")
    rows = Rows("PyTorch")

    def weights(sigma):
        radius = int(4.0 * sigma + 0.5)
        x = torch.arange(-radius, radius + 1, dtype=torch.float64)
        kernel = torch.exp(-0.5 * (x / sigma) ** 2)
        return (kernel / kernel.sum()).float().cuda(), radius

    def filtering(dimension, sigma):
        kernel, radius = weights(sigma)
        convolve = torch.nn.functional.conv2d if dimension == 2 else torch.nn.functional.conv3d

        def run(image):
            for axis in range(dimension):
                shape = [1] * (dimension + 2)
                shape[axis + 2] = kernel.numel()
                padding = [0] * (2 * dimension)
                place = 2 * (dimension - 1 - axis)
                padding[place] = padding[place + 1] = radius
                image = torch.nn.functional.pad(image, padding, mode="replicate")
                image = convolve(image, kernel.view(shape))
            return image

        return run

    def resident(dimension, side, sigma):
        image = torch.from_numpy(random_image(dimension, side)).cuda()[None, None]
        filter_image = filtering(dimension, sigma)

        def event():
            return torch.cuda.Event(enable_timing=True)

        with torch.inference_mode():
            return measure_events(lambda: filter_image(image), event, lambda a, b: a.elapsed_time(b), budget)

    def host_to_host(dimension, side, sigma):
        image = torch.from_numpy(random_image(dimension, side))
        filter_image = filtering(dimension, sigma)
        with torch.inference_mode():
            return measure(lambda: filter_image(image.cuda()[None, None]).cpu(), budget)

    for dimension, side in ((2, 1024), (2, 4096), (2, 8192), (3, 256), (3, 512)):
        rows.add("smoothing", "resident", dimension, side, 4.0, lambda: resident(dimension, side, 4.0))
        rows.add("smoothing", "host_to_host", dimension, side, 4.0, lambda: host_to_host(dimension, side, 4.0))
        torch.cuda.empty_cache()
    rows.add("smoothing", "resident", 2, 8192, 64.0, lambda: resident(2, 8192, 64.0))
    torch.cuda.empty_cache()
    return rows.rows


def run_opencv(budget):
    import cv2

    rows = Rows("OpenCV (CPU)")

    def filtering(side, sigma):
        image = random_image(2, side)
        size = 2 * int(4.0 * sigma + 0.5) + 1
        return measure(lambda: cv2.GaussianBlur(image, (size, size), sigma, borderType=cv2.BORDER_REPLICATE), budget)

    for sigma, sides in ((4.0, (256, 1024, 4096, 8192, 16384)), (64.0, (256, 1024, 4096))):
        for side in sides:
            rows.add("smoothing", "host_to_host", 2, side, sigma, lambda: filtering(side, sigma))
    return rows.rows


def run_scipy(budget):
    from scipy import ndimage

    rows = Rows("SciPy")
    for dimension, side in ((2, 256), (2, 1024), (2, 4096), (3, 64), (3, 128), (3, 256)):
        image = random_image(dimension, side)

        def run():
            ndimage.gaussian_filter(image, 4.0, mode="nearest")

        rows.add("smoothing", "host_to_host", dimension, side, 4.0, lambda: measure(run, budget, samples=3))
    return rows.rows


def run_skimage(budget):
    """Times 50 iterations of scikit-image's two-region level sets, a comparable method, on a bright disc in noise."""
    import numpy
    from skimage import segmentation

    rows = Rows("scikit-image")
    for side in (256, 512, 1024):
        y, x = numpy.mgrid[:side, :side] - side / 2
        image = (numpy.hypot(x, y) < side / 4) + numpy.random.default_rng(1).normal(0, 0.25, (side, side))
        functions = {
            "chan_vese": lambda: segmentation.chan_vese(image, max_num_iter=50, tol=0),
            "morphological_chan_vese": lambda: segmentation.morphological_chan_vese(image, 50),
        }
        for name, run in functions.items():
            rows.add(name, "host_to_host", 2, side, None, lambda: measure(run, budget, samples=3), iterations=50)
    return rows.rows


PEERS = {
    "cupy": run_cupy,
    "torch": run_torch,
    "cv2": run_opencv,
    "scipy": run_scipy,
    "skimage": run_skimage,
}


def plain_name(name):
    """Returns the name of a row without the options that Google Benchmark appends."""
    return re.sub(r"/(real_time|manual_time|iterations:\d+|min_time:[^/]*)", "", name)


def milliseconds(row):
    """Returns the time of a row of Google Benchmark's report, or the reason why it has no time."""
    if row.get("error_occurred"):
        return row.get("error_message", "")
    return row["real_time"] * {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}[row["time_unit"]]


def compact(row):
    """Returns name, milliseconds and counters of a row of Google Benchmark's report, rounded to four significant
    digits."""
    known = {"name", "run_name", "run_type", "real_time", "cpu_time", "time_unit", "iterations", "repetitions"}
    known |= {"repetition_index", "threads", "family_index", "per_family_instance_index", "pixels_per_second"}
    name, ms = plain_name(row["name"]), milliseconds(row)
    if isinstance(ms, str):
        return {"name": name, "left_out": ms}
    figures = {"ms": ms}
    figures.update({key: value for key, value in row.items() if key not in known and isinstance(value, (int, float))})
    rounded = {key: float(f"{value:.4g}") for key, value in figures.items() if not math.isnan(value)}
    return {"name": name, **rounded}


def run_module(program, budget, groups, record):
    for group in groups:
        if budget.left() <= 1:
            record["left_out"].append({"rows": group, "reason": "no time left"})
            continue
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            options = [f"--benchmark_filter={GROUPS[group]}", f"--benchmark_out={report}", "--benchmark_out_format=json"]
            try:
                subprocess.run(
                    [program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=budget.left(), check=True
                )
                rows = json.loads(report.read_text(encoding="utf-8"))["benchmarks"]
            except (subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
                record["left_out"].append({"rows": group, "reason": f"{type(error).__name__}: {error}"[:300]})
                print(f"{group} is left out: {error}", flush=True)
                continue
        print(f"{group}: {len(rows)} rows in {time.monotonic() - begin:.1f} s", flush=True)
        record["module"] += [compact(row) for row in rows]


def describe_machine():
    def query(command):
        try:
            return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode().strip()
        except (OSError, subprocess.CalledProcessError):
            return ""

    gpu = query(["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]).split(", ")
    processor = ""
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            processor = line.split(":", 1)[1].strip()
            break
    return {
        "device": gpu[0],
        "driver": gpu[1] if len(gpu) > 1 else "",
        "compute_capability": gpu[2] if len(gpu) > 2 else "",
        "processor": processor,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def write_record(path, record):
    """Writes a record with one row per line, so that diffs are readable."""
    parts = []
    for key, value in record.items():
        if isinstance(value, list) and value:
            text = "[\n  " + ",\n  ".join(json.dumps(row) for row in value) + "\n ]"
        else:
            text = json.dumps(value)
        parts.append(f" {json.dumps(key)}: {text}")
    pathlib.Path(path).write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def find_commit(program, given):
    """Returns the commit that the program was built from: the given one, the one that the bundle records, or the
    working tree's."""
    if given:
        return given
    source = pathlib.Path(program).resolve().parent.parent / "data/source.json"
    if source.exists():
        return json.loads(source.read_text(encoding="utf-8"))["commit"]
    here = pathlib.Path(__file__).resolve().parent
    try:
        command = ["git", "-C", str(here), "rev-parse", "HEAD"]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built gaussian_benchmark, or - for the peers alone")
    parser.add_argument("--output", default="peers.json", help="the report (default: %(default)s)")
    parser.add_argument("--peers", default=",".join(PEERS), help="which, by module name (default: all)")
    parser.add_argument("--rows", default=",".join(GROUPS), help="which rows of the program (default: %(default)s)")
    parser.add_argument("--peer-time", type=float, default=60, metavar="S", help="of each peer (default: %(default)s)")
    parser.add_argument("--time", type=float, default=280, metavar="S", help="of the program (default: %(default)s)")
    parser.add_argument("--commit", default="", help="the commit the program was built from")
    arguments = parser.parse_args()

    record = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": find_commit(arguments.program, arguments.commit),
        "machine": describe_machine(),
        "versions": {},
        "module": [],
        "peers": [],
        "left_out": [],
    }

    def save():
        write_record(arguments.output, record)

    if arguments.program != "-":
        run_module(arguments.program, Budget(arguments.time), arguments.rows.split(","), record)
        save()
    for name in filter(None, arguments.peers.split(",")):
        try:
            record["versions"][name] = importlib.import_module(name).__version__
            record["peers"] += PEERS[name](Budget(arguments.peer_time))
        except Exception as error:  # not installed or broken on this machine: report it and go on
            record["left_out"].append({"library": name, "reason": f"{type(error).__name__}: {error}"[:300]})
            print(f"{name} is left out: {error}", flush=True)
        save()
    print(f"record: {arguments.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

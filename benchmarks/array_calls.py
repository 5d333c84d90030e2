#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures calls of itk_cudafilters with arrays of CuPy and torch in GPU memory, and compares them with goals.

    python benchmarks/array_calls.py --output array-calls.json

Times are medians. The kernels of a call are timed with events while the stream is held back, so that no kernel waits
for the host. The overhead of a call is the time of 20 calls and of the wait for them, minus the time of their kernels;
"until it returns" is the time of the calls without the wait. cupyx.scipy.ndimage.gaussian_filter() is measured for
comparison, with the mode nearest. With --traffic-library, CUPTI counts transfers over the link (lib/libcuda_traffic.so
of scripts/bundle.sh). The exit status is 1 if a goal is missed, and 77 if neither CuPy nor torch is available.
"""
import argparse
import ast
import functools
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import itk
import numpy as np

import itk_cudafilters
from itk_cudafilters import gaussian_filter

CALLS = 20  # between two waits
ROUNDS = 11  # at least
SECONDS = 1.0  # of the rounds of a row, at least: the host has slow moments
SIDES = (64, 128, 256, 512)
SIGMA = 4.0
RESIDENT = {"mode": "nearest", "approximation": "deriche", "preserve_nan": False}
KINDS = {
    "deriche, nearest": RESIDENT,
    "accurate, reflect": {"preserve_nan": False},
    "accurate, reflect, looks for NaN": {},
}
SKIPPED = 77


class Torch:
    name = "torch"

    def __init__(self):
        self.package = importlib.import_module("torch")
        self.package.cuda.init()

    def random(self, shape):
        return self.package.rand(shape, device="cuda", dtype=self.package.float32)

    def synchronize(self):
        self.package.cuda.synchronize()

    def hold(self):
        self.package.cuda._sleep(20_000_000)

    def event(self):
        event = self.package.cuda.Event(enable_timing=True)
        event.record()
        return event

    def milliseconds(self, first, last):
        return first.elapsed_time(last)

    def allocated(self):
        return self.package.cuda.memory_allocated()

    def pointer(self, array):
        return array.data_ptr()

    def mask(self, shape):
        return self.package.rand(shape, device="cuda") < 0.5


class Cupy:
    name = "cupy"

    def __init__(self):
        self.package = importlib.import_module("cupy")
        self.package.zeros(1)
        self._wait = self.package.RawKernel(
            'extern "C" __global__ void hold(long long cycles) { const long long begin = clock64(); while (clock64() - begin < cycles); }',
            "hold",
        )

    def random(self, shape):
        return self.package.random.random(shape, dtype=self.package.float32)

    def synchronize(self):
        self.package.cuda.Device().synchronize()

    def hold(self):
        self._wait((1,), (1,), (np.int64(20_000_000),))

    def event(self):
        event = self.package.cuda.Event()
        event.record()
        return event

    def milliseconds(self, first, last):
        return self.package.cuda.get_elapsed_time(first, last)

    def allocated(self):
        return self.package.get_default_memory_pool().used_bytes()

    def pointer(self, array):
        return array.data.ptr

    def mask(self, shape):
        return self.package.random.random(shape) < 0.5


def packages():
    found = []
    for kind in (Cupy, Torch):
        try:
            found.append(kind())
        except Exception as error:  # any error that prevents a package from using its GPU
            print(f"without {kind.name}: {type(error).__name__}: {error}")
    return found


class Goals:
    def __init__(self):
        self.found = []

    def add(self, goal, measured, unit, limit=None, at_least=False, stretch=None, **more):
        met = None if limit is None else bool(measured >= limit if at_least else measured <= limit)
        self.found.append({"goal": goal, "measured": measured, "unit": unit, "limit": limit, "stretch": stretch, "met": met, **more})
        wanted = "" if limit is None else f"  ({'at least' if at_least else 'at most'} {limit:g})"
        print(f"{'' if met is None else 'met   ' if met else 'MISSED':6} {goal}: {measured:.6g} {unit}{wanted}", flush=True)


def kernel_round(package, call):
    """Returns the milliseconds of the kernels of a call, which run without gaps."""
    package.synchronize()
    package.hold()
    first = package.event()
    for _ in range(CALLS):
        call()
    last = package.event()
    package.synchronize()
    return package.milliseconds(first, last) / CALLS


def call_round(package, call):
    """Returns the milliseconds of a call until it returns, and including its share of the wait."""
    package.synchronize()
    begin = time.perf_counter()
    for _ in range(CALLS):
        call()
    returned = time.perf_counter()
    package.synchronize()
    return 1e3 * (returned - begin) / CALLS, 1e3 * (time.perf_counter() - begin) / CALLS


def medians(run_round):
    """Runs rounds in turn and returns the medians of their results."""
    rounds, end = [], time.perf_counter() + SECONDS
    while len(rounds) < ROUNDS or time.perf_counter() < end:
        rounds.append(run_round())
    return [statistics.median(times) for times in zip(*rounds)]


def busy_time(package, call):
    """Returns the milliseconds from the start of a call's first kernel to the end of its last. The stream is not held
    back, because the call itself waits."""
    times = []
    for _ in range(ROUNDS):
        package.synchronize()
        first = package.event()
        call()
        last = package.event()
        package.synchronize()
        times.append(package.milliseconds(first, last))
    return statistics.median(times)


def measure_calls(package, goals):
    array = package.random((SIDES[0],) * 3)
    for _ in range(5000):  # warm up, until processor and GPU reach their clock rates
        gaussian_filter(array, SIGMA, **RESIDENT)
    for side in SIDES:
        array = package.random((side,) * 3)
        for kind, parameters in KINDS.items():
            call = functools.partial(gaussian_filter, array, SIGMA, **parameters)
            call()
            waits = parameters.get("preserve_nan", True)
            alone = functools.partial(call, preserve_nan=False)
            # Run in turns, because the clock rate of the GPU changes.
            kernels, returned, waited = medians(lambda: (kernel_round(package, alone), *call_round(package, call)))
            if waits and side == SIDES[-1]:
                # The search for NaN also is a kernel. For smaller arrays it takes less time than the launches.
                kernels = max(kernels, busy_time(package, call))
            name = f"{package.name}, {side}^3, {kind}"
            goals.add(f"{name}: host time of a call", 1e3 * max(0.0, waited - kernels), "us", 50.0, stretch=20.0, kernels_ms=kernels)
            if not waits:
                goals.add(f"{name}: until it returns", 1e3 * returned, "us")
            if side == SIDES[-1]:
                over = 100 * (waited / kernels - 1)
                goals.add(f"{name}: over its kernels", over, "%", 3.0, stretch=1.0, call_ms=waited)


def measure_cupyx(package, goals):
    """Measures cupyx, which needs only CuPy."""
    filters = importlib.import_module("cupyx.scipy.ndimage")
    array = package.random((SIDES[-1],) * 3)
    beside = functools.partial(filters.gaussian_filter, array, SIGMA, mode="nearest")
    beside()
    theirs = medians(lambda: call_round(package, beside))[1]
    for approximation, limit in (("deriche", 8.0), ("accurate", None)):
        parameters = {**RESIDENT, "approximation": approximation}
        call = functools.partial(gaussian_filter, array, SIGMA, **parameters)
        call()
        ours = medians(lambda: call_round(package, call))[1]
        goals.add(f"{SIDES[-1]}^3, {approximation}: times as fast as cupyx", theirs / ours, "", limit, at_least=True, ours_ms=ours, cupyx_ms=theirs)
    new = {"itk_cudafilters": lambda sigma: gaussian_filter(array, sigma, **RESIDENT)}
    new["cupyx"] = lambda sigma: filters.gaussian_filter(array, sigma, mode="nearest")
    for name, call in new.items():
        more = []
        for i in range(7):
            times = []
            for _ in range(2):
                package.synchronize()
                begin = time.perf_counter()
                call(3.0 + 0.01 * i)
                package.synchronize()
                times.append(time.perf_counter() - begin)
            more.append(times[0] - times[1])
        goals.add(f"first call with a new sigma, {name}: more", 1e3 * statistics.median(more), "ms", 1.0 if name != "cupyx" else None)


def measure_modes(package, goals):
    array, mask = package.random((SIDES[-1],) * 3), package.mask((SIDES[-1],) * 3)
    call = functools.partial(gaussian_filter, array, SIGMA, **RESIDENT)
    calls = {mode: functools.partial(call, mode=mode) for mode in ("nearest", "reflect", "mirror", "wrap", "constant")}
    calls["valid_mask"] = functools.partial(call, valid_mask=mask)
    times = {name: [] for name in calls}
    for each in calls.values():
        each()
    for _ in range(15):  # in turns, as the clock of the GPU changes
        for name, each in calls.items():
            times[name].append(kernel_round(package, each))
    for name, found in times.items():
        milliseconds = statistics.median(found)
        if name != "nearest":
            what, limit = ("valid_mask over none", 2.2) if name == "valid_mask" else (f"mode {name} over nearest", 1.1)
            goals.add(f"{package.name}, {what}", milliseconds / statistics.median(times["nearest"]), "", limit, ms=milliseconds)


def measure_memory(package, goals, calls):
    array = package.random((65, 67))
    gaussian_filter(array, 2.0)
    before, ours = package.allocated(), itk.CudaFiltersConfiguration.GetDeviceBytesInUse()
    result = gaussian_filter(array, 2.0)
    expected = -(-65 * 67 * 4 // 512) * 512
    goals.add(f"{package.name}: bytes that a result takes, less its own", package.allocated() - before - expected, "bytes", 0)
    image = itk_cudafilters.from_dlpack(result)
    shared = package.package.from_dlpack(image)
    same = package.pointer(shared) == package.pointer(result)
    goals.add(f"{package.name}: pointers that DLPack changes", int(not same), "", 0)
    del result, image, shared

    def resident():
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(calls // 10):
        gaussian_filter(array, 2.0, preserve_nan=False)
    package.synchronize()
    begin = resident(), package.allocated()
    for i in range(calls):
        gaussian_filter(array, 2.0 + 1e-5 * (i // 20), preserve_nan=False)
        if i % 1000 == 0:
            package.synchronize()
    package.synchronize()
    goals.add(f"{package.name}: memory of the host after {calls} calls, more", (resident() - begin[0]) / 2**20, "MiB", 8.0)
    goals.add(f"{package.name}: memory of the package after {calls} calls, more", package.allocated() - begin[1], "bytes", 0)
    more = itk.CudaFiltersConfiguration.GetDeviceBytesInUse() - ours
    goals.add(f"{package.name}: memory of the module in use after {calls} calls, more", more, "bytes", 0)


def lazy_attributes_of_itk():
    """Returns the function by which `import itk` adds the names of a module. It is local to another function of itk."""
    source = pathlib.Path(itk.__file__).read_text()
    found = [each for each in ast.walk(ast.parse(source)) if getattr(each, "name", "") == "_get_lazy_attributes"]
    module = ast.Module(body=found, type_ignores=[])
    names = {"_builtin_set": set, "ITKModuleInfo": itk.support.base.ITKModuleInfo}
    exec(compile(module, itk.__file__, "exec"), names)
    return names["_get_lazy_attributes"]


def measure_import(goals, rounds=100):
    """Measures the work of `import itk` for this package, by running ITK's own code in this process, and returns the
    minimum of all rounds. Imports in new processes vary more: the medians of 300 pairs were -1, 6 and 9 ms on one
    machine."""
    name = "CudaFilters"
    modules = itk.support.base.itk_base_global_module_data
    get_lazy_attributes = lazy_attributes_of_itk()

    def read():
        for part in ("Config", "_snake_case"):
            sys.modules.pop(f"itk.Configuration.{name}{part}", None)
        itk.support.base.ITKModuleInfo(f"{name}Config.py", f"{name}_snake_case.py")

    def enter(without):
        of_all = {}
        for module, data in modules.items():
            if module != without:
                get_lazy_attributes(of_all, module, data)
                get_lazy_attributes({}, module, data)

    def milliseconds(call):
        begin = time.perf_counter()
        call()
        return 1e3 * (time.perf_counter() - begin)

    times = {"read": [], "with": [], "without": []}
    for _ in range(rounds):
        times["read"].append(milliseconds(read))
        times["with"].append(milliseconds(functools.partial(enter, None)))
        times["without"].append(milliseconds(functools.partial(enter, name)))
    least = {kind: min(found) for kind, found in times.items()}
    more = least["read"] + least["with"] - least["without"]
    goals.add("import itk, more than without the package", more, "ms", 2.0, least_ms=least)


TRAFFIC = """
import sys
import {name}
from itk_cudafilters import gaussian_filter
array = {make}
result = gaussian_filter(array, 2.0)
result = gaussian_filter(result, 2.0, mode="wrap")
print(float(result.max()) > 0)
"""


def measure_traffic(package, goals, library):
    make = {"torch": 'torch.rand((256, 256, 256), device="cuda")', "cupy": "cupy.random.random((256, 256, 256), dtype=cupy.float32)"}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "traffic.json"
        environment = dict(os.environ, CUDA_TRAFFIC_FILE=str(file), CUDA_INJECTION64_PATH=str(library))
        program = TRAFFIC.format(name=package.name, make=make[package.name])
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode or not file.exists():
            print(f"{package.name}: no count of the link: {done.stderr.strip()[-300:]}")
            return
        counts = json.loads(file.read_text())
    if counts["error"] or counts["lost_records"]:
        print(f"{package.name}: no count of the link: {counts['error'] or 'lost records'}")
        return
    for direction in ("host_to_device", "device_to_host"):
        goals.add(f"{package.name} to {package.name}, two calls, {direction}", counts[direction]["bytes"], "bytes", 65535)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE", help="the report, which records.py adds to records/GPU/array_calls.json")
    parser.add_argument("--calls", type=int, default=100_000, metavar="N", help="with flat memory (default: %(default)s)")
    parser.add_argument("--traffic-library", type=pathlib.Path, metavar="FILE", help="libcuda_traffic.so")
    arguments = parser.parse_args()
    machine = itk_cudafilters.info()
    if not machine.gpu_usable:
        print(f"no GPU: {machine.reason}")
        return SKIPPED
    goals = Goals()
    measure_import(goals)
    found = packages()
    for package in found:
        measure_calls(package, goals)
        if package.name == "cupy":
            measure_cupyx(package, goals)
        measure_modes(package, goals)
        measure_memory(package, goals, arguments.calls)
        if arguments.traffic_library:
            measure_traffic(package, goals, arguments.traffic_library.resolve())
        if arguments.output:
            versions = {each.name: each.package.__version__ for each in found}
            record = {"machine": str(machine), "versions": {**versions, "numpy": np.__version__}, "goals": goals.found}
            arguments.output.write_text(json.dumps(record, indent=1) + "\n")
    if not found:
        return SKIPPED
    return int(any(goal["met"] is False for goal in goals.found))


if __name__ == "__main__":
    sys.exit(main())

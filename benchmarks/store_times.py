#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times smoothing of stores of Zarr by the command, beside reading and writing the same store, and pyramids and lazy arrays beside
other packages.

usage: store_times.py [--size 12] [--folder /dev/shm] [--output store-times.json]

All is measured in one process, in three parts. `store` makes an uncompressed store of float pixels, smooths it by the command
itk-cudafilters alone and with --scheduler threads, and copies it by zarr with as many threads; the rows alternate, and each is the
best of its rounds. The ratio is the time of the copy over that of the filter: 1 would be a filter that costs nothing beside reading
and writing. `lazy` smooths an array of Dask by this package and by dask-image. `pyramid` calls ngff_zarr.to_multiscales() with its
default method, with this package's entry point and without it. A part whose package is missing, or whose store finds no room, is
left out, and its reason printed.

Needs the packages zarr and dask; dask-image and ngff-zarr for their parts. Files and memory: twice --size in --folder, and as much
memory as the filter takes (docs/user/clusters.md).
"""
import argparse
import contextlib
import functools
import hashlib
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import itk_cudafilters
from itk_cudafilters._command import main as command

CHUNK = 128  # planes, in which the filter reads and writes
SIGMA = 4.0


class Table:
    """Rows of a name, its seconds, its rate in millions of pixels a second, and other facts."""

    def __init__(self):
        self.rows = []

    def add(self, part, name, seconds, pixels, **facts):
        row = {"part": part, "name": name, "seconds": float(f"{seconds:.4g}"), "megapixels_per_second": float(f"{pixels / seconds / 1e6:.4g}")}
        self.rows.append(row | facts)
        text = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in facts.items())
        print(f"{part:8} {name:44} {row['seconds']:9.4g} s {row['megapixels_per_second']:9.4g} Mpixel/s  {text}", flush=True)


def seconds_of(call):
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def fill(array):
    """Writes noise that differs from layer to layer, by all cores."""
    block = np.random.default_rng(1).random((CHUNK, *array.shape[1:]), np.float32)

    def write(first):
        array[first : first + CHUNK] = block[: array.shape[0] - first] + np.float32(first / array.shape[0])

    in_layers(array, write, os.cpu_count())


def in_layers(array, function, threads):
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(function, range(0, array.shape[0], CHUNK)))


def smooth(source, target, *options):
    """Runs the command and returns its report."""
    names = ["smooth", str(source), str(target), "--sigma", str(SIGMA), "--approximation", "accurate", "--report", "-", *options]
    text, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(errors):
        status = command(names)
    if status != 0:
        raise RuntimeError(f"itk-cudafilters {' '.join(names)}: status {status}: {errors.getvalue()}")
    return json.loads(text.getvalue()[text.getvalue().index("{") :])


def measure_store(table, options, folder):
    import dask
    import zarr

    planes = 1024 if options.size >= 2 else 256
    length = max(2, round(options.size * 1e9 / (4 * planes**2 * CHUNK))) * CHUNK
    shape = (length, planes, planes)
    free, needed = shutil.disk_usage(folder).free, 8.2 * np.prod(shape, dtype=float)
    if free < needed:
        raise OSError(f"{folder} has {free / 1e9:.3g} GB left; --size {options.size:g} needs {needed / 1e9:.3g} GB")
    names = {name: folder / f"{name}.zarr" for name in ("source", "copy", "command", "dask")}
    array = functools.partial(zarr.create_array, shape=shape, chunks=(64, 256, 256), dtype="float32", compressors=None)
    source = array(names["source"])
    print(f"store of {shape}, {source.nbytes / 1e9:.3g} GB, written in {seconds_of(lambda: fill(source))[0]:.3g} s", flush=True)

    def copy(threads):
        target = array(names["copy"])
        in_layers(source, lambda first: target.__setitem__(slice(first, first + CHUNK), source[first : first + CHUNK]), threads)
        return {}

    def by_dask(threads):
        with dask.config.set(num_workers=threads):
            return smooth(names["source"], names["dask"], "--backend", options.backend, "--scheduler", "threads")

    kinds = {"copy, 2 threads": lambda: copy(2), "command": lambda: smooth(names["source"], names["command"], "--backend", options.backend)}
    beside = {"command": "copy, 2 threads"}  # it reads with one thread and writes with another
    for threads in sorted({min(4, os.cpu_count()), os.cpu_count()}):
        copied, filtered = f"copy, {threads} threads", f"command, Dask's {threads} threads"
        kinds[copied], kinds[filtered] = functools.partial(copy, threads), functools.partial(by_dask, threads)
        beside[filtered] = copied
    best, digests = {}, {}
    compared = [CHUNK * at for at in sorted({0, length // CHUNK // 2, length // CHUNK - 1})]
    for _ in range(options.rounds):
        for name, call in kinds.items():
            with contextlib.suppress(OSError):
                pathlib.Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the most memory is that of this call
            seconds, report = seconds_of(call)
            print(f"{name}: {seconds:.3g} s", flush=True)
            best[name] = min(best.get(name, (seconds, report)), (seconds, report), key=lambda each: each[0])
            for made in ("copy", "command", "dask"):
                if names[made].exists():
                    written = zarr.open_array(names[made], mode="r")
                    digests[name] = [hashlib.sha256(written[at : at + CHUNK]).hexdigest() for at in compared]
                    shutil.rmtree(names[made])
    for name, (seconds, report) in best.items():
        facts = {"gigabytes_per_second": float(f"{2 * source.nbytes / seconds / 1e9:.3g}")}
        if name in beside:
            facts |= {"ratio": float(f"{best[beside[name]][0] / seconds:.3g}"), "backend": report["backend_used"],
                      "slabs": report["slabs"]["number_of_slabs"], "peak_gigabytes": float(f"{report['peak_memory'] / 1e9:.3g}")}
        table.add("store", name, seconds, source.size, **facts)
    if any(digests[name] != digests["command"] for name in beside):
        raise AssertionError("the results of the command with and without Dask differ")
    print(f"{len(compared)} chunks of {CHUNK} planes compared: with Dask and without the bits are the same", flush=True)


def measure_lazy(table, options, folder):
    import dask.array as da
    from dask_image import ndfilters

    side = options.side
    values = np.random.default_rng(2).random((side,) * 3, np.float32)

    def best_of(make):
        make().compute(scheduler="threads")
        return min((seconds_of(lambda: make().compute(scheduler="threads")) for _ in range(options.rounds)), key=lambda each: each[0])

    found = {}
    for name, chunks in (("cubes of 64", 64), ("cubes of 128", 128), ("planes", (16, side, side))):
        lazy = da.from_array(values, chunks=chunks, name=False)
        tasks = len(dict(ndfilters.gaussian_filter(lazy, SIGMA).__dask_graph__()))
        seconds, theirs = best_of(lambda: ndfilters.gaussian_filter(lazy, SIGMA))
        found[name] = seconds
        table.add("lazy", f"dask-image, {side}^3, {name}", seconds, values.size, tasks=tasks)
    lazy = da.from_array(values, chunks=64, name=False)
    result = itk_cudafilters.gaussian_filter(lazy, SIGMA, backend=options.backend)
    seconds, ours = best_of(lambda: itk_cudafilters.gaussian_filter(lazy, SIGMA, backend=options.backend))
    inner = (slice(5 * int(SIGMA), -5 * int(SIGMA)),) * 3
    table.add(
        "lazy", f"this package, {side}^3, cubes of 64", seconds, values.size, tasks=len(dict(result.__dask_graph__())),
        factor=float(f"{min(found.values()) / seconds:.3g}"), largest_difference=float(f"{np.abs(ours - theirs)[inner].max():.2g}"),
    )


def measure_pyramid(table, options, folder):
    import dask
    import dask.array as da
    import itkwasm
    import ngff_zarr
    from itkwasm import function_factory
    from itkwasm_downsample_wasi import downsample as webassembly
    from itk_cudafilters._downsample import downsample

    # The entry point is there if the package is installed; this registers the function in the same way otherwise.
    registered = function_factory.lookup("itkwasm_downsample", "downsample") or ()
    if downsample not in registered:
        function_factory.register("itkwasm_downsample", "downsample", downsample, 10)
    side = options.pyramid_side
    noise = np.random.default_rng(3).integers(0, 4000, (side // 4,) * 3, np.uint16)
    values = noise.repeat(4, 0).repeat(4, 1).repeat(4, 2)

    def make():
        data = da.from_array(values, chunks=options.pyramid_chunk, name=False)
        image = ngff_zarr.NgffImage(data, dims="zyx", scale=dict.fromkeys("zyx", 1.0), translation=dict.fromkeys("zyx", 0.0))
        made = ngff_zarr.to_multiscales(image, scale_factors=[2, 4], chunks=options.pyramid_chunk, cache=False)
        lazy = [each.data for each in made.images[1:]]
        return sum(len(dict(each.__dask_graph__())) for each in lazy), dask.compute(*lazy, scheduler="threads")

    best = {}
    for name, priority in (("itk_cudafilters", 10), ("WebAssembly", -1)):
        function_factory.set_priority(downsample, priority)
        for _ in range(options.rounds):
            seconds, (tasks, levels) = seconds_of(make)
            if name not in best or seconds < best[name][0]:
                best[name] = seconds, tasks, levels
    apart = [int(np.abs(a.astype(np.int32) - b).max()) for a, b in zip(best["itk_cudafilters"][2], best["WebAssembly"][2], strict=True)]
    for name, (seconds, tasks, _) in best.items():
        facts = {"tasks": tasks}
        if name == "itk_cudafilters":
            facts |= {"factor": float(f"{best['WebAssembly'][0] / seconds:.3g}"), "grey_levels_apart": apart}
        table.add("pyramid", f"to_multiscales, {side}^3 uint16, {name}", seconds, values.size, **facts)
    block = values[: options.pyramid_chunk + 8, : options.pyramid_chunk + 8, : options.pyramid_chunk + 8].astype(np.float32)
    image = itkwasm.image_from_array(block)
    for name, function in (("itk_cudafilters", downsample), ("WebAssembly", webassembly)):
        times = [seconds_of(lambda: function(image, shrink_factors=[2, 2, 2], crop_radius=[2, 2, 2]))[0] for _ in range(1 + options.rounds)]
        table.add("pyramid", f"one block of {len(block)}^3 float, {name}", min(times), block.size)


PARTS = {"store": measure_store, "lazy": measure_lazy, "pyramid": measure_pyramid}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=float, default=0.25, metavar="GB", help="of the store, in 10^9 bytes (default: %(default)s)")
    parser.add_argument("--side", type=int, default=128, metavar="N", help="of the lazy array (default: %(default)s)")
    parser.add_argument("--pyramid-side", type=int, default=128, metavar="N", help="of the pyramid's image (default: %(default)s)")
    parser.add_argument("--pyramid-chunk", type=int, default=64, metavar="N", help="of the pyramid's chunks (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="of which the best counts (default: %(default)s)")
    parser.add_argument("--folder", type=pathlib.Path, default="/dev/shm", help="for the stores (default: %(default)s)")
    parser.add_argument("--parts", default=",".join(PARTS), help="what to measure (default: %(default)s)")
    parser.add_argument("--backend", choices=("automatic", "cuda", "host"), default="automatic", help="default: %(default)s")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE.json", help="file for the rows")
    options = parser.parse_args()
    for name, least in (("size", 0.01), ("side", 64), ("pyramid_side", 32), ("pyramid_chunk", 16), ("rounds", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name.replace('_', '-')} is {getattr(options, name)}; it must be {least} or more")
    if not options.folder.is_dir():
        parser.error(f"--folder is '{options.folder}', which is no folder")
    parts = options.parts.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"--parts has '{unknown[0]}'; the parts are {', '.join(PARTS)}")

    small = np.zeros((32, 32, 32), np.float32)
    itk_cudafilters.gaussian_filter(small, 1.0, backend=options.backend)  # starts CUDA outside of the measured time
    info = itk_cudafilters.info()
    table, left_out = Table(), {}
    record = {"machine": {"device": info.devices[0].name if info.gpu_usable else "none", "cores": os.cpu_count()}, "size": options.size}

    def save():
        if options.output:
            options.output.write_text(json.dumps(record | {"rows": table.rows, "left_out": left_out}, indent=1) + "\n", encoding="utf-8")

    for part in parts:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            try:
                PARTS[part](table, options, pathlib.Path(folder))
            except (ImportError, OSError) as error:
                left_out[part] = str(error)
                print(f"{part:8} left out: {error}", flush=True)
        save()
    return 1 if left_out else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs unmodified programs on ITK's Gaussian filters and on this module's, and prints their times, the share of Gaussian filters
in them, and how far the results are apart.

usage: existing_programs.py --autoload FOLDER --clock libfilter_clock.so [--side 128] [--output programs.json]
       existing_programs.py --python [--side 128] [--output programs.json]

The first form runs Debian's elastix and plastimatch. FOLDER is that of libitkCudaFiltersAutoload.so, and the clock is built
from filter_clock.cxx with the other benchmarks. The second form calls the packages itk, itk-elastix and ngff-zarr in this process, and
needs itk-cudafilters with ITK's classes; there is no share, because the clock does not reach ITK inside of Python's modules. The
images are made of balls and noise. Each program runs in turns without and with the module; the shortest times count. Programs that
are not installed are named and left out. Needs NumPy.
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

PARAMETERS = """(FixedInternalImagePixelType "float")
(MovingInternalImagePixelType "float")
(FixedImageDimension 3)
(MovingImageDimension 3)
(UseDirectionCosines "true")
(Registration "MultiResolutionRegistration")
(FixedImagePyramid "FixedSmoothingImagePyramid")
(MovingImagePyramid "MovingSmoothingImagePyramid")
(Interpolator "BSplineInterpolator")
(ResampleInterpolator "FinalBSplineInterpolator")
(Resampler "DefaultResampler")
(Optimizer "AdaptiveStochasticGradientDescent")
(Transform "{transform}")
(Metric "AdvancedMattesMutualInformation")
(FinalGridSpacingInVoxels 16)
(AutomaticTransformInitialization "true")
(NumberOfResolutions 3)
(NumberOfHistogramBins 32)
(MaximumNumberOfIterations {iterations})
(NumberOfSpatialSamples 2048)
(ImageSampler "RandomCoordinate")
(NewSamplesEveryIteration "true")
(ResultImagePixelType "float")
(ResultImageFormat "mha")
(RandomSeed 1)
"""
STAGES = """[GLOBAL]
fixed=fixed.mha
moving=moving.mha
img_out=result.mha
img_out_type=float
[STAGE]
xform=rigid
impl=itk
optim=versor
metric=mse
max_its=20
res=2 2 2
"""


def write_metaimage(path, pixels):
    names = {"int16": "MET_SHORT", "float32": "MET_FLOAT"}
    header = f"ObjectType = Image\nNDims = 3\nDimSize = {' '.join(map(str, pixels.shape[::-1]))}\nBinaryData = True\nBinaryDataByteOrderMSB = False\n"
    header += f"ElementType = {names[pixels.dtype.name]}\nElementDataFile = LOCAL\n"
    path.write_bytes(header.encode() + pixels.tobytes())


def read_metaimage(path):
    header, _, pixels = path.read_bytes().partition(b"ElementDataFile = LOCAL\n")
    kind = {b"MET_SHORT": np.int16, b"MET_FLOAT": np.float32}[header.split(b"ElementType = ")[1].split()[0]]
    return np.frombuffer(pixels, kind)


def make_images(side):
    """Returns an image of soft balls in an ellipsoid, and the same moved by some pixels, each with noise of its own."""
    random = np.random.default_rng(1)
    z, y, x = np.meshgrid(*(np.linspace(-1.0, 1.0, side, dtype=np.float32),) * 3, indexing="ij", sparse=True)

    def soft(squares, radius):
        return 1.0 / (1.0 + np.exp(np.minimum((np.sqrt(squares) - radius) * (side / 2.0), 50.0)))

    image = 1000.0 * soft(1.2 * z * z + y * y + 1.5 * x * x, 0.8)
    for _ in range(40):
        centre, radius = random.uniform(-0.5, 0.5, 3), random.uniform(0.03, 0.15)
        image += random.uniform(-400.0, 400.0) * soft((z - centre[0]) ** 2 + (y - centre[1]) ** 2 + (x - centre[2]) ** 2, radius)
    return tuple(
        (np.roll(image, shift, (0, 1, 2)) + 20.0 * random.standard_normal(image.shape, np.float32)).astype(np.int16)
        for shift in ((0, 0, 0), (3, -4, 5))
    )


def programs(folder):
    """Returns the programs: what they are called here, their arguments, and the file with their result."""
    for name, transform, iterations in (("affine", "AffineTransform", 100), ("spline", "BSplineTransform", 250)):
        (folder / f"{name}.txt").write_text(PARAMETERS.format(transform=transform, iterations=iterations), encoding="ascii")
        (folder / name).mkdir()
    (folder / "stages.txt").write_text(STAGES, encoding="ascii")
    images = ("-f", "fixed.mha", "-m", "moving.mha")
    return (
        ("elastix, affine", ("elastix", *images, "-p", "affine.txt", "-out", "affine"), "affine/result.0.mha"),
        ("elastix, B-splines", ("elastix", *images, "-p", "spline.txt", "-out", "spline"), "spline/result.0.mha"),
        ("plastimatch register, rigid by ITK", ("plastimatch", "register", "stages.txt"), "result.mha"),
        ("plastimatch sift", ("plastimatch", "sift", "--output-ps-1", "points.fcsv", "fixed.mha"), "points.fcsv"),
        ("plastimatch filter, its own Gaussian", ("plastimatch", "filter", "--gauss-width", "4", "--output", "result.mha", "fixed.mha"), "result.mha"),
    )


def run(arguments, folder, clock, environment):
    """Returns the program's seconds, and the calls and seconds of each class of Gaussian filter."""
    times = folder / "times.txt"
    times.unlink(missing_ok=True)
    environment = {**os.environ, "FILTER_CLOCK": str(times), **environment}
    environment["LD_PRELOAD"] = " ".join(filter(None, (str(clock), environment.get("LD_PRELOAD"))))
    start = time.perf_counter()
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: status {done.returncode}: {(done.stderr or done.stdout)[-1000:]}")
    for line in done.stderr.splitlines():
        if line.startswith("itkCudaFiltersAutoload: not loaded"):
            raise RuntimeError(f"{' '.join(arguments)}: {line}")
    lines = times.read_text(encoding="ascii").splitlines() if times.exists() else []
    return seconds, {name: (int(calls), float(sum)) for name, calls, sum in map(str.split, lines)}


def apart(path, other):
    """Compares the results in two files, and says in words how far they are apart."""
    if path.read_bytes() == other.read_bytes():
        return "same bits" if path.stat().st_size > 0 else "no points in both"
    if path.suffix == ".mha":
        return pixels_apart(read_metaimage(path), read_metaimage(other))
    a, b = ([line for line in each.read_text(encoding="utf-8", errors="replace").splitlines() if not line.startswith("#")] for each in (path, other))
    return f"{len(a)} and {len(b)} points, {len(set(a) & set(b))} the same"


def pixels_apart(pixels, other):
    if np.array_equal(pixels, other, equal_nan=True):
        return "same bits"
    a, b = pixels.astype(np.float64), other.astype(np.float64)
    return f"at most {np.abs(a - b).max():.2g} of {np.ptp(a):.4g}, {np.mean(a != b):.1%} of pixels"


def python_calls(side):
    """Yields calls of packages: what they are called here, and functions of no arguments that return an array of pixels."""
    import itk

    fixed, moving = (itk.image_from_array(pixels.astype(np.float32)) for pixels in make_images(side))
    for name, parameters in (
        ("smoothing_recursive_gaussian_image_filter", {"sigma": 4.0}),
        ("gradient_magnitude_recursive_gaussian_image_filter", {"sigma": 4.0}),
        ("discrete_gaussian_image_filter", {"variance": 16.0}),
        ("canny_edge_detection_image_filter", {"variance": 4.0}),
    ):
        yield f"itk.{name}", lambda name=name, parameters=parameters: itk.array_view_from_image(getattr(itk, name)(fixed, **parameters))

    def register():
        parameters = itk.ParameterObject.New()
        stage = parameters.GetDefaultParameterMap("rigid", 3)
        stage.update({"FixedImagePyramid": ["FixedSmoothingImagePyramid"], "MovingImagePyramid": ["MovingSmoothingImagePyramid"], "RandomSeed": ["1"]})
        parameters.AddParameterMap(stage)
        result, _ = itk.elastix_registration_method(fixed, moving, parameter_object=parameters, log_to_console=False)
        return itk.array_view_from_image(result)

    yield "itk-elastix, rigid", register

    def make_pyramid():
        import dask
        import ngff_zarr

        image = ngff_zarr.to_ngff_image(itk.array_view_from_image(fixed), dims="zyx", scale=dict.fromkeys("zyx", 1.0))
        made = ngff_zarr.to_multiscales(image, scale_factors=[2, 4], chunks=128, cache=False, method=ngff_zarr.Methods.ITK_GAUSSIAN)
        return np.concatenate([level.ravel() for level in dask.compute(*(each.data for each in made.images[1:]), scheduler="threads")])

    yield "ngff-zarr, ITK_GAUSSIAN", make_pyramid


def measure_call(name, call, options):
    """Measures a call in turns with ITK's filters and with this module's."""
    import itk_cudafilters

    best, results = {}, {}
    itk_cudafilters.disable()
    call()  # loads classes of ITK
    for _ in range(options.rounds + 1):  # the first call with the module starts CUDA
        for kind, switch in (("without", itk_cudafilters.disable), ("with", itk_cudafilters.enable)):
            switch()
            start = time.perf_counter()
            results[kind] = call()
            seconds = time.perf_counter() - start
            best[kind] = min(seconds, best.get(kind, seconds))
    itk_cudafilters.disable()
    print(f"{name:56} {best['without']:8.4g} s -> {best['with']:8.4g} s; {pixels_apart(results['without'], results['with'])}", flush=True)
    row = {"name": name, **{f"seconds_{kind}": float(f"{seconds:.4g}") for kind, seconds in best.items()}}
    row["results"] = pixels_apart(results["without"], results["with"])
    return row


def measure(name, arguments, result, folder, options):
    if shutil.which(arguments[0]) is None:
        raise OSError(f"{arguments[0]} is not installed")
    kinds = {"without": {}, "with": {"ITK_AUTOLOAD_PATH": str(options.autoload)}}
    best, results = {}, {kind: [] for kind in kinds}
    for number in range(options.rounds):
        for kind, environment in kinds.items():
            seconds, clock = run(arguments, folder, options.clock, environment)
            if kind not in best or seconds < best[kind][0]:
                best[kind] = seconds, clock
            results[kind].append(folder / f"{kind}-{number}{pathlib.Path(result).suffix}")
            shutil.move(folder / result, results[kind][-1])
    row = {"name": name}
    for kind, (seconds, clock) in best.items():
        row[f"seconds_{kind}"] = float(f"{seconds:.4g}")
        row[f"gaussian_{kind}"] = float(f"{sum(each for _, each in clock.values()):.4g}")
        row[f"classes_{kind}"] = {each: calls for each, (calls, _) in clock.items()}
        row[f"sha256_{kind}"] = hashlib.sha256(results[kind][0].read_bytes()).hexdigest()[:16]
    row["results"] = apart(results["without"][0], results["with"][0])
    twice = ""
    if options.rounds > 1:
        row["results_twice"] = apart(results["without"][0], results["without"][-1])
        twice = f"; twice without: {row['results_twice']}"
    print(
        f"{name:38} {row['seconds_without']:8.4g} s -> {row['seconds_with']:8.4g} s, "
        f"Gaussian {row['gaussian_without'] / row['seconds_without']:5.1%}: {row['gaussian_without']:8.4g} s -> {row['gaussian_with']:8.4g} s; "
        f"{row['results']}{twice}", flush=True,
    )
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--autoload", type=pathlib.Path, metavar="FOLDER", help="folder of libitkCudaFiltersAutoload.so")
    parser.add_argument("--clock", type=pathlib.Path, metavar="FILE", help="libfilter_clock.so")
    parser.add_argument("--python", action="store_true", help="call packages of Python instead of programs")
    parser.add_argument("--backend", choices=("automatic", "cuda", "host"), default="automatic", help="default: %(default)s")
    parser.add_argument("--side", type=int, default=128, metavar="N", help="of the images, in pixels (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="of which the fastest counts (default: %(default)s)")
    parser.add_argument("--programs", default="", metavar="TEXT", help="measure only the programs in whose row's name this is")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE.json", help="file for the rows")
    options = parser.parse_args()
    for name, least in (("side", 32), ("rounds", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name} is {getattr(options, name)}; it must be {least} or more")
    if not options.python:
        if options.autoload is None or not (options.autoload / "libitkCudaFiltersAutoload.so").is_file():
            parser.error(f"--autoload is '{options.autoload}'; it must be a folder with libitkCudaFiltersAutoload.so")
        if options.clock is None or not options.clock.is_file():
            parser.error(f"--clock is '{options.clock}'; it must be the library built from filter_clock.cxx")
        options.autoload, options.clock = options.autoload.resolve(), options.clock.resolve()
    os.environ["ITK_CUDAFILTERS_BACKEND"] = options.backend

    rows, left_out = [], {}

    def add(name, measured):
        if options.programs not in name:
            return
        try:
            rows.append(measured())
        except (AttributeError, ImportError, OSError, RuntimeError) as error:
            left_out[name] = str(error)
            print(f"{name:38} left out: {error}", flush=True)
        if options.output:
            facts = {"machine": {"cores": os.cpu_count()}, "side": options.side, "backend": options.backend, "rows": rows, "left_out": left_out}
            options.output.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")

    if options.python:
        for name, call in python_calls(options.side):
            add(name, lambda name=name, call=call: measure_call(name, call, options))
        return 1 if left_out else 0
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        for name, pixels in zip(("fixed", "moving"), make_images(options.side), strict=True):
            write_metaimage(folder / f"{name}.mha", pixels)
        for name, arguments, result in programs(folder):
            add(name, lambda name=name, arguments=arguments, result=result: measure(name, arguments, result, folder, options))
    return 1 if left_out else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures track_region() on frames in ordinary memory, beside the upload of a frame by CuPy.

    python benchmarks/sequence_times.py --output sequence.json

A target of changing shape moves through frames of 16-bit speckle. Times are in milliseconds: of the first frame, the
median and the largest of the others, from one result to the next, and the median of the upload of a frame. `overlap` is
the least intersection over union with the region that a search from the automatic start finds in the same frame, over
every tenth frame; `lost` lists the frames in which the target was not found, which has to be the last one, where it has
vanished. With --backend host it measures the host, without uploads.
"""
import argparse
import importlib
import json
import statistics
import time

import numpy as np

import itk_cudafilters as package

LOOKS = 4.0


def make_frames(number, height, width, seed):
    """Returns the frames. The target is a star-shaped area of a third of the frame's height that moves by two pixels a
    frame; the last frame has none."""
    random = np.random.default_rng(seed)
    speckle = random.gamma(LOOKS, 1.0 / LOOKS, (height, width)).astype(np.float32)
    y, x = np.mgrid[:height, :width].astype(np.float32)
    frames = np.empty((number, height, width), np.uint16)
    for frame in range(number):
        # Shifted copies of one speckle pattern are as good as new ones, and much faster to make.
        noise = np.roll(speckle, (int(random.integers(height)), int(random.integers(width))), (0, 1))
        dy, dx = y - height / 2 - 0.7 * frame, x - width / 2 - 2.0 * frame
        phase = 0.05 * frame
        radius = height / 6 * (1 + 0.15 * np.cos(3 * np.arctan2(dy, dx) + phase) + 0.05 * np.sin(phase))
        inside = (np.hypot(dx, dy) < radius) & (frame < number - 1)
        frames[frame] = np.minimum(np.where(inside, 600.0, 300.0) * noise, 65535.0)
    return frames


def measure(frames, backend):
    """Returns the regions and the time of each."""
    regions, times = [], []
    begin = time.perf_counter()
    for region in package.track_region(frames, "gamma", LOOKS, backend=backend):
        regions.append(region)
        end = time.perf_counter()
        times.append(1e3 * (end - begin))
        begin = end
    return regions, times


def measure_upload(frames):
    try:
        cupy = importlib.import_module("cupy")
    except ImportError:
        return None
    times = []
    for frame in frames[:30]:
        begin = time.perf_counter()
        cupy.asarray(frame)
        cupy.cuda.get_current_stream().synchronize()
        times.append(1e3 * (time.perf_counter() - begin))
    return round(statistics.median(times[5:]), 3)


def overlap_with_cold_run(frame, region, backend):
    cold = package.segment_region(frame, "gamma", LOOKS, backend=backend).label != 0
    followed = region.label != 0
    return float((cold & followed).sum() / (cold | followed).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=100, metavar="N", help="number of frames (default: %(default)s)")
    parser.add_argument("--size", type=int, nargs=2, default=(3000, 5000), metavar=("H", "W"), help="of a frame (default: 3000 5000)")
    parser.add_argument("--backend", choices=("automatic", "host", "cuda"), default="automatic", help="default: %(default)s")
    parser.add_argument("--output", metavar="FILE", help="write the results as JSON")
    arguments = parser.parse_args()
    if arguments.frames < 3 or min(arguments.size) < 100:
        parser.error("three frames or more, of at least 100 x 100 pixels, are needed")
    frames = make_frames(arguments.frames, *arguments.size, seed=1)
    measure(frames[:3], arguments.backend)  # starts CUDA and fills pools
    regions, times = measure(frames, arguments.backend)
    followed = range(10, arguments.frames - 1, 10) or range(1, 2)
    result = {
        "name": "track_region",
        "frames": arguments.frames,
        "pixels": arguments.size[0] * arguments.size[1],
        "backend": regions[0].statistics.backend,
        "first_ms": round(times[0], 3),
        "others_ms": round(statistics.median(times[1:]), 3),
        "slowest_ms": round(max(times[1:]), 3),
        "upload_ms": measure_upload(frames) if arguments.backend != "host" else None,
        "overlap": round(min(overlap_with_cold_run(frames[i], regions[i], arguments.backend) for i in followed), 5),
        "lost": [region.frame for region in regions if region.is_lost],
    }
    for name, value in result.items():
        print(f"{name:12} {value}")
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            json.dump({"rows": [result]}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()

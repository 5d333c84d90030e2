#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the module's convolution and CuPy's gaussian_filter of equal radius on the same GPU, and prints both.

usage: fir_against_cupy.py PATH/TO/fir_resident_times [--json FILE]
"""
import argparse
import json
import statistics
import subprocess
import sys

SAMPLES = 20
RUNS_PER_SAMPLE = 4


def measure_cupy(row):
    """Milliseconds of cupyx.scipy.ndimage.gaussian_filter on a resident float image: median of event samples."""
    import cupy
    from cupyx.scipy import ndimage

    image = cupy.zeros((row["side"],) * row["dimension"], dtype=cupy.float32)
    output = cupy.empty_like(image)

    def run():
        # truncate * sigma + 0.5, rounded down, is the radius
        truncate = row["radius"] / row["sigma"]
        ndimage.gaussian_filter(image, row["sigma"], output=output, mode="nearest", truncate=truncate)

    for _ in range(2 * RUNS_PER_SAMPLE):
        run()
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    samples = []
    for _ in range(SAMPLES):
        begin.record()
        for _ in range(RUNS_PER_SAMPLE):
            run()
        end.record()
        end.synchronize()
        samples.append(cupy.cuda.get_elapsed_time(begin, end) / RUNS_PER_SAMPLE)
    return statistics.median(samples)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built fir_resident_times")
    parser.add_argument("--json", help="writes the figures to this file")
    arguments = parser.parse_args()
    record = json.loads(subprocess.run([arguments.program], check=True, stdout=subprocess.PIPE).stdout)
    print(f"convolution with a Gaussian, float, resident, {record['device']}")
    print(f"{'image':<10}{'sigma':>7}{'radius':>8}{'ours ms':>10}{'CuPy ms':>10}{'factor':>8}")
    for row in record["rows"]:
        row["cupy_ms"] = measure_cupy(row)
        name = f"{row['side']}^{row['dimension']}"
        factor = row["cupy_ms"] / row["ms"]
        print(f"{name:<10}{row['sigma']:>7g}{row['radius']:>8}{row['ms']:>10.4f}{row['cupy_ms']:>10.4f}{factor:>8.2f}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())

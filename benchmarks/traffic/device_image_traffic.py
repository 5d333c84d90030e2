#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what crosses the link between host and GPU while filters run, and says whether it is one image each way.

usage: device_image_traffic.py [--bundle FOLDER] [--output traffic.json]

CUDA loads libcuda_traffic.so of the bundle into the program, and this library counts the bytes by CUPTI. With device images between the
filters, one image may go up and one may come down, each with at most 64 KiB more. The control is the same chain with images of the host
between the filters: five images go each way, or the counter is wrong. An image that is smoothed, rescaled and converted to unsigned
char on the device comes back as a quarter of its bytes. Where CUPTI does not start, this program judges the module's own
counters of uploads and downloads instead, and says so.

Exit status: 0 if all is as it should be, 1 if it is not, 2 if a program failed, 77 without a usable GPU. Needs Python 3.8.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BUNDLE = pathlib.Path(__file__).resolve().parent
ALLOWANCE = 64 * 1024  # bytes beside the images: parameters of kernels, results of a few words
DIRECTIONS = {"up": "host_to_device", "down": "device_to_host"}
MODULE_COUNTS = {"up": "uploads", "down": "downloads"}
NAMES = {
    "device": "images on the device between the filters",
    "host": "images on the host between the filters",
    "rescaled": "smoothed, rescaled, to unsigned char",
}
SKIPPED = 77


def read_counts(file):
    """(what CUPTI counted, None), or (None, why it counted nothing)."""
    if not file.exists():
        return None, "the driver did not load the library that counts, or CUPTI's own library is missing"
    counts = json.loads(file.read_text())
    if counts["error"]:
        return None, counts["error"]
    if counts["lost_records"]:
        return None, f"CUPTI lost {counts['lost_records']} records"
    return counts, None


def run(bundle, between, sides, limit):
    """The chain in a process of its own: what it says, what CUPTI counted, and why not."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "traffic.json"
        library = bundle / "lib/libcuda_traffic.so"
        environment = dict(os.environ, CUDA_TRAFFIC_FILE=str(file))
        if library.exists():
            environment["CUDA_INJECTION64_PATH"] = str(library)
        command = [str(bundle / "bin/device_image_traffic"), "--between", between, "--sides", *map(str, sides)]
        process = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, timeout=limit, check=False
        )
        if process.returncode == SKIPPED:
            print(process.stderr.decode(errors="replace").strip())
            raise SystemExit(SKIPPED)
        if process.returncode:
            print(f"error: {command[0]} ended with exit status {process.returncode}", file=sys.stderr)
            print(process.stderr.decode(errors="replace"), file=sys.stderr)
            raise SystemExit(2)
        if not library.exists():
            counts, reason = None, "the bundle was built without CUPTI"
        else:
            counts, reason = read_counts(file)
        return {"between": between, "expected": json.loads(process.stdout.decode()), "cupti": counts, "no_cupti": reason}


def judge(measured):
    """Lines about one run, and whether each of them is as it should be."""
    expected, counts = measured["expected"], measured["cupti"]
    findings = []
    for direction in ("up", "down"):
        if counts:
            found, wanted = counts[DIRECTIONS[direction]]["bytes"], expected[f"expected_bytes_{direction}"]
            right = wanted <= found <= wanted + ALLOWANCE
            what = f"{found} bytes by CUPTI; images {wanted}, beside them {found - wanted} of at most {ALLOWANCE}"
        else:
            found, wanted = expected[MODULE_COUNTS[direction]], expected["expected_images_each_way"]
            right = found == wanted
            what = f"{found} images by the module's own counters, expected {wanted}"
        findings.append((f"{NAMES[measured['between']]}, {direction}: {what}", right))
    return findings


def report(runs):
    """Prints the findings; whether all are as they should be."""
    reasons = sorted({run["no_cupti"] for run in runs if run["no_cupti"]})
    for reason in reasons:
        print(f"CUPTI did not count: {reason}. The module's own counters stand in.")
    findings = [finding for run in runs for finding in judge(run)]
    for text, right in findings:
        print(f"{'ok    ' if right else 'FAILED'} {text}")
    return all(right for _, right in findings)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", type=pathlib.Path, default=BUNDLE, help="folder of bin/ and lib/ (default: this one)")
    parser.add_argument("--output", type=pathlib.Path, help="the record, as JSON")
    parser.add_argument("--sides", type=int, nargs=3, default=(256, 256, 256), metavar="N", help="of the image in pixels")
    parser.add_argument("--time-limit", type=float, default=120, metavar="S", help="of each run (default: %(default)s)")
    arguments = parser.parse_args()
    runs = [run(arguments.bundle.resolve(), between, arguments.sides, arguments.time_limit) for between in NAMES]
    right = report(runs)
    if arguments.output:
        arguments.output.write_text(json.dumps({"allowance": ALLOWANCE, "right": right, "runs": runs}, indent=1) + "\n")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Runs a program of ITK's twice, without and with the factory of ITK_AUTOLOAD_PATH, and compares what comes out.

--mode numbers: the lines "name = number" after "Result =", each to the tolerance, but for counts of iterations.
--mode field: the numbers in the MetaImage files that {output} in the arguments stands for, each to the tolerance.
--mode pixels: the images that {output} stands for, every pixel to the tolerance.
"""
import argparse
import array
import os
import re
import subprocess
import sys
from pathlib import Path


def run(command, environment):
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-4000:]}\n{command[0]} exited with {done.returncode}")
    return done.stdout


def results(text):
    """The numbers after the last 'Result = ', by name; 'Metric value' is no part of the transform."""
    tail = text[text.rindex("Result = ") :]
    pairs = re.findall(r"^ (\S[^=\n]*?)\s+= (\S+)$", tail, re.MULTILINE)
    return {name: float(value) for name, value in pairs if name not in ("Iterations", "Metric value")}


def compare_numbers(expected, found, tolerance):
    expected, found = results(expected), results(found)
    if not expected or expected.keys() != found.keys():
        sys.exit(f"nothing to compare: {expected}, {found}")
    differences = {name: abs(found[name] - expected[name]) for name in expected}
    for name, difference in differences.items():
        print(f"{name}: {expected[name]} without, {found[name]} with the factory, difference {difference:.3g}")
    return max(differences.values()) <= tolerance


def read_field(path):
    """The float components of a MetaImage file with its pixels inside."""
    header, pixels = Path(path).read_bytes().split(b"ElementDataFile = LOCAL\n", 1)
    if b"ElementType = MET_FLOAT" not in header or b"CompressedData = False" not in header:
        sys.exit(f"{path} holds no plain floats:\n{header.decode()}")
    return array.array("f", pixels)


def compare_fields(expected, found, tolerance):
    expected, found = read_field(expected), read_field(found)
    if not expected or len(expected) != len(found):
        sys.exit(f"nothing to compare: {len(expected)} and {len(found)} numbers")
    difference = max(abs(a - b) for a, b in zip(expected, found))
    print(f"largest displacement {max(map(abs, expected)):.6g}, largest difference {difference:.3g}")
    return difference <= tolerance


def compare_pixels(test_driver, expected, found, tolerance):
    command = [test_driver, "--compare", expected, found, "--compareIntensityTolerance", str(tolerance)]
    # The driver is a program of ITK's too, and is not to report.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ITK_")}
    return subprocess.run([*command, "--no-process"], env=environment, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=("numbers", "field", "pixels"), required=True)
    parser.add_argument("--tolerance", type=float, required=True)
    parser.add_argument("--test-driver", required=True)
    parser.add_argument("--output", required=True, help="beginning of the names of output files")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    texts, images = [], []
    for kind in ("itk", "factory"):
        environment = dict(os.environ)
        if kind == "itk":
            del environment["ITK_AUTOLOAD_PATH"]
        path = f"{options.output}-{kind}"
        images += [argument.replace("{output}", path) for argument in options.command if "{output}" in argument]
        command = [argument.replace("{output}", path).replace("{run}", path) for argument in options.command]
        texts.append(run(command, environment))
    if options.mode == "numbers":
        same = compare_numbers(*texts, options.tolerance)
    elif options.mode == "field":
        same = compare_fields(*images, options.tolerance)
    else:
        same = compare_pixels(options.test_driver, *images, options.tolerance)
    print("same" if same else f"not the same to {options.tolerance}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())

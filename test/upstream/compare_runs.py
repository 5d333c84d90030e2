# SPDX-License-Identifier: Apache-2.0
"""Runs a program of ITK's twice, without and with the factory of ITK_AUTOLOAD_PATH, and compares what comes out.

--mode numbers: the lines "name = number" after "Result =", each to the tolerance, but for counts of iterations.
--mode pixels: the images that {output} in the arguments stands for, every pixel to the tolerance.
"""
import argparse
import os
import re
import subprocess
import sys


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


def compare_pixels(test_driver, expected, found, tolerance):
    command = [test_driver, "--compare", expected, found, "--compareIntensityTolerance", str(tolerance)]
    # The driver is a program of ITK's too, and is not to report.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ITK_")}
    return subprocess.run([*command, "--no-process"], env=environment, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=("numbers", "pixels"), required=True)
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
    else:
        same = compare_pixels(options.test_driver, *images, options.tolerance)
    print("same" if same else f"not the same to {options.tolerance}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())

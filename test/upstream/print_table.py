# SPDX-License-Identifier: Apache-2.0
"""Prints ITK's tests one by one, from CTest's JUnit file and the reports of reporting_autoload.cxx; fails if one failed or if
none of a class was overridden.

Usage: print_table.py tests.xml reports title
"""
import re
import sys
import xml.etree.ElementTree
from pathlib import Path

RESULTS = {"run": "passed", "fail": "FAILED", "notrun": "skipped", "disabled": "skipped"}
CLASSES = (
    "RecursiveGaussian",
    "SmoothingRecursiveGaussian",
    "GradientRecursiveGaussian",
    "GradientMagnitudeRecursiveGaussian",
    "LaplacianRecursiveGaussian",
    "HessianRecursiveGaussian",
    "DiscreteGaussian",
)


def read_report(path):
    """Names of classes that were overridden, and of those that stayed ITK's; with how many instantiations."""
    kinds = {"overridden": {}, "passed": {}}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, name = line.split(" ", 1)
            short = re.match(r"itk::(\w+)ImageFilter<", name).group(1)
            kinds[kind][short] = kinds[kind].get(short, 0) + 1
    return kinds["overridden"], kinds["passed"]


def describe(classes):
    return ", ".join(name if count == 1 else f"{name} ({count})" for name, count in sorted(classes.items())) or "-"


def main():
    tests, reports, title = sys.argv[1:]
    rows, counts, overridden_classes = [], {"passed": 0, "FAILED": 0, "skipped": 0}, set()
    for case in xml.etree.ElementTree.parse(tests).getroot().iter("testcase"):
        name = case.get("name")
        result = RESULTS[case.get("status")]
        overridden, passed_through = read_report(Path(reports) / name)
        counts[result] += 1
        overridden_classes |= overridden.keys()
        rows.append((name, result, describe(overridden), describe(passed_through)))
    rows.sort()
    rows.insert(0, ("test", "result", "overridden by this module", "left to ITK"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    print(title)
    for row in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[3]]).rstrip())
    missing = [name for name in CLASSES if name not in overridden_classes]
    if missing:
        print(f"never overridden: {', '.join(missing)}")
    print(f"{counts['passed']} passed, {counts['FAILED']} failed, {counts['skipped']} skipped")
    return 0 if not missing and counts["FAILED"] == 0 and counts["passed"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

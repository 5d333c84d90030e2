#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how many tests passed, failed and were skipped, from the file that holds ctest's output."""
import re
import sys

LINE = re.compile(r"^ *\d+/\d+ +Test +#\d+: .*?(Passed|\*\*\*Skipped|\*\*\*\S.*?) +[\d.]+ sec", re.MULTILINE)


def count(text):
    results = [match.group(1) for match in LINE.finditer(text)]
    passed = results.count("Passed")
    skipped = results.count("***Skipped")
    return passed, len(results) - passed - skipped, skipped


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
        counts = count(log.read())
    if not sum(counts):
        sys.exit(f"{sys.argv[1]}: no test result found")
    print(*counts)

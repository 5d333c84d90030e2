#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The options and defaults of itk-cudafilters are those of docs/user/parameters.md. Usage: test_parameters.py COMMAND PAGE"""
import pathlib
import re
import subprocess
import sys

PARTS = ("smooth", "segment", "partition", "vesselness", "compare", "info")
EVERYWHERE = {"--help", "--version"}


def read_tables(page):
    """{part: {option: default}} of the rows of all tables that have a column 'command option'."""
    tables, part, columns = {part: {} for part in PARTS}, None, None
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            part, columns = line[3:].strip(), None
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            columns = None
        elif columns is None:
            columns = cells
        elif "command option" in columns and not set(cells[0]) <= set("- "):
            row = dict(zip(columns, cells))
            for option in re.findall(r"--[a-z-]+", row["command option"]):
                tables[part][option] = row["default"].strip("`")
    return tables


def read_help(command, part):
    """{option: default, "required" or "none"} of the lines that name options."""
    text = subprocess.run([command, part, "--help"], check=True, capture_output=True, text=True).stdout
    options = {}
    for line in re.findall(r"^  (-.*)$", text, re.MULTILINE):
        default = re.search(r"\(default: (.*)\)", line)
        value = default.group(1) if default else "required" if "(required)" in line else "none"
        for option in re.findall(r"--[a-z-]+", line):
            options[option] = value
    return options


def same(documented, helped):
    try:
        return float(documented) == float(helped)
    except ValueError:
        return documented == helped


def find_differences(part, documented, helped):
    for option in sorted(set(documented) | (set(helped) - EVERYWHERE)):
        if option not in helped:
            yield f"{part}: {option} stands in the table; --help does not know it"
        elif option not in documented:
            yield f"{part}: --help knows {option}; it is in no table"
        elif not same(documented[option], helped[option]):
            yield f"{part} {option}: the table's default is {documented[option]}, that of --help {helped[option]}"
    yield from (f"{part}: --help does not know {option}" for option in sorted(EVERYWHERE - set(helped)))


def main():
    command, page = sys.argv[1], pathlib.Path(sys.argv[2])
    tables = read_tables(page)
    differences = []
    for part in PARTS:
        if not tables[part]:
            differences.append(f"{page} has no table of options for {part}")
        differences += find_differences(part, tables[part], read_help(command, part))
    print("\n".join(differences) or f"{sum(map(len, tables.values()))} options are as documented")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())

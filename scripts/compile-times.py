#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the CPU seconds that compiling takes, for each kind of source and for the slowest files, and compares them with a budget.

Usage: scripts/compile-times.py BUILD_FOLDER
  BUILD_FOLDER   a build of scripts/test-stage.sh, with compile_commands.json and the compile-times.txt of scripts/time-compiler.sh

The budget is scripts/compile-budget.txt. Its seconds are those of a machine that compiles the reference, a fixed source without
ITK, in the seconds given there. The build compiles the reference now and then, beside the other files, and the measured seconds are
scaled accordingly, so that neither the speed of a machine nor other work on it decides. A kind is compared if all its files were
compiled in this folder.
Exit status 1: a kind takes longer than its budget. Exit status 77: no kind could be compared, because ccache had its files.
"""
import json
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("src/factory", "src", "test", "examples", "benchmarks", "wrapping")
REFERENCE = ROOT / "scripts/compile-reference.cxx"


def read_budget():
    lines = (ROOT / "scripts/compile-budget.txt").read_text(encoding="utf-8").splitlines()
    return {kind: int(seconds) for kind, seconds in (line.split() for line in lines if line and not line.startswith("#"))}


def find_kind(file, folder):
    """Returns the kind of a source file. What a build writes belongs to the folder of the same name in the repository."""
    for base in (folder, ROOT):
        if file.is_relative_to(base):
            path = file.relative_to(base).as_posix()
            return next((kind for kind in KINDS if path.startswith(kind + "/")), "others")
    return "others"


def read_times(file):
    """Returns the CPU seconds of each time that a source file was compiled."""
    times = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        user, system, source = line.split(maxsplit=2)
        times.setdefault(pathlib.Path(source), []).append(float(user) + float(system))
    return times


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    commands = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
    times = read_times(folder / "compile-times.txt")
    budget = read_budget()
    references = times.get(REFERENCE)
    if not references:
        print("nothing was compiled in this folder: ccache had all files")
        sys.exit(77)
    scale = budget["reference"] / statistics.mean(references)

    files = {}
    for command in commands:
        kind = find_kind(pathlib.Path(command["file"]), folder)
        files.setdefault(kind, []).append(pathlib.Path(command["file"]))
    print(f"CPU seconds of compiling, times {scale:.2f} for the speed of this machine, of {len(references)} references\n")
    print(f"{'kind':12} {'files':>6} {'measured':>9} {'seconds':>9} {'budget':>7}")
    compared, exceeded = 0, []
    for kind in sorted(files):
        measured = [times[file][-1] * scale for file in files[kind] if file in times]
        seconds = sum(measured)
        print(f"{kind:12} {len(files[kind]):6} {len(measured):9} {seconds:9.0f} {budget.get(kind, ''):>7}")
        if kind in budget and len(measured) == len(files[kind]):
            compared += 1
            if seconds > budget[kind]:
                exceeded.append(f"{kind} takes {seconds:.0f} s; its budget is {budget[kind]:.0f} s")
    print("\nslowest files")
    present = {file: times[file][-1] for kind in files.values() for file in kind if file in times}
    for file, seconds in sorted(present.items(), key=lambda item: -item[1])[:20]:
        print(f"{seconds * scale:7.1f} {file.relative_to(ROOT) if file.is_relative_to(ROOT) else file}")
    if exceeded:
        sys.exit("\n".join(exceeded))
    sys.exit(0 if compared else 77)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the CPU seconds that compiling takes, for each kind of source and for the slowest files, and compares them with a budget.

Usage: scripts/compile-times.py BUILD_FOLDER
  BUILD_FOLDER   a build of scripts/test-stage.sh, with compile_commands.json and the compile-times.txt of scripts/time-compiler.sh

The budget is scripts/compile-budget.txt. Its seconds are those of a machine that compiles the reference, a fixed source without
ITK, in the seconds given there. The reference is compiled here as well, and the measured seconds are scaled accordingly, so that
neither the speed of a machine nor other work on it decides. A kind is compared if all its files were compiled in this folder.
Exit status 1: a kind takes longer than its budget. Exit status 77: no kind could be compared, because ccache had its files.
"""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("src/factory", "src", "test", "examples", "benchmarks", "wrapping")
# Templates, containers and streams in the proportions of a filter's test.
REFERENCE = """\
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>
template <int N> double Sum(std::vector<double> & values)
{
  std::map<std::string, std::function<double(double)>> table{ { std::to_string(N), [](double x) { return x * N; } } };
  std::sort(values.begin(), values.end(), [](double a, double b) { return a * N < b; });
  std::mt19937 generator(N);
  std::cout << values.front() << std::to_string(N);
  return table.begin()->second(values.back()) + std::normal_distribution<>()(generator);
}
double SumAll(std::vector<double> & v)
{
  return Sum<1>(v) + Sum<2>(v) + Sum<3>(v) + Sum<4>(v);
}
"""


def compile_reference(compiler):
    """Returns the CPU seconds of one compilation of the reference."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "reference.cxx"
        source.write_text(REFERENCE, encoding="utf-8")
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([compiler, "-std=c++17", "-O2", "-c", source.name, "-o", "reference.o"], cwd=folder, check=True)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime


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


def read_times(folder):
    """Returns the CPU seconds of each source file, from the last time that it was compiled."""
    times = {}
    for line in (folder / "compile-times.txt").read_text(encoding="utf-8").splitlines():
        user, system, file = line.split(maxsplit=2)
        times[pathlib.Path(file)] = float(user) + float(system)
    return times


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    commands = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
    times = read_times(folder) if (folder / "compile-times.txt").exists() else {}
    budget = read_budget()
    compiler = next((c["command"].split()[0] for c in commands if c["file"].endswith(".cxx")), "c++")
    scale = budget["reference"] / min(compile_reference(compiler) for _ in range(2))

    files = {}
    for command in commands:
        kind = find_kind(pathlib.Path(command["file"]), folder)
        files.setdefault(kind, []).append(pathlib.Path(command["file"]))
    print(f"CPU seconds of compiling, times {scale:.2f} for the speed of this machine\n")
    print(f"{'kind':12} {'files':>6} {'measured':>9} {'seconds':>9} {'budget':>7}")
    compared, exceeded = 0, []
    for kind in sorted(files):
        measured = [times[file] * scale for file in files[kind] if file in times]
        seconds = sum(measured)
        print(f"{kind:12} {len(files[kind]):6} {len(measured):9} {seconds:9.0f} {budget.get(kind, ''):>7}")
        if kind in budget and len(measured) == len(files[kind]):
            compared += 1
            if seconds > budget[kind]:
                exceeded.append(f"{kind} takes {seconds:.0f} s; its budget is {budget[kind]:.0f} s")
    print("\nslowest files")
    present = {file: times[file] for kind in files.values() for file in kind if file in times}
    for file, seconds in sorted(present.items(), key=lambda item: -item[1])[:20]:
        print(f"{seconds * scale:7.1f} {file.relative_to(ROOT) if file.is_relative_to(ROOT) else file}")
    if exceeded:
        sys.exit("\n".join(exceeded))
    sys.exit(0 if compared else 77)


if __name__ == "__main__":
    main()

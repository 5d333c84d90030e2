#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the defects of this folder in a copy of the sources, one after the other, and shows which tests catch them.

A patch file begins with lines of these kinds, before the difference:
  Defect: what is wrong, in a sentence
  Run: BUILD DRIVER SOURCES FILTER
A line "Run:" names tests that must catch the defect. BUILD is cpu or cuda. DRIVER is a test program of CMake. SOURCES are files of
test/, separated by commas: only these are compiled and linked, with the libraries of the driver; "-" takes the whole driver. FILTER
chooses tests as --gtest_filter does.

All tests must pass without a defect. A defect is caught if one of its tests fails, ends by a signal or does not end. Exit status 0
means that each chosen defect was caught; 1 that one was not, or that its patch does not apply or does not compile.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
REPOSITORY = FOLDER.parent.parent
SECONDS_FOR_A_RUN = 300


class Failure(Exception):
    """Something other than a test went wrong."""


@dataclasses.dataclass(frozen=True)
class Run:
    build: str
    driver: str
    sources: tuple
    filter: str

    def __str__(self):
        return self.filter


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    defect: str
    runs: tuple
    path: pathlib.Path


def read_mutation(path):
    """Reads the lines before the difference. Raises Failure if one is missing or of no known kind."""
    defect, runs = "", []
    for line in path.read_text().splitlines():
        if line.startswith("--- "):
            break
        key, _, value = line.partition(": ")
        if key == "Defect":
            defect = value
        elif key == "Run":
            words = value.split()
            if len(words) != 4 or words[0] not in ("cpu", "cuda"):
                raise Failure(f"{path.name}: '{line}' must be 'Run: cpu|cuda DRIVER SOURCES FILTER'")
            sources = () if words[2] == "-" else tuple(words[2].split(","))
            runs.append(Run(words[0], words[1], sources, words[3]))
        elif line:
            raise Failure(f"{path.name}: '{line}' is neither 'Defect: ...' nor 'Run: ...'")
    if not defect or not runs:
        raise Failure(f"{path.name} must have a line 'Defect: ...' and a line 'Run: ...' before the difference")
    return Mutation(path.stem, defect, tuple(runs), path)


def read_mutations(names):
    """Reads the named mutations, or all."""
    paths = [FOLDER / f"{name}.patch" for name in names] if names else sorted(FOLDER.glob("*.patch"))
    for path in paths:
        if not path.exists():
            raise Failure(f"there is no {path.name} in {FOLDER}")
    return [read_mutation(path) for path in paths]


def call(command, folder, environment=None):
    return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def apply(mutation, folder, *options):
    """Applies a patch to the sources in a folder, which git takes for no part of a repository."""
    environment = dict(os.environ, GIT_CEILING_DIRECTORIES=str(folder.parent), GIT_DIR=str(folder / "none"))
    result = call(["git", "apply", *options, str(mutation.path)], folder, environment)
    if result.returncode != 0:
        raise Failure(f"{mutation.path.name} does not apply:\n{result.stdout}")


def check(mutations):
    """Verifies that all patches apply to the repository, and that their tests exist."""
    for mutation in mutations:
        apply(mutation, REPOSITORY, "--check")
        for run in mutation.runs:
            for source in run.sources:
                if not (REPOSITORY / "test" / source).exists():
                    raise Failure(f"{mutation.path.name}: there is no test/{source}")


class Copy:
    """A copy of the sources with build folders of its own."""

    def __init__(self, folder, jobs):
        self.folder = folder
        self.jobs = jobs
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(folder), CCACHE_NOHASHDIR="yes")
        self.configured = set()

    def update(self):
        """Makes the copy equal to the repository. Files that are equal keep their times, so that they are not compiled again."""
        listed = call(["git", "ls-files", "-co", "--exclude-standard"], REPOSITORY).stdout.splitlines()
        for name in listed:
            source, target = REPOSITORY / name, self.folder / name
            if not source.is_file():
                continue
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        known = set(listed)
        for top in ("include", "src", "test"):
            for path in (self.folder / top).rglob("*"):
                if path.is_file() and str(path.relative_to(self.folder)) not in known and "__pycache__" not in path.parts:
                    path.unlink()

    def build_folder(self, build):
        return self.folder / "build" / f"test-{build}"

    def must(self, command):
        result = call(command, self.folder, self.environment)
        if result.returncode != 0:
            raise Failure(f"'{shlex.join(map(str, command))}' failed:\n{result.stdout[-4000:]}")
        return result.stdout

    def configure(self, build):
        if build in self.configured:
            return
        launchers = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX", "CUDA")] if shutil.which("ccache") else []
        self.must(["cmake", "-S", ".", "-B", str(self.build_folder(build)), "-G", "Ninja", "--preset", build,
                   "-DCudaFilters_WARNINGS_AS_ERRORS=ON", "-DCudaFilters_LONG_TESTS=OFF", *launchers])
        self.configured.add(build)

    def make(self, run):
        """Compiles and links the tests of a run. Returns the program."""
        self.configure(run.build)
        folder = self.build_folder(run.build)
        ninja = ["ninja", "-C", str(folder), "-j", str(self.jobs)]
        if not run.sources:
            self.must([*ninja, run.driver])
            found = [path for path in folder.rglob(run.driver) if path.is_file() and os.access(path, os.X_OK)]
            return found[0]
        # The last command of the driver is the one that links it. Only its objects and its output are replaced.
        link = self.must(["ninja", "-C", str(folder), "-t", "commands", run.driver]).splitlines()[-1]
        objects = re.findall(r"\S+\.o\b", link)
        chosen = [name for name in objects if any(name.endswith(f"/{source}.o") for source in run.sources)]
        if len(chosen) != len(run.sources):
            raise Failure(f"{run.driver} has the objects {chosen} of {', '.join(run.sources)}")
        libraries = [name for name in re.findall(r"\S*lib\w*CudaFilters\S*\.so\b", link)]
        self.must([*ninja, *chosen, *(["CudaFilters"] if libraries else [])])
        program = folder / "mutation-tests" / re.sub(r"\W", "_", f"{run.driver}_{'_'.join(run.sources)}")
        program.parent.mkdir(exist_ok=True)
        output = re.search(r"-o (\S+)", link).group(1)
        link = re.sub(r"\S+\.o\b", "", link).replace(f"-o {output}", f"-o {program} " + " ".join(chosen), 1)
        link = link.split("&&")[1] if "&&" in link else link
        result = subprocess.run(link, shell=True, cwd=folder, env=self.environment, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Failure(f"linking {program.name} failed:\n{result.stderr[-4000:]}")
        return program

    def find_failures(self, run):
        """Runs tests. Returns what failed: names of tests, or how the program ended."""
        command = [str(self.make(run)), f"--gtest_filter={run.filter}", "--gtest_brief=1"]
        try:
            result = subprocess.run(command, cwd=self.build_folder(run.build), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    timeout=SECONDS_FOR_A_RUN, check=False)
        except subprocess.TimeoutExpired:
            return [f"{run.filter} did not end"]
        text = result.stdout.decode(errors="replace")
        ran = re.search(r"\[=+\] (\d+) tests? from", text)
        if result.returncode == 0 and (not ran or int(ran.group(1)) == 0):
            raise Failure(f"{run.driver} has no test {run.filter}")
        failed = sorted(set(re.findall(r"^\[  FAILED  \] ([^\s,(]+)", text, re.MULTILINE)))
        return failed if failed or result.returncode == 0 else [f"{run.filter} ended with {result.returncode}"]


def plant(mutations, copy):
    """Runs the tests of all mutations, without and with the defects. Returns whether all are caught."""
    copy.update()
    for run in dict.fromkeys(run for mutation in mutations for run in mutation.runs):
        failures = copy.find_failures(run)
        if failures:
            raise Failure(f"without a defect, {', '.join(failures)} of {run.driver} failed")
        print(f"without a defect: {run.filter} passes", flush=True)
    caught = True
    for mutation in mutations:
        apply(mutation, copy.folder)
        try:
            print(f"{mutation.name}: {mutation.defect}", flush=True)
            for run in mutation.runs:
                failures = copy.find_failures(run)
                caught = caught and bool(failures)
                more = f" and {len(failures) - 3} others" if len(failures) > 3 else ""
                print(f"  {'caught by' if failures else 'NOT CAUGHT by'} {run.driver}: {', '.join(failures[:3]) or run.filter}{more}", flush=True)
        finally:
            apply(mutation, copy.folder, "--reverse")
    return caught


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="defects, by the name of the patch; all if none is named")
    parser.add_argument("--check", action="store_true", help="only verify that the patches apply to the sources")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many files are compiled at once")
    parser.add_argument("--copy", type=pathlib.Path, default=REPOSITORY / "build" / "mutations", help="where the copy of the sources is")
    arguments = parser.parse_args()
    try:
        mutations = read_mutations(arguments.names)
        check(mutations)
        if arguments.check:
            print(f"{len(mutations)} patches apply")
            return 0
        return 0 if plant(mutations, Copy(arguments.copy.resolve(), arguments.jobs)) else 1
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

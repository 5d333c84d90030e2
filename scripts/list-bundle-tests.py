#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists, as JSON, the tests of a build that can run from a bundle: all tests of CTest except those that compile.

Usage: list-bundle-tests.py BUILD BUNDLE REPOSITORY. Test data and the test driver of ITK are copied into the bundle. In
the commands, {bundle} stands for the bundle's folder and {work} for a folder to write in.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys


def is_unit(command):
    return any(argument.startswith("--gtest_filter=") for argument in command)


def properties(test):
    return {entry["name"]: entry["value"] for entry in test.get("properties", [])}


class Paths:
    def __init__(self, build, bundle, repository):
        self.build, self.bundle, self.repository = (pathlib.Path(path).resolve() for path in (build, bundle, repository))

    def relocate(self, argument):
        path = pathlib.Path(argument)
        if not path.is_absolute():
            return argument
        if path.name == "itkTestDriver":
            return self.keep(path, "bin")
        if path.is_char_device():  # a link to /dev/full
            return self.keep(path, "data/files")
        places = {
            self.build / "bin": "{bundle}/bin",
            self.repository / "examples": "{bundle}/data",
        }
        for root, place in places.items():
            if root in path.parents:
                return f"{place}/{path.relative_to(root)}"
        if self.build / "ExternalData" in path.parents or self.repository in path.parents and self.build not in path.parents:
            return self.keep(path, "data/files")
        if self.build in path.parents:
            return "{work}/" + str(path.relative_to(self.build)).replace(os.sep, "_")
        return argument

    def relocate_environment(self, assignment):
        name, value = assignment.split("=", 1)
        if name == "ITK_AUTOLOAD_PATH":  # a folder that holds one library
            for library in pathlib.Path(value).iterdir():
                self.keep(library, "autoload")
            value = "{bundle}/autoload"
        return name, value

    def keep(self, path, folder):
        target = self.bundle / folder / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_char_device() and not target.is_symlink():
            target.symlink_to(path.resolve())
        elif not target.exists():
            shutil.copy(path.resolve(), target)
        return f"{{bundle}}/{folder}/{path.name}"


def describe(test, paths):
    """Returns a test in the form that gpu-check.py reads, or None if it cannot run from a bundle."""
    command = test["command"]
    if pathlib.Path(command[0]).name.startswith("python"):
        return None  # checks of files of the repository
    entry = {"name": test["name"], "skip_code": properties(test).get("SKIP_RETURN_CODE")}
    if command[0].endswith("cmake"):
        if not any(argument.endswith("ExpectExit.cmake") for argument in command):
            return None
        definitions = dict(argument.split("=", 1) for flag, argument in zip(command, command[1:]) if flag == "-D")
        entry["code"] = int(definitions["code"])
        entry["regex"] = definitions["regex"]
        command = command[command.index("--") + 1 :]
        if command[0].endswith("cmake") and command[1:3] == ["-E", "cat"]:
            command = ["cat", *command[3:]]  # there may be no CMake there
    entry["environment"] = dict(map(paths.relocate_environment, properties(test).get("ENVIRONMENT", [])))
    entry["command"] = [paths.relocate(argument) for argument in command]
    return entry


def main():
    paths = Paths(*sys.argv[1:4])
    listing = subprocess.run(
        ["ctest", "--test-dir", sys.argv[1], "--show-only=json-v1"], check=True, capture_output=True, text=True
    ).stdout
    tests = [test for test in json.loads(listing)["tests"] if not is_unit(test["command"])]
    json.dump([entry for entry in (describe(test, paths) for test in tests) if entry], sys.stdout, indent=1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of README.md that begin with itk-cudafilters, on the sample images. Usage: test_readme.py COMMAND REPOSITORY"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile



def find_commands(text):
    """Lines of code blocks, fenced or indented, with their continuations behind a backslash."""
    text = text.replace("\\\n", " ")
    return [shlex.split(line, comments=True) for line in re.findall(r"^ *(itk-cudafilters .*)$", text, re.MULTILINE)]


def shorten(words):
    """A measurement takes longer than a test should."""
    if words[1] != "compare":
        return words
    text = re.sub(r" --(size|runs) \S+", "", shlex.join(words))
    return shlex.split(text) + ["--size", "32", "--runs", "1"]


def run(program, words, folder):
    before = set(folder.iterdir())
    process = subprocess.run([program, *shorten(words)[1:]], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(f"{shlex.join(words)}\n{process.stdout}")
    written = {file.name for file in set(folder.iterdir()) - before if file.stat().st_size > 0}
    missing = [word for word in words[2:] if re.fullmatch(r"[\w.-]+\.(png|json|geojson|nii\.gz)", word) and word not in written]
    return [f"exit status {process.returncode}"] * (process.returncode != 0) + [f"{name} was not written" for name in missing]


def main():
    program, repository = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    commands = find_commands((repository / "README.md").read_text(encoding="utf-8"))
    if not {"smooth", "vesselness", "partition"} <= {words[1] for words in commands}:
        print("README.md does not show all of smooth, vesselness and partition")
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "examples").symlink_to(repository / "examples")
        failures = [failure for words in commands for failure in run(program, words, folder)]
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads damaged image files: each must be an image or an OSError in words, soon, in memory that its header promises.

The files begin as those that write_image() makes of small images of all formats and types, and as those of test/fuzz/corpus/Files. The
readers are C and C++ libraries, so that the reading is done in a process of its own, with a limit of memory, whose end by a signal is a
finding. The last line has the numbers: cases, cases a second, different outcomes, findings. Exit status 1: there were findings.
"""
import argparse
import ctypes
import gc
import hashlib
import math
import mmap
import os
import pathlib
import random
import re
import resource
import signal
import sys
import tempfile
import time
import warnings

import numpy as np

import itk_cudafilters
from itk_cudafilters import _image_files

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus" / "Files"
NAMES = ("image.png", "image.tif", "image.mha", "image.nrrd", "image.nii", "image.nii.gz")
SECONDS_OF_CASE = 10
# What a reader may need beside the pixels, and how often it may hold them: stored, converted, and as an array.
MEMORY_OF_READER, COPIES = 64 << 20, 4
WORDS = (0, 1, 2, 3, 7, 8, 16, 32, 64, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)
TEXTS = (b"0", b"-1", b"1e999", b"nan", b"99999999999999999999", b"65536", b"4294967297", b"", b"raw", b"gzip", b"none", b"True")


# Values of text headers, and lines that they may have.
VALUES = TEXTS + (b"LIST", b"LIST 2", b"image%d.raw 1 3 1", b"image%s.raw 1 3 1", b"image%d.raw 0 9999999999 1", b"image.mha", b"gz", b"bzip2", b"hex",
                  b"MET_OTHER", b"MET_UCHAR_ARRAY", b"MET_ASCII_CHAR", b"1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", b"(1,0,0) (0,1,0)", b"unsigned char", b"block")
LINES = (b"HeaderSize = -1", b"HeaderSize = 99", b"CompressedData = True", b"CompressedDataSize = 1", b"BinaryData = False", b"ElementSize = 1 1 1",
         b"ElementNumberOfChannels = 4000000", b"Comment = " + b"x" * 5000, b"line skip: 3", b"byte skip: -1", b"byte skip: 7", b"space directions: none",
         b"kinds: vector domain domain", b"data file: image.nrrd", b"encoding: gzip", b"encoding: bzip2", b"endian: big", b"block size: 16", b"space: RAS")


class GuardedMemory:
    """Arrays whose memory ends where the next page cannot be written, so that a reader that writes too far ends at once."""

    def __init__(self):
        self._protect = ctypes.CDLL(None, use_errno=True).mprotect
        self._protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

    def empty(self, shape, dtype):
        dtype, page = np.dtype(dtype), mmap.PAGESIZE
        size = math.prod(shape) * dtype.itemsize
        if size > 1 << 28:
            return np.empty(shape, dtype)
        pages = (size + page - 1) // page
        memory = mmap.mmap(-1, (pages + 1) * page)
        bytes_ = np.frombuffer(memory, np.uint8)
        if self._protect(bytes_.ctypes.data + pages * page, page, 0) != 0:
            raise OSError(ctypes.get_errno(), "mprotect failed")
        return bytes_[pages * page - size : pages * page].view(dtype).reshape(shape)


def make_seeds(folder):
    """Returns small files of all formats as (name, bytes)."""
    rng = np.random.default_rng(1)
    seeds = [(path.name.split("-", 1)[1], path.read_bytes()) for path in sorted(CORPUS.glob("*-*"))]
    for name in NAMES:
        for dtype in ("uint8", "uint16", "int16", "float32", "float64"):
            for shape in ((7, 9), (3, 5, 4), (6, 5, 3)):
                for compress in (False, True):
                    array = (rng.random(shape) * 100).astype(dtype)
                    image = itk_cudafilters.Image(array, has_components=shape == (6, 5, 3))
                    path = pathlib.Path(folder) / name
                    try:
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            itk_cudafilters.write_image(image, path, compress=compress)
                    except OSError:
                        continue  # the format holds no such pixels
                    seeds.append((name, path.read_bytes()))
    return seeds


def damage(data, rng):
    """Returns a file with one to four damages, most of them in its header."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if not data:
            break
        place = rng.randrange(min(len(data), rng.choice((64, 400, len(data)))))
        kind = rng.randrange(9)
        if kind == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[place] = rng.randrange(256)
        elif kind == 2:
            size = rng.choice((2, 4, 8))
            word = rng.choice(WORDS) % 2 ** (8 * size)
            data[place : place + size] = word.to_bytes(size, rng.choice(("little", "big")))
        elif kind == 3:
            del data[place:]
        elif kind == 4:
            del data[place : place + rng.randrange(1, 9)]
        elif kind == 5:
            data[place:place] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
        elif kind == 6:
            fields = [found.span(1) for found in re.finditer(rb"[=:] *([^\n]*)\n", bytes(data[:600]))]
            if fields:
                begin, end = rng.choice(fields)
                data[begin:end] = rng.choice(VALUES)
        elif kind == 7:
            ends = [found.end() for found in re.finditer(rb"\n", bytes(data[:300]))]
            if ends:
                place = rng.choice(ends)
                data[place:place] = rng.choice(LINES) + b"\n"
        else:
            numbers = [found.span() for found in re.finditer(rb"\d+(\.\d+)?", bytes(data[:400]))]
            if numbers:
                begin, end = rng.choice(numbers)
                data[begin:end] = rng.choice(TEXTS)
    return bytes(data)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def read(path):
    """Reads a file. Returns how that ended, and raises AssertionError for an end that is not allowed."""
    before, promised = peak(), 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            file = _image_files.ImageFile(path)
            promised = file.size_in_bytes
            image = file.read()
        outcome = f"{file.format} {image.dtype} {image.dimension}"
        assert image.array.nbytes == promised, f"the image has {image.array.nbytes} bytes, its header promises {promised}"
    except OSError as error:
        words = re.sub(r"'[^']*'|\d+", "", str(error))
        assert len(words) > 10, f"an error without words: {error!r}"
        outcome = f"{type(error).__name__} {words[:60]}"
    except MemoryError as error:
        raise AssertionError(f"no memory for a file of {os.path.getsize(path)} bytes") from error
    grown = peak() - before
    assert grown <= MEMORY_OF_READER + COPIES * promised, f"{grown} bytes of memory for an image of {promised}"
    return outcome


def work(seeds, seed, first, seconds, folder, report):
    """Reads files until the time is over, in a process of its own. Each file is on the disk before it is read."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for stream in (1, 2):  # the libraries tell there what is wrong, a line or more for each file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    _image_files.empty = GuardedMemory().empty
    end = time.monotonic() + seconds
    case = first
    while time.monotonic() < end:
        rng = random.Random(f"{seed} {case}")
        name, data = rng.choice(seeds)
        data = damage(data, rng)
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data)
        os.write(report, f"begin {case} {name}\n".encode())
        signal.alarm(SECONDS_OF_CASE)
        try:
            outcome = read(path)
        except BaseException as error:  # noqa: BLE001 - all that is not allowed is a finding
            outcome = f"FINDING {type(error).__name__}: {error}"
        signal.alarm(0)
        os.write(report, f"end {outcome}\n".replace("\n", " ", outcome.count("\n")).encode(errors="replace"))
        case += 1
        if case % 1000 == 0:
            gc.collect()


def run(seeds, seed, seconds, folder, keep):
    """Returns the numbers of cases, outcomes and findings."""
    start, case, outcomes, findings = time.monotonic(), 0, set(), {}
    while time.monotonic() - start < seconds:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            work(seeds, seed, case, seconds - (time.monotonic() - start), folder, writer)
            os._exit(0)
        os.close(writer)
        name, is_open = "", False
        with os.fdopen(reader, errors="replace") as lines:
            for line in lines:
                if line.startswith("begin "):
                    _, number, name = line.split()
                    case, is_open = int(number) + 1, True
                elif line.startswith("end "):
                    is_open = False
                    if line.startswith("end FINDING"):
                        note(findings, line[12:].strip(), name, seeds, seed, case - 1, keep)
                    outcomes.add(line)
        _, status = os.waitpid(child, 0)
        if is_open:
            what = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit status {os.WEXITSTATUS(status)}"
            note(findings, f"the process ended with {what}", name, seeds, seed, case - 1, keep)
        elif status != 0:
            note(findings, f"the process ended with status {status} after the file", name, seeds, seed, case - 1, keep)
    return case, len(outcomes), findings


def note(findings, what, name, seeds, seed, case, keep):
    """Keeps the file of a finding, unless there are some of its kind."""
    kind = re.sub(r"\d+", "", what)
    findings.setdefault(kind, 0)
    findings[kind] += 1
    if findings[kind] > 3:
        return
    rng = random.Random(f"{seed} {case}")
    _, data = rng.choice(seeds)
    data = damage(data, rng)
    keep.mkdir(parents=True, exist_ok=True)
    path = keep / f"{hashlib.sha1(data).hexdigest()[:12]}-{name}"
    path.write_bytes(data)
    print(f"finding: {what}\n  repeat: {sys.executable} {os.path.relpath(__file__)} {path}", flush=True)


def main():
    folder = pathlib.Path(tempfile.gettempdir()) / "itk-cudafilters-files"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="of the random damages (default: 1)")
    parser.add_argument("--folder", type=pathlib.Path, default=folder, help=f"where files that fail are kept (default: {folder})")
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE", help="read these files instead, once")
    options = parser.parse_args()
    if options.files:
        for path in options.files:
            print(f"{path}: {read(path)}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        seeds = make_seeds(folder)
        start = time.monotonic()
        cases, outcomes, findings = run(seeds, options.seed, options.seconds, folder, options.folder)
        seconds = time.monotonic() - start
    print(f"Files {cases} {cases / seconds:.0f} {outcomes} {sum(findings.values())}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Calls of the command in this process, and what they say."""
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from itk_cudafilters import _command

ROOT = Path(__file__).parents[2]
DATA = ROOT / "examples" / "data"
TURNED = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
META_TYPES = {
    "u1": "MET_UCHAR",
    "i1": "MET_CHAR",
    "u2": "MET_USHORT",
    "i2": "MET_SHORT",
    "u4": "MET_UINT",
    "i4": "MET_INT",
    "f4": "MET_FLOAT",
    "f8": "MET_DOUBLE",
}


def run(*arguments):
    return _command.main([str(argument) for argument in arguments])


def run_process(*arguments, **options):
    """The command in a process of its own."""
    words = [sys.executable, "-m", "itk_cudafilters", *map(str, arguments)]
    return subprocess.run(words, **{"capture_output": True, "timeout": 300, **options})


def expect_wrong_arguments(capsys, *arguments):
    """Returns the message of a call with wrong arguments."""
    with pytest.raises(SystemExit) as end:
        run(*arguments)
    assert end.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == "" and "Traceback" not in captured.err
    return captured.err


def expect_failure(capsys, *arguments):
    assert run(*arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and "Traceback" not in captured.err and len(captured.err.splitlines()) == 1
    assert captured.err.startswith(f"itk-cudafilters {arguments[0]}: ")
    return captured.err


def keys_of_report(part):
    """Those that docs/user/parameters.md names, without those of the objects in it."""
    (row,) = re.findall(rf"(?m)^\| `{part}` \| (`input`.*) \|$", (ROOT / "docs" / "user" / "parameters.md").read_text(encoding="utf-8"))
    return re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", row))


def write_meta_image(path, pixels, components=1):
    """A MetaImage of these pixels, indexed [z, y, x, component]."""
    size = pixels.shape[:3][::-1]
    header = (
        f"ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nCompressedData = False\n"
        f"TransformMatrix = {' '.join(str(TURNED[row][axis]) for axis in range(3) for row in range(3))}\nOffset = 3 -4 10\n"
        f"ElementSpacing = 0.5 2 1.25\nDimSize = {' '.join(map(str, size))}\nElementNumberOfChannels = {components}\n"
        f"ElementType = {META_TYPES[pixels.dtype.str[1:]]}\nElementDataFile = LOCAL\n"
    )
    path.write_bytes(header.encode() + pixels.tobytes())


def read_meta_image(path, like):
    """Header as a dictionary, and the pixels."""
    data = path.read_bytes()
    end = data.index(b"ElementDataFile = LOCAL\n") + len(b"ElementDataFile = LOCAL\n")
    header = dict(line.split(" = ", 1) for line in data[:end].decode().splitlines())
    return header, np.frombuffer(data[end:], like.dtype).reshape(like.shape)

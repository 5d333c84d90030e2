# SPDX-License-Identifier: Apache-2.0
"""Files that are written completely or not at all."""
from __future__ import annotations

import contextlib
import errno
import os
import secrets
import signal
import stat
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ._images import describe


def path_of(path: Any) -> Path:
    """Raises TypeError unless `path` is the name of a file."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path is {describe(path)}; it must be the name of a file")
    return Path(path)


def require_writable(path: str | os.PathLike[str]) -> Path:
    """Returns the file that is written as `path`, behind symbolic links. Raises OSError if it cannot be written."""
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.is_dir():
        raise OSError(f"'{path}' could not be written: there is no folder '{folder}'")
    if target.exists() and not target.is_file():
        raise OSError(f"'{path}' could not be written: it is {'a folder' if target.is_dir() else 'no regular file'}")
    for place in (folder, target):
        if place.exists() and not os.access(place, os.W_OK):
            raise OSError(f"'{path}' could not be written: no permission to write '{place}'")
    return target


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Opens a file that replaces the one of this name when the block ends without an exception. It is on the disk then.

    The new file has no name until that moment, where the file system supports this, so that it vanishes even if the
    process is killed."""
    target = require_writable(path)
    new = target.parent / f".{os.getpid():x}.{time.monotonic_ns():x}"
    try:
        number, is_named = _open_new(target.parent, new)
        try:
            with open(number, "w+b") as file:
                yield file
                file.flush()
                if target.exists():
                    os.fchmod(number, stat.S_IMODE(target.stat().st_mode))
                os.fsync(number)
                if not is_named:
                    _give_name(number, new)
            os.replace(new, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                new.unlink()
            raise
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(f"'{path}' could not be written: {error.strerror}") from error


def _open_new(folder: Path, name: Path) -> tuple[int, bool]:
    """Opens a new file, and returns whether it has its name already."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        # Network file systems and some others have no files without a name.
        try:
            return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o666), False
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
                raise
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), True


def _give_name(number: int, name: Path) -> None:
    """Gives an open file without a name one."""
    folder = os.open(name.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Only with an open folder does Python follow the link to the file.
        os.link(f"/proc/self/fd/{number}", name.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Returns whether text that is written to `path` goes to the standard output, a pipe or a device."""
    if os.fspath(path) == "/dev/stdout":
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def print_text(text: str) -> None:
    """Writes text to the standard output at once, behind what was printed before."""
    try:
        print(text, end="", flush=True)
    except OSError as error:
        # At its end Python tries it again, and would say so in its own words.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OSError(f"the standard output could not be written: {error.strerror}") from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a text file in UTF-8, or text to a stream, which remains what it is."""
    if os.fspath(path) == "/dev/stdout":
        print_text(text)  # the standard output may be a file, which is not to be replaced
    elif is_stream(path):
        Path(path).write_text(text, encoding="utf-8")
    else:
        with replacing(path) as file:
            file.write(text.encode("utf-8"))


class Scratch:
    """A folder in which libraries find files by names of this module's choice, and write files that are kept in memory.

    A library that does not report a full disk cannot fail there, and none leaves anything behind."""

    def __init__(self) -> None:
        self._folder = os.path.join(_temporary_folder(), f"itk-cudafilters-{secrets.token_hex(8)}")
        # It is registered first, so that it is removed wherever an exception of a signal's handler ends what follows.
        self._files = _scratch[self._folder] = []
        weakref.finalize(self, _remove, self._folder)
        os.mkdir(self._folder, 0o700)

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        _remove(self._folder)

    def path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def link(self, name: str, path: str | os.PathLike[str]) -> str:
        """Gives a file another name, and returns its path."""
        os.symlink(os.path.abspath(path), self.path(name))
        return self.path(name)

    def create(self, name: str) -> BinaryIO:
        """Returns a new empty file of that name."""
        if hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd"):
            file: BinaryIO = open(os.memfd_create("itk-cudafilters"), "w+b")
            os.symlink(f"/proc/{os.getpid()}/fd/{file.fileno()}", self.path(name))
        else:
            file = open(self.path(name), "w+b")
        self._files.append(file)
        return file


def _temporary_folder() -> str:
    """Returns `tempfile.gettempdir()`. Its first call tries the folder with a file, which stays there if a signal ends the call.
    Signals that arrive meanwhile are therefore raised again at its end."""
    if tempfile.tempdir is not None or threading.current_thread() is not threading.main_thread():
        return tempfile.gettempdir()
    received: list[int] = []
    # An interruption can be caught by the caller. Its handler is the first to be replaced and the last to return, so that
    # the caller finds the others as they were.
    numbers = [number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is not None]
    handlers = {number: signal.signal(number, lambda number, _: received.append(number)) for number in numbers}
    try:
        return tempfile.gettempdir()
    finally:
        for number in reversed(numbers):
            signal.signal(number, handlers[number])
        for arrived in received:
            signal.raise_signal(arrived)


_scratch: dict[str, list[BinaryIO]] = {}  # the folders that exist, with their open files


def _remove(folder: str) -> None:
    """Removes a folder unless that has been done. It can be called again after an exception has ended it."""
    for file in _scratch.get(folder, ()):
        file.close()
    if folder in _scratch:
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                os.unlink(os.path.join(folder, name))
            os.rmdir(folder)
        _scratch.pop(folder, None)


def remove_scratch() -> None:
    """Removes the folders of all objects that still exist."""
    for folder in list(_scratch):
        _remove(folder)

# SPDX-License-Identifier: Apache-2.0
"""The command itk-cudafilters. docs/user/parameters.md describes its arguments.

Each part of the command is a module of this package, which is imported when the part is called: `add_arguments()` adds its
arguments to the parser, EPILOG ends its help, and `run()` does the work.
"""
from __future__ import annotations

import io
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ._parser import Parser, WrongArguments

PARTS = {
    "smooth": "Smooths an image with a Gaussian.",
    "segment": "Finds the polygon that divides an image into a target and a background and explains it best.",
    "partition": "Divides an image into all its homogeneous regions, with polygons for boundaries.",
    "detect": "Detects small bright targets with a constant rate of false alarms.",
    "vesselness": "Enhances vessels and other lines by the Hessians of several scales.",
    "compare": "Compares this package's smoothing with that of ITK's own filter.",
    "info": "Prints the GPUs and the driver that were found, and where filters run and why.",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status: 0 if it succeeded, 1 if it failed. Wrong arguments raise SystemExit
    with status 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    part: Any = None
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")  # for names of files that are not UTF-8
    try:
        parsed = make_parser(given).parse_args(given)
        part = parsed.parser
        with _ended_by_signals(), _warnings_as_lines(part):
            parsed.run(parsed)
    except WrongArguments as error:
        part.error(str(error))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except (MemoryError, SystemError, SyntaxError):  # Python raises one of these if memory ends while it imports a module
        # The libraries may not end properly. There is no memory to say more.
        os.write(2, b"itk-cudafilters: not enough memory\n")
        os._exit(1)
    except (OSError, RuntimeError, TypeError, ValueError, ImportError) as error:
        reason, name = _reason_of(error), part.prog if part else "itk-cudafilters"
        has_no_threads = "Resource temporarily unavailable" in reason
        if has_no_threads or re.search("annot allocate memory|failed to map", reason):
            print(f"{name}: not enough memory{' for threads' if has_no_threads else ''}", file=sys.stderr, flush=True)
            os._exit(1)
        found = part.option_in(reason) if part else None
        if found is not None:
            part.error(found)
        print(f"{name}: {reason}", file=sys.stderr)
        return 1
    return 0


def _reason_of(error: BaseException) -> str:
    """Returns an exception's message without the location in ITK's sources that threw it."""
    if isinstance(error, OSError) and error.errno is not None:
        return f"{error.strerror}: '{error.filename}'" if error.filename else str(error.strerror)
    reason = " ".join(re.sub(r"^\S+:\d+:\n(ITK ERROR: (\w+\(0x[0-9a-f]+\): )?)?", "", str(error)).split())
    return _with_options(reason)


def _with_options(text: str) -> str:
    """Returns a message of the package with the names of options in place of those of keywords that stand within it."""
    for words, option in {
        "a mask of valid pixels": "--valid-mask",
        'quantity="db"': "--quantity db",
        "local_background is not set": "--local-background is not set",
        "looks=": "--looks ",
        ", or preserve_nan False": "",
    }.items():
        text = text.replace(words, option)
    return text


@contextmanager
def _warnings_as_lines(part: Parser) -> Iterator[None]:
    """Prints warnings of the package's functions as messages of the command."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = _with_options(str(message))
        print(f"{part.prog}: {part.option_in(text) or text}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Lets signals that would end the process end the block by SystemExit instead, and removes what the block has begun.
    A signal that arrives meanwhile is ignored, as the block has ended."""

    from .._output import remove_scratch  # imports NumPy, which --help does without

    def end(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, Any] = {
        number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL
    }
    try:
        yield
    finally:
        before[signal.SIGINT] = signal.getsignal(signal.SIGINT)
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        remove_scratch()
        for number, handler in before.items():
            signal.signal(number, handler)


def make_parser(given: Sequence[str]) -> Parser:
    """Returns the parser. Only the parts that are among the given arguments are imported and get their arguments."""
    parser = Parser(
        prog="itk-cudafilters",
        description="Gaussian filters, vesselness and segmentation of image files, on the GPU if there is one, else on the host.",
        epilog="'itk-cudafilters smooth --help' describes smooth, and so on. "
        "Exit status: 0 done; 1 an image could not be read, processed or written; 2 wrong arguments.",
    )
    parts = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Parser)
    for name, description in PARTS.items():
        part = parts.add_parser(name, help=description, description=description)
        if name in given:
            module: Any = import_module(f"{__name__}.{name}")
            part.epilog = module.EPILOG
            part.set_defaults(run=module.run, parser=part)
            module.add_arguments(part)
    return parser

# SPDX-License-Identifier: Apache-2.0
"""Progress bars of runs."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ._parameters import switch


@contextmanager
def progress_bar(description: str, shown: bool, size: float = 0.0) -> Iterator[Callable[[float], None] | None]:
    """Shows the progress of a run within the block, if `shown` is True: by the package tqdm, or without it as text on
    the standard error. Returns a function that takes the share that is done, or None.

    With a size in bytes the rate is shown too."""
    if not switch(shown, "progress"):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        start = time.perf_counter()

        def draw(share: float) -> None:
            done = min(max(share, 0.0), 1.0)
            rate = f" {done * size / max(time.perf_counter() - start, 1e-9) / 2**30:.2f} GiB/s" if size else ""
            print(f"\r{description} [{'#' * int(40 * done):40}] {100 * done:3.0f}%{rate} ", end="", file=sys.stderr, flush=True)

        yield draw
        draw(1.0)
        print(file=sys.stderr)
        return
    total = size / 2**30 if size else 100.0
    unit, rate = ("GiB", ", {rate_fmt}") if size else ("%", "")
    with tqdm(total=total, unit=unit, desc=description, bar_format="{l_bar}{bar}| {elapsed}" + rate) as bar:
        yield lambda share: bar.update(total * min(share, 1.0) - bar.n)
        # The library sums the progress of threads and steps in float, so that the last value may be just below 1.
        bar.update(bar.total - bar.n)

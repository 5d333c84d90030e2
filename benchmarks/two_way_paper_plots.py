#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws PSNR and process time against the window, the image's side and the number of blocks.

usage: two_way_paper_plots.py RECORD.json OUTPUT_FOLDER   (RECORD from two_way_paper_tables --json)
"""
import argparse
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

SERIES = (
    ("one_way_two_way", "one-way against two-way"),
    ("fir_one_way", "FIR against one-way"),
    ("fir_two_way", "FIR against two-way"),
)


def draw_psnr(rows, folder):
    """One panel for each size: range and mean over the images at sigma = N/2, and the published values."""
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    figure, axes = pyplot.subplots(1, len(sizes), figsize=(4 * len(sizes), 3.6), sharey=True, squeeze=False)
    for axis, size in zip(axes[0], sizes):
        for index, (key, label) in enumerate(SERIES):
            here = [row for row in rows if row["size"] == size and row["window_to_sigma"] == 2]
            windows = sorted({row["window"] for row in here})
            values = [[row[key] for row in here if row["window"] == window] for window in windows]
            published = [next(row["published"][index] for row in here if row["window"] == window) for window in windows]
            colour = f"C{index}"
            axis.plot(windows, [sum(v) / len(v) for v in values], "o-", color=colour, label=label)
            axis.fill_between(windows, [min(v) for v in values], [max(v) for v in values], color=colour, alpha=0.2)
            axis.plot(windows, published, "x:", color=colour, label=label + ", published")
        axis.set_title(size)
        axis.set_xlabel("filter window N (sigma = N/2)")
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("PSNR in dB")
    axes[0][-1].legend(fontsize=6)
    figure.tight_layout()
    figure.savefig(folder / "two_way_psnr.png", dpi=150)


def draw_times(times, folder):
    """Left: the fastest of each partition against the side. Right: Exact against its number of blocks."""
    rows = times["rows"]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4))
    sides = sorted({row["side"] for row in rows})
    for partition in ("OneWay", "TwoWay", "Exact"):
        best = [min(row["ms"] for row in rows if row["side"] == s and row["partition"] == partition) for s in sides]
        left.loglog(sides, best, "o-", label=partition)
    left.set_xlabel("side of the square image")
    left.legend()
    for side in sides:
        one_way = min(row["ms"] for row in rows if row["side"] == side and row["partition"] == "OneWay")
        by_blocks = {}
        for row in rows:
            if row["side"] == side and row["partition"] == "Exact":
                by_blocks[row["blocks"]] = min(row["ms"], by_blocks.get(row["blocks"], row["ms"]))
        blocks = sorted(by_blocks)
        line = right.loglog(blocks, [by_blocks[b] for b in blocks], "o-", label=str(side))[0]
        right.axhline(one_way, color=line.get_color(), linestyle=":")
    right.set_xlabel("blocks of a line (dotted: OneWay)")
    right.legend(title="side", fontsize=7)
    for axis in (left, right):
        axis.set_ylabel("ms for both axes")
        axis.grid(alpha=0.3)
    figure.suptitle(times["device"])
    figure.tight_layout()
    figure.savefig(folder / "two_way_times.png", dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    record = json.loads(arguments.record.read_text(encoding="utf-8"))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if record.get("psnr"):
        draw_psnr(record["psnr"], arguments.folder)
    if record.get("times"):
        draw_times(record["times"], arguments.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

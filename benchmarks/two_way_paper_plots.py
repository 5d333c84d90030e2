#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws PSNR and process time against the window, the image's side and the number of blocks.

usage: two_way_paper_plots.py benchmarks/records/h200/two_way.json OUTPUT_FOLDER
"""
import argparse
import pathlib
import sys

import records
from plot_style import WIDTH, label_powers, label_times, name_curve, name_ends, pyplot, save

SERIES = (
    ("one_way_two_way", "one-way and two-way", "C0"),
    ("fir_one_way", "convolution and one-way", "C1"),
    ("fir_two_way", "convolution and two-way", "C2"),
)
COLOURS = {"OneWay": "C3", "TwoWay": "C1", "Exact": "C0"}


def draw_psnr(rows, path):
    """A row of panels for each pair of filters, a column for each size: range and mean over the images at sigma = N/2, and the
    published values."""
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    figure, axes = pyplot.subplots(
        len(SERIES), len(sizes), figsize=(WIDTH, 7.5), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for line, (index, (key, label, colour)) in zip(axes, enumerate(SERIES)):
        for axis, size in zip(line, sizes):
            here = [row for row in rows if row["size"] == size and row["window_to_sigma"] == 2]
            windows = sorted({row["window"] for row in here})
            values = [[row[key] for row in here if row["window"] == window] for window in windows]
            published = [next(row["published"][index] for row in here if row["window"] == window) for window in windows]
            axis.fill_between(windows, [min(v) for v in values], [max(v) for v in values], color=colour, alpha=0.2, linewidth=0)
            axis.plot(windows, [sum(v) / len(v) for v in values], "o-", color=colour, markersize=4)
            axis.plot(windows, published, "x:", color="0.2", markersize=5)
            axis.set_xticks(windows)
            axis.set_title(f"{label}, {size}")
        line[0].set_ylabel("PSNR in dB")
    axis, means = axes[0][0], axes[0][0].lines[0].get_ydata()
    name_curve(axis, (30, means[1]), "here: mean and\nrange of four images", SERIES[0][2], (4, 30))
    name_curve(axis, (30, axis.lines[1].get_ydata()[1]), "published", "0.2", (4, -9))
    for axis in axes[-1]:
        axis.set_xlabel("filter window N in pixels")
    figure.suptitle("How alike the filters' results are (higher is more alike), by window and image size")
    save(figure, path)


def fastest(rows, **wanted):
    return min(row["ms"] for row in rows if all(row[key] == value for key, value in wanted.items()))


def draw_times(rows, device, path):
    """Above: the fastest of each partition by side. Below: Exact by its number of blocks, a panel for each side."""
    sides = sorted({row["side"] for row in rows})
    figure = pyplot.figure(figsize=(WIDTH, 9.5), layout="constrained")
    columns = 3
    lines = -(-len(sides) // columns)
    grid = figure.add_gridspec(1 + lines, columns, height_ratios=[1.5] + lines * [1])
    above = figure.add_subplot(grid[0, :])
    names = []
    for partition, colour in COLOURS.items():
        best = [fastest(rows, side=side, partition=partition) for side in sides]
        above.loglog(sides, best, "o-", color=colour, markersize=4)
        names.append(((sides[-1], best[-1]), partition, colour))
    label_powers(above, sides)
    label_times(above)
    above.set_xlim(0.9 * sides[0], 1.25 * sides[-1])
    above.set_xlabel("side of the square image in pixels")
    above.set_ylabel("milliseconds")
    above.set_title("fastest of each partition")
    for index, side in enumerate(sides):
        axis = figure.add_subplot(grid[1 + index // columns, index % columns])
        exact = [row for row in rows if (row["side"], row["partition"]) == (side, "Exact")]
        blocks = sorted({row["blocks"] for row in exact})
        axis.semilogx(blocks, [fastest(exact, blocks=number) for number in blocks], "o-", color=COLOURS["Exact"], markersize=3)
        for partition in ("OneWay", "TwoWay"):
            ms = fastest(rows, side=side, partition=partition)
            axis.axhline(ms, color=COLOURS[partition], linestyle=":")
            name_curve(axis, (blocks[-1], ms), partition, COLOURS[partition], (0, 6), ha="right", fontsize=8)
        axis.set_ylim(bottom=0)
        label_powers(axis, blocks[::2])
        axis.set_title(f"Exact, side {side}")
        axis.set_xlabel("blocks of a line")
        if index % columns == 0:
            axis.set_ylabel("milliseconds")
    figure.suptitle(f"Filtering a float image along both axes, window 30, on one {device}")
    figure.draw_without_rendering()
    name_ends(above, names, 11)
    save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    runs = records.read_record(arguments.record)["runs"]
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for run in runs:
        if run.get("psnr"):
            draw_psnr(run["psnr"], arguments.folder / "two_way_psnr.png")
        if run.get("times"):
            draw_times(run["times"], run["machine"]["device"], arguments.folder / "two_way_times.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())

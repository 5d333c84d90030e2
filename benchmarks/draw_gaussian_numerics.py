#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/developer/numerics.md and prints its tables.

usage: draw_gaussian_numerics.py RECORD.json OUTPUT_FOLDER   (RECORD from gaussian_numerics)
"""
import json
import math
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

METHODS = (
    ("itk_recursive", "Deriche: ITK's recursive filters", "C1", "-"),
    ("accurate", "Accurate", "C0", "-"),
    ("young_van_vliet", "Young and van Vliet", "C2", "-"),
    ("itk_discrete", "ITK's discrete Gaussian, error 0.01", "C3", "-."),
    ("samples_4_sigma", "samples, cut at 4 sigma", "C4", "--"),
)
ORDERS = ("smoothing", "first derivative", "second derivative")


def finish(figure, axes, path, columns=3):
    """Draws one legend for all panels below them."""
    handles = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(label, handle)
        axis.grid(alpha=0.3, which="major")
    rows = -(-len(handles) // columns)
    height = figure.get_figheight()
    figure.tight_layout(rect=(0, 0.26 * rows / height, 1, 1))
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncol=columns, frameon=False)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def label_sigmas(axis):
    axis.set_xlabel("sigma in pixels")
    axis.set_xticks((0.5, 1, 2, 5, 10, 20, 50, 100))
    axis.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
    axis.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def draw_impulse_responses(record, path):
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 4.4), sharey=True)
    for order, axis in enumerate(axes):
        for key, label, colour, style in METHODS:
            differences = record["difference"][key]
            if order < len(differences):
                values = [abs(value) if abs(value) > 1e-10 else math.nan for value in differences[order]]
                axis.semilogy(record["distance"], values, style, color=colour, label=label)
        axis.set_title(ORDERS[order])
        axis.set_xlabel("distance from the impulse / sigma")
        axis.set_xlim(0, 6)
    axes[0].set_ylim(1e-9, 1e-1)
    axes[0].set_ylabel("|difference from the Gaussian|\n/ its largest value")
    finish(figure, axes, path)


def draw_smoothing(rows, path):
    figure, axes = pyplot.subplots(1, 2, figsize=(12, 4.6))
    for key, label, colour, style in METHODS:
        here = [row for row in rows if key in row]
        sigmas = [row["sigma"] for row in here]
        axes[0].semilogx(sigmas, [row[key]["effective_sigma"] for row in here], style, color=colour, label=label)
        axes[1].loglog(sigmas, [row[key]["error"][0] for row in here], style, color=colour, label=label)
    axes[0].semilogx([row["sigma"] for row in rows], [row["sampled_gaussian"]["effective_sigma"] for row in rows], ":",
                     color="black", label="sampled Gaussian")
    axes[0].set_ylim(0.88, 1.3)
    axes[0].set_ylabel("effective sigma / sigma")
    axes[1].set_ylim(1e-7, 1)
    axes[1].set_ylabel("largest difference from the\nsampled Gaussian / its centre")
    for axis in axes:
        label_sigmas(axis)
    finish(figure, axes, path)


def draw_derivatives(rows, path):
    figure, axes = pyplot.subplots(1, 2, figsize=(12, 4.4), sharey=True)
    for order, axis in zip((1, 2), axes):
        for key, label, colour, style in METHODS:
            here = [row for row in rows if key in row and len(row[key]["error"]) > order]
            if here:
                axis.loglog([row["sigma"] for row in here], [row[key]["error"][order] for row in here], style,
                            color=colour, label=label)
        axis.set_title(ORDERS[order])
        label_sigmas(axis)
    axes[0].set_ylim(1e-5, 1)
    axes[0].set_ylabel("largest error on Gaussian blobs\n/ largest output")
    finish(figure, axes, path)


def draw_float(rows, path):
    figure, axes = pyplot.subplots(2, 3, figsize=(12, 7.4), sharex=True, sharey=True)
    forms = (
        ("direct_float", "direct form, float", "o-"),
        ("direct_double", "direct form, double", "s-"),
        ("states_float_with_offset", "state variables, float, offset kept", "^-"),
        ("states_float", "state variables, float (this module)", "o-"),
    )
    colours = ("C1", "C2", "C4", "C0")
    for line, kind in enumerate(("0 to 1", "1000 +- 50")):
        for order in range(3):
            axis = axes[line][order]
            for (key, label, style), colour in zip(forms, colours):
                here = [row for row in rows
                        if row["order"] == order and row["input"] == kind and row["approximation"] == "deriche"]
                points = [(row["sigma"], row[key]) for row in here if row[key] is not None]
                axis.loglog(*zip(*points), style, markersize=4, color=colour, label=label)
            axis.set_title(f"{ORDERS[order]}, pixels {kind.replace('+-', '±')}")
    for axis in axes[1]:
        axis.set_xlabel("sigma in pixels")
        axis.xaxis.set_major_locator(matplotlib.ticker.LogLocator(base=4))
        axis.xaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
        axis.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes[0][0].set_ylim(1e-9, 1)
    for row in axes:
        row[0].set_ylabel("largest error\n/ (max|x| |h|$_1$)")
    finish(figure, axes.flatten(), path, columns=4)


def number(value):
    """Formats a number with two digits for a document."""
    return "-" if value is None else f"{value:.1e}".replace("e-0", "e-").replace("e+00", "")


def print_tables(record):
    rows = record["by_sigma"]
    print("derivatives:")
    for sigma in (0.5, 0.71, 1.0, 1.2, 1.5, 2.0, 5.0, 100.0):
        row = min(rows, key=lambda candidate: abs(candidate["sigma"] - sigma))
        cells = [", ".join(number(error) for error in row[key]["error"])
                 for key in ("itk_recursive", "accurate", "samples_4_sigma")]
        print(f"| {row['sigma']:.3g} | " + " | ".join(cells) + " |")

    print("float:")
    forms = ("direct_float", "states_float_with_offset", "states_float")
    for approximation in ("deriche", "accurate"):
        for pixels in ("0 to 1", "1000 +- 50"):
            for sigma in (1, 8, 64, 512):
                here = [row for row in record["float"]
                        if (row["approximation"], row["input"], row["sigma"]) == (approximation, pixels, sigma)]
                cells = [", ".join(number(row[key]) for row in here) for key in forms]
                print(f"| {pixels}, {approximation.capitalize()} | {sigma} | " + " | ".join(cells) + " |")

    row = min(rows, key=lambda candidate: abs(candidate["sigma"] - 8.0))
    for figure in ("overshoot", "effective_sigma"):
        print(f"{figure} at {row['sigma']:.3g}:", {key: f"{row[key][figure]:.7g}" for key, *_ in METHODS})
    for key in ("itk_recursive", "accurate"):
        above = [r for r in rows if r["sigma"] >= 1.5]
        print(key, "from 1.5 on: largest errors", [number(max(r[key]["error"][k] for r in above)) for k in range(3)],
              "overshoot", number(max(r[key]["overshoot"] for r in rows)), "effective sigma from 1 on off by",
              number(max(abs(1 - r[key]["effective_sigma"]) for r in rows if r["sigma"] >= 0.99)))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    record = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    draw_impulse_responses(record["impulse_responses"], folder / "numerics_impulse_responses.png")
    draw_smoothing(record["by_sigma"], folder / "numerics_smoothing.png")
    draw_derivatives(record["by_sigma"], folder / "numerics_derivatives.png")
    draw_float(record["float"], folder / "numerics_float.png")
    print_tables(record)


if __name__ == "__main__":
    main()

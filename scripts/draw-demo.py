#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws input, result and difference from ITK's filter, side by side. Usage: draw-demo.py FOLDER PICTURE

FOLDER holds, for each image, what the program compare_with_itk wrote: NAME.json, NAME-input.raw, ...
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

IMAGES = (
    ("sar", "Radar amplitude (SAR), farm fields"),
    ("mr", "Magnetic resonance slice, proton density"),
)


def read(folder, name):
    facts = json.loads((folder / f"{name}.json").read_text())
    shape = tuple(reversed(facts["size"]))
    pictures = {
        kind: np.fromfile(folder / f"{name}-{kind}.raw", dtype="<f4").reshape(shape)
        for kind in ("input", "result", "difference")
    }
    return facts, pictures


def describe_backend(facts):
    if facts["backend_used"] == "Cuda":
        return f"GPU ({facts['device']})"
    return f"host, {facts['host_threads']} threads ({facts['backend_reason']})"


def round_up(value):
    """A round number not below the value, for the colour scale."""
    if value <= 0.0:
        return 1e-6
    power = 10.0 ** np.floor(np.log10(value))
    return next(factor * power for factor in (1.0, 1.5, 2.0, 3.0, 5.0, 10.0) if factor * power >= value)


def in_words(factor):
    if factor >= 1e6:
        return f"{factor / 1e6:.1f} million times"
    return f"{factor:,.0f} times"


def grey_levels(value):
    """Exactly zero is said as such: on the host the filter is ITK's own code."""
    return "none" if value == 0.0 else f"at most {value:.1e} grey levels"


def draw_image(figure, axes, title, facts, pictures):
    grey = {"cmap": "gray", "vmin": 0, "vmax": np.percentile(pictures["input"], 99.5), "interpolation": "nearest"}
    height, width = pictures["input"].shape
    place = "GPU" if facts["backend_used"] == "Cuda" else "host"
    axes[0].imshow(pictures["input"], **grey)
    axes[0].set_title(f"{title}\n{width} × {height} pixels, 8 bit")
    axes[1].imshow(pictures["result"], **grey)
    axes[1].set_title(
        f"smoothed, sigma {facts['sigma']:g} pixels: {facts['milliseconds']:.2f} ms on the {place}\n"
        f"(ITK's own filter: {facts['itk_milliseconds']:.2f} ms on {facts['host_threads']} threads of the host)"
    )
    limit = round_up(facts["largest_difference_from_float64"])
    shown = axes[2].imshow(pictures["difference"], cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
    axes[2].set_title(
        f"difference from ITK's filter in float64, amplified {in_words(127.5 / limit)}:\n"
        f"{grey_levels(facts['largest_difference_from_float64'])}\n"
        f"(from ITK's in float32: {grey_levels(facts['largest_difference_from_float32'])})"
    )
    bar = figure.colorbar(shown, ax=axes[2], pad=0.02)
    bar.set_label("grey levels")
    bar.formatter.set_powerlimits((0, 0))
    for axis in axes:
        axis.set_xticks([])
        axis.set_yticks([])


def main():
    folder, picture = pathlib.Path(sys.argv[1]), sys.argv[2]
    images = [(title, *read(folder, name)) for name, title in IMAGES]
    plt.rcParams.update({"font.size": 10, "axes.titlesize": 10})
    figure, rows = plt.subplots(
        len(images), 3, figsize=(18, 9.6), gridspec_kw={"height_ratios": (1.0, 1.6)}, layout="constrained"
    )
    for row, (title, facts, pictures) in zip(rows, images):
        draw_image(figure, row, title, facts, pictures)
    figure.suptitle(f"Recursive Gaussian smoothing, image to image in host memory, on the {describe_backend(images[0][1])}")
    figure.savefig(picture, dpi=100)
    for title, facts, _ in images:
        print(
            f"   {title}: {facts['milliseconds']:.2f} ms (ITK {facts['itk_milliseconds']:.2f} ms), "
            f"largest difference from ITK in float64 {facts['largest_difference_from_float64']:.1e} grey levels"
        )


if __name__ == "__main__":
    main()

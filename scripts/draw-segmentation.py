#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the overlays of two segmented images side by side. Usage: draw-segmentation.py FOLDER PICTURE

FOLDER holds, for each image, what the program segment_region wrote: NAME-overlay.png and NAME-segmentation.json.
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

IMAGES = (
    ("sar", "Radar amplitude (SAR), farm fields", "Rayleigh"),
    ("mr", "Magnetic resonance slice, proton density", "Gaussian"),
)


def describe(title, law, facts):
    width, height = facts["size"]
    place = "GPU" if facts["backend_used"] == "Cuda" else f"host, {facts['host_threads']} threads"
    return (
        f"{title}, {width} × {height} pixels\n"
        f"{law} law: {facts['nodes']} nodes in {1000 * facts['seconds']['filter']:.1f} ms on the {place}"
    )


def main():
    folder, picture = pathlib.Path(sys.argv[1]), sys.argv[2]
    overlays = [plt.imread(folder / f"{name}-overlay.png") for name, _, _ in IMAGES]
    facts = [json.loads((folder / f"{name}-segmentation.json").read_text()) for name, _, _ in IMAGES]
    ratios = [overlay.shape[1] / overlay.shape[0] for overlay in overlays]
    height = 6.4
    figure, axes = plt.subplots(
        1,
        len(IMAGES),
        figsize=(sum(ratios) * height + 0.4, height + 0.72),
        gridspec_kw={"width_ratios": ratios},
        layout="constrained",
    )
    for axis, overlay, fact, (_, title, law) in zip(axes, overlays, facts, IMAGES):
        axis.imshow(overlay)
        axis.set_title(describe(title, law, fact), fontsize=10)
        axis.axis("off")
    figure.savefig(picture, dpi=72)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws pictures of docs/ from records of a GPU. Usage: draw-pictures.py FOLDER PICTURES

FOLDER is what scripts/gpu-pictures.sh wrote. Draws segmentation.png, snake_limits.png, smooth_volume.png and
vesselness.png into PICTURES, which is docs/pictures. Refuses a record that was not made on a GPU, before it draws
anything. Needs NumPy and matplotlib. scripts/draw-package-pictures.py draws the pictures that need no GPU.
"""
import gzip
import json
import pathlib
import sys

RECORDS = (
    "sar-compare", "volume-smooth", "sar-segment", "mr-segment", "corridors-segment", "objectness-vesselness", "frangi-vesselness",
)
CONTOUR = "#ff8c00"
WIDTH = 9.0  # inches of 100 pixels
# x and y of the corner of the shown part of the radar image, which is as high as the magnetic resonance slice and twice
# as wide.
RADAR_CORNER = (560, 70)


def read_records(folder):
    """Returns all records by their names."""
    records = {}
    for name in RECORDS:
        path = folder / f"{name}.json"
        if not path.is_file():
            raise SystemExit(f"error: {path} is missing: run gpu-pictures.sh {folder}")
        record = json.loads(path.read_text(encoding="utf-8"))
        used = record.get("backend_used")
        if str(used).lower() != "cuda":
            raise SystemExit(f"error: {path} was made with backend_used '{used}'; pictures are drawn from records of 'cuda' only")
        records[name] = record
    return records


NIFTI_TYPES = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4"}


def read_nifti(path):
    """Returns the pixels of a NIfTI-1 file, indexed [z, y, x], and the spacing along x, y and z."""
    import numpy as np

    data = (gzip.open if path.suffix == ".gz" else open)(path, "rb").read()
    order = "<" if int.from_bytes(data[:4], "little") == 348 else ">"
    size = np.frombuffer(data, order + "i2", 4, 40)[1:]
    kind = int(np.frombuffer(data, order + "i2", 1, 70)[0])
    spacing = np.frombuffer(data, order + "f4", 4, 76)[1:]
    begin = int(np.frombuffer(data, order + "f4", 1, 108)[0])
    pixels = np.frombuffer(data, order + NIFTI_TYPES[kind], int(np.prod(size.astype(int))), begin)
    return pixels.reshape(size[::-1]), [float(step) for step in spacing]


def read_contour(path, record):
    """Returns x and y of the polygon in pixels. The first and the last vertex are equal. The origin of the sample
    images is 0, 0."""
    import numpy as np

    ring = json.loads(path.read_text(encoding="utf-8"))["features"][0]["geometry"]["coordinates"][0]
    return np.asarray(ring).T / np.asarray(record["spacing"])[:, np.newaxis]


def device_of(records):
    """Returns the device's name, which only the comparison records. All records come from one machine."""
    return records["sar-compare"].get("device") or "GPU"


def sigma_of(record):
    sigma = record["sigma"]
    values = sorted(set(sigma)) if isinstance(sigma, list) else [sigma]
    return ", ".join(f"{value:g}" for value in values)


def no_ticks(axis):
    axis.set_xticks([])
    axis.set_yticks([])


def draw_outline(axis, plt, folder, name, image, record):
    pixels = plt.imread(folder / f"{image}.png")
    white = sorted(pixels.ravel())[int(0.995 * pixels.size)]
    axis.imshow(pixels, cmap="gray", vmin=0, vmax=white, interpolation="nearest")
    axis.plot(*read_contour(folder / f"{name}-contour.geojson", record), "o-", color=CONTOUR, markersize=3, linewidth=1.4)
    no_ticks(axis)


def draw_segmentation(plt, folder, records, path):
    """Draws the segmented field of the radar image, and the slice at the same size."""
    sar, mr = records["sar-segment"], records["mr-segment"]
    width, height = mr["size"]
    x, y = RADAR_CORNER
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(WIDTH, 4.3), gridspec_kw={"width_ratios": (2, 1)}, layout="constrained"
    )
    draw_outline(left, plt, folder, "sar", "sar", sar)
    left.set_xlim(x - 0.5, x + 2 * width - 0.5)
    left.set_ylim(y + height - 0.5, y - 0.5)
    left.set_title(f"one field of a radar image, found from a rectangle on it\n(Rayleigh, {sar['nodes']} nodes)")
    draw_outline(right, plt, folder, "mr", "mr", mr)
    right.set_title(f"a brain in its skull\n(Gaussian, {mr['nodes']} nodes)")
    figure.suptitle(f"Regions found by the snake on one {device_of(records)}")
    figure.savefig(path, dpi=100)
    plt.close(figure)


def draw_limits(plt, folder, records, path):
    record = records["corridors-segment"]
    figure, axis = plt.subplots(figsize=(WIDTH, 5.2), layout="constrained")
    draw_outline(axis, plt, folder, "corridors", "sar", record)
    axis.set_title(f"without an initial region: corridors join bright fields (Rayleigh, {record['nodes']} nodes)")
    figure.suptitle("A limit of the snake: the target is one region without holes")
    figure.savefig(path, dpi=100)
    plt.close(figure)


def draw_volume(plt, folder, records, path):
    """Draws the three middle slices of the volume, with axes in millimetres, before and after smoothing."""
    before, spacing = read_nifti(folder / "volume.nii.gz")
    after, _ = read_nifti(folder / "volume-smoothed.nii")
    record = records["volume-smooth"]
    white = float(sorted(before.ravel())[int(0.995 * before.size)])
    middle = [length // 2 for length in before.shape]
    # The volume's y runs from the neck to the crown, its z from back to front: name, slice, millimetres of a pixel
    # across and down.
    cuts = (
        ("coronal", lambda v: v[middle[0], ::-1], spacing[0], spacing[1]),
        ("axial", lambda v: v[::-1, middle[1]], spacing[0], spacing[2]),
        ("sagittal", lambda v: v[:, ::-1, middle[2]].T, spacing[2], spacing[1]),
    )
    widths = [cut(before).shape[1] * across for _, cut, across, _ in cuts]
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 7.2), gridspec_kw={"width_ratios": widths}, layout="constrained")
    for row, volume, word in zip(axes, (before, after), ("before", f"after, sigma {sigma_of(record)} mm")):
        for axis, (name, cut, across, down) in zip(row, cuts):
            axis.imshow(cut(volume), cmap="gray", vmin=0, vmax=white, aspect=down / across, interpolation="nearest")
            axis.set_title(f"{name}, {word}")
            no_ticks(axis)
    figure.suptitle(f"Smoothing of a volume of a head on one {device_of(records)}")
    figure.savefig(path, dpi=100)
    plt.close(figure)


def draw_projection(axis, values, aspect, title, **colours):
    axis.imshow(values, aspect=aspect, interpolation="nearest", **colours)
    axis.set_title(title)
    no_ticks(axis)


def draw_vesselness(plt, folder, records, path):
    """Draws maximum intensity projections of the phantom and of two measures, and the sigma of the largest response."""
    import numpy as np

    before, spacing = read_nifti(folder / "vessels.nii.gz")
    aspect = spacing[1] / spacing[0]
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 8.0), layout="constrained")
    draw_projection(axes[0, 0], before.max(axis=0), aspect, "a phantom drawn by a program: tubes and noise", cmap="gray")
    for axis, name, word in ((axes[0, 1], "objectness", "contrast"), (axes[1, 0], "frangi", "shape, from 0 to 1")):
        response, _ = read_nifti(folder / f"vessels-{name}.nii")
        projection = response.max(axis=0)
        white = float(np.percentile(projection, 99.5))
        draw_projection(axis, projection, aspect, f"{name}: {word}", cmap="gray", vmin=0, vmax=white)
    response, _ = read_nifti(folder / "vessels-objectness.nii")
    scale, _ = read_nifti(folder / "vessels-objectness-scale.nii")
    largest = response.argmax(axis=0)[np.newaxis]
    projection = np.take_along_axis(response, largest, axis=0)[0]
    sigma = np.take_along_axis(scale, largest, axis=0)[0]
    sigma = np.where(projection > 0.1 * np.percentile(projection, 99.5), sigma, np.nan)
    sigmas = records["objectness-vesselness"]["sigmas"]
    colours = plt.get_cmap("viridis", len(sigmas)).with_extremes(bad="black")
    places = np.searchsorted(np.asarray(sigmas) * 0.999, sigma, side="right") - 1.0
    places[np.isnan(sigma)] = np.nan
    draw_projection(
        axes[1, 1], places, aspect, "sigma that gave the objectness, mm", cmap=colours, vmin=-0.5, vmax=len(sigmas) - 0.5
    )
    bar = figure.colorbar(axes[1, 1].images[0], ax=axes[1, 1], location="bottom", pad=0.02, shrink=0.8, aspect=30)
    bar.set_ticks(range(len(sigmas)), labels=[f"{value:g}" for value in sigmas])
    figure.suptitle(f"Vessels enhanced on one {device_of(records)}: largest values along the line of sight")
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, pictures = (pathlib.Path(argument) for argument in sys.argv[1:])
    records = read_records(folder)
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 10, "axes.titlesize": 10, "figure.titlesize": 11})
    draw_segmentation(plt, folder, records, pictures / "segmentation.png")
    draw_limits(plt, folder, records, pictures / "snake_limits.png")
    draw_volume(plt, folder, records, pictures / "smooth_volume.png")
    draw_vesselness(plt, folder, records, pictures / "vesselness.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())

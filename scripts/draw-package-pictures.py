#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures that the Python package computes itself, on any machine.
Usage: draw-package-pictures.py PICTURES [NAME...]

Draws partition.png, partition_mr.png, detection.png, geodata.png, volume.png, tracking.gif, profile.png, microscopy.png and speed.png
into PICTURES, which is docs/pictures; with names, such as speed, those alone. The images are the samples of examples/data, except for the
disc of profile.png, the sea of detection.png and the frames of tracking.gif, which are computed. Partitions, polygons and detections are
the same bit for bit on the host and on a GPU. speed.png shows the table of README.md. Needs the package itk-cudafilters, SciPy and matplotlib, and for geodata.png rasterio, pyogrio and
shapely.
"""
import importlib.util
import pathlib
import re
import sys

import numpy as np

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
SAMPLES = REPOSITORY / "examples" / "data"
CONTOUR = "#ff8c00"
OURS, OTHERS = "#d95f02", "#8c8c8c"
WIDTH = 9.0  # inches of 100 pixels
DETAIL = (slice(110, 290), slice(640, 880))  # rows and columns of the radar image: bright fields and their neighbours
NUCLEI_SPACING = (1.0, 0.3, 0.3)  # micrometres along z, y and x


def read(name):
    import itk_cudafilters

    return itk_cudafilters.read_image(SAMPLES / name).array


def show(axis, pixels, title, **how):
    image = axis.imshow(pixels, interpolation="nearest", **{"cmap": "gray", **how})
    axis.set_title(title)
    axis.set_xticks([])
    axis.set_yticks([])
    return image


def add_boundaries(axis, partition, width):
    """Draws the edges between two regions, without the border of the image."""
    from matplotlib.collections import LineCollection

    inner = partition.edges[(partition.edges[:, 2:] != 0).all(axis=1), :2]
    axis.add_collection(LineCollection(partition.nodes[inner], colors=CONTOUR, linewidths=width))


def draw_partition(plt, path):
    """Draws the whole scene with its boundaries, and below it a detail: the image, the boundaries and the means."""
    import itk_cudafilters

    amplitude = read("sar_fields_1000x500.png")
    found = itk_cudafilters.partition_image(amplitude, "rayleigh")
    white = float(np.percentile(amplitude, 99.0))
    figure = plt.figure(figsize=(WIDTH, 7.2), layout="constrained")
    rows = figure.add_gridspec(2, 3, height_ratios=(4.5, 2.3))
    scene = figure.add_subplot(rows[0, :])
    show(scene, amplitude, f"Radar image of farm fields, and the polygons of its {len(found)} regions", vmin=0, vmax=white)
    add_boundaries(scene, found, 1.2)
    rows_shown, columns_shown = DETAIL
    frame = dict(fill=False, edgecolor="white", linewidth=1.6, linestyle="--")
    corner = (columns_shown.start, rows_shown.start)
    scene.add_patch(plt.Rectangle(corner, columns_shown.stop - corner[0], rows_shown.stop - corner[1], **frame))
    panels = [figure.add_subplot(rows[1, column]) for column in range(3)]
    titles = ("the dashed part", "its boundaries", "the mean amplitude of each region")
    for axis, pixels, title in zip(panels, (amplitude, amplitude, found.means), titles):
        image = show(axis, pixels, title, vmin=0, vmax=white)
        axis.set_xlim(columns_shown.start - 0.5, columns_shown.stop - 0.5)
        axis.set_ylim(rows_shown.stop - 0.5, rows_shown.start - 0.5)
    add_boundaries(panels[1], found, 1.8)
    figure.colorbar(image, ax=panels, fraction=0.03, pad=0.01, shrink=0.85, aspect=12)
    save(plt, figure, path)


def draw_partition_mr(plt, path):
    """Draws the partition of a slice whose tissues are not uniform in grey value."""
    import itk_cudafilters

    pixels = read("BrainProtonDensitySlice.png")
    found = itk_cudafilters.partition_image(pixels, "gaussian", block_size=2)
    white = float(np.percentile(pixels, 99.5))
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 5.6), layout="constrained")
    show(left, pixels, f"the boundaries of {len(found)} regions of a head", vmin=0, vmax=white)
    add_boundaries(left, found, 1.2)
    show(right, found.means, "the mean of each region", vmin=0, vmax=white)
    save(plt, figure, path)


def draw_geodata(plt, path):
    """Draws a scene that lies askew on a map beside the polygons of the GeoPackage that the command makes of it, and a detail
    with the squares of its pixels."""
    import tempfile

    import pyogrio
    import shapely
    from itk_cudafilters import Image, _command, read_image, write_image
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.path import Path
    from matplotlib.patches import PathPatch
    from matplotlib.transforms import Affine2D

    turn = np.deg2rad(-12.0)  # as the tracks of satellites are
    direction = [[np.cos(turn), np.sin(turn)], [np.sin(turn), -np.cos(turn)]]
    amplitude = np.pad(read("sar_fields_1000x500.png"), 12)
    with tempfile.TemporaryDirectory() as folder:
        scene, polygons = f"{folder}/scene.tif", f"{folder}/fields.gpkg"
        place = {"spacing": (10.0, 10.0), "origin": (700000.0, 5400000.0), "direction": direction}
        write_image(Image(amplitude, **place, no_data=0, metadata={"crs": "EPSG:32632"}), scene)
        if _command.main(["partition", scene, polygons, "--law", "rayleigh", "--quantity", "amplitude", "--clip"]) != 0:
            raise SystemExit("error: the command failed")
        image = read_image(scene)
        meta, _, encoded, columns = pyogrio.raw.read(polygons)
    shapes, means = shapely.from_wkb(encoded), dict(zip(meta["fields"], columns))["mean"]
    a, b, c, d, e, f = (value / 1000.0 for value in image.transform)
    onto_map = Affine2D(np.array([[a, b, c], [d, e, f], [0.0, 0.0, 1.0]]))
    pixels = np.ma.array(image.array, mask=~image.valid)
    white = float(np.percentile(pixels.compressed(), 99.0))

    def add_scene(axis):
        height, width = pixels.shape
        axis.imshow(pixels, cmap="gray", vmin=0, vmax=white, extent=(0, width, height, 0), transform=onto_map + axis.transData,
                    interpolation="nearest")

    def rings_of(shape):
        return [np.array(ring.coords) / 1000.0 for part in shapely.get_parts(shape) for ring in (part.exterior, *part.interiors)]

    def add_boundaries_on_map(axis, width):
        lines = [ring for shape in shapes for ring in rings_of(shape)]
        axis.add_collection(LineCollection(lines, colors=CONTOUR, linewidths=width))

    figure = plt.figure(figsize=(WIDTH, 7.6), layout="constrained")
    rows = figure.add_gridspec(2, 2, height_ratios=(4.3, 3.3), width_ratios=(1.35, 1.0))
    whole, left, right = figure.add_subplot(rows[0, :]), figure.add_subplot(rows[1, 0]), figure.add_subplot(rows[1, 1])
    patches = [PathPatch(Path.make_compound_path(*(Path(ring, closed=True) for ring in rings_of(shape)))) for shape in shapes]
    fields = PatchCollection(patches, cmap="YlGn", edgecolors="#404040", linewidths=0.7)
    fields.set_array(means)
    fields.set_clim(0, white)
    whole.add_collection(fields)
    whole.set_title(f"fields.gpkg: {len(shapes)} polygons in {meta['crs']}, coloured by their attribute mean")
    figure.colorbar(fields, ax=whole, fraction=0.025, pad=0.01, label="mean amplitude")
    add_scene(left)
    left.set_title("scene.tif")
    add_scene(right)
    add_boundaries_on_map(right, 2.2)
    right.set_title("the framed part, and its polygons")
    bounds = shapely.total_bounds(shapes) / 1000.0
    for axis in (whole, left):
        axis.set_xlim(bounds[0] - 0.2, bounds[2] + 0.2)
        axis.set_ylim(bounds[1] - 0.2, bounds[3] + 0.2)
    centre = onto_map.transform([722.0, 190.0])
    right.set_xlim(centre[0] - 0.36, centre[0] + 0.36)
    right.set_ylim(centre[1] - 0.3, centre[1] + 0.3)
    left.add_patch(plt.Rectangle(centre - (0.36, 0.3), 0.72, 0.6, fill=False, edgecolor=OURS, linewidth=1.6))
    for axis in (whole, left, right):
        axis.set_aspect("equal")
        axis.grid(color="#b0b0b0", linewidth=0.5)
        axis.set_axisbelow(True)
        axis.ticklabel_format(useOffset=False)
        axis.tick_params(labelsize=8)
    whole.set_ylabel("northing, km")
    left.set_xlabel("easting, km")
    left.set_ylabel("northing, km")
    right.set_xlabel("easting, km")
    save(plt, figure, path)


def draw_profile(plt, path):
    """Draws the residue that smoothing leaves beside a bright disc on a ground of 0, for both approximations and
    SciPy."""
    import itk_cudafilters
    import scipy.ndimage

    side, radius, sigma, height = 161, 20.0, 4.0, 1000.0
    rows, columns = np.mgrid[:side, :side] - side // 2
    disc = np.where(rows**2 + columns**2 <= radius**2, height, 0.0).astype(np.float32)
    smoothed = {
        name: itk_cudafilters.gaussian_filter(disc, sigma, mode="nearest", approximation=name.lower())
        for name in ("Deriche", "Accurate")
    }
    exact = scipy.ndimage.gaussian_filter(disc.astype(np.float64), sigma, mode="nearest", truncate=8.0)
    figure = plt.figure(figsize=(WIDTH, 4.1), layout="constrained")
    places = figure.add_gridspec(2, 2, width_ratios=(1, 2.6))
    for row, (name, pixels) in enumerate(smoothed.items()):
        axis = figure.add_subplot(places[row, 0])
        image = show(axis, pixels, name, cmap="RdBu_r", vmin=-1.0, vmax=1.0)
    figure.colorbar(image, ax=figure.axes, location="left", shrink=0.7, aspect=25, extend="both", label="grey levels")
    profile = figure.add_subplot(places[:, 1])
    half = slice(side // 2, None)
    distance = np.arange(side - side // 2)
    profile.axhline(0.0, color="black", linewidth=0.8)
    profile.plot(distance, smoothed["Deriche"][side // 2, half], color="#2166ac", linewidth=2.2)
    profile.plot(distance, smoothed["Accurate"][side // 2, half], color=OURS, linewidth=2.2)
    profile.plot(distance, exact[side // 2, half], ":", color="black", linewidth=1.6)
    profile.set_xlim(26, 75)
    profile.set_ylim(-1.6, 2.4)
    lowest = int(np.argmin(smoothed["Deriche"][side // 2, half]))
    lowest_value = float(smoothed["Deriche"][side // 2, half][lowest])
    profile.annotate(
        f"Deriche, ITK's filter: down to {lowest_value:.1f}", (lowest, lowest_value), (lowest + 3, lowest_value - 0.35),
        color="#2166ac", arrowprops=dict(arrowstyle="-", color="#2166ac"),
    )
    beside = smoothed["Accurate"][side // 2, half]
    profile.annotate("Accurate, on SciPy's exact result (dotted)", (36.5, 0.06), (41, 0.75), color=OURS,
                     arrowprops=dict(arrowstyle="-", color=OURS))
    profile.set_title(f"Beside a disc of {height:g} grey levels, radius {radius:g}, smoothed with sigma {sigma:g}")
    profile.set_xlabel("distance from the centre of the disc, pixels")
    profile.set_ylabel("grey level")
    profile.spines[["top", "right"]].set_visible(False)
    print(f"profile: lowest value Deriche {lowest_value:.3g}, Accurate {float(beside.min()):.3g}, SciPy {exact.min():.3g}")
    save(plt, figure, path)


def draw_microscopy(plt, path):
    """Draws a slice and a vertical section of a stack: the input, the smoothed stack and the difference of
    Gaussians."""
    import itk_cudafilters

    stack = read("NucleiPhantom.tif")
    smooth = itk_cudafilters.gaussian_filter(stack, sigma=0.5, spacing=NUCLEI_SPACING)
    nuclei = itk_cudafilters.difference_of_gaussians(stack, 0.5, 3.0, spacing=NUCLEI_SPACING)
    middle, cut = stack.shape[0] // 2, 60
    depth, height, width = (n * step for n, step in zip(stack.shape, NUCLEI_SPACING))
    figure, axes = plt.subplots(
        2, 3, figsize=(WIDTH, 5.7), gridspec_kw={"height_ratios": (height, depth)}, layout="constrained"
    )
    titles = ("cell nuclei, z = 15 µm", "smoothed, sigma 0.5 µm", "difference of Gaussians,\n0.5 and 3 µm")
    for column, (pixels, title) in enumerate(zip((stack, smooth, nuclei), titles)):
        white = float(np.percentile(pixels, 99.7))
        upper, lower = axes[:, column]
        show(upper, pixels[middle], title, vmin=0, vmax=white, extent=(0, width, height, 0))
        show(lower, pixels[:, cut], "", vmin=0, vmax=white, extent=(0, width, depth, 0))
    axes[0, 0].plot((3, 13), (height - 3, height - 3), color="white", linewidth=3)
    axes[0, 0].text(8, height - 4.5, "10 µm", color="white", ha="center", va="bottom")
    axes[0, 0].set_ylabel("x, y")
    axes[1, 0].set_ylabel("x, z")
    save(plt, figure, path)


def read_speed():
    """Returns the rows of README's speed table: the image, and the milliseconds of the first two columns of times."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- speed -->(.*?)<!-- end speed -->", text, re.S)[1]
    rows = []
    for line in table.replace("<sup>2</sup>", "²").replace("<sup>3</sup>", "³").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        times = [float(cell[:-3].replace(",", "")) for cell in cells if re.fullmatch(r"[\d.,]+ ms", cell)]
        if times:
            rows.append((cells[0], *times[:2]))
    return rows


def draw_speed(plt, path):
    """Draws two bars for each row of README's speed table, on a logarithmic axis, with the ratio of the times."""
    rows = read_speed()
    figure, axis = plt.subplots(figsize=(WIDTH, 0.52 * len(rows) + 0.9), layout="constrained")
    for place, (_, ours, host) in enumerate(rows):
        axis.barh(place - 0.2, host, 0.38, color=OTHERS)
        axis.barh(place + 0.2, ours, 0.38, color=OURS)
        for offset, value, colour in ((-0.2, host, "#555555"), (0.2, ours, OURS)):
            note = f"{value / 1000:.3g} s" if value >= 1000 else f"{value:.3g} ms"
            if offset > 0:
                note += f", {float(f'{host / ours:.2g}'):g} times as fast"
            axis.text(value * 1.15, place + offset, note, va="center", color=colour)
    axis.set_yticks(range(len(rows)), labels=[image for image, *_ in rows])
    axis.set_xscale("log")
    axis.set_xlim(0.05, max(host for *_, host in rows) * 5)
    axis.set_xticks([0.1, 1, 10, 100, 1000, 10000], labels=["0.1 ms", "1 ms", "10 ms", "0.1 s", "1 s", "10 s"])
    axis.minorticks_off()
    axis.invert_yaxis()
    figure.suptitle("Smoothing, from image to image in ordinary memory: ITK on 16 cores (grey), one H200 (orange)", fontsize=11)
    axis.spines[["top", "right"]].set_visible(False)
    save(plt, figure, path)


def make_sea(rng, shape=(520, 1000), looks=4.4):
    """Returns the intensity of a sea of uneven brightness with ships, and their centres, and the polygon of the land in the corner."""
    y, x = np.mgrid[: shape[0], : shape[1]].astype(float)
    mean = 1.0 + 0.5 * np.sin(x / 140.0 + y / 90.0) + 2.5 * (x / shape[1]) ** 2
    land = np.array([[700, -0.5], [730, 60], [800, 95], [850, 150], [930, 165], [999.5, 230], [999.5, -0.5]])
    in_land = np.zeros(shape, bool)
    for (x0, y0), (x1, y1) in zip(land, np.roll(land, -1, axis=0)):
        with np.errstate(divide="ignore", invalid="ignore"):
            in_land ^= ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    mean[in_land] = 12.0 + 5.0 * np.sin(x / 9.0)[in_land] * np.cos(y / 11.0)[in_land]
    ships = []
    while len(ships) < 24:
        centre = rng.uniform((20, 20), (shape[1] - 20, shape[0] - 20))
        is_free = not in_land[tuple(slice(max(0, int(c) - 30), int(c) + 30) for c in centre[::-1])].any()
        if is_free and all(np.hypot(*(centre - other)) > 50.0 for other in ships):
            angle, length = rng.uniform(0.0, np.pi), rng.uniform(3.0, 7.0)
            along = (x - centre[0]) * np.cos(angle) + (y - centre[1]) * np.sin(angle)
            across = (y - centre[1]) * np.cos(angle) - (x - centre[0]) * np.sin(angle)
            mean[(np.abs(along) < length) & (np.abs(across) < 1.3)] *= rng.uniform(4.0, 12.0)
            ships.append(centre)
    return rng.gamma(looks, mean / looks).astype(np.float32), np.array(ships), land


def draw_detection(plt, path):
    """Draws the ships of a scene, and below two of them with their windows and pixels."""
    import itk_cudafilters

    intensity, ships, land = make_sea(np.random.default_rng(12))
    polygon = {"type": "Polygon", "coordinates": [land.tolist()]}
    found = itk_cudafilters.detect_targets(
        intensity, "gamma", 4.4, probability_of_false_alarm=1e-7, guard_window=21, background_window=41, land_mask=polygon
    )
    truth = [min(range(len(ships)), key=lambda i: np.hypot(*(ships[i] - each.centroid))) for each in found]
    hits = {i for i, each in zip(truth, found) if np.hypot(*(ships[i] - each.centroid)) < 10.0}
    amplitude = np.sqrt(intensity)
    figure = plt.figure(figsize=(WIDTH, 7.6), layout="constrained")
    rows = figure.add_gridspec(2, 3, height_ratios=(4.7, 2.6))
    scene = figure.add_subplot(rows[0, :])
    title = f"Speckle of 4.4 looks with {len(ships)} ships: {len(hits)} are found, and {len(found) - len(hits)} false alarms"
    show(scene, amplitude, title, vmin=0, vmax=4.5)
    scene.fill(*land.T, facecolor=OURS, alpha=0.25, edgecolor=OURS, linewidth=1.5)
    scene.text(870, 60, "land_mask", color="white", ha="center", fontsize=12)
    for each in found:
        left, top, width, height = each.region
        scene.add_patch(plt.Rectangle((left - 6, top - 6), width + 11, height + 11, fill=False, edgecolor=CONTOUR, linewidth=1.6))
    by_significance = sorted(found, key=lambda each: each.significance)
    panels = [figure.add_subplot(rows[1, column]) for column in range(3)]
    for axis, each in zip(panels, (by_significance[-1], by_significance[0])):
        show(axis, amplitude, f"significance {each.significance:.0f}", vmin=0, vmax=4.5)
        axis.set_xlabel(f"mean of target {each.target.mean:.1f}, of ring {each.background.mean:.1f}")
        axis.contour(found.labels == each.number, levels=[0.5], colors=CONTOUR, linewidths=1.6)
        x, y = each.peak
        for side, window in ((3, "target"), (21, "guard"), (41, "background")):
            half = side / 2
            axis.add_patch(plt.Rectangle((x - half, y - half), side, side, fill=False, edgecolor="#6baed6", linewidth=1.5))
            if side > 3:
                axis.text(x - half + 1, y + half - 1, window, color="#9ecae1", fontsize=9)
        axis.set_xlim(x - 25, x + 25)
        axis.set_ylim(y + 25, y - 25)
    axis = panels[2]
    noise = np.random.default_rng(13).gamma(4.4, 1.0, (1000, 1000)).astype(np.float32)
    asked = 10.0 ** -np.arange(2, 5.5, 0.5)
    rates = []
    for probability in asked:
        statistics = itk_cudafilters.detect_targets(
            noise, "gamma", 4.4, probability_of_false_alarm=probability, target_window=1, guard_window=3, background_window=9
        ).statistics
        rates.append(statistics.number_of_pixels_above_threshold / statistics.number_of_tested_pixels)
    axis.loglog(asked, asked, color=OTHERS, linewidth=1.2)
    axis.loglog(asked, rates, "o", color=OURS)
    axis.set_title("false alarms on noise alone")
    axis.set_xlabel("probability asked for")
    axis.set_ylabel("share of pixels")
    save(plt, figure, path)


def closed(contour):
    return np.vstack([contour, contour[:1]])


def draw_volume(plt, path):
    """Draws slices of a head with its outline, which is followed from the middle slice to both ends."""
    import itk_cudafilters

    head = itk_cudafilters.read_image(SAMPLES / "HeadT1Volume.nii.gz")
    found = itk_cudafilters.segment_volume(head, "gamma", 1.0, start_slice=31, minimum_edge_length=10.0)
    figure, axes = plt.subplots(2, 5, figsize=(WIDTH, 4.1), layout="constrained")
    for axis, z in zip(axes.flat, np.linspace(3, 57, 10).astype(int)):
        (region,) = (each for each in found.slices if each.frame == z)
        show(axis, head.array[z], f"slice {z}", vmin=0, vmax=float(np.percentile(head.array, 99.5)))
        axis.plot(*closed(region.contour_in_pixels).T, color=CONTOUR, linewidth=1.5)
    figure.suptitle(f"A head of {found.volume / 1e6:.2f} litres, outlined in {len(found.contours)} slices from one start")
    save(plt, figure, path)


def make_frames(rng, number=20, shape=(110, 190), looks=2.0):
    """Returns frames of speckle in which a bright target moves along a curve, turns and changes its shape."""
    y, x = np.mgrid[: shape[0], : shape[1]].astype(float)
    frames = []
    for time in range(number):
        angle = 0.12 * time
        dx, dy = x - (42.0 + 5.5 * time), y - (55.0 + 20.0 * np.sin(0.3 * time))
        along, across = np.cos(angle) * dx + np.sin(angle) * dy, np.cos(angle) * dy - np.sin(angle) * dx
        waist = 13.0 * (1.0 + 0.35 * np.cos(along / 9.0 + 0.3 * time))
        is_target = (np.abs(across) < waist) & (np.abs(along) < 30.0)
        frames.append(rng.gamma(looks, np.where(is_target, 3.0, 1.0) / looks).astype(np.float32))
    return frames


def draw_tracking(plt, path):
    """Draws a target that is followed through frames of two looks, as an animated picture."""
    import itk_cudafilters
    from matplotlib.animation import FuncAnimation, PillowWriter

    frames = make_frames(np.random.default_rng(4))
    tracked = list(itk_cudafilters.track_region(frames, "gamma", 2.0, minimum_edge_length=8.0))
    figure, axis = plt.subplots(figsize=(4.8, 3.05), layout="constrained")
    image = show(axis, np.sqrt(frames[0]), "", vmin=0.0, vmax=3.0)
    (line,) = axis.plot([], [], color=CONTOUR, linewidth=2.0)
    (trail,) = axis.plot([], [], color="#6baed6", linewidth=1.0)
    centres = np.array([region.contour_in_pixels.mean(axis=0) for region in tracked])

    def draw(index):
        region = tracked[index]
        image.set_data(np.sqrt(frames[index]))
        line.set_data(*closed(region.contour_in_pixels).T)
        trail.set_data(*centres[: index + 1].T)
        axis.set_title(f"frame {index}: {region.statistics.inside.number_of_pixels} pixels, {len(region.contour)} nodes")

    FuncAnimation(figure, draw, frames=len(frames)).save(path.with_suffix(".gif"), writer=PillowWriter(fps=6), dpi=66)
    plt.close(figure)
    print(f"Drawn: {path.with_suffix('.gif')}")


def save(plt, figure, path):
    figure.savefig(path, dpi=100)
    plt.close(figure)
    print(f"Drawn: {path}")


DRAWN = {
    "partition": draw_partition,
    "partition_mr": draw_partition_mr,
    "detection": draw_detection,
    "geodata": draw_geodata,
    "volume": draw_volume,
    "tracking": draw_tracking,
    "profile": draw_profile,
    "microscopy": draw_microscopy,
    "speed": draw_speed,
}


def main():
    names = sys.argv[2:] or list(DRAWN)
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help") or not set(names) <= set(DRAWN):
        sys.exit(__doc__)
    if names != ["speed"] and importlib.util.find_spec("itk_cudafilters") is None:
        sys.exit("error: the package itk-cudafilters is not installed: README.md says how to install it")
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 11, "axes.titlesize": 11})
    for name in names:
        DRAWN[name](plt, pathlib.Path(sys.argv[1]) / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())

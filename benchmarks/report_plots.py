# SPDX-License-Identifier: Apache-2.0
"""Draws the plots of docs/user/performance.md and docs/developer/performance_limits.md from the Records of
report.py."""
import math

from plot_style import WIDTH, label_powers, label_times, name_curve, name_ends, pyplot, save

COLOURS = {
    "this module": "C0",
    "CuPy": "C1",
    "PyTorch": "C2",
    "ITK": "C3",
    "OpenCV": "C4",
    "SciPy": "0.4",
}
KEYS = {"this module": "CudaFilters", "OpenCV": "OpenCV (CPU)"}  # where the records have another name
# Floating-point operations per pixel in one pass: for Deriche's filter of order 4 in its direct form, 8 products and 7
# sums in each direction and one sum of both directions; for the partitioned filter, the numbers of its documentation.
RECURSIVE_OPERATIONS = 31
PARTITIONED_OPERATIONS = 40
PEAK = 132 * 128 * 2 * 1.98e9  # multiprocessors, lanes, fused multiply-add, clock


def draw_all(r, folder, sweeps):
    draw_roofline(r, folder / "performance_roofline.png")
    draw_sizes(r, folder / "performance_sizes.png")
    draw_sigmas(r, folder / "performance_sigmas.png")
    draw_sweeps(r, folder / "performance_sweeps.png", sweeps)


def roofline_points(r):
    """Returns (text, operations per pixel, pixels per second and pass) of the measured passes."""
    for shape, pixels, passes in (("8192^2", 8192**2, 2), ("512^3", 512**3, 3)):
        for sigma in (4.0, 64.0):
            ms = r.resident(shape, sigma)
            if ms:
                yield f"recursive, sigma {sigma:g}, {shape}", RECURSIVE_OPERATIONS, pixels * passes / ms * 1e3
    exact = min((row["ms"] for row in r.two_way if (row["side"], row["partition"]) == (8192, "Exact")), default=None)
    if exact:
        yield "partitioned, Exact, 8192^2", PARTITIONED_OPERATIONS, 8192**2 * 2 / exact * 1e3
    for sigma in (0.5, 1.0, 4.0):
        for dimension, side in ((2, 4096), (3, 256)):
            row = r.module.get(f"resident/discrete/{dimension}d/side:{side}/sigma_percent:{round(100 * sigma)}")
            if row:
                text = f"discrete, sigma {sigma:g}, {side}^{dimension}"
                yield text, 2 * (2 * row["radius"] + 1), side**dimension * dimension / row["ms"] * 1e3


def draw_roofline(r, path):
    copies = [(8 * pixels / ms * 1e3) for pixels, ms in ((8192**2, r.resident("8192^2", 4.0, "copy_ms")),
                                                         (512**3, r.resident("512^3", 4.0, "copy_ms"))) if ms]
    if not copies:
        return
    bandwidth = max(copies)  # bytes per second, read and written
    figure, axis = pyplot.subplots(figsize=(WIDTH, 5), layout="constrained")
    intensity = [1, PEAK / bandwidth, 40]
    axis.loglog(intensity, [min(PEAK, x * bandwidth) / 1e12 for x in intensity], color="0.2")
    axis.set_xlim(1, 40)
    axis.set_ylim(1.5, 110)
    # Passes of one kind are in the same column. Each has its own text next to its point.
    columns = {}
    for text, operations, rate in roofline_points(r):
        columns.setdefault((text.split(",")[0], operations), []).append((text, operations / 8, rate * operations / 1e12))
    names = []
    for (kind, _), points in columns.items():
        colour = {"recursive": "C0", "partitioned": "C2", "discrete": "C4"}[kind]
        for text, x, y in points:
            axis.plot(x, y, "o", color=colour, markersize=5)
            if kind == "partitioned":  # to the left, where there is room
                name_curve(axis, (x, y), typeset(text), colour, (-6, 0), ha="right")
            else:
                names.append(((x, y), typeset(text), colour))
    label_powers(axis, (1, 2, 5, 10, 20, 40))
    label_times(axis)
    axis.set_yticks((2, 5, 10, 20, 50, 100))
    axis.set_yticks([], minor=True)
    axis.set_xlabel("operations for each byte that a pass must read or write")
    axis.set_ylabel("10¹² operations per second")
    figure.draw_without_rendering()
    name_ends(axis, names, 11)
    (x0, y0), (x1, y1) = axis.transData.transform([(1, bandwidth / 1e12), (10, bandwidth / 1e11)])
    slope = math.degrees(math.atan2(y1 - y0, x1 - x0))
    name_curve(axis, (1.15, 1.15 * bandwidth / 1e12), f"speed of a copy: {bandwidth / 1e12:.2f} TB/s", "0.2", (0, 6),
               rotation=slope, rotation_mode="anchor", va="bottom")
    name_curve(axis, (17, PEAK / 1e12), f"arithmetic of float: {PEAK / 1e12:.0f} · 10¹²/s", "0.2", (0, 8))
    figure.suptitle("How close each pass comes to the speed of the GPU's memory (the sloping line)")
    save(figure, path)


def typeset(text):
    return text.replace("^2", "²").replace("^3", "³")


def draw_sizes(r, path):
    figure, axes = pyplot.subplots(2, 2, figsize=(WIDTH, 8.2), sharey=True, layout="constrained")
    names = []
    for row, (where, title) in zip(axes, (("resident", "images in GPU memory"), ("host_to_host", "images in ordinary memory"))):
        for axis, dimension in zip(row, (2, 3)):
            ticks = set()
            for library, colour in COLOURS.items():
                if where == "resident" and library == "ITK":
                    continue
                sides, times = (tuple(values) for values in r.series(KEYS.get(library, library), where, dimension))
                if sides:
                    axis.loglog(sides, times, "o-", color=colour, markersize=3, linewidth=2 if library == "this module" else 1.2)
                    names.append((axis, ((sides[-1], times[-1]), library, colour)))
                    ticks.update(side for side in sides if side & (side - 1) == 0)
            low, high = min(ticks), max(ticks)
            axis.set_xlim(0.85 * low, high * (2.6 if dimension == 2 else 1.75))  # room for the names
            label_powers(axis, sorted(ticks)[:: 4 - dimension])
            axis.set_xlabel("pixels along each axis")
            axis.set_title(f"{'two' if dimension == 2 else 'three'} dimensions, {title}")
        row[0].set_ylabel("milliseconds")
    label_times(axes[0][0])
    figure.suptitle("Smoothing of float images at sigma 4: time by size")
    figure.draw_without_rendering()
    for axis in axes.flatten():
        name_ends(axis, [name for owner, name in names if owner is axis], 11, reach=2.0)
    save(figure, path)


def draw_sigmas(r, path):
    figure, axes = pyplot.subplots(1, 2, figsize=(WIDTH, 4.2), sharey=True, layout="constrained")
    for axis, (shape, dimension, side) in zip(axes, (("8192^2", 2, 8192), ("512^3", 3, 512))):
        for library in ("this module", "CuPy", "PyTorch"):
            sigmas, times = (tuple(values) for values in r.over_sigma(KEYS.get(library, library), shape, dimension, side))
            if sigmas:
                style = "-" if library == "this module" else "o-"
                axis.loglog(sigmas, times, style, color=COLOURS[library], markersize=4)
                above = library == "this module"
                name_curve(axis, (sigmas[-1], times[-1]), library, COLOURS[library], (0, 9) if above else (6, 0),
                           ha="right" if above else "left")
        copy = r.resident(shape, 4.0, "copy_ms")
        if copy:
            axis.axhline(dimension * copy, color="0.2", linestyle=":")
            name_curve(axis, (500, dimension * copy), f"{dimension} copies of the image", "0.2", (0, -8), ha="right")
        label_powers(axis, (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500))
        axis.set_xlim(0.4, 700)
        axis.set_ylim(bottom=0.1)
        axis.set_xlabel("sigma in pixels")
        axis.set_title(f"{typeset(shape)} pixels")
    label_times(axes[0])
    axes[0].set_ylabel("milliseconds")
    figure.suptitle("Smoothing of float images in GPU memory: time by sigma")
    save(figure, path)


def draw_sweeps(r, path, sweeps):
    """Draws five panels. A panel without a record stays empty."""
    figure = pyplot.figure(figsize=(WIDTH, 6.6), layout="constrained")
    grid = figure.add_gridspec(2, 6)
    above = [figure.add_subplot(grid[0, :3]), figure.add_subplot(grid[0, 3:])]
    below = [figure.add_subplot(grid[1, 2 * i : 2 * i + 2]) for i in range(3)]
    panels = ((above[0], "square images", sweeps[:2]), (above[1], "cubes", sweeps[2:4]),
              *((axis, f"{typeset(sweep[0])} pixels", (sweep,)) for axis, sweep in zip(below, sweeps[4:])))
    for axis, title, curves in panels:
        over_sigma = axis in below
        for index, (label, pattern) in enumerate(curves):
            points = r.sweep(pattern)
            if not points:
                continue
            values = [value / 100 if over_sigma else value for value, _ in points]
            rates = [rate / 1e9 for _, rate in points]
            last = len(rates) - 1
            floors = [max(rates[max(0, i - 1)], rates[min(last, i + 1)]) / 2 for i in range(len(rates))]
            colour = f"C{index}"
            (axis.semilogx if over_sigma else axis.plot)(values, rates, "-", color=colour)
            axis.plot(values, floors, ":", color=colour, linewidth=1)
            if not over_sigma:
                axis.set_xlim(right=1118)  # room for the name
                name_curve(axis, (values[-1], rates[-1]), label.split(", ")[1], colour)
        axis.set_ylim(0, 1.15 * axis.get_ylim()[1])
        axis.set_title(title)
        axis.set_xlabel("sigma in pixels" if over_sigma else "pixels along each axis")
        if over_sigma:
            label_powers(axis, (1, 10, 100))
    above[0].set_ylabel("10⁹ pixels per second")
    below[0].set_ylabel("10⁹ pixels per second")
    figure.suptitle("Speed of smoothing in GPU memory, by size and by sigma (dotted: half of the neighbours' speed)")
    save(figure, path)

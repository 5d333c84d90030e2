#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the figures of README.md and of the pages in docs/ from the records in benchmarks/records, and draws their
plots.

usage: benchmarks/report.py    (needs matplotlib; without it: --no-plots)

A page marks the place of a table or a sentence by a pair of comments with its name: <!-- name --> and <!-- end name
-->. The text between them is replaced; TABLES at the end of this file has all names. The rest of a page is written by
hand and contains no measured times. Records are the files that records.py makes, one for each table and kind of GPU.
"""

import argparse
import os
import pathlib
import re
import statistics
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import records  # noqa: E402

REPOSITORY = HERE.parent
SHAPES = {
    "2048^2": "x:2048/y:2048/z:1",
    "4096^2": "x:4096/y:4096/z:1",
    "8192^2": "x:8192/y:8192/z:1",
    "16384^2": "x:16384/y:16384/z:1",
    "8191 x 8193": "x:8191/y:8193/z:1",
    "256^3": "x:256/y:256/z:256",
    "512^3": "x:512/y:512/z:512",
    "511 x 513 x 509": "x:511/y:513/z:509",
    "1024^3": "x:1024/y:1024/z:1024",
}

# --- records ----------------------------------------------------------------------------------------------------------


class Records:
    """Holds the records that the tables are made from. If several runs of a record have the same row, the newest one is
    used."""

    def __init__(self, folder):
        self.folder = folder
        self.runs = self.read("h200/peers.json")
        self.module = {**self.rows("h200/peers.json"), **self.rows("h200/slabs.json")}
        self.peers, left_out = {}, {}
        for run in self.runs:
            for row in run.get("peers", ()):
                key = (row["library"], row["filter"], row["where"], row["dimension"], row["side"], row["sigma"])
                if "ms" in row:
                    self.peers[key] = row
                else:
                    left_out[key] = row
        self.left_out = [row for key, row in left_out.items() if key not in self.peers]
        self.versions = {name: version for run in self.runs for name, version in run.get("versions", {}).items()}
        self.two_way = [row for run in self.read("h200/two_way.json") for row in run["times"]]
        rows = [row for run in self.read("h200/snake.json") for row in run["rows"] if "image" in row]
        self.snake = {(row["image"], row["what"]): row for row in rows}

    def read(self, name):
        """Returns the runs of a record, which are empty if there is no such record."""
        path = self.folder / name
        return records.read_record(path)["runs"] if path.exists() else []

    def rows(self, name):
        """Returns the rows of a record by their names."""
        found = {}
        for run in self.read(name):
            for row in (*run.get("module", ()), *run.get("rows", ())):
                if "name" in row and "left_out" not in row:
                    found.setdefault(row["name"], {}).update(row)
        return found

    def times(self, name, row):
        """Returns the times of a row in all runs that have it, to compare machines."""
        rows = [each for run in self.read(name) for each in run.get("rows", ()) if each["name"] == row]
        return [time for each in rows for time in each.get("times_ms", each.get("medians_ms", [each["ms"]]))]

    def get(self, name, key="ms"):
        return self.module.get(name, {}).get(key)

    def resident(self, shape, sigma, key="ms"):
        return self.get(f"resident/{SHAPES[shape]}/sigma_percent:{round(100 * sigma)}", key)

    def whole(self, prefix, name, dimension, side, sigma=4.0):
        return self.get(f"{prefix}/{name}/{dimension}d/side:{side}/sigma_percent:{round(100 * sigma)}")

    def peer(self, library, where, dimension, side, sigma=4.0, name="smoothing"):
        return self.peers.get((library, name, where, dimension, side, sigma), {}).get("ms")

    def series(self, library, where, dimension):
        """Returns (sides, ms) of smoothing at sigma 4."""
        if library in ("CudaFilters", "ITK"):
            prefix = "itk" if library == "ITK" else "host_to_host"
            pattern = rf"{prefix}/smoothing/{dimension}d/side:(\d+)/sigma_percent:400$"
            if where == "resident":
                axes = r"/y:\1/z:" + (r"1" if dimension == 2 else r"\1")
                pattern = rf"resident/x:(\d+){axes}/sigma_percent:400$"
            matches = ((re.match(pattern, name), row) for name, row in self.module.items())
            found = [(int(match.group(1)), row["ms"]) for match, row in matches if match]
        else:
            wanted = (library, "smoothing", where, dimension)
            found = [(key[4], row["ms"]) for key, row in self.peers.items() if key[:4] == wanted and key[5] == 4.0]
        return zip(*sorted(found)) if found else ((), ())

    def over_sigma(self, library, shape, dimension, side):
        if library == "CudaFilters":
            pattern = rf"(?:resident|sweep/sigmas)/{SHAPES[shape]}/sigma_percent:(\d+)$"
            matches = ((re.match(pattern, name), row) for name, row in self.module.items())
            found = {int(match.group(1)) / 100: row["ms"] for match, row in matches if match}
        else:
            wanted = (library, "smoothing", "resident", dimension, side)
            found = {key[5]: row["ms"] for key, row in self.peers.items() if key[:5] == wanted}
        return zip(*sorted(found.items())) if found else ((), ())

    def sweep(self, pattern):
        """Returns (value, pixels per second, copy_fraction) of the sweep's rows. The group of the pattern is the
        value."""
        found = []
        for name, row in self.module.items():
            match = re.match(pattern, name)
            if match:
                x, y, z = (int(number) for number in re.search(r"x:(\d+)/y:(\d+)/z:(\d+)", name).groups())
                found.append((int(match.group(1)), x * y * z / row["ms"] * 1e3))
        return sorted(found)


# --- goals ------------------------------------------------------------------------------------------------------------


class Goal:
    """A goal: `reached` must be at least (or at most) `must`. `reached` is None if no record has the value."""

    def __init__(self, name, what, must, reached, at_most=False, unit="", stretch=None):
        self.name, self.what, self.must, self.reached = name, what, must, reached
        self.at_most, self.unit, self.stretch = at_most, unit, stretch

    def is_met(self):
        return self.reached <= self.must if self.at_most else self.reached >= self.must

    def show(self, value):
        return "" if value is None else f"{value:.3g}{self.unit}"

    def row(self):
        if self.reached is None:
            outcome = "not measured"
        elif self.is_met():
            outcome = "yes"
        else:
            ratio = self.reached / self.must if self.at_most else self.must / self.reached
            outcome = f"**no**, by a factor of {ratio:.2f}"
        sign = "at most " if self.at_most else ""
        return (self.what, sign + self.show(self.must), self.show(self.stretch), self.show(self.reached), outcome)


def divide(a, b):
    return None if a is None or b is None else a / b


def lowest(values):
    values = list(values)
    return None if not values or None in values else min(values)


def goals_of_copy_fraction(r):
    for shape, must in (("8192^2", 0.85), ("16384^2", 0.82), ("512^3", 0.85), ("1024^3", 0.85)):
        reached = r.resident(shape, 4.0, "copy_fraction")
        yield Goal(f"copy {shape}", f"copy_fraction, sigma 4, {shape}", must, reached, stretch=0.95)
    large = (20.0, 64.0, 250.0, 500.0)
    for shape, must in (("8192^2", 0.6), ("16384^2", 0.6), ("512^3", 0.75), ("1024^3", 0.75)):
        reached = lowest(r.resident(shape, sigma, "copy_fraction") for sigma in large)
        what = f"copy_fraction, lowest of sigma 20, 64, 250 and 500, {shape}"
        yield Goal(f"copy at large sigma {shape}", what, must, reached, stretch=0.85)
    for shape, must in (("4096^2", 0.75), ("256^3", 0.75), ("8191 x 8193", 0.6), ("511 x 513 x 509", 0.6)):
        reached = r.resident(shape, 4.0, "copy_fraction")
        yield Goal(f"copy {shape}", f"copy_fraction, sigma 4, {shape}", must, reached)
    yield Goal("no cliff", "sweeps: lowest ratio of a point's rate to a neighbour's", 0.5, lowest_neighbour_ratio(r))


def goals_of_times(r):
    for name, must in (("magnitude", 2.2), ("laplacian", 2.2), ("hessian", 4.5)):
        reached = r.get(f"resident/{name}/side:512/sigma_percent:400")
        yield Goal(f"family {name}", f"{name}, resident, 512^3, sigma 4", must, reached, True, " ms")
    reached = r.whole("host_to_host", "smoothing", 3, 512)
    yield Goal("host to host", "smoothing, host to host, 512^3, ordinary memory", 28, reached, True, " ms", 22)
    pinned = r.get("host_to_host/pinned/3d/side:512/sigma_percent:400")
    yield Goal("host to host pinned", "the same, page-locked input and output", 22, pinned, True, " ms", 20)


def goals_against_peers(r):
    for shape, dimension, side in (("8192^2", 2, 8192), ("512^3", 3, 512)):
        for sigma, must in ((4.0, 8), (64.0, 50)):
            reached = divide(r.peer("CuPy", "resident", dimension, side, sigma), r.resident(shape, sigma))
            yield Goal(f"CuPy {shape} sigma {sigma:g}", f"CuPy's time / ours, resident, {shape}, sigma {sigma:g}", must, reached)
    ours = r.whole("host_to_host", "smoothing", 3, 512)
    itk = divide(r.whole("itk", "smoothing", 3, 512), ours)
    yield Goal("ITK 512^3", "ITK's time on all cores / ours, host to host, 512^3", 20, itk)
    yield Goal("CuPy host to host", "CuPy's time / ours, host to host, 512^3", 7, divide(r.peer("CuPy", "host_to_host", 3, 512), ours))
    small = (128, 256, 512, 1024, 2048)
    for library, times in (
        ("CuPy", [r.peer("CuPy", "host_to_host", 2, side) for side in small]),
        ("ITK", [r.whole("itk", "smoothing", 2, side) for side in small]),
    ):
        reached = lowest(divide(t, r.whole("host_to_host", "smoothing", 2, side)) for side, t in zip(small, times))
        what = f"{library}'s time / ours, host to host, lowest of 128^2 to 2048^2"
        yield Goal(f"small images {library}", what, 1, reached)


def goals_of_snake(r):
    bounds = {"15 MP": (2, 3, 2.6), "100 MP": (2.5, 4, 7), "150 MP": (3, 4.5, 9.5)}  # ms
    stretches = {"15 MP": (0.7, 1.2, 1.8), "100 MP": (0.9, 1.5, 5.7), "150 MP": (1.0, 1.7, 7.9)}
    for image, (plain, removal, from_host) in bounds.items():
        one = r.snake.get((image, "CoarseToFine, GPU"), {})
        two = r.snake.get((image, "CoarseToFine + removal, GPU"), {})
        figures = (
            ("resident", "resident", plain, one.get("segmentation_ms")),
            ("removal", "resident, with removal of nodes", removal, two.get("segmentation_ms")),
            ("from host", "from ordinary host memory", from_host, one.get("total_ms")),
        )
        for (name, what, must, reached), stretch in zip(figures, stretches[image]):
            yield Goal(f"snake {name} {image}", f"snake, {image}, {what}", must, reached, True, " ms", stretch)


SWEEPS = (
    ("square images, sigma 4", r"sweep/sides/x:(\d+)/y:\1/z:1/sigma_percent:400$"),
    ("square images, sigma 64", r"sweep/sides/x:(\d+)/y:\1/z:1/sigma_percent:6400$"),
    ("cubes, sigma 4", r"sweep/sides/x:(\d+)/y:\1/z:\1/sigma_percent:400$"),
    ("cubes, sigma 64", r"sweep/sides/x:(\d+)/y:\1/z:\1/sigma_percent:6400$"),
    ("1050^2", r"sweep/sigmas/x:1050/y:1050/z:1/sigma_percent:(\d+)$"),
    ("8192^2", r"sweep/sigmas/x:8192/y:8192/z:1/sigma_percent:(\d+)$"),
    ("512^3", r"sweep/sigmas/x:512/y:512/z:512/sigma_percent:(\d+)$"),
)


def lowest_neighbour_ratio(r):
    ratios = []
    for _, pattern in SWEEPS:
        rates = [rate for _, rate in r.sweep(pattern)]
        ratios += [min(a / b, b / a) for a, b in zip(rates, rates[1:])]
    return min(ratios) if ratios else None


# --- tables -----------------------------------------------------------------------------------------------------------


def typeset(text):
    return re.sub(r"\^(\d)", r"<sup>\1</sup>", str(text))


def table(header, rows):
    """Formats a table in Markdown, without the columns that are empty in all rows."""
    if not rows:
        return "Not measured.\n"
    rows = [list(row) for row in rows]
    filled = [i for i in range(len(header)) if any(str(row[i]) for row in rows)]
    header, rows = [header[i] for i in filled], [[row[i] for i in filled] for row in rows]
    lines = ["| " + " | ".join(typeset(cell) for cell in header) + " |", "| " + " | ".join("---" for _ in header) + " |"]
    lines += ["| " + " | ".join(typeset(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def figure_of(ms):
    return "" if ms is None else f"{ms:.0f}" if ms >= 1000 else f"{ms:.3g}"


def span_of(times):
    """Formats one figure, or the smallest and the largest of several."""
    figures = [figure_of(ms) for ms in sorted(times)]
    return "" if not figures else figures[0] if figures[0] == figures[-1] else f"{figures[0]} to {figures[-1]}"


def link_to(name, text="record"):
    """Returns a link to a record. fill() makes the link relative to the page."""
    return f"[{text}](benchmarks/records/{name})"


def ratio_of(theirs, ours):
    return "" if theirs is None or ours is None else figure_of(theirs / ours)


IMAGES = ((2, 256), (2, 1024), (2, 4096), (2, 8192), (2, 16384), (3, 64), (3, 256), (3, 512), (3, 1024))


def table_of_smoothing_host_to_host(r):
    rows = []
    for dimension, side in ((2, 128), *IMAGES):
        ours = r.whole("host_to_host", "smoothing", dimension, side)
        if ours is None:
            continue
        itk = r.whole("itk", "smoothing", dimension, side)
        row = [f"{side}^{dimension}", figure_of(ours), figure_of(itk), ratio_of(itk, ours)]
        for library in ("CuPy", "PyTorch", "OpenCV (CPU)", "SciPy"):
            theirs = r.peer(library, "host_to_host", dimension, side)
            row += [figure_of(theirs), ratio_of(theirs, ours)]
        rows.append(row)
    header = ["image", "ms", "ITK", "factor", "CuPy", "factor", "PyTorch", "factor", "OpenCV", "factor", "SciPy", "factor"]
    return table(header, rows)


# Filters: name in the records, class.
FILTERS = (
    ("smoothing", "SmoothingRecursiveGaussian"),
    ("one_axis", "RecursiveGaussian, one axis"),
    ("gradient", "GradientRecursiveGaussian"),
    ("magnitude", "GradientMagnitudeRecursiveGaussian"),
    ("laplacian", "LaplacianRecursiveGaussian"),
    ("hessian", "HessianRecursiveGaussian"),
    ("discrete", "DiscreteGaussian"),
)


def table_beside_itk(r):
    """Returns the table of smoothing at all sizes and of the other filters at two sizes, with sigma 4."""
    rows = []
    for name, text in FILTERS:
        sizes = ((2, 256), (2, 1024), (2, 4096), (2, 8192), (3, 256), (3, 512), (3, 1024)) if name == "smoothing" else ((2, 4096), (3, 256))
        for dimension, side in sizes:
            ours, itk = (r.whole(prefix, name, dimension, side) for prefix in ("host_to_host", "itk"))
            if ours and itk:
                rows.append([text, f"{side}^{dimension}", figure_of(ours), figure_of(itk), ratio_of(itk, ours)])
    return table(["filter, sigma 4", "image", "this module", "ITK", "factor"], rows)


def table_beside_cupy(r):
    """Returns the table of smoothing at sigma 4 and 64, and of the other filters that CuPy has."""
    kinds = [("smoothing", 4.0, shape) for shape in ((2, 1024), (2, 8192), (3, 256), (3, 512))]
    kinds += [("smoothing", 64.0, shape) for shape in ((2, 8192), (3, 512))]
    kinds += [(name, 4.0, (3, 512)) for name in ("magnitude", "laplacian")]
    kinds += [("discrete", 4.0, shape) for shape in ((2, 4096), (3, 256))]
    rows = []
    for name, sigma, (dimension, side) in kinds:
        prefix = {"smoothing": f"x:{side}/y:{side}/z:{side if dimension == 3 else 1}", "discrete": f"discrete/{dimension}d/side:{side}"}
        ours = r.get(f"resident/{prefix.get(name, f'{name}/side:{side}')}/sigma_percent:{round(100 * sigma)}")
        cupy, torch = (r.peer(library, "resident", dimension, side, sigma, name) for library in ("CuPy", "PyTorch"))
        if ours and cupy:
            row = [dict(FILTERS)[name], f"{side}^{dimension}", f"{sigma:g}", figure_of(ours)]
            rows.append(row + [figure_of(cupy), ratio_of(cupy, ours), figure_of(torch), ratio_of(torch, ours)])
    return table(["filter", "image", "sigma", "this module", "CuPy", "factor", "PyTorch", "factor"], rows)


def table_of_resident_filters(r):
    rows = []
    for name in ("gradient", "magnitude", "laplacian", "hessian"):
        for side in (256, 512):
            ours = r.get(f"resident/{name}/side:{side}/sigma_percent:400")
            cupy = r.peer("CuPy", "resident", 3, side, 4.0, name)
            if ours is not None:
                rows.append([name, f"{side}^3", "4", figure_of(ours), figure_of(cupy), ratio_of(cupy, ours)])
    for dimension, side in ((2, 4096), (3, 256)):
        for sigma in (1.0, 4.0):
            ours = r.get(f"resident/discrete/{dimension}d/side:{side}/sigma_percent:{round(100 * sigma)}")
            cupy = r.peer("CuPy", "resident", dimension, side, sigma, "discrete")
            if ours is not None:
                rows.append(["discrete", f"{side}^{dimension}", f"{sigma:g}", figure_of(ours), figure_of(cupy), ratio_of(cupy, ours)])
    return table(["filter", "image", "sigma", "ms", "CuPy", "factor"], rows)


def table_of_smoothing_resident(r):
    rows = []
    for dimension, side in IMAGES:
        z = side if dimension == 3 else 1
        row = [f"{side}^{dimension}"]
        for sigma in (4.0, 64.0):
            ours = r.get(f"resident/x:{side}/y:{side}/z:{z}/sigma_percent:{round(100 * sigma)}")
            cupy, torch = (r.peer(library, "resident", dimension, side, sigma) for library in ("CuPy", "PyTorch"))
            row += [figure_of(ours), figure_of(cupy), ratio_of(cupy, ours), figure_of(torch)]
        rows.append(row)
    header = [f"{text}, sigma {sigma}" for sigma in (4, 64) for text in ("ms", "CuPy", "factor", "PyTorch")]
    return table(["image", *header], rows)


def table_of_filters(r):
    """Returns a table with a row for each filter and sigma and a column for each image: the time, and in brackets the
    host's."""
    images = ((2, 256), (2, 1024), (2, 2048), (2, 4096), (2, 8192), (3, 64), (3, 256), (3, 512))
    rows = {}
    for name in r.module:
        match = re.match(r"host_to_host/(?!smoothing|pinned|edges)(.*)/(\d)d/side:(\d+)/sigma_percent:(\d+)$", name)
        if match:
            filter_name, dimension, side, sigma = match.groups()
            host = r.get(name.replace("host_to_host", "host" if filter_name.startswith("partitioned") else "itk", 1))
            cell = figure_of(r.get(name)) + (f" ({figure_of(host)})" if host else "")
            rows.setdefault((filter_name, int(sigma) // 100), {})[int(dimension), int(side)] = cell
    lines = [[name, str(sigma), *(cells.get(image, "") for image in images)] for (name, sigma), cells in sorted(rows.items())]
    return table(["filter", "sigma", *(f"{side}^{dimension}" for dimension, side in images)], lines)


def table_of_two_way(r):
    lines = []
    for side in sorted({row["side"] for row in r.two_way}):
        best = {
            p: min(row["ms"] for row in r.two_way if row["side"] == side and row["partition"] == p) for p in ("OneWay", "TwoWay", "Exact")
        }
        factors = [f"{best['OneWay'] / best[p]:.2f}" for p in ("TwoWay", "Exact")]
        lines.append([f"{side}^2", *(f"{best[p]:.4g}" for p in best), *factors, "2" if side == 512 else ""])
    header = ["image", "OneWay ms", "TwoWay ms", "Exact ms", "OneWay / TwoWay", "OneWay / Exact", "published OneWay / TwoWay"]
    return f"The fastest run of each partition on one H200, both axes ({link_to('h200/two_way.json')}):\n\n" + table(header, lines)


def table_of_snake_for_users(r):
    """Returns the table for the default schedule, with removal of nodes."""
    lines = []
    for image in ("15 MP", "100 MP", "150 MP"):
        gpu, many, one = (r.snake.get((image, f"CoarseToFine + removal, {where}")) for where in ("GPU", "CPU, 16 threads", "CPU, 1 thread"))
        if gpu and many and one:
            times = (gpu["segmentation_ms"], gpu["total_ms"], many["total_ms"], one["total_ms"])
            lines.append([image.replace("MP", "megapixels"), *(figure_of(ms) for ms in times)])
    return table(["image", "H200, image in GPU memory", "H200, from ordinary memory", "16 cores", "one core"], lines)


SNAKE_IMAGES = ("15 MP", "100 MP", "150 MP")


def table_of_snake(r):
    """Returns the table of all schedules on all machines, with the paper's figures."""
    lines = []
    for what in dict.fromkeys(what for _, what in r.snake):
        rows = [r.snake.get((image, what)) for image in SNAKE_IMAGES]
        if any(row is None or "total_ms" not in row for row in rows):
            continue
        times = [" + ".join(figure_of(row[key]) for key in ("sums_ms", "segmentation_ms")) for row in rows]
        quality = [", ".join(f"{row[key]}" for row in rows if key in row) for key in ("overlap", "nodes")]
        lines.append([what, *(f"{text} = {figure_of(row['total_ms'])}" for text, row in zip(times, rows)), *quality])
    return (
        f"Milliseconds, sums + segmentation = together, on a machine with one H200 and 16 cores ({link_to('h200/snake.json')}):\n\n"
        + table(["", *SNAKE_IMAGES, "overlap (IoU)", "nodes"], lines)
    )


def describe_snake_starts(r):
    rows = [r.snake.get((image, "search of the rectangle, GPU")) for image in SNAKE_IMAGES]
    times = [figure_of(row["segmentation_ms"]) for row in rows if row]
    hundred = r.rows("h200/snake.json").get("resident/snake/hundred_starts/side:10000", {})
    return (
        f"If no start is given, the search of the best rectangle takes {', '.join(times[:-1])} and {times[-1]} ms "
        "on the GPU. A hundred starts on an image of\n"
        f"100 megapixels take {figure_of(hundred.get('ms'))} ms, because the sums are made once.\n"
    )


def table_of_skimage(r):
    rows = []
    for key, row in sorted(r.peers.items(), key=lambda item: (item[0][1], item[0][4])):
        if key[0] == "scikit-image":
            rows.append([key[1], f"{key[4]}^2", str(row["iterations"]), figure_of(row["ms"])])
    return table(["scikit-image", "image", "iterations", "ms"], rows)


def table_of_first_calls(r):
    record = r.read("h200/first_call.json")[-1]
    keys = ("first", "again", "new_sigma", "new_sigma_again")
    rows = [[row["library"], *(figure_of(row[key]) for key in keys)] for row in record["rows"]]
    sigma, new_sigma = record["sigmas"]
    return (
        f"Smoothing of {record['side']}<sup>3</sup> float pixels from array to array in Python, each library in a new process on one\n"
        f"{record['machine']['device']}, in milliseconds ({link_to('h200/first_call.json')}):\n\n"
        + table(["", "first call", "next call", f"first call with sigma {new_sigma:g} instead of {sigma:g}", "next call"], rows)
    )


def table_of_speed(r):
    """Returns the speed table of the first page."""
    rows = []
    for dimension, side in ((2, 256), (2, 1024), (2, 8192), (3, 256), (3, 512), (3, 1024)):
        ours, itk = (r.whole(prefix, "smoothing", dimension, side) for prefix in ("host_to_host", "itk"))
        if ours and itk:
            rows.append([f"{side}^{dimension}", f"{figure_of(ours)} ms", f"{figure_of(itk)} ms", ratio_of(itk, ours)])
    return table(["float image, sigma 4", "this module, one H200", "ITK, 16 cores", "factor"], rows)


def describe_machines(r):
    """Describes how much machines of one kind differ."""
    rows = []
    for dimension, side in ((2, 8192), (2, 16384), (3, 512), (3, 1024)):
        name = f"host_to_host/smoothing/{dimension}d/side:{side}/sigma_percent:400"
        slowest = max(statistics.median(row["medians_ms"]) for row in rows_of_runs(r, "h200/slabs.json", name))
        rows.append(f"{side}<sup>{dimension}</sup> {figure_of(r.get(name))} to {figure_of(slowest)} ms")
    return (
        "Times depend on the host's memory and its link. Machines of one kind differ: on three of them smoothing "
        "from ordinary memory takes\n"
        + ", ".join(rows[:-1])
        + f" and {rows[-1]}\n({link_to('h200/slabs.json')}). Smoothing of these sizes in the tables is of the fastest "
        "of them, and most other rows are of the slowest.\n"
    )


def rows_of_runs(r, record, name):
    return [row for run in r.read(record) for row in run.get("rows", ()) if row["name"] == name]


def table_of_slabs(r):
    """Returns the table of images in slabs, as measured on several machines."""
    cases = {}
    for run in r.read("h200/slabs.json"):
        for row in run.get("cases", ()):
            cases.setdefault(row["case"], []).append(row)
    lines = []
    for case, rows in sorted(cases.items(), key=lambda item: SLAB_MEMORY.index(item[0].split(":")[-1])):
        kind, x, y, z, sigma, allowed, memory = case.split(":")
        image = f"{x}^2" if z == "1" else f"{x}^3" if x == z else f"{x} x {y} x {z}"
        times = [time for row in rows for time in row.get("times_ms", [row.get("slabs_ms")])]
        name = f"host_to_host/smoothing/{3 if z != '1' else 2}d/side:{x}/sigma_percent:400"
        if (memory, allowed, kind) == ("ordinary", "0", "float"):
            times = [row["ms"] for row in rows_of_runs(r, "h200/slabs.json", name)]
        held = span_of([row["peak_bytes"] / 1e9 for row in rows if "peak_bytes" in row])
        lines.append(
            [
                f"{image} of {kind}, sigma {sigma}",
                {"pinned": "page-locked", "ordinary": "ordinary", "fresh": "ordinary, first output"}[memory],
                "all" if allowed == "0" else f"{allowed} GB" + (f"; {held} held" if held else ""),
                span_of(times),
                span_of([row["whole_ms"] for row in rows if "whole_ms" in row]),
                span_of([row["duplex_ms"] for row in rows if "duplex_ms" in row]),
            ]
        )
    header = ["smoothing", "memory", "device memory allowed", "in slabs", "whole", "copy of the same bytes, both ways at once"]
    return f"Milliseconds on machines with one H200 and 16 cores ({link_to('h200/slabs.json')}):\n\n" + table(header, lines)


SLAB_MEMORY = ("pinned", "ordinary", "fresh")


def table_of_file_streaming(r):
    rows = [row for run in r.read("host/slabs.json") for row in run["rows"]]
    lines = [[row["case"], str(row["look_ahead"]), str(row["taken_mib"]), str(row["bound_mib"])] for row in rows]
    return table(["file", "H", "taken, MiB", "at most, MiB"], lines) + f"\n({link_to('host/slabs.json', 'Record')}.)\n"


def regions_of(r, scene):
    """Returns the number of regions for each side of a scene."""
    rows = [row for run in r.read("h200/partition.json") for row in run.get("scenes", ()) if row["name"] == scene]
    return {row["side"]: f"{row['regions']:,}" for row in rows}


def table_of_partitions(r):
    """Returns the table of synthetic fields and of the radar picture of the examples."""
    lines = []
    for scene, text in (("partition", "fields"), ("partition_of_picture", "picture")):
        for side, regions in regions_of(r, scene).items():
            host = [r.times("h200/partition.json", f"host/{scene}{threads}/side:{side}") for threads in ("/one_thread", "")]
            names = [f"host_to_host/{scene}", f"resident/{scene}"] + (["resident/partition_label_map"] if text == "fields" else [])
            gpus = [
                [r.times(f"{gpu}/partition.json", f"{name}/side:{side}") for name in names] + [[]] * (3 - len(names))
                for gpu in ("h200", "h100")
            ]
            lines.append([f"{text}, {side * side // 10**6} MP", regions, *map(span_of, (*host, *gpus[0], *gpus[1]))])
    header = ["scene", "regions", "one thread", "16 threads"]
    for gpu in ("H200", "H100"):
        header += [f"{gpu}, host to host", "labels stay there", "label map alone stays"]
    return (
        f"Milliseconds on machines with 16 cores and one H200 ({link_to('h200/partition.json')}) or one H100 "
        f"({link_to('h100/partition.json')}):\n\n" + table(header, lines)
    )


def table_of_partitions_on_host(r):
    rows = r.rows("host/partition.json")
    names = (("partition", "fields"), ("partition_labels", "fields, label map alone"), ("partition_of_one_field", "speckle alone"))
    lines = []
    for name, text in names:
        times = [r.times("host/partition.json", f"host/{name}/one_thread/side:{side}") for side in (1000, 4000)]
        lines.append([text, *(span_of(each) for each in times)])
    picture = rows["host/partition_of_picture/one_thread/side:4000"]
    lines.append(["radar picture", "", figure_of(picture["ms"])])
    return f"One thread of a virtual machine, milliseconds ({link_to('host/partition.json')}):\n\n" + table(
        ["", "1 megapixel", "16 megapixels"], lines
    )


def table_of_many_partitions(r):
    """Returns the table of a hundred images in one call."""
    lines = []
    for name, text in (("partition_hundred", "partitions, C++"), ("partition_labels_hundred", "label maps, C++")):
        rows = [
            [row for run in r.read(f"{gpu}/partition.json") for row in run.get("rows", ()) if f"/{name}/" in row["name"]]
            for gpu in ("h200", "h100")
        ]
        lines.append(
            [
                text,
                *(
                    span_of(each)
                    for gpu in rows
                    for each in ([row["ms"] for row in gpu], [row["one_ms"] for row in gpu if "one_ms" in row])
                ),
            ]
        )
    python = [row for run in r.read("h200/partition.json") for row in run.get("python", ())]
    lines.append(
        ["`partition_images()`, Python", span_of([row["ms"] for row in python]), span_of([row["one_ms"] for row in python]), "", ""]
    )
    header = ["100 images of 500 x 500", "H200, all in one call", "one image", "H100, all in one call", "one image"]
    return table(header, lines)


def table_of_label_map_polygons(r):
    lines = []
    for row in (row for run in r.read("host/label_map_polygons.json") for row in run["rows"]):
        areas = [f"{row[key]:,} pixels" if row[key] else "none" for key in ("gaps", "overlaps")]
        lines.append([row["what"], f"{span_of(row['seconds'])} s", f"{row['nodes']:,}", *areas])
    header = ["", "time", "nodes of all polygons", "gaps between polygons", "overlaps"]
    return table(header, lines) + f"\n({link_to('host/label_map_polygons.json', 'Record')}, two cores of a virtual machine.)\n"


def table_of_programs(r):
    """Returns the tables of unmodified programs with and without this module's filters, one for each kind of machine."""
    parts = []
    for name in ("h200/programs.json", "host/programs.json"):
        runs = r.read(name)
        if not runs:
            continue
        lines = []
        for row in r.rows(name).values():
            share = "not measured" if "gaussian_without" not in row else f"{row['gaussian_without'] / row['seconds_without']:.0%}"
            times = [f"{row[f'seconds_{kind}']:.2f} s" for kind in ("without", "with")]
            lines.append([f"`{row['name']}`" if row["name"].startswith("itk.") else row["name"], share, *times, row["results"]])
        machine = runs[-1]["machine"]
        place = "On the host" if machine["device"] == "none" else f"With an {machine['device']}"
        parts.append(f"{place}, {machine['cores']} cores, {runs[-1]['side']}<sup>3</sup> pixels ({link_to(name)}):")
        parts.append(table(["program", "Gaussian share", "ITK's filters", "this module's", "results"], lines))
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def table_of_accuracy(r):
    """Returns the table of the accuracy of this and other methods, measured on scenes with known boundaries."""
    runs = r.read("host/partition_accuracy.json")
    methods = {(row["looks"], row["contrast"], row["method"]): row for run in runs for row in run.get("methods", ())}
    lines = []
    for row in (row for run in runs for row in run.get("scenes", ())):
        scene = (row["looks"], row["contrast"])
        others = [methods[(*scene, method)] for method in METHODS]
        figures = [f"{row[key]:.3f}" for key in ("rand_index", "recall", "precision")]
        cells = [f"{other['rand_index']:.3f}, {other['regions']} regions" for other in others]
        lines.append([str(scene[0]), f"{scene[1]:g}", ", ".join(map(str, row["regions"])), *figures, f"{row['distance']:.2f}", *cells])
    header = ["looks", "contrast", "regions", "adjusted Rand index", "recall", "precision", "distance, pixels"]
    return f"({link_to('host/partition_accuracy.json', 'Record')}.)\n\n" + table(
        [*header, *(f"one scene: {method}" for method in METHODS)], lines
    )


METHODS = ("`partition_image()`", "felzenszwalb", "SLIC and merging")


CHAINS = (
    ("one smoothing", "", "host_to_host/smoothing/3d/side:512/sigma_percent:400", ""),
    (
        "5 smoothings",
        "device_images/smoothings/3d/side:512/filters:5",
        "host_to_host/smoothings/3d/side:512/filters:5",
        "plain_images/smoothings/3d/side:512/filters:5",
    ),
    ("smoothing, magnitude, to `unsigned char`", "device_images/edges/3d/side:512", "host_to_host/edges/3d/side:512", ""),
)


def table_of_chains(r):
    lines = []
    for text, device, host, plain in CHAINS:
        cells = [span_of(r.times("h200/device_images.json", name)) for name in (device, plain, host)]
        lines.append([text, *cells, *(span_of(r.times("h100/device_images.json", name)) for name in (device, host))])
    header = ["512^3 of float, sigma 4", "H200, device images", "plain images, results kept", "one filter after the other"]
    header = [typeset(text) for text in header] + ["H100, device images", "one filter after the other"]
    rows = r.rows("h200/device_images.json")
    snake = figure_of(rows["resident/snake/device_image/margin_rectangle/side:10000"]["ms"])
    whole = figure_of(rows["host_to_host/snake/side:10000"]["ms"])
    overheads = [row["overhead_us"] for run in r.read("h200/device_images.json") for row in run.get("rows", ()) if "overhead_us" in row]
    return (
        "From image to image in ordinary memory, milliseconds, on three machines with one H200 "
        f"({link_to('h200/device_images.json')}) and\n"
        f"one with an H100 ({link_to('h100/device_images.json')}):\n\n"
        + table(header, lines)
        + f"\nOn device images of 256<sup>2</sup> pixels an `Update()` takes {span_of(overheads)} us longer than its "
        "kernels, on the average of\n"
        f"1,000. The snake takes {snake} ms on a resident image of 100 megapixels of `unsigned short` with its "
        f"labels on the device, and {whole} ms from\n"
        "host to host.\n"
    )


def table_of_traffic(r):
    lines = []
    for run in r.read("h200/device_images.json"):
        for row in run.get("traffic", ()):
            images = [f"{row[key] / row['image_bytes']:.3g}" for key in ("bytes_up", "bytes_down")]
            what = {
                "device": f"{row['filters']} smoothings of device images",
                "host": f"{row['filters']} smoothings of images of the host",
                "rescaled": "smoothed, rescaled, to `unsigned char`",
            }[row["between"]]
            lines.append([what, f"{row['side']}^3", *images])
    return table(["chain", "image", "images up", "images down"], lines) + f"\n({link_to('h200/device_images.json', 'Record')} by CUPTI.)\n"


def describe_array_calls(r):
    goals = {row["goal"]: row["measured"] for run in r.read("h200/array_calls.json") for row in run.get("goals", ())}
    returns = [value for goal, value in goals.items() if goal.endswith("until it returns")]
    factors = [f"{goals[f'512^3, {name}: times as fast as cupyx']:.1f}" for name in ("deriche", "accurate")]
    return (
        "On a machine with one H200 a call of 64<sup>3</sup> to 512<sup>3</sup> pixels returns after "
        f"{span_of(returns)} us. At 512<sup>3</sup> pixels\n"
        f"and sigma 4 `deriche` is {factors[0]} times as fast as `cupyx.scipy.ndimage.gaussian_filter()`, and "
        f"`accurate` {factors[1]} times\n"
        f"({link_to('h200/array_calls.json')}).\n"
    )


def table_of_numpy_calls(r):
    rows = r.rows("h200/numpy_calls.json")
    names = (
        ("gaussian_filter 256x256", "`gaussian_filter` of 256<sup>2</sup>"),
        ("gaussian_filter 512x512", "`gaussian_filter` of 512<sup>2</sup>"),
        ("gaussian_filter 8192x8192", "`gaussian_filter` of 8192<sup>2</sup>"),
        ("gaussian_filter 256x256x256", "`gaussian_filter` of 256<sup>3</sup>"),
        ("gaussian_filter 512x512x512", "`gaussian_filter` of 512<sup>3</sup>"),
        ("gaussian_filter 512x512x512, uint8", "`gaussian_filter` of 512<sup>3</sup> pixels of `uint8`, to `float32`"),
        ("gaussian_filter 512x512x512, mask", "`gaussian_filter` of 512<sup>3</sup> with `valid_mask`"),
        ("gaussian_filter 512x512x512, NaN", "`gaussian_filter` of 512<sup>3</sup> with pixels that are NaN"),
        ("gaussian_gradient_magnitude 256x256x256", "`gaussian_gradient_magnitude` of 256<sup>3</sup>"),
        ("gaussian_laplace 256x256x256", "`gaussian_laplace` of 256<sup>3</sup>"),
        ("frangi 256x256x256, five scales", "`frangi` of 256<sup>3</sup>, five scales"),
        ("cupy gaussian_filter 512x512x512", "`gaussian_filter` of a CuPy array of 512<sup>3</sup>"),
        ("cupy gaussian_gradient_magnitude 512x512x512", "`gaussian_gradient_magnitude` of a CuPy array of 512<sup>3</sup>"),
        ("cupy frangi 512x512x512, five scales", "`frangi` of a CuPy array of 512<sup>3</sup>, five scales"),
    )
    lines = []
    for name, text in names:
        row = rows[name]
        other = row.get("other_ms")
        factor = "" if other is None else f"{other / row['ms']:.1f}"
        lines.append([text, f"{row['ms']:.3g}", "" if other is None else f"{other:.3g}", factor])
    return table(["call", "this package", "cupyx", "factor"], lines) + f"\n({link_to('h200/numpy_calls.json', 'Record')}.)\n"


def describe_import(r):
    rows = [row for run in r.read("h200/array_calls.json") for row in run.get("imports", ())]
    fast = [time for row in rows if "host" in row["name"] for time in row["times_ms"]]
    slow = [time for row in rows if "host" not in row["name"] for time in row["times_ms"]]
    return (
        f"Installed, the package makes `import itk` {span_of(fast)} ms longer with Python 3.12 on machines with a "
        f"GPU, and {span_of(slow)} ms with\n"
        f"Python 3.11 on two slow cores ({link_to('h200/array_calls.json')}).\n"
    )


def table_of_boundary_modes(r):
    rows = r.rows("h200/boundary_modes.json")
    modes = ("nearest", "constant", "reflect", "mirror", "wrap")
    lines = []
    for prefix, text, sigmas in (("mode", "", (1, 4, 20, 64)), ("mode_of_accurate", ", Accurate", (4, 20, 64))):
        for sigma in sigmas:
            times = [rows[f"resident/{prefix}/{mode}/x:512/y:512/z:512/sigma_percent:{100 * sigma}"]["ms"] for mode in modes]
            ratios = [f"{ms:.2f}" + (f" ({ms / times[0]:.2f})" if i else "") for i, ms in enumerate(times)]
            lines.append([f"{sigma}{text}", *ratios])
    masked = {sigma: rows[f"resident/masked/side:512/sigma_percent:{100 * sigma}"]["ms"] for sigma in (4, 20)}
    plain = {sigma: rows[f"resident/mode/nearest/x:512/y:512/z:512/sigma_percent:{100 * sigma}"]["ms"] for sigma in (4, 20)}
    ratios = [f"{masked[sigma] / plain[sigma]:.2f}" for sigma in masked]
    return (
        "Smoothing of 512<sup>3</sup> resident `float` pixels, whose lines end with their last tile, takes these "
        "milliseconds on one H200, and in\n"
        f"brackets the ratio to Nearest ({link_to('h200/boundary_modes.json')}):\n\n"
        + table(["sigma in pixels", *(mode.capitalize() for mode in modes)], lines)
        + f"\nWith a mask of valid pixels the same smoothing takes {masked[4]:.2f} ms at sigma 4 and {masked[20]:.2f} "
        f"ms at sigma 20, {ratios[0]} and\n"
        f"{ratios[1]} times that without one.\n"
    )


def table_of_vesselness(r):
    rows = r.rows("h200/vesselness.json")
    names = ("resident/scales", "host_to_host/scales", "host_to_host/frangi")
    lines = []
    for side in (128, 256, 512):
        times = [rows.get(f"{name}/side:{side}/scales:5", {}).get("ms") for name in names]
        lines.append([f"{side}^3", *(figure_of(ms) for ms in times)])
    return f"Milliseconds on one H200, images of `float`, five scales, the response alone ({link_to('h200/vesselness.json')}):\n\n" + table(
        ["pixels", "on the device", "from host to host", "Frangi's measure, c from each scale"], lines
    )


def table_of_tensors(r):
    rows = r.rows("h200/vesselness.json")
    names = (
        ("eigenvalues", "eigenvalues"),
        ("eigenvectors", "with eigenvectors"),
        ("objectness", "objectness"),
        ("sato", "Sato's measure"),
        ("jerman", "Jerman's measure"),
        ("meijering", "Meijering's measure"),
        ("structure_tensor", "structure tensor of an image"),
        ("statistics", "statistics"),
    )
    lines = []
    for name, text in names:
        row = rows[f"resident/{name}/side:512" + ("/bins:0" if name == "statistics" else "")]
        fraction = row.get("copy_fraction")
        lines.append([text, f"{row['ms']:.2f}", "" if fraction is None else f"{fraction:.2f}"])
    return table(["512<sup>3</sup> tensors on the device", "ms", "of a copy's rate"], lines)


def table_of_accurate(r):
    rows = r.rows("h200/accurate.json")
    lines = []
    for shape in ("2048^2", "8192^2", "256^3", "512^3"):
        cells = []
        for kind in ("double", "accurate", "double_accurate"):
            for sigma in (400, 6400):
                row = rows[f"resident/{kind}/{SHAPES[shape]}/sigma_percent:{sigma}"]
                cells.append(f"{figure_of(row['ms'])} ms, {row['copy_fraction']:.2f}")
        lines.append([shape, *cells])
    header = ["image"] + [f"{kind}, sigma {sigma}" for kind in ("double", "float, Accurate", "double, Accurate") for sigma in (4, 64)]
    return (
        "Smoothing in GPU memory, as times and as shares of the copy rate. A share compares with 2 or 3 copies of an image of that type\n"
        f"(one H200, {link_to('h200/accurate.json')}):\n\n" + table(header, lines)
    )


# --- other GPUs -------------------------------------------------------------------------------------------------------

# Bandwidths of data sheets in 1e9 bytes per second: of the memory, and of the link in one direction (PCIe 3, 4 or 5
# with 16 lanes).
LINKS = {3: 16, 4: 32, 5: 64}
GPUS = (
    ("Tesla T4", 320, 3),
    ("L4", 300, 4),
    ("GeForce RTX 3060", 360, 4),
    ("L40S", 864, 4),
    ("GeForce RTX 4090", 1008, 4),
    ("GeForce RTX 5090", 1792, 5),
    ("A100 80 GB PCIe", 1935, 4),
)
MEASURED_GPU = ("H200", 4800, 5)
MEASURED_TOO = ("H100 SXM", 3350, 5)


def measured_fractions(r):
    """Returns the fractions of the data sheet's memory and link bandwidths that were reached with 512^3 float pixels at
    sigma 4."""
    image = 512**3 * 4e-6  # 1e9 bytes per second times milliseconds
    kernels, whole = r.resident("512^3", 4.0), r.whole("host_to_host", "smoothing", 3, 512)
    _, memory, link = MEASURED_GPU
    return 3 * 2 * image / kernels / memory, 2 * image / whole / LINKS[link]


def table_of_expected(r):
    of_memory, of_link = measured_fractions(r)
    image = 512**3 * 4e-6
    rows = []
    for name, memory, link in GPUS:
        kernels, transfers = 3 * 2 * image / (of_memory * memory), 2 * image / (of_link * LINKS[link])
        rows.append(
            [name, str(memory), str(LINKS[link]), *(f"{float(f'{ms:.2g}'):g} ms" for ms in (kernels, max(kernels, transfers))), "computed"]
        )
    h100 = r.rows("h100/peers.json")
    resident, whole = f"resident/{SHAPES['512^3']}/sigma_percent:400", "host_to_host/smoothing/3d/side:512/sigma_percent:400"
    for (name, memory, link), measured in ((MEASURED_TOO, h100), (MEASURED_GPU, r.module)):
        if resident in measured and whole in measured:
            times = [f"{measured[row]['ms']:.2g} ms" for row in (resident, whole)]
            rows.append([name, str(memory), str(LINKS[link]), *times, "measured"])
    header = ["GPU", "memory, GB/s", "link, GB/s", "image in GPU memory", "from ordinary memory", ""]
    return (
        "    image in GPU memory:   t = passes x 2 x bytes / (M x memory)\n"
        "    from ordinary memory:  the larger of t and 2 x bytes / (L x link)\n\n"
        "`bytes` is the size of the image, and `passes` the number of its axes. `link` and `memory` are the "
        "bandwidths of the data sheet, that of\n"
        f"the link in one direction. The H200 reaches M = {of_memory:.2f} and L = {of_link:.2f} with "
        "512<sup>3</sup> float pixels at sigma 4. L is near 1\n"
        "because the image comes and goes at the same time, in slabs. With 512<sup>3</sup> float pixels this gives\n"
        f"(the measured ones: {link_to('h200/slabs.json', 'H200')}, {link_to('h100/peers.json', 'H100')}):\n\n" + table(header, rows)
    )


# --- the pages --------------------------------------------------------------------------------------------------------


def describe_runs(r):
    lines = []
    for run in r.runs:
        machine = run["machine"]
        driver = f", driver {machine['driver']}" if "driver" in machine else ""
        cores = f", {machine['cores']} cores ({machine['processor']})" if "cores" in machine else ""
        note = f" ({run['note']})" if "note" in run else ""
        commit = f"`{run['commit'][:12]}`" if re.fullmatch(r"[0-9a-f]+", run["commit"]) else run["commit"]
        lines.append(f"* {machine['device']}{driver}{cores}, {run['date'][:10]}, commit {commit}{note}")
    names = {"cupy": "CuPy", "torch": "PyTorch", "cv2": "OpenCV", "scipy": "SciPy", "skimage": "scikit-image"}
    lines.append("* Peers: " + ", ".join(f"{names.get(name, name)} {version}" for name, version in r.versions.items()) + ".")
    if r.left_out:
        counts = {}
        for row in r.left_out:
            counts[row["library"]] = counts.get(row["library"], 0) + 1
        rows = ", ".join(f"{count} of {library}" for library, count in counts.items())
        lines.append(f"* Rows left out, with reasons in the record (most often: no time left): {rows}.")
    return f"Runs of the {link_to('h200/peers.json')}, the oldest first:\n\n" + "\n".join(dict.fromkeys(lines)) + "\n"


def all_goals(r):
    return [*goals_of_copy_fraction(r), *goals_of_times(r), *goals_against_peers(r), *goals_of_snake(r)]


def table_of_goals(r):
    return table(["figure", "must", "stretch", "reached", "met"], [goal.row() for goal in all_goals(r)])


TABLES = {
    "speed": table_of_speed,
    "beside_itk": table_beside_itk,
    "machines": describe_machines,
    "beside_cupy": table_beside_cupy,
    "snake_short": table_of_snake_for_users,
    "first_call": table_of_first_calls,
    "expected": table_of_expected,
    "runs": describe_runs,
    "goals": table_of_goals,
    "resident": table_of_smoothing_resident,
    "host_to_host": table_of_smoothing_host_to_host,
    "filters": table_of_filters,
    "resident_filters": table_of_resident_filters,
    "double_and_accurate": table_of_accurate,
    "two_way": table_of_two_way,
    "snake": table_of_snake,
    "snake_starts": describe_snake_starts,
    "skimage": table_of_skimage,
    "slabs": table_of_slabs,
    "file_streaming": table_of_file_streaming,
    "partitions": table_of_partitions,
    "partitions_on_host": table_of_partitions_on_host,
    "many_partitions": table_of_many_partitions,
    "label_map_polygons": table_of_label_map_polygons,
    "programs": table_of_programs,
    "accuracy": table_of_accuracy,
    "chains": table_of_chains,
    "traffic": table_of_traffic,
    "array_calls": describe_array_calls,
    "import_time": describe_import,
    "numpy_calls": table_of_numpy_calls,
    "boundary_modes": table_of_boundary_modes,
    "vesselness": table_of_vesselness,
    "tensors": table_of_tensors,
}
PLACE = re.compile(r"^<!-- (?P<name>\w+) -->\n.*?^<!-- end (?P=name) -->", flags=re.DOTALL | re.MULTILINE)


def find_pages(repository):
    return [repository / "README.md", *sorted((repository / "docs").rglob("*.md"))]


def wrap(text, width=120):
    """Wraps the paragraphs of a text to lines of that width. Tables, lists and code keep their lines."""
    parts = text.split("\n\n")
    return "\n\n".join(
        part if re.match(r"[|*]|    ", part) else textwrap.fill(part, width, break_long_words=False, break_on_hyphens=False)
        for part in parts
    )


def fill(page, r, folder):
    """Returns the page with all its tables replaced. `folder` is the folder of the page in the repository."""

    def write(match):
        name = match["name"]
        if name not in TABLES:
            raise SystemExit(f"error: there is no table '{name}'; known are: {', '.join(TABLES)}")
        up = os.path.relpath(".", folder)
        text = wrap(TABLES[name](r).rstrip("\n")).replace("](benchmarks/", f"]({'' if up == '.' else up + '/'}benchmarks/")
        return f"<!-- {name} -->\n\n{text}\n\n<!-- end {name} -->"

    filled = PLACE.sub(write, page)
    for comment in re.findall(r"^<!-- end (\w+) -->", PLACE.sub("", page), flags=re.MULTILINE):
        raise SystemExit(f"error: '<!-- end {comment} -->' has no '<!-- {comment} -->' on a line of its own before it")
    return filled


def find_picture_folder(docs):
    """Returns the folder of the pictures of the pages."""
    return next(iter(sorted(docs.rglob("performance_sizes.png"))), docs / "performance_sizes.png").parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=pathlib.Path, default=HERE / "records")
    parser.add_argument("--repository", type=pathlib.Path, default=REPOSITORY, help="whose pages are written (default: this one)")
    parser.add_argument("--no-plots", action="store_true", help="write the texts alone")
    arguments = parser.parse_args()
    r = Records(arguments.records)
    if not arguments.no_plots:
        import report_plots  # needs matplotlib

        report_plots.draw_all(r, find_picture_folder(arguments.repository / "docs"), SWEEPS)
    for path in find_pages(arguments.repository):
        text = path.read_text(encoding="utf-8")
        filled = fill(text, r, path.parent.relative_to(arguments.repository))
        if filled != text:
            path.write_text(filled, encoding="utf-8")
    for goal in all_goals(r):
        print(" | ".join(goal.row()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

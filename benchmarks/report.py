#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/performance.md, docs/performance_limits.md, their plots and the tables in README.md from the records in
benchmarks/records.

usage: benchmarks/report.py    (needs matplotlib; without it: --no-plots)

Records are the files DATE-MACHINE-peers*.json of peers.py (a row of a later file replaces that of an earlier one),
and the newest -two-way.json (two_way_paper_tables --json), -snake.json (snake_paper_table --json; or its text, -snake.txt),
-snake-host.json (or .txt; rows of the host that the other lacks), -first-call.json (first_call.py) and -sanitize.json (gpu-sanitize).
What limits a figure that misses its goal is written by hand in report_limits.md, under the goal's name.
"""

import argparse
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
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
    def __init__(self, folder):
        self.files = [*sorted(folder.glob("*-peers*.json")), *folder.glob("h200/peers.json")]
        if not self.files:
            raise SystemExit(f"error: no record *-peers*.json in {folder}: run peers.py first")
        self.runs = [json.loads(file.read_text(encoding="utf-8")) for file in self.files]
        self.module, self.peers, left_out = {}, {}, {}
        for run in self.runs:
            self.module.update({row["name"]: row for row in run["module"] if "ms" in row})
            for row in run["peers"]:
                key = (row["library"], row["filter"], row["where"], row["dimension"], row["side"], row["sigma"])
                if "ms" in row:
                    self.peers[key] = row
                else:
                    left_out[key] = row
        self.left_out = [row for key, row in left_out.items() if key not in self.peers]
        self.add_convolutions(folder)
        self.versions = {name: version for run in self.runs for name, version in run["versions"].items()}
        self.two_way_file, self.two_way = self.newest(folder, "h200/two_way.json", json.loads)
        snakes = [self.newest_snake(folder, part) for part in ("-host", "")]
        self.snake_files = [file for file, _ in snakes if file]
        self.snake = sort_snake([row for _, rows in snakes for row in rows])
        self.first_call_file, self.first_call = self.newest(folder, "h200/first_call.json", json.loads)
        self.sanitize_file, self.sanitize = self.newest(folder, "*-sanitize.json", json.loads)

    def add_convolutions(self, folder):
        """The record of the convolution beside CuPy's, where no peers record has these rows."""
        _, record = self.newest(folder, "*-fir.json", json.loads)
        for row in record["rows"] if record else ():
            dimension, side, sigma = row["dimension"], row["side"], row["sigma"]
            name = f"resident/discrete/{dimension}d/side:{side}/sigma_percent:{round(100 * sigma)}"
            self.module.setdefault(name, {"ms": row["ms"], "radius": row["radius"]})
            self.peers.setdefault(("CuPy", "discrete", "resident", dimension, side, sigma), {"ms": row["cupy_ms"]})

    @staticmethod
    def newest(folder, pattern, read):
        files = sorted(folder.glob(pattern))
        return (files[-1], read(files[-1].read_text(encoding="utf-8"))) if files else (None, None)

    @staticmethod
    def newest_snake(folder, part):
        """The newest record of the snake, JSON where there are both of one name, and its rows. Names are DATE-MACHINE-snake: those of
        comparisons end alike."""
        pattern = re.compile(rf"\d+-\d+-\d+-[^-]+-snake{part}\.(json|txt)")
        files = [file for file in folder.iterdir() if pattern.fullmatch(file.name)]
        if not files:
            return None, []
        file = max(files, key=lambda file: (file.stem, file.suffix == ".json"))
        text = file.read_text(encoding="utf-8")
        return file, read_snake_json(text) if file.suffix == ".json" else read_snake(text)

    def get(self, name, key="ms"):
        return self.module.get(name, {}).get(key)

    def resident(self, shape, sigma, key="ms"):
        return self.get(f"resident/{SHAPES[shape]}/sigma_percent:{round(100 * sigma)}", key)

    def whole(self, prefix, name, dimension, side, sigma=4.0):
        return self.get(f"{prefix}/{name}/{dimension}d/side:{side}/sigma_percent:{round(100 * sigma)}")

    def peer(self, library, where, dimension, side, sigma=4.0, name="smoothing"):
        return self.peers.get((library, name, where, dimension, side, sigma), {}).get("ms")

    def series(self, library, where, dimension):
        """(sides, ms) of smoothing at sigma 4."""
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
        """(value, pixels per second, copy_fraction) of the sweep's rows; the pattern's group is the value."""
        found = []
        for name, row in self.module.items():
            match = re.match(pattern, name)
            if match:
                x, y, z = (int(number) for number in re.search(r"x:(\d+)/y:(\d+)/z:(\d+)", name).groups())
                found.append((int(match.group(1)), x * y * z / row["ms"] * 1e3))
        return sorted(found)


def read_snake(text):
    """Rows (image, what, sums, segmentation, total in ms, rest) of the text of snake_paper_table; `rest` begins with the overlap with
    the truth where that was measured. Faint targets, which are another experiment, are left out."""
    rows = []
    for line in text.splitlines():
        match = re.match(r" *(\d+ MP)\s+(.*?)\s{2,}(\d+\.\d+)\s+(\d+\.\d+)\s+(\d+\.\d+)\s*(.*)", line)
        if match and not match.group(2).startswith("contrast"):
            image, what, sums, segmentation, total, rest = match.groups()
            rows.append((image, what, float(sums), float(segmentation), float(total), rest.split()))
    return rows


def read_snake_json(text):
    """The same rows from the file that snake_paper_table --json writes. Rows without a total, of the rectangle's search, are left out
    as well."""
    rows = []
    for row in json.loads(text)["rows"]:
        if row["total_ms"] is not None and not row["what"].startswith("contrast"):
            rest = [f"{row['overlap']:.5f}"] if "overlap" in row else []
            rows.append((row["image"], row["what"], row["sums_ms"], row["segmentation_ms"], row["total_ms"], rest))
    return rows


def sort_snake(rows):
    """Image by image; of rows that several records have, the last."""
    by_name = {(row[0], row[1]): row for row in rows}
    images = list(dict.fromkeys(image for image, _ in by_name))
    return sorted(by_name.values(), key=lambda row: images.index(row[0]))


# --- goals ------------------------------------------------------------------------------------------------------------


class Goal:
    """`reached` is to be at least (or at most) `must`; None where no record has it."""

    def __init__(self, name, what, must, reached, at_most=False, unit="", stretch=None):
        self.name, self.what, self.must, self.reached = name, what, must, reached
        self.at_most, self.unit, self.stretch = at_most, unit, stretch

    def is_met(self):
        return self.reached <= self.must if self.at_most else self.reached >= self.must

    def get_missed(self):
        """The bound that was not reached, in words; None if there is none."""
        if self.reached is None:
            return None
        if not self.is_met():
            return self.show(self.must)
        below = self.stretch is not None and (self.reached > self.stretch if self.at_most else self.reached < self.stretch)
        return f"a stretch of {self.show(self.stretch)}" if below else None

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


def name_of(file):
    """The name of a record within its folder: those of a kind of GPU have a folder of their own."""
    return f"{file.parent.name}/{file.name}" if file.parent.name == "h200" else file.name


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
            yield Goal(
                f"CuPy {shape} sigma {sigma:g}", f"CuPy's time / ours, resident, {shape}, sigma {sigma:g}", must, reached
            )
    ours = r.whole("host_to_host", "smoothing", 3, 512)
    itk = divide(r.whole("itk", "smoothing", 3, 512), ours)
    yield Goal("ITK 512^3", "ITK's time on all cores / ours, host to host, 512^3", 20, itk)
    yield Goal(
        "CuPy host to host", "CuPy's time / ours, host to host, 512^3", 7, divide(r.peer("CuPy", "host_to_host", 3, 512), ours)
    )
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
    rows = {(row[0], row[1]): row for row in r.snake}
    for image, (plain, removal, from_host) in bounds.items():
        one = rows.get((image, "CoarseToFine, GPU"))
        two = rows.get((image, "CoarseToFine + removal, GPU"))
        figures = (
            ("resident", "resident", plain, one and one[3]),
            ("removal", "resident, with removal of nodes", removal, two and two[3]),
            ("from host", "from ordinary host memory", from_host, one and one[4]),
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
    """Columns that no row fills are left out."""
    if not rows:
        return "Not measured.\n"
    rows = [list(row) for row in rows]
    filled = [i for i in range(len(header)) if any(str(row[i]) for row in rows)]
    header, rows = [header[i] for i in filled], [[row[i] for i in filled] for row in rows]
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join("---" for _ in header) + " |"]
    lines += ["| " + " | ".join(typeset(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def figure_of(ms):
    return "" if ms is None else f"{ms:.0f}" if ms >= 1000 else f"{ms:.3g}"


def ratio_of(theirs, ours):
    return "" if theirs is None or ours is None else figure_of(theirs / ours)


IMAGES = ((2, 256), (2, 1024), (2, 4096), (2, 8192), (2, 16384), (3, 64), (3, 256), (3, 512), (3, 1024))


def table_of_smoothing_resident(r):
    rows = []
    for sigma in (4.0, 64.0):
        for dimension, side in IMAGES:
            z = side if dimension == 3 else 1
            ours = r.get(f"resident/x:{side}/y:{side}/z:{z}/sigma_percent:{round(100 * sigma)}")
            if ours is None:
                continue
            cupy = r.peer("CuPy", "resident", dimension, side, sigma)
            torch = r.peer("PyTorch", "resident", dimension, side, sigma)
            cells = [figure_of(ours), figure_of(cupy), ratio_of(cupy, ours), figure_of(torch), ratio_of(torch, ours)]
            rows.append([f"{side}^{dimension}", f"{sigma:g}"] + cells)
    return table(["image", "sigma", "ms", "CuPy", "factor", "PyTorch", "factor"], rows)


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


# Filters of the first page: name in the records, class, whether in two dimensions as well.
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
    """The first page's: smoothing by size, the other filters at two sizes; sigma 4."""
    rows = []
    for name, text in FILTERS:
        sizes = ((2, 256), (2, 1024), (2, 4096), (2, 8192), (3, 256), (3, 512), (3, 1024)) if name == "smoothing" else ((2, 4096), (3, 256))
        for dimension, side in sizes:
            ours, itk = (r.whole(prefix, name, dimension, side) for prefix in ("host_to_host", "itk"))
            if ours and itk:
                rows.append([text, f"{side}^{dimension}", figure_of(ours), figure_of(itk), ratio_of(itk, ours)])
    return table(["filter, sigma 4", "image", "this module", "ITK", "factor"], rows)


def table_beside_cupy(r):
    """The first page's: smoothing at sigma 4 and 64, and the other filters that CuPy has."""
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


def table_of_snake_for_users(r):
    """The schedule and the removal of nodes that the filter has by default."""
    rows = {(row[0], row[1]): row for row in r.snake}
    lines = []
    for image in ("15 MP", "100 MP", "150 MP"):
        gpu, many, one = (rows.get((image, f"CoarseToFine + removal, {where}")) for where in ("GPU", "CPU, 16 threads", "CPU, 1 thread"))
        if gpu and many and one:
            lines.append([image.replace("MP", "megapixels"), *(figure_of(ms) for ms in (gpu[3], gpu[4], many[4], one[4]))])
    return table(["image", "H200, image in GPU memory", "H200, from ordinary memory", "16 cores", "one core"], lines)


def describe_first_call(r):
    if not r.first_call:
        return (
            "Not measured: no record has the time of the first call, nor of the first call with a new sigma. `benchmarks/first_call.py` measures\n"
            "them beside CuPy, which compiles kernels at both calls. This module's kernels are compiled beforehand.\n"
        )
    record = r.first_call
    rows = [[row["library"], *(figure_of(row[key]) for key in FIRST_CALL_KEYS)] for row in record["rows"]]
    sigma, new_sigma = record["sigmas"]
    return (
        f"Smoothing of {record['side']}<sup>3</sup> float pixels from array to array in Python, each library in a new process on one\n"
        f"{record['device']}, in milliseconds ([record](../benchmarks/records/{name_of(r.first_call_file)})). CuPy compiles kernels at its first\n"
        "call and for sigmas of another radius; its cache of kernels was empty. This module's kernels are compiled beforehand.\n\n"
        + table(["", "first call", "next call", f"first call with sigma {new_sigma:g} instead of {sigma:g}", "next call"], rows)
    )


FIRST_CALL_KEYS = ("first", "again", "new_sigma", "new_sigma_again")


def table_of_filters(r):
    rows = []
    pattern = r"(host_to_host)/(?!smoothing|pinned)(.*)/(\d)d/side:(\d+)/sigma_percent:(\d+)$"
    for name, row in r.module.items():
        match = re.match(pattern, name)
        if not match:
            continue
        _, filter_name, dimension, side, sigma = match.groups()
        prefix = "host" if filter_name.startswith("partitioned") else "itk"
        host = r.get(name.replace("host_to_host", prefix, 1))
        rows.append(
            [
                filter_name,
                f"{side}^{dimension}",
                f"{int(sigma) / 100:g}",
                figure_of(row["ms"]),
                figure_of(host),
                ratio_of(host, row["ms"]),
            ]
        )
    return table(["filter", "image", "sigma", "ms", "host", "factor"], rows)


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
                rows.append(
                    ["discrete", f"{side}^{dimension}", f"{sigma:g}", figure_of(ours), figure_of(cupy), ratio_of(cupy, ours)]
                )
    return table(["filter", "image", "sigma", "ms", "CuPy", "factor"], rows)


def table_of_two_way(r):
    rows = r.two_way["times"]["rows"]
    lines = []
    for side in sorted({row["side"] for row in rows}):
        best = {
            p: min(row["ms"] for row in rows if row["side"] == side and row["partition"] == p)
            for p in ("OneWay", "TwoWay", "Exact")
        }
        factors = [f"{best['OneWay'] / best[p]:.2f}" for p in ("TwoWay", "Exact")]
        lines.append([f"{side}^2", *(f"{best[p]:.4g}" for p in best), *factors, "2" if side == 512 else ""])
    return table(["image", "OneWay ms", "TwoWay ms", "Exact ms", "OneWay / TwoWay", "OneWay / Exact", "published"], lines)


def table_of_snake(r):
    rows = []
    for image, what, sums, segmentation, total, rest in r.snake:
        quality = rest[0] if rest else ""
        rows.append([image, what, *(figure_of(ms) for ms in (sums, segmentation, total)), quality])
    return table(["image", "", "sums, ms", "segmentation, ms", "total, ms", "overlap with the truth"], rows)


def table_of_skimage(r):
    rows = []
    for key, row in sorted(r.peers.items(), key=lambda item: (item[0][1], item[0][4])):
        if key[0] == "scikit-image":
            rows.append([key[1], f"{key[4]}^2", str(row["iterations"]), figure_of(row["ms"])])
    if not rows:
        return ""
    head = "For scale, another kind of region segmentation, level sets, on the CPU:\n\n"
    return head + table(["scikit-image", "image", "iterations", "ms"], rows)


def table_of_sanitizer(r):
    rows = []
    for run in r.sanitize["runs"]:
        reports = "" if run["reports"] is None else run["reports"]
        rows.append([run["tool"], run["job"], run["program"], run["result"], reports, run["reason"]])
    link = f"[Record](../benchmarks/records/{r.sanitize_file.name}), {r.sanitize['device']}, compute-sanitizer {r.sanitize['sanitizer']}:\n\n"
    return link + table(["tool", "units", "program", "", "reports", "reason"], rows)


# --- the page ---------------------------------------------------------------------------------------------------------


def read_limits(path):
    """Paragraphs by the names of the goals they are for; a heading may name several, divided by semicolons."""
    limits = []
    for part in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        heading, text = part.split("\n", 1)
        limits.append(([name.strip() for name in heading.split(";")], text.strip()))
    return limits


def describe_runs(r):
    lines = []
    for file, run in zip(r.files, r.runs):
        machine = run["machine"]
        lines.append(
            f"* [{name_of(file)}](../benchmarks/records/{name_of(file)}): {machine['device']}, driver {machine['driver']}, "
            f"{machine['cores']} cores ({machine['processor']}), {run['date'][:10]}, commit `{run['commit'][:12]}`"
        )
    names = {"cupy": "CuPy", "torch": "PyTorch", "cv2": "OpenCV", "scipy": "SciPy", "skimage": "scikit-image"}
    versions = ", ".join(f"{names.get(name, name)} {version}" for name, version in r.versions.items())
    lines.append(f"* Peers: {versions or 'none installed'}.")
    measured = set(r.versions)
    for run in r.runs:
        for item in run["left_out"]:
            name = item.get("library")
            if name and name not in measured:
                lines.append(f"* {names.get(name, name)} was left out: {item['reason']}.")
    if r.left_out:
        counts = {}
        for row in r.left_out:
            counts[row["library"]] = counts.get(row["library"], 0) + 1
        rows = ", ".join(f"{count} of {library}" for library, count in counts.items())
        lines.append(f"* Rows left out, with reasons in the records (most often: no time left): {rows}.")
    return typeset("\n".join(dict.fromkeys(lines)))


def write_missed(goals, limits):
    missed = {goal.name: goal for goal in goals if goal.get_missed()}
    parts, explained = [], set()
    for names, text in limits:
        mine = [missed[name] for name in names if name in missed]
        explained.update(goal.name for goal in mine)
        if mine:
            heads = "; ".join(f"{goal.what}: {goal.show(goal.reached)} for {goal.get_missed()}" for goal in mine)
            parts.append(typeset(f"**{heads}.**\n{text}\n"))
    rest = [goal for name, goal in missed.items() if name not in explained]
    for goal in rest:
        parts.append(typeset(f"**{goal.what}: {goal.show(goal.reached)} for {goal.get_missed()}.** No profile was taken.\n"))
    return "\n".join(parts) if parts else "None is missed.\n"


def make_values(r, goals, limits):
    """What stands for each {{name}} of the templates."""
    return {
        "beside_itk": table_beside_itk(r),
        "beside_cupy": table_beside_cupy(r),
        "snake_short": table_of_snake_for_users(r) if r.snake else "Not measured.\n",
        "first_call": describe_first_call(r),
        "runs": describe_runs(r),
        "goals": table(["figure", "must", "stretch", "reached", "met"], [goal.row() for goal in goals]),
        "missed": write_missed(goals, limits),
        "resident": table_of_smoothing_resident(r),
        "host_to_host": table_of_smoothing_host_to_host(r),
        "filters": table_of_filters(r),
        "resident_filters": table_of_resident_filters(r),
        "two_way": table_of_two_way(r) if r.two_way else "Not measured.\n",
        "two_way_record": name_of(r.two_way_file) if r.two_way_file else "",
        "snake": table_of_snake(r) if r.snake else "Not measured.\n",
        "snake_records": " and ".join(f"[{file.name}](../benchmarks/records/{file.name})" for file in r.snake_files),
        "skimage": table_of_skimage(r),
        "sanitizer": table_of_sanitizer(r) if r.sanitize else "There is no record of a run yet.\n",
    }


def fill(template, values):
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: values[match.group(1)].rstrip("\n"), template)
    return re.sub(r"\n{3,}", "\n\n", page)


# Bandwidths of data sheets in 1e9 bytes per second: of the memory, and of the link in one direction (PCIe 3, 4 or 5 with 16 lanes).
LINKS = {3: 16, 4: 32, 5: 64}
GPUS = (
    ("Tesla T4", 320, 3),
    ("L4", 300, 4),
    ("GeForce RTX 3060", 360, 4),
    ("L40S", 864, 4),
    ("GeForce RTX 4090", 1008, 4),
    ("GeForce RTX 5090", 1792, 5),
    ("A100 80 GB PCIe", 1935, 4),
    ("H100 SXM", 3350, 5),
)
MEASURED_GPU = ("H200", 4800, 5)


def measured_fractions(r):
    """Which shares of the data sheet's bandwidths of memory and link were reached with 512^3 float pixels at sigma 4."""
    image = 512**3 * 4e-6  # 1e9 bytes per second times milliseconds
    kernels, whole = r.resident("512^3", 4.0), r.whole("host_to_host", "smoothing", 3, 512)
    _, memory, link = MEASURED_GPU
    return 3 * 2 * image / kernels / memory, 2 * image / (whole - kernels) / LINKS[link]


def table_of_expected(r):
    of_memory, of_link = measured_fractions(r)
    image = 512**3 * 4e-6
    rows = []
    for name, memory, link in (*GPUS, MEASURED_GPU):
        kernels, transfers = 3 * 2 * image / (of_memory * memory), 2 * image / (of_link * LINKS[link])
        kind = "measured" if name == MEASURED_GPU[0] else "computed"
        rows.append([name, str(memory), str(LINKS[link]), *(f"{float(f'{ms:.2g}'):g} ms" for ms in (kernels, kernels + transfers)), kind])
    header = ["GPU", "memory, GB/s", "link, GB/s", "image in GPU memory", "from ordinary memory", ""]
    text = (
        "    time = 2 x bytes / (L x link) + passes x 2 x bytes / (M x memory)\n\n"
        "`bytes` is the size of the image, and `passes` the number of its axes. `link` and `memory` are the bandwidths of the data sheet. The\n"
        f"H200 reaches L = {of_link:.2f} and M = {of_memory:.2f} with 512<sup>3</sup> float pixels at sigma 4. For an image that stays in GPU memory\n"
        "the first term is zero. With 512<sup>3</sup> float pixels the formula gives:\n\n"
    )
    return text + table(header, rows)


def write_readme(r, path):
    """The parts between the pairs of comments: the table of times, and what other GPUs can be expected to take."""
    rows = []
    for dimension, side in ((2, 256), (2, 1024), (2, 8192), (3, 256), (3, 512), (3, 1024)):
        ours, itk = (r.whole(prefix, "smoothing", dimension, side) for prefix in ("host_to_host", "itk"))
        if ours and itk:
            rows.append([f"{side}^{dimension}", f"{ours:.3g} ms", f"{figure_of(itk)} ms"])
    page = path.read_text(encoding="utf-8")
    times = table(["image", "CudaSmoothingRecursiveGaussianImageFilter", "ITK"], rows)
    for name, text in (("times", times), ("expected", table_of_expected(r))):
        begin, end = f"<!-- {name}: written by benchmarks/report.py -->\n", f"<!-- end of {name} -->"
        page, count = re.subn(f"({begin}).*({end})", lambda match: f"{match.group(1)}\n{text}\n{match.group(2)}", page, flags=re.S)
        if count != 1:
            raise SystemExit(f"error: {path} has {count} places for '{name}'; it must have one, between {begin.strip()} and {end}")
    path.write_text(page, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=pathlib.Path, default=HERE / "records")
    parser.add_argument("--docs", type=pathlib.Path, default=REPOSITORY / "docs", help="README.md is beside it")
    parser.add_argument("--no-plots", action="store_true", help="write the texts alone")
    arguments = parser.parse_args()
    r = Records(arguments.records)
    goals = [*goals_of_copy_fraction(r), *goals_of_times(r), *goals_against_peers(r), *goals_of_snake(r)]
    if not arguments.no_plots:
        import report_plots  # needs matplotlib

        report_plots.draw_all(r, arguments.docs, SWEEPS)
    values = make_values(r, goals, read_limits(HERE / "report_limits.md"))
    for template, page in (("report_template.md", "performance.md"), ("report_limits_template.md", "performance_limits.md")):
        text = (HERE / template).read_text(encoding="utf-8")
        (arguments.docs / page).write_text(fill(text, values), encoding="utf-8")
    write_readme(r, arguments.docs.parent / "README.md")
    for goal in goals:
        print(" | ".join(goal.row()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

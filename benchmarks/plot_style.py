# SPDX-License-Identifier: Apache-2.0
"""Common style of the plots in docs/: their size, and names at the curves instead of legends."""
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

# 900 pixels are as wide as a page shows a picture.
WIDTH = 9.0
DOTS_PER_INCH = 100
pyplot.rcParams.update(
    {
        "font.size": 10,
        "axes.titlesize": 10,
        "figure.titlesize": 11,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
)


def save(figure, path):
    figure.savefig(path, dpi=DOTS_PER_INCH)
    pyplot.close(figure)


def name_curve(axis, point, text, colour, offset=(5, 0), **how):
    """Writes a text next to a point of a curve, shifted by an offset in points."""
    how = {"va": "center", "fontsize": 9, "annotation_clip": False, **how}
    axis.annotate(text, point, xytext=offset, textcoords="offset points", color=colour, **how)


def name_ends(axis, curves, distance, reach=1.0):
    """Writes each curve's text to the right of its last point. `curves` are (point, text, colour). Texts at the same
    abscissa are moved down until they are `distance` points from each other; curves that end within the factor `reach`
    of the last abscissa have their texts there, at the end of a thin line."""
    last = max(point[0] for point, *_ in curves)
    points_per_pixel = 72.0 / axis.figure.dpi
    columns = {}
    for point, text, colour in curves:
        place = last if point[0] * reach >= last else point[0]
        columns.setdefault(place, []).append((point, text, colour))
    for place, column in columns.items():
        highest = None
        for point, text, colour in sorted(column, key=lambda item: -item[0][1]):
            x, y = axis.transData.transform((place, point[1])) * points_per_pixel
            shift = 0.0 if highest is None else min(0.0, highest - distance - y)
            highest = y + shift
            name_curve(axis, (place, point[1]), text, colour, (6, shift))
            if place != point[0]:
                end = axis.transData.inverted().transform(((x + 4) / points_per_pixel, highest / points_per_pixel))
                axis.plot((point[0], end[0]), (point[1], end[1]), ":", color=colour, linewidth=0.8, clip_on=False)


def label_powers(axis, values, suffix=""):
    """Sets ticks at the values of a logarithmic abscissa, labelled with plain numbers."""
    axis.set_xticks(values)
    axis.set_xticks([], minor=True)
    axis.set_xticklabels([f"{value:g}{suffix}" for value in values])


def label_times(axis):
    """Labels the powers of ten of a logarithmic ordinate with plain numbers: 0.1, 1, 10 ms."""
    axis.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))

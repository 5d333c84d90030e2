# SPDX-License-Identifier: Apache-2.0
"""Images of two regions of known boundary, for the snake."""
import itk
import numpy as np

SHAPE = (160, 200)
SPACING = (0.5, 2.0)
ORIGIN = (3.0, -4.0)


def truth():
    """An ellipse with a flat side."""
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    return ((x - 95.0) / 60.0) ** 2 + ((y - 80.0) / 45.0) ** 2 < 1.0


def draw(law, pixel=np.float32, seed=3):
    """Pixels of a law whose parameters differ inside and outside."""
    rng = np.random.default_rng(seed)
    mean = np.where(truth(), 60.0, 20.0)
    if law == "gamma":
        pixels = rng.exponential(mean)
    elif law == "rayleigh":
        pixels = rng.rayleigh(mean)
    elif law == "poisson":
        pixels = rng.poisson(mean)
    elif law == "bernoulli":
        pixels = rng.random(SHAPE) < mean / 100.0
    elif law == "log_normal":
        pixels = np.exp(rng.normal(np.log(mean), 0.6))
    elif law.startswith("gaussian"):
        pixels = rng.normal(mean, 15.0)
    else:
        pixels = 1.0 + rng.poisson(mean)  # which every law allows
    if np.issubdtype(pixel, np.integer):
        limits = np.iinfo(pixel)
        pixels = np.clip(np.rint(pixels), 1 if law == "log_normal" else limits.min, limits.max)
    return pixels.astype(pixel)


def draw_image(law, pixel=np.float32, direction=None):
    image = itk.image_from_array(draw(law, pixel))
    image.SetSpacing(SPACING)
    image.SetOrigin(ORIGIN)
    if direction is not None:
        image.SetDirection(itk.matrix_from_array(np.asarray(direction, np.float64)))
    return image


def overlap(label):
    """Intersection over union with the truth."""
    found = np.asarray(label) != 0
    return (found & truth()).sum() / (found | truth()).sum()


def signed_area(contour):
    x, y = np.asarray(contour, np.float64).T
    return 0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)


def inside(corners, shape):
    """Pixels whose centres lie inside a polygon, by crossings; corners in pixels, the first pixel's outer one at (0, 0)."""
    y, x = np.mgrid[: shape[0], : shape[1]] + 0.5
    result = np.zeros(shape, bool)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0)):
        if y0 != y1:
            crosses = (y0 > y) != (y1 > y)
            result ^= crosses & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return result

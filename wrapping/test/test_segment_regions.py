# SPDX-License-Identifier: Apache-2.0
"""Many targets in one image: segment_regions(), and segment_region() with a local background."""
import copy
import itertools
import json
import pickle

import numpy as np
import pytest

from itk_cudafilters import Image, Segmentations, detect_targets, partition_image, segment_region, segment_regions, write_geojson
from itk_cudafilters import write_geopackage

CELL = 48
SEARCH = {"maximum_step": 4, "minimum_edge_length": 3.0}


def scene(rows=3, columns=5, ratio=3.0, seed=1, dtype=np.uint16):
    """Returns an image of disks of 201 pixels in 4-look speckle, rectangles inside the disks, and the labels of the disks."""
    rng = np.random.default_rng(seed)
    truth = np.zeros((rows * CELL, columns * CELL), np.int32)
    y, x = np.ogrid[: rows * CELL, : columns * CELL]
    starts = []
    for number in range(rows * columns):
        centre_y, centre_x = (np.array(divmod(number, columns)) + 0.5) * CELL + rng.uniform(-4.0, 4.0, 2)
        truth[(y + 0.5 - centre_y) ** 2 + (x + 0.5 - centre_x) ** 2 < 64.0] = number + 1
        starts.append((int(centre_x) - 5, int(centre_y) - 5, 10, 10))
    mean = np.where(truth > 0, 100.0 * ratio, 100.0)
    return rng.gamma(4.0, mean / 4.0).astype(dtype), np.array(starts), truth


def overlap(first, second):
    return np.count_nonzero(first & second) / np.count_nonzero(first | second)


def test_each_region_is_that_of_the_cropped_image():
    image, starts, truth = scene()
    found = segment_regions(image, "gamma", starts, looks=4)
    assert len(found) == len(starts) and found.overlaps == ()
    for (x, y, width, height), region in zip(starts.tolist(), found):
        left, top, across, down = region.window
        assert (left, top) == (max(x - 16, 0), max(y - 16, 0))
        assert (left + across, top + down) == (min(x + width + 16, image.shape[1]), min(y + height + 16, image.shape[0]))
        crop = image[top : top + down, left : left + across].copy()
        alone = segment_region(crop, "gamma", 4, initial_region=(x - left, y - top, width, height), **SEARCH)
        assert np.array_equal(alone.contour + [left, top], region.contour)
        for side in ("inside", "outside"):
            expected, other = getattr(alone.statistics, side), getattr(region.statistics, side)
            assert (expected.number_of_pixels, expected.mean) == (other.number_of_pixels, other.mean)
        for name in ("criterion", "criterion_of_one_region", "description_length", "number_of_iterations", "stop"):
            assert getattr(alone.statistics, name) == getattr(region.statistics, name), name
        labels = found.labels == region.number
        assert np.array_equal(labels[top : top + down, left : left + across], alone.label != 0)
        assert overlap(labels, truth == region.number) > 0.85


@pytest.mark.parametrize("start", ["initial_region", "initial_contour", "initial_mask"])
def test_local_background(start):
    image, starts, truth = scene()
    found = segment_regions(image, "gamma", starts, looks=4, margin=12)
    for (x, y, width, height), region in zip(starts.tolist(), found):
        mask = np.zeros(image.shape, bool)
        mask[y : y + height, x : x + width] = True
        corners = [[x - 0.5, y - 0.5], [x + 9.5, y - 0.5], [x + 9.5, y + 9.5], [x - 0.5, y + 9.5]]
        given = {"initial_region": (x, y, width, height), "initial_contour": corners, "initial_mask": mask}[start]
        alone = segment_region(
            image, "gamma", 4, local_background=True, margin=12, inside_value=7, outside_value=3, **{start: given}, **SEARCH
        )
        assert np.array_equal(alone.contour, region.contour) and alone.statistics.criterion == region.statistics.criterion
        assert np.array_equal(alone.label, np.where(found.labels == region.number, 7, 3)) and alone.label.dtype == np.uint8
        assert len(alone.statistics.record) > 2 and region.statistics.record == ()
    # The background of the whole image contains the other targets.
    whole = segment_region(image, "gamma", 4, initial_region=tuple(starts[0].tolist()), **SEARCH)
    assert whole.statistics.outside.mean > found[0].statistics.outside.mean * 1.02


def test_kinds_of_starts():
    image, starts, truth = scene()
    found = segment_regions(image, "gamma", starts, looks=4)
    labels = np.zeros(image.shape, np.int64)
    for number, (x, y, width, height) in enumerate(starts):
        labels[y : y + height, x : x + width] = 1000 - 7 * number
    of_labels = segment_regions(image, "gamma", labels, looks=4)
    assert [region.start_label for region in of_labels] == sorted(1000 - 7 * np.arange(len(starts)))
    of_contours = segment_regions(image, "gamma", [region.contour for region in found], looks=4)
    of_lists = segment_regions(image, "gamma", [tuple(start) for start in starts.tolist()], looks=4)
    for region, of_label, of_list in zip(found, reversed(of_labels), of_lists):
        assert np.array_equal(region.contour, of_label.contour) and np.array_equal(region.contour, of_list.contour)
        assert region.start_label == 0
    for region, again in zip(found, of_contours):
        assert overlap(found.labels == region.number, of_contours.labels == again.number) > 0.9
    for none in ([], np.zeros((0, 4), int), np.zeros(image.shape, int)):
        empty = segment_regions(image, "gamma", none, looks=4)
        assert len(empty) == 0 and not empty.labels.any()
        assert list(empty.table) == list(found.table) and not any(map(len, empty.table.values()))


def test_overlaps():
    """Every two regions are compared, also where they lie under a third one."""
    image, starts, _ = scene(1, 2)
    starts = np.concatenate([starts + [3 * shift, 2 * shift, 0, 0] for shift in range(3)])
    found = segment_regions(image, "gamma", starts, looks=4)
    alone = [segment_regions(image, "gamma", [start], looks=4).labels != 0 for start in starts]
    labels = np.zeros(image.shape, np.uint32)
    for index in reversed(range(len(starts))):
        labels[alone[index]] = index + 1
    common = {(i + 1, j + 1): np.count_nonzero(alone[i] & alone[j]) for i, j in itertools.combinations(range(len(starts)), 2)}
    assert list(found.overlaps) == [(*pair, pixels) for pair, pixels in sorted(common.items()) if pixels]
    assert {(1, 3), (1, 5), (3, 5), (2, 6)} <= {pair for pair, pixels in common.items() if pixels}
    assert np.array_equal(found.labels, labels) and found.labels.dtype == np.uint32
    assert [region.hidden_pixels for region in found] == [np.count_nonzero(own & (labels != i)) for i, own in enumerate(alone, 1)]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "uint64", "float16", "float32", "float64", ">i4", ">f8"])
def test_masks_of_any_numbers(dtype):
    """They are true where they are not 0: also for multiples of 256, for numbers that float32 does not hold, and for NaN."""
    image, starts, _ = scene(1, 2)
    valid = np.random.default_rng(3).random(image.shape) < 0.8
    small = {"f": 1e-300 if dtype.endswith(("f8", "64")) else 6e-8}.get(np.dtype(dtype).kind, 1)
    mask = np.where(valid, small, 0).astype(dtype)
    mask[:40][valid[:40]] = {"b": 1, "f": np.nan}.get(np.dtype(dtype).kind, 1 << min(8, 8 * np.dtype(dtype).itemsize - 2))
    assert np.array_equal(mask != 0, valid)
    for function in (lambda mask: segment_regions(image, "gamma", starts, 4, valid_mask=mask).labels,
                     lambda mask: segment_region(image, "gamma", 4, initial_mask=np.where(np.arange(96) < 50, mask, mask.dtype.type(0))).label,
                     lambda mask: partition_image(image, "gamma", 4, valid_mask=mask).labels,
                     lambda mask: detect_targets(image, "gamma", 4, land_mask=mask).labels):
        assert np.array_equal(function(mask), function(valid.astype(np.uint8)))


def test_a_region_without_a_polygon_is_a_feature_without_a_place():
    image, starts, _ = scene(1, 2)
    small, found = segment_regions(image, "gamma", [(0, 0, 2, 2), starts[0]], looks=4)
    assert small.statistics.stop == "region_too_small" and small.__geo_interface__["geometry"] is None
    assert json.loads(json.dumps(small.__geo_interface__, allow_nan=False))["properties"]["nodes"] == 0
    assert found.__geo_interface__["geometry"]["type"] == "Polygon"


def test_starts_that_are_no_list():
    image, starts, _ = scene(1, 2)
    for wrong in (tuple(starts[0].tolist()), starts[0].tolist()):
        with pytest.raises(TypeError, match=r"starts\[0\] is \d+; it must be a rectangle \(x, y, width, height\) or a contour"):
            segment_regions(image, "gamma", wrong, looks=4)
    with pytest.raises(TypeError, match="valid_mask has pixels of type complex64; they must be numbers or truth values: give valid_mask != 0"):
        segment_regions(image, "gamma", starts, looks=4, valid_mask=np.ones(image.shape, np.complex64))


def test_copies_and_representation():
    image, starts, _ = scene(1, 3)
    found = segment_regions(image, "gamma", starts, looks=4)
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert isinstance(again, Segmentations) and np.array_equal(again.labels, found.labels)
        assert [repr(region.statistics) for region in again] == [repr(region.statistics) for region in found]
    assert repr(found) == "<3 regions of 3 starts, 0 overlaps>" and found[-1].number == 3 and len(found[:2]) == 2
    assert "nodes" in repr(found[0])
    assert all(np.array_equal(rc, region.contour[:, ::-1]) for rc, region in zip(found.contours_rc, found))


def test_places_and_files(tmp_path):
    image, starts, _ = scene(2, 2)
    plain = segment_regions(image, "gamma", starts, looks=4)
    placed = Image(image, spacing=(10.0, 10.0), origin=(500000.0, 5400000.0), direction=[[1.0, 0.0], [0.0, -1.0]], metadata={"crs": "EPSG:32632"})
    found = segment_regions(placed, "gamma", starts, looks=4)
    assert isinstance(found.labels, Image) and found.labels.spacing == (10.0, 10.0)
    for region, expected in zip(found, plain):
        mirrored = np.roll(expected.contour[::-1], 1, axis=0)
        assert np.allclose(region.contour, mirrored * [10.0, -10.0] + [500000.0, 5400000.0])
        assert np.array_equal(region.contour_in_pixels, mirrored)
    table = found.table
    assert np.array_equal(table["region"], [1, 2, 3, 4]) and np.allclose(table["physical_area"], 100.0 * table["area"])
    write_geojson(found, tmp_path / "o.geojson", coordinates="pixel")
    features = json.loads((tmp_path / "o.geojson").read_text())["features"]
    assert [feature["properties"]["region"] for feature in features] == [1, 2, 3, 4]
    assert found.__geo_interface__["features"][0] == found[0].__geo_interface__
    pyogrio = pytest.importorskip("pyogrio")
    write_geopackage(found, tmp_path / "o.gpkg")
    meta, _, geometry, _ = pyogrio.raw.read(tmp_path / "o.gpkg")
    assert meta["crs"] == "EPSG:32632" and len(geometry) == 4


def test_starts_without_pixels_and_boundaries_that_do_not_pay():
    image, starts, _ = scene(1, 3)
    valid = np.ones(image.shape, bool)
    x, y, width, height = starts[1]
    valid[y : y + height, x : x + width] = False
    noise = np.random.default_rng(5).gamma(4.0, 25.0, image.shape).astype(np.uint16)
    found = segment_regions(image, "gamma", starts, looks=4, valid_mask=valid)
    assert found[1].statistics.stop == "region_too_small" and len(found[1].contour) == 0
    assert not found[1].significant_boundary and list(found.table["region"]) == [1, 3]
    nothing = segment_regions(noise, "gamma", starts, looks=4)
    assert list(nothing.table) == list(found.table) and len(nothing.table["region"]) == 0 and not nothing.labels.any() and all(len(region.contour) >= 3 for region in nothing)


NOISE = {
    **{f"gamma-{looks}": ("gamma", looks, lambda rng, shape, looks=looks: rng.gamma(looks, 50.0 / looks, shape)) for looks in (1, 4.4, 16)},
    "rayleigh-1": ("rayleigh", 1, lambda rng, shape: rng.rayleigh(40.0, shape)),
    "gaussian": ("gaussian", None, lambda rng, shape: rng.normal(100.0, 10.0, shape)),
    "gaussian_common_variance": ("gaussian_common_variance", None, lambda rng, shape: rng.normal(100.0, 10.0, shape)),
    "poisson": ("poisson", None, lambda rng, shape: rng.poisson(6.0, shape)),
    "bernoulli": ("bernoulli", None, lambda rng, shape: rng.random(shape) < 0.3),
    "log_normal": ("log_normal", None, lambda rng, shape: np.exp(rng.normal(2.0, 0.5, shape))),
}


@pytest.mark.parametrize("name", NOISE)
def test_noise_has_no_significant_boundary(name):
    """At most 2 % of the searches in noise of the law call a boundary significant, over about 1,000 images of all laws."""
    law, looks, draw = NOISE[name]
    rng = np.random.default_rng(11)
    single = [segment_region(draw(rng, (64, 64)).astype(np.float32), law, looks) for _ in range(111)]
    assert sum(found.statistics.significant_boundary for found in single) <= 2
    assert all(found.label.any() == found.statistics.significant_boundary and len(found.contour) >= 3 for found in single)
    starts = [(x, y, 14, 14) for x in range(20, 180, 54) for y in range(20, 180, 54)]
    found = segment_regions(draw(rng, (200, 200)).astype(np.float32), law, starts, looks)
    assert not any(region.significant_boundary for region in found) and not found.labels.any()


@pytest.mark.parametrize(
    "starts, words",
    [
        ([(1, 2, 3)], r"starts\[0\] is \(1, 2, 3\)"),
        ([(1, 2, 3, 4), (220, 2, 30, 5)], r"starts\[1\] is \(220, 2, 30, 5\).*240 x 144"),
        ([(1.5, 2, 3, 4)], r"starts\[0\]"),
        (np.zeros((3, 5)), "N x 4 integers"),
        ([[[0, 0], [10, 10], [0, 10], [10, 0]]], "Start 0 of 1: The initial polygon"),
        ([[[0, 0], [10, 0], [np.nan, 10]]], r"starts\[0\] has the point"),
        ("ships", "starts is of type str"),
        (np.zeros((10, 10), int) + 1, "starts"),
        (np.full((144, 240), -1), "starts has values from -1"),
    ],
)
def test_wrong_starts(starts, words):
    image, _, _ = scene()
    with pytest.raises((TypeError, ValueError), match=words):
        segment_regions(image, "gamma", starts, looks=4)


def test_wrong_parameters():
    image, starts, _ = scene(1, 2)
    with pytest.raises(ValueError, match="margin is 0"):
        segment_regions(image, "gamma", starts, looks=4, margin=0)
    with pytest.raises(ValueError, match="local_background is True without a start"):
        segment_region(image, "gamma", 4, local_background=True)
    with pytest.raises(ValueError, match="margin is 4, and local_background is not set"):
        segment_region(image, "gamma", 4, initial_region=(1, 1, 9, 9), margin=4)
    with pytest.raises(ValueError, match="initial_mask is 0 everywhere"):
        segment_region(image, "gamma", 4, local_background=True, initial_mask=np.zeros(image.shape))
    with pytest.raises(ValueError, match="minimum_region_size valid pixels"):
        segment_region(image, "gamma", 4, local_background=True, initial_region=(1, 1, 3, 3))
    with pytest.raises(ValueError, match='quantity="db"|decibels'):
        segment_regions(10.0 * np.log10(image.astype(np.float32) + 1.0) - 30.0, "gamma", starts)

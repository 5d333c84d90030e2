# SPDX-License-Identifier: Apache-2.0
"""One target through frames or slices: track_region() and segment_volume()."""
import json
import pickle

import numpy as np
import pytest

from itk_cudafilters import Image, segment_region, segment_volume, track_region

SHAPE = (120, 160)
SEARCH = {"minimum_edge_length": 8.0}


def truth_at(time):
    """Returns where an ellipse is that moves by 4 pixels a frame, turns and grows."""
    y, x = np.ogrid[: SHAPE[0], : SHAPE[1]]
    x, y = x + 0.5 - (45.0 + 4.0 * time), y + 0.5 - (60.0 + 8.0 * np.sin(0.4 * time))
    angle = 0.1 * time
    u, v = np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x
    return (u / (26.0 + 0.3 * time)) ** 2 + (v / (15.0 + 0.4 * time)) ** 2 < 1.0


def frames_of(times, seed=1, present=lambda _: True):
    rng = np.random.default_rng(seed)
    for time in times:
        mean = np.where(truth_at(time) & present(time), 300.0, 100.0)
        yield rng.gamma(4.0, mean / 4.0).astype(np.uint16)


def overlap(first, second):
    return np.count_nonzero(first & second) / np.count_nonzero(first | second)


@pytest.mark.parametrize("local_background", [False, True], ids=["whole", "window"])
def test_a_target_that_moves_and_deforms(local_background):
    frames = list(frames_of(range(12)))
    tracked = list(track_region(frames, "gamma", 4, local_background=local_background, **SEARCH))
    assert [region.frame for region in tracked] == list(range(12)) and not any(region.is_lost for region in tracked)
    for region in tracked:
        label = region.label != 0
        assert overlap(label, truth_at(region.frame)) > 0.96, region
        assert region.contour_rc.tolist() == region.contour_in_pixels[:, ::-1].tolist() == region.contour[:, ::-1].tolist()
        x, y, width, height = region.window
        assert label[y : y + height, x : x + width].sum() == label.sum() == region.statistics.inside.number_of_pixels
        assert (width < SHAPE[1]) == (local_background and region.frame > 0)
    assert "nodes" in repr(tracked[0])


def test_large_frames_are_outlined_as_by_searches_of_their_own():
    y, x = np.ogrid[:700, :900]
    rng = np.random.default_rng(11)
    frames = []
    for time in range(4):
        inside = ((x - 400.0 - 15.0 * time) / (190.0 + 4.0 * time)) ** 2 + ((y - 350.0) / 130.0) ** 2 < 1.0
        frames.append(rng.normal(np.where(inside, 160.0, 100.0), 20.0).astype(np.uint8))
    for region, frame in zip(track_region(frames, "gaussian"), frames):
        assert overlap(region.label != 0, segment_region(frame, "gaussian").label != 0) > 0.99, region


def test_each_frame_is_the_search_from_the_polygon_before():
    frames = list(frames_of(range(4), seed=7))
    before = None
    for region, frame in zip(track_region(frames, "gamma", 4, **SEARCH), frames):
        start = {} if before is None else {"initial_contour": before}
        alone = segment_region(frame, "gamma", 4, **start, **SEARCH)
        assert np.array_equal(alone.contour, region.contour) and np.array_equal(alone.label, region.label)
        assert alone.statistics.criterion == region.statistics.criterion
        before = region.contour


def test_the_window_of_a_start_is_that_around_the_start():
    frames = list(frames_of(range(2)))
    start = {"initial_region": (40, 50, 12, 10)}
    alone = segment_region(frames[0], "gamma", 4, **start, local_background=True, **SEARCH)
    first, second = track_region(frames, "gamma", 4, **start, local_background=True, **SEARCH)
    assert alone.window == first.window == (24, 34, 44, 42)  # 16 pixels on each side of the start
    assert first.statistics.inside.number_of_pixels + first.statistics.outside.number_of_pixels == 44 * 42
    left, top = np.maximum(first.contour_in_pixels.min(axis=0) + 0.5, 0)
    assert second.window[:2] != first.window[:2] and second.window[0] < left and second.window[1] < top
    everywhere = segment_region(frames[0], "gamma", 4, **start, **SEARCH)
    assert everywhere.window == (0, 0, SHAPE[1], SHAPE[0]) and pickle.loads(pickle.dumps(alone)).window == alone.window


def test_a_target_that_vanishes_is_reported_at_once_and_found_again():
    tracked = list(track_region(frames_of(range(9), present=lambda time: not 4 <= time < 6), "gamma", 4, **SEARCH))
    assert [region.is_lost for region in tracked] == [False] * 4 + [True] * 2 + [False] * 3
    assert not tracked[4].label.any() and "lost" in repr(tracked[4])
    assert overlap(tracked[6].label != 0, truth_at(6)) > 0.95
    assert tracked[4].__geo_interface__["properties"]["is_lost"]


def test_a_target_that_appears_later():
    frames = frames_of(range(5), present=lambda time: time >= 2)
    tracked = list(track_region(frames, "gamma", 4, initial_region=(20, 40, 60, 40), **SEARCH))
    assert [region.is_lost for region in tracked] == [True, True, False, False, False]


def test_a_start_without_valid_pixels_is_a_lost_target():
    frames = [Image(frame, no_data=0) for frame in frames_of(range(3))]
    hidden = frames[1].array.copy()
    hidden[30:90, 10:90] = 0
    tracked = list(track_region([frames[0], Image(hidden, no_data=0), frames[2]], "gamma", 4, **SEARCH))
    assert [region.is_lost for region in tracked] == [False, True, False]
    assert tracked[1].statistics.stop == "region_too_small" and len(tracked[1].contour) == 0
    feature = json.loads(json.dumps(tracked[1].__geo_interface__, allow_nan=False))
    assert feature["geometry"] is None and feature["properties"]["area"] == feature["properties"]["physical_perimeter"] == 0.0
    geopandas = pytest.importorskip("geopandas")
    table = geopandas.GeoDataFrame.from_features(tracked)
    assert table["is_lost"].tolist() == [False, True, False]
    assert [shape is None for shape in table.geometry] == [False, True, False]
    assert table.geometry[2].area == table["area"][2] > 1000.0


def test_frames_are_taken_when_they_are_needed():
    taken = []

    def source():
        for time, frame in enumerate(frames_of(range(6))):
            taken.append(time)
            yield frame

    tracker = track_region(source(), "gamma", 4, **SEARCH)
    assert taken == []
    assert next(tracker).frame == 0 and taken == [0]
    assert next(tracker).frame == 1 and taken[-1] <= 2
    assert next(tracker).frame == 2 and taken[-1] <= 3
    tracker.close()
    assert taken[-1] <= 3


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
def test_a_source_may_use_one_array_for_all_frames(dtype):
    frames = [np.minimum(frame, 250).astype(dtype) for frame in frames_of(range(6))]

    def camera():
        buffer = np.empty(SHAPE, dtype)
        for frame in frames:
            buffer[:] = 0  # what is searched meanwhile must not see it
            buffer[:] = frame
            yield buffer

    for region, expected in zip(track_region(camera(), "gamma", 4, **SEARCH), track_region(frames, "gamma", 4, **SEARCH), strict=True):
        assert np.array_equal(region.contour, expected.contour) and region.statistics.criterion == expected.statistics.criterion


def test_places_of_frames():
    frames = list(frames_of(range(3)))
    placed = [
        Image(frame, spacing=(0.5, 2.0), origin=(7.0, -3.0), direction=[[1.0, 0.0], [0.0, -1.0]]) for frame in frames
    ]
    for region, plain in zip(track_region(placed, "gamma", 4, **SEARCH), track_region(np.stack(frames), "gamma", 4, **SEARCH)):
        mirrored = np.roll(plain.contour[::-1], 1, axis=0)
        assert np.array_equal(region.contour_in_pixels, mirrored)
        assert np.allclose(region.contour, mirrored * [0.5, -2.0] + [7.0, -3.0])
        assert np.array_equal(region.label, plain.label)


@pytest.mark.parametrize(
    "frames, words",
    [
        ("movie.avi", "frames is of type str"),
        (7, "frames is of type int"),
        ([np.ones(SHAPE, np.uint16), "x"], "frame 0|frame 1"),
        ([*frames_of([0]), np.ones((50, 60), np.uint16)], r"frame 1: image has the shape \(50, 60\); it must be that .*120, 160"),
        ([*frames_of([0]), np.ones((3, 50, 60), np.uint16)], "frame 1"),
        ([*frames_of([0, 1]), np.full(SHAPE, np.nan, np.float32)], "frame 2"),
    ],
)
def test_wrong_frames(frames, words):
    with pytest.raises((TypeError, ValueError), match=words):
        list(track_region(frames, "gamma", 4, **SEARCH))


def test_exceptions_of_the_source_arrive():
    def source():
        yield from frames_of(range(2))
        raise OSError("the camera was unplugged")

    tracker = track_region(source(), "gamma", 4, **SEARCH)
    assert not next(tracker).is_lost
    with pytest.raises(OSError, match="unplugged"):
        list(tracker)


def test_wrong_parameters():
    frames = list(frames_of(range(2)))
    with pytest.raises(ValueError, match="margin is 3, and local_background is not set"):
        track_region(frames, "gamma", 4, margin=3)
    with pytest.raises(ValueError, match="law"):
        track_region(frames, "weibull", 4)
    with pytest.raises(ValueError, match="frame 0: initial_region"):
        next(track_region(frames, "gamma", 4, initial_region=(1, 1, 500, 3)))
    with pytest.raises(ValueError, match="start_slice is 5"):
        segment_volume(np.zeros((5, 30, 30), np.uint16), "gamma", 4, start_slice=5)
    with pytest.raises(ValueError, match="volume has 2 axes"):
        segment_volume(np.zeros((30, 30), np.uint16), "gamma", 4, start_slice=0)


def ellipsoid(seed=3):
    z, y, x = np.ogrid[:15, :70, :90]
    truth = ((z - 7) / 5.5) ** 2 + ((y + 0.5 - 34.0 - 0.6 * (z - 7)) / 20.0) ** 2 + ((x + 0.5 - 45.0 + (z - 7)) / 26.0) ** 2 < 1.0
    return np.random.default_rng(seed).normal(np.where(truth, 130.0, 100.0), 12.0).astype(np.float32), truth


def test_volume():
    volume, truth = ellipsoid()
    direction = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    placed = Image(volume, spacing=(0.5, 0.5, 3.0), origin=(10.0, 20.0, 30.0), direction=direction)
    found = segment_volume(placed, "gaussian", start_slice=7, **SEARCH)
    plain = segment_volume(volume, "gaussian", start_slice=-8, **SEARCH)
    assert isinstance(found.label, Image) and found.label.spacing == (0.5, 0.5, 3.0)
    assert np.array_equal(found.label.array, plain.label) and plain.label.dtype == np.uint8
    occupied = np.flatnonzero(truth.any(axis=(1, 2)))
    assert sorted(found.contours) == occupied.tolist()
    assert [each.frame for each in found.slices] == [occupied[0] - 1, *occupied, occupied[-1] + 1]
    assert found.slices[0].is_lost and found.slices[-1].is_lost
    assert overlap(plain.label != 0, truth) > 0.93
    assert found.volume == pytest.approx(truth.sum() * 0.75, rel=0.05)
    for z, contour in found.contours.items():
        in_pixels = next(each for each in found.slices if each.frame == z).contour_in_pixels
        x, y = in_pixels.T
        assert np.allclose(contour, np.stack([10.0 - 0.5 * y, 20.0 + 0.5 * x, np.full(len(x), 30.0 + 3.0 * z)], axis=1))
        assert np.array_equal(plain.contours[z][:, :2], in_pixels) and (plain.contours[z][:, 2] == z).all()
    assert repr(found) == f"<target in {len(occupied)} slices, {occupied[0]} to {occupied[-1]}>"


def test_pixels_of_a_volume_that_hold_no_data():
    """They are left out of each slice, by the value or the mask of the Image, or by a mask of the volume."""
    volume, _ = ellipsoid()
    volume[:, :, 80:] = -1000.0
    volume[6, :30, :] = -1000.0
    expected = [segment_region(plane, "gaussian", valid_mask=plane > -1000.0, **SEARCH).statistics for plane in volume]
    half = volume > -1000.0
    half[:, :30] = True
    for image, mask in (
        (Image(volume, no_data=-1000.0), None),
        (Image(volume, valid_mask=volume > -1000.0), None),
        (Image(np.where(volume > -1000.0, volume, np.nan), no_data=np.nan), None),
        (volume, volume > -1000.0),
        (volume, Image((volume > -1000.0).astype(np.float32), spacing=(0.5, 0.5, 3.0))),
        (Image(volume, valid_mask=half), (volume > -1000.0) | ~half),  # each knows a part
    ):
        found = segment_volume(image, "gaussian", start_slice=7, valid_mask=mask, **SEARCH)
        assert len(found.slices) > 8 and found.slices[0].is_lost
        for each in found.slices:
            assert each.statistics.criterion_of_one_region == expected[each.frame].criterion_of_one_region, each
            valid = each.statistics.inside.number_of_pixels + each.statistics.outside.number_of_pixels
            assert valid == np.count_nonzero(volume[each.frame] > -1000.0)
        assert overlap(found.slices[4].label[:, :80] != 0, ellipsoid()[1][found.slices[4].frame, :, :80]) > 0.9
    with pytest.raises(ValueError, match=r"valid_mask has the shape \(1, 70, 90\); it must be that of the volume, \(\d+, 70, 90\), or of a slice"):
        segment_volume(volume, "gaussian", start_slice=7, valid_mask=half[:1])
    with pytest.raises(TypeError, match="valid_mask has pixels of type complex128; they must be numbers"):
        segment_volume(volume, "gaussian", start_slice=7, valid_mask=half * 1j)


def test_masks_of_slices_may_be_images_of_any_place():
    volume, truth = ellipsoid()
    valid = np.ones(volume.shape[1:], np.uint8)
    valid[:20] = 0
    xarray = pytest.importorskip("xarray")
    masks = [valid, Image(valid, spacing=(0.5, 0.5)), xarray.DataArray(valid.T, dims=("x", "y"), coords={"x": 7.0 - np.arange(90.0)})]
    for start in (None, truth[7], Image(truth[7]), xarray.DataArray(truth[7].T, dims=("x", "y"))):
        found = [
            segment_volume(image, "gaussian", start_slice=7, valid_mask=mask, initial_mask=start, **SEARCH)
            for image in (volume, Image(volume, spacing=(0.5, 0.5, 3.0))) for mask in masks
        ]
        assert all(np.array_equal(np.asarray(each.label), found[0].label) for each in found) and found[0].label.any()
    with pytest.raises(ValueError, match=r"volume has the shape \(0, 70, 90\); it must have pixels"):
        segment_volume(volume[:0], "gaussian", start_slice=0)


def test_a_volume_of_decibels():
    volume = np.stack(list(frames_of(range(3)))).astype(np.float32) + 1.0
    plain = segment_volume(volume, "gamma", 4, start_slice=1, **SEARCH)
    in_decibels = (10.0 * np.log10(volume.astype(np.float64))).astype(np.float32)
    for converted in (segment_volume(in_decibels, "gamma", 4, start_slice=1, quantity="db", **SEARCH),
                      segment_volume(Image(in_decibels, quantity="db"), "gamma", 4, start_slice=1, **SEARCH)):
        assert overlap(np.asarray(converted.label), plain.label) > 0.99
        assert [each.statistics.quantity for each in converted.slices] == ["intensity"] * 3
        assert getattr(converted.label, "quantity", None) is None


def test_volume_of_other_kinds():
    volume, _ = ellipsoid()
    expected = segment_volume(volume, "gaussian", start_slice=7, **SEARCH)
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(volume.transpose(2, 0, 1), dims=("x", "z", "y"))
    found = segment_volume(array, "gaussian", start_slice=7, **SEARCH)
    assert found.label.dims == ("x", "z", "y") and np.array_equal(found.label.transpose("z", "y", "x"), expected.label)
    nothing = segment_volume(np.random.default_rng(1).normal(size=(4, 40, 50)), "gaussian", start_slice=1)
    assert not nothing.label.any() and nothing.contours == {} and nothing.volume == 0.0 and repr(nothing) == "<target in 0 slices>"

# SPDX-License-Identifier: Apache-2.0
"""Work that is dealt to several GPUs: parameters, order and errors, which need none. That slabs on several devices have the
bits of one is proved by the tests in C++, with an imitation of CUDA, and on GPUs."""
from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from itk_cudafilters import detect_targets, info, map_devices, partition_image, partition_images, segment_regions, stream, track_region
from itk_cudafilters._parameters import devices_of

rng = np.random.default_rng(20)
VOLUME = rng.normal(100, 10, (300, 6, 7)).astype(np.float32)
IMAGES = [rng.exponential(mean, (60, 70)).astype(np.float32) for mean in (1, 2, 3, 4, 5)]

FILTERS: dict[str, Any] = {
    "gaussian_filter": (stream.gaussian_filter, {"sigma": 2.0}, ()),
    "gaussian_gradient_magnitude": (stream.gaussian_gradient_magnitude, {"sigma": 2.0}, ()),
    "gaussian_laplace": (stream.gaussian_laplace, {"sigma": 2.0}, ()),
    "vesselness": (stream.vesselness, {"sigmas": (1.0, 2.0), "gamma": 10.0}, ()),
    "structure_tensor": (stream.structure_tensor, {}, (6,)),
    "structure_tensor_eigenvalues": (stream.structure_tensor_eigenvalues, {}, (3,)),
}


@pytest.mark.parametrize("name", FILTERS)
def test_devices_change_no_bit_of_a_stream(name: str) -> None:
    function, parameters, components = FILTERS[name]
    expected = np.empty((*VOLUME.shape, *components), np.float32)
    function(VOLUME, expected, **parameters)
    for devices in ([0], [0, 0], (0, 0, 0), np.array([0, 0]), "all"):
        found = np.full_like(expected, np.nan)
        report = function(VOLUME, found, **parameters, devices=devices)
        assert np.array_equal(found, expected), devices
        assert report["bytes_between"] >= 0
        assert report["on_host"] or len(report["devices"]) == (report["devices"] and len(devices_of(devices)))


@pytest.mark.parametrize(
    ("devices", "kind", "text"),
    [
        ("both", ValueError, "devices is 'both'; it must be None, \"all\", or a list of indices of GPUs, such as [0, 1]"),
        (0, TypeError, "devices is 0; it must be None"),
        ([], ValueError, "devices is []; it must be"),
        ([0, -1], ValueError, "devices[1] is -1; it must be an integer from 0"),
        ([0, 1.5], TypeError, "devices[1] is 1.5; it must be an integer from 0"),
        ([2**31], ValueError, "devices[0] is 2147483648; it must be an integer from 0 to 2147483647"),
    ],
)
def test_other_devices_are_refused(devices: Any, kind: type[Exception], text: str) -> None:
    calls = [
        lambda: partition_images(IMAGES, "gamma", looks=1, devices=devices),
        lambda: segment_regions(IMAGES[0], "gamma", [(9, 9, 20, 20)], looks=1, devices=devices),
        lambda: map_devices(detect_targets, IMAGES, "gamma", devices=devices),
    ]
    for function, parameters, components in FILTERS.values():
        target = np.zeros((*VOLUME.shape, *components), np.float32)
        calls.append(lambda f=function, p=parameters, t=target: f(VOLUME, t, **p, devices=devices))
    for call in calls:
        with pytest.raises(kind) as raised:
            call()
        assert text in str(raised.value)


def test_a_device_that_does_not_exist_is_named_where_a_gpu_is_demanded(backend: str) -> None:
    with pytest.raises(RuntimeError, match="The backend of the filter is Cuda, but it cannot be used"):
        stream.gaussian_filter(VOLUME, np.empty_like(VOLUME), 2.0, devices=[0, 999], backend="cuda")
    target = np.empty_like(VOLUME)
    if backend == "cuda":
        with pytest.raises(RuntimeError, match="device index 999 is out of range"):
            stream.gaussian_filter(VOLUME, target, 2.0, devices=[999])
        return
    report = stream.gaussian_filter(VOLUME, target, 2.0, devices=[999])
    assert report["backend_used"] == "host" and report["backend_reason"]


def test_schedulers_take_no_devices() -> None:
    with pytest.raises(ValueError, match=r"devices is \[0\], and scheduler is given, whose workers take the GPUs"):
        stream.gaussian_filter(VOLUME, np.empty_like(VOLUME), 2.0, devices=[0], scheduler="threads")


def test_partitions_are_those_of_one_device() -> None:
    expected = [partition_image(image, "gamma", looks=1) for image in IMAGES]
    for devices in ([0], [0, 0], "all"):
        found = partition_images(IMAGES, "gamma", looks=1, devices=devices)
        for one, other in zip(expected, found, strict=True):
            assert np.array_equal(one.labels, other.labels)
    with pytest.raises(ValueError, match=r"device_index is 0, and devices is \[0\]; only one of them can say the GPUs"):
        partition_images(IMAGES, "gamma", devices=[0], device_index=0)


def test_starts_are_searched_as_on_one_device() -> None:
    scene = rng.exponential(1.0, (200, 300)).astype(np.float32)
    starts = [(x, y, 12, 9) for x in range(10, 280, 40) for y in range(15, 180, 50)]
    for x, y, width, height in starts:
        scene[y : y + height, x : x + width] *= 6.0
    labels = np.zeros(scene.shape, np.uint32)
    for number, (x, y, width, height) in enumerate(starts, 1):
        labels[y : y + height, x : x + width] = number
    for given in (starts, labels, starts[:1], []):
        expected = segment_regions(scene, "gamma", given, looks=1)
        for devices in ([0], [0, 0, 0], "all", [0] * 100):
            found = segment_regions(scene, "gamma", given, looks=1, devices=devices)
            assert np.array_equal(found.labels, expected.labels) and found.overlaps == expected.overlaps, devices
            for one, other in zip(found, expected, strict=True):
                assert np.array_equal(one.contour, other.contour) and one.number == other.number
                assert one.start_label == other.start_label
    with pytest.raises(ValueError, match=r"device_index is 0, and devices is \[0\]; only one of them can say the GPUs"):
        segment_regions(scene, "gamma", starts, looks=1, devices=[0], device_index=0)


def test_items_are_dealt_in_order_to_threads_that_are_free() -> None:
    running: dict[int, int] = {}
    lock = threading.Lock()

    def work(item: int, add: int, *, device_index: int, factor: int = 1) -> tuple[int, int]:
        with lock:
            running[device_index] = running.get(device_index, 0) + 1
            assert running[device_index] <= (2 if device_index == 4 else 1)
        time.sleep(0.001 * (item % 5))
        with lock:
            running[device_index] -= 1
        return item * factor + add, device_index

    found = map_devices(work, (item for item in range(60)), 7, devices=[3, 4, 4], factor=2)
    assert [value for value, _ in found] == [2 * item + 7 for item in range(60)]
    assert {device for _, device in found} == {3, 4}
    assert map_devices(work, [], 1, devices=[0]) == []


def test_lists_have_the_results_of_a_loop() -> None:
    found = map_devices(detect_targets, IMAGES, "gamma", looks=1, probability_of_false_alarm=1e-3, devices=[0, 0])
    for image, detections in zip(IMAGES, found, strict=True):
        expected = detect_targets(image, "gamma", looks=1, probability_of_false_alarm=1e-3)
        assert np.array_equal(detections.labels, expected.labels)
    starts = [(10, 10, 20, 20), (40, 30, 10, 10)]
    regions = map_devices(segment_regions, IMAGES, "gamma", starts, looks=1, devices=[0, 0])
    for image, several in zip(IMAGES, regions, strict=True):
        assert np.array_equal(several.labels, segment_regions(image, "gamma", starts, looks=1).labels)
    streams = [IMAGES[:3], IMAGES[2:]]
    tracks = map_devices(track_region, streams, "gamma", looks=1, initial_region=(10, 10, 20, 20), devices=[0, 0])
    for frames, track in zip(streams, tracks, strict=True):
        expected_track = list(track_region(frames, "gamma", looks=1, initial_region=(10, 10, 20, 20)))
        assert len(track) == len(frames)
        for one, other in zip(track, expected_track, strict=True):
            assert np.array_equal(one.contour, other.contour)


def test_the_first_exception_arrives_and_no_further_call_begins() -> None:
    begun = []

    def fail(item: int, *, device_index: int) -> int:
        begun.append(item)
        if item == 5:
            raise KeyError(item)
        time.sleep(0.002)
        return item

    with pytest.raises(KeyError, match="5"):
        map_devices(fail, range(1000), devices=[0, 1])
    assert len(begun) < 20

    def items() -> Any:
        yield 1
        raise OSError("no frame")

    with pytest.raises(OSError, match="no frame"):
        map_devices(lambda item, device_index: item, items(), devices=[0, 1, 2])


def test_functions_without_device_index_are_refused() -> None:
    with pytest.raises(TypeError, match="function is sorted, which has no parameter device_index"):
        map_devices(sorted, IMAGES)
    with pytest.raises(TypeError, match="function is .*; it must be a function with the parameter device_index"):
        map_devices(3, IMAGES)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="device_index is 1; devices says the GPUs"):
        map_devices(detect_targets, IMAGES, "gamma", device_index=1)
    with pytest.raises(TypeError, match="items is .*; it must be a list of what the function takes"):
        map_devices(detect_targets, "image.tif", "gamma")


def test_without_a_gpu_all_is_one_thread() -> None:
    usable = [device for device in info().devices if device.usable]
    assert len(devices_of("all")) == len([each for each in usable if each.compute_capability == usable[0].compute_capability])
    if not usable:
        assert map_devices(lambda item, device_index: device_index, [1, 2]) == [-1, -1]

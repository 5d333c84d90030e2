# SPDX-License-Identifier: Apache-2.0
"""What the functions give travels: to files by pickle, to copies, and to processes that are spawned or forked."""
import copy
import dataclasses
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
import xarray

import itk_cudafilters
from itk_cudafilters import partition_image, segment_region
from itk_cudafilters._library import has_wrapped_classes

IMAGE = np.random.default_rng(5).exponential(np.kron([[1.0, 4.0], [9.0, 1.0]], np.ones((24, 31)))).astype(np.float32)


def kinds_of(pixels):
    import itk  # not for the processes below, which need none

    image = itk.image_from_array(pixels)
    image.SetOrigin([5.0, -3.0])
    image.SetSpacing([0.5, 2.0])
    image.SetDirection(itk.matrix_from_array(np.array([[0.0, -1.0], [1.0, 0.0]])))
    image.SetRegions(itk.ImageRegion[2]([5, 7], pixels.shape[::-1]))  # as a part that another filter extracted
    coordinates = {"y": np.arange(pixels.shape[0])[::-1] * 2.0, "x": np.arange(pixels.shape[1]) + 7.0}
    return {"numpy": pixels, "itk": image, "xarray": xarray.DataArray(pixels, coordinates, dims=("y", "x"))}


def returned(image):
    partition = partition_image(image, "gamma", looks=1)
    segmentation = segment_region(image, "gamma", looks=1)
    return {
        "info": itk_cudafilters.info(),
        "noise_laws": itk_cudafilters.noise_laws(),
        "segmentation": segmentation,
        "statistics": segmentation.statistics,
        "partition": partition,
        "partition_statistics": partition.statistics,
        "merged": partition.merge(number=2),
        "labels_only": partition_image(image, "gamma", looks=1, labels_only=True),
    }


def place_of(labels):
    """Where pixels lie: the geometry of an itk.Image, the coordinates of a DataArray."""
    if isinstance(labels, xarray.DataArray):
        return labels.dims, {name: values.values.tolist() for name, values in labels.coords.items()}
    if isinstance(labels, np.ndarray):
        return None
    import itk

    region, direction = labels.GetLargestPossibleRegion(), itk.array_from_matrix(labels.GetDirection())
    return list(region.GetIndex()), list(region.GetSize()), list(labels.GetOrigin()), list(labels.GetSpacing()), direction.tolist()


def arrays_of(found, **other_statistics):
    """All that an object tells, as plain values; with other values of some statistics of a partition."""
    if isinstance(found, itk_cudafilters.Partition):
        polygons = [ring.tolist() for rings in found.polygons for ring in rings]
        table = {name: np.nan_to_num(column, nan=-1.0).tolist() for name, column in found.table.items()}
        merges = {name: column.tolist() for name, column in found.merges.items()}
        shown = (len(found), polygons, table, merges, found.neighbours, found.edges.tolist(), found.nodes.tolist())
        shown = (*shown, dataclasses.replace(found.statistics, **other_statistics))
        return (*shown, place_of(found.labels), np.asarray(found.labels).tolist(), np.nan_to_num(np.asarray(found.means)).tolist())
    if isinstance(found, itk_cudafilters.Segmentation):
        contours = found.contour.tolist(), found.contour_rc.tolist(), found.contour_in_pixels.tolist()
        return np.asarray(found.label).tolist(), place_of(found.label), contours, repr(found.statistics)
    return repr(dataclasses.asdict(found) if dataclasses.is_dataclass(found) else found)


@pytest.mark.parametrize("kind", ["numpy", "itk", "xarray"])
@pytest.mark.parametrize("move", [lambda found: pickle.loads(pickle.dumps(found)), copy.deepcopy, copy.copy], ids=["pickle", "deepcopy", "copy"])
def test_copies_tell_the_same(kind, move):
    for name, found in returned(kinds_of(IMAGE)[kind]).items():
        moved = move(found)
        assert type(moved) is type(found), name
        assert arrays_of(moved) == arrays_of(found), name


def test_a_copy_of_a_partition_merges_as_the_partition_does():
    partition = partition_image(IMAGE, "gamma", looks=1)
    moved = pickle.loads(pickle.dumps(partition))
    assert len(partition) > 2
    assert arrays_of(moved.merge(number=2)) == arrays_of(partition.merge(number=2))
    assert arrays_of(moved.merge(nats=1e9)) == arrays_of(partition.merge(nats=1e9))


def test_bytes_that_are_no_partition_are_refused():
    partition = partition_image(IMAGE, "gamma", looks=1)
    restore, parts = partition.__reduce__()
    (state,) = (part for part in parts if isinstance(part, bytes))
    for wrong in (b"", state[:-1], state[: len(state) // 2], b"\xff" * 64):
        with pytest.raises(RuntimeError, match="ends too early|names"):
            restore(*(wrong if isinstance(part, bytes) else part for part in parts))


@pytest.mark.parametrize("move", [lambda found: pickle.loads(pickle.dumps(found)), copy.deepcopy, copy.copy], ids=["pickle", "deepcopy", "copy"])
@pytest.mark.parametrize("kind", ["numpy", "itk", "xarray"])
def test_copies_of_a_segmentation_have_its_place(kind, move):
    """ITK's pickle loses the first index of an image. Pixels count from it, and it is 5, 7 in the image of kinds_of()."""
    found = segment_region(kinds_of(IMAGE)[kind], "gamma", looks=1)
    moved = move(found)
    assert arrays_of(moved) == arrays_of(found)
    assert kind != "itk" or list(moved.label.GetLargestPossibleRegion().GetIndex()) == [5, 7]


@pytest.mark.parametrize("start", ["spawn", "fork"])
@pytest.mark.usefixtures("host_allowed")  # a child made by fork() after a use of CUDA runs on the host
def test_results_come_back_from_processes(start, backend):
    if start == "fork" and backend == "cuda" and not has_wrapped_classes():
        pytest.skip("needs the package itk, which lets a child use the host")
    here = returned(IMAGE)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(start)) as pool:
        found = pool.submit(returned, IMAGE).result(timeout=300)
    place = {"backend": None, "backend_reason": None}  # the host for a child, the GPU here
    for name in ("partition", "merged", "labels_only"):
        assert arrays_of(found[name], **place) == arrays_of(here[name], **place), name
    assert np.array_equal(found["segmentation"].label, here["segmentation"].label)
    assert np.array_equal(found["segmentation"].contour, here["segmentation"].contour)

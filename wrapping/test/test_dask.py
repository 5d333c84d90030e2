# SPDX-License-Identifier: Apache-2.0
"""Arrays and schedulers of Dask: the bits of the same filter without Dask, whatever the slabs, the chunks, the workers
and their fate; the number of tasks; the memory of the workers; and what is refused."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
zarr = pytest.importorskip("zarr")

import itk_cudafilters  # noqa: E402
from itk_cudafilters import _command, stream  # noqa: E402
from itk_cudafilters._dask import planes_of_slab  # noqa: E402
from itk_cudafilters._slabs import gaussian_slabs  # noqa: E402

pytestmark = pytest.mark.usefixtures("host_allowed")
SEED = 20261130
GAUSSIANS = ("gaussian_filter", "gaussian_gradient_magnitude", "gaussian_laplace")
# Planes of the store: with 64 MiB of float.
SHAPE = (1024, 128, 128)
SIGMA = (6.0, 2.0, 1.5)


def volume(shape, dtype="float32", seed=SEED):
    print(f"seed {seed}")
    return (np.random.default_rng(seed).random(shape) * 200 + 1000).astype(dtype)


def without_dask(values, name="gaussian_filter", sigma=SIGMA, dtype=np.float32, **options):
    result = np.empty(values.shape, dtype)
    getattr(stream, name)(values, result, sigma, backend="host", **options)
    return result


def slabs_of(size):
    """Lets a slab have as many chunks of 128 planes as this number of bytes holds, and at least one."""
    return dask.config.set({"array.chunk-size": size, "scheduler": "synchronous"})


def added(result, source):
    return len(dict(result.__dask_graph__())) - len(dict(source.__dask_graph__()))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store of 64 MiB in the folder `folder`, its pixels, and their smoothed ones without Dask."""
    folder = tmp_path_factory.mktemp("dask")
    values = volume(SHAPE)
    array = zarr.create_array(folder / "source.zarr", shape=SHAPE, chunks=(64, 64, 64), dtype="float32")
    array[:] = values
    return folder, values, without_dask(values)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        yield made


@pytest.fixture
def client(cluster):
    cluster.scale(2)
    with distributed.Client(cluster) as made:
        made.wait_for_workers(2, timeout=60)
        yield made


def target_in(folder, name="target.zarr", chunks=(64, 64, 128)):
    return zarr.create_array(folder / name, shape=SHAPE, chunks=chunks, dtype="float32", overwrite=True)


@pytest.mark.parametrize("mode", ["nearest", "reflect", "mirror", "constant"])
@pytest.mark.parametrize("name", GAUSSIANS)
def test_lazy_arrays_have_the_bits_of_runs_without_dask(name, mode):
    """Over random lengths, chunks and sigmas with one to three chunks of look-ahead."""
    generator = np.random.default_rng([SEED, len(name), len(mode)])
    for length in (int(generator.integers(2, 128)), 129, int(generator.integers(400, 900))):
        values = volume((length, 5, 6))
        sigma = (generator.choice([0.8, 12.0, 28.0, 40.0]), 1.5, 2.0)
        expected = without_dask(values, name, sigma, mode=mode)
        chunks = tuple(int(generator.integers(1, size + 1)) for size in values.shape)
        array = da.from_array(values, chunks=chunks)
        for source in (array, (array.astype("float64") * 2.0)[:] / 2.0, array.rechunk((77, 3, 6))):
            for size in (1, 2 * 128 * 30 * 4):
                with slabs_of(size):
                    result = getattr(itk_cudafilters, name)(source, sigma, mode=mode, dtype="float32", backend="host")
                    assert isinstance(result, da.Array) and result.dtype == np.float32
                    found = result.compute()
                if source.dtype == np.float32:
                    np.testing.assert_array_equal(found, expected, err_msg=f"{length} {sigma} {chunks} {size}")
                else:
                    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)


def test_tasks_and_blocks(store):
    """Two chunks a slab give four slabs, which are whole planes, and at most 3 S + 5 tasks."""
    source = da.from_zarr(store[0] / "source.zarr")
    for name in GAUSSIANS:
        with slabs_of(2 * 128 * 128 * 128 * 4):
            result = getattr(itk_cudafilters, name)(source, SIGMA)
        assert result.chunks == ((256,) * 4, (128,), (128,)) and added(result, source) <= 4
    assert itk_cudafilters.gaussian_filter(source, 2.0).name == itk_cudafilters.gaussian_filter(source, 2.0).name
    assert itk_cudafilters.gaussian_filter(source, 2.0).name != itk_cudafilters.gaussian_filter(source, 2.1).name


@pytest.mark.parametrize("mode", ["nearest", "reflect", "mirror", "constant"])
def test_large_sigmas_exchange_states(mode):
    """A sigma whose window is longer than three chunks needs the states of all slabs: 3 S + 1 tasks."""
    values = volume((1100, 5, 7))
    for sigma in (45.0, 150.0):
        expected = without_dask(values, sigma=(sigma, 1.0, 2.0), mode=mode)
        source = da.from_array(values, chunks=(60, 5, 4))
        for chunks in (1, 3):
            with slabs_of(chunks * 128 * 35 * 4):
                result = itk_cudafilters.gaussian_filter(source, (sigma, 1.0, 2.0), mode=mode, backend="host")
                slabs = result.numblocks[0]
                assert slabs == -(-9 // chunks) and added(result, source) == 3 * slabs + 1
                np.testing.assert_array_equal(result.compute(), expected)
        target = np.empty_like(values)
        stream.gaussian_filter(values, target, (sigma, 1.0, 2.0), mode=mode, scheduler="threads", slab_planes=256, backend="host")
        np.testing.assert_array_equal(target, expected)


@pytest.mark.parametrize("name, options", [("vesselness", {}), ("frangi", {"black_ridges": False}), ("sato", {}), ("meijering", {})])
def test_vesselness(name, options):
    """Tasks of two and of one chunk have the bits of one run; a parameter that follows from all Hessians is that of the
    whole image."""
    values = volume((400, 9, 12))
    values[:, 3:6, 4:7] += 300.0
    source = da.from_array(values, chunks=(90, 9, 5))
    function = getattr(itk_cudafilters, name)
    found = []
    for chunks in (4, 2, 1):
        with slabs_of(chunks * 128 * 108 * 4):
            result = function(source, (1.0, 2.0), mode="nearest", backend="host", **options)
            assert added(result, source) <= 3 * result.numblocks[0] + 1
            found.append(result.compute())
    expected = function(values, (1.0, 2.0), mode="nearest", backend="host", **options)
    for each in found:
        np.testing.assert_array_equal(each, expected)
    if name == "vesselness":
        target = np.empty_like(values)
        stream.vesselness(values, target, (1.0, 2.0), mode="nearest", scheduler="threads", slab_planes=128, backend="host")
        np.testing.assert_array_equal(target, expected)
        with pytest.raises(ValueError, match="sigmas has 60.0, which reaches further than three chunks of 128 planes"):
            function(source, 60.0)


@pytest.mark.parametrize("name", ["structure_tensor", "structure_tensor_eigenvalues"])
def test_structure_tensors(name):
    """Lazy results of slabs of one to five chunks have the bits of the function for arrays, as the runs of tasks do."""
    values = volume((600, 9, 12))
    source = da.from_array(values, chunks=(90, 9, 5))
    function = getattr(itk_cudafilters, name)
    for sigma, integration_sigma in ((1.0, 2.0), (8.0, 30.0)):
        expected = function(values, sigma, integration_sigma, backend="host")
        for chunks in (5, 2, 1):
            with slabs_of(chunks * 128 * 108 * 4 * expected.shape[-1]):
                result = function(source, sigma, integration_sigma, backend="host")
                assert result.numblocks == (-(-5 // chunks), 1, 1, 1) and added(result, source) == result.numblocks[0]
                assert result.shape == expected.shape and result.dtype == expected.dtype
                np.testing.assert_array_equal(result.compute(), expected)
                np.testing.assert_array_equal(result[590].compute(), expected[590])
        target = np.empty_like(expected)
        getattr(stream, name)(values, target, sigma, integration_sigma, scheduler="threads", slab_planes=256, backend="host")
        np.testing.assert_array_equal(target, expected)
    with pytest.raises(ValueError, match="sigma is 100.0, which reaches further than three chunks of 128 planes"):
        function(source, 100.0)


def test_structure_tensors_from_store_to_store(client, store):
    """In tasks of a cluster; the chunks of the target hold one component."""
    values = store[1][:500, :40, :40].copy()
    source = zarr.create_array(store[0] / "wood.zarr", shape=values.shape, chunks=(64, 40, 40), dtype="float32", overwrite=True)
    source[:] = values
    target = zarr.create_array(store[0] / "tensors.zarr", shape=(*values.shape, 6), chunks=(64, 40, 40, 1), dtype="float32", overwrite=True)
    report = stream.structure_tensor(source, target, 1.5, 4.0, scheduler=client, slab_planes=128)
    assert report["backend_used"] == "host"
    np.testing.assert_array_equal(target[:], itk_cudafilters.structure_tensor(values, 1.5, 4.0, backend="host"))


class Counting:
    """An array that counts how often each plane is read."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.ndim = array, array.shape, array.dtype, array.ndim
        self.planes = np.zeros(array.shape[0], int)
        self._lock = threading.Lock()

    def __getitem__(self, index):
        with self._lock:
            self.planes[index[0]] += 1
        return self.array[index]


def test_tasks_read_their_planes_and_those_of_the_neighbours():
    """A block is read once for each slab that needs it: 128 planes on either side of a slab, and the first plane."""
    values = volume((128 * 6, 4, 5))
    counting = Counting(values)
    source = da.from_array(counting, chunks=(32, 4, 5), asarray=False, meta=np.empty((0, 0, 0), np.float32))
    with slabs_of(2 * 128 * 20 * 4):
        result = itk_cudafilters.gaussian_filter(source, 2.0, mode="nearest", backend="host")
        assert result.numblocks == (3, 1, 1)
        result[300].compute()
        np.testing.assert_array_equal(counting.planes[[*range(32, 128), *range(640, 768)]], 0)
        np.testing.assert_array_equal(counting.planes[[0, 128, 256, 511, 639]], 1)
        counting.planes[:] = 0
        np.testing.assert_array_equal(result.compute(), without_dask(values, sigma=2.0, mode="nearest"))
    reads = counting.planes
    assert reads[:128].tolist() == [3] * 32 + [1] * 96 and (reads[128:640] == 2).all() and (reads[640:] == 1).all()


def test_default_thickness_of_slabs():
    """Four slabs a thread, unless more than a fifth of what they read were for their neighbours; no thread is left without one."""
    target = np.empty((90 * 128, 4, 4), np.float32)

    def chunks(planes, threads, sigma=4.0):
        found = gaussian_slabs(
            "filter", (planes, 4, 4), np.dtype("f4"), np.dtype("f4"), sigma, 0, "nearest", 0.0, None, None, None, None, None, True,
            "accurate", "host", None,
        )
        return planes_of_slab(found, target[:planes], threads, None) / 128

    assert chunks(90 * 128, 1) == 23  # a quarter
    assert chunks(90 * 128, 4) == 8  # eight chunks, with one more on either side
    assert chunks(23 * 128, 4) == 6  # one for each thread
    assert chunks(23 * 128, 16) == 2
    assert chunks(90 * 128, 4, (0.0, 4.0, 4.0)) == 6  # planes depend on no others
    assert chunks(90 * 128, 4, 60.0) == 6  # slabs exchange end states and read no planes of their neighbours


def test_batches_and_channels():
    """Axes t and c of an image t, c, z, y, x count items; each has the bits that it has alone."""
    values = volume((2, 3, 140, 6, 7), "uint16")
    source = da.from_array(values, chunks=(1, 2, 50, 6, 4))
    result = itk_cudafilters.gaussian_filter(source, 1.5, axes=(2, 3, 4))
    assert result.numblocks == (2, 3, 1, 1, 1) and result.dtype == np.float32
    found = result.compute(scheduler="synchronous")
    for item in np.ndindex(2, 3):
        np.testing.assert_array_equal(found[item], without_dask(values[item], sigma=1.5))
    channels = volume((130, 6, 7, 3))
    found = itk_cudafilters.gaussian_filter(da.from_array(channels, chunks=(100, 6, 7, 2)), 1.5, channel_axis=-1).compute(scheduler="threads")
    np.testing.assert_array_equal(found, without_dask(channels, sigma=1.5, channel_axis=-1))


@pytest.mark.parametrize("dtype", ["uint8", ">u2", "int16", "float16", ">f4", "float64", "bool", "int64"])
def test_types(dtype):
    values = (volume((130, 5, 6)) % 100).astype(dtype)
    wanted = np.dtype(dtype).newbyteorder("=") if np.dtype(dtype).kind == "f" else np.dtype(np.float32)
    result = itk_cudafilters.gaussian_filter(da.from_array(values, chunks=50), 2.0)
    found = result.compute(scheduler="synchronous")
    assert result.dtype == found.dtype == wanted
    np.testing.assert_array_equal(found, without_dask(values, sigma=2.0, dtype=wanted))
    same = itk_cudafilters.gaussian_filter(da.from_array(values, chunks=50), 2.0, dtype=dtype).compute(scheduler="synchronous")
    np.testing.assert_array_equal(same, without_dask(values, sigma=2.0, dtype=dtype))


def test_lazy_arrays_on_a_cluster(client, store):
    """On two processes, of a source whose blocks are read by the slabs, and of one that the workers hold."""
    source = da.from_zarr(store[0] / "source.zarr")
    with dask.config.set({"array.chunk-size": "16MiB"}):
        found = itk_cudafilters.gaussian_filter(source, SIGMA).compute()
        assert found.tobytes() == store[2].tobytes()
        held = source.rechunk((100, 128, 128)).persist()
        result = itk_cudafilters.gaussian_filter(held, SIGMA)
        assert added(result, held) <= 4
        assert result.compute().tobytes() == store[2].tobytes()


def load():
    """Loads the libraries of a run, whose memory is not that of pixels."""
    small = zarr.create_array(zarr.storage.MemoryStore(), shape=(130, 64, 64), chunks=(64, 64, 64), dtype="float32")
    small[:] = 1.0
    stream.gaussian_filter(small, np.empty(small.shape, np.float32), 2.0)


def peak(client):
    """The most memory that each worker has held, in bytes."""

    def read():
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))

    return client.run(read)


@pytest.mark.parametrize("planes, workers", [(128, 2), (256, 3), (None, 1), (1024, 2)])
def test_stores_on_a_cluster(client, cluster, store, planes, workers):
    """From store to store, in slabs of different thickness, on one to three workers. A worker holds the chunks of planes
    that one step needs (at most 2 H + 3 = 5), and not the volume, whose source and result have 16 chunks. The limit of 12
    leaves room for the planes that threads read and write meanwhile, and for what their allocators keep; up to 9.4 were
    measured."""
    cluster.scale(workers)
    deadline = time.monotonic() + 60
    while len(client.scheduler_info()["workers"]) != workers and time.monotonic() < deadline:
        time.sleep(0.05)
    source, target = zarr.open_array(store[0] / "source.zarr", mode="r"), target_in(store[0])
    shares = []
    client.run(load)
    before = peak(client)
    report = stream.gaussian_filter(source, target, SIGMA, scheduler=client, slab_planes=planes, progress=shares.append)
    after = peak(client)
    assert target[:].tobytes() == store[2].tobytes()
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert report["backend_used"] == "host" and report["bytes_down"] == store[2].nbytes
    chunk = store[2].nbytes // 8
    taken = {worker: (after[worker] - before[worker]) / chunk for worker in after if worker in before}
    print(f"memory taken, in chunks of planes: {taken}")
    assert max(taken.values()) < 12.0


def test_a_killed_worker_changes_nothing(client, store):
    """A worker is killed when half of the slabs are done. Its tasks run elsewhere, and write the same planes again."""
    source, target = zarr.open_array(store[0] / "source.zarr", mode="r"), target_in(store[0])
    pids = list(client.run(os.getpid).values())

    def kill(share):
        if share >= 0.5 and pids:
            os.kill(pids.pop(), signal.SIGKILL)
            pids.clear()

    stream.gaussian_filter(source, target, SIGMA, scheduler=client, slab_planes=128, progress=kill)
    assert not pids and target[:].tobytes() == store[2].tobytes()


@pytest.mark.parametrize("scheduler", ["threads", "synchronous", "processes"])
def test_schedulers_of_one_machine(store, scheduler):
    values = store[1][:400]
    source = zarr.create_array(store[0] / "short.zarr", shape=values.shape, chunks=(50, 128, 128), dtype="float32", overwrite=True)
    source[:] = values
    target = zarr.create_array(store[0] / "smooth.zarr", shape=values.shape, chunks=(32, 128, 128), dtype="float32", overwrite=True)
    stream.gaussian_filter(source, target, SIGMA, scheduler=scheduler, slab_planes=128)
    np.testing.assert_array_equal(target[:], without_dask(values))


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_large_sigma_on_schedulers(store, scheduler):
    """States travel between processes."""
    values = store[1][:, :40, :40].copy()
    source = zarr.create_array(store[0] / "column.zarr", shape=values.shape, chunks=(100, 40, 40), dtype="float32", overwrite=True)
    source[:] = values
    target = zarr.create_array(store[0] / "wide.zarr", shape=values.shape, chunks=(128, 40, 40), dtype="float32", overwrite=True)
    stream.gaussian_filter(source, target, 70.0, scheduler=scheduler, slab_planes=256)
    np.testing.assert_array_equal(target[:], without_dask(values, sigma=70.0))


def test_sources_and_targets_of_other_processes(client, store, tmp_path):
    """HDF5 is read, and memory maps are read and written, by the workers."""
    h5py = pytest.importorskip("h5py")
    values = store[1][:500]
    with h5py.File(tmp_path / "source.h5", "w") as file:
        file.create_dataset("a/b", data=values, chunks=(60, 64, 64))
    target = np.memmap(tmp_path / "target", "float32", "w+", shape=values.shape)
    with h5py.File(tmp_path / "source.h5", "r") as file:
        stream.gaussian_filter(file["a/b"], target, SIGMA, scheduler=client.scheduler.address, slab_planes=256)
    np.testing.assert_array_equal(target, without_dask(values))
    source = np.memmap(tmp_path / "target", "float32", "r", shape=values.shape)
    again = np.memmap(tmp_path / "again", "float32", "w+", shape=values.shape)
    stream.gaussian_filter(source, again, SIGMA, scheduler=client)
    np.testing.assert_array_equal(again, without_dask(np.array(source)))


def test_what_goes_wrong_on_a_cluster(client, store):
    source, target = zarr.open_array(store[0] / "source.zarr", mode="r"), target_in(store[0])
    for message, arguments in (
        ("slab_planes is 100; it must be a multiple of 128", {"slab_planes": 100}),
        ("target is .* in the memory of this process", {"target": np.empty(SHAPE, np.float32)}),
        ("source is .* in the memory of this process", {"source": np.empty(SHAPE, np.float32)}),
        ("slab_planes is 128, and the chunks of target have 256 planes, so that two slabs would write the same chunk; it must be a multiple of 256",
         {"slab_planes": 128, "target": target_in(store[0], "thick.zarr", (256, 64, 64))}),
        ("target has chunks of 331 planes, and slabs a multiple of 128, so that two slabs would write the same chunk",
         {"target": target_in(store[0], "prime.zarr", (331, 64, 64))}),
        ("sigma has 2 values", {"sigma": (1, 2)}),
        ("scheduler is 'nonsense'; it must be threads", {"scheduler": "nonsense"}),
    ):
        given = {"source": source, "target": target, "sigma": SIGMA, "scheduler": client, **arguments}
        with pytest.raises(ValueError, match=message):
            stream.gaussian_filter(given.pop("source"), given.pop("target"), given.pop("sigma"), **given)
    with pytest.raises(TypeError, match="scheduler is .*; it must be threads"):
        stream.gaussian_filter(source, target, SIGMA, scheduler=7)
    with pytest.raises(OSError, match="there is no scheduler at 'tcp://127.0.0.1:9'"), dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        stream.gaussian_filter(source, target, SIGMA, scheduler="tcp://127.0.0.1:9")
    broken = zarr.create_array(store[0] / "broken.zarr", shape=SHAPE, chunks=(64, 64, 64), dtype="float32", overwrite=True)
    broken[640:] = store[1][640:]
    chunk = next((store[0] / "broken.zarr").glob("c/12/0/0"))
    chunk.write_bytes(chunk.read_bytes()[:100])
    with pytest.raises(OSError, match="planes .* of source could not be read, in '.*broken.zarr'"):
        stream.gaussian_filter(broken, target, SIGMA, scheduler=client)
    stream.gaussian_filter(source, target, SIGMA, scheduler=client)  # the next call works
    assert target[:].tobytes() == store[2].tobytes()


def test_a_stuck_worker_ends_by_timeout(client, store):
    source, target = zarr.open_array(store[0] / "source.zarr", mode="r"), target_in(store[0])
    pids = list(client.run(os.getpid).values())
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(TimeoutError, match="no slab was done for 1.5 s; unfinished: planes .* on tcp.*The target is incomplete"):
            stream.gaussian_filter(source, target, SIGMA, scheduler=client, slab_planes=128, timeout=1.5, backend="host")
        with pytest.raises(TimeoutError, match="asked for their devices, and did not all answer within 1.5 s"):
            stream.gaussian_filter(source, target, SIGMA, scheduler=client, timeout=1.5)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    stream.gaussian_filter(source, target, SIGMA, scheduler=client)  # the next call works
    assert target[:].tobytes() == store[2].tobytes()


def test_what_lazy_arrays_refuse():
    source = da.from_array(volume((200, 5, 6)), chunks=50)
    for error, message, arguments in (
        (ValueError, "valid_mask is given; images in slabs have none", {"valid_mask": np.ones((200, 5, 6), bool)}),
        (ValueError, "mode is 'wrap', which needs the last plane before the first", {"mode": "wrap"}),
        (ValueError, "output is given; of an array of Dask the result is a new lazy array", {"output": np.empty((200, 5, 6))}),
        (ValueError, "sigma has 2 values", {"sigma": (1, 2)}),
        (ValueError, "channel_axis is 0; in slabs it must be the last axis", {"channel_axis": 0}),
        (TypeError, "dtype is .*; it must be None, or a type of real numbers", {"dtype": "nonsense"}),
        (TypeError, "the result has pixels of type complex64", {"dtype": "complex64"}),
    ):
        with pytest.raises(error, match=message):
            itk_cudafilters.gaussian_filter(source, **{"sigma": 2.0, **arguments})
    with pytest.raises(ValueError, match="input has 1 axes"):
        itk_cudafilters.gaussian_filter(da.ones(300), 2.0)
    with pytest.raises(TypeError, match="input has pixels of type complex128"):
        itk_cudafilters.gaussian_laplace(source.astype(complex), 2.0)
    with pytest.raises(ValueError, match="its lengths must be known: call input.compute_chunk_sizes"):
        itk_cudafilters.gaussian_filter(source[source[:, 0, 0] > 0], 2.0)
    with pytest.raises(ValueError, match="return_scale and return_directions are not for arrays of Dask"):
        itk_cudafilters.vesselness(source, 2.0, return_scale=True)
    bad = volume((200, 5, 6))
    bad[150, 2, 3] = np.nan
    lazy = itk_cudafilters.gaussian_filter(da.from_array(bad, chunks=50), 2.0)
    with pytest.raises(ValueError, match="plane 150 of source has pixels that are NaN or infinite"):
        lazy.compute(scheduler="synchronous")


def speckle(seed):
    """A scene with a target, whose place depends on the seed."""
    generator = np.random.default_rng([SEED, seed])
    scene = generator.gamma(4.0, 0.25, (120, 150)).astype(np.float32)
    scene[30 + seed : 36 + seed, 60:67] += 20.0
    return scene


def require_same_results(found, expected):
    """Labels, tables and statistics, to the bit."""
    np.testing.assert_array_equal(np.asarray(found.labels), np.asarray(expected.labels))
    assert found.statistics == expected.statistics and found.table.keys() == expected.table.keys()
    for name, column in expected.table.items():
        np.testing.assert_array_equal(found.table[name], column)


@pytest.mark.parametrize("name, options", [("detect_targets", {"looks": 4}), ("partition_image", {"looks": 4, "segment_cost": 12.0})])
def test_lists_of_scenes(client, tmp_path, name, options):
    """One task a scene, from arrays, lazy arrays and files, whose results have the bits of calls in this process."""
    function = getattr(itk_cudafilters, name)
    scenes = [speckle(seed) for seed in range(3)]
    expected = [function(scene, "gamma", **options) for scene in scenes]
    for found in (
        client.gather(client.map(function, scenes, law="gamma", **options)),
        dask.compute(*(dask.delayed(function)(da.from_array(scene, chunks=50), "gamma", **options) for scene in scenes)),
    ):
        for each, other in zip(found, expected, strict=True):
            require_same_results(each, other)
    paths = [str(tmp_path / f"{seed}.tif") for seed in range(3)]
    for path, scene in zip(paths, scenes):
        itk_cudafilters.write_image(scene, path)
    bag = pytest.importorskip("dask.bag").from_sequence(paths, npartitions=len(paths))
    tables = bag.map(lambda path: function(itk_cudafilters.read_image(path), "gamma", **options).table).compute()
    for table, other in zip(tables, expected, strict=True):
        assert list(table) == list(other.table) and len(table["pixels"]) == len(other.table["pixels"])
        np.testing.assert_array_equal(table["pixels"], other.table["pixels"])
    with pytest.raises(TypeError, match=r"image is of type dask.Array; .*: call image.compute\(\), or the function by dask.delayed\(\)"):
        function(da.from_array(scenes[0]), "gamma", **options)


def test_lazy_arrays_in_xarray_are_computed():
    xarray = pytest.importorskip("xarray")
    values = volume((140, 6, 7))
    image = xarray.DataArray(da.from_array(values, chunks=50), dims=("z", "y", "x"), coords={"z": np.arange(140) * 2.0})
    found = itk_cudafilters.gaussian_filter(image, 1.5, backend="host")
    np.testing.assert_array_equal(found.data, itk_cudafilters.gaussian_filter(values, 1.5, backend="host"))
    lazy = image.copy(data=itk_cudafilters.gaussian_filter(image.data, 1.5, backend="host"))
    np.testing.assert_array_equal(lazy.compute().data, found.data)
    assert isinstance(lazy.data, da.Array) and lazy.coords.equals(found.coords)


def test_the_page_on_clusters(tmp_path, monkeypatch):
    """The blocks of Python of docs/user/clusters.md run, with their checks."""
    pytest.importorskip("ngff_zarr")
    page = pathlib.Path(__file__).parents[2] / "docs/user/clusters.md"
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```", page.read_text(encoding="utf-8"))
    lines = "\n".join(blocks).splitlines()
    (tmp_path / "page.py").write_text("\n".join(["def main():", *("    " + line for line in lines), "main() if __name__ == '__main__' else None"]))
    monkeypatch.chdir(tmp_path)
    done = subprocess.run([sys.executable, "page.py"], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] in ("host", "cuda")


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_command_from_ome_zarr_to_ome_zarr(tmp_path, capsys, version):
    """An image that ngff-zarr wrote: sigma is in its unit, and the result is an image with its axes and scale."""
    ngff_zarr = pytest.importorskip("ngff_zarr")
    values = volume((300, 30, 41), "uint16")
    axes = dict.fromkeys("zyx", "micrometer")
    image = ngff_zarr.to_ngff_image(values, dims="zyx", scale={"z": 2.0, "y": 0.5, "x": 0.5}, axes_units=axes)
    ngff_zarr.to_ngff_zarr(str(tmp_path / "in.zarr"), ngff_zarr.to_multiscales(image, scale_factors=[2], chunks=50), version=version)
    names, report = [str(tmp_path / "in.zarr"), str(tmp_path / "out.zarr")], tmp_path / "report.json"
    before = {path: path.read_bytes() for path in (tmp_path / "in.zarr").rglob("*") if path.is_file()}
    arguments = ["smooth", *names, "--sigma", "2", "--memory", "1G", "--backend", "host"]
    assert _command.main([*arguments, "--report", str(report)]) == 0
    assert "GB read" in capsys.readouterr().out and json.loads(report.read_text())["spacing"] == [0.5, 0.5, 2.0]
    expected = np.empty_like(values)
    stream.gaussian_filter(values, expected, 2, mode="nearest", spacing=(2, 0.5, 0.5), approximation="deriche", backend="host")
    (found,) = ngff_zarr.from_ngff_zarr(names[1]).images
    np.testing.assert_array_equal(np.asarray(found.data), expected)
    assert found.scale == image.scale and found.axes_units == axes
    assert _command.main(arguments) == 1 and "out.zarr' exists; --overwrite replaces it" in capsys.readouterr().err
    assert _command.main([*arguments, "--overwrite", "--scheduler", "threads"]) == 0
    np.testing.assert_array_equal(np.asarray(ngff_zarr.from_ngff_zarr(names[1]).images[0].data), expected)
    capsys.readouterr()
    for message, changed in (
        ("is the input, a part of it, or holds it", {names[1]: names[0]}),
        ("could not be read: there is no such folder", {names[0]: str(tmp_path / "nothing.zarr")}),
        ("--memory allows 1e-06 GB", {"1G": "1000"}),
        ("2 values are given; it takes one, or one for each of the 3 axes", {"2": "2,3"}),
        ("must be a folder NAME.zarr", {names[1]: str(tmp_path / "out.mha")}),
    ):
        try:
            assert _command.main([*(changed.get(each, each) for each in arguments), "--overwrite"]) == 1
        except SystemExit as error:
            assert error.code == 2
        assert message in capsys.readouterr().err
    chunk = next(path for path in (tmp_path / "in.zarr" / "scale0").rglob("*0") if path.is_file())
    chunk.write_bytes(chunk.read_bytes()[:9])
    assert _command.main([*arguments, "--overwrite"]) == 1 and "of source could not be read" in capsys.readouterr().err
    np.testing.assert_array_equal(np.asarray(ngff_zarr.from_ngff_zarr(names[1]).images[0].data), expected)  # the old result stays
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.zarr", "out.zarr", "report.json"]
    assert all(path.read_bytes() == pixels for path, pixels in before.items() if path != chunk)


@pytest.mark.parametrize(
    "shape, dtype, options",
    [
        ((300, 21), "uint8", {"zarr_format": 2, "chunks": (70, 9)}),
        ((300, 12, 13), ">u2", {"zarr_format": 2, "chunks": (50, 12, 5)}),
        ((300, 12, 13), ">f4", {"chunks": (64, 12, 13), "compressors": zarr.codecs.BloscCodec(cname="zstd")}),
        ((260, 12, 13), "int16", {"chunks": (16, 6, 13), "shards": (64, 12, 13), "compressors": zarr.codecs.ZstdCodec(level=1)}),
        ((2, 140, 12, 13), "float64", {"chunks": (1, 140, 4, 4), "compressors": zarr.codecs.GzipCodec()}),
        ((2, 3, 140, 6, 7), "int32", {"chunks": (2, 2, 33, 6, 7)}),
    ],
)
def test_stores_of_all_kinds(tmp_path, shape, dtype, options):
    """Formats 2 and 3, shards, codecs, orders of bytes, types, and two to five axes."""
    values = (volume(shape) % 100).astype(dtype)
    source = zarr.create_array(tmp_path / "source.zarr", shape=shape, dtype=dtype, **options)
    source[:] = values
    target = zarr.create_array(tmp_path / "target.zarr", shape=shape, dtype=dtype, **options)
    axes = tuple(range(max(0, len(shape) - 3), len(shape)))
    stream.gaussian_filter(source, target, 1.5, axes=axes)
    expected = np.empty(shape, dtype)
    for item in np.ndindex(shape[:-3]):
        stream.gaussian_filter(values[item], expected[item], 1.5)
    np.testing.assert_array_equal(target[:], expected)
    np.testing.assert_array_equal(source[:], values)


def test_a_chunk_is_read_and_written_once(tmp_path, monkeypatch):
    """Also where chunks of 50 and of 100 planes do not end where those of the filter do."""
    values = volume((600, 4, 5))
    source = zarr.create_array(tmp_path / "source.zarr", shape=values.shape, chunks=(50, 4, 5), dtype="float32")
    source[:] = values
    target = zarr.create_array(tmp_path / "target.zarr", shape=values.shape, chunks=(100, 4, 5), dtype="float32")
    read, written = np.zeros(600, int), []
    get, put = zarr.Array.__getitem__, zarr.Array.__setitem__

    def reading(self, index):
        read[index] += 1
        return get(self, index)

    def writing(self, index, pixels):
        written.append((index.start, index.stop))
        put(self, index, pixels)

    monkeypatch.setattr(zarr.Array, "__getitem__", reading)
    monkeypatch.setattr(zarr.Array, "__setitem__", writing)
    stream.gaussian_filter(source, target, 2.0, mode="nearest")
    monkeypatch.undo()
    assert (read == 1).all() and written == [(first, first + 100) for first in range(0, 600, 100)]
    np.testing.assert_array_equal(target[:], without_dask(values, sigma=2.0, mode="nearest"))


def test_tiff_that_is_opened_by_zarr(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    values = volume((200, 20, 30), "uint16")
    tifffile.imwrite(tmp_path / "planes.tif", values, bigtiff=True, tile=(16, 16), compression="zlib")
    source = zarr.open(tifffile.imread(tmp_path / "planes.tif", aszarr=True), mode="r")
    target = np.empty(values.shape, np.float32)
    stream.gaussian_filter(source, target, 2.0)
    np.testing.assert_array_equal(target, without_dask(values, sigma=2.0))


@pytest.mark.parametrize("version", [2, 3])
def test_a_codec_that_nobody_knows(tmp_path, capsys, version):
    """The command names the store and the codec, and writes nothing."""
    make = {"shape": (140, 6, 7), "chunks": (64, 6, 7), "dtype": "float32", "zarr_format": version}
    zarr.create_array(tmp_path / "source.zarr", **make)[:] = volume(make["shape"])
    metadata = tmp_path / "source.zarr" / ("zarr.json" if version == 3 else ".zarray")
    known = json.loads(metadata.read_text())
    if version == 3:
        known["codecs"][-1]["name"] = "secret"
    else:
        known["compressor"] = {"id": "secret"}
    metadata.write_text(json.dumps(known))
    names = [str(tmp_path / "source.zarr"), str(tmp_path / "target.zarr")]
    assert _command.main(["smooth", *names, "--sigma", "2"]) == 1
    error = capsys.readouterr().err
    assert f"'{names[0]}' could not be read: " in error and "secret" in error and "Traceback" not in error
    assert [path.name for path in tmp_path.iterdir()] == ["source.zarr"]


@pytest.fixture
def full_disk():
    """Files end after 50 kB, as on a full disk."""
    resource = pytest.importorskip("resource")
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("scheduler", [None, "threads"])
def test_a_full_disk(tmp_path, capsys, full_disk, scheduler):
    """The message names the planes, the store and the cause; the command leaves no target, and an older one as it was. A target
    with room gets its result afterwards."""
    values = volume((300, 20, 30))
    small = {"shape": values.shape, "dtype": "float32", "compressors": None}
    source = zarr.create_array(tmp_path / "source.zarr", chunks=(16, 20, 30), **small)
    source[:] = values
    target = zarr.create_array(tmp_path / "target.zarr", chunks=(64, 20, 30), **small)
    before = {path: path.read_bytes() for path in (tmp_path / "source.zarr").rglob("*") if path.is_file()}
    with pytest.raises(OSError, match="planes .* of target could not be written, in '.*target.zarr': .*File too large"):
        stream.gaussian_filter(source, target, 2.0, scheduler=scheduler)
    room = zarr.create_array(tmp_path / "room.zarr", chunks=(16, 20, 30), **small)
    stream.gaussian_filter(source, room, 2.0, scheduler=scheduler)
    np.testing.assert_array_equal(room[:], without_dask(values, sigma=2.0))
    large = zarr.create_array(tmp_path / "large.zarr", chunks=(16, 20, 30), shards=(128, 20, 30), **small)
    large[:1] = 3.0  # the other shards are missing: they are zeros
    names = [str(tmp_path / "large.zarr"), str(tmp_path / "room.zarr")]
    schedulers = [] if scheduler is None else ["--scheduler", scheduler]
    assert _command.main(["smooth", *names, "--sigma", "2", "--overwrite", *schedulers]) == 1
    assert "of target could not be written" in capsys.readouterr().err
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "room.zarr", mode="r")[:], without_dask(values, sigma=2.0))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.zarr", "room.zarr", "source.zarr", "target.zarr"]
    assert all(path.read_bytes() == pixels for path, pixels in before.items())


def test_what_stores_refuse(tmp_path):
    shape = (200, 6, 7)
    make = {"shape": shape, "chunks": (64, 6, 7), "dtype": "float32"}
    source = zarr.create_array(tmp_path / "source.zarr", **make)
    source[:] = volume(shape)
    target = zarr.create_array(tmp_path / "target.zarr", **make)
    with pytest.raises(ValueError, match="target and source have the same memory"):
        stream.gaussian_filter(source, zarr.open_array(tmp_path / "source.zarr"), 2.0)
    with pytest.raises(ValueError, match="target is read-only"):
        stream.gaussian_filter(source, zarr.open_array(tmp_path / "target.zarr", mode="r"), 2.0)
    holes = zarr.create_array(tmp_path / "holes.zarr", **make, fill_value=np.nan)
    holes[:64] = 1.0
    with pytest.raises(ValueError, match="plane 64 of source has pixels that are NaN"):
        stream.gaussian_filter(holes, target, 2.0)
    (tmp_path / "source.zarr/c/2/0/0").write_bytes(b"nothing that a codec reads")
    with pytest.raises(OSError, match="planes 128 to 199 of source could not be read, in '.*source.zarr'"):
        stream.gaussian_filter(source, target, 2.0)
    good = volume(shape)
    full = zarr.create_array(tmp_path / "full.zarr", **make)
    (tmp_path / "full.zarr/c").write_bytes(b"")  # where the folder of the chunks should be
    with pytest.raises(OSError, match="planes 0 to 127 of target could not be written, in '.*full.zarr'"):
        stream.gaussian_filter(good, full, 2.0)
    stream.gaussian_filter(good, target, 2.0)
    np.testing.assert_array_equal(target[:], without_dask(good, sigma=2.0))

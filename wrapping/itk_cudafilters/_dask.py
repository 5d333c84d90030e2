# SPDX-License-Identifier: Apache-2.0
"""Arrays of Dask: lazy arrays whose blocks are slabs of whole planes, each of which one task filters.

A task reads the planes that its slab depends on itself. It takes over the tasks of the array that only read or convert
a block (blockwise layers and slices), so that its memory holds a few chunks of planes at a time, whatever chunks the
array has. Blocks that other tasks compute, or that are in memory, are inputs of the task.
"""
from __future__ import annotations

import bisect
import contextlib
import itertools
import math
import operator
import queue
import sys
import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.base import get_scheduler, tokenize
from dask.blockwise import Blockwise
from dask.callbacks import Callback
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from dask.system import CPU_COUNT
from dask.typing import Key
from dask.utils import parse_bytes

from ._images import describe
from ._info import Backend, Device, gpu_is_default
from ._library import core
from ._planes import for_other_processes, opened, planes_of_written_chunk, require_planes
from ._slabs import CHUNK, Progress, Report, Slab, SlabFilter, gaussian_slabs, sum_of
from ._structure_tensor_slabs import structure_tensor_slabs
from ._vesselness_slabs import vesselness_slabs

_Index = tuple[int, ...]
# Dask annotates few of its functions. As Any they can be called by functions that are.
_Array: Any = da.Array
_Callback: Any = Callback
_get_scheduler: Any = get_scheduler
# Threads that read the blocks of a slab.
_READERS = 8


class Blocks:
    """Blocks of an array of Dask, as a source within a task.

    `layers` are the ends of the blocks along the axis of the planes. `tasks` compute blocks from each other and from
    the values of `keys`."""

    def __init__(self, array: Any, axis: int, found: dict[_Index, Key], tasks: dict[Key, Any], keys: list[Key]) -> None:
        self.shape = array.shape
        self.dtype = array.dtype
        self.layers = list(itertools.accumulate(array.chunks[axis]))
        self.keys = keys
        self._starts = [[0, *itertools.accumulate(lengths)] for lengths in array.chunks]
        self._found = found
        self._tasks = tasks
        self._values: dict[Key, Any] = {}

    def with_values(self, values: Sequence[Any]) -> Blocks:
        self._values = dict(zip(self.keys, values, strict=True))
        return self

    def __getitem__(self, index: Any) -> npt.NDArray[Any]:
        *item, planes = index if isinstance(index, tuple) else (index,)
        ranges = [
            *((at, at + 1) for at in item),
            (planes.start, planes.stop),
            *((0, length) for length in self.shape[len(item) + 1 :]),
        ]
        result = np.empty([last - first for first, last in ranges], self.dtype)
        indices = list(_blocks_in(self._starts, ranges))
        for at, block in zip(indices, self._load(indices), strict=True):
            corner = [starts[i] for starts, i in zip(self._starts, at, strict=True)]
            inside = [(max(first, start), min(last, start + size)) for (first, last), start, size in zip(ranges, corner, block.shape, strict=True)]
            to = tuple(slice(first - begin, last - begin) for (first, last), (begin, _) in zip(inside, ranges, strict=True))
            of = tuple(slice(first - start, last - start) for (first, last), start in zip(inside, corner, strict=True))
            result[to] = block[of]
        planes_of_item: npt.NDArray[Any] = result[(0,) * len(item)]
        return planes_of_item

    def _load(self, indices: Sequence[_Index]) -> Iterable[npt.NDArray[Any]]:
        keys = [self._found[at] for at in indices]
        if all(key in self._values for key in keys):
            return [np.asarray(self._values[key]) for key in keys]
        graph = {**self._tasks, **self._values}
        return [np.asarray(block) for block in dask.threaded.get(graph, keys, num_workers=_READERS)]


def _blocks_in(starts: Sequence[Sequence[int]], ranges: Sequence[tuple[int, int]]) -> Iterable[_Index]:
    """Returns the indices of the blocks with pixels in the ranges."""
    return itertools.product(
        *(
            range(bisect.bisect_right(ends, first) - 1, bisect.bisect_left(ends, last))
            for ends, (first, last) in zip(starts, ranges, strict=True)
        )
    )


class _Reading:
    """Divides the graph of an array into tasks that slabs take over and tasks that remain."""

    def __init__(self, array: Any) -> None:
        graph = array.__dask_graph__()
        if not isinstance(graph, HighLevelGraph):
            graph = HighLevelGraph.from_collections(array.name, graph)
        self.array = array
        self.graph = graph
        self._starts = [[0, *itertools.accumulate(lengths)] for lengths in array.chunks]
        self._all_keys = set(graph.keys())
        self._layer_of = {key: name for name, layer in graph.layers.items() for key in layer.keys()}
        self._taken = {name for name, layer in graph.layers.items() if isinstance(layer, Blockwise) or name.startswith("getitem-")}
        self._dependencies: dict[Key, set[Key]] = {}

    def blocks(self, slab: Slab, ranges: Sequence[tuple[int, int]]) -> Blocks:
        """Returns the blocks with planes in the ranges."""
        axis = len(slab.item)
        found: dict[_Index, Key] = {}
        for planes in ranges:
            within = [*((at, at + 1) for at in slab.item), planes, *((0, length) for length in self.array.shape[axis + 1 :])]
            found.update((index, (self.array.name, *index)) for index in _blocks_in(self._starts, within))
        tasks: dict[Key, Any] = {}
        keys: list[Key] = []
        seen: set[Key] = set()
        left = list(found.values())
        while left:
            key = left.pop()
            if key in seen:
                continue
            seen.add(key)
            name = self._layer_of[key]
            if name in self._taken:
                tasks[key] = self.graph.layers[name][key]
                left.extend(self._of(key, name))
            else:
                keys.append(key)
        return Blocks(self.array, axis, found, tasks, keys)

    def _of(self, key: Key, layer: str) -> set[Key]:
        if key not in self._dependencies:
            self._dependencies[key] = set(self.graph.layers[layer].get_dependencies(key, self._all_keys))
        return self._dependencies[key]

    def layers_of(self, keys: Iterable[Key]) -> set[str]:
        return {self._layer_of[key] for key in keys}


def _filter(filter: SlabFilter, slab: Slab, blocks: Blocks, values: list[Any], whole: Any) -> npt.NDArray[Any]:
    result = filter.compute(blocks.with_values(values), slab, whole)
    return result.reshape((1,) * len(slab.item) + result.shape)


def _measure(filter: SlabFilter, slab: Slab, blocks: Blocks, values: list[Any]) -> Any:
    return filter.measure(blocks.with_values(values), slab)


def _combine(filter: SlabFilter, measured: list[Any], slabs: _Hidden) -> list[Any]:
    return filter.combine(measured, slabs.value)


class _Hidden:
    """A value that Dask is not to look into."""

    def __init__(self, value: Any) -> None:
        self.value = value


def lazy(label: str, filter: SlabFilter, array: Any) -> Any:
    """Returns the lazy array of a filter of an array. Its blocks are slabs."""
    planes = _planes_of_slab(filter)
    slabs = filter.slabs(planes)
    reading = _Reading(array)
    name = f"{label}-{tokenize(filter, array.name, planes)}"
    tasks: dict[Key, Any] = {}
    used: set[Key] = set()
    behind = (*filter.shape[1:], *filter.components)
    rest = (0,) * len(behind)
    for of_item in _by_item(slabs):
        exchanges = filter.needs_whole and len(of_item) > 1
        blocks = [reading.blocks(slab, filter.reads(slab) if len(of_item) > 1 else [(0, filter.shape[0])]) for slab in of_item]
        used.update(key for each in blocks for key in each.keys)
        item = of_item[0].item
        if exchanges:
            measured: list[Key] = [(f"measure-{name}", *item, number) for number in range(len(of_item))]
            for key, slab, each in zip(measured, of_item, blocks, strict=True):
                tasks[key] = (_measure, filter, slab, each, list(each.keys))
            tasks[(f"combine-{name}", *item)] = (_combine, filter, measured, _Hidden(of_item))
        for number, (slab, each) in enumerate(zip(of_item, blocks, strict=True)):
            whole: Key | None = (f"whole-{name}", *item, number) if exchanges else None
            if whole is not None:
                tasks[whole] = (operator.getitem, (f"combine-{name}", *item), number)
            tasks[(name, *item, number, *rest)] = (_filter, filter, slab, each, list(each.keys), whole)
    graph = HighLevelGraph(
        {**reading.graph.layers, name: MaterializedLayer(tasks)},
        {**reading.graph.dependencies, name: reading.layers_of(used)},
    )
    lengths = tuple(slab.count for slab in slabs if slab.item == slabs[0].item)
    chunks = (*((1,) * length for length in filter.items), lengths, *((length,) for length in behind))
    return _Array(graph, name, chunks, dtype=filter.target_type)


def lazy_gaussian(
    kind: Literal["filter", "gradient_magnitude", "laplace"],
    input: Any,
    sigma: Any,
    order: Any,
    output: Any,
    mode: Any,
    cval: Any,
    fwhm: Any,
    spacing: Any,
    axes: Any,
    channel_axis: int | None,
    valid_mask: Any,
    preserve_nan: Any,
    dtype: Any,
    approximation: str,
    backend: str,
) -> Any:
    """Returns the lazy result of a Gaussian function."""
    require_known_chunks(input, "input")
    require_planes(input, "input")
    filter = gaussian_slabs(
        kind, input.shape, input.dtype, _result_type(input, output, dtype), sigma, order, mode, cval, fwhm, spacing, axes,
        channel_axis, valid_mask, preserve_nan, approximation, backend, None, name="input",
    )
    return lazy(f"gaussian_{kind}", replace(filter, backend=resolve(filter.backend)), input)


def lazy_vesselness(
    image: Any,
    sigmas: Any,
    measure: Any,
    object_dimension: Any,
    bright: Any,
    normalize: Any,
    alpha: Any,
    beta: Any,
    gamma: Any,
    tau: Any,
    mode: Any,
    cval: Any,
    spacing: Any,
    valid_mask: Any,
    preserve_nan: Any,
    dtype: Any,
    approximation: str,
    backend: str,
) -> Any:
    """Returns the lazy result of vesselness()."""
    require_known_chunks(image, "image")
    require_planes(image, "image")
    if valid_mask is not None:
        raise ValueError("valid_mask is given; images in slabs have none: call itk_cudafilters.vesselness() with an array of NumPy")
    filter = vesselness_slabs(
        image.shape, image.dtype, _result_type(image, None, dtype), sigmas, measure, object_dimension, bright, normalize, alpha, beta,
        gamma, tau, mode, cval, spacing, None, preserve_nan, approximation, backend, None, name="image",
    )
    filter.require_parts()
    return lazy("vesselness", replace(filter, backend=resolve(filter.backend)), image)


def lazy_structure_tensor(
    image: Any,
    sigma: Any,
    integration_sigma: Any,
    with_eigenvalues: bool,
    spacing: Any,
    dtype: Any,
    approximation: str,
    backend: str,
) -> Any:
    """Returns the lazy result of structure_tensor() or structure_tensor_eigenvalues()."""
    require_known_chunks(image, "image")
    require_planes(image, "image")
    filter = structure_tensor_slabs(
        image.shape, image.dtype, _result_type(image, None, dtype), sigma, integration_sigma, with_eigenvalues, spacing, None,
        approximation, backend, None, name="image",
    )
    return lazy("structure_tensor", replace(filter, backend=resolve(filter.backend)), image)


def require_known_chunks(array: Any, name: str) -> None:
    """Raises ValueError for arrays of which Dask does not know how long they are."""
    if any(math.isnan(length) for length in array.shape):
        raise ValueError(f"{name} has the shape {array.shape}; its lengths must be known: call {name}.compute_chunk_sizes()")


def _result_type(input: Any, output: Any, dtype: Any) -> np.dtype[Any]:
    """Returns the type of the result, which is native."""
    if output is not None and (hasattr(output, "shape") or dtype is not None):
        raise ValueError("output is given; of an array of Dask the result is a new lazy array, whose type dtype= says")
    wanted = output if dtype is None else dtype
    if wanted is None:
        wanted = input.dtype if input.dtype.kind == "f" else np.float32
    try:
        found: np.dtype[Any] = np.dtype(wanted).newbyteorder("=")
    except (TypeError, ValueError):
        raise TypeError(f"dtype is {describe(wanted)}; it must be None, or a type of real numbers") from None
    require_planes(np.empty((1, 1), found), "the result")
    return found


def _planes_of_slab(filter: SlabFilter) -> int:
    """Returns the planes of a slab: as many chunks as the configuration's array.chunk-size holds, and at least one."""
    plane = math.prod((*filter.shape[1:], *filter.components)) * filter.target_type.itemsize
    size = parse_bytes(dask.config.get("array.chunk-size"))
    return max(1, int(size) // (plane * CHUNK)) * CHUNK


# Slabs that each thread of a scheduler gets, so that all of them end at about the same time.
_SLABS_OF_THREAD = 4
# If each thread gets a slab, a slab has at least this many times the chunks that it reads from its neighbours.
_TIMES_OVERLAP = 4
# Most chunks of a slab that are tried to make slabs end between chunks of the target.
_MOST_CHUNKS = 64


def run(
    filter: SlabFilter, source: Any, target: Any, scheduler: Any, planes: int | None, timeout: float | None, progress: Progress | None
) -> Report:
    """Filters from a source to a target in tasks of a scheduler of Dask, each of which reads and writes a slab."""
    client, threads = _client_of(scheduler)
    filter = replace(filter, backend=resolve(filter.backend, client, timeout))
    if scheduler not in _IN_THIS_PROCESS:
        source, target = for_other_processes(source, "source"), for_other_processes(target, "target")
    filter.require_parts()
    slabs = filter.slabs(planes_of_slab(filter, target, threads, planes))
    ends = _Hidden((source, target))
    graph: dict[str, Any] = {}
    results: list[str] = []
    token = uuid.uuid4().hex  # other runs of the client may have slabs with the same numbers
    for of_item in _by_item(slabs):
        exchanges = filter.needs_whole and len(of_item) > 1
        begin = len(results)
        combined = f"combine-{token}-{begin}"
        measured = [f"measure-{token}-{begin + i}" for i in range(len(of_item))] if exchanges else []
        for key, slab in zip(measured, of_item):
            graph[key] = (_measure_ends, filter, slab, ends)
        if exchanges:
            graph[combined] = (_combine, filter, measured, _Hidden(of_item))
        for number, slab in enumerate(of_item):
            whole = f"whole-{token}-{begin + number}" if exchanges else None
            if whole is not None:
                graph[whole] = (operator.getitem, combined, number)
            results.append(f"filter-{token}-{begin + number}")
            graph[results[-1]] = (_filter_ends, filter, slab, ends, whole)
    done = _Done(len(graph), progress)
    if client is None:
        with _pool_of(scheduler, threads) as options, _Callback(posttask=lambda *_: done.add(1)):
            reports = _get_scheduler(scheduler=scheduler)(graph, results, **options)
    else:
        reports = _gather(client, graph, results, slabs, timeout, done)
    done.add(len(graph))
    return sum_of(reports)


@contextlib.contextmanager
def _pool_of(scheduler: Any, threads: int) -> Iterator[dict[str, Any]]:
    """Gives the scheduler of threads a pool that ends before the block does. Dask's own pool still runs tasks when the exception
    of one of them is raised, and they would write to a target that the caller removes."""
    if scheduler not in ("threads", "threading"):
        yield {}
        return
    with ThreadPoolExecutor(threads, "itk_cudafilters slab") as pool:
        yield {"pool": pool}


def _by_item(slabs: Iterable[Slab]) -> list[list[Slab]]:
    return [list(of_item) for _, of_item in itertools.groupby(slabs, lambda slab: slab.item)]


class _Done:
    """Counts tasks that are done, for the progress."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._count = 0

    def add(self, count: int) -> None:
        before, self._count = self._count, min(self._count + count, self._total)
        if self._progress is not None and self._count > before:
            self._progress(self._count / self._total)


def _filter_ends(filter: SlabFilter, slab: Slab, ends: _Hidden, whole: Any) -> Report:
    with opened(ends.value[0]) as source, opened(ends.value[1]) as target:
        return filter.filter(source, target, slab, whole)


def _measure_ends(filter: SlabFilter, slab: Slab, ends: _Hidden) -> Any:
    with opened(ends.value[0]) as source:
        return filter.measure(source, slab)


def _gather(
    client: Any, graph: dict[str, Any], keys: list[str], slabs: list[Slab], timeout: float | None, done: _Done
) -> list[Report]:
    """Computes the tasks on a cluster. Raises TimeoutError if no slab is done for that many seconds."""
    import distributed

    wait: Any = distributed.wait
    futures = client.get(graph, keys, sync=False)
    left = set(futures)
    try:
        while left:
            try:
                ready, left = wait(left, timeout=timeout, return_when="FIRST_COMPLETED")
            except TimeoutError:
                busy = {key: address for address, running in client.processing().items() for key in running}
                where = [f"{slab} on {busy[key]}" for key, slab in zip(keys, slabs, strict=True) if key in busy]
                raise TimeoutError(
                    f"no slab was done for {timeout} s; unfinished: {'; '.join(where[:4]) or 'all, and no worker has one'}"
                    f"{'; ...' if len(where) > 4 else ''}. The target is incomplete"
                ) from None
            for future in ready:
                future.result()
            done.add(len(ready))
        return [future.result() for future in futures]
    finally:
        client.cancel([future for future in futures if not future.done()], force=True)


_IN_THIS_PROCESS = ("threads", "threading", "sync", "synchronous", "single-threaded")
_LOCAL = (*_IN_THIS_PROCESS, "processes", "multiprocessing")


def _client_of(scheduler: Any) -> tuple[Any, int]:
    """Returns the client of a cluster, or None for a scheduler of this machine, and the number of its threads."""
    if isinstance(scheduler, str) and scheduler in _LOCAL:
        return None, 1 if scheduler.startswith("s") else dask.config.get("num_workers", None) or CPU_COUNT
    client = scheduler
    if isinstance(scheduler, str):
        try:
            import distributed
        except ImportError:
            raise ImportError("a scheduler's address needs the package distributed: pip install 'itk-cudafilters[dask]'") from None
        if "://" not in scheduler and ":" not in scheduler:
            raise ValueError(f"scheduler is '{scheduler}'; it must be threads, processes, synchronous, a client, or an address such as tcp://HOST:8786")
        try:
            connect: Any = distributed.Client
            client = connect(scheduler, set_as_default=False)
        except OSError as error:
            raise OSError(f"there is no scheduler at '{scheduler}': {error}") from None
    if not hasattr(client, "nthreads") or not hasattr(client, "scheduler"):
        raise TypeError(f"scheduler is {describe(scheduler)}; it must be threads, processes, synchronous, a client of distributed, or an address")
    threads = sum(client.nthreads().values())
    if not threads:
        raise RuntimeError(f"the cluster at '{client.scheduler.address}' has no workers")
    return client, threads


def planes_of_slab(filter: SlabFilter, target: Any, threads: int, planes: int | None) -> int:
    """Returns the planes of the slabs of a run. Raises ValueError if two slabs would write one chunk of the target."""
    with opened(target) as opened_target:
        layer = planes_of_written_chunk(opened_target, len(filter.items))
        mixed = [axis for axis in range(len(filter.items)) if planes_of_written_chunk(opened_target, axis) > 1]
    length = filter.shape[0]
    if mixed:
        raise ValueError(
            f"target has chunks with several items along axis {mixed[0]}, which several tasks would write; they must have one"
        )
    unit = math.lcm(CHUNK, layer)
    if planes is not None:
        if planes % CHUNK != 0 and planes < length:
            raise ValueError(f"slab_planes is {planes}; it must be a multiple of {CHUNK}")
        if planes % layer != 0 and planes < length:
            raise ValueError(
                f"slab_planes is {planes}, and the chunks of target have {layer} planes, so that two slabs would write the same chunk; it "
                f"must be a multiple of {unit}"
            )
        return planes
    if layer < length and unit > _MOST_CHUNKS * CHUNK:
        raise ValueError(
            f"target has chunks of {layer} planes, and slabs a multiple of {CHUNK}, so that two slabs would write the same chunk; the chunks "
            f"must have a number of planes that divides {CHUNK} or is a multiple of it"
        )
    slabs = max(1, _SLABS_OF_THREAD * threads // math.prod(filter.items))
    units = -(-length // (slabs * unit))
    overlap = 2 * max(0, filter.reach[0]) * CHUNK
    thick = min(-(-_TIMES_OVERLAP * overlap // unit), -(-length * math.prod(filter.items) // (threads * unit)))
    return max(1, units, thick) * unit


# Seconds for which workers are waited for that are asked for their devices.
_PATIENCE = 60.0


def resolve(backend: Backend, client: Any = None, timeout: float | None = None) -> Backend:
    """Returns where all tasks of a graph run. With `automatic` this is the GPU if all workers can use one, and the host
    if none can. All slabs of an image must be filtered on one kind of device, because their bits may differ otherwise.

    Raises ValueError if that is not possible."""
    if client is None:
        client = _current_client()
    if backend == "automatic" and client is None:
        return "host" if _device_of_worker() is None else "cuda"
    if backend == "host" or client is None:
        return backend
    found = _ask(client, timeout or _PATIENCE)
    if not found:
        raise RuntimeError(f"the cluster at '{client.scheduler.address}' has no workers")
    kinds = set(found.values())
    if kinds == {None} and backend == "automatic":
        return "host"
    if len(kinds) > 1 or None in kinds:
        names = ", ".join(f"{address}: {kind or 'no GPU'}" for address, kind in sorted(found.items()))
        raise ValueError(
            f'the workers have different devices ({names}), whose results may differ by rounding; backend must be "host", or all '
            "workers must have GPUs of one kind"
        )
    return "cuda"


def _ask(client: Any, timeout: float) -> dict[str, str | None]:
    """Returns the devices of all workers. Their tasks are not waited for."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(client.run(_device_of_worker))
        except BaseException as error:
            answers.put(error)

    threading.Thread(target=ask, daemon=True).start()  # it waits for as long as a worker hangs
    try:
        found = answers.get(timeout=timeout)
    except queue.Empty:
        raise TimeoutError(
            f'the workers were asked for their devices, and did not all answer within {timeout:g} s; with backend "host" they are not asked'
        ) from None
    if isinstance(found, BaseException):
        raise found
    devices: dict[str, str | None] = found
    return devices


def _device_of_worker() -> str | None:
    """Returns the kind of GPU that filters of this process run on, or None for the host."""
    if not gpu_is_default():
        return None
    found = core().info()
    device = next(Device(**each) for each in found["devices"] if each["index"] == found["device_index"])
    return f"{device.name}, compute capability {device.compute_capability[0]}.{device.compute_capability[1]}"


def _current_client() -> Any:
    """Returns the client that computes arrays by default, or None."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None

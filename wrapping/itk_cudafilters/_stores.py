# SPDX-License-Identifier: Apache-2.0
"""Images in stores of Zarr, in folders: arrays, and OME-Zarr images with their axes and scales."""
from __future__ import annotations

import contextlib
import copy
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ._slabs import CHUNK

# Planes of the chunks of a new array whose source has chunks that two slabs would share.
_PLANES_OF_CHUNK = 64


@dataclass(frozen=True)
class StoredImage:
    """An array, and what is known of its axes. `space` has the axes along which it extends in space; the others count
    items. `metadata` are the attributes of its OME-Zarr group, or None."""

    name: str
    array: Any
    space: tuple[int, ...]
    spacing: tuple[float, ...]
    unit: str
    metadata: dict[str, Any] | None
    path_in_group: str

    @property
    def size_in_bytes(self) -> int:
        return int(np.prod(self.array.shape)) * int(self.array.dtype.itemsize)


def is_zarr(name: str) -> bool:
    """Returns whether a name is that of a store of Zarr: a folder with its metadata, or a name that ends like one."""
    path = Path(name)
    return path.suffix.lower() == ".zarr" or any((path / file).is_file() for file in ("zarr.json", ".zarray", ".zgroup"))


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise ImportError("stores of Zarr need the package zarr 3: pip install 'itk-cudafilters[zarr]'") from None
    return zarr


def open_image(name: str) -> StoredImage:
    """Opens an array, or the largest array of an OME-Zarr image. Raises OSError if there is none."""
    zarr = _zarr()
    if not Path(name).is_dir():
        raise OSError(f"'{name}' could not be read: there is no such folder")
    try:
        found = zarr.open(name, mode="r")
        if isinstance(found, zarr.Array):
            space = tuple(range(len(found.shape)))[-3:]
            return StoredImage(name, found, space, (1.0,) * len(space), "", None, "")
        metadata = found.attrs.asdict()
        scales = metadata.get("ome", metadata).get("multiscales")
        if not scales:
            raise OSError(f"it is a group without an OME-Zarr image; name one of its arrays: {', '.join(map(str, found.array_keys())) or 'it has none'}")
        path = scales[0]["datasets"][0]["path"]
        array = found[path]
        axes = [each if isinstance(each, dict) else {"name": each} for each in scales[0].get("axes", "tczyx"[-len(array.shape) :])]
        space = tuple(i for i, axis in enumerate(axes) if axis.get("type", "space" if axis["name"] in "zyx" else "") == "space")
        factors = [1.0] * len(axes)
        for transformation in (*scales[0].get("coordinateTransformations", ()), *scales[0]["datasets"][0].get("coordinateTransformations", ())):
            if transformation.get("type") == "scale":
                factors = [a * b for a, b in zip(factors, transformation["scale"], strict=True)]
        units = {axes[i].get("unit", "") for i in space}
        spacing = tuple(abs(factors[i]) or 1.0 for i in space)
        return StoredImage(name, array, space, spacing, units.pop() if len(units) == 1 else "", metadata, path)
    except (MemoryError, ImportError):
        raise
    except Exception as error:  # zarr raises what its codecs, its stores and the parsers of its metadata raise
        raise OSError(f"'{name}' could not be read: {str(error) or type(error).__name__}") from error


@contextlib.contextmanager
def creating_like(image: StoredImage, name: str, overwrite: bool) -> Iterator[Any]:
    """Creates an array of the shape, type, chunks and codecs of an image, with its metadata but for smaller scales. The
    store takes its name when the block ends without an exception; until then its name begins with a dot."""
    target = Path(os.path.realpath(name))
    source = Path(os.path.realpath(image.name))
    if target == source or source in target.parents or target in source.parents:
        raise ValueError(f"'{name}' is the input, a part of it, or holds it; planes of the input are needed after results are written")
    if target.exists() and not overwrite:
        raise FileExistsError(f"'{name}' exists; --overwrite replaces it")
    if target.exists() and not (target.is_dir() and is_zarr(str(target))):
        raise OSError(f"'{name}' could not be written: it is no store of Zarr")
    if not target.parent.is_dir():
        raise OSError(f"'{name}' could not be written: there is no folder '{target.parent}'")
    new = target.parent / f".{target.name}.{os.getpid():x}.partial"
    try:
        try:
            array = _create(image, new)
        except OSError as error:
            raise OSError(f"'{name}' could not be written: {error.strerror or error}") from error
        yield array
        old = target.parent / f".{target.name}.{os.getpid():x}.replaced"
        if target.exists():
            os.rename(target, old)
        os.rename(new, target)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _create(image: StoredImage, path: Path) -> Any:
    zarr = _zarr()
    source = image.array
    place = zarr.storage.LocalStore(path)
    version = source.metadata.zarr_format
    if image.metadata is not None:
        attributes = copy.deepcopy(image.metadata)
        scales = attributes.get("ome", attributes)["multiscales"]
        del scales[1:]
        del scales[0]["datasets"][1:]
        for key in ("type", "metadata"):
            scales[0].pop(key, None)  # how smaller scales were made
        zarr.create_group(place, zarr_format=version, attributes=attributes)
    planes = image.space[0]
    shards = getattr(source, "shards", None)
    layer = (shards or source.chunks)[planes]
    chunks = list(source.chunks)
    if layer < source.shape[planes] and CHUNK % layer != 0 and layer % CHUNK != 0:
        chunks[planes], shards = _PLANES_OF_CHUNK, None
    for axis in range(planes):
        chunks[axis], shards = 1, None if shards and shards[axis] > 1 else shards
    names = {} if version == 2 else {"dimension_names": source.metadata.dimension_names}
    dtype = source.dtype
    return zarr.create_array(
        place, name=image.path_in_group or None, shape=source.shape, chunks=tuple(chunks), shards=shards, dtype=dtype,
        filters=source.filters or None, compressors=source.compressors or None, fill_value=np.zeros((), dtype)[()],
        attributes=source.attrs.asdict(), zarr_format=version, **names,
    )

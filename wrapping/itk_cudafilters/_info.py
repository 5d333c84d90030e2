# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ._library import core

Backend = Literal["automatic", "cuda", "host"]


@dataclass(frozen=True)
class Device:
    """A GPU of this machine."""

    index: int
    name: str
    compute_capability: tuple[int, int]
    total_memory: int
    """Bytes."""
    free_memory: int
    """Bytes, at the time of the call."""
    usable: bool
    reason: str
    """Why the GPU cannot be used; empty if it can."""


@dataclass(frozen=True)
class Info:
    """What the filters found on this machine, and where they run with default settings."""

    version: str
    itk_version: str
    """Of the ITK that the library was built with."""
    built_with_cuda: bool
    driver_version: tuple[int, int] | None
    """Newest version of CUDA that the installed driver supports; None without a driver."""
    required_driver_version: tuple[int, int] | None
    """Version of CUDA that the driver must support for the GPU to be used; None if built without CUDA."""
    devices: tuple[Device, ...]
    backend: Backend
    """The process-wide setting: itk.CudaFiltersConfiguration or ITK_CUDAFILTERS_BACKEND."""
    device_index: int
    gpu_usable: bool
    """Whether filters can run on the GPU of that index."""
    reason: str
    """Why not; empty if they can."""
    status: str
    """All this in a few lines."""

    def __str__(self) -> str:
        return f"itk-cudafilters {self.version}, itk {self.itk_version}\n{self.status}"


def _version_pair(number: int) -> tuple[int, int] | None:
    """Splits a version of CUDA, 1000 * major + 10 * minor. Returns None for 0."""
    return (number // 1000, number % 1000 // 10) if number else None


def backend_name(backend: int | str) -> Backend:
    """Returns the name of a backend, which is given by its number or its name in itk.CudaFiltersEnums."""
    names: tuple[Backend, ...] = get_args(Backend)
    return names[backend if isinstance(backend, int) else names.index(backend.lower())]


def gpu_is_default() -> bool:
    """Returns whether filters run on a GPU, unless they are told otherwise or an image does not fit."""
    found = core().info()
    return bool(found["gpu_usable"]) and backend_name(found["backend"]) != "host"


def info() -> Info:
    """Returns what the filters found on this machine: GPUs, driver, settings, and where filters run by default.

    A missing GPU or driver is not an error; `reason` then says why the filters run on the host.

    Raises
    ------
    RuntimeError
        ITK_CUDAFILTERS_BACKEND or ITK_CUDAFILTERS_DEVICE has an invalid value.
    """
    from importlib.metadata import version  # it takes long to import

    found = core().info()
    return Info(
        version=version("itk-cudafilters"),
        itk_version=core().itk_version,
        **{
            **found,
            **{name: _version_pair(found[name]) for name in ("driver_version", "required_driver_version")},
            "devices": tuple(Device(**device) for device in found["devices"]),
            "backend": backend_name(found["backend"]),
        },
    )

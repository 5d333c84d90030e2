# SPDX-License-Identifier: Apache-2.0
"""The part info of the command."""
from __future__ import annotations

import argparse
from typing import Any

from .._info import info
from .._itk import itk
from .._output import print_text
from ._parser import Parser

EPILOG = (
    "Environment variables: ITK_CUDAFILTERS_BACKEND (automatic, cuda or host), ITK_CUDAFILTERS_DEVICE (index of the GPU), "
    "ITK_CUDAFILTERS_DEVICES (all, or indices such as 0,1: the GPUs that share large images), "
    "ITK_CUDAFILTERS_KEEP_ON_DEVICE (1: between two filters, results that are released after use stay on the GPU), "
    "ITK_CUDAFILTERS_SYNCHRONOUS (1: each filter waits for its kernels and names itself if they failed)."
)


def add_arguments(part: Parser) -> None:
    part.add_argument(
        "--overrides",
        action="store_true",
        help="print the classes of ITK that CudaGaussianImageFilterFactory overrides instead, one a line; needs the package itk",
    )


def run(arguments: argparse.Namespace) -> None:
    if arguments.overrides:
        factory: Any = itk.CudaGaussianImageFilterFactory
        print_text("".join(f"{name}\n" for name in sorted(factory.New().GetClassOverrideDescriptions())))
    else:
        print_text(str(info()))

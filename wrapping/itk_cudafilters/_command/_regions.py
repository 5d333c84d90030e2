# SPDX-License-Identifier: Apache-2.0
"""What segment and partition have in common."""
from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from .. import _image_files as files
from .._image import Image
from .._segmentation import laws_of_looks, noise_laws
from ._common import READS, UNITS, require_one_component, type_name
from ._parser import Parser, WrongArguments, descriptions_of, name_of

EPILOG = (
    f"{UNITS} {READS}: 2-D, with one value per pixel, of unsigned char, unsigned short, short or float. Of RGB colours the luminance "
    "is taken, and of a 3-D file with a single slice that slice. Pixels that hold no data belong to no region."
)
_PIXELS = ("uint8", "uint16", "int16", "float32")


def add_model(part: Parser, function: Callable[..., Any], *names: str, **changes: Any) -> None:
    """Adds the options of the law, and those for other keywords of the function."""
    laws = noise_laws()
    described = ", ".join(f"{law.name} ({law.description})" for law in laws.values())
    law = {"type": name_of(tuple(laws)), "metavar": "NAME", "help": f"{descriptions_of(function)['law']}. The laws are {described}"}
    looks = {"flags": ["--looks", "--number-of-looks"]}
    part.add_argument("input", metavar="IN", help="image to read")
    part.add_keywords(function, "law", "looks", "foreground_threshold", "valid_mask", *names, law=law, looks=looks, **changes)


def open_image(arguments: argparse.Namespace, done: str) -> files.ImageFile:
    """Opens the input, and checks that it and the arguments fit."""
    for name, laws in (("looks", laws_of_looks()), ("foreground_threshold", ["bernoulli"])):
        if name in arguments.given and arguments.law not in laws:
            raise WrongArguments(f"argument {arguments.parser.options[name]}: it is for --law {' and '.join(laws)}")
    file = files.ImageFile(arguments.input)
    if file.axes != 2:
        raise ValueError(f"'{file.name}' has {file.axes} dimensions; images of 2, or single slices, can be {done}")
    require_one_component(file)
    if file.dtype.name not in _PIXELS:
        raise ValueError(
            f"'{file.name}' has pixels of type {type_name(file.dtype)}, which are not supported; convert the image to "
            "unsigned char, unsigned short, short or float"
        )
    return file


def keywords_of(arguments: argparse.Namespace, image: Image) -> dict[str, Any]:
    """Returns the keywords that the arguments give, with images for their files."""
    keywords = {name: getattr(arguments, name) for name in arguments.keywords}
    for name in ("initial_mask", "valid_mask", "initial_labels"):
        if keywords.get(name) is not None:
            keywords[name] = files.read_mask(keywords[name], like=image, is_label=name == "initial_labels")
    return keywords


def without_no_data(image: Image) -> Image:
    """Returns an image of labels or means, whose values are all data."""
    image = image.with_array(image.array)
    image.no_data = None
    return image

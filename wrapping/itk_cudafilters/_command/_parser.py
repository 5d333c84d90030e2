# SPDX-License-Identifier: Apache-2.0
"""The parser of the command. Options for keywords of the package's functions have their types, defaults and descriptions
from the functions' signatures and docstrings."""
from __future__ import annotations

import argparse
import inspect
import math
import re
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

STANDARD_OUTPUT = "/dev/stdout"


class WrongArguments(Exception):
    """Raised for arguments that do not fit the image or each other."""


class _Once(argparse.Action):
    """Stores a value, and refuses a second one."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None) -> None:
        given = namespace.__dict__.setdefault("given", set())
        if self.dest in given:
            raise argparse.ArgumentError(self, "it is given more than once")
        given.add(self.dest)
        # An option without a value is a switch, which its first name turns on and its second one off.
        setattr(namespace, self.dest, option_string == self.option_strings[0] if self.nargs == 0 else values)


class _PrintVersion(argparse.Action):
    """Prints the versions, which are looked up only for this option."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        from .._library import core

        print(f"itk-cudafilters {version('itk-cudafilters')}, ITK {core().itk_version}")
        parser.exit()


class _HelpFormatter(argparse.HelpFormatter):
    """Adds the defaults to the help texts."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        default = action.default
        if action.required or default is None or default is False or default == argparse.SUPPRESS or not action.option_strings:
            return action.help
        return f"{action.help} (default: {'on' if default is True else f'{default:g}' if isinstance(default, float) else default})"


class Parser(argparse.ArgumentParser):
    """A parser of options that may be given once, by their full names."""

    def __init__(self, **parameters: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_HelpFormatter, **parameters)
        self.register("action", None, _Once)
        # A value may begin with a sign: --initial-region -5,0,20,20.
        self._negative_number_matcher = re.compile(r"-(\.?\d|inf|nan)")
        self.options: dict[str, str] = {}
        """The options of keywords of functions."""
        text = "show the versions of this program and of ITK"
        self.add_argument("--version", action=_PrintVersion, nargs=0, help=text)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        parsed, left = self.parse_known_args(args, namespace)
        if len(left) == 1 and not left[0].startswith("-") and getattr(parsed, "features", left) is None:
            # argparse takes an optional OUT for missing if options stand between it and IN.
            (out,) = [action for action in parsed.parser._actions if action.dest == "features"]
            try:
                parsed.features, left = parsed.parser._get_value(out, left[0]), []
            except argparse.ArgumentError as error:
                parsed.parser.error(str(error))
        if left:
            are_numbers = all(re.fullmatch(r"[-+.\de]+", word) for word in left)
            hint = "; several numbers have commas between: 1,2,3" if are_numbers else ""
            parsed.parser.error(f"unrecognized arguments: {' '.join(left)}{hint}")
        parsed.given = getattr(parsed, "given", set())
        return parsed

    def error(self, message: str) -> Any:
        self.exit(2, f"{self.prog}: {message}\n'{self.prog} --help' lists the arguments.\n")

    def option_in(self, message: str) -> str | None:
        """Returns the message of a function or of the library about a parameter with the name of its option instead, and
        without a call of Python that would help; None if it is about something else."""
        found = re.match(r"([A-Za-z_]+)(?= (is|has) )", message)
        keyword = "" if found is None else re.sub("(?<!^)(?=[A-Z])", "_", found[1]).lower()
        option = self.options.get(keyword)
        return None if found is None or option is None else option + message[found.end() :].partition(": call ")[0]

    def add_keywords(self, function: Callable[..., Any], *names: str, **changes: dict[str, Any]) -> None:
        """Adds options for keywords of a function. `changes` are arguments of add_argument() by the keyword."""
        hints, signature, texts = get_type_hints(function), inspect.signature(function).parameters, descriptions_of(function)
        for name in names:
            default = signature[name].default
            is_required = default is inspect.Parameter.empty
            settings = _settings_for(hints[name]) | ({"required": True} if is_required else {"default": default})
            settings |= {"dest": name, "help": texts[name], **changes.get(name, {})}
            flags = settings.pop("flags", [option_of(name), *([option_of(f"no_{name}")] if settings.get("nargs") == 0 else [])])
            settings["help"] = settings["help"].replace("%", "%%")
            settings.pop("group", self).add_argument(*flags, **settings)
            self.options |= dict.fromkeys([name, *(flag[2:].replace("-", "_") for flag in flags)], flags[-1 if flags[0] == "-s" else 0])
        self.set_defaults(keywords=[*(self.get_default("keywords") or []), *names])

    def add(self, name: str, metavar: str, text: str, kind: Any = None, default: Any = None) -> None:
        """Adds an option of the command itself. The name of its value says which files it takes."""
        if kind is None:
            kind = {"FILE": str, "PREFIX": str, "FILE.png": PICTURE}.get(metavar, DOCUMENT)
        self.add_argument(name, type=kind, default=default, metavar=metavar, help=text)


def option_of(keyword: str) -> str:
    return "--" + keyword.replace("_", "-")


def descriptions_of(function: Callable[..., Any]) -> dict[str, str]:
    """Returns the first paragraph on each parameter in a function's docstring, in the form of help texts: without a
    capital letter at the beginning and a full stop at the end."""
    (section,) = re.findall(r"(?s)\nParameters\n-+\n(.*?)\n\n\w+\n-+\n", inspect.getdoc(function) or "")
    paragraphs = re.findall(r"(?m)^(\w[\w, ]*)\n((?:    .*\n?)+)", section)
    texts = [(names.split(", "), " ".join(text.split()).removesuffix(".")) for names, text in paragraphs]
    return {name: text[0].lower() + text[1:] for names, text in texts for name in names}


def _settings_for(hint: Any) -> dict[str, Any]:
    """Returns the arguments of add_argument() for the type of a keyword."""
    kinds: tuple[Any, ...] = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    names = [get_args(kind) for kind in kinds if get_origin(kind) is Literal]
    if names:
        return {"type": name_of(names[0]), "metavar": "NAME"}
    for kind, settings in (
        (Sequence[float], {"type": SIGMAS, "metavar": "S[,S...]"}),
        (str, {"metavar": "FILE"}),  # also of ArrayLike
        (bool, {"nargs": 0}),
        (float, {"type": _kind(float, "a number"), "metavar": "FLOAT"}),
        (int, {"type": _kind(int, "a whole number"), "metavar": "INT"}),
    ):
        if kind in kinds:
            return settings
    return {"metavar": "FILE"}


# Types of arguments


def name_of(known: Sequence[str]) -> Callable[[str], str]:
    from .._parameters import known_name

    def convert(text: str) -> str:
        try:
            return known_name("the value", text, known)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def _kind(convert: Callable[[str], Any], wanted: str, accepts: Callable[[Any], bool] = lambda value: True) -> Callable[[str], Any]:
    """Returns a type of arguments: what convert() makes of their text, if it is accepted."""

    def take(text: str) -> Any:
        try:
            value = convert(text)
            if accepts(value):
                return value
        except ValueError:
            pass
        raise argparse.ArgumentTypeError(f"'{text}' is not {wanted}")

    return take


def _one_or_pair(values: list[Any]) -> Any:
    if len(values) > 2:
        raise ValueError
    return values[0] if len(values) == 1 else tuple(values)


def _bytes(text: str) -> int:
    from .._parameters import bytes_of

    return bytes_of(text)


COUNT = _kind(int, "a whole number of 1 or more", lambda value: value > 0)
SIGMAS = _kind(
    lambda text: [float(part) for part in text.split(",")],
    "a number greater than 0, or several with commas between as in 1,2,3",
    lambda values: all(value > 0.0 and math.isfinite(value) for value in values),
)
RECTANGLE = _kind(lambda text: tuple(map(int, text.split(","))), "X,Y,WIDTH,HEIGHT in pixels", lambda values: len(values) == 4)
BOUNDS = _kind(
    lambda text: tuple(map(float, text.split(","))),
    "LEFT,BOTTOM,RIGHT,TOP on the map",
    lambda values: len(values) == 4 and all(map(math.isfinite, values)),
)
WINDOW = _kind(
    lambda text: _one_or_pair([float(part) if re.search(r"[.en]", part) else int(part) for part in text.split(",")]),
    "a number, or a width and a height with a comma between",
)
LOOKS = _kind(lambda text: "estimate" if text.lower() == "estimate" else float(text), "a number, or the word estimate")
SIZE = _kind(_bytes, "a number of bytes above 0, or one with K, M, G or T as in 8G")
SIZE_OR_ZERO = _kind(lambda text: 0 if text == "0" else _bytes(text), "a number of bytes, or one with K, M, G or T as in 8G")
PICTURE = _kind(str, "the name of a file that ends in .png", lambda name: name.lower().endswith(".png"))
FEATURES = _kind(
    lambda text: STANDARD_OUTPUT if text == "-" else text,
    "the name of a file that ends in .gpkg, .geojson or .json",
    lambda name: name == STANDARD_OUTPUT or name.lower().endswith((".gpkg", ".geojson", ".json")),
)
DOCUMENT = _kind(lambda text: STANDARD_OUTPUT if text == "-" else text, "the name of a file")

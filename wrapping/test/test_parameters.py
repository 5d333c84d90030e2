# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/user/parameters.md against the wrapped classes, the functions of the package and the command."""
import argparse
import inspect
import math
import pathlib
import re
from dataclasses import dataclass

import itk
import pytest

import itk_cudafilters
from itk_cudafilters import _command
from itk_cudafilters._command._parser import descriptions_of

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "user" / "parameters.md"
FUNCTIONS = {
    "segment": itk_cudafilters.segment_region,
    "partition": itk_cudafilters.partition_image,
    "detect": itk_cudafilters.detect_targets,
}
SIGNATURES = {part: inspect.signature(function).parameters for part, function in FUNCTIONS.items()}
FILTERS = {"smooth": "SMOOTHING", "segment": "SNAKE", "partition": "PARTITION", "vesselness": "VESSELNESS"}
# Without a number the functions estimate it. The classes take these.
LOOKS = {"segment": 1.0, "partition": 0.0}
# Keywords that the command does not have by these names, or that are among its own options.
OTHER_KEYWORDS = {"image", "number_of_looks", "progress", "quantity"}


@dataclass(frozen=True)
class Row:
    setter: str
    keyword: str
    options: tuple[str, ...]
    default: str
    meaning: str

    def __str__(self):
        return self.setter or self.keyword or self.options[0]


def cells(line):
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def rows_of(section):
    """Rows of a section's tables."""
    text = PAGE.read_text(encoding="utf-8")
    (body,) = re.findall(rf"(?ms)^## {section}$(.*?)(?=^## |\Z)", text)
    rows, header = [], None
    for line in body.splitlines():
        if not line.startswith("|"):
            header = None
        elif header is None:
            header = cells(line)
        elif "command option" in header and not set(line) <= set("| -"):
            row = dict(zip(header, cells(line), strict=True))
            options = tuple(option.strip(" `").split(" ")[0] for option in row["command option"].split(", "))
            setter, keyword, default = (row.get(name, "").strip("`") for name in ("C++ setter", "Python keyword", "default"))
            rows.append(Row(setter, keyword, options, default, row["meaning"]))
    return rows


PARTS = ("smooth", "segment", "partition", "detect", "vesselness", "compare", "info")
ROWS = {part: rows_of(part) for part in PARTS}
PARAMETERS = [(part, row) for part in FILTERS for row in ROWS[part] if row.setter]
OPTIONS = [(part, row) for part in PARTS for row in ROWS[part]]
ALL_PARAMETERS = pytest.mark.parametrize("part, row", PARAMETERS, ids=str)
ALL_OPTIONS = pytest.mark.parametrize("part, row", OPTIONS, ids=str)


def value_of(text):
    """A default as Python writes it; `required` as it is."""
    if text in ("on", "off", "none"):
        return {"on": True, "off": False, "none": None}[text]
    try:
        return float(text)
    except ValueError:
        return text


def plain(value):
    return value.replace("_", "").lower() if isinstance(value, str) else value


def actions_of(part):
    parser = _command.make_parser([part])
    (subparsers,) = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    assert set(subparsers.choices) == {*PARTS}
    return [a for a in subparsers.choices[part]._actions if a.option_strings and not {"--help", "--version"} & {*a.option_strings}]


def test_tables_are_read():
    assert len(PARAMETERS) >= 20 and len(ROWS["compare"]) >= 5 and ROWS["info"]
    assert {row.setter for _, row in PARAMETERS} >= {"Sigma", "NoiseLaw", "Schedule", "InsideValue"}


@pytest.mark.parametrize("part", FUNCTIONS)
def test_keywords_of_the_function_are_those_of_the_table(part):
    assert {row.keyword for row in ROWS[part] if row.keyword} == set(SIGNATURES[part]) - OTHER_KEYWORDS


@pytest.mark.parametrize("part, row", [(part, row) for part in FUNCTIONS for row in ROWS[part] if row.keyword], ids=str)
def test_default_of_the_function(part, row):
    default, expected = SIGNATURES[part][row.keyword].default, value_of(row.default)
    if expected == "required":
        assert default is inspect.Parameter.empty
    else:
        assert plain(default) == plain(expected)


@ALL_PARAMETERS
def test_default_of_the_class(part, row):
    itk.F  # skips the test without ITK
    import filters

    found = getattr(filters, FILTERS[part])
    instance = found.wrapped[found.key(itk.F, 2)].New()
    assert hasattr(instance, f"Set{row.setter}")
    get, expected = getattr(instance, f"Get{row.setter}"), value_of(row.default)
    if expected == "required":
        if row.setter == "NoiseLaw":
            with pytest.raises(RuntimeError, match="NoiseLaw is not set"):
                get()
        return
    value = get()
    if row.keyword == "looks":
        assert value == LOOKS[part]
    elif expected is None:
        empty = value is None or (isinstance(value, float) and math.isnan(value)) or list(value.GetSize()) == [0, 0]
        assert empty
    elif isinstance(expected, str):
        enumerations = itk.CudaVesselnessEnums if row.setter == "HessianMeasure" else itk.CudaFiltersEnums
        names = {getattr(enumerations, n): n for n in dir(enumerations) if n.startswith(f"{row.setter}_")}
        assert plain(names[value].removeprefix(f"{row.setter}_")) == plain(expected)
    else:
        assert value == expected


@ALL_PARAMETERS
def test_option_is_the_keyword(part, row):
    assert row.options[0] == "--" + row.keyword.replace("_", "-")


@ALL_OPTIONS
def test_option_and_default_of_the_command(part, row):
    (action,) = [action for action in actions_of(part) if row.options[0] in action.option_strings]
    assert set(action.option_strings) - {"-s"} == set(row.options)
    expected = value_of(row.default)
    assert action.required == (expected == "required")
    if expected == "required":
        return
    default = value_of(action.default) if isinstance(action.default, str) else action.default
    assert plain(default) == plain(expected) or (default is False and expected is None)
    assert action.help


@pytest.mark.parametrize("part", FUNCTIONS)
def test_options_have_the_descriptions_of_the_function(part):
    """But for the law, whose option lists the laws too."""
    texts = descriptions_of(FUNCTIONS[part])
    assert set(texts) == set(SIGNATURES[part])
    for action in actions_of(part):
        if action.dest in texts:
            assert action.help.replace("%%", "%").startswith(texts[action.dest]) and action.dest in SIGNATURES[part]


@pytest.mark.parametrize("function", [itk_cudafilters.gaussian_filter, itk_cudafilters.vesselness])
def test_every_keyword_has_a_description(function):
    assert set(descriptions_of(function)) == set(inspect.signature(function).parameters)


@pytest.mark.parametrize("part", PARTS)
def test_options_of_the_command_are_those_of_the_table(part):
    of_command = {option for action in actions_of(part) for option in action.option_strings}
    assert of_command - {"-s"} == {option for row in ROWS[part] for option in row.options}


@pytest.mark.parametrize("part", FILTERS)
def test_keywords_of_the_table_set_the_class(part):
    """ITK's keyword is the setter's name in snake_case, where segment_region() has no other."""
    others = {"NoiseLaw": "law", "InitialPath": "initial_contour", "NumberOfLooks": "looks"}
    if part == "vesselness":
        others |= {"HessianMeasure": "measure", "BrightObject": "bright", "NormalizeAcrossScale": "normalize"}
    for row in ROWS[part]:
        if row.setter:
            expected = re.sub("(?<!^)(?=[A-Z])", "_", row.setter).lower()
            assert row.keyword == others.get(row.setter, expected)


def test_vesselness_has_the_keywords_of_the_table():
    """But for those that have the names and defaults of gaussian_filter()."""
    of_function = inspect.signature(itk_cudafilters.vesselness).parameters
    others = {"boundary_mode": "mode", "boundary_value": "cval"}
    for row in ROWS["vesselness"]:
        if row.setter and row.keyword != "device_index":
            default = of_function[others.get(row.keyword, row.keyword)].default
            expected = {"approximation": "accurate", "boundary_mode": "reflect"}.get(row.keyword, value_of(row.default))
            assert default is inspect.Parameter.empty if expected == "required" else plain(default) == plain(expected)


def test_names_of_laws_are_those_of_the_table():
    (law,) = [row for row in ROWS["segment"] if row.setter == "NoiseLaw"]
    assert set(re.findall(r"`([a-z_]+)`", law.meaning)) == set(itk_cudafilters.noise_laws())


def test_names_of_values_are_those_of_the_table():
    for setter, keyword in (("Schedule", "schedule"), ("Start", "start")):
        (row,) = [row for row in ROWS["segment"] if row.setter == setter]
        names = re.findall(r"`([a-z_]+)`: ", row.meaning)
        known = {n.removeprefix(f"{setter}_") for n in dir(itk.CudaFiltersEnums) if n.startswith(f"{setter}_")}
        assert {plain(name) for name in names} == {plain(name) for name in known}

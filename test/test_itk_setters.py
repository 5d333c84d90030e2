#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the Set methods of ITK's filters with what the module's subclasses hand on.

Usage: test_itk_setters.py MODULE_INCLUDE ITK_INCLUDE [ITK_INCLUDE...]

The methods are read from ITK's own headers: those of the class that a filter derives from, and of its bases up to
ImageToImageFilter. The plan of the filter must read each of them, because the GPU and Approximation Accurate know nothing else.
Where the host runs an object of ITK's class, the method must be called on that object too. Methods for which this is not needed
stand in NOT_NEEDED, each with the reason. A parameter that a later ITK adds fails this test and is not dropped silently.

Each Set method of a filter also needs rows in the table of itkCudaParametersGTest.cxx, which says what values are refused.
"""
import pathlib
import re
import sys
import tempfile
import unittest

LAST_BASE = "ImageToImageFilter"
TABLE = pathlib.Path(__file__).with_name("gaussian") / "itkCudaParametersGTest.cxx"
# Kinds of filters whose host run is GenerateData() of their superclass, and those that run an object of ITK's class.
PLAIN = ("Recursive", "Discrete")
TENSORS = ("SymmetricEigenAnalysis", "HessianToObjectnessMeasure", "MultiScaleHessianBasedMeasure")
COMPOSITES = ("SmoothingRecursive", "GradientRecursive", "GradientMagnitudeRecursive", "LaplacianRecursive", "HessianRecursive")

ORDER = "short for SetOrder()"
ONE_INPUT = "compares the geometry of the image and a mask, in VerifyInputInformation() of this filter; ITK's class has one input"
STEPS = "short for SetSigmaStepMethod()"
VARIANCE = "sets the Variance"
NOT_NEEDED = {
    ("ImageToImageFilter", "CoordinateTolerance"): ONE_INPUT,
    ("ImageToImageFilter", "DirectionTolerance"): ONE_INPUT,
    ("RecursiveSeparableImageFilter", "InputImage"): "short for SetInput()",
    ("RecursiveGaussianImageFilter", "ZeroOrder"): ORDER,
    ("RecursiveGaussianImageFilter", "FirstOrder"): ORDER,
    ("RecursiveGaussianImageFilter", "SecondOrder"): ORDER,
    ("RecursiveGaussianImageFilter", "InPlace"): "acts in AllocateOutputs(), which this module's filters call",
    ("GradientMagnitudeRecursiveGaussianImageFilter", "InPlace"): "keeps its input, as ITK's class does",
    ("MultiScaleHessianBasedMeasureImageFilter", "SigmaStepMethodToEquispaced"): STEPS,
    ("MultiScaleHessianBasedMeasureImageFilter", "SigmaStepMethodToLogarithmic"): STEPS,
    ("SymmetricEigenAnalysisImageFilter", "Input"): "CudaRunPlan() reads it",
    ("HessianToObjectnessMeasureImageFilter", "Input"): "CudaRunPlan() reads it",
    ("UnaryFunctorImageFilter", "Functor"): "has no parameters but those that the filter's own methods give",
    ("SymmetricEigenAnalysisImageFilter", "InPlace"): "the output has another number of components than the input",
    ("DiscreteGaussianImageFilter", "Sigma"): VARIANCE,
    ("DiscreteGaussianImageFilter", "SigmaArray"): VARIANCE,
    ("DiscreteGaussianImageFilter", "InternalNumberOfStreamDivisions"): "memory of ITK's run on the host; no result depends on it",
}


def read(path):
    """The text without comments."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(encoding="utf-8", errors="replace"), flags=re.S)


def read_class(folders, name):
    """The body of a class template, and the name of its base."""
    paths = [path for path in (folder / f"itk{name}.h" for folder in folders) if path.is_file()]
    if not paths:
        raise FileNotFoundError(f"itk{name}.h is in none of {', '.join(map(str, folders))}")
    text = read(paths[0])
    match = re.search(rf"class\s+(?:\w+_EXPORT\s+)?{name}\s*:\s*public\s+(\w+)[^{{]*{{", text)
    if not match:
        raise ValueError(f"{paths[0]} has no class {name} with a base")
    return text[match.end() :], match.group(1)


def get_set_methods(body):
    """What public methods set: X for SetX()."""
    sections = re.split(r"\b(public|protected|private)\s*:(?!:)", "private:" + body)
    public = "".join(text for access, text in zip(sections[1::2], sections[2::2]) if access == "public")
    names = set(re.findall(r"\bitkSet(?:Get)?\w*Macro\s*\(\s*(\w+)", public))
    names |= set(re.findall(r"\bvoid\s+Set(\w+)\s*\(", public))
    # itkBooleanMacro() and its counterparts written by hand call the setter of a bool.
    return sorted(name for name in names if re.sub("(On|Off)$", "", name) not in names - {name})


def get_all_set_methods(itk_folders, name):
    """Pairs (class that declares it, method), from the class `name` to LAST_BASE."""
    methods = []
    while True:
        body, base = read_class(itk_folders, name)
        methods += [(name, method) for method in get_set_methods(body)]
        if name == LAST_BASE:
            return methods
        name = base


def get_class(kind):
    return f"{kind}ImageFilter" if kind in TENSORS else f"{kind}GaussianImageFilter"


def read_module(folder, kind):
    """The text of the filter of that kind, with that of the base that it shares with others."""
    names = [f"itkCuda{get_class(kind)}"]
    if kind != "Discrete" and kind not in TENSORS:
        names.append("itkCudaGaussianImageFilterBase")
    paths = (folder / f"{name}{suffix}" for name in names for suffix in (".h", ".hxx"))
    return "\n".join(read(path) for path in paths if path.is_file())


def find_problems(module_folder, itk_folders, kind):
    itk_class = get_class(kind)
    text = read_module(module_folder, kind)
    problems = []
    for declared, method in get_all_set_methods(itk_folders, itk_class):
        handed_on = re.search(rf"\bthis->Get(Const)?{method}\(\)", text) is not None
        if kind in COMPOSITES:
            handed_on = handed_on and re.search(rf"\bfilter(\.|->)Set{method}\(", text) is not None
        named = (declared, method) in NOT_NEEDED or (itk_class, method) in NOT_NEEDED
        if handed_on == named:
            what = "is handed on and named as not needed" if named else "is neither handed on nor named as not needed"
            problems.append(f"{declared}::Set{method}() of Cuda{itk_class} {what}")
    return problems


# Methods that need no rows in the table of parameters: they call another one, or take inputs.
NO_ROWS = {"Input", "InputImage", "Functor", "ZeroOrder", "FirstOrder", "SecondOrder", "SigmaStepMethodToEquispaced"}
NO_ROWS |= {"SigmaStepMethodToLogarithmic", "InternalNumberOfStreamDivisions", "NumberOfWorkUnits"}
ROWS_OF_OTHERS = {
    ("CudaDiscreteGaussianImageFilter", "Sigma"): VARIANCE,
    ("CudaDiscreteGaussianImageFilter", "SigmaArray"): VARIANCE,
    ("CudaGradientMagnitudeRecursiveGaussianImageFilter", "InPlace"): "keeps its input, as ITK's class does",
    ("CudaSymmetricEigenAnalysisImageFilter", "InPlace"): "the output has another number of components than the input",
}


def read_rows(path):
    """The rows of each class, and those of functions that several classes share."""
    shared, *sections = re.split(r"(?m)^TEST\(CudaParameters, (\w+)\)", path.read_text(encoding="utf-8"))
    rows = {}
    for name, text in zip(sections[::2], sections[1::2]):
        rows[re.sub("Of.*", "", name)] = rows.get(re.sub("Of.*", "", name), "") + text
    return rows, shared


def find_missing_rows(module_folder, itk_folders, table):
    """Set methods of the module's filters that the table of the parameters' ranges does not know."""
    rows, shared = read_rows(table)
    kinds = {f"Cuda{get_class(kind)}": get_class(kind) for kind in PLAIN + TENSORS + COMPOSITES}
    problems = []
    for path in sorted(module_folder.glob("itkCuda*ImageFilter.h")):
        name = path.stem.removeprefix("itk")
        if name.startswith("CudaDevice"):
            continue  # superclasses; the filters themselves have rows
        methods = set(get_set_methods(read_class([module_folder], name)[0]))
        if "CudaGaussianImageFilterBase" in read(path):
            methods |= set(get_set_methods(read_class([module_folder], "CudaGaussianImageFilterBase")[0]))
        if name in kinds:
            methods |= {method for declared, method in get_all_set_methods(itk_folders, kinds[name]) if declared != LAST_BASE}
        methods -= NO_ROWS
        text = rows.get(name, "")
        if "CheckGaussian(rows)" in text:
            text += shared
        elif "itkCudaFilterBackendMacro()" in read(path) and "CheckBackend(rows)" not in text:
            problems.append(f"{name} has no rows of its backend")
        problems += [
            f"{name}::Set{method}() has no row"
            for method in sorted(methods)
            if not re.search(rf"\b(Set)?{method}\b", text) and (name, method) not in ROWS_OF_OTHERS
        ]
    return problems


class SetMethods(unittest.TestCase):
    module_folder = None
    itk_folders = ()

    def test_each_is_handed_on_or_named_as_not_needed(self):
        for kind in PLAIN + TENSORS + COMPOSITES:
            with self.subTest(kind=kind):
                self.assertEqual(find_problems(self.module_folder, self.itk_folders, kind), [])

    def test_each_has_a_row_in_the_table_of_parameters(self):
        self.assertEqual(find_missing_rows(self.module_folder, self.itk_folders, TABLE), [])

    def test_a_new_parameter_without_a_row_is_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            later = pathlib.Path(folder) / "itkCudaVesselnessImageFilter.h"
            text = (self.module_folder / later.name).read_text(encoding="utf-8")
            later.write_text(text.replace("  itkSetMacro(Tau, double);", "  itkSetMacro(Tau, double);\n  itkSetMacro(Eta, double);"))
            problems = find_missing_rows(later.parent, self.itk_folders, TABLE)
        self.assertEqual(problems, ["CudaVesselnessImageFilter::SetEta() has no row"])

    def test_the_known_ones_are_found(self):
        found = dict(get_all_set_methods(self.itk_folders, "GradientRecursiveGaussianImageFilter"))
        self.assertIn("GradientRecursiveGaussianImageFilter", found)
        methods = [method for _, method in get_all_set_methods(self.itk_folders, "SmoothingRecursiveGaussianImageFilter")]
        for method in ("Sigma", "SigmaArray", "NormalizeAcrossScale", "InPlace", "NumberOfWorkUnits", "CoordinateTolerance"):
            self.assertIn(method, methods)

    def test_one_that_a_later_itk_adds_is_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            later = pathlib.Path(folder)
            body, base = read_class(self.itk_folders, "LaplacianRecursiveGaussianImageFilter")
            (later / "itkLaplacianRecursiveGaussianImageFilter.h").write_text(
                f"class ITK_TEMPLATE_EXPORT LaplacianRecursiveGaussianImageFilter : public {base}<int, int>\n{{\n"
                f"public:\n  itkSetMacro(Truncation, double);\n  void SetWindow(int);\nprivate:\n  void SetHidden(int);\n{body}"
            )
            problems = find_problems(self.module_folder, [later, *self.itk_folders], "LaplacianRecursive")
        self.assertEqual([re.search(r"::Set(\w+)", problem).group(1) for problem in problems], ["Truncation", "Window"])


if __name__ == "__main__":
    SetMethods.module_folder = pathlib.Path(sys.argv[1])
    SetMethods.itk_folders = [pathlib.Path(folder) for folder in sys.argv[2:]]
    unittest.main(argv=sys.argv[:1])

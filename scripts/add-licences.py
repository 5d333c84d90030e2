#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds to a wheel the licences of what scripts/build-wheel.sh has linked into it: ITK and its libraries, oneTBB, CUDA.

    scripts/add-licences.py WHEEL --itk-source FOLDER --itk-build FOLDER [--tbb FILE] [--cuda FOLDER]

The texts go into the folder licenses of the wheel's metadata, which name them and an SPDX expression of all. A static library of
the ITK build that the table does not know is an error, so that a licence cannot be forgotten. Needs the package auditwheel.
"""
import argparse
import pathlib
import re
import shutil
import tempfile

THIRD_PARTY = "Modules/ThirdParty"
# Name, SPDX expression, pattern of the static libraries' names, and files in ITK's sources. A part without a pattern is headers.
PARTS = (
    ("ITK", "Apache-2.0", r"ITK(Common|IO\w+|Smoothing|Statistics|Transform)|itkCudaFilters", ["LICENSE", "NOTICE"]),
    ("double-conversion", "BSD-3-Clause", "itkdouble-conversion", [f"{THIRD_PARTY}/DoubleConversion/src/LICENSE"]),
    ("Eigen", "MPL-2.0", None, [f"{THIRD_PARTY}/Eigen3/src/itkeigen/COPYING.{name}" for name in ("README", "MPL2", "BSD", "MINPACK")]),
    ("jpeg", "IJG", "itkjpeg", [f"{THIRD_PARTY}/JPEG/src/itkjpeg/README"]),
    ("KWSys", "BSD-3-Clause", "itksys", [f"{THIRD_PARTY}/KWSys/src/KWSys/Copyright.txt"]),
    ("MetaIO", "BSD-3-Clause", "ITKMetaIO", [f"{THIRD_PARTY}/MetaIO/src/MetaIO/License.txt"]),
    ("netlib", "SMLNJ", "itkv3p_netlib", [f"{THIRD_PARTY}/VNL/src/vxl/v3p/netlib/{name}" for name in ("README.md", "libf2c/Notice")]),
    ("nifti", "LicenseRef-public-domain", "ITKniftiio|ITKznz", [f"{THIRD_PARTY}/NIFTI/src/nifti/LICENSE"]),
    ("NrrdIO", "Zlib", "ITKNrrdIO", [f"{THIRD_PARTY}/NrrdIO/src/NrrdIO/000-README.txt"]),
    ("png", "libpng-2.0", "itkpng", [f"{THIRD_PARTY}/PNG/src/itkpng/LICENSE"]),
    ("SLATEC", "LicenseRef-public-domain", "itkNetlibSlatec", [f"{THIRD_PARTY}/Netlib/src/netlib/slatec/README.txt"]),
    ("tiff", "libtiff", "itktiff", [f"{THIRD_PARTY}/TIFF/src/itktiff/COPYRIGHT"]),
    ("VXL", "BSD-3-Clause", r"itkv(cl|nl(_algo)?)|ITKVNLInstantiation", [f"{THIRD_PARTY}/VNL/src/vxl/core/vxl_copyright.h"]),
    ("zlib-ng", "Zlib", "itkzlib", [f"{THIRD_PARTY}/ZLIB/src/itkzlib-ng/zlib.h.in"]),
)
# Where CUDA's licence stands: in NVIDIA's toolkit, in that of Linux distributions, and in the packages of PyPI.
CUDA_LICENCES = ("EULA.txt", "LICENSE", "doc/EULA.txt", "dist-info/nvidia_cuda_runtime-*/licenses/License.txt", "**/nvidia_cuda_runtime-*/License.txt")
# Headers of CCCL with the licences of CUB, Thrust and libcu++.
CCCL_HEADERS = ("cub/cub.cuh", "thrust/version.h", "cuda/std/span")


def text_of(path):
    """Returns the text of a file; of a header its first comment, where the licence stands."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in (".h", ".in", ".cuh") or path.parent.name == "std":
        return re.search(r"/\*.*?\*/|(^//[^\n]*\n)+", text, re.DOTALL | re.MULTILINE)[0] + "\n"
    return text


def texts_of_itk(source, build):
    """Yields name, expression and text of the parts of ITK whose libraries were built."""
    libraries = {re.sub(r"^lib|-\d+\.\d+\.a$", "", path.name) for path in (build / "lib").glob("lib*.a")}
    if not libraries:
        raise SystemExit(f"error: --itk-build is '{build}', which has no static libraries")
    unknown = {library for library in libraries if not any(part[2] and re.fullmatch(part[2], library) for part in PARTS)}
    if unknown:
        raise SystemExit(f"error: {__file__} does not know the licences of {', '.join(sorted(unknown))}")
    for name, expression, pattern, files in PARTS:
        if pattern is None or any(re.fullmatch(pattern, library) for library in libraries):
            yield name, expression, "\n\n".join(text_of(source / file) for file in files)


def texts_of_tbb(folder, licence, given):
    """Yields those of the libraries that auditwheel has copied: the text `given`, or the statement of the system's package with
    the licence, which is that of this module."""
    for library in sorted(folder.glob("*.libs/*")):
        if not library.name.startswith("libtbb"):
            raise SystemExit(f"error: {__file__} does not know the licence of {library.name}, which auditwheel has copied")
        stated = sorted(pathlib.Path("/usr/share/doc").glob("libtbb*/copyright"))
        statement = stated[0].read_text(encoding="utf-8") if stated else "oneTBB\nCopyright: 2005-2021 Intel Corporation\nLicense: Apache-2.0\n"
        yield "oneTBB", "Apache-2.0", f"{statement}\n\n{licence}" if given is None else text_of(given)


def texts_of_cuda(cuda):
    found = next((path for pattern in CUDA_LICENCES for path in sorted(cuda.glob(pattern)) if path.is_file()), None)
    if found is None:
        raise SystemExit(f"error: --cuda is '{cuda}', which has none of {', '.join(CUDA_LICENCES)}")
    yield "CUDA", "LicenseRef-NVIDIA-CUDA-EULA", found.read_text(encoding="utf-8", errors="replace")
    headers = [next((base / name for base in (cuda / "include/cccl", cuda / "include") if (base / name).is_file()), None) for name in CCCL_HEADERS]
    if None in headers:
        raise SystemExit(f"error: --cuda is '{cuda}', which has not the headers {', '.join(CCCL_HEADERS)}")
    yield "CCCL", "Apache-2.0 WITH LLVM-exception AND BSD-3-Clause AND Apache-2.0", "\n".join(map(text_of, headers))


def add_licences(folder, source, build, tbb, cuda):
    """Adds the texts to an unpacked wheel, and returns the names of its parts."""
    (metadata,) = folder.glob("*.dist-info/METADATA")
    licences = metadata.parent / "licenses"
    own = (licences / "LICENSE").read_text(encoding="utf-8")
    parts = [*texts_of_itk(source, build), *texts_of_tbb(folder, own, tbb), *(texts_of_cuda(cuda) if cuda else ())]
    for name, _, text in parts:
        (licences / f"{name}.txt").write_text(text, encoding="utf-8")
    expressions = dict.fromkeys(part for _, expression, _ in parts for part in expression.split(" AND "))
    text = metadata.read_text(encoding="utf-8")
    heads = [f"License-Expression: {' AND '.join(['Apache-2.0', *(part for part in expressions if part != 'Apache-2.0')])}"]
    heads += [f"License-File: {path.name}" for path in sorted(licences.iterdir())]
    changed, count = re.subn(r"(?m)^License-Expression: .*\n(License-File: .*\n)+", "\n".join(heads).replace("\\", r"\\") + "\n", text, count=1)
    if count != 1:
        raise SystemExit(f"error: {metadata} has no License-Expression with its files")
    metadata.write_text(changed, encoding="utf-8")
    return [name for name, _, _ in parts]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--itk-source", type=pathlib.Path, required=True, help="ITK's sources")
    parser.add_argument("--itk-build", type=pathlib.Path, required=True, help="the build tree with the static libraries that were linked")
    parser.add_argument("--tbb", type=pathlib.Path, help="oneTBB's licence, if the system's library is not the one in the wheel")
    parser.add_argument("--cuda", type=pathlib.Path, help="the toolkit that compiled the GPU code, if there is any")
    arguments = parser.parse_args()
    from auditwheel.wheeltools import InWheel

    if not arguments.wheel.is_file():
        parser.error(f"WHEEL is '{arguments.wheel}', which is no file")
    with tempfile.TemporaryDirectory() as place:
        made = pathlib.Path(place) / arguments.wheel.name  # InWheel writes it after an error, too
        with InWheel(arguments.wheel, made) as folder:
            names = add_licences(pathlib.Path(folder), arguments.itk_source, arguments.itk_build, arguments.tbb, arguments.cuda)
        shutil.copyfile(made, arguments.wheel)
    print("licences:", ", ".join(names))


if __name__ == "__main__":
    main()

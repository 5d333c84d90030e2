#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/wheel-bundle for a machine with a GPU and without network: the Python package, its tests, CPython, and the
# parts of itk and other packages that they need. The bundle runs on any x86-64 Linux with the C library of this machine
# or a newer one, and an NVIDIA driver:
#   build/wheel-bundle/run.sh [PYTEST_ARGUMENT...]     runs the tests with --backend cuda; results in $OUT (default:
#                                                      beside run.sh)
# Usage: scripts/bundle-wheel.sh [--wheel FILE] [--itk VERSION] [--host-python]
#   --wheel FILE    the wheel (default: the newest in dist/, built by scripts/build-wheel.sh)
#   --itk VERSION   version of itk (default: the newest 5.4)
#   --host-python   make a bundle without CPython, whose run.sh uses the python3 of the machine, 3.11 or later, with its
#                   NumPy, CuPy, torch, JAX and Numba; `run.sh --host-python` does so with any bundle
# Environment:
#   PYTHON   interpreter to put into the bundle, 3.11 or later (default: python3)
# The archive is split into parts of at most 50 MiB. Packing takes 4 GB of memory, unpacking 0.6 GB. The libraries of
# the itk package take 1.5 GB; to pack only those that the tests load, the tests are run once on this machine.
set -euo pipefail
. "$(dirname "$0")/common.sh"

part_size=50M
wheel='' itk='5.4.*' host_python=
while [ $# -gt 0 ]; do
  case $1 in
    --wheel | --itk)
      [ $# -ge 2 ] || die "$1 needs a value (see --help)"
      if [ "$1" = --wheel ]; then wheel=$2; else itk=$2; fi
      shift
      ;;
    --host-python) host_python=yes ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$1' (see --help)" ;;
  esac
  shift
done
find_wheel

bundle=$repository/build/wheel-bundle
tree=$bundle/python-tests
rm -rf "$bundle"
mkdir -p "$tree/libraries"

# Copies the interpreter with its standard library, and the libraries that its extension modules need besides the C
# library.
copy_python()
{
  local python=$1 prefix name
  read -r prefix name < <("$python" -c 'import sys; print(sys.base_prefix, "python%d.%d" % sys.version_info[:2])')
  mkdir -p "$tree/bin" "$tree/lib"
  cp -L "$prefix/bin/$name" "$tree/bin/python3"
  cp -a "$prefix/lib/$name" "$tree/lib/"
  (cd "$tree/lib/$name" && rm -rf test idlelib tkinter turtledemo lib2to3 ensurepip config-* site-packages dist-packages)
  # Leave out extension modules whose libraries are not installed here.
  find "$tree/lib/$name/lib-dynload" -name '*.so' | while read -r module; do
    ! ldd "$module" | grep -q 'not found' || rm "$module"
  done
  ldd "$tree/bin/python3" "$tree/lib/$name"/lib-dynload/*.so | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
    grep -vE '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|util)\.so[^/]*)$' |
    while read -r library; do
      cp -L "$library" "$tree/libraries/"
    done
  packages=$tree/lib/$name/site-packages
  mkdir -p "$packages"
}

# Makes each interpreter that the tests start record, when it exits, which files of the packages it has loaded.
note_what_is_loaded()
{
  mkdir -p "$1"
  cat > "$1/sitecustomize.py" << 'PROGRAM'
import atexit
import os
import sys


def note():
    loaded = {module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)}
    with open("/proc/self/maps") as maps:
        loaded |= {line.split()[-1] for line in maps if ".so" in line}
    with open(os.path.join(os.environ["CUDAFILTERS_LOADED"], str(os.getpid())), "w") as file:
        file.write("\n".join(sorted(loaded)) + "\n")


atexit.register(note)
PROGRAM
}

# Removes the packages, libraries and modules of itk's classes that are not in the list, the packages' own tests, and
# files that only compilers and editors read. Keeps the files that itk reads when it is imported, and the files of its
# complete modules, which it loads without the import system.
trim_packages()
{
  local list=$1 folder
  for folder in "$packages"/*/; do
    case $folder in
      *.dist-info/ | *.libs/) ;;
      *) grep -qF "$folder" "$list" || rm -r "$folder" ;;
    esac
  done
  {
    find "$packages" -type f -name '*.so*'
    find "$packages/itk" -type f -name '*Python.py' ! -name '[A-Z]*'
  } | grep -vxFf "$list" | xargs -r -d '\n' rm
  find "$packages" -type f \( -name '*.pyi' -o -name '*.pkl' -o -name '*.h' -o -name '*.a' \) -delete
  find "$packages" -type d \( -name tests -o -name sample_data \) -prune -exec rm -r {} +
}

say "Environment"
note "interpreter: $("${PYTHON:-python3}" --version)"
copy_python "${PYTHON:-python3}"
run_bundled() { PYTHONHOME=$tree LD_LIBRARY_PATH=$tree/libraries PYTHONNOUSERSITE=1 "$@"; }
note "installing $(basename "$wheel") and itk $itk (log: $bundle/install.log)"
run_logged "$bundle/install.log" "${PYTHON:-python3}" -m pip install --disable-pip-version-check --target "$packages" \
  --no-compile "itk==$itk" "$wheel" matplotlib pytest tqdm xarray
mkdir -p "$tree/wrapping" "$tree/examples" "$tree/docs/user"
cp -a "$repository/wrapping/test" "$tree/wrapping/"
cp -a "$repository/examples/python" "$repository/examples/qgis" "$repository/examples/data" "$tree/examples/"
cp "$repository/README.md" "$repository/pyproject.toml" "$tree/"
cp "$repository"/docs/user/*.md "$tree/docs/user/"

say "Tests on this machine, to find what they load (log: $bundle/tests.log)"
mkdir "$bundle/loaded"
note_what_is_loaded "$bundle/site"
(cd "$bundle" && run_bundled env PYTHONPATH="$bundle/site" CUDAFILTERS_LOADED="$bundle/loaded" "$tree/bin/python3" -m pytest \
  -p no:cacheprovider -c "$tree/pyproject.toml" --rootdir "$tree" "$tree/wrapping/test") > "$bundle/tests.log" 2>&1 || true
note "$(tail -n 1 "$bundle/tests.log")"
grep -qE '[0-9]+ passed' "$bundle/tests.log" || die "no test passed here (log: $bundle/tests.log)"
sort -u "$bundle"/loaded/* | sed '/^$/d' > "$bundle/loaded.txt"
trim_packages "$bundle/loaded.txt"
run_logged "$bundle/trimmed.log" run_bundled "$tree/bin/python3" -m pytest -p no:cacheprovider -c "$tree/pyproject.toml" \
  --rootdir "$tree" "$tree/wrapping/test/test_classes.py"
find "$tree" -type d -name __pycache__ -prune -exec rm -r {} +
note "$(du -sm "$tree" | cut -f 1) MiB remain"

{
  cat << PROGRAM
#!/bin/sh
# Runs the tests of the Python package; arguments are pytest's, after --host-python, which takes this machine's python3
# with its packages. The last line counts them; OUT gets the log and the JUnit file.
host_python=$host_python
PROGRAM
  cat << 'PROGRAM'
if [ "$1" = --host-python ]; then
  host_python=yes
  shift
fi
here=$(cd "$(dirname "$0")" && pwd)
OUT=${OUT:-$here}
tree=$here/python-tests
if [ ! -d "$tree" ]; then
  cat "$here"/python-tests.tar.xz.* > "$here/python-tests.tar.xz" || exit 1
  tar -C "$here" -xJf "$here/python-tests.tar.xz" 2> /dev/null ||
    python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$here/python-tests.tar.xz" "$here" || exit 1
  rm "$here/python-tests.tar.xz"
fi
export PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR="$OUT"
if [ -n "$host_python" ]; then
  # The bundled packages work with any Python from 3.11 on: itk and this package by the limited API, pytest and its
  # dependencies because they are pure Python.
  packages=$OUT/host-packages
  mkdir -p "$packages" || exit 1
  for name in itk pytest _pytest pluggy iniconfig packaging pygments; do
    ln -sf "$tree"/lib/python3*/site-packages/"$name"* "$packages/"
  done
  export PYTHONPATH="$packages"
  python=python3
else
  export PYTHONHOME="$tree" LD_LIBRARY_PATH="$tree/libraries" PYTHONNOUSERSITE=1
  python=$tree/bin/python3
fi
cd "$OUT" || exit 1
"$python" -m pytest -p no:cacheprovider -c "$tree/pyproject.toml" --rootdir "$tree" --junit-xml "$OUT/wheel-tests.xml" \
  --backend cuda "$@" "$tree/wrapping/test" > "$OUT/wheel-tests.log" 2>&1
status=$?
head -n 12 "$OUT/wheel-tests.log"
tail -n 40 "$OUT/wheel-tests.log"
exit $status
PROGRAM
} > "$bundle/run.sh"
chmod +x "$bundle/run.sh"

say "Packing (takes some minutes)"
# The libraries of itk have most of their code in common. xz finds these parts if its window covers all libraries, and
# if calls contain absolute addresses, which the filter --x86 achieves.
tar -C "$bundle" -cf - python-tests | xz -T 1 --x86 --lzma2=preset=3,dict=512MiB | split -b "$part_size" - "$bundle/python-tests.tar.xz."
rm -rf "$tree" "$bundle/loaded" "$bundle/loaded.txt" "$bundle/site"
say "Bundle: $(cd "$bundle" && ls -s --block-size=M --format=commas python-tests.tar.xz.* run.sh)"

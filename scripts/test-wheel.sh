#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Python package in a new virtual environment and runs its tests, first with NumPy alone, and then with PyPI's
# package itk, which is installed after it.
# Usage: scripts/test-wheel.sh [--wheel FILE] [--itk VERSION] [--without-itk] [PYTEST_ARGUMENT...]
#   --wheel FILE      the wheel (default: the newest in dist/, built by scripts/build-wheel.sh)
#   --itk VERSION     version of itk (default: the newest 5.4)
#   --without-itk     run only the tests that need no itk, as for a wheel that pip builds
#   PYTEST_ARGUMENT   for example --backend cuda, or -k threads
# Environment:
#   PYTHON   interpreter, 3.11 or later (default: python3)
# Prints the numbers of tests passed, failed and skipped as the last line.
set -euo pipefail
. "$(dirname "$0")/common.sh"

wheel='' itk='5.4.*' with_itk=yes
pytest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --wheel | --itk)
      [ $# -ge 2 ] || die "$1 needs a value (see --help)"
      if [ "$1" = --wheel ]; then wheel=$2; else itk=$2; fi
      shift
      ;;
    --without-itk) with_itk=no ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) pytest_arguments+=("$1") ;;
  esac
  shift
done
find_wheel

folder=$repository/build/wheel/test-$("${PYTHON:-python3}" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-itk-${itk%.\*}
[ "$with_itk" = yes ] || folder=$repository/build/test-pip/tests
mkdir -p "$folder"
environment=$(mktemp -d "$folder/environment-XXXXXX")
trap 'rm -rf "$environment"' EXIT
"${PYTHON:-python3}" -m venv "$environment"
python=$environment/bin/python
install() { run_logged "$folder/install.log" "$python" -m pip install --disable-pip-version-check "$@"; }

status=0
# run_tests NAME runs the tests of what is installed, with NAME.log and NAME.xml.
run_tests()
{
  note "running the tests in $jobs processes (log: $folder/$1.log)"
  local failed=0
  (cd "$folder" && "$python" -m pytest -n "$jobs" --dist loadfile -p no:cacheprovider -c "$repository/pyproject.toml" \
    --rootdir "$repository" --junit-xml "$folder/$1.xml" "$repository/wrapping/test" "${pytest_arguments[@]}") > "$folder/$1.log" 2>&1 || failed=$?
  if [ "$failed" -ne 0 ]; then
    status=$failed
    tail -n 200 "$folder/$1.log"
  fi
  grep -E '^(itk-cudafilters|Filters:)' "$folder/$1.log" | sed 's/^/   /' || true
}

rm -f "$folder"/*.xml
note "installing $(basename "$wheel") under $("$python" --version) (log: $folder/install.log)"
install "$wheel"
# Run the package before more is installed, because it must work with its declared dependencies.
(cd "$folder" && "$python" -m itk_cudafilters > "$folder/alone.log" 2>&1) || die "import fails: $(tail -n 1 "$folder/alone.log")"
# Another version of hypothesis makes other cases.
install 'hypothesis==6.170.17' pytest 'pytest-xdist>=3.6,<4' geopandas pyogrio rasterio scipy shapely xarray
# Stores, schedulers and manifests are the same for all builds of the package; mypy sees the annotations of Dask.
[ "$with_itk" = yes ] || install 'dask[array]' distributed h5py mypy ngff-zarr npe2 tifffile zarr
run_tests without-itk
if [ "$with_itk" = yes ]; then
  note "installing itk $itk"
  install "itk==$itk" matplotlib ml_dtypes mypy tqdm
  run_tests with-itk
fi
"$python" - "$folder"/*.xml << 'PROGRAM'
import sys
import xml.etree.ElementTree

counts = {name: 0 for name in ("tests", "failures", "errors", "skipped")}
for file in sys.argv[1:]:
    for suite in xml.etree.ElementTree.parse(file).getroot().iter("testsuite"):
        for name in counts:
            counts[name] += int(suite.get(name))
failed = counts["failures"] + counts["errors"]
print(f"{counts['tests'] - failed - counts['skipped']} passed, {failed} failed, {counts['skipped']} skipped")
PROGRAM
exit "$status"

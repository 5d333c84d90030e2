#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Python package and PyPI's itk package in a new virtual environment, and runs the tests of the Python
# package.
# Usage: scripts/test-wheel.sh [--wheel FILE] [--itk VERSION] [PYTEST_ARGUMENT...]
#   --wheel FILE      the wheel (default: the newest in dist/, built by scripts/build-wheel.sh)
#   --itk VERSION     version of itk (default: the newest 5.4)
#   PYTEST_ARGUMENT   for example --backend cuda, or -k threads
# Environment:
#   PYTHON   interpreter, 3.11 or later (default: python3)
# Prints the numbers of tests passed, failed and skipped as the last line.
set -euo pipefail
. "$(dirname "$0")/common.sh"

wheel='' itk='5.4.*'
pytest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --wheel | --itk)
      [ $# -ge 2 ] || die "$1 needs a value (see --help)"
      if [ "$1" = --wheel ]; then wheel=$2; else itk=$2; fi
      shift
      ;;
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
mkdir -p "$folder"
environment=$(mktemp -d "$folder/environment-XXXXXX")
trap 'rm -rf "$environment"' EXIT
"${PYTHON:-python3}" -m venv "$environment"
python=$environment/bin/python
note "installing $(basename "$wheel") and itk $itk under $("$python" --version) (log: $folder/install.log)"
run_logged "$folder/install.log" "$python" -m pip install --disable-pip-version-check "itk==$itk" "$wheel"
# Import the package before more is installed, because it must work with its declared dependencies.
(cd "$folder" && "$python" -m itk_cudafilters > "$folder/alone.log" 2>&1) || die "import fails: $(tail -n 1 "$folder/alone.log")"
run_logged "$folder/install-tests.log" "$python" -m pip install --disable-pip-version-check matplotlib ml_dtypes mypy \
  pyogrio pytest 'pytest-xdist>=3.6,<4' scipy shapely tqdm xarray

note "running the tests in $jobs processes (log: $folder/tests.log)"
status=0
(cd "$folder" && "$python" -m pytest -n "$jobs" --dist loadfile -p no:cacheprovider -c "$repository/pyproject.toml" \
  --rootdir "$repository" --junit-xml "$folder/tests.xml" "$repository/wrapping/test" "${pytest_arguments[@]}") > "$folder/tests.log" 2>&1 || status=$?
if [ "$status" -ne 0 ]; then
  tail -n 200 "$folder/tests.log"
fi
grep -E '^(itk-cudafilters|Filters:)' "$folder/tests.log" | sed 's/^/   /' || true
"$python" - "$folder/tests.xml" << 'PROGRAM'
import sys
import xml.etree.ElementTree

counts = {name: 0 for name in ("tests", "failures", "errors", "skipped")}
for suite in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testsuite"):
    for name in counts:
        counts[name] += int(suite.get(name))
failed = counts["failures"] + counts["errors"]
print(f"{counts['tests'] - failed - counts['skipped']} passed, {failed} failed, {counts['skipped']} skipped")
PROGRAM
exit "$status"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the site in build/site: the pages of docs/ and the README, a reference of the C++ classes (Doxygen, Breathe), a reference of the
# Python package, and a gallery of the examples, which are run for it. Then it checks spelling, code, links and, on request, each
# page in a browser. A warning of Doxygen or Sphinx is an error.
# Usage: scripts/docs.sh [--package WHEEL] [--browser] [--no-install]
#   --package WHEEL  the Python package to describe and to run the examples with (default: the newest wheel in build/test-pip/wheel
#                    and dist; without one it is built as `pip install .` does, which takes minutes)
#   --browser        also open every page in headless Chromium at the sizes of a phone and of a desk, light and dark, try the
#                    search, and keep pictures of some pages in build/site-screenshots
#   --no-install     install no packages of the distribution
# Environment:
#   PYTHON   interpreter, 3.11 or later (default: python3)
# Prints the numbers of checks passed, failed and skipped as the last line. Exit status 3: something that it needs is not available.
# The site is a folder of files: any web server shows it, and so does a browser that opens build/site/index.html.
set -euo pipefail
. "$(dirname "$0")/common.sh"

package='' browser=no install=yes
while [ $# -gt 0 ]; do
  case $1 in
    --package)
      [ $# -ge 2 ] || die "--package needs the file of a wheel"
      package=$2
      shift
      ;;
    --browser) browser=yes ;;
    --no-install) install=no ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$1' (see --help)" ;;
  esac
  shift
done
python=$(command -v "${PYTHON:-python3}") || die "PYTHON is '${PYTHON:-python3}', which is no program"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || exit 3

say "Tools"
packages=(doxygen git)
[ "$browser" = no ] || packages+=(chromium)
[ "$install" = no ] || install_packages "${packages[@]}"
command -v doxygen > /dev/null || exit 3
work=$repository/build/site-work source=$repository/build/site-work/source site=$repository/build/site
mkdir -p "$work" "$cache_folder"
requirements=$repository/docs/site/requirements.txt
environment=$(cache_entry site "$("$python" --version)" "$(cat "$requirements")")
exec 9> "$cache_folder/site.lock"
flock 9
if [ ! -f "$environment/complete" ]; then
  note "installing what docs/site/requirements.txt names (log: $environment.log)"
  rm -rf "$environment"
  if ! { "$python" -m venv "$environment" && "$environment/bin/python" -m pip install -r "$requirements"; } > "$environment.log" 2>&1; then
    tail -n 3 "$environment.log" >&2
    note "the tools could not be installed"
    exit 3
  fi
  touch "$environment/complete"
fi
flock -u 9
python=$environment/bin/python

if [ -z "$package" ]; then
  package=$(find "$repository/build/test-pip/wheel" "$repository/dist" -name 'itk_cudafilters-*.whl' -printf '%T@ %p\n' 2> /dev/null |
    sort -n | tail -n 1 | cut -d ' ' -f 2- || true) # one of the folders may be missing
fi
if [ -z "$package" ]; then
  note "building the Python package (log: $work/wheel.log)"
  rm -rf "$work/wheel"
  CMAKE_BUILD_PARALLEL_LEVEL=$jobs run_logged "$work/wheel.log" "$python" -m pip wheel -v --disable-pip-version-check --no-deps \
    -w "$work/wheel" --config-settings=cmake.define.CudaFilters_USE_CUDA=OFF "$repository"
  package=$(echo "$work"/wheel/*.whl)
fi
[ -f "$package" ] || die "--package is '$package', which is no file"
note "package: $(basename "$package")"
rm -rf "$work/package"
run_logged "$work/package.log" "$python" -m pip install --disable-pip-version-check --no-deps --target "$work/package" "$package"
export PYTHONPATH=$work/package MPLBACKEND=Agg

passed=0 failures=()
# check NAME COMMAND... runs a command with its output in a log, which is printed if the command fails, and counts it.
check()
{
  local name=$1 log=$work/$1.log begin=$SECONDS
  shift
  if "$@" > "$log" 2>&1; then
    passed=$((passed + 1))
    note "$name: passed, $((SECONDS - begin)) s; $(tail -n 1 "$log")"
  else
    failures+=("$name")
    awk 'NR <= 200' "$log"
    note "$name: FAILED (log: $log)"
  fi
}

# A copy of the files that git knows, or would add, because pages of the references and of the gallery come to it.
copy_sources()
{
  rm -rf "$source"
  mkdir -p "$source/reference" "$source/gallery"
  (cd "$repository" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$source")
  cp "$source/docs/site/python.rst" "$source/reference/"
}

# Doxygen knows no error of its own for a comment that is missing.
describe_classes()
{
  rm -rf "$work/headers" "$work/doxygen"
  "$python" -B docs/site/doxygen_headers.py include "$work/headers" || return 1
  doxygen docs/site/Doxyfile > "$work/doxygen.txt" 2>&1 || return 1
  cat "$work/doxygen.txt"
  ! grep -q warning "$work/doxygen.txt" || return 1
  echo "$(find "$work/doxygen/xml" -name 'class*.xml' -o -name 'struct*.xml' | wc -l) classes and structs, no warning"
}

# Each example is run as its first lines say, with its own image, and its picture and output are kept.
run_examples()
{
  local script name status=0
  for script in examples/python/*.py; do
    name=$(basename "$script" .py)
    (cd "$source/gallery" && "$python" -B "$repository/$script" > "$name.txt") || status=1
    [ -s "$source/gallery/$name.png" ] || status=1
  done
  find "$source/gallery" -name '*.png' | wc -l | sed 's/$/ pictures/'
  return "$status"
}

build_pages()
{
  rm -rf "$site" "$work/doctrees"
  SITE_SOURCE=$source SITE_DOXYGEN=$work/doxygen/xml "$python" -B -m sphinx -q -W --keep-going -b html -j "$jobs" -c docs/site \
    -d "$work/doctrees" "$source" "$site" || return 1
  # The first page also has the name that web servers look for.
  cp "$site/README.html" "$site/index.html"
  touch "$site/.nojekyll"
  du -sh "$site" | cut -f 1
}

spell()
{
  "$environment/bin/codespell" --ignore-words-list uptodate,thirdparty,tread,trun,bui --skip '*.png,*.json,*.svg' ./*.md docs include wrapping/itk_cudafilters \
    examples/*.cxx examples/*.h examples/python examples/qgis examples/data/README.md test/README.md scripts src || return 1
  echo "no misspelling"
}

cd "$repository"
say "Site"
copy_sources
check doxygen describe_classes
check examples run_examples
check sphinx build_pages
check spelling spell
if [[ " ${failures[*]} " != *" sphinx "* ]]; then
  check pages "$python" -B docs/site/check_pages.py "$site" "$repository/docs"
  [ "$browser" = no ] || check browser "$python" -B docs/site/check_browser.py "$site" "$repository/build/site-screenshots"
fi
[ ${#failures[@]} -gt 0 ] || note "open build/site/index.html"
echo "$passed passed, ${#failures[@]} failed, 0 skipped"
[ ${#failures[@]} -eq 0 ]

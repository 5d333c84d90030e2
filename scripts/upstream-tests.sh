#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs ITK's own test programs for the classes that CudaGaussianImageFilterFactory overrides, and ITK's example programs
# for registration and edge detection, with the factory of this module. The programs are compiled unchanged and linked
# only to ITK. Prints for each test whether it passed and which classes were overridden.
# Usage: scripts/upstream-tests.sh [--backend host|cuda] [--cached] [--build-only] [--no-install]
#   --backend     where the module's filters run (default: host); cuda needs nvcc and a GPU
#   --cached      run only if ITK's build and tests are in the cache; otherwise exit with status 3
#   --build-only  compile the programs without running them (for scripts/bundle-upstream.sh)
#   --no-install  install no packages
# Environment:
#   ITK_SOURCE_DIR, ITK_SOURCE_ARCHIVE   see scripts/itk-source.sh
# ITK 5.4 with its registration methods, and its test data, are kept in the user's cache folder; all else is in
# build/upstream.
# Exit status 3: the sources or the test data are not available.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/itk-source.sh"

backend=host cached=no build_only=no install=yes
while [ $# -gt 0 ]; do
  case $1 in
    --backend)
      [ $# -gt 1 ] || die "--backend needs a value: host or cuda"
      backend=$2
      shift
      ;;
    --cached) cached=yes ;;
    --build-only) build_only=yes ;;
    --no-install) install=no ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$1' (see --help)" ;;
  esac
  shift
done
case $backend in
  host) use_cuda=OFF ;;
  cuda)
    use_cuda=ON
    find_nvcc || die "--backend cuda needs nvcc"
    ;;
  *) die "--backend is '$backend'; it must be host or cuda" ;;
esac

folder=$repository/build/upstream
mkdir -p "$folder"
[ "$install" = no ] || install_packages "${build_packages[@]}" python3

options=()
[ "$install" = yes ] || options+=(--no-install)
[ "$cached" = no ] || options+=(--cached)
status=0
"$repository/scripts/build-itk.sh" "${options[@]}" | tee "$folder/build-itk.log" || status=$?
[ "$status" -eq 0 ] || exit "$status"
itk_build=$(tail -n 1 "$folder/build-itk.log")

say "ITK's tests and their data"
find_itk_source || exit 3
find_itk_tests "$cached" || exit 3

say "This module beside that ITK"
module=$repository/build/test-module
[ "$backend" = host ] || module=$folder/module-$backend
build_module "$module" "$itk_build" "$use_cuda" CudaFilters

say "ITK's programs"
build=$folder/tests-$backend
mkdir -p "$build"
run_logged "$build/configure.log" cmake -S "$repository/test/upstream" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "${fast_compile_options[@]}" \
  "-DITK_DIR=$itk_build" "-DCudaFilters_DIR=$module" "-DITK_TESTS_DIR=$itk_tests" \
  "-DCudaFilters_BACKEND=$backend" "${launcher_arguments[@]}"
run_logged "$build/build.log" cmake --build "$build" -j "$jobs"
if [ "$build_only" = yes ]; then
  note "compiled: $build"
  exit 0
fi
rm -rf "$build/reports" "$build/output"
mkdir "$build/reports" "$build/output"
note "running the tests (log: $build/tests.log)"
ctest --test-dir "$build" --output-on-failure --no-tests=error --output-junit "$build/tests.xml" > "$build/tests.log" 2>&1 || true
python3 "$repository/test/upstream/print_table.py" "$build/tests.xml" "$build/reports" "ITK $itk_version, backend $backend"

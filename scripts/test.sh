#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and tests everything, from a fresh Debian 12 or Ubuntu 22.04 on:
#   0. the format of the C++ and CUDA files
#   1. against the distribution's ITK, for the CPU only
#   2. the same with CUDA, if there is nvcc; tests that need a GPU are skipped without one
#   3. as a module beside an ITK 5.4 build tree, for the CPU only
#   4. ITK's own tests with this module's filters on the host (scripts/upstream-tests.sh), if what they need is in the cache
#   5. with --wheel: the Python package, in a fresh environment beside the itk package of PyPI
# Usage: scripts/test.sh [--cpu-only] [--itk-module] [--no-itk-module] [--wheel] [--coverage] [--no-install]
#   --cpu-only       leave out 2, and the GPU code of 5
#   --itk-module     only 3 and 4
#   --no-itk-module  leave out 3 and 4
#   --wheel          5 as well
#   --coverage       instead: build 1 with gcov, test, print the lines that ran for each file
#   --no-install     install no packages
# Warnings are errors. All that is built lies in build/; ITK 5.4 in the user's cache folder.
set -euo pipefail
. "$(dirname "$0")/common.sh"

cpu=yes cuda=yes module=yes wheel=no coverage=no install=yes
for argument in "$@"; do
  case $argument in
    --cpu-only) cuda=no ;;
    --itk-module) cpu=no cuda=no ;;
    --no-itk-module) module=no ;;
    --wheel) wheel=yes ;;
    --coverage) coverage=yes cuda=no module=no ;;
    --no-install) install=no ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$argument' (see --help)" ;;
  esac
done

start=$SECONDS
passed=0 failed=0 skipped=0
failures=()

# test_format: counts as one test.
test_format()
{
  local status=0
  say "Format of the C++ and CUDA files"
  "$repository/scripts/check-format.sh" || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    3) skipped=$((skipped + 1)) ;;
    *)
      failures+=("format")
      failed=$((failed + 1))
      ;;
  esac
}

# test_build NAME FOLDER: runs the tests and adds to the counts.
test_build()
{
  local name=$1 folder=$2 log=$2/tests.log status=0
  note "running the tests (log: $log)"
  ctest --test-dir "$folder" --output-on-failure -j "$jobs" --no-tests=error > "$log" 2>&1 || status=$?
  local counts
  counts=$(python3 "$repository/scripts/count-tests.py" "$log") || die "no result of the tests of $name in $log"
  read -r p f s <<< "$counts"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  note "$name: $p passed, $f failed, $s skipped"
  if [ "$status" -ne 0 ] || [ "$f" -ne 0 ]; then
    failures+=("$name")
    sed -n '/The following tests FAILED/,$p' "$log"
    grep -vE '(Passed|Start) ' "$log" | head -n 200
    [ "$f" -ne 0 ] || failed=$((failed + 1))
  fi
}

# test_wheel: builds the Python package for one GPU generation, runs its tests and adds to the counts.
test_wheel()
{
  local folder=$repository/build/test-wheel status=0 options=()
  if [ "$cuda" = yes ] && find_nvcc; then
    options=(--architectures 90-real)
  else
    options=(--cpu-only)
  fi
  [ "$install" = yes ] || options+=(--no-install)
  rm -rf "$folder"
  mkdir -p "$folder"
  "$repository/scripts/build-wheel.sh" --output "$folder" "${options[@]}" || status=$?
  if [ "$status" -eq 3 ]; then
    note "SKIPPED: the Python package, because ITK 5.4's sources are not to be had here"
    return
  elif [ "$status" -ne 0 ]; then
    failures+=("build of the Python package")
    failed=$((failed + 1))
    return
  fi
  say "Tests of the Python package"
  "$repository/scripts/test-wheel.sh" --wheel "$(echo "$folder"/*.whl)" | tee "$folder/tests.log" || status=$?
  local p f s
  if ! read -r p _ f _ s _ < <(tail -n 1 "$folder/tests.log" | grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$'); then
    p=0 f=1 s=0
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  [ "$status" -eq 0 ] && [ "$f" -eq 0 ] || failures+=("tests of the Python package")
}

# test_upstream: adds ITK's own tests to the counts, where ITK's build and tests are in the cache.
test_upstream()
{
  local log=$repository/build/upstream-tests.log status=0 p f s
  say "ITK's own tests with this module's filters"
  "$repository/scripts/upstream-tests.sh" --cached --no-install | tee "$log" || status=$?
  if [ "$status" -eq 3 ]; then
    note "NOT RUN: ITK's own tests; scripts/upstream-tests.sh fetches and builds what they need"
    return
  fi
  if ! read -r p _ f _ s _ < <(tail -n 1 "$log" | grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$'); then
    p=0 f=1 s=0
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  [ "$status" -eq 0 ] && [ "$f" -eq 0 ] || failures+=("ITK's own tests")
}

if [ "$install" = yes ]; then
  say "Packages"
  packages=("${build_packages[@]}" python3)
  [ "$coverage" = no ] || packages+=(gcovr)
  [ "$(command -v python3)" != /usr/bin/python3 ] || packages+=(python3-venv)
  install_packages "${packages[@]}"
fi
strict=(-DCudaFilters_WARNINGS_AS_ERRORS=ON "${launcher_arguments[@]}")

[ "$coverage" = yes ] || test_format
if [ "$coverage" = yes ]; then
  say "Coverage of the CPU build"
  folder=$repository/build/coverage
  configure_and_build "$folder" --preset coverage "${strict[@]}"
  find "$folder" -name '*.gcda' -delete
  test_build "coverage build" "$folder"
  print_coverage "$folder" --filter "$repository/include/" --filter "$repository/src/"
elif [ "$cpu" = yes ]; then
  say "CPU-only build against the installed ITK"
  configure_and_build "$repository/build/test-cpu" --preset cpu "${strict[@]}"
  test_build "CPU-only build" "$repository/build/test-cpu"
fi

if [ "$cuda" = yes ]; then
  say "CUDA build"
  if find_nvcc; then
    configure_and_build "$repository/build/test-cuda" --preset cuda "${strict[@]}"
    test_build "CUDA build" "$repository/build/test-cuda"
  fi
fi

if [ "$module" = yes ]; then
  status=0
  mkdir -p "$repository/build"
  "$repository/scripts/build-itk.sh" | tee "$repository/build/build-itk.log" || status=$?
  if [ "$status" -eq 3 ]; then
    note "SKIPPED: the build as an ITK module, because ITK 5.4's sources are not to be had here"
  elif [ "$status" -ne 0 ]; then
    failures+=("ITK 5.4 build tree")
    failed=$((failed + 1))
  else
    say "Build as a module beside an ITK 5.4 build tree"
    folder=$repository/build/test-module
    configure_and_build "$folder" "-DITK_DIR=$(tail -n 1 "$repository/build/build-itk.log")" -DCMAKE_BUILD_TYPE=Release \
      -DBUILD_TESTING=ON -DCudaFilters_USE_CUDA=OFF -DCudaFilters_BUILD_EXAMPLES=ON -DITK_FORBID_DOWNLOADS=ON -DITK_USE_KWSTYLE=OFF \
      -DITK_USE_CLANGFORMAT=OFF "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$folder/bin" \
      "-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=$folder/lib" "-DCMAKE_ARCHIVE_OUTPUT_DIRECTORY=$folder/lib" "${strict[@]}"
    test_build "ITK module build" "$folder"
  fi
fi

if [ "$module" = yes ]; then
  test_upstream
fi

if [ "$wheel" = yes ]; then
  test_wheel
fi

say "Summary after $((SECONDS - start)) s"
[ ${#failures[@]} -eq 0 ] || note "failed: $(printf '%s; ' "${failures[@]}")"
total=$((passed + failed))
[ "$total" -gt 0 ] || die "no test was run"
# The lines that CTest ends with, for all builds together.
echo "$((100 * passed / total))% tests passed, $failed tests failed out of $total"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ ${#failures[@]} -eq 0 ]

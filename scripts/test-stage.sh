#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one stage of scripts/test.sh and prints the numbers of tests passed, failed and skipped as the last line.
# Usage: scripts/test-stage.sh STAGE [--gpu-code] [--long] [--no-install] [--is-cached]
#   STAGE         unit, format, cpu, pip, site, cuda, wheel, module, upstream or coverage
#   --gpu-code    in wheel: include code for one generation of GPUs
#   --long        in cpu: also run tests with files of several gigabytes; in cuda and module: build and run all tests
#   --no-install  install no packages
#   --is-cached   run nothing; the exit status is 3 if the stage would first have to build an ITK or download sources,
#                 otherwise 0
# Exit status 3: something that the stage needs is not available.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/itk-source.sh"

[ $# -gt 0 ] || die "which stage? (see --help)"
stage='' options=() gpu_code=no is_cached=no long_tests=OFF
for argument in "$@"; do
  case $argument in
    unit | format | cpu | pip | site | cuda | wheel | module | upstream | coverage) stage=$argument ;;
    --gpu-code) gpu_code=yes ;;
    --long) long_tests=ON ;;
    --no-install) options+=(--no-install) ;;
    --is-cached) is_cached=yes ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$argument' (see --help)" ;;
  esac
done
strict=(-DCudaFilters_WARNINGS_AS_ERRORS=ON "-DCudaFilters_LONG_TESTS=$long_tests" "${launcher_arguments[@]}")

# run_tests FOLDER [OPTION...] runs the tests of a build, with options of ctest.
run_tests()
{
  local folder=$1 log=$1/tests.log status=0 counts passed failed skipped
  note "running the tests (log: $log)"
  ctest --test-dir "$folder" --output-on-failure -j "$jobs" --no-tests=error "${@:2}" > "$log" 2>&1 || status=$?
  counts=$(python3 "$repository/scripts/count-tests.py" "$log") || die "no result of the tests in $log"
  read -r passed failed skipped <<< "$counts"
  if [ "$status" -ne 0 ] || [ "$failed" -ne 0 ]; then
    sed -n '/The following tests FAILED/,$p' "$log"
    # Use a single program, because a pipe to head would terminate grep, and with it the stage, by SIGPIPE.
    awk '!/(Passed|Start) / && ++lines <= 200' "$log"
    [ "$failed" -ne 0 ] || failed=1
  fi
  echo "$passed passed, $failed failed, $skipped skipped"
}

# The format check of all files counts as one test, and that of the workflows as another.
format_stage()
{
  local script status passed=0 failed=0 skipped=0
  for script in check-format.sh check-workflows.sh; do
    status=0
    "$repository/scripts/$script" || status=$?
    case $status in
      0) passed=$((passed + 1)) ;;
      3) skipped=$((skipped + 1)) ;;
      *) failed=$((failed + 1)) ;;
    esac
  done
  [ $((passed + failed)) -gt 0 ] || exit 3
  echo "$passed passed, $failed failed, $skipped skipped"
}

# build_for_cpu EVERYTHING builds library and tests, and with ON also the examples, the benchmarks and the factory's
# overrides, which take more time than the rest of the library. The compiler's times are kept in the build folder.
build_for_cpu()
{
  local folder=$repository/build/test-cpu
  CCACHE_PREFIX=$repository/scripts/time-compiler.sh COMPILE_TIMES=$folder/compile-times.txt configure_and_build "$folder" \
    --preset cpu "${strict[@]}" "-DCudaFilters_BUILD_EXAMPLES=$1" "-DCudaFilters_BUILD_BENCHMARKS=$1" \
    "-DCudaFilters_BUILD_OVERRIDES=$1"
}

unit_stage()
{
  build_for_cpu OFF
  run_tests "$repository/build/test-cpu" -LE slow
}

# The comparison of the compile times with their budget counts as one test.
cpu_stage()
{
  local status=0 passed failed skipped
  build_for_cpu ON
  "$repository/scripts/compile-times.py" "$repository/build/test-cpu" || status=$?
  run_tests "$repository/build/test-cpu" | tee "$repository/build/test-cpu/counts.txt"
  read -r passed _ failed _ skipped _ < <(tail -n 1 "$repository/build/test-cpu/counts.txt")
  case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1)) ;;
  esac
  echo "$passed passed, $failed failed, $skipped skipped"
}

# Makes the source distribution, and builds the package of it as `pip install .` does, with the options of the stage cpu and
# in a folder of the same depth, so that ccache has most object files from there.
pip_stage()
{
  local folder=$repository/build/test-pip python=${PYTHON:-python3} source
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || exit 3
  rm -rf "$folder"
  mkdir -p "$folder"
  run_logged "$folder/environment.log" "$python" -m venv "$folder/environment"
  run_logged "$folder/environment.log" "$folder/environment/bin/python" -m pip install --disable-pip-version-check build
  note "building the Python package (log: $folder/build.log)"
  run_logged "$folder/build.log" "$folder/environment/bin/python" -m build --sdist -o "$folder/sdist" "$repository"
  tar -C "$folder" -xzf "$folder"/sdist/*.tar.gz
  source=$(echo "$folder"/itk_cudafilters-*/)
  CMAKE_BUILD_PARALLEL_LEVEL=$jobs CCACHE_BASEDIR=${source%/} run_logged "$folder/build.log" "$folder/environment/bin/python" -m pip wheel -v \
    --disable-pip-version-check --no-deps -w "$folder/wheel" --config-settings=build-dir=build/test-pip \
    --config-settings=cmake.define.CudaFilters_USE_CUDA=OFF --config-settings=cmake.define.CudaFilters_WARNINGS_AS_ERRORS=ON "${source%/}"
  "$repository/scripts/test-wheel.sh" --wheel "$(echo "$folder"/wheel/*.whl)" --without-itk || exit 1
}

# Describes the package of the stage pip, if that has run.
site_stage() { "$repository/scripts/docs.sh" "${options[@]}"; }

# Units that a build without CUDA has as well run in cpu.
cuda_stage()
{
  local what=(-L 'gpu|cuda')
  [ "$long_tests" = OFF ] || what=()
  find_nvcc || exit 3
  configure_and_build "$repository/build/test-cuda" --preset cuda "${strict[@]}"
  run_tests "$repository/build/test-cuda" "${what[@]}"
}

wheel_stage()
{
  local folder=$repository/build/test-wheel
  if [ "$gpu_code" = yes ] && find_nvcc; then
    options+=(--architectures 90-real)
  else
    options+=(--cpu-only)
  fi
  rm -rf "$folder"
  mkdir -p "$folder"
  "$repository/scripts/build-wheel.sh" --output "$folder" "${options[@]}"
  say "Tests of the Python package"
  "$repository/scripts/test-wheel.sh" --wheel "$(echo "$folder"/*.whl)" || exit 1
}

# What depends on ITK's version and on its rules for modules: the public headers, how filters behave in a pipeline, the
# factory in programs that know only ITK, and whole filters on files. All else runs in cpu.
module_stage()
{
  local what=(-R '^CudaFilters(HeaderTest|Autoload|Override|ConsumerTest)|Semantics|^itkCuda')
  local targets=(CudaFilters CudaFiltersAutoload CudaFiltersOverride CudaFiltersHeaderTest CudaFiltersSemanticsGTestDriver
    CudaFiltersTestDriver CudaFiltersItkProgram CudaFiltersOtherItkProgram CudaFiltersLinkedProgram)
  [ "$long_tests" = OFF ] || what=() targets=(all)
  mkdir -p "$repository/build"
  "$repository/scripts/build-itk.sh" "${options[@]}" | tee "$repository/build/build-itk.log"
  build_module "$repository/build/test-module" "$(tail -n 1 "$repository/build/build-itk.log")" OFF "${targets[@]}"
  run_tests "$repository/build/test-module" "${what[@]}"
}

upstream_stage() { "$repository/scripts/upstream-tests.sh" "${options[@]}"; }

coverage_stage()
{
  local folder=$repository/build/coverage
  configure_and_build "$folder" --preset coverage "${strict[@]}"
  find "$folder" -name '*.gcda' -delete
  run_tests "$folder" | tee "$folder/counts.txt"
  print_coverage "$folder" --filter "$repository/include/" --filter "$repository/src/"
  tail -n 1 "$folder/counts.txt"
}

is_cached()
{
  case $stage in
    wheel) "$repository/scripts/build-wheel.sh" --is-cached ;;
    module | upstream) "$repository/scripts/build-itk.sh" --cached ;;
  esac
}

if [ "$is_cached" = yes ]; then
  is_cached > /dev/null 2>&1 || exit 3
  exit 0
fi
"${stage}_stage"

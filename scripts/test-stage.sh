#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one stage of scripts/test.sh and prints the numbers of tests passed, failed and skipped as the last line.
# Usage: scripts/test-stage.sh STAGE [--gpu-code] [--long] [--no-install] [--is-cached]
#   STAGE         format, cpu, pip, cuda, wheel, module, upstream or coverage
#   --gpu-code    in wheel: include code for one generation of GPUs
#   --long        in cpu and cuda: also run tests with files of several gigabytes; in cuda and module: all slow tests
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
    format | cpu | pip | cuda | wheel | module | upstream | coverage) stage=$argument ;;
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

# Random calls on the host, and the slowest tests that do not depend on a device, run in the stage cpu. The other stages
# repeat them only with --long, because they take seven minutes of CPU time.
repeated='^CudaFiltersStressSlow.*Host$|Slow/Host$|^CudaRegionSnake(Looks|QualitySlow)\.|^CudaSnakeLattice\.'
repeats=()
[ "$long_tests" = ON ] || repeats=(-E "$repeated")

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

# The format check of all files counts as one test.
format_stage()
{
  local status=0
  "$repository/scripts/check-format.sh" || status=$?
  [ "$status" -ne 3 ] || exit 3
  if [ "$status" -eq 0 ]; then echo "1 passed, 0 failed, 0 skipped"; else echo "0 passed, 1 failed, 0 skipped"; fi
}

cpu_stage()
{
  configure_and_build "$repository/build/test-cpu" --preset cpu "${strict[@]}"
  run_tests "$repository/build/test-cpu"
}

# Builds the package as `pip install .` does, with the options of the stage cpu and in a folder of the same depth, so that
# ccache has most object files from there.
pip_stage()
{
  local folder=$repository/build/test-pip python=${PYTHON:-python3}
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || exit 3
  rm -rf "$folder"
  mkdir -p "$folder"
  run_logged "$folder/environment.log" "$python" -m venv "$folder/environment"
  note "building the Python package (log: $folder/build.log)"
  CMAKE_BUILD_PARALLEL_LEVEL=$jobs run_logged "$folder/build.log" "$folder/environment/bin/python" -m pip wheel -v \
    --disable-pip-version-check --no-deps -w "$folder/wheel" --config-settings=build-dir=build/test-pip \
    --config-settings=cmake.define.CudaFilters_USE_CUDA=OFF --config-settings=cmake.define.CudaFilters_WARNINGS_AS_ERRORS=ON "$repository"
  "$repository/scripts/test-wheel.sh" --wheel "$(echo "$folder"/wheel/*.whl)" --without-itk || exit 1
}

cuda_stage()
{
  find_nvcc || exit 3
  configure_and_build "$repository/build/test-cuda" --preset cuda "${strict[@]}"
  run_tests "$repository/build/test-cuda" "${repeats[@]}"
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

module_stage()
{
  mkdir -p "$repository/build"
  "$repository/scripts/build-itk.sh" "${options[@]}" | tee "$repository/build/build-itk.log"
  build_module "$repository/build/test-module" "$(tail -n 1 "$repository/build/build-itk.log")" OFF all
  run_tests "$repository/build/test-module" "${repeats[@]}"
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
    module) "$repository/scripts/build-itk.sh" --cached ;;
    upstream) "$repository/scripts/build-itk.sh" --cached && find_itk_source && find_itk_tests yes ;;
  esac
}

if [ "$is_cached" = yes ]; then
  is_cached > /dev/null 2>&1 || exit 3
  exit 0
fi
"${stage}_stage"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Looks for inputs with wrong results: builds the library and the targets of test/fuzz with clang's libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer against the distribution's ITK, for the CPU only, and runs each target from its inputs in test/fuzz/corpus.
# New inputs that reach other code are kept in build/fuzz/corpus, from which the next run goes on. The target Files, which reads damaged
# image files by the Python package, has no instrumented code. Prints a table with the cases, the cases a second, the edges of the code
# that were reached (of Files: the different outcomes) and the findings. Fails if there is a finding, and prints how to repeat it.
# Usage: scripts/fuzz.sh [--seconds NUMBER] [--target NAME]... [--no-install]
#   --seconds NUMBER   how long each target runs (default 60)
#   --target NAME      run this target: Detection, Files, Gaussian, Partition, Slabs, Snake or Views (default: all)
#   --no-install       install no packages
# Environment:
#   PYTHON   for Files: an interpreter 3.11 or newer; if it has no itk_cudafilters, the package is built and installed in build/fuzz
set -euo pipefail
. "$(dirname "$0")/common.sh"

all_targets=(Detection Files Gaussian Partition Slabs Snake Views)
seconds=60 install=yes targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--seconds needs a number above 0, not '${2:-}'"
      seconds=$2
      shift
      ;;
    --target)
      [[ " ${all_targets[*]} " == *" ${2:-} "* ]] || die "--target is '${2:-}'; it must be one of ${all_targets[*]}"
      targets+=("$2")
      shift
      ;;
    --no-install) install=no ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$1' (see --help)" ;;
  esac
  shift
done
[ ${#targets[@]} -gt 0 ] || targets=("${all_targets[@]}")
folder=$repository/build/fuzz
mkdir -p "$folder"
[ "$install" = no ] || install_packages "${build_packages[@]}" clang libclang-rt-dev python3 python3-venv

build_targets=()
for target in "${targets[@]}"; do
  [ "$target" = Files ] || build_targets+=("CudaFiltersFuzz$target")
done
if [ ${#build_targets[@]} -gt 0 ]; then
  note "building ${build_targets[*]} (log: $folder/build.log)"
  # The coverage that libFuzzer needs, without the comparisons of values, which make the passes of filters ten times slower.
  flags="-fsanitize=address,undefined,float-cast-overflow -fsanitize-coverage=inline-8bit-counters,pc-table -fno-sanitize-recover=all"
  flags+=" -fno-omit-frame-pointer -g1"
  configure_and_build "$folder" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O2 -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    "-DCMAKE_C_FLAGS=$flags" "-DCMAKE_CXX_FLAGS=$flags -include $repository/test/fuzz/itkCudaClangWithGccITK.h" \
    -DCudaFilters_USE_CUDA=OFF -DCudaFilters_BUILD_OVERRIDES=OFF -DCudaFilters_BUILD_FUZZERS=ON -DBUILD_TESTING=ON \
    "${launcher_arguments[@]}"
fi

# find_python sets python to an interpreter that has the package.
find_python()
{
  python=${PYTHON:-python3}
  if ! "$python" -c 'import itk_cudafilters' 2> /dev/null; then
    note "building the Python package (log: $folder/package.log)"
    run_logged "$folder/environment.log" "$python" -m venv "$folder/environment"
    python=$folder/environment/bin/python
    CMAKE_BUILD_PARALLEL_LEVEL=$jobs run_logged "$folder/package.log" "$python" -m pip install \
      --config-settings=build-dir=build/fuzz/package --config-settings=cmake.define.CudaFilters_USE_CUDA=OFF "$repository"
  fi
}

# run_target NAME adds a line to the table. libFuzzer's limits are for one input: seconds, and MiB of memory.
run_target()
{
  local target=$1 log=$folder/$1.log status=0 cases rate edges found
  if [ "$target" = Files ]; then
    find_python
    "$python" "$repository/test/fuzz/fuzz_image_files.py" --seconds "$seconds" --folder "$folder/findings" > "$log" 2>&1 || status=$?
    grep -A 1 '^finding' "$log" || true
    read -r _ cases rate edges found < <(tail -n 1 "$log" | grep '^Files ' || echo "Files 0 0 0 1")
  else
    mkdir -p "$folder/corpus/$target" "$folder/findings"
    "$folder/bin/CudaFiltersFuzz$target" "$folder/corpus/$target" "$repository/test/fuzz/corpus/$target" \
      -max_total_time="$seconds" -len_control=0 -max_len=300 -timeout=30 -rss_limit_mb=3000 -detect_leaks=0 -print_final_stats=1 \
      -artifact_prefix="$folder/findings/$target-" > "$log" 2>&1 || status=$?
    cases=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    edges=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | cut -d ' ' -f 2)
    found=$((status == 0 ? 0 : 1))
    if [ "$status" -ne 0 ]; then
      grep -E -A 1 'what\(\)|runtime error|^==[0-9]+== ?ERROR' "$log" | head -n 6
      note "repeat: $folder/bin/CudaFiltersFuzz$target $(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)"
    fi
  fi
  rows+=("$(printf '%-10s %10s %10s %10s %10s' "$target" "${cases:-0}" "${rate:-0}" "${edges:-0}" "$found")")
  findings=$((findings + found))
  [ "$status" -eq 0 ] || failed=$((failed + 1))
}

rows=() findings=0 failed=0
for target in "${targets[@]}"; do
  note "$target for $seconds s"
  run_target "$target"
done
say "Findings: $findings"
printf '%-10s %10s %10s %10s %10s\n' target cases cases/s edges findings
printf '%s\n' "${rows[@]}"
[ "$failed" -eq 0 ]

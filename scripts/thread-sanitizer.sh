#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Looks for data races: builds ITK, the module and its thread tests with ThreadSanitizer, for the CPU only, and runs the
# stress program and the multi-threaded units on the host. Fails on any report. The first build of ITK takes up to half
# an hour on two cores; it is kept in the user's cache folder.
# Usage: scripts/thread-sanitizer.sh [--seconds NUMBER] [--no-install]
#   --seconds     how long the stress program runs (default 30)
#   --no-install  install no packages
# Exit status 3: ITK's sources are not available.
set -euo pipefail
. "$(dirname "$0")/common.sh"

seconds=30 install=yes
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=${2:?--seconds needs a number} && shift ;;
    --no-install) install=no ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$1' (see --help)" ;;
  esac
  shift
done

if [ "$install" = yes ]; then
  say "Packages"
  install_packages "${build_packages[@]}"
fi
folder=$repository/build/thread-sanitizer
mkdir -p "$folder"
"$repository/scripts/build-itk.sh" --thread-sanitizer | tee "$folder/build-itk.log"

say "Module and tests with ThreadSanitizer"
configure_and_build "$folder" "-DITK_DIR=$(tail -n 1 "$folder/build-itk.log")" -DCMAKE_BUILD_TYPE=Release \
  "-DCMAKE_CXX_FLAGS=$thread_sanitizer_flags" "-DCMAKE_C_FLAGS=$thread_sanitizer_flags" -DCMAKE_CXX_FLAGS_RELEASE=-O1 \
  -DBUILD_TESTING=ON -DCudaFilters_ONLY_THREAD_TESTS=ON -DCudaFilters_USE_CUDA=OFF "${launcher_arguments[@]}"

# setarch below disables address randomization, because some kernels use more random address bits than ThreadSanitizer's
# shadow memory supports, which terminates its programs at the start.
export TSAN_OPTIONS="suppressions=$repository/test/ThreadSanitizer.supp halt_on_error=0 exitcode=66 second_deadlock_stack=1"
reports=0 failed=0

# check NAME COMMAND... runs a command and counts its reports.
check()
{
  local log=$folder/$1.log found status=0
  shift
  setarch "$(uname -m)" -R "$@" > "$log" 2>&1 || status=$?
  found=$(grep -c '^WARNING: ThreadSanitizer' "$log" || true)
  reports=$((reports + found))
  tail -n 1 "$log"
  note "$(basename "$1"): $found reports, exit status $status (log: $log)"
  [ "$status" -eq 0 ] || failed=$((failed + 1))
}

say "Stress program, $seconds s"
check stress "$folder/bin/CudaFiltersStressTest" --backend host --threads 8 --seconds "$seconds" --cases 60
say "Units of several threads"
units='--gtest_filter=*Thread*:*thread*:-*Slow*:*Gpu*'
check units "$folder/bin/CudaFiltersThreadsGTestDriver" "$units"
check snake-units "$folder/bin/CudaFiltersSnakeGTestDriver" "$units"

say "Summary: $reports reports of ThreadSanitizer, $failed of 3 programs failed"
[ "$reports" -eq 0 ] && [ "$failed" -eq 0 ]

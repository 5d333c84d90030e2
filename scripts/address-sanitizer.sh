#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Looks for errors of memory and undefined behaviour: builds the library and its tests with AddressSanitizer and
# UndefinedBehaviorSanitizer against the distribution's ITK, for the CPU only, and runs all but the slow ones. Fails on any report.
# Usage: scripts/address-sanitizer.sh [--no-install] [CTEST_ARGUMENT...]
#   --no-install     install no packages
#   CTEST_ARGUMENT   for example -R Partition, for some of the tests
set -euo pipefail
. "$(dirname "$0")/common.sh"

install=yes ctest_arguments=()
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) ctest_arguments+=("$argument") ;;
  esac
done
[ "$install" = no ] || install_packages "${build_packages[@]}" python3
folder=$repository/build/asan
note "building (log: $folder/build.log)"
configure_and_build "$folder" --preset asan -DCudaFilters_BUILD_OVERRIDES=OFF "${launcher_arguments[@]}"
cd "$folder"
ctest --output-on-failure -j "$jobs" --no-tests=error -LE slow "${ctest_arguments[@]}"

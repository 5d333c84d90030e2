#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints which lines of src/runtime and of the .cu files' host code ran on a GPU.
# Usage: scripts/gpu-coverage.sh COUNTERS.tar.xz
#   COUNTERS.tar.xz  output of gpu-check --coverage, run in the bundle that scripts/bundle.sh --coverage made from this
#                    folder
set -euo pipefail
. "$(dirname "$0")/common.sh"

case ${1:-} in
  -h | --help)
    sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
  "") die "name the archive of counters (see --help)" ;;
esac
[ -f "$1" ] || die "there is no file '$1'"
build=$repository/build/bundle-coverage-build
[ -d "$build" ] || die "there is no $build: scripts/bundle.sh --coverage makes it, on the machine that reads the counters"
install_packages gcovr

unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
tar -C "$unpacked" -xJf "$1"
[ -d "$unpacked$build" ] || die "the counters in $1 are of a build in another folder than $build"
find "$build" -name '*.gcda' -delete
cp -r "$unpacked$build/." "$build/"
print_coverage "$build" --filter "$repository/src/runtime/" --filter "$repository/src/.*\.cu$"

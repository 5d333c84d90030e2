#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures, builds and links the module under every pair of values of every two options in the table of
# docs/user/cpp.md.
# Usage: scripts/build-options.sh [--configure-only] [--no-install]
#   --configure-only  builds nothing
#   --no-install      install no packages
# Six builds suffice. In the first one all options are OFF. Each option is ON in three of the other five builds, and no
# two options in the same three. Any two options are therefore both ON in some build, and each is ON in a build where
# the other is OFF. The builds are in build/options-1 to build/options-6. Continuous integration does not run this
# script, because it compiles the tests three times. Without nvcc CudaFilters_USE_CUDA is always OFF.
set -euo pipefail
. "$(dirname "$0")/common.sh"

configure_only=no install=yes
for argument in "$@"; do
  case $argument in
    --configure-only) configure_only=yes ;;
    --no-install) install=no ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$argument' (see --help)" ;;
  esac
done
[ "$install" = no ] || install_packages "${build_packages[@]}"

mapfile -t options < <(sed -n 's/^| `\([A-Za-z_]*\)` | `\(ON\|OFF\)`.*/\1/p' "$repository/docs/user/cpp.md")
[ ${#options[@]} -ge 2 ] && [ ${#options[@]} -le 10 ] ||
  die "docs/user/cpp.md lists ${#options[@]} options; this script is made for 2 to 10"
without_cuda=()
find_nvcc || without_cuda=(-DCudaFilters_USE_CUDA=OFF)

# For each option, the builds in which it is ON, counted from the second build.
triples=(123 124 125 134 135 145 234 235 245 345)
for build in 0 1 2 3 4 5; do
  arguments=()
  for i in "${!options[@]}"; do
    value=OFF
    [[ $build == 0 || ${triples[i]} != *$build* ]] || value=ON
    arguments+=("-D${options[i]}=$value")
  done
  say "Build $((build + 1)) of 6"
  note "${arguments[*]}"
  folder=$repository/build/options-$((build + 1))
  mkdir -p "$folder"
  run_logged "$folder/configure.log" cmake -S "$repository" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release "${arguments[@]}" \
    "${without_cuda[@]}" "${launcher_arguments[@]}"
  [ "$configure_only" = yes ] || run_logged "$folder/build.log" cmake --build "$folder" -j "$jobs"
done

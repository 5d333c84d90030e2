#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Computes the figures of docs/developer/numerics.md on the host, prints its tables, and draws its pictures into
# docs/pictures.
# Usage: scripts/draw-numerics.sh [--no-install]
set -euo pipefail
. "$(dirname "$0")/common.sh"

install=yes
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$argument' (see --help)" ;;
  esac
done

say "Packages"
[ "$install" = no ] || install_packages "${build_packages[@]}" "${plot_packages[@]}"

say "Building the program"
build=$repository/build/numerics
configure_and_build "$build" --preset cpu -DBUILD_TESTING=OFF -DCudaFilters_BUILD_EXAMPLES=OFF "${launcher_arguments[@]}"

say "Computing and drawing"
"$build/bin/gaussian_numerics" "$build/numerics.json"
# Use Debian's python3, for which Debian's matplotlib is installed. The first python3 on PATH may be another one.
python=/usr/bin/python3
[ -x $python ] || python=python3
$python "$repository/benchmarks/draw_gaussian_numerics.py" "$build/numerics.json" "$repository/docs/pictures"
say "Done: $repository/docs/pictures"

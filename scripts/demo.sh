#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the command itk-cudafilters and runs it on a radar image and a magnetic resonance slice, on the GPU if there is
# one. Smooths both and compares the results with ITK's own filter (build/demo/demo.png), then finds a region in both
# (build/demo/segmentation.png).
# Usage: scripts/demo.sh [--backend automatic|cuda|host] [--no-install]
set -euo pipefail
. "$(dirname "$0")/common.sh"

backend=automatic install=yes
while [ $# -gt 0 ]; do
  case $1 in
    --backend)
      [ $# -ge 2 ] || die "--backend needs a value: automatic, cuda or host"
      backend=$2
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

say "Packages"
[ "$install" = no ] || install_packages "${demo_packages[@]}"

say "Building the filters and the command itk-cudafilters"
# Compile GPU code, which takes minutes, only if it can run here or if it was requested.
preset=cpu
if [ -e /dev/nvidiactl ] || [ -e /dev/dxg ] || [ "$backend" = cuda ]; then
  if find_nvcc; then
    preset=cuda
  fi
else
  note "no NVIDIA GPU found: building for the CPU only"
fi
build=$repository/build/demo-$preset
launchers=()
! command -v ccache > /dev/null || launchers=("${launcher_arguments[@]}")
build_target=itk-cudafilters
configure_and_build "$build" --preset $preset -DBUILD_TESTING=OFF -DCudaFilters_BUILD_EXAMPLES=OFF \
  -DCudaFilters_BUILD_BENCHMARKS=OFF -DCudaFilters_BUILD_OVERRIDES=OFF "${launchers[@]}"
command=$build/bin/itk-cudafilters

say "What was found"
"$command" info

output=$repository/build/demo
mkdir -p "$output"
images=$repository/examples/data
say "Smoothing"
compare()
{
  local name=$1 image=$2 sigma=$3
  note "$image"
  "$command" compare "$images/$image" --sigma "$sigma" --runs 21 --backend "$backend" --raw "$output/$name-" \
    --report "$output/$name.json"
}
compare sar sar_fields_1000x500.png 4
compare mr BrainProtonDensitySlice.png 2

say "Finding a region"
segment()
{
  local name=$1 image=$2
  shift 2
  "$command" segment "$images/$image" "$@" --backend "$backend" --overlay "$output/$name-overlay.png" \
    --contour "$output/$name-contour.geojson" --report "$output/$name-segmentation.json"
}
field=695,140,35,95
segment sar sar_fields_1000x500.png --law rayleigh --initial-region $field --maximum-step 2
segment mr BrainProtonDensitySlice.png --law gaussian

# Use Debian's python3, for which Debian's matplotlib is installed. The first python3 on PATH may be another one.
python=/usr/bin/python3
$python -c "import matplotlib" 2> /dev/null || python=python3
$python -c "import matplotlib" 2> /dev/null ||
  die "the results are in $output; to draw the pictures, install matplotlib (Debian, Ubuntu: apt install python3-matplotlib)"
$python "$repository/scripts/draw-demo.py" "$output" "$output/demo.png"
$python "$repository/scripts/draw-segmentation.py" "$output" "$output/segmentation.png" --initial-region $field
say "Done: $output/demo.png, $output/segmentation.png"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds three example programs and runs them on a radar image and a magnetic resonance slice, on the GPU if there is one.
# Smooths both, beside ITK's own filter, outlines one region in each, and divides both into regions. Draws the results as
# smoothing.png, segmentation.png and partition.png in build/demo.
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

say "Building the filters and three example programs"
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
programs=(smooth_image segment_region partition_image)
build_targets=("${programs[@]}")
configure_and_build "$build" --preset $preset -DBUILD_TESTING=OFF -DCudaFilters_BUILD_BENCHMARKS=OFF \
  -DCudaFilters_BUILD_OVERRIDES=OFF "${launchers[@]}"

export ITK_CUDAFILTERS_BACKEND=$backend
output=$repository/build/demo
images=$repository/examples/data
mkdir -p "$output"

# run NAME PROGRAM ARGUMENT... runs an example program; what it prints becomes NAME.txt too, for the pictures.
run()
{
  local command="${*:2}"
  note "${command//"$repository/"/}"
  "$build/bin/$2" "${@:3}" > "$output/$1.txt"
  head -n 2 "$output/$1.txt" | sed 's/^/      /'
}

for name in sar mr; do
  case $name in
    sar) image=$images/sar_fields_1000x500.png sigma=4 law=rayleigh region=(695 140 35 95) ;;
    mr) image=$images/BrainProtonDensitySlice.png sigma=2 law=gaussian region=() ;;
  esac
  say "$(basename "$image")"
  run $name-smoothed smooth_image "$image" "$output/$name-smoothed.mha" $sigma
  run $name-itk smooth_image "$image" "$output/$name-itk.mha" $sigma itk
  run $name-segmented segment_region "$image" $law "$output/$name-label.png" "${region[@]}"
  run $name-divided partition_image "$image" $law "$output/$name-labels.png" "$output/$name.geojson"
done

# Use Debian's python3, for which Debian's matplotlib is installed. The first python3 on PATH may be another one.
python=/usr/bin/python3
$python -c "import matplotlib" 2> /dev/null || python=python3
$python -c "import matplotlib" 2> /dev/null ||
  die "the results are in $output; to draw the pictures, install matplotlib (Debian, Ubuntu: apt install python3-matplotlib)"
$python "$repository/scripts/draw-demo.py" "$images" "$output"
say "Done: smoothing.png, segmentation.png and partition.png in $output"

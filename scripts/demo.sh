#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Smooths a radar image and a magnetic resonance slice with the module's filter, on the GPU if there is one, compares with ITK's
# own filter and draws all that into one picture: build/demo/demo.png. Then segments both: build/demo/segmentation.png.
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
[ "$install" = no ] || install_packages "${build_packages[@]}" "${plot_packages[@]}"

say "Building the filters and the example programs"
# GPU code takes minutes to compile: only where it can run, or is asked for.
preset=cpu
if [ -e /dev/nvidiactl ] || [ -e /dev/dxg ] || [ "$backend" = cuda ]; then
  if find_nvcc; then
    preset=cuda
  fi
else
  note "no NVIDIA GPU found: building for the CPU only"
fi
build=$repository/build/demo-$preset
configure_and_build "$build" --preset $preset -DBUILD_TESTING=OFF -DCudaFilters_BUILD_BENCHMARKS=OFF "${launcher_arguments[@]}"

say "What was found"
"$build/bin/cudafilters-info"

say "Smoothing"
output=$repository/build/demo
mkdir -p "$output"
compare()
{
  local name=$1 image=$2 sigma=$3
  note "$image, sigma $sigma"
  "$build/bin/compare_with_itk" "$repository/examples/data/$image" --sigma "$sigma" --backend "$backend" \
    --raw "$output/$name-" > "$output/$name.json"
}
compare sar sar_fields_1000x500.png 4
compare mr BrainProtonDensitySlice.png 2

say "Segmenting"
segment()
{
  local name=$1 image=$2 law=$3
  "$build/bin/segment_region" "$repository/examples/data/$image" --law "$law" --backend "$backend" \
    --overlay "$output/$name-overlay.png" --contour "$output/$name-contour.geojson" --stats "$output/$name-segmentation.json"
}
segment sar sar_fields_1000x500.png rayleigh
segment mr BrainProtonDensitySlice.png gaussian

# Debian's python3 has Debian's matplotlib; the first python3 on PATH may be another one.
python=/usr/bin/python3
[ -x $python ] || python=python3
$python "$repository/scripts/draw-demo.py" "$output" "$output/demo.png"
$python "$repository/scripts/draw-segmentation.py" "$output" "$output/segmentation.png"
say "Done: $output/demo.png, $output/segmentation.png"

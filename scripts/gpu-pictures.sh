#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the records that the pictures in docs/pictures are drawn from, on a machine with a GPU and the Python package:
#   scripts/gpu-pictures.sh FOLDER
# Runs `itk-cudafilters` on the sample images, always on the GPU, and writes the results into FOLDER. Draw the pictures
# from them with scripts/draw-pictures.py FOLDER docs/pictures.
# Environment:
#   ITK_CUDAFILTERS   the command to run (default: itk-cudafilters)
set -euo pipefail

if [ $# -ne 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
  sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
  [ $# -eq 1 ] && exit 0
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
program=${ITK_CUDAFILTERS:-itk-cudafilters}
images=$here/../examples/data
sar=$images/sar_fields_1000x500.png
mr=$images/BrainProtonDensitySlice.png
volume=$images/HeadT1Volume.nii.gz
phantom=$images/VesselPhantom.nii.gz
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# The report of the comparison also records the name of the GPU.
compare()
{
  echo "compare: $1"
  "$program" compare "$2" --sigma "$3" --runs 21 --backend cuda --report "$folder/$1-compare.json" > "$folder/$1-compare.txt"
}

segment()
{
  local name=$1 image=$2
  shift 2
  echo "segment: $name"
  "$program" segment "$image" "$@" --backend cuda --report "$folder/$name-segment.json" \
    --contour "$folder/$name-contour.geojson" > "$folder/$name-segment.txt"
}

# Writes the response of a measure over all scales, and the sigma of each response.
vesselness()
{
  echo "vesselness: $1"
  "$program" vesselness "$phantom" "$folder/vessels-$1.nii" --measure "$1" --sigmas 0.4,0.6,0.9,1.35,2 --backend cuda \
    --scale-image "$folder/vessels-$1-scale.nii" --report "$folder/$1-vesselness.json" > "$folder/$1-vesselness.txt"
}

compare sar "$sar" 4
echo "smooth: volume"
"$program" smooth "$volume" "$folder/volume-smoothed.nii" --sigma 3 --backend cuda --report "$folder/volume-smooth.json" \
  > "$folder/volume-smooth.txt"
# Limit the first moves, because with longer ones the polygon leaves the field and includes its neighbours.
segment sar "$sar" --law rayleigh --initial-region 695,140,35,95 --maximum-step 2
segment mr "$mr" --law gaussian
segment corridors "$sar" --law rayleigh
vesselness objectness
vesselness frangi
cp "$sar" "$folder/sar.png"
cp "$mr" "$folder/mr.png"
cp "$volume" "$folder/volume.nii.gz"
cp "$phantom" "$folder/vessels.nii.gz"
echo "Done: $folder"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the records of pictures in docs/pictures, on a machine with a GPU. In the folder of the unpacked bundle:
#   ./gpu-pictures.sh FOLDER
# Writes what `itk-cudafilters` makes of the sample images into FOLDER, all of it on the GPU. With a copy of FOLDER,
# scripts/draw-pictures.py FOLDER docs/pictures draws them in the repository.
# Environment:
#   ITK_CUDAFILTERS   the command to run (default: bin/itk-cudafilters beside this script)
#   SAMPLE_IMAGES     the folder of the sample images (default: data/data beside this script)
set -euo pipefail

if [ $# -ne 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
  sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
  [ $# -eq 1 ] && exit 0
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
program=${ITK_CUDAFILTERS:-$here/bin/itk-cudafilters}
images=${SAMPLE_IMAGES:-$here/data/data}
sar=$images/sar_fields_1000x500.png
mr=$images/BrainProtonDensitySlice.png
volume=$images/HeadT1Volume.nii.gz
phantom=$images/VesselPhantom.nii.gz
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# Says which GPU it is.
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

# The response of a measure at all scales, and the sigma that gave it.
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
# With longer first moves the polygon leaves the field and joins its neighbours.
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

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the part of ITK 5.4 that the module and its tests need, once per version, options and compiler, in the user's cache
# folder, and prints the path of its build tree as the last line.
# Usage: scripts/build-itk.sh [--registration] [--cached]
#   --registration   with ITK's registration methods and what its examples and tests use besides (scripts/upstream-tests.sh)
#   --cached         build nothing: exit status 3 if it is not in the cache
#   ITK_SOURCE_DIR   folder with ITK's sources (any 5.4.x); without it they come from Debian's source package or the public tag
# Exit status 3: the sources are not to be had here.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/itk-source.sh"

# ITKTestKernel reads and writes many formats: the system's libraries for them save most of the build.
itk_packages=(
  ca-certificates ccache cmake curl g++ libexpat1-dev libgdcm-dev libjpeg-dev libpng-dev libtiff-dev ninja-build
  uuid-dev xz-utils zlib1g-dev
)
itk_options=(
  -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF -DITK_FORBID_DOWNLOADS=ON
  -DITK_BUILD_DEFAULT_MODULES=OFF -DITKGroup_Core=OFF -DITK_LEGACY_REMOVE=OFF -DITK_USE_KWSTYLE=OFF
  -DModule_ITKSmoothing=ON -DModule_ITKImageFeature=ON -DModule_ITKImageGradient=ON -DModule_ITKPath=ON
  -DModule_ITKTestKernel=ON -DModule_ITKGoogleTest=ON -DModule_ITKImageGrid=ON
  -DModule_ITKImageIntensity=ON -DModule_ITKIOPNG=ON -DModule_ITKIOMeta=ON -DModule_ITKIONRRD=ON
  -DITK_USE_SYSTEM_GDCM=ON -DITK_USE_SYSTEM_PNG=ON -DITK_USE_SYSTEM_TIFF=ON -DITK_USE_SYSTEM_JPEG=ON
  -DITK_USE_SYSTEM_ZLIB=ON -DITK_USE_SYSTEM_EXPAT=ON
)
cached=no
for argument in "$@"; do
  case $argument in
    --registration) itk_options+=(-DModule_ITKRegistrationMethodsv4=ON -DModule_ITKThresholding=ON -DModule_ITKImageCompare=ON) ;;
    --cached) cached=yes ;;
    *) die "unknown argument '$argument'; --registration and --cached are known" ;;
  esac
done

build_tree()
{
  local folder=$1 source=$2
  note "configuring and building ITK $itk_version on $jobs cores (log: $folder/build.log)"
  run_logged "$folder/configure.log" cmake -S "$source" -B "$folder/build" -G Ninja "${itk_options[@]}" "${launcher_arguments[@]}"
  run_logged "$folder/build.log" cmake --build "$folder/build" -j "$jobs" --target all gtest gtest_main
}

say "ITK 5.4 build tree for the module build"
[ "$cached" = yes ] || install_packages "${itk_packages[@]}"
mkdir -p "$cache_folder"
exec 9> "$cache_folder/itk.lock"
flock 9

if [ "$cached" = yes ] && [ -z "${ITK_SOURCE_DIR:-}" ] && [ ! -d "$cache_folder/itk-source-5.4" ]; then
  note "ITK's sources are not in the cache"
  exit 3
fi
find_itk_source || exit 3

# A build tree holds its own absolute paths, so it is built where it stays; the file 'complete' is written last, and a tree
# without it is built again.
key=$(printf '%s\n' "$itk_source" "${itk_options[@]}" "$(c++ --version | head -n 1)" "$(cmake --version | head -n 1)" |
  sha256sum | cut -c 1-12)
folder=$cache_folder/itk-$itk_version-$key
if [ -f "$folder/complete" ]; then
  note "found in the cache: ITK $itk_version"
elif [ "$cached" = yes ]; then
  note "this build of ITK $itk_version is not in the cache"
  exit 3
else
  rm -rf "$folder"
  mkdir "$folder"
  build_tree "$folder" "$itk_source"
  find "$folder/build" -name '*.o' -delete
  touch "$folder/complete"
fi
echo "$folder/build"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the part of ITK 5.4 that the module, its tests and scripts/upstream-tests.sh need, once per version, options and compiler, in
# the user's cache folder, and prints the path of its build tree as the last line.
# Usage: scripts/build-itk.sh [--thread-sanitizer] [--cached] [--no-install]
#   --thread-sanitizer   with -fsanitize=thread and what the module alone needs (scripts/thread-sanitizer.sh)
#   --cached             build nothing: exit status 3 if it is not in the cache
#   --no-install         install no packages
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
itk_targets=(all gtest gtest_main)
lock=itk.lock thread_sanitizer=no cached=no install=yes
for argument in "$@"; do
  case $argument in
    --thread-sanitizer) lock=itk-thread-sanitizer.lock thread_sanitizer=yes ;;
    --cached) cached=yes install=no ;;
    --no-install) install=no ;;
    *) die "unknown argument '$argument'; --thread-sanitizer, --cached and --no-install are known" ;;
  esac
done
if [ "$thread_sanitizer" = yes ]; then
  # The image formats of the test kernel would be most of the build.
  itk_options+=(-DModule_ITKTestKernel=OFF -DModule_ITKGoogleTest=OFF -DModule_ITKIOPNG=OFF -DModule_ITKIOMeta=OFF
    -DModule_ITKIONRRD=OFF "-DCMAKE_C_FLAGS=$thread_sanitizer_flags" "-DCMAKE_CXX_FLAGS=$thread_sanitizer_flags")
  itk_targets=(all)
else
  # For ITK's own tests and examples (scripts/upstream-tests.sh), in the same tree, so that the module is built beside ITK 5.4 once.
  itk_options+=(-DModule_ITKRegistrationMethodsv4=ON -DModule_ITKThresholding=ON -DModule_ITKImageCompare=ON)
fi

build_tree()
{
  local folder=$1 source=$2
  note "configuring and building ITK $itk_version on $jobs cores (log: $folder/build.log)"
  # Trees of other options lie beside this one: what they have in common is compiled once.
  local -x CCACHE_BASEDIR=$cache_folder
  run_logged "$folder/configure.log" cmake -S "$source" -B "$folder/build" -G Ninja "${itk_options[@]}" "${launcher_arguments[@]}"
  run_logged "$folder/build.log" cmake --build "$folder/build" -j "$jobs" --target "${itk_targets[@]}"
}

say "ITK 5.4 build tree for the module build"
[ "$install" = no ] || install_packages "${itk_packages[@]}"
mkdir -p "$cache_folder"
exec 9> "$cache_folder/$lock"
flock 9

if [ "$cached" = yes ] && ! is_itk_source_cached; then
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

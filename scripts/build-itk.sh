#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the part of ITK that the module, its tests and scripts/upstream-tests.sh need, and prints the path of the
# build tree as the last line. The build is kept in the user's cache folder, once per version, options and compiler.
# Usage: scripts/build-itk.sh [--thread-sanitizer] [--cached] [--no-install]
#   --thread-sanitizer   compile with -fsanitize=thread, and only what the module needs (scripts/thread-sanitizer.sh)
#   --cached             build nothing; exit status 3 if the build is not in the cache
#   --no-install         install no packages
# Environment:
#   ITK_SOURCE_DIR   folder with ITK's sources (5.4 or 6); by default those of 5.4 are downloaded as Debian's source
#                    package or from the public tag
# Exit status 3: the sources are not available, or with --cached the build.
set -euo pipefail
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/itk-source.sh"

# ITKTestKernel depends on many image formats. Use the system's libraries for them, which saves most of the build.
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
  # Leave out the image formats of the test kernel, which would take most of the build.
  itk_options+=(-DModule_ITKTestKernel=OFF -DModule_ITKGoogleTest=OFF -DModule_ITKIOPNG=OFF -DModule_ITKIOMeta=OFF
    -DModule_ITKIONRRD=OFF "-DCMAKE_C_FLAGS=$thread_sanitizer_flags" "-DCMAKE_CXX_FLAGS=$thread_sanitizer_flags")
  itk_targets=(all)
else
  # Include what ITK's own tests and examples need (scripts/upstream-tests.sh), so that the module is built only once
  # with ITK 5.4.
  itk_options+=(-DModule_ITKRegistrationMethodsv4=ON -DModule_ITKThresholding=ON -DModule_ITKImageCompare=ON
    "${fast_compile_options[@]}")
fi

build_tree()
{
  local folder=$1 source=$2
  note "configuring and building ITK $itk_version on $jobs cores (log: $folder/build.log)"
  # Let ccache take paths relative to the cache folder, so that trees of other options beside this one share object
  # files.
  local -x CCACHE_BASEDIR=$cache_folder
  run_logged "$folder/configure.log" cmake -S "$source" -B "$folder/build" -G Ninja "${itk_options[@]}" "${launcher_arguments[@]}"
  run_with_progress "$folder/build.log" cmake --build "$folder/build" -j "$jobs" --target "${itk_targets[@]}"
}

say "ITK build tree for the module build"
[ "$install" = no ] || install_packages "${itk_packages[@]}"
mkdir -p "$cache_folder"
exec 9> "$cache_folder/$lock"
flock 9

if [ "$cached" = yes ] && ! is_itk_source_cached; then
  note "ITK's sources are not in the cache"
  exit 3
fi
find_itk_source '5.4|6' || exit 3

# A build tree contains its own absolute paths and is therefore built in its final place. The file 'complete' is written
# last; the build of a tree without it goes on.
key=$(printf '%s\n' "$itk_source" "${itk_options[@]}" "$(c++ --version | head -n 1)" "$(cmake --version | head -n 1)" |
  sha256sum | cut -c 1-12)
folder=$cache_folder/itk-$itk_version-$key
if [ -f "$folder/complete" ]; then
  note "found in the cache: ITK $itk_version"
elif [ "$cached" = yes ]; then
  note "this build of ITK $itk_version is not in the cache"
  exit 3
else
  mkdir -p "$folder"
  build_tree "$folder" "$itk_source"
  find "$folder/build" -name '*.o' -delete
  touch "$folder/complete"
fi
echo "$folder/build"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the part of ITK 5.4 that the module and its tests need, once per version, options and compiler, in the user's cache
# folder, and prints the path of its build tree as the last line.
# Usage: scripts/build-itk.sh
#   ITK_SOURCE_DIR   folder with ITK's sources (any 5.4.x); without it they come from Debian's source package
# Exit status 3: the sources are not to be had here.
set -euo pipefail
. "$(dirname "$0")/common.sh"

# ITKTestKernel reads and writes many formats: the system's libraries for them save most of the build.
itk_packages=(
  ccache cmake g++ libexpat1-dev libgdcm-dev libjpeg-dev libpng-dev libtiff-dev ninja-build
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

source_version()
{
  sed -n 's/^set(ITK_VERSION_\(MAJOR\|MINOR\|PATCH\) "\([0-9]*\)").*/\2/p' "$1/CMake/itkVersion.cmake" | paste -sd.
}

# Debian's source package through apt lists of its own, from the mirror that this machine uses.
fetch_source()
{
  local folder=$cache_folder/itk-fetch mirror tarball
  rm -rf "$folder"
  mirror=$(awk '/^URIs:/{print $2; exit}' /etc/apt/sources.list.d/debian.sources 2> /dev/null || true)
  [ -n "$mirror" ] || mirror=$(awk '$1 == "deb" && /debian/ {for (i = 2; i <= NF; i++) if ($i ~ /^https?:/) {print $i; exit}}' \
    /etc/apt/sources.list 2> /dev/null || true)
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  if [ -z "$mirror" ] || [ ! -f $keyring ]; then
    note "no Debian mirror or no Debian keyring on this machine: set ITK_SOURCE_DIR to a folder with ITK 5.4's sources"
    return 1
  fi
  mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/download" "$folder/unpacked"
  echo "deb-src [signed-by=$keyring] $mirror sid main" > "$folder/apt/sources.list"
  local apt=(apt-get -q -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache" -o "APT::Sandbox::User=$(id -un)")
  note "downloading ITK's source package (about 400 MB)"
  if ! "${apt[@]}" update > "$folder/apt.log" 2>&1 ||
    ! (cd "$folder/download" && "${apt[@]}" source --download-only insighttoolkit5 >> "$folder/apt.log" 2>&1); then
    tail -n 5 "$folder/apt.log" >&2
    note "the source package insighttoolkit5 could not be downloaded: set ITK_SOURCE_DIR to a folder with ITK 5.4's sources"
    return 1
  fi
  tarball=$(find "$folder/download" -name 'insighttoolkit5_5.4.*.orig.tar.xz' | head -n 1)
  if [ -z "$tarball" ]; then
    note "Debian's source package is no longer ITK 5.4: set ITK_SOURCE_DIR to a folder with ITK 5.4's sources"
    return 1
  fi
  note "unpacking"
  tar -xJf "$tarball" -C "$folder/unpacked" --strip-components 1 --exclude='*/.ExternalData' --exclude='*/Testing/Data' \
    --exclude='*/test' --exclude='*/Examples'
  mv "$folder/unpacked" "$cache_folder/itk-source-5.4"
  rm -r "$folder"
}

build_tree()
{
  local folder=$1 source=$2
  note "configuring and building ITK $(source_version "$source") on $jobs cores (log: $folder/build.log)"
  run_logged "$folder/configure.log" cmake -S "$source" -B "$folder/build" -G Ninja "${itk_options[@]}" "${launcher_arguments[@]}"
  run_logged "$folder/build.log" cmake --build "$folder/build" -j "$jobs" --target all gtest gtest_main
}

say "ITK 5.4 build tree for the module build"
install_packages "${itk_packages[@]}"
mkdir -p "$cache_folder"
exec 9> "$cache_folder/itk.lock"
flock 9

if [ -n "${ITK_SOURCE_DIR:-}" ]; then
  [ -f "$ITK_SOURCE_DIR/CMake/itkVersion.cmake" ] || die "ITK_SOURCE_DIR is '$ITK_SOURCE_DIR', which holds no ITK sources"
  source=$(cd "$ITK_SOURCE_DIR" && pwd)
else
  source=$cache_folder/itk-source-5.4
  [ -d "$source" ] || fetch_source || exit 3
fi
version=$(source_version "$source")
case $version in
  5.4.*) ;;
  *) die "'$source' holds ITK $version; the module build is tested with 5.4.x" ;;
esac

# A build tree holds its own absolute paths, so it is built where it stays; the file 'complete' is written last, and a tree
# without it is built again.
key=$(printf '%s\n' "$source" "${itk_options[@]}" "$(c++ --version | head -n 1)" "$(cmake --version | head -n 1)" |
  sha256sum | cut -c 1-12)
folder=$cache_folder/itk-$version-$key
if [ -f "$folder/complete" ]; then
  note "found in the cache: ITK $version"
else
  rm -rf "$folder"
  mkdir "$folder"
  build_tree "$folder" "$source"
  find "$folder/build" -name '*.o' -delete
  touch "$folder/complete"
fi
echo "$folder/build"

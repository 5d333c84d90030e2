# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions that find ITK's sources, or download those of ITK 5.4, which are kept in the cache folder. It is sourced
# after common.sh, not run.
#   ITK_SOURCE_DIR       folder with the sources, which are then not downloaded
#   ITK_SOURCE_ARCHIVE   local copy of Debian's insighttoolkit5_5.4.*.orig.tar.xz, the source of tests and their data

itk_tag=v5.4.7
# SHA-256 of the files that list_itk_sources names, in the sources of that tag.
itk_tag_checksum=79cad19412be5ce9634ba3e3ac4d49086083b01a2dce6689b91ed7b6be2ffe56
# Parts that are not needed for building, and that make up most of the archive.
itk_source_excludes=(--exclude='*/.ExternalData' --exclude='*/Testing/Data' --exclude='*/test' --exclude='*/Examples')

itk_source_version()
{
  sed -n 's/^set(ITK_VERSION_\(MAJOR\|MINOR\|PATCH\) "\([0-9]*\)").*/\2/p' "$1/CMake/itkVersion.cmake" | paste -sd.
}

# Prints one SHA-256 of all files that are compiled or configured. It does not depend on the archive that they came
# from.
itk_source_checksum()
{
  (cd "$1" && find CMakeLists.txt CMake Modules Utilities Wrapping -name test -prune -o -type f -print0 | LC_ALL=C sort -z |
    xargs -0 sha256sum | sha256sum | cut -d ' ' -f 1)
}

# Downloads Debian's source package, and sets itk_archive.
download_itk_from_debian()
{
  local folder=$1 apt
  find_debian "$folder" 'deb-src sid' || return 1
  note "downloading ITK's source package from Debian (about 400 MB)"
  if ! (cd "$folder" && "${apt[@]}" source --download-only insighttoolkit5 >> "$folder/apt.log" 2>&1); then
    tail -n 5 "$folder/apt.log" >&2
    note "the source package insighttoolkit5 could not be downloaded"
    return 1
  fi
  itk_archive=$(find "$folder" -name 'insighttoolkit5_5.4.*.orig.tar.xz' | head -n 1)
  if [ -z "$itk_archive" ]; then
    note "Debian's source package is no longer ITK 5.4"
    return 1
  fi
}

fetch_itk_from_debian()
{
  local folder=$1 itk_archive
  download_itk_from_debian "$folder" || return 1
  note "unpacking"
  tar -xJf "$itk_archive" -C "$folder/unpacked" --strip-components 1 "${itk_source_excludes[@]}" || return 1
  mv "$itk_archive" "$cache_folder/" # until find_itk_tests has taken the tests from it
}

fetch_itk_from_tag()
{
  local folder=$1 checksum
  local url=https://github.com/InsightSoftwareConsortium/ITK/archive/refs/tags/$itk_tag.tar.gz
  note "downloading $url"
  if ! curl -fsSL --retry 2 --connect-timeout 20 -o "$folder/itk.tar.gz" "$url" 2> "$folder/curl.log"; then
    tail -n 1 "$folder/curl.log" >&2
    note "the tag $itk_tag could not be downloaded"
    return 1
  fi
  tar -xzf "$folder/itk.tar.gz" -C "$folder/unpacked" --strip-components 1 "${itk_source_excludes[@]}"
  checksum=$(itk_source_checksum "$folder/unpacked")
  [ "$checksum" = "$itk_tag_checksum" ] ||
    die "the files of $url have the checksum $checksum, not $itk_tag_checksum: they are not ITK $itk_tag"
}

is_itk_source_cached() { [ -n "${ITK_SOURCE_DIR:-}" ] || [ -d "$cache_folder/itk-source-5.4" ]; }

# find_itk_source [VERSIONS] sets itk_source and itk_version: to ITK_SOURCE_DIR if that is given, otherwise to the cached
# sources, which are downloaded if necessary. VERSIONS are those that the caller can use, such as '5.4|6' (default: 5.4).
# Returns 1 if the sources are not available.
find_itk_source()
{
  local lock versions=${1:-5.4}
  exec {lock}> "$cache_folder/itk-source.lock"
  flock "$lock"
  itk_source=$cache_folder/itk-source-5.4
  if [ -n "${ITK_SOURCE_DIR:-}" ]; then
    [ -f "$ITK_SOURCE_DIR/CMake/itkVersion.cmake" ] || die "ITK_SOURCE_DIR is '$ITK_SOURCE_DIR', which holds no ITK sources"
    itk_source=$(cd "$ITK_SOURCE_DIR" && pwd)
  elif [ ! -d "$itk_source" ]; then
    local folder=$cache_folder/itk-fetch fetch
    for fetch in fetch_itk_from_debian fetch_itk_from_tag ''; do
      rm -rf "$folder"
      if [ -z "$fetch" ]; then
        note "set ITK_SOURCE_DIR to a folder with ITK 5.4's sources"
        return 1
      fi
      mkdir -p "$folder/unpacked"
      ! $fetch "$folder" || break
    done
    mv "$folder/unpacked" "$itk_source"
    rm -r "$folder"
  fi
  exec {lock}>&-
  itk_version=$(itk_source_version "$itk_source")
  [[ $itk_version =~ ^($versions)\. ]] || die "'$itk_source' holds ITK $itk_version; ${versions//|/ or } is needed"
}

# find_itk_tests CACHED sets itk_tests to a folder with the tests of the Gaussian filters' modules, the examples, and
# the test data with its content store, of the version of find_itk_source. Only Debian's archive contains the data.
# Returns 1 if they are not available or, if CACHED is yes, not in the cache.
find_itk_tests()
{
  local lock
  itk_tests=$cache_folder/itk-tests-$itk_version
  exec {lock}> "$cache_folder/itk-tests.lock"
  flock "$lock"
  if [ -d "$itk_tests" ]; then
    exec {lock}>&-
    return 0
  fi
  if [ "$1" = yes ]; then
    note "ITK's tests are not in the cache"
    return 1
  fi
  local folder=$cache_folder/itk-tests-fetch kept=$cache_folder/insighttoolkit5_$itk_version.orig.tar.xz
  local itk_archive=${ITK_SOURCE_ARCHIVE:-}
  [ -n "$itk_archive" ] || [ ! -f "$kept" ] || itk_archive=$kept
  rm -rf "$folder"
  mkdir -p "$folder/unpacked"
  if [ -z "$itk_archive" ] && ! download_itk_from_debian "$folder"; then
    note "set ITK_SOURCE_ARCHIVE to Debian's insighttoolkit5_$itk_version.orig.tar.xz"
    rm -r "$folder"
    return 1
  fi
  case $itk_archive in
    *_"$itk_version".orig.tar.xz) ;;
    *) die "'$itk_archive' is not the archive of ITK $itk_version" ;;
  esac
  note "unpacking tests and data"
  tar -xJf "$itk_archive" -C "$folder/unpacked" --strip-components 1 --wildcards '*/.ExternalData' '*/Testing/Data' '*/Examples' \
    '*/Modules/Filtering/Smoothing/test' '*/Modules/Filtering/ImageGradient/test' '*/Modules/Filtering/ImageFeature/test'
  mv "$folder/unpacked" "$itk_tests"
  rm -rf "$folder" "$kept"
  exec {lock}>&-
}

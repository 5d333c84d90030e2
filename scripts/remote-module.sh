#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes CudaFilters.remote.cmake, the file by which ITK fetches this module when Module_CudaFilters is ON, into build/.
# Usage: scripts/remote-module.sh URL TAG [--try ITK_SOURCE] [--build]
#   URL               the repository that ITK clones: an address, or the path of a bare repository
#   TAG               a tag, a branch or a commit of it; the file names the commit
#   --try ITK_SOURCE  also let a copy of this ITK source tree fetch the module and configure it, for the CPU only, in build/remote-module
#   --build           with --try: also build the library there, with the modules of ITK that it needs
# docs/developer/release.md says what is to be done with the file.
set -euo pipefail
. "$(dirname "$0")/common.sh"

positional=() itk_source='' build=no
while [ $# -gt 0 ]; do
  case $1 in
    --try)
      [ $# -ge 2 ] || die "--try needs the folder of an ITK source tree"
      itk_source=$2
      shift
      ;;
    --build) build=yes ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    -*) die "unknown argument '$1' (see --help)" ;;
    *) positional+=("$1") ;;
  esac
  shift
done
[ ${#positional[@]} -eq 2 ] || die "URL and TAG are needed, not ${#positional[@]} arguments (see --help)"
url=${positional[0]} tag=${positional[1]}
[ -n "$itk_source" ] || [ "$build" = no ] || die "--build needs --try"
[ -z "$itk_source" ] || [ -f "$itk_source/CMake/ITKModuleRemote.cmake" ] || die "--try is '$itk_source', which is no ITK source tree"

# Get the commit into a repository of its own, which shows that it can be fetched, and look for the module in it.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git init -q "$work"
git -C "$work" fetch -q --depth 1 "$url" "$tag" 2> "$work/error.txt" || die "TAG is '$tag', which cannot be fetched from '$url': $(tail -n 1 "$work/error.txt")"
commit=$(git -C "$work" rev-parse 'FETCH_HEAD^{commit}')
git -C "$work" show "$commit:itk-module.cmake" 2> /dev/null | grep -q '^  CudaFilters$' || die "commit $commit of '$url' is not this module: it has no itk-module.cmake of CudaFilters"

file=$repository/build/CudaFilters.remote.cmake
mkdir -p "$repository/build"
cat > "$file" << CONTENT
#-- # Grading Level Criteria Report
#-- EVALUATION DATE: $(git -C "$work" show -s --format=%cs "$commit")
#-- EVALUATORS: [<<NO EVALUATOR>>,<<NO EVALUATOR>>]
#--
#-- ## Compliance level 5 star (AKA ITK main modules, or remote modules that could become core modules)
#--   - [ ] Widespread community dependence
#--   - [ ] Above 90% code coverage
#--   - [ ] CI dashboards and testing monitored rigorously
#--   - [X] Key API features are exposed in wrapping interface
#--   - [ ] All requirements of Levels 4,3,2,1
#--
#-- ## Compliance Level 4 star (Very high-quality code, perhaps small community dependence)
#--   - [X] Meets all ITK code style standards
#--   - [X] No external requirements beyond those needed by ITK proper
#--   - [ ] Builds and passes tests on all supported platforms within 1 month of each core tagged release
#--            - [ ] Windows Shared Library Build with Visual Studio
#--            - [ ] Mac with clang compiler
#--            - [X] Linux with gcc compiler
#--   - [ ] Active developer community dedicated to maintaining code-base
#--   - [ ] 75% code coverage demonstrated for testing suite
#--   - [X] Continuous integration testing performed
#--   - [ ] All requirements of Levels 3,2,1
#--
#-- ## Compliance Level 3 star (Quality beta code)
#--   - [X] API | executable interface is considered mostly stable and feature complete
#--   - [X] 10% C0-code coverage demonstrated for testing suite
#--   - [X] Some tests exist and pass on at least some platform
#--   - [X] All requirements of Levels 2,1
#--
#-- ## Compliance Level 2 star (Alpha code feature API development or niche community/execution environment dependence )
#--   - [X] Compiles for at least 1 niche set of execution environments, and perhaps others
#--         (may depend on specific external tools like a java environment, or specific external libraries to work )
#--   - [X] All requirements of Levels 1
#--
#-- ## Compliance Level 1 star (Pre-alpha features under development and code of unknown quality)
#--   - [X] Code complies on at least 1 platform
#--
#-- ## Compliance Level 0 star ( Code/Feature of known poor-quality or deprecated status )
#--   - [ ] Code reviewed and explicitly identified as not recommended for use
#--
#-- ### Please document here any justification for the criteria above
#       Linux only. CUDA is found by CMake and is optional: without it the filters run on the host.
#       Coverage is what scripts/test.sh --coverage prints; levels 5 and 4 wait for other systems and for a community.

itk_fetch_module(
  CudaFilters
  "Gaussian filters, vesselness, region snakes and partitions on NVIDIA GPUs, as subclasses of ITK's filters where ITK has them."
  MODULE_COMPLIANCE_LEVEL 3
  GIT_REPOSITORY $url
  GIT_TAG $commit # $tag
  )
CONTENT
note "written: build/CudaFilters.remote.cmake, for commit $commit"
[ -n "$itk_source" ] || exit 0

tree=$repository/build/remote-module
rm -rf "$tree/source" "$tree/build"
mkdir -p "$tree/build"
# The copy shares its files with the source tree where the file system can, and nothing is written to them.
cp -al "$itk_source" "$tree/source" 2> /dev/null || { rm -rf "$tree/source" && cp -a "$itk_source" "$tree/source"; }
cp --remove-destination "$file" "$tree/source/Modules/Remote/"
launchers=()
! command -v ccache > /dev/null || launchers=("${launcher_arguments[@]}")
note "configuring ITK $(sed -n 's/^set(ITK_VERSION_\(MAJOR\|MINOR\|PATCH\) "\([0-9]*\)").*/\2/p' "$tree/source/CMake/itkVersion.cmake" | paste -sd.) with the module (log: $tree/configure.log)"
run_logged "$tree/configure.log" cmake -S "$tree/source" -B "$tree/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
  -DBUILD_EXAMPLES=OFF -DITK_BUILD_DEFAULT_MODULES=OFF -DModule_CudaFilters=ON -DCudaFilters_USE_CUDA=OFF "${fast_compile_options[@]}" "${launchers[@]}"
found=$(git -C "$tree/source/Modules/Remote/CudaFilters" rev-parse HEAD)
[ "$found" = "$commit" ] || die "ITK fetched $found instead of $commit"
grep -q '^Module_CudaFilters:BOOL=ON$' "$tree/build/CMakeCache.txt" || die "ITK did not enable the module (log: $tree/configure.log)"
note "ITK fetched the commit and configured the module"
if [ "$build" = yes ]; then
  note "building the library (log: $tree/build.log)"
  run_with_progress "$tree/build.log" cmake --build "$tree/build" -j "$jobs" --target CudaFilters
  note "built: $(find "$tree/build/lib" -name 'libCudaFilters*' | head -n 1)"
fi

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions that the scripts of this folder share. It is sourced, not run.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache_folder=${XDG_CACHE_HOME:-$HOME/.cache}/itk-cudafilters
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
# ccache takes paths below this folder relative to the build folder, so that clones in other folders share the compiled
# files.
export CCACHE_BASEDIR=$repository CCACHE_NOHASHDIR=yes

# Packages for building the library, its tests and its examples.
build_packages=(
  ca-certificates ccache cmake g++ git libbenchmark-dev libcli11-dev libgtest-dev libinsighttoolkit5-dev ninja-build
  nlohmann-json3-dev pkg-config
)
# Packages for drawing pictures.
plot_packages=(python3-matplotlib)
# Packages for the demo only.
demo_packages=(cmake g++ libinsighttoolkit5-dev ninja-build "${plot_packages[@]}")

# Prints the cache folder of what is made from `key`. It is complete if it has the file 'complete', which is written
# last.
cache_entry() { printf '%s/%s-%s' "$cache_folder" "$1" "$(printf '%s\n' "${@:2}" | sha256sum | cut -c 1-12)"; }

say() { printf '\n== %s\n' "$*"; }
note() { printf '   %s\n' "$*"; }
die()
{
  printf 'error: %s\n' "$*" >&2
  exit 1
}

as_root()
{
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    die "'$*' needs root: run as root or install sudo"
  fi
}

is_installed() { dpkg-query -W -f '${db:Status-Status}\n' "$1" 2> /dev/null | grep -qx installed; }

# install_packages NAME... installs the missing packages. If no package is missing, it needs neither permissions nor
# network.
install_packages()
{
  command -v dpkg-query > /dev/null ||
    die "this script installs its tools with apt (Debian 12, Ubuntu 22.04 or newer); here, follow docs/user/cpp.md, section Build"
  local missing=() name
  for name in "$@"; do
    is_installed "$name" || missing+=("$name")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    note "all $# packages needed are installed"
    return
  fi
  note "installing with apt: ${missing[*]}"
  mkdir -p "$cache_folder"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q update > "$cache_folder/apt.log" 2>&1 &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" \
      >> "$cache_folder/apt.log" 2>&1 ||
    {
      tail -n 20 "$cache_folder/apt.log" >&2
      die "apt could not install ${missing[*]} (whole log: $cache_folder/apt.log)"
    }
}

# find_debian FOLDER SUITE... sets apt to apt-get with lists of its own in FOLDER, which name packages of other suites
# from the mirror of Debian that this machine uses. A suite is, for example, 'deb bullseye' or 'deb-src sid'. apt
# verifies the signatures. Returns 1 if there is no mirror.
find_debian()
{
  local folder=$1 mirror suite keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mirror=$(awk '/^URIs:/{print $2; exit}' /etc/apt/sources.list.d/debian.sources 2> /dev/null || true)
  [ -n "$mirror" ] || mirror=$(awk '$1 == "deb" && /debian/ {for (i = 2; i <= NF; i++) if ($i ~ /^https?:/) {print $i; exit}}' \
    /etc/apt/sources.list 2> /dev/null || true)
  if [ -z "$mirror" ] || [ ! -f $keyring ]; then
    note "no Debian mirror or no Debian keyring on this machine"
    return 1
  fi
  mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
  for suite in "${@:2}"; do
    echo "${suite% *} [signed-by=$keyring] $mirror ${suite#* } main"
  done > "$folder/apt/sources.list"
  apt=(apt-get -q -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache" -o "APT::Sandbox::User=$(id -un)")
  if ! "${apt[@]}" update > "$folder/apt.log" 2>&1; then
    tail -n 5 "$folder/apt.log" >&2
    note "the lists of Debian's packages could not be downloaded"
    return 1
  fi
}

# Adds the folder of nvcc to PATH if NVIDIA's packages have not. Prints a note and returns 1 if there is no nvcc.
find_nvcc()
{
  command -v nvcc > /dev/null || PATH=$PATH:/usr/local/cuda/bin
  if command -v nvcc > /dev/null; then
    note "CUDA compiler: nvcc $(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
    return 0
  fi
  note "no CUDA compiler (nvcc) found: building for the CPU only"
  return 1
}

# Sets wheel to the absolute path of the Python package: the file that $wheel names, or by default the newest one in
# dist/.
find_wheel()
{
  if [ -z "$wheel" ]; then
    wheel=$(find "$repository/dist" -name 'itk_cudafilters-*.whl' -printf '%T@ %p\n' 2> /dev/null | sort -n | tail -n 1 |
      cut -d ' ' -f 2-)
  fi
  [ -f "$wheel" ] || die "there is no wheel in dist/: scripts/build-wheel.sh builds one"
  wheel=$(realpath "$wheel")
}

# configure_and_build FOLDER CMAKE_ARGUMENT... configures a build and builds the targets in build_targets, or by default everything.
configure_and_build()
{
  local folder=$1
  shift
  mkdir -p "$folder"
  run_logged "$folder/configure.log" cmake -S "$repository" -B "$folder" -G Ninja "$@"
  run_logged "$folder/build.log" cmake --build "$folder" -j "$jobs" --target "${build_targets[@]:-all}"
}

# With -O1 gcc needs half the time. What is built beside ITK 5.4 is tested, and never timed.
fast_compile_options=('-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG' '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG')

# build_module FOLDER ITK_BUILD_TREE USE_CUDA TARGET... builds targets of the module, its tests and its examples against an
# ITK build tree.
build_module()
{
  local folder=$1
  mkdir -p "$folder"
  run_logged "$folder/configure.log" cmake -S "$repository" -B "$folder" -G Ninja "-DITK_DIR=$2" -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_TESTING=ON "-DCudaFilters_USE_CUDA=$3" -DCudaFilters_BUILD_EXAMPLES=ON \
    -DCudaFilters_WARNINGS_AS_ERRORS=ON -DITK_FORBID_DOWNLOADS=ON -DITK_USE_KWSTYLE=OFF -DITK_USE_CLANGFORMAT=OFF \
    "${fast_compile_options[@]}" "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$folder/bin" \
    "-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=$folder/lib" "-DCMAKE_ARCHIVE_OUTPUT_DIRECTORY=$folder/lib" "${launcher_arguments[@]}"
  run_logged "$folder/build.log" cmake --build "$folder" -j "$jobs" --target "${@:4}"
}

# run_logged FILE COMMAND... runs a command with its output in FILE, and prints the end of the output if the command
# fails.
run_logged()
{
  local file=$1
  shift
  if ! "$@" > "$file" 2>&1; then
    grep -nE 'error|Error|FAILED' "$file" | head -n 20 >&2 || true
    tail -n 30 "$file" >&2
    die "'$*' failed (whole log: $file)"
  fi
}

# run_with_progress FILE COMMAND... does what run_logged does. Once a minute it prints how many of ninja's steps are done,
# and how long the others take if they are as long as these.
run_with_progress()
{
  local status=0 watcher
  (
    start=$SECONDS
    while sleep 60 > /dev/null 2>&1; do
      read -r completed steps < <(grep -oE '^\[[0-9]+/[0-9]+\]' "$1" | tail -n 1 | tr -s '[/]' ' ') && [ "$completed" -gt 0 ] || continue
      note "$completed of $steps steps, about $(((SECONDS - start) * (steps - completed) / completed / 60 + 1)) minutes left"
    done
  ) &
  watcher=$!
  (run_logged "$@") || status=$?
  kill "$watcher"
  wait "$watcher" 2> /dev/null || true
  return "$status"
}

# print_coverage FOLDER GCOVR_ARGUMENT... prints the coverage of a build with CudaFilters_COVERAGE whose programs have
# run.
print_coverage()
{
  local folder=$1
  shift
  gcovr --root "$repository" --exclude-throw-branches --print-summary "$@" "$folder"
}

launcher_arguments=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)

# ITK and the module must both be compiled with ThreadSanitizer, because it sees only code that was compiled with it.
thread_sanitizer_flags="-fsanitize=thread -g1 -fno-omit-frame-pointer"

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions shared by the scripts of this folder; sourced, not run.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache_folder=${XDG_CACHE_HOME:-$HOME/.cache}/itk-cudafilters
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
# To ccache, paths below this folder are relative to the folder of the build: a clone elsewhere finds what was compiled here.
export CCACHE_BASEDIR=$repository CCACHE_NOHASHDIR=yes

# What a build of the library, its tests and its examples needs.
build_packages=(
  ca-certificates ccache cmake g++ git libbenchmark-dev libcli11-dev libgtest-dev libinsighttoolkit5-dev ninja-build
  nlohmann-json3-dev pkg-config
)
# What pictures are drawn with.
plot_packages=(python3-matplotlib)
# What the demo needs, and no more.
demo_packages=(cmake g++ libcli11-dev libinsighttoolkit5-dev ninja-build nlohmann-json3-dev "${plot_packages[@]}")

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

# install_packages NAME... installs those that are missing; asks for nothing and uses no network if none is.
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

# Puts nvcc on PATH where NVIDIA's packages leave it; returns 1 and says so if there is none.
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

# Sets wheel to the absolute path of the Python package: the file that it names, else the newest in dist/.
find_wheel()
{
  if [ -z "$wheel" ]; then
    wheel=$(find "$repository/dist" -name 'itk_cudafilters-*.whl' -printf '%T@ %p\n' 2> /dev/null | sort -n | tail -n 1 |
      cut -d ' ' -f 2-)
  fi
  [ -f "$wheel" ] || die "there is no wheel in dist/: scripts/build-wheel.sh builds one"
  wheel=$(realpath "$wheel")
}

# configure_and_build FOLDER CMAKE_ARGUMENT... builds $build_target if that is set, else all.
configure_and_build()
{
  local folder=$1
  shift
  mkdir -p "$folder"
  run_logged "$folder/configure.log" cmake -S "$repository" -B "$folder" -G Ninja "$@"
  run_logged "$folder/build.log" cmake --build "$folder" -j "$jobs" --target "${build_target:-all}"
}

# build_module FOLDER ITK_BUILD_TREE USE_CUDA TARGET: the module with its tests and examples beside an ITK build tree.
build_module()
{
  local folder=$1
  mkdir -p "$folder"
  run_logged "$folder/configure.log" cmake -S "$repository" -B "$folder" -G Ninja "-DITK_DIR=$2" -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_TESTING=ON "-DCudaFilters_USE_CUDA=$3" -DCudaFilters_BUILD_APPS=ON -DCudaFilters_BUILD_EXAMPLES=ON \
    -DCudaFilters_WARNINGS_AS_ERRORS=ON -DITK_FORBID_DOWNLOADS=ON -DITK_USE_KWSTYLE=OFF -DITK_USE_CLANGFORMAT=OFF \
    "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$folder/bin" \
    "-DCMAKE_LIBRARY_OUTPUT_DIRECTORY=$folder/lib" "-DCMAKE_ARCHIVE_OUTPUT_DIRECTORY=$folder/lib" "${launcher_arguments[@]}"
  run_logged "$folder/build.log" cmake --build "$folder" -j "$jobs" --target "$4"
}

# run_logged FILE COMMAND... keeps the output in FILE and shows its end if the command fails.
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

# print_coverage FOLDER GCOVR_ARGUMENT... of a build with CudaFilters_COVERAGE whose programs have run
print_coverage()
{
  local folder=$1
  shift
  gcovr --root "$repository" --exclude-throw-branches --print-summary "$@" "$folder"
}

launcher_arguments=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)

# ThreadSanitizer sees only what is compiled with it: ITK and the module alike.
thread_sanitizer_flags="-fsanitize=thread -g1 -fno-omit-frame-pointer"

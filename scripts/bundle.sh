#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/bundle and build/bundle.tar.xz: the tests, benchmarks and example programs of the CUDA build,
# with all libraries that they need except the C library and the driver. The bundle runs on any x86-64 Linux with an
# NVIDIA driver:
#   build/bundle/gpu-check --output record.json --benchmarks
#   build/bundle/multi-gpu-check                        # measures slabs that are dealt to several GPUs
#   build/bundle/gpu-sanitize --output sanitize.json    # runs compute-sanitizer over a part of the tests
#   build/bundle/benchmark                              # makes the reports for the pages on performance
#   python3 build/bundle/vesselness_peers.py build/bundle/bin/gaussian_benchmark   # beside CuPy, scikit-image, ITK
#   python3 build/bundle/compare.py BASE build/bundle   # compares the benchmarks with another unpacked bundle
#   python3 build/bundle/device_image_goals.py          # checks the goals for chains of filters on device images
#   python3 build/bundle/device_image_traffic.py        # counts transfers in such a chain, by CUPTI
# Usage: scripts/bundle.sh [--coverage] [--no-install]
#   --coverage    make build/bundle-coverage and its archive instead, whose library counts the executed lines (gcov).
#                 Run gpu-check --quick --coverage counters.tar.xz there, and then here
#                 scripts/gpu-coverage.sh counters.tar.xz.
#   --no-install  install no packages
# Fails if the archive is larger than 60 MiB.
set -euo pipefail
. "$(dirname "$0")/common.sh"

limit_mib=60
install=yes
name=bundle
for argument in "$@"; do
  case $argument in
    --coverage) name=bundle-coverage ;;
    --no-install) install=no ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$argument' (see --help)" ;;
  esac
done

say "Packages"
[ "$install" = no ] || install_packages "${build_packages[@]}" binutils patchelf python3 xz-utils
find_nvcc || die "the bundle is for machines with a GPU: it needs nvcc"

say "CUDA build"
build=$repository/build/bundle-build
bundle=$repository/build/$name
# Keep paths of this machine out of messages, because records are published.
prefix_map=-ffile-prefix-map=$repository/=
configure_and_build "$build" --preset cuda "-DCMAKE_CXX_FLAGS=$prefix_map" "-DCMAKE_CUDA_FLAGS=-Xcompiler=$prefix_map" \
  "${launcher_arguments[@]}"
if [ "$name" = bundle-coverage ]; then
  # Count only the lines of the host code that gpu-coverage.sh prints, because counters that threads share make the
  # engines ten times slower. With BUILD_TESTING the library exports its inner functions, which the test programs call.
  mkdir -p "$bundle-build"
  run_logged "$bundle-build/configure.log" cmake -S "$repository" -B "$bundle-build" -G Ninja --preset coverage \
    -DCudaFilters_USE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90-real -DCMAKE_CXX_FLAGS=-fprofile-filter-files=/src/runtime/ \
    -DBUILD_TESTING=ON -DCudaFilters_BUILD_EXAMPLES=OFF "${launcher_arguments[@]}"
  run_logged "$bundle-build/build.log" cmake --build "$bundle-build" -j "$jobs" --target CudaFilters
fi

say "Collecting"
rm -rf "$bundle"
mkdir -p "$bundle/bin" "$bundle/lib" "$bundle/data" "$bundle/autoload"
for program in "$build"/bin/*; do
  if [ -f "$program" ] && [ -x "$program" ]; then
    cp "$program" "$bundle/bin/"
  fi
done

cp -r "$repository/examples/data" "$repository/examples/test" "$bundle/data/"
# Lists the tests that CTest runs besides the units: their programs and arguments, with paths inside the bundle. This
# also copies ITK's test driver, whose libraries are collected with the others below.
python3 "$repository/scripts/list-bundle-tests.py" "$build" "$bundle" "$repository" > "$bundle/data/tests.json"

# Copies all libraries that the programs load, except the driver and the C library, which must match the other machine's
# loader.
ldd "$bundle"/bin/* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  grep -vE '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|util|cuda|nvidia-ml)\.so[^/]*)$' |
  while read -r library; do
    cp -L "$library" "$bundle/lib/"
  done
if [ "$name" = bundle-coverage ]; then
  library=$(basename "$(echo "$bundle"/lib/libitkCudaFilters*)")
  cp -L "$bundle-build/lib/$library" "$bundle/lib/"
fi
if [ -f "$build/lib/libcuda_traffic.so" ]; then
  cp "$build/lib/libcuda_traffic.so" "$bundle/lib/"
fi
strip --strip-unneeded "$bundle"/lib/* "$bundle"/bin/* "$bundle"/autoload/*
for file in "$bundle"/bin/* "$bundle"/autoload/*; do
  patchelf --set-rpath '$ORIGIN/../lib' "$file"
done
for file in "$bundle"/lib/*; do
  patchelf --set-rpath '$ORIGIN' "$file"
done
# Copies CUPTI unchanged to the folder of the library that loads it.
if [ -f "$bundle/lib/libcuda_traffic.so" ]; then
  cp -L "$(ldd "$build/lib/libcuda_traffic.so" | awk '$1 ~ /^libcupti/ {print $3}')" "$bundle/lib/"
fi

cp "$repository/scripts/gpu-check.py" "$bundle/gpu-check"
cp "$repository/scripts/gpu-sanitize.sh" "$bundle/gpu-sanitize"
cp "$repository/scripts/multi-gpu-check.sh" "$bundle/multi-gpu-check"
cp "$repository/scripts/benchmark.sh" "$bundle/benchmark"
cp "$repository"/benchmarks/{peers,vesselness_peers,compare,device_image_goals,traffic/device_image_traffic}.py "$bundle/"

dirty=false
[ -z "$(git -C "$repository" status --porcelain -- include src test benchmarks)" ] || dirty=true
cat > "$bundle/data/source.json" << JSON
{
  "commit": "$(git -C "$repository" rev-parse HEAD)",
  "trees": {
    "include": "$(git -C "$repository" rev-parse HEAD:include)",
    "src": "$(git -C "$repository" rev-parse HEAD:src)",
    "test": "$(git -C "$repository" rev-parse HEAD:test)",
    "benchmarks": "$(git -C "$repository" rev-parse HEAD:benchmarks)"
  },
  "uncommitted_changes": $dirty,
  "nvcc": "$(nvcc --version | sed -n 's/.*, V\([0-9.]*\).*/\1/p')",
  "compiler": "$(c++ --version | head -n 1)",
  "itk": "$(sed -n 's/^ITK_DIR:.*=//p' "$build/CMakeCache.txt" | sed 's/.*ITK-//')"
}
JSON

tar -C "$repository/build" -cJf "$bundle.tar.xz" "$name"
size_in_mib() { du -sm --apparent-size "$1" | cut -f 1; }
mib=$(size_in_mib "$bundle.tar.xz")
say "Bundle: $bundle.tar.xz, $mib MiB; unpacked in $bundle, $(size_in_mib "$bundle") MiB"
[ "$mib" -le "$limit_mib" ] || die "the bundle is larger than $limit_mib MiB"

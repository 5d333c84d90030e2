#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a sysroot for scripts/build-wheel.sh --portable, and prints its path as the last line: the C and C++ libraries of
# Debian 11, in root/, compilers that use them instead of this machine's, in bin/, and oneTBB compiled by these, in tbb/.
# It is kept in the user's cache folder.
# Usage: scripts/build-sysroot.sh
# Needs apt with a mirror of Debian, cmake, g++ and ninja.
set -euo pipefail
. "$(dirname "$0")/common.sh"

# The oldest Debian that the mirrors have. It has the headers of GCC 9, whose library is almost that of GCC 8.
suite=bullseye
packages=(libc6 libc6-dev libcrypt1 libcrypt-dev libgcc-s1 libstdc++6 libstdc++-9-dev linux-libc-dev)
tbb_options=(-DCMAKE_BUILD_TYPE=Release -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF -DTBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON)
triplet=x86_64-linux-gnu
[ $# -eq 0 ] || die "unknown argument '$1'; there are none"

# Writes a compiler that finds headers and libraries in the sysroot. GCC alone would search its own folders of libraries
# first, which are those of this machine.
make_compiler()
{
  local name=$1 root=$sysroot/root options
  options=("--sysroot=$root" "-B$root/usr/lib/$triplet")
  if [ "$name" = g++ ]; then
    options+=(-nostdinc++ -isystem "$root/usr/include/c++/9" -isystem "$root/usr/include/$triplet/c++/9")
  fi
  {
    printf '#!/bin/sh\nexec %s' "$(command -v "$name")"
    printf ' %q' "${options[@]}"
    printf ' "$@"'
    printf ' %q' "-L$root/usr/lib/gcc/$triplet/9" "-L$root/usr/lib/$triplet" "-L$root/lib/$triplet"
    printf '\n'
  } > "$sysroot/bin/$name"
  chmod +x "$sysroot/bin/$name"
}

# Makes a library of empty functions that the linker takes for libm, in which each function has its oldest version. glibc
# 2.29 gave exp(), log() and pow() new ones, which handle errors in another way, and the result would need 2.29 for them.
make_oldest_libm()
{
  local real=$1 made=$2
  nm -D --with-symbol-versions "$real" | awk '$2 ~ /^[TWi]$/ {sub("@@", "@", $3); print $3}' | sort -t @ -k 1,1 -k 2,2V |
    sort -t @ -k 1,1 -u -s > functions
  awk -F @ '{printf ".globl %s\n.type %s, @function\n%s: nop\n", $1, $1, $1}' functions > functions.s
  awk -F @ '{names[$2] = names[$2] $1 "; "} END {for (version in names) print version " { " names[version] "};"}' \
    functions > versions
  rm -f "$made"
  "$sysroot/bin/gcc" -shared -nostdlib -Wl,-soname,libm.so.6 -Wl,--version-script=versions functions.s -o "$made"
}

# Makes an archive of what the headers of GCC 9 leave to a library that GCC 8 does not have, constructors of streams, and a
# linker script that takes them from there.
make_older_libstdcxx()
{
  local folder=/usr/lib/gcc/$triplet/9
  {
    echo '#include <sstream>'
    printf 'template class std::basic_%sstream<char>;\n' istring ostring string
  } > streams.cxx
  "$sysroot/bin/g++" -std=c++17 -O2 -fPIC -c streams.cxx
  ar rc "$sysroot/root$folder/libstdc++_nonshared.a" streams.o
  rm "$sysroot/root$folder/libstdc++.so"
  echo "INPUT ( $folder/libstdc++_nonshared.a /usr/lib/$triplet/libstdc++.so.6 )" > "$sysroot/root$folder/libstdc++.so"
}

build_tbb()
{
  mkdir tbb-source
  tar -xf onetbb_*.orig.tar.* -C tbb-source --strip-components 1
  cmake -S tbb-source -B tbb-build -G Ninja "${tbb_options[@]}" "-DCMAKE_INSTALL_PREFIX=$sysroot/tbb" -DCMAKE_INSTALL_LIBDIR=lib \
    "-DCMAKE_C_COMPILER=$sysroot/bin/gcc" "-DCMAKE_CXX_COMPILER=$sysroot/bin/g++" "-DCMAKE_CXX_FLAGS=-ffile-prefix-map=$PWD/tbb-source/=oneTBB/"
  ninja -C tbb-build -j "$jobs" install
  cp tbb-source/LICENSE.txt "$sysroot/tbb/"
}

make_sysroot()
{
  local root=$sysroot/root name apt
  find_debian "$PWD" "deb $suite" 'deb-src bookworm' || die "a sysroot needs a mirror of Debian"
  "${apt[@]}" download "${packages[@]/%//$suite}"
  "${apt[@]}" source --download-only onetbb
  mkdir -p "$root" "$sysroot/bin"
  for name in *.deb; do
    dpkg-deb -x "$name" "$root"
  done
  # Absolute links would lead out of the sysroot.
  find "$root" -type l -lname '/*' | while read -r name; do
    ln -sfnr "$root$(readlink "$name")" "$name"
  done
  # Debian's Python includes its pyconfig.h by a path below the folder of the system's headers.
  for name in /usr/include/$triplet/python3*; do
    [ ! -d "$name" ] || ln -s "$name" "$root$name"
  done
  make_compiler gcc
  make_compiler g++
  make_oldest_libm "$root/lib/$triplet/libm.so.6" "$root/usr/lib/$triplet/libm.so"
  make_older_libstdcxx
  build_tbb
  rm -rf "$root/etc" "$root/usr/share"
}

mkdir -p "$cache_folder"
exec 9> "$cache_folder/sysroot.lock"
flock 9
sysroot=$(cache_entry sysroot "$(cat "$0")" "$(c++ --version | head -n 1)")
if [ ! -f "$sysroot/complete" ]; then
  rm -rf "$sysroot"
  mkdir "$sysroot" "$sysroot/work"
  cd "$sysroot/work"
  make_sysroot
  cd /
  rm -r "$sysroot/work"
  touch "$sysroot/complete"
fi
echo "$sysroot"

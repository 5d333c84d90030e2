#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes build/upstream-bundle and build/upstream-bundle.tar.xz: ITK's own tests with this module's filters on the GPU,
# their data, and all libraries that they need except the C library and the driver. The bundle runs on any x86-64 Linux
# with CTest, Python and an NVIDIA driver:
#   build/upstream-bundle/run.sh   prints the table of scripts/upstream-tests.sh; results in $OUT (default: here)
# Usage: scripts/bundle-upstream.sh [--backend cuda|host] [--no-install]
#   --backend     where the module's filters run (default: cuda, which needs nvcc)
#   --no-install  install no packages
# Fails if the archive is larger than 60 MiB.
set -euo pipefail
. "$(dirname "$0")/common.sh"

limit_mib=60
backend=cuda options=()
while [ $# -gt 0 ]; do
  case $1 in
    --backend)
      [ $# -gt 1 ] || die "--backend needs a value: host or cuda"
      backend=$2
      shift
      ;;
    --no-install) options+=(--no-install) ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$1' (see --help)" ;;
  esac
  shift
done

"$repository/scripts/upstream-tests.sh" --build-only --backend "$backend" "${options[@]}"
build=$repository/build/upstream/tests-$backend
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
itk_build=$(cached ITK_DIR)
itk_tests=$(cached ITK_TESTS_DIR)
test_driver=$(find "$itk_build/bin" -name itkTestDriver)
bundle=$repository/build/upstream-bundle

say "Collecting"
rm -rf "$bundle"
mkdir -p "$bundle"/{tests,bin,lib,upstream,data/Examples}
cp "$build"/bin/* "$test_driver" "$bundle/bin/"
cp -r "$build/autoload" "$bundle/"
cp "$repository"/test/upstream/*.py "$bundle/upstream/"
# The files of test data are links into ITK's content store.
cp -rL "$itk_tests/Examples/Data" "$bundle/data/Examples/"
if [ -d "$build/ExternalData" ]; then
  cp -rL "$build/ExternalData" "$bundle/tests/"
fi
ldd "$bundle"/bin/* "$bundle"/autoload/* | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  grep -vE '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv|util|cuda|nvidia-ml)\.so[^/]*)$' |
  while read -r library; do
    cp -L "$library" "$bundle/lib/"
  done
strip --strip-unneeded "$bundle"/lib/* "$bundle"/bin/* "$bundle"/autoload/*
for file in "$bundle"/bin/* "$bundle"/autoload/*; do
  patchelf --set-rpath '$ORIGIN/../lib' "$file"
done
for file in "$bundle"/lib/*; do
  patchelf --set-rpath '$ORIGIN' "$file"
done

# Copies CTest's lists of tests, with @HERE@ in place of the bundle's folder and @PYTHON@ in place of the interpreter.
places=(
  -e '/^#/d' -e 's# *_BACKTRACE_TRIPLES "[^"]*"##'
  -e "s#$test_driver#@HERE@/bin/itkTestDriver#g" -e "s#$build/bin/#@HERE@/bin/#g" -e "s#$build/autoload#@HERE@/autoload#g"
  -e "s#$build#@HERE@/tests#g" -e "s#$repository/test/upstream/#@HERE@/upstream/#g" -e "s#$itk_tests#@HERE@/data#g"
  -e 's#"[^"]*/python3[^/"]*"#"@PYTHON@"#g'
)
(cd "$build" && find . -name CTestTestfile.cmake) | while read -r list; do
  mkdir -p "$bundle/tests/$(dirname "$list")"
  sed "${places[@]}" "$build/$list" > "$bundle/tests/$list.in"
done
if grep -rhoE '"/[^"]*"' "$bundle/tests" --include='*.in' | head -n 3 | grep .; then
  die "a test refers to a file that is not in the bundle"
fi

version=$(sed -n 's/.*ITK \(5[0-9.]*\).*/\1/p' "$repository/build/upstream/build-itk.log" | tail -n 1)
cat > "$bundle/source.json" << JSON
{ "commit": "$(git -C "$repository" rev-parse HEAD)", "itk": "$version", "backend": "$backend" }
JSON
cat > "$bundle/run.sh" << PROGRAM
#!/bin/sh
# Runs ITK's own tests with this module's filters; the last line counts them. OUT gets the log, the JUnit file and the
# table.
here=\$(cd "\$(dirname "\$0")" && pwd)
OUT=\${OUT:-\$here}
rm -rf "\$here/tests/reports" "\$here/tests/output"
mkdir -p "\$here/tests/reports" "\$here/tests/output"
find "\$here/tests" -name 'CTestTestfile.cmake.in' | while read -r list; do
  sed -e "s#@HERE@#\$here#g" -e "s#@PYTHON@#\$(command -v python3)#g" "\$list" > "\${list%.in}"
done
device=\$(nvidia-smi --query-gpu=name --format=csv,noheader 2> /dev/null | head -n 1)
ctest --test-dir "\$here/tests" --output-on-failure --no-tests=error --output-junit "\$OUT/upstream-tests.xml" \\
  > "\$OUT/upstream-tests.log" 2>&1
python3 "\$here/upstream/print_table.py" "\$OUT/upstream-tests.xml" "\$here/tests/reports" \\
  "ITK $version, backend $backend, \${device:-no GPU}" > "\$OUT/upstream.txt"
status=\$?
cat "\$OUT/upstream.txt"
exit \$status
PROGRAM
chmod +x "$bundle/run.sh"

tar -C "$repository/build" -cJf "$bundle.tar.xz" upstream-bundle
mib=$(du -sm --apparent-size "$bundle.tar.xz" | cut -f 1)
say "Bundle: $bundle.tar.xz, $mib MiB"
[ "$mib" -le "$limit_mib" ] || die "the bundle is larger than $limit_mib MiB"

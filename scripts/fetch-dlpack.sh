#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the include folder of DLPack's header in the user's cache folder. If it is not there, it is downloaded.
# Environment:
#   PYTHON  interpreter that downloads with pip (default: python3)
set -euo pipefail
. "$(dirname "$0")/common.sh"

# The header of DLPack 1.3, which its project publishes only in this package.
package=apache-tvm-ffi==0.1.15.post2
header=tvm_ffi/include/dlpack/dlpack.h
checksum=62052bef24bd69bb7b52e95428f9e99bd7951783850c36c5f2a41e71fd63c2fc

python=${PYTHON:-python3}
folder=$(cache_entry dlpack "$package" "$checksum")
is_valid() { sha256sum --status --check <<< "$checksum  $folder/$header" 2> /dev/null; }
if ! is_valid; then
  note "fetching DLPack's header from PyPI: $package" >&2
  rm -rf "$folder"
  mkdir -p "$cache_folder"
  run_logged "$cache_folder/dlpack.log" "$python" -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: \
    --python-version 3.11 --platform manylinux_2_28_x86_64 -d "$folder" "$package"
  run_logged "$cache_folder/dlpack.log" "$python" -m zipfile -e "$folder"/*.whl "$folder"
  is_valid || die "$header of $package has the checksum $(sha256sum "$folder/$header"); it must be $checksum"
fi
dirname "$(dirname "$folder/$header")"

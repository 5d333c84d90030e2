#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the format of all C++ and CUDA files of the repository with the version of clang-format that
# .pre-commit-config.yaml names. It is installed once from PyPI into the user's cache folder.
# Usage: scripts/check-format.sh [--fix]
#   --fix   format the files instead
# Environment:
#   PYTHON   interpreter that installs clang-format (default: python3)
# It also looks for phrases in comments that readers stumble over, and runs scripts/check-sources.py (names of parameters, includes).
# Exit status 1: one of the checks failed. Exit status 3: clang-format could not be installed.
set -euo pipefail
. "$(dirname "$0")/common.sh"

options=(--dry-run --Werror)
for argument in "$@"; do
  case $argument in
    --fix) options=(-i) ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$argument' (see --help)" ;;
  esac
done

requirement=$(sed -n "s/.*'\(clang-format==[0-9.]*\)'.*/\1/p" "$repository/.pre-commit-config.yaml")
[ -n "$requirement" ] || die ".pre-commit-config.yaml names no version of clang-format"
python=$(command -v "${PYTHON:-python3}") || die "PYTHON is '${PYTHON:-python3}', which is no program"
environment=$cache_folder/${requirement//==/-}
program=$environment/bin/clang-format
mkdir -p "$cache_folder"
exec 9> "$cache_folder/clang-format.lock"
flock 9
if ! "$program" --version > /dev/null 2>&1; then
  note "installing $requirement from PyPI (log: $environment.log)"
  rm -rf "$environment"
  if ! { "$python" -m venv "$environment" && "$environment/bin/python" -m pip install "$requirement"; } > "$environment.log" 2>&1; then
    tail -n 3 "$environment.log" >&2
    note "$requirement could not be installed"
    exit 3
  fi
fi

cd "$repository"
mapfile -d '' -t files < <(git ls-files -z '*.h' '*.hxx' '*.cxx' '*.cu' '*.cuh')
[ ${#files[@]} -gt 0 ] || die "git lists no C++ file in $repository"
note "$("$program" --version): ${#files[@]} files"
printf '%s\0' "${files[@]}" | xargs -0 -n 20 -P "$jobs" "$program" "${options[@]}" ||
  die "the files above are not formatted: scripts/check-format.sh --fix"

# Comments are sentences that a reader who does not know the project reads once. These phrases are signs of others.
phrases='\b(The same of|[Ss]o many|[Bb]y way of|in one go|to be had|[Ss]ince then|as it comes|whatever (it|there))\b'
if git grep -nE "(//|/\*\*|^ *\*|^ *#).*$phrases" -- src include wrapping scripts cmake; then
  die "the comments above have phrases that readers stumble over: $phrases"
fi

"$python" -B scripts/check-sources.py || die "the files above say of each other what is not so: see scripts/check-sources.py --help"

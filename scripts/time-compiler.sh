#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a compiler for ccache, and appends a line to the file that COMPILE_TIMES names: the seconds of CPU time that it took
# in the program and in the system, and the source file. Beside every 16th file it compiles scripts/compile-reference.cxx in
# the same way. scripts/compile-times.py reads these lines.
# Usage: CCACHE_PREFIX=scripts/time-compiler.sh COMPILE_TIMES=FILE ccache COMPILER ARGUMENT...
# ccache does not call it for the object files that it has already, and does not count it as a part of the command.
time_of()
{
  local TIMEFORMAT="%U %S $(realpath -s "$1")"
  { time "${@:2}" 2>&3; } 3>&2 2>> "$COMPILE_TIMES"
}

touch "$COMPILE_TIMES"
if [ $(($(wc -l < "$COMPILE_TIMES") % 17)) -eq 0 ]; then
  reference=$(dirname "$0")/compile-reference.cxx
  time_of "$reference" "$1" -std=c++17 -O2 -c "$reference" -o "$COMPILE_TIMES.$$.o"
  rm "$COMPILE_TIMES.$$.o"
fi
time_of "${*: -1}" "$@"

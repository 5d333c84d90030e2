#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a compiler for ccache, and appends a line to the file that COMPILE_TIMES names: the seconds of CPU time that it took
# in the program and in the system, and the source file. scripts/compile-times.py reads these lines.
# Usage: CCACHE_PREFIX=scripts/time-compiler.sh COMPILE_TIMES=FILE ccache COMPILER ARGUMENT...
# ccache does not call it for the object files that it has already, and does not count it as a part of the command.
TIMEFORMAT="%U %S $(realpath -s "${*: -1}")"
{ time "$@" 2>&3; } 3>&2 2>> "$COMPILE_TIMES"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the benchmarks whose reports the pages on performance are based on. In the bundle, on a machine with a GPU:
#   build/bundle/benchmark --output reports
# benchmarks/records.py adds a report to its record, the file of the same name in benchmarks/records/GPU/.
# Usage: benchmark [--output FOLDER] [--only "peers ..."] [--bundle FOLDER]
#   --output  folder for the reports (default: the current one)
#   --only    names of reports to make: peers two_way snake snake_host sanitize (default: all). Use it if one call would
#             take too long: peers takes at most 10 minutes, sanitize 4, and the others some minutes together.
#   --bundle  folder of the programs (default: the folder of this script)
# If a report cannot be made, its name is printed, the others are made nevertheless, and the exit status is 1.
set -euo pipefail

die()
{
  printf 'error: %s\n' "$*" >&2
  exit 2
}

bundle=$(cd "$(dirname "$0")" && pwd)
reports="peers two_way snake snake_host sanitize"
output=. only=$reports
while [ $# -gt 0 ]; do
  case $1 in
    --output | --only | --bundle)
      [ $# -ge 2 ] || die "$1 needs a value (see --help)"
      ;;&
    --output) output=$2; shift ;;
    --only) only=$2; shift ;;
    --bundle) bundle=$2; shift ;;
    -h | --help) sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) die "unknown argument '$1' (see --help)" ;;
  esac
  shift
done
for report in $only; do
  case " $reports " in
    *" $report "*) ;;
    *) die "--only names '$report'; known are: $reports" ;;
  esac
done

# make_report NAME: writes the report to FOLDER/NAME.json.
make_report()
{
  local file=$output/$1.json
  case $1 in
    peers) python3 "$bundle/peers.py" "$bundle/bin/gaussian_benchmark" --output "$file" ;;
    two_way) "$bundle/bin/two_way_paper_tables" --skip-psnr --json "$file" ;;
    snake) "$bundle/bin/snake_paper_table" --on gpu --json "$file" ;;
    snake_host) "$bundle/bin/snake_paper_table" --on thread,threads --json "$file" ;;
    sanitize) "$bundle/gpu-sanitize" --output "$file" ;;
  esac
}

mkdir -p "$output"
failures=()
for report in $only; do
  printf '\n== %s\n' "$report"
  start=$SECONDS status=0
  make_report "$report" || status=$?
  printf '   %s: exit status %s after %s s\n' "$report" "$status" "$((SECONDS - start))"
  [ "$status" -eq 0 ] || failures+=("$report")
done
if [ ${#failures[@]} -gt 0 ]; then
  printf '\nfailed: %s\n' "${failures[*]}" >&2
  exit 1
fi

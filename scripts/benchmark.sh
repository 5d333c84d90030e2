#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the records that docs/performance.md is written from. From the bundle, on a machine with a GPU:
#   build/bundle/benchmark --name 2026-01-31-h200
# Usage: benchmark [--name NAME] [--output FOLDER] [--only "peers ..."] [--bundle FOLDER]
#   --name    what the records' names begin with: the date and the machine (default: today and the GPU's name)
#   --output  folder for the records (default: the current one)
#   --only    some of: peers two-way snake snake-host sanitize (default: all), where one call would take too long. The limits of
#             peers add up to 10 minutes, those of sanitize to 4; the others take some minutes together.
#   --bundle  where the programs are (default: beside this script)
# A record that cannot be made is named, and the others are made all the same; the exit status is then 1.
set -euo pipefail

die()
{
  printf 'error: %s\n' "$*" >&2
  exit 2
}

bundle=$(cd "$(dirname "$0")" && pwd)
records="peers two-way snake snake-host sanitize"
name='' output=. only=$records
while [ $# -gt 0 ]; do
  case $1 in
    --name | --output | --only | --bundle)
      [ $# -ge 2 ] || die "$1 needs a value (see --help)"
      ;;&
    --name) name=$2; shift ;;
    --output) output=$2; shift ;;
    --only) only=$2; shift ;;
    --bundle) bundle=$2; shift ;;
    -h | --help) sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) die "unknown argument '$1' (see --help)" ;;
  esac
  shift
done
for record in $only; do
  case " $records " in
    *" $record "*) ;;
    *) die "--only names '$record'; known are: $records" ;;
  esac
done

# The GPU's name in one word: NVIDIA H200 becomes h200.
machine_name()
{
  local gpu
  gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2> /dev/null | head -n 1) || true
  gpu=$(printf '%s' "${gpu#NVIDIA }" | tr '[:upper:] ' '[:lower:]-')
  printf '%s' "${gpu:-unknown}"
}

# make_record NAME: writes it to FOLDER/DATE-MACHINE-NAME.json.
make_record()
{
  local file=$output/$name-$1.json
  case $1 in
    peers) python3 "$bundle/peers.py" "$bundle/bin/gaussian_benchmark" --output "$file" ;;
    two-way) "$bundle/bin/two_way_paper_tables" --skip-psnr --json "$file" ;;
    snake) "$bundle/bin/snake_paper_table" --on gpu --json "$file" ;;
    snake-host) "$bundle/bin/snake_paper_table" --on thread,threads --json "$file" ;;
    sanitize) "$bundle/gpu-sanitize" --output "$file" ;;
  esac
}

[ -n "$name" ] || name=$(date -u +%F)-$(machine_name)
mkdir -p "$output"
failures=()
for record in $only; do
  printf '\n== %s\n' "$record"
  start=$SECONDS status=0
  make_record "$record" || status=$?
  printf '   %s: exit status %s after %s s\n' "$record" "$status" "$((SECONDS - start))"
  [ "$status" -eq 0 ] || failures+=("$record")
done
if [ ${#failures[@]} -gt 0 ]; then
  printf '\nfailed: %s\n' "${failures[*]}" >&2
  exit 1
fi

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and tests, on Debian 12 or Ubuntu 22.04, in stages. scripts/test-stage.sh runs a single stage.
# Without arguments it runs what a change of the C++ code needs most:
#   unit      builds the library and its tests against the distribution's ITK, for the CPU only and without the factory's
#             overrides, and runs all but the slow tests
# With --all it runs everything, as continuous integration does; each test runs in the stage that says most about it:
#   format    checks the format of C++ and CUDA files with the clang-format of .pre-commit-config.yaml, and the workflows in .github
#   cpu       as unit, with the overrides, the examples, the benchmarks and the slow tests, and compares compile times with
#             their budget
#   pip       builds the Python package as `pip install .` does, for the CPU only, and runs the tests that need no itk
#   site      builds the site of scripts/docs.sh from the pages, the headers and the package of pip, and checks it
#   cuda      builds everything with CUDA, if there is nvcc, and runs the tests of what differs from cpu; those that need a
#             GPU are skipped without one
#   wheel     builds the wheel, for the CPU only, and runs its tests in a new environment with PyPI's itk package
#   module    builds the library as a module of an ITK 5.4 build tree, or of the sources in ITK_SOURCE_DIR, which may be
#             ITK 6, for the CPU only, and runs the tests of headers, factory, pipelines and whole filters
#   upstream  runs ITK's own tests with this module's filters on the host
# Usage: scripts/test.sh [STAGE...] [--all] [--cpu-only] [--coverage] [--gpu-code] [--long] [--no-install]
#                        [--time-limit SECONDS]
#   STAGE...       run these stages
#   --all          run all stages
#   --cpu-only     leave out cuda
#   --coverage     instead build for the CPU with gcov, run the tests, and print the lines that ran for each file
#   --gpu-code     in wheel: with code for one generation of GPUs, if there is nvcc
#   --long         run every stage without a time limit; in cpu also tests with files of several gigabytes, in cuda and
#                  module all tests
#   --no-install   install no packages
#   --time-limit   seconds for all stages together (default: 4980, which is 83 minutes)
# Warnings are errors. All builds are in build/. ITK 5.4, tools and ccache's objects are in the user's cache folders.
#
# Without --long a stage is only started if it is expected to end within the time limit, and a stage that exceeds the
# limit is stopped. The output names the stages that were left out or stopped; their tests count as skipped. The last
# duration of each stage is recorded in test-durations.txt in the cache folder, separately for bare runs, which build an
# ITK first, cold runs, which compile for the first time on this machine, and warm runs.
set -euo pipefail
. "$(dirname "$0")/common.sh"

time_limit=$((83 * 60))
all_stages=(format cpu pip site cuda wheel module upstream)
stages=()
install=yes stage_options=()
cuda=yes long=no
while [ $# -gt 0 ]; do
  case $1 in
    unit | format | cpu | pip | site | cuda | wheel | module | upstream) stages+=("$1") ;;
    --all) stages=("${all_stages[@]}") ;;
    --cpu-only) cuda=no ;;
    --coverage) stages=(coverage) ;;
    --gpu-code) stage_options+=(--gpu-code) ;;
    --long) long=yes stage_options+=(--long) ;;
    --no-install) install=no stage_options+=(--no-install) ;;
    --time-limit)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--time-limit needs a number of seconds, not '${2:-}'"
      time_limit=$2
      shift
      ;;
    -h | --help)
      sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) die "unknown argument '$1' (see --help)" ;;
  esac
  shift
done
[ ${#stages[@]} -gt 0 ] || stages=(unit)
if [ "$cuda" = no ]; then
  read -ra stages <<< "$(printf '%s\n' "${stages[@]}" | grep -vx cuda | paste -sd ' ')"
fi

declare -A titles=(
  [format]="Format of the C++ and CUDA files, and workflows"
  [unit]="Library and tests against the installed ITK"
  [cpu]="CPU-only build against the installed ITK"
  [pip]="Python package of pip install ."
  [site]="Site"
  [cuda]="CUDA build"
  [wheel]="Python package"
  [module]="Build as a module beside an ITK build tree"
  [upstream]="ITK's own tests with this module's filters"
  [coverage]="Coverage of the CPU build"
)
# Seconds of a cold run on two cores after the stages before it, used if no duration is recorded, and the additional
# seconds to build the stage's ITK.
declare -A default_seconds=([unit]=700 [format]=30 [cpu]=1200 [pip]=150 [site]=150 [cuda]=900 [wheel]=900 [module]=300 [upstream]=300 [coverage]=1200)
declare -A itk_seconds=([wheel]=400 [module]=400 [upstream]=400)

start=$SECONDS
passed=0 failed=0 skipped=0
failures=()
durations=$cache_folder/test-durations.txt

# recorded STAGE STATE COLUMN prints the seconds (3) or tests (4) of the last such run, or nothing if it is not
# recorded. STATE may be a pattern.
recorded()
{
  [ -f "$durations" ] || return 0
  awk -v stage="$1" -v state="^($2)\$" -v column="$3" '$1 == stage && $2 ~ state {value = $column} END {print value}' "$durations"
}

record()
{
  mkdir -p "$cache_folder"
  {
    [ ! -f "$durations" ] || awk -v stage="$1" -v state="$2" '$1 != stage || $2 != state' "$durations"
    echo "$1 $2 $3 $4"
  } > "$durations.new"
  mv "$durations.new" "$durations"
}

# state_of STAGE prints bare if the stage must build its ITK first, otherwise cold if it has not run on this machine,
# otherwise warm.
state_of()
{
  if ! "$repository/scripts/test-stage.sh" "$1" --is-cached; then
    echo bare
  elif [ -z "$(recorded "$1" '.*' 3)" ]; then
    echo cold
  else
    echo warm
  fi
}

# expected_seconds STAGE STATE prints the recorded duration; without a record the time of a cold run, plus for a bare
# run the time to build its ITK.
expected_seconds()
{
  local seconds
  seconds=$(recorded "$1" "$2" 3)
  if [ -z "$seconds" ]; then
    seconds=$(recorded "$1" cold 3)
    seconds=${seconds:-${default_seconds[$1]}}
    [ "$2" != bare ] || seconds=$((seconds + ${itk_seconds[$1]:-0}))
  fi
  echo "$seconds"
}

# skip STAGE REASON counts the tests of a stage as skipped, or one test if their number is not known.
skip()
{
  local tests
  tests=$(recorded "$1" '.*' 4)
  skipped=$((skipped + ${tests:-1}))
  note "NOT RUN: ${titles[$1]}: $2; ${tests:-1} tests count as skipped"
}

# run_stage STAGE runs a stage if it is expected to end in time, stops it when the time is over, and adds to the counts.
run_stage()
{
  local stage=$1 log=$repository/build/stage-$1.log status=0 state expected left begin p f s
  local stop=()
  say "${titles[$stage]}"
  state=$(state_of "$stage")
  expected=$(expected_seconds "$stage" "$state")
  left=$((time_limit - (SECONDS - start)))
  if [ "$long" = no ] && [ "$expected" -gt "$left" ]; then
    skip "$stage" "it takes about $((expected / 60 + 1)) minutes where $((left > 0 ? left / 60 : 0)) are left (--long runs it)"
    return
  fi
  [ "$long" = yes ] || stop=(timeout --kill-after=20 "$left")
  begin=$SECONDS
  "${stop[@]}" "$repository/scripts/test-stage.sh" "$stage" "${stage_options[@]}" | tee "$log" || status=$?
  if [ ${#stop[@]} -gt 0 ] && { [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; }; then
    skip "$stage" "it was stopped at the time limit of $time_limit s (--long has none)"
  elif [ "$status" -eq 3 ]; then
    skip "$stage" "what it needs is not available here"
  elif read -r p _ f _ s _ < <(tail -n 1 "$log" | grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$'); then
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    [ "$f" -eq 0 ] && [ "$status" -eq 0 ] || failures+=("${titles[$stage]}")
    note "${titles[$stage]}: $p passed, $f failed, $s skipped, $((SECONDS - begin)) s"
    [[ " ${stage_options[*]} " == *" --gpu-code "* ]] || record "$stage" "$state" "$((SECONDS - begin))" "$((p + f + s))"
  else
    failed=$((failed + 1))
    failures+=("${titles[$stage]}, exit status $status")
  fi
}

if [ "$install" = yes ]; then
  say "Packages"
  packages=("${build_packages[@]}" python3)
  [ "${stages[*]}" != coverage ] || packages+=(gcovr)
  [ "$(command -v python3)" != /usr/bin/python3 ] || packages+=(python3-dev python3-venv)
  install_packages "${packages[@]}"
fi
mkdir -p "$repository/build"
for stage in "${stages[@]}"; do
  run_stage "$stage"
done

say "Summary after $((SECONDS - start)) s"
[ ${#failures[@]} -eq 0 ] || note "failed: $(printf '%s; ' "${failures[@]}")"
total=$((passed + failed))
[ "$total" -gt 0 ] || die "no test was run"
# Prints the lines that CTest ends with, for all builds together.
echo "$((100 * passed / total))% tests passed, $failed tests failed out of $total"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ ${#failures[@]} -eq 0 ]

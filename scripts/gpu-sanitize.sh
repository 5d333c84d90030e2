#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs compute-sanitizer's memcheck, racecheck, initcheck and synccheck over a part of the bundle's units, and writes a
# record as JSON. In the bundle, on a machine with a GPU and the CUDA toolkit:
#   build/bundle/gpu-sanitize --output sanitize.json
# Usage: gpu-sanitize [--output FILE] [--tools "memcheck ..."] [--jobs "lines ..."] [--time-limit S] [--bin FOLDER]
#   --output      file of the record (default: sanitize.json)
#   --tools       tools to run (default: all four)
#   --jobs        parts of the units to run (default: lines others filters images held snake image_snake partition detection
#                 slabs tensors)
#   --time-limit  seconds for each pair of tool and job, which all run at the same time (default: 240)
#   --bin         folder of the units' programs (default: bin beside this script)
# Exit status: 0 if all runs ended without a report, 1 if there were reports or a unit failed, 77 if something was not
# run. The record and the output say what was not run and why. A run that exceeds the time limit counts as not run.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
output=sanitize.json
tools="memcheck racecheck initcheck synccheck"
limit=240
bin=$here/bin
jobs="lines others filters images held snake image_snake partition detection slabs tensors"
while [ $# -gt 0 ]; do
  case $1 in
    --output | --tools | --jobs | --time-limit | --bin)
      [ $# -ge 2 ] || { echo "error: $1 needs a value" >&2; exit 2; }
      ;;&
    --output) output=$2; shift ;;
    --tools) tools=$2; shift ;;
    --jobs) jobs=$2; shift ;;
    --time-limit) limit=$2; shift ;;
    --bin) bin=$2; shift ;;
    -h | --help) sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) echo "error: unknown argument '$1' (see --help)" >&2; exit 2 ;;
  esac
  shift
done

# The jobs run each kind of kernel at least once: line passes of all schedules including streamed ones, convolution,
# partitions, the snake, regions, transfers; images that stay on the device, in one and in several threads; images in
# slabs; tensors. Units that exhaust memory, make calls fail or fork on purpose are left out, because the sanitizer
# would report what they do. The units of a program are split into two jobs if they would take too long in sequence. The
# units that hold a stream back are a separate job, which initcheck cannot run because it waits for every kernel.
program() {
  case $1 in
    lines | others | images | held | slabs | tensors) echo CudaFiltersCudaGTestDriver ;;
    filters) echo CudaFiltersGTestDriver ;;
    snake | image_snake) echo CudaFiltersSnakeGTestDriver ;;
    partition) echo CudaFiltersPartitionGTestDriver ;;
    detection) echo CudaFiltersDetectionGTestDriver ;;
  esac
}
units() {
  case $1 in
    lines)
      echo 'GaussianLinePass.BitsOfALine*:GaussianLinePass.Constants*:GaussianLinePass.CombiningPassesOfEach*'\
':GaussianLinePass.PartitionWithinABlock*' ;;
    others)
      echo 'GpuFir.HasTheBitsOfTheHostAtEveryLength:GpuPartitionedGaussian.BitsOfALine*:CudaTransferOfType/[06].*'\
':CudaTransfer.Components*:CudaTransfer.Views*:CudaRuntime.Rows_of*:CudaEventGpu.*' ;;
    filters)
      echo 'Backends/PartitionedFilter.LinesPerBlockDoNotChangeTheBits/Cuda:Backends/PartitionedFilter.OutputTypeMayDiffer/Cuda'\
':Backends/PartitionedFilter.IntegersAreTruncated/Cuda:Backends/PartitionedFilter.OnlyTheEndsOfLinesCountAtLargeSigma/Cuda' ;;
    images)
      echo 'CudaDeviceImageGpu.*padding*:CudaDeviceImageGpu.Initialised*:CudaDeviceImageMemoryGpu.Threads*:CudaDeviceTransferGpu.Pixels*'\
':CudaDeviceTransferGpu.Conversions*:CudaDeviceTransferGpu.Mappings*:CudaDeviceTransferGpu.Threads*:CudaDevicePipelineGpu.Regions*'\
':CudaDevicePipelineGpu.Threads*' ;;
    held)
      echo 'CudaDeviceImageMemoryGpu.Reader*:CudaDeviceImageMemoryGpu.Writer*:CudaDevicePipelineGpu.Updates*' ;;
    image_snake)
      echo 'CudaDeviceRegionSnakeGpu.Labels*:CudaDeviceRegionSnakeGpu.Integers*:CudaDeviceRegionSnakeGpu.Chain*' ;;
    partition)
      echo 'CudaPartitionGpu.EveryLaw*:CudaPartitionGpu.Degenerate*' ;;
    detection)
      echo 'CudaDetectionGpu.EveryLaw*' ;;
    slabs)
      echo 'Machine/SlabRuns.HaveTheBitsOfTheWholeAtSeams/Gpu:Machine/SlabRuns.PartsMakeUpTheWhole/Gpu:Machine/SlabRuns.ContinueTheImage*'\
':GaussianSlabsGpu.TwoThreads*:Machine/SlabRunsOnDevice.HaveTheBitsOfLinesThatAreNeverCut/Gpu' ;;
    tensors)
      echo 'TensorDeviceGpuTest.AllPlans*:TensorDeviceGpuTest.*AreThoseOfTheHost:TensorDeviceGpuTest.StatisticsHave*'\
':TensorDeviceGpuTest.Products*:TensorDeviceGpuTest.Largest*' ;;
    snake)
      echo 'CudaRegionSnakeGridGpu.TenScenes' ;;
  esac
}

for job in $jobs; do
  [ -n "$(program "$job")" ] || { echo "error: there is no part '$job' of the units (see --help)" >&2; exit 2; }
done

results=$(mktemp -d)
# add_row TOOL JOB RESULT REPORTS SECONDS REASON
add_row() {
  printf '  {"tool": "%s", "job": "%s", "program": "%s", "units": "%s", "result": "%s", "reports": %s, "seconds": %s, "reason": "%s"}\n' \
    "$1" "$2" "$(program "$2")" "$(units "$2")" "${@:3}" > "$results/$1-$2.json"
  printf '%-10s %-8s %-8s %8s %5s s  %s\n' "$@"
}
not_run() {
  add_row "$1" "$2" "not run" null "${4:-0}" "$3"
}

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2> /dev/null || true)
version=
[ -z "$sanitizer" ] || version=$("$sanitizer" --version 2> /dev/null | sed -n 's/^Version //p' | head -n 1)
missing=
if [ -z "$sanitizer" ]; then
  missing="compute-sanitizer was not found"
elif [ "$(uname -r)" = 4.4.0 ]; then
  # A sandbox that emulates the kernel reports this name. The sanitizer does not start there.
  missing="kernel 4.4.0: the sanitizer cannot attach"
elif ! nvidia-smi > /dev/null 2>&1; then
  missing="no usable GPU"
fi

run_tool() {
  local tool=$1 job=$2 log begin seconds code reports
  if [ -n "$missing" ]; then
    not_run "$tool" "$job" "$missing"
    return
  fi
  if [ "$tool" = initcheck ] && [ "$job" = held ]; then
    not_run "$tool" "$job" "initcheck would wait for kernels that these units hold back"
    return
  fi
  log=$(mktemp)
  begin=$SECONDS
  code=0
  # initcheck does not see the writes of the copy engine (cp.async.bulk.tensor), and reports every pixel that is read
  # after them.
  [ "$tool" != initcheck ] || export ITK_CUDAFILTERS_NO_BULK_COPIES=1
  timeout "$limit" "$sanitizer" --tool "$tool" --error-exitcode 99 --print-limit 20 \
    "$bin/$(program "$job")" --gtest_brief=1 "--gtest_filter=$(units "$job")" > "$log" 2>&1 || code=$?
  seconds=$((SECONDS - begin))
  reports=$(sed -nE 's/^=+ (ERROR|RACECHECK) SUMMARY: ([0-9]+) (errors?|hazards?).*/\2/p' "$log" | tail -n 1)
  if [ "$code" = 124 ]; then
    not_run "$tool" "$job" "not done after $limit s" "$seconds"
  elif [ -z "$reports" ] || ! grep -q '^\[==========\]' "$log"; then
    not_run "$tool" "$job" "exit status $code, and no summary" "$seconds"
  elif grep -q '^\[  PASSED  \] 0 tests' "$log"; then
    not_run "$tool" "$job" "all units were skipped" "$seconds"
  elif [ "$reports" = 0 ] && [ "$code" = 0 ]; then
    add_row "$tool" "$job" passed 0 "$seconds" ""
  else
    add_row "$tool" "$job" failed "$reports" "$seconds" "exit status $code"
    awk '/^=/ && ++lines <= 40' "$log"
  fi
  rm -f "$log"
}

# Write the record even if the script is terminated early. It then lacks the runs that were not reached, and is valid
# otherwise.
write_record() {
  local commit='' gpu
  [ ! -f "$here/data/source.json" ] || commit=$(sed -n 's/.*"commit": "\([0-9a-f]*\)".*/\1/p' "$here/data/source.json")
  gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2> /dev/null | head -n 1 || true)
  {
    printf '{\n "date": "%s",\n "commit": "%s",\n "device": "%s",\n "kernel": "%s",\n "sanitizer": "%s",\n "runs": [\n' \
      "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$commit" "$gpu" "$(uname -r)" "$version"
    find "$results" -name '*.json' | sort | xargs -r cat | sed '$!s/$/,/'
    printf ' ]\n}\n'
  } > "$output"
  echo "record: $output"
  rm -rf "$results"
}
trap write_record EXIT
trap 'kill $(jobs -p) 2> /dev/null; exit 143' TERM INT

for tool in $tools; do
  for job in $jobs; do
    run_tool "$tool" "$job" &
  done
done
wait
found() { cat "$results"/*.json | grep -q "\"result\": \"$1\""; }
if found failed; then exit 1; fi
if found 'not run'; then exit 77; fi

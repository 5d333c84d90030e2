#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures how a machine with several GPUs deals slabs to them, in at most eight minutes, and writes a record as JSON. In the
# bundle, on a machine with GPUs:
#   build/bundle/multi-gpu-check --output multi-gpu.json
# It takes the topology; for one GPU, two queues of it, two GPUs, four and all: copies on all links at once in both directions,
# and smoothing in slabs, of page-locked and of ordinary memory, with a hash of the result; and the tests of slabs with their
# queues on all GPUs.
# Usage: multi-gpu-check [--output FILE] [--cases "CASE ..."] [--time-limit S] [--bin FOLDER]
#   --output      file of the record (default: multi-gpu.json)
#   --cases       cases of slab_times: TYPE:X:Y:Z:SIGMA:LIMIT:MEMORY[:CHUNKS] (default: by the memory of the host)
#   --time-limit  seconds for everything (default: 480)
#   --bin         folder of the programs (default: bin beside this script)
# Exit status: 0 if all runs ended, hashes of a case are equal and no test failed; 1 otherwise; 77 if there is no GPU. With one GPU
# only the queues of this GPU are compared.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
output=multi-gpu.json
cases=
limit=480
bin=$here/bin
while [ $# -gt 0 ]; do
  case $1 in
    --output | --cases | --time-limit | --bin)
      [ $# -ge 2 ] || { echo "error: $1 needs a value" >&2; exit 2; }
      ;;&
    --output) output=$2; shift ;;
    --cases) cases=$2; shift ;;
    --time-limit) limit=$2; shift ;;
    --bin) bin=$2; shift ;;
    -h | --help) sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) echo "error: unknown argument '$1' (see --help)" >&2; exit 2 ;;
  esac
  shift
done
[[ $limit =~ ^[1-9][0-9]*$ ]] || { echo "error: --time-limit is '$limit'; it must be a number of seconds" >&2; exit 2; }
[ -x "$bin/slab_times" ] || { echo "error: $bin has no program slab_times; --bin must be the folder of the bundle's" >&2; exit 2; }

end=$((SECONDS + limit))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! nvidia-smi --query-gpu=index,name,driver_version,memory.total --format=csv,noheader > "$work/devices.txt" 2>&1 ||
  [ ! -s "$work/devices.txt" ]; then
  echo "skipped: no GPU: $(head -n 1 "$work/devices.txt")"
  exit 77
fi
count=$(wc -l < "$work/devices.txt")
nvidia-smi topo -m > "$work/topology.txt" 2>&1 || true
cat "$work/devices.txt" "$work/topology.txt"

# Images in and out are in the host's memory, of which a third stays free.
if [ -z "$cases" ]; then
  gigabytes=$(awk '/^MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
  cases="float:512:512:512:4:0:pinned float:512:512:512:60:0:pinned"
  for memory in pinned ordinary resident; do
    [ "$gigabytes" -lt 16 ] || cases+=" float:1024:1024:1024:4:0:$memory"
  done
  [ "$gigabytes" -lt 110 ] || cases+=" float:2048:2048:2048:4:16:pinned float:2048:2048:2048:4:0:resident"
fi

lists=("0" "0,0")
for number in 2 4 "$count"; do
  list=$(seq -s , 0 $((number - 1)))
  if [ "$number" -ge 2 ] && [ "$number" -le "$count" ] && [ "${lists[-1]}" != "$list" ]; then
    lists+=("$list")
  fi
done
status=0
# The tests have a quarter of the time.
for test in $cases; do # the shortest ones first, so that each has a row if time runs out
  for list in "${lists[@]}"; do
    seconds=$((end - SECONDS - limit / 4))
    if [ "$seconds" -lt 1 ]; then
      echo "{\"case\": \"$test\", \"error\": \"not run: no time is left\"}" > "$work/line"
    else
      ended=0
      ITK_CUDAFILTERS_DEVICES=$list timeout "$seconds" "$bin/slab_times" "$test" > "$work/line" || ended=$?
      [ -s "$work/line" ] || echo "{\"case\": \"$test\", \"error\": \"slab_times: exit status $ended\"}" > "$work/line"
    fi
    cat "$work/line"
    printf '%s\t%s\n' "$list" "$(cat "$work/line")" >> "$work/runs.tsv"
  done
done

tests='*SlabRuns*:*GaussianSlabs*-*Slow*:*SomeSeconds*'
if [ -x "$bin/CudaFiltersCudaGTestDriver" ]; then
  list=${lists[-1]}
  seconds=$((end > SECONDS ? end - SECONDS : 1))
  ITK_CUDAFILTERS_DEVICES=$list timeout "$seconds" "$bin/CudaFiltersCudaGTestDriver" --gtest_filter="$tests" \
    --gtest_output="json:$work/tests.json" > "$work/tests.txt" 2>&1 || status=1
  tail -n 5 "$work/tests.txt"
fi

python3 - "$work" "$output" "$status" << 'PYTHON' || status=1
import json
import pathlib
import platform
import sys

work, output, status = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
runs, failed = [], status != 0
for line in (work / "runs.tsv").read_text().splitlines():
    devices, text = line.split("\t", 1)
    try:
        row = json.loads(text)
    except ValueError:
        row = {"error": text[:300]}
    failed = failed or "error" in row
    runs.append({"devices": [int(each) for each in devices.split(",")], **row})
first = {}
for run in runs:
    hashes = {run[key] for key in ("hash", "whole_hash") if key in run}
    expected = first.setdefault(run.get("case"), hashes)
    run["has_the_bits_of_the_first"] = len(expected | hashes) == 1
    failed = failed or not run["has_the_bits_of_the_first"]
tests = {}
if (work / "tests.json").exists():
    found = json.loads((work / "tests.json").read_text())
    tests = {key: found[key] for key in ("tests", "failures", "errors", "time") if key in found}
elif (work / "tests.txt").exists():
    tests = {"error": "the tests did not end", "output": (work / "tests.txt").read_text()[-2000:]}
record = {
    "what": "Slabs dealt to several GPUs: slab_times for lists of devices, and the tests of slabs on all. Milliseconds.",
    "devices": (work / "devices.txt").read_text().splitlines(),
    "topology": (work / "topology.txt").read_text().splitlines(),
    "kernel": platform.release(),
    "runs": runs,
    "tests": tests,
}
output.write_text(json.dumps(record, indent=1) + "\n")
print(f"{'case':40} {'devices':16} {'slabs ms':>9} {'copies ms':>9} {'GB/s each way':>13}  bits")
for run in runs:
    names = ",".join(str(each) for each in run["devices"])
    if "error" in run:
        print(f"{run.get('case', ''):40} {names:16} {run['error']}")
        continue
    kind, x, y, z = run["case"].split(":")[:4]
    gigabytes = int(x) * int(y) * int(z) * (2 if kind == "short" else 4) / 1e9
    copies = run.get("duplex_ms") or run["copy_ms"] / 3  # of a resident image: one of three copies within the devices
    bits = "equal" if run["has_the_bits_of_the_first"] else "DIFFERENT"
    print(f"{run['case']:40} {names:16} {run['slabs_ms']:9.1f} {copies:9.1f} {1e3 * gigabytes / copies:13.1f}  {bits}")
print(f"tests: {tests or 'not run'}; record: {output}")
sys.exit(1 if failed else 0)
PYTHON
exit "$status"

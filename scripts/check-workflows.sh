#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the workflows and forms in .github and CITATION.cff: against their schemas, by zizmor, which knows the pitfalls of workflows, and
# that the scripts and the stages that they run exist. The tools are installed once from PyPI into the user's cache folder.
# Usage: scripts/check-workflows.sh
# Environment:
#   PYTHON   interpreter that installs the tools (default: python3)
# Exit status 1: one of the checks failed. Exit status 3: the tools could not be installed.
set -euo pipefail
. "$(dirname "$0")/common.sh"

case ${1:-} in
  '') ;;
  -h | --help)
    sed -n '3,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
  *) die "unknown argument '$1' (see --help)" ;;
esac
requirements=(check-jsonschema==0.39.0 zizmor==1.32.0)
python=$(command -v "${PYTHON:-python3}") || die "PYTHON is '${PYTHON:-python3}', which is no program"
environment=$(cache_entry workflows "$("$python" --version)" "${requirements[@]}")
mkdir -p "$cache_folder"
exec 9> "$cache_folder/workflows.lock"
flock 9
if [ ! -f "$environment/complete" ]; then
  note "installing ${requirements[*]} from PyPI (log: $environment.log)"
  rm -rf "$environment"
  if ! { "$python" -m venv "$environment" && "$environment/bin/python" -m pip install "${requirements[@]}"; } > "$environment.log" 2>&1; then
    tail -n 3 "$environment.log" >&2
    note "${requirements[*]} could not be installed"
    exit 3
  fi
  touch "$environment/complete"
fi

cd "$repository"
# validate SCHEMA FILE... compares files with a schema that the tool brings along.
validate() { "$environment/bin/check-jsonschema" -q --default-filetype yaml --builtin-schema "$@" || die "the files above are not what they should be"; }
validate vendor.github-workflows .github/workflows/*.yml
validate custom.github-workflows-require-timeout .github/workflows/*.yml
validate vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
validate vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
validate vendor.citation-file-format CITATION.cff
"$environment/bin/zizmor" -q --offline --config .github/zizmor.yml .github/workflows || die "zizmor found the above"

# Names in a workflow are not looked up before it runs.
while read -r script; do
  [ -x "$script" ] || die "a workflow runs $script, which is no program"
done < <(grep -ohE 'scripts/[a-z-]+\.sh' .github/workflows/*.yml | sort -u)
stages=$(sed -n 's/^all_stages=(\(.*\))$/\1/p' scripts/test.sh)
while read -r stage; do
  [[ " unit $stages " == *" $stage "* ]] || die "a workflow runs the stage $stage, which scripts/test.sh does not have"
done < <({ sed -nE 's/.*stages: ([a-z ]+)\}.*/\1/p' .github/workflows/*.yml; sed -nE 's/.*scripts\/test\.sh ([a-z ]+).*/\1/p' .github/workflows/*.yml; } | tr ' ' '\n' | grep . | sort -u)
note "workflows, forms and CITATION.cff: no complaint"

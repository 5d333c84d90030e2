#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the first line of a commit message has one of ITK's prefixes and fewer than 78 characters.
# Usage: check-commit-subject.sh FILE
subject=$(head -n 1 "$1")
if ! printf '%s\n' "$subject" | grep -qE '^((ENH|BUG|COMP|DOC|STYLE|PERF|WIP): [^ ]|Merge |Revert )'; then
  echo "commit subject '$subject': begin with ENH:, BUG:, COMP:, DOC:, STYLE: or PERF: and a space" >&2
  exit 1
fi
if [ "${#subject}" -ge 78 ]; then
  echo "commit subject has ${#subject} characters; at most 77 are allowed" >&2
  exit 1
fi

#!/usr/bin/env bash
# Runs the parts of the whole test one after the other, goes on after one that fails,
# and sums up at the end: hack/test.sh PART..., where a part is a target of make.
set -u -o pipefail
cd "$(dirname "$0")/.."

failed=0
summary=""
for part in "$@"; do
  printf '\n=== %s\n' "$part"
  began=$SECONDS
  if make --no-print-directory "$part"; then
    result=ok
  else
    result=FAILED
    failed=$((failed + 1))
  fi
  line=$(printf '%-8s %-20s %5d s' "$result" "$part" $((SECONDS - began)))
  printf '=== %s\n' "$line"
  summary+="$line"$'\n'
done

printf '\n=== Summary: %d of %d parts failed, %d s\n%s' "$failed" "$#" "$SECONDS" "$summary"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# Runs the parts of the whole test one after the other, continues after a part that fails,
# and prints a summary with what failing tests said: hack/test.sh PART..., where a part is a
# target of make. A part that cannot run on this machine writes the reason into the file $NOT_RUN.
set -u -o pipefail
cd "$(dirname "$0")/.."

failed=0
summary=""
said=$(mktemp)
NOT_RUN=$(mktemp)
export NOT_RUN
trap 'rm -f "$NOT_RUN" "$said"' EXIT

# failures is what the last part said about tests that fail, for the end of a long log.
failures() {
  grep -E '^ *--- FAIL|^ *[a-zA-Z0-9_/]+\.go:[0-9]+:|^panic: |^WARNING: DATA RACE' "$said" | cut -c1-300 | head -n 40
}

for part in "$@"; do
  printf '\n=== %s\n' "$part"
  began=$SECONDS
  : >"$NOT_RUN"
  why=""
  if make --no-print-directory "$part" 2>&1 | tee "$said"; then
    result=ok
    if [ -s "$NOT_RUN" ]; then
      result="NOT RUN"
      why=": $(cat "$NOT_RUN")"
    fi
  else
    result=FAILED
    failed=$((failed + 1))
    why=$'\n'"$(failures)"
  fi
  line=$(printf '%-8s %-20s %5d s%s' "$result" "$part" $((SECONDS - began)) "$why")
  printf '=== %s\n' "$line"
  summary+="$line"$'\n'
done

printf '\n=== Summary: %d of %d parts failed, %d s\n%s' "$failed" "$#" "$SECONDS" "$summary"
[ "$failed" -eq 0 ]

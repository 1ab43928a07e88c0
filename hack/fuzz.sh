#!/usr/bin/env bash
# Runs each fuzz test for a time, one after the other: fuzz.sh TIME. What was found is in the
# testdata of its package, where later tests read it.
set -eu -o pipefail
cd "$(dirname "$0")/.."

failed=0
while IFS=: read -r file _ line; do
  name=$(sed 's/func \(Fuzz[A-Za-z0-9_]*\).*/\1/' <<<"$line")
  echo "$(dirname "$file") $name"
  go test -vet=off -run '^$' -fuzz "^$name\$" -fuzztime "$1" "./$(dirname "$file")" || failed=1
done < <(git grep -n '^func Fuzz' -- '*_test.go' ':!lab' ':!tools')
exit $failed

#!/usr/bin/env bash
# Runs a command of Go with the race detector: hack/race.sh test|build ARGUMENT...
# The detector needs a C compiler. Without one the script fails; below hack/test.sh, it
# reports to the summary instead that this part did not run, and why.
set -eu -o pipefail

compiler=$(go env CC)
if ! command -v "${compiler%% *}" >/dev/null; then
  why="no C compiler ($compiler), which the race detector needs"
  echo "not run: $why" >&2
  [ -n "${NOT_RUN:-}" ] || exit 1
  echo "$why" >"$NOT_RUN"
  exit 0
fi
verb=$1
shift
CGO_ENABLED=1 exec go "$verb" -race "$@"

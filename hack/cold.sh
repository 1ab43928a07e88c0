#!/usr/bin/env bash
# Builds what "make demo" builds, one program after the other, with an empty cache, and prints
# what each of them takes: packages, seconds of CPU, seconds. Modules that have to be downloaded
# count, too: run it twice for times without downloads. It needs 4 GB below TMPDIR.
set -eu -o pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export GOCACHE=$out/cache LAB_TOOLS=$out/lab-tools LAB_SOURCES=$PWD/lab CGO_ENABLED=0 GOFLAGS=-trimpath

build() { # build name directory command...
  local name=$1 directory=$2 real user sys
  shift 2
  (cd "$directory" && TIMEFORMAT='%R %U %S' && time "$@" >"$out/log" 2>&1) 2>"$out/time" || { cat "$out/log"; exit 1; }
  read -r real user sys <"$out/time"
  # A line for each package from go build -v, or the total in the last report of the lab.
  local packages
  packages=$(sed -n 's/.*: [0-9]* of \([0-9]*\) packages.*/\1/p' "$out/log" | tail -n 1)
  awk -v name="$name" -v packages="${packages:-$(grep -c . "$out/log" || true)}" -v real="$real" -v user="$user" -v sys="$sys" '
    BEGIN { printf "%-36s %8s packages %6.0f s CPU %6.0f s\n", name, packages, user + sys, real }'
  echo "$user $sys $real" >>"$out/total"
}

build "server, command line, demo" . go build -v -o "$out/bin/" ./cmd/landscaper ./cmd/landscaper-cli ./hack/demo
build lab lab go build -v -o "$out/bin/lab" ./cmd/lab
for tool in controlplane registry source-controller kustomize-controller; do
  build "$tool" . "$out/bin/lab" build --lean "$tool"
done
awk '{ cpu += $1 + $2; wall += $3 } END { printf "%-36s %17s %6.0f s CPU %6.0f s\n", "all", "", cpu, wall }' "$out/total"

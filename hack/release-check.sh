#!/usr/bin/env bash
# Makes a release of the current commit twice, in two copies of the repository with paths of
# different length, and compares the bytes of everything.
set -eu -o pipefail
cd "$(dirname "$0")/.."

program=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copies="one another/folder/with/a/longer/path"
# Both are made before anything is built, so that a commit in between changes nothing.
for copy in $copies; do
  git clone --quiet --no-hardlinks . "$work/$copy"
done
for copy in $copies; do
  "$program" -source "$work/$copy" -out "$work/$copy/dist" -version v0.0.0-check "$@"
done
diff -r "$work/one/dist" "$work/another/folder/with/a/longer/path/dist"
echo "$(ls "$work/one/dist" | wc -l) files are the same to the byte"

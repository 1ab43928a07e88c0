#!/usr/bin/env bash
# Lays out the sources of an earlier commit in a folder, so that bin/release can make a release of
# them: what it reads about itself, the versions of modules, is that of now.
set -eu -o pipefail
cd "$(dirname "$0")/.."

commit=$1 folder=$2
if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
  echo "The commit $commit is not here: fetch the history, for example with git fetch --unshallow." >&2
  exit 1
fi
if [ -f "$folder/.commit" ] && [ "$(cat "$folder/.commit")" = "$commit" ]; then
  exit
fi
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
git clone --quiet --shared --no-checkout . "$folder"
git -C "$folder" -c advice.detachedHead=false checkout --quiet --detach "$commit"
if [ ! -d "$folder/tools/release" ]; then
  mkdir "$folder/tools/release"
  cp tools/release/go.mod tools/release/go.sum "$folder/tools/release/"
fi
echo "$commit" >"$folder/.commit"

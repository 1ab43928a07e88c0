#!/usr/bin/env bash
# Installs landscaper-cli of a release for the action: install.sh VERSION DOWNLOADS DIRECTORY. The archive must have
# the sum that the checksums of the release say. DOWNLOADS is the address of the files of all releases.
set -eu -o pipefail

version=$1 downloads=$2 directory=$3

system=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
x86_64 | amd64) machine=amd64 ;;
aarch64 | arm64) machine=arm64 ;;
*)
  echo "install.sh: there is no release for $(uname -m)" >&2
  exit 1
  ;;
esac
archive=landscaper-cli_${version}_${system}_${machine}.tar.gz

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
for file in "$archive" checksums.txt; do
  curl --fail --silent --show-error --location --retry 3 --output "$scratch/$file" "$downloads/$version/$file"
done
sum=$(sha256sum "$scratch/$archive" 2>/dev/null || shasum -a 256 "$scratch/$archive")
if ! grep -qxF "${sum%% *}  $archive" "$scratch/checksums.txt"; then
  echo "install.sh: the sum of $archive is not that of the release" >&2
  exit 1
fi
mkdir -p "$directory"
tar -x -z -C "$directory" -f "$scratch/$archive" landscaper-cli

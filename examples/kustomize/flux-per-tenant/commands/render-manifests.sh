#!/usr/bin/env bash
# Writes the kinds of Flux and their version into the blueprints: those of the modules from
# which the lab builds the controllers, so that versions are pinned in one place.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
modules=$here/../../../lab/flux

files=()
for name in source-controller kustomize-controller; do
  read -r directory version < <(cd "$modules" && go list -m -f '{{.Dir}} {{.Version}}' "github.com/fluxcd/$name")
  echo "$name: $version"
  # ExternalArtifacts are not offered: their author chooses the source.
  for file in "$directory"/config/crd/bases/*.yaml; do
    if [[ $file != *externalartifacts* ]]; then files+=("$file"); fi
  done
done > "$here/blueprints/controllers/versions.yaml"
for file in "${files[@]}"; do
  # Each file begins with the line that separates documents.
  sed '1{/^---$/d}' "$file"
  echo "---"
done | sed '$d' > "$here/blueprints/kinds/kinds.yaml"

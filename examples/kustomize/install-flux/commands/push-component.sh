#!/usr/bin/env bash
# Publishes the component, with the manifests of Flux that "make flux-manifests" has written.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

if [[ ! -f blueprint/manifests.yaml ]]; then
  echo "blueprint/manifests.yaml is missing: run make flux-manifests" >&2
  exit 1
fi
publish component/constructor.yaml

#!/usr/bin/env bash
# Publishes the component of both examples with Flux for tenants.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

if [[ ! -f blueprints/kinds/kinds.yaml ]]; then
  echo "blueprints/kinds/kinds.yaml is missing: run make flux-manifests" >&2
  exit 1
fi
publish component/constructor.yaml

#!/usr/bin/env bash
# Deletes the Targets and the Context. The Installation must be deleted before.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

resource_cluster delete target --namespace "$NAMESPACE" --ignore-not-found my-cluster my-cluster-2
resource_cluster delete context.landscaper.gardener.cloud --namespace "$NAMESPACE" --ignore-not-found landscaper-examples

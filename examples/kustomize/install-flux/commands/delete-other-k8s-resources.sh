#!/usr/bin/env bash
# Deletes the Target and the Context. The Installation must be deleted before.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

resource_cluster delete target --namespace "$NAMESPACE" --ignore-not-found my-cluster
resource_cluster delete context.landscaper.gardener.cloud --namespace "$NAMESPACE" --ignore-not-found landscaper-examples

#!/usr/bin/env bash
# Deletes what the tenant has deployed.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

as_tenant "${TENANT_NAMESPACES%% *}"
remove podinfo
resource_cluster delete target --namespace "$NAMESPACE" --ignore-not-found workload
resource_cluster delete context.landscaper.gardener.cloud --namespace "$NAMESPACE" --ignore-not-found landscaper-examples

#!/usr/bin/env bash
# Deletes the Flux of a tenant, if the tenant does not use it any more.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

unused "$TENANT_CLUSTER_KUBECONFIG_PATH" --all-namespaces
remove "flux-$TENANT"

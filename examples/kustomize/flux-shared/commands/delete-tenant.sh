#!/usr/bin/env bash
# Deletes the space of a tenant, if the tenant does not use it any more.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

unused "$TARGET_CLUSTER_KUBECONFIG_PATH" --namespace "tenant-$TENANT"
remove "flux-tenant-$TENANT"

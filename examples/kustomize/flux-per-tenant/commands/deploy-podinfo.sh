#!/usr/bin/env bash
# What the tenant does: an Installation in its namespace that uses its Target flux.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

as_tenant "${TENANT_NAMESPACES%% *}"
FLUX_NAMESPACE=$NAMESPACE
target workload "$TARGET_CLUSTER_KUBECONFIG_PATH_2"
apply ../context.yaml installations/podinfo.yaml

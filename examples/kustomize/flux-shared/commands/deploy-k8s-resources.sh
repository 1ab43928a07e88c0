#!/usr/bin/env bash
# Creates the Context, the Target and the Installation with the Flux of all tenants.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

CLOSED_NETWORK_LIST=$(list $CLOSED_NETWORKS)
target flux-host "$TARGET_CLUSTER_KUBECONFIG_PATH"
apply ../context.yaml installations/flux.yaml

#!/usr/bin/env bash
# Creates the Target and the Installation with the space of one tenant.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

SOURCE_LIST=$(list $SOURCES)
target "tenant-$TENANT" "$TENANT_CLUSTER_KUBECONFIG_PATH"
apply installations/tenant.yaml

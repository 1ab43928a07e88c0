#!/usr/bin/env bash
# Creates the Context, the Targets and the Installation with the Flux of one tenant.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

SOURCE_LIST=$(list $SOURCES) CLOSED_NETWORK_LIST=$(list $CLOSED_NETWORKS) SPACE_LIST=
for space in $TENANT_NAMESPACES; do
  SPACE_LIST+="{namespace: $space, targetNamespace: $space},"
done
SPACE_LIST="[$SPACE_LIST]"
target flux-host "$TARGET_CLUSTER_KUBECONFIG_PATH"
target "tenant-$TENANT" "$TENANT_CLUSTER_KUBECONFIG_PATH"
apply ../context.yaml installations/flux.yaml

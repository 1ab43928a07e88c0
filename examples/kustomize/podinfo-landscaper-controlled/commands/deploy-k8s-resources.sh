#!/usr/bin/env bash
# Creates the Context, the Targets and the Installation. Run again, it starts a new job.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

target my-cluster "$TARGET_CLUSTER_KUBECONFIG_PATH"
target my-cluster-2 "$TARGET_CLUSTER_KUBECONFIG_PATH_2"
apply ../context.yaml installations/podinfo.yaml

#!/usr/bin/env bash
# Creates the Context, the Target and the Installation.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

target my-cluster "$TARGET_CLUSTER_KUBECONFIG_PATH"
apply ../context.yaml installations/flux.yaml

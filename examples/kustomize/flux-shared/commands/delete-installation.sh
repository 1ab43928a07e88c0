#!/usr/bin/env bash
# Deletes the Flux of all tenants. The tenants must be deleted before.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

remove flux-shared

#!/usr/bin/env bash
# Deletes the Flux of all tenants, when there are none any more.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

remove flux-shared

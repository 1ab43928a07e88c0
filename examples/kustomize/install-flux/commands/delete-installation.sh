#!/usr/bin/env bash
# Deletes the Installation, and Flux with it.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

remove flux

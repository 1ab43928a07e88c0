#!/usr/bin/env bash
# Deletes the Installation and what it has deployed.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

remove podinfo

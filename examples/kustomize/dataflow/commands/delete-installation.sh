#!/usr/bin/env bash
# Deletes the Installations and what they have deployed. Landscaper keeps the order:
# what others import from goes last.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

remove dataflow-root dataflow-gitrepository dataflow-secret

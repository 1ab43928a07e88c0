#!/usr/bin/env bash
# Publishes the component.
set -euo pipefail
cd "$(dirname "$0")/.."
source ../functions.sh
use commands/settings

publish component/constructor.yaml

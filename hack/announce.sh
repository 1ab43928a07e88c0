#!/usr/bin/env bash
# Says how long a target of make takes, from what is built already, before anything is built:
#
#   hack/announce.sh NAME TIME TOOL...
#
# TIME is what the target takes when everything is built; the tools are those of the lab that it
# needs. The minutes are those of a new machine with two cores, where Go's build cache is empty.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A minutes=(
  [controlplane]=7 [source-controller]=1 [kustomize-controller]=1 [registry]=1 [kubectl]=1 [landscaper]=6
)
declare -A what=(
  [controlplane]="the control plane of Kubernetes" [source-controller]="Flux" [kustomize-controller]="" [registry]="the registry"
  [kubectl]="kubectl" [landscaper]="Landscaper"
)
bin=${BIN:-bin}
tools=${LAB_TOOLS:-$bin/lab-tools}

name=$1 time=$2 total=0 parts=""
missing() {
  total=$((total + minutes[$1]))
  [[ -z ${what[$1]} ]] || parts+=${parts:+, }${what[$1]}
}

[[ -x $bin/landscaper-cli ]] || missing landscaper
for tool in "${@:3}"; do
  if [[ $tool == kubectl ]] && command -v kubectl >/dev/null; then continue; fi
  compgen -G "$tools/$tool-*" >/dev/null || missing "$tool"
done

if ((total > 0)); then
  ((total == 1)) && unit=minute || unit=minutes
  echo "$name: up to $total $unit on two cores to build $parts, once; then $time."
elif [[ -n $(find . -name '*.go' -newer "$bin/landscaper-cli" -not -path './lab/*' -not -path './out/*' -print -quit) ]]; then
  echo "$name: up to a minute to build what has changed; then $time."
else
  echo "$name: $time; everything is built."
fi

#!/usr/bin/env bash
# Writes the manifests of Flux that the blueprint deploys: those of the modules from
# which the lab builds the controllers, so that versions are pinned in one place.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
modules=$here/../../../lab/flux
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$here/accounts.yaml" "$work"
cat > "$work/kustomization.yaml" <<END
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: flux-system
resources:
- accounts.yaml
END
images="images:" patches="patches:"
for name in source-controller kustomize-controller; do
  read -r directory version < <(cd "$modules" && go list -m -f '{{.Dir}} {{.Version}}' "github.com/fluxcd/$name")
  mkdir "$work/$name"
  for file in "$directory"/config/crd/bases/*.yaml "$directory"/config/manager/deployment.yaml "$directory"/config/manager/service.yaml; do
    if [[ -f $file ]]; then
      cat "$file" > "$work/$name/$(basename "$file")"
      echo "- $name/$(basename "$file")" >> "$work/kustomization.yaml"
    fi
  done
  images+=$'\n'"- {name: fluxcd/$name, newName: ghcr.io/fluxcd/$name, newTag: $version}"
  patches+=$'\n'"- {target: {kind: Deployment, name: $name}, patch: '[{\"op\": \"add\", \"path\": \"/spec/template/spec/serviceAccountName\", \"value\": \"$name\"}]'}"
done
printf '%s\n%s\n' "$images" "$patches" >> "$work/kustomization.yaml"
kubectl kustomize "$work" > "$here/blueprint/manifests.yaml"

# Functions that the scripts of all examples share.

# use reads the settings of an example. Variables of the environment are not overwritten.
use() {
  local missing=() name
  # shellcheck source=/dev/null
  source "$1"
  for name in "${REQUIRED[@]}"; do
    if [[ -z "${!name:-}" ]]; then missing+=("$name"); fi
  done
  if ((${#missing[@]} > 0)); then
    echo "$1: set ${missing[*]}" >&2
    exit 1
  fi
}

# resource_cluster is kubectl for the cluster with the Installations.
resource_cluster() { kubectl --kubeconfig "$RESOURCE_CLUSTER_KUBECONFIG_PATH" "$@"; }

# fill writes a file with its ${VARIABLES} replaced.
fill() { eval "cat <<END_OF_TEMPLATE
$(cat "$1")
END_OF_TEMPLATE"; }

# apply creates what is in files, or changes it.
apply() {
  local file
  for file in "$@"; do
    fill "$file"
    echo "---"
  done | resource_cluster apply --server-side --force-conflicts --field-manager example -f -
}

# target is a Target NAME for the cluster of a kubeconfig FILE.
target() {
  {
    cat <<END
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Target
metadata: {name: $1, namespace: $NAMESPACE}
spec:
  type: landscaper.gardener.cloud/kubernetes-cluster
  config:
    kubeconfig: |
END
    sed 's/^/      /' "$2"
  } | resource_cluster apply --server-side --force-conflicts --field-manager example -f -
}

# publish pushes the component of an example into the registry.
publish() {
  landscaper-cli components push "$1" "$REPO_BASE_URL" --overwrite --skip-digests --quiet --addenv
}

# remove deletes Installations, and returns when they no longer exist.
remove() {
  resource_cluster delete installation --namespace "$NAMESPACE" --ignore-not-found --timeout 5m "$@"
}

# list is a YAML list of words.
list() {
  local words=("$@")
  ((${#words[@]} == 0)) || printf -v words '"%s",' "$@"
  echo "[${words[*]:0:1}]"
}

# as_tenant lets the functions above work on the cluster of a tenant, in a NAMESPACE of the
# tenant.
as_tenant() { RESOURCE_CLUSTER_KUBECONFIG_PATH=$TENANT_CLUSTER_KUBECONFIG_PATH NAMESPACE=$1; }

# unused ends a script if there are objects of Flux: deleted without Flux, they stay forever.
unused() {
  local left
  left=$(kubectl --kubeconfig "$1" get kustomizations.kustomize.toolkit.fluxcd.io,gitrepositories.source.toolkit.fluxcd.io,ocirepositories.source.toolkit.fluxcd.io "${@:2}" --output name)
  if [[ -n $left ]]; then
    echo "Flux is in use: delete these first, or the Installations that they belong to:"$'\n'"$left" >&2
    exit 1
  fi
}

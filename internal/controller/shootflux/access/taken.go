package access

import (
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/sourcesecret"
)

// ofOurs is the prefix of the names of the extension's ManagedResources, and of those of the first
// implementation.
const ofOurs = "extension-shoot-flux-flux-"

// RightsToSee are the objects in a shoot that permit to read Secrets with these names and no
// others.
//
// The rule has names and namespaces, because the permission to read all Secrets of a shoot gives
// access to everything in it.
func RightsToSee(secrets []*unstructured.Unstructured) []*unstructured.Unstructured {
	names := map[string][]any{}
	for _, secret := range secrets {
		names[secret.GetNamespace()] = append(names[secret.GetNamespace()], secret.GetName())
	}
	var rights []*unstructured.Unstructured
	for _, namespace := range slices.Sorted(maps.Keys(names)) {
		metadata := map[string]any{"namespace": namespace, "name": role}
		rights = append(rights, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": rbacVersion, "kind": "Role", "metadata": metadata,
			"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets"}, "resourceNames": names[namespace], "verbs": []any{"get"}}},
		}}, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": rbacVersion, "kind": "RoleBinding", "metadata": maps.Clone(metadata),
			"roleRef": reference("Role"), "subjects": subjects(),
		}})
	}
	return rights
}

// taken returns the first of these Secrets that exists in the shoot already and belongs to another
// owner; "" if there is no such Secret.
func (s *Shoots) taken(ctx context.Context, namespace, kubeconfig string, secrets ...*unstructured.Unstructured) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	connection, err := s.connect(ctx, namespace, kubeconfig)
	if err != nil {
		return "", err
	}
	for _, secret := range secrets {
		found, err := get(ctx, connection, secret)
		if err != nil {
			return "", err
		}
		if found != nil && !ours(found, namespace) {
			return secret.GetNamespace() + "/" + secret.GetName(), nil
		}
	}
	return "", nil
}

// ours says whether an object of the shoot with this namespace on its seed was written by
// this extension or by one before it.
func ours(found *unstructured.Unstructured, namespace string) bool {
	origin := found.GetAnnotations()[gardener.OriginAnnotation]
	// The origin begins with the name of a seed, perhaps of another one.
	_, of, named := strings.Cut(origin, ":")
	if !named {
		of = origin
	}
	return found.GetLabels()[sourcesecret.Label] == sourcesecret.Manager || strings.HasPrefix(of, namespace+"/"+ofOurs)
}

package install

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// applyPolicies writes the policies and removes those that older releases left.
func applyPolicies(ctx context.Context, cluster client.Client, policies []*unstructured.Unstructured, out io.Writer) error {
	wanted := make(map[string]bool, len(policies))
	for _, policy := range policies {
		result, err := applyPolicy(ctx, cluster, policy)
		if err != nil {
			return fmt.Errorf("install %s %s: %w", policy.GetKind(), policy.GetName(), err)
		}
		wanted[policy.GetName()] = true
		fmt.Fprintf(out, "%s %s: %s\n", policy.GetKind(), policy.GetName(), result)
	}
	return removeObsolete(ctx, cluster, wanted, out)
}

func applyPolicy(ctx context.Context, cluster client.Client, policy *unstructured.Unstructured) (result, error) {
	live := policy.DeepCopy()
	err := cluster.Get(ctx, client.ObjectKeyFromObject(policy), live)
	if client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("read the installed object: %w", err)
	}
	if err == nil && includes(live.Object, policy.Object) {
		return unchanged, nil
	}
	done := updated
	if err != nil {
		done = created
	}
	return done, cluster.Apply(ctx, client.ApplyConfigurationFromUnstructured(policy.DeepCopy()), client.FieldOwner(fieldOwner), client.ForceOwnership)
}

// includes reports whether a stored value has all fields of a wanted one. It may have more: the API
// server fills in defaults.
func includes(stored, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		object, ok := stored.(map[string]any)
		if !ok {
			return false
		}
		for key, value := range wanted {
			if !includes(object[key], value) {
				return false
			}
		}
		return true
	case []any:
		list, ok := stored.([]any)
		return ok && slices.EqualFunc(list, wanted, includes)
	}
	return stored == wanted
}

// removeObsolete deletes our bindings and policies that are no longer wanted. Bindings are deleted
// first: a binding without its policy has no effect, but is noise.
func removeObsolete(ctx context.Context, cluster client.Client, wanted map[string]bool, out io.Writer) error {
	ours := client.MatchingLabels{componentLabel: componentAdmission}
	bindings := &admissionv1.ValidatingAdmissionPolicyBindingList{}
	if err := cluster.List(ctx, bindings, ours); err != nil {
		return fmt.Errorf("list policy bindings: %w", err)
	}
	policies := &admissionv1.ValidatingAdmissionPolicyList{}
	if err := cluster.List(ctx, policies, ours); err != nil {
		return fmt.Errorf("list policies: %w", err)
	}
	var obsolete []client.Object
	kinds := map[client.Object]string{}
	for i := range bindings.Items {
		obsolete = append(obsolete, &bindings.Items[i])
		kinds[&bindings.Items[i]] = "ValidatingAdmissionPolicyBinding"
	}
	for i := range policies.Items {
		obsolete = append(obsolete, &policies.Items[i])
		kinds[&policies.Items[i]] = "ValidatingAdmissionPolicy"
	}
	for _, object := range obsolete {
		if wanted[object.GetName()] {
			continue
		}
		if err := cluster.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete obsolete policy %s: %w", object.GetName(), err)
		}
		fmt.Fprintf(out, "%s %s: removed\n", kinds[object], object.GetName())
	}
	return nil
}

func listFrom(resourceVersion string) *metav1.ListOptions {
	return &metav1.ListOptions{ResourceVersion: resourceVersion}
}

func newReader(content []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(content)) }

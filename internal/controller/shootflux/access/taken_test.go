package access

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestOurs(t *testing.T) {
	const origin, label = "resources.gardener.cloud/origin", "app.kubernetes.io/managed-by"
	for _, row := range []struct {
		reason              string
		labels, annotations map[string]string
		want                bool
	}{
		{"a Secret without a mark of its owner", nil, nil, false},
		{"we have written it", map[string]string{label: "gardener-extension-shoot-flux"}, nil, true},
		{"a Secret of another tool", map[string]string{label: "Helm"}, nil, false},
		{"the first implementation has", nil, map[string]string{origin: "seed:shoot--lab--bench/extension-shoot-flux-flux-config"}, true},
		{"a Secret of the extension on a seed without a name", nil, map[string]string{origin: "shoot--lab--bench/extension-shoot-flux-flux-config"}, true},
		{"Gardener has", nil, map[string]string{origin: "seed:shoot--lab--bench/shoot-core-system"}, false},
		{"a Secret of another extension", nil, map[string]string{origin: "seed:shoot--lab--bench/extension-shoot-cert"}, false},
		{"a Secret of the extension from another shoot", nil, map[string]string{origin: "seed:shoot--lab--other/extension-shoot-flux-flux-config"}, false},
		{"the name of a seed proves nothing", nil, map[string]string{origin: "shoot--lab--bench/extension-shoot-flux-flux-x:garden/x"}, false},
	} {
		t.Run(row.reason, func(t *testing.T) {
			found := &unstructured.Unstructured{Object: map[string]any{}}
			found.SetLabels(row.labels)
			found.SetAnnotations(row.annotations)
			if got := ours(found, "shoot--lab--bench"); got != row.want {
				t.Errorf("ours: %t", got)
			}
		})
	}
}

// TestRightsToSee are for these Secrets and for nothing else.
func TestRightsToSee(t *testing.T) {
	secret := func(namespace, name string) *unstructured.Unstructured {
		made := &unstructured.Unstructured{Object: map[string]any{}}
		made.SetNamespace(namespace)
		made.SetName(name)
		return made
	}
	rights := RightsToSee([]*unstructured.Unstructured{secret("b", "one"), secret("a", "two"), secret("b", "three")})
	if len(rights) != 4 {
		t.Fatalf("%d objects", len(rights))
	}
	for i, want := range []string{
		"a [map[apiGroups:[] resourceNames:[two] resources:[secrets] verbs:[get]]]", "a <nil>",
		"b [map[apiGroups:[] resourceNames:[one three] resources:[secrets] verbs:[get]]]", "b <nil>",
	} {
		if got := fmt.Sprint(rights[i].GetNamespace(), " ", rights[i].Object["rules"]); got != want {
			t.Errorf("%s %s, want %s", rights[i].GetKind(), got, want)
		}
	}
}

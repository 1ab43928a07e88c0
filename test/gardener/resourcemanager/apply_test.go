package resourcemanager

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	made := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &made.Object); err != nil {
		t.Fatal(err)
	}
	return made
}

func TestMerge(t *testing.T) {
	tests := []struct {
		reason, present, wanted, merged string
		onlyLabels                      bool
	}{
		{
			reason:  "additions of others to the metadata stay, additions to the spec are removed",
			present: "kind: A\nmetadata: {name: a, uid: u, resourceVersion: '7', finalizers: [f], labels: {of: others, x: old}, annotations: {b: others}}\nspec: {a: 1, more: 2}\nstatus: {s: 1}\n",
			wanted:  "kind: A\nmetadata: {name: a, labels: {x: new}}\nspec: {a: 2}\n",
			merged:  "kind: A\nmetadata: {name: a, uid: u, resourceVersion: '7', finalizers: [f], labels: {of: others, x: new}, annotations: {b: others}}\nspec: {a: 2}\nstatus: {s: 1}\n",
		},
		{
			reason:     "foreign labels are removed with forceOverwriteLabels",
			present:    "kind: A\nmetadata: {labels: {of: others}, annotations: {b: others}}\n",
			wanted:     "kind: A\nmetadata: {labels: {x: new}}\n",
			merged:     "kind: A\nmetadata: {labels: {x: new}, annotations: {b: others}}\n",
			onlyLabels: true,
		},
		{
			reason:  "Secrets of a ServiceAccount are written by others",
			present: "kind: ServiceAccount\nmetadata: {name: a}\nsecrets: [{name: token}]\n",
			wanted:  "kind: ServiceAccount\nmetadata: {name: a}\n",
			merged:  "kind: ServiceAccount\nmetadata: {name: a}\nsecrets: [{name: token}]\n",
		},
		{
			reason:  "the address of a Service is given by the cluster",
			present: "kind: Service\nmetadata: {name: a}\nspec: {clusterIP: 10.0.0.1, ports: [{port: 1}]}\n",
			wanted:  "kind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 2}]}\n",
			merged:  "kind: Service\nmetadata: {name: a}\nspec: {clusterIP: 10.0.0.1, ports: [{port: 2}]}\n",
		},
		{
			reason:  "a restart that a user has requested is not reverted",
			present: "kind: Deployment\nmetadata: {name: a}\nspec: {template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: now}}}}\n",
			wanted:  "kind: Deployment\nmetadata: {name: a}\nspec: {template: {metadata: {annotations: {a: b}}}}\n",
			merged:  "kind: Deployment\nmetadata: {name: a}\nspec: {template: {metadata: {annotations: {a: b, kubectl.kubernetes.io/restartedAt: now}}}}\n",
		},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := merge(object(t, test.present), object(t, test.wanted), test.onlyLabels, false)
			want := object(t, test.merged)
			if want.GetAnnotations() == nil {
				got.SetAnnotations(nil)
			}
			if want.GetLabels() == nil {
				got.SetLabels(nil)
			}
			if difference := cmp.Diff(want.Object, got.Object); difference != "" {
				t.Error(difference)
			}
		})
	}
}

func TestContains(t *testing.T) {
	present := "spec: {a: 1, b: [x, y], c: {d: e}, filled: in}\n"
	for wanted, want := range map[string]bool{
		"spec: {a: 1}\n": true, "spec: {a: 1.0, b: [x, y]}\n": true, "spec: {c: {}}\n": true, "spec: {nothing: {}}\n": true,
		"spec: {a: 2}\n": false, "spec: {b: [x]}\n": false, "spec: {b: [y, x]}\n": false, "spec: {c: {d: f}}\n": false, "spec: {more: 1}\n": false,
	} {
		if got := contains(object(t, present).Object, object(t, wanted).Object); got != want {
			t.Errorf("%q: %t", wanted, got)
		}
	}
}

func TestInject(t *testing.T) {
	const label = "shoot.gardener.cloud/no-cleanup"
	made := object(t, "kind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: {}}}\n")
	inject(made, map[string]string{label: "true"})
	template, _, _ := unstructured.NestedString(made.Object, "spec", "template", "metadata", "labels", label)
	if made.GetLabels()[label] != "true" || made.GetLabels()[labelManagedBy] != "gardener" || template != "true" {
		t.Errorf("got %v", made.Object)
	}
}

func TestDecode(t *testing.T) {
	made := &contents{}
	made.decode([]byte("# nothing\n---\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\nkind: [\n---\napiVersion: v1\nkind: NoName\n---\n{\"apiVersion\":\"a.b/v1\",\"kind\":\"Other\",\"metadata\":{\"name\":\"c\"}}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n"), "secret", "key")
	sortForInstallation(made.objects)
	var kinds []string
	for _, decoded := range made.objects {
		kinds = append(kinds, decoded.GetKind())
	}
	if want := []string{"Namespace", "Secret", "Other"}; !slices.Equal(kinds, want) {
		t.Errorf("in the order of Helm, unknown kinds last: %v", kinds)
	}
	if made.undecodable == nil || strings.Count(made.undecodable.Error(), "key key of secret secret") != 2 {
		t.Errorf("undecodable: %v", made.undecodable)
	}
}

package managed

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
)

func configMap(name string, size int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
		"data": map[string]any{"text": strings.Repeat("x", size)},
	}}
}

func names(t *testing.T, piece Piece) []string {
	t.Helper()
	secrets, err := piece.Secrets("shoot")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, secret := range secrets {
		if secret.Immutable == nil || !*secret.Immutable || secret.Labels[gardener.GarbageLabel] != "true" {
			t.Errorf("%s may be changed, or stays for ever: %v", secret.Name, secret.ObjectMeta)
		}
		list = append(list, secret.Name)
	}
	return list
}

func TestSecretsAreNamedForTheirContents(t *testing.T) {
	one := Piece{Name: "piece", Objects: []*unstructured.Unstructured{configMap("a", 1)}}
	other := Piece{Name: "piece", Objects: []*unstructured.Unstructured{configMap("a", 2)}}
	once := Piece{Name: "piece", Objects: one.Objects, Once: true}
	if !reflect.DeepEqual(names(t, one), names(t, one)) {
		t.Error("the same contents have two names")
	}
	if reflect.DeepEqual(names(t, one), names(t, other)) || reflect.DeepEqual(names(t, one), names(t, once)) {
		t.Error("different contents have one name")
	}
	if list := names(t, Piece{Name: "piece"}); len(list) != 1 {
		t.Errorf("an empty piece has the Secrets %v, want one", list)
	}
}

func TestLargeContentsAreSplit(t *testing.T) {
	piece := Piece{Name: "piece"}
	for i := range 5 {
		piece.Objects = append(piece.Objects, configMap(fmt.Sprint("m", i), 400<<10))
	}
	secrets, err := piece.Secrets("shoot")
	if err != nil || len(secrets) != 3 {
		t.Fatalf("%d Secrets (%v), want 3", len(secrets), err)
	}
	documents := 0
	for _, secret := range secrets {
		documents += bytes.Count(secret.Data[dataKey], []byte("---\n"))
		if len(secret.Data[dataKey]) > 1<<20 {
			t.Errorf("%s has %d bytes, more than an API server takes", secret.Name, len(secret.Data[dataKey]))
		}
	}
	if documents != 5 {
		t.Errorf("%d documents, want 5", documents)
	}
	piece.Objects = append(piece.Objects, configMap("huge", 1<<20))
	if _, err := piece.Secrets("shoot"); err == nil || !strings.Contains(err.Error(), "huge") {
		t.Errorf("an object that fits into no Secret: %v", err)
	}
}

func TestContentsAreMarked(t *testing.T) {
	object := configMap("a", 1)
	for _, once := range []bool{false, true} {
		secrets, err := Piece{Name: "piece", Objects: []*unstructured.Unstructured{object}, Once: once}.Secrets("shoot")
		if err != nil {
			t.Fatal(err)
		}
		text := string(secrets[0].Data[dataKey])
		if !strings.Contains(text, `"shoot.gardener.cloud/no-cleanup":"true"`) {
			t.Errorf("gardenlet would clean up %s", text)
		}
		if strings.Contains(text, `"resources.gardener.cloud/ignore":"true"`) != once {
			t.Errorf("once is %v, but the resource manager gets %s", once, text)
		}
	}
	if len(object.GetLabels())+len(object.GetAnnotations()) > 0 {
		t.Error("the object of the caller was changed")
	}
}

func TestWantedKeepsWhatOthersWrote(t *testing.T) {
	old := &gardener.ManagedResource{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		"team": "network", gardener.IgnoreAnnotation: "true", gardener.ReferenceAnnotationPrefix + "00000000": "managedresource-old",
	}}}
	old.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: "managedresource-old"}}
	made := wanted(old, []*corev1.Secret{{ObjectMeta: metav1.ObjectMeta{Name: "managedresource-new"}}})
	if made.Annotations["team"] != "network" {
		t.Error("an annotation of another client is lost")
	}
	if frozen(made) {
		t.Error("the new contents would never be applied")
	}
	references := 0
	for name, value := range made.Annotations {
		if strings.HasPrefix(name, gardener.ReferenceAnnotationPrefix) {
			references++
			if value != "managedresource-new" {
				t.Errorf("%s is referred to for ever", value)
			}
		}
	}
	if references != 1 || len(made.Spec.SecretRefs) != 1 || made.Spec.SecretRefs[0].Name != "managedresource-new" {
		t.Errorf("%d references, contents %v", references, made.Spec.SecretRefs)
	}
	if made.Spec.KeepObjects == nil || !*made.Spec.KeepObjects {
		t.Error("an accident with the ManagedResource would remove Flux")
	}
}

func TestJudge(t *testing.T) {
	resource := func(seen int64, conditions ...gardener.Condition) *gardener.ManagedResource {
		return &gardener.ManagedResource{
			ObjectMeta: metav1.ObjectMeta{Generation: 2},
			Status:     gardener.ManagedResourceStatus{ObservedGeneration: seen, Conditions: conditions},
		}
	}
	applied := gardener.Condition{Type: gardener.ResourcesApplied, Status: gardener.ConditionTrue}
	failed := gardener.Condition{Type: gardener.ResourcesApplied, Status: gardener.ConditionFalse, Reason: "ApplyFailed", Message: "no"}
	healthy := gardener.Condition{Type: gardener.ResourcesHealthy, Status: gardener.ConditionTrue}
	ill := gardener.Condition{Type: gardener.ResourcesHealthy, Status: gardener.ConditionFalse, Reason: "DeploymentUnhealthy"}
	ignored := resource(1)
	ignored.Annotations = map[string]string{gardener.IgnoreAnnotation: "true"}
	for _, test := range []struct {
		name             string
		resource         *gardener.ManagedResource
		applied, healthy bool
		why, reason      string
	}{
		{"missing", nil, false, false, "Missing", "it must be written"},
		{"new", resource(0), false, false, "Pending", "the resource manager has not observed it"},
		{"old conditions", resource(1, applied, healthy), false, false, "Pending", "they are about other contents"},
		{"failed", resource(2, failed, healthy), false, false, "ApplyFailed", "the health is of what was there"},
		{"no conditions", resource(2), false, false, "NotApplied", "they follow"},
		{"ill", resource(2, applied, ill), true, false, "DeploymentUnhealthy", "its pods do not run"},
		{"no health", resource(2, applied), true, false, "NotHealthy", "it follows"},
		{"healthy", resource(2, applied, healthy), true, true, "", "it is done"},
		{"ignored", ignored, true, true, "", "an ignored ManagedResource is not observed, nor is its generation"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Judge(test.resource)
			if got.Applied != test.applied || got.Healthy != test.healthy || got.Reason != test.why || got.Unseen != (test.why == "Pending") {
				t.Errorf("%+v: %s", got, test.reason)
			}
		})
	}
}

// TestStandingOfOthers: the state of a ManagedResource of another writer, and that a shoot cannot
// fill the status of its Extension.
func TestStandingOfOthers(t *testing.T) {
	resource := &gardener.ManagedResource{}
	resource.Status.Conditions = []gardener.Condition{{Type: gardener.ResourcesApplied, Status: gardener.ConditionFalse, Reason: "ApplyFailed", Message: "a\n" + strings.Repeat("x", 1<<20)}}
	resource.Status.Resources = []gardener.ManagedObject{{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "a"}}
	standing := Judge(resource)
	if len(standing.Message) > 2000 || !strings.HasPrefix(standing.Message, "a x") {
		t.Errorf("the message has %d bytes", len(standing.Message))
	}
	a := configMap("a", 1)
	if standing.Has(a) {
		t.Error("it has an object of another namespace")
	}
	if a.SetNamespace("default"); !standing.Has(a) {
		t.Error("it lacks its object")
	}
	if standing.Ours {
		t.Error("it is ours, and we have not written it")
	}
	resource.Labels = map[string]string{ManagerLabel: Manager}
	if !Judge(resource).Ours {
		t.Error("it is not ours, and we have written it")
	}
}

func TestReleaseOfInstallation(t *testing.T) {
	for _, row := range []struct{ reason, text, want string }{
		{"as Flux publishes it", "  labels:\n    app.kubernetes.io/part-of: flux\n    app.kubernetes.io/version: v0.29.5\n", "v0.29.5"},
		{"as we write it", `{"labels":{"app.kubernetes.io/version":"v2.3.0"}}`, "v2.3.0"},
		{"a candidate", "app.kubernetes.io/version: v2.0.0-rc.1\n", "v2.0.0-rc.1"},
		{"something else has a version", "version: v1.2.3\n", ""},
		{"no release", "app.kubernetes.io/version: latest\n", ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			got := ""
			if found := releaseLabel.FindStringSubmatch(row.text); found != nil {
				got = found[1]
			}
			if got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

package loss

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

const configMap = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}`

// TestPace deletes an object whenever it exists, for an hour: it is applied again at once, then
// after growing pauses, and wake is called for each of them.
func TestPace(t *testing.T) {
	object, start := parse(t, configMap), time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	clock := start
	losses := New(func() {})
	losses.now = func() time.Time { return clock }
	defer losses.Close()
	var applied []time.Duration
	for ; clock.Before(start.Add(time.Hour)); clock = clock.Add(time.Second) {
		if losses.Due(object) {
			applied = append(applied, clock.Sub(start))
		} else if losses.next == nil {
			t.Fatalf("after %s nothing is triggered when the object is due", clock.Sub(start))
		}
	}
	want := []time.Duration{0, 2 * time.Second, 6 * time.Second, 14 * time.Second, 30 * time.Second, 62 * time.Second, 122 * time.Second, 182 * time.Second}
	for i, at := range want {
		if applied[i] != at {
			t.Fatalf("applied after %v, want %v", applied[:len(want)], want)
		}
	}
	if len(applied) > 65 {
		t.Errorf("applied %d times in an hour", len(applied))
	}
}

// TestTriggersWhenDue waits for the real pause.
func TestTriggersWhenDue(t *testing.T) {
	triggered := make(chan struct{}, 8)
	losses := New(func() { triggered <- struct{}{} })
	defer losses.Close()
	object := parse(t, configMap)
	if !losses.Due(object) || losses.Due(object) {
		t.Fatal("it is applied at once, and not at once for the second time")
	}
	select {
	case <-triggered:
	case <-time.After(time.Minute):
		t.Fatal("nothing was triggered")
	}
	if !losses.Due(object) {
		t.Error("it was triggered too early")
	}
}

func TestAbout(t *testing.T) {
	object := parse(t, configMap)
	losses := New(func() {})
	defer losses.Close()
	losses.now = func() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }
	expect := func(want string) {
		t.Helper()
		if got := losses.About(object); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	expect("")
	losses.Due(object)
	expect("it was deleted once (the audit log of its cluster says by whom) and applied again at 2026-01-01T12:00:00Z")
	losses.Due(object)
	expect("it was deleted 2 times (the audit log of its cluster says by whom) and is applied again at 2026-01-01T12:00:02Z")
	losses.Due(object)
	expect("it was deleted 2 times (the audit log of its cluster says by whom) and is applied again at 2026-01-01T12:00:02Z")
}

func TestDeleter(t *testing.T) {
	tests := []struct{ reason, object, want string }{
		{"the client is not known", configMap, "the audit log of its cluster says by whom"},
		{"the token of a ServiceAccount", `{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: a, namespace: ns, annotations: {kubernetes.io/service-account.name: robot}}}`, "kube-controller-manager deletes it as long as ServiceAccount ns/robot does not exist"},
		{"a Secret of another type", `{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: ns, annotations: {kubernetes.io/service-account.name: robot}}}`, "the audit log"},
		{"an owner", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u-1}]}}`, "the garbage collector deletes it if its owner Pod p with UID u-1 does not exist"},
		{"Flux", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {kustomize.toolkit.fluxcd.io/name: apps}}}`, "Flux deletes what its Kustomization apps does not list"},
		{"Argo CD", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {argocd.argoproj.io/instance: shop}}}`, "Argo CD deletes what its Application shop does not list"},
		{"Gardener", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {resources.gardener.cloud/managed-by: gardener}}}`, "gardener deletes what its ManagedResource does not list"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := Deleter(parse(t, test.object)); !strings.HasPrefix(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

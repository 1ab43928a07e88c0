package readiness

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/cluster/watch"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

const (
	// answered is a Kustomization whose second request was answered with revision two.
	answered = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux, generation: 3, finalizers: [finalizers.fluxcd.io], annotations: {reconcile.fluxcd.io/requestedAt: second}}
spec:
  sourceRef: {kind: GitRepository, name: files}
  suspend: false
  patches: [{patch: "data: {token: hidden-hidden}"}]
  postBuild: {substitute: {password: hunter2hunter2}}
status:
  observedGeneration: 3
  lastHandledReconcileAt: second
  lastAttemptedRevision: two
  lastAppliedRevision: two
  history: [{digest: a, totalReconciliations: 2}]
  conditions: [{type: Ready, status: "True", reason: ReconciliationSucceeded, observedGeneration: 3}]
`
	fetched = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: files, namespace: flux, generation: 1, annotations: {reconcile.fluxcd.io/requestedAt: second}}
status:
  observedGeneration: 1
  lastHandledReconcileAt: second
  artifact: {revision: two}
  conditions: [{type: Ready, status: "True", observedGeneration: 1}]
`
)

func TestAnswers(t *testing.T) {
	failing := []string{`status: "True", reason: ReconciliationSucceeded`, `status: "False", reason: BuildFailed, message: "no path with hidden-hidden and hunter2hunter2"`}
	tests := []struct {
		reason string
		// change and source are pairs of texts to replace.
		change, source []string
		want           string
		hopeless       bool
	}{
		{"everything is as it was asked for", nil, nil, "", false},
		{"the answer to an earlier request", []string{"lastHandledReconcileAt: second", "lastHandledReconcileAt: first"}, nil, "Flux has not answered the request yet", false},
		{"nothing was answered yet", []string{"lastHandledReconcileAt: second", "other: 1"}, nil, "Flux has not answered the request yet", false},
		{"an answer of the status alone, before the condition", []string{"conditions: [", "nothing: ["}, nil, "has not worked on its present generation", false},
		{"the condition is about an earlier generation", []string{"Succeeded, observedGeneration: 3", "Succeeded, observedGeneration: 2"}, nil, "has not worked on its present generation", false},
		{"the object is about an earlier generation", []string{"status:\n  observedGeneration: 3", "status:\n  observedGeneration: 2"}, nil, "has not seen its present generation", false},
		{"Flux is applying", []string{`status: "True"`, "status: Unknown"}, nil, "Flux is at work", false},
		{"another client has suspended the object", []string{"suspend: false", "suspend: true"}, nil, "suspended", false},
		{"the object is being deleted", []string{"generation: 3,", "generation: 3, deletionTimestamp: '2026-01-01T00:00:00Z',"}, nil, "being deleted", false},
		{"a failure says why, but no value; the same files cannot do better", failing, nil, "BuildFailed: no path with … and …", true},
		{"with newer files it may do better", failing, []string{"revision: two", "revision: three"}, "BuildFailed", false},
		{"a failure of an attempt without files", append([]string{"lastAttemptedRevision: two", "other: two"}, failing...), nil, "BuildFailed", false},
		{"a failure that may pass", []string{`status: "True", reason: ReconciliationSucceeded`, `status: "False", reason: ReconciliationFailed, message: timeout`}, nil, "ReconciliationFailed: timeout", false},
		{"Flux has given up", []string{"conditions: [", `conditions: [{type: Stalled, status: "True", message: access denied, observedGeneration: 3}, `}, nil, "Flux has given up: access denied", true},
		{"the source has a newer revision than was applied", nil, []string{"revision: two", "revision: three"}, "has revision three, which Flux has not applied yet", false},
		{"the source has not answered its request", nil, []string{"lastHandledReconcileAt: second", "lastHandledReconcileAt: first"}, "its source GitRepository flux/files: Flux has not answered", false},
		{"the source cannot be fetched", nil, []string{`status: "True"`, `status: "False", reason: GitOperationFailed, message: no such commit`}, "its source GitRepository flux/files: GitOperationFailed: no such commit", false},
		{"the source was never fetched", nil, []string{"artifact: {revision: two}", "other: 1", "requestedAt: second", "other: second"}, "has not fetched it yet", false},
		{"the source has no request", nil, []string{"requestedAt: second", "other: second"}, "", false},
		{"another client has changed the source without a request", nil, []string{"requestedAt: second", "other: second", "generation: 1,", "generation: 2,"}, "its source GitRepository flux/files: Flux has not seen its present generation", false},
		{"another client has changed the source to a commit that cannot be fetched", nil, []string{"requestedAt: second", "other: second", "generation: 1,", "generation: 2,", `status: "True"`, `status: "False", reason: GitOperationFailed, message: no such commit`}, "its source GitRepository flux/files: GitOperationFailed: no such commit", false},
		{"another client has changed the source and suspended it", nil, []string{"requestedAt: second", "other: second", "generation: 1,", "generation: 2,", "status:\n", "spec: {suspend: true}\nstatus:\n"}, "", false},
		{"the source does not exist", nil, []string{"name: files", "name: others"}, "its source GitRepository flux/files: it does not exist", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			mapping := cluster.Know(schema.FromAPIVersionAndKind("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "kustomizations", meta.RESTScopeNamespace)
			cluster.Know(schema.FromAPIVersionAndKind("source.toolkit.fluxcd.io/v1", "GitRepository"), "gitrepositories", meta.RESTScopeNamespace)
			cluster.Put(parse(t, strings.NewReplacer(test.source...).Replace(fetched)))
			stored := cluster.Put(parse(t, strings.NewReplacer(test.change...).Replace(answered)))
			check := NewAnswers(cluster, unchanged, func() {})
			check.Add(mapping, stored)
			unready, err := check.Look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got Finding
			if len(unready) > 0 {
				got = unready[0].Finding
			}
			if (got.Why == "") != (test.want == "") || !strings.Contains(got.Why, test.want) || got.Hopeless != test.hopeless {
				t.Errorf("%+v, want %q, hopeless %t", got, test.want, test.hopeless)
			}
			check.Close()
			if cluster.Watched() != 0 {
				t.Errorf("%d watches are left", cluster.Watched())
			}
		})
	}
}

// unchanged says that no item is to change a source.
func unchanged(context.Context, corev1.ObjectReference, *unstructured.Unstructured) (string, error) {
	return "", nil
}

// TestSourceThatIsToChange: a result that looks complete is not, nor is a failure final, as long as
// an item is still to change the source; the source is watched meanwhile.
func TestSourceThatIsToChange(t *testing.T) {
	for _, ready := range []string{`status: "True"`, `status: "False", message: "no path"`} {
		t.Run(ready, func(t *testing.T) {
			cluster := fakecluster.New()
			mapping := cluster.Know(schema.FromAPIVersionAndKind("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "kustomizations", meta.RESTScopeNamespace)
			cluster.Know(schema.FromAPIVersionAndKind("source.toolkit.fluxcd.io/v1", "GitRepository"), "gitrepositories", meta.RESTScopeNamespace)
			cluster.Put(parse(t, fetched))
			who, failed := "DeployItem source", errors.New("no answer")
			check := NewAnswers(cluster, func(_ context.Context, object corev1.ObjectReference, live *unstructured.Unstructured) (string, error) {
				want := corev1.ObjectReference{APIVersion: "source.toolkit.fluxcd.io/v1", Kind: "GitRepository", Namespace: "flux", Name: "files"}
				if object != want || live.GetName() != "files" {
					t.Errorf("asked for %+v, which is %v", object, live)
				}
				return who, failed
			}, func() {})
			check.Add(mapping, cluster.Put(parse(t, strings.NewReplacer(`status: "True", reason: ReconciliationSucceeded`, ready+", reason: BuildFailed").Replace(answered))))
			if _, err := check.Look(t.Context()); !errors.Is(err, failed) {
				t.Errorf("error %v", err)
			}
			failed = nil
			unready, err := check.Look(t.Context())
			if err != nil || len(unready) != 1 || unready[0].Hopeless || unready[0].Why != "its source GitRepository flux/files is to be changed by DeployItem source" || cluster.Watched() != 2 {
				t.Errorf("%+v (%v), %d watches", unready, err, cluster.Watched())
			}
			who = ""
			unready, err = check.Look(t.Context())
			if err != nil || (len(unready) == 0) != strings.Contains(ready, "True") || len(unready) == 1 && !unready[0].Hopeless {
				t.Errorf("%+v (%v)", unready, err)
			}
			check.Close()
		})
	}
}

// TestAnswerWithoutWork: an object that has lost Flux's finalizer gets it back, and with
// it an answer to the request, before Flux does anything.
func TestAnswerWithoutWork(t *testing.T) {
	before := parse(t, strings.Replace(answered, "finalizers: [finalizers.fluxcd.io], ", "", 1))
	now := parse(t, answered)
	if finding, _ := answer(before, now); !strings.Contains(finding.Why, "before it has done anything") {
		t.Errorf("%+v", finding)
	}
	now = parse(t, strings.Replace(answered, "totalReconciliations: 2", "totalReconciliations: 3", 1))
	if finding, _ := answer(before, now); !finding.Ready() {
		t.Errorf("%+v", finding)
	}
}

// TestFailureOutlivesTheNextAttempt: while Flux tries again, its status has no failure any more;
// the item still reports it.
func TestFailureOutlivesTheNextAttempt(t *testing.T) {
	cluster := fakecluster.New()
	mapping := cluster.Know(schema.FromAPIVersionAndKind("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "kustomizations", meta.RESTScopeNamespace)
	cluster.Know(schema.FromAPIVersionAndKind("source.toolkit.fluxcd.io/v1", "GitRepository"), "gitrepositories", meta.RESTScopeNamespace)
	cluster.Put(parse(t, fetched))
	check := NewAnswers(cluster, unchanged, func() {})
	defer check.Close()
	for i, state := range []struct{ status, want string }{
		{"status: Unknown", "Flux is at work"},
		{`status: "False", message: no path`, "ReconciliationSucceeded: no path"},
		{"status: Unknown", "Flux is at work again, after ReconciliationSucceeded: no path"},
		{`status: "True"`, ""},
	} {
		now := cluster.Put(parse(t, strings.Replace(answered, `status: "True"`, state.status, 1)))
		if i == 0 {
			check.Add(mapping, now)
		}
		unready, err := check.Look(t.Context())
		if err != nil || (len(unready) == 0) != (state.want == "") || len(unready) > 0 && unready[0].Why != state.want {
			t.Errorf("with %s: %v (%v), want %q", state.status, unready, err, state.want)
		}
	}
}

// TestSourceThatMayNotBeRead: without the right to read the source, Flux is believed.
func TestSourceThatMayNotBeRead(t *testing.T) {
	cluster := fakecluster.New()
	mapping := cluster.Know(schema.FromAPIVersionAndKind("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "kustomizations", meta.RESTScopeNamespace)
	cluster.Know(schema.FromAPIVersionAndKind("source.toolkit.fluxcd.io/v1", "GitRepository"), "gitrepositories", meta.RESTScopeNamespace)
	cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
		if request.Kind == "GitRepository" {
			return fakecluster.Fault{Before: apierrors.NewForbidden(schema.GroupResource{Resource: "gitrepositories"}, "files", nil)}
		}
		return fakecluster.Fault{}
	}
	check := NewAnswers(cluster, unchanged, func() {})
	check.Add(mapping, cluster.Put(parse(t, answered)))
	if unready, err := check.Look(t.Context()); err != nil || len(unready) != 0 {
		t.Errorf("%v (%v)", unready, err)
	}
}

// TestNewsOfTheSource: an item that waits for the source is triggered by it.
func TestNewsOfTheSource(t *testing.T) {
	cluster := fakecluster.New()
	mapping := cluster.Know(schema.FromAPIVersionAndKind("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "kustomizations", meta.RESTScopeNamespace)
	cluster.Know(schema.FromAPIVersionAndKind("source.toolkit.fluxcd.io/v1", "GitRepository"), "gitrepositories", meta.RESTScopeNamespace)
	cluster.Put(parse(t, strings.Replace(fetched, "lastHandledReconcileAt: second", "lastHandledReconcileAt: first", 1)))
	triggered := 0
	check := NewAnswers(cluster, unchanged, func() { triggered++ })
	check.Add(mapping, cluster.Put(parse(t, answered)))
	if unready, err := check.Look(t.Context()); err != nil || len(unready) != 1 {
		t.Fatalf("%v (%v)", unready, err)
	}
	before := triggered
	cluster.Put(parse(t, fetched))
	if triggered == before {
		t.Error("nothing was triggered")
	}
	if unready, err := check.Look(t.Context()); err != nil || len(unready) != 0 || cluster.Watched() != 0 {
		t.Errorf("%v (%v), %d watches", unready, err, cluster.Watched())
	}
}

// hasty is a cluster whose source answers just after it was looked at.
type hasty struct {
	*fakecluster.Cluster
	later *unstructured.Unstructured
}

func (h *hasty) Get(ctx context.Context, mapping *meta.RESTMapping, namespace, name string) (*unstructured.Unstructured, error) {
	object, err := h.Cluster.Get(ctx, mapping, namespace, name)
	if h.later != nil {
		h.Put(h.later)
		h.later = nil
	}
	return object, err
}

// TestSourceThatChangesInBetween: an event of the source between the read and the start of its
// watch is not lost, as a watch that others have begun has reported it already; and a source that
// cannot be watched is looked at again.
func TestSourceThatChangesInBetween(t *testing.T) {
	begin := func(t *testing.T, later bool) (*hasty, *Check, *int) {
		cluster := &hasty{Cluster: fakecluster.New()}
		mapping := cluster.Know(schema.FromAPIVersionAndKind("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "kustomizations", meta.RESTScopeNamespace)
		cluster.Know(schema.FromAPIVersionAndKind("source.toolkit.fluxcd.io/v1", "GitRepository"), "gitrepositories", meta.RESTScopeNamespace)
		cluster.Put(parse(t, strings.Replace(fetched, "lastHandledReconcileAt: second", "lastHandledReconcileAt: first", 1)))
		if later {
			cluster.later = parse(t, fetched)
		}
		triggered := new(int)
		check := NewAnswers(cluster, unchanged, func() { *triggered++ })
		check.Add(mapping, cluster.Put(parse(t, answered)))
		t.Cleanup(check.Close)
		return cluster, check, triggered
	}
	t.Run("it answers", func(t *testing.T) {
		_, check, triggered := begin(t, true)
		if unready, err := check.Look(t.Context()); err != nil || len(unready) != 1 || *triggered == 0 {
			t.Errorf("%v (%v), %d triggers", unready, err, *triggered)
		}
		if unready, err := check.Look(t.Context()); err != nil || len(unready) != 0 {
			t.Errorf("%v (%v)", unready, err)
		}
	})
	t.Run("it does not change", func(t *testing.T) {
		_, check, triggered := begin(t, false)
		if unready, err := check.Look(t.Context()); err != nil || len(unready) != 1 || *triggered != 0 {
			t.Errorf("%v (%v), %d triggers", unready, err, *triggered)
		}
	})
	t.Run("it cannot be watched", func(t *testing.T) {
		cluster, check, _ := begin(t, false)
		if unready, err := check.Look(t.Context()); err != nil || len(unready) != 1 {
			t.Errorf("%v (%v)", unready, err)
		}
		check.sources.watches["GitRepository flux/files"] = broken{}
		if _, err := check.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "its source GitRepository flux/files: Flux has not answered the request yet, and cannot be watched: forbidden") {
			t.Errorf("error %v", err)
		}
		cluster.Put(parse(t, fetched))
		if unready, err := check.Look(t.Context()); err != nil || len(unready) != 0 {
			t.Errorf("%v (%v)", unready, err)
		}
	})
}

// broken is a watch that fails.
type broken struct{}

func (broken) State() (watch.State, error) { return watch.State{}, errors.New("forbidden") }
func (broken) Close() error                { return nil }

func TestRequests(t *testing.T) {
	tests := []struct {
		reason   string
		old, new string
		want     bool
	}{
		{"a request to Flux", "", "", true},
		{"no request", "requestedAt", "other", false},
		{"a suspended object is no request", "suspend: false", "suspend: true", false},
		{"a program outside of Flux with the same annotation", "kustomize.toolkit.fluxcd.io/v1", "acme.example/v1", false},
		{"a kind of Flux that does not answer", "kustomize.toolkit.fluxcd.io/v1", "notification.toolkit.fluxcd.io/v1", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := Requests(parse(t, strings.Replace(answered, test.old, test.new, 1))); got != test.want {
				t.Errorf("%t, want %t", got, test.want)
			}
		})
	}
}

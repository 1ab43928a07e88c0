package deployer

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/runtime/job"
)

// TestErrorsHaveNames shows under which names errors stand in the status: those of the
// deployer that have some, and those that they always had.
func TestErrorsHaveNames(t *testing.T) {
	deleted := func(item *v1alpha1.DeployItem) {
		at := metav1.Now()
		item.DeletionTimestamp = &at
	}
	broken := errors.New("it broke")
	tests := []struct {
		reason            string
		item              *v1alpha1.DeployItem
		err               error
		operation, detail string
	}{
		{"an error without a name", newItem(), broken, "reconcile", "Reconcile"},
		{"an error of a deletion without a name", newItem(deleted), broken, "delete", "DeleteWithUninstall"},
		{"an error with a name keeps it", newItem(), &Error{Operation: "own", Reason: "Own", Message: "m"}, "own", "Own"},
		{"a wait keeps its name", newItem(), Waiting("own", "Own", "m"), "own", "Own"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			fail := func(context.Context, *Item) (Result, error) { return Done(), test.err }
			s := onStage(t, &script{reconcile: fail, remove: fail}, test.item)
			s.look()
			if last := s.item().Status.LastError; last.Operation != test.operation || last.Reason != test.detail {
				t.Errorf("%+v", last)
			}
		})
	}
}

// TestTargetsThatCannotWork names the operation, with an item that has no Target and
// with kubeconfigs that are refused, of both Targets.
func TestTargetsThatCannotWork(t *testing.T) {
	wrong := &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "wrong"},
		Spec:       v1alpha1.TargetSpec{Configuration: v1alpha1.NewAnyJSONPointer([]byte(`{"kubeconfig": {}}`))},
	}
	first := func(ctx context.Context, item *Item) error { _, err := item.Cluster(ctx); return err }
	second := func(ctx context.Context, item *Item) error { _, err := item.ClusterOf(ctx, "wrong"); return err }
	tests := []struct {
		reason  string
		target  bool
		connect func(context.Context, *Item) error
		want    string
	}{
		{"no Target", false, first, "set spec.target"},
		{"a kubeconfig that cannot work", true, first, "Target ns/wrong"},
		{"a kubeconfig of a second Target that cannot work", false, second, "Target ns/wrong"},
	}
	for _, test := range tests {
		for _, deletion := range []bool{false, true} {
			t.Run(test.reason, func(t *testing.T) {
				connect := func(ctx context.Context, item *Item) (Result, error) { return Done(), test.connect(ctx, item) }
				item := newItem(func(item *v1alpha1.DeployItem) {
					if test.target {
						item.Spec.Target = &v1alpha1.ObjectReference{Name: "wrong", Namespace: key.Namespace}
					}
					if at := metav1.Now(); deletion {
						item.DeletionTimestamp = &at
					}
				})
				s := onStage(t, &script{reconcile: connect, remove: connect}, item, wrong)
				s.reconciler.options.Clusters = pool{cluster.NewPool(cluster.PoolOptions{})}
				s.look()
				want := map[bool]string{false: "reconcile", true: "delete"}[deletion]
				last := s.item().Status.LastError
				if last.Operation != want || last.Reason != "ValidateTarget" || last.Codes[0] != v1alpha1.ErrorConfigurationProblem || !strings.Contains(last.Message, test.want) {
					t.Errorf("%+v", last)
				}
			})
		}
	}
}

// TestContext reads the Context of an item when it is asked for.
func TestContext(t *testing.T) {
	named := &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "named"}}
	usual := &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: v1alpha1.DefaultContextName}}
	for name, want := range map[string]string{"": "default", "named": "named", "missing": ""} {
		t.Run(name, func(t *testing.T) {
			found := ""
			s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
				context, err := item.Context(ctx)
				if err == nil {
					found = context.Name
				}
				return Done(), err
			}}, newItem(func(item *v1alpha1.DeployItem) { item.Spec.Context = name }), named, usual)
			s.look()
			if found != want {
				t.Errorf("Context %q: found %q", name, found)
			}
			if last := s.item().Status.LastError; want == "" && (last.Reason != "GetLandscaperContext" || !strings.Contains(last.Message, "Context ns/missing does not exist: create it")) {
				t.Errorf("last error %+v", last)
			}
		})
	}
}

// TestTestReconcile stores the job before the request for it is removed, and does not lose the
// request if it cannot be removed.
func TestTestReconcile(t *testing.T) {
	asked := func(item *v1alpha1.DeployItem) {
		item.Annotations = map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.TestReconcileOperation), "other": "stays"}
		item.Status = v1alpha1.DeployItemStatus{}
	}
	s := onStage(t, &script{}, newItem(asked))
	s.look()
	s.expect("Succeeded", true, "")
	if left := s.item().Annotations; len(left) != 1 || left["other"] != "stays" {
		t.Errorf("annotations %v", left)
	}
	s = onStage(t, &script{}, newItem(asked))
	s.trouble = []error{errors.New("broken")}
	s.look()
	if len(s.script.calls) != 0 || s.item().Annotations[v1alpha1.OperationAnnotation] == "" {
		t.Errorf("the request is removed before its job is stored: calls %v", s.script.calls)
	}
}

// TestIndexes shows what enqueues an item, besides itself.
func TestIndexes(t *testing.T) {
	r := onStage(t, &script{}).reconciler
	target := func(item *v1alpha1.DeployItem) {
		item.Spec.Target = &v1alpha1.ObjectReference{Name: "edge", Namespace: key.Namespace}
	}
	other := func(item *v1alpha1.DeployItem) { item.Spec.Type = "other" }
	for reason, test := range map[string]struct {
		object client.Object
		want   string
	}{
		"the Target of an item":              {newItem(target), "edge"},
		"an item without a Target":           {newItem(), ""},
		"an item of another type":            {newItem(target, other), ""},
		"what is no item is in no index":     {&corev1.Secret{}, ""},
		"a Target in the index of its users": {&v1alpha1.Target{}, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			if got := strings.Join(r.targetOf(test.object), " "); got != test.want {
				t.Errorf("%s: %q", reason, got)
			}
		})
	}
	secret := &v1alpha1.Target{Spec: v1alpha1.TargetSpec{SecretRef: &v1alpha1.LocalSecretReference{Name: "access"}}}
	for want, object := range map[string]client.Object{"access": secret, "": newItem()} {
		t.Run(want, func(t *testing.T) {
			if got := strings.Join(secretsOf(object), " "); got != want {
				t.Errorf("Secret %q, want %q", got, want)
			}
		})
	}
	owned := newItem(func(item *v1alpha1.DeployItem) {
		item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "exec"}
	})
	for reason, test := range map[string]struct {
		object client.Object
		of     string
		works  bool
	}{
		"an item works for its Execution": {owned, "exec", true},
		"an item without an Execution":    {newItem(), "item", true},
		"an item without a job":           {finishedItem(), "item", false},
		"an item of another type":         {newItem(other), "", false},
		"what is no item is in no queue":  {secret, "", false},
	} {
		t.Run(reason, func(t *testing.T) {
			if of, works := r.atWork(test.object); of.Name != test.of || works != test.works {
				t.Errorf("%s: %s, %t", reason, of, works)
			}
		})
	}
}

// TestFinalizerThatStays reports that the finalizer cannot be taken away, and tries it
// again later.
func TestFinalizerThatStays(t *testing.T) {
	item := newItem(func(item *v1alpha1.DeployItem) {
		at := metav1.Now()
		item.DeletionTimestamp = &at
	})
	s := onStage(t, &script{}, item)
	s.reconciler.client = &unpatchable{s.reconciler.client}
	if result := s.look(); result.RequeueAfter != firstBackoff {
		t.Errorf("it comes back after %s", result.RequeueAfter)
	}
	last := s.item().Status.LastError
	if last.Operation != "delete" || last.Reason != "RemoveFinalizer" || job.OutcomeOf(errors.New(last.Message)) != job.Transient {
		t.Errorf("%+v", last)
	}
	if s.item().Status.Phase != "InitDelete" {
		t.Errorf("phase %s", s.item().Status.Phase)
	}
}

// unpatchable is a client that cannot change metadata.
type unpatchable struct{ client.Client }

func (u *unpatchable) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return errors.New("the API server is busy")
}

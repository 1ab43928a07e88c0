package installation

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/importreader"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/reporter"
)

// lagging is a cache that does not see anything yet.
type lagging struct{ client.Client }

// Get implements client.Reader.
func (lagging) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(v1alpha1.Resource("things"), key.Name)
}

// TestLaggingCache: objects that were just created count, although the cache lags behind.
func TestLaggingCache(t *testing.T) {
	mine := testbuilders.Owner("Installation", "shop", "2")
	c := fakeapi.New(t, testbuilders.CopyOf("cluster", "job-1", mine))
	r := &Reconciler{Client: lagging{c}, Reader: c, Now: func() time.Time { return testbuilders.Noon }}
	inst := testbuilders.InstallationOf(t, "imports: {targets: [{name: cluster, target: cluster}]}")
	imports, err := dataflow.Read(t.Context(), inst, importreader.From(observe.ConfirmingReader{Reader: r.Client, Live: r.Reader}))
	if err != nil || imports.Targets["cluster"] == nil {
		t.Errorf("the import is not found: %v", err)
	}
	if _, err := r.storeCopies(t.Context(), snapshotOf(inst), snapshotOf(inst).Family, dataflow.Exports{Targets: []*v1alpha1.Target{testbuilders.CopyOf("cluster", "job-2", mine)}})(); err != nil {
		t.Error(err)
	}
}

func snapshotOf(inst *v1alpha1.Installation) *snapshot {
	return &snapshot{Situation: decide.Situation{Family: siblings.Family{Inst: inst}}, subject: reporter.Installation(inst)}
}

// reads counts what is read.
type reads struct {
	client.Client
	count map[string]int
}

// Get implements client.Reader.
func (r reads) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	r.count[key.Name]++
	return r.Client.Get(ctx, key, into, options...)
}

// TestKeysOfOneSecret: four hundred imports of one Secret are one read.
func TestKeysOfOneSecret(t *testing.T) {
	held := map[string][]byte{}
	inst := testbuilders.InstallationOf(t, "{}")
	for i := range 400 {
		key, from := fmt.Sprint("k", i), &v1alpha1.ImportSecretReference{}
		held[key] = []byte(key)
		from.Name, from.Key = "many", key
		inst.Spec.Imports.Data = append(inst.Spec.Imports.Data, v1alpha1.DataImport{Name: key, SecretRef: from})
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: inst.Namespace, Name: "many", UID: "uid-of-secret"}, Data: held}
	counted := reads{Client: fakeapi.New(t, secret), count: map[string]int{}}
	r := &Reconciler{Client: counted, Reader: counted}
	imports, err := dataflow.Read(t.Context(), inst, importreader.From(observe.ConfirmingReader{Reader: r.Client, Live: r.Reader}))
	if err != nil || counted.count["many"] != 1 || string(imports.Data["k7"].Value.RawMessage) != `"k7"` || imports.Data["k7"].Salt != "uid-of-secret" {
		t.Errorf("%d reads, %s, %v", counted.count["many"], imports.Data["k7"].Value.RawMessage, err)
	}
}

// TestNotStored: the condition tells which kind of import could not be written.
func TestNotStored(t *testing.T) {
	b := newBench(t, testbuilders.CopyOf("cluster", "job-1"))
	s := snapshotOf(testbuilders.InstallationOf(t, "{}"))
	_, err := b.storeCopies(t.Context(), s, s.Family, dataflow.Exports{Targets: []*v1alpha1.Target{testbuilders.CopyOf("cluster", "job-2", testbuilders.Owner("Installation", "shop", "2"))}})()
	condition := job.GetCondition(s.Inst.Status.Conditions, v1alpha1.CreateImportsCondition)
	if job.OutcomeOf(err) != job.Terminal || condition == nil || condition.Reason != "CreateTargets" {
		t.Errorf("%v, %+v", err, condition)
	}
}

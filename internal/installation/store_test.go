package installation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/imported"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/installation/holdings"
	"go.landscaper.dev/internal/installation/kin"
	"go.landscaper.dev/internal/job"
)

// TestStoreCopies: who may have the name of a copy, and what stays of the object.
func TestStoreCopies(t *testing.T) {
	mine := given.Owner("Installation", "shop", "2")
	marked := given.CopyOf("cluster", "job-1", mine, given.Owner("Deployment", "web", "9"))
	marked.Labels[v1alpha1.DataObjectIndexLabel], marked.Labels["team"] = "3", "a"
	for _, test := range []struct {
		reason string
		live   *v1alpha1.Target
		want   string
	}{
		{"the first job", nil, ""},
		{"a later job", given.CopyOf("cluster", "job-1", mine), ""},
		{"a later attempt", given.CopyOf("cluster", "job-2", mine), ""},
		{"an earlier Installation of the name", given.CopyOf("cluster", "job-1", given.Owner("Installation", "shop", "1")), ""},
		{"a list became a single Target; what others added stays", marked, ""},
		{"another Installation", given.CopyOf("cluster", "job-1", given.Owner("Installation", "other", "2x")), "Target cluster does not belong to this Installation"},
		{"a user", given.CopyOf("cluster", "job-1"), "delete it, or choose another name for the Installation"},
	} {
		c := given.API(t)
		if test.live != nil {
			c = given.API(t, test.live)
		}
		w := (holdings.Writer{Client: c, Reader: c})
		inst := given.InstallationOf(t, "{}")
		wanted := given.CopyOf("cluster", "job-2", mine)
		wanted.Spec.Type = "example.org/y"
		blamed := ""
		err := w.WriteCopies(t.Context(), kin.Family{Inst: inst}, dataflow.Exports{Targets: []*v1alpha1.Target{wanted}}, func(_ client.Object, reason string, err error) error {
			blamed = reason
			return err
		})
		live := &v1alpha1.Target{}
		if getErr := c.Get(t.Context(), client.ObjectKeyFromObject(wanted), live); getErr != nil {
			t.Fatal(getErr)
		}
		if test.want != "" {
			if job.OutcomeOf(err) != job.Terminal || !strings.Contains(err.Error(), test.want) || live.Spec.Type != "example.org/x" || blamed != "CreateTargets" {
				t.Errorf("%s: %v, %+v, %s", test.reason, err, live, blamed)
			}
			continue
		}
		if err != nil || live.Spec.Type != "example.org/y" || live.Labels[v1alpha1.DataObjectJobIDLabel] != "job-2" || live.Labels[v1alpha1.DataObjectIndexLabel] != "" {
			t.Errorf("%s: %v, %+v", test.reason, err, live)
		}
		if !facts.AsOwner(inst).Owns(live) || test.live == marked && (live.Labels["team"] != "a" || len(live.OwnerReferences) != 2) {
			t.Errorf("%s: %+v", test.reason, live.ObjectMeta)
		}
	}
}

// lagging is a cache that does not see anything yet.
type lagging struct{ client.Client }

// Get implements client.Reader.
func (lagging) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(v1alpha1.Resource("things"), key.Name)
}

// TestLaggingCache: what was just created counts, although the cache lags behind.
func TestLaggingCache(t *testing.T) {
	mine := given.Owner("Installation", "shop", "2")
	c := given.API(t, given.CopyOf("cluster", "job-1", mine))
	r := &Reconciler{Client: lagging{c}, Reader: c, Now: func() time.Time { return given.Noon }}
	inst := given.InstallationOf(t, "imports: {targets: [{name: cluster, target: cluster}]}")
	imports, err := dataflow.Read(t.Context(), inst, imported.From(confirming{Reader: r.Client, live: r.Reader}))
	if err != nil || imports.Targets["cluster"] == nil {
		t.Errorf("the import is not found: %v", err)
	}
	if err := r.storeCopies(t.Context(), snapshotOf(inst), dataflow.Exports{Targets: []*v1alpha1.Target{given.CopyOf("cluster", "job-2", mine)}}); err != nil {
		t.Error(err)
	}
}

// TestDropCopies: only copies of ours that this job did not write are deleted.
func TestDropCopies(t *testing.T) {
	mine := given.Owner("Installation", "shop", "2")
	elsewhere := given.CopyOf("elsewhere", "job-1", mine)
	elsewhere.Labels[v1alpha1.DataObjectContextLabel] = "Inst.other"
	c := given.API(t,
		given.CopyOf("kept", "job-2", mine), given.CopyOf("stale", "job-1", mine), given.CopyOf("of-a-child", "job-1", given.Owner("Installation", "shop-child", "3")), elsewhere,
		&v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "stale", Labels: map[string]string{v1alpha1.DataObjectContextLabel: "Inst.shop"}, OwnerReferences: []metav1.OwnerReference{mine}}},
	)
	w := holdings.Writer{Client: c}
	if err := w.DropCopies(t.Context(), given.InstallationOf(t, "{}")); err != nil {
		t.Fatal(err)
	}
	targets, data := &v1alpha1.TargetList{}, &v1alpha1.DataObjectList{}
	if err := c.List(t.Context(), targets); err != nil {
		t.Fatal(err)
	}
	if err := c.List(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	var left []string
	for i := range targets.Items {
		left = append(left, targets.Items[i].Name)
	}
	slices.Sort(left)
	if want := []string{"elsewhere", "kept", "of-a-child"}; !slices.Equal(left, want) || len(data.Items) != 0 {
		t.Errorf("Targets %v, want %v; %d DataObjects", left, want, len(data.Items))
	}
}

func snapshotOf(inst *v1alpha1.Installation) *snapshot {
	return &snapshot{Situation: decide.Situation{Family: kin.Family{Inst: inst}}, subject: job.Installation(inst)}
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
	inst := given.InstallationOf(t, "{}")
	for i := range 400 {
		key, from := fmt.Sprint("k", i), &v1alpha1.ImportSecretReference{}
		held[key] = []byte(key)
		from.Name, from.Key = "many", key
		inst.Spec.Imports.Data = append(inst.Spec.Imports.Data, v1alpha1.DataImport{Name: key, SecretRef: from})
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: inst.Namespace, Name: "many", UID: "uid-of-secret"}, Data: held}
	counted := reads{Client: given.API(t, secret), count: map[string]int{}}
	r := &Reconciler{Client: counted, Reader: counted}
	imports, err := dataflow.Read(t.Context(), inst, imported.From(confirming{Reader: r.Client, live: r.Reader}))
	if err != nil || counted.count["many"] != 1 || string(imports.Data["k7"].Value.RawMessage) != `"k7"` || imports.Data["k7"].Salt != "uid-of-secret" {
		t.Errorf("%d reads, %s, %v", counted.count["many"], imports.Data["k7"].Value.RawMessage, err)
	}
}

// TestNotStored: the condition tells which kind of import could not be written.
func TestNotStored(t *testing.T) {
	b := newBench(t, given.CopyOf("cluster", "job-1"))
	s := snapshotOf(given.InstallationOf(t, "{}"))
	err := b.storeCopies(t.Context(), s, dataflow.Exports{Targets: []*v1alpha1.Target{given.CopyOf("cluster", "job-2", given.Owner("Installation", "shop", "2"))}})
	condition := job.GetCondition(s.Inst.Status.Conditions, v1alpha1.CreateImportsCondition)
	if job.OutcomeOf(err) != job.Terminal || condition == nil || condition.Reason != "CreateTargets" {
		t.Errorf("%v, %+v", err, condition)
	}
}

package installation

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/plan/parcel"
	"go.landscaper.dev/internal/sources"
)

// planOf is the Secret with a plan of a job of an Installation, owned by somebody.
func planOf(t *testing.T, jobID, content string, owners ...metav1.OwnerReference) *corev1.Secret {
	t.Helper()
	inst := given.InstallationOf(t, "{}")
	inst.Status.JobID = jobID
	secrets := parcel.Secrets(inst, []byte(content))
	if len(secrets) != 1 {
		t.Fatalf("%d Secrets", len(secrets))
	}
	if len(owners) > 0 {
		secrets[0].OwnerReferences = owners
	}
	return secrets[0]
}

// TestKeepPlan: whose Secret a plan may be written over, and what is read again.
func TestKeepPlan(t *testing.T) {
	typed := planOf(t, "job-1", "old")
	typed.Type = corev1.SecretTypeOpaque
	labelled := planOf(t, "job-1", "old")
	labelled.Labels["team"] = "a"
	for _, test := range []struct {
		reason  string
		live    *corev1.Secret
		content string
		refused string
	}{
		{"the first attempt", nil, "new", ""},
		{"an attempt whose answer was lost has stored the same", planOf(t, "job-2", "new"), "new", ""},
		{"an earlier attempt has worked out something else", planOf(t, "job-2", "old"), "new", ""},
		{"a job before has left its plan", planOf(t, "job-1", "old"), "new", ""},
		{"labels of others stay", labelled, "new", ""},
		{"a Secret of another Installation", planOf(t, "job-2", "old", given.Owner("Installation", "other", "9")), "old", "does not belong to this Installation"},
		{"a Secret of an earlier Installation of the name: it goes with that one", planOf(t, "job-2", "old", given.Owner("Installation", "shop", "1")), "old", "does not belong to this Installation"},
		{"a Secret of another type: the type cannot be changed", typed, "old", "does not belong to this Installation"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t)
			if test.live != nil {
				b = newBench(t, test.live)
			}
			inst := given.InstallationOf(t, "{}")
			err := b.keepPlan(t.Context(), snapshotOf(inst), []byte("new"))
			if (err == nil) != (test.refused == "") || err != nil && (!strings.Contains(err.Error(), test.refused) || job.OutcomeOf(err) != job.Terminal) {
				t.Fatalf("got %v", err)
			}
			if !b.kept.has(inst.UID) {
				t.Error("nobody remembers that there may be a plan")
			}
			live := planOf(t, "job-2", "new")
			if err := b.api.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil || string(live.Data["plan"]) != test.content {
				t.Fatalf("stored %q, %v", live.Data["plan"], err)
			}
			if test.live == labelled && live.Labels["team"] != "a" {
				t.Errorf("labels %v", live.Labels)
			}
			if test.refused == "" {
				if got, err := b.keptPlan(t.Context(), inst); string(got) != test.content || err != nil {
					t.Errorf("read %q, %v", got, err)
				}
			}
		})
	}
}

// TestKeepPlanFails: which error of the API server ends the job, and which is tried
// again.
func TestKeepPlanFails(t *testing.T) {
	for _, test := range []struct {
		reason string
		live   *corev1.Secret
		fault  fault
		want   string
	}{
		{"it cannot be created", nil, fault{err: errors.New("busy")}, "store what the exports need in Secret"},
		{"that of an earlier attempt cannot be read", planOf(t, "job-2", "old"), fault{reading: true, err: errors.New("busy")}, "busy"},
		{"that of an earlier attempt cannot be replaced", planOf(t, "job-2", "old"), fault{at: 1, err: errors.New("busy")}, "busy"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t)
			if test.live != nil {
				b = newBench(t, test.live)
			}
			broken := test.fault.wrap(t, b.api)
			b.Client, b.Reader = broken, broken
			s := snapshotOf(given.InstallationOf(t, "{}"))
			err := b.keepPlan(t.Context(), s, []byte("new"))
			if err == nil || !strings.Contains(err.Error(), test.want) || job.OutcomeOf(err) != job.Transient {
				t.Errorf("got %v", err)
			}
			if err := b.keepPlan(t.Context(), s, []byte("new")); err != nil {
				t.Errorf("the next attempt: %v", err)
			}
			if got, err := b.keptPlan(t.Context(), s.Inst); string(got) != "new" || err != nil {
				t.Errorf("read %q, %v", got, err)
			}
		})
	}
	b := newBench(t)
	s := snapshotOf(given.InstallationOf(t, "{}"))
	if err := b.keepPlan(t.Context(), s, nil); err != nil || len(b.writes) > 0 || b.kept.has(s.Inst.UID) {
		t.Errorf("without exports nothing is stored: %v, %v", b.writes, err)
	}
}

// TestKeptPlanUnread: that a plan cannot be read says nothing about whether it is there.
func TestKeptPlanUnread(t *testing.T) {
	b := newBench(t, planOf(t, "job-2", "stored"))
	broken := fault{reading: true, err: errors.New("busy")}
	b.Reader = broken.wrap(t, b.api)
	inst := given.InstallationOf(t, "{}")
	var unread *sources.ReadError
	if _, err := b.keptPlan(t.Context(), inst); !errors.As(err, &unread) || errors.Is(err, parcel.ErrNone) {
		t.Errorf("got %v", err)
	}
	if got, err := b.keptPlan(t.Context(), inst); string(got) != "stored" || err != nil {
		t.Errorf("then %q, %v", got, err)
	}
}

// TestTidy: what is deleted of a stored plan, and what follows if it cannot be.
func TestTidy(t *testing.T) {
	foreign := planOf(t, "job-2", "theirs", given.Owner("Installation", "other", "9"))
	foreign.Name = "theirs"
	for _, test := range []struct {
		reason string
		fault  fault
		again  bool
		left   int
	}{
		{"ours goes, that of somebody else with our label stays", fault{at: -1}, false, 1},
		{"it cannot be listed", fault{reading: true, err: errors.New("busy")}, true, 2},
		{"it cannot be deleted", fault{err: errors.New("busy")}, true, 2},
		{"it was deleted, but the answer is lost", fault{lost: true, err: errors.New("timeout")}, true, 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, planOf(t, "job-2", "ours"), foreign.DeepCopy())
			broken := test.fault.wrap(t, b.api)
			b.Client, b.Reader = broken, broken
			s := snapshotOf(given.InstallationOf(t, "{}"))
			s.Leftover = true
			b.kept.note(s.Inst.UID, true)
			if err := b.tidy(t.Context(), s); err != nil {
				t.Fatalf("the job has ended, and its plan is no reason to fail: %v", err)
			}
			at := time.Time{}
			if test.again {
				at = given.Noon.Add(tidyPause)
			}
			if !s.TidyAt.Equal(at) || s.Leftover != test.again || b.kept.has(s.Inst.UID) != test.again {
				t.Errorf("again at %s, left over: %t, remembered: %t", s.TidyAt, s.Leftover, b.kept.has(s.Inst.UID))
			}
			list := &corev1.SecretList{}
			if err := b.api.List(t.Context(), list); err != nil || len(list.Items) != test.left {
				t.Errorf("%d Secrets are left, %v", len(list.Items), err)
			}
			if err := b.tidy(t.Context(), s); err != nil || s.Leftover || b.kept.has(s.Inst.UID) {
				t.Errorf("the next attempt: %t, %v", s.Leftover, err)
			}
		})
	}
}

// TestLeftover: whom a process that has just started asks about plans, and how often.
func TestLeftover(t *testing.T) {
	exporter := func(id, finished string) *v1alpha1.Installation {
		inst := given.InstallationOf(t, "exports: {data: [{name: x, dataRef: x}]}")
		inst.Status.JobID, inst.Status.JobIDFinished = id, finished
		return inst
	}
	plain := given.InstallationOf(t, "{}")
	plain.Status.JobIDFinished = plain.Status.JobID
	changed := plain.DeepCopy()
	changed.Generation = 2
	goes := changed.DeepCopy()
	goes.DeletionTimestamp = &metav1.Time{}
	for _, test := range []struct {
		reason string
		inst   *v1alpha1.Installation
		secret *corev1.Secret
		want   bool
		lists  int
	}{
		{"a running job needs its plan", exporter("a", ""), planOf(t, "a", "x"), false, 0},
		{"a job that has ended has left one", exporter("a", "a"), planOf(t, "a", "x"), true, 1},
		{"also if it is of a job before that", exporter("b", "b"), planOf(t, "a", "x"), true, 1},
		{"one without owner goes with nobody: it is not ours", exporter("a", "a"), planOf(t, "a", "x", metav1.OwnerReference{Kind: "Installation", Name: "shop", UID: "uid-2"}), false, 1},
		{"there is none", exporter("a", "a"), nil, false, 1},
		{"who exports nothing may have done so before", changed, planOf(t, "a", "x"), true, 1},
		{"it goes with its owner", goes, planOf(t, "a", "x"), false, 0},
		{"who exports nothing has none, and costs no request", plain, planOf(t, "a", "x"), false, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t)
			if test.secret != nil {
				b = newBench(t, test.secret)
			}
			counting := fault{reading: true, at: -1}
			b.Reader = counting.wrap(t, b.api)
			for range 2 {
				if got, err := b.leftover(t.Context(), test.inst); got != test.want || err != nil {
					t.Errorf("got %t, %v", got, err)
				}
			}
			if len(counting.calls) != test.lists {
				t.Errorf("asked by %v", counting.calls)
			}
		})
	}
	b := newBench(t, planOf(t, "a", "x"))
	broken := fault{reading: true, err: errors.New("busy")}
	b.Reader = broken.wrap(t, b.api)
	if got, err := b.leftover(t.Context(), exporter("a", "a")); got || err == nil {
		t.Errorf("that nobody could look is not an answer: %t, %v", got, err)
	}
	if got, err := b.leftover(t.Context(), exporter("a", "a")); !got || err != nil {
		t.Errorf("the next look: %t, %v", got, err)
	}
	b.kept.note(types.UID("uid-2"), false)
	if got, _ := b.leftover(t.Context(), exporter("a", "a")); got {
		t.Error("what is deleted is still remembered")
	}
}

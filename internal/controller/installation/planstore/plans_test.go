package planstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/plan/parcel"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
)

// newStore returns a store that remembers nothing yet.
func newStore(c client.Client, reader client.Reader) Store {
	return Store{Client: c, Reader: reader, Cache: &Cache{}, Known: (&expectations.Records[Known]{}).Of}
}

// withInstallation returns an API server with an Installation, and perhaps with a plan, and the
// Installation as a process has read it.
func withInstallation(t *testing.T, plan *corev1.Secret) (client.Client, *v1alpha1.Installation) {
	t.Helper()
	inst := testbuilders.InstallationOf(t, "{}")
	objects := []client.Object{inst.DeepCopy()}
	if plan != nil {
		objects = append(objects, plan)
	}
	c := fakeapi.New(t, objects...)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(inst), inst); err != nil {
		t.Fatal(err)
	}
	return c, inst
}

// TestSuccessorHasPlan: a process that was replaced neither writes over the plan of its successor nor
// deletes it.
func TestSuccessorHasPlan(t *testing.T) {
	errJobFirst := errors.New("the job has to be stored first")
	save := func(stored bool) func(*testing.T, Store, *v1alpha1.Installation) error {
		return func(t *testing.T, k Store, inst *v1alpha1.Installation) error {
			jobFirst, err := k.Save(t.Context(), inst, []byte("of the former process"), stored)
			if jobFirst {
				return errJobFirst
			}
			return err
		}
	}
	remove := func(t *testing.T, k Store, inst *v1alpha1.Installation) error {
		k.Known(inst.UID).note(true)
		return k.Delete(t.Context(), inst)
	}
	// The former process has stored a plan itself, which its successor replaces.
	removeOwn := func(t *testing.T, k Store, inst *v1alpha1.Installation) error {
		secret := testbuilders.PlanOf(t, "job-2", "of the former process")
		if err := k.Reader.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
			return err
		}
		before := "1"
		k.Known(inst.UID).set(k.Cache, &storedPlan{job: inst.Status.JobID, secrets: map[string]client.Preconditions{secret.Name: {UID: &secret.UID, ResourceVersion: &before}}})
		return k.Delete(t.Context(), inst)
	}
	for _, test := range []struct {
		reason string
		// stored is the job whose plan is stored, and written says that its process has stored the job.
		stored  string
		written bool
		former  func(*testing.T, Store, *v1alpha1.Installation) error
		want    func(error) bool
	}{
		{"the successor goes on with the same job", "job-2", true, save(true), apierrors.IsConflict},
		{"the successor has ended the job and begun another one", "job-3", true, save(true), apierrors.IsConflict},
		{"neither has stored its job: the first to do so may write over the plan of the other one", "job-3", false, save(false), func(err error) bool { return errors.Is(err, errJobFirst) }},
		{"the former process deletes the plan of the job before, which it knows", "job-3", true, removeOwn, apierrors.IsConflict},
		{"the former process looks for the plan of the job before", "job-3", true, remove, apierrors.IsConflict},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c, inst := withInstallation(t, testbuilders.PlanOf(t, test.stored, "of the successor"))
			if test.written {
				live := inst.DeepCopy()
				live.Status.JobID = test.stored
				if err := c.Update(t.Context(), live); err != nil {
					t.Fatal(err)
				}
			}
			if err := test.former(t, newStore(c, c), inst); !test.want(err) {
				t.Errorf("the former process gets %v", err)
			}
			left := testbuilders.PlanOf(t, test.stored, "any")
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(left), left); err != nil || string(left.Data["plan"]) != "of the successor" {
				t.Errorf("stored is %q, %v", left.Data["plan"], err)
			}
		})
	}
}

// TestKeepPlan: which Secret a plan may overwrite, and what is read again.
func TestKeepPlan(t *testing.T) {
	typed := testbuilders.PlanOf(t, "job-1", "old")
	typed.Type = corev1.SecretTypeOpaque
	labelled := testbuilders.PlanOf(t, "job-1", "old")
	labelled.Labels["team"] = "a"
	for _, test := range []struct {
		reason  string
		live    *corev1.Secret
		content string
		refused string
	}{
		{"the first attempt of a job", nil, "new", ""},
		{"an attempt whose answer was lost has stored the same", testbuilders.PlanOf(t, "job-2", "new"), "new", ""},
		{"an earlier attempt has rendered another plan", testbuilders.PlanOf(t, "job-2", "old"), "new", ""},
		{"a job before has left its plan", testbuilders.PlanOf(t, "job-1", "old"), "new", ""},
		{"labels of others stay", labelled, "new", ""},
		{"a Secret of another Installation", testbuilders.PlanOf(t, "job-2", "old", testbuilders.Owner("Installation", "other", "9")), "old", "does not belong to this Installation"},
		{"a Secret of an earlier Installation of the name is deleted with that one", testbuilders.PlanOf(t, "job-2", "old", testbuilders.Owner("Installation", "shop", "1")), "old", "does not belong to this Installation"},
		{"a Secret of another type: the type cannot be changed", typed, "old", "does not belong to this Installation"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c, inst := withInstallation(t, test.live)
			k := newStore(c, c)
			_, err := k.Save(t.Context(), inst, []byte("new"), true)
			if (err == nil) != (test.refused == "") || err != nil && (!strings.Contains(err.Error(), test.refused) || job.OutcomeOf(err) != job.Terminal) {
				t.Fatalf("got %v", err)
			}
			if !k.Known(inst.UID).Exists() {
				t.Error("it is not remembered that there may be a plan")
			}
			live := testbuilders.PlanOf(t, "job-2", "new")
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil || string(live.Data["plan"]) != test.content {
				t.Fatalf("stored %q, %v", live.Data["plan"], err)
			}
			if test.live == labelled && live.Labels["team"] != "a" {
				t.Errorf("labels %v", live.Labels)
			}
			if test.refused == "" {
				if got, err := k.Load(t.Context(), inst); string(got) != test.content || err != nil {
					t.Errorf("read %q, %v", got, err)
				}
			}
		})
	}
}

// TestKeepPlanFails: which error of the API server ends the job, and which is retried.
func TestKeepPlanFails(t *testing.T) {
	for _, test := range []struct {
		reason string
		live   *corev1.Secret
		fault  fakeapi.Fault
		want   string
	}{
		{"the plan cannot be created", nil, fakeapi.Fault{Err: errors.New("busy")}, "store what the exports need in Secret"},
		{"the plan of an earlier attempt cannot be read", testbuilders.PlanOf(t, "job-2", "old"), fakeapi.Fault{Reading: true, Err: errors.New("busy")}, "busy"},
		{"it cannot be read whether another process leads", testbuilders.PlanOf(t, "job-2", "old"), fakeapi.Fault{Reading: true, At: 1, Err: errors.New("busy")}, "read Installation team-a/shop: busy"},
		{"the plan of an earlier attempt cannot be replaced", testbuilders.PlanOf(t, "job-2", "old"), fakeapi.Fault{At: 1, Err: errors.New("busy")}, "busy"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c, s := withInstallation(t, test.live)
			broken := test.fault.Wrap(t, c)
			k := newStore(broken, broken)
			_, err := k.Save(t.Context(), s, []byte("new"), true)
			if err == nil || !strings.Contains(err.Error(), test.want) || job.OutcomeOf(err) != job.Transient {
				t.Errorf("got %v", err)
			}
			if _, err := k.Save(t.Context(), s, []byte("new"), true); err != nil {
				t.Errorf("the next attempt: %v", err)
			}
			if got, err := k.Load(t.Context(), s); string(got) != "new" || err != nil {
				t.Errorf("read %q, %v", got, err)
			}
		})
	}
	counting, s := fakeapi.Fault{At: -1}, testbuilders.InstallationOf(t, "{}")
	k := newStore(counting.Wrap(t, fakeapi.New(t)), nil)
	if _, err := k.Save(t.Context(), s, nil, true); err != nil || len(counting.Calls) > 0 || k.Known(s.UID).Exists() {
		t.Errorf("without exports nothing is stored: %v, %v", counting.Calls, err)
	}
}

// TestKeptPlanUnread: a plan that cannot be read does not count as missing.
func TestKeptPlanUnread(t *testing.T) {
	c := fakeapi.New(t, testbuilders.PlanOf(t, "job-2", "stored"))
	broken := fakeapi.Fault{Reading: true, Err: errors.New("busy")}
	k := newStore(c, broken.Wrap(t, c))
	inst := testbuilders.InstallationOf(t, "{}")
	var unread *repocontext.ReadError
	if _, err := k.Load(t.Context(), inst); !errors.As(err, &unread) || errors.Is(err, parcel.ErrNone) {
		t.Errorf("got %v", err)
	}
	if got, err := k.Load(t.Context(), inst); string(got) != "stored" || err != nil {
		t.Errorf("then %q, %v", got, err)
	}
}

// TestDrop: what is deleted of a stored plan, and what is remembered of it.
func TestDrop(t *testing.T) {
	foreign := testbuilders.PlanOf(t, "job-2", "theirs", testbuilders.Owner("Installation", "other", "9"))
	foreign.Name = "theirs"
	for _, test := range []struct {
		reason string
		stored bool
		fault  fakeapi.Fault
		fails  bool
		left   int
	}{
		{"the process that has stored the plan knows its Secrets", true, fakeapi.Fault{At: -1}, false, 1},
		{"known Secrets of a plan are not listed", true, fakeapi.Fault{Reading: true, Err: errors.New("busy")}, false, 1},
		{"after a restart Secrets of other owners stay", false, fakeapi.Fault{At: -1}, false, 1},
		{"after a restart the Secrets of a plan are listed", false, fakeapi.Fault{Reading: true, Err: errors.New("busy")}, true, 2},
		{"a refused deletion keeps the plan", true, fakeapi.Fault{Err: errors.New("busy")}, true, 2},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c, inst, m := fakeapi.New(t, foreign.DeepCopy()), testbuilders.InstallationOf(t, "{}"), newStore(nil, nil)
			// The namespace was listed, so that there are no others.
			m.Cache.noteListed(inst.Namespace)
			m.Client, m.Reader = c, c
			if _, err := m.Save(t.Context(), inst, []byte("plan"), true); err != nil {
				t.Fatal(err)
			}
			// What an API server in memory creates has no UID.
			ours := testbuilders.PlanOf(t, "job-2", "plan")
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(ours), ours); err != nil {
				t.Fatal(err)
			}
			if !test.stored {
				m = newStore(c, c)
				m.Known(inst.UID).note(true)
			}
			broken := test.fault.Wrap(t, c)
			m.Client, m.Reader = broken, broken
			err := m.Delete(t.Context(), inst)
			if known := m.Known(inst.UID); (err != nil) != test.fails || known.Exists() != test.fails || len(m.Cache.recent) != 0 {
				t.Errorf("%v; remembered: %t, with %d contents", err, known.Exists(), len(m.Cache.recent))
			}
			list := &corev1.SecretList{}
			if err := c.List(t.Context(), list); err != nil || len(list.Items) != test.left {
				t.Errorf("%d Secrets are left, %v", len(list.Items), err)
			}
		})
	}
}

// TestLeftover: for which Installations a process that has just started reads plans, and how often.
func TestLeftover(t *testing.T) {
	exporter := func(id, finished string) *v1alpha1.Installation {
		inst := testbuilders.InstallationOf(t, "exports: {data: [{name: x, dataRef: x}]}")
		inst.Status.JobID, inst.Status.JobIDFinished = id, finished
		return inst
	}
	plain := testbuilders.InstallationOf(t, "{}")
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
		{"a running job needs its plan", exporter("a", ""), testbuilders.PlanOf(t, "a", "x"), false, 0},
		{"a job that has ended has left a plan", exporter("a", "a"), testbuilders.PlanOf(t, "a", "x"), true, 1},
		{"a job before the last one has left a plan", exporter("b", "b"), testbuilders.PlanOf(t, "a", "x"), true, 1},
		{"a plan without an owner is not ours", exporter("a", "a"), testbuilders.PlanOf(t, "a", "x", metav1.OwnerReference{Kind: "Installation", Name: "shop", UID: "uid-2"}), false, 1},
		{"there is no plan", exporter("a", "a"), nil, false, 1},
		{"an Installation without exports may have had some before", changed, testbuilders.PlanOf(t, "a", "x"), true, 1},
		{"a terminating Installation does not look: its plan is deleted with its owner", goes, testbuilders.PlanOf(t, "a", "x"), false, 0},
		{"an Installation that never had exports has no plan and costs no request", plain, testbuilders.PlanOf(t, "a", "x"), false, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := fakeapi.New(t)
			if test.secret != nil {
				c = fakeapi.New(t, test.secret)
			}
			counting := fakeapi.Fault{Reading: true, At: -1}
			k := newStore(c, counting.Wrap(t, c))
			for range 2 {
				if got, err := k.HasLeftover(t.Context(), test.inst); got != test.want || err != nil {
					t.Errorf("got %t, %v", got, err)
				}
			}
			if len(counting.Calls) != test.lists {
				t.Errorf("asked by %v", counting.Calls)
			}
		})
	}
	c := fakeapi.New(t, testbuilders.PlanOf(t, "a", "x"))
	broken := fakeapi.Fault{Reading: true, Err: errors.New("busy")}
	k := newStore(c, broken.Wrap(t, c))
	if got, err := k.HasLeftover(t.Context(), exporter("a", "a")); got || err == nil {
		t.Errorf("a read that failed is not an answer: %t, %v", got, err)
	}
	if got, err := k.HasLeftover(t.Context(), exporter("a", "a")); !got || err != nil {
		t.Errorf("the next look: %t, %v", got, err)
	}
	k.Known("uid-2").note(false)
	if got, _ := k.HasLeftover(t.Context(), exporter("a", "a")); got {
		t.Error("what is deleted is still remembered")
	}
}

// TestManySecretsOfPlans: Secrets that a tenant has labelled like a plan are not read, whatever their
// number and size.
func TestManySecretsOfPlans(t *testing.T) {
	inst, key := testbuilders.InstallationOf(t, "{}"), parcel.Key("of the server")
	objects := []client.Object{key.Secrets(inst, []byte("stored"))[0]}
	for i := range 20 {
		forged := key.Secrets(inst, []byte("forged"))[0]
		forged.Name = fmt.Sprint("forged-", i)
		objects = append(objects, forged)
	}
	c := fakeapi.New(t, objects...)
	counted := &fakeapi.Fault{Reading: true, At: -1}
	k := newStore(c, counted.Wrap(t, c))
	k.Key = key
	content, err := k.Load(t.Context(), inst)
	if err != nil || string(content) != "stored" {
		t.Errorf("got %q, %v", content, err)
	}
	if len(counted.Calls) != 1 || counted.Calls[0] != "get *v1.Secret" {
		t.Errorf("it reads %v", counted.Calls)
	}
	k = newStore(c, c)
	k.Key = parcel.Key("of another")
	if _, err := k.Load(t.Context(), inst); !errors.Is(err, parcel.ErrDamaged) {
		t.Errorf("with another key: %v", err)
	}
}

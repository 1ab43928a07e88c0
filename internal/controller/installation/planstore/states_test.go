package planstore

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/runtime/job"
)

var stateKey = plan.StateKey{Prefix: plan.DeployPrefix, Executor: "deploy"}

func stateSecret(data map[string][]byte, owners ...metav1.OwnerReference) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: stateKey.SecretName("shop"), OwnerReferences: owners}, Data: data}
}

// TestStates: which state is read, and what follows from a write.
func TestStates(t *testing.T) {
	held := map[string][]byte{plan.StateSecretKey: []byte("old")}
	mine := testbuilders.Owner("Installation", "shop", "2")
	for _, test := range []struct {
		reason    string
		stored    *corev1.Secret
		read      string
		readError string
		outcome   job.Outcome
	}{
		{"no state is stored, or another client has deleted it", nil, "", "", job.None},
		{"ours", stateSecret(held, mine), "old", "", job.None},
		{"a state that was restored without an owner", stateSecret(held), "old", "", job.None},
		{"a state of an earlier Installation is not read, and is taken over", stateSecret(held, testbuilders.Owner("Installation", "shop", "1")), "", "", job.None},
		{"a state of another owner", stateSecret(held, testbuilders.Owner("Deployment", "web", "9")), "", "does not belong to this Installation", job.Terminal},
		{"a state whose key was renamed: to begin anew would lose passwords", stateSecret(map[string][]byte{"other": nil}, mine), "", `key "config" is missing in Secret`, job.None},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := fakeapi.New(t)
			if test.stored != nil {
				c = fakeapi.New(t, test.stored)
			}
			inst := testbuilders.InstallationOf(t, "{}")
			s := NewStates(c, inst)
			got, err := s.Read(t.Context(), stateKey)
			if string(got) != test.read || (err == nil) != (test.readError == "") || err != nil && !strings.Contains(err.Error(), test.readError) {
				t.Errorf("%s: read %q, %v", test.reason, got, err)
			}
			err = s.Write(t.Context(), []plan.State{{Key: stateKey, Content: []byte("new")}})
			if outcome := job.OutcomeOf(err); outcome != test.outcome {
				t.Errorf("%s: outcome %d: %v", test.reason, outcome, err)
			}
			if err != nil {
				return
			}
			live := stateSecret(nil)
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil || string(live.Data[plan.StateSecretKey]) != "new" || metav1.GetControllerOf(live).UID != inst.UID {
				t.Errorf("%s: stored %+v, %v", test.reason, live, err)
			}
		})
	}
}

// TestStatesConflict: a state that another replica has stored meanwhile is not
// overwritten: children may have seen it. The next attempt works with it.
func TestStatesConflict(t *testing.T) {
	for _, before := range []*corev1.Secret{nil, stateSecret(map[string][]byte{plan.StateSecretKey: []byte("old")}, testbuilders.Owner("Installation", "shop", "2"))} {
		c := fakeapi.New(t)
		if before != nil {
			c = fakeapi.New(t, before)
		}
		inst := testbuilders.InstallationOf(t, "{}")
		slow, fast := NewStates(c, inst), NewStates(c, inst)
		for _, s := range []*States{slow, fast} {
			if _, err := s.Read(t.Context(), stateKey); err != nil {
				t.Fatal(err)
			}
		}
		if err := fast.Write(t.Context(), []plan.State{{Key: stateKey, Content: []byte("fast")}}); err != nil {
			t.Fatal(err)
		}
		err := slow.Write(t.Context(), []plan.State{{Key: stateKey, Content: []byte("slow")}})
		if job.OutcomeOf(err) != job.Conflict {
			t.Errorf("got %v", err)
		}
		if got, err := NewStates(c, inst).Read(t.Context(), stateKey); string(got) != "fast" || err != nil {
			t.Errorf("the next attempt reads %q, %v", got, err)
		}
	}
}

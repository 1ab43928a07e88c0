package state

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
)

func TestRead(t *testing.T) {
	condition := func(status gardener.ConditionStatus) []gardener.Condition {
		return []gardener.Condition{{Type: BootstrappedCondition, Status: status}}
	}
	for _, test := range []struct {
		name       string
		raw        string
		conditions []gardener.Condition
		want       bool
		problem    string
		reason     string
	}{
		{"new", "", nil, false, "", "nothing was done yet"},
		{"of others", "", condition(gardener.ConditionTrue), true, "", "the successor of the first implementation writes the condition only"},
		{"of others, not done", "", condition(gardener.ConditionFalse), false, "", "it was not bootstrapped"},
		{"null", "null", condition(gardener.ConditionTrue), true, "", "it is no state"},
		{"state", `{"apiVersion":"flux.extensions.gardener.cloud/v1alpha1","kind":"FluxState","bootstrapped":true}`, nil, true, "", "conditions do not move with a shoot"},
		{"state goes first", `{"apiVersion":"flux.extensions.gardener.cloud/v1alpha1","kind":"FluxState"}`, condition(gardener.ConditionTrue), false, "", "it is what we have written"},
		{"broken", `{"bootstrapped":"secret"}`, nil, false, "cannot be decoded", "bootstrapping again would overwrite what belongs to others"},
		{"foreign", `{"apiVersion":"x/v1","kind":"FluxState","bootstrapped":true}`, nil, true, "another kind", "a newer release knows what it means"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &gardener.Extension{}
			e.Status.Conditions = test.conditions
			if test.raw != "" {
				e.Status.State = &runtime.RawExtension{Raw: []byte(test.raw)}
			}
			got, err := Read(e)
			if (err == nil) != (test.problem == "") || err != nil && !strings.Contains(err.Error(), test.problem) {
				t.Fatalf("error %v, want %q: %s", err, test.problem, test.reason)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error repeats what is stored: %v", err)
			}
			if err == nil && got.Bootstrapped != test.want {
				t.Errorf("bootstrapped %v, want %v: %s", got.Bootstrapped, test.want, test.reason)
			}
		})
	}
}

func TestStateSurvives(t *testing.T) {
	moment := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e := &gardener.Extension{}
	before, err := Read(e)
	if err != nil {
		t.Fatal(err)
	}
	before.Bootstrapped, before.BootstrapTime, before.HandledOperation = true, &moment, "upgrade"
	e.Status.State = before.Encode()
	fields := map[string]any{}
	if err := json.Unmarshal(e.Status.State.Raw, &fields); err != nil {
		t.Fatal(err)
	}
	if stored, err := json.Marshal(fields); err != nil || !bytes.Equal(stored, e.Status.State.Raw) {
		t.Errorf("an API server gives back %s for %s, so it looks changed each time (%v)", stored, e.Status.State.Raw, err)
	}
	after, err := Read(e)
	if err != nil || !after.Bootstrapped || !after.BootstrapTime.Equal(moment) || after.HandledOperation != "upgrade" {
		t.Errorf("read %+v (%v), written %+v", after, err, before)
	}
	e.Status.ProviderStatus = Status{PublicKey: "k"}.Encode()
	if got := ReadStatus(e); got.PublicKey != "k" {
		t.Errorf("status %+v", got)
	}
	e.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"publicKey":1}`)}
	if got := ReadStatus(e); got.PublicKey != "" {
		t.Errorf("a broken status gave %+v", got)
	}
}

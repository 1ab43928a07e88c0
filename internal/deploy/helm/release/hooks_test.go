package release

import (
	"errors"
	"slices"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"

	"go.landscaper.dev/internal/deploy/target/memory"
)

var errLost = errors.New("the answer is lost")

// TestLostAnswers loses the answer to each request, once before and once after it took
// effect, while the process lives: the operation goes on and neither fails nor is undone.
func TestLostAnswers(t *testing.T) {
	wish := wishFor("a", "b")
	wish.Atomic = true
	wish.Hooks = append(wish.Hooks, &helmrelease.Hook{
		Name: "hook-more", Kind: "ConfigMap", Path: "shop/templates/more.yaml", Events: []helmrelease.HookEvent{helmrelease.HookPostInstall},
		Manifest: "apiVersion: v1\nkind: ConfigMapList\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: more-1}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: more-2}}\n",
	})
	// run installs the release and goes on after errors, as attempts do.
	run := func(t *testing.T, cluster *memory.Cluster) error {
		operation, err := Plan(t.Context(), storeOn(cluster), &testJob{}, wish, nil, Install)
		if err != nil {
			return err
		}
		defer func() { _ = operation.Close() }()
		_, err = operation.Continue(t.Context())
		switch {
		case errors.Is(err, errLost) && operation.Stored():
			_, err = operation.Continue(t.Context())
		case errors.Is(err, errLost) && !operation.Over():
			// It begins from the start.
			_, err = reconcile(t, cluster, &testJob{}, wish)
		}
		return err
	}
	undisturbed := memory.New()
	if err := run(t, undisturbed); err != nil {
		t.Fatal(err)
	}
	want, requests := objectsOf(undisturbed), slices.Clone(undisturbed.Requests)
	for at, request := range requests {
		if request.Verb == "watch" {
			continue
		}
		for _, fault := range []memory.Fault{{Before: errLost}, {After: errLost}} {
			cluster := memory.New()
			cluster.Fault = func(memory.Request) memory.Fault {
				if len(cluster.Requests)-1 == at {
					return fault
				}
				return memory.Fault{}
			}
			if err := run(t, cluster); err != nil {
				t.Errorf("request %d (%v), took effect %v: %v", at, request, fault.After != nil, err)
				continue
			}
			if got := objectsOf(cluster); !slices.Equal(got, want) {
				t.Errorf("request %d (%v): there is %v", at, request, got)
			}
			if all := statuses(t, cluster); all[len(all)-1] != common.StatusDeployed {
				t.Errorf("request %d (%v): revisions %v", at, request, all)
			}
		}
	}
}

// TestGeneratedHookGoes removes a hook whose name the cluster would have chosen.
func TestGeneratedHookGoes(t *testing.T) {
	cluster := memory.New()
	wish := wishFor("a")
	wish.Hooks = []*helmrelease.Hook{{
		Name: "made-", Kind: "ConfigMap", Path: "shop/templates/made.yaml", Events: []helmrelease.HookEvent{helmrelease.HookPreInstall},
		DeletePolicies: []helmrelease.HookDeletePolicy{helmrelease.HookSucceeded}, Manifest: "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: made-}\n",
	}}
	store := storeOn(cluster)
	start := store.Now()
	ticks := 0
	// Time goes on.
	store.Now = func() time.Time { ticks++; return start.Add(time.Duration(ticks) * time.Millisecond) }
	operation, err := Plan(t.Context(), store, &testJob{}, wish, nil, Install)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = operation.Close() }()
	waiting, err := operation.Continue(t.Context())
	must(t, waiting, err)
	if got := objectsOf(cluster); !slices.Equal(got, []string{"ConfigMap here/a"}) {
		t.Errorf("there is %v", got)
	}
}

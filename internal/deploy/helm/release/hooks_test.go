package release

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/release/common"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

var errLost = errors.New("the answer is lost")

// TestLostAnswers loses the answer to each request, once before and once after it took effect,
// while the process lives: the operation continues and neither fails nor is undone.
func TestLostAnswers(t *testing.T) {
	desiredState := wishFor("a", "b")
	desiredState.Atomic = true
	desiredState.Hooks = append(desiredState.Hooks, &helmrelease.Hook{
		Name: "hook-more", Kind: "ConfigMap", Path: "shop/templates/more.yaml", Events: []helmrelease.HookEvent{helmrelease.HookPostInstall},
		Manifest: "apiVersion: v1\nkind: ConfigMapList\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: more-1}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: more-2}}\n",
	})
	// run installs the release and continues after errors, as attempts do.
	run := func(t *testing.T, cluster *fakecluster.Cluster) error {
		operation, err := Plan(t.Context(), storeOn(cluster), &testJob{}, desiredState, nil, Install)
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
			_, err = reconcile(t, cluster, &testJob{}, desiredState)
		}
		return err
	}
	undisturbed := fakecluster.New()
	if err := run(t, undisturbed); err != nil {
		t.Fatal(err)
	}
	want, requests := objectsOf(undisturbed), slices.Clone(undisturbed.Requests)
	for at, request := range requests {
		if request.Verb == "watch" {
			continue
		}
		for _, fault := range []fakecluster.Fault{{Before: errLost}, {After: errLost}} {
			cluster := fakecluster.New()
			cluster.Fault = func(fakecluster.Request) fakecluster.Fault {
				if len(cluster.Requests)-1 == at {
					return fault
				}
				return fakecluster.Fault{}
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

// TestGeneratedHookIsDeleted removes a hook whose name the cluster would have chosen.
func TestGeneratedHookIsDeleted(t *testing.T) {
	cluster := fakecluster.New()
	desiredState := wishFor("a")
	desiredState.Hooks = []*helmrelease.Hook{{
		Name: "made-", Kind: "ConfigMap", Path: "shop/templates/made.yaml", Events: []helmrelease.HookEvent{helmrelease.HookPreInstall},
		DeletePolicies: []helmrelease.HookDeletePolicy{helmrelease.HookSucceeded}, Manifest: "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: made-}\n",
	}}
	store := storeOn(cluster)
	start := store.Now()
	ticks := 0
	// Time goes on.
	store.Now = func() time.Time { ticks++; return start.Add(time.Duration(ticks) * time.Millisecond) }
	operation, err := Plan(t.Context(), store, &testJob{}, desiredState, nil, Install)
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

// TestUndoingSurvivesLostAnswers loses each answer once while a failure is undone: the undoing
// continues, and does not count on another attempt, for which there may be no time.
func TestUndoingSurvivesLostAnswers(t *testing.T) {
	for reason, before := range map[string][]string{"installation": nil, "upgrade": {"a", "b"}} {
		t.Run(reason, func(t *testing.T) {
			desiredState := wishFor("a", "c", "wrong")
			desiredState.Atomic = true
			// run deploys what is refused, and loses the answer to the request at the place.
			run := func(at int, fault fakecluster.Fault) *fakecluster.Cluster {
				cluster := fakecluster.New()
				if before != nil {
					waiting, err := reconcile(t, cluster, &testJob{}, wishFor(before...))
					must(t, waiting, err)
				}
				cluster.Requests = nil
				cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
					if request.Name == "wrong" && request.Verb == "create" {
						return fakecluster.Fault{Before: refused("wrong")}
					}
					if len(cluster.Requests)-1 == at && request.Verb != "watch" {
						return fault
					}
					return fakecluster.Fault{}
				}
				store, action := storeOn(cluster), Install
				history, err := store.History(t.Context(), "shop")
				must(t, nil, err)
				if before != nil {
					action = Upgrade
				}
				operation, err := Plan(t.Context(), store, &testJob{}, desiredState, history, action)
				must(t, nil, err)
				defer func() { _ = operation.Close() }()
				_, err = operation.Continue(t.Context())
				if errors.Is(err, errLost) && operation.Stored() {
					_, err = operation.Continue(t.Context())
				}
				if err == nil || !strings.Contains(err.Error(), "ConfigMap here/wrong") {
					t.Errorf("request %d, took effect %v: %v", at, fault.After != nil, err)
				}
				return cluster
			}
			undisturbed := run(-1, fakecluster.Fault{})
			want := objectsOf(undisturbed)
			failed := slices.IndexFunc(undisturbed.Requests, func(request fakecluster.Request) bool { return request.Name == "wrong" && request.Verb == "create" })
			for at := failed + 1; at < len(undisturbed.Requests); at++ {
				for _, fault := range []fakecluster.Fault{{Before: errLost}, {After: errLost}} {
					if got := objectsOf(run(at, fault)); !slices.Equal(got, want) {
						t.Errorf("request %d (%v): there is %v instead of %v", at, undisturbed.Requests[at], got, want)
					}
				}
			}
		})
	}
}

package release

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// withHook is a release with one hook before the installation, which is deleted by no policy but one.
func withHook(manifest string, names ...string) DesiredState {
	desiredState := wishFor(names...)
	desiredState.Hooks = []*helmrelease.Hook{{
		Name: "work", Kind: "ConfigMap", Path: "shop/templates/work.yaml", Manifest: manifest, Events: []helmrelease.HookEvent{helmrelease.HookPreInstall, helmrelease.HookPreUpgrade},
		DeletePolicies: []helmrelease.HookDeletePolicy{helmrelease.HookSucceeded},
	}}
	return desiredState
}

// failAt lets a request fail, before or after it took effect; later ones, too, if the process is
// killed.
func failAt(cluster *fakecluster.Cluster, name string, fault fakecluster.Fault, killed bool) {
	dead := false
	cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
		switch {
		case dead:
			return fakecluster.Fault{Before: errKilled}
		case request.Verb == "create" && request.Name == name:
			dead = killed
			return fault
		}
		return fakecluster.Fault{}
	}
}

// TestLeftoversOfHooks: what a hook of an installation has made that failed, or whose process ended,
// neither stops the next attempt nor stays when the release is removed.
func TestLeftoversOfHooks(t *testing.T) {
	const list = "apiVersion: v1\nkind: ConfigMapList\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: work}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: more}}\n"
	const generated = "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: work-}\n"
	failed := fakecluster.Fault{Before: refused("more")}
	killed := fakecluster.Fault{After: errKilled}
	for _, end := range []struct {
		reason, manifest, at string
		fault                fakecluster.Fault
		killed               bool
	}{
		{"the hook fails after its first object", list, "more", failed, false},
		{"the process ends in the hook", list, "work", killed, true},
		{"the process ends in a hook with a made up name", generated, "", killed, true},
		{"a later object fails", strings.ReplaceAll(list, "{name: more}", "{name: work-2}"), "a", fakecluster.Fault{Before: refused("a")}, false},
	} {
		for _, next := range []struct {
			reason string
			do     func(t *testing.T, cluster *fakecluster.Cluster) error
			want   []string
		}{
			{"the next attempt succeeds", func(t *testing.T, cluster *fakecluster.Cluster) error {
				_, err := reconcile(t, cluster, &testJob{}, withHook(end.manifest, "a"))
				return err
			}, []string{"ConfigMap here/a"}},
			{"the next attempt has no hook", func(t *testing.T, cluster *fakecluster.Cluster) error {
				desiredState := withHook(end.manifest, "a")
				desiredState.Hooks = nil
				_, err := reconcile(t, cluster, &testJob{}, desiredState)
				return err
			}, []string{"ConfigMap here/a"}},
			{"the object is a part of the release now", func(t *testing.T, cluster *fakecluster.Cluster) error {
				desiredState := withHook(end.manifest, "a", "work")
				desiredState.Hooks = nil
				_, err := reconcile(t, cluster, &testJob{}, desiredState)
				return err
			}, []string{"ConfigMap here/a", "ConfigMap here/work"}},
			{"the release is removed", uninstallAll, nil},
		} {
			t.Run(end.reason+"/"+next.reason, func(t *testing.T) {
				cluster := fakecluster.New()
				at := end.at
				if at == "" {
					operation, err := Plan(t.Context(), storeOn(cluster), &testJob{}, withHook(end.manifest), nil, Install)
					must(t, nil, err)
					objects, err := operation.hookObjects(t.Context(), operation.release, operation.release.Hooks[0], helmrelease.HookPreInstall)
					must(t, nil, err)
					at = objects[0].Object.GetName()
				}
				failAt(cluster, at, end.fault, end.killed)
				desiredState := withHook(end.manifest, "a")
				desiredState.Hooks[0].DeletePolicies[0] = helmrelease.HookFailed + "-not"
				if _, err := reconcile(t, cluster, &testJob{}, desiredState); err == nil {
					t.Fatal("the installation has not failed")
				}
				cluster.Fault = nil
				if !strings.Contains(strings.Join(objectsOf(cluster), " "), "here/work") {
					t.Fatalf("the hook has left nothing: %v", objectsOf(cluster))
				}
				if err := next.do(t, cluster); err != nil {
					t.Errorf("%v", err)
				}
				if diff := cmp.Diff(next.want, objectsOf(cluster)); diff != "" {
					t.Errorf("objects, -want +got\n%s", diff)
				}
			})
		}
	}
}

// TestNoLeftovers: what others have made, what is wanted, and what hooks of complete revisions have
// made stays where it is.
func TestNoLeftovers(t *testing.T) {
	const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: work}\n"
	kept := func(cluster *fakecluster.Cluster) {
		object := cluster.Find("ConfigMap", "here", "work").DeepCopy()
		object.SetAnnotations(map[string]string{policyAnnotation: keepPolicy})
		cluster.Put(object)
	}
	for _, test := range []struct {
		reason string
		before func(t *testing.T, cluster *fakecluster.Cluster)
		after  func(cluster *fakecluster.Cluster)
	}{
		{"an object of another client has the name", func(t *testing.T, cluster *fakecluster.Cluster) {
			cluster.Put(object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: work, namespace: here}}"))
		}, func(*fakecluster.Cluster) {}},
		{"the object says that it is to stay", func(*testing.T, *fakecluster.Cluster) {}, kept},
		{"another release has taken it over", func(*testing.T, *fakecluster.Cluster) {}, func(cluster *fakecluster.Cluster) {
			cluster.Put(Marked(cluster.Find("ConfigMap", "here", "work"), "other", "here"))
		}},
		{"a hook of a complete revision has made it", func(t *testing.T, cluster *fakecluster.Cluster) {
			desiredState := withHook(manifest, "a", "b")
			desiredState.Hooks[0].DeletePolicies[0] = helmrelease.HookFailed
			waiting, err := reconcile(t, cluster, &testJob{}, desiredState)
			must(t, waiting, err)
		}, func(*fakecluster.Cluster) {}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			test.before(t, cluster)
			failAt(cluster, "c", fakecluster.Fault{Before: refused("c")}, false)
			desiredState := withHook(manifest, "a", "c")
			desiredState.Hooks[0].DeletePolicies[0] = helmrelease.HookFailed
			if _, err := reconcile(t, cluster, &testJob{}, desiredState); err == nil {
				t.Fatal("the operation has not failed")
			}
			cluster.Fault = nil
			test.after(cluster)
			uid := cluster.Find("ConfigMap", "here", "work").GetUID()
			if err := uninstallAll(t, cluster); err != nil {
				t.Fatal(err)
			}
			if left := cluster.Find("ConfigMap", "here", "work"); left == nil || left.GetUID() != uid {
				t.Errorf("the object does not stay: %v", objectsOf(cluster))
			}
		})
	}
}

// TestLeftoversCostNothing: a release without a failed revision makes no request for leftovers.
func TestLeftoversCostNothing(t *testing.T) {
	cluster := fakecluster.New()
	for _, names := range [][]string{{"a"}, {"a", "b"}} {
		cluster.Requests = nil
		waiting, err := reconcile(t, cluster, &testJob{}, withHook("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: work}\n", names...))
		must(t, waiting, err)
		var about []string
		for _, request := range cluster.Requests {
			if request.Name == "work" {
				about = append(about, request.Verb)
			}
		}
		// The policy hook-succeeded reads the object before it is deleted.
		if diff := cmp.Diff([]string{"create", "get", "delete"}, about); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}
